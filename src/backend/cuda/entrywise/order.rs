//! Rows in the order of their values.
use crate::backend::cuda::entries::{block_and_tile, places, sortable};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::program::{Program, sum_in_place};
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::Result;
use crate::storage::axis::Ids;
use oplus_codegen::{FunctionText, Shared, Template};
use std::sync::Arc;

/// Entries of the longest row.
fn longest(pattern: &DevicePattern) -> Result<u64> {
    if let Some(longest) = pattern.longest {
        return Ok(longest);
    }
    let (context, rows) = (pattern.offsets.context(), pattern.nrows);
    let lengths = Buffer::alloc_for::<u64>(context, rows + 1)?;
    let block = block_and_tile(context).0;
    let kernel = crate::backend::cuda::entries::structure(context, "list_counts")?;
    let launch =
        kernel.launch((rows as u64).div_ceil(u64::from(block)), block, 0).arg(rows as u64).arg(None::<&Buffer>);
    // SAFETY: parameters as the README lists them; all rows.
    unsafe { launch.arg(&pattern.offsets).arg(&lengths).run()? };
    sum_in_place(context, &lengths, rows as u64).map(|(_, longest)| longest)
}

/// Positions, values and the ids of the columns they had. `op` says what comes before what.
pub(crate) fn sort_rows(
    op: Shared<FunctionText>,
    a: Operand<'_>,
    ids: &Ids,
) -> Result<(Arc<DevicePattern>, Buffer, Buffer)> {
    let (pattern, context) = (a.pattern, a.pattern.offsets.context());
    let (n, rows) = (pattern.nnz, pattern.nrows as u64);
    sortable("sort", n)?;
    let (block, tile) = block_and_tile(context);
    let size = op.parameters.first().map_or(0, |p| p.size) as u64;
    let (mut order, mut other) =
        (Buffer::alloc_for::<u32>(context, places(n))?, Buffer::alloc_for::<u32>(context, places(n))?);
    let indices = Buffer::alloc_for::<u32>(context, places(n))?;
    let values = Buffer::alloc(context, n.saturating_mul(size))?;
    let columns = Buffer::alloc_for::<u64>(context, places(n))?;
    if n > 0 {
        let program = Program::new(context, Template::SortRows, |s| s.function(op));
        let kernel = program.kernel("sort_rows_begin")?;
        // SAFETY: of all launches here, parameters as the README lists them, n entries everywhere.
        unsafe { kernel.launch(n.div_ceil(u64::from(block)), block, 0).arg(n).arg(&order).arg(&other).run()? };
        let pass = program.kernel("sort_rows_pass")?;
        let (longest, mut width) = (longest(pattern)?, 1u64);
        while width < longest {
            let launch = pass.launch(n.div_ceil(tile), block, 0).arg(n).arg(rows).arg(&pattern.offsets).arg(a.values);
            // SAFETY: as above.
            unsafe { launch.arg(width).arg(&order).arg(&other).run()? };
            std::mem::swap(&mut order, &mut other);
            width *= 2;
        }
        let ids = ids.as_ref().map(|ids| Buffer::from_host(context, ids)).transpose()?;
        let kernel = program.kernel("sort_rows_end")?;
        let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(rows).arg(&pattern.offsets);
        let launch = launch.arg(&pattern.indices).arg(a.values).arg(&order).arg(ids.as_ref());
        // SAFETY: as above.
        unsafe { launch.arg(&indices).arg(&values).arg(&columns).run()? };
    }
    let offsets = pattern.offsets.duplicate()?;
    let sorted = DevicePattern::new((pattern.nrows, pattern.ncols), n, offsets, indices);
    Ok((Arc::new(sorted), values, columns))
}
