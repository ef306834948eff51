//! Shortest paths from one source.
use super::{sources, vertices};
use crate::algebra::{Identity, Lt, Min, MinPlus, Scalar};
use crate::container::{Matrix, Vector};
use crate::error::{Error, Result};
use crate::operation::{apply, ewise_add, ewise_mult, vxm};

/// What [`sssp`] finds.
#[derive(Debug)]
pub struct Sssp {
    /// Distance of each reached vertex; vertices without a path have no entry.
    pub distances: Vector<f64, MinPlus>,
    /// Rounds of relaxation.
    pub rounds: u64,
}

/// d = d min (f min.+ W), where f are the distances improved in the round before, until none is (Bellman–Ford).
///
/// Weights may be negative where no negative cycle can be reached. O(n · nnz(W)) at worst; a round relaxes only the
/// edges of improved vertices. Deterministic. Bellman, *On a routing problem*, Quart. Appl. Math. 16, 1958,
/// 10.1090/qam/102435.
/// ```
/// use oplus::{algorithm::sssp, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let roads: Matrix<f64> = Matrix::build(3, 3, &[(0, 1, 5.0), (0, 2, 1.0), (2, 1, 2.0)])?;
/// assert_eq!(sssp(&roads, 0)?.distances.entries()?, [(0, 0.0), (1, 3.0), (2, 1.0)]);
/// # Ok(()) }
/// ```
///
/// # Errors
/// `NotSquare`, `IndexOutOfBounds` for the source, `InvalidValue` for a weight that is NaN, `NegativeCycle`, and those of
/// the operations.
pub fn sssp<S>(weights: &Matrix<f64, S>, source: u64) -> Result<Sssp> {
    let n = vertices("sssp", weights)?;
    sources("sssp", &[source], n)?;
    no_nan("sssp", weights)?;
    let weights = weights.over::<MinPlus>();
    let mut distances = Vector::<f64, MinPlus>::build(n, &[(source, 0.0)])?.to(&weights.device())?;
    let (mut improved, mut rounds) = (distances.clone(), 0);
    while improved.nvals() > 0 {
        if rounds > n {
            let vertex = improved.entries()?.first().map_or(source, |e| e.0);
            return Err(Error::NegativeCycle { operation: "sssp", vertex });
        }
        rounds += 1;
        let tried = vxm(&improved, &weights).eval()?;
        improved = better(&tried, &distances)?;
        distances = ewise_add(&distances, &improved, Min).eval()?;
    }
    Ok(Sssp { distances, rounds })
}

/// The entries of `tried` that are new or below what is there.
fn better(tried: &Vector<f64, MinPlus>, known: &Vector<f64, MinPlus>) -> Result<Vector<f64, MinPlus>> {
    let new = apply(tried, Identity).mask(&known.structure().complement()).eval()?;
    let smaller = ewise_mult(tried, known, Lt).eval()?;
    ewise_add(&new, &apply(tried, Identity).mask(&smaller).eval()?, Min).eval()
}

/// A weight that is NaN has no place in an order.
pub(super) fn no_nan<T: Scalar + Into<f64>, S>(operation: &'static str, weights: &Matrix<T, S>) -> Result<()> {
    let host = weights.store.to_host()?;
    match host.values.iter().position(|w| (*w).into().is_nan()) {
        None => Ok(()),
        Some(e) => {
            let row = host.pattern.offsets.partition_point(|o| *o <= e as u64) - 1;
            let (i, j) = (weights.store.rows.id(row), weights.store.cols.id(host.pattern.indices[e] as usize));
            Err(Error::InvalidValue { operation, reason: format!("the weight of edge ({i}, {j}) is NaN") })
        }
    }
}
