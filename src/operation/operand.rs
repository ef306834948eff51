//! What operations read: matrices and vectors as they are, and matrices seen transposed.
use super::{oriented, shape_of};
use crate::algebra::{Scalar, Truth};
use crate::container::{Container, Matrix, Parts};
use crate::device::Device;
use crate::mask::{AsMask, Mask, truths};

/// A matrix seen transposed: entry (i, j) is the matrix's (j, i). Nothing is copied or computed before an operation reads
/// it; there it means what `.transpose_a()` or `.transpose_b()` means, and costs the same.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 3, &[(0, 2, 7), (1, 2, 5)])?;
/// let at = a.transposed();
/// assert_eq!((at.shape(), at.nvals()), ((3, 2), 2));
/// assert_eq!(mxm(&a, &at).eval()?.entries()?, mxm(&a, &a).transpose_b().eval()?.entries()?);
/// assert_eq!(reduce_rows(&at, Plus).eval()?.entries()?, [(2, 12)]);
/// assert_eq!(transpose(&a).mask(&at.structure()).eval()?.nvals(), 2);
/// # Ok(()) }
/// ```
#[must_use = "a view of the matrix, which is as it was"]
pub struct Transposed<T, S>(Matrix<T, S>);

impl<T: Scalar, S> std::fmt::Debug for Transposed<T, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Transposed").field(&self.0).finish()
    }
}

impl<T, S> Clone for Transposed<T, S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T, S> Matrix<T, S> {
    /// The transpose as a view, for operations to read. O(1).
    #[doc(alias("transpose", "GrB_DESC_T0"))]
    pub fn transposed(&self) -> Transposed<T, S> {
        Transposed(self.clone())
    }
}

impl<T: Scalar, S> Transposed<T, S> {
    /// The matrix of which this is the transpose.
    #[doc(alias("transpose", "GrB_DESC_T0"))]
    pub fn transposed(&self) -> Matrix<T, S> {
        self.0.clone()
    }
    /// Rows and columns as seen.
    pub fn shape(&self) -> (u64, u64) {
        shape_of(&self.0.store, true)
    }
    /// Number of entries stored.
    #[doc(alias = "nnz")]
    pub fn nvals(&self) -> u64 {
        self.0.nvals()
    }
    /// Where the entries are and operations run.
    pub fn device(&self) -> Device {
        self.0.device()
    }
    /// The same view under another semiring. O(1).
    pub fn over<R>(&self) -> Transposed<T, R> {
        Transposed(self.0.over())
    }
    /// The positions as seen, as a structural mask. They are transposed here: O(nnz + m + n).
    pub fn structure(&self) -> Mask {
        Mask::of(oriented(&self.0.store, true).and_then(|store| store.pattern()), false)
    }
}

/// True values as seen admit. They are transposed here: O(nnz + m + n).
impl<T: Truth, S> AsMask for Transposed<T, S> {
    fn as_mask(&self) -> Mask {
        Mask::of(oriented(&self.0.store, true).and_then(|store| truths(&store)), false)
    }
}

/// What an operation reads: a [`Matrix`], a [`Vector`](crate::container::Vector), or a matrix seen [`Transposed`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand",
    note = "operands: a matrix, a vector, `a.transposed()`"
)]
pub trait Operand {
    /// What it reads as.
    type Container: Container;
    /// The store, and whether it is to be read transposed.
    #[doc(hidden)]
    fn operand(&self) -> (Parts<'_, ScalarOf<Self>>, bool);
}

/// The scalar of an operand.
pub type ScalarOf<X> = <<X as Operand>::Container as Container>::Scalar;

/// The kind of container that an operand reads as, with its label, of values of C.
pub(super) type Like<X, C> =
    <<X as Operand>::Container as Container>::Of<C, <<X as Operand>::Container as Container>::Label>;

impl<X: Container> Operand for X {
    type Container = X;
    fn operand(&self) -> (Parts<'_, X::Scalar>, bool) {
        (self.parts(), false)
    }
}
impl<T: Scalar, S> Operand for Transposed<T, S> {
    type Container = Matrix<T, S>;
    fn operand(&self) -> (Parts<'_, T>, bool) {
        (self.0.parts(), true)
    }
}
