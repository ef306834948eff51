//! The closure of a square matrix on a dense array: for algorithms whose results fill up.
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::{Body, on_backend};
use crate::container::{Container, Matrix};
use crate::error::{Error, Result};
use crate::storage::axis::Axis;
use crate::storage::store::Store;

/// D = A⁺ with `trivial` on the diagonal, off which A's entries are the ways of one step: D(i, j) is the best way from i to j through
/// any vertices, by Floyd–Warshall in blocks of pivots. `J` joins two ways, `B` says whether one is better than another, a strict order
/// in which what is joined with `absent` is no better than that, and which no way around makes better. O(n³), n² values, on
/// A's device; every place compares in the same order on the CPU and CUDA, so that the bits are the same.
///
/// # Errors
/// `NegativeCycle` of a vertex from which a way to itself is better than to stay; `OutOfMemory`; on CUDA `Driver`.
pub(crate) fn closure<T: Scalar, S: 'static, J: BinaryOp<T, T, Out = T>, B: BinaryOp<T, T, Out = bool>>(
    operation: &'static str,
    a: &Matrix<T, S>,
    (trivial, absent): (T, T),
) -> Result<Matrix<T, S>> {
    let (a, device) = (a.parts().0, a.device());
    let axis = Axis::new(a.rows.n());
    let a = a.on_axes(&axis, &axis, operation)?;
    let named = |e| match e {
        Error::OutOfMemory { device, needed, available, .. } => {
            Error::OutOfMemory { operation, device, needed, available }
        }
        e => e,
    };
    let closed = || {
        Ok(on_backend!(device, |backend| {
            backend.closure::<T, J, B>(backend.csr(&a.body)?, trivial, absent)?.map(Body::from)
        }))
    };
    match closed().map_err(named)? {
        Ok(body) => Ok(Matrix::of(Store { rows: axis.clone(), cols: axis, body, device })),
        Err(vertex) => Err(Error::NegativeCycle { operation, vertex: vertex as u64 }),
    }
}
