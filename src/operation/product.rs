//! mxm, mxv, vxm: products over a semiring.
//!
//! The semiring is known where a product is asked for; from there on it is a table of its operators and kernels, so that
//! everything after the doors here is compiled once.
use super::factors::{Factors, Kind};
use super::scale::ScaledFactor;
use super::{Compute, Core, Operand, Operation};
use crate::algebra::{BinaryOp, Flipped, Monoid, Scalar, Semiring};
use crate::backend::ring::{AnyRing, Fold, Of};
use crate::backend::untyped::UntypedStore;
use crate::container::{Container, Matrix, Parts, Vector};
use crate::error::Result;
use crate::spgemm::Strategy;
use std::fmt::{Debug, Formatter};
use std::marker::PhantomData;

/// A product of a matrix with a matrix or vector; `C` is what it makes.
pub struct Product<A, B, C: Container, S> {
    pub(super) core: Box<Factors>,
    label: PhantomData<fn() -> (A, B, C, S)>,
}

impl<A, B, C: Container, S> Debug for Product<A, B, C, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.core.fmt(f)
    }
}

impl<A, B, C: Container, S> Clone for Product<A, B, C, S> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), label: PhantomData }
    }
}

/// T = A ⊕.⊗ B: an entry exactly where a product exists, T(i, j) = ⊕ₖ A(i, k) ⊗ B(k, j).
///
/// Both operands carry the same semiring: a disagreement is a compile error. Cancellation keeps an explicit zero;
/// no product means no entry. Floating sums run in the order of k on the host. O(products).
///
/// Named semirings multiply values of one type. Where the entries of one operand only say where they are, as a graph's `bool`s, the label is
/// [`PlusSecond`](crate::algebra::PlusSecond) or [`PlusFirst`](crate::algebra::PlusFirst), of which the other one's values count; else
/// [`cast`](Matrix::cast) converts an operand.
///
/// A is m × k, B k × n, T m × n. GraphBLAS C API 2.1, GrB_mxm; Gustavson, *Two fast algorithms for sparse matrices*, 1978,
/// 10.1145/355791.355796. On CUDA rows of many products whose columns lie apart are summed in no fixed order: floating values may
/// differ in the last bits from run to run, unless [`reproducible`](Operation::reproducible) is asked for; [`Strategy`] says more.
///
/// # Errors
/// At the end: `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
/// let c = mxm(&a, &a).transpose_b().mask(&a.structure()).eval()?;
/// assert_eq!(c.entries()?, [(0, 0, 13.0), (0, 1, 10.0), (1, 0, 10.0)]);
/// let paths = mxm(&a.over::<MinPlus>(), &a.over()).eval()?;
/// assert_eq!(paths.get(0, 0)?, Some(4.0));
/// # Ok(()) }
/// ```
#[doc(alias("GrB_mxm", "matmul", "spgemm", "dot", "multiply"))]
pub fn mxm<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    a: &impl Operand<Container = Matrix<A, S>>,
    b: &impl Operand<Container = Matrix<B, S>>,
) -> Operation<Product<A, B, Matrix<S::Out, S>, S>> {
    Operation::new(Product::of(Kind::Mxm, a.operand(), b.operand(), Of::<A, B, S>::MXM, Of::<A, B, S>::MXM))
}

/// t = A ⊕.⊗ x: t(i) = ⊕ₖ A(i, k) ⊗ x(k), pulled along the rows of A; with `.transpose()` Aᵀ ⊕.⊗ x, pushed.
/// O(nnz(A)) pulled, O(products) pushed.
///
/// A and x of two types: a graph's `bool`s take part over [`PlusSecond`](crate::algebra::PlusSecond), as below, or `a.cast::<f64>()?`; see [`mxm`].
///
/// A is m × n, x of length n, t of length m. GraphBLAS C API 2.1, GrB_mxv. Floating sums run in the order of k on the host; pulled on
/// CUDA in an order fixed by A as it is stored, by whether x has gaps and whether there is a mask; pushed as those of [`vxm`].
///
/// # Errors
/// At the end: `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool> = Matrix::build(2, 2, &[(0, 0, true), (0, 1, true)])?;
/// let x: Vector<f64> = Vector::build(2, &[(0, 1.5), (1, 2.0)])?;
/// assert_eq!(mxv(&graph.over::<PlusSecond>(), &x.over()).eval()?.entries()?, [(0, 3.5)]);
/// assert_eq!(mxv(&graph.over::<PlusSecond>(), &x.over()).transpose().eval()?.entries()?, [(0, 1.5), (1, 1.5)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_mxv", "matvec", "spmv"))]
pub fn mxv<A: Scalar, X: Scalar, S: Semiring<A, X>>(
    a: &impl Operand<Container = Matrix<A, S>>,
    x: &Vector<X, S>,
) -> Operation<Product<A, X, Vector<S::Out, S>, S>> {
    Operation::new(Product::of(Kind::Mxv, a.operand(), x.operand(), Of::<A, X, S>::MXV, Of::<X, A, Flipped<S>>::VXM))
}

/// t = xᵀ ⊕.⊗ A: t(j) = ⊕ₖ x(k) ⊗ A(k, j), pushed along the rows of A; with `.transpose()` xᵀ ⊕.⊗ Aᵀ, pulled.
/// Pushed O(entries of the rows that x has), pulled O(nnz(A)).
///
/// On CUDA, A with the same values as the last time and a vector without gaps: pulled along the columns of A, which are kept with it from
/// then on (12 bytes an entry of 8 bytes, 8 a column; at most a quarter of the free memory, else pushed). Up to 2048 products (of 8 bytes;
/// half as many of up to 16, none of more) that are few to the columns take O(products), with floating sums in the order of k. Pushed
/// else in any, with O(columns) more steps and bytes; pulled in one that depends on A as it is stored.
///
/// On the CPU, from the third such call on the same positions on: likewise, in the order of k as ever. With the positions are kept 8 bytes
/// an entry and 8 a column, and of the last matrix that has them its values by columns, where there is memory for these.
///
/// x and A of two types: values spread along a graph of `bool`s over [`PlusFirst`](crate::algebra::PlusFirst), or `a.cast::<f64>()?`; see [`mxm`].
///
/// x has length m, A is m × n, t of length n. GraphBLAS C API 2.1, GrB_vxm.
///
/// # Errors
/// At the end: `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool, LorLand> = Matrix::build(3, 3, &[(0, 1, true), (1, 2, true)])?;
/// let frontier: Vector<bool, LorLand> = Vector::build(3, &[(0, true)])?;
/// assert_eq!(vxm(&frontier, &graph).eval()?.entries()?, [(1, true)]);
/// let rank: Vector<f64> = Vector::build(3, &[(0, 0.25), (1, 0.5)])?;
/// assert_eq!(vxm(&rank.over::<PlusFirst>(), &graph.over()).eval()?.entries()?, [(1, 0.25), (2, 0.5)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_vxm", "vecmat"))]
pub fn vxm<X: Scalar, B: Scalar, S: Semiring<X, B>>(
    x: &Vector<X, S>,
    b: &impl Operand<Container = Matrix<B, S>>,
) -> Operation<Product<X, B, Vector<S::Out, S>, S>> {
    Operation::new(Product::of(Kind::Vxm, x.operand(), b.operand(), Of::<X, B, S>::VXM, Of::<B, X, Flipped<S>>::MXV))
}

impl<A: Scalar, B: Scalar, C: Container, S> Product<A, B, C, S> {
    fn of(
        kind: Kind,
        a: (Parts<'_, A>, bool),
        b: (Parts<'_, B>, bool),
        ring: &'static dyn AnyRing,
        flipped: &'static dyn AnyRing,
    ) -> Self {
        let (a, b) = ((UntypedStore::of(a.0.0), a.1), (UntypedStore::of(b.0.0), b.1));
        Self { core: Factors::new(kind, a, b, ring, flipped), label: PhantomData }
    }
}

impl<A: Scalar, B: Scalar, C: Container, S> Compute for Product<A, B, C, S> {
    type Target = C;
    fn core(&self) -> &dyn Core<C::Scalar> {
        &*self.core
    }
}

impl<A: Scalar, B: Scalar, C: Container, S, F> Operation<Product<A, B, C, S>, F> {
    /// How the product is computed; every strategy gives the same positions and, but for the rounding of floating sums, the same values:
    /// [`Strategy`] says in which order each sums. O(1).
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i64> = Matrix::build(2, 2, &[(0, 0, 2), (0, 1, 3), (1, 0, 5)])?;
    /// let by = |strategy| mxm(&a, &a).strategy(strategy).eval();
    /// assert_eq!(by(Strategy::EscGlobal)?.entries()?, by(Strategy::Hash)?.entries()?);
    /// # Ok(()) }
    /// ```
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.kernel.core.options.strategy = strategy;
        self
    }
    /// Sums run in the order of k everywhere, so that floating results are the same to the bit on every device, [where ⊕ and ⊗
    /// give those](crate::algebra::operator#bits), with every strategy, limit and run. The host always does so; on CUDA rows of many
    /// products take longer. O(1) here. It says nothing of [`reduce`](Self::reduce), whose sum over all entries is cut into pieces.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 0.1), (0, 1, 0.2), (1, 0, 0.3)])?;
    /// let (c, reference) = (mxm(&a, &a).reproducible().eval()?, a.to(&Device::Reference)?);
    /// assert_eq!(c.entries()?, mxm(&reference, &reference).eval()?.entries()?);
    /// # Ok(()) }
    /// ```
    pub fn reproducible(mut self) -> Self {
        self.kernel.core.options.reproducible = true;
        self
    }
    /// Workspace and result hold at most so many bytes at once; operands and an output written to do not count. O(1) here.
    ///
    /// What does not fit as a whole is computed by chunks of rows, on the host row by row into arrays of the right size.
    /// The result is the same, but that a sum over all of a product ([`reduce`](Self::reduce)) of floats is then cut by what fits, not by the work alone. Without a limit the same is done when memory runs out. What was asked for counts, not what a
    /// device's pool rounds it up to (by a quarter at most, below a megabyte to twice as much) or keeps of what was freed.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
    /// assert_eq!(mxm(&a, &a).memory_limit(1 << 20).eval()?.nvals(), 4);
    /// match mxm(&a, &a).memory_limit(8).eval() {
    ///     Err(Error::OutOfMemory { needed, available: Some(8), .. }) => assert!(needed > 8),
    ///     other => panic!("{other:?}"),
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Of the ends: `OutOfMemory` with the bytes needed and the limit, where one row or the result does not fit.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.kernel.core.options.memory_limit = Some(bytes);
        self
    }
}
impl<A: Scalar, B: Scalar, T: Scalar, R, S, F> Operation<Product<A, B, Matrix<T, R>, S>, F> {
    /// A's entries are read as f(v(i), A(i, k)): (diag(v) A) ⊕.⊗ B, as [`scale_rows`](super::scale_rows()) has it. The values
    /// alone are made for the product, O(nnz(A)), where v has an entry for every row. A later call scales what earlier ones
    /// made.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
    /// let (d, e): (Vector<f64>, Vector<f64>) = (Vector::full(2, 10.0)?, Vector::build(2, &[(0, 0.5)])?);
    /// let c = mxm(&a, &a).scale_rows(&d, Times).scale_inner(&d, Times).scale_columns(&e, Times).eval()?;
    /// assert_eq!(c.entries()?, [(0, 0, 950.0), (1, 0, 500.0)]);
    /// # Ok(()) }
    /// ```
    pub fn scale_rows<V: Scalar, Q, G: BinaryOp<V, A, Out = A>>(mut self, v: &Vector<V, Q>, _op: G) -> Self {
        self.kernel.core.scaled.0.push(ScaledFactor::<A, V>::rows::<G>(v.parts().0));
        self
    }
    /// A's entries are read as f(A(i, k), v(k)): (A diag(v)) ⊕.⊗ B, otherwise as [`scale_rows`](Self::scale_rows), O(nnz(A)).
    pub fn scale_inner<V: Scalar, Q, G: BinaryOp<A, V, Out = A>>(mut self, v: &Vector<V, Q>, _op: G) -> Self {
        self.kernel.core.scaled.0.push(ScaledFactor::<A, V>::columns::<G>("scale_inner", v.parts().0));
        self
    }
    /// B's entries are read as f(B(k, j), v(j)): A ⊕.⊗ (B diag(v)), otherwise as [`scale_rows`](Self::scale_rows), O(nnz(B)).
    pub fn scale_columns<V: Scalar, Q, G: BinaryOp<B, V, Out = B>>(mut self, v: &Vector<V, Q>, _op: G) -> Self {
        self.kernel.core.scaled.1.push(ScaledFactor::<B, V>::columns::<G>("scale_columns", v.parts().0));
        self
    }
    /// A is read transposed. O(1) here; at the end O(m + k + nnz(A)) at most, where A keeps no transpose.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 3, &[(0, 2, 7), (1, 2, 5)])?;
    /// assert_eq!(mxm(&a, &a).transpose_a().eval()?.entries()?, [(2, 2, 74)]);
    /// # Ok(()) }
    /// ```
    pub fn transpose_a(mut self) -> Self {
        self.kernel.core.a.1 = !self.kernel.core.a.1;
        self
    }
    /// B is read transposed. O(1) here; at the end O(k + n + nnz(B)) at most, where B keeps no transpose.
    pub fn transpose_b(mut self) -> Self {
        self.kernel.core.b.1 = !self.kernel.core.b.1;
        self
    }
}
impl<A: Scalar, B: Scalar, T: Scalar, R, S, F> Operation<Product<A, B, Vector<T, R>, S>, F> {
    /// The matrix is read transposed: mxv pushes, vxm pulls. O(1): no transpose is made.
    pub fn transpose(mut self) -> Self {
        match self.kernel.core.kind {
            Kind::Vxm => self.kernel.core.b.1 = !self.kernel.core.b.1,
            _ => self.kernel.core.a.1 = !self.kernel.core.a.1,
        }
        self
    }
}

impl<A: Scalar, B: Scalar, C: Scalar, S: Semiring<A, B, Out = C>> Operation<Product<A, B, Matrix<C, S>, S>> {
    /// s = ⊕ of all entries of (A ⊕.⊗ B)⟨M⟩ by a monoid, without storing the product; the identity where it has none. O(products).
    ///
    /// Integers, booleans, min and max give the same bits everywhere, [those of NaN](crate::algebra::operator#bits) aside. Other floating
    /// sums are cut into pieces: on the CPU by the products of rows alone, so that all runs and formats agree; on CUDA the last bits may
    /// differ from run to run.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let l: Matrix<bool> = Matrix::build(3, 3, &[(1, 0, true), (2, 0, true), (2, 1, true)])?;
    /// let triangles: u64 = mxm(&l.over::<PlusPair>(), &l.over()).mask(&l.structure()).reduce(Plus)?;
    /// assert_eq!(triangles, 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Those of [`eval`](Operation::eval).
    pub fn reduce<M: Monoid<C>>(self, _monoid: M) -> Result<C> {
        let sum = self.kernel.core.reduced(self.mask.as_ref(), Of::<A, B, S>::MXM, &Fold::<C>::by::<M>())?;
        Ok(sum.unwrap_or_else(M::identity))
    }
}

/// `S: Same<R>` instead of one name for both: while R is open, method lookup cannot reject the method (E0599),
/// so a misfit is reported as the semiring's own error.
#[diagnostic::on_unimplemented(
    message = "the operands carry different semirings, `{Self}` and `{R}`",
    note = "relabel one: `.over()`"
)]
pub trait Same<R> {}
impl<S> Same<S> for S {}

impl<T: Scalar, S> Matrix<T, S> {
    /// C = A ⊕.⊗ B, the plain form of [`mxm`]: A m × k, B k × n, C m × n. O(products).
    ///
    /// # Errors
    /// `DimensionMismatch`, `DeviceMismatch`, `OutOfMemory`, and the device's own.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
    /// let x: Vector<f64> = Vector::full(2, 1.0)?;
    /// assert_eq!(a.mxm(&a.transposed())?.get(0, 0)?, Some(13.0));
    /// assert_eq!(a.mxv(&x)?.entries()?, [(0, 5.0), (1, 5.0)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_mxm", "matmul", "spgemm", "dot", "multiply"))]
    pub fn mxm<U: Scalar, R>(&self, b: &impl Operand<Container = Matrix<U, R>>) -> Result<Matrix<R::Out, R>>
    where
        R: Semiring<T, U>,
        S: Same<R>,
    {
        mxm(&self.over(), b).eval()
    }
    /// t = A ⊕.⊗ x, the plain form of [`mxv`]: A m × n, x of length n, t of length m. O(nnz(A)).
    ///
    /// # Errors
    /// Those of [`mxm`](Self::mxm).
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 2.0), (0, 1, 3.0), (1, 0, 5.0)])?;
    /// let x: Vector<f64> = Vector::build(2, &[(0, 1.0), (1, 10.0)])?;
    /// assert_eq!(a.mxv(&x)?.entries()?, [(0, 32.0), (1, 5.0)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_mxv", "matvec", "spmv"))]
    pub fn mxv<U: Scalar, R>(&self, x: &Vector<U, R>) -> Result<Vector<R::Out, R>>
    where
        R: Semiring<T, U>,
        S: Same<R>,
    {
        mxv(&self.over(), x).eval()
    }
}
