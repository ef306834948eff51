//! Supernodes: neighbouring rows with the same columns, as matrices with several unknowns a node have. Products walk such rows
//! of their right operand together. They are looked for when a matrix is one for the second time, and kept with its positions.
use super::asked::second_time;
use crate::backend::cuda::runtime::program::resident;
use crate::backend::cuda::{Buffer, DevicePattern, entries};
use crate::error::Result;
use std::sync::Arc;

/// Rows of fewer entries in the mean are not worth a look.
const LEAST_MEAN: u64 = 8;
/// One part in so many of all entries must be in rows like the one before.
const PART: u64 = 2;

/// A bit a row of a right operand: it has the columns of the row before; if it is asked for a second time and many do.
pub(crate) fn joined_rows(pattern: &DevicePattern) -> Result<Option<Arc<Buffer>>> {
    let likely = || pattern.nnz / LEAST_MEAN >= (pattern.nrows as u64).max(2);
    second_time(&pattern.supernodes, likely, || look(pattern))
}

fn look(pattern: &DevicePattern) -> Result<Option<Buffer>> {
    let (context, rows) = (pattern.offsets.context(), pattern.nrows as u64);
    let words = rows.div_ceil(32);
    let joined = Buffer::alloc(context, 4 * words)?;
    let found = Buffer::zeroed_for::<u64>(context, 1)?;
    let (kernel, block) = (entries::structure(context, "joined_rows")?, entries::block_and_tile(context).0);
    let grid = resident(&kernel, block, 0, words.div_ceil(u64::from(block) / 32))?;
    let launch = kernel.launch(grid, block, 0).arg(rows).arg(&pattern.offsets).arg(&pattern.indices);
    // SAFETY: parameters as codegen/templates/README.md lists them, buffers of the sizes it asks for.
    unsafe { launch.arg(&joined).arg(&found).run()? };
    Ok((found.read_one::<u64>(0)? >= pattern.nnz / PART).then_some(joined))
}
