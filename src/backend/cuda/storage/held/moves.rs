//! Entries moved between compressed rows and the slots of cells and diagonals.
use super::frame::{form, room_for_bits};
use super::{DeviceForm, DeviceFrame};
use crate::backend::cuda::entries::{movable, places};
use crate::backend::cuda::runtime::program::{Program, scan_in_place, scan_of_bits, sum_of_bits, tuning};
use crate::backend::cuda::storage::places::grid;
use crate::backend::cuda::storage::values::NOTHING;
use crate::backend::cuda::{Buffer, Context, DevicePattern};
use crate::error::Result;
use oplus_codegen::Template;
use oplus_codegen::text::ScalarText;
use std::sync::Arc;

/// Cells that a thread has where bits are made, words that a warp reads at once, diagonals that a warp has at most: as the kernels say.
const CELLS: u64 = 16;
const WORDS: u64 = 8;
const DIAGONALS: u64 = 512;

/// The kernels that move values of this scalar, or of nothing positions alone.
fn moving(context: &Arc<Context>, template: Template, scalar: ScalarText) -> Program<'_> {
    Program::new(context, template, |s| s.scalar("V", movable(scalar)).flag("valued", scalar.size > 0))
}

/// Blocks in which each warp has 32 rows of some diagonals.
fn diagonal_blocks(rows: u64, count: u64, block: u32) -> u64 {
    let parts = count.div_ceil(DIAGONALS).max(1);
    rows.div_ceil(32).saturating_mul(parts).div_ceil(u64::from(block / 32))
}

/// Fills a frame of a list's positions: its bits, where it has any, and with `values`, from their places to their slots, those of all slots.
pub(super) fn put(
    frame: &DeviceFrame,
    list: &DevicePattern,
    scalar: ScalarText,
    values: Option<(&Buffer, &Buffer)>,
) -> Result<()> {
    let (context, words, rows, slots) = (&frame.context, frame.words(), list.nrows as u64, frame.slots());
    if slots == 0 || (values.is_none() && words.is_none()) {
        return Ok(());
    }
    let (block, (from, to)) = (tuning(context).primitive_block, values.unzip());
    match frame.diagonals_told() {
        None => {
            let kernel = moving(context, Template::Cells, scalar).kernel("cells_put")?;
            let launch = kernel.launch(slots.div_ceil(CELLS * u64::from(block)), block, 0).arg(rows);
            let launch = launch.arg(list.ncols as u64).arg(&list.offsets).arg(&list.indices).arg(from).arg(words);
            // SAFETY: of all launches here, parameters as codegen/templates/README.md lists them; a bit and a value a slot.
            unsafe { launch.arg(to).run() }
        }
        Some((diagonals, count)) => {
            let kernel = moving(context, Template::Diagonals, scalar).kernel("diagonals_put")?;
            let launch = kernel.launch(diagonal_blocks(rows, count, block), block, 0).arg(rows).arg(diagonals);
            let launch = launch.arg(count).arg(&list.offsets).arg(&list.indices).arg(from).arg(words);
            // SAFETY: as above; every entry is on one of the diagonals.
            unsafe { launch.arg(to).run() }
        }
    }
}

/// The frame of the transpose along diagonals, and the values of its slots; `None` where rows are the way.
pub(super) fn turned_diagonals(
    frame: &DeviceFrame,
    scalar: ScalarText,
    values: Option<&Buffer>,
) -> Result<Option<(DeviceFrame, Option<Buffer>)>> {
    let (Some(made), Some((diagonals, count))) = (frame.turned_diagonals()?, frame.diagonals_told()) else {
        return Ok(None);
    };
    let (context, (rows, columns)) = (&frame.context, frame.shape);
    let slots = count.saturating_mul(columns as u64);
    let out = values.map(|_| Buffer::alloc(context, slots.saturating_mul(scalar.size as u64))).transpose()?;
    if slots > 0 && (out.is_some() || made.words.is_some()) {
        let block = tuning(context).primitive_block;
        let kernel = moving(context, Template::Diagonals, scalar).kernel("diagonals_turned")?;
        let launch = kernel.launch(slots.div_ceil(4 * u64::from(block)), block, 0).arg(rows as u64);
        let launch = launch.arg(columns as u64).arg(diagonals).arg(count).arg(frame.words()).arg(values);
        // SAFETY: as above; a bit and a value a slot of the transpose.
        unsafe { launch.arg(made.words.as_ref()).arg(out.as_ref()).run()? };
    }
    let turned = DeviceFrame::new(context, (columns, rows), frame.count(), DeviceForm::Diagonals(made));
    Ok(Some((turned, out)))
}

/// The cells of these rows and columns, with their bits where there are any.
pub(super) fn window(
    frame: &DeviceFrame,
    (rows, columns): &super::Area,
    scalar: ScalarText,
    values: Option<&Buffer>,
) -> Result<(Option<Buffer>, Option<Buffer>)> {
    let (context, bits, across) = (&frame.context, frame.words(), columns.len() as u64);
    let cells = (rows.len() as u64).saturating_mul(across);
    let words = bits.map(|_| room_for_bits(context, cells)).transpose()?;
    let out = values.map(|_| Buffer::alloc(context, cells.saturating_mul(scalar.size as u64))).transpose()?;
    if cells > 0 && (words.is_some() || out.is_some()) {
        let (kernel, (blocks, block)) =
            (moving(context, Template::Cells, scalar).kernel("cells_window")?, grid(context, cells));
        let first = (rows.start as u64) * frame.shape.1 as u64 + columns.start as u64;
        let launch = kernel.launch(blocks, block, 0).arg(cells).arg(across).arg(first).arg(frame.shape.1 as u64);
        // SAFETY: as above; the window is inside.
        unsafe { launch.arg(bits).arg(values).arg(words.as_ref()).arg(out.as_ref()).run()? };
    }
    Ok((words, out))
}

/// Where entries go in the order of rows, and what is to be moved of them: indices, values of slots to values of entries.
struct Taken<'a> {
    scalar: ScalarText,
    indices: Option<&'a Buffer>,
    values: Option<(&'a Buffer, &'a Buffer)>,
}

/// The positions of cells or diagonals by rows, and with values of this scalar in all slots those of the entries in that order. Positions
/// that are `known` are not made again.
pub(super) fn listed(
    frame: &DeviceFrame,
    known: Option<&Arc<DevicePattern>>,
    scalar: ScalarText,
    values: Option<&Buffer>,
) -> Result<(Arc<DevicePattern>, Buffer)> {
    let (context, (rows, columns)) = (&frame.context, (frame.shape.0 as u64, frame.shape.1 as u64));
    let nnz = frame.count();
    let out = Buffer::alloc(context, if values.is_some() { nnz.saturating_mul(scalar.size as u64) } else { 0 })?;
    let indices = match known {
        Some(_) => None,
        None => Some(Buffer::alloc_for::<u32>(context, places(nnz))?),
    };
    let taken = Taken { scalar, indices: indices.as_ref(), values: values.map(|from| (from, &out)) };
    let offsets = match (&frame.form, frame.diagonals_told()) {
        (_, Some((diagonals, count))) => {
            let words = frame.words();
            let offsets = match known {
                Some(_) => None,
                None => {
                    let offsets = Buffer::alloc_for::<u64>(context, frame.shape.0.saturating_add(1))?;
                    let ((blocks, block), kernel) = (grid(context, rows), form(context, "diagonal_counts")?);
                    let launch = kernel.launch(blocks, block, 0).arg(rows).arg(columns).arg(diagonals).arg(count);
                    // SAFETY: as above; a count a row.
                    unsafe { launch.arg(words).arg(&offsets).run()? };
                    scan_in_place(context, &offsets, rows, None)?;
                    Some(offsets)
                }
            };
            let at = offsets.as_ref().or(known.map(|k| &k.offsets));
            if nnz > 0 {
                let block = tuning(context).primitive_block;
                let kernel = moving(context, Template::Diagonals, scalar).kernel("diagonals_list")?;
                let parts = if words.is_some() { 1 } else { count };
                let launch = kernel.launch(diagonal_blocks(rows, parts, block), block, 0).arg(rows).arg(columns);
                let launch = launch.arg(diagonals).arg(count).arg(words).arg(at);
                let launch = launch.arg(taken.values.map(|v| v.0)).arg(taken.indices);
                // SAFETY: as above; a place for every entry.
                unsafe { launch.arg(taken.values.map(|v| v.1)).run()? };
            }
            offsets
        }
        (DeviceForm::Cells(Some(bits)), None) => {
            let words = frame.slots().div_ceil(32);
            let starts = Buffer::alloc_for::<u64>(context, places(words).saturating_add(1))?;
            scan_of_bits(context, bits, &starts, words)?;
            list_cells(context, frame.shape, (bits, &starts, nnz), &taken)?;
            known.is_none().then(|| cell_offsets(context, frame.shape, bits, &starts)).transpose()?
        }
        // Those of all cells are known otherwise, as are those by columns.
        _ => None,
    };
    let pattern = match (known, offsets, indices) {
        (Some(known), ..) => known.clone(),
        (None, Some(offsets), Some(indices)) => Arc::new(DevicePattern::new(frame.shape, nnz, offsets, indices)),
        _ => frame.listed()?.clone(),
    };
    Ok((pattern, out))
}

/// The positions by rows of cells with these bits.
pub(crate) fn positions(context: &Arc<Context>, shape: (usize, usize), bits: &Buffer) -> Result<DevicePattern> {
    let words = (shape.0 as u64).saturating_mul(shape.1 as u64).div_ceil(32);
    let starts = Buffer::alloc_for::<u64>(context, places(words).saturating_add(1))?;
    let count = sum_of_bits(context, bits, &starts, words)?;
    let indices = Buffer::alloc_for::<u32>(context, places(count))?;
    let taken = Taken { scalar: NOTHING, indices: Some(&indices), values: None };
    list_cells(context, shape, (bits, &starts, count), &taken)?;
    Ok(DevicePattern::new(shape, count, cell_offsets(context, shape, bits, &starts)?, indices))
}

/// The entries of cells with these bits, so many before each word and so many in all.
fn list_cells(
    context: &Arc<Context>,
    shape: (usize, usize),
    (bits, starts, count): (&Buffer, &Buffer, u64),
    taken: &Taken,
) -> Result<()> {
    let columns = shape.1 as u64;
    let (words, block) = ((shape.0 as u64).saturating_mul(columns).div_ceil(32), tuning(context).primitive_block);
    if count > 0 {
        let kernel = moving(context, Template::Cells, taken.scalar).kernel("cells_list")?;
        let launch = kernel.launch(words.div_ceil(WORDS * u64::from(block / 32)), block, 0).arg(words).arg(columns);
        let launch = launch.arg(bits).arg(starts).arg(taken.values.map(|v| v.0)).arg(taken.indices);
        // SAFETY: as above; a place for every bit.
        unsafe { launch.arg(taken.values.map(|v| v.1)).run()? };
    }
    Ok(())
}

/// Where the rows of such cells begin.
fn cell_offsets(context: &Arc<Context>, shape: (usize, usize), bits: &Buffer, starts: &Buffer) -> Result<Buffer> {
    let (rows, columns) = (shape.0 as u64, shape.1 as u64);
    let offsets = Buffer::alloc_for::<u64>(context, shape.0.saturating_add(1))?;
    let ((blocks, block), kernel) = (grid(context, rows + 1), form(context, "cell_offsets")?);
    // SAFETY: as above.
    unsafe { kernel.launch(blocks, block, 0).arg(rows).arg(columns).arg(bits).arg(starts).arg(&offsets).run()? };
    Ok(offsets)
}
