//! Masked mxm by dot products: one for each entry that the mask admits.
use super::accumulator::{Dense, Scratch};
use super::analysis::searches;
use super::job::{Job, at, is_final, read};
use crate::algebra::*;
use crate::backend::cpu::blocks::Block;
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::structure::ascending::below;
use crate::error::Result;
use std::ops::Range;

/// The dot products of one row, compiled for one semiring: row i of A, the columns that the mask admits, where each inner
/// index stands in row i. Room for all of them is there.
pub(crate) type DotLoop<A, B, C> = unsafe fn(&Job<A, B>, usize, &[u32], &Dense<u32>, &mut Rows<C>);

/// A dot product of a row of A and a row of Bᵀ for each entry of the mask.
pub(crate) fn dot_rows<A: Scalar, B: Scalar, C: Scalar>(
    dots: DotLoop<A, B, C>,
    job: &Job<A, B>,
    block: &Block,
    rows: &mut Rows<C>,
    scratch: &mut Scratch<C>,
) -> Result<()> {
    let a = &job.a.pattern;
    assert!(job.b.pattern.ncols == a.ncols && job.mask.is_none_or(|m| m.pattern.ncols <= job.b.pattern.nrows));
    for i in block.rows.clone() {
        let Some(mask) = job.mask else { continue };
        let admitted = &mask.pattern.indices[block.range(&mask.pattern, i)];
        let columns = a.row(i);
        if let (Some(first), Some(last), false) = (columns.first(), columns.last(), admitted.is_empty()) {
            let places = &mut scratch.places;
            places.grow(job.operation, a.ncols)?;
            places.span = (*first, *last);
            for (e, k) in columns.iter().enumerate() {
                // SAFETY: columns are below ncols in every pattern.
                unsafe { places.add(*k, e as u32, |_, e| e) };
            }
            rows.reserve(job.operation, admitted.len())?;
            // SAFETY: room for every admitted entry was reserved; every inner index of row i has its place.
            unsafe { dots(job, i, admitted, places, rows) };
            places.forget();
        }
        rows.end_row();
    }
    Ok(())
}

/// A [`DotLoop`].
/// # Safety
/// `places` holds the columns of row i of A and knows all columns below A's ncols; `admitted` are rows of Bᵀ, and `rows`
/// has room for as many.
pub(crate) unsafe fn dots<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    job: &Job<A, B>,
    i: usize,
    admitted: &[u32],
    places: &Dense<u32>,
    rows: &mut Rows<S::Out>,
) {
    let (columns, values) = job.a.row(i);
    for j in admitted {
        // SAFETY: rows of Bᵀ are the mask's columns; their ranges lie within both arrays, as `Job::new` asserted.
        let (inner, right) = unsafe { job.b_rows.part(job.b_rows.range(*j as usize)) };
        let mut sum = None;
        let mut add = |e: usize, y: B| {
            let k = if S::Multiply::READS.position { columns[e] as usize } else { 0 };
            // SAFETY: an entry of row i.
            let x = unsafe { read(values, e) };
            let product = S::Multiply::multiply(x, y, at::<A, B, S>(job.at, i, k, *j as usize));
            let next = match sum {
                Some(sum) => S::Add::apply(sum, product),
                None => product,
            };
            sum = Some(next);
            is_final::<S::Out, S::Add>(next)
        };
        let mut from = (0, 0);
        'sum: while let Some(some) = candidates(columns, inner, &mut from) {
            for (k, y) in inner[some.clone()].iter().zip(&right[some]) {
                // SAFETY: columns of Bᵀ are inner indices, below A's ncols; one in the set has a place in row i.
                unsafe {
                    if places.columns.contains(*k) && add(places.value(*k) as usize, *y) {
                        break 'sum;
                    }
                }
            }
        }
        if let Some(sum) = sum {
            // SAFETY: the contract.
            unsafe { rows.push_unchecked(*j, sum) };
        }
    }
}

/// The next of `inner` that may have a column of the row: all at once, or where it is long one by one, searched for.
fn candidates(columns: &[u32], inner: &[u32], from: &mut (usize, usize)) -> Option<Range<usize>> {
    if !searches(columns.len(), inner.len()) {
        let all = from.1..inner.len();
        from.1 = inner.len();
        return (!all.is_empty()).then_some(all);
    }
    while let Some(k) = columns.get(from.0) {
        from.1 += below(&inner[from.1..], *k);
        from.0 += 1;
        if inner.get(from.1) == Some(k) {
            return Some(from.1..from.1 + 1);
        }
    }
    None
}
