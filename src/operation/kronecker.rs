//! kronecker: every entry of one matrix times the whole of another.
use super::{Compute, Core, MaskParts, Operand, Operation, oriented, shape_of};
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::{Body, on_backend};
use crate::container::{Matrix, Owned};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::axis::{Axis, check_places};
use crate::storage::listing::is_hypersparse;
use crate::storage::store::{Store, same_device};
use std::marker::PhantomData;

/// The Kronecker product of a matrix of `A` and one of `B` by `F`; `S` is its label.
#[derive(Debug)]
pub struct Kronecker<A, B, F, S> {
    core: Factors<A, B, F>,
    label: PhantomData<fn() -> S>,
}
#[derive(Debug)]
struct Factors<A, B, F> {
    a: (Store<A>, bool),
    b: (Store<B>, bool),
    op: PhantomData<fn() -> F>,
}
impl<A, B, F, S> Clone for Kronecker<A, B, F, S> {
    fn clone(&self) -> Self {
        let Factors { a, b, .. } = &self.core;
        Self { core: Factors { a: a.clone(), b: b.clone(), op: PhantomData }, label: PhantomData }
    }
}

/// T = A ⊗ B: T(i·p + k, j·q + l) = f(A(i, j), B(k, l)), B being p × q. O(nnz(A) · nnz(B)).
///
/// A is m × n and T m·p × n·q. GraphBLAS C API 2.1, GrB_kronecker; the same bits on every device [where ⊗ gives them](crate::algebra::operator#bits).
///
/// # Errors
/// At the end: `IndexOverflow` where a dimension of the result passes 2⁶⁴ − 1; `DeviceMismatch`, `OutOfMemory`; on CUDA
/// `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 2), (1, 0, 3)])?;
/// let b: Matrix<i32> = Matrix::build(1, 3, &[(0, 1, 5), (0, 2, 7)])?;
/// let c = kronecker(&a, &b, Times).eval()?;
/// assert_eq!(c.shape(), (2, 6));
/// assert_eq!(c.entries()?, [(0, 1, 10), (0, 2, 14), (1, 1, 15), (1, 2, 21)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_kronecker", "kron"))]
pub fn kronecker<A: Scalar, B: Scalar, S, R, F: BinaryOp<A, B>>(
    a: &impl Operand<Container = Matrix<A, S>>,
    b: &impl Operand<Container = Matrix<B, R>>,
    _op: F,
) -> Operation<Kronecker<A, B, F, S>> {
    let ((a, a_transposed), (b, b_transposed)) = (a.operand(), b.operand());
    let core = Factors { a: (a.0.clone(), a_transposed), b: (b.0.clone(), b_transposed), op: PhantomData };
    Operation::new(Kronecker { core, label: PhantomData })
}

impl<A, B, F, S, G> Operation<Kronecker<A, B, F, S>, G> {
    /// A is read transposed. O(1) here; O(m + n + nnz(A)) at the end where no transpose is kept.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(1, 2, &[(0, 1, 3)])?;
    /// let c = kronecker(&a, &a, Times).transpose_a().transpose_b().eval()?;
    /// assert_eq!((c.shape(), c.entries()?), ((4, 1), vec![(3, 0, 9)]));
    /// # Ok(()) }
    /// ```
    pub fn transpose_a(mut self) -> Self {
        self.kernel.core.a.1 = !self.kernel.core.a.1;
        self
    }
    /// B is read transposed, likewise. O(1) here.
    pub fn transpose_b(mut self) -> Self {
        self.kernel.core.b.1 = !self.kernel.core.b.1;
        self
    }
}

impl<A: Scalar, B: Scalar, F: BinaryOp<A, B>, S> Compute for Kronecker<A, B, F, S> {
    type Target = Matrix<F::Out, S>;
    fn core(&self) -> &dyn Core<F::Out> {
        &self.core
    }
}
impl<A: Scalar, B: Scalar, F: BinaryOp<A, B>> Core<F::Out> for Factors<A, B, F> {
    fn name(&self) -> &'static str {
        "kronecker"
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        let (a, b) = (shape_of(&self.a.0, self.a.1), shape_of(&self.b.0, self.b.1));
        let shape = (length("number of rows", a.0, b.0)?, length("number of columns", a.1, b.1)?);
        Ok((shape, same_device(self.name(), ("A", self.a.0.device), ("B", self.b.0.device))?))
    }
    fn compute(&self, _: Option<&MaskParts>) -> Result<(Owned<F::Out>, bool)> {
        let (mut a, mut b) = (oriented(&self.a.0, self.a.1)?, oriented(&self.b.0, self.b.1)?);
        let entries = a.nvals().saturating_mul(b.nvals());
        // Before the factors are listed for it.
        if !matches!(a.device, Device::Cuda(_)) {
            memory::check("kronecker", entries.saturating_mul(4 + size_of::<F::Out>() as u64))?;
        }
        let long = product(&a.rows, &b.rows, entries)?.is_none() || product(&a.cols, &b.cols, entries)?.is_none();
        // Which places are in use is found on the host: of few that need not be known to a device.
        let few = |x: &Axis, y: &Axis| x.places() as u128 * y.places() as u128 <= 1 << 24;
        let there = matches!(a.device, Device::Cuda(_)) && few(&a.rows, &b.rows) && few(&a.cols, &b.cols);
        if long && !there {
            (a, b) = (a.in_use((true, true), "kronecker")?, b.in_use((true, true), "kronecker")?);
        }
        let (rows, cols) = (axis(&a.rows, &b.rows, entries)?, axis(&a.cols, &b.cols, entries)?);
        let body = on_backend!(a.device, |backend| {
            Body::from(backend.kronecker::<A, B, F>(backend.csr(&a.body)?, backend.csr(&b.body)?)?)
        });
        Ok((Owned(Store { rows, cols, body, device: a.device }), false))
    }
}

fn length(what: &'static str, a: u64, b: u64) -> Result<u64> {
    let value = u128::from(a) * u128::from(b);
    let limit = u128::from(u64::MAX);
    u64::try_from(value).map_err(|_| Error::IndexOverflow { operation: "kronecker", what, value, limit })
}

/// The axis where all places of the result are indices; `None` where they are too many for that, or for so many entries.
fn product(a: &Axis, b: &Axis, entries: u64) -> Result<Option<Axis>> {
    let n = length("dimension", a.n(), b.n())?;
    let full = matches!((a, b), (Axis::Full(_), Axis::Full(_))) || n == 0;
    Ok(u32::try_from(n).ok().filter(|_| full && !is_hypersparse(n, entries)).map(Axis::Full))
}

/// The axis of the result: place p·q + r for places p of `a` and r of the q of `b`.
fn axis(a: &Axis, b: &Axis, entries: u64) -> Result<Axis> {
    if let Some(axis) = product(a, b, entries)? {
        return Ok(axis);
    }
    let (operation, value) = ("kronecker", a.places() as u128 * b.places() as u128);
    check_places(operation, value)?;
    let mut ids = memory::with_capacity(operation, value as usize)?;
    for p in 0..a.places() {
        ids.extend((0..b.places()).map(|r| a.id(p) * b.n() + b.id(r)));
    }
    Axis::of_ids(operation, a.n() * b.n(), ids)
}
