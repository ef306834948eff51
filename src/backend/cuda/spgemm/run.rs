//! Products whose rows are counted, classed and listed first: each class by its kernels, rows moved together in the end.
use super::analysis::{Limits, PerRow, Work, analyze, analyzing};
use super::blocks::SavedBits;
use super::sorted::LongRows;
use super::{
    BLOCK, BLOCK_SIZES, CLASS_COPY, CONTROL, Job, LONGEST, Made, NNZ, PRODUCTS, ROOM, Rows, SLICES, SORTED, STAGED,
    TABLE, TABLES, THREAD, UNITS, short,
};
use crate::backend::cuda::entries::movable;
use crate::backend::cuda::runtime::ahead;
use crate::backend::cuda::runtime::lanes::Fork;
use crate::backend::cuda::runtime::program::{Program, scan_and_tell, scan_u64, scanning};
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::{Error, Result};
use crate::spgemm::Strategy;
use oplus_codegen::{TableLaunch, Template};
use std::ops::Range;

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

/// A product being computed row by row.
pub(super) struct Run<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) listed: Listed,
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
        let (context, size) = (self.job.context, self.job.semiring.written().size as u64);
        let stage = self.stage(self.job.semiring.c.size as u64)?;
        let staged = stage.as_ref().map(|(indices, values)| Rows { offsets: room, indices, values });
        let room_taken = self.listed.control[STAGED];
        self.count(staged.as_ref())?;
        let (nnz, longest) = self.size();
        let shape = (self.job.a.pattern.nrows, self.job.b.pattern.ncols);
        if !self.has_others()
            && nnz == room_taken
            && self.job.semiring.counted.is_none()
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
        self.know_rows(true, staged.is_some())?;
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

    /// Looks for B's supernodes, its rows as bits and its column sets where there are kernels that walk them: which kernels these are
    /// depends on that. `staged`: rows of few products are made and not counted.
    fn know_rows(&self, counting: bool, staged: bool) -> Result<()> {
        let any = |classes: Range<usize>| self.listed.control[UNITS..][classes].iter().any(|n| *n > 0);
        if any(short::WINDOW..TABLE) {
            self.job.supernodes()?;
            let counted = if staged { BLOCK..TABLE } else { short::WINDOW..TABLE };
            if self.job.semiring.is_constant() || (counting && any(counted)) {
                self.job.column_sets(false)?;
            }
            if counting && any(short::DENSE..TABLE) {
                self.job.row_bits()?;
            }
        }
        Ok(())
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
        self.know_rows(false, staged.is_some())?;
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
        self.listed.parts_room > 0
            || counts[CLASS_COPY] + counts[SORTED] > 0
            || counts[BLOCK..][..BLOCK_SIZES].iter().any(|n| *n > 0)
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

    /// The program that moves the rows made in one pass, and how many these are, if any.
    pub(super) fn compacting(&self) -> Option<(Program<'_>, u64)> {
        let n: u64 = self.listed.control[UNITS + THREAD..UNITS + BLOCK].iter().sum();
        // Sums that are written as they are may be of any type of their size.
        let semiring = &self.job.semiring;
        let as_it_is = |scalar| if semiring.counted.is_some() { scalar } else { movable(scalar) };
        let (from, to) = (as_it_is(semiring.c), as_it_is(semiring.written()));
        let program =
            || Program::new(self.job.context, Template::SpgemmCompact, |s| s.scalar("V", from).scalar("W", to));
        (n > 0).then(|| (program(), n))
    }

    /// The rows made in one pass, moved to where they belong.
    fn compact(&self, fork: &Fork, from: &Rows, c: &Rows, entries: u64) -> Result<()> {
        let (job, Some((program, n))) = (self.job, self.compacting()) else { return Ok(()) };
        // Rows of few entries are moved 32 together, by several warps where one of them may have so many that others would be done long
        // before.
        const FEW: u64 = 64;
        const LONG: u64 = 512;
        let (lanes, split) = if entries / n <= FEW {
            (0, (self.listed.control[ROOM] / LONG).clamp(1, 4).ilog2())
        } else {
            ((entries / n / 4).next_power_of_two().min(32) as u32, 0)
        };
        let block = job.tuning.primitive_block;
        let kernel = program.kernel(program.spec.template.name())?;
        let grid = ((job.rows * u64::from(lanes.max(1))) << split).div_ceil(block as u64);
        let launch = kernel.launch(grid, block, 0).arg(job.rows).arg(lanes).arg(split);
        let launch = launch.arg(from.offsets).arg(from.indices).arg(from.values);
        // SAFETY: as above.
        unsafe { launch.arg(c.offsets).arg(c.indices).arg(c.values).run_on(fork.next()?) }
    }
}
