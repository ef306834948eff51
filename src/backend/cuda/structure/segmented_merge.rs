//! Segmented merge: sorted runs of many segments merged at once (Ji, Lu, Liu, Jin, IJPP 2021), and transposition by it.
use super::sort::{Keyed, bits_below};
use crate::backend::cuda::entries::{empty, movable, places, sortable};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::ahead::Wanted;
use crate::backend::cuda::runtime::buffer::same_handle;
use crate::backend::cuda::runtime::program::{
    Program, resident, scan_in_place, scan_u64, scanning, sum_in_place, tuning,
};
use crate::backend::cuda::{Buffer, Context, DevicePattern};
use crate::error::{Error, Result};
use oplus_codegen::Template;
use oplus_codegen::text::ScalarText;
use std::sync::Arc;

/// Where runs and segments begin, as arrays on the device: elements runs[r] - origin .. runs[r + 1] - origin make run r, runs
/// segments[s] .. segments[s + 1] segment s. The segments stand one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Segments {
    pub(crate) count: u64,
    pub(crate) segments: u64,
    pub(crate) runs: u64,
    pub(crate) origin: u64,
}

/// Bytes of what a tile of a level begins with.
const CUT: u64 = 40;

/// The kernels of a merge but for those of its levels, to be listed: segments may all be short.
pub(crate) fn wanted(context: &Arc<Context>) -> impl Iterator<Item = Wanted> {
    let names = ["merge_runs", "merge_short_sizes", "merge_shorts"];
    let program = Program::new(context, Template::SegmentedMerge, |s| s);
    names.map(|name| program.wanted(name)).into_iter().chain([scanning(context, scan_u64)])
}

/// The n elements with every segment in ascending order, equal ones in the order they had.
pub(crate) fn merge_segments(context: &Arc<Context>, mut from: Keyed, n: u64, of: Segments) -> Result<Keyed> {
    let (tuning, program) = (tuning(context), Program::new(context, Template::SegmentedMerge, |s| s));
    let block = tuning.primitive_block;
    let (p, grid) = (of.count, of.count.div_ceil(u64::from(block)));
    if n < 2 || p == 0 {
        return Ok(from);
    }
    let work = Buffer::alloc_for::<u64>(context, places(p.saturating_add(1)))?;
    let kernel = program.kernel("merge_runs")?;
    // SAFETY: of all launches here, parameters as the README lists them, buffers of the sizes it asks for; what the
    // arrays of runs and segments hold is the caller's promise; p counts, p + 1 segments.
    unsafe { kernel.launch(grid, block, 0).arg(p).arg(of.segments).arg(of.runs).arg(&work).run()? };
    let (_, longest) = sum_in_place(context, &work, p)?;
    let levels = longest.saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1);
    // The short segments go straight to where the last level of the long ones goes.
    let mut to = if levels > 0 { Some(Keyed::room(context, n)?) } else { None };
    let moves = levels % 2 == 1;
    let kernel = program.kernel("merge_short_sizes")?;
    let launch = kernel.launch(grid, block, 0).arg(p).arg(of.segments).arg(of.runs).arg(u32::from(moves));
    // SAFETY: as above.
    unsafe { launch.arg(&work).run()? };
    scan_in_place(context, &work, p, None)?;
    let kernel = program.kernel("merge_shorts")?;
    let tile = u64::from(block * tuning.sort_items);
    let last = to.as_ref().filter(|_| moves).unwrap_or(&from);
    let launch = kernel.launch(resident(&kernel, block, 0, n.div_ceil(tile / 2))?, block, 0).arg(p).arg(of.segments);
    let launch = launch.arg(of.runs).arg(of.origin).arg(&work).arg(&from.keys).arg(&from.places);
    // SAFETY: as above; blocks write what they alone have read.
    unsafe { launch.arg(&last.keys).arg(&last.places).run()? };
    let Some(to) = &mut to else { return Ok(from) };
    let follow = || ["merge_cuts", "merge_level"].map(|name| program.wanted(name)).into();
    let measure = program.kernel_beside("merge_work", follow)?;
    let (cut, merge, tiles) = (program.kernel("merge_cuts")?, program.kernel("merge_level")?, n.div_ceil(tile));
    let cuts = Buffer::alloc(context, CUT * tiles)?;
    for level in 0..levels {
        let launch = measure.launch(grid, block, 0).arg(p).arg(of.segments).arg(of.runs).arg(level).arg(levels);
        // SAFETY: as above.
        unsafe { launch.arg(&work).run()? };
        scan_in_place(context, &work, p, None)?;
        let launch = cut.launch(tiles.div_ceil(u64::from(block)), block, 0).arg(p).arg(of.segments).arg(of.runs);
        // SAFETY: as above; no more tiles are cut than there are.
        unsafe { launch.arg(of.origin).arg(level).arg(&work).arg(&from.keys).arg(&cuts).run()? };
        let launch = merge.launch(resident(&merge, block, 0, tiles)?, block, 0).arg(p).arg(of.segments).arg(of.runs);
        let launch = launch.arg(of.origin).arg(level).arg(&work).arg(&cuts).arg(&from.keys).arg(&from.places);
        // SAFETY: as above; no more elements move than there are.
        unsafe { launch.arg(&to.keys).arg(&to.places).run()? };
        std::mem::swap(&mut from, to);
    }
    Ok(from)
}

/// The kernels that sort segments beside those of a merge, to be listed.
pub(crate) fn wanted_to_sort(context: &Arc<Context>) -> impl Iterator<Item = Wanted> {
    let program = Program::new(context, Template::SegmentedMerge, |s| s);
    ["merge_sort_tiles", "merge_tile_counts", "merge_tile_runs"].map(|name| program.wanted(name)).into_iter()
}

/// The same of elements in any order, whose keys are above those of the segments before: tiles are sorted, a block each, and those of a
/// segment merged. The segments' runs are looked at for where segments begin.
pub(crate) fn sort_segments(context: &Arc<Context>, from: Keyed, n: u64, of: Segments) -> Result<Keyed> {
    let (tuning, program) = (tuning(context), Program::new(context, Template::SegmentedMerge, |s| s));
    let block = tuning.primitive_block;
    if n < 2 || of.count == 0 {
        return Ok(from);
    }
    let tiles = n.div_ceil(u64::from(block * tuning.sort_items));
    let kernel = program.kernel("merge_sort_tiles")?;
    let launch = kernel.launch(tiles, block, 0).arg(n).arg(&from.keys).arg(&from.places);
    // SAFETY: of all launches here, parameters as the README lists them, buffers of the sizes it asks for; what the arrays of runs and
    // segments hold is the caller's promise; a block writes what it alone has read.
    unsafe { launch.arg(&from.keys).arg(&from.places).run()? };
    let starts = Buffer::alloc_for::<u64>(context, places(of.count.saturating_add(1)))?;
    let kernel = program.kernel("merge_tile_counts")?;
    let launch = kernel.launch(of.count.div_ceil(u64::from(block)), block, 0).arg(of.count).arg(of.segments);
    // SAFETY: as above; a count a segment, and their sum.
    unsafe { launch.arg(of.runs).arg(of.origin).arg(&starts).run()? };
    scan_in_place(context, &starts, of.count, None)?;
    let runs = Buffer::alloc_for::<u64>(context, places(of.count.saturating_add(tiles).saturating_add(1)))?;
    let kernel = program.kernel("merge_tile_runs")?;
    let grid = of.count.max(tiles).div_ceil(u64::from(block));
    let launch = kernel.launch(grid, block, 0).arg(n).arg(of.count).arg(of.segments).arg(of.runs).arg(of.origin);
    // SAFETY: as above; a segment has no more runs than one and a tile for each that begins inside it.
    unsafe { launch.arg(&starts).arg(&runs).run()? };
    let of = Segments { segments: starts.pointer(), runs: runs.pointer(), origin: 0, ..of };
    merge_segments(context, from, n, of)
}

/// Merges sorted runs of u64 keys with u32 payloads into sorted segments, all segments at once.
///
/// Run r has the elements `runs[r] .. runs[r + 1]`, ascending by key, segment s the runs `segments[s] .. segments[s + 1]`;
/// q = `runs.len() - 1`, p = `segments.len() - 1`, both arrays of u64: `segments` ascends from 0 to q, `runs` from 0 to the number of keys.
/// The result has the elements of each segment ascending, in its place; of equal keys those of an earlier run come first.
///
/// O(n · log(the most runs of a segment)), balanced by elements whatever the lengths; segments of one run are passed over. As much room
/// again as keys and payloads take, if a segment has over a thousand elements. Deterministic. After Ji, Lu, Liu, Jin, "Segmented Merge:
/// A New Primitive for Parallel Sparse Matrix Computations", IJPP 2021.
///
/// # Errors
/// `InvalidValue` for buffers of another context of the same device, `DeviceMismatch` for those of another device; `InvalidValue` for
/// lengths that do not fit each other, and for bounds that do not ascend as they should and runs that are not sorted, both of which is
/// looked at on the device; `IndexOverflow` for more than 2³² − 1 segments; `OutOfMemory`, `Driver`.
pub fn segmented_merge(keys: Buffer, payloads: Buffer, runs: &Buffer, segments: &Buffer) -> Result<(Buffer, Buffer)> {
    let context = keys.context().clone();
    for other in [&payloads, runs, segments] {
        same_handle(OPERATION, &context, other.context())?;
    }
    let (n, p) = (keys.len_of::<u64>(), segments.len_of::<u64>());
    if payloads.len_of::<u32>() != n || p == 0 || runs.is_empty() {
        let (of, r) = (payloads.len_of::<u32>(), runs.len_of::<u64>());
        let reason = format!(
            "{n} keys, {of} payloads, {p} bounds of segments, {r} of runs: as many payloads as keys and at least one bound each are needed"
        );
        return Err(Error::InvalidValue { operation: OPERATION, reason });
    }
    checked(&context, (&keys, n as u64), (runs, segments))?;
    let of = Segments { count: p as u64 - 1, segments: segments.pointer(), runs: runs.pointer(), origin: 0 };
    let made = merge_segments(&context, Keyed { keys, places: payloads }, n as u64, of)?;
    Ok((made.keys, made.places))
}

const OPERATION: &str = "segmented merge";

/// That bounds and runs are what a merge relies on.
fn checked(context: &Arc<Context>, (keys, n): (&Buffer, u64), (runs, segments): (&Buffer, &Buffer)) -> Result<()> {
    let (q, p) = (runs.len_of::<u64>() as u64 - 1, segments.len_of::<u64>() as u64 - 1);
    if p > u64::from(u32::MAX) {
        let (operation, what, value, limit) = (OPERATION, "segments", p.into(), u32::MAX.into());
        return Err(Error::IndexOverflow { operation, what, value, limit });
    }
    let (program, block) = (Program::new(context, Template::SegmentedMerge, |s| s), tuning(context).primitive_block);
    let found = Buffer::zeroed_for::<u32>(context, 1)?;
    let refused = |reason: String| Error::InvalidValue { operation: OPERATION, reason };
    let kernel = program.kernel("merge_check_bounds")?;
    let launch = kernel.launch((p.max(q) + 1).div_ceil(u64::from(block)), block, 0).arg(n).arg(q).arg(p);
    // SAFETY: parameters as the README lists them; p + 1 and q + 1 bounds.
    unsafe { launch.arg(segments).arg(runs).arg(&found).run()? };
    if found.read_one::<u32>(0)? != 0 {
        return Err(refused(format!(
            "bounds of {p} segments have to ascend from 0 to {q}, those of {q} runs from 0 to {n}"
        )));
    }
    if n == 0 {
        return Ok(());
    }
    let kernel = program.kernel("merge_check_keys")?;
    let launch = kernel.launch(n.div_ceil(u64::from(block)), block, 0).arg(n).arg(q).arg(runs).arg(keys);
    // SAFETY: as above; the runs are the keys'.
    unsafe { launch.arg(&found).run()? };
    match found.read_one::<u32>(0)? {
        0 => Ok(()),
        _ => Err(refused("a key is smaller than the one before it in its run".into())),
    }
}

/// Aᵀ: entries go to their columns in any order, whose rows are then merged, one entry a run at first.
pub(crate) fn transpose(scalar: ScalarText, a: Operand<'_>) -> Result<(DevicePattern, Buffer)> {
    let (pattern, context) = (a.pattern, a.pattern.offsets.context());
    let (n, nrows, ncols) = (pattern.nnz, pattern.nrows as u64, pattern.ncols as u64);
    if n == 0 {
        return empty(context, pattern.ncols, pattern.nrows);
    }
    sortable("transpose", n)?;
    let tuning = tuning(context);
    let (block, tile) = (tuning.primitive_block, u64::from(tuning.primitive_block * tuning.entry_items));
    let program = Program::new(context, Template::SegmentedMerge, |s| s);
    let threads = n.div_ceil(u64::from(block));
    let offsets = Buffer::zeroed_for::<u64>(context, pattern.ncols + 1)?;
    let found = Buffer::zeroed_for::<u64>(context, 2)?;
    let gather = Program::new(context, Template::Entries, |s| s.scalar("V", movable(scalar)));
    let kernel = program.kernel_beside("column_counts", || {
        let own = ["column_scatter", "merge_singles"].map(|name| program.wanted(name));
        own.into_iter().chain(wanted(context)).chain([gather.wanted("entries_gather")]).collect()
    })?;
    // SAFETY: of all launches here, parameters as the README lists them, buffers of the sizes it asks for; n entries,
    // ncols counts.
    unsafe { kernel.launch(threads, block, 0).arg(n).arg(&pattern.indices).arg(&offsets).run()? };
    scan_in_place(context, &offsets, ncols, Some((&found, 0, 1)))?;
    let (next, keyed) = (offsets.duplicate()?, Keyed::room(context, n)?);
    let kernel = program.kernel("column_scatter")?;
    let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(nrows).arg(&pattern.offsets);
    // SAFETY: as above.
    unsafe { launch.arg(&pattern.indices).arg(&next).arg(&keyed.keys).arg(&keyed.places).run()? };
    let runs = Buffer::alloc_for::<u64>(context, places(n.saturating_add(1)))?;
    let kernel = program.kernel("merge_singles")?;
    // SAFETY: as above.
    unsafe { kernel.launch((n + 1).div_ceil(u64::from(block)), block, 0).arg(n + 1).arg(&runs).run()? };
    let longest: u64 = found.read_one(1)?;
    let (segments, runs) = (offsets.pointer(), runs.pointer());
    let of = Segments { count: ncols, segments, runs, origin: 0 };
    let keyed = merge_segments(context, keyed, n, of)?;
    let indices = Buffer::alloc_for::<u32>(context, places(n))?;
    let values = Buffer::alloc(context, n.saturating_mul(scalar.size as u64))?;
    let kernel = gather.kernel("entries_gather")?;
    let launch = kernel.launch(threads, block, 0).arg(n).arg(&keyed.keys).arg(&keyed.places);
    // SAFETY: as above; keys are rows alone.
    unsafe { launch.arg(bits_below(pattern.nrows)).arg(a.values).arg(&indices).arg(&values).run()? };
    Ok((DevicePattern::new((pattern.ncols, pattern.nrows), n, offsets, indices).with_longest(longest), values))
}
