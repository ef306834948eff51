//! Supernodes: neighbouring rows with the same columns, as matrices with several unknowns a node have. Products walk such rows
//! of their right operand together. They are looked for when a matrix is one for the second time, and kept with its positions.
use crate::backend::cuda::runtime::program::resident;
use crate::backend::cuda::{Buffer, DevicePattern, entries, lock};
use crate::error::{Error, Result};
use std::sync::Arc;

/// Rows of fewer entries in the mean are not worth a look.
const LEAST_MEAN: u64 = 8;
/// One part in so many of all entries must be in rows like the one before.
const PART: u64 = 2;

/// What is known of a pattern's supernodes.
#[derive(Debug, Default)]
pub(crate) enum Supernodes {
    #[default]
    Unasked,
    Once,
    Few,
    /// A bit a row: it has the columns of the row before.
    Many(Arc<Buffer>),
}

/// Which rows of a right operand have the columns of the row before, if it is asked for a second time and many do.
pub(crate) fn joined_rows(pattern: &DevicePattern) -> Result<Option<Arc<Buffer>>> {
    let mut known = lock(&pattern.supernodes);
    match &*known {
        Supernodes::Few => return Ok(None),
        Supernodes::Many(joined) => return Ok(Some(joined.clone())),
        Supernodes::Unasked => {
            let some = pattern.nnz / LEAST_MEAN >= (pattern.nrows as u64).max(2);
            *known = if some { Supernodes::Once } else { Supernodes::Few };
            return Ok(None);
        }
        Supernodes::Once => {}
    }
    // A bit a row counts as the operation's; without room for it, nobody looks now.
    let found = match look(pattern) {
        Err(Error::OutOfMemory { .. }) => return Ok(None),
        found => found?.map(Arc::new),
    };
    *known = found.clone().map_or(Supernodes::Few, Supernodes::Many);
    Ok(found)
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
