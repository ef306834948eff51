//! Compressed rows with other widths of indices: moved where the width is the same, converted where it fits.
use super::CsrParts;
use crate::algebra::Scalar;
use crate::container::Matrix;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::memory;
use crate::storage::{Coo, axis::Axis};
use num_traits::PrimInt;
use std::any::Any;

/// The same vector where I is J.
fn same<I: 'static, J: 'static>(from: Vec<I>) -> Result<Vec<J>, Vec<I>> {
    let mut from = Some(from);
    match (&mut from as &mut dyn Any).downcast_mut::<Option<Vec<J>>>() {
        Some(to) => Ok(to.take().unwrap_or_default()),
        None => Err(from.unwrap_or_default()),
    }
}

fn each<I: PrimInt, J: PrimInt>(operation: &'static str, what: &'static str, from: &[I]) -> Result<Vec<J>> {
    let mut to = memory::with_capacity(operation, from.len())?;
    for (position, i) in from.iter().enumerate() {
        to.push(J::from(*i).ok_or_else(|| match i.to_u64() {
            None => Error::InvalidValue { operation, reason: format!("{what} at position {position} is negative") },
            Some(value) => Error::IndexOverflow {
                operation,
                what,
                value: value as u128,
                limit: J::max_value().to_u128().unwrap_or(u128::MAX),
            },
        })?);
    }
    Ok(to)
}

/// Others' offsets as ours.
pub(super) fn our_offsets<I: PrimInt + 'static>(operation: &'static str, from: Vec<I>) -> Result<Vec<u64>> {
    let from = match same::<I, u64>(from) {
        Ok(to) => return Ok(to),
        Err(from) => from,
    };
    match same::<I, usize>(from) {
        Ok(words) => bytemuck::allocation::try_cast_vec(words).or_else(|(_, words)| each(operation, "offset", &words)),
        Err(from) => each(operation, "offset", &from),
    }
}

/// Our offsets as another's.
pub(super) fn their_offsets<J: PrimInt + 'static>(operation: &'static str, from: Vec<u64>) -> Result<Vec<J>> {
    let from = match same::<u64, J>(from) {
        Ok(to) => return Ok(to),
        Err(from) => from,
    };
    if std::any::TypeId::of::<J>() != std::any::TypeId::of::<usize>() {
        return each(operation, "offset", &from);
    }
    match bytemuck::allocation::try_cast_vec::<u64, usize>(from) {
        Ok(words) => same(words).or_else(|words| each(operation, "offset", &words)),
        Err((_, from)) => each(operation, "offset", &from),
    }
}

/// Others' indices as ours, or ours as another's.
pub(super) fn indices<I: PrimInt + 'static, J: PrimInt + 'static>(
    operation: &'static str,
    from: Vec<I>,
) -> Result<Vec<J>> {
    same(from).or_else(|from| each(operation, "index", &from))
}

/// A matrix from others' compressed rows, or columns if `columns`, whose arrays they say are in order.
pub(super) fn matrix<T: Scalar, S, I: PrimInt + 'static, P: PrimInt + 'static>(
    operation: &'static str,
    (nrows, ncols): (usize, usize),
    columns: bool,
    (offsets, others, values): (Vec<P>, Vec<I>, Vec<T>),
) -> Result<Matrix<T, S>> {
    let mut offsets = our_offsets(operation, offsets)?;
    // A slice of somebody's rows may begin in the middle.
    let first = offsets.first().copied().unwrap_or(0);
    if first != 0 {
        for offset in &mut offsets {
            *offset = offset.checked_sub(first).ok_or_else(|| Error::InvalidValue {
                operation,
                reason: format!("offsets begin with {first} and decrease to {offset}"),
            })?;
        }
    }
    let (outer, inner) = if columns { (ncols, nrows) } else { (nrows, ncols) };
    let a = match (u32::try_from(outer), u32::try_from(inner)) {
        (Ok(_), Ok(_)) => Matrix::from_csr_parts(CsrParts {
            nrows: outer as u64,
            ncols: inner as u64,
            offsets,
            indices: indices(operation, others)?,
            values,
            ..Default::default()
        })?,
        _ => listed(operation, (outer, inner), &offsets, others, values)?,
    };
    if columns { crate::operation::transpose(&a).eval() } else { Ok(a) }
}

/// The same where u32 does not count the indices.
fn listed<T: Scalar, S, I: PrimInt + 'static>(
    operation: &'static str,
    (outer, inner): (usize, usize),
    offsets: &[u64],
    others: Vec<I>,
    values: Vec<T>,
) -> Result<Matrix<T, S>> {
    let mut coo = Coo::new(outer as u64, inner as u64);
    coo.rows = memory::with_capacity(operation, others.len())?;
    for (row, w) in offsets.windows(2).enumerate() {
        let length = w[1].checked_sub(w[0]).filter(|_| w[1] <= others.len() as u64);
        let length = length.ok_or_else(|| Error::InvalidValue {
            operation,
            reason: format!("row {row} is said to be entries {} to {} of {}", w[0], w[1], others.len()),
        })?;
        coo.rows.extend(std::iter::repeat_n(row as u64, length as usize));
    }
    coo.columns = indices(operation, others)?;
    coo.values = values;
    Matrix::from_coo(&coo)
}

/// A matrix's arrays as another's, and its shape.
pub(super) fn arrays<T: Scalar, S, I: PrimInt + 'static, P: PrimInt + 'static>(
    operation: &'static str,
    a: Matrix<T, S>,
) -> Result<((usize, usize), Vec<P>, Vec<I>, Vec<T>)> {
    // Others have a place for every row and column.
    let listed = matches!(a.store.rows, Axis::Listed { .. }) || matches!(a.store.cols, Axis::Listed { .. });
    let a = if listed && a.nrows().max(a.ncols()) <= u32::MAX as u64 { a.to_format(Format::Csr)? } else { a };
    let parts = a.into_csr_parts()?;
    for (what, n, ids) in [("rows", parts.nrows, &parts.row_ids), ("columns", parts.ncols, &parts.column_ids)] {
        if ids.is_some() {
            return Err(Error::IndexOverflow { operation, what, value: n as u128, limit: u32::MAX as u128 });
        }
    }
    let offsets = their_offsets(operation, parts.offsets)?;
    Ok(((parts.nrows as usize, parts.ncols as usize), offsets, indices(operation, parts.indices)?, parts.values))
}
