//! Two sparse vectors merged in one launch, which tells how many entries the result has.
use super::entries::{block_and_tile, places};
use super::given::Given;
use super::product::Operand;
use super::program::{Program, tuning};
use super::report::SAID;
use super::{Buffer, DevicePattern};
use crate::error::Result;
use oplus_codegen::{FunctionText, Template};

/// Whether operands are short enough for it: it takes room for all entries that there could be, and a block waits for those before it.
pub(super) fn suits(a: &DevicePattern, b: &DevicePattern) -> bool {
    a.nrows == 1 && a.nnz + b.nnz <= u64::from(tuning(a.offsets.context()).merge_row_most)
}

/// A and B, a row each, of `most` entries or fewer; `kind` and `op` are the template's, and alpha and beta stand for what is missing.
pub(super) fn merge_row(
    kind: u64,
    op: FunctionText,
    (a, b): (Operand<'_>, Operand<'_>),
    (alpha, beta): (&Given, &Given),
    most: u64,
) -> Result<(DevicePattern, Buffer)> {
    let (context, size) = (a.pattern.offsets.context(), op.output.size as u64);
    let (block, tile) = block_and_tile(context);
    let tiles = (a.pattern.nnz + b.pattern.nnz).div_ceil(tile);
    let offsets = Buffer::alloc_for::<u64>(context, 2)?;
    let mut indices = Buffer::alloc_for::<u32>(context, places(most))?;
    let mut values = Buffer::alloc(context, most.saturating_mul(size))?;
    let kernel =
        Program::new(context, Template::MergeRow, |s| s.function(op).number("kind", kind)).kernel("merge_row")?;
    let [nnz, ..] = context.with_slate(SAID as u64 + tiles + 1, |slate| {
        let launch = kernel.launch(tiles, block, 0).arg(a.pattern.nnz).arg(b.pattern.nnz);
        let launch = launch.arg(&a.pattern.indices).arg(a.values).arg(&b.pattern.indices).arg(b.values);
        let launch = launch.arg(alpha).arg(beta).arg(&offsets).arg(&indices).arg(&values);
        let launch = launch.arg(slate.control + 8 * SAID as u64).arg(slate.control).arg(SAID as u32);
        // SAFETY: parameters as the README lists them; buffers of the sizes it asks for.
        unsafe { launch.leaving(slate).run() }
    })?;
    indices.shorten(4 * nnz)?;
    values.shorten(size * nnz)?;
    Ok((DevicePattern::new((1, a.pattern.ncols), nnz, offsets, indices), values))
}
