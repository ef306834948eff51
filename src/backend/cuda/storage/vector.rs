//! Single rows as bitmaps with dense values, and back.
use crate::backend::cuda::entries::{empty, movable};
use crate::backend::cuda::entrywise::one_row::{self, Room};
use crate::backend::cuda::runtime::ahead::Wanted;
use crate::backend::cuda::runtime::program::{Program, scan_bits, scanning, sum_of_bits, tuning};
use crate::backend::cuda::{Buffer, Context, DevicePattern};
use crate::error::Result;
use oplus_codegen::Template;
use oplus_codegen::text::ScalarText;
use std::sync::Arc;

/// A bit an index, and a value at every index whose bit is set.
pub(crate) struct DeviceBitmap {
    pub(crate) present: Buffer,
    pub(crate) values: Buffer,
}

const WORD: u64 = 32;
/// What bits alone are scattered as: the kernel never touches it.
const NO_VALUE: ScalarText = ScalarText { name: "u8", definition: "", size: 1 };

fn program<'a>(context: &'a Arc<Context>, scalar: ScalarText) -> Program<'a> {
    Program::new(context, Template::Vector, |s| s.scalar("V", movable(scalar)))
}

fn row_program<'a>(context: &'a Arc<Context>, scalar: ScalarText) -> Program<'a> {
    Program::new(context, Template::BitsRow, |s| s.scalar("V", movable(scalar)))
}

fn scatter(row: &DevicePattern, scalar: ScalarText, values: Option<&Buffer>) -> Result<DeviceBitmap> {
    let context = row.indices.context();
    let present = Buffer::zeroed_for::<u32>(context, row.ncols.div_ceil(WORD as usize))?;
    let size = if values.is_some() { row.ncols as u64 * scalar.size as u64 } else { 0 };
    let dense = Buffer::alloc(context, size)?;
    let block = tuning(context).primitive_block;
    let kernel = program(context, scalar).kernel("vector_scatter")?;
    let launch = kernel.launch(row.nnz.div_ceil(block as u64), block, 0);
    // SAFETY: parameters as `vector.cu` lists them; indices are below ncols; empty buffers are null.
    unsafe { launch.arg(row.nnz).arg(&row.indices).arg(values).arg(&present).arg(&dense).run()? };
    Ok(DeviceBitmap { present, values: dense })
}

pub(crate) fn bitmap(row: &DevicePattern, scalar: ScalarText, values: &Buffer) -> Result<DeviceBitmap> {
    scatter(row, scalar, Some(values))
}

/// The bits of a single row's positions.
pub(crate) fn bits(row: &DevicePattern) -> Result<Buffer> {
    Ok(scatter(row, NO_VALUE, None)?.present)
}

/// The values at the places of a single row, all of which have one.
pub(crate) fn values_at(
    context: &Arc<Context>,
    row: &DevicePattern,
    scalar: ScalarText,
    dense: Buffer,
) -> Result<Buffer> {
    if row.nnz == row.ncols as u64 { Ok(dense) } else { gathered(context, row, scalar, &dense) }
}

/// The same of a bitmap that stays.
pub(crate) fn gathered(
    context: &Arc<Context>,
    row: &DevicePattern,
    scalar: ScalarText,
    dense: &Buffer,
) -> Result<Buffer> {
    let values = Buffer::alloc(context, row.nnz.saturating_mul(scalar.size as u64))?;
    let (kernel, block) = (program(context, scalar).kernel("vector_gather")?, tuning(context).primitive_block);
    let launch = kernel.launch(row.nnz.div_ceil(u64::from(block)), block, 0).arg(row.nnz).arg(&row.indices);
    // SAFETY: parameters as `vector.cu` lists them; a value for every index.
    unsafe { launch.arg(dense).arg(&values).run()? };
    Ok(values)
}

/// Room for all that there could be costs less than counting first.
fn in_one_launch(context: &Context, n: usize) -> bool {
    n as u64 <= u64::from(tuning(context).one_row_most)
}

/// The kernels of [`compact`], to be listed.
pub(crate) fn compacting(context: &Arc<Context>, n: usize, scalar: ScalarText) -> Vec<Wanted> {
    match in_one_launch(context, n) {
        true => vec![row_program(context, scalar).wanted("bits_row")],
        false => vec![program(context, scalar).wanted("vector_compact"), scanning(context, scan_bits)],
    }
}

/// The set bits below `n` and their values as a single row.
pub(crate) fn compact(
    context: &Arc<Context>,
    n: usize,
    scalar: ScalarText,
    from: DeviceBitmap,
) -> Result<(DevicePattern, Buffer)> {
    let (pattern, moved) = listed(context, n, scalar, &from.present, &from.values)?;
    Ok((pattern, moved.unwrap_or(from.values)))
}

/// The same of a bitmap that stays. No values: they are in their places, as every bit is set.
pub(crate) fn listed(
    context: &Arc<Context>,
    n: usize,
    scalar: ScalarText,
    present: &Buffer,
    dense: &Buffer,
) -> Result<(DevicePattern, Option<Buffer>)> {
    if n == 0 {
        return empty(context, 1, n).map(|(pattern, values)| (pattern, Some(values)));
    }
    let (words, size) = ((n as u64).div_ceil(WORD), scalar.size as u64);
    let block = tuning(context).primitive_block;
    if in_one_launch(context, n) {
        let kernel = row_program(context, scalar).kernel("bits_row")?;
        let shape = (n, Room { most: n as u64, size });
        let made = one_row::row_by(&kernel, words.div_ceil(u64::from(block)), shape, |launch| {
            launch.arg(words).arg(present).arg(dense)
        });
        return made.map(|(pattern, values)| (pattern, Some(values)));
    }
    counted(context, n, scalar, present, Some(dense))
}

/// The places of the set bits below `n`, ascending.
pub(crate) fn places_of(context: &Arc<Context>, n: usize, present: &Buffer) -> Result<Buffer> {
    Ok(counted(context, n, NO_VALUE, present, None)?.0.indices)
}

/// The set bits below `n`, one or more, and their values if there are any, counted first.
fn counted(
    context: &Arc<Context>,
    n: usize,
    scalar: ScalarText,
    present: &Buffer,
    dense: Option<&Buffer>,
) -> Result<(DevicePattern, Option<Buffer>)> {
    let (words, program, block) =
        ((n as u64).div_ceil(WORD), program(context, scalar), tuning(context).primitive_block);
    let starts = Buffer::alloc_for::<u64>(context, words as usize + 1)?;
    let nnz = sum_of_bits(context, present, &starts, words)?;
    if nnz == 0 {
        return empty(context, 1, n).map(|(pattern, values)| (pattern, Some(values)));
    }
    let indices = Buffer::alloc_for::<u32>(context, nnz as usize)?;
    let moves = dense.is_some() && nnz < n as u64;
    let moved = moves.then(|| Buffer::alloc(context, nnz * scalar.size as u64)).transpose()?;
    let offsets = Buffer::alloc_for::<u64>(context, 2)?;
    let kernel = program.kernel("vector_compact")?;
    let launch = kernel.launch((words * WORD).div_ceil(block as u64), block, 0).arg(words).arg(present);
    let launch = launch.arg(&starts).arg(dense).arg(&offsets).arg(&indices).arg(moved.as_ref());
    // SAFETY: parameters as `vector.cu` lists them; starts has words + 1 places, offsets two, indices and values nnz.
    unsafe { launch.run()? };
    Ok((DevicePattern::new((1, n), nnz, offsets, indices), moved))
}
