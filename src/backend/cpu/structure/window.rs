//! A rectangle of a matrix, put anywhere in a larger one: rows and columns in their order, entries copied once.
use super::between::{Between, between};
use crate::algebra::Scalar;
use crate::backend::cpu::blocks::{Block, partition, target};
use crate::backend::cpu::parallel::{Shared, each_of, in_pieces, mapped, scan, unwritten, written};
use crate::backend::host::HostCsr;
use crate::backend::places::{How, Moves};
use crate::error::Result;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Places from `from` on go to places from `to` on, of `places`.
pub(crate) struct Span {
    pub(crate) from: usize,
    pub(crate) len: usize,
    pub(crate) to: usize,
    pub(crate) places: usize,
}

impl Span {
    /// `None` where places go one by one.
    fn new(moves: Option<&Moves>, n: usize) -> Option<Self> {
        match moves {
            None => Some(Self { from: 0, len: n, to: 0, places: n }),
            Some(Moves { places, how: How::Range { from, len, to } }) => {
                Some(Self { from: *from as usize, len: *len as usize, to: *to as usize, places: *places })
            }
            Some(_) => None,
        }
    }
}

/// A's rows and columns moved; `None` where they do not move as ranges.
pub(crate) fn window<T: Scalar>(
    a: &HostCsr<T>,
    rows: Option<&Moves>,
    cols: Option<&Moves>,
) -> Result<Option<HostCsr<T>>> {
    let (Some(rows), Some(cols)) = (Span::new(rows, a.pattern.nrows), Span::new(cols, a.pattern.ncols)) else {
        return Ok(None);
    };
    if cols.from == 0 && cols.len == a.pattern.ncols {
        return band(a, &rows, &cols).map(Some);
    }
    let kept = Between {
        rows: rows.from..rows.from + rows.len,
        columns: (cols.from as i64, (cols.from + cols.len) as i64),
        diagonal: false,
        shift: (cols.to as u32).wrapping_sub(cols.from as u32),
        to: rows.to,
        shape: (rows.places, cols.places),
    };
    // Where there is no room for all entries of these rows they are counted first.
    match between("extract", a, &kept) {
        Ok(Some(made)) => Ok(Some(made)),
        _ => inside(a, &rows, &cols).map(Some),
    }
}

/// Whole rows: their entries are one piece.
fn band<T: Scalar>(a: &HostCsr<T>, rows: &Span, cols: &Span) -> Result<HostCsr<T>> {
    let operation = "extract";
    let from = &a.pattern.offsets[rows.from..=rows.from + rows.len];
    let (start, end) = (from[0], from[rows.len]);
    let to = rows.to;
    let offsets = in_pieces(operation, rows.places + 1, move |r| match r.checked_sub(to) {
        Some(k) => from.get(k).map_or(end, |o| *o) - start,
        None => 0,
    })?;
    let entries = start as usize..end as usize;
    let shift = cols.to as u32;
    let indices = mapped(operation, &a.pattern.indices[entries.clone()], move |c| c + shift)?;
    let values = mapped(operation, &a.values[entries], |x| x)?;
    Ok(HostCsr::new(Pattern::new(rows.places, cols.places, offsets, indices), values))
}

/// A piece of each row, between two places that are looked for.
fn inside<T: Scalar>(a: &HostCsr<T>, rows: &Span, cols: &Span) -> Result<HostCsr<T>> {
    let operation = "extract";
    let pattern = &a.pattern;
    let (first, end) = (cols.from as u32, (cols.from + cols.len) as u32);
    let source = |r: usize| -> Range<usize> {
        match r.checked_sub(rows.to).filter(|k| *k < rows.len) {
            Some(k) => pattern.range(rows.from + k),
            None => 0..0,
        }
    };
    let below = |columns: &[u32], bound: u32| columns.partition_point(|c| *c < bound);
    let offsets = scan(operation, rows.places, |r| {
        let columns = &pattern.indices[source(r)];
        (below(columns, end) - below(columns, first)) as u64
    })?;
    let n = offsets[rows.places] as usize;
    let (mut indices, mut values) = (unwritten::<u32>(operation, n)?, unwritten::<T>(operation, n)?);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    let copy = |block: &Block| {
        let all = offsets[block.rows.start] as usize..offsets[block.rows.end] as usize;
        // SAFETY: blocks have rows of their own, and those disjoint entries.
        let (to_columns, to_entries) = unsafe { (to_indices.part(all.clone()), to_values.part(all.clone())) };
        let mut at = 0;
        for r in block.rows.clone() {
            let (range, len) = (source(r), (offsets[r + 1] - offsets[r]) as usize);
            if len == 0 {
                continue;
            }
            let start = range.start + below(&pattern.indices[range], first);
            let (columns, entries) = (&pattern.indices[start..start + len], &a.values[start..start + len]);
            for ((to_column, to_entry), (column, entry)) in
                to_columns[at..at + len].iter_mut().zip(&mut to_entries[at..at + len]).zip(columns.iter().zip(entries))
            {
                *to_column = MaybeUninit::new(column - first + cols.to as u32);
                *to_entry = MaybeUninit::new(*entry);
            }
            at += len;
        }
    };
    let before = |r: usize| offsets[r] + r as u64;
    let shape = (rows.places, cols.places);
    let blocks = partition(operation, shape, target(before(rows.places)), &before, &|_, _| Ok(Vec::new()))?;
    each_of(&blocks, &copy);
    // SAFETY: the blocks cover every row, and each wrote as many entries as it was counted.
    let (indices, values) = unsafe { (written(indices, n), written(values, n)) };
    Ok(HostCsr::new(Pattern::new(rows.places, cols.places, offsets, indices), values))
}
