//! Rows as column sets: the words of 32 columns that a row has entries in, and which of them. Neighbouring columns are found
//! together by products that only tell which columns there are. They are looked for when a matrix is a right operand for the
//! second time, and kept with its positions.
use super::asked::second_time;
use crate::backend::cuda::runtime::program::{resident, sum_in_place};
use crate::backend::cuda::{Buffer, DevicePattern, Kernel, Launch, entries};
use crate::error::Result;
use crate::storage::footprint::Footprint;
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
    /// u64 a row, and where the last one ends.
    starts: Buffer,
    /// u32 a set: which 32 columns; a bit for each.
    words: Buffer,
    sets: Buffer,
}

impl ColumnSets {
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        self.starts.footprint(to);
        self.words.footprint(to);
        self.sets.footprint(to);
    }
    /// In place of offsets and columns, as arguments.
    pub(crate) fn rows<'l>(&'l self, launch: Launch<'l>) -> Launch<'l> {
        launch.arg(&self.starts).arg(&self.words)
    }
    /// The columns of each word as an argument: null where there are none.
    pub(crate) fn columns(these: Option<&Self>) -> Option<&Buffer> {
        these.map(|t| &t.sets)
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
    let kernel = entries::structure(context, "column_set_counts")?;
    let (grid, block) = launched(&kernel)?;
    let launch = kernel.launch(grid, block, 0).arg(rows).arg(&pattern.offsets).arg(&pattern.indices);
    // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
    unsafe { launch.arg(&starts).arg(&sums).run()? };
    let named: Vec<u64> = sums.read(0..2)?;
    if !are_worth_it(pattern.nnz, named[0], named[1]) {
        return Ok(None);
    }
    let (all, _) = sum_in_place(context, &starts, rows)?;
    let words = Buffer::alloc(context, 4 * all)?;
    let sets = Buffer::zeroed(context, 4 * all)?;
    let kernel = entries::structure(context, "column_sets")?;
    let (grid, block) = launched(&kernel)?;
    let launch = kernel.launch(grid, block, 0).arg(rows).arg(&pattern.offsets).arg(&pattern.indices);
    // SAFETY: as above; `all` words were counted.
    unsafe { launch.arg(&starts).arg(&words).arg(&sets).run()? };
    Ok(Some(ColumnSets { starts, words, sets }))
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
