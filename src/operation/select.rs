//! select: the entries of A that a predicate keeps; values never change.
use super::places::positions;
use super::{OfOne, Operand, Operation, ScalarOf};
use crate::algebra::{IndexUnaryOp, Scalar};
use crate::backend::{Body, on_backend};
use std::sync::Arc;

/// T = A⟨f(A, i, j, thunk)⟩: the entries for which f holds. With [`top_k`](super::top_k()) the only operation
/// that prunes by values. O(nnz(A)); on the CPU O(m + nnz(M) log nnz(A)) where a mask that is not complemented admits a few.
///
/// A and T are m × n. A vector is a row to f: its index is j, and i is 0, where the standard has a column. So
/// [`ColLe`](crate::algebra::ColLe) keeps the beginning of a vector, and [`RowLe`](crate::algebra::RowLe) all of it or nothing.
/// GraphBLAS C API 2.1, GrB_select. Values are moved, the same bits on every device.
///
/// # Errors
/// At the end: `IndexOverflow` where A has entries in rows or columns from 2⁶³ on and f looks at those, which it does in i64;
/// `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 3.0)])?;
/// assert_eq!(select(&a, Tril, -1).eval()?.entries()?, [(1, 0, 3.0)]);
/// let x: Vector<f64> = Vector::build(9, &[(2, 1.0), (7, 2.0)])?;
/// assert_eq!(select(&x, ColLe, 5).eval()?.entries()?, [(2, 1.0)]);
/// # Ok(()) }
/// ```
#[doc(alias("GrB_select", "filter", "prune"))]
pub fn select<X: Operand, Y: Scalar, F: IndexUnaryOp<ScalarOf<X>, Y, Out = bool>>(
    a: &X,
    _predicate: F,
    thunk: Y,
) -> Operation<OfOne<ScalarOf<X>, X::Container>> {
    Operation::new(OfOne::new("select", a.operand(), selecting::<ScalarOf<X>, Y, F>(thunk)).apart())
}

pub(super) fn selecting<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(thunk: Y) -> super::Run<A, A> {
    Arc::new(move |a| {
        let at = positions::<A, Y, F>("select", a)?;
        if let Some(made) = crate::format::selected::<A, Y, F>(a, thunk, &at)? {
            return Ok(made);
        }
        let body = on_backend!(a.device, |backend| {
            Body::from(backend.select::<A, Y, F>(backend.csr(&a.body)?, thunk, &at)?)
        });
        crate::format::still_iso(a, a.holding(body))
    })
}
