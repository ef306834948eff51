//! Products whose rows are all short, as the longest rows of A and B say: no analysis, no lists, one pass.
//!
//! Rows are taken in their order and find their places in C by look-back. C is allocated before its size is known: by the
//! bound where that is small, else by a count over a sample of the rows. Should the guess be too small, the pass has still
//! found every offset and the true size, and is made again.
use super::short::{Kind, thread_launch};
use super::{CONTROL, Job, LONGEST, NNZ};
use crate::backend::cuda::program::resident;
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::Result;
use oplus_codegen::{Spec, Template};

/// Bound on the bytes of C up to which it is taken for C's size.
const SMALL: u64 = 4 << 20;
/// One stretch of rows of so many is counted.
const SAMPLE: u64 = 64;

impl Job<'_> {
    /// The width for all rows, if they are short enough for a thread each.
    pub(super) fn whole(&self) -> Option<u32> {
        let most = self.a.pattern.longest?.checked_mul(self.b.pattern.longest?)?;
        let spec = Spec::new(Template::SpgemmThread, self.context.properties().architecture);
        let spec = spec.semiring(self.semiring.clone()).flag("wide", self.is_wide());
        let width = [16u32, 32, 64].into_iter().find(|w| u64::from(*w) >= most)?;
        let fits = width <= self.thread_limit(&spec) && thread_launch(&spec, width, self.tuning).is_some();
        // A few rows do not fill the device with threads.
        (fits && self.rows >= u64::from(self.tuning.whole_rows)).then_some(width)
    }

    pub(super) fn mxm_whole(&self, width: u32) -> Result<(DevicePattern, Buffer)> {
        let (context, nrows) = (self.context, self.a.pattern.nrows);
        let size = self.semiring.c.size as u64;
        let bound = self.a.pattern.nnz.saturating_mul(self.b.pattern.longest.unwrap_or(0));
        let mut capacity =
            if bound.saturating_mul(4 + size) <= SMALL { bound } else { self.sampled(width)?.min(bound) };
        let offsets = Buffer::alloc_for::<u64>(context, nrows + 1)?;
        loop {
            let mut indices = Buffer::alloc(context, capacity.saturating_mul(4))?;
            let mut values = Buffer::alloc(context, capacity.saturating_mul(size))?;
            let (nnz, longest) = self.pass(width, capacity, &offsets, &indices, &values)?;
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

    /// Entries of C and of its longest row; what has room in `capacity` is written.
    fn pass(
        &self,
        width: u32,
        capacity: u64,
        offsets: &Buffer,
        indices: &Buffer,
        values: &Buffer,
    ) -> Result<(u64, u64)> {
        let context = self.context;
        let (program, block, shared, _) = self.short(Kind::Thread(width), true, true);
        let tiles = self.rows.div_ceil(block as u64);
        let control = Buffer::zeroed_for::<u64>(context, CONTROL + 1 + tiles as usize)?;
        let state = control.pointer() + 8 * CONTROL as u64;
        let kernel = program.kernel(program.spec.template.name())?;
        let launch = self.operands(kernel.launch(resident(&kernel, block, shared, tiles)?, block, shared));
        let launch = launch.arg(&control).arg(0u32).arg(0u32).arg(0u64).arg(0u64).arg(0u64).arg(offsets).arg(0u64);
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(indices).arg(values).arg(self.rows).arg(state).arg(capacity).run()? };
        let found: Vec<u64> = control.read(0..LONGEST + 1)?;
        Ok((found[NNZ], found[LONGEST]))
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
