//! Columns moved: entries counted, keyed by where they go, and sorted only where the order changes.
use super::entries::{Marks, block_and_tile, empty, movable, places, sortable};
use super::product::Operand;
use super::program::{Program, widen_and_scan};
use super::sort::{Keyed, bits_below, sort};
use super::{Buffer, DevicePattern};
use crate::backend::places::{How, Moves};
use crate::error::{Error, Result};
use oplus_codegen::Template;
use oplus_codegen::text::ScalarText;

/// A rectangle of A at another place: rows and columns in their order, by ranges.
pub(super) fn window(
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
    let first: u64 = pattern.offsets.read_one(places(from))?;
    let n = pattern.offsets.read_one::<u64>(places(from + count))? - first;
    if n == 0 || width == 0 {
        return empty(context, nrows, ncols);
    }
    let (block, tile) = block_and_tile(context);
    let program = Program::new(context, Template::Columns, |s| s);
    let (marks, nnz) = if width == pattern.ncols as u64 {
        (None, n)
    } else {
        let marks = Marks::room(context, n)?;
        let kernel = program.kernel("window_mark")?;
        let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(first).arg(&pattern.indices);
        // SAFETY: of all launches here, parameters as the README lists them; `n` entries from `first` on, rows + 1
        // offsets.
        unsafe { launch.arg(left as u32).arg(width as u32).arg(&marks.words).arg(&marks.counts).run()? };
        let kept = marks.ranked()?;
        (Some(marks), kept)
    };
    let (words, starts) = (marks.as_ref().map(|m| &m.words), marks.as_ref().map(|m| &m.starts));
    let offsets = Buffer::alloc_for::<u64>(context, nrows + 1)?;
    let kernel = program.kernel("window_offsets")?;
    let launch = kernel.launch((nrows as u64 + 1).div_ceil(u64::from(block)), block, 0).arg(nrows as u64).arg(from);
    // SAFETY: as above.
    unsafe { launch.arg(count).arg(to).arg(&pattern.offsets).arg(words).arg(starts).arg(&offsets).run()? };
    let indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
    let values = Buffer::alloc(context, nnz.saturating_mul(scalar.size as u64))?;
    let kernel =
        Program::new(context, Template::Entries, |s| s.scalar("V", movable(scalar))).kernel("entries_window")?;
    let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(first).arg(words).arg(starts);
    let launch = launch.arg((target as u32).wrapping_sub(left as u32)).arg(&pattern.indices).arg(a.values);
    // SAFETY: as above; a place for each marked entry.
    unsafe { launch.arg(&indices).arg(&values).run()? };
    Ok((DevicePattern::new((nrows, ncols), nnz, offsets, indices), values))
}

pub(super) fn move_columns(scalar: ScalarText, a: Operand<'_>, moves: &Moves) -> Result<(DevicePattern, Buffer)> {
    let operation = "extract";
    let (pattern, context) = (a.pattern, a.pattern.offsets.context());
    let (n, rows, shape) = (pattern.nnz, pattern.nrows as u64, (pattern.nrows, moves.places));
    let (pairs, from, to, lists) = match &moves.how {
        How::Range { from, len, to } => (u64::from(*len), *from, *to, None),
        How::Pairs { pairs, .. } => (pairs.len() as u64, 0, 0, Some(super::places::pairs(context, pairs)?)),
    };
    if n == 0 || pairs == 0 {
        return empty(context, shape.0, shape.1);
    }
    sortable(operation, n)?;
    let (sources, targets) = (lists.as_ref().map(|l| &l.0), lists.as_ref().map(|l| &l.1));
    let (block, tile) = block_and_tile(context);
    let program = Program::new(context, Template::Columns, |s| s);
    let starts = Buffer::alloc_for::<u64>(context, places(n).saturating_add(1))?;
    {
        let counts = Buffer::alloc_for::<u32>(context, places(n))?;
        let kernel = program.kernel("columns_counts")?;
        let launch = kernel.launch(n.div_ceil(u64::from(block)), block, 0).arg(n).arg(&pattern.indices).arg(pairs);
        // SAFETY: of all launches here, parameters as the README lists them; n entries, `pairs` pairs.
        unsafe { launch.arg(sources).arg(from).arg(&counts).run()? };
        widen_and_scan(context, &counts, &starts, n)?;
    }
    let nnz: u64 = starts.read_one(places(n))?;
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
        let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(rows).arg(&pattern.offsets);
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
