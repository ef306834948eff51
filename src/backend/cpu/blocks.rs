//! Work cut into blocks: some rows, or some columns of one long row. The cut depends on the operands alone.
use super::parallel::SERIAL;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use std::ops::Range;

/// Some rows, all columns of them or a part of one row's.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<u32>,
    /// All columns.
    pub(super) whole: bool,
}

impl Block {
    /// The entries of a row whose columns are in this block.
    #[inline(always)]
    pub(super) fn range(&self, pattern: &Pattern, row: usize) -> Range<usize> {
        let range = pattern.range(row);
        if self.whole { range } else { self.narrow(pattern, range) }
    }
    pub(super) fn narrow(&self, pattern: &Pattern, range: Range<usize>) -> Range<usize> {
        let columns = &pattern.indices[range.clone()];
        let from = columns.partition_point(|c| *c < self.columns.start);
        let len = columns[from..].partition_point(|c| *c < self.columns.end);
        range.start + from..range.start + from + len
    }
}

/// Cuts rows into blocks of about `target` work. `before(r)` is the work in all rows before r, `cuts(r, n)` up to n − 1
/// ascending columns that cut a long row r into about equal parts.
pub(super) fn partition(
    operation: &'static str,
    (nrows, ncols): (usize, usize),
    target: u64,
    before: &dyn Fn(usize) -> u64,
    cuts: &dyn Fn(usize, usize) -> Result<Vec<u32>>,
) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    let mut row = 0;
    let whole = |rows| Block { rows, columns: 0..ncols as u32, whole: true };
    while row < nrows {
        let goal = before(row).saturating_add(target);
        let (mut low, mut high) = (row, nrows);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if before(middle) <= goal { low = middle } else { high = middle - 1 }
        }
        memory::reserve(operation, &mut blocks, 1)?;
        if low > row {
            blocks.push(whole(row..low));
            row = low;
            continue;
        }
        // A part looks at all of the row's entries.
        let parts = (before(row + 1) - before(row)).div_ceil(target.max(SERIAL as u64)).min(1 << 12) as usize;
        let cuts = if parts > 1 { cuts(row, parts)? } else { Vec::new() };
        if cuts.is_empty() {
            blocks.push(whole(row..row + 1));
        } else {
            memory::reserve(operation, &mut blocks, cuts.len() + 1)?;
            let mut start = 0;
            for end in cuts.into_iter().chain([ncols as u32]).filter(|c| *c > 0) {
                if end > start {
                    blocks.push(Block { rows: row..row + 1, columns: start..end, whole: false });
                    start = end;
                }
            }
        }
        row += 1;
    }
    Ok(blocks)
}

/// Cuts of one row of the longest of these patterns at equal numbers of entries.
pub(super) fn quantiles(operation: &'static str, patterns: &[&Pattern], row: usize, parts: usize) -> Result<Vec<u32>> {
    let mut cuts = memory::with_capacity(operation, parts)?;
    if let Some(longest) = patterns.iter().map(|p| p.row(row)).max_by_key(|r| r.len()) {
        cuts.extend((1..parts).filter_map(|p| longest.get((longest.len() as u64 * p as u64 / parts as u64) as usize)));
        cuts.dedup();
    }
    Ok(cuts)
}

/// How much work a block should have: enough to be worth handing out, little enough to stay in cache.
pub(super) fn target(work: u64) -> u64 {
    (work / 1024).clamp(SERIAL as u64, 1 << 17)
}

/// The same where most steps are visits to memory: of what is worth handing out at all so little that many threads have some.
pub(super) fn target_of_visits(work: u64) -> u64 {
    const LITTLE: u64 = SERIAL as u64 / 8;
    let whole = target(work);
    if work <= whole { whole } else { (work / 64).clamp(LITTLE, whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worth_it_has_blocks_for_many_threads() {
        let serial = SERIAL as u64;
        let blocks = |work: u64| {
            let target = target_of_visits(work);
            let even = |r: usize| r as u64 * work / 256;
            partition("test", (256, 9), target, &even, &|_, _| Ok(Vec::new())).unwrap().len()
        };
        assert_eq!((blocks(0), blocks(serial)), (1, 1));
        assert!((8..=10).contains(&blocks(serial + 1)), "{}", blocks(serial + 1));
        for work in [5, 64, 500].map(|n| n * serial) {
            assert!(blocks(work) >= 32, "{work}: {}", blocks(work));
        }
    }
}
