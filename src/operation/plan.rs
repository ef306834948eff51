//! Products of which only the values change: structure once, values many times.
use super::factors::{Aligned, Factors};
use super::product::Product;
use super::{MaskParts, Operand, Operation, limited, mask_parts};
use crate::algebra::{Scalar, Semiring};
#[cfg(feature = "cuda")]
use crate::backend::Backend;
#[cfg(feature = "cuda")]
use crate::backend::cuda::{Cuda, DevicePlan};
use crate::backend::misplaced;
use crate::backend::ring::HostOperands;
use crate::backend::untyped::{UntypedBody, UntypedStore};
use crate::container::Matrix;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::format::full_where_full;
use crate::storage::axis::Axis;
use crate::storage::pattern::Pattern;
use crate::storage::store::Store;
use std::fmt::{Debug, Formatter};
use std::marker::PhantomData;
use std::sync::Arc;

/// A product of matrices whose structure is known: its positions were found once, [`run`](Self::run) computes values.
///
/// The mask, the transposes and the options are those of the operation that was planned. A plan keeps the positions of its
/// operands and of the result, not their values; on CUDA, for strategy `auto` without a mask, it may also keep where the factors of
/// every product are, 8 bytes a product, in at most a sixteenth of the device's memory, unless values are found as fast without
/// (bands, dense rows). What has no room for all rows at once is made by chunks of them, as without a plan. It may be used by several
/// threads at once.
pub struct Plan<A, B, C, S> {
    core: Arc<Planned>,
    label: PhantomData<fn() -> (A, B, C, S)>,
}

/// The product, and shape and number of entries of its result.
impl<A, B, C, S> Debug for Plan<A, B, C, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Planned { factors, mask, axes, made, .. } = &*self.core;
        let made = format_args!("{}×{}, {} entries", axes.0.n(), axes.1.n(), made.nnz());
        f.debug_struct("Plan").field("product", factors).field("mask", mask).field("result", &made).finish()
    }
}

impl<A, B, C, S> Clone for Plan<A, B, C, S> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), label: PhantomData }
    }
}

impl<A: Scalar, B: Scalar, C: Scalar, S: Semiring<A, B, Out = C>> Operation<Product<A, B, Matrix<C, S>, S>> {
    /// What the structure of the operands says about C⟨M⟩ = A ⊕.⊗ B, kept for running it with other values.
    /// O(products): the positions of the result are computed.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
    /// let plan = mxm(&a, &a).plan()?;
    /// let doubled = apply_second(&a, Times, 2.0).eval()?;
    /// assert_eq!(plan.run(&doubled, &a)?.get(0, 0)?, Some(38.0));
    /// let other: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 1.0)])?;
    /// assert!(matches!(plan.run(&other, &a), Err(Error::InvalidValue { operation: "plan", .. })));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Those of [`eval`](Operation::eval).
    pub fn plan(self) -> Result<Plan<A, B, C, S>> {
        let (shape, device) = self.kernel.core.check()?;
        let mask = mask_parts("mxm", self.mask.as_ref(), shape, device)?;
        let limit = self.kernel.core.options.memory_limit;
        let core = limited("mxm", limit, device, || Planned::new(*self.kernel.core, mask, device));
        Ok(Plan { core: Arc::new(core.map_err(|e| e.in_operation("mxm"))?), label: PhantomData })
    }
}

impl<A: Scalar, B: Scalar, C: Scalar, S: Semiring<A, B, Out = C>> Plan<A, B, C, S> {
    /// C⟨M⟩ = A ⊕.⊗ B of operands with the planned structure: the entries that [`eval`](Operation::eval) would give, sums in
    /// the same order where one is promised. O(products), without allocating positions; operands in other formats than the planned
    /// ones, or turned where these were not, are put as they are before, O(nnz).
    ///
    /// # Errors
    /// `InvalidValue` for an operand of another shape, on another device, or whose positions are not those that were planned
    /// for: all are compared, whatever the format, where they are not the same memory. `OutOfMemory`, and the device's own.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 1, 2.0), (1, 0, 3.0)])?;
    /// let plan = mxm(&a, &a).plan()?;
    /// let negated = apply(&a, Negate).eval()?;
    /// assert_eq!(plan.run(&negated, &a)?.entries()?, [(0, 0, -6.0), (1, 1, -6.0)]);
    /// # Ok(()) }
    /// ```
    pub fn run(
        &self,
        a: &impl Operand<Container = Matrix<A, S>>,
        b: &impl Operand<Container = Matrix<B, S>>,
    ) -> Result<Matrix<C, S>> {
        self.run_named(["A", "B"], a, b)
    }
    /// The same of operands that the caller knows by these names.
    pub(super) fn run_named(
        &self,
        names: [&str; 2],
        a: &impl Operand<Container = Matrix<A, S>>,
        b: &impl Operand<Container = Matrix<B, S>>,
    ) -> Result<Matrix<C, S>> {
        let (a, b) = (a.operand(), b.operand());
        let core = &*self.core;
        let given = ((UntypedStore::of(a.0.0), a.1), (UntypedStore::of(b.0.0), b.1));
        let body = limited("mxm", core.factors.options.memory_limit, core.device, || core.run(names, given));
        let body = body.map_err(|e| e.in_operation("mxm"))?;
        let (rows, cols) = core.axes.clone();
        Store::made(rows, cols, &body, core.device).map(full_where_full).map(Matrix::of)
    }
    /// Rows and columns of the result.
    pub fn shape(&self) -> (u64, u64) {
        (self.core.axes.0.n(), self.core.axes.1.n())
    }
    /// Entries of the result.
    pub fn nvals(&self) -> u64 {
        self.core.made.nnz()
    }
    /// Where it runs.
    pub fn device(&self) -> Device {
        self.core.device
    }
}

/// A plan without its scalars.
struct Planned {
    /// The product; its operands' positions are what others are compared with.
    factors: Factors,
    mask: Option<MaskParts>,
    axes: (Axis, Axis),
    device: Device,
    made: Made,
}

/// What a backend knows of a product before the values.
enum Made {
    Host(Arc<Pattern>),
    #[cfg(feature = "cuda")]
    Cuda(DevicePlan),
}
impl Made {
    fn nnz(&self) -> u64 {
        match self {
            Made::Host(pattern) => pattern.nnz() as u64,
            #[cfg(feature = "cuda")]
            Made::Cuda(plan) => plan.pattern.nnz,
        }
    }
}

/// An operand as the planned one is held and seen, if its positions are the planned ones.
fn in_place_of(
    name: &str,
    (given, turned): (UntypedStore, bool),
    (planned, seen): (&UntypedStore, bool),
) -> Result<UntypedStore> {
    let ((now, on), (then, planned_on)) = ((given.shape(turned), given.device), (planned.shape(seen), planned.device));
    let reason = if on != planned_on {
        format!("{name} is on {on}, the plan on {planned_on}")
    } else if now != then {
        format!("{name} is {}×{}, the plan was made for {}×{}", now.0, now.1, then.0, then.1)
    } else if let Some(same) = given.clone().in_place_of(planned, turned != seen, "plan")? {
        return Ok(same);
    } else {
        let other = format!("{name} has other positions than the plan was made for");
        match (given.body.nnz(), planned.body.nnz()) {
            (n, m) if n != m => format!("{other}: {n} entries, {m} were planned"),
            // What this takes is no reason for another error.
            (n, _) => match given.first_line_unlike(planned, turned != seen) {
                Ok(Some(k)) => {
                    let line = if seen { "column" } else { "row" };
                    format!("{other}: {n} entries as planned, but {line} {k} has others")
                }
                _ => format!("{other}: {n} entries as planned, but not the same"),
            },
        }
    };
    Err(Error::InvalidValue { operation: "plan", reason })
}

impl Planned {
    fn new(mut factors: Factors, mask: Option<MaskParts>, device: Device) -> Result<Self> {
        factors.kind.check_strategy(factors.options.strategy, mask.as_ref())?;
        let (o, axes, _) = factors.aligned(mask.as_ref())?;
        let left = factors.left_beside(&o)?;
        let made = match (&o.a.body, &o.b.body) {
            (UntypedBody::Host(a), UntypedBody::Host(b)) => {
                let (mask, options) = (o.mask.as_ref(), &o.options.within(left));
                Made::Host(factors.ring.positions(device, &HostOperands { a, b, mask, at: &o.at, options })?)
            }
            #[cfg(feature = "cuda")]
            (UntypedBody::Cuda(a), UntypedBody::Cuda(b)) => {
                let cuda = Cuda::on(device)?;
                Made::Cuda(cuda.plan(factors.ring.text(), a, b, cuda.mask(o.mask.as_ref())?, &o.at, &o.options)?)
            }
            _ => return Err(misplaced(device)),
        };
        (factors.a.0, factors.b.0) = (factors.a.0.without_values()?, factors.b.0.without_values()?);
        Ok(Self { factors, mask, axes, device, made })
    }
    fn run(&self, names: [&str; 2], (a, b): ((UntypedStore, bool), (UntypedStore, bool))) -> Result<UntypedBody> {
        let (factors, device) = (&self.factors, self.device);
        let a = in_place_of(names[0], a, (&factors.a.0, factors.given.0))?;
        let b = in_place_of(names[1], b, (&factors.b.0, factors.given.1))?;
        let now = factors.with(a, b);
        let (o, _, _) = now.aligned(self.mask.as_ref())?;
        let left = now.left_beside(&o)?;
        let Aligned { a, b, mask, at, options } = &o;
        match (&a.body, &b.body, &self.made) {
            (UntypedBody::Host(a), UntypedBody::Host(b), Made::Host(pattern)) => {
                let (mask, options) = (mask.as_ref(), &options.within(left));
                let operands = HostOperands { a, b, mask, at, options };
                Ok(UntypedBody::Host(now.ring.at_positions(device, &operands, pattern)?))
            }
            #[cfg(feature = "cuda")]
            (UntypedBody::Cuda(a), UntypedBody::Cuda(b), Made::Cuda(plan)) => {
                let cuda = Cuda::on(device)?;
                let mask = cuda.mask(mask.as_ref())?;
                Ok(UntypedBody::Cuda(cuda.run_plan(plan, now.ring.text(), a, b, mask, at, options)?))
            }
            #[allow(unreachable_patterns)]
            _ => Err(misplaced(device)),
        }
    }
}
