//! Shortest paths between all pairs of vertices.
use super::{square, told, weighted};
use crate::algebra::{Min, MinPlus, Second};
use crate::container::Matrix;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::operation::closure::closure;
use crate::operation::{apply_second, reduce, reduce_rows};
use crate::options::setters;

mod path;
mod range;
mod sparse;

use path::{Path, Route};

/// How [`apsp`] computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ApspMethod {
    /// Squares while the distances are sparse, and goes on densely when an eighth of all pairs have one.
    #[default]
    Auto,
    /// D = D min (D min.plus D) until nothing changes: ⌈log₂ n⌉ sparse products at most.
    RepeatedSquaring,
    /// Floyd–Warshall on an n × n array in blocks of 64 pivots, by the cores of the host or the CUDA device.
    FloydWarshall,
}

/// Options of [`apsp`].
/// ```
/// use oplus::{algorithm::{ApspMethod, ApspOptions, apsp}, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let roads: Matrix<f64> = Matrix::build(2, 2, &[(0, 1, 5.0)])?;
/// let options = ApspOptions::default().with_method(ApspMethod::FloydWarshall).with_memory(1 << 30);
/// assert!(apsp(&roads, &options)?.dense);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApspOptions {
    /// The algorithm.
    pub method: ApspMethod,
    /// Also find the next vertex on the way.
    pub next_hops: bool,
    /// The most bytes the dense array may take, 8 or with next hops 16 a pair, where the weights are: `Auto` stays sparse above, `FloydWarshall` is an error.
    pub memory: u64,
}
impl Default for ApspOptions {
    fn default() -> Self {
        Self { method: ApspMethod::Auto, next_hops: false, memory: 4 << 30 }
    }
}

setters! { ApspOptions {
    with_method(method: ApspMethod);
    with_next_hops(next_hops: bool);
    with_memory(memory: u64);
} }

/// What [`apsp`] found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Apsp {
    /// (i, j): the length of a shortest path, where there is one; 0 on the diagonal.
    pub distances: Matrix<f64, MinPlus>,
    /// (i, j): the vertex after i on a shortest path to j, one with the fewest edges; none on the diagonal. Also where the length is
    /// above the range of f64: a path that comes back into it leads through there.
    pub next: Option<Matrix<u32>>,
    /// Sparse products made.
    pub squarings: u32,
    /// Whether Floyd–Warshall did the rest.
    pub dense: bool,
}

impl Apsp {
    /// The vertices of a shortest path, both ends included; `None` where there is no path.
    /// O(its vertices · log n); on CUDA the host waits for each.
    ///
    /// # Errors
    /// `IndexOutOfBounds`; `InvalidValue` where next hops were not asked for; on CUDA `Driver`.
    pub fn path(&self, from: u64, to: u64) -> Result<Option<Vec<u64>>> {
        let invalid = |reason: &str| Error::InvalidValue { operation: "path", reason: reason.into() };
        let next = self.next.as_ref().ok_or_else(|| invalid("apsp ran without `next_hops`"))?;
        for (what, index) in [("first vertex", from), ("last vertex", to)] {
            if index >= next.nrows() {
                let (operation, bound) = ("path", next.nrows());
                return Err(Error::IndexOutOfBounds { operation, what, position: None, index, bound });
            }
        }
        if self.distances.get(from, to)?.is_none() {
            return Ok(None);
        }
        let (mut at, mut vertices) = (from, vec![from]);
        while at != to {
            // Hops fall by one from vertex to vertex, unless sums were rounded differently: then stop at n.
            let step = next.get(at, to)?.filter(|_| (vertices.len() as u64) < next.nrows());
            at = step.ok_or_else(|| invalid("rounding broke the chain of next hops"))? as u64;
            vertices.push(at);
        }
        Ok(Some(vertices))
    }
}

/// Lengths of the shortest paths between all pairs, next hops where asked for.
///
/// d(i, j) = min over paths of the sum of weights; no path, no entry. O(n³ log n) squaring in the worst case, O(n³)
/// dense, O(n²) memory once filled: the array and the result of 12 or 20 bytes a pair, all on the weights' device. Weights may be negative where no negative cycle exists; ∞ is no edge. The length of
/// a path is summed in another order by squaring than by Floyd–Warshall, so that inexact weights may differ in the last
/// bits between methods, never between runs of one, nor between the CPU and CUDA where both go the same way. Floyd, *Algorithm 97*, 1962, 10.1145/367766.368168; in blocks:
/// Venkataraman, Sahni, Mukhopadhyaya, 2003, 10.1145/996546.996553; in tiles on a GPU: Katz, Kider, 2008.
///
/// A length above the range of f64 is no path, as ∞ is no edge; one below is an error, the same by every method. Only a path's whole length
/// counts: one that leaves the range and comes back into it is a path, which for [`sssp`](fn@super::sssp) ends where it leaves. Where sums of
/// 2n weights may leave the range, as some weight is above 2¹⁰²⁴ / 8n, all are computed with a power of two from 1/8n to 1/4n times as large;
/// weights and sums below 2⁻¹⁰²² · 8n beside them lose bits by that.
///
/// W and the distances are n × n. Sums do not differ between devices for one method, and `Auto` chooses alike on all.
///
/// # Errors
/// `NotSquare`, `InvalidValue` for NaN and −∞ and where a distance is less than the least value of f64, `IndexOverflow` for vertices from 2⁶³ on,
/// `NegativeCycle` naming a vertex of one that goes through no vertex twice (a vertex the method saw a negative walk at, where only the way
/// it rounds makes one), `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let roads: Matrix<f64> = Matrix::build(3, 3, &[(0, 1, 5.0), (0, 2, 1.0), (2, 1, 2.0)])?;
/// let found = algorithm::apsp(&roads, &algorithm::ApspOptions::default().with_next_hops(true))?;
/// assert_eq!(found.distances.get(0, 1)?, Some(3.0));
/// assert_eq!(found.path(0, 1)?, Some(vec![0, 2, 1]));
/// # Ok(()) }
/// ```
#[doc(alias("all_pairs_shortest_paths", "floyd_warshall", "johnson"))]
pub fn apsp<S>(weights: &Matrix<f64, S>, options: &ApspOptions) -> Result<Apsp> {
    told("apsp", all_pairs(weights, options))
}

fn all_pairs<S>(weights: &Matrix<f64, S>, options: &ApspOptions) -> Result<Apsp> {
    let n = square("apsp", weights.shape())?;
    let (edges, negative) = weighted("apsp", weights)?;
    if negative {
        refuse_negative_loop(&edges)?;
    }
    let edges = super::without_loops(&edges)?;
    let scale = range::scale(&edges, negative, n)?;
    let edges = range::scaled(edges, scale)?;
    if !options.next_hops {
        let solved = solve::<f64>(edges.clone(), n, options);
        let (distances, squarings, dense) = solved.map_err(|error| on_its_cycle(error, &edges))?;
        return Ok(Apsp { distances: range::unscaled(distances, scale)?, next: None, squarings, dense });
    }
    let solved = solve::<Path>(path::of_edges(&edges)?, n, options);
    let (paths, squarings, dense) = solved.map_err(|error| on_its_cycle(error, &edges))?;
    let distances = range::unscaled(Path::lengths(&paths)?, scale)?;
    let next = crate::operation::select(&path::next_of(&paths)?, crate::algebra::Offdiag, 0).eval()?;
    Ok(Apsp { distances, next: Some(next), squarings, dense })
}

/// A method sees a negative walk from a vertex to itself, which may only lead to a negative cycle and back: one on the cycle, by
/// Bellman–Ford from all vertices at once. O(n · nnz(W)).
fn on_its_cycle(error: Error, edges: &Matrix<f64, MinPlus>) -> Error {
    if !matches!(error, Error::NegativeCycle { .. }) {
        return error;
    }
    // Vertices without edges are on none: a hypersparse graph's are not listed.
    let from_all = reduce_rows(edges, Min).eval().and_then(|tails| apply_second(&tails, Second, 0.0).eval());
    let found = from_all.and_then(|start| super::sssp::relaxed("apsp", edges, true, start, None));
    found.err().unwrap_or(error)
}

fn refuse_negative_loop(edges: &Matrix<f64, MinPlus>) -> Result<()> {
    let loops = crate::operation::select(edges, crate::algebra::Diag, 0).eval()?;
    if reduce(&loops, Min)? >= 0.0 {
        return Ok(());
    }
    match loops.entries()?.into_iter().find(|e| e.2 < 0.0) {
        Some((vertex, _, _)) => Err(Error::NegativeCycle { operation: "apsp", vertex }),
        None => Ok(()),
    }
}

fn solve<R: Route>(
    edges: Matrix<R, R::Semiring>,
    n: u64,
    options: &ApspOptions,
) -> Result<(Matrix<R, R::Semiring>, u32, bool)> {
    let bytes = (n as u128 * n as u128).saturating_mul(size_of::<R>() as u128);
    let fits = bytes <= options.memory as u128 && n < u32::MAX as u64;
    if options.method == ApspMethod::FloydWarshall && !fits {
        let (needed, available) = (bytes.min(u64::MAX as u128) as u64, Some(options.memory));
        let device = match edges.device() {
            Device::Cuda(_) => edges.device().to_string(),
            _ => "host".into(),
        };
        return Err(Error::OutOfMemory { operation: "apsp", device, needed, available });
    }
    let full = match options.method {
        // A dense step costs n³ simple ones, a squaring nnz²/n dearer ones: worth it from an eighth on.
        ApspMethod::Auto if fits => n as u128 * n as u128 / 8,
        ApspMethod::FloydWarshall => 0,
        _ => u128::MAX,
    };
    let (paths, squarings, done) = sparse::squared(edges, n, full)?;
    let ends = (R::TRIVIAL, R::ABSENT);
    let paths = match done {
        true => sparse::with_diagonal(paths, n)?,
        false => closure::<R, R::Semiring, R::Join, R::Better>("apsp", &paths, ends)?,
    };
    Ok((paths, squarings, !done))
}
