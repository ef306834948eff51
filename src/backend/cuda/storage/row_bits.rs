//! Rows with an entry in one of few columns, as bits: a hub's. Products that only count columns take their words in place of
//! their entries. They are looked for when a matrix is a right operand for the second time, and kept with its positions.
use super::asked::second_time;
use super::places::grid;
use crate::backend::cuda::runtime::program::tuning;
use crate::backend::cuda::{Buffer, DevicePattern, Launch, entries};
use crate::error::Result;
use crate::storage::footprint::Footprint;
use std::sync::Arc;

/// Rows with an entry in one of so many columns are worth their bits: with fewer, words cost more than entries.
const SPARSE: u64 = 32;
/// A row of fewer entries is as quickly walked.
const LEAST: u64 = 128;

/// The rows of a matrix that are worth it.
#[derive(Debug)]
pub(crate) struct RowBits {
    /// u32 a row: its number among them, from 1 on; 0: it is none.
    slots: Buffer,
    /// A bit a column for each of them.
    bits: Buffer,
    /// They are the rows of so many entries and more.
    least: u32,
}

impl RowBits {
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        self.slots.footprint(to);
        self.bits.footprint(to);
    }
    /// As arguments: nulls where there are none. `in_sets`: rows are sets of up to 32 columns each.
    pub(crate) fn arguments<'l>(these: Option<&'l Self>, in_sets: bool, launch: Launch<'l>) -> Launch<'l> {
        let launch = launch.arg(these.map(|t| &t.slots)).arg(these.map(|t| &t.bits));
        launch.arg(these.map_or(0, |t| if in_sets { t.least.div_ceil(32) } else { t.least }))
    }
}

/// The entries from which on a row of so many columns is worth its bits.
fn least(columns: usize) -> u64 {
    (columns as u64).div_ceil(SPARSE).max(LEAST)
}

/// Those of a right operand, if they are asked for a second time and there are any.
pub(crate) fn row_bits(pattern: &DevicePattern) -> Result<Option<Arc<RowBits>>> {
    // A warp has a row's words for itself: of more than a block's window holds, others would wait for it.
    let narrow = pattern.ncols <= tuning(pattern.offsets.context()).block_columns as usize;
    let likely = || narrow && pattern.longest.is_some_and(|longest| longest >= least(pattern.ncols));
    second_time(&pattern.row_bits, likely, || look(pattern).map(Some))
}

fn look(pattern: &DevicePattern) -> Result<RowBits> {
    let (context, rows, least) = (pattern.offsets.context(), pattern.nrows as u64, least(pattern.ncols));
    let slots = Buffer::alloc_for::<u32>(context, pattern.nrows)?;
    let list = Buffer::alloc(context, 4 * (pattern.nnz / least))?;
    let count = Buffer::zeroed_for::<u64>(context, 1)?;
    let (blocks, block) = grid(context, rows);
    let kernel = entries::structure(context, "row_slots")?;
    let launch = kernel.launch(blocks, block, 0).arg(rows).arg(&pattern.offsets);
    // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for: no more rows than
    // nnz / least have `least` entries.
    unsafe { launch.arg(least).arg(&slots).arg(&list).arg(&count).run()? };
    let (count, words) = (count.read_one::<u64>(0)?, (pattern.ncols as u64).div_ceil(32));
    let bits = Buffer::zeroed(context, 4 * count * words)?;
    let kernel = entries::structure(context, "row_bits")?;
    let launch = kernel.launch(count, block, 0).arg(&list).arg(&pattern.offsets);
    // SAFETY: as above; `count` rows are listed.
    unsafe { launch.arg(&pattern.indices).arg(words).arg(&bits).run()? };
    Ok(RowBits { slots, bits, least: least as u32 })
}
