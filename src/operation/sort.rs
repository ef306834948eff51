//! sort: the entries of each row in the order of their values.
use super::operand::Like;
use super::{Operand, ScalarOf, oriented};
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::{Body, on_backend};
use crate::container::{Container, Owned};
use crate::error::Result;
use crate::storage::axis::Axis;
use crate::storage::store::Store;

/// C(i, k) = A(i, P(i, k)): rows sorted by `before`, C(i, 0), C(i, 1), … being the values of row i such that none comes before
/// the one in front of it, and P(i, k) the column that C(i, k) had. Values of which neither comes before the other keep their order. A
/// vector is one row; `sort(&a.transposed(), …)` sorts columns, as rows of its results.
/// O(nnz(A) log of the longest row).
///
/// NaN comes last whatever `before` says. `before` has to be a strict weak order, like [`Lt`](crate::algebra::Lt) and
/// [`Gt`](crate::algebra::Gt); where it is none, rows hold entries of theirs in no particular order.
///
/// A, C and P are m × n. SuiteSparse:GraphBLAS, GxB_Matrix_sort. The sort is stable: one result, the same bits on every device.
///
/// # Errors
/// `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 4, &[(0, 0, 5), (0, 1, 9), (0, 3, 2), (1, 2, 7)])?;
/// let (values, columns) = sort(&a, Gt)?;
/// assert_eq!(values.entries()?, [(0, 0, 9), (0, 1, 5), (0, 2, 2), (1, 0, 7)]);
/// assert_eq!(columns.entries()?, [(0, 0, 1), (0, 1, 0), (0, 2, 3), (1, 0, 2)]);
/// # Ok(()) }
/// ```
#[doc(alias("GxB_Matrix_sort", "GxB_Vector_sort"))]
pub fn sort<X, F>(a: &X, _before: F) -> Result<(Like<X, ScalarOf<X>>, Like<X, u64>)>
where
    X: Operand,
    F: BinaryOp<ScalarOf<X>, ScalarOf<X>, Out = bool>,
{
    let (a, transposed) = a.operand();
    let made = oriented(a.0, transposed).and_then(|a| sorted::<ScalarOf<X>, F>(&a));
    let (values, columns) = made.map_err(|e| e.in_operation("sort"))?;
    Ok((Container::made_of(Owned(values)), Container::made_of(Owned(columns))))
}

fn sorted<T: Scalar, F: BinaryOp<T, T, Out = bool>>(a: &Store<T>) -> Result<(Store<T>, Store<u64>)> {
    let (values, columns) = on_backend!(a.device, |backend| {
        let (values, columns) = backend.sort_rows::<T, F>(backend.csr(&a.body)?, &a.cols.ids())?;
        (Body::from(values), Body::from(columns))
    });
    // Entries go to the first places of their rows: on a listed axis these are other indices.
    let cols = match &a.cols {
        Axis::Full(n) => Axis::Full(*n),
        Axis::Listed { n, ids } => {
            let mut first = crate::memory::with_capacity("sort", ids.len())?;
            first.extend(0..ids.len() as u64);
            Axis::of_ids("sort", *n, first)?
        }
    };
    let values = Store { rows: a.rows.clone(), cols, body: values, device: a.device };
    let columns = values.holding(columns);
    Ok((values, columns))
}
