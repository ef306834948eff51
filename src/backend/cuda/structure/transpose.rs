//! Transposition: entries split by their columns' digits, the highest first, until a block can put each part in order, or every part is
//! a column; rows stay in order.
use super::sort::{self, Keyed, bits_below, sort};
use crate::backend::cuda::entries::{block_and_tile, empty, movable, places, sortable, structure, structures};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::ahead::Wanted;
use crate::backend::cuda::runtime::program::{Program, scan_u32, scanning, tuning, widen_and_scan};
use crate::backend::cuda::runtime::report::{SAID, Slate};
use crate::backend::cuda::{Buffer, Context, DevicePattern};
use crate::error::Result;
use oplus_codegen::text::ScalarText;
use oplus_codegen::{Spec, Template, Tuning};
use smallvec::SmallVec;
use std::sync::Arc;

pub(crate) fn transpose(scalar: ScalarText, a: Operand<'_>) -> Result<(DevicePattern, Buffer)> {
    let (context, n) = (a.pattern.offsets.context(), a.pattern.nnz);
    if n == 0 {
        return empty(context, a.pattern.ncols, a.pattern.nrows);
    }
    // Every part has counts of its own: not where most columns have no entry.
    if (a.pattern.ncols as u64) / 4 > n.max(1 << 20) {
        return by_sorting(scalar, a);
    }
    let (bits, tuning) = (bits_below(a.pattern.ncols).max(1), tuning(context));
    let mut moving = Moving { scalar, a, level: None };
    let tile = u64::from(LARGE * tuning.partition_items);
    let (mut left, mut largest) = (bits, n);
    for digit in digits(bits, n, tuning) {
        if left <= tuning.partition_bits && largest <= tile {
            return moving.finish(left, largest);
        }
        left -= digit;
        // Parts are asked for how large they are where few will be more than a tile: those that were planned for blocks, and somewhat
        // larger ones where that spares a digit of many bits.
        let mean = n >> (bits - left);
        let spares = digit >= tuning.partition_level && mean <= tuning.partition_spared.into();
        let asked = left > 0 && left <= tuning.partition_bits && (spares || mean <= tuning.partition_part.into());
        largest = moving.split(left, digit, asked)?.unwrap_or(n);
    }
    match moving.level {
        // Every part is a column.
        Some(Level { parts, rows, values, .. }) => {
            Ok((DevicePattern::new((a.pattern.ncols, a.pattern.nrows), n, parts.begins, rows), values))
        }
        None => moving.finish(bits, n),
    }
}

/// Threads of the blocks; a large one's tile is what a block can put in order at most.
const SMALL: u32 = 128;
const MIDDLE: u32 = 256;
const LARGE: u32 = 512;

/// The digits of a column's bits, the highest first: as few as can be and as even; but for the last, which takes what is left where the
/// others leave parts that a block each puts in order.
fn digits(bits: u32, n: u64, tuning: &Tuning) -> SmallVec<[u32; 8]> {
    let even = |bits: u32, levels: u32| {
        (0..levels).map(move |l| bits * (levels - l) / levels - bits * (levels - l - 1) / levels)
    };
    let levels = bits.div_ceil(tuning.partition_bits);
    let parts = n.div_ceil(tuning.partition_part.into()).next_power_of_two().trailing_zeros();
    let first = parts.max(bits.saturating_sub(tuning.partition_bits));
    let before = first.div_ceil(tuning.partition_level);
    match first < bits && before < levels {
        true => even(first, before).chain([bits - first]).collect(),
        false => even(bits, levels).collect(),
    }
}

/// A transposition on its way: A's entries, split into parts by the first bits of their columns.
struct Moving<'a> {
    scalar: ScalarText,
    a: Operand<'a>,
    /// Where they are, once moved.
    level: Option<Level>,
}

/// Entries between two digits, and the parts that they make up.
struct Level {
    parts: Parts,
    keys: Buffer,
    rows: Buffer,
    values: Buffer,
}

impl Moving<'_> {
    fn context(&self) -> &Arc<Context> {
        self.a.pattern.offsets.context()
    }

    /// Columns, rows (of A's own none) and values of the entries as they stand.
    fn from(&self) -> (&Buffer, Option<&Buffer>, &Buffer) {
        match &self.level {
            None => (&self.a.pattern.indices, None, self.a.values),
            Some(level) => (&level.keys, Some(&level.rows), &level.values),
        }
    }

    /// Room for the rows and values of all entries.
    fn room(&self) -> Result<(Buffer, Buffer)> {
        let (context, n) = (self.context(), self.a.pattern.nnz);
        let values = n.saturating_mul(self.scalar.size as u64);
        Ok((Buffer::alloc_for::<u32>(context, places(n))?, Buffer::alloc(context, values)?))
    }

    /// Splits every part by the next digit of the columns, with `left` bits below it; if `asked`, how many entries the largest has then.
    fn split(&mut self, left: u32, digit: u32, asked: bool) -> Result<Option<u64>> {
        let (context, n) = (self.context(), self.a.pattern.nnz);
        let whole;
        let parts = match &self.level {
            Some(level) => &level.parts,
            None => {
                whole = Parts::whole(context, n)?;
                &whole
            }
        };
        let last = left == 0;
        let to_keys = Buffer::alloc_for::<u32>(context, if last { 0 } else { places(n) })?;
        let (to_rows, to_values) = self.room()?;
        let (keys, rows, values) = self.from();
        let tiles = Tiles::new(context, self.scalar, parts, n, digit)?;
        let starts = tiles.counted(parts, keys, left)?;
        let limit = if last { self.a.pattern.ncols as u64 } else { parts.count << digit };
        let next = Parts { count: limit, begins: Buffer::alloc_for::<u64>(context, places(limit + 1))? };
        let kernel = tiles.moves.kernel("transpose_move")?;
        // The parts first: while entries are moved the host knows how large they are.
        let run = |slate: &Slate| {
            tiles.next(parts, &starts, &next, slate)?;
            let launch = kernel.launch(tiles.grid, tiles.block, tiles.shared).arg(keys).arg(rows).arg(values);
            let launch = launch.arg(self.a.pattern.nrows as u64).arg(&self.a.pattern.offsets).arg(parts.count);
            let launch = launch.arg(&parts.begins).arg(&tiles.starts).arg(left).arg(digit).arg(&starts);
            // SAFETY: parameters as the README lists them, n entries everywhere, a count a digit and tile.
            unsafe { launch.arg(if last { None } else { Some(&to_keys) }).arg(&to_rows).arg(&to_values).run() }
        };
        let largest = match asked {
            true => Some(context.with_slate(SAID as u64, run)?[0]),
            false => run(&Slate::UNTOLD).map(|()| None)?,
        };
        self.level = Some(Level { parts: next, keys: to_keys, rows: to_rows, values: to_values });
        Ok(largest)
    }

    /// The transpose, of parts whose columns differ in `bits` bits, the largest of so many entries.
    fn finish(self, bits: u32, largest: u64) -> Result<(DevicePattern, Buffer)> {
        let (context, n, (nrows, ncols)) =
            (self.context(), self.a.pattern.nnz, (self.a.pattern.nrows, self.a.pattern.ncols));
        let (to_rows, to_values) = self.room()?;
        let offsets = Buffer::alloc_for::<u64>(context, ncols + 1)?;
        let items = tuning(context).partition_items;
        let threads = [SMALL, MIDDLE].into_iter().find(|t| largest <= u64::from(t * items)).unwrap_or(LARGE);
        let program = Program::new(context, Template::TransposeColumns, |s| {
            s.number("threads", threads.into()).scalar("V", movable(self.scalar))
        });
        let (block, _, shared) = program.spec.partition_launch(bits);
        let (keys, rows, values) = self.from();
        let kernel = program.kernel("transpose_columns")?;
        let parts = self.level.as_ref().map(|level| &level.parts);
        let count = parts.map_or(1, |parts| parts.count);
        let launch = kernel.launch(count, block, shared).arg(keys).arg(rows).arg(values).arg(nrows as u64);
        let launch =
            launch.arg(&self.a.pattern.offsets).arg(count).arg(parts.map(|parts| &parts.begins)).arg(n).arg(bits);
        // SAFETY: as above, and ncols + 1 offsets.
        unsafe { launch.arg(ncols as u64).arg(&offsets).arg(&to_rows).arg(&to_values).run()? };
        Ok((DevicePattern::new((ncols, nrows), n, offsets, to_rows), to_values))
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

/// A digit: the tiles of the parts that it splits, and the kernels that count and move.
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
        let threads = |s: Spec| s.number("threads", u64::from(if small { SMALL } else { LARGE }));
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
            let kernel = counts.kernel_beside("partition_tiles", || follow(&moves))?;
            let block = block_and_tile(context).0;
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
        let kernel = self.counts.kernel_beside("partition_count", || follow(&self.moves))?;
        let launch = kernel.launch(self.grid, self.block, 0).arg(keys).arg(parts.count).arg(&parts.begins);
        // SAFETY: as above; a count a digit and block.
        unsafe { launch.arg(&self.starts).arg(shift).arg(self.bits).arg(&counts).run()? };
        let starts = Buffer::alloc_for::<u64>(context, places(all + 1))?;
        widen_and_scan(context, &counts, &starts, all)?;
        Ok(starts)
    }

    /// Writes where the next parts begin, and tells how many entries the largest has if the slate is one.
    fn next(&self, parts: &Parts, starts: &Buffer, next: &Parts, slate: &Slate) -> Result<()> {
        let (kernel, block) = (self.counts.kernel("partition_next")?, block_and_tile(self.counts.context).0);
        let launch = kernel.launch((next.count + 1).div_ceil(u64::from(block)), block, 0).arg(parts.count);
        let launch = launch.arg(&self.starts).arg(self.bits).arg(starts).arg(next.count).arg(self.n).arg(&next.begins);
        // SAFETY: as above; one place for each part and one.
        unsafe { launch.arg(slate.control).leaving(slate).run() }
    }
}

/// What the kernels that count lead to: entries are moved, where scans say. Who puts the parts in order shows later.
fn follow(moves: &Program) -> Vec<Wanted> {
    vec![moves.wanted("transpose_move"), scanning(moves.context, scan_u32)]
}

/// By sorting entries by column; nothing is counted for a column without entries.
fn by_sorting(scalar: ScalarText, a: Operand<'_>) -> Result<(DevicePattern, Buffer)> {
    let (pattern, context) = (a.pattern, a.pattern.offsets.context());
    let (n, nrows, ncols) = (pattern.nnz, pattern.nrows as u64, pattern.ncols as u64);
    sortable("transpose", n)?;
    let (block, tile) = block_and_tile(context);
    let bits = bits_below(pattern.nrows);
    let keyed = Keyed::room(context, n)?;
    let gather = Program::new(context, Template::Entries, |s| s.scalar("V", movable(scalar)));
    let kernel = structures(context).kernel_beside("transpose_keys", || {
        let others = [structures(context).wanted("key_offsets"), gather.wanted("entries_gather")];
        others.into_iter().chain(sort::wanted(context)).collect()
    })?;
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
    let kernel = gather.kernel("entries_gather")?;
    let launch = kernel.launch(n.div_ceil(u64::from(block)), block, 0).arg(n).arg(&keyed.keys).arg(&keyed.places);
    // SAFETY: as above.
    unsafe { launch.arg(bits).arg(a.values).arg(&indices).arg(&values).run()? };
    Ok((DevicePattern::new((pattern.ncols, pattern.nrows), n, offsets, indices), values))
}
