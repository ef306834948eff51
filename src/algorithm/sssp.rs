//! Shortest paths from one vertex.
use super::nearest::Nearest;
use super::{source_in, square, told, weighted};
use crate::algebra::{Identity, Le, Min, MinPlus, Ordered, Scalar, ValueEq, ValueLt};
use crate::container::{Matrix, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory;
use crate::operation::{apply, ewise_add, ewise_mult, reduce, select, vxm};
use crate::options::setters;
use crate::storage::Coo;

/// Options of [`sssp`].
/// ```
/// use oplus::{algorithm::{SsspOptions, sssp}, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let roads: Matrix<f64> = Matrix::build(3, 3, &[(0, 1, 5.0), (0, 2, 1.0), (2, 1, 2.0)])?;
/// let found = sssp(&roads, 0, &SsspOptions::default().with_max_rounds(1))?;
/// assert_eq!(found.distances.entries()?, [(0, 0.0), (1, 5.0), (2, 1.0)]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SsspOptions {
    /// The most rounds, so the most edges a walk may have whose length counts; by default as many as it takes. A negative cycle that is
    /// seen by then is an error all the same; one that is not, as a nearer way led to it late, may be part of the walks.
    pub max_rounds: Option<u64>,
}

setters! { SsspOptions {
    with_max_rounds(max_rounds: u64 => Some(max_rounds));
} }

/// What [`sssp`] found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sssp<T: Scalar> {
    /// The length of a shortest path to each vertex reached; 0 at the source.
    pub distances: Vector<T, MinPlus>,
    /// Rounds of relaxation until nothing changed: on the CPU, where near vertices come first, more than on other devices.
    pub rounds: u64,
}

/// Lengths of the shortest paths from `source` to every vertex that it reaches.
///
/// f = fᵀ min.plus W; f keeps what is below d; d = min(d, f), until f is empty: Bellman–Ford in which only vertices whose
/// distance changed relax their edges; on the CPU, where no weight is negative and `max_rounds` is not given, those first that are
/// within some width of the nearest (Δ-stepping: Meyer, Sanders, 2003, 10.1016/S0196-6774(03)00076-2). O(rounds · n + products),
/// products ≤ n · nnz(W) but for that, of few vertices too often. Weights may be negative, a
/// negative cycle within reach is an error, as is a distance below the type's range; ∞ (the largest integer) is no
/// edge. Sums are rounded along each path; min leaves no choice, so the result is the same on every device. Bellman,
/// *On a routing problem*, 1958, 10.1090/qam/102435; Cherkassky, Goldberg, *Negative-cycle detection algorithms*, 1999,
/// 10.1007/s101070050058.
///
/// W is n × n, d of length n.
///
/// # Errors
/// `NotSquare`, `IndexOutOfBounds` for the source, `InvalidValue` for NaN and −∞ and where a distance is less than the
/// least value of `T`, `NegativeCycle`, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let roads: Matrix<f64> = Matrix::build(3, 3, &[(0, 1, 5.0), (0, 2, 1.0), (2, 1, 2.0)])?;
/// let found = algorithm::sssp(&roads, 0, &Default::default())?;
/// assert_eq!(found.distances.entries()?, [(0, 0.0), (1, 3.0), (2, 1.0)]);
/// # Ok(()) }
/// ```
#[doc(alias("shortest_paths", "dijkstra", "bellman_ford"))]
pub fn sssp<T: Ordered, S>(weights: &Matrix<T, S>, source: u64, options: &SsspOptions) -> Result<Sssp<T>> {
    told("sssp", shortest(weights, source, options))
}

fn shortest<T: Ordered, S>(weights: &Matrix<T, S>, source: u64, options: &SsspOptions) -> Result<Sssp<T>> {
    let operation = "sssp";
    let n = square(operation, weights.shape())?;
    source_in(operation, source, n, None)?;
    let (edges, negative) = weighted(operation, weights)?;
    let start: Vector<T, MinPlus> = Vector::build(n, &[(source, T::ZERO)])?.to(&weights.device())?;
    let Relaxed { distances, rounds, below } = relaxed(operation, &edges, negative, start, options.max_rounds)?;
    // A sum that stopped at the least value changes no more, nor does a cycle that came there.
    let below = match below {
        Some(below) => below,
        None => negative && reduce(&distances, Min)? == T::BOTTOM && leaves_range(&edges, &distances)?,
    };
    if below {
        return Err(left_range(n, &edges, source, options));
    }
    // A sum that overflowed to ∞ is no path; until here it was one that any other is better than.
    let distances = select(&distances, ValueLt, T::TOP).eval()?;
    Ok(Sssp { distances, rounds })
}

/// What [`relaxed`] found.
pub(super) struct Relaxed<T: Scalar> {
    pub(super) distances: Vector<T, MinPlus>,
    pub(super) rounds: u64,
    /// Whether a sum stopped at the least value; `None` where all edges from vertices reached say so, as none waits for its round.
    below: Option<bool>,
}

/// Bellman–Ford from these distances, by at most so many rounds; `NegativeCycle` of a vertex of one within reach.
pub(super) fn relaxed<T: Ordered>(
    operation: &'static str,
    edges: &Matrix<T, MinPlus>,
    negative: bool,
    mut distances: Vector<T, MinPlus>,
    max_rounds: Option<u64>,
) -> Result<Relaxed<T>> {
    let n = edges.nrows();
    let mut frontier = distances.clone();
    let (mut rounds, mut next_check) = (0u64, 16u64);
    let mut below = (T::SATURATES && max_rounds.is_some()).then_some(false);
    // Another order is none of walks by their number of edges. A GPU relaxes many vertices in the time it takes for few.
    let ordered = !negative && max_rounds.is_none() && edges.device() == Device::Cpu;
    let mut nearest = ordered.then(Nearest::new);
    while frontier.nvals() > 0 && max_rounds.is_none_or(|most| rounds < most) {
        rounds += 1;
        let mut far = None;
        if let Some(nearest) = &mut nearest {
            (frontier, far) = nearest.of(edges, frontier)?;
        }
        let reached = vxm(&frontier, edges).eval()?;
        if negative && below == Some(false) && reached.nvals() > 0 && reduce(&reached, Min)? == T::BOTTOM {
            below = Some(leaves_range(edges, &frontier)?);
        }
        let not_better = select(&ewise_mult(&distances, &reached, Le).eval()?, ValueEq, true).eval()?;
        frontier = apply(&reached, Identity).mask(&not_better.structure().complement()).eval()?;
        apply(&frontier, Identity).accumulate(Min).into(&mut distances)?;
        // Looked for at doubling distances, so that the search costs no more than the rounds; a simple path has
        // fewer than n edges, so whatever still changes then comes round a cycle.
        let last = max_rounds == Some(rounds);
        if negative && frontier.nvals() > 0 && (rounds == next_check || rounds >= n || last) {
            next_check = next_check.saturating_mul(2);
            if let Some(vertex) = on_negative_cycle(operation, edges, &distances)? {
                return Err(Error::NegativeCycle { operation, vertex });
            }
            if rounds >= n.saturating_mul(2)
                && let Some((vertex, _)) = frontier.entries()?.first()
            {
                return Err(Error::NegativeCycle { operation, vertex: *vertex });
            }
        }
        if let Some(far) = far {
            frontier = ewise_add(&far, &frontier, Min).eval()?;
        }
    }
    Ok(Relaxed { distances, rounds, below })
}

/// Whether the distance of one vertex and an edge from it sum to less than the least value, where sums stop.
fn leaves_range<T: Ordered>(edges: &Matrix<T, MinPlus>, distances: &Vector<T, MinPlus>) -> Result<bool> {
    let reached = distances.entries()?;
    if !T::SATURATES {
        // −∞ is no sum of weights.
        return Ok(reached.iter().any(|e| e.1 == T::BOTTOM));
    }
    // What is left to the least value: no wrap, as distances are none where they are above 0.
    let beyond = |d: T, w: T| d < T::ZERO && w < T::BOTTOM.minus(d);
    let distance = |u: u64| reached.binary_search_by_key(&u, |e| e.0).ok().map(|place| reached[place].1);
    Ok(edges.entries()?.iter().any(|(i, _, w)| distance(*i).is_some_and(|d| beyond(d, *w))))
}

/// Why a distance left the range: over a negative cycle, as sums in a wider one show, or a long path.
fn left_range<T: Ordered>(n: u64, edges: &Matrix<T, MinPlus>, source: u64, options: &SsspOptions) -> Error {
    // f64's exponents go far below: sums of up to 2⁶⁴ terms stay finite, and a power of two rounds nothing.
    let scale = (-64f64).exp2();
    let farthest = edges.to_coo().and_then(|coo| {
        let mut values = memory::with_capacity("sssp", coo.values.len())?;
        values.extend(coo.values.iter().map(|w| w.as_f64() * scale));
        let coo = Coo { nrows: n, ncols: n, rows: coo.rows, columns: coo.columns, values };
        let found = sssp(&Matrix::<f64>::from_coo(&coo)?.to(&edges.device())?, source, options)?;
        Ok(found.distances.entries()?.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(source, |e| e.0))
    });
    let name = T::TEXT.name;
    let refused = |vertex| {
        let reason = format!("the distance of vertex {vertex} is less than the least value of {name}");
        Error::InvalidValue { operation: "sssp", reason }
    };
    farthest.map_or_else(|e| e, refused)
}

/// A vertex on a cycle of edges u→v with d(u) + w ≤ d(v), one of them with <: its weights sum to less than 0.
/// Every cycle of parents is one. Strongly connected components by Tarjan, 1972, 10.1137/0201010. O(n + nnz(W)).
fn on_negative_cycle<T: Ordered>(
    operation: &'static str,
    edges: &Matrix<T, MinPlus>,
    distances: &Vector<T, MinPlus>,
) -> Result<Option<u64>> {
    // Vertices reached, by place: the graph may be hypersparse. Sums that left the range of floats are as small as all from there.
    let mut reached = distances.entries()?;
    reached.retain(|e| T::SATURATES || e.1 != T::BOTTOM);
    let place = |v: u64| reached.binary_search_by_key(&v, |e| e.0).ok();
    let mut targets: Vec<(usize, bool)> = Vec::new();
    let mut starts = memory::filled(operation, reached.len() + 1, 0usize)?;
    memory::reserve(operation, &mut targets, edges.nvals() as usize)?;
    for (i, j, w) in edges.entries()? {
        let (Some(u), Some(v)) = (place(i), place(j)) else { continue };
        let through = crate::algebra::portable::add_top(reached[u].1, w);
        if through <= reached[v].1 {
            targets.push((v, through < reached[v].1));
            starts[u + 1] = targets.len();
        }
    }
    for u in 0..reached.len() {
        starts[u + 1] = starts[u + 1].max(starts[u]);
    }
    let component = components(operation, &starts, &targets)?;
    for u in 0..reached.len() {
        let strict = |(v, less): &(usize, bool)| *less && component[u] == component[*v];
        if targets[starts[u]..starts[u + 1]].iter().any(strict) {
            return Ok(Some(reached[u].0));
        }
    }
    Ok(None)
}

/// The strongly connected component of each vertex, without recursion.
fn components(operation: &'static str, starts: &[usize], targets: &[(usize, bool)]) -> Result<Vec<usize>> {
    const OPEN: usize = usize::MAX;
    let n = starts.len() - 1;
    let mut component = memory::filled(operation, n, OPEN)?;
    let mut index = memory::filled(operation, n, OPEN)?;
    let mut low = memory::filled(operation, n, 0usize)?;
    let mut path: Vec<usize> = memory::with_capacity(operation, n)?;
    let mut calls: Vec<(usize, usize)> = memory::with_capacity(operation, n)?;
    let mut count = 0;
    for root in 0..n {
        if index[root] != OPEN {
            continue;
        }
        calls.push((root, starts[root]));
        while let Some((u, next)) = calls.pop() {
            if next == starts[u] {
                (index[u], low[u]) = (count, count);
                count += 1;
                path.push(u);
            } else if component[targets[next - 1].0] == OPEN {
                // The target just looked at is on the path, or was finished as part of it.
                low[u] = low[u].min(low[targets[next - 1].0]);
            }
            let mut edge = next;
            while edge < starts[u + 1] {
                let v = targets[edge].0;
                edge += 1;
                if index[v] == OPEN {
                    calls.push((u, edge));
                    calls.push((v, starts[v]));
                    edge = OPEN;
                } else if component[v] == OPEN {
                    low[u] = low[u].min(index[v]);
                }
            }
            if edge != OPEN && low[u] == index[u] {
                while let Some(v) = path.pop() {
                    component[v] = u;
                    if v == u {
                        break;
                    }
                }
            }
        }
    }
    Ok(component)
}
