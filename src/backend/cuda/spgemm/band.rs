//! Products of matrices on few diagonals, by groups of them.
use super::Job;
use super::band_pairs::Pairs;
use crate::backend::cuda::runtime::program::{Program, resident, scan_in_place};
use crate::backend::cuda::storage::band::Band;
use crate::backend::cuda::{Buffer, DevicePattern, Launch};
use crate::error::Result;
use oplus_codegen::Template;
use std::sync::Arc;

/// Bytes of the largest values that kernels on bands stage in shared memory: `band_staged` of the templates.
const STAGED: usize = 8;
/// About so many warps of a kernel on bands run at once on a multiprocessor.
const WARPS: u64 = 32;

/// The two matrices' diagonals, and how they meet.
pub(super) struct Bands<'a> {
    pub(super) a: &'a Band,
    pub(super) b: &'a Band,
    pub(super) pairs: Arc<Pairs>,
}

impl Job<'_> {
    /// The diagonals, where both matrices are on few, no mask is given and values have room in shared memory.
    pub(super) fn bands(&self) -> Result<Option<Bands<'_>>> {
        if self.mask.is_some() || self.semiring.c.size > STAGED {
            return Ok(None);
        }
        let Some(a) = Band::of(self.a.pattern)? else { return Ok(None) };
        let Some(b) = Band::of(self.b.pattern)? else { return Ok(None) };
        let pairs = Pairs::of(self.context, (a, self.rows), (b, self.b.pattern.nrows as u64))?;
        Ok(pairs.map(|pairs| Bands { a, b, pairs }))
    }

    /// The product, where there are.
    pub(super) fn mxm_band(&self) -> Result<Option<(DevicePattern, Buffer)>> {
        self.bands()?.map(|bands| self.by_bands(&bands)).transpose()
    }

    pub(super) fn by_bands(&self, bands: &Bands) -> Result<(DevicePattern, Buffer)> {
        let (context, semiring) = (self.context, &self.semiring);
        let (nrows, ncols) = (self.a.pattern.nrows, self.b.pattern.ncols);
        let offsets = Buffer::alloc_for::<u64>(context, nrows + 1)?;
        // Sum and maximum of the lengths, and the number of rows with gaps.
        let found = Buffer::zeroed_for::<u64>(context, 3)?;
        let gap_count = found.pointer() + 16;
        let full = Buffer::alloc_for::<u32>(context, nrows.div_ceil(32))?;
        let gaps = Buffer::alloc_for::<u32>(context, nrows)?;
        let gap_diagonals = Buffer::alloc(context, self.rows * bands.pairs.groups())?;
        let (block, pairs) = (self.tuning.band_block, &bands.pairs);
        let program = Program::new(context, Template::SpgemmBandCount, |s| s);
        let kernel = program.kernel("spgemm_band_full")?;
        let launch = kernel.launch(self.rows.div_ceil(32 * block as u64), block, 0).arg(self.rows);
        let launch = launch
            .arg(self.b.pattern.nrows as u64)
            .arg(&bands.a.full)
            .arg(&bands.b.full)
            .arg(bands.a.shifts.len() as u32)
            .arg(&bands.a.device_shifts);
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(pairs.count).arg(&full).arg(&gaps).arg(gap_count).arg(&offsets).run()? };
        let units = self.rows.div_ceil(block.into()) * pairs.groups();
        let kernel = program.kernel("spgemm_band_gaps")?;
        let launch = self.on_bands(kernel.launch(resident(&kernel, block, 0, units)?, block, 0), bands);
        // SAFETY: as above.
        unsafe { launch.arg(&gaps).arg(gap_count).arg(&gap_diagonals).arg(&offsets).run()? };
        scan_in_place(context, &offsets, self.rows, Some((&found, 0, 1)))?;
        // The values are laid out while the host waits for the size.
        let laid_out = |operand: &super::Operand<'_>, band: &Band, reads, scalar| match reads {
            true => band.values(operand.pattern, operand.values, scalar).map(Some),
            false => Ok(None),
        };
        let a = laid_out(&self.a, bands.a, semiring.reads.a, semiring.a)?;
        let same = std::ptr::eq(bands.a, bands.b) && self.a.values.pointer() == self.b.values.pointer() && a.is_some();
        let b = if same { None } else { laid_out(&self.b, bands.b, semiring.reads.b, semiring.b)? };
        let sizes: Vec<u64> = found.to_host()?;
        let nnz = sizes[0];
        let indices = Buffer::alloc(context, nnz.saturating_mul(4))?;
        let values = Buffer::alloc(context, nnz.saturating_mul(semiring.written().size as u64))?;
        // Rows that are written whole are written in whole sectors.
        let chunk = if (17..=32).contains(&pairs.count) { 32 } else { 16 };
        // Odd, so that rows begin in different banks.
        let staged_row = (pairs.count.min(chunk) | 1) as usize;
        let program = Program::new(context, Template::SpgemmBand, |s| {
            s.semiring(semiring.clone()).flag("mapped", self.ids.mapped()).number("chunk", chunk.into())
        });
        let (a, b) = (a.as_ref(), if same { a.as_ref() } else { b.as_ref() });
        // One after the other: at once they take 15 % longer, in each other's way.
        for gappy in [false, true] {
            if gappy && sizes[2] == 0 {
                continue;
            }
            // Blocks begin in their order, so that those at work read what their neighbours read.
            let in_order = self.rows.div_ceil(block.into()) * u64::from(pairs.count.div_ceil(chunk));
            let (name, grid) = if gappy { self.gappy_rows(pairs, sizes[2]) } else { ("spgemm_band", in_order) };
            let shared =
                if gappy || semiring.c.size > STAGED { 0 } else { block as usize * staged_row * semiring.c.size };
            let kernel = program.kernel(name)?;
            let launch = self.on_bands(kernel.launch(grid, block, shared as u32), bands);
            let launch = launch.arg(&pairs.shifts).arg(bands.a.shifts.len() as u32).arg(a);
            let launch = launch.arg(bands.b.shifts.len() as u32).arg(b);
            let launch = self.named(launch).arg(&offsets).arg(&indices).arg(&values);
            let launch = match gappy {
                true => launch.arg(&gaps).arg(gap_count).arg(&gap_diagonals),
                false => launch.arg(&full),
            };
            // SAFETY: as above.
            unsafe { launch.run()? };
        }
        let pattern = DevicePattern::new((nrows, ncols), nnz, offsets, indices).with_longest(sizes[1]);
        Ok((pattern, values))
    }

    /// The kernel for so many rows with gaps, and its grid: a lane takes a row where that keeps the device busy, and else a step of one,
    /// which is some three times the work.
    fn gappy_rows(&self, pairs: &Pairs, rows: u64) -> (&'static str, u64) {
        let (block, groups, steps) = (u64::from(self.tuning.band_block), pairs.groups(), pairs.mean_steps);
        let at_once = WARPS * u64::from(self.context.properties().multiprocessors);
        let staged = self.semiring.c.size <= STAGED;
        if staged && rows * groups * 3 * steps.div_ceil(32) <= at_once * steps {
            return ("spgemm_band_few", (rows * groups).div_ceil(block / 32));
        }
        ("spgemm_band_others", rows.div_ceil(block) * groups)
    }

    /// Which products there are, as arguments.
    fn on_bands<'l>(&'l self, launch: Launch<'l>, bands: &'l Bands) -> Launch<'l> {
        let launch = launch.arg(self.rows).arg(self.b.pattern.nrows as u64);
        let launch = launch.arg(&bands.a.present).arg(&bands.b.present);
        launch.arg(bands.pairs.count).arg(&bands.pairs.starts).arg(&bands.pairs.steps)
    }
}
