//! Entries moved on the device: transposed, selected, rows extracted, triplets built into rows.
use super::program::{Program, scan_in_place, tuning};
use super::vector::widen_and_scan;
use super::{Buffer, Context, DevicePattern};
use crate::error::Result;
use oplus_codegen::text::ScalarText;
use oplus_codegen::{FunctionText, Template};
use std::sync::Arc;

/// A number of the same size for values that are only moved, so that few modules serve all; itself where there is none.
pub(super) fn opaque(scalar: &ScalarText) -> ScalarText {
    let name = match scalar.size {
        1 => "u8",
        2 => "u16",
        4 => "u32",
        8 => "u64",
        _ => return *scalar,
    };
    ScalarText { name, definition: "", size: scalar.size }
}

/// Blocks with a thread an element, and their threads.
pub(super) fn each(context: &Context, n: u64) -> (u64, u32) {
    let block = tuning(context).primitive_block;
    (n.div_ceil(block as u64), block)
}

fn program<'a>(context: &'a Arc<Context>, scalar: &ScalarText) -> Program<'a> {
    Program::new(context, Template::Arrange, |s| s.scalar("V", opaque(scalar)))
}

/// What numbers of entries the sort takes.
pub(super) const MOST: u64 = u32::MAX as u64;

/// Bits of numbers below n.
fn bits(n: usize) -> u32 {
    usize::BITS - n.saturating_sub(1).leading_zeros()
}

/// Keys sorted by the given ranges of bits, lowest first, with the number each came from. Stable. At most [`MOST`].
fn sort(
    context: &Arc<Context>,
    n: u64,
    keys: Buffer,
    numbers: Buffer,
    ranges: &[(u32, u32)],
) -> Result<(Buffer, Buffer)> {
    let (tuning, primitives) = (tuning(context), Program::new(context, Template::Primitives, |s| s));
    let block = tuning.primitive_block;
    let tiles = n.div_ceil((block * tuning.sort_items) as u64);
    let counts = Buffer::alloc_for::<u64>(context, 256 * tiles as usize + 1)?;
    let mut from = (keys, numbers);
    let mut to = (Buffer::alloc_for::<u64>(context, n as usize)?, Buffer::alloc_for::<u32>(context, n as usize)?);
    for shift in ranges.iter().flat_map(|(first, bits)| (*first..first + bits).step_by(8)) {
        let count = primitives.kernel("sort_counts")?;
        let pass = primitives.kernel("sort_pass")?;
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { count.launch(tiles, block, 0).arg(&from.0).arg(n).arg(shift).arg(&counts).run()? };
        scan_in_place(context, &counts, 256 * tiles, None)?;
        let launch = pass.launch(tiles, block, 0).arg(&from.0).arg(&from.1).arg(n).arg(shift).arg(&counts);
        // SAFETY: as above.
        unsafe { launch.arg(&to.0).arg(&to.1).run()? };
        std::mem::swap(&mut from, &mut to);
    }
    Ok(from)
}

/// Aᵀ of at most [`MOST`] entries.
pub(super) fn transpose(
    context: &Arc<Context>,
    a: &DevicePattern,
    scalar: &ScalarText,
    values: &Buffer,
) -> Result<(DevicePattern, Buffer)> {
    let (n, program) = (a.nnz, program(context, scalar));
    let (keys, numbers) =
        (Buffer::alloc_for::<u64>(context, n as usize)?, Buffer::alloc_for::<u32>(context, n as usize)?);
    let ((grid, block), rows) = (each(context, n), a.nrows as u64);
    // SAFETY: parameters as `arrange.cu` lists them, buffers of the sizes it asks for.
    unsafe {
        let kernel = program.kernel("arrange_columns")?;
        kernel.launch(grid, block, 0).arg(n).arg(&a.indices).arg(&keys).arg(&numbers).run()?;
    }
    let (keys, numbers) = sort(context, n, keys, numbers, &[(0, bits(a.ncols))])?;
    let offsets = Buffer::alloc_for::<u64>(context, a.ncols + 1)?;
    let (indices, moved) =
        (Buffer::alloc_for::<u32>(context, n as usize)?, Buffer::alloc(context, n * scalar.size as u64)?);
    // SAFETY: as above.
    unsafe {
        let kernel = program.kernel("arrange_offsets")?;
        let (grid, block) = each(context, a.ncols as u64 + 1);
        let launch = kernel.launch(grid, block, 0).arg(a.ncols as u64).arg(n).arg(&keys).arg(0u32);
        launch.arg(None::<&Buffer>).arg(&offsets).run()?;
        let kernel = program.kernel("arrange_transposed")?;
        let launch = kernel.launch(grid_of(context, n), block, 0).arg(n).arg(rows).arg(&a.offsets).arg(&numbers);
        launch.arg(values).arg(&indices).arg(&moved).run()?;
    }
    Ok((DevicePattern { nrows: a.ncols, ncols: a.nrows, nnz: n, offsets, indices }, moved))
}

fn grid_of(context: &Context, n: u64) -> u64 {
    each(context, n).0
}

/// The entries whose mark is 1.
pub(super) fn keep(
    context: &Arc<Context>,
    a: &DevicePattern,
    scalar: &ScalarText,
    values: &Buffer,
    marks: &Buffer,
) -> Result<(DevicePattern, Buffer)> {
    let before = Buffer::alloc_for::<u64>(context, a.nnz as usize + 1)?;
    widen_and_scan(context, marks, &before, a.nnz)?;
    let nnz: u64 = before.read_one(a.nnz as usize)?;
    let program = program(context, scalar);
    let offsets = Buffer::alloc_for::<u64>(context, a.nrows + 1)?;
    let (indices, kept) =
        (Buffer::alloc_for::<u32>(context, nnz as usize)?, Buffer::alloc(context, nnz * scalar.size as u64)?);
    // SAFETY: parameters as `arrange.cu` lists them, buffers of the sizes it asks for.
    unsafe {
        let kernel = program.kernel("arrange_kept_offsets")?;
        let ((grid, block), rows) = (each(context, a.nrows as u64 + 1), a.nrows as u64);
        kernel.launch(grid, block, 0).arg(rows).arg(&a.offsets).arg(&before).arg(&offsets).run()?;
        let kernel = program.kernel("arrange_kept")?;
        let launch = kernel.launch(grid_of(context, a.nnz), block, 0).arg(a.nnz).arg(&before).arg(&a.indices);
        launch.arg(values).arg(&indices).arg(&kept).run()?;
    }
    Ok((DevicePattern { nrows: a.nrows, ncols: a.ncols, nnz, offsets, indices }, kept))
}

/// Row r of the result is row `list[r]` of A.
pub(super) fn extract_rows(
    context: &Arc<Context>,
    a: &DevicePattern,
    scalar: &ScalarText,
    values: &Buffer,
    list: &[u32],
) -> Result<(DevicePattern, Buffer)> {
    let (rows, program) = (list.len() as u64, program(context, scalar));
    let list = Buffer::from_host(context, list)?;
    let offsets = Buffer::alloc_for::<u64>(context, rows as usize + 1)?;
    // SAFETY: parameters as `arrange.cu` lists them, buffers of the sizes it asks for.
    unsafe {
        let kernel = program.kernel("arrange_lengths")?;
        let (grid, block) = each(context, rows);
        kernel.launch(grid, block, 0).arg(rows).arg(&list).arg(&a.offsets).arg(&offsets).run()?;
    }
    scan_in_place(context, &offsets, rows, None)?;
    let nnz: u64 = offsets.read_one(rows as usize)?;
    let (indices, moved) =
        (Buffer::alloc_for::<u32>(context, nnz as usize)?, Buffer::alloc(context, nnz * scalar.size as u64)?);
    // SAFETY: as above.
    unsafe {
        let kernel = program.kernel("arrange_rows")?;
        let (grid, block) = each(context, nnz);
        let launch = kernel.launch(grid, block, 0).arg(nnz).arg(rows).arg(&list).arg(&a.offsets).arg(&a.indices);
        launch.arg(values).arg(&offsets).arg(&indices).arg(&moved).run()?;
    }
    Ok((DevicePattern { nrows: rows as usize, ncols: a.ncols, nnz, offsets, indices }, moved))
}

/// Triplets, at most [`MOST`], as rows; `Err` of the first duplicate's position where `refuse` is set.
pub(super) fn build(
    context: &Arc<Context>,
    (nrows, ncols): (usize, usize),
    rows: &[u32],
    columns: &[u32],
    values: &Buffer,
    fold: FunctionText,
    refuse: bool,
) -> Result<std::result::Result<(DevicePattern, Buffer), usize>> {
    let (n, size) = (rows.len() as u64, fold.output.size as u64);
    let program = program(context, &fold.output);
    let (rows, columns) = (Buffer::from_host(context, rows)?, Buffer::from_host(context, columns)?);
    let (keys, numbers) =
        (Buffer::alloc_for::<u64>(context, n as usize)?, Buffer::alloc_for::<u32>(context, n as usize)?);
    let (grid, block) = each(context, n);
    // SAFETY: parameters as `arrange.cu` and `build.cu` list them, buffers of the sizes they ask for.
    unsafe {
        let kernel = program.kernel("arrange_positions")?;
        kernel.launch(grid, block, 0).arg(n).arg(&rows).arg(&columns).arg(&keys).arg(&numbers).run()?;
    }
    drop((rows, columns));
    let (keys, numbers) = sort(context, n, keys, numbers, &[(0, bits(ncols)), (32, bits(nrows))])?;
    let (heads, before) =
        (Buffer::alloc_for::<u32>(context, n as usize)?, Buffer::alloc_for::<u64>(context, n as usize + 1)?);
    let mut duplicate = Buffer::alloc_for::<u32>(context, 1)?;
    duplicate.fill(0xff)?;
    // SAFETY: as above.
    unsafe {
        let kernel = program.kernel("arrange_heads")?;
        kernel.launch(grid, block, 0).arg(n).arg(&keys).arg(&numbers).arg(&heads).arg(&duplicate).run()?;
    }
    if refuse {
        let position: u32 = duplicate.read_one(0)?;
        if position != u32::MAX {
            return Ok(Err(position as usize));
        }
    }
    widen_and_scan(context, &heads, &before, n)?;
    let nnz: u64 = before.read_one(n as usize)?;
    let offsets = Buffer::alloc_for::<u64>(context, nrows + 1)?;
    let (indices, folded) = (Buffer::alloc_for::<u32>(context, nnz as usize)?, Buffer::alloc(context, nnz * size)?);
    // SAFETY: as above.
    unsafe {
        let kernel = program.kernel("arrange_offsets")?;
        let launch = kernel.launch(grid_of(context, nrows as u64 + 1), block, 0).arg(nrows as u64).arg(n);
        launch.arg(&keys).arg(32u32).arg(&before).arg(&offsets).run()?;
        let folding = Program::new(context, Template::Build, |s| s.function(fold));
        let kernel = folding.kernel("build_fold")?;
        let launch = kernel.launch(grid, block, 0).arg(n).arg(&keys).arg(&numbers).arg(&before).arg(values);
        launch.arg(&indices).arg(&folded).run()?;
    }
    Ok(Ok((DevicePattern { nrows, ncols, nnz, offsets, indices }, folded)))
}
