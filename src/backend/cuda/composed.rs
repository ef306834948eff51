//! Operations put together from others: everything stays on the device.
// Not all bodies need what the macros import.
#![allow(clippy::eq_op, unused_imports)]
use super::spgemm::chunks::Room;
use super::{Cuda, DeviceCsr, DevicePattern};
use crate::algebra::*;
use crate::backend::places::{How, Moves};
use crate::backend::{Backend, MaskOn, Positions};
use crate::error::Result;
use crate::memory;
use crate::operation::Overwrite;

crate::operator! { /// Equal, or both NaN.
pub(super) Alike[T: Comparable](T, T) -> bool = |x, y| x == y || (x != x && y != y) }

/// A row's entries on the diagonal: as they are, in rows of their own.
pub(super) fn diagonal<T: Scalar>(cuda: &Cuda, v: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
    let n = v.pattern.ncols;
    let rows = cuda.transpose(v)?;
    let (offsets, indices) = (rows.pattern.offsets.duplicate()?, v.pattern.indices.duplicate()?);
    Ok(v.at(DevicePattern::new((n, n), v.nnz(), offsets, indices).into()))
}

/// The columns of the entries that are like their row's best, the first of them.
pub(super) fn arg_rows<T: Ordered, const LARGEST: bool>(
    cuda: &Cuda,
    a: &DeviceCsr<T>,
    at: &Positions,
) -> Result<DeviceCsr<u64>> {
    let best = if LARGEST { cuda.reduce_rows::<T, Max>(a)? } else { cuda.reduce_rows::<T, Min>(a)? };
    let alike = cuda.scale_rows::<T, T, Alike>(&best, a)?;
    let found = cuda.select::<bool, bool, OfValue<IsTrue>>(&alike, false, &Positions::default())?;
    let columns = cuda.apply::<bool, i64, ColIndex>(&found, 0, at)?;
    let first = cuda.reduce_rows::<i64, Any>(&columns)?;
    cuda.apply::<i64, i64, OfValue<Cast<u64>>>(&first, 0, &Positions::default())
}

crate::operator! { /// Whether y is behind x among the largest.
pub(super) Behind[T: Comparable](T, T) -> bool = |x, y| y < x || (y != y && x == x) }

/// The k largest entries of each row: all but those behind the k-th, which a stable sort finds. Of those that are equal to it
/// the ones of larger columns are behind.
pub(crate) fn top_k<T: Comparable>(cuda: &Cuda, a: &DeviceCsr<T>, k: usize) -> Result<DeviceCsr<T>> {
    let pattern = &a.pattern;
    if k == 0 {
        return cuda.empty("top_k", pattern.nrows, pattern.ncols);
    }
    if k >= pattern.ncols {
        return Ok(a.clone());
    }
    let (values, columns) = cuda.sort_rows::<T, Gt>(a, &None)?;
    let last = Moves { places: 1, how: How::Range { from: k as u32 - 1, len: 1, to: 0 } };
    // Rows of at least k entries alone have any here.
    let value = cuda.reduce_rows::<T, Any>(&cuda.gather(&values, None, &last)?)?;
    let column = cuda.reduce_rows::<u64, Any>(&cuda.gather(&columns, None, &last)?)?;
    drop((values, columns));
    let true_ones =
        |marks: DeviceCsr<bool>| cuda.select::<bool, bool, OfValue<IsTrue>>(&marks, false, &Positions::default());
    let behind = true_ones(cuda.scale_rows::<T, T, Behind>(&value, a)?)?;
    let equal = true_ones(cuda.scale_rows::<T, T, Alike>(&value, a)?)?;
    let places = cuda.apply::<bool, i64, ColIndex>(&equal, 0, &Positions::default())?;
    let places = cuda.apply::<i64, i64, OfValue<Cast<u64>>>(&places, 0, &Positions::default())?;
    let later = true_ones(cuda.scale_rows::<u64, u64, Lt>(&column, &places)?)?;
    let dropped = cuda.union::<bool, First>(&behind, &later)?;
    let mask = MaskOn { pattern: dropped.pattern.clone(), complement: true };
    cuda.write::<T, T, Overwrite>(&cuda.empty("top_k", pattern.nrows, pattern.ncols)?, a, Some(&mask), true)
}

/// Tiles side by side together, and these lines one below the other: offsets are shifted, and entries copied once.
pub(super) fn concat<T: Scalar>(cuda: &Cuda, tiles: &[Vec<&DeviceCsr<T>>]) -> Result<DeviceCsr<T>> {
    let operation = "concat";
    let ncols = tiles.first().map_or(0, |line| line.iter().map(|t| t.pattern.ncols).sum());
    let nrows = tiles.iter().map(|line| line.first().map_or(0, |t| t.pattern.nrows)).sum();
    let filled = || tiles.iter().flatten().filter(|t| t.nnz() > 0);
    let Some(some) = filled().next() else { return cuda.empty(operation, nrows, ncols) };
    // One value for all of them is not written out.
    let iso = some.is_iso() && filled().all(|t| t.one_bytes() == some.one_bytes());
    let size = if iso { 0 } else { T::TEXT.size };
    let mut all = Room::of(&cuda.context, nrows, filled().map(|t| t.nnz()).sum(), size)?;
    let (mut top, mut start) = (0, 0);
    for line in tiles {
        let Some(line) = side_by_side(cuda, line, ncols)? else { continue };
        let rows = top..top + line.pattern.nrows;
        top = rows.end;
        all.place(line.read_if(!iso)?.operand(), size, rows, start)?;
        start += line.nnz();
    }
    let (pattern, values) = all.filled((nrows, ncols));
    match iso {
        true => some.with_moved(pattern, values),
        false => Ok(DeviceCsr::new(pattern, values)),
    }
}

/// A line of tiles as rows of that many columns; a line without entries as any of its tiles.
fn side_by_side<T: Scalar>(cuda: &Cuda, line: &[&DeviceCsr<T>], ncols: usize) -> Result<Option<DeviceCsr<T>>> {
    let (mut row, mut start) = (memory::with_capacity("concat", line.len())?, 0u32);
    for tile in line {
        let len = tile.pattern.ncols as u32;
        if tile.pattern.ncols == ncols {
            return Ok(Some((*tile).clone()));
        }
        if tile.nnz() > 0 {
            let moves = Moves { places: ncols, how: How::Range { from: 0, len, to: start } };
            row.push(cuda.moved(tile, None, Some(&moves))?);
        }
        start += len;
    }
    Ok(joined(cuda, row)?.or_else(|| line.first().map(|tile| (*tile).clone())))
}

/// The entries of all, which have no place in common.
fn joined<T: Scalar>(cuda: &Cuda, mut parts: Vec<DeviceCsr<T>>) -> Result<Option<DeviceCsr<T>>> {
    while parts.len() > 1 {
        let mut half = memory::with_capacity("concat", parts.len().div_ceil(2))?;
        for pair in parts.chunks(2) {
            half.push(match pair {
                [a, b] => cuda.union::<T, First>(a, b)?,
                _ => pair[0].clone(),
            });
        }
        parts = half;
    }
    Ok(parts.pop())
}
