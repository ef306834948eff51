//! extract: rows of a matrix.
use super::{Compute, Core, MaskParts, Operand, Operation, oriented, shape_of};
use crate::algebra::Scalar;
use crate::backend::{Body, on_backend};
use crate::container::{Matrix, Owned};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::{axis::Axis, store::Store};
use std::marker::PhantomData;

/// A list of rows of a matrix, in the list's order.
#[derive(Debug, Clone)]
pub struct Rows<T, S> {
    core: Chosen<T>,
    label: PhantomData<fn() -> S>,
}
#[derive(Debug, Clone)]
struct Chosen<T> {
    a: Store<T>,
    transposed: bool,
    /// Or that memory did not suffice for them, which is told when the operation runs.
    rows: Result<Vec<u64>>,
}

/// T(r, :) = A(`rows[r]`, :); an index may occur more than once. O(rows + nnz(T)).
///
/// # Errors
/// At the end: `IndexOutOfBounds` naming the position in the list; `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 7), (1, 0, 8)])?;
/// assert_eq!(extract_rows(&a, &[1, 1, 0]).eval()?.entries()?, [(0, 0, 8), (1, 0, 8), (2, 1, 7)]);
/// # Ok(()) }
/// ```
pub fn extract_rows<T: Scalar, S>(a: &impl Operand<Container = Matrix<T, S>>, rows: &[u64]) -> Operation<Rows<T, S>> {
    let (a, transposed) = a.operand();
    let core = Chosen { a: a.0.clone(), transposed, rows: memory::copied("extract", rows) };
    Operation::new(Rows { core, label: PhantomData })
}

impl<T> Chosen<T> {
    fn rows(&self) -> Result<&[u64]> {
        self.rows.as_deref().map_err(Clone::clone)
    }
}

impl<T: Scalar, S> Compute for Rows<T, S> {
    type Target = Matrix<T, S>;
    fn core(&self) -> &dyn Core<T> {
        &self.core
    }
}
impl<T: Scalar> Core<T> for Chosen<T> {
    fn name(&self) -> &'static str {
        "extract"
    }
    fn check(&self) -> Result<((u64, u64), Device)> {
        let ((bound, columns), rows) = (shape_of(&self.a, self.transposed), self.rows()?);
        if let Some(position) = rows.iter().position(|r| *r >= bound) {
            let (index, position) = (rows[position], position as u64);
            return Err(Error::IndexOutOfBounds { operation: self.name(), what: "row", position, index, bound });
        }
        Ok(((rows.len() as u64, columns), self.a.device))
    }
    fn compute(&self, _: Option<&MaskParts>) -> Result<(Owned<T>, bool)> {
        let a = oriented(&self.a, self.transposed)?;
        // On a listed axis a row without a place is empty; the place behind the last stands for it.
        let listed = matches!(a.rows, Axis::Listed { .. });
        let mut places: Vec<u32> = memory::with_capacity(self.name(), self.rows()?.len())?;
        places.extend(self.rows()?.iter().map(|r| a.rows.place(*r).unwrap_or(a.rows.places()) as u32));
        let a = if listed { with_empty_row(&a, self.name())? } else { a };
        let body =
            on_backend!(a.device, |backend| { Body::from(backend.extract_rows(backend.csr(&a.body)?, &places)?) });
        let rows = Axis::Full(u32::try_from(places.len()).map_err(|_| Error::IndexOverflow {
            operation: self.name(),
            what: "number of rows",
            value: places.len() as u128,
            limit: u32::MAX as u128,
        })?);
        Ok((Owned(Store { rows, cols: a.cols, body, device: a.device }), false))
    }
}

/// The store with one more, empty, place at the end of its rows.
fn with_empty_row<T: Scalar>(a: &Store<T>, operation: &'static str) -> Result<Store<T>> {
    let host = a.to_host()?;
    let mut pattern = crate::storage::pattern::Pattern::new(
        host.pattern.nrows + 1,
        host.pattern.ncols,
        memory::copied(operation, &host.pattern.offsets)?,
        memory::copied(operation, &host.pattern.indices)?,
    );
    pattern.offsets.push(pattern.indices.len() as u64);
    let values = memory::copied(operation, &host.values)?;
    Store::host(a.rows.clone(), a.cols.clone(), pattern, values, Device::Cpu).to(a.device)
}
