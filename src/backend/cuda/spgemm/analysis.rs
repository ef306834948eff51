//! Rows counted, classed and listed: what every sparse product begins with.
use super::{CONTROL, Job, LARGEST_ROOM, STAGED};

use crate::backend::cuda::Buffer;
use crate::backend::cuda::program::{Program, scan_in_place};
use crate::error::Result;
use oplus_codegen::Template;

/// What the analysis leaves on the device for the passes over the products.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) control: Buffer,
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
    /// Bit 0: rows of many products may get a block and bits over their columns. Bit 1: windows and blocks take every row
    /// that they can.
    pub(super) block: u32,
}

/// What else the rows get: for a product their counts, how they came out of the symbolic phase and room for those made in
/// one pass; for a reduction their units.
pub(super) enum PerRow<'a> {
    Product { counts: &'a Buffer, kinds: &'a Buffer, room: &'a Buffer },
    Units(&'a Buffer),
}

/// Products of each row, and the first and last column of those of more than `thread`.
pub(super) fn measure(
    job: &Job,
    program: &Program<'_>,
    thread: u32,
    control: &Buffer,
    (products, first, last): (&Buffer, &Buffer, &Buffer),
) -> Result<()> {
    let (a, b, tuning) = (job.a.pattern, job.b.pattern, job.tuning);
    let grid = (job.rows * tuning.analyze_lanes as u64).div_ceil(tuning.analyze_block as u64);
    let kernel = program.kernel("spgemm_analyze")?;
    let launch = kernel.launch(grid, tuning.analyze_block, 0).arg(&a.offsets).arg(&a.indices).arg(&b.offsets);
    let launch = launch.arg(&b.indices).arg(job.rows).arg(thread).arg(control).arg(products);
    // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
    unsafe { launch.arg(first).arg(last).run() }
}

/// `limits`: which rows are sorted, and which get a window.
pub(super) fn analyze(job: &Job, limits: Limits, per_row: &PerRow) -> Result<Work> {
    let (context, tuning, rows, nrows) = (job.context, job.tuning, job.rows, job.a.pattern.nrows);
    let reduce = matches!(per_row, PerRow::Units(_));
    let program = Program::new(context, Template::SpgemmAnalyze, |s| job.masked(s).flag("reduce", reduce));
    let slice_places = 2 * tuning.slice_units as usize + 64;
    let work = Work {
        control: Buffer::zeroed_for::<u64>(context, CONTROL)?,
        products: Buffer::alloc_for::<u32>(context, nrows)?,
        first: Buffer::alloc_for::<u32>(context, nrows)?,
        last: Buffer::alloc_for::<u32>(context, nrows)?,
        units: Buffer::alloc_for::<u32>(context, nrows)?,
        slices: Buffer::alloc_for::<u64>(context, slice_places)?,
        slice_places,
    };
    let (units, counts, kinds, room) = match per_row {
        PerRow::Product { counts, kinds, room } => (None, Some(*counts), Some(*kinds), Some(*room)),
        PerRow::Units(units) => (Some(*units), None, None, None),
    };
    let (a, m_offsets) = (job.a.pattern, job.mask.map(|m| &m.pattern.offsets));
    measure(job, &program, limits.thread, &work.control, (&work.products, &work.first, &work.last))?;
    let bins = rows.div_ceil(tuning.bin_block as u64);
    // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
    unsafe {
        let kernel = program.kernel("spgemm_count_units")?;
        let launch = kernel.launch(bins, tuning.bin_block, 0).arg(&a.offsets).arg(m_offsets).arg(rows);
        launch
            .arg(&work.control)
            .arg(&work.products)
            .arg(&work.first)
            .arg(&work.last)
            .arg(limits.thread)
            .arg(limits.esc)
            .arg(limits.window)
            .arg(limits.block)
            .run()?;
        let kernel = program.kernel("spgemm_list_units")?;
        let launch = kernel.launch(bins, tuning.bin_block, 0).arg(&a.offsets).arg(m_offsets).arg(rows);
        let launch = launch.arg(&work.control).arg(&work.products).arg(&work.first).arg(&work.last);
        let launch = launch
            .arg(limits.thread)
            .arg(limits.esc)
            .arg(limits.window)
            .arg(limits.block)
            .arg(&work.units)
            .arg(&work.slices)
            .arg(units)
            .arg(counts)
            .arg(kinds);
        launch.arg(room).run()?;
    }
    if let Some(room) = room {
        scan_in_place(context, room, rows, Some((&work.control, STAGED as u64, LARGEST_ROOM as u64)))?;
    }
    Ok(work)
}
