//! select: the entries of A that a predicate keeps; values never change.
use super::{OfOne, Operation};
use crate::algebra::{IndexUnaryOp, Scalar};
use crate::backend::{Body, Positions, on_backend};
use crate::container::Container;
use crate::storage::store::Store;
use std::sync::Arc;

/// T = A⟨f(A, i, j, thunk)⟩: the entries for which f holds. The only operation that prunes. O(nnz(A)).
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 3.0)])?;
/// assert_eq!(select(&a, Tril, -1).eval()?.entries()?, [(1, 0, 3.0)]);
/// # Ok(()) }
/// ```
pub fn select<X: Container, Y: Scalar, F: IndexUnaryOp<X::Scalar, Y, Out = bool>>(
    a: &X,
    _predicate: F,
    thunk: Y,
) -> Operation<OfOne<X::Scalar, X>> {
    let run = move |a: &Store<X::Scalar>| {
        let at = Positions { i: a.rows.ids(), k: None, j: a.cols.ids() };
        let body = on_backend!(a.device, |backend| {
            Body::from(backend.select::<X::Scalar, Y, F>(&backend.csr(&a.body)?, thunk, &at)?)
        });
        Ok(Store { rows: a.rows.clone(), cols: a.cols.clone(), body, device: a.device })
    };
    let a = a.parts().0.clone();
    Operation::new(OfOne { name: "select", a, transposed: false, shape: |s| s, run: Arc::new(run) })
}
