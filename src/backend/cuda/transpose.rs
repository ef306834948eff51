//! Transposition: entries split by their columns' digits, the highest first, until every part is a column; rows stay in order.
use super::entries::{block_and_tile, empty, movable, places, sortable, structure};
use super::product::Operand;
use super::program::{Program, tuning, widen_and_scan};
use super::sort::{Keyed, bits_below, sort};
use super::{Buffer, Context, DevicePattern};
use crate::error::Result;
use oplus_codegen::text::ScalarText;
use oplus_codegen::{Spec, Template};
use std::sync::Arc;

pub(super) fn transpose(scalar: ScalarText, a: Operand<'_>) -> Result<(DevicePattern, Buffer)> {
    let (context, n) = (a.pattern.offsets.context(), a.pattern.nnz);
    if n == 0 {
        return empty(context, a.pattern.ncols, a.pattern.nrows);
    }
    // Every part has counts of its own: not where most columns have no entry.
    if (a.pattern.ncols as u64) / 4 > n.max(1 << 20) {
        return by_sorting(scalar, a);
    }
    let bits = bits_below(a.pattern.ncols);
    let most = tuning(context).partition_bits;
    let levels = bits.div_ceil(most).max(1);
    let mut parts = Parts::whole(context, n)?;
    let mut entries = Entries::room(context, n, scalar, 0)?;
    let mut shift = bits;
    for level in 0..levels {
        // As even as can be.
        let digit = shift.div_ceil(levels - level);
        shift -= digit;
        let last = level + 1 == levels;
        let to = Entries::room(context, n, scalar, if last { 0 } else { n })?;
        let (keys, rows, values) = match level {
            0 => (&a.pattern.indices, None, a.values),
            _ => (&entries.keys, Some(&entries.rows), &entries.values),
        };
        let tiles = Tiles::new(context, scalar, &parts, n, digit)?;
        let starts = tiles.counted(&parts, keys, shift)?;
        let kernel = tiles.moves.kernel("transpose_move")?;
        let launch = kernel.launch(tiles.grid, tiles.block, tiles.shared).arg(keys).arg(rows).arg(values);
        let launch = launch.arg(a.pattern.nrows as u64).arg(&a.pattern.offsets).arg(parts.count).arg(&parts.begins);
        let launch = launch.arg(&tiles.starts).arg(shift).arg(digit).arg(&starts);
        // SAFETY: parameters as the README lists them, n entries everywhere, a count a digit and tile.
        unsafe { launch.arg(if last { None } else { Some(&to.keys) }).arg(&to.rows).arg(&to.values).run()? };
        let limit = if last { a.pattern.ncols as u64 } else { parts.count << digit };
        parts = tiles.next(&parts, &starts, limit)?;
        entries = to;
    }
    let pattern = DevicePattern::new((a.pattern.ncols, a.pattern.nrows), n, parts.begins, entries.rows);
    Ok((pattern, entries.values))
}

/// Entries between two levels.
struct Entries {
    keys: Buffer,
    rows: Buffer,
    values: Buffer,
}

impl Entries {
    fn room(context: &Arc<Context>, n: u64, scalar: ScalarText, keys: u64) -> Result<Self> {
        Ok(Self {
            keys: Buffer::alloc_for::<u32>(context, places(keys))?,
            rows: Buffer::alloc_for::<u32>(context, places(n))?,
            values: Buffer::alloc(context, n.saturating_mul(scalar.size as u64))?,
        })
    }
}

/// Entries of equal higher bits: part p is entries begins[p] .. begins[p + 1].
struct Parts {
    count: u64,
    begins: Buffer,
}

impl Parts {
    fn whole(context: &Arc<Context>, n: u64) -> Result<Self> {
        Ok(Self { count: 1, begins: Buffer::from_host(context, &[0u64, n])? })
    }
}

/// A level: the tiles of its parts, and the kernels that count and move.
struct Tiles<'a> {
    counts: Program<'a>,
    moves: Program<'a>,
    starts: Buffer,
    /// Blocks: no fewer than there are tiles.
    grid: u64,
    block: u32,
    shared: u32,
    bits: u32,
    n: u64,
}

impl<'a> Tiles<'a> {
    fn new(context: &'a Arc<Context>, scalar: ScalarText, parts: &Parts, n: u64, bits: u32) -> Result<Self> {
        let small = n / parts.count < u64::from(tuning(context).partition_small);
        let threads = |s: Spec| s.number("threads", if small { 128 } else { 512 });
        let counts = Program::new(context, Template::Partition, threads);
        let moves = Program::new(context, Template::Transpose, |s| threads(s.scalar("V", movable(scalar))));
        let (block, tile, shared) = moves.spec.partition_launch(bits);
        let grid = match parts.count {
            1 => n.div_ceil(u64::from(tile)),
            _ => n / u64::from(tile) + parts.count,
        };
        let starts = if parts.count == 1 {
            Buffer::from_host(context, &[0, grid])?
        } else {
            let starts = Buffer::alloc_for::<u64>(context, places(parts.count + 1))?;
            let all = Buffer::alloc_for::<u32>(context, places(parts.count))?;
            let (kernel, block) = (counts.kernel("partition_tiles")?, block_and_tile(context).0);
            let launch = kernel.launch(parts.count.div_ceil(u64::from(block)), block, 0).arg(parts.count);
            // SAFETY: of all launches here, parameters as the README lists them; buffers of the sizes it asks for.
            unsafe { launch.arg(&parts.begins).arg(&all).run()? };
            widen_and_scan(context, &all, &starts, parts.count)?;
            starts
        };
        Ok(Self { counts, moves, starts, grid, block, shared, bits, n })
    }

    /// Where the keys of each part, digit and tile go.
    fn counted(&self, parts: &Parts, keys: &Buffer, shift: u32) -> Result<Buffer> {
        let context = self.counts.context;
        let all = self.grid << self.bits;
        let counts = Buffer::alloc_for::<u32>(context, places(all))?;
        let kernel = self.counts.kernel("partition_count")?;
        let launch = kernel.launch(self.grid, self.block, 0).arg(keys).arg(parts.count).arg(&parts.begins);
        // SAFETY: as above; a count a digit and block.
        unsafe { launch.arg(&self.starts).arg(shift).arg(self.bits).arg(&counts).run()? };
        let starts = Buffer::alloc_for::<u64>(context, places(all + 1))?;
        widen_and_scan(context, &counts, &starts, all)?;
        Ok(starts)
    }

    /// The parts of the next level, `limit` of them.
    fn next(&self, parts: &Parts, starts: &Buffer, limit: u64) -> Result<Parts> {
        let context = self.counts.context;
        let begins = Buffer::alloc_for::<u64>(context, places(limit + 1))?;
        let (kernel, block) = (self.counts.kernel("partition_next")?, block_and_tile(context).0);
        let launch = kernel.launch((limit + 1).div_ceil(u64::from(block)), block, 0).arg(parts.count).arg(&self.starts);
        // SAFETY: as above; one place for each part and one.
        unsafe { launch.arg(self.bits).arg(starts).arg(limit).arg(self.n).arg(&begins).run()? };
        Ok(Parts { count: limit, begins })
    }
}

/// By sorting entries by column; nothing is counted for a column without entries.
fn by_sorting(scalar: ScalarText, a: Operand<'_>) -> Result<(DevicePattern, Buffer)> {
    let (pattern, context) = (a.pattern, a.pattern.offsets.context());
    let (n, nrows, ncols) = (pattern.nnz, pattern.nrows as u64, pattern.ncols as u64);
    sortable("transpose", n)?;
    let (block, tile) = block_and_tile(context);
    let bits = bits_below(pattern.nrows);
    let keyed = Keyed::room(context, n)?;
    let kernel = structure(context, "transpose_keys")?;
    let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(nrows).arg(&pattern.offsets);
    // SAFETY: here and below, parameters as the README lists them, n keys, places and entries each, buffers of the
    // sizes it asks for.
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
