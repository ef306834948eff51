//! Sums that may leave the range of f64: made of weights that are a power of two smaller, so that none does on the way.
use crate::algebra::{Max, Min, MinPlus, Times, ValueLt};
use crate::container::Matrix;
use crate::error::{Error, Result};
use crate::operation::{apply_second, reduce, select};

/// A power of two times which the weights have finite sums; 1 where they have them as they are. Walks have fewer than 2n edges until
/// a negative cycle is seen.
pub(crate) fn scale(edges: &Matrix<f64, MinPlus>, negative: bool, n: u64) -> Result<f64> {
    let least = if negative { reduce(edges, Min)? } else { 0.0 };
    let largest = reduce(edges, Max)?.max(-least);
    let scale = 0.5f64.powi(66 - n.leading_zeros() as i32);
    Ok(if largest <= f64::MAX * scale { 1.0 } else { scale })
}

pub(crate) fn scaled(edges: Matrix<f64, MinPlus>, scale: f64) -> Result<Matrix<f64, MinPlus>> {
    if scale == 1.0 { Ok(edges) } else { apply_second(&edges, Times, scale).eval() }
}

/// The distances that sums of scaled weights are: none above the range, an error below.
pub(crate) fn unscaled(distances: Matrix<f64, MinPlus>, scale: f64) -> Result<Matrix<f64, MinPlus>> {
    if scale == 1.0 {
        return Ok(distances);
    }
    let distances = apply_second(&distances, Times, scale.recip()).eval()?;
    if reduce(&distances, Min)? == f64::NEG_INFINITY
        && let Some((i, j, _)) = distances.entries()?.into_iter().find(|e| e.2 == f64::NEG_INFINITY)
    {
        let reason = format!("the distance from vertex {i} to {j} is less than the least value of f64");
        return Err(Error::InvalidValue { operation: "apsp", reason });
    }
    select(&distances, ValueLt, f64::INFINITY).eval()
}
