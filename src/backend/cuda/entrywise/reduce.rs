//! Sums of rows and of everything, in the order of entries.
use crate::algebra::Scalar;
use crate::backend::cuda::entries::{block_and_tile, empty, structure};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::program::{Program, tuning};
use crate::backend::cuda::runtime::report::{SAID, TOLD};
use crate::backend::cuda::storage::places::grid;
use crate::backend::cuda::storage::row_tiles::{RowTiles, rows_present};
use crate::backend::cuda::storage::vector::{self, DeviceBitmap};
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::Result;
use crate::memory;
use oplus_codegen::{FunctionText, Shared, Template};
use std::sync::Arc;

/// A single row: the sum of each row with entries. `op` is the template's function, a monoid.
pub(crate) fn reduce_rows(op: Shared<FunctionText>, a: Operand<'_>) -> Result<(Arc<DevicePattern>, Buffer)> {
    let (pattern, context) = (a.pattern, a.pattern.offsets.context());
    if pattern.nnz == 0 {
        return empty(context, 1, pattern.nrows).map(|(pattern, values)| (Arc::new(pattern), values));
    }
    let (size, block) = (op.output.size as u64, tuning(context).spmv_block);
    let (tiles, program) = (RowTiles::of(pattern)?, Program::new(context, Template::Reduce, |s| s.function(op)));
    let out = Buffer::alloc(context, tiles.rows.nnz.saturating_mul(size))?;
    let chunks = &tiles.chunks;
    let sums = Buffer::alloc(context, chunks.count.saturating_mul(size))?;
    let kernel = program.kernel("reduce_rows")?;
    let launch = kernel.launch(chunks.count + tiles.count, block, 0).arg(pattern.nnz).arg(tiles.offsets(pattern));
    let launch = launch.arg(a.values).arg(chunks.count as u32).arg(&chunks.records).arg(&chunks.ended).arg(&sums);
    // SAFETY: parameters as the README lists them, buffers of the sizes it asks for. These are launched on the context's
    // own stream, one after the other, so that the long rows' counters are zero when one begins.
    unsafe { launch.arg(&out).arg(&tiles.begins).arg(tiles.most).run()? };
    Ok((tiles.rows.clone(), out))
}

/// A single row: how many entries each row with entries has.
pub(crate) fn count_rows(a: &DevicePattern) -> Result<(DevicePattern, Buffer)> {
    let (context, rows) = (a.offsets.context(), a.nrows as u64);
    if a.nnz == 0 {
        return empty(context, 1, a.nrows);
    }
    let present = rows_present(a, &structure(context, "rows_present")?)?;
    let (values, (blocks, block)) = (Buffer::alloc_for::<u64>(context, a.nrows)?, grid(context, rows));
    let kernel = structure(context, "list_counts")?;
    let launch = kernel.launch(blocks, block, 0).arg(rows).arg(0u64).arg(&a.offsets);
    // SAFETY: parameters as the README lists them; a count a row.
    unsafe { launch.arg(&values).run()? };
    vector::compact(context, a.nrows, u64::TEXT, DeviceBitmap { present, values })
}

/// The bytes of the sum of all values; `None` where there are none.
pub(crate) fn reduce(op: Shared<FunctionText>, a: Operand<'_>) -> Result<Option<Vec<u8>>> {
    let (context, n, size) = (a.pattern.offsets.context(), a.pattern.nnz, op.output.size as u64);
    if n == 0 {
        return Ok(None);
    }
    let (tuning, block) = (tuning(context), block_and_tile(context).0);
    let chunks = n.div_ceil(u64::from(tuning.reduce_chunk));
    let told = size <= 8 * TOLD as u64;
    let sums = Buffer::alloc(context, if chunks > 1 { chunks * size } else { 0 })?;
    let out = Buffer::alloc(context, if told { 0 } else { size })?;
    let kernel = Program::new(context, Template::Reduce, |s| s.function(op)).kernel("reduce_all")?;
    let said = context.with_slate(SAID as u64, |slate| {
        let launch = kernel.launch(chunks, block, 0).arg(n).arg(a.values).arg(&sums).arg(&out);
        // SAFETY: parameters as the README lists them; a sum a chunk, room for the result.
        unsafe { launch.arg(slate.control).telling(slate.report).run() }
    })?;
    if !told {
        return out.to_host().map(Some);
    }
    let bytes = &bytemuck::cast_slice::<u64, u8>(&said)[..size as usize];
    memory::copied("reduce", bytes).map(Some)
}
