//! The Kronecker product: rows are counted, then every entry finds its factors.
use crate::backend::cuda::entries::{block_and_tile, empty, places};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::program::{Program, scan_in_place};
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::{Error, Result};
use oplus_codegen::{FunctionText, Shared, Template};

pub(crate) fn kronecker(op: Shared<FunctionText>, a: Operand<'_>, b: Operand<'_>) -> Result<(DevicePattern, Buffer)> {
    let (context, size) = (a.pattern.offsets.context(), op.output.size as u64);
    let (rows, b_rows) = (a.pattern.nrows as u64 * b.pattern.nrows as u64, b.pattern.nrows as u64);
    let (nrows, ncols) = (places(rows), places(a.pattern.ncols as u64 * b.pattern.ncols as u64));
    let total = u128::from(a.pattern.nnz) * u128::from(b.pattern.nnz);
    if total == 0 {
        return empty(context, nrows, ncols);
    }
    // More than memory can hold, before counting it wraps.
    let n = u64::try_from(total).ok().filter(|n| *n < 1 << 56).ok_or_else(|| Error::OutOfMemory {
        operation: "kronecker",
        device: context.device().to_string(),
        needed: u64::MAX,
        available: None,
    })?;
    let (block, tile) = block_and_tile(context);
    let program = Program::new(context, Template::Kronecker, |s| s.function(op));
    let offsets = Buffer::alloc_for::<u64>(context, nrows.saturating_add(1))?;
    let kernel = program.kernel("kronecker_counts")?;
    let launch = kernel.launch(rows.div_ceil(u64::from(block)), block, 0).arg(rows).arg(b_rows);
    // SAFETY: parameters as the README lists them; rows of both, rows + 1 offsets.
    unsafe { launch.arg(&a.pattern.offsets).arg(&b.pattern.offsets).arg(&offsets).run()? };
    scan_in_place(context, &offsets, rows, None)?;
    let indices = Buffer::alloc_for::<u32>(context, places(n))?;
    let values = Buffer::alloc(context, n.saturating_mul(size))?;
    let kernel = program.kernel("kronecker_entries")?;
    let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(rows).arg(b_rows).arg(b.pattern.ncols as u32);
    let launch = launch.arg(&offsets).arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values);
    let launch = launch.arg(&b.pattern.offsets).arg(&b.pattern.indices).arg(b.values);
    // SAFETY: as above; n places each, as the offsets say.
    unsafe { launch.arg(&indices).arg(&values).run()? };
    Ok((DevicePattern::new((nrows, ncols), n, offsets, indices), values))
}
