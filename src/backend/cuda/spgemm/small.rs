//! Products of small matrices: a block a row, without analysis.
use super::Job;
use super::room::Room;
use super::whole::Whole;
use crate::backend::cuda::runtime::program::Program;
use crate::backend::cuda::runtime::report::SAID;
use crate::error::Result;
use oplus_codegen::{BlockShape, Spec, Template};

/// Small blocks of a multiprocessor that all have room: where rows are no more, they get as many threads as small blocks may.
pub(super) const AT_ONCE: u64 = 8;
/// Mean products of a row from which on it gets a large block.
const LARGE_ROWS: u64 = 1024;
/// How many times the mean products the longest row may have, from which on no small block takes it.
const SKEWED: u64 = 64;
/// Mean products of a row from which on the warps of its block have sums of their own, and so many for each thread.
const COPIES_MEAN: u64 = 512;
const COPIES_EACH: u64 = 4;
/// How many times the mean products the longest row may have, from which on it gets twice the threads.
const COPIES_EVEN: u64 = 4;
/// C may be allocated by a bound of up to this part of all memory.
const ROOM: u64 = 512;

impl Job<'_> {
    /// Whether a block may take each row, without analysis.
    pub(super) fn is_small(&self) -> bool {
        // Smaller values do not make it worth more rows.
        let (tuning, size) = (self.tuning, 4 + (self.semiring.written().size as u64).max(8));
        let spec = Spec::new(Template::SpgemmBlock, self.context.properties().architecture);
        self.rows <= u64::from(tuning.small_rows)
            && self.columns <= tuning.block_columns
            && self.bound().is_some_and(|bound| bound <= self.context.properties().total_memory / ROOM / size)
            && (self.rows.saturating_mul(self.mean_products()) <= u64::from(tuning.small_work) || self.even_copies())
            && spec.semiring(self.semiring.clone()).sums_anywhere()
    }

    /// The shape of blocks whose warps have sums of their own: where rows of very many products meet in few columns, and are so few that a
    /// multiprocessor has threads to spare for each.
    fn copies(&self) -> Option<BlockShape> {
        let (device, mean) = (self.context.properties(), self.mean_products());
        if mean < COPIES_MEAN {
            return None;
        }
        let spec = self.with_semiring(Spec::new(Template::SpgemmBlock, device.architecture));
        let all = u64::from(device.multiprocessors) * u64::from(device.threads_per_multiprocessor);
        // Twice as many where the longest row would keep its block longer than the others do, if there is room for their sums.
        let uneven = self.longest_row().is_some_and(|most| most > COPIES_EVEN.saturating_mul(mean));
        let even = (all / self.rows.max(1)).min(mean / COPIES_EACH);
        [even << u32::from(uneven), even].into_iter().find_map(|threads| {
            let threads = 1 << threads.clamp(256, 1024).ilog2();
            spec.copies_shape(self.columns, threads, device.shared_per_block_optin)
        })
    }
    /// Whether there is such a shape and no row would keep its block much longer than the others do.
    fn even_copies(&self) -> bool {
        let even = SKEWED.saturating_mul(self.mean_products());
        self.rows <= AT_ONCE * u64::from(self.context.properties().multiprocessors)
            && self.longest_row().is_some_and(|most| most <= even)
            && self.copies().is_some()
    }
    /// Whether there is room for a block of this shape for each row.
    fn all_at_once(&self, shape: BlockShape) -> bool {
        let device = self.context.properties();
        let shared = self.with_semiring(Spec::new(Template::SpgemmBlock, device.architecture)).block_bytes(shape);
        // A block has a kilobyte beside what it asks for.
        let blocks =
            (device.shared_per_multiprocessor / (shared + 1024)).min(device.threads_per_multiprocessor / shape.threads);
        self.rows <= u64::from(blocks * device.multiprocessors)
    }

    pub(super) fn by_blocks(&self, room: &Room) -> Result<[u64; SAID]> {
        let mean = self.mean_products();
        let most = self.longest_row().unwrap_or(u64::MAX);
        let device = self.context.properties();
        let threads = if self.rows <= AT_ONCE * u64::from(device.multiprocessors) {
            2 * self.tuning.block_threads_small
        } else if most / SKEWED > mean {
            self.tuning.block_threads
        } else {
            0
        };
        let walked = self.walked(true)?;
        let sized = (usize::from(walked.products(self.b.pattern, mean) > LARGE_ROWS), threads);
        let with = |spec: Spec, at_once: bool| {
            walked.flagged(self.with_semiring(spec).flag("whole", true).flag("at_once", at_once))
        };
        let (program, shape) = if let Some(shape) = self.copies() {
            let (at_once, copies) = (self.all_at_once(shape), u64::from(shape.threads / 32));
            let program = Program::new(self.context, Template::SpgemmBlock, |s| {
                with(s, at_once).block(shape).number("copies", copies)
            });
            (program, shape)
        } else {
            let of = |at_once| self.block_program(Template::SpgemmBlock, sized, |s| with(s, at_once));
            let (program, shape) = of(false);
            (if self.all_at_once(shape) { of(true).0 } else { program }, shape)
        };
        let shared = program.spec.block_bytes(shape);
        self.pass((program, shape.threads, shared), self.rows, Whole::Block, room)
    }
}
