//! Compressed rows with other widths of indices: moved where the width is the same, converted where it fits.
use super::CsrParts;
use super::csr::{COLUMN, ROW, store};
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
    // Whoever gave columns is told of columns.
    let lines = if columns { [COLUMN, ROW] } else { [ROW, COLUMN] };
    let a = match (u32::try_from(outer), u32::try_from(inner)) {
        (Ok(_), Ok(_)) => {
            let (nrows, ncols, indices) = (outer as u64, inner as u64, indices(operation, others)?);
            let parts = CsrParts { nrows, ncols, offsets, indices, values, ..Default::default() };
            Matrix::of(store(operation, lines, parts)?)
        }
        _ => listed(operation, lines.map(|(one, _)| one), (outer, inner), &offsets, others, values)?,
    };
    let a = if columns { crate::operation::transpose(&a).eval() } else { Ok(a) };
    a.map_err(|e| e.in_operation(operation))
}

/// The same where u32 does not count the indices: what is wrong is told as where it does.
fn listed<T: Scalar, S, I: PrimInt + 'static>(
    operation: &'static str,
    [line, across]: [&'static str; 2],
    (outer, inner): (usize, usize),
    offsets: &[u64],
    others: Vec<I>,
    values: Vec<T>,
) -> Result<Matrix<T, S>> {
    let invalid = |reason: String| Error::InvalidValue { operation, reason };
    let entries = others.len();
    if offsets.len() as u128 != outer as u128 + 1 {
        let reason = format!("{} offsets for {outer} {line}s: {line}s + 1 are needed", offsets.len());
        return Err(invalid(reason));
    }
    if offsets[outer] != entries as u64 {
        let reason =
            format!("offsets run from {} to {}, they must run from 0 to {entries}", offsets[0], offsets[outer]);
        return Err(invalid(reason));
    }
    if values.len() != entries {
        return Err(invalid(format!("{} values for {entries} {across} indices", values.len())));
    }
    if let Some(r) = offsets.windows(2).position(|w| w[0] > w[1]) {
        return Err(invalid(format!("offsets decrease at {line} {r}: {} to {}", offsets[r], offsets[r + 1])));
    }
    let mut coo = Coo::new(outer as u64, inner as u64);
    coo.columns = indices(operation, others)?;
    coo.values = values;
    coo.rows = memory::with_capacity(operation, entries)?;
    for (r, w) in offsets.windows(2).enumerate() {
        // They ascend to the number of entries.
        let row = &coo.columns[w[0] as usize..w[1] as usize];
        if let Some(e) = row.iter().position(|index| *index >= inner as u64) {
            let (position, index, bound) = (Some(w[0] + e as u64), row[e], inner as u64);
            return Err(Error::IndexOutOfBounds { operation, what: across, position, index, bound });
        }
        if let Some(e) = row.windows(2).position(|w| w[0] >= w[1]) {
            let position = w[0] + e as u64 + 1;
            return Err(invalid(format!("{across}s of {line} {r} are not ascending at position {position}")));
        }
        coo.rows.extend(std::iter::repeat_n(r as u64, row.len()));
    }
    Matrix::triplets(operation, &coo)
}

/// A matrix's arrays as another's, and its shape.
pub(super) fn arrays<T: Scalar, S, I: PrimInt + 'static, P: PrimInt + 'static>(
    operation: &'static str,
    a: Matrix<T, S>,
) -> Result<((usize, usize), Vec<P>, Vec<I>, Vec<T>)> {
    // Others have a place for every row and column.
    let listed = matches!(a.store.rows, Axis::Listed { .. }) || matches!(a.store.cols, Axis::Listed { .. });
    let ours = |e: Error| e.in_operation(operation);
    let stored = listed && a.nrows().max(a.ncols()) <= u32::MAX as u64;
    let a = if stored { a.to_format(Format::Csr).map_err(ours)? } else { a };
    let parts = a.into_csr_parts().map_err(ours)?;
    for (what, n, ids) in [("rows", parts.nrows, &parts.row_ids), ("columns", parts.ncols, &parts.column_ids)] {
        if ids.is_some() {
            return Err(Error::IndexOverflow { operation, what, value: n as u128, limit: u32::MAX as u128 });
        }
    }
    let offsets = their_offsets(operation, parts.offsets)?;
    Ok(((parts.nrows as usize, parts.ncols as usize), offsets, indices(operation, parts.indices)?, parts.values))
}
