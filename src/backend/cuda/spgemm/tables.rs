//! Rows of still more products, in tables: how many columns they have, the rows by class again, and their sums.
use super::run::Run;
use super::{PARTS, Rows, SLICES, SUMS, TABLE, TABLES, UNITS, analysis};
use crate::backend::cuda::runtime::lanes::Fork;
use crate::backend::cuda::runtime::program::{Program, resident};
use crate::error::Result;
use oplus_codegen::{TableLaunch, Template};

/// The kernels that count the rows of the tables again, and list them.
pub(super) const LISTING_SUMS: [&str; 2] = ["spgemm_count_sums", "spgemm_list_sums"];

/// The kernel for the rows of one table, and how many these are.
pub(super) struct Table<'a> {
    pub(super) program: Program<'a>,
    pub(super) kernel: String,
    launch: TableLaunch,
    rows: u64,
}

impl Run<'_> {
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
    pub(super) fn count_tables(&self, fork: &Fork) -> Result<()> {
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

    /// The rows of the tables by class again, for the numeric phase.
    pub(super) fn list_sums(&self, value_bytes: u32) -> Result<()> {
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
    pub(super) fn sum_tables(&self, fork: &Fork, c: &Rows) -> Result<()> {
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
}
