//! Tiles side by side and one below the other: every place in the result is known beforehand.
use super::assemble::{Block, partition, target};
use super::parallel::{SERIAL, Shared, unwritten, written};
use crate::algebra::Scalar;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;

pub(super) fn concat<T: Scalar>(tiles: &[Vec<&HostCsr<T>>]) -> Result<HostCsr<T>> {
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
        let sum = |(from, part): (usize, &mut [u64])| {
            for (k, o) in part.iter_mut().enumerate() {
                *o = entries + tiles.iter().map(|t| t.pattern.offsets[from + k]).sum::<u64>();
            }
        };
        match part.len() <= SERIAL {
            true => sum((0, part)),
            false => part.par_chunks_mut(SERIAL).enumerate().for_each(|(p, part)| sum((p * SERIAL, part))),
        }
        entries = offsets[start + height];
    }
    let n = offsets[nrows] as usize;
    let (mut indices, mut values) = (unwritten::<u32>(operation, n)?, unwritten::<T>(operation, n)?);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    let copy = |block: &Block| {
        let range = offsets[block.rows.start] as usize..offsets[block.rows.end] as usize;
        // SAFETY: blocks have rows of their own, and those disjoint entries.
        let (to_columns, to_entries) = unsafe { (to_indices.part(range.clone()), to_values.part(range)) };
        let (mut at, mut t) = (0, line(block.rows.start));
        for r in block.rows.clone() {
            while starts.get(t + 1).is_some_and(|next| *next <= r) {
                t += 1;
            }
            let mut start = 0;
            for tile in &tiles[t] {
                let (columns, entries) = tile.row(r - starts[t]);
                let (c, v) = (&mut to_columns[at..at + columns.len()], &mut to_entries[at..at + columns.len()]);
                for ((c, v), (column, entry)) in c.iter_mut().zip(v).zip(columns.iter().zip(entries)) {
                    *c = MaybeUninit::new(start + column);
                    *v = MaybeUninit::new(*entry);
                }
                (at, start) = (at + columns.len(), start + tile.pattern.ncols as u32);
            }
        }
    };
    let before = |r: usize| offsets[r] + r as u64;
    let blocks = partition(operation, (nrows, ncols), target(before(nrows)), &before, &|_, _| Ok(Vec::new()))?;
    if blocks.len() < 2 {
        blocks.iter().for_each(copy)
    } else {
        blocks.par_iter().for_each(copy)
    }
    // SAFETY: every row was copied.
    let (indices, values) = unsafe { (written(indices, n), written(values, n)) };
    Ok(HostCsr::new(Pattern::new(nrows, ncols, offsets, indices), values))
}
