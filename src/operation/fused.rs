//! What follows a product, done to its rows before they are stored: apply, select, the largest entries of each row.
use super::chain::too_many;
use super::factors::Factors;
use super::limit::{beside_stored, step_fits};
use super::places::too_long;
use super::product::Product;
use super::{Compute, Core, MaskParts, Operation, mask_parts, within};
use crate::algebra::{BinaryOp, BindFirst, BindSecond, Comparable, IndexUnaryOp, OfValue, Scalar, Semiring, UnaryOp};
use crate::backend::chain::Each;
use crate::backend::cpu::{self, Cpu};
use crate::backend::ends::{End, Kept, Largest, Mapped, Most, Then, TooMany};
use crate::backend::ring::{MxmRing, Of};
use crate::backend::untyped::UntypedBody;
use crate::backend::{Backend, Body};
use crate::container::{Matrix, Owned};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::mask::Mask;
use crate::storage::store::Store;
use std::marker::PhantomData;
use std::sync::Arc;

#[cfg(feature = "cuda")]
mod chunks;

/// A product of matrices and what is done to its entries; `T` is the scalar of the result.
///
/// T is what [`apply`](super::apply()), [`select`](super::select()) and [`top_k`](super::top_k()) make of the product, to the
/// bit where its sums are the same in any order or [`reproducible`](Operation::reproducible); others may differ as those of two
/// strategies do. On the CPU rows are handed from one step to the next as they are computed, so that neither the product nor what
/// is between is ever stored. On CUDA all steps are done to some rows before the next rows are multiplied, so many that
/// they surely take no more than a 128th of the device's memory, a quarter of a
/// [`memory_limit`](Operation::memory_limit), or are one row; a product that is no larger is made at once. There the bounds of
/// the rows cost a look at the entries of A, O(nnz(A)). The reference runs the steps one after the other, and
/// so do all where a mask stands between two of them.
///
/// More than 200 steps after one product, each of which takes room on the stacks of the threads that make rows, are `InvalidValue`.
///
/// What a call means depends on where it stands. A mask before a step is the product's: entries outside it are not there for the
/// step, and `into` writes the result like any other, so that without an accumulator entries of C outside the mask are deleted.
/// A mask after the last step says what is written: elsewhere C stays. `replace` belongs to the writing too; before a step it is
/// refused.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 2), (1, 1, 3)])?;
/// let mask: Matrix<bool> = Matrix::build(2, 2, &[(0, 0, true)])?;
/// let mut c = a.clone();
/// mxm(&a, &a).apply(Negate).mask(&mask).into(&mut c)?;
/// assert_eq!(c.entries()?, [(0, 0, -4), (1, 1, 3)]);
/// mxm(&a, &a).mask(&mask).apply(Negate).into(&mut c)?;
/// assert_eq!(c.entries()?, [(0, 0, -4)]);
/// assert!(mxm(&a, &a).mask(&mask).replace().apply(Negate).into(&mut c).is_err());
/// # Ok(()) }
/// ```
pub struct Fused<A: 'static, B: 'static, C: 'static, T, S> {
    core: Ended<A, B, C, T>,
    label: PhantomData<fn() -> S>,
}

/// Steps after one product.
const MOST_STEPS: usize = 200;

struct Ended<A: 'static, B: 'static, C: 'static, T> {
    factors: Box<Factors>,
    /// Of the product.
    mask: Option<Mask>,
    ring: &'static MxmRing<A, B, C>,
    end: Arc<dyn End<C, T>>,
    /// The same by the operations' own kernels.
    steps: StepsWithin<C, T>,
    /// Whether `replace` stood before a step.
    replaced: bool,
    /// Masks between steps: all rows are made before them.
    between: Vec<Mask>,
    /// How many steps there are.
    count: usize,
}
pub(super) type Steps<C, T> = Arc<dyn Fn(&Store<C>) -> Result<Store<T>> + Send + Sync>;
/// Steps in what a limit leaves beside what they are done to.
type StepsWithin<C, T> = Arc<dyn Fn(&Store<C>, Option<u64>) -> Result<Store<T>> + Send + Sync>;

impl<A: 'static, B: 'static, C: 'static, T, S> Clone for Fused<A, B, C, T, S> {
    fn clone(&self) -> Self {
        let Ended { factors, mask, ring, end, steps, replaced, between, count } = &self.core;
        let (factors, mask, end, steps) = (factors.clone(), mask.clone(), end.clone(), steps.clone());
        let (ring, replaced, between, count) = (*ring, *replaced, between.clone(), *count);
        Self { core: Ended { factors, mask, ring, end, steps, replaced, between, count }, label: PhantomData }
    }
}
impl<A: 'static, B: 'static, C: 'static, T, S> std::fmt::Debug for Fused<A, B, C, T, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("mxm").finish_non_exhaustive()
    }
}

/// A step by rows on the CPU, by its own kernels, and as text.
pub(super) struct Step<M, T> {
    pub(super) end: Arc<dyn End<M, T>>,
    pub(super) steps: Steps<M, T>,
    /// As text, where it is one.
    pub(super) each: Option<Each>,
}
impl<M: Scalar, T: Scalar> Step<M, T> {
    /// The kernels of the step, which ask whether there is room before they take it.
    fn within(&self, operation: &'static str) -> StepsWithin<M, T> {
        let (steps, keeps) = (self.steps.clone(), self.end.most() == Most::All);
        Arc::new(move |a, left| step_fits::<M, T>(operation, left, a, keeps).and_then(|()| steps(a)))
    }
}

pub(super) fn mapped<C: Scalar, Y: Scalar, F: IndexUnaryOp<C, Y>>(thunk: Y) -> Step<C, F::Out> {
    let (end, steps) = (Arc::new(Mapped::<F, Y>(thunk, PhantomData)), super::apply::mapping::<C, Y, F>(thunk));
    Step { end, steps, each: Some(Each::of::<C, Y, F>(false, thunk)) }
}
pub(super) fn kept<C: Scalar, Y: Scalar, F: IndexUnaryOp<C, Y, Out = bool>>(thunk: Y) -> Step<C, C> {
    let (end, steps) = (Arc::new(Kept::<F, Y>(thunk, PhantomData)), super::select::selecting::<C, Y, F>(thunk));
    Step { end, steps, each: Some(Each::of::<C, Y, F>(true, thunk)) }
}
pub(super) fn largest<C: Comparable>(k: u64) -> Step<C, C> {
    let k = usize::try_from(k).unwrap_or(usize::MAX);
    Step { end: Arc::new(Largest(k)), steps: Arc::new(move |a| super::top_k::largest(a, k)), each: None }
}

/// What to say where `replace` stood before a step.
pub(super) fn replaced_early(operation: &'static str) -> Error {
    let reason = "`replace` is about what is written: it stands after the last step".into();
    Error::InvalidValue { operation, reason }
}

type After<A, B, C, S, T> = Operation<Fused<A, B, C, T, S>>;

macro_rules! steps {
    ([$($generic:tt)*] $on:ty, $from:ty, $after:ident<$($args:ty),*>, |$self:ident, $step:ident| $then:expr) => {
        impl<$($generic)*> $on {
            /// T(i, j) = f(c, i, j, thunk) of each entry c at (i, j). On the CPU it is done to rows as they are
            /// made, after a product on CUDA too, see [`Fused`](super::Fused).
            /// O(nnz) more.
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
            /// let c = mxm(&a, &a).apply_index(ColIndex, 10).eval()?;
            /// assert_eq!(c.entries()?, [(0, 0, 10), (0, 1, 11), (1, 0, 10), (1, 1, 11)]);
            /// # Ok(()) }
            /// ```
            pub fn apply_index<Y: Scalar, F: IndexUnaryOp<$from, Y>>(
                $self,
                _op: F,
                thunk: Y,
            ) -> $after<$($args,)* F::Out> {
                let $step = mapped::<$from, Y, F>(thunk);
                $then
            }
            /// T = f(C), in place of each entry. O(nnz) more.
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
            /// assert_eq!(mxm(&a, &a).apply(Inverse).eval()?.get(1, 0)?, Some(0.1));
            /// # Ok(()) }
            /// ```
            pub fn apply<F: UnaryOp<$from>>($self, _op: F) -> $after<$($args,)* F::Out> {
                $self.apply_index(OfValue::<F>::new(), <$from>::zeroed())
            }
            /// T = f(value, C), in place of each entry. O(nnz) more.
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
            /// let c = mxm(&a, &a).apply_second(Minus, 9.0).apply_first(1.0, Div).eval()?;
            /// assert_eq!(c.get(1, 0)?, Some(1.0));
            /// # Ok(()) }
            /// ```
            pub fn apply_first<Y: Scalar, F: BinaryOp<Y, $from>>(
                $self,
                value: Y,
                _op: F,
            ) -> $after<$($args,)* F::Out> {
                $self.apply_index(BindFirst::<F>::new(), value)
            }
            /// T = f(C, value), in place of each entry. O(nnz) more.
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
            /// assert_eq!(mxm(&a, &a).apply_second(Minus, 9.0).eval()?.get(1, 0)?, Some(1.0));
            /// # Ok(()) }
            /// ```
            pub fn apply_second<Y: Scalar, F: BinaryOp<$from, Y>>(
                $self,
                _op: F,
                value: Y,
            ) -> $after<$($args,)* F::Out> {
                $self.apply_index(BindSecond::<F>::new(), value)
            }
            /// T = C(f): the entries c at (i, j) for which f(c, i, j, thunk) holds, such as those above a threshold. On the CPU the memory
            /// of what is dropped is never taken, on CUDA that of some rows after a product, see [`Fused`](super::Fused).
            /// O(nnz) more, nnz being that of what it chooses from.
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
            /// let c = mxm(&a, &a).select(ValueGt, 9.0).eval()?;
            /// assert_eq!(c.entries()?, [(0, 0, 19.0), (1, 0, 10.0), (1, 1, 15.0)]);
            /// # Ok(()) }
            /// ```
            pub fn select<Y: Scalar, F: IndexUnaryOp<$from, Y, Out = bool>>(
                $self,
                _predicate: F,
                thunk: Y,
            ) -> $after<$($args,)* $from> {
                let $step = kept::<$from, Y, F>(thunk);
                $then
            }
            /// T(i, j) = C(i, j) for the k largest entries of each row, as [`top_k`](super::top_k()) has them. On the CPU the result and a few
            /// rows are all that is stored, on CUDA some rows of a product, see [`Fused`](super::Fused).
            /// O(nnz) more, on CUDA a sort of the rows.
            /// ```
            /// use oplus::prelude::*;
            /// # fn main() -> oplus::Result<()> {
            /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
            /// assert_eq!(mxm(&a, &a).top_k(1).eval()?.entries()?, [(0, 0, 19.0), (1, 1, 15.0)]);
            /// # Ok(()) }
            /// ```
            pub fn top_k($self, k: u64) -> $after<$($args,)* $from>
            where
                $from: Comparable,
            {
                let $step = largest::<$from>(k);
                $then
            }
        }
    };
}
pub(super) use steps;

steps!([A: Scalar, B: Scalar, C: Scalar, S: Semiring<A, B, Out = C>] Operation<Product<A, B, Matrix<C, S>, S>>, C, After<A, B, C, S>, |self, step| {
    let (factors, mask, replaced) = (self.kernel.core, self.mask, self.replace);
    let (steps, ring) = (step.within(factors.kind.name()), Of::<A, B, S>::MXM);
    let core = Ended { factors, mask, ring, end: step.end, steps, replaced, between: Vec::new(), count: 1 };
    Operation::new(Fused { core, label: PhantomData })
});
steps!([A: Scalar, B: Scalar, C: Scalar, T: Scalar, S] Operation<Fused<A, B, C, T, S>>, T, After<A, B, C, S>, |self, step| {
    let Ended { factors, mask, ring, end, steps, replaced, mut between, count } = self.kernel.core;
    let (name, here, replaced) = (factors.kind.name(), self.mask, replaced || self.replace);
    between.extend(here.clone());
    let (end, steps): (Arc<dyn End<C, _>>, StepsWithin<C, _>) = if count < MOST_STEPS {
        let next = step.within(name);
        let steps = move |a: &Store<C>, left: Option<u64>| {
            let mut made = steps(a, left)?;
            if let Some(mask) = mask_parts(name, here.as_ref(), made.shape(), made.device)? {
                made = within(name, made, Some(&mask), left)?;
            }
            next(&made, beside_stored(name, left, &made)?)
        };
        (Arc::new(Then(end, step.end)), Arc::new(steps))
    } else {
        // The check refuses it.
        (Arc::new(TooMany), Arc::new(move |_: &Store<C>, _| Err(too_many(name, MOST_STEPS))))
    };
    let core = Ended { factors, mask, ring, end, steps, replaced, between, count: count + 1 };
    Operation::new(Fused { core, label: PhantomData })
});

impl<A: Scalar, B: Scalar, C: Scalar, T: Scalar, S> Compute for Fused<A, B, C, T, S> {
    type Target = Matrix<T, S>;
    fn core(&self) -> &dyn Core<T> {
        &self.core
    }
}

impl<A: Scalar, B: Scalar, C: Scalar, T: Scalar> Core<T> for Ended<A, B, C, T> {
    fn name(&self) -> &'static str {
        self.factors.kind.name()
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        if self.replaced {
            return Err(replaced_early(self.name()));
        }
        if self.count > MOST_STEPS {
            return Err(too_many(self.name(), MOST_STEPS));
        }
        let (shape, device) = self.factors.check()?;
        for mask in self.mask.iter().chain(&self.between) {
            mask_parts(self.name(), Some(mask), shape, device)?;
        }
        Ok((shape, device))
    }
    fn memory_limit(&self) -> Option<u64> {
        self.factors.options.memory_limit
    }
    fn compute(&self, _: Option<&MaskParts>) -> Result<(Owned<T>, bool)> {
        let (shape, device) = self.factors.check()?;
        let mask = mask_parts(self.name(), self.mask.as_ref(), shape, device)?;
        if let Some(fused) = self.by_rows(mask.as_ref(), device)? {
            return Ok((Owned(fused), false));
        }
        #[cfg(feature = "cuda")]
        if let Device::Cuda(_) = device
            && self.between.is_empty()
        {
            return self.by_chunks(mask.as_ref(), device).map(|t| (Owned(t), false));
        }
        let product: Owned<C> = self.factors.admitted(mask.as_ref())?;
        let limit = self.memory_limit().filter(|_| matches!(device, Device::Cpu | Device::Reference));
        let left = beside_stored(self.name(), limit, &product.0)?;
        (self.steps)(&product.0, left).map(|t| (Owned(t), false))
    }
}

impl<A: Scalar, B: Scalar, C: Scalar, T: Scalar> Ended<A, B, C, T> {
    /// All steps row by row, where the device does that.
    fn by_rows(&self, mask: Option<&MaskParts>, device: Device) -> Result<Option<Store<T>>> {
        if device != Device::Cpu || !self.between.is_empty() || too_long(self.factors.check()?.0) {
            return Ok(None);
        }
        self.factors.kind.check_strategy(self.factors.options.strategy, mask)?;
        let (mut o, (rows, cols), _) = self.factors.aligned(mask)?;
        o.options.memory_limit = self.factors.left_beside(&o)?;
        let (UntypedBody::Host(a), UntypedBody::Host(b)) = (&o.a.body, &o.b.body) else { return Ok(None) };
        let mask = Cpu.mask(o.mask.as_ref())?;
        let made = cpu::mxm_ended(self.ring, &*self.end, &a.typed()?, &b.typed()?, mask, &o.at, &o.options)?;
        Ok(Some(Store { rows, cols, body: Body::Host(made), device }))
    }
}
