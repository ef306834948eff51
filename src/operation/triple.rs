//! R·A·P: two products, and their plans.
use super::limit::beside;
use super::product::{Product, mxm};
use super::{Operand, Operation, Plan, limited, mask_parts, shape_of};
use crate::algebra::{Scalar, Semiring};
use crate::backend::untyped::UntypedStore;
use crate::container::Matrix;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::mask::{AsMask, Mask};
use crate::storage::store::same_device;

const OPERATION: &str = "triple_product";

/// R·A·P over a semiring, as R·(A·P): what [`triple_product`] asks for.
#[must_use = "nothing is computed before .eval() or .plan()"]
#[derive(Clone)]
pub struct TripleProduct<R, A, P, S> {
    r: (Matrix<R, S>, bool),
    a: (Matrix<A, S>, bool),
    p: (Matrix<P, S>, bool),
    mask: Option<Mask>,
    memory_limit: Option<u64>,
}

impl<R: Scalar, A: Scalar, P: Scalar, S> std::fmt::Debug for TripleProduct<R, A, P, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TripleProduct")
            .field("r", &self.r)
            .field("a", &self.a)
            .field("p", &self.p)
            .finish_non_exhaustive()
    }
}

/// C = R ⊕.⊗ (A ⊕.⊗ P): with R = Pᵀ the Galerkin product of multigrid. O(products of both).
///
/// R is m × k, A k × l, P l × n, C m × n. Sums as those of [`mxm`].
///
/// # Errors
/// At the end: `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 2.0)])?;
/// let p: Matrix<f64> = Matrix::build(2, 1, &[(0, 0, 1.0), (1, 0, 1.0)])?;
/// let plan = triple_product(&p.transposed(), &a, &p).plan()?;
/// assert_eq!(plan.run(&p.transposed(), &a, &p)?.entries()?, [(0, 0, 2.0)]);
/// # Ok(()) }
/// ```
#[doc(alias("galerkin", "ptap", "rap"))]
pub fn triple_product<R: Scalar, A: Scalar, P: Scalar, S>(
    r: &impl Operand<Container = Matrix<R, S>>,
    a: &impl Operand<Container = Matrix<A, S>>,
    p: &impl Operand<Container = Matrix<P, S>>,
) -> TripleProduct<R, A, P, S> {
    fn of<T: Scalar, S>(x: &impl Operand<Container = Matrix<T, S>>) -> (Matrix<T, S>, bool) {
        let (parts, transposed) = x.operand();
        (Matrix::of(parts.0.clone()), transposed)
    }
    TripleProduct { r: of(r), a: of(a), p: of(p), mask: None, memory_limit: None }
}

/// What A·P and R·(A·P) are made by.
type Inner<A, P, T, S> = Operation<Product<A, P, Matrix<T, S>, S>>;

impl<R: Scalar, A: Scalar, P: Scalar, S> TripleProduct<R, A, P, S> {
    /// Only what the mask admits is computed of the result. O(1) of a [`Mask`]; of values O(m + nnz(M)).
    pub fn mask(mut self, mask: &impl AsMask) -> Self {
        self.mask = Some(mask.as_mask().given(false));
        self
    }
    /// Both products together are held to the limit, see [`Operation::memory_limit`]: A·P is part of it while the second is computed.
    /// O(1).
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }
    /// Whether R, A, P and the mask fit together. The two products would tell of an A and a B.
    fn check(&self) -> Result<()> {
        let fit = |left_name, left: (u64, u64), right_name, right: (u64, u64)| match left.1 == right.0 {
            true => Ok(()),
            false => Err(Error::DimensionMismatch {
                operation: OPERATION,
                left_name,
                left,
                right_name,
                right,
                vectors: (false, false),
            }),
        };
        let (r, a, p) = (&self.r, &self.a, &self.p);
        let shape = shape_of(&a.0.store, a.1);
        fit("R", shape_of(&r.0.store, r.1), "A", shape)?;
        fit("A", shape, "P", shape_of(&p.0.store, p.1))?;
        same_device(OPERATION, ("R", r.0.device()), ("A", a.0.device()))?;
        same_device(OPERATION, ("A", a.0.device()), ("P", p.0.device()))?;
        let made = (shape_of(&r.0.store, r.1).0, shape_of(&p.0.store, p.1).1);
        mask_parts(OPERATION, self.mask.as_ref(), made, a.0.device())?;
        Ok(())
    }
    fn inner<T: Scalar>(&self) -> Inner<A, P, T, S>
    where
        S: Semiring<A, P, Out = T>,
    {
        let mut operation = mxm(&self.a.0, &self.p.0);
        (operation.kernel.core.a.1, operation.kernel.core.b.1) = (self.a.1, self.p.1);
        operation.kernel.core.given = (self.a.1, self.p.1);
        operation.kernel.core.options.memory_limit = self.memory_limit;
        operation
    }
    fn outer<T: Scalar, C: Scalar>(&self, inner: &Matrix<T, S>) -> Result<Inner<R, T, C, S>>
    where
        S: Semiring<R, T, Out = C>,
    {
        let mut operation = mxm(&self.r.0, inner);
        operation.kernel.core.a.1 = self.r.1;
        operation.kernel.core.given.0 = self.r.1;
        operation.kernel.core.options.memory_limit = match (self.memory_limit, inner.device()) {
            // The device counts what is held by itself.
            (limit, Device::Cuda(_)) | (limit @ None, _) => limit,
            (Some(limit), _) => Some(beside(OPERATION, limit, UntypedStore::of(&inner.store).bytes())?),
        };
        operation.mask = self.mask.clone();
        Ok(operation)
    }
    /// C⟨M⟩ = R ⊕.⊗ (A ⊕.⊗ P): A·P, then R times that, O(products of both). Sums as those of [`mxm`].
    ///
    /// # Errors
    /// Those of [`Operation::eval`].
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 3), (1, 0, 5)])?;
    /// let mask: Matrix<bool> = Matrix::build(2, 2, &[(0, 1, true)])?;
    /// let c = triple_product(&a, &a, &a).mask(&mask).memory_limit(1 << 20).eval()?;
    /// assert_eq!(c.entries()?, [(0, 1, 45)]);
    /// # Ok(()) }
    /// ```
    pub fn eval<T: Scalar, C: Scalar>(&self) -> Result<Matrix<C, S>>
    where
        S: Semiring<A, P, Out = T> + Semiring<R, T, Out = C>,
    {
        self.check()?;
        let work = || self.outer::<T, C>(&self.inner::<T>().eval()?)?.eval();
        limited(OPERATION, self.memory_limit, self.a.0.device(), work).map_err(|e| e.of_parts("mxm", OPERATION))
    }
    /// What the structure of the operands says about both products of C⟨M⟩ = R ⊕.⊗ (A ⊕.⊗ P). O(products of both).
    ///
    /// # Errors
    /// Those of [`Operation::eval`].
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 3), (1, 0, 5)])?;
    /// let plan = triple_product(&a, &a, &a).plan()?;
    /// assert_eq!(plan.nvals(), 2);
    /// # Ok(()) }
    /// ```
    pub fn plan<T: Scalar, C: Scalar>(&self) -> Result<TriplePlan<R, A, P, T, C, S>>
    where
        S: Semiring<A, P, Out = T> + Semiring<R, T, Out = C>,
    {
        self.check()?;
        let made = limited(OPERATION, self.memory_limit, self.a.0.device(), || {
            let first = self.inner::<T>().plan()?;
            // Its positions are all that matters of A·P here; the plan shares them with every run.
            let ap: Matrix<T, S> = first.run_parts(&self.a, &self.p)?;
            let second = self.outer::<T, C>(&ap)?.plan()?;
            Ok(TriplePlan { first, second, memory_limit: self.memory_limit })
        });
        made.map_err(|e| e.of_parts("mxm", OPERATION))
    }
}

/// The plans of A·P and of R·(A·P).
#[derive(Debug)]
pub struct TriplePlan<R, A, P, T, C, S> {
    first: Plan<A, P, T, S>,
    second: Plan<R, T, C, S>,
    memory_limit: Option<u64>,
}

impl<A: Scalar, B: Scalar, C: Scalar, S: Semiring<A, B, Out = C>> Plan<A, B, C, S> {
    fn run_parts(&self, a: &(Matrix<A, S>, bool), b: &(Matrix<B, S>, bool)) -> Result<Matrix<C, S>> {
        match (a.1, b.1) {
            (false, false) => self.run(&a.0, &b.0),
            (true, false) => self.run(&a.0.transposed(), &b.0),
            (false, true) => self.run(&a.0, &b.0.transposed()),
            (true, true) => self.run(&a.0.transposed(), &b.0.transposed()),
        }
    }
}

impl<R: Scalar, A: Scalar, P: Scalar, T: Scalar, C: Scalar, S> TriplePlan<R, A, P, T, C, S>
where
    S: Semiring<A, P, Out = T> + Semiring<R, T, Out = C>,
{
    /// C⟨M⟩ = R ⊕.⊗ (A ⊕.⊗ P) of operands with the planned structure. O(products of both), as [`Plan::run`].
    ///
    /// # Errors
    /// Those of [`Plan::run`]; a misfit of P or A is found in the first product.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 3), (1, 0, 5)])?;
    /// let plan = triple_product(&a, &a, &a).plan()?;
    /// let negated = apply(&a, Negate).eval()?;
    /// assert_eq!(plan.run(&a, &negated, &a)?.entries()?, [(0, 1, -45), (1, 0, -75)]);
    /// # Ok(()) }
    /// ```
    pub fn run(
        &self,
        r: &impl Operand<Container = Matrix<R, S>>,
        a: &impl Operand<Container = Matrix<A, S>>,
        p: &impl Operand<Container = Matrix<P, S>>,
    ) -> Result<Matrix<C, S>> {
        let work = || self.second.run_named(["R", "A·P"], r, &self.first.run_named(["A", "P"], a, p)?);
        limited(OPERATION, self.memory_limit, self.first.device(), work).map_err(|e| e.of_parts("mxm", OPERATION))
    }
    /// Entries of the result.
    pub fn nvals(&self) -> u64 {
        self.second.nvals()
    }
}
