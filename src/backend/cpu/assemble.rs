//! One pass from blocks of work to compressed rows.
//!
//! Work is cut into blocks: some rows, or some columns of one long row. Threads take blocks in order and compute them
//! into small buffers that stay in cache; as soon as the sizes of all earlier blocks are known, a block is copied to
//! its place. Nothing is computed twice and nobody waits. The cut depends on the operands alone.
use super::parallel::{SERIAL, Shared, prefer_huge_pages, trim, unwritten, written};
use crate::backend::host::HostCsr;
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Some rows, all columns of them or a part of one row's.
#[derive(Clone, Debug)]
pub(super) struct Block {
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
    fn narrow(&self, pattern: &Pattern, range: Range<usize>) -> Range<usize> {
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
        let parts = (before(row + 1) - before(row)).div_ceil(target).min(1 << 12) as usize;
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

/// Entries of consecutive rows, and where in them each finished row ends.
#[derive(Debug)]
pub(super) struct Rows<T> {
    pub(super) indices: Vec<u32>,
    pub(super) values: Vec<T>,
    pub(super) ends: Vec<u64>,
}
impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { indices: Vec::new(), values: Vec::new(), ends: Vec::new() }
    }
}
impl<T: Copy> Rows<T> {
    pub(super) fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
        self.ends.clear();
    }
    /// Room for `n` more entries.
    pub(super) fn reserve(&mut self, operation: &'static str, n: usize) -> Result<()> {
        memory::reserve(operation, &mut self.indices, n)?;
        memory::reserve(operation, &mut self.values, n)
    }
    /// Room for the ends of `n` more rows.
    pub(super) fn reserve_rows(&mut self, operation: &'static str, n: usize) -> Result<()> {
        memory::reserve(operation, &mut self.ends, n)
    }
    /// # Safety
    /// There is room for one more.
    #[inline(always)]
    pub(super) unsafe fn push_unchecked(&mut self, column: u32, value: T) {
        let n = self.indices.len();
        debug_assert!(n < self.indices.capacity() && self.values.len() == n && n < self.values.capacity());
        // SAFETY: the capacity was reserved by the contract; both vectors have one length.
        unsafe {
            self.indices.as_mut_ptr().add(n).write(column);
            self.values.as_mut_ptr().add(n).write(value);
            self.indices.set_len(n + 1);
            self.values.set_len(n + 1);
        }
    }
    #[inline(always)]
    pub(super) fn end_row(&mut self) {
        self.ends.push(self.indices.len() as u64);
    }
}

/// What computes a block: appends its entries and ends each of its rows.
pub(super) type Kernel<'a, T, W> = dyn Fn(&Block, &mut Rows<T>, &mut W) -> Result<()> + Sync + 'a;

/// The compressed rows that the blocks make together; `bound` is the most entries there can be.
pub(super) fn assemble<T: Copy + Send + Sync, W: Default>(
    operation: &'static str,
    (nrows, ncols): (usize, usize),
    bound: u64,
    blocks: &[Block],
    kernel: &Kernel<'_, T, W>,
) -> Result<HostCsr<T>> {
    if blocks.len() < 2 || rayon::current_num_threads() < 2 {
        return in_order(operation, (nrows, ncols), bound, blocks, kernel);
    }
    // Untouched room costs nothing; where even that is refused, blocks wait for the exact size.
    let room =
        usize::try_from(bound).ok().and_then(|n| Some((unwritten(operation, n).ok()?, unwritten(operation, n).ok()?)));
    let mut offsets = memory::filled(operation, nrows + 1, 0u64)?;
    let line = Line::new(operation, blocks.len())?;
    let (mut indices, mut values) = room.unwrap_or_default();
    let roomy = indices.len() as u64 >= bound;
    let target = Target {
        indices: Shared::new(&mut indices),
        values: Shared::new(&mut values),
        offsets: Shared::new(&mut offsets),
    };
    let pending: Vec<Result<Vec<(usize, Rows<T>)>>> = (0..rayon::current_num_threads().min(blocks.len()))
        .into_par_iter()
        .with_max_len(1)
        .map(|_| line.work(operation, blocks, kernel, roomy.then_some(&target)))
        .collect();
    let mut late = Vec::new();
    for rows in pending {
        late.append(&mut rows?);
    }
    let total = line.total();
    let target = if roomy {
        target
    } else {
        (indices, values) = (unwritten(operation, total as usize)?, unwritten(operation, total as usize)?);
        Target { indices: Shared::new(&mut indices), values: Shared::new(&mut values), offsets: target.offsets }
    };
    late.into_par_iter().for_each(|(b, rows)| {
        if let Some(start) = line.start(b) {
            target.place(blocks, b, &rows, start);
        }
    });
    // SAFETY: every block was placed, and the blocks fill 0..total without gaps.
    let (indices, values) = unsafe { (written(indices, total as usize), written(values, total as usize)) };
    Ok(HostCsr::new(Pattern { nrows, ncols, offsets, indices }, values))
}

/// One thread: every block into one growing buffer, which then is the result.
fn in_order<T: Copy, W: Default>(
    operation: &'static str,
    (nrows, ncols): (usize, usize),
    bound: u64,
    blocks: &[Block],
    kernel: &Kernel<'_, T, W>,
) -> Result<HostCsr<T>> {
    let mut rows = Rows { ends: memory::with_capacity(operation, nrows + 1)?, ..Rows::default() };
    if blocks.len() > 1 && rows.reserve(operation, usize::try_from(bound).unwrap_or(usize::MAX)).is_ok() {
        prefer_huge_pages(&rows.indices);
        prefer_huge_pages(&rows.values);
    }
    rows.ends.push(0);
    let mut scratch = W::default();
    for (b, block) in blocks.iter().enumerate() {
        kernel(block, &mut rows, &mut scratch)?;
        // A row in parts has one end, the last part's.
        if !ends_row(blocks, b) {
            rows.ends.pop();
        }
    }
    rows.ends.resize(nrows + 1, rows.indices.len() as u64);
    trim(&mut rows.indices);
    trim(&mut rows.values);
    Ok(HostCsr::new(Pattern { nrows, ncols, offsets: rows.ends, indices: rows.indices }, rows.values))
}

fn ends_row(blocks: &[Block], b: usize) -> bool {
    blocks[b].whole || blocks.get(b + 1).is_none_or(|next| next.rows.start != blocks[b].rows.start)
}

struct Target<T> {
    indices: Shared<MaybeUninit<u32>>,
    values: Shared<MaybeUninit<T>>,
    offsets: Shared<u64>,
}
impl<T: Copy> Target<T> {
    fn place(&self, blocks: &[Block], b: usize, rows: &Rows<T>, start: u64) {
        let range = start as usize..start as usize + rows.indices.len();
        // SAFETY: blocks have disjoint places by the scan of their sizes; the room is alive.
        let (indices, values) = unsafe { (self.indices.part(range.clone()), self.values.part(range)) };
        // SAFETY: MaybeUninit<X> has the layout of X, and the lengths are equal.
        unsafe {
            std::ptr::copy_nonoverlapping(rows.indices.as_ptr(), indices.as_mut_ptr().cast(), indices.len());
            std::ptr::copy_nonoverlapping(rows.values.as_ptr(), values.as_mut_ptr().cast(), values.len());
        }
        if ends_row(blocks, b) {
            let first = blocks[b].rows.start + 1;
            // SAFETY: each row is ended by one block.
            let offsets = unsafe { self.offsets.part(first..first + rows.ends.len()) };
            offsets.iter_mut().zip(&rows.ends).for_each(|(o, end)| *o = start + end);
        }
    }
}

/// Blocks on their way: who takes the next, and where the finished ones go.
struct Line {
    next: AtomicUsize,
    failed: AtomicBool,
    /// Entries of each block; UNKNOWN before it is finished.
    counts: Vec<AtomicU64>,
    /// Where each block goes; UNKNOWN before all earlier ones are finished.
    starts: Vec<AtomicU64>,
    /// The first block without a start, and its start.
    front: Mutex<(usize, u64)>,
}
const UNKNOWN: u64 = u64::MAX;

impl Line {
    fn new(operation: &'static str, n: usize) -> Result<Self> {
        let (mut counts, mut starts) = (memory::with_capacity(operation, n)?, memory::with_capacity(operation, n)?);
        counts.resize_with(n, || AtomicU64::new(UNKNOWN));
        starts.resize_with(n, || AtomicU64::new(UNKNOWN));
        Ok(Self {
            next: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            counts,
            starts,
            front: Mutex::new((0, 0)),
        })
    }
    fn start(&self, b: usize) -> Option<u64> {
        let start = self.starts[b].load(Ordering::Acquire);
        (start != UNKNOWN).then_some(start)
    }
    fn total(&self) -> u64 {
        self.front.lock().unwrap_or_else(|e| e.into_inner()).1
    }
    fn finish(&self, b: usize, count: u64) {
        let mut front = self.front.lock().unwrap_or_else(|e| e.into_inner());
        self.counts[b].store(count, Ordering::Relaxed);
        while let Some(count) = self.counts.get(front.0).map(|c| c.load(Ordering::Relaxed)).filter(|c| *c != UNKNOWN) {
            self.starts[front.0].store(front.1, Ordering::Release);
            *front = (front.0 + 1, front.1 + count);
        }
    }
    /// One thread's part; the blocks it could not place yet.
    fn work<T: Copy, W: Default>(
        &self,
        operation: &'static str,
        blocks: &[Block],
        kernel: &Kernel<'_, T, W>,
        target: Option<&Target<T>>,
    ) -> Result<Vec<(usize, Rows<T>)>> {
        let (mut scratch, mut waiting, mut free) = (W::default(), Vec::<(usize, Rows<T>)>::new(), Vec::new());
        let outcome = loop {
            let b = self.next.fetch_add(1, Ordering::Relaxed);
            if b >= blocks.len() || self.failed.load(Ordering::Relaxed) {
                break Ok(());
            }
            let mut rows: Rows<T> = free.pop().unwrap_or_default();
            rows.clear();
            if let Err(e) = rows
                .reserve_rows(operation, blocks[b].rows.len())
                .and_then(|()| kernel(&blocks[b], &mut rows, &mut scratch))
            {
                break Err::<(), Error>(e);
            }
            self.finish(b, rows.indices.len() as u64);
            waiting.push((b, rows));
            let Some(target) = target else { continue };
            let mut i = 0;
            while i < waiting.len() {
                match self.start(waiting[i].0) {
                    Some(start) => {
                        let (b, rows) = waiting.swap_remove(i);
                        target.place(blocks, b, &rows, start);
                        free.push(rows);
                    }
                    None => i += 1,
                }
            }
        };
        if outcome.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        outcome.map(|()| waiting)
    }
}
