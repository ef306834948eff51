//! A rectangle of a matrix with short rows: all entries of its rows are looked through, whichever row they are in, since
//! where a short row ends nobody guesses.
use super::blocks::{Block, partition, target};
use super::parallel::{Shared, each, unwritten, written};
use super::window::Span;
use crate::algebra::Scalar;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Entries at a time: what is known of them stays in the nearest cache.
const BATCH: usize = if cfg!(test) { 16 } else { 512 };

pub(super) fn flat<T: Scalar>(a: &HostCsr<T>, rows: &Span, cols: &Span) -> Result<HostCsr<T>> {
    let operation = "extract";
    let offsets = &a.pattern.offsets[rows.from..=rows.from + rows.len];
    let window = Window { offsets, first: cols.from as u32, width: cols.len as u32, to: cols.to as u32 };
    let before = |r: usize| offsets[r] - offsets[0] + r as u64;
    let shape = (rows.len, a.pattern.ncols);
    let blocks = partition(operation, shape, target(before(rows.len)), &before, &|_, _| Ok(Vec::new()))?;
    // Where each block goes.
    let mut starts = memory::filled(operation, blocks.len() + 1, 0u64)?;
    let count = |(start, block): (&mut u64, &Block)| *start = window.count(&a.pattern.indices, block);
    match blocks.len() < 2 {
        true => starts[1..].iter_mut().zip(&blocks).for_each(count),
        false => starts[1..].par_iter_mut().zip(&blocks).for_each(count),
    }
    (0..blocks.len()).for_each(|b| starts[b + 1] += starts[b]);
    let n = starts[blocks.len()] as usize;
    let mut ends = unwritten::<u64>(operation, rows.places + 1)?;
    ends[..=rows.to].fill(MaybeUninit::new(0));
    ends[rows.to + rows.len + 1..].fill(MaybeUninit::new(n as u64));
    let (mut indices, mut values) = (unwritten::<u32>(operation, n)?, unwritten::<T>(operation, n)?);
    let to_ends = Shared::new(&mut ends[rows.to + 1..]);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    each(blocks.len(), &|b| {
        let block = &blocks[b];
        let (start, end) = (starts[b], starts[b + 1]);
        let range = start as usize..end as usize;
        // SAFETY: blocks have rows of their own, and those disjoint entries.
        let (ends, to) =
            unsafe { (to_ends.part(block.rows.clone()), (to_indices.part(range.clone()), to_values.part(range))) };
        window.copy(a, block, (start, ends), to);
    });
    // SAFETY: the blocks cover every row, and each wrote as many entries as it was counted.
    let pattern =
        unsafe { Pattern::new(rows.places, cols.places, written(ends, rows.places + 1), written(indices, n)) };
    // SAFETY: as above.
    Ok(HostCsr::new(pattern, unsafe { written(values, n) }))
}

/// Columns from `first` on, so many, which go to those from `to` on; of rows with these offsets.
struct Window<'a> {
    offsets: &'a [u64],
    first: u32,
    width: u32,
    to: u32,
}

impl Window<'_> {
    fn entries(&self, rows: &Range<usize>) -> Range<usize> {
        self.offsets[rows.start] as usize..self.offsets[rows.end] as usize
    }
    fn count(&self, columns: &[u32], block: &Block) -> u64 {
        let inside = |c: &&u32| c.wrapping_sub(self.first) < self.width;
        columns[self.entries(&block.rows)].iter().filter(inside).count() as u64
    }
    /// A block's entries, of which there are as many as there is room for, and where its rows end: its first is the
    /// result's entry `begin`.
    fn copy<T: Copy>(
        &self,
        a: &HostCsr<T>,
        block: &Block,
        (begin, ends): (u64, &mut [MaybeUninit<u64>]),
        (to_columns, to_values): (&mut [MaybeUninit<u32>], &mut [MaybeUninit<T>]),
    ) {
        let all = self.entries(&block.rows);
        // Which of a batch are kept, and how many before each.
        let (mut places, mut before) = ([0u16; BATCH], [0u16; BATCH + 1]);
        let (mut done, mut row) = (0, 0);
        for start in all.clone().step_by(BATCH) {
            let batch = start..all.end.min(start + BATCH);
            let (columns, values) = (&a.pattern.indices[batch.clone()], &a.values[batch.clone()]);
            let mut kept = 0;
            for (e, (c, before)) in columns.iter().zip(&mut before).enumerate() {
                *before = kept as u16;
                places[kept % BATCH] = e as u16;
                kept += (c.wrapping_sub(self.first) < self.width) as usize;
            }
            before[columns.len()] = kept as u16;
            let places = &places[..kept];
            for (to, e) in to_columns[done..done + kept].iter_mut().zip(places) {
                *to = MaybeUninit::new(columns[*e as usize] - self.first + self.to);
            }
            for (to, e) in to_values[done..done + kept].iter_mut().zip(places) {
                *to = MaybeUninit::new(values[*e as usize]);
            }
            while row < ends.len() && self.offsets[block.rows.start + row + 1] as usize <= batch.end {
                let end = self.offsets[block.rows.start + row + 1] as usize - start;
                ends[row] = MaybeUninit::new(begin + done as u64 + u64::from(before[end]));
                row += 1;
            }
            done += kept;
        }
        // Rows without entries behind no others.
        ends[row..].fill(MaybeUninit::new(begin + done as u64));
    }
}
