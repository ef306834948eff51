//! Products that need no analysis: all rows short, as the longest rows of A and B say, or a small matrix.
//!
//! One pass: rows are taken in their order and find their places in C by look-back. C is allocated before its size is known:
//! by the bound where that is small, else by a count over a sample of the rows. Should the guess be too small, the pass has
//! still found every offset and the true size, and is made again.
use super::short::{Kind, thread_launch};
use super::{BLOCKS, CONTROL, Job, LONGEST, NNZ, block_size};
use crate::backend::cuda::program::{Program, resident};
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::Result;
use crate::spgemm::Strategy;
use oplus_codegen::{Spec, Template};

/// Bound on the bytes of C up to which it is taken for C's size.
const SMALL: u64 = 4 << 20;
/// One stretch of rows of so many is counted.
const SAMPLE: u64 = 64;
/// Mean products of a row from which on it gets a large block.
const LARGE_ROWS: u64 = 2048;

/// Who makes a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whole {
    /// A thread, up to so many products.
    Thread(u32),
    /// A block of size n of `block_size`.
    Block(usize),
}

impl Job<'_> {
    /// Products of a row in the mean, if all rows of B were as long as their mean.
    fn mean_products(&self) -> u64 {
        let (a, b) = (self.a.pattern, self.b.pattern);
        (a.nnz / self.rows.max(1)).saturating_mul((b.nnz / (b.nrows as u64).max(1)).max(1))
    }
    /// No more entries than this are in C.
    fn bound(&self) -> Option<u64> {
        let dense = self.rows.saturating_mul(u64::from(self.columns));
        Some(self.a.pattern.nnz.saturating_mul(self.b.pattern.longest?).min(dense))
    }

    pub(super) fn whole(&self, strategy: Strategy) -> Option<Whole> {
        let (tuning, properties) = (self.tuning, self.context.properties());
        let most = self.a.pattern.longest?.checked_mul(self.b.pattern.longest?)?;
        let spec = Spec::new(Template::SpgemmThread, properties.architecture);
        let spec = spec.semiring(self.semiring.clone()).flag("wide", self.is_wide());
        let esc = matches!(strategy, Strategy::Auto | Strategy::Esc);
        if let Some(width) = [16u32, 32, 64].into_iter().find(|w| esc && u64::from(*w) >= most) {
            // Where most rows are much shorter than the longest might be, the network is too wide for them.
            let filled = width <= 16 || self.mean_products() * 3 > u64::from(width);
            let fits = width <= self.thread_limit(&spec) && thread_launch(&spec, width, tuning).is_some();
            if filled && fits {
                return Some(Whole::Thread(width));
            }
        }
        let bytes = self.bound()?.saturating_mul(4 + self.semiring.c.size as u64);
        let small = self.rows <= u64::from(tuning.small_rows)
            && self.columns <= tuning.block_columns
            && bytes <= properties.total_memory / 512
            && spec.sums_anywhere();
        let size = usize::from(self.mean_products() > LARGE_ROWS);
        (strategy == Strategy::Auto && small && self.rows > 0).then_some(Whole::Block(size))
    }

    pub(super) fn mxm_whole(&self, whole: Whole) -> Result<(DevicePattern, Buffer)> {
        let (context, nrows) = (self.context, self.a.pattern.nrows);
        let (size, bound) = (self.semiring.c.size as u64, self.bound().unwrap_or(u64::MAX));
        let mut capacity = match whole {
            Whole::Thread(width) if bound.saturating_mul(4 + size) > SMALL => self.sampled(width)?.min(bound),
            _ => bound,
        };
        let offsets = Buffer::alloc_for::<u64>(context, nrows + 1)?;
        loop {
            let mut indices = Buffer::alloc(context, capacity.saturating_mul(4))?;
            let mut values = Buffer::alloc(context, capacity.saturating_mul(size))?;
            let (nnz, longest) = match whole {
                Whole::Thread(width) => self.by_threads(width, capacity, &offsets, &indices, &values)?,
                Whole::Block(n) => self.by_blocks(n, capacity, &offsets, &indices, &values)?,
            };
            if nnz > capacity {
                capacity = nnz;
                continue;
            }
            indices.shorten(nnz * 4)?;
            values.shorten(nnz * size)?;
            let ncols = self.b.pattern.ncols;
            let pattern = DevicePattern { nrows, ncols, nnz, longest: Some(longest), offsets, indices };
            return Ok((pattern, values));
        }
    }

    /// A control block and the states of `tiles`, all zero.
    fn control(&self, tiles: u64) -> Result<(Buffer, u64)> {
        let control = Buffer::zeroed_for::<u64>(self.context, CONTROL + 1 + tiles as usize)?;
        let state = control.pointer() + 8 * CONTROL as u64;
        Ok((control, state))
    }

    /// Entries of C and of its longest row; what has room in `capacity` is written.
    fn by_threads(
        &self,
        width: u32,
        capacity: u64,
        offsets: &Buffer,
        indices: &Buffer,
        values: &Buffer,
    ) -> Result<(u64, u64)> {
        let (program, block, shared, _) = self.short(Kind::Thread(width), true, true);
        let tiles = self.rows.div_ceil(block as u64);
        let (control, state) = self.control(tiles)?;
        let kernel = program.kernel(program.spec.template.name())?;
        let launch = self.operands(kernel.launch(resident(&kernel, block, shared, tiles)?, block, shared));
        let launch = launch.arg(&control).arg(0u32).arg(0u32).arg(0u64).arg(0u64).arg(0u64).arg(offsets).arg(0u64);
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(indices).arg(values).arg(self.rows).arg(state).arg(capacity).run()? };
        found(&control)
    }

    /// As above.
    fn by_blocks(
        &self,
        n: usize,
        capacity: u64,
        offsets: &Buffer,
        indices: &Buffer,
        values: &Buffer,
    ) -> Result<(u64, u64)> {
        let (most, threads, sums) = block_size(self.tuning, n);
        let width = if self.columns <= 4096 { most.min(4096) } else { most };
        let program = Program::new(self.context, Template::SpgemmBlock, |s| {
            let s = s.number("width", width as u64).number("threads", threads as u64).number("bytes", sums as u64);
            self.with_semiring(s).flag("whole", true)
        });
        let shared = program.spec.block_bytes(width, threads, sums);
        let (control, state) = self.control(self.rows)?;
        let kernel = program.kernel(program.spec.template.name())?;
        let launch = self.operands(kernel.launch(resident(&kernel, threads, shared, self.rows)?, threads, shared));
        let launch = launch.arg(&control).arg(0u32).arg(0u32).arg(BLOCKS as u32).arg(0u64).arg(0u64).arg(0u64);
        let launch = launch.arg(offsets).arg(indices).arg(values).arg(self.rows).arg(state).arg(capacity);
        // SAFETY: as above.
        unsafe { launch.run()? };
        found(&control)
    }

    /// An estimate of nnz(C) with some room to spare, from stretches of rows spread over all.
    fn sampled(&self, width: u32) -> Result<u64> {
        let (program, block, shared, _) = self.short(Kind::Thread(width), false, false);
        let sum = Buffer::zeroed_for::<u64>(self.context, 1)?;
        let stretches = self.rows.div_ceil(block as u64).div_ceil(SAMPLE);
        let kernel = program.kernel(program.spec.template.name())?;
        let launch = self.patterns(kernel.launch(resident(&kernel, block, shared, stretches)?, block, shared));
        let launch = launch.arg(&sum).arg(0u32).arg(0u32).arg(0u64).arg(0u64).arg(0u64).arg(0u64);
        // SAFETY: as above.
        unsafe { launch.arg(self.rows).arg(SAMPLE).arg(&sum).run()? };
        let rows = (stretches * block as u64).min(self.rows).max(1);
        let estimate = u128::from(sum.read_one::<u64>(0)?) * u128::from(self.rows) / u128::from(rows);
        Ok(u64::try_from(estimate + estimate / 64 + 4096).unwrap_or(u64::MAX))
    }
}

/// nnz(C) and the length of its longest row.
fn found(control: &Buffer) -> Result<(u64, u64)> {
    let found: Vec<u64> = control.read(0..LONGEST + 1)?;
    Ok((found[NNZ], found[LONGEST]))
}
