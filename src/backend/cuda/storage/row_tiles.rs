//! The rows of a matrix that have entries, in tiles of rows and entries together: found once, kept with the pattern.
use super::vector::{self, DeviceBitmap};
use crate::algebra::Scalar;
use crate::backend::cuda::entries::{block_and_tile, places, structures};
use crate::backend::cuda::runtime::program::{Program, tuning};
use crate::backend::cuda::{Buffer, DevicePattern, Kernel};
use crate::error::Result;
use crate::storage::footprint::Footprint;
use oplus_codegen::Template;
use std::sync::{Arc, OnceLock};

#[derive(Debug)]
pub(crate) struct RowTiles {
    /// A single row with an entry for each of them.
    pub(crate) rows: Arc<DevicePattern>,
    /// Where each begins and the last ends, where there are others.
    starts: Option<Buffer>,
    /// Tiles, and where each begins and ends.
    pub(crate) count: u64,
    pub(crate) begins: Buffer,
    /// Rows are long in the mean: a warp for each may be better than tiles.
    pub(crate) wide: bool,
    /// Rows of more entries are no tile's, nor a warp's.
    pub(crate) most: u32,
    pub(crate) chunks: RowChunks,
    /// Those of shorter rows too, and of how many entries rows are in one piece, for products with matrices without gaps, once there was one.
    full_chunks: OnceLock<(RowChunks, u32)>,
}

/// Parts of those rows, a block each.
#[derive(Debug)]
pub(crate) struct RowChunks {
    pub(crate) count: u64,
    pub(crate) records: Buffer,
    /// A zero each row, for the blocks of a launch to count in.
    pub(crate) ended: Buffer,
}

/// Bytes of a tile's record on the device.
const TILE: u64 = 24;
/// Rows of so many times the mean's entries are left in one piece, as far as that is not too many.
const EVEN: u64 = 4;
/// Bytes of a part's record.
const CHUNK: u64 = 32;

impl RowTiles {
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        self.rows.footprint(to);
        let chunks = std::iter::once(&self.chunks).chain(self.full_chunks.get().map(|(chunks, _)| chunks));
        let chunks = chunks.flat_map(|chunks| [&chunks.records, &chunks.ended]);
        for buffer in chunks.chain(&self.starts).chain([&self.begins]) {
            buffer.footprint(to);
        }
    }

    pub(crate) fn of(pattern: &DevicePattern) -> Result<&RowTiles> {
        if let Some(known) = pattern.row_tiles.get() {
            return Ok(known);
        }
        let found = RowTiles::find(pattern)?;
        Ok(pattern.row_tiles.get_or_init(|| Box::new(found)))
    }

    /// Offsets of these rows alone.
    pub(crate) fn offsets<'a>(&'a self, pattern: &'a DevicePattern) -> &'a Buffer {
        self.starts.as_ref().unwrap_or(&pattern.offsets)
    }

    /// Which rows of the matrix they are; `None`: all.
    pub(crate) fn numbers(&self) -> Option<&Buffer> {
        self.starts.is_some().then_some(&self.rows.indices)
    }

    /// Parts of the rows of more than `spmm_long` entries, or some times the mean, and how many those are.
    pub(crate) fn full_chunks(&self, pattern: &DevicePattern) -> Result<&(RowChunks, u32)> {
        if let Some(known) = self.full_chunks.get() {
            return Ok(known);
        }
        let context = pattern.offsets.context();
        let (program, tuning) = (Program::new(context, Template::RowTiles, |s| s), tuning(context));
        let mean = pattern.nnz / self.rows.nnz.max(1);
        let most = u32::try_from(mean * EVEN).unwrap_or(u32::MAX).clamp(tuning.spmm_long, tuning.spmm_whole);
        let found =
            RowChunks::find(&program, self.rows.nnz, pattern, self.offsets(pattern), (most, tuning.spmm_chunk))?;
        Ok(self.full_chunks.get_or_init(|| (found, most)))
    }

    fn find(pattern: &DevicePattern) -> Result<RowTiles> {
        let (context, all) = (pattern.offsets.context(), pattern.nrows as u64);
        let (tuning, block) = (tuning(context), block_and_tile(context).0);
        let grid = |n: u64| n.div_ceil(u64::from(block));
        let program = Program::new(context, Template::RowTiles, |s| s);
        let kernel = structures(context).kernel_beside("rows_present", || {
            let mut others = vector::compacting(context, pattern.nrows, u8::TEXT);
            others.push(program.wanted("row_tiles"));
            others
        })?;
        let present = rows_present(pattern, &kernel)?;
        // Their numbers alone are wanted: any values will do.
        let values = Buffer::alloc(context, all)?;
        let (rows, _) = vector::compact(context, pattern.nrows, u8::TEXT, DeviceBitmap { present, values })?;
        let starts = if rows.nnz == all { None } else { Some(row_starts(pattern, rows.nnz, &rows.indices)?) };
        let offsets = starts.as_ref().unwrap_or(&pattern.offsets);
        let count = (rows.nnz + pattern.nnz).div_ceil(u64::from(tuning.spmv_tile));
        let mean = pattern.nnz.checked_div(rows.nnz).unwrap_or(0);
        let wide = mean >= u64::from(tuning.spmv_wide_mean) && rows.nnz >= u64::from(tuning.spmv_wide_rows);
        let most = if wide { tuning.spmv_wide } else { tuning.spmv_narrow };
        let begins = Buffer::alloc(context, TILE * (count + 1))?;
        let kernel = program.kernel("row_tiles")?;
        let launch = kernel.launch(grid(count + 1), block, 0).arg(rows.nnz).arg(offsets).arg(count);
        // SAFETY: as above.
        unsafe { launch.arg(tuning.spmv_tile).arg(most).arg(&begins).run()? };
        let chunks = RowChunks::find(&program, rows.nnz, pattern, offsets, (most, tuning.spmv_chunk))?;
        let full_chunks = OnceLock::new();
        Ok(RowTiles { rows: Arc::new(rows), starts, count, begins, wide, most, chunks, full_chunks })
    }
}

/// Offsets of these `count` rows alone, which are all that have entries.
pub(crate) fn row_starts(pattern: &DevicePattern, count: u64, rows: &Buffer) -> Result<Buffer> {
    let (context, block) = (pattern.offsets.context(), block_and_tile(pattern.offsets.context()).0);
    let starts = Buffer::alloc_for::<u64>(context, places(count + 1))?;
    let kernel = Program::new(context, Template::RowTiles, |s| s).kernel("row_starts")?;
    let launch = kernel.launch((count + 1).div_ceil(u64::from(block)), block, 0).arg(count).arg(rows);
    // SAFETY: parameters as the README lists them, buffers of the sizes it asks for.
    unsafe { launch.arg(pattern.nrows as u64).arg(&pattern.offsets).arg(&starts).run()? };
    Ok(starts)
}

/// A bit for each row that has entries.
pub(crate) fn rows_present(pattern: &DevicePattern, kernel: &Kernel) -> Result<Buffer> {
    let (context, all) = (pattern.offsets.context(), pattern.nrows as u64);
    let (present, block) = (Buffer::zeroed_for::<u32>(context, pattern.nrows.div_ceil(32))?, block_and_tile(context).0);
    let launch = kernel.launch(all.div_ceil(u64::from(block)), block, 0).arg(all).arg(&pattern.offsets);
    // SAFETY: as above.
    unsafe { launch.arg(&present).run()? };
    Ok(present)
}

impl RowChunks {
    fn find(
        program: &Program,
        rows: u64,
        pattern: &DevicePattern,
        offsets: &Buffer,
        (most, least): (u32, u32),
    ) -> Result<RowChunks> {
        let (context, block) = (program.context, block_and_tile(program.context).0);
        let room = 3 * pattern.nnz / u64::from(most);
        if pattern.nnz <= u64::from(most) || pattern.longest.is_some_and(|longest| longest <= u64::from(most)) {
            let none = || Buffer::alloc(context, 0);
            return Ok(RowChunks { count: 0, records: none()?, ended: none()? });
        }
        let control = Buffer::zeroed_for::<u64>(context, 2)?;
        let mut records = Buffer::alloc(context, room * CHUNK)?;
        let kernel = program.kernel("row_chunks")?;
        let launch =
            kernel.launch(rows.div_ceil(u64::from(block)), block, 0).arg(rows).arg(offsets).arg(most).arg(least);
        // SAFETY: parameters as the README lists them; no more chunks than there is room for.
        unsafe { launch.arg(&control).arg(&records).run()? };
        let (long, count): (u64, u64) = (control.read_one(0)?, control.read_one(1)?);
        records.shorten(count * CHUNK)?;
        Ok(RowChunks { count, records, ended: Buffer::zeroed_for::<u32>(context, places(long))? })
    }
}
