//! Triangle counting by one masked product that is never stored.
use super::vertices;
use crate::algebra::{First, Offdiag, Pair, Plus, PlusPair, Scalar, Tril, Triu};
use crate::container::Matrix;
use crate::error::Result;
use crate::operation::{apply, ewise_add, mxm, reduce_rows, select, transpose};
use crate::storage::Coo;

/// Which product counts the triangles of A, L and U its strict triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formulation {
    /// Σ (A·A)⟨A⟩ / 6 (Burkhardt).
    Burkhardt,
    /// Σ (L·U)⟨A⟩ / 2 (Cohen).
    Cohen,
    /// Σ (L·L)⟨L⟩ (Wolf et al.).
    #[default]
    SandiaLl,
    /// Σ (U·U)⟨U⟩.
    SandiaUu,
    /// Σ (L·Uᵀ)⟨L⟩, one dot product an edge.
    SandiaLut,
}

/// Options of [`triangle_count`].
#[derive(Clone, Copy, Debug, Default)]
pub struct TriangleCountOptions {
    /// Which product.
    pub formulation: Formulation,
    /// Order vertices by degree first; `None`: where the mean degree is above four times the median.
    pub order_by_degree: Option<bool>,
}

/// The number of triangles of an undirected graph: the pattern of A ∪ Aᵀ without its diagonal.
///
/// O(products of the formulation). Deterministic. Davis, *Graph algorithms via SuiteSparse:GraphBLAS: triangle counting
/// and k-truss*, HPEC 2018, 10.1109/HPEC.2018.8547538.
/// ```
/// use oplus::{algorithm::triangle_count, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let square_with_diagonal: Matrix<bool> =
///     Matrix::build(4, 4, &[(0, 1, true), (1, 2, true), (2, 3, true), (3, 0, true), (0, 2, true)])?;
/// assert_eq!(triangle_count(&square_with_diagonal, &Default::default())?, 2);
/// # Ok(()) }
/// ```
///
/// # Errors
/// `NotSquare`, and those of the operations.
pub fn triangle_count<T: Scalar, S>(graph: &Matrix<T, S>, options: &TriangleCountOptions) -> Result<u64> {
    vertices("triangle_count", graph)?;
    let pattern = apply(&graph.over::<PlusPair>(), Pair::<bool>::default()).eval()?;
    let both = ewise_add(&pattern, &transpose(&pattern).eval()?, First).eval()?;
    let a = select(&both, Offdiag, 0).eval()?;
    let degrees: Vec<(u64, u64)> = reduce_rows(&apply(&a, Pair::<u64>::default()).eval()?, Plus).eval()?.entries()?;
    let a = if options.order_by_degree.unwrap_or_else(|| is_skewed(&degrees)) { by_degree(&a, &degrees)? } else { a };
    let lower = || select(&a, Tril, -1).eval();
    let upper = || select(&a, Triu, 1).eval();
    match options.formulation {
        Formulation::Burkhardt => Ok(mxm(&a, &a).mask(&a.structure()).reduce(Plus)? / 6),
        Formulation::Cohen => Ok(mxm(&lower()?, &upper()?).mask(&a.structure()).reduce(Plus)? / 2),
        Formulation::SandiaLl => {
            let l = lower()?;
            mxm(&l, &l).mask(&l.structure()).reduce(Plus)
        }
        Formulation::SandiaUu => {
            let u = upper()?;
            mxm(&u, &u).mask(&u.structure()).reduce(Plus)
        }
        Formulation::SandiaLut => {
            let (l, u) = (lower()?, upper()?);
            mxm(&l, &u).transpose_b().mask(&l.structure()).reduce(Plus)
        }
    }
}

fn is_skewed(degrees: &[(u64, u64)]) -> bool {
    let mut sorted: Vec<u64> = degrees.iter().map(|d| d.1).collect();
    sorted.sort_unstable();
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0);
    let mean = sorted.iter().sum::<u64>() / (sorted.len() as u64).max(1);
    mean > 4 * median
}

/// Rows and columns by ascending degree: the rows of L are then short where the vertices are hubs.
fn by_degree<S>(a: &Matrix<bool, S>, degrees: &[(u64, u64)]) -> Result<Matrix<bool, S>> {
    let mut order: Vec<(u64, u64)> = degrees.iter().map(|(v, d)| (*d, *v)).collect();
    order.sort_unstable();
    let mut place: Vec<(u64, u64)> = (0u64..).zip(&order).map(|(p, (_, v))| (*v, p)).collect();
    place.sort_unstable();
    // Every end of an edge has a degree.
    let at = |v: &u64| place.binary_search_by_key(v, |p| p.0).map(|p| place[p].1).unwrap_or(*v);
    let old = a.to_coo()?;
    let (rows, columns) = (old.rows.iter().map(at).collect(), old.columns.iter().map(at).collect());
    Matrix::from_coo(&Coo { rows, columns, ..old })?.to(&a.device())
}
