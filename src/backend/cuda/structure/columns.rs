//! Columns moved: entries counted, keyed by where they go, and sorted only where the order changes.
use super::sort::{Keyed, bits_below, sort};
use crate::backend::cuda::entries::{At, Spans, block_and_tile, empty, movable, places, sortable};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::program::{Program, widen_and_sum};
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::backend::places::{How, Moves};
use crate::error::{Error, Result};
use oplus_codegen::Template;
use oplus_codegen::text::ScalarText;

/// A rectangle of A at another place: rows and columns in their order, by ranges.
pub(crate) fn window(
    scalar: ScalarText,
    a: Operand<'_>,
    rows: Option<&Moves>,
    cols: Option<&Moves>,
) -> Result<(DevicePattern, Buffer)> {
    let span = |moves: Option<&Moves>, all: usize| match moves {
        None => Some((0, all as u64, 0, all)),
        Some(Moves { places, how: How::Range { from, len, to } }) => {
            Some((u64::from(*from), u64::from(*len), u64::from(*to), *places))
        }
        Some(_) => None,
    };
    let (pattern, context) = (a.pattern, a.pattern.offsets.context());
    let (Some((from, count, to, nrows)), Some((left, width, target, ncols))) =
        (span(rows, pattern.nrows), span(cols, pattern.ncols))
    else {
        return Err(Error::InvalidValue { operation: "extract", reason: "places that are no range".into() });
    };
    if count == 0 || width == 0 || pattern.nnz == 0 {
        return empty(context, nrows, ncols);
    }
    let (block, tile) = block_and_tile(context);
    let program = Program::new(context, Template::Columns, |s| s);
    let (shift, rows) = ((target as u32).wrapping_sub(left as u32), nrows as u64);
    if width < pattern.ncols as u64 {
        // From the first column on, and no row is moved: where rows begin.
        let whole = left == 0 && to == 0 && count == rows;
        let at = if whole { At::Begins(from) } else { At::Places(Buffer::alloc_for::<u64>(context, nrows)?) };
        let spans = Spans::room(context, nrows, at)?;
        let kernel = program.kernel("window_spans")?;
        let launch = kernel.launch(rows.div_ceil(u64::from(block)), block, 0).arg(rows).arg(from).arg(count).arg(to);
        let launch = launch.arg(&pattern.offsets).arg(&pattern.indices).arg(left as u32).arg(width);
        // SAFETY: of all launches here, parameters as the README lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(spans.places()).arg(&spans.counts).run()? };
        let counted = spans.counted()?;
        return spans.taken(scalar, a, counted, (ncols, shift));
    }
    let first: u64 = pattern.offsets.read_one(places(from))?;
    let n = pattern.offsets.read_one::<u64>(places(from + count))? - first;
    let offsets = Buffer::alloc_for::<u64>(context, nrows + 1)?;
    let kernel = program.kernel("window_offsets")?;
    let launch = kernel.launch((rows + 1).div_ceil(u64::from(block)), block, 0).arg(rows).arg(from);
    // SAFETY: as above.
    unsafe { launch.arg(count).arg(to).arg(&pattern.offsets).arg(&offsets).run()? };
    let indices = Buffer::alloc_for::<u32>(context, places(n))?;
    let values = Buffer::alloc(context, n.saturating_mul(scalar.size as u64))?;
    let kernel =
        Program::new(context, Template::Entries, |s| s.scalar("V", movable(scalar))).kernel("entries_window")?;
    let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(first).arg(shift).arg(&pattern.indices);
    // SAFETY: as above.
    unsafe { launch.arg(a.values).arg(&indices).arg(&values).run()? };
    Ok((DevicePattern::new((nrows, ncols), n, offsets, indices), values))
}

pub(crate) fn move_columns(scalar: ScalarText, a: Operand<'_>, moves: &Moves) -> Result<(DevicePattern, Buffer)> {
    let operation = "extract";
    let (pattern, context) = (a.pattern, a.pattern.offsets.context());
    let (n, rows, shape) = (pattern.nnz, pattern.nrows as u64, (pattern.nrows, moves.places));
    let (pairs, from, to, lists) = match &moves.how {
        How::Range { from, len, to } => (u64::from(*len), *from, *to, None),
        How::Pairs { pairs, .. } => {
            (pairs.len() as u64, 0, 0, Some(crate::backend::cuda::storage::places::pairs(context, pairs)?))
        }
    };
    if n == 0 || pairs == 0 {
        return empty(context, shape.0, shape.1);
    }
    sortable(operation, n)?;
    let (sources, targets) = (lists.as_ref().map(|l| &l.0), lists.as_ref().map(|l| &l.1));
    let (block, tile) = block_and_tile(context);
    let program = Program::new(context, Template::Columns, |s| s);
    let starts = Buffer::alloc_for::<u64>(context, places(n).saturating_add(1))?;
    let nnz = {
        let counts = Buffer::alloc_for::<u32>(context, places(n))?;
        let kernel = program.kernel("columns_counts")?;
        let launch = kernel.launch(n.div_ceil(u64::from(block)), block, 0).arg(n).arg(&pattern.indices).arg(pairs);
        // SAFETY: of all launches here, parameters as the README lists them; n entries, `pairs` pairs.
        unsafe { launch.arg(sources).arg(from).arg(&counts).run()? };
        widen_and_sum(context, &counts, &starts, n)?
    };
    let offsets = Buffer::alloc_for::<u64>(context, pattern.nrows + 1)?;
    let kernel = program.kernel("columns_offsets")?;
    let launch = kernel.launch((rows + 1).div_ceil(u64::from(block)), block, 0).arg(rows).arg(&pattern.offsets);
    // SAFETY: as above; rows + 1 offsets.
    unsafe { launch.arg(&starts).arg(&offsets).run()? };
    let (indices, values) = (
        Buffer::alloc_for::<u32>(context, places(nnz))?,
        Buffer::alloc(context, nnz.saturating_mul(scalar.size as u64))?,
    );
    if nnz > 0 {
        sortable(operation, nnz)?;
        let (keyed, bits) = (Keyed::room(context, nnz)?, bits_below(moves.places));
        let kernel = program.kernel("columns_keys")?;
        let launch = kernel.launch(nnz.div_ceil(tile), block, 0).arg(nnz).arg(n).arg(rows).arg(&pattern.offsets);
        let launch = launch.arg(&pattern.indices).arg(pairs).arg(sources).arg(targets).arg(from).arg(to).arg(&starts);
        // SAFETY: as above; nnz keys and places.
        unsafe { launch.arg(bits).arg(&keyed.keys).arg(&keyed.places).run()? };
        let by = if moves.ordered() { 0..0 } else { 0..bits + bits_below(pattern.nrows) };
        let keyed = sort(context, keyed, nnz, by)?;
        let kernel =
            Program::new(context, Template::Entries, |s| s.scalar("V", movable(scalar))).kernel("entries_gather")?;
        let launch = kernel.launch(nnz.div_ceil(u64::from(block)), block, 0).arg(nnz).arg(&keyed.keys);
        // SAFETY: as above.
        unsafe { launch.arg(&keyed.places).arg(bits).arg(a.values).arg(&indices).arg(&values).run()? };
    }
    Ok((DevicePattern::new(shape, nnz, offsets, indices), values))
}
