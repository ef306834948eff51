//! Products whose rows are counted, classed and listed first: each class by its kernels, rows moved together in the end.
use super::analysis::{self, Limits, PerRow, Work, analyze, analyzing};
use super::sorted::LongRows;
use super::{
    BLOCK, BLOCK_SIZES, BLOCKS, CLASS_COPY, CONTROL, Job, LONGEST, Made, NNZ, PARTS, PRODUCTS, Rows, SLICES, STAGED,
    SUMS, TABLE, TABLES, THREAD, UNITS, places, short,
};
use crate::backend::cuda::ahead;
use crate::backend::cuda::entries::movable;
use crate::backend::cuda::lanes::Fork;
use crate::backend::cuda::program::{Program, resident, scan_and_tell, scan_u64, scanning};
use crate::backend::cuda::report::Slate;
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::{Error, Result};
use crate::spgemm::Strategy;
use oplus_codegen::{BlockShape, Spec, TableLaunch, Template};

/// The kernels that count the rows of the tables again, and list them.
pub(super) const LISTING_SUMS: [&str; 2] = ["spgemm_count_sums", "spgemm_list_sums"];

/// Large blocks a multiprocessor has room for, parts of rows for each of these, and blocks of a row at most.
const LARGE_BLOCKS: u64 = 2;
const TRIES: u64 = 8;
const PARTS_OF_ROW: u64 = 16;
/// Bits of rows are kept from one pass to the next in up to this part of all memory.
const SAVED: u64 = 64;

/// What is known of a product's rows, row by row, and found out of them.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) work: Work,
    pub(super) limits: Limits,
    pub(super) tables: Vec<TableLaunch>,
    pub(super) c_offsets: Buffer,
    pub(super) row_kinds: Buffer,
    /// Rows of the tables in the numeric phase.
    pub(super) sums: Buffer,
    pub(super) slice_counts: Buffer,
    pub(super) parts: Buffer,
    pub(super) spill: Buffer,
    pub(super) parts_room: u32,
    pub(super) control: Vec<u64>,
    /// Of the rows of each block size, from the counting pass on.
    pub(super) saved: [Option<SavedBits>; BLOCK_SIZES],
    /// Rows sorted in device memory, from the counting pass to the next.
    pub(super) long: Option<LongRows>,
}

/// Bits over the columns of each row of a list.
#[derive(Debug)]
pub(super) struct SavedBits {
    bits: Buffer,
    row_words: u32,
}

/// The kernel for the rows of one table, and how many these are.
pub(super) struct Table<'a> {
    pub(super) program: Program<'a>,
    pub(super) kernel: String,
    launch: TableLaunch,
    rows: u64,
}

/// The program for the rows of one block size, how many these are, and in how many parts each.
pub(super) struct Block<'a> {
    pub(super) program: Program<'a>,
    shape: BlockShape,
    rows: u64,
    parts: u64,
}

/// A product being computed row by row.
pub(super) struct Run<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) listed: Listed,
}

impl Job<'_> {
    /// How many parts of rows all large blocks together are to have.
    fn tries(&self) -> u64 {
        TRIES * LARGE_BLOCKS * u64::from(self.context.properties().multiprocessors)
    }
    /// No more rows of one list than this are shared: by two blocks or more.
    pub(super) fn shared_rows(&self) -> u64 {
        (self.tries() / 2).min(self.rows)
    }
}

impl<'a> Run<'a> {
    /// The analysis, and room for what follows from it; and the room of each row that is made in one pass.
    pub(super) fn begin(job: &'a Job<'a>, strategy: Strategy) -> Result<(Self, Buffer)> {
        let (context, rows, nrows, limits) = (job.context, job.rows, job.a.pattern.nrows, job.limits(strategy));
        let c_offsets = Buffer::alloc_for::<u64>(context, nrows + 1)?;
        let row_kinds = Buffer::alloc_for::<u32>(context, nrows)?;
        let room = Buffer::alloc_for::<u64>(context, nrows + 1)?;
        let per_row = PerRow::Product { counts: &c_offsets, kinds: &row_kinds, room: &room };
        // Whatever the classes, rows are counted.
        let list = || analyzing(job, false).into_iter().chain([scanning(context, scan_u64)]).collect();
        let (work, control) = ahead::listed(&list, || analyze(job, limits, &per_row))?;
        let tabled = control[SLICES] > 0 || control[UNITS + TABLE..][..TABLES].iter().any(|n| *n > 0);
        // A part has a product at least.
        let most_parts = control[PRODUCTS].min(rows.saturating_add(1 << 16));
        let parts_room = if tabled { u32::try_from(most_parts).unwrap_or(u32::MAX) } else { 0 };
        let spec = job.numeric(0).spec;
        let listed = Listed {
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
            saved: Default::default(),
            long: None,
        };
        Ok((Self { job, listed }, room))
    }

    /// The product, from the analysis on; `room` is of each row that is made in one pass.
    pub(super) fn finish(mut self, room: &Buffer) -> Result<Made> {
        let (context, size) = (self.job.context, self.job.semiring.c.size as u64);
        let stage = self.stage(size)?;
        let staged = stage.as_ref().map(|(indices, values)| Rows { offsets: room, indices, values });
        let room_taken = self.listed.control[STAGED];
        self.count(staged.as_ref())?;
        let (nnz, longest) = self.size();
        let shape = (self.job.a.pattern.nrows, self.job.b.pattern.ncols);
        if !self.has_others()
            && nnz == room_taken
            && let Some((indices, values)) = stage
        {
            // Nothing to spare: rows stand where they belong.
            let pattern = DevicePattern::new(shape, nnz, self.listed.c_offsets, indices);
            return Ok((pattern.with_longest(longest), values));
        }
        let indices = Buffer::alloc_for::<u32>(context, usize::try_from(nnz).unwrap_or(usize::MAX))?;
        let values = Buffer::alloc(context, nnz.saturating_mul(size))?;
        if nnz > 0 {
            self.fill(&indices, &values, staged.as_ref().map(|stage| (stage, room_taken)))?;
        }
        let pattern = DevicePattern::new(shape, nnz, self.listed.c_offsets, indices);
        Ok((pattern.with_longest(longest), values))
    }

    /// How many entries the rows have, and where they begin; with a stage for it, short rows whole.
    pub(super) fn count(&mut self, staged: Option<&Rows>) -> Result<()> {
        for size in 0..BLOCK_SIZES {
            self.listed.saved[size] = self.room_for_bits(size)?;
        }
        self.listed.long = self.made_long()?;
        self.know_supernodes()?;
        self.listed.control = ahead::listed(&|| self.wanted(true, staged.is_some()), || self.counted(staged))?;
        Ok(())
    }

    /// The control block, once it is done.
    fn counted(&self, staged: Option<&Rows>) -> Result<Vec<u64>> {
        if let Some(long) = &self.listed.long {
            self.count_long(long)?;
        }
        {
            let fork = Fork::begin(self.job.context, self.classes(UNITS) > 1)?;
            self.blocks(&fork, None)?;
            self.count_tables(&fork)?;
            match staged {
                Some(stage) => self.short_rows(&fork, stage, true)?,
                None => self.count_short_rows(&fork)?,
            }
        }
        let (context, control) = (self.job.context, &self.listed.work.control);
        let places = (&control.buffer, NNZ, LONGEST);
        let found = scan_and_tell::<CONTROL>(context, &self.listed.c_offsets, self.job.rows, places, control.scan())?;
        if self.listed.parts_room == 0 {
            return Ok(found);
        }
        self.list_sums(self.job.numeric(0).spec.value_bytes(TABLES - 1).unwrap_or(0))?;
        self.listed.work.control.read()
    }

    /// Looks for B's supernodes where there are kernels that walk them: which kernels these are depends on that.
    fn know_supernodes(&self) -> Result<()> {
        let walked = &self.listed.control[UNITS + short::WINDOW..UNITS + TABLE];
        if !self.listed.limits.sorts_all() && walked.iter().any(|n| *n > 0) {
            self.job.supernodes().map(drop)
        } else {
            Ok(())
        }
    }

    /// Entries of C and of its longest row, once counted.
    pub(super) fn size(&self) -> (u64, u64) {
        (self.listed.control[NNZ], self.listed.control[LONGEST])
    }

    /// Columns and values of the counted rows; those that stand in the stage already are moved from there.
    pub(super) fn fill(&mut self, indices: &Buffer, values: &Buffer, staged: Option<(&Rows, u64)>) -> Result<()> {
        // A plan's values are new every time.
        let long = match self.listed.long.take() {
            None => self.made_long()?,
            made => made,
        };
        if let Some(long) = long {
            self.put_long(&long, &Rows { offsets: &self.listed.c_offsets, indices, values })?;
        }
        self.know_supernodes()?;
        ahead::listed(&|| self.wanted(false, staged.is_some()), || self.filled(indices, values, staged))
    }

    fn filled(&self, indices: &Buffer, values: &Buffer, staged: Option<(&Rows, u64)>) -> Result<()> {
        let c = Rows { offsets: &self.listed.c_offsets, indices, values };
        // Moving rows is one kernel.
        let several = self.classes(UNITS) > 1 && (self.has_others() || staged.is_none());
        let fork = Fork::begin(self.job.context, several)?;
        if self.has_others() {
            self.blocks(&fork, Some(&c))?;
            self.sum_tables(&fork, &c)?;
            self.copy_rows(&fork, &c)?;
        }
        match staged {
            Some((stage, entries)) => self.compact(&fork, stage, &c, entries),
            None => self.short_rows(&fork, &c, false),
        }
    }

    /// Whether there are rows that are not made in one pass.
    fn has_others(&self) -> bool {
        let counts = &self.listed.control[UNITS..];
        self.listed.parts_room > 0 || counts[CLASS_COPY] > 0 || counts[BLOCK..][..BLOCK_SIZES].iter().any(|n| *n > 0)
    }

    /// Room for the rows that one pass makes, where the device can spare it.
    fn stage(&self, size: u64) -> Result<Option<(Buffer, Buffer)>> {
        let context = self.job.context;
        let entries = self.listed.control[STAGED];
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

    /// A table that counts the columns of rows.
    pub(super) fn table_to_count(&self, t: usize) -> Option<Table<'_>> {
        let (job, control) = (self.job, &self.listed.control);
        if self.listed.parts_room == 0 {
            return None;
        }
        // Rows spill from any table before.
        let reached: u64 = control[UNITS + TABLE..=UNITS + TABLE + t].iter().sum();
        let rows = reached + if t + 1 == TABLES { control[SLICES] } else { 0 };
        if rows == 0 {
            return None;
        }
        let program = Program::new(job.context, Template::SpgemmSymbolic, |s| job.walking(s).number("kernels", 1 << t));
        let launch = program.spec.table_launch(t)?;
        Some(Table { program, kernel: format!("spgemm_symbolic_table{t}"), launch, rows })
    }

    /// A table of the numeric phase.
    pub(super) fn table_of_sums(&self, t: usize) -> Option<Table<'_>> {
        let control = &self.listed.control;
        let launch = *self.listed.tables.get(t)?;
        let rows = control[SUMS + TABLE + t] + if t + 1 == TABLES { control[PARTS] } else { 0 };
        let program = || self.job.numeric(1 + t as u64);
        (rows > 0).then(|| Table { program: program(), kernel: format!("spgemm_numeric_table{t}"), launch, rows })
    }

    /// How many columns the rows of the tables have.
    fn count_tables(&self, fork: &Fork) -> Result<()> {
        if self.listed.parts_room == 0 {
            return Ok(());
        }
        let (job, listed, work) = (self.job, &self.listed, &self.listed.work);
        let values = |t: usize| listed.tables.get(t).map_or(0, |l| l.values);
        // One after the other, as rows go on from each to the next.
        let stream = fork.next()?;
        for Table { program, kernel, launch: table, rows } in (0..TABLES).filter_map(|t| self.table_to_count(t)) {
            let kernel = program.kernel(&kernel)?;
            let grid = resident(&kernel, table.block, table.shared, rows.div_ceil(table.teams as u64))?;
            let launch =
                job.patterns(kernel.launch(grid, table.block, table.shared)).arg(job.rows).arg(&work.control.buffer);
            let launch =
                launch.arg(&work.units).arg(&work.slices).arg(&listed.spill).arg(&work.products).arg(&work.first);
            let launch = launch.arg(&work.last).arg(&listed.c_offsets).arg(&listed.row_kinds).arg(&listed.slice_counts);
            // SAFETY: parameters as the README lists them, buffers of the sizes it asks for.
            unsafe { launch.arg(&listed.parts).arg(listed.parts_room).arg(values(4)).arg(values(3)).run_on(stream)? };
        }
        Ok(())
    }

    /// Room for the bits of the rows of a block size, where the device can spare it.
    fn room_for_bits(&self, size: usize) -> Result<Option<SavedBits>> {
        let (job, rows) = (self.job, self.listed.control[UNITS + BLOCK + size]);
        if self.listed.limits.sorts_all() {
            return Ok(None);
        }
        let columns = if size < 2 { job.columns.min(job.tuning.block_columns) } else { job.columns };
        let row_words = columns / 32 + 2;
        let bytes = rows.saturating_mul(4 * u64::from(row_words));
        if rows == 0 || bytes > job.context.properties().total_memory / SAVED {
            return Ok(None);
        }
        match Buffer::alloc(job.context, bytes) {
            Ok(bits) => Ok(Some(SavedBits { bits, row_words })),
            Err(Error::OutOfMemory { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// The program for the rows of a block size, if there are any: `numeric` or only to count.
    pub(super) fn block_program(&self, size: usize, numeric: bool) -> Result<Option<Block<'_>>> {
        let (job, rows) = (self.job, self.listed.control[UNITS + BLOCK + size]);
        if rows == 0 || self.listed.limits.sorts_all() {
            return Ok(None);
        }
        let sized = (size, if size > 0 { job.tuning.block_threads } else { 0 });
        // Few rows of many products are shared.
        let shared = size > 0 && self.listed.saved[size].is_some();
        let parts = if shared { (job.tries() / rows).clamp(1, PARTS_OF_ROW) } else { 1 };
        let supernodes = job.supernodes()?.is_some();
        let with = |spec: Spec| {
            let spec = spec.flag("split", parts > 1).flag("far", size + 1 == BLOCK_SIZES);
            spec.flag("supernodes", supernodes)
        };
        let (program, shape) = match numeric {
            true => job.block_program(Template::SpgemmBlock, sized, |s| with(job.with_semiring(s))),
            false => job.block_program(Template::SpgemmBlockCount, sized, |s| with(job.walking(s))),
        };
        Ok(Some(Block { program, shape, rows, parts }))
    }

    /// Rows of many products, a block each: with `to` their entries, else how many columns they have. The widest first.
    fn blocks(&self, fork: &Fork, to: Option<&Rows>) -> Result<()> {
        let (job, listed, work) = (self.job, &self.listed, &self.listed.work);
        for size in (0..BLOCK_SIZES).rev() {
            let Some(Block { program, shape, rows: n, parts }) = self.block_program(size, to.is_some())? else {
                continue;
            };
            let (saved, supernodes) = (listed.saved[size].as_ref(), job.supernodes()?);
            // A word a row, in which the blocks that share one meet.
            let states = (parts > 1).then(|| work.control.shared(size as u64 - 1));
            let (threads, shared) = (shape.threads, program.spec.block_bytes(shape));
            let kernel = program.kernel(program.spec.template.name())?;
            let launch = kernel.launch(resident(&kernel, threads, shared, n * parts)?, threads, shared);
            let launch =
                if to.is_some() { job.operands(launch) } else { job.patterns(launch) }.arg(&work.control.buffer);
            let (units, begin) = places(BLOCK + size);
            let tickets = BLOCKS + size + if to.is_some() { BLOCK_SIZES } else { 0 };
            let launch = launch.arg(units).arg(begin).arg(tickets as u32).arg(&work.units);
            let launch = match to {
                Some(c) => {
                    let launch = launch.arg(&work.first).arg(&work.last).arg(c.offsets).arg(c.indices).arg(c.values);
                    launch.arg(0u64).arg(0u64).arg(0u64).arg(&work.products)
                }
                None => launch.arg(&work.products).arg(&work.first).arg(&work.last).arg(&listed.c_offsets),
            };
            let launch = launch.arg(saved.map(|s| &s.bits)).arg(states.unwrap_or(0));
            let launch = launch.arg(saved.map_or(0, |s| s.row_words)).arg(parts as u32).arg(supernodes);
            let launch = if to.is_some() { launch.arg(0u64) } else { launch };
            let launch = if to.is_some() { launch.leaving(&Slate::UNTOLD) } else { launch };
            // SAFETY: as above.
            unsafe { launch.run_on(fork.next()?)? };
        }
        Ok(())
    }

    /// The rows of the tables by class again, for the numeric phase.
    fn list_sums(&self, value_bytes: u32) -> Result<()> {
        let (job, listed, work) = (self.job, &self.listed, &self.listed.work);
        let program = analysis::program(job, false);
        let bins = job.rows.div_ceil(job.tuning.bin_block as u64);
        for (name, units) in LISTING_SUMS.into_iter().zip([None, Some(&listed.sums)]) {
            let kernel = program.kernel(name)?;
            let launch = kernel.launch(bins, job.tuning.bin_block, 0).arg(&job.a.pattern.offsets).arg(job.rows);
            let launch =
                launch.arg(&work.control.buffer).arg(&work.products).arg(&listed.row_kinds).arg(&listed.c_offsets);
            let launch = launch.arg(&work.first).arg(&work.last).arg(value_bytes);
            let launch = listed.limits.arguments(launch);
            // SAFETY: as above.
            unsafe { if units.is_some() { launch.arg(units).run()? } else { launch.run()? } };
        }
        Ok(())
    }

    /// The rows of the tables.
    fn sum_tables(&self, fork: &Fork, c: &Rows) -> Result<()> {
        let (job, listed, work) = (self.job, &self.listed, &self.listed.work);
        for Table { program, kernel, launch: table, rows } in (0..TABLES).filter_map(|t| self.table_of_sums(t)) {
            let kernel = program.kernel(&kernel)?;
            let grid = resident(&kernel, table.block, table.shared, rows.div_ceil(table.teams as u64))?;
            let launch = job.operands(kernel.launch(grid, table.block, table.shared)).arg(&work.control.buffer);
            let launch = launch.arg(&listed.sums).arg(&work.first).arg(&work.last).arg(&listed.slice_counts);
            let launch = launch.arg(&listed.parts).arg(listed.parts_room).arg(c.offsets);
            // SAFETY: as above.
            unsafe { launch.arg(c.indices).arg(c.values).run_on(fork.next()?)? };
        }
        Ok(())
    }

    /// The program that moves the rows made in one pass, and how many these are, if any.
    pub(super) fn compacting(&self) -> Option<(Program<'_>, u64)> {
        let n: u64 = self.listed.control[UNITS + THREAD..UNITS + BLOCK].iter().sum();
        let value = movable(self.job.semiring.c);
        let program = || Program::new(self.job.context, Template::SpgemmCompact, |s| s.scalar("V", value));
        (n > 0).then(|| (program(), n))
    }

    /// The rows made in one pass, moved to where they belong.
    fn compact(&self, fork: &Fork, from: &Rows, c: &Rows, entries: u64) -> Result<()> {
        let (job, Some((program, n))) = (self.job, self.compacting()) else { return Ok(()) };
        let lanes = (entries / n / 4).max(1).next_power_of_two().min(32) as u32;
        let block = job.tuning.primitive_block;
        let kernel = program.kernel(program.spec.template.name())?;
        let launch = kernel.launch((job.rows * lanes as u64).div_ceil(block as u64), block, 0).arg(job.rows).arg(lanes);
        let launch = launch.arg(from.offsets).arg(from.indices).arg(from.values);
        // SAFETY: as above.
        unsafe { launch.arg(c.offsets).arg(c.indices).arg(c.values).run_on(fork.next()?) }
    }
}
