//! The matrices of multigrid by smoothed aggregation (Vaněk, Mandel, Brezina, 10.1007/BF02238511), all with operations on the
//! device, the aggregates as Bell, Dalton and Olson find them (10.1137/110838844): around vertices more than two steps apart.
use oplus::algebra::Eq;
use oplus::generate::Random;
use oplus::prelude::*;

/// Fewer unknowns are solved for by smoothing alone.
const COARSEST: u64 = 32;
/// Where aggregates hardly make the matrix smaller there are no further levels.
const SHRINKS: f64 = 0.75;

/// A matrix, the weights ω·D⁻¹ of its smoother, and how its unknowns depend on those of the next level.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) a: Matrix<f64>,
    pub(crate) weights: Vector<f64>,
    pub(crate) prolongator: Option<Matrix<f64>>,
}

/// A and what becomes of it: Pᵀ·A·P until that is small.
pub(crate) fn levels(a: &Matrix<f64>) -> Result<Vec<Level>> {
    let mut levels = Vec::new();
    let mut a = a.clone();
    loop {
        let weights = weights(&a)?;
        let prolongator = if a.nrows() > COARSEST { prolongator(&a, &weights)? } else { None };
        let coarse = match &prolongator {
            Some(p) => Some(triple_product(&p.transposed(), &a, p).eval()?),
            None => None,
        };
        levels.push(Level { a, weights, prolongator });
        match coarse {
            Some(next) => a = next,
            None => return Ok(levels),
        }
    }
}

/// ω·D⁻¹, ω = 4/(3ρ), where ρ, the largest sum of absolute values of a row of D⁻¹·A, bounds its eigenvalues.
fn weights(a: &Matrix<f64>) -> Result<Vector<f64>> {
    let diagonal = diag_extract(a, 0).eval()?;
    if diagonal.nvals() < a.nrows() || reduce_stored(&diagonal, Min)?.is_some_and(|d| d <= 0.0) {
        let reason = "A is not positive definite: a diagonal entry is not positive".into();
        return Err(Error::InvalidValue { operation: "multigrid", reason });
    }
    let inverse = apply(&diagonal, Inverse).eval()?;
    let sums = ewise_mult(&reduce_rows(&apply(a, Abs).eval()?, Plus).eval()?, &inverse, Times).eval()?;
    let largest = reduce_stored(&sums, Max)?.unwrap_or(1.0);
    apply_second(&inverse, Times, 4.0 / 3.0 / largest).eval()
}

/// P = (I − ω·D⁻¹·A)·T, T with a one in each row at its aggregate; nothing where aggregates are hardly fewer than rows.
fn prolongator(a: &Matrix<f64>, weights: &Vector<f64>) -> Result<Option<Matrix<f64>>> {
    let (n, aggregates) = (a.nrows(), aggregates(a)?);
    let count = reduce_stored(&aggregates, Max)?.map_or(0, |last| last + 1);
    if count as f64 > SHRINKS * n as f64 {
        return Ok(None);
    }
    let (rows, columns) = aggregates.entries()?.into_iter().unzip();
    let tentative = Coo { nrows: n, ncols: count, rows, columns, values: vec![1.0; aggregates.nvals() as usize] };
    let mut p = Matrix::from_coo(&tentative)?.to(&a.device())?;
    let smoothing = apply(weights, Negate).eval()?;
    mxm(a, &p.clone()).scale_rows(&smoothing, Times).accumulate(Plus).into(&mut p)?;
    Ok(Some(p))
}

/// The aggregate of each vertex. Roots are the vertices that no other within two steps comes before, once those near earlier
/// roots are out of the way; their neighbours join them, and those two steps away one of them.
fn aggregates(a: &Matrix<f64>) -> Result<Vector<u64>> {
    let (n, device) = (a.nrows(), a.device());
    let graph = a.over::<MaxSecond>();
    let mut random = Random::new(1, 0);
    // Random, and no two the same: the vertex in the lower half.
    let order: Vec<(u64, u64)> = (0..n).map(|i| (i, random.bits() << 32 | i)).collect();
    let mut left: Vector<u64, MaxSecond> = Vector::build(n, &order)?.to(&device)?;
    let mut roots: Vector<u64, MaxSecond> = Vector::new(n)?.to(&device)?;
    while left.nvals() > 0 {
        let first = mxv(&graph, &mxv(&graph, &left).eval()?).eval()?;
        let is_root = ewise_mult(&left, &first, Eq).eval()?;
        let new = apply(&left, Identity).mask(&is_root).eval()?;
        let near = mxv(&graph, &mxv(&graph, &new).eval()?).eval()?;
        roots = ewise_add(&roots, &new, Max).eval()?;
        left = apply(&left, Identity).mask(&near.structure().complement()).eval()?;
    }
    let numbers: Vec<(u64, u64)> =
        roots.entries()?.iter().zip(0..).map(|((root, _), number)| (*root, number)).collect();
    let numbered: Vector<u64, MaxSecond> = Vector::build(n, &numbers)?.to(&device)?;
    let joined = mxv(&graph, &numbered).eval()?;
    let others = mxv(&graph, &joined).eval()?;
    Ok(ewise_add(&joined, &others, First).eval()?.over())
}
