//! What the operations on entries share: tiles, marks and their ranks, values as bytes, the structure kernels.
use super::product::Operand;
use super::runtime::program::{Program, sum_in_place, sum_of_bits, tuning, widen_and_sum};
use super::{Buffer, Context, DevicePattern, Kernel};
use crate::error::{Error, Result};
use oplus_codegen::Template;
use oplus_codegen::text::ScalarText;
use std::sync::Arc;

/// A type of the same size that is only moved: one module a size serves all scalars.
pub(super) fn movable(scalar: ScalarText) -> ScalarText {
    let of = |name, definition| ScalarText { name, definition, size: scalar.size };
    match scalar.size {
        // Of no bytes: nothing is moved.
        0 | 1 => ScalarText { name: "u8", definition: "", size: 1 },
        2 => of("u16", ""),
        4 => of("u32", ""),
        8 => of("u64", ""),
        16 => of("Bytes16", "struct __align__(16) Bytes16 { u64 low; u64 high; };"),
        _ => scalar,
    }
}

/// Threads of a block, and entries of a tile.
pub(super) fn block_and_tile(context: &Context) -> (u32, u64) {
    let tuning = tuning(context);
    (tuning.primitive_block, u64::from(tuning.primitive_block * tuning.entry_items))
}

/// Blocks for so many entries by tiles, and threads of a block.
pub(super) fn tiles(context: &Context, n: u64) -> (u64, u32) {
    let (block, tile) = block_and_tile(context);
    (n.div_ceil(tile), block)
}

pub(super) fn structure(context: &Arc<Context>, kernel: &str) -> Result<Kernel> {
    structures(context).kernel(kernel)
}

/// The kernels on patterns.
pub(super) fn structures(context: &Arc<Context>) -> Program<'_> {
    Program::new(context, Template::Structure, |s| s)
}

/// Room for a number of places counted in u64; more than memory can hold is refused where it is taken.
pub(super) fn places(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// The operations that sort number entries in 32 bits.
pub(super) fn sortable(operation: &'static str, n: u64) -> Result<()> {
    if n <= u64::from(u32::MAX) {
        return Ok(());
    }
    let reason = format!("{n} entries: sorting on CUDA takes up to {}", u32::MAX);
    Err(Error::InvalidValue { operation, reason })
}

/// No entries.
pub(super) fn empty(context: &Arc<Context>, nrows: usize, ncols: usize) -> Result<(DevicePattern, Buffer)> {
    let offsets = Buffer::zeroed_for::<u64>(context, nrows + 1)?;
    let (indices, values) = (Buffer::alloc(context, 0)?, Buffer::alloc(context, 0)?);
    Ok((DevicePattern::new((nrows, ncols), 0, offsets, indices), values))
}

/// Marked places: a bit each, and after [`Marks::ranked`] how many come before each word.
pub(super) struct Marks {
    pub(super) words: Buffer,
    pub(super) starts: Buffer,
    count: u64,
}

impl Marks {
    /// Room for `n` marks.
    pub(super) fn room(context: &Arc<Context>, n: u64) -> Result<Self> {
        let count = n.div_ceil(32);
        let words = Buffer::alloc_for::<u32>(context, places(count))?;
        let starts = Buffer::alloc_for::<u64>(context, places(count).saturating_add(1))?;
        Ok(Self { words, starts, count })
    }
    /// The same without a mark, and so many bytes of zeros behind the words.
    pub(super) fn zeroed(context: &Arc<Context>, n: u64, more: u64) -> Result<Self> {
        let count = n.div_ceil(32);
        let words = Buffer::zeroed(context, count.next_multiple_of(2) * 4 + more)?;
        let starts = Buffer::alloc_for::<u64>(context, places(count).saturating_add(1))?;
        Ok(Self { words, starts, count })
    }
    /// The address of what is behind the words, a multiple of 8.
    pub(super) fn behind(&self) -> u64 {
        self.words.pointer() + self.count.next_multiple_of(2) * 4
    }
    /// How many are marked, once words are written.
    pub(super) fn ranked(&self) -> Result<u64> {
        sum_of_bits(self.words.context(), &self.words, &self.starts, self.count)
    }
}

/// Offsets of the marked entries by row; `b` where places are those of two merged patterns.
pub(super) fn rank_offsets(marks: &Marks, a: &DevicePattern, b: Option<&DevicePattern>) -> Result<Buffer> {
    let context = a.offsets.context();
    let (out, block) = (Buffer::alloc_for::<u64>(context, a.nrows + 1)?, block_and_tile(context).0);
    let kernel = structure(context, "rank_offsets")?;
    let launch = kernel.launch((a.nrows as u64 + 1).div_ceil(u64::from(block)), block, 0).arg(a.nrows as u64);
    let launch = launch.arg(&a.offsets).arg(b.map(|b| &b.offsets)).arg(&marks.words).arg(&marks.starts).arg(&out);
    // SAFETY: parameters as the README lists them; marks for every entry, nrows + 1 offsets everywhere.
    unsafe { launch.run()? };
    Ok(out)
}

/// The marked entries of A.
pub(super) fn compact(scalar: ScalarText, a: Operand<'_>, marks: &Marks, nnz: u64) -> Result<(DevicePattern, Buffer)> {
    let context = a.pattern.offsets.context();
    let (block, tile) = block_and_tile(context);
    let offsets = rank_offsets(marks, a.pattern, None)?;
    let indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
    let values = Buffer::alloc(context, nnz.saturating_mul(scalar.size as u64))?;
    let kernel =
        Program::new(context, Template::Entries, |s| s.scalar("V", movable(scalar))).kernel("entries_compact")?;
    let launch = kernel.launch(a.pattern.nnz.div_ceil(tile), block, 0).arg(a.pattern.nnz).arg(&marks.words);
    let launch = launch.arg(&marks.starts).arg(&a.pattern.indices).arg(a.values).arg(&indices).arg(&values);
    // SAFETY: as above; the results have as many places as there are marks.
    unsafe { launch.run()? };
    Ok((DevicePattern::new((a.pattern.nrows, a.pattern.ncols), nnz, offsets, indices), values))
}

/// Entries that stand side by side in each row: how many, and where they are in A.
pub(super) struct Spans {
    pub(super) counts: Buffer,
    rows: usize,
    at: At,
}

/// Where spans begin.
pub(super) enum At {
    /// Here.
    Places(Buffer),
    /// Where rows do, of the rows from this one on.
    Begins(u64),
    /// So that they end where rows do.
    Ends,
}

impl Spans {
    /// Of so many rows.
    pub(super) fn room(context: &Arc<Context>, rows: usize, at: At) -> Result<Self> {
        Ok(Self { counts: Buffer::alloc_for::<u32>(context, rows)?, rows, at })
    }
    /// Where they are to be written.
    pub(super) fn places(&self) -> Option<&Buffer> {
        if let At::Places(starts) = &self.at { Some(starts) } else { None }
    }
    /// Offsets of the result and its entries, once counts are written.
    pub(super) fn counted(&self) -> Result<(Buffer, u64)> {
        let context = self.counts.context();
        let offsets = Buffer::alloc_for::<u64>(context, self.rows.saturating_add(1))?;
        let nnz = widen_and_sum(context, &self.counts, &offsets, self.rows as u64)?;
        Ok((offsets, nnz))
    }
    /// These entries of A, as they were counted, with so many columns, all moved by a shift modulo 2^32.
    pub(super) fn taken(
        &self,
        scalar: ScalarText,
        a: Operand<'_>,
        (offsets, nnz): (Buffer, u64),
        (ncols, shift): (usize, u32),
    ) -> Result<(DevicePattern, Buffer)> {
        let context = a.pattern.offsets.context();
        let (block, tile) = block_and_tile(context);
        let indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
        let values = Buffer::alloc(context, nnz.saturating_mul(scalar.size as u64))?;
        let program = Program::new(context, Template::Entries, |s| s.scalar("V", movable(scalar)));
        let kernel = program.kernel("entries_spans")?;
        let of_a = a.pattern.offsets.pointer();
        let (starts, ends) = match &self.at {
            At::Places(starts) => (starts.pointer(), 0u32),
            At::Begins(first) => (of_a + 8 * first, 0),
            At::Ends => (of_a + 8, 1),
        };
        let launch = kernel.launch(nnz.div_ceil(tile), block, 0).arg(nnz).arg(self.rows as u64).arg(&offsets);
        let launch = launch.arg(starts).arg(ends).arg(shift).arg(&a.pattern.indices).arg(a.values).arg(&indices);
        // SAFETY: parameters as the README lists them; what the spans say is in A, the results have as many places; rows have a place
        // each from `starts` on.
        unsafe { launch.arg(&values).run()? };
        Ok((DevicePattern::new((self.rows, ncols), nnz, offsets, indices), values))
    }
}

/// Where the entry at (row, column) is, both inside the shape.
pub(super) fn find(pattern: &DevicePattern, row: usize, column: u32) -> Result<Option<u64>> {
    let context = pattern.offsets.context();
    let found = Buffer::alloc_for::<u64>(context, 1)?;
    let kernel = structure(context, "find_entry")?;
    let launch = kernel.launch(1u32, 32u32, 0).arg(row as u64).arg(column).arg(&pattern.offsets);
    // SAFETY: parameters as the README lists them; the row exists.
    unsafe { launch.arg(&pattern.indices).arg(&found).run()? };
    Ok(Some(found.read_one::<u64>(0)?).filter(|e| *e < pattern.nnz))
}

/// Rows `list` of A, in the list's order.
pub(super) fn extract_rows(scalar: ScalarText, a: Operand<'_>, list: &[u32]) -> Result<(DevicePattern, Buffer)> {
    listed_rows(scalar, a, &super::storage::places::list(a.pattern.offsets.context(), list)?)
}

/// The same by a list on the device.
pub(super) fn listed_rows(scalar: ScalarText, a: Operand<'_>, list: &Buffer) -> Result<(DevicePattern, Buffer)> {
    let context = a.pattern.offsets.context();
    let (count, (block, tile)) = (list.len_of::<u32>() as u64, block_and_tile(context));
    let offsets = Buffer::alloc_for::<u64>(context, places(count).saturating_add(1))?;
    let kernel = structure(context, "list_counts")?;
    let launch = kernel.launch(count.div_ceil(u64::from(block)), block, 0).arg(count).arg(list);
    // SAFETY: parameters as the README lists them; the listed rows exist.
    unsafe { launch.arg(&a.pattern.offsets).arg(&offsets).run()? };
    let (nnz, _) = sum_in_place(context, &offsets, count)?;
    let indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
    let values = Buffer::alloc(context, nnz.saturating_mul(scalar.size as u64))?;
    let kernel = Program::new(context, Template::Entries, |s| s.scalar("V", movable(scalar))).kernel("entries_list")?;
    let launch = kernel.launch(nnz.div_ceil(tile), block, 0).arg(nnz).arg(count).arg(list).arg(&offsets);
    let launch = launch.arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values).arg(&indices).arg(&values);
    // SAFETY: as above; the results have the places the offsets say.
    unsafe { launch.run()? };
    Ok((DevicePattern::new((places(count), a.pattern.ncols), nnz, offsets, indices), values))
}

/// Listed rows of a pattern.
pub(super) fn listed_pattern(pattern: &DevicePattern, list: &Buffer) -> Result<DevicePattern> {
    let column = ScalarText { name: "u32", definition: "", size: 4 };
    Ok(listed_rows(column, Operand { pattern, values: &pattern.indices }, list)?.0)
}
