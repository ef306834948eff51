//! The memory that a product takes on the host: bounds that hold, so that a limit can be kept without counting.
use super::accumulator::{Columns, Dense};
use crate::backend::cpu::parallel::SERIAL;
use crate::error::{Error, Result};
use crate::spgemm::Analysis;
use crate::storage::pattern::Pattern;

/// Bytes beside the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) workspace: u64,
    pub(crate) output: u64,
}

impl Need {
    pub(crate) fn total(self) -> u64 {
        self.workspace.saturating_add(self.output)
    }
}

/// How a product is computed, as far as its memory depends on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Rows of B are scattered.
    Rows,
    /// The same of positions alone: C has one value.
    Positions,
    /// A dot product for each entry of the mask.
    Dots,
    /// All of B's places have entries: sums are made where they stay.
    Whole,
}

/// What a product's memory depends on beside its patterns: the bytes of a value of C and of B, and how it is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) value: usize,
    pub(crate) right: usize,
    pub(crate) by: By,
}

/// Bytes of compressed rows.
pub(crate) fn compressed(rows: u64, entries: u64, value: u64) -> u64 {
    rows.saturating_add(1).saturating_mul(8).saturating_add(entries.saturating_mul(4 + value))
}

impl Need {
    /// The most that turning B round takes, its result among it.
    pub(crate) fn turned(b: &Pattern, shape: &Shape) -> u64 {
        let (keys, threads) = (b.ncols.max(b.nrows) as u64, rayon::current_num_threads() as u64);
        // What is kept of where entries go is 8 bytes each.
        let kept = (b.nnz() as u64).saturating_mul(8).saturating_add((threads * 8 + 4).saturating_mul(keys));
        compressed(keys, b.nnz() as u64, shape.right as u64).saturating_add(kept)
    }
    /// Bytes of a planned block: itself 32, its counters 16, in vectors that grow by doubling.
    pub(super) const BLOCK: u64 = 96;
    /// The most blocks: they are cut at even work, long rows into as many parts as there are.
    pub(crate) fn blocks(a: &Pattern, analysis: &Analysis) -> u64 {
        let rows = a.nrows as u64;
        analysis.products.saturating_add(a.nnz() as u64 + rows) / SERIAL as u64 + rows.min(1 << 12) + 64
    }
    /// The most that the usual way takes, with B as it is given: by rows or by columns.
    pub(crate) fn usual((a, b, transposed_b): (&Pattern, &Pattern, bool), analysis: &Analysis, shape: &Shape) -> Need {
        let (rows, columns) = (a.nrows as u64, if transposed_b { b.nrows } else { b.ncols } as u64);
        let value = if shape.by == By::Positions { 0 } else { shape.value as u64 };
        let threads = rayon::current_num_threads() as u64;
        let planning = rows * 16 + Need::blocks(a, analysis).saturating_mul(Need::BLOCK);
        let turning = if (shape.by == By::Dots) != transposed_b { Need::turned(b, shape) } else { 0 };
        // Finished blocks may all wait for their place, in vectors that grow by doubling.
        let waiting = analysis.bound.saturating_mul(4 + value).saturating_mul(3).saturating_add(rows * 24);
        let table = analysis.largest_row.min(columns).saturating_mul(4 * (4 + value) + 16);
        let dense = columns.saturating_mul(value + 1).saturating_mul(3);
        // Where the entries of a row of A stand.
        let places = a.ncols as u64 * 5;
        let scratch = match shape.by {
            By::Dots => places,
            _ => table.saturating_add(dense).saturating_add(places),
        };
        let scratch = threads.saturating_mul(scratch.saturating_add(1 << 17));
        let made = if shape.by == By::Whole { 0 } else { waiting.saturating_add(scratch) };
        let workspace = [planning, turning, made].into_iter().fold(0, u64::saturating_add);
        Need { workspace, output: compressed(rows, analysis.bound, value) }
    }
    /// About what it takes to count columns first and then to make sums where they are: of each thread a bit for every column, or a list of
    /// a row's, then a sum for each; within `left` of the limit there are fewer threads.
    pub(crate) fn exactly((b, transposed_b): (&Pattern, bool), analysis: &Analysis, shape: &Shape, left: u64) -> u64 {
        let columns = if transposed_b { b.nrows } else { b.ncols };
        let set = Columns::bytes(columns).min(analysis.largest_row.saturating_mul(4));
        let each = set.max(Dense::<u8>::bytes(columns, shape.value));
        let turning = if transposed_b { Need::turned(b, shape) } else { 0 };
        each.saturating_mul(rayon::current_num_threads() as u64).saturating_add(turning).min(left)
    }
}

/// What a thread's queue of work may take.
const QUEUE: u64 = 1 << 12;

/// Bytes that may be taken at once, and threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) limit: Option<u64>,
    pub(crate) threads: usize,
}

impl Budget {
    pub(crate) fn fits(&self, bytes: u64) -> bool {
        self.limit.is_none_or(|limit| bytes <= limit)
    }
    pub(crate) fn check(&self, operation: &'static str, needed: u64) -> Result<()> {
        if self.fits(needed) {
            return Ok(());
        }
        Err(Error::OutOfMemory { operation, device: "host".into(), needed, available: self.limit })
    }
    /// How many threads may have `each` bytes beside `base`, and what it takes to hand them work: one at least.
    pub(crate) fn workers(&self, operation: &'static str, base: u64, each: u64) -> Result<usize> {
        self.check(operation, base.saturating_add(each))?;
        let most = self.limit.map_or(u64::MAX, |limit| (limit - base) / each.saturating_add(QUEUE));
        Ok(usize::try_from(most).unwrap_or(usize::MAX).clamp(1, self.threads.max(1)))
    }
    /// What is left beside `bytes`.
    pub(crate) fn without(self, operation: &'static str, bytes: u64) -> Result<Budget> {
        self.check(operation, bytes)?;
        Ok(Budget { limit: self.limit.map(|limit| limit - bytes), ..self })
    }
}
