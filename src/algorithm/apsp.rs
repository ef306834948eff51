//! Shortest paths between all pairs.
use super::sssp::no_nan;
use super::vertices;
use crate::algebra::{Diag, Offdiag};
use crate::container::Matrix;
use crate::error::{Error, Result};
use crate::memory;
use crate::operation::{ewise_add, mxm, select};
use crate::storage::Coo;
use rayon::prelude::*;

crate::scalar! {
    /// A path's length, its number of edges, and the vertex after its first edge.
    pub struct Path { length: f64, edges: u32, next: u32 }
}
crate::semiring! {
    /// The shortest path; among equal ones that of fewest edges, then of the smallest first vertex.
    pub struct Shortest[](Path, Path) -> Path;
    identity = Path::make(f64::INFINITY, u32::MAX, u32::MAX);
    add = |x, y| (select(x.length < y.length || (x.length == y.length && (x.edges < y.edges || (x.edges == y.edges && x.next <= y.next))), x, y));
    multiply = |a, b, _| (Path::make(add(a.length, b.length), add(a.edges, b.edges), a.next));
}

/// Options of [`apsp`].
#[derive(Clone, Copy, Debug)]
pub struct ApspOptions {
    /// From this part of all pairs on, the rest is done on a dense matrix.
    pub dense_from: f64,
}
impl Default for ApspOptions {
    fn default() -> Self {
        Self { dense_from: 0.1 }
    }
}

/// What [`apsp`] finds.
#[derive(Debug)]
pub struct ShortestPaths {
    /// d(i, j) where a path exists; d(i, i) = 0.
    pub distances: Matrix<f64>,
    /// The vertex after i on a shortest path to j, for i ≠ j.
    pub next: Matrix<u32>,
}

/// D = D ⊕ D ⊗ D over the semiring of shortest paths until nothing changes, and from `dense_from` on blocked
/// Floyd–Warshall; entries are edges i→j with their weights.
///
/// Weights may be negative where there is no negative cycle. O(log n) sparse products, O(n³) dense; 12 n² bytes when
/// dense. Deterministic. Floyd, *Algorithm 97*, CACM 5, 1962, 10.1145/367766.368168; Venkataraman, Sahni, Mukhopadhyaya,
/// *A blocked all-pairs shortest-paths algorithm*, JEA 8, 2003, 10.1145/996546.996553.
/// ```
/// use oplus::{algorithm::apsp, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let roads: Matrix<f64> = Matrix::build(3, 3, &[(0, 1, 5.0), (0, 2, 1.0), (2, 1, 2.0)])?;
/// let paths = apsp(&roads, &Default::default())?;
/// assert_eq!((paths.distances.get(0, 1)?, paths.next.get(0, 1)?), (Some(3.0), Some(2)));
/// assert_eq!(paths.distances.get(1, 0)?, None);
/// # Ok(()) }
/// ```
///
/// # Errors
/// `NotSquare`, `InvalidValue` for a weight that is NaN, `NegativeCycle`, `IndexOverflow` from 2³² vertices on, and those
/// of the operations.
pub fn apsp<S>(weights: &Matrix<f64, S>, options: &ApspOptions) -> Result<ShortestPaths> {
    let operation = "apsp";
    let n = vertices(operation, weights)?;
    no_nan(operation, weights)?;
    if n > u32::MAX as u64 {
        let (what, value, limit) = ("number of vertices", n as u128, u32::MAX as u128);
        return Err(Error::IndexOverflow { operation, what, value, limit });
    }
    let (device, edges) = (weights.device(), weights.to_coo()?);
    let values = edges.values.iter().zip(&edges.columns).map(|(w, j)| Path::make(*w, 1, *j as u32)).collect();
    let edges: Coo<Path> = Coo { nrows: n, ncols: n, rows: edges.rows, columns: edges.columns, values };
    let mut paths = without_loops(&Matrix::<Path, Shortest>::from_coo(&edges)?.to(&device)?)?;
    loop {
        if paths.nvals() as f64 > options.dense_from * (n * n) as f64 {
            return dense(n as usize, &paths.to_coo()?, device);
        }
        let longer = without_loops(&mxm(&paths, &paths).eval()?)?;
        let all = ewise_add(&paths, &longer, Shortest).eval()?;
        if all.nvals() == paths.nvals() && all.entries()? == paths.entries()? {
            break;
        }
        paths = all;
    }
    let coo = paths.to_coo()?;
    finish(n, coo.rows, coo.columns, coo.values.iter().map(|p| (p.length, p.next)), device)
}

/// Cycles are no shorter than staying, or there is no shortest path at all.
fn without_loops(paths: &Matrix<Path, Shortest>) -> Result<Matrix<Path, Shortest>> {
    let cycles = select(paths, Diag, 0).eval()?.entries()?;
    if let Some((vertex, ..)) = cycles.iter().find(|c| c.2.length < 0.0) {
        return Err(Error::NegativeCycle { operation: "apsp", vertex: *vertex });
    }
    select(paths, Offdiag, 0).eval()
}

fn finish(
    n: u64,
    mut rows: Vec<u64>,
    mut columns: Vec<u64>,
    paths: impl Iterator<Item = (f64, u32)>,
    device: crate::device::Device,
) -> Result<ShortestPaths> {
    let (mut lengths, next): (Vec<f64>, Vec<u32>) = paths.unzip();
    let next = Coo { nrows: n, ncols: n, rows: rows.clone(), columns: columns.clone(), values: next };
    let next = Matrix::from_coo(&next)?.to(&device)?;
    rows.extend(0..n);
    columns.extend(0..n);
    lengths.resize(rows.len(), 0.0);
    let distances = Matrix::from_coo(&Coo { nrows: n, ncols: n, rows, columns, values: lengths })?.to(&device)?;
    Ok(ShortestPaths { distances, next })
}

/// Rows whose panel stays in the cache while all others are relaxed through it.
const BLOCK: usize = 64;

/// Floyd–Warshall by panels of rows.
fn dense(n: usize, paths: &Coo<Path>, device: crate::device::Device) -> Result<ShortestPaths> {
    let operation = "apsp";
    let mut length = memory::filled(operation, n * n, f64::INFINITY)?;
    let mut next = memory::filled(operation, n * n, u32::MAX)?;
    (0..n).for_each(|i| length[i * n + i] = 0.0);
    for ((i, j), p) in paths.rows.iter().zip(&paths.columns).zip(&paths.values) {
        let at = *i as usize * n + *j as usize;
        (length[at], next[at]) = (p.length, p.next);
    }
    for first in (0..n).step_by(BLOCK) {
        let last = (first + BLOCK).min(n);
        // The panel closes over itself, a row at a time.
        for k in first..last {
            let through = memory::copied(operation, &length[k * n..(k + 1) * n])?;
            for i in (first..last).filter(|i| *i != k) {
                relax(&mut length[i * n..(i + 1) * n], &mut next[i * n..(i + 1) * n], k, &through);
            }
        }
        let panel = memory::copied(operation, &length[first * n..last * n])?;
        length.par_chunks_mut(n).zip(next.par_chunks_mut(n)).enumerate().for_each(|(i, (length, next))| {
            if !(first..last).contains(&i) {
                (first..last).for_each(|k| relax(length, next, k, &panel[(k - first) * n..(k - first + 1) * n]));
            }
        });
        if let Some(vertex) = (0..n).find(|i| length[i * n + i] < 0.0) {
            return Err(Error::NegativeCycle { operation, vertex: vertex as u64 });
        }
    }
    let found = |e: &usize| length[*e] < f64::INFINITY && e / n != e % n;
    let count = (0..n * n).filter(found).count();
    let (mut rows, mut columns) =
        (memory::with_capacity(operation, count + n)?, memory::with_capacity(operation, count + n)?);
    for e in (0..n * n).filter(found) {
        rows.push((e / n) as u64);
        columns.push((e % n) as u64);
    }
    finish(n as u64, rows, columns, (0..n * n).filter(found).map(|e| (length[e], next[e])), device)
}

/// Paths of one row through k where they are shorter.
fn relax(length: &mut [f64], next: &mut [u32], k: usize, through: &[f64]) {
    let (to_k, by) = (length[k], next[k]);
    if to_k == f64::INFINITY {
        return;
    }
    for ((l, h), t) in length.iter_mut().zip(next).zip(through) {
        let tried = to_k + t;
        if tried < *l {
            (*l, *h) = (tried, by);
        }
    }
}
