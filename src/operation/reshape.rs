//! reshape: the same entries in the same order, cut into rows or columns of another length.
use super::{Operand, oriented};
use crate::algebra::Scalar;
use crate::backend::{PatternBody, on_backend};
use crate::container::{Matrix, places};
use crate::error::{Error, Result};
use crate::format::full_where_full;
use crate::memory;
use crate::storage::axis::Axis;
use crate::storage::pattern::Pattern;
use crate::storage::store::{Store, axes_for};
use std::sync::Arc;

/// C(p div n′, p mod n′) = A(i, j) for p = i·n + j: the places of A row by row as those of a matrix of `nrows` × `ncols` = m′ × n′.
/// O(m + m′ + nnz(A)); hypersparse results sort the columns in use, O(nnz(A) log nnz(A)).
///
/// A is m × n, C m′ × n′ with as many places. SuiteSparse:GraphBLAS, GxB_Matrix_reshapeDup by rows. Values stay where they are, the same bits on
/// every device; positions of hypersparse matrices go by the host.
///
/// # Errors
/// `DimensionMismatch` where m · n is not m′ · n′; `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 6, &[(0, 1, 7), (0, 4, 8), (1, 5, 9)])?;
/// let c = reshape(&a, 3, 4)?;
/// assert_eq!((c.shape(), c.entries()?), ((3, 4), vec![(0, 1, 7), (1, 0, 8), (2, 3, 9)]));
/// assert_eq!(reshape(&c, 2, 6)?, a);
/// # Ok(()) }
/// ```
#[doc(alias = "GxB_Matrix_reshape")]
pub fn reshape<T: Scalar, S>(
    a: &impl Operand<Container = Matrix<T, S>>,
    nrows: u64,
    ncols: u64,
) -> Result<Matrix<T, S>> {
    let operation = "reshape";
    let (a, transposed) = a.operand();
    let made = oriented(a.0, transposed).and_then(|a| reshaped(operation, &a, (nrows, ncols)));
    made.map(Matrix::of).map_err(|e| e.in_operation(operation))
}

/// C(p mod m′, p div m′) = A(i, j) for p = i + j·m: the places of A column by column as those of a matrix of `nrows` × `ncols` = m′ × n′,
/// which is Cᵀ = [`reshape`] of Aᵀ. That and two transposes, O(m + n + m′ + n′ + nnz(A)).
///
/// A is m × n, C m′ × n′ with as many places. SuiteSparse:GraphBLAS, GxB_Matrix_reshapeDup by columns.
///
/// # Errors
/// As [`reshape`].
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let a: Matrix<i32> = Matrix::build(2, 3, &[(0, 0, 7), (1, 0, 8), (0, 2, 9)])?;
/// assert_eq!(reshape_columns(&a, 3, 2)?.entries()?, [(0, 0, 7), (1, 0, 8), (1, 1, 9)]);
/// # Ok(()) }
/// ```
pub fn reshape_columns<T: Scalar, S>(
    a: &impl Operand<Container = Matrix<T, S>>,
    nrows: u64,
    ncols: u64,
) -> Result<Matrix<T, S>> {
    let operation = "reshape_columns";
    let (a, transposed) = a.operand();
    let (nrows_of_a, ncols_of_a) = super::shape_of(a.0, transposed);
    fits(operation, (nrows_of_a, ncols_of_a), (nrows, ncols))?;
    let turned = oriented(a.0, !transposed).and_then(|a| reshaped(operation, &a, (ncols, nrows)));
    let made = turned.and_then(|turned| oriented(&turned, true));
    made.map(full_where_full).map(Matrix::of).map_err(|e| e.in_operation(operation))
}

fn fits(operation: &'static str, left: (u64, u64), right: (u64, u64)) -> Result<()> {
    let places = |(m, n): (u64, u64)| u128::from(m) * u128::from(n);
    if places(left) == places(right) {
        return Ok(());
    }
    let (left_name, right_name, vectors) = ("A", "the new shape", (false, false));
    Err(Error::DimensionMismatch { operation, left_name, left, right_name, right, vectors })
}

fn reshaped<T: Scalar>(operation: &'static str, a: &Store<T>, shape: (u64, u64)) -> Result<Store<T>> {
    fits(operation, a.shape(), shape)?;
    let positions = a.pattern()?;
    let (mut rows, mut cols) = axes_for(shape, a.nvals());
    let counted = |rows: &Axis, cols: &Axis| matches!((rows, cols), (Axis::Full(_), Axis::Full(_)));
    if counted(&rows, &cols) && counted(&a.rows, &a.cols) {
        let places = (rows.places(), cols.places());
        let made = on_backend!(a.device, |backend| {
            backend.reshaped(backend.pattern(&positions.body)?, places)?.map(PatternBody::from)
        });
        if let Some(made) = made {
            return Ok(full_where_full(Store { rows, cols, body: a.body.at(made)?, device: a.device }));
        }
    }
    let from = on_backend!(a.device, |backend| { backend.download_pattern(backend.pattern(&positions.body)?)? });
    let pattern = Arc::new(moved(operation, &from, a, (&mut rows, &mut cols))?);
    let body = on_backend!(a.device, |backend| { PatternBody::from(backend.upload_pattern(&pattern)?) });
    Ok(full_where_full(Store { rows, cols, body: a.body.at(body)?, device: a.device }))
}

/// The positions on axes that list what is in use, where they list anything. Their order stays.
fn moved<T>(
    operation: &'static str,
    from: &Pattern,
    a: &Store<T>,
    (rows, cols): (&mut Axis, &mut Axis),
) -> Result<Pattern> {
    let (n, width) = (u128::from(a.cols.n()), cols.n().max(1));
    let (mut i, mut j) = (memory::with_capacity(operation, from.nnz())?, memory::with_capacity(operation, from.nnz())?);
    for row in 0..from.nrows {
        let before = u128::from(a.rows.id(row)) * n;
        for column in from.row(row) {
            let place = before + u128::from(a.cols.id(*column as usize));
            let (at, across) = match u64::try_from(place) {
                Ok(place) => (place / width, place % width),
                // A row of the result: there are as many places.
                Err(_) => ((place / u128::from(width)) as u64, (place % u128::from(width)) as u64),
            };
            i.push(at);
            j.push(across);
        }
    }
    let (i, indices) = (places(operation, "row", rows, &i)?, places(operation, "column", cols, &j)?);
    let mut offsets = memory::with_capacity(operation, rows.places() + 1)?;
    offsets.push(0);
    for (e, row) in i.iter().enumerate() {
        offsets.resize(*row as usize + 1, e as u64);
    }
    offsets.resize(rows.places() + 1, i.len() as u64);
    Ok(Pattern::new(rows.places(), cols.places(), offsets, indices))
}
