//! The largest entries of each row.
use super::{OfOne, Operand, Operation, ScalarOf};
use crate::algebra::Comparable;
use crate::backend::ends::Largest;
use crate::backend::{Body, Positions, cpu};
#[cfg(feature = "cuda")]
use crate::device::Device;
use crate::error::Result;
use crate::storage::store::Store;
use std::sync::Arc;

/// T(i, j) = A(i, j) where fewer than k entries of row i come before it: the k largest of each row, where they are. An entry comes
/// before smaller ones, and of equal ones the one of the smaller column does; NaN comes after all others. A vector is one row. O(nnz(A)) on the CPU, a sort of the rows on CUDA.
///
/// After a product, `mxm(&a, &b).top_k(k)` does it to the rows as they are computed.
///
/// A and T are m × n; the same bits on every device.
///
/// # Errors
/// At the end: `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 4, &[(0, 0, 5), (0, 1, 9), (0, 3, 5), (1, 2, 7)])?;
/// assert_eq!(top_k(&a, 2).eval()?.entries()?, [(0, 0, 5), (0, 1, 9), (1, 2, 7)]);
/// # Ok(()) }
/// ```
#[doc(alias = "topk")]
pub fn top_k<X: Operand<Container: crate::container::Container<Scalar: Comparable>>>(
    a: &X,
    k: u64,
) -> Operation<OfOne<ScalarOf<X>, X::Container>> {
    let k = usize::try_from(k).unwrap_or(usize::MAX);
    Operation::new(OfOne::new("top_k", a.operand(), Arc::new(move |a| largest::<ScalarOf<X>>(a, k))))
}

pub(super) fn largest<T: Comparable>(a: &Store<T>, k: usize) -> Result<Store<T>> {
    #[cfg(feature = "cuda")]
    if let Device::Cuda(_) = a.device {
        let cuda = crate::backend::cuda::Cuda::on(a.device)?;
        let list = crate::backend::Backend::csr(&cuda, &a.body)?;
        return Ok(a.holding(Body::Cuda(crate::backend::cuda::top_k(&cuda, list, k)?)));
    }
    let list = a.to_host()?;
    Ok(a.holding(Body::Host(cpu::ended("top_k", &Largest(k), &list, &Positions::default())?)))
}
