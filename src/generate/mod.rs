//! Seeded generators of graphs and matrices: the same parameters give the same entries everywhere.
mod graph;
mod grid;
mod random;

pub use graph::{Rmat, hub, rmat, road_grid, small_world, uniform};
pub use grid::{band, permuted, stencil_5, stencil_7, stencil_9, stencil_27};
pub use random::Random;

use crate::error::{Error, Result};
use crate::memory;
use crate::storage::Coo;

fn invalid<T>(operation: &'static str, reason: impl Into<String>) -> Result<T> {
    Err(Error::InvalidValue { operation, reason: reason.into() })
}

/// So many entries for each of so many rows.
fn times(rows: u64, entries: u64) -> u128 {
    u128::from(rows) * u128::from(entries)
}

/// Triplets in order, each position once, of rows written one by one; `most` entries at most, so that what does not fit in
/// memory is told before the first.
fn from_rows(
    operation: &'static str,
    shape: (u64, u64),
    most: u128,
    write: impl FnMut(u64, &mut Vec<(u64, f64)>) -> Result<()>,
) -> Result<Coo<f64>> {
    from_some_rows(operation, shape, 0..shape.0, most, write)
}

/// The same where rows other than these, which ascend, have nothing.
fn from_some_rows(
    operation: &'static str,
    (nrows, ncols): (u64, u64),
    rows: impl Iterator<Item = u64>,
    most: u128,
    mut write: impl FnMut(u64, &mut Vec<(u64, f64)>) -> Result<()>,
) -> Result<Coo<f64>> {
    let mut coo = Coo::new(nrows, ncols);
    let room = usize::try_from(most).unwrap_or(usize::MAX);
    coo.rows = memory::with_capacity(operation, room)?;
    coo.columns = memory::with_capacity(operation, room)?;
    coo.values = memory::with_capacity(operation, room)?;
    let mut row = Vec::new();
    for i in rows.take(if room == 0 { 0 } else { usize::MAX }) {
        row.clear();
        write(i, &mut row)?;
        memory::reserve(operation, &mut coo.rows, row.len())?;
        memory::reserve(operation, &mut coo.columns, row.len())?;
        memory::reserve(operation, &mut coo.values, row.len())?;
        row.iter().for_each(|(j, v)| coo.push(i, *j, *v));
    }
    Ok(coo)
}
