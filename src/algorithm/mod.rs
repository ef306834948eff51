//! Graph and numeric algorithms, written only against the operations: they run wherever their operands are.
mod apsp;
mod bfs;
mod multi_source_bfs;
mod sssp;
mod triangle_count;

pub use apsp::{ApspOptions, ShortestPaths, apsp};
pub use bfs::{Bfs, BfsOptions, Direction, bfs};
pub use multi_source_bfs::{MultiSourceBfs, MultiSourceBfsOptions, multi_source_bfs};
pub use sssp::{Sssp, sssp};
pub use triangle_count::{Formulation, TriangleCountOptions, triangle_count};

use crate::algebra::Scalar;
use crate::container::Matrix;
use crate::error::{Error, Result};

/// The number of vertices of a graph.
fn vertices<T: Scalar, S>(operation: &'static str, graph: &Matrix<T, S>) -> Result<u64> {
    let shape = graph.shape();
    if shape.0 == shape.1 { Ok(shape.0) } else { Err(Error::NotSquare { operation, shape }) }
}

/// Sources must be vertices.
fn sources(operation: &'static str, sources: &[u64], n: u64) -> Result<()> {
    match sources.iter().position(|s| *s >= n) {
        None => Ok(()),
        Some(p) => {
            let (position, index) = (p as u64, sources[p]);
            Err(Error::IndexOutOfBounds { operation, what: "source", position, index, bound: n })
        }
    }
}
