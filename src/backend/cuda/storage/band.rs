//! Matrices on few diagonals: found out once, kept with the positions.
use crate::backend::cuda::runtime::program::{Program, resident, tuning};
use crate::backend::cuda::spgemm::band_pairs::Pairs;
use crate::backend::cuda::{Buffer, DevicePattern, lock};
use crate::error::{Error, Result};
use crate::storage::footprint::Footprint;
use oplus_codegen::Template;
use oplus_codegen::text::ScalarText;
use std::sync::{Arc, Mutex};

/// The diagonals of a matrix and which rows have which.
#[derive(Debug)]
pub(crate) struct Band {
    /// j - i, ascending.
    pub(crate) shifts: Vec<i64>,
    pub(crate) device_shifts: Buffer,
    /// Bit d of row i in word d / 32 · rows + i.
    pub(crate) present: Buffer,
    /// A bit a row: it has all diagonals.
    pub(crate) full: Buffer,
    /// How it was multiplied last.
    pub(crate) pairs: Mutex<Option<Arc<Pairs>>>,
}

/// A sample of so many rows tells most matrices.
const SAMPLE: u64 = 2048;

impl Band {
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        for buffer in [&self.device_shifts, &self.present, &self.full] {
            buffer.footprint(to);
        }
        if let Some(pairs) = &*lock(&self.pairs) {
            for buffer in [&pairs.shifts, &pairs.starts, &pairs.steps] {
                buffer.footprint(to);
            }
        }
    }

    /// `None` for a matrix of many diagonals, of diagonals that are mostly empty, or of which so little is known that looking might
    /// cost more than it wins.
    pub(crate) fn of(pattern: &DevicePattern) -> Result<Option<&Band>> {
        match (pattern.band.get(), pattern.longest) {
            (None, None) => Ok(None),
            _ => Band::looked_for(pattern),
        }
    }

    /// As `of`, for a matrix that will be used again. Without room to look, or for what is found, nobody looks now.
    pub(crate) fn looked_for(pattern: &DevicePattern) -> Result<Option<&Band>> {
        if let Some(known) = pattern.band.get() {
            return Ok(known.as_deref());
        }
        let found = match Band::find(pattern) {
            Err(Error::OutOfMemory { .. }) => return Ok(None),
            found => found?,
        };
        Ok(pattern.band.get_or_init(|| found.map(Box::new)).as_deref())
    }

    /// The diagonals of any matrix that has no more than `band_diagonals`, however empty they are. Without a look at what is
    /// known, and not kept.
    pub(crate) fn sparse(pattern: &DevicePattern) -> Result<Option<Band>> {
        let (rows, context) = (pattern.nrows as u64, pattern.offsets.context());
        let (most, numbers) = (u64::from(tuning(context).band_diagonals), rows + pattern.ncols as u64);
        if rows == 0 || pattern.longest.is_some_and(|longest| longest > most) || numbers >= 1 << 31 {
            return Ok(None);
        }
        let seen = Buffer::zeroed_for::<u32>(context, numbers.div_ceil(32) as usize)?;
        let Some(mut numbers) = numbers_seen(pattern, 1, most, &seen)? else { return Ok(None) };
        numbers.sort_unstable();
        Band::lay_out(pattern, &numbers).map(Some)
    }

    fn find(pattern: &DevicePattern) -> Result<Option<Band>> {
        let context = pattern.offsets.context();
        let (rows, tuning) = (pattern.nrows as u64, tuning(context));
        let numbers = rows + pattern.ncols as u64;
        if rows < u64::from(tuning.band_rows) || pattern.nnz < rows || numbers >= 1 << 31 {
            return Ok(None);
        }
        // Diagonals that are nine tenths full are no more than so many, and no row has more entries than there are diagonals.
        let most = u64::from(tuning.band_diagonals).min(pattern.nnz.saturating_mul(10) / 9 / rows);
        if pattern.longest.is_some_and(|longest| longest > most) {
            return Ok(None);
        }
        let seen = Buffer::zeroed_for::<u32>(context, numbers.div_ceil(32) as usize)?;
        let stride = (rows / SAMPLE).max(1);
        if stride > 1 && numbers_seen(pattern, stride, most, &seen)?.is_none() {
            return Ok(None);
        }
        let Some(mut numbers) = numbers_seen(pattern, 1, most, &seen)? else { return Ok(None) };
        numbers.sort_unstable();
        Band::lay_out(pattern, &numbers).map(Some)
    }

    fn lay_out(pattern: &DevicePattern, numbers: &[u32]) -> Result<Band> {
        let context = pattern.offsets.context();
        let (rows, count) = (pattern.nrows, numbers.len());
        let shifts: Vec<i64> = numbers.iter().map(|n| i64::from(*n) - (rows as i64 - 1)).collect();
        let narrow: Vec<i32> = shifts.iter().map(|s| *s as i32).collect();
        let present = Buffer::alloc_for::<u32>(context, count.div_ceil(32) * rows)?;
        let full = Buffer::alloc_for::<u32>(context, rows.div_ceil(32))?;
        let device_numbers = Buffer::from_host(context, numbers)?;
        let kernel = Program::new(context, Template::BandDiagonals, |s| s).kernel("band_lay_out")?;
        let block = tuning(context).primitive_block;
        let launch = kernel.launch((rows as u64).div_ceil(block as u64), block, 0).arg(rows as u64).arg(count as u32);
        let launch = launch.arg(&device_numbers).arg(&pattern.offsets).arg(&pattern.indices);
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(&present).arg(&full).run()? };
        let device_shifts = Buffer::from_host(context, &narrow)?;
        Ok(Band { shifts, device_shifts, present, full, pairs: Mutex::default() })
    }

    /// The values along the diagonals.
    pub(crate) fn values(&self, pattern: &DevicePattern, values: &Buffer, scalar: ScalarText) -> Result<Buffer> {
        let context = pattern.offsets.context();
        let (rows, count) = (pattern.nrows as u64, self.shifts.len() as u64);
        let out = Buffer::alloc(context, (rows.next_multiple_of(32) * count).saturating_mul(scalar.size as u64))?;
        let program = Program::new(context, Template::BandValues, |s| {
            s.scalar("V", crate::backend::cuda::entries::movable(scalar))
        });
        let (kernel, block) = (program.kernel("band_values")?, tuning(context).primitive_block);
        let grid = resident(&kernel, block, 0, (rows * count.div_ceil(16)).div_ceil(block as u64))?;
        let launch = kernel.launch(grid, block, 0).arg(rows).arg(count as u32).arg(&pattern.offsets);
        // SAFETY: as above.
        unsafe { launch.arg(&self.present).arg(values).arg(&out).run()? };
        Ok(out)
    }
}

/// The diagonals of every `stride`-th row, if there are at most so many.
fn numbers_seen(pattern: &DevicePattern, stride: u64, most: u64, seen: &Buffer) -> Result<Option<Vec<u32>>> {
    let context = pattern.offsets.context();
    let (rows, block) = (pattern.nrows as u64, tuning(context).primitive_block);
    let program = Program::new(context, Template::BandDiagonals, |s| s);
    let kernel = program.kernel("band_mark")?;
    let grid = resident(&kernel, block, 0, (rows / stride).div_ceil(block as u64 / 32))?;
    let launch = kernel.launch(grid, block, 0).arg(rows).arg(stride).arg(&pattern.offsets);
    // SAFETY: as above.
    unsafe { launch.arg(&pattern.indices).arg(seen).run()? };
    let list = Buffer::zeroed_for::<u32>(context, 1 + most as usize)?;
    let (kernel, words) = (program.kernel("band_list")?, seen.len_of::<u32>() as u64);
    let grid = resident(&kernel, block, 0, words.div_ceil(block as u64))?;
    // SAFETY: as above.
    unsafe { kernel.launch(grid, block, 0).arg(words).arg(seen).arg(most as u32).arg(&list).run()? };
    let list: Vec<u32> = list.to_host()?;
    let count = u64::from(list[0]);
    Ok((count <= most).then(|| list[1..=count as usize].to_vec()))
}
