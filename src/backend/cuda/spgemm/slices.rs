//! Products expanded, sorted and contracted a slice of rows at a time, on primitives of the whole device (Dalton, Olson, Bell,
//! "Optimizing sparse matrix-matrix multiplication for the GPU", 10.1145/2699470, algorithm 1).
//!
//! Workspace is bounded: a slice has as many rows as their products fit it, and a row of more goes by stretches of columns.
//! Sums run in the order of k, bit-equal to a serial sum.
use super::{Job, Made};
use crate::backend::cuda::entries::{Marks, places, sortable};
use crate::backend::cuda::runtime::ahead::{self, Wanted};
use crate::backend::cuda::runtime::program::{Program, scan_bits, scan_in_place, scan_u64, scanning, sum_in_place};
use crate::backend::cuda::structure::segmented_merge::{self, Segments, merge_segments, sort_segments};
use crate::backend::cuda::structure::sort::{self, Keyed, bits_below, sort};
use crate::backend::cuda::{Buffer, Context, DevicePattern, Launch, of_positions};
use crate::error::{Error, Result};
use crate::spgemm::chunks::Size;
use oplus_codegen::Template;
use std::sync::Arc;

/// Slices of no more products are not made smaller where memory is short.
const SMALL: u64 = 1 << 14;

const EXPAND: &str = "spgemm_expand";

/// How products are brought together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sorting {
    /// Radix sort of row and column.
    Radix,
    /// Each row's products, runs of ascending columns a row of B each, are merged.
    Merge,
    /// Tiles of products are sorted, a block each, and those of a row merged.
    Tiles,
    /// As `Merge`, the products made as outer products: in the order of k.
    Outer,
}

/// Some rows of A, and their products with some columns of B. Addresses are of arrays on the device.
struct Slice {
    first: u64,
    rows: u64,
    /// A's entries.
    begin: u64,
    entries: u64,
    products: u64,
    /// Entry e of the slice has products runs[e] - origin .. runs[e + 1] - origin; `segments` are the rows' places in
    /// `segment_runs`, which is where these numbers begin.
    runs: u64,
    origin: u64,
    segments: u64,
    segment_runs: u64,
    /// Columns of B, if not all.
    columns: Option<(u64, u64)>,
}

impl Slice {
    /// Its rows as segments of runs, a run an entry of A.
    fn segments(&self) -> Segments {
        Segments { count: self.rows, segments: self.segments, runs: self.segment_runs, origin: self.origin }
    }
}

/// Entries of C, side by side.
pub(super) struct Entries {
    pub(super) indices: Buffer,
    pub(super) values: Buffer,
    pub(super) nnz: u64,
}

/// The products of a slice, in the order of C's entries and of k.
pub(super) struct Sorted {
    pub(super) n: u64,
    pub(super) keyed: Keyed,
    /// Where the entries begin.
    pub(super) marks: Marks,
    pub(super) nnz: u64,
    /// Columns in the keys.
    pub(super) bits: u32,
}

/// What becomes of the products.
pub(super) trait End {
    /// What is kept of a slice.
    type Made;
    /// Whether products are made as the places of their factors, and not by the semiring.
    const PLACES: bool;
    /// The kernel that it takes.
    fn wanted(job: &Job) -> Wanted;
    /// Of sorted products, and what `spgemm_expand` wrote for each; nothing is kept of what fails.
    fn end(&mut self, job: &Job, sorted: &Sorted, terms: &Buffer) -> Result<Self::Made>;
    /// A slice of so many products is done.
    fn made(&mut self, _products: u64) {}
}

/// They are summed.
struct Sums;
impl Sums {
    fn program<'a>(job: &Job<'a>) -> Program<'a> {
        Program::new(job.context, Template::SpgemmContract, |s| s.semiring(job.semiring.clone()))
    }
}
impl End for Sums {
    type Made = Entries;
    const PLACES: bool = false;
    fn wanted(job: &Job) -> Wanted {
        Sums::program(job).wanted("spgemm_contract")
    }
    fn end(&mut self, job: &Job, sorted: &Sorted, terms: &Buffer) -> Result<Entries> {
        let (context, nnz) = (job.context, sorted.nnz);
        let indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
        let values = Buffer::alloc(context, nnz.saturating_mul(job.semiring.written().size as u64))?;
        if nnz > 0 {
            let (kernel, block) = (Sums::program(job).kernel("spgemm_contract")?, job.tuning.primitive_block);
            let launch = kernel.launch(sorted.n.div_ceil(u64::from(block)), block, 0).arg(sorted.n);
            let launch = launch.arg(&sorted.keyed.keys).arg(&sorted.keyed.places).arg(&sorted.marks.words);
            let launch = launch.arg(&sorted.marks.starts).arg(sorted.bits).arg(terms);
            // SAFETY: an entry a mark, a term a product.
            unsafe { launch.arg(&indices).arg(&values).run()? };
        }
        Ok(Entries { indices, values, nnz })
    }
}

impl Job<'_> {
    /// The product; both operands have entries.
    pub(super) fn by_slices(&self, sorting: Sorting) -> Result<Made> {
        let (made, counts) = self.slices(sorting, &mut Sums)?;
        self.joined(made, counts)
    }

    /// What `end` makes of the products, slice by slice, and how many entries the rows of C have.
    pub(super) fn slices<E: End>(&self, sorting: Sorting, end: &mut E) -> Result<(Vec<E::Made>, Buffer)> {
        ahead::listed(&|| self.wanted_by::<E>(sorting), || self.sliced(sorting, end))
    }

    /// The kernels that make slices.
    fn wanted_by<E: End>(&self, sorting: Sorting) -> Vec<Wanted> {
        let (context, outer) = (self.context, sorting == Sorting::Outer);
        let ordered = if outer { &["slice_columns", "slice_ordered_lengths"][..] } else { &[] };
        let own = ["slice_end", "slice_marks", "slice_counts", "slice_lengths"];
        let mut all = vec![self.expanding(outer, E::PLACES).wanted(EXPAND), E::wanted(self)];
        all.extend(own.iter().chain(ordered).map(|name| self.slicing().wanted(*name)));
        all.extend([scanning(context, scan_u64), scanning(context, scan_bits)]);
        if outer || sorting == Sorting::Radix {
            all.extend(sort::wanted(context));
        }
        if sorting != Sorting::Radix {
            all.extend(segmented_merge::wanted(context));
        }
        if sorting == Sorting::Tiles {
            all.extend(segmented_merge::wanted_to_sort(context));
        }
        all
    }

    fn sliced<E: End>(&self, sorting: Sorting, end: &mut E) -> Result<(Vec<E::Made>, Buffer)> {
        let (context, a) = (self.context, self.a.pattern);
        let runs = self.lengths((a.indices.pointer(), a.nnz), None)?;
        let counts = Buffer::zeroed_for::<u64>(context, a.nrows + 1)?;
        let (most, mut first, mut made) = (self.most_products(), 0, Vec::new());
        let mut bound = Size::of(most, most);
        let program = self.slicing();
        let ends = program.kernel("slice_end")?;
        while first < self.rows {
            let out = Buffer::alloc_for::<u64>(context, 5)?;
            let launch = ends.launch(1u32, 32u32, 0).arg(self.rows).arg(first).arg(bound.now()).arg(&a.offsets);
            // SAFETY: of all launches here, parameters as codegen/templates/README.md lists them, buffers of the sizes
            // it asks for; the row exists, and `runs` has a place behind the last entry.
            unsafe { launch.arg(&runs).arg(&out).run()? };
            let out: Vec<u64> = out.to_host()?;
            let (begin, origin, segment_runs) = (out[1], out[3], runs.pointer());
            let slice = Slice {
                first,
                rows: out[0] - first,
                begin,
                entries: out[2] - begin,
                products: out[4] - origin,
                runs: segment_runs + 8 * begin,
                origin,
                segments: a.offsets.pointer() + 8 * first,
                segment_runs,
                columns: None,
            };
            if slice.products > bound.now() {
                self.by_columns(&slice, &mut bound, sorting, &counts, (&mut made, end))?;
            } else if slice.products > 0 {
                match self.slice(&slice, sorting, &counts, end) {
                    // Others may have most of the memory: rather smaller slices.
                    Err(Error::OutOfMemory { .. }) if slice.products > SMALL => {
                        bound.shrink(slice.products / 4);
                        continue;
                    }
                    one => made.push(one?),
                }
                bound.fits();
            }
            first = out[0];
        }
        Ok((made, counts))
    }

    /// A row of too many products, a stretch of columns after the other.
    fn by_columns<E: End>(
        &self,
        row: &Slice,
        bound: &mut Size,
        sorting: Sorting,
        counts: &Buffer,
        (made, end): (&mut Vec<E::Made>, &mut E),
    ) -> Result<()> {
        let columns = u64::from(self.columns);
        let entries = (self.a.pattern.indices.pointer() + 4 * row.begin, row.entries);
        let segments = Buffer::from_host(self.context, &[0, row.entries])?;
        let even = u128::from(columns) * u128::from(bound.now()) / u128::from(row.products.max(1));
        let (mut low, mut width) = (0, u64::try_from(even).unwrap_or(columns).max(1));
        while low < columns {
            let high = columns.min(low + width);
            let runs = self.lengths(entries, Some((low, high)))?;
            let products = runs.read_one::<u64>(places(row.entries))?;
            if products > bound.now() && high - low > 1 {
                width = (high - low) / 2;
                continue;
            }
            if products > 0 {
                let (runs, segments) = (runs.pointer(), segments.pointer());
                let columns = Some((low, high));
                let slice = Slice { products, runs, origin: 0, segments, segment_runs: runs, columns, ..*row };
                match self.slice(&slice, sorting, counts, end) {
                    Err(Error::OutOfMemory { .. }) if products > SMALL && high - low > 1 => {
                        bound.shrink(products / 4);
                        width = (high - low).div_ceil(4);
                        continue;
                    }
                    one => made.push(one?),
                }
                bound.fits();
            }
            (low, width) = (high, width.saturating_mul(if products < bound.now() / 4 { 2 } else { 1 }));
        }
        Ok(())
    }

    /// Expanded, sorted, brought to their end; the rows' lengths are added to `counts`, unless there is no memory.
    fn slice<E: End>(&self, slice: &Slice, sorting: Sorting, counts: &Buffer, end: &mut E) -> Result<E::Made> {
        let (context, n, block) = (self.context, slice.products, self.tuning.primitive_block);
        sortable("mxm", n)?;
        let bits = bits_below(self.b.pattern.ncols);
        let (keyed, terms) = self.expanded(slice, bits, sorting == Sorting::Outer, E::PLACES)?;
        let keyed = match sorting {
            Sorting::Radix => sort(context, keyed, n, 0..bits + bits_below(places(slice.rows)))?,
            Sorting::Merge | Sorting::Outer => merge_segments(context, keyed, n, slice.segments())?,
            Sorting::Tiles => sort_segments(context, keyed, n, slice.segments())?,
        };
        let program = self.slicing();
        let marks = Marks::room(context, n)?;
        let (m_offsets, m_indices) = (self.mask.map(|m| &m.pattern.offsets), self.mask.map(|m| &m.pattern.indices));
        let kernel = program.kernel("slice_marks")?;
        let launch = kernel.launch(n.div_ceil(u64::from(block)), block, 0).arg(n).arg(&keyed.keys).arg(bits);
        let launch = launch.arg(slice.first).arg(m_offsets).arg(m_indices);
        // SAFETY: a word and a count for every 32 products.
        unsafe { launch.arg(&marks.words).run()? };
        let nnz = marks.ranked()?;
        let sorted = Sorted { n, keyed, marks, nnz, bits };
        let made = end.end(self, &sorted, &terms)?;
        let kernel = program.kernel("slice_counts")?;
        let launch = kernel.launch(slice.rows.div_ceil(u64::from(block)), block, 0).arg(slice.rows).arg(slice.begin);
        let launch = launch.arg(self.a.pattern.offsets.pointer() + 8 * slice.first).arg(slice.runs).arg(slice.origin);
        let launch = launch.arg(&sorted.marks.words).arg(&sorted.marks.starts);
        // SAFETY: the slice's rows are rows of A, of which `counts` has one each.
        unsafe { launch.arg(counts.pointer() + 8 * slice.first).run()? };
        // Nothing is left to fail: a slice that finds no memory is made again in parts.
        end.made(n);
        Ok(made)
    }

    fn expanding(&self, outer: bool, factors: bool) -> Program<'_> {
        Program::new(self.context, Template::SpgemmExpand, |s| {
            let semiring = if factors { of_positions() } else { self.semiring.clone() };
            let s = s.semiring(semiring).flag("mapped", !factors && self.ids.mapped()).flag("by_columns", outer);
            s.flag("places", factors)
        })
    }

    /// Keys row << bits | column of the slice's products where their entries of A stand, and their values or their factors' places.
    fn expanded(&self, slice: &Slice, bits: u32, outer: bool, factors: bool) -> Result<(Keyed, Buffer)> {
        let (context, n, block) = (self.context, slice.products, self.tuning.primitive_block);
        let (a, b, tile) = (self.a.pattern, self.b.pattern, u64::from(block * self.tuning.entry_items));
        let program = self.expanding(outer, factors);
        let keyed = Keyed::room(context, n)?;
        let size = match (factors, program.spec.is_constant()) {
            (true, _) => 8,
            (_, true) => 0,
            _ => self.semiring.c.size as u64,
        };
        let terms = Buffer::alloc(context, n.saturating_mul(size))?;
        let row_bits = bits_below(places(slice.rows));
        let ordered = if outer { Some(self.ordered(slice, row_bits)?) } else { None };
        let kernel = program.kernel(EXPAND)?;
        let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(slice.begin).arg(slice.entries);
        let launch = launch.arg(slice.first).arg(slice.rows).arg(a.offsets.pointer() + 8 * slice.first).arg(&a.indices);
        let launch = launch.arg(self.a.values).arg(&b.offsets).arg(&b.indices).arg(self.b.values);
        let launch = self.named(launch);
        let launch = launch.arg(slice.runs).arg(slice.origin).arg(slice.columns.map_or(0, |c| c.0));
        let launch = launch.arg(u32::from(slice.columns.is_some())).arg(bits);
        let launch = launch.arg(ordered.as_ref().map(|o| &o.0.keys)).arg(ordered.as_ref().map(|o| &o.0.places));
        let launch = launch.arg(row_bits).arg(ordered.as_ref().map(|o| &o.1));
        // SAFETY: n keys, places and, unless constant, terms.
        unsafe { launch.arg(&keyed.keys).arg(&keyed.places).arg(&terms).run()? };
        Ok((keyed, terms))
    }

    /// The slice's entries in the order of columns, and the products before each.
    fn ordered(&self, slice: &Slice, row_bits: u32) -> Result<(Keyed, Buffer)> {
        let (context, n, block) = (self.context, slice.entries, self.tuning.primitive_block);
        sortable("mxm", n)?;
        let (tile, program) = (u64::from(block * self.tuning.entry_items), self.slicing());
        let keyed = Keyed::room(context, n)?;
        let kernel = program.kernel("slice_columns")?;
        let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(slice.begin).arg(slice.rows);
        let launch = launch.arg(self.a.pattern.offsets.pointer() + 8 * slice.first).arg(&self.a.pattern.indices);
        // SAFETY: n keys and places.
        unsafe { launch.arg(row_bits).arg(&keyed.keys).arg(&keyed.places).run()? };
        let keyed = sort(context, keyed, n, row_bits..row_bits + bits_below(self.a.pattern.ncols))?;
        let lengths = Buffer::alloc_for::<u64>(context, places(n.saturating_add(1)))?;
        let kernel = program.kernel("slice_ordered_lengths")?;
        let launch = kernel.launch(n.div_ceil(u64::from(block)), block, 0).arg(n).arg(&keyed.keys).arg(row_bits);
        // SAFETY: n lengths.
        unsafe { self.stretch(launch.arg(&self.b.pattern.offsets), slice.columns).arg(&lengths).run()? };
        scan_in_place(context, &lengths, n, None)?;
        Ok((keyed, lengths))
    }

    /// Products before each of A's entries at an address, with these columns of B.
    fn lengths(&self, (indices, n): (u64, u64), columns: Option<(u64, u64)>) -> Result<Buffer> {
        let (context, block) = (self.context, self.tuning.primitive_block);
        let lengths = Buffer::alloc_for::<u64>(context, places(n.saturating_add(1)))?;
        let program = self.slicing();
        let kernel = program.kernel("slice_lengths")?;
        let launch = kernel.launch(n.div_ceil(u64::from(block)), block, 0).arg(n).arg(indices);
        // SAFETY: n entries and lengths.
        unsafe { self.stretch(launch.arg(&self.b.pattern.offsets), columns).arg(&lengths).run()? };
        scan_in_place(context, &lengths, n, None)?;
        Ok(lengths)
    }

    /// The columns of B that count, as arguments.
    fn stretch<'l>(&'l self, launch: Launch<'l>, columns: Option<(u64, u64)>) -> Launch<'l> {
        let (low, high) = columns.unwrap_or((0, 0));
        launch.arg(columns.map(|_| &self.b.pattern.indices)).arg(low).arg(high)
    }

    pub(super) fn slicing(&self) -> Program<'_> {
        Program::new(self.context, Template::SpgemmSlices, |s| self.masked(s))
    }

    /// All slices' entries one after the other.
    fn joined(&self, made: Vec<Entries>, counts: Buffer) -> Result<Made> {
        let (nnz, longest) = self.offsets(&counts)?;
        let (indices, values) = made.into_iter().map(|e| ((e.indices, e.nnz), (e.values, e.nnz))).unzip();
        let indices = joined(self.context, 4, nnz, indices)?;
        let values = joined(self.context, self.semiring.written().size as u64, nnz, values)?;
        let shape = (self.a.pattern.nrows, self.b.pattern.ncols);
        Ok((DevicePattern::new(shape, nnz, counts, indices).with_longest(longest), values))
    }

    /// C's offsets where the lengths of its rows were; its entries and those of its longest row.
    pub(super) fn offsets(&self, counts: &Buffer) -> Result<(u64, u64)> {
        sum_in_place(self.context, counts, self.rows)
    }

    /// Products of a slice: an eighth of the device's memory for keys, places and terms, and the bits that mark them.
    pub(super) fn most_products(&self) -> u64 {
        (self.context.properties().total_memory / 8 / self.product_bytes()).clamp(1 << 10, 1 << 31)
    }

    /// What a product takes there.
    pub(super) fn product_bytes(&self) -> u64 {
        2 * (8 + 4) + 2 + self.semiring.c.size as u64
    }
}

/// Values of `size` bytes, `total` of them, of buffers with so many each.
pub(super) fn joined(context: &Arc<Context>, size: u64, total: u64, mut parts: Vec<(Buffer, u64)>) -> Result<Buffer> {
    if parts.len() == 1
        && let Some((only, _)) = parts.pop()
    {
        return Ok(only);
    }
    let (mut all, mut at) = (Buffer::alloc(context, total.saturating_mul(size))?, 0);
    for (part, count) in &parts {
        all.copy_range(size * at, part, 0..size * count)?;
        at += count;
    }
    Ok(all)
}
