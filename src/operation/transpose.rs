//! transpose: T = Aᵀ.
use super::{OfOne, Operation};
use crate::algebra::Scalar;
use crate::container::Matrix;
use std::sync::Arc;

/// T = Aᵀ; with `.transpose_a()` A itself. O(nnz(A) + m + n).
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 3, &[(0, 2, 7)])?;
/// assert_eq!(transpose(&a).eval()?.entries()?, [(2, 0, 7)]);
/// # Ok(()) }
/// ```
pub fn transpose<T: Scalar, S>(a: &Matrix<T, S>) -> Operation<OfOne<T, Matrix<T, S>>> {
    let run = Arc::new(|a: &crate::storage::store::Store<T>| Ok(a.clone()));
    Operation::new(OfOne { name: "transpose", a: a.store.clone(), transposed: true, shape: |s| s, run })
}
