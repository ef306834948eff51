//! Times, memory and what results are compared by.
use crate::Outcome;
use oplus::backend::cuda::Context;
use oplus::prelude::*;
use std::time::Instant;

/// Median milliseconds, and the most bytes in use beyond what was there before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) ms: f64,
    pub(crate) peak: u64,
}

/// How often something is timed after the warm-up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    pub(crate) count: usize,
    /// Milliseconds of its rival: what takes 20 times that is timed once only.
    pub(crate) rival: Option<f64>,
}

/// What is `SLOW` times slower than another way is out of the running.
const SLOW: f64 = 20.0;

/// Times `run`, which is run once more before that. Memory is the most of all these runs: what is kept with operands is often looked for
/// when they come a second time, in the first run that is timed.
pub(crate) fn measure<T>(context: &Context, runs: Runs, mut run: impl FnMut() -> Outcome<T>) -> Outcome<(Timing, T)> {
    context.synchronize()?;
    let before = context.memory_in_use();
    context.reset_peak();
    let mut result = run()?;
    context.synchronize()?;
    let mut ms = Vec::new();
    for _ in 0..runs.count.max(1) {
        drop(result);
        context.synchronize()?;
        let start = Instant::now();
        result = run()?;
        context.synchronize()?;
        ms.push(start.elapsed().as_secs_f64() * 1e3);
        if runs.rival.is_some_and(|rival| ms[0] > SLOW * rival) {
            break;
        }
    }
    let peak = context.peak().saturating_sub(before);
    ms.sort_by(f64::total_cmp);
    Ok((Timing { ms: ms[ms.len() / 2], peak }, result))
}

/// Entries of a result, their sum and the sum of their absolute values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    pub(crate) entries: u64,
    pub(crate) sum: f64,
    pub(crate) size: f64,
}
impl Sum {
    pub(crate) fn of<T: Real>(c: &Matrix<T>) -> Outcome<Sum> {
        let wide = T::wide(c)?;
        let size = reduce(&apply(&wide, Abs).eval()?, Plus)?;
        Ok(Sum { entries: c.nvals(), sum: reduce(&wide, Plus)?, size })
    }
    /// As many entries, and a sum that rounding in `T` explains.
    pub(crate) fn agrees<T: Real>(&self, other: &Sum) -> bool {
        let close = (self.sum - other.sum).abs() <= T::TOLERANCE * self.size.max(other.size);
        self.entries == other.entries && (close || self.sum == other.sum || !(self.sum + other.sum).is_finite())
    }
}

/// What the types timed here have in common.
pub(crate) trait Real: Scalar {
    const DOUBLE: bool;
    /// Of sums of results, relative to the sum of absolute values.
    const TOLERANCE: f64;
    fn narrow(a: Matrix<f64>) -> Result<Matrix<Self>>;
    fn wide(a: &Matrix<Self>) -> Result<Matrix<f64>>;
}
impl Real for f64 {
    const DOUBLE: bool = true;
    const TOLERANCE: f64 = 1e-10;
    fn narrow(a: Matrix<f64>) -> Result<Matrix<f64>> {
        Ok(a)
    }
    fn wide(a: &Matrix<f64>) -> Result<Matrix<f64>> {
        Ok(a.clone())
    }
}
impl Real for f32 {
    const DOUBLE: bool = false;
    const TOLERANCE: f64 = 1e-4;
    fn narrow(a: Matrix<f64>) -> Result<Matrix<f32>> {
        a.cast()
    }
    fn wide(a: &Matrix<f32>) -> Result<Matrix<f64>> {
        a.cast()
    }
}

/// Geometric mean and least, where there are any.
pub(crate) fn mean_and_least(ratios: &[f64]) -> Option<(f64, f64)> {
    let mean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
    (!ratios.is_empty()).then(|| (mean, ratios.iter().copied().fold(f64::INFINITY, f64::min)))
}
