//! Graph algorithms, written only against the [operations](crate::operation): they run wherever their operands are.
//!
//! A graph is a square matrix: an entry at (i, j) is the edge i→j, a stored zero included. Vertices are numbered from 0.
//! Each algorithm takes an options struct and gives a result struct. `&Default::default()` is a good choice; others are set one by one:
//! `&BfsOptions::default().with_parents(false)`.
use crate::algebra::{Land, Lt, Min, MinPlus, Offdiag, Ordered, Pair, Scalar, ValueLt};
use crate::container::Matrix;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::operation::{apply, apply_second, ewise_add, reduce, select};

mod apsp;
mod bfs;
mod multi_source_bfs;
mod nearest;
mod sssp;
mod triangle_count;

pub use apsp::{Apsp, ApspMethod, ApspOptions, apsp};
pub use bfs::{Bfs, BfsOptions, Direction, bfs, bfs_with_transpose};
pub use multi_source_bfs::{MultiSourceBfs, MultiSourceBfsOptions, Progress, multi_source_bfs};
pub use sssp::{Sssp, SsspOptions, sssp};
pub use triangle_count::{TriangleCount, TriangleMethod, TriangleOptions, VertexOrder, triangle_count};

/// The positions of A ∪ Aᵀ, all `true`. O(nnz(A)).
///
/// A is n × n, square; the same on every device.
///
/// # Errors
/// `NotSquare`, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let edges: Matrix<f64> = Matrix::build(2, 2, &[(0, 1, 0.5)])?;
/// assert_eq!(algorithm::undirected(&edges)?.entries()?, [(0, 1, true), (1, 0, true)]);
/// # Ok(()) }
/// ```
pub fn undirected<T: Scalar, S>(graph: &Matrix<T, S>) -> Result<Matrix<bool, S>> {
    square("undirected", graph.shape())?;
    let pattern = apply(graph, Pair::<bool>::default()).eval();
    told("undirected", pattern.and_then(|a| ewise_add(&a, &a, crate::algebra::Lor).transpose_b().eval()))
}

/// The entries off the diagonal. O(nnz(A)).
///
/// Values are moved: the same bits on every device.
///
/// # Errors
/// `IndexOverflow` where there are entries in rows or columns from 2⁶³ on; `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool> = Matrix::build(2, 2, &[(0, 0, true), (0, 1, true)])?;
/// assert_eq!(algorithm::without_loops(&graph)?.entries()?, [(0, 1, true)]);
/// # Ok(()) }
/// ```
pub fn without_loops<T: Scalar, S>(graph: &Matrix<T, S>) -> Result<Matrix<T, S>> {
    told("without_loops", select(graph, Offdiag, 0).eval())
}

/// What an algorithm's operations have no room or no numbers for, such as vertices from 2⁶³ on that are selected by their places, is the
/// algorithm's error.
fn told<T>(operation: &'static str, made: Result<T>) -> Result<T> {
    made.map_err(|error| match error {
        Error::IndexOverflow { what, value, limit, .. } => Error::IndexOverflow { operation, what, value, limit },
        other => other.in_operation(operation),
    })
}

/// The order of a square matrix.
fn square(operation: &'static str, shape: (u64, u64)) -> Result<u64> {
    if shape.0 == shape.1 { Ok(shape.0) } else { Err(Error::NotSquare { operation, shape }) }
}

/// A source is a vertex.
fn source_in(operation: &'static str, index: u64, bound: u64, position: Option<u64>) -> Result<()> {
    if index < bound {
        Ok(())
    } else {
        Err(Error::IndexOutOfBounds { operation, what: "source", position, index, bound })
    }
}

/// The edges that can lie on a shortest path, and whether one is negative: ∞ (the largest integer) is no edge, NaN and
/// a floating −∞ are refused.
fn weighted<T: Ordered, S>(operation: &'static str, weights: &Matrix<T, S>) -> Result<(Matrix<T, MinPlus>, bool)> {
    let weights = weights.over::<MinPlus>();
    // NaN fails the comparison as well as ∞.
    // On the host a look at all of them is less than a copy.
    let host = weights.device() == Device::Cpu;
    let edges = match host && reduce(&apply_second(&weights, Lt, T::TOP).eval()?, Land)? {
        true => weights.clone(),
        false => select(&weights, ValueLt, T::TOP).eval()?,
    };
    let least = reduce(&edges, Min)?;
    if edges.nvals() < weights.nvals() || (!T::SATURATES && least == T::BOTTOM) {
        let bad = |v: &T| v.partial_cmp(v).is_none() || (!T::SATURATES && *v == T::BOTTOM);
        if let Some((i, j, v)) = weights.entries()?.into_iter().find(|e| bad(&e.2)) {
            let reason = format!("the weight of edge ({i}, {j}) is {v:?}: weights must be numbers above −∞");
            return Err(Error::InvalidValue { operation, reason });
        }
    }
    Ok((edges, least < T::ZERO))
}
