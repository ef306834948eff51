//! Tiles side by side and one below the other: every place in the result is known beforehand.
use super::assemble::{Block, partition, target};
use super::parallel::{Shared, scan, unwritten, written};
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
    // The tiles of a row of the result, and which of their rows it is.
    let line = |r: usize| {
        let t = starts.partition_point(|s| *s <= r) - 1;
        (&tiles[t], r - starts[t])
    };
    let offsets = scan(operation, nrows, |r| {
        let (line, row) = line(r);
        line.iter().map(|t| t.pattern.range(row).len() as u64).sum()
    })?;
    let n = offsets[nrows] as usize;
    let (mut indices, mut values) = (unwritten::<u32>(operation, n)?, unwritten::<T>(operation, n)?);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    let copy = |block: &Block| {
        for r in block.rows.clone() {
            let ((line, row), mut at, mut start) = (line(r), offsets[r] as usize, 0);
            for tile in line {
                let (columns, entries) = tile.row(row);
                let range = at..at + columns.len();
                // SAFETY: rows of the result are disjoint by the scan of their lengths.
                let (c, v) = unsafe { (to_indices.part(range.clone()), to_values.part(range)) };
                c.iter_mut().zip(columns).for_each(|(to, from)| *to = MaybeUninit::new(start + from));
                v.iter_mut().zip(entries).for_each(|(to, from)| *to = MaybeUninit::new(*from));
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
