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

/// Triplets in order, each position once, of rows made one by one.
fn from_rows(
    operation: &'static str,
    (nrows, ncols): (u64, u64),
    rows: impl Iterator<Item = Vec<(u64, f64)>>,
) -> Result<Coo<f64>> {
    let mut coo = Coo::new(nrows, ncols);
    for (i, row) in (0u64..).zip(rows) {
        memory::reserve(operation, &mut coo.rows, row.len())?;
        memory::reserve(operation, &mut coo.columns, row.len())?;
        memory::reserve(operation, &mut coo.values, row.len())?;
        row.into_iter().for_each(|(j, v)| coo.push(i, j, v));
    }
    Ok(coo)
}
