//! petgraph: graphs as adjacency matrices, an edge i→j of weight w as the entry (i, j) = w.
//!
//! ```
//! use oplus::{interop::petgraph as graphs, prelude::*};
//! use petgraph::{Graph, csr::Csr};
//! # fn main() -> oplus::Result<()> {
//! let mut graph = Graph::<&str, f32>::new();
//! let (a, b) = (graph.add_node("a"), graph.add_node("b"));
//! graph.add_edge(a, b, 2.5);
//! let roads: Matrix<f32, MinPlus> = (&graph).try_into()?;
//! assert_eq!(roads.entries()?, [(0, 1, 2.5)]);
//! graph.add_edge(a, b, 1.5);                                     // parallel edges need an operator
//! let roads: Matrix<f32, MinPlus> = Matrix::build_with(&graphs::edges(&graph)?, Min)?;
//! let back: Csr<(), f32> = (&roads).try_into()?;
//! assert_eq!(back.edges_slice(0), [1.5]);
//! # Ok(()) }
//! ```
use crate::algebra::Scalar;
use crate::algebra::scalar::same;
use crate::container::Matrix;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::Coo;
use petgraph::csr::Csr;
use petgraph::graph::{Graph, IndexType, NodeIndex};
use petgraph::visit::{EdgeRef, IntoEdges, IntoNodeIdentifiers, NodeIndexable};
use petgraph::{Directed, EdgeType};

/// The edges of any graph whose weights are scalars, in its order, parallel ones kept; of an undirected graph each in both
/// directions, a loop once, but twice of an `UndirectedAdaptor`, which has it among the edges that leave its vertex and among those that
/// enter it. Vertices are numbered by `NodeIndexable`: a `StableGraph` has empty rows where vertices were
/// removed. O(n + e).
///
/// # Errors
/// `OutOfMemory`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let graph = petgraph::Graph::<(), f32>::from_edges([(0, 1, 2.5), (0, 1, 1.5)]);
/// let coo = oplus::interop::petgraph::edges(&graph)?;
/// assert_eq!(Matrix::<f32, MinPlus>::build_with(&coo, Min)?.entries()?, [(0, 1, 1.5)]);
/// # Ok(()) }
/// ```
pub fn edges<G>(graph: G) -> Result<Coo<G::EdgeWeight>>
where
    G: IntoEdges + IntoNodeIdentifiers + NodeIndexable,
    G::EdgeWeight: Scalar,
{
    let n = graph.node_bound() as u64;
    let mut coo = Coo::new(n, n);
    for from in graph.node_identifiers() {
        let i = graph.to_index(from) as u64;
        for edge in graph.edges(from) {
            // Which end an undirected edge begins with depends on the graph.
            let to = if edge.source() == from { edge.target() } else { edge.source() };
            coo.reserve(1).map_err(|e| e.in_operation("from petgraph"))?;
            coo.push(i, graph.to_index(to) as u64, *edge.weight());
        }
    }
    Ok(coo)
}

/// `DuplicateEntry` where edges are parallel: [`edges`] keeps them for [`Matrix::build_with`].
impl<N, T: Scalar, Ty: EdgeType, Ix: IndexType, S> TryFrom<&Graph<N, T, Ty, Ix>> for Matrix<T, S> {
    type Error = Error;
    fn try_from(graph: &Graph<N, T, Ty, Ix>) -> Result<Self> {
        Matrix::triplets("from petgraph", &edges(graph)?)
    }
}

/// The rows as they are.
impl<N, T: Scalar, Ty: EdgeType, Ix: IndexType, S> TryFrom<&Csr<N, T, Ty, Ix>> for Matrix<T, S> {
    type Error = Error;
    fn try_from(graph: &Csr<N, T, Ty, Ix>) -> Result<Self> {
        Matrix::triplets("from petgraph", &edges(graph)?)
    }
}

const TO: &str = "to petgraph";

/// The number, where `Ix` counts so many.
fn counted<Ix: IndexType>(what: &'static str, n: u64) -> Result<usize> {
    // petgraph keeps the largest index for itself.
    let limit = <Ix as IndexType>::max().index();
    match usize::try_from(n) {
        Ok(n) if n <= limit => Ok(n),
        _ => Err(Error::IndexOverflow { operation: TO, what, value: n.into(), limit: limit as u128 }),
    }
}

/// The vertices of a square matrix, where `Ix` counts them.
fn vertices<Ix: IndexType>(shape: (u64, u64)) -> Result<usize> {
    if shape.0 != shape.1 {
        return Err(Error::NotSquare { operation: TO, shape });
    }
    counted::<Ix>("vertices", shape.0)
}

/// A vertex for each row, an edge for each entry, in the order of entries. An undirected graph needs a symmetric matrix
/// (`InvalidValue`) and gets the entries of its lower triangle.
impl<T: Scalar, Ty: EdgeType, Ix: IndexType, S> TryFrom<&Matrix<T, S>> for Graph<(), T, Ty, Ix> {
    type Error = Error;
    fn try_from(a: &Matrix<T, S>) -> Result<Self> {
        let (operation, ours) = (TO, |e: Error| e.in_operation(TO));
        let n = vertices::<Ix>(a.shape())?;
        let a = a.to(&Device::Cpu).map_err(ours)?;
        let edges = match Ty::is_directed() {
            true => a.nvals(),
            false => a.iter().map_err(ours)?.filter(|(i, j, _)| i >= j).count() as u64,
        };
        let edges = counted::<Ix>("edges", edges)?;
        // petgraph grows by itself; where there is no room for it this is the error.
        drop(memory::with_capacity::<[usize; 3]>(operation, n)?);
        drop(memory::with_capacity::<(T, [usize; 4])>(operation, edges)?);
        let mut graph = Graph::with_capacity(n, edges);
        for _ in 0..n {
            graph.add_node(());
        }
        for (i, j, value) in a.iter().map_err(ours)? {
            if !Ty::is_directed() {
                // Of NaNs the bits count.
                if a.get(j, i).map_err(ours)?.is_none_or(|other| !same(other, value)) {
                    let reason = format!("entry ({i}, {j}) differs from ({j}, {i}): an undirected graph is symmetric");
                    return Err(Error::InvalidValue { operation, reason });
                }
                if i < j {
                    continue;
                }
            }
            graph.add_edge(NodeIndex::new(i as usize), NodeIndex::new(j as usize), value);
        }
        Ok(graph)
    }
}

/// A vertex for each row, an edge for each entry.
impl<T: Scalar, Ix: IndexType, S> TryFrom<&Matrix<T, S>> for Csr<(), T, Directed, Ix> {
    type Error = Error;
    fn try_from(a: &Matrix<T, S>) -> Result<Self> {
        let operation = TO;
        let n = vertices::<Ix>(a.shape())?;
        // `Ix` does not count its edges. As above: lists that grow are there twice for a while, half of them empty.
        drop(memory::with_capacity::<[usize; 3]>(operation, n)?);
        drop(memory::with_capacity::<[(T, Ix); 3]>(operation, a.nvals() as usize)?);
        let mut edges = memory::with_capacity(operation, a.nvals() as usize)?;
        edges.extend(
            a.iter()
                .map_err(|e| e.in_operation(operation))?
                .map(|(i, j, value)| (Ix::new(i as usize), Ix::new(j as usize), value)),
        );
        let mut graph: Self =
            Csr::from_sorted_edges(&edges).map_err(|e| Error::InvalidValue { operation, reason: format!("{e:?}") })?;
        while graph.node_count() < n {
            graph.add_node(());
        }
        Ok(graph)
    }
}
