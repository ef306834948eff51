//! Conjugate gradients, and the cycle of multigrid that stands for the inverse.
use crate::hierarchy::Level;
use oplus::prelude::*;

/// Steps of the smoother before and after the coarser levels, and on the coarsest.
const SMOOTHED: usize = 2;
const COARSEST: usize = 16;

/// What was found.
#[derive(Debug)]
pub(crate) struct Solved {
    pub(crate) x: Vector<f64>,
    pub(crate) steps: u64,
    /// ‖b − A·x‖ / ‖b‖.
    pub(crate) residual: f64,
}

fn dot(x: &Vector<f64>, y: &Vector<f64>) -> Result<f64> {
    reduce(&ewise_mult(x, y, Times).eval()?, Plus)
}

/// y + factor·x.
fn plus(y: &Vector<f64>, factor: f64, x: &Vector<f64>) -> Result<Vector<f64>> {
    ewise_add(y, &apply_second(x, Times, factor).eval()?, Plus).eval()
}

/// b − A·x.
fn residual(a: &Matrix<f64>, b: &Vector<f64>, x: &Vector<f64>) -> Result<Vector<f64>> {
    let mut r = b.clone();
    mxv(a, x).accumulate(Minus).into(&mut r)?;
    Ok(r)
}

/// x += ω·D⁻¹·(b − A·x).
fn smooth(level: &Level, b: &Vector<f64>, x: &mut Vector<f64>) -> Result<()> {
    ewise_mult(&level.weights, &residual(&level.a, b, x)?, Times).accumulate(Plus).into(x)
}

/// About A⁻¹·b, by one cycle over the levels: smoothed, mended by what the next level says of the residual, and smoothed again.
fn cycle(levels: &[Level], b: &Vector<f64>) -> Result<Vector<f64>> {
    let level = &levels[0];
    let mut x = ewise_mult(&level.weights, b, Times).eval()?;
    let steps = if level.prolongator.is_some() { SMOOTHED } else { COARSEST };
    for _ in 1..steps {
        smooth(level, b, &mut x)?;
    }
    if let Some(p) = &level.prolongator {
        let left = mxv(p, &residual(&level.a, b, &x)?).transpose().eval()?;
        mxv(p, &cycle(&levels[1..], &left)?).accumulate(Plus).into(&mut x)?;
        for _ in 0..steps {
            smooth(level, b, &mut x)?;
        }
    }
    Ok(x)
}

/// Until the residual is small enough or the steps are over.
pub(crate) fn conjugate_gradients(levels: &[Level], b: &Vector<f64>, tolerance: f64, most: u64) -> Result<Solved> {
    let (a, whole) = (&levels[0].a, dot(b, b)?.sqrt());
    let mut x = Vector::full(b.len(), 0.0)?.to(&b.device())?;
    let (mut r, mut p, mut before) = (b.clone(), None::<Vector<f64>>, 0.0);
    let mut steps = 0;
    loop {
        let size = dot(&r, &r)?.sqrt();
        let residual = if whole > 0.0 { size / whole } else { 0.0 };
        if size <= tolerance * whole || steps == most {
            return Ok(Solved { x, steps, residual });
        }
        let z = cycle(levels, &r)?;
        let now = dot(&r, &z)?;
        let direction = match &p {
            Some(p) => plus(&z, now / before, p)?,
            None => z,
        };
        let ap = mxv(a, &direction).eval()?;
        let curvature = dot(&direction, &ap)?;
        if !(curvature > 0.0 && now > 0.0) {
            // What is left is rounding, whose squares may vanish.
            if residual <= f64::EPSILON {
                return Ok(Solved { x, steps, residual });
            }
            let reason = format!("A is not positive definite: a direction of curvature {curvature} in step {steps}");
            return Err(Error::InvalidValue { operation: "multigrid", reason });
        }
        let length = now / curvature;
        (x, r) = (plus(&x, length, &direction)?, plus(&r, -length, &ap)?);
        (p, before) = (Some(direction), now);
        steps += 1;
    }
}
