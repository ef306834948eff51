//! C⟨M⟩ = A ⊕.⊗ B on the device, and its reduction.
//!
//! Matrices on few diagonals (`band`), products of short rows and small products (`whole`) have ways of their own. All others:
//! analysis, one look at its counts, rows of few products in one pass with room to spare (or counted first where that room is
//! dear), the others counted, one look at nnz(C), the others' values, and rows moved together. Launch orders, sizes and
//! workspaces are those of `codegen/templates/README.md`.
mod analysis;
mod band;
mod explain;
mod named;
mod ordered;
mod plan;
mod reduce;
mod row_row;
mod short;
mod slices;
mod whole;

use super::entries::movable;
use super::lanes::Fork;
use super::product::{DeviceIds, DeviceMask, Operand, is_narrow};
use super::program::{Program, resident, scan_in_place, tuning};
use super::{Buffer, Context, DevicePattern, Launch};
use crate::backend::Positions;
use crate::error::{Error, Result};
use crate::spgemm::Strategy;
use analysis::{Limits, PerRow, Work, analyze};
use oplus_codegen::{BlockShape, SemiringText, Spec, TableLaunch, Template, Tuning};
use std::sync::Arc;

pub(super) use explain::explain;
pub(super) use ordered::{is_exact, mxm_ordered};
pub(super) use plan::{Prepared, prepare};
pub(super) use reduce::mxm_reduce;

const CONTROL: usize = 256;
/// Places in the control block.
const PRODUCTS: usize = 0;
const NNZ: usize = 2;
const SLICES: usize = 3;
const PARTS: usize = 4;
const STAGED: usize = 5;
const LARGEST_ROOM: usize = 6;
const LONGEST: usize = 7;
const FAILED: usize = 13;
const UNITS: usize = 32;
const SUMS: usize = 128;
/// From the rows of a class to the first of them.
const BEGIN: usize = 32;
const TABLES: usize = 5;
/// Classes of rows; those of `short` between.
const CLASS_COPY: usize = 1;
const THREAD: usize = 2;
const BLOCK: usize = short::END;
const BLOCK_SIZES: usize = 3;
const TABLE: usize = BLOCK + BLOCK_SIZES;
const CLASS_COUNT: usize = TABLE + TABLES;
/// Tickets for the rows of each block size.
const BLOCKS: usize = 224;
/// The operands of one product, ready.
struct Job<'a> {
    context: &'a Arc<Context>,
    tuning: &'static Tuning,
    semiring: SemiringText,
    a: Operand<'a>,
    b: Operand<'a>,
    mask: DeviceMask<'a>,
    ids: DeviceIds,
    rows: u64,
    columns: u32,
}

impl<'a> Job<'a> {
    fn new(
        context: &'a Arc<Context>,
        semiring: SemiringText,
        a: Operand<'a>,
        b: Operand<'a>,
        mask: DeviceMask<'a>,
        at: &Positions,
    ) -> Result<Self> {
        let ids = DeviceIds::upload(context, at, semiring.reads.position)?;
        let (rows, columns) = (a.pattern.nrows as u64, b.pattern.ncols as u32);
        Ok(Self { context, tuning: tuning(context), semiring, a, b, mask, ids, rows, columns })
    }
    fn masked(&self, spec: Spec) -> Spec {
        spec.flag("masked", self.mask.is_some()).flag("complement", self.mask.is_some_and(|m| m.complement))
    }
    /// For the kernels that walk the products.
    fn walking(&self, spec: Spec) -> Spec {
        self.masked(spec).flag("narrow", is_narrow(self.a.pattern, self.b.pattern))
    }
    fn with_semiring(&self, spec: Spec) -> Spec {
        self.walking(spec.semiring(self.semiring.clone())).flag("mapped", self.ids.mapped())
    }
    /// The patterns as arguments.
    fn patterns<'l>(&'l self, launch: Launch<'l>) -> Launch<'l> {
        let (m_offsets, m_indices) = (self.mask.map(|m| &m.pattern.offsets), self.mask.map(|m| &m.pattern.indices));
        let launch = launch.arg(&self.a.pattern.offsets).arg(&self.a.pattern.indices).arg(&self.b.pattern.offsets);
        launch.arg(&self.b.pattern.indices).arg(m_offsets).arg(m_indices).arg(self.columns)
    }
    /// Patterns, values and ids as arguments.
    fn operands<'l>(&'l self, launch: Launch<'l>) -> Launch<'l> {
        let (m_offsets, m_indices) = (self.mask.map(|m| &m.pattern.offsets), self.mask.map(|m| &m.pattern.indices));
        let launch = launch.arg(&self.a.pattern.offsets).arg(&self.a.pattern.indices).arg(self.a.values);
        let launch = launch.arg(&self.b.pattern.offsets).arg(&self.b.pattern.indices).arg(self.b.values);
        let launch = launch.arg(m_offsets).arg(m_indices).arg(self.columns);
        launch.arg(self.ids.i.as_ref()).arg(self.ids.k.as_ref()).arg(self.ids.j.as_ref())
    }
    /// The program of the numeric kernels of one group: 0 short rows, 1 + t table t. One module a group, so that what a
    /// product does not need is never compiled.
    fn numeric(&self, group: u64) -> Program<'_> {
        Program::new(self.context, Template::SpgemmNumeric, |s| self.with_semiring(s).number("kernels", 1 << group))
    }
    /// The most products of a row that a thread takes: its terms are in registers in the end.
    fn thread_limit(&self, spec: &Spec) -> u32 {
        if self.rows < u64::from(self.tuning.thread_rows) {
            return 0;
        }
        let fits = |width: u32| {
            width as usize * self.semiring.c.size <= 256 && short::thread_launch(spec, width, self.tuning).is_some()
        };
        [32, 16].into_iter().find(|width| fits(*width)).unwrap_or(0)
    }
    /// The shape of block size n: for rows of some, of many products, and of many whose columns lie far apart. With a sum a column
    /// a block has at least so many threads.
    fn block_shape(&self, spec: &Spec, n: usize, threads: u32) -> BlockShape {
        let most = self.tuning.block_columns;
        let columns = if n < 2 { self.columns.min(most) } else { self.columns.max(most + 1) };
        spec.block_shape(columns, n > 0, threads, self.context.properties().shared_per_block_optin)
    }
    /// The program of block size n, and its shape.
    fn block_program(
        &self,
        template: Template,
        (n, threads): (usize, u32),
        with: impl Fn(Spec) -> Spec,
    ) -> (Program<'_>, BlockShape) {
        let shape = self.block_shape(&with(Spec::new(template, self.context.properties().architecture)), n, threads);
        (Program::new(self.context, template, |s| with(s).block(shape)), shape)
    }
    /// Which rows are done without a table, by the strategy and by the shared memory that their terms take.
    fn limits(&self, strategy: Strategy) -> Limits {
        let properties = self.context.properties();
        let spec = Spec::new(Template::SpgemmEsc, properties.architecture).semiring(self.semiring.clone());
        let fits = |most: u32, least: u32, bytes: &dyn Fn(u32) -> u32| {
            let mut width = most;
            while width > least && bytes(width) > properties.shared_per_block_optin.min(128 << 10) {
                width /= 2;
            }
            width
        };
        let esc = fits(self.tuning.esc_products, 32, &|width| spec.esc_launch(width).1);
        let window = fits(self.tuning.window_columns, 128, &|width| spec.window_bytes(width));
        let window = if window < 256 { 0 } else { window };
        // The widest window must fit.
        let widest = spec.block_bytes(self.block_shape(&spec, BLOCK_SIZES - 1, 0));
        let block = u32::from(spec.sums_anywhere() && widest <= properties.shared_per_block_optin);
        let thread = self.thread_limit(&spec.flag("wide", self.is_wide()));
        match strategy {
            Strategy::Hash => Limits { thread, esc: 0, window: 0, block: 0 },
            Strategy::Esc => Limits { thread, esc, window: 0, block: 0 },
            Strategy::Window => Limits { thread: 0, esc: 0, window, block: 2 },
            Strategy::BitmapRank => Limits { thread: 0, esc: 0, window, block: block | 2 },
            _ => Limits { thread, esc, window, block },
        }
    }
}

/// Places in the control block: rows of a class, and the first of them in the list.
fn places(class: usize) -> (u32, u32) {
    ((UNITS + class) as u32, (UNITS + BEGIN + class) as u32)
}

/// Where rows go: offsets by row, and columns and values from there on.
struct Rows<'a> {
    offsets: &'a Buffer,
    indices: &'a Buffer,
    values: &'a Buffer,
}

/// A product being computed.
struct Run<'a> {
    job: &'a Job<'a>,
    work: Work,
    limits: Limits,
    tables: Vec<TableLaunch>,
    c_offsets: Buffer,
    row_kinds: Buffer,
    /// Rows of the tables in the numeric phase.
    sums: Buffer,
    slice_counts: Buffer,
    parts: Buffer,
    spill: Buffer,
    parts_room: u32,
    control: Vec<u64>,
}

/// T⟨M⟩ = A ⊕.⊗ B.
pub(super) fn mxm(
    context: &Arc<Context>,
    semiring: SemiringText,
    a: Operand<'_>,
    b: Operand<'_>,
    mask: DeviceMask,
    at: &Positions,
    strategy: Strategy,
) -> Result<(DevicePattern, Buffer)> {
    let job = Job::new(context, semiring, a, b, mask, at)?;
    if let Some(made) = job.by_name(strategy)? {
        return Ok(made);
    }
    if strategy == Strategy::Auto
        && let Some(made) = job.mxm_band()?
    {
        return Ok(made);
    }
    if let Some(whole) = job.whole(strategy)
        && let Some(made) = job.mxm_whole(whole)?
    {
        return Ok(made);
    }
    let (rows, nrows, size) = (job.rows, a.pattern.nrows, job.semiring.c.size as u64);
    let limits = job.limits(strategy);
    let c_offsets = Buffer::alloc_for::<u64>(context, nrows + 1)?;
    let row_kinds = Buffer::alloc_for::<u32>(context, nrows)?;
    let room = Buffer::alloc_for::<u64>(context, nrows + 1)?;
    let work = analyze(&job, limits, &PerRow::Product { counts: &c_offsets, kinds: &row_kinds, room: &room })?;
    let control: Vec<u64> = work.control.to_host()?;
    let tabled = control[SLICES] > 0 || control[UNITS + TABLE..][..TABLES].iter().any(|n| *n > 0);
    // A part has a product at least.
    let most_parts = control[PRODUCTS].min(rows.saturating_add(1 << 16));
    let parts_room = if tabled { u32::try_from(most_parts).unwrap_or(u32::MAX) } else { 0 };
    let spec = job.numeric(0).spec;
    let mut run = Run {
        job: &job,
        limits,
        tables: (0..TABLES).filter_map(|t| spec.table_launch(t)).collect(),
        sums: Buffer::alloc_for::<u32>(context, if tabled { nrows } else { 0 })?,
        slice_counts: Buffer::alloc_for::<u32>(context, if tabled { work.slice_places } else { 0 })?,
        parts: Buffer::alloc_for::<u32>(context, 6 * parts_room as usize)?,
        spill: Buffer::alloc_for::<u32>(context, if tabled { 2 * nrows } else { 0 })?,
        work,
        c_offsets,
        row_kinds,
        parts_room,
        control,
    };
    let stage = run.stage(size)?;
    let staged = stage.as_ref().map(|(indices, values)| Rows { offsets: &room, indices, values });
    {
        let fork = Fork::begin(context, run.classes(UNITS) > 2)?;
        run.blocks(&fork, None)?;
        run.count_tables(&fork)?;
        match &staged {
            Some(stage) => run.short_rows(&fork, stage, true)?,
            None => run.count_short_rows(&fork)?,
        }
    }
    scan_in_place(context, &run.c_offsets, rows, Some((&run.work.control, NNZ as u64, LONGEST as u64)))?;
    let blocks = run.control[UNITS + BLOCK..][..BLOCK_SIZES].iter().any(|n| *n > 0);
    let others = tabled || blocks || staged.is_none() || run.control[UNITS + CLASS_COPY] > 0;
    if tabled {
        run.list_sums(spec.value_bytes(TABLES - 1).unwrap_or(0))?;
    }
    let room_taken = run.control[STAGED];
    run.control = run.work.control.to_host()?;
    let (nnz, longest) = (run.control[NNZ], run.control[LONGEST]);
    let (nrows, ncols) = (a.pattern.nrows, b.pattern.ncols);
    if !others
        && nnz == room_taken
        && let Some((indices, values)) = stage
    {
        // Nothing to spare: rows stand where they belong.
        return Ok((DevicePattern::new((nrows, ncols), nnz, run.c_offsets, indices).with_longest(longest), values));
    }
    let indices = Buffer::alloc_for::<u32>(context, usize::try_from(nnz).unwrap_or(usize::MAX))?;
    let values = Buffer::alloc(context, nnz.saturating_mul(size))?;
    if nnz > 0 {
        let c = Rows { offsets: &run.c_offsets, indices: &indices, values: &values };
        let fork = Fork::begin(context, run.classes(UNITS) > 2)?;
        if others {
            run.blocks(&fork, Some(&c))?;
            run.sum_tables(&fork, &c)?;
            run.copy_rows(&fork, &c)?;
        }
        match &staged {
            Some(stage) => run.compact(&fork, stage, &c, room_taken)?,
            None => run.short_rows(&fork, &c, false)?,
        }
    }
    Ok((DevicePattern::new((nrows, ncols), nnz, run.c_offsets, indices).with_longest(longest), values))
}

impl Run<'_> {
    /// Room for the rows that one pass makes, where the device can spare it.
    fn stage(&self, size: u64) -> Result<Option<(Buffer, Buffer)>> {
        let context = self.job.context;
        let entries = self.control[STAGED];
        if u128::from(entries) * u128::from(4 + size) > u128::from(context.properties().total_memory / 8) {
            return Ok(None);
        }
        let both = || Ok((Buffer::alloc(context, entries * 4)?, Buffer::alloc(context, entries * size)?));
        match both() {
            Ok(stage) => Ok(Some(stage)),
            Err(Error::OutOfMemory { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// How many columns the rows of the tables have.
    fn count_tables(&self, fork: &Fork) -> Result<()> {
        if self.parts_room == 0 {
            return Ok(());
        }
        let (job, work) = (self.job, &self.work);
        let program = Program::new(job.context, Template::SpgemmSymbolic, |s| job.walking(s));
        let values = |t: usize| self.tables.get(t).map_or(0, |l| l.values);
        let mut reached = 0;
        // One after the other, as rows go on from each to the next.
        let stream = fork.next()?;
        for t in 0..TABLES {
            let Some(table) = program.spec.table_launch(t) else { continue };
            // Rows spill from any table before.
            reached += self.control[UNITS + TABLE + t] + if t + 1 == TABLES { self.control[SLICES] } else { 0 };
            if reached == 0 {
                continue;
            }
            let kernel = program.kernel(&format!("spgemm_symbolic_table{t}"))?;
            let grid = resident(&kernel, table.block, table.shared, reached.div_ceil(table.teams as u64))?;
            let launch = job.patterns(kernel.launch(grid, table.block, table.shared)).arg(job.rows).arg(&work.control);
            let launch =
                launch.arg(&work.units).arg(&work.slices).arg(&self.spill).arg(&work.products).arg(&work.first);
            let launch = launch.arg(&work.last).arg(&self.c_offsets).arg(&self.row_kinds).arg(&self.slice_counts);
            // SAFETY: parameters as the README lists them, buffers of the sizes it asks for.
            unsafe { launch.arg(&self.parts).arg(self.parts_room).arg(values(4)).arg(values(3)).run_on(stream)? };
        }
        Ok(())
    }

    /// Rows of many products, a block each: with `to` their entries, else how many columns they have. The widest first.
    fn blocks(&self, fork: &Fork, to: Option<&Rows>) -> Result<()> {
        let (job, work) = (self.job, &self.work);
        for size in (0..BLOCK_SIZES).rev() {
            let n = self.control[UNITS + BLOCK + size];
            if n == 0 {
                continue;
            }
            let sized = (size, if size > 0 { job.tuning.block_threads } else { 0 });
            let (program, shape) = match to {
                Some(_) => job.block_program(Template::SpgemmBlock, sized, |s| job.with_semiring(s)),
                None => job.block_program(Template::SpgemmBlockCount, sized, |s| job.walking(s)),
            };
            let (threads, shared) = (shape.threads, program.spec.block_bytes(shape));
            let kernel = program.kernel(program.spec.template.name())?;
            let launch = kernel.launch(resident(&kernel, threads, shared, n)?, threads, shared);
            let launch = if to.is_some() { job.operands(launch) } else { job.patterns(launch) }.arg(&work.control);
            let (units, begin) = places(BLOCK + size);
            let launch = launch.arg(units).arg(begin);
            let tickets = BLOCKS + size + if to.is_some() { BLOCK_SIZES } else { 0 };
            let launch = launch.arg(tickets as u32).arg(&work.units).arg(&work.first).arg(&work.last);
            match to {
                // SAFETY: as above.
                Some(c) => unsafe {
                    let launch = launch.arg(c.offsets).arg(c.indices).arg(c.values);
                    launch.arg(0u64).arg(0u64).arg(0u64).run_on(fork.next()?)?
                },
                // SAFETY: as above.
                None => unsafe { launch.arg(&self.c_offsets).run_on(fork.next()?)? },
            }
        }
        Ok(())
    }

    /// The rows of the tables by class again, for the numeric phase.
    fn list_sums(&self, value_bytes: u32) -> Result<()> {
        let (job, work) = (self.job, &self.work);
        let program = Program::new(job.context, Template::SpgemmAnalyze, |s| job.masked(s));
        let bins = job.rows.div_ceil(job.tuning.bin_block as u64);
        for (name, units) in [("spgemm_count_sums", None), ("spgemm_list_sums", Some(&self.sums))] {
            let kernel = program.kernel(name)?;
            let launch = kernel.launch(bins, job.tuning.bin_block, 0).arg(&job.a.pattern.offsets).arg(job.rows);
            let launch = launch.arg(&work.control).arg(&work.products).arg(&self.row_kinds).arg(&self.c_offsets);
            let launch = launch.arg(&work.first).arg(&work.last).arg(value_bytes);
            let launch =
                launch.arg(self.limits.thread).arg(self.limits.esc).arg(self.limits.window).arg(self.limits.block);
            // SAFETY: as above.
            unsafe { if units.is_some() { launch.arg(units).run()? } else { launch.run()? } };
        }
        Ok(())
    }

    /// The rows of the tables.
    fn sum_tables(&self, fork: &Fork, c: &Rows) -> Result<()> {
        let (job, work) = (self.job, &self.work);
        for (t, table) in self.tables.iter().enumerate() {
            let parts = if t + 1 == TABLES { self.control[PARTS] } else { 0 };
            let n = self.control[SUMS + TABLE + t] + parts;
            if n > 0 {
                let program = job.numeric(1 + t as u64);
                let kernel = program.kernel(&format!("spgemm_numeric_table{t}"))?;
                let grid = resident(&kernel, table.block, table.shared, n.div_ceil(table.teams as u64))?;
                let launch = job.operands(kernel.launch(grid, table.block, table.shared)).arg(&work.control);
                let launch = launch.arg(&self.sums).arg(&work.first).arg(&work.last).arg(&self.slice_counts);
                let launch = launch.arg(&self.parts).arg(self.parts_room).arg(c.offsets);
                // SAFETY: as above.
                unsafe { launch.arg(c.indices).arg(c.values).run_on(fork.next()?)? };
            }
        }
        Ok(())
    }

    /// The rows made in one pass, moved to where they belong.
    fn compact(&self, fork: &Fork, from: &Rows, c: &Rows, entries: u64) -> Result<()> {
        let job = self.job;
        let n: u64 = self.control[UNITS + THREAD..UNITS + BLOCK].iter().sum();
        if n == 0 {
            return Ok(());
        }
        let program = Program::new(job.context, Template::SpgemmCompact, |s| s.scalar("V", movable(job.semiring.c)));
        let lanes = (entries / n / 2).max(1).next_power_of_two().min(32) as u32;
        let block = job.tuning.primitive_block;
        let kernel = program.kernel("spgemm_compact")?;
        let launch = kernel.launch((job.rows * lanes as u64).div_ceil(block as u64), block, 0).arg(job.rows).arg(lanes);
        let launch = launch.arg(from.offsets).arg(from.indices).arg(from.values);
        // SAFETY: as above.
        unsafe { launch.arg(c.offsets).arg(c.indices).arg(c.values).run_on(fork.next()?) }
    }
}
