//! The sparse closure: repeated squaring.
use super::path::Route;
use crate::algebra::{Diag, Min, Offdiag};
use crate::container::Matrix;
use crate::error::{Error, Result};
use crate::operation::{ewise_add, mxm, reduce, select};

type Paths<R> = Matrix<R, <R as Route>::Semiring>;

/// Paths of up to 2^r edges after r squarings, diagonal left out; stops where nothing changes (true) or from `full`
/// entries on (false).
pub(crate) fn squared<R: Route>(mut paths: Paths<R>, n: u64, full: u128) -> Result<(Paths<R>, u32, bool)> {
    let mut squarings = 0;
    // Simple paths and cycles have n edges at most.
    let mut edges: u64 = 1;
    while edges < n {
        if paths.nvals() as u128 >= full {
            return Ok((paths, squarings, false));
        }
        let twice = mxm(&paths, &paths).eval()?;
        squarings += 1;
        edges = edges.saturating_mul(2);
        refuse_negative::<R>(&twice)?;
        let longer = select(&twice, Offdiag, 0).eval()?;
        let all = ewise_add(&paths, &longer, R::Add::default()).eval()?;
        if all.nvals() == paths.nvals() && R::same(&all, &paths)? {
            break;
        }
        paths = all;
    }
    Ok((paths, squarings, true))
}

fn refuse_negative<R: Route>(paths: &Paths<R>) -> Result<()> {
    let cycles = R::lengths(&select(paths, Diag, 0).eval()?)?;
    if reduce(&cycles, Min)? >= 0.0 {
        return Ok(());
    }
    match cycles.entries()?.into_iter().find(|e| e.2 < 0.0) {
        Some((vertex, _, _)) => Err(Error::NegativeCycle { operation: "apsp", vertex }),
        None => Ok(()),
    }
}

/// The path of no edges at every vertex.
pub(crate) fn with_diagonal<R: Route>(paths: Paths<R>, n: u64) -> Result<Paths<R>> {
    let mut trivial = crate::memory::with_capacity("apsp", usize::try_from(n).unwrap_or(usize::MAX))?;
    trivial.extend((0..n).map(|i| (i, i, R::TRIVIAL)));
    let trivial: Paths<R> = Matrix::build(n, n, &trivial)?;
    let trivial = trivial.to(&paths.device())?;
    ewise_add(&paths, &trivial, R::Add::default()).eval()
}
