//! One pass from blocks of work to compressed rows.
//!
//! Threads take blocks in order and compute them into small buffers that stay in cache; as soon as the sizes of all earlier
//! blocks are known, a block is copied to its place. Nothing is computed twice and nobody waits.
use super::blocks::Block;
use super::mxm::tiny::SLACK;
use super::parallel::{Shared, filled, unwritten, written};
use super::rows::Rows;
use crate::backend::host::HostCsr;
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// What computes a block: appends its entries and ends each of its rows.
pub(super) type Kernel<'a, T, W> = dyn Fn(&Block, &mut Rows<T>, &mut W) -> Result<()> + Sync + 'a;

/// A thread's buffers for finished blocks, by slot, whatever the scalar: what hands out and places blocks is compiled once.
trait Bench: Send {
    /// Appends a block to what a slot holds; the first slot that is not there yet is made.
    fn append(&mut self, block: &Block, slot: usize) -> Result<()>;
    /// The first slot, with room for the ends of so many rows and, where memory allows, for so many entries.
    fn first(&mut self, ends: usize, entries: Option<u64>) -> Result<()>;
    /// Gives back a slot's unused room.
    fn trim(&mut self, slot: usize);
    /// Empties a slot.
    fn clear(&mut self, slot: usize);
    fn made(&mut self, slot: usize) -> Made<'_>;
}
/// What a slot holds.
struct Made<'a> {
    indices: &'a [u32],
    ends: &'a mut Vec<u64>,
    /// As many as indices.
    values: *const u8,
}

/// A kernel with a thread's scratch.
type Working<'a, T> = Box<dyn FnMut(&Block, &mut Rows<T>) -> Result<()> + Send + 'a>;

struct Own<'a, T> {
    operation: &'static str,
    kernel: Working<'a, T>,
    slots: Vec<Rows<T>>,
}
impl<T: Copy + Send> Bench for Own<'_, T> {
    fn append(&mut self, block: &Block, slot: usize) -> Result<()> {
        if slot == self.slots.len() {
            memory::reserve(self.operation, &mut self.slots, 1)?;
            self.slots.push(Rows::default());
        }
        let rows = &mut self.slots[slot];
        rows.reserve_rows(self.operation, block.rows.len())?;
        (self.kernel)(block, rows)
    }
    fn first(&mut self, ends: usize, entries: Option<u64>) -> Result<()> {
        let mut rows = Rows { ends: memory::with_capacity(self.operation, ends)?, ..Rows::default() };
        let entries = entries.map(|n| usize::try_from(n).unwrap_or(usize::MAX).saturating_add(SLACK));
        // Where that is too much, room grows with what is there.
        let bytes = |n: usize| (n as u64).saturating_mul((size_of::<u32>() + size_of::<T>()) as u64);
        let all = |n: usize| memory::check(self.operation, bytes(n)).and_then(|()| rows.reserve(self.operation, n));
        let _ = entries.map(all);
        self.slots.push(rows);
        Ok(())
    }
    fn trim(&mut self, slot: usize) {
        let rows = &mut self.slots[slot];
        memory::trim(&mut rows.indices);
        memory::trim(&mut rows.values);
    }
    fn clear(&mut self, slot: usize) {
        if let Some(rows) = self.slots.get_mut(slot) {
            rows.clear();
        }
    }
    fn made(&mut self, slot: usize) -> Made<'_> {
        let rows = &mut self.slots[slot];
        Made { indices: &rows.indices, ends: &mut rows.ends, values: rows.values.as_ptr().cast() }
    }
}

/// How many entries there can be, and how many there will be as far as is known: `u64::MAX` where room for them is not to be taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) most: u64,
    pub(super) likely: u64,
}
impl From<u64> for Size {
    fn from(most: u64) -> Self {
        Self { most, likely: most }
    }
}

/// The compressed rows that the blocks make together.
pub(super) fn assemble<T: Copy + Send + Sync, W: Default + Send>(
    operation: &'static str,
    shape: (usize, usize),
    size: impl Into<Size>,
    blocks: &[Block],
    kernel: &Kernel<'_, T, W>,
) -> Result<HostCsr<T>> {
    // Room that is not needed is given back, and what was given back cannot be had again without touching new pages.
    let size = size.into();
    together(operation, shape, size.likely.min(size.most), blocks, &|| {
        let mut scratch = W::default();
        Box::new(move |block, rows| kernel(block, rows, &mut scratch))
    })
}

fn together<'a, T: Copy + Send + Sync>(
    operation: &'static str,
    (nrows, ncols): (usize, usize),
    likely: u64,
    blocks: &[Block],
    kernel: &(dyn Fn() -> Working<'a, T> + Sync),
) -> Result<HostCsr<T>> {
    let own = || Own { operation, kernel: kernel(), slots: Vec::new() };
    if blocks.len() < 2 || rayon::current_num_threads() < 2 {
        let mut own = own();
        in_order(&mut own, nrows, likely, blocks)?;
        let rows = own.slots.pop().unwrap_or_default();
        return Ok(HostCsr::new(Pattern::new(nrows, ncols, rows.ends, rows.indices), rows.values));
    }
    let mut values = Vec::<MaybeUninit<T>>::new();
    let bench = || Box::new(own()) as Box<dyn Bench + '_>;
    let pattern = on_threads(operation, (nrows, ncols), likely, blocks, &bench, &mut values)?;
    // SAFETY: every entry has a value where `on_threads` returns.
    let values = unsafe { written(values, pattern.nnz()) };
    Ok(HostCsr::new(pattern, values))
}

/// Where values are put together, whatever they are.
trait Room {
    /// Room for `n` instead of what was there, of which the first `kept` stay.
    fn make(&mut self, operation: &'static str, n: usize, kept: usize) -> Result<Shared<u8>>;
    fn size(&self) -> usize;
}
impl<T> Room for Vec<MaybeUninit<T>> {
    fn make(&mut self, operation: &'static str, n: usize, kept: usize) -> Result<Shared<u8>> {
        let mut room = unwritten(operation, n)?;
        assert!(kept <= n && kept <= self.len());
        // SAFETY: both are as long; whatever is there may be copied, MaybeUninit<T> needs nothing to be.
        unsafe { std::ptr::copy_nonoverlapping(self.as_ptr(), room.as_mut_ptr(), kept) };
        *self = room;
        Ok(Shared::of_bytes(self))
    }
    fn size(&self) -> usize {
        size_of::<T>()
    }
}

/// All threads: positions, and values in `values`, each written.
fn on_threads<'b>(
    operation: &'static str,
    (nrows, ncols): (usize, usize),
    likely: u64,
    blocks: &[Block],
    bench: &(dyn Fn() -> Box<dyn Bench + 'b> + Sync),
    values: &mut dyn Room,
) -> Result<Pattern> {
    let mut offsets = filled(operation, nrows + 1, 0u64)?;
    let mut indices = Vec::new();
    let line = Line::new(operation, blocks)?;
    let entry = (size_of::<u32>() + values.size()) as u64;
    let mut target = |n: usize, kept: usize, indices: &mut Vec<MaybeUninit<u32>>| {
        let (size, offsets) = (values.size(), Shared::new(&mut offsets));
        memory::check(operation, (n as u64).saturating_mul(entry))?;
        let indices = Room::make(indices, operation, n, kept)?;
        Ok(Target { indices, values: values.make(operation, n, kept)?, room: n as u64, size, offsets })
    };
    // Untouched room costs nothing. Where there is not so much it is most of what there is, and where that is refused too, blocks wait
    // for the exact size.
    let roomy = usize::try_from(likely).ok().and_then(|n| Result::ok(target(n, 0, &mut indices)));
    let roomy = roomy.or_else(|| {
        if likely == u64::MAX {
            return None;
        }
        let most = memory::available()? / 8 * 7 / entry;
        Result::ok(target(usize::try_from(most.min(likely)).ok()?, 0, &mut indices))
    });
    let late = line.run(bench, roomy.as_ref())?;
    let total = line.total() as usize;
    let target = match roomy {
        Some(target) if target.room >= total as u64 => target,
        Some(small) => target(total, line.end(small.room) as usize, &mut indices)?,
        None => target(total, 0, &mut indices)?,
    };
    line.place(late, &target);
    // SAFETY: every block was placed, and the blocks fill 0..total without gaps.
    Ok(Pattern::new(nrows, ncols, offsets, unsafe { written(indices, total) }))
}

/// One thread: every block into one growing buffer, which then is the result.
fn in_order(bench: &mut dyn Bench, nrows: usize, likely: u64, blocks: &[Block]) -> Result<()> {
    bench.first(nrows + 1, if blocks.len() > 1 { Some(likely) } else { None })?;
    bench.made(0).ends.push(0);
    for (b, block) in blocks.iter().enumerate() {
        bench.append(block, 0)?;
        // A row in parts has one end, the last part's.
        if !ends_row(blocks, b) {
            bench.made(0).ends.pop();
        }
    }
    let made = bench.made(0);
    made.ends.resize(nrows + 1, made.indices.len() as u64);
    bench.trim(0);
    Ok(())
}

fn ends_row(blocks: &[Block], b: usize) -> bool {
    blocks[b].whole || blocks.get(b + 1).is_none_or(|next| next.rows.start != blocks[b].rows.start)
}

/// Where blocks go.
struct Target {
    indices: Shared<u8>,
    values: Shared<u8>,
    /// Entries there is room for.
    room: u64,
    /// The size of a value.
    size: usize,
    offsets: Shared<u64>,
}
impl Target {
    fn place(&self, blocks: &[Block], b: usize, made: &Made, start: u64) {
        let (at, n) = (start as usize, made.indices.len());
        // SAFETY: blocks have disjoint places by the scan of their sizes; the room is alive and unread; as many values as
        // indices were made, of this size.
        unsafe {
            let indices = self.indices.place(at * size_of::<u32>(), n * size_of::<u32>());
            std::ptr::copy_nonoverlapping(made.indices.as_ptr().cast(), indices, n * size_of::<u32>());
            let values = self.values.place(at * self.size, n * self.size);
            std::ptr::copy_nonoverlapping(made.values, values, n * self.size);
        }
        if ends_row(blocks, b) {
            let first = blocks[b].rows.start + 1;
            // SAFETY: each row is ended by one block.
            let offsets = unsafe { self.offsets.part(first..first + made.ends.len()) };
            offsets.iter_mut().zip(made.ends.iter()).for_each(|(o, end)| *o = start + end);
        }
    }
}

/// Blocks on their way: who takes the next, and where the finished ones go.
struct Line<'a> {
    blocks: &'a [Block],
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

/// A bench and the blocks on it that could not be placed yet, with their slots.
type Waiting<'a> = (Box<dyn Bench + 'a>, Vec<(usize, usize)>);

impl<'a> Line<'a> {
    fn new(operation: &'static str, blocks: &'a [Block]) -> Result<Self> {
        let n = blocks.len();
        let (mut counts, mut starts) = (memory::with_capacity(operation, n)?, memory::with_capacity(operation, n)?);
        counts.resize_with(n, || AtomicU64::new(UNKNOWN));
        starts.resize_with(n, || AtomicU64::new(UNKNOWN));
        Ok(Self {
            blocks,
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
    /// Where the last block ends that ends within `room`; all are finished.
    fn end(&self, room: u64) -> u64 {
        let ends = self.counts.iter().scan(0, |end, count| {
            *end += count.load(Ordering::Relaxed);
            Some(*end)
        });
        ends.take_while(|end| *end <= room).last().unwrap_or(0)
    }
    fn finish(&self, b: usize, count: u64) {
        let mut front = self.front.lock().unwrap_or_else(|e| e.into_inner());
        self.counts[b].store(count, Ordering::Relaxed);
        while let Some(count) = self.counts.get(front.0).map(|c| c.load(Ordering::Relaxed)).filter(|c| *c != UNKNOWN) {
            self.starts[front.0].store(front.1, Ordering::Release);
            *front = (front.0 + 1, front.1 + count);
        }
    }
    /// All blocks on all threads; what could not be placed.
    fn run<'b>(
        &self,
        bench: &(dyn Fn() -> Box<dyn Bench + 'b> + Sync),
        target: Option<&Target>,
    ) -> Result<Vec<Waiting<'b>>> {
        let pending: Vec<Result<Waiting>> = (0..rayon::current_num_threads().min(self.blocks.len()))
            .into_par_iter()
            .with_max_len(1)
            .map(|_| self.work(bench(), target))
            .collect();
        pending.into_iter().collect()
    }
    fn place(&self, late: Vec<Waiting>, target: &Target) {
        late.into_par_iter().for_each(|(mut bench, waiting)| {
            for (b, slot) in waiting {
                if let Some(start) = self.start(b) {
                    target.place(self.blocks, b, &bench.made(slot), start);
                }
            }
        });
    }
    /// One thread's part.
    fn work<'b>(&self, mut bench: Box<dyn Bench + 'b>, target: Option<&Target>) -> Result<Waiting<'b>> {
        let (mut waiting, mut free, mut slots) = (Vec::<(usize, usize)>::new(), Vec::<usize>::new(), 0usize);
        let outcome = loop {
            let b = self.next.fetch_add(1, Ordering::Relaxed);
            if b >= self.blocks.len() || self.failed.load(Ordering::Relaxed) {
                break Ok(());
            }
            let slot = free.pop().unwrap_or_else(|| {
                slots += 1;
                slots - 1
            });
            bench.clear(slot);
            // While one thread is held up the others go on: their lists grow with what is left to do.
            let held = slots.saturating_sub(free.len());
            let room =
                memory::reserve("blocks", &mut waiting, 1).and_then(|()| memory::reserve("blocks", &mut free, held));
            if let Err(e) = room.and_then(|()| bench.append(&self.blocks[b], slot)) {
                break Err::<(), Error>(e);
            }
            self.finish(b, bench.made(slot).indices.len() as u64);
            waiting.push((b, slot));
            let Some(target) = target else { continue };
            waiting.retain(|(b, slot)| {
                let Some(start) = self.start(*b) else { return true };
                let made = bench.made(*slot);
                if start + made.indices.len() as u64 > target.room {
                    return true;
                }
                target.place(self.blocks, *b, &made, start);
                free.push(*slot);
                false
            });
        };
        if outcome.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        outcome.map(|()| (bench, waiting))
    }
}
