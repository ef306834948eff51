//! Rows counted, classed and listed: what every sparse product begins with.
use super::{CLASS_COUNT, CONTROL, Job};
use crate::backend::cuda::product::Product;
use crate::backend::cuda::runtime::ahead::Wanted;
use crate::backend::cuda::runtime::program::{Program, resident, scan_states};
use crate::backend::cuda::runtime::report::Report;
use crate::backend::cuda::{Buffer, Context, Launch};
use crate::error::Result;
use oplus_codegen::Template;
use std::sync::Arc;

/// The kernels.
const MEASURE: &str = "spgemm_analyze";
const COUNT: &str = "spgemm_count_units";
const LIST: &str = "spgemm_list_units";

/// Lists of rows that several blocks may share.
pub(super) const SHARED_LISTS: u64 = super::BLOCK_SIZES as u64 - 1;

/// The control block, and behind it all else that is zero in the beginning: states of the scan that lists the rows, of that over
/// C's rows, and a word for each of the rows that blocks share. One fill for all: each takes as long as starting a kernel.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) buffer: Buffer,
    /// Words before the second states, and before the shared rows.
    scan: u64,
    shared: u64,
    shared_rows: u64,
}

impl Control {
    fn zeroed(context: &Arc<Context>, rows: u64, bins: u64, shared_rows: u64) -> Result<Self> {
        let scan = CONTROL as u64 + bins + 1;
        let shared = scan + scan_states(context, rows);
        let words = shared + (SHARED_LISTS * shared_rows).div_ceil(2);
        Ok(Self { buffer: Buffer::zeroed(context, 8 * words)?, scan, shared, shared_rows })
    }
    /// The block.
    pub(super) fn read(&self) -> Result<Vec<u64>> {
        self.buffer.read(0..CONTROL)
    }
    /// The address of the states of the scan that lists the rows.
    fn listing(&self) -> u64 {
        self.buffer.pointer() + 8 * CONTROL as u64
    }
    /// The address of the states of the scan over C's rows.
    pub(super) fn scan(&self) -> u64 {
        self.buffer.pointer() + 8 * self.scan
    }
    /// The address of the words for the shared rows of one of the lists.
    pub(super) fn shared(&self, list: u64) -> u64 {
        self.buffer.pointer() + 8 * self.shared + 4 * list * self.shared_rows
    }
}

/// What the analysis leaves on the device for the passes over the products.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) control: Control,
    pub(super) products: Buffer,
    pub(super) first: Buffer,
    pub(super) last: Buffer,
    pub(super) units: Buffer,
    pub(super) slices: Buffer,
    pub(super) slice_places: usize,
}

/// Which rows are done without a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Rows of so many products have a thread each: 0, 16 or 32.
    pub(super) thread: u32,
    /// Rows of more products are not sorted: by a warp up to the tuning's `esc_products`, by a block beyond.
    pub(super) esc: u32,
    /// Rows whose columns lie further apart get no window; 0: none does.
    pub(super) window: u32,
    /// Nor, of many products, a block with a sum a column; 0: none does.
    pub(super) dense: u32,
    /// Bit 0: rows of many products may get a block and bits over their columns. Bit 1: windows and blocks take every row
    /// that they can. Bit 2: all others are sorted in device memory ([`super::sorted`]). Bit 3: products are counted.
    pub(super) block: u32,
    /// So are rows whose columns lie further apart and are not that many; 0: none is.
    pub(super) far: u32,
}

/// Bit of [`Limits::block`]: what no other kernel takes is sorted in device memory.
pub(super) const SORTS_ALL: u32 = 4;
/// Bit of it: sums are counts, of which more are near each other.
pub(super) const COUNTS: u32 = 8;

impl Limits {
    /// None is.
    pub(super) const NONE: Limits = Limits { thread: 0, esc: 0, window: 0, dense: 0, block: 0, far: 0 };

    /// As arguments, in the order of the kernels' `Limits`.
    pub(super) fn arguments(self, launch: Launch<'_>) -> Launch<'_> {
        launch.arg(self.thread).arg(self.esc).arg(self.window).arg(self.dense).arg(self.block).arg(self.far)
    }
}

/// What else the rows get: for a product their counts, how they came out of the symbolic phase and room for those made in
/// one pass; for a reduction their units.
pub(super) enum PerRow<'a> {
    Product { counts: &'a Buffer, kinds: &'a Buffer, room: &'a Buffer },
    Units(&'a Buffer),
}

/// Products of each row, up to what 32 bits count, and the first and last of their columns.
pub(in crate::backend::cuda) struct Measured {
    pub(in crate::backend::cuda) products: Buffer,
    pub(in crate::backend::cuda) first: Buffer,
    pub(in crate::backend::cuda) last: Buffer,
}

/// No more entries than this are in A ⊕.⊗ B, whatever the mask; u64::MAX where that takes a look at the rows.
pub(in crate::backend::cuda) fn bound(product: &Product) -> Result<u64> {
    Ok(Job::new(product)?.bound().unwrap_or(u64::MAX))
}

/// How much work each row of a product is.
pub(in crate::backend::cuda) fn measured(product: &Product) -> Result<Measured> {
    let (job, nrows) = (Job::new(product)?, product.a.pattern.nrows);
    let of_rows = || Buffer::alloc_for::<u32>(job.context, nrows);
    let to = Measured { products: of_rows()?, first: of_rows()?, last: of_rows()? };
    let control = Buffer::zeroed_for::<u64>(job.context, CONTROL)?;
    measure(&job, &program(&job, false), &control, (&to.products, &to.first, &to.last))?;
    Ok(to)
}

/// Products of each row, and the first and last of their columns.
pub(super) fn measure(
    job: &Job,
    program: &Program<'_>,
    control: &Buffer,
    (products, first, last): (&Buffer, &Buffer, &Buffer),
) -> Result<()> {
    let (a, b, tuning) = (job.a.pattern, job.b.pattern, job.tuning);
    let grid = (job.rows * lanes(job)).div_ceil(tuning.analyze_block as u64);
    let kernel = program.kernel(MEASURE)?;
    let launch = kernel.launch(grid, tuning.analyze_block, 0).arg(&a.offsets).arg(&a.indices).arg(&b.offsets);
    let launch = launch.arg(&b.indices).arg(job.rows).arg(control).arg(products);
    // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
    unsafe { launch.arg(first).arg(last).run() }
}

/// Places of lists that have room for all rows each, where rows are listed without being counted.
pub(super) fn uncounted_places(job: &Job) -> Option<u64> {
    let places = job.rows.saturating_mul(CLASS_COUNT as u64);
    (places <= job.tuning.list_places.into()).then_some(places)
}

/// The kernels of [`analyze`], to be listed.
pub(super) fn analyzing(job: &Job, reduce: bool) -> Vec<Wanted> {
    let program = program(job, reduce);
    let counting = (reduce || uncounted_places(job).is_none()).then_some(COUNT);
    [MEASURE, LIST].into_iter().chain(counting).map(|name| program.wanted(name)).collect()
}

/// The kernels that count and list rows.
pub(super) fn program<'a>(job: &Job<'a>, reduce: bool) -> Program<'a> {
    Program::new(job.context, Template::SpgemmAnalyze, |s| {
        job.masked(s).flag("reduce", reduce).number("lanes", lanes(job))
    })
}

/// Lanes that share a row of A.
fn lanes(job: &Job) -> u64 {
    // Entries that a lane looks at side by side.
    const AT_ONCE: u64 = 4;
    let (tuning, a, most) = (job.tuning, job.a.pattern, u64::from(job.tuning.analyze_lanes));
    if job.rows < tuning.analyze_many.into() {
        return most;
    }
    let enough = |lanes: &u64| a.nnz <= job.rows.saturating_mul(lanes * AT_ONCE / 2);
    let fewer = std::iter::successors(Some(u64::from(tuning.analyze_lanes_few)), |lanes| Some(2 * lanes));
    fewer.take_while(|lanes| *lanes < most).find(enough).unwrap_or(most)
}

/// `limits`: which rows are sorted, and which get a window. Of a product, what is in the control block too.
pub(super) fn analyze(job: &Job, limits: Limits, per_row: &PerRow) -> Result<(Work, Vec<u64>)> {
    let (context, tuning, rows, nrows) = (job.context, job.tuning, job.rows, job.a.pattern.nrows);
    let reduce = matches!(per_row, PerRow::Units(_));
    let program = program(job, reduce);
    // Of no rows too the last kernel tells that there are none.
    let bins = rows.div_ceil(tuning.bin_block as u64).max(1);
    let uncounted = if reduce { None } else { uncounted_places(job) };
    let unit_places = uncounted.map_or(nrows, |places| places as usize);
    let slice_places = 2 * tuning.slice_units as usize + 64;
    let work = Work {
        control: Control::zeroed(context, rows, bins, job.shared_rows())?,
        products: Buffer::alloc_for::<u32>(context, nrows)?,
        first: Buffer::alloc_for::<u32>(context, nrows)?,
        last: Buffer::alloc_for::<u32>(context, nrows)?,
        units: Buffer::alloc_for::<u32>(context, unit_places)?,
        slices: Buffer::alloc_for::<u64>(context, slice_places)?,
        slice_places,
    };
    let (units, counts, kinds, room) = match per_row {
        PerRow::Product { counts, kinds, room } => (None, Some(*counts), Some(*kinds), Some(*room)),
        PerRow::Units(units) => (Some(*units), None, None, None),
    };
    let (a, m_offsets) = (job.a.pattern, job.mask.map(|m| &m.pattern.offsets));
    measure(job, &program, &work.control.buffer, (&work.products, &work.first, &work.last))?;
    if uncounted.is_none() {
        let kernel = program.kernel(COUNT)?;
        let launch = kernel.launch(bins, tuning.bin_block, 0).arg(&a.offsets).arg(m_offsets).arg(rows);
        let launch = launch.arg(&work.control.buffer).arg(&work.products).arg(&work.first).arg(&work.last);
        // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
        unsafe { limits.arguments(launch).run()? };
    }
    let kernel = program.kernel(LIST)?;
    let grid = resident(&kernel, tuning.bin_block, 0, bins)?;
    let list = |report: Report| {
        let launch = kernel.launch(grid, tuning.bin_block, 0).arg(&a.offsets).arg(m_offsets).arg(rows);
        let launch = launch.arg(&work.control.buffer).arg(&work.products).arg(&work.first).arg(&work.last);
        let launch = limits.arguments(launch).arg(&work.units).arg(if uncounted.is_some() { rows } else { 0 });
        let launch = launch.arg(&work.slices).arg(units).arg(counts).arg(kinds).arg(room);
        // SAFETY: as above.
        unsafe { launch.arg(work.control.listing()).telling(report).run() }
    };
    let found = context.tells::<CONTROL>(&work.control.buffer, list)?;
    Ok((work, found))
}
