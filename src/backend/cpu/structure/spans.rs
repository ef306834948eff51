//! Rows that are stretches of other rows: counted, then copied to where they stay.
use super::between::{Between, between};
use crate::algebra::Scalar;
use crate::backend::cpu::parallel::{SERIAL, Shared, each_piece, scan, unwritten, written};
use crate::backend::host::HostCsr;
use crate::backend::side::Side;
use crate::error::Result;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Entries that are copied at once, of shorter rows too: what is written too much the next row writes over.
const WIDE: usize = 8;

/// The entries of each row before a column, or from one on.
pub(crate) fn side<T: Scalar>(operation: &'static str, a: &HostCsr<T>, side: &Side) -> Result<HostCsr<T>> {
    let pattern = &a.pattern;
    let shape = (pattern.nrows, pattern.ncols);
    // Of rows of hardly any entries it is no gain.
    if let (Some((at, diagonal)), true) = (side.edge(), pattern.nnz() > SERIAL.max(2 * pattern.nrows)) {
        let columns = if side.before { (i64::MIN, at) } else { (at, i64::MAX) };
        let kept = Between { rows: 0..shape.0, columns, diagonal, shift: 0, to: 0, shape };
        // Where there is no room for all of A's entries rows are counted first.
        if let Ok(Some(made)) = between(operation, a, &kept) {
            return Ok(made);
        }
    }
    let count = |r: usize| {
        let row = pattern.range(r);
        let before = leading(pattern, row.clone(), side.column(r));
        if side.before { before } else { row.len() - before }
    };
    let start = |r: usize, n: usize| {
        let row = pattern.range(r);
        if side.before { row.start } else { row.end - n }
    };
    copied(operation, a, shape, 0, &count, &start)
}

/// Longer stretches are left to whoever copies memory.
const SHORT: usize = 64;

/// How many of a row's columns come before this one: without a branch where there are few.
#[inline(always)]
pub(crate) fn leading(a: &Pattern, row: Range<usize>, column: u32) -> usize {
    if let (Some(columns), true) = (a.indices.get(row.start..row.start + WIDE), row.len() <= WIDE && a.ncols >> 31 == 0)
    {
        let (column, len) = (column.min(i32::MAX as u32) as i32, row.len() as i32);
        return (0..WIDE).map(|e| i32::from(((columns[e] as i32) < column) & ((e as i32) < len))).sum::<i32>() as usize;
    }
    a.indices[row].partition_point(|j| *j < column)
}

/// Row r has so many entries of A, count(r) = n, from start(r, n) on, `shift` added to their columns, wrapping.
pub(crate) fn copied<T: Scalar>(
    operation: &'static str,
    a: &HostCsr<T>,
    (nrows, ncols): (usize, usize),
    shift: u32,
    count: &(impl Fn(usize) -> usize + Sync),
    start: &(impl Fn(usize, usize) -> usize + Sync),
) -> Result<HostCsr<T>> {
    let offsets = scan(operation, nrows, |r| count(r) as u64)?;
    let total = offsets[nrows] as usize;
    let (mut indices, mut values) = (unwritten::<u32>(operation, total)?, unwritten::<T>(operation, total)?);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    each_piece(total, SERIAL, &|place| {
        // Rows that have an entry in the piece, the first and the last perhaps before and behind it.
        let first = offsets.partition_point(|o| *o as usize <= place.start) - 1;
        let rows = (first..nrows).map(|r| (r, offsets[r] as usize..offsets[r + 1] as usize));
        let spans = rows.take_while(|(_, row)| row.start < place.end).map(|(r, row)| {
            let from = start(r, row.len()) + place.start.saturating_sub(row.start);
            from..from + row.end.min(place.end) - row.start.max(place.start)
        });
        // SAFETY: pieces are disjoint.
        let (indices, values) = unsafe { (to_indices.part(place.clone()), to_values.part(place.clone())) };
        stretches(a, shift, spans, indices, values);
    });
    // SAFETY: as many entries were written as were counted, which `stretches` asserts.
    let (indices, values) = unsafe { (written(indices, total), written(values, total)) };
    Ok(HostCsr::new(Pattern::new(nrows, ncols, offsets, indices), values))
}

/// Stretches of A's entries one behind the other.
fn stretches<T: Scalar>(
    a: &HostCsr<T>,
    shift: u32,
    spans: impl Iterator<Item = Range<usize>>,
    indices: &mut [MaybeUninit<u32>],
    values: &mut [MaybeUninit<T>],
) {
    let mut at = 0;
    for span in spans {
        at = stretch(a, shift, span, at, indices, values);
    }
    assert!(at == indices.len());
}

/// A stretch of A's entries from `at` on; where it ends. What comes behind it, fewer than [`WIDE`] entries, is to be written yet.
#[inline(always)]
pub(crate) fn stretch<T: Scalar>(
    a: &HostCsr<T>,
    shift: u32,
    span: Range<usize>,
    at: usize,
    indices: &mut [MaybeUninit<u32>],
    values: &mut [MaybeUninit<T>],
) -> usize {
    let n = span.len();
    let put = |to: &mut MaybeUninit<u32>, j: u32| *to = MaybeUninit::new(j.wrapping_add(shift));
    let wide = n.max(1).next_multiple_of(WIDE);
    let (from, to) = (span.start..span.start + wide, at..at + wide);
    if let (true, Some(columns), Some(entries), Some(to_columns), Some(to_entries)) = (
        n <= SHORT,
        a.pattern.indices.get(from.clone()),
        a.values.get(from),
        indices.get_mut(to.clone()),
        values.get_mut(to),
    ) {
        // Numbers of steps that the compiler knows.
        let (columns, to_columns) = (columns.as_chunks::<WIDE>().0, to_columns.as_chunks_mut::<WIDE>().0);
        for (to, from) in to_columns.iter_mut().zip(columns) {
            (0..WIDE).for_each(|e| put(&mut to[e], from[e]));
        }
        let (entries, to_entries) = (entries.as_chunks::<WIDE>().0, to_entries.as_chunks_mut::<WIDE>().0);
        for (to, from) in to_entries.iter_mut().zip(entries) {
            (0..WIDE).for_each(|e| to[e] = MaybeUninit::new(from[e]));
        }
    } else {
        let (columns, to_columns) = (&a.pattern.indices[span.clone()], &mut indices[at..at + n]);
        match shift {
            0 => _ = to_columns.write_copy_of_slice(columns),
            _ => to_columns.iter_mut().zip(columns).for_each(|(to, j)| put(to, *j)),
        }
        values[at..at + n].write_copy_of_slice(&a.values[span]);
    }
    at + n
}
