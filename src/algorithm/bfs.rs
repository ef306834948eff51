//! Breadth-first search from one source: levels and parents.
use super::{sources, vertices};
use crate::algebra::{AnySecondI, First, Scalar, Second};
use crate::container::{Matrix, Vector};
use crate::error::Result;
use crate::operation::{apply_second, ewise_add, mxv, transpose, vxm};

/// Which way a level is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Push while the frontier is small, pull while it is large.
    #[default]
    Auto,
    /// Along the edges of the frontier.
    Push,
    /// Into the vertices not reached yet, along the transposed graph.
    Pull,
}

/// Options of [`bfs`].
#[derive(Clone, Copy, Debug, Default)]
pub struct BfsOptions {
    /// Push or pull.
    pub direction: Direction,
    /// Levels at most; `None`: all.
    pub max_level: Option<u64>,
}

/// What [`bfs`] finds.
#[derive(Debug)]
pub struct Bfs {
    /// Level of each reached vertex, 0 for the source.
    pub levels: Vector<u64>,
    /// Parent of each reached vertex, the smallest there is on the level above; the source is its own.
    pub parents: Vector<u64>,
    /// The greatest level.
    pub depth: u64,
}

/// Pulling pays where the frontier holds more than this part of the vertices.
const PULL_FROM: u64 = 20;

/// q⟨¬levels⟩ = qᵀ any.secondi A, level by level; entries of A are edges i→j, values are not read.
///
/// O(n + nnz(A)) pushed in all, plus O(reached) a level. Deterministic: parents are the smallest. Beamer, Asanović,
/// Patterson, *Direction-optimizing BFS*, SC 2012, 10.1109/SC.2012.50.
/// ```
/// use oplus::{algorithm::bfs, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let path: Matrix<bool> = Matrix::build(3, 3, &[(0, 1, true), (1, 2, true)])?;
/// let found = bfs(&path, 0, &Default::default())?;
/// assert_eq!(found.levels.entries()?, [(0, 0), (1, 1), (2, 2)]);
/// assert_eq!(found.parents.entries()?, [(0, 0), (1, 0), (2, 1)]);
/// # Ok(()) }
/// ```
///
/// # Errors
/// `NotSquare`, `IndexOutOfBounds` for the source, and those of the operations.
pub fn bfs<T: Scalar, S>(graph: &Matrix<T, S>, source: u64, options: &BfsOptions) -> Result<Bfs> {
    let n = vertices("bfs", graph)?;
    sources("bfs", &[source], n)?;
    let graph = graph.over::<AnySecondI>();
    let at_source = |value| Vector::<u64>::build(n, &[(source, value)])?.to(&graph.device());
    let (mut levels, mut parents) = (at_source(0)?, at_source(source)?);
    let mut frontier = parents.over::<AnySecondI>();
    let (mut depth, mut turned) = (0, None);
    while frontier.nvals() > 0 && options.max_level.is_none_or(|most| depth < most) {
        let pull = match options.direction {
            Direction::Push => false,
            Direction::Pull => true,
            Direction::Auto => frontier.nvals() > n / PULL_FROM && graph.nvals() > 4 * n,
        };
        let unreached = levels.structure().complement();
        frontier = if pull {
            if turned.is_none() {
                turned = Some(transpose(&graph).eval()?);
            }
            match &turned {
                Some(turned) => mxv(turned, &frontier).mask(&unreached).eval()?,
                None => frontier,
            }
        } else {
            vxm(&frontier, &graph).mask(&unreached).eval()?
        };
        if frontier.nvals() == 0 {
            break;
        }
        depth += 1;
        let level = apply_second(&frontier, Second, depth).eval()?;
        levels = ewise_add(&levels, &level, First).eval()?;
        parents = ewise_add(&parents, &frontier, First).eval()?;
    }
    Ok(Bfs { levels, parents, depth })
}
