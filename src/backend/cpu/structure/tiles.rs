//! Tiles side by side and one below the other: every place in the result is known beforehand.
use super::spans::stretch;
use crate::algebra::Scalar;
use crate::backend::cpu::blocks::{Block, partition, target};
use crate::backend::cpu::parallel::{SERIAL, Shared, each_of, each_piece, unwritten, written};
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use std::ops::Range;

/// Rows that are copied at once where they can be, and of those that cannot fewer at a time.
const ROWS: usize = if cfg!(test) { 8 } else { 512 };
const FEW: usize = if cfg!(test) { 4 } else { 32 };

pub(crate) fn concat<T: Scalar>(tiles: &[Vec<&HostCsr<T>>]) -> Result<HostCsr<T>> {
    let operation = "concat";
    // The first row of each row of tiles.
    let mut starts = memory::with_capacity(operation, tiles.len() + 1)?;
    let mut nrows = 0;
    for line in tiles {
        starts.push(nrows);
        nrows += line.first().map_or(0, |t| t.pattern.nrows);
    }
    let ncols = tiles.first().map_or(0, |line| line.iter().map(|t| t.pattern.ncols).sum());
    // Which row of tiles a row of the result is in.
    let line = |r: usize| starts.partition_point(|s| *s <= r) - 1;
    // The lines of one row of tiles after the other: sums of offsets are offsets.
    let mut offsets = memory::filled(operation, nrows + 1, 0u64)?;
    let mut entries = 0;
    for (tiles, start) in tiles.iter().zip(&starts) {
        let height = tiles.first().map_or(0, |t| t.pattern.nrows);
        let part = &mut offsets[*start..=start + height];
        let to = Shared::new(part);
        each_piece(height + 1, SERIAL, &|rows| {
            // SAFETY: pieces are disjoint.
            for (o, r) in unsafe { to.part(rows.clone()) }.iter_mut().zip(rows) {
                *o = entries + tiles.iter().map(|t| t.pattern.offsets[r]).sum::<u64>();
            }
        });
        entries = offsets[start + height];
    }
    let n = offsets[nrows] as usize;
    let (mut indices, mut values) = (unwritten::<u32>(operation, n)?, unwritten::<T>(operation, n)?);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    let copy = |block: &Block| {
        let range = offsets[block.rows.start] as usize..offsets[block.rows.end] as usize;
        // SAFETY: blocks have rows of their own, and those disjoint entries.
        let (to_columns, to_entries) = unsafe { (to_indices.part(range.clone()), to_values.part(range)) };
        let (mut at, mut t, mut row) = (0, line(block.rows.start), block.rows.start);
        while row < block.rows.end {
            while starts.get(t + 1).is_some_and(|next| *next <= row) {
                t += 1;
            }
            let below = starts.get(t + 1).map_or(nrows, |next| *next);
            let some = row..below.min(block.rows.end).min(row + ROWS);
            let entries = |tile: &HostCsr<T>, rows: &Range<usize>| {
                let offsets = &tile.pattern.offsets[rows.start - starts[t]..=rows.end - starts[t]];
                offsets[0] as usize..offsets[rows.len()] as usize
            };
            let mut side_by_side = |rows: Range<usize>| {
                let mut start = 0;
                for tile in &tiles[t] {
                    at = stretch(tile, start, entries(tile, &rows), at, to_columns, to_entries);
                    start += tile.pattern.ncols as u32;
                }
            };
            // Rows with entries in one tile only are one piece.
            let one = |rows: &Range<usize>| tiles[t].iter().filter(|tile| !entries(tile, rows).is_empty()).count() <= 1;
            match one(&some) {
                true => side_by_side(some.clone()),
                false => some.clone().step_by(FEW).for_each(|first| {
                    let few = first..some.end.min(first + FEW);
                    match one(&few) {
                        true => side_by_side(few),
                        false => few.for_each(|r| side_by_side(r..r + 1)),
                    }
                }),
            }
            row = some.end;
        }
        assert!(at == to_columns.len());
    };
    let before = |r: usize| offsets[r] + r as u64;
    let blocks = partition(operation, (nrows, ncols), target(before(nrows)), &before, &|_, _| Ok(Vec::new()))?;
    each_of(&blocks, &copy);
    // SAFETY: every row was copied.
    let (indices, values) = unsafe { (written(indices, n), written(values, n)) };
    Ok(HostCsr::new(Pattern::new(nrows, ncols, offsets, indices), values))
}
