//! Breadth-first search from many sources at once: one matrix product a level.
use super::{sources, vertices};
use crate::algebra::{AnyPair, First, Pair, Plus, Scalar};
use crate::container::Matrix;
use crate::error::Result;
use crate::operation::{apply, ewise_add, mxm, reduce_rows};

/// Options of [`multi_source_bfs`].
pub struct MultiSourceBfsOptions<'a> {
    /// Sources are taken in batches whose frontiers and visited sets stay below about this many bytes.
    pub memory: u64,
    /// Called after each level with (sources done before this batch, level, vertices reached in it).
    pub progress: Option<&'a mut dyn FnMut(usize, u64, u64)>,
}
impl Default for MultiSourceBfsOptions<'_> {
    fn default() -> Self {
        Self { memory: 2 << 30, progress: None }
    }
}
impl std::fmt::Debug for MultiSourceBfsOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MultiSourceBfsOptions").field("memory", &self.memory).finish_non_exhaustive()
    }
}

/// What [`multi_source_bfs`] finds, for each source in the order given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MultiSourceBfs {
    /// Vertices reached, the source among them.
    pub reached: Vec<u64>,
    /// The greatest level.
    pub depth: Vec<u64>,
    /// Sum of the levels of reached vertices.
    pub level_sum: Vec<u64>,
}

/// Bytes a vertex may cost a source: an index and a value in the visited set, its next version and the frontier.
const BYTES_A_VERTEX: u64 = 3 * 5;

/// Q⟨¬V⟩ = Q any.pair A, V = V ∪ Q, level by level, for a batch of sources: row s of Q is the frontier of source s.
///
/// Entries of A are edges i→j, values are not read. O(sources · nnz(A)) products in all, plus O(nnz(V)) a level.
/// Deterministic. Then et al., *The more the merrier: efficient multi-source graph traversal*, PVLDB 8, 2014,
/// 10.14778/2735496.2735507.
/// ```
/// use oplus::{algorithm::multi_source_bfs, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let path: Matrix<bool> = Matrix::build(3, 3, &[(0, 1, true), (1, 2, true)])?;
/// let found = multi_source_bfs(&path, &[0, 2], &mut Default::default())?;
/// assert_eq!((found.reached, found.depth, found.level_sum), (vec![3, 1], vec![2, 0], vec![3, 0]));
/// # Ok(()) }
/// ```
///
/// # Errors
/// `NotSquare`, `IndexOutOfBounds` naming the source's position, and those of the operations.
pub fn multi_source_bfs<T: Scalar, S>(
    graph: &Matrix<T, S>,
    from: &[u64],
    options: &mut MultiSourceBfsOptions<'_>,
) -> Result<MultiSourceBfs> {
    let n = vertices("multi_source_bfs", graph)?;
    sources("multi_source_bfs", from, n)?;
    let graph = graph.over::<AnyPair>();
    let batch = (options.memory / (n * BYTES_A_VERTEX).max(1)).clamp(1, u32::MAX as u64) as usize;
    let mut found = MultiSourceBfs::default();
    for (b, sources) in from.chunks(batch).enumerate() {
        let seeds: Vec<(u64, u64, bool)> = (0u64..).zip(sources).map(|(s, v)| (s, *v, true)).collect();
        let mut visited = Matrix::<bool, AnyPair>::build(sources.len() as u64, n, &seeds)?.to(&graph.device())?;
        let mut frontier = visited.clone();
        let start = found.reached.len();
        found.reached.resize(start + sources.len(), 1);
        found.depth.resize(start + sources.len(), 0);
        found.level_sum.resize(start + sources.len(), 0);
        for level in 1.. {
            frontier = mxm(&frontier, &graph).mask(&visited.structure().complement()).eval()?;
            if frontier.nvals() == 0 {
                break;
            }
            let counts = reduce_rows(&apply(&frontier, Pair::<u64>::default()).eval()?, Plus).eval()?;
            for (s, count) in counts.entries()? {
                let s = start + s as usize;
                found.reached[s] += count;
                found.depth[s] = level;
                found.level_sum[s] += level * count;
            }
            visited = ewise_add(&visited, &frontier, First).eval()?;
            if let Some(progress) = &mut options.progress {
                progress(b * batch, level, frontier.nvals());
            }
        }
    }
    Ok(found)
}
