//! transpose: T = Aᵀ.
use super::{OfOne, Operand, Operation, oriented};
use crate::algebra::Scalar;
#[cfg(feature = "cuda")]
use crate::backend::Body;
use crate::container::Matrix;
use crate::error::Result;
use crate::storage::store::Store;
use std::sync::Arc;

/// T = Aᵀ; with `.transpose_a()` A itself. O(nnz(A) + m + n).
///
/// A is m × n, T n × m. GraphBLAS C API 2.1, GrB_transpose. Values are moved, the same bits on every device.
///
/// # Errors
/// At the end: `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 3, &[(0, 2, 7)])?;
/// assert_eq!(transpose(&a).eval()?.entries()?, [(2, 0, 7)]);
/// # Ok(()) }
/// ```
#[doc(alias = "GrB_transpose")]
pub fn transpose<T: Scalar, S>(a: &impl Operand<Container = Matrix<T, S>>) -> Operation<OfOne<T, Matrix<T, S>>> {
    let mut kernel = OfOne::new("transpose", a.operand(), Arc::new(|a: &Store<T>| Ok(a.clone())));
    kernel.core.transposed = !kernel.core.transposed;
    Operation::new(kernel)
}

/// T = Aᵀ as [`transpose`] makes it, on CUDA by segmented merge (Ji, Lu, Liu, Jin, IJPP 2021) instead of a radix sort: entries
/// are thrown into their columns, whose rows are then merged. O(nnz(A) · log(entries of the longest column)), which is less
/// where all columns are short. Deterministic.
///
/// # Errors
/// At the end: `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 3, &[(0, 2, 7)])?;
/// assert_eq!(transpose_merged(&a).eval()?.entries()?, [(2, 0, 7)]);
/// # Ok(()) }
/// ```
pub fn transpose_merged<T: Scalar, S>(a: &impl Operand<Container = Matrix<T, S>>) -> Operation<OfOne<T, Matrix<T, S>>> {
    let mut kernel = OfOne::new("transpose", a.operand(), Arc::new(merged));
    kernel.core.shape = |(rows, cols)| (cols, rows);
    Operation::new(kernel)
}

fn merged<T: Scalar>(a: &Store<T>) -> Result<Store<T>> {
    match &a.body {
        #[cfg(feature = "cuda")]
        Body::Cuda(d) => {
            let body = Body::Cuda(d.transposed_by_merging()?);
            Ok(Store { rows: a.cols.clone(), cols: a.rows.clone(), body, device: a.device })
        }
        _ => oriented(a, true),
    }
}
