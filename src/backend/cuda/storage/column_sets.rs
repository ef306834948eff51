//! Rows as column sets: the words of 32 columns that a row has entries in, and which of them. Neighbouring columns are found
//! together by products that only tell which columns there are. They are looked for when a matrix is a right operand for the
//! second time, and kept with its positions; and the columns of rows that are sets are listed.
use super::asked::second_time;
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::program::{Program, resident, scan_of_bits, sum_in_place};
use crate::backend::cuda::runtime::report::SAID;
use crate::backend::cuda::{Buffer, Context, DevicePattern, Kernel, Launch, entries};
use crate::error::Result;
use crate::storage::footprint::Footprint;
use oplus_codegen::Template;
use std::sync::Arc;

/// Rows of fewer entries in the mean are not worth a look.
const LEAST_MEAN: u64 = 2;
/// A set is twice the bytes of an entry and one addition: it must have so many entries in the mean, in rows as they are named. Of
/// rows of few sets, which fill a warp's lanes badly, more than of those of `LONG` and more.
const ENTRIES: u64 = 2;
const ENTRIES_LONG: (u64, u64) = (3, 2);
const LONG: u64 = 16;

/// The rows of a matrix as such.
#[derive(Debug)]
pub(crate) struct ColumnSets {
    /// Which 32 columns, an entry a set.
    words: DevicePattern,
    /// A bit for each of them: u32 a set.
    sets: Buffer,
}

impl ColumnSets {
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        self.words.footprint(to);
        self.sets.footprint(to);
    }
    /// In place of offsets and columns, as arguments.
    pub(crate) fn rows<'l>(&'l self, launch: Launch<'l>) -> Launch<'l> {
        launch.arg(&self.words.offsets).arg(&self.words.indices)
    }
    /// The columns of each word as an argument: null where there are none.
    pub(crate) fn columns(these: Option<&Self>) -> Option<&Buffer> {
        these.map(|t| &t.sets)
    }
    /// As a matrix: a column for each 32, whose values are the sets.
    pub(crate) fn operand(&self) -> Operand<'_> {
        Operand { pattern: &self.words, values: &self.sets }
    }
}

/// Those of a right operand, if they are asked for a second time and there are few.
pub(crate) fn column_sets(pattern: &DevicePattern) -> Result<Option<Arc<ColumnSets>>> {
    let likely = || pattern.nnz / LEAST_MEAN >= (pattern.nrows as u64).max(1);
    second_time(&pattern.column_sets, likely, || look(pattern))
}

fn look(pattern: &DevicePattern) -> Result<Option<ColumnSets>> {
    let (context, rows) = (pattern.offsets.context(), pattern.nrows as u64);
    let starts = Buffer::alloc_for::<u64>(context, pattern.nrows + 1)?;
    let sums = Buffer::zeroed_for::<u64>(context, 2)?;
    // A warp a row.
    let launched = |kernel: &Kernel| -> Result<(u64, u32)> {
        let block = entries::block_and_tile(context).0;
        Ok((resident(kernel, block, 0, rows.div_ceil(u64::from(block) / 32))?, block))
    };
    let kernel = program(context).kernel("column_set_counts")?;
    let (grid, block) = launched(&kernel)?;
    let launch = kernel.launch(grid, block, 0).arg(rows).arg(&pattern.offsets).arg(&pattern.indices);
    // SAFETY: of all launches here, parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
    unsafe { launch.arg(&starts).arg(&sums).run()? };
    let named: Vec<u64> = sums.read(0..2)?;
    if !are_worth_it(pattern.nnz, named[0], named[1]) {
        return Ok(None);
    }
    let (all, longest) = sum_in_place(context, &starts, rows)?;
    let words = Buffer::alloc(context, 4 * all)?;
    let sets = Buffer::zeroed(context, 4 * all)?;
    let kernel = program(context).kernel("column_sets")?;
    let (grid, block) = launched(&kernel)?;
    let launch = kernel.launch(grid, block, 0).arg(rows).arg(&pattern.offsets).arg(&pattern.indices);
    // SAFETY: as above; `all` words were counted.
    unsafe { launch.arg(&starts).arg(&words).arg(&sets).run()? };
    let words = DevicePattern::new((pattern.nrows, pattern.ncols.div_ceil(32)), all, starts, words);
    Ok(Some(ColumnSets { words: words.with_longest(longest), sets }))
}

fn program(context: &Arc<Context>) -> Program<'_> {
    Program::new(context, Template::ColumnSets, |s| s)
}

/// The columns of rows of sets, one after the other; `columns`: of all rows.
pub(crate) fn listed((words, sets): (DevicePattern, Buffer), columns: usize) -> Result<DevicePattern> {
    let (context, rows) = (sets.context(), words.nrows as u64);
    let block = entries::block_and_tile(context).0;
    let starts = Buffer::alloc_for::<u64>(context, entries::places(words.nnz.saturating_add(1)))?;
    let offsets = Buffer::alloc_for::<u64>(context, words.nrows + 1)?;
    let listing = || vec![program(context).wanted("set_columns")];
    let kernel = program(context).kernel_beside("set_offsets", listing)?;
    scan_of_bits(context, &sets, &starts, words.nnz)?;
    let [found, longest, ..] = context.with_slate(SAID as u64, |slate| {
        let launch = kernel.launch((rows + 1).div_ceil(u64::from(block)), block, 0).arg(rows);
        let launch = launch.arg(&words.offsets).arg(&starts).arg(&offsets).arg(slate.control);
        // SAFETY: as in `look`.
        unsafe { launch.leaving(slate).run() }
    })?;
    let indices = Buffer::alloc_for::<u32>(context, entries::places(found))?;
    if words.nnz > 0 {
        let kernel = program(context).kernel("set_columns")?;
        let launch = kernel.launch(words.nnz.div_ceil(u64::from(block)), block, 0).arg(words.nnz);
        // SAFETY: as in `look`; as many columns as were counted.
        unsafe { launch.arg(&words.indices).arg(&sets).arg(&starts).arg(&indices).run()? };
    }
    Ok(DevicePattern::new((words.nrows, columns), found, offsets, indices).with_longest(longest))
}

/// Of rows that are named as often as they have entries, `rows` in all: their entries and sets.
fn are_worth_it(rows: u64, entries: u64, sets: u64) -> bool {
    let (entries, sets) = (u128::from(entries), u128::from(sets));
    let (most, least) = ENTRIES_LONG;
    let long = sets >= u128::from(LONG) * u128::from(rows);
    entries >= u128::from(ENTRIES) * sets || (long && entries * u128::from(least) >= u128::from(most) * sets)
}

#[cfg(test)]
mod tests {
    use super::are_worth_it;

    #[test]
    fn sets_of_few_entries_in_long_rows_alone() {
        // Rows of 8 sets of two entries, of 15 of three halves, of 16.
        assert!(are_worth_it(100, 1600, 800));
        assert!(!are_worth_it(100, 2250, 1500));
        assert!(are_worth_it(100, 2400, 1600));
        assert!(!are_worth_it(100, 2399, 1600));
        assert!(are_worth_it(1, u64::MAX, u64::MAX / 2));
    }
}
