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

/// A row of A, and where each inner index stands in it.
pub(crate) struct DotRow<'a, A, B> {
    job: &'a Job<'a, A, B>,
    i: usize,
    places: &'a Dense<u32>,
}

/// Adds products of a row of A with some entries of column j of B to a sum, compiled for one semiring; whether that is final then.
pub(crate) type DotLoop<A, B, C> = unsafe fn(&DotRow<A, B>, u32, Range<usize>, &mut Option<C>) -> bool;

/// A dot product of a row of A and a row of Bᵀ for each entry of the mask.
pub(crate) fn dot_rows<A: Scalar, B: Scalar, C: Scalar>(
    dot: DotLoop<A, B, C>,
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
            let row = DotRow { job, i, places };
            for j in admitted {
                let mut sum = None;
                // SAFETY: rows of Bᵀ are the mask's columns; every inner index of row i has its place.
                unsafe {
                    let inner = job.b_rows.range(*j as usize);
                    if searches(columns.len(), inner.len()) {
                        search(dot, &row, columns, (*j, inner), &mut sum);
                    } else {
                        dot(&row, *j, inner, &mut sum);
                    }
                }
                if let Some(sum) = sum {
                    // SAFETY: room for every admitted entry was reserved.
                    unsafe { rows.push_unchecked(*j, sum) };
                }
            }
            places.forget();
        }
        rows.end_row();
    }
    Ok(())
}

/// A [`DotLoop`] on those entries of a long column of B that row i has columns for, searched for one by one.
/// # Safety
/// That of a [`DotLoop`].
unsafe fn search<A: Scalar, B: Scalar, C: Scalar>(
    dot: DotLoop<A, B, C>,
    row: &DotRow<A, B>,
    columns: &[u32],
    (j, of): (u32, Range<usize>),
    sum: &mut Option<C>,
) {
    let (inner, mut from) = (&row.job.b.pattern.indices[of.clone()], 0);
    for k in columns {
        from += below(&inner[from..], *k);
        let e = of.start + from;
        // SAFETY: the contract.
        if inner.get(from) == Some(k) && unsafe { dot(row, j, e..e + 1, sum) } {
            break;
        }
    }
}

/// A [`DotLoop`]. Plain loops: this is compiled for every semiring.
/// # Safety
/// `places` holds the columns of row i of A and knows all columns below A's ncols; entries are those of a row of Bᵀ.
pub(crate) unsafe fn dot<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    row: &DotRow<A, B>,
    j: u32,
    of: Range<usize>,
    to: &mut Option<S::Out>,
) -> bool {
    let (job, from) = (row.job, row.job.a.pattern.range(row.i).start);
    let (mut sum, mut f, mut done) = (*to, of.start, false);
    while f < of.end && !done {
        // SAFETY: the contract; columns of Bᵀ are inner indices, below A's ncols, and one in the set has a place in row i. Entries lie
        // within all arrays, as `Job::new` asserted.
        unsafe {
            let k = read(job.b_rows.columns, f);
            if row.places.columns.contains(k) {
                let (x, y) = (read(job.a_rows.values, from + row.places.value(k) as usize), read(job.b_rows.values, f));
                let product = S::Multiply::multiply(x, y, at::<A, B, S>(job.at, row.i, k as usize, j as usize));
                let next = match sum {
                    Some(sum) => S::Add::apply(sum, product),
                    None => product,
                };
                sum = Some(next);
                done = is_final::<S::Out, S::Add>(next);
            }
        }
        f += 1;
    }
    *to = sum;
    done
}
