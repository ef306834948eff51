//! How many triangles an undirected graph has.
use super::{square, told, undirected, without_loops};
use crate::algebra::{Pair, Plus, PlusPair, Scalar, Tril, Triu};
use crate::container::Matrix;
use crate::error::Result;
use crate::memory;
use crate::operation::{apply, count_rows, extract_rows, mxm, select, transpose};
use crate::options::setters;
use crate::storage::listing::is_hypersparse;

const OPERATION: &str = "triangle_count";

/// The formulation: A is the graph, L and U its strict lower and upper triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TriangleMethod {
    /// At present [`SandiaLL`](Self::SandiaLL).
    #[default]
    Auto,
    /// Σ (A·A)⟨A⟩ / 6: Burkhardt, 2017, 10.1177/1473871616666393.
    Burkhardt,
    /// Σ (L·U)⟨A⟩ / 2: Cohen, 2009, 10.1109/MCSE.2009.120.
    Cohen,
    /// Σ (L·L)⟨L⟩: Wolf et al., HPEC 2017, 10.1109/HPEC.2017.8091043.
    SandiaLL,
    /// Σ (U·U)⟨U⟩.
    SandiaUU,
    /// Σ (L·Uᵀ)⟨L⟩: a dot product an edge.
    SandiaLUT,
}

/// How vertices are renumbered before they are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VertexOrder {
    /// By degree where the mean degree exceeds four times the median, and the method profits.
    #[default]
    Auto,
    /// As they are.
    Natural,
    /// Descending degree: a row of L then holds only neighbours of higher degree, √(2·edges) at most.
    Degree,
}

/// Options of [`triangle_count`].
/// ```
/// use oplus::{algorithm::{TriangleMethod, TriangleOptions, VertexOrder, triangle_count}, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool> = Matrix::build(3, 3, &[(0, 1, true), (1, 2, true), (2, 0, true)])?;
/// let options = TriangleOptions::default().with_method(TriangleMethod::Cohen).with_order(VertexOrder::Natural);
/// assert_eq!(triangle_count(&graph, &options)?.triangles, 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TriangleOptions {
    /// The formulation.
    pub method: TriangleMethod,
    /// Renumbering.
    pub order: VertexOrder,
    /// Symmetrise and drop loops first. Without it the graph must be symmetric and free of loops; not checked.
    pub prepare: bool,
}
impl Default for TriangleOptions {
    fn default() -> Self {
        Self { method: TriangleMethod::Auto, order: VertexOrder::Auto, prepare: true }
    }
}

setters! { TriangleOptions {
    with_method(method: TriangleMethod);
    with_order(order: VertexOrder);
    with_prepare(prepare: bool);
} }

/// What [`triangle_count`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TriangleCount {
    /// Sets of three vertices, each an edge apart.
    pub triangles: u64,
    /// Undirected edges, loops left out.
    pub edges: u64,
    /// The formulation taken.
    pub method: TriangleMethod,
    /// Whether vertices were renumbered by degree.
    pub ordered: bool,
}

/// The number of triangles, by one masked product over (+, pair) that is summed and never stored.
///
/// O(Σ over edges of the shorter rows' lengths) work, O(nnz(A)) memory; integers: the same on every device.
/// Renumbering follows LAGraph: mean degree > 4 × median.
///
/// A is n × n.
///
/// # Errors
/// `NotSquare`, `IndexOverflow` for vertices from 2⁶³ on, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool> = Matrix::build(4, 4, &[(0, 1, true), (1, 2, true), (2, 0, true), (3, 0, true)])?;
/// let found = algorithm::triangle_count(&graph, &Default::default())?;
/// assert_eq!((found.triangles, found.edges), (1, 4));
/// # Ok(()) }
/// ```
#[doc(alias("triangles", "tricount"))]
pub fn triangle_count<T: Scalar, S>(graph: &Matrix<T, S>, options: &TriangleOptions) -> Result<TriangleCount> {
    told(OPERATION, count(graph, options))
}

fn count<T: Scalar, S>(graph: &Matrix<T, S>, options: &TriangleOptions) -> Result<TriangleCount> {
    square(OPERATION, graph.shape())?;
    let mut a: Matrix<bool, PlusPair> = match options.prepare {
        true => without_loops(&undirected(graph)?)?.over(),
        false => apply(graph, Pair::<bool>::default()).eval()?.over(),
    };
    let edges = a.nvals() / 2;
    let method = match options.method {
        TriangleMethod::Auto => TriangleMethod::SandiaLL,
        method => method,
    };
    let order = match (options.order, method) {
        (VertexOrder::Natural, _) => None,
        (VertexOrder::Degree, _) => by_degree(&a, false)?,
        // The full products do the same work whatever the numbering.
        (VertexOrder::Auto, TriangleMethod::Burkhardt) => None,
        (VertexOrder::Auto, _) => by_degree(&a, true)?,
    };
    if let Some(order) = &order {
        // P·(P·A)ᵀ = P·A·Pᵀ for a symmetric A.
        let rows = extract_rows(&a, order).eval()?;
        a = extract_rows(&transpose(&rows).eval()?, order).eval()?;
    }
    let lower = || select(&a, Tril, -1).eval();
    let upper = || select(&a, Triu, 1).eval();
    let triangles = match method {
        TriangleMethod::Burkhardt => mxm(&a, &a).mask(&a.structure()).reduce(Plus)? / 6,
        TriangleMethod::Cohen => mxm(&lower()?, &upper()?).mask(&a.structure()).reduce(Plus)? / 2,
        TriangleMethod::SandiaUU => {
            let u = upper()?;
            mxm(&u, &u).mask(&u.structure()).reduce(Plus)?
        }
        TriangleMethod::SandiaLUT => {
            let l = lower()?;
            mxm(&l, &upper()?).transpose_b().mask(&l.structure()).reduce(Plus)?
        }
        TriangleMethod::SandiaLL | TriangleMethod::Auto => {
            let l = lower()?;
            mxm(&l, &l).mask(&l.structure()).reduce(Plus)?
        }
    };
    Ok(TriangleCount { triangles, edges, method, ordered: order.is_some() })
}

/// Vertices by descending degree, equal ones as they were; `None` where `if_skewed` and they are not.
fn by_degree(a: &Matrix<bool, PlusPair>, if_skewed: bool) -> Result<Option<Vec<u64>>> {
    let operation = "triangle_count";
    // Hypersparse graphs are not renumbered: a list of all their vertices would not fit.
    let n = a.nrows();
    if n > u32::MAX as u64 || is_hypersparse(n, a.nvals()) {
        return Ok(None);
    }
    let n = n as usize;
    let mut degrees = memory::filled(operation, n, 0u64)?;
    for (v, degree) in count_rows(a).eval()?.entries()? {
        degrees[v as usize] = degree;
    }
    if if_skewed {
        let mut sorted = memory::copied(operation, &degrees)?;
        let median = if n == 0 { 0 } else { *sorted.select_nth_unstable(n / 2).1 };
        if a.nvals() as u128 <= 4 * median as u128 * n as u128 {
            return Ok(None);
        }
    }
    let mut order: Vec<u64> = memory::with_capacity(operation, n)?;
    order.extend(0..n as u64);
    // No two are equal: a stable sort would take memory of its own.
    order.sort_unstable_by_key(|v| (std::cmp::Reverse(degrees[*v as usize]), *v));
    Ok(Some(order))
}
