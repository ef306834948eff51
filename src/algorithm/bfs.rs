//! Breadth-first search from one vertex: levels and parents.
use super::{source_in, square, told};
use crate::algebra::{AnyPair, AnySecondI, First, Identity, Plus, Scalar, Second, Semiring};
use crate::container::{Matrix, Vector};
use crate::error::{Error, Result};
use crate::operation::{apply, apply_second, count_rows, ewise_mult, mxv, reduce, transpose, vxm};
use crate::options::setters;

/// How a frontier finds its successors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Direction {
    /// Pull where the frontier has many edges, push elsewhere.
    #[default]
    Auto,
    /// Frontier vertices look along their edges: vxm.
    Push,
    /// Vertices not yet reached look back for a parent: mxv on the transposed graph.
    Pull,
}

/// Options of [`bfs`].
/// ```
/// use oplus::{algorithm::{BfsOptions, Direction, bfs}, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool> = Matrix::build(3, 3, &[(0, 1, true), (1, 2, true)])?;
/// let near = BfsOptions::default().with_direction(Direction::Push).with_parents(false).with_max_level(1);
/// assert_eq!(bfs(&graph, 0, &near)?.levels.entries()?, [(0, 0), (1, 1)]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BfsOptions {
    /// Push, pull, or whichever has less to do.
    pub direction: Direction,
    /// The graph equals its transpose, so that pulling needs no transposition. Believed, not checked.
    pub symmetric: bool,
    /// Keep parents as well as levels.
    pub parents: bool,
    /// The last level to look at.
    pub max_level: Option<u32>,
}
impl Default for BfsOptions {
    fn default() -> Self {
        Self { direction: Direction::Auto, symmetric: false, parents: true, max_level: None }
    }
}

setters! { BfsOptions {
    with_direction(direction: Direction);
    with_symmetric(symmetric: bool);
    with_parents(parents: bool);
    with_max_level(max_level: u32 => Some(max_level));
} }

/// What [`bfs`] found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Bfs {
    /// Edges from the source, for each vertex reached; 0 at the source.
    pub levels: Vector<u32>,
    /// The smallest vertex of the level before with an edge here; the source is its own parent.
    pub parents: Option<Vector<u64>>,
    /// Vertices reached, the source counted.
    pub reached: u64,
    /// The greatest level.
    pub depth: u32,
    /// Sum of the levels.
    pub level_sum: u64,
    /// How many levels were pulled.
    pub pulled: u32,
}

/// Levels and parents of the vertices reachable from `source`.
///
/// q⟨¬levels, replace⟩ = qᵀ any.secondi A (push) or Aᵀ any.secondi q (pull) a level, until q is empty. O(nnz(A)) for
/// the products, O(n) a level for the vectors. The same result on every device and in every direction: each parent is
/// the smallest there is; without parents the products are any.pair. Pull is taken where the frontier has n/24 vertices or
/// more and outnumbers 1/14 of the vertices not reached, or its edges 1/14 of theirs, and left where it has fewer vertices:
/// Beamer, Asanović, Patterson, *Direction-optimizing BFS*, SC 2012, 10.1109/SC.2012.50. The transpose is made once, when
/// first pulled, unless the graph is `symmetric`.
///
/// A is n × n; levels and parents have length n.
///
/// # Errors
/// `NotSquare`, `IndexOutOfBounds` for the source, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool> = Matrix::build(4, 4, &[(0, 1, true), (0, 2, true), (1, 3, true), (2, 3, true)])?;
/// let found = algorithm::bfs(&graph, 0, &Default::default())?;
/// assert_eq!(found.levels.entries()?, [(0, 0), (1, 1), (2, 1), (3, 2)]);
/// assert_eq!(found.parents.unwrap().get(3)?, Some(1));
/// # Ok(()) }
/// ```
#[doc(alias = "breadth_first_search")]
pub fn bfs<T: Scalar, S>(graph: &Matrix<T, S>, source: u64, options: &BfsOptions) -> Result<Bfs> {
    told("bfs", find(graph, options.symmetric.then_some(graph), source, options))
}

/// As [`bfs`], with the transposed graph at hand. O(nnz(A)) for the products, O(n) a level for the vectors.
///
/// Both are n × n; that they are transposes of each other is believed, not checked.
///
/// # Errors
/// Those of [`bfs`]; `DimensionMismatch`.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool> = Matrix::build(3, 3, &[(0, 1, true), (1, 2, true)])?;
/// let found = algorithm::bfs_with_transpose(&graph, &transpose(&graph).eval()?, 0, &Default::default())?;
/// assert_eq!(found.levels.entries()?, [(0, 0), (1, 1), (2, 2)]);
/// # Ok(()) }
/// ```
pub fn bfs_with_transpose<T: Scalar, S>(
    graph: &Matrix<T, S>,
    transposed: &Matrix<T, S>,
    source: u64,
    options: &BfsOptions,
) -> Result<Bfs> {
    if graph.shape() != transposed.shape() {
        let (left, right) = (graph.shape(), transposed.shape());
        return Err(Error::DimensionMismatch {
            operation: "bfs",
            left_name: "A",
            left,
            right_name: "Aᵀ",
            right,
            vectors: (false, false),
        });
    }
    told("bfs", find(graph, Some(transposed), source, options))
}

fn find<T: Scalar, S>(
    graph: &Matrix<T, S>,
    back: Option<&Matrix<T, S>>,
    source: u64,
    options: &BfsOptions,
) -> Result<Bfs> {
    let n = square("bfs", graph.shape())?;
    source_in("bfs", source, n, None)?;
    if !options.parents {
        // Who was there before is asked for by nobody: frontiers are positions.
        let back = back.map(|back| back.over::<AnyPair>());
        return search(&graph.over(), back, (source, true), options, &mut |_| Ok(()));
    }
    let mut parents: Vector<u64, AnySecondI> = Vector::build(n, &[(source, source)])?.to(&graph.device())?;
    let mut note = |frontier: &Vector<u64, AnySecondI>| apply(frontier, Identity).accumulate(First).into(&mut parents);
    let mut found = search(&graph.over(), back.map(|back| back.over()), (source, source), options, &mut note)?;
    found.parents = Some(parents.over());
    Ok(found)
}

/// `note` is told of every frontier but the first.
fn search<T: Scalar, X: Scalar, S>(
    graph: &Matrix<T, S>,
    mut back: Option<Matrix<T, S>>,
    start: (u64, X),
    options: &BfsOptions,
    note: &mut dyn FnMut(&Vector<X, S>) -> Result<()>,
) -> Result<Bfs>
where
    S: Semiring<X, T, Out = X> + Semiring<T, X, Out = X>,
{
    let (n, device) = (graph.nrows(), graph.device());
    let mut frontier: Vector<X, S> = Vector::build(n, &[start])?.to(&device)?;
    let mut levels: Vector<u32, S> = Vector::build(n, &[(start.0, 0)])?.to(&device)?;
    let mut degrees: Option<Vector<u64, S>> = None;
    let mut found = Bfs { levels: levels.over(), parents: None, reached: 1, depth: 0, level_sum: 0, pulled: 0 };
    let mut pulling = options.direction == Direction::Pull;
    for level in 1..=options.max_level.unwrap_or(u32::MAX) {
        if options.direction == Direction::Auto {
            pulling = pull_pays(graph, &frontier, found.reached, pulling, &mut degrees)?;
        }
        let open = levels.structure().complement();
        frontier = if pulling {
            if back.is_none() {
                back = Some(transpose(graph).eval()?);
            }
            found.pulled += 1;
            mxv(back.as_ref().unwrap_or(graph), &frontier).mask(&open).eval()?
        } else {
            vxm(&frontier, graph).mask(&open).eval()?
        };
        // Nobody else may hold levels where entries are added to them in place.
        drop(open);
        let reached = frontier.nvals();
        if reached == 0 {
            break;
        }
        apply_second(&frontier, Second, level).accumulate(First).into(&mut levels)?;
        note(&frontier)?;
        found.reached += reached;
        found.depth = level;
        found.level_sum += reached * level as u64;
        if found.reached == n {
            break;
        }
    }
    found.levels = levels.over();
    Ok(found)
}

/// Beamer's two thresholds. Edges of the vertices not reached are estimated by the mean degree.
fn pull_pays<T: Scalar, X: Scalar, S>(
    graph: &Matrix<T, S>,
    frontier: &Vector<X, S>,
    reached: u64,
    pulling: bool,
    degrees: &mut Option<Vector<u64, S>>,
) -> Result<bool> {
    let (n, size) = (graph.nrows() as u128, frontier.nvals() as u128);
    if size * 24 < n {
        return Ok(false);
    }
    let open = n - reached as u128;
    // As much as that the frontier has with the mean degree, too: nothing is counted.
    if pulling || size * 14 > open {
        return Ok(true);
    }
    if degrees.is_none() {
        *degrees = Some(count_rows(graph).eval()?);
    }
    let Some(degrees) = degrees else { return Ok(false) };
    let edges = reduce(&ewise_mult(frontier, degrees, Second).eval()?, Plus)? as u128;
    Ok(edges * 14 > graph.nvals() as u128 * open / n)
}
