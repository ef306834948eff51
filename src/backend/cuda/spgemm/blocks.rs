//! Rows of many products, a block each, or few of them shared by several: bits over their columns.
use super::run::Run;
use super::{BLOCK, BLOCK_SIZES, BLOCKS, Job, Rows, UNITS, places};
use crate::backend::cuda::Buffer;
use crate::backend::cuda::runtime::lanes::Fork;
use crate::backend::cuda::runtime::program::{Program, resident};
use crate::backend::cuda::runtime::report::Slate;
use crate::backend::cuda::storage::row_bits::RowBits;
use crate::error::{Error, Result};
use oplus_codegen::{BlockShape, Spec, Template};

/// Large blocks a multiprocessor has room for, parts of rows for each of these, and blocks of a row at most.
const LARGE_BLOCKS: u64 = 2;
const TRIES: u64 = 8;
const PARTS_OF_ROW: u64 = 16;
/// Bits of rows are kept from one pass to the next in up to this part of all memory.
const SAVED: u64 = 64;

/// Bits over the columns of each row of a list.
#[derive(Debug)]
pub(super) struct SavedBits {
    bits: Buffer,
    row_words: u32,
}

/// The program for the rows of one block size, how many these are, and in how many parts each.
pub(super) struct Block<'a> {
    pub(super) program: Program<'a>,
    shape: BlockShape,
    rows: u64,
    parts: u64,
}

impl Job<'_> {
    /// How many parts of rows all large blocks together are to have.
    fn tries(&self) -> u64 {
        TRIES * LARGE_BLOCKS * u64::from(self.context.properties().multiprocessors)
    }
    /// No more rows of one list than this are shared: by two blocks or more.
    pub(super) fn shared_rows(&self) -> u64 {
        (self.tries() / 2).min(self.rows)
    }
}

impl Run<'_> {
    /// Room for the bits of the rows of a block size, where the device can spare it.
    pub(super) fn room_for_bits(&self, size: usize) -> Result<Option<SavedBits>> {
        let (job, rows) = (self.job, self.listed.control[UNITS + BLOCK + size]);
        let columns = if size < 2 { job.columns.min(job.tuning.block_columns) } else { job.columns };
        let row_words = columns / 32 + 2;
        let bytes = rows.saturating_mul(4 * u64::from(row_words));
        if rows == 0 || bytes > job.context.properties().total_memory / SAVED {
            return Ok(None);
        }
        match Buffer::alloc(job.context, bytes) {
            Ok(bits) => Ok(Some(SavedBits { bits, row_words })),
            Err(Error::OutOfMemory { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// The program for the rows of a block size, if there are any: `numeric` or only to count.
    pub(super) fn block_program(&self, size: usize, numeric: bool) -> Result<Option<Block<'_>>> {
        let (job, rows) = (self.job, self.listed.control[UNITS + BLOCK + size]);
        if rows == 0 {
            return Ok(None);
        }
        let sized = (size, if size > 0 { job.tuning.block_threads } else { 0 });
        // Few rows of many products are shared.
        let shared = size > 0 && self.listed.saved[size].is_some();
        let parts = if shared { (job.tries() / rows).clamp(1, PARTS_OF_ROW) } else { 1 };
        let walked = job.walked(numeric)?;
        let with = |spec: Spec| walked.flagged(spec.flag("split", parts > 1).flag("far", size + 1 == BLOCK_SIZES));
        let (program, shape) = match numeric {
            true => job.block_program(Template::SpgemmBlock, sized, |s| with(job.with_semiring(s))),
            false => {
                let row_bits = job.row_bits()?.is_some();
                let count = |s| with(job.walking(s)).flag("row_bits", row_bits);
                job.block_program(Template::SpgemmBlockCount, sized, count)
            }
        };
        Ok(Some(Block { program, shape, rows, parts }))
    }

    /// Rows of many products, a block each: with `to` their entries, else how many columns they have. The widest first.
    pub(super) fn blocks(&self, fork: &Fork, to: Option<&Rows>) -> Result<()> {
        let (job, listed, work) = (self.job, &self.listed, &self.listed.work);
        for size in (0..BLOCK_SIZES).rev() {
            let Some(Block { program, shape, rows: n, parts }) = self.block_program(size, to.is_some())? else {
                continue;
            };
            let (saved, walked) = (listed.saved[size].as_ref(), job.walked(to.is_some())?);
            // A word a row, in which the blocks that share one meet.
            let states = (parts > 1).then(|| work.control.shared(size as u64 - 1));
            let (threads, shared) = (shape.threads, program.spec.block_bytes(shape));
            let kernel = program.kernel(program.spec.template.name())?;
            let launch = kernel.launch(resident(&kernel, threads, shared, n * parts)?, threads, shared);
            let launch = match to {
                Some(_) => job.operands_by(launch, job.b.values, walked),
                None => job.patterns_by(launch, walked),
            };
            let launch = launch.arg(&work.control.buffer);
            let (units, begin) = places(BLOCK + size);
            let tickets = BLOCKS + size + if to.is_some() { BLOCK_SIZES } else { 0 };
            let launch = launch.arg(units).arg(begin).arg(tickets as u32).arg(&work.units);
            let launch = match to {
                Some(c) => {
                    let launch = launch.arg(&work.first).arg(&work.last).arg(c.offsets).arg(c.indices).arg(c.values);
                    launch.arg(0u64).arg(0u64).arg(0u64).arg(&work.products)
                }
                None => launch.arg(&work.products).arg(&work.first).arg(&work.last).arg(&listed.c_offsets),
            };
            let launch = launch.arg(saved.map(|s| &s.bits)).arg(states.unwrap_or(0));
            let launch = walked.arguments(launch.arg(saved.map_or(0, |s| s.row_words)).arg(parts as u32));
            let launch = match to {
                Some(_) => launch.arg(0u64).leaving(&Slate::UNTOLD),
                None => RowBits::arguments(job.row_bits()?, walked.in_sets(), launch),
            };
            // SAFETY: as above.
            unsafe { launch.run_on(fork.next()?)? };
        }
        Ok(())
    }
}
