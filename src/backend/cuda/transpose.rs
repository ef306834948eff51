//! Transposition: entries sorted by column, which keeps the order of rows.
use super::entries::{block_and_tile, empty, movable, places, sortable, structure};
use super::product::Operand;
use super::program::Program;
use super::sort::{Keyed, bits_below, sort};
use super::{Buffer, DevicePattern};
use crate::error::Result;
use oplus_codegen::Template;
use oplus_codegen::text::ScalarText;

pub(super) fn transpose(scalar: ScalarText, a: Operand<'_>) -> Result<(DevicePattern, Buffer)> {
    let (pattern, context) = (a.pattern, a.pattern.offsets.context());
    let (n, nrows, ncols) = (pattern.nnz, pattern.nrows as u64, pattern.ncols as u64);
    if n == 0 {
        return empty(context, pattern.ncols, pattern.nrows);
    }
    sortable("transpose", n)?;
    let (block, tile) = block_and_tile(context);
    let bits = bits_below(pattern.nrows);
    let keyed = Keyed::room(context, n)?;
    let kernel = structure(context, "transpose_keys")?;
    let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(nrows).arg(&pattern.offsets);
    // SAFETY (here and below): parameters as the README lists them, n keys, places and entries each.
    // SAFETY: parameters as the template lists them, buffers of the sizes it asks for.
    unsafe { launch.arg(&pattern.indices).arg(bits).arg(&keyed.keys).arg(&keyed.places).run()? };
    // A single row is in the order of columns.
    let by = if nrows == 1 { bits..bits } else { bits..bits + bits_below(pattern.ncols) };
    let keyed = sort(context, keyed, n, by)?;
    let offsets = Buffer::alloc_for::<u64>(context, pattern.ncols + 1)?;
    let kernel = structure(context, "key_offsets")?;
    let launch = kernel.launch((ncols + 1).div_ceil(u64::from(block)), block, 0).arg(n).arg(&keyed.keys).arg(bits);
    // SAFETY: as above, and ncols + 1 offsets; without marks.
    unsafe { launch.arg(ncols).arg(None::<&Buffer>).arg(None::<&Buffer>).arg(&offsets).run()? };
    let indices = Buffer::alloc_for::<u32>(context, places(n))?;
    let values = Buffer::alloc(context, n * scalar.size as u64)?;
    let kernel =
        Program::new(context, Template::Entries, |s| s.scalar("V", movable(scalar))).kernel("entries_gather")?;
    let launch = kernel.launch(n.div_ceil(u64::from(block)), block, 0).arg(n).arg(&keyed.keys).arg(&keyed.places);
    // SAFETY: as above.
    unsafe { launch.arg(bits).arg(a.values).arg(&indices).arg(&values).run()? };
    Ok((DevicePattern::new((pattern.ncols, pattern.nrows), n, offsets, indices), values))
}
