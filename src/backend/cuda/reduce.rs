//! Sums of rows and of everything, in the order of entries.
use super::entries::{block_and_tile, places, structure};
use super::product::Operand;
use super::program::{Program, resident, tuning};
use super::row_tiles::LONG_ROW;
use super::vector::{self, DeviceBitmap};
use super::{Buffer, DevicePattern};
use crate::error::Result;
use oplus_codegen::{FunctionText, Template};

/// A single row: the sum of each row with entries. `op` is the template's function, a monoid.
pub(super) fn reduce_rows(op: FunctionText, a: Operand<'_>) -> Result<(DevicePattern, Buffer)> {
    let (pattern, context) = (a.pattern, a.pattern.offsets.context());
    let (rows, nnz, scalar) = (pattern.nrows as u64, pattern.nnz, op.output);
    let (tuning, block) = (tuning(context), block_and_tile(context).0);
    let chunk = u64::from(tuning.reduce_chunk);
    let sums = Buffer::alloc(context, rows.saturating_mul(scalar.size as u64))?;
    let present = Buffer::zeroed_for::<u32>(context, pattern.nrows.div_ceil(32))?;
    let kernel = structure(context, "rows_present")?;
    let launch = kernel.launch(rows.div_ceil(u64::from(block)), block, 0).arg(rows);
    // SAFETY: of all launches here, parameters as the README lists them; buffers of the sizes it asks for.
    unsafe { launch.arg(&pattern.offsets).arg(&present).run()? };
    if nnz > 0 {
        let program = Program::new(context, Template::Reduce, |s| s.function(op));
        // Rows of more than a chunk, and their chunks: two for each full one at most.
        let room = nnz / chunk;
        let control = Buffer::zeroed_for::<u64>(context, 2)?;
        let long_rows = Buffer::alloc(context, room * LONG_ROW)?;
        let owners = Buffer::alloc_for::<u32>(context, places(2 * room))?;
        let tile = u64::from(tuning.reduce_tile * 8) / scalar.size.next_power_of_two().clamp(8, 64) as u64;
        let kernel = program.kernel("reduce_rows")?;
        let launch = kernel.launch((rows + nnz).div_ceil(tile), block, 0).arg(rows).arg(&pattern.offsets);
        let launch = launch.arg(a.values).arg(&sums).arg(&control).arg(&long_rows);
        // SAFETY: as above.
        unsafe { launch.arg(&owners).run()? };
        if room > 0 {
            let chunk_sums = Buffer::alloc(context, 2 * room * scalar.size as u64)?;
            let kernel = program.kernel("reduce_chunks")?;
            let launch = kernel.launch(resident(&kernel, block, 0, 2 * room)?, block, 0).arg(&pattern.offsets);
            let launch = launch.arg(a.values).arg(&control).arg(&long_rows).arg(&owners);
            // SAFETY: as above.
            unsafe { launch.arg(&chunk_sums).run()? };
            let kernel = program.kernel("reduce_long")?;
            let launch = kernel.launch(resident(&kernel, block, 0, room)?, block, 0).arg(&pattern.offsets);
            let launch = launch.arg(&control).arg(&long_rows).arg(&chunk_sums);
            // SAFETY: as above.
            unsafe { launch.arg(&sums).run()? };
        }
    }
    vector::compact(context, pattern.nrows, super::entries::movable(scalar), DeviceBitmap { present, values: sums })
}

/// The bytes of the sum of all values; `None` where there are none.
pub(super) fn reduce(op: FunctionText, a: Operand<'_>) -> Result<Option<Vec<u8>>> {
    let (context, n, size) = (a.pattern.offsets.context(), a.pattern.nnz, op.output.size as u64);
    if n == 0 {
        return Ok(None);
    }
    let (tuning, block) = (tuning(context), block_and_tile(context).0);
    let chunks = n.div_ceil(u64::from(tuning.reduce_chunk));
    let (sums, out) = (Buffer::alloc(context, chunks * size)?, Buffer::alloc(context, size)?);
    let program = Program::new(context, Template::Reduce, |s| s.function(op));
    let (all, last) = (program.kernel("reduce_all")?, program.kernel("reduce_last")?);
    // SAFETY: parameters as the README lists them; a sum a chunk.
    unsafe {
        all.launch(chunks, block, 0).arg(n).arg(a.values).arg(&sums).run()?;
        last.launch(1u32, block, 0).arg(chunks).arg(&sums).arg(&out).run()?;
    }
    out.to_host().map(Some)
}
