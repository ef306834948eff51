//! Products of matrices on few diagonals, diagonal by diagonal.
use super::Job;
use crate::backend::cuda::band::{Band, Pairs};
use crate::backend::cuda::program::{Program, resident, scan_in_place};
use crate::backend::cuda::{Buffer, DevicePattern, Launch};
use crate::error::Result;
use oplus_codegen::Template;
use std::sync::Arc;

/// The two matrices' diagonals, and how they meet.
struct Bands<'a> {
    a: &'a Band,
    b: &'a Band,
    pairs: Arc<Pairs>,
}

impl Job<'_> {
    /// The product, where both matrices are on few diagonals and no mask is given.
    pub(super) fn mxm_band(&self) -> Result<Option<(DevicePattern, Buffer)>> {
        if self.mask.is_some() || self.semiring.c.size > 16 {
            return Ok(None);
        }
        let Some(a) = Band::of(self.a.pattern)? else { return Ok(None) };
        let Some(b) = Band::of(self.b.pattern)? else { return Ok(None) };
        let inner = self.b.pattern.nrows as u64;
        let Some(pairs) = Pairs::of(self.context, (a, self.rows), (b, inner))? else { return Ok(None) };
        self.by_bands(&Bands { a, b, pairs }).map(Some)
    }

    fn by_bands(&self, bands: &Bands) -> Result<(DevicePattern, Buffer)> {
        let (context, semiring) = (self.context, &self.semiring);
        let (nrows, ncols) = (self.a.pattern.nrows, self.b.pattern.ncols);
        let offsets = Buffer::alloc_for::<u64>(context, nrows + 1)?;
        let found = Buffer::zeroed_for::<u64>(context, 2)?;
        let block = self.tuning.band_block;
        let blocks = self.rows.div_ceil(block as u64);
        let program = Program::new(context, Template::SpgemmBandCount, |s| s);
        let kernel = program.kernel(program.spec.template.name())?;
        let launch = self.on_bands(kernel.launch(resident(&kernel, block, 0, blocks)?, block, 0), bands);
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(&offsets).run()? };
        scan_in_place(context, &offsets, self.rows, Some((&found, 0, 1)))?;
        // The values are laid out while the host waits for the size.
        let laid_out = |operand: &super::Operand<'_>, band: &Band, reads, scalar| match reads {
            true => band.values(operand.pattern, operand.values, scalar).map(Some),
            false => Ok(None),
        };
        let a = laid_out(&self.a, bands.a, semiring.reads.a, semiring.a)?;
        let same = std::ptr::eq(bands.a, bands.b) && self.a.values.pointer() == self.b.values.pointer() && a.is_some();
        let b = if same { None } else { laid_out(&self.b, bands.b, semiring.reads.b, semiring.b)? };
        let found: Vec<u64> = found.to_host()?;
        let nnz = found[0];
        let indices = Buffer::alloc(context, nnz.saturating_mul(4))?;
        let values = Buffer::alloc(context, nnz.saturating_mul(semiring.c.size as u64))?;
        let program = Program::new(context, Template::SpgemmBand, |s| {
            s.semiring(semiring.clone()).flag("mapped", self.ids.mapped())
        });
        let kernel = program.kernel(program.spec.template.name())?;
        let pairs = &bands.pairs;
        let launch = self.on_bands(kernel.launch(resident(&kernel, block, 0, blocks)?, block, 0), bands);
        let launch = launch.arg(&pairs.left_places).arg(&pairs.right_places).arg(&pairs.shifts).arg(a.as_ref());
        let launch = launch.arg(if same { a.as_ref() } else { b.as_ref() });
        let launch = launch.arg(self.ids.i.as_ref()).arg(self.ids.k.as_ref()).arg(self.ids.j.as_ref());
        // SAFETY: as above.
        unsafe { launch.arg(&offsets).arg(&indices).arg(&values).run()? };
        let pattern = DevicePattern::new((nrows, ncols), nnz, offsets, indices).with_longest(found[1]);
        Ok((pattern, values))
    }

    /// Which products there are, as arguments.
    fn on_bands<'l>(&'l self, launch: Launch<'l>, bands: &'l Bands) -> Launch<'l> {
        let launch = launch.arg(self.rows).arg(self.b.pattern.nrows as u64);
        let launch = launch.arg(&bands.a.present).arg(&bands.a.full).arg(&bands.b.present).arg(&bands.b.full);
        let launch = launch.arg(bands.a.shifts.len() as u32).arg(&bands.a.device_shifts);
        launch.arg(bands.pairs.count).arg(&bands.pairs.starts).arg(&bands.pairs.pairs)
    }
}
