//! Breadth-first search from many vertices at once.
use super::{source_in, square, told};
use crate::algebra::{AnyPair, First, Identity, Scalar, Second};
use crate::container::Matrix;
use crate::device::Device;
use crate::error::Result;
use crate::format::Format;
use crate::memory;
use crate::operation::{apply, apply_second, count_rows, mxm};
use crate::options::setters;
use crate::storage::Coo;
use crate::storage::listing::is_hypersparse;

/// Where [`multi_source_bfs`] stands after a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Sources of earlier batches, all done.
    pub sources_done: usize,
    /// All sources.
    pub sources: usize,
    /// The level just finished in this batch.
    pub level: u32,
    /// (source, vertex) pairs this level reached.
    pub frontier: u64,
}

/// Options of [`multi_source_bfs`].
/// ```
/// use oplus::{algorithm::{MultiSourceBfsOptions, multi_source_bfs}, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool> = Matrix::build(3, 3, &[(0, 1, true), (1, 2, true)])?;
/// let told = |at: oplus::algorithm::Progress| println!("level {}", at.level);
/// let options = MultiSourceBfsOptions::default().with_memory(1 << 20).with_levels(true).with_progress(&told);
/// let found = multi_source_bfs(&graph, &[1], &options)?;
/// assert_eq!(found.levels.unwrap().entries()?, [(0, 1, 0), (0, 2, 1)]);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct MultiSourceBfsOptions<'a> {
    /// Bytes that frontiers and levels may take; sources are taken in batches that fit, one at least.
    pub memory: u64,
    /// Keep the matrix of levels.
    pub levels: bool,
    /// Called after each level.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
}
impl Default for MultiSourceBfsOptions<'_> {
    fn default() -> Self {
        Self { memory: 1 << 30, levels: false, progress: None }
    }
}
impl std::fmt::Debug for MultiSourceBfsOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let progress = self.progress.is_some();
        let mut f = f.debug_struct("MultiSourceBfsOptions");
        f.field("memory", &self.memory).field("levels", &self.levels).field("progress", &progress).finish()
    }
}

setters! { MultiSourceBfsOptions<'a> {
    with_memory(memory: u64);
    with_levels(levels: bool);
    with_progress(progress: &'a (dyn Fn(Progress) + Sync) => Some(progress));
} }

/// What [`multi_source_bfs`] found; position s of each list belongs to source s.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MultiSourceBfs {
    /// Vertices reached, the source counted.
    pub reached: Vec<u64>,
    /// The greatest level.
    pub depth: Vec<u64>,
    /// Sum of the levels of the vertices reached.
    pub level_sum: Vec<u64>,
    /// Sources × n: levels of the vertices reached, where asked for.
    pub levels: Option<Matrix<u32>>,
    /// How many batches the sources were taken in.
    pub batches: usize,
}

/// A level's worst case, bytes a vertex and source: frontier and levels (u32 index, value), the old and the new of both.
const LISTED: u64 = 2 * (5 + 8);
/// The same where levels have cells: positions of the old frontier and the new one, a level, and bits.
const IN_CELLS: u64 = 2 * 4 + 4 + 2;
/// Sources that a product on the CPU takes at once: all batches but the last are a multiple of that, where they can be.
const TOGETHER: usize = 64;

/// Whether what is reached is held in cells, which are added to where they lie.
fn in_cells<T: Scalar, S>(graph: &Matrix<T, S>) -> bool {
    graph.device() != Device::Reference && !is_hypersparse(graph.nrows(), graph.nvals())
}

/// Levels from each of `sources`, all in one product a level.
///
/// Q⟨¬L, replace⟩ = Q any.pair A with Q sources × n, until Q is empty. O(sources · nnz(A)) products in all. Integers
/// and booleans only: the same result on every device. A source may occur more than once. Then et al., *The more the
/// merrier: efficient multi-source graph traversal*, PVLDB 8(4), 2014, 10.14778/2735496.2735507; as a masked product:
/// Davis, *Algorithm 1000*, 10.1145/3322125.
///
/// A is n × n.
///
/// # Errors
/// `NotSquare`, `IndexOutOfBounds` naming the source's position, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool> = Matrix::build(3, 3, &[(0, 1, true), (1, 2, true)])?;
/// let found = algorithm::multi_source_bfs(&graph, &[0, 1], &Default::default())?;
/// assert_eq!((found.reached, found.depth, found.level_sum), (vec![3, 2], vec![2, 1], vec![3, 1]));
/// # Ok(()) }
/// ```
pub fn multi_source_bfs<T: Scalar, S>(
    graph: &Matrix<T, S>,
    sources: &[u64],
    options: &MultiSourceBfsOptions<'_>,
) -> Result<MultiSourceBfs> {
    told("multi_source_bfs", in_batches(graph, sources, options))
}

fn in_batches<T: Scalar, S>(
    graph: &Matrix<T, S>,
    sources: &[u64],
    options: &MultiSourceBfsOptions<'_>,
) -> Result<MultiSourceBfs> {
    let operation = "multi_source_bfs";
    let n = square(operation, graph.shape())?;
    (0..).zip(sources).try_for_each(|(position, source)| source_in(operation, *source, n, Some(position)))?;
    let graph = graph.over::<AnyPair>();
    // No more are reached than edges lead to.
    let most = if is_hypersparse(n, graph.nvals()) { graph.nvals() + 1 } else { n };
    let bytes = if in_cells(&graph) { IN_CELLS } else { LISTED };
    let mut batch = (options.memory / bytes.saturating_mul(most).max(1)).clamp(1, sources.len().max(1) as u64) as usize;
    if batch > TOGETHER && batch < sources.len() {
        batch -= batch % TOGETHER;
    }
    let mut found = MultiSourceBfs {
        reached: memory::filled(operation, sources.len(), 1)?,
        depth: memory::filled(operation, sources.len(), 0)?,
        level_sum: memory::filled(operation, sources.len(), 0)?,
        ..Default::default()
    };
    let mut levels = Vec::new();
    for chunk in sources.chunks(batch) {
        let done = found.batches * batch;
        let of_batch = search(&graph, chunk, done, sources.len(), options, &mut found)?;
        found.batches += 1;
        levels.extend(of_batch);
    }
    if options.levels {
        found.levels = Some(stacked(levels, sources.len() as u64, &graph)?);
    }
    Ok(found)
}

fn search<T: Scalar>(
    graph: &Matrix<T, AnyPair>,
    sources: &[u64],
    done: usize,
    all: usize,
    options: &MultiSourceBfsOptions<'_>,
    found: &mut MultiSourceBfs,
) -> Result<Option<Matrix<u32>>> {
    let (operation, n) = ("multi_source_bfs", graph.nrows());
    let mut start: Vec<(u64, u64, bool)> = memory::with_capacity(operation, sources.len())?;
    start.extend((0u64..).zip(sources).map(|(row, s)| (row, *s, true)));
    let mut frontier: Matrix<bool, AnyPair> = Matrix::build(sources.len() as u64, n, &start)?.to(&graph.device())?;
    let mut visited = frontier.clone();
    let mut levels: Option<Matrix<u32, AnyPair>> = match options.levels {
        true => Some(apply_second(&frontier, Second, 0u32).eval()?),
        false => None,
    };
    if in_cells(graph) {
        visited = visited.to_format(Format::Bitmap)?;
        levels = levels.map(|levels| levels.to_format(Format::Bitmap)).transpose()?;
    }
    for level in 1..=u32::MAX {
        frontier = mxm(&frontier, graph).mask(&visited.structure().complement()).eval()?;
        if frontier.nvals() == 0 {
            break;
        }
        apply(&frontier, Identity).accumulate(First).into(&mut visited)?;
        if let Some(levels) = &mut levels {
            apply_second(&frontier, Second, level).accumulate(First).into(levels)?;
        }
        for (row, count) in count_rows(&frontier).eval()?.entries()? {
            let s = done + row as usize;
            found.reached[s] += count;
            found.depth[s] = level as u64;
            found.level_sum[s] += count * level as u64;
        }
        if let Some(progress) = options.progress {
            progress(Progress { sources_done: done, sources: all, level, frontier: frontier.nvals() });
        }
    }
    Ok(levels.map(|levels| levels.over()))
}

/// The batches' rows under each other.
fn stacked<T: Scalar>(mut levels: Vec<Matrix<u32>>, rows: u64, graph: &Matrix<T, AnyPair>) -> Result<Matrix<u32>> {
    if levels.len() == 1 {
        return Ok(levels.swap_remove(0));
    }
    let mut all = Coo::new(rows, graph.ncols());
    let mut done = 0;
    for part in levels {
        let (operation, coo) = ("multi_source_bfs", part.to_coo()?);
        memory::reserve(operation, &mut all.rows, coo.len())?;
        memory::reserve(operation, &mut all.columns, coo.len())?;
        memory::reserve(operation, &mut all.values, coo.len())?;
        all.rows.extend(coo.rows.iter().map(|r| r + done));
        all.columns.extend_from_slice(&coo.columns);
        all.values.extend_from_slice(&coo.values);
        done += part.nrows();
    }
    Matrix::triplets("multi_source_bfs", &all)?.to(&graph.device())
}
