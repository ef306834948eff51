//! cast: the same entries as another scalar type.
use super::operand::Like;
use super::{Operand, ScalarOf, apply};
use crate::algebra::{Cast, Scalar, UnaryOp};
use crate::container::{Matrix, Vector};
use crate::error::Result;

/// T = A as `U`, entry by entry, as [`Cast`] says. O(nnz(A)).
///
/// A and T are m × n. GraphBLAS C API 2.1, typecasting; the same bits on every device, [those of NaN](crate::algebra::operator#bits) aside.
///
/// # Errors
/// `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<f64> = Vector::build(3, &[(0, -1.5), (2, 300.0)])?;
/// assert_eq!(cast::<u8, _>(&x)?.entries()?, [(0, 0), (2, 255)]);
/// # Ok(()) }
/// ```
#[doc(alias("astype", "typecast"))]
pub fn cast<U: Scalar, X: Operand>(a: &X) -> Result<Like<X, U>>
where
    Cast<U>: UnaryOp<ScalarOf<X>, Out = U>,
{
    apply(a, Cast::<U>::default()).eval()
}

impl<T: Scalar, S> Matrix<T, S> {
    /// T = A as `U`, by [`cast`]. O(nnz).
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 1, 0.0), (1, 1, 2.5)])?;
    /// assert_eq!(a.cast::<bool>()?.entries()?, [(0, 1, false), (1, 1, true)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("astype", "typecast"))]
    pub fn cast<U: Scalar>(&self) -> Result<Matrix<U, S>>
    where
        Cast<U>: UnaryOp<T, Out = U>,
    {
        cast(self)
    }
}
impl<T: Scalar, S> Vector<T, S> {
    /// t = x as `U`, by [`cast`]. O(nnz).
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<f64> = Vector::build(3, &[(0, -1.5), (2, 2.5)])?;
    /// assert_eq!(x.cast::<i8>()?.entries()?, [(0, -1), (2, 2)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("astype", "typecast"))]
    pub fn cast<U: Scalar>(&self) -> Result<Vector<U, S>>
    where
        Cast<U>: UnaryOp<T, Out = U>,
    {
        cast(self)
    }
}
