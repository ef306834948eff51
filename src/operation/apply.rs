//! apply: T = f(A) entry by entry; the pattern stays.
use super::operand::Like;
use super::places::positions;
use super::{OfOne, Operand, Operation, ScalarOf};
use crate::algebra::{BinaryOp, BindFirst, BindSecond, IndexUnaryOp, OfValue, Scalar, UnaryOp};
use crate::backend::{Body, on_backend};
use std::sync::Arc;

type Applied<X, C> = Operation<OfOne<ScalarOf<X>, Like<X, C>>>;

/// T(i, j) = f(A(i, j), i, j, thunk) at every entry of A; positions are those after the transpose option. O(nnz(A)); on the CPU
/// O(m + nnz(M) log nnz(A)) where a mask that is not complemented admits a few.
///
/// A and T are m × n; `thunk` is one value for all. A vector is a row to f: its index is j, and i is 0, where the standard has a
/// column. So [`ColIndex`](crate::algebra::ColIndex) gives a vector's indices, and [`RowIndex`](crate::algebra::RowIndex) the thunk
/// alone. GraphBLAS C API 2.1, GrB_apply (index unary operators); the same bits on every device [where f gives them](crate::algebra::operator#bits).
///
/// # Errors
/// At the end: `IndexOverflow` as [`select`](super::select()); `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 1, 5.0)])?;
/// assert_eq!(apply_index(&a, ColIndex, 1).eval()?.entries()?, [(0, 1, 2)]);
/// let x: Vector<f64> = Vector::build(9, &[(7, 5.0)])?;
/// assert_eq!(apply_index(&x, ColIndex, 1).eval()?.entries()?, [(7, 8)]);
/// assert_eq!(apply_index(&x, RowIndex, 1).eval()?.entries()?, [(7, 1)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_apply", "GrB_Matrix_apply_IndexOp"))]
pub fn apply_index<X: Operand, Y: Scalar, F: IndexUnaryOp<ScalarOf<X>, Y>>(
    a: &X,
    _op: F,
    thunk: Y,
) -> Applied<X, F::Out> {
    Operation::new(OfOne::new("apply", a.operand(), mapping::<ScalarOf<X>, Y, F>(thunk)).apart())
}

pub(super) fn mapping<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(thunk: Y) -> super::Run<A, F::Out> {
    Arc::new(move |a| {
        let at = positions::<A, Y, F>("apply", a)?;
        if let Some(made) = crate::format::applied::<A, Y, F>(a, thunk)? {
            return Ok(made);
        }
        #[cfg(feature = "cuda")]
        if let Some(made) = crate::format::placed::<A, Y, F>(a, thunk, &at)? {
            return Ok(made);
        }
        let body = on_backend!(a.device, |backend| {
            Body::from(backend.apply::<A, Y, F>(backend.csr(&a.body)?, thunk, &at)?)
        });
        Ok(a.holding(body))
    })
}

/// T = f(A) at every entry of A. O(nnz(A)).
///
/// A and T are m × n. GraphBLAS C API 2.1, GrB_apply; the same bits on every device [where f gives them](crate::algebra::operator#bits).
///
/// # Errors
/// At the end: `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<i32> = Vector::build(3, &[(1, 7)])?;
/// assert_eq!(apply(&x, Negate).eval()?.entries()?, [(1, -7)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_apply", "map"))]
pub fn apply<X: Operand, F: UnaryOp<ScalarOf<X>>>(a: &X, _op: F) -> Applied<X, F::Out> {
    apply_index::<X, ScalarOf<X>, OfValue<F>>(a, OfValue::new(), <ScalarOf<X>>::zeroed())
}

/// T = f(value, A) at every entry of A. O(nnz(A)).
///
/// A and T are m × n. GraphBLAS C API 2.1, GrB_apply (binary operators); the same bits on every device [where f gives them](crate::algebra::operator#bits).
///
/// # Errors
/// At the end: `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<f64> = Vector::build(2, &[(0, 4.0)])?;
/// assert_eq!(apply_first(1.0, Div, &x).eval()?.entries()?, [(0, 0.25)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_apply", "GrB_Matrix_apply_BinaryOp1st"))]
pub fn apply_first<X: Operand, Y: Scalar, F: BinaryOp<Y, ScalarOf<X>>>(value: Y, _op: F, a: &X) -> Applied<X, F::Out> {
    apply_index::<X, Y, BindFirst<F>>(a, BindFirst::new(), value)
}

/// T = f(A, value) at every entry of A. O(nnz(A)).
///
/// A and T are m × n. GraphBLAS C API 2.1, GrB_apply (binary operators); the same bits on every device [where f gives them](crate::algebra::operator#bits).
///
/// # Errors
/// At the end: `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let x: Vector<f64> = Vector::build(2, &[(0, 4.0)])?;
/// assert_eq!(apply_second(&x, Div, 2.0).eval()?.entries()?, [(0, 2.0)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_apply", "GrB_Matrix_apply_BinaryOp2nd"))]
pub fn apply_second<X: Operand, Y: Scalar, F: BinaryOp<ScalarOf<X>, Y>>(a: &X, _op: F, value: Y) -> Applied<X, F::Out> {
    apply_index::<X, Y, BindSecond<F>>(a, BindSecond::new(), value)
}
