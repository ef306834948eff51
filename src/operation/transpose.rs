//! transpose: T = Aᵀ.
use super::{OfOne, Operand, Operation};
use crate::algebra::Scalar;
use crate::container::Matrix;
use crate::storage::store::Store;
use std::sync::Arc;

/// T = Aᵀ; with `.transpose_a()` A itself. O(nnz(A) + m + n).
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 3, &[(0, 2, 7)])?;
/// assert_eq!(transpose(&a).eval()?.entries()?, [(2, 0, 7)]);
/// # Ok(()) }
/// ```
pub fn transpose<T: Scalar, S>(a: &impl Operand<Container = Matrix<T, S>>) -> Operation<OfOne<T, Matrix<T, S>>> {
    let mut kernel = OfOne::new("transpose", a.operand(), Arc::new(|a: &Store<T>| Ok(a.clone())));
    kernel.core.transposed = !kernel.core.transposed;
    Operation::new(kernel)
}
