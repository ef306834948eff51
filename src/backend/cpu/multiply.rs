//! mxm and vxm by rows: the inner loops, compiled for each semiring, around accumulators that know only its scalar.
use super::accumulator::{Columns, Scratch};
use super::analysis::{OnMask, Survey, ask, searches};
use super::assemble::{Block, Rows};
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::storage::axis::Ids;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;

/// A product's operands, ready.
#[derive(Debug)]
pub(super) struct Job<'a, A, B> {
    pub(super) operation: &'static str,
    pub(super) a: &'a HostCsr<A>,
    pub(super) b: &'a HostCsr<B>,
    pub(super) mask: OnMask<'a>,
    pub(super) at: &'a Positions,
}

#[inline(always)]
fn id(ids: &Ids, place: usize) -> u64 {
    ids.as_ref().map_or(place as u64, |ids| ids[place])
}

/// Where a product stands, for those who look.
#[inline(always)]
pub(super) fn at<A: Scalar, B: Scalar, S: Semiring<A, B>>(at: &Positions, i: usize, k: usize, j: usize) -> At {
    match S::Multiply::READS.position {
        true => At { i: id(&at.i, i), k: id(&at.k, k), j: id(&at.j, j) },
        false => At::default(),
    }
}

/// Whether a sum that has this value stays as it is.
#[inline(always)]
pub(super) fn is_final<T: Scalar, M: Monoid<T>>(sum: T) -> bool {
    match M::terminal() {
        Terminal::Never => false,
        Terminal::Always => true,
        Terminal::Value(v) => sum == v,
    }
}

/// Rows of B scattered into an accumulator per row of A, in the order of k.
pub(super) fn scatter_rows<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    job: &Job<A, B>,
    block: &Block,
    rows: &mut Rows<S::Out>,
    scratch: &mut Scratch<S::Out>,
) -> Result<()> {
    let (a, b) = (&job.a.pattern, &job.b.pattern);
    for i in block.rows.clone() {
        if let Some(m) = job.mask.filter(|m| !m.complement) {
            let admitted = &m.pattern.indices[block.range(&m.pattern, i)];
            let products = if admitted.is_empty() { 0 } else { Survey::count(a, i, b, &job.b.values) };
            if products == 0 {
                rows.end_row();
                continue;
            }
            if admitted.len() / 4 <= products {
                listed::<A, B, S>(job, block, i, admitted, rows, scratch)?;
                rows.end_row();
                continue;
            }
        }
        let single = job.mask.is_none() && a.range(i).len() == 1;
        if single {
            alone::<A, B, S>(job, block, i, rows)?;
            rows.end_row();
            continue;
        }
        let survey = Survey::of(a, i, b, &job.b.values, block);
        if survey.products > 0 {
            if survey.is_scattered() {
                scratch.table.grow(job.operation, survey.products)?;
                hash::<A, B, S>(job, block, i, scratch);
                let start = rows.indices.len();
                scratch.table.drain(job.operation, rows)?;
                if let Some(m) = job.mask {
                    filter(rows, start, m.pattern.row(i), m.complement);
                }
            } else {
                scratch.dense.grow(job.operation, b.ncols)?;
                scratch.dense.span = survey.span;
                match job.mask {
                    None if survey.banded => {
                        window::<A, B, S>(job, block, i, scratch);
                        // SAFETY: a banded row has a sum in every column of its span.
                        unsafe { scratch.dense.drain_window(job.operation, rows)? };
                        rows.end_row();
                        continue;
                    }
                    None => {
                        dense::<A, B, S, false>(job, block, i, scratch, false);
                    }
                    Some(m) => {
                        scratch.gate.grow(job.operation, b.ncols)?;
                        let admitted = &m.pattern.indices[block.range(&m.pattern, i)];
                        admitted.iter().for_each(|j| scratch.gate.set(*j));
                        dense::<A, B, S, true>(job, block, i, scratch, !m.complement);
                        admitted.iter().for_each(|j| scratch.gate.clear_word(*j));
                    }
                }
                scratch.dense.drain(job.operation, survey.most(), rows)?;
            }
        }
        rows.end_row();
    }
    Ok(())
}

pub(super) fn admits_none(mask: OnMask, i: usize) -> bool {
    mask.is_some_and(|m| !m.complement && m.pattern.range(i).is_empty())
}

/// A row of A with one entry: a row of B times that.
#[inline(always)]
fn alone<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    rows: &mut Rows<S::Out>,
) -> Result<()> {
    let (a, b) = (&job.a.pattern, &job.b.pattern);
    for e in a.range(i) {
        ask(a, e, b, &job.b.values);
        let (k, x) = (a.indices[e] as usize, job.a.values[e]);
        let range = block.range(b, k);
        let columns = &b.indices[range.clone()];
        rows.reserve(job.operation, columns.len())?;
        rows.indices.extend_from_slice(columns);
        let product = |(j, y): (&u32, &B)| S::Multiply::multiply(x, *y, at::<A, B, S>(job.at, i, k, *j as usize));
        rows.values.extend(columns.iter().zip(&job.b.values[range]).map(product));
    }
    Ok(())
}

/// A row of which the mask admits few columns, given ascending.
#[inline(always)]
fn listed<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    admitted: &[u32],
    rows: &mut Rows<S::Out>,
    scratch: &mut Scratch<S::Out>,
) -> Result<()> {
    scratch.gate.grow(job.operation, job.b.pattern.ncols)?;
    scratch.dense.grow(job.operation, job.b.pattern.ncols)?;
    admitted.iter().for_each(|j| scratch.gate.set(*j));
    let met = dense::<A, B, S, true>(job, block, i, scratch, true);
    admitted.iter().for_each(|j| scratch.gate.clear_word(*j));
    if met { scratch.dense.drain_listed(job.operation, admitted, rows) } else { Ok(()) }
}

/// Whether there was a product.
#[inline(always)]
fn dense<A: Scalar, B: Scalar, S: Semiring<A, B>, const GATED: bool>(
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    scratch: &mut Scratch<S::Out>,
    admitted: bool,
) -> bool {
    let (b, mut met) = (&job.b.pattern, false);
    for e in job.a.pattern.range(i) {
        let (k, x) = (job.a.pattern.indices[e] as usize, job.a.values[e]);
        let range = block.range(b, k);
        for (j, y) in b.indices[range.clone()].iter().zip(&job.b.values[range]) {
            if GATED && scratch.gate.get(*j) != admitted {
                continue;
            }
            let product = S::Multiply::multiply(x, *y, at::<A, B, S>(job.at, i, k, *j as usize));
            // SAFETY: columns are below ncols in every pattern, and the accumulator was grown to ncols.
            unsafe { scratch.dense.add(*j, product, S::Add::apply) };
            met = true;
        }
    }
    met
}

/// A row whose runs are ranges of columns that touch: no set, no index, and the compiler makes vectors of it.
#[inline(always)]
fn window<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    scratch: &mut Scratch<S::Out>,
) {
    let b = &job.b.pattern;
    // Columns that have a sum.
    let mut summed = 0..0u32;
    for e in job.a.pattern.range(i) {
        let (k, x) = (job.a.pattern.indices[e] as usize, job.a.values[e]);
        let range = block.range(b, k);
        let Some(first) = b.indices[range.clone()].first().copied() else { continue };
        let last = first + range.len() as u32;
        let product = |j: u32, y: B| S::Multiply::multiply(x, y, at::<A, B, S>(job.at, i, k, j as usize));
        let values = &job.b.values[range];
        // New columns before and after the overlap with those that have a sum, none where nothing has one yet.
        let (from, to) = match summed.is_empty() {
            true => (last, last),
            false => (summed.start.clamp(first, last), summed.end.clamp(first, last)),
        };
        let (before, rest) = values.split_at((from - first) as usize);
        let (within, after) = rest.split_at((to - from) as usize);
        for (start, new) in [(first, before), (to, after)] {
            for ((z, y), j) in scratch.dense.window(start, new.len()).iter_mut().zip(new).zip(start..) {
                *z = MaybeUninit::new(product(j, *y));
            }
        }
        for ((z, y), j) in scratch.dense.window(from, within.len()).iter_mut().zip(within).zip(from..) {
            // SAFETY: columns of `summed` were written by an earlier run.
            *z = MaybeUninit::new(S::Add::apply(unsafe { z.assume_init() }, product(j, *y)));
        }
        summed = if summed.is_empty() { first..last } else { summed.start.min(first)..summed.end.max(last) };
    }
}

#[inline(always)]
fn hash<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    job: &Job<A, B>,
    block: &Block,
    i: usize,
    scratch: &mut Scratch<S::Out>,
) {
    let b = &job.b.pattern;
    for e in job.a.pattern.range(i) {
        let (k, x) = (job.a.pattern.indices[e] as usize, job.a.values[e]);
        let range = block.range(b, k);
        for (j, y) in b.indices[range.clone()].iter().zip(&job.b.values[range]) {
            let product = S::Multiply::multiply(x, *y, at::<A, B, S>(job.at, i, k, *j as usize));
            scratch.table.add(*j, product, S::Add::apply);
        }
    }
}

/// Keeps of the entries from `start` on those that the mask's row admits.
fn filter<T: Copy>(rows: &mut Rows<T>, start: usize, mut mask: &[u32], complement: bool) {
    let mut kept = start;
    for e in start..rows.indices.len() {
        let (column, value) = (rows.indices[e], rows.values[e]);
        mask = &mask[below(mask, column)..];
        if (mask.first() == Some(&column)) != complement {
            (rows.indices[kept], rows.values[kept]) = (column, value);
            kept += 1;
        }
    }
    rows.indices.truncate(kept);
    rows.values.truncate(kept);
}

/// How many of the ascending columns are below this one: O(log of the answer).
#[inline(always)]
pub(super) fn below(columns: &[u32], column: u32) -> usize {
    let mut reach = 1;
    while reach < columns.len() && columns[reach - 1] < column {
        reach *= 2;
    }
    let (from, to) = (reach / 2, reach.min(columns.len()));
    from + columns[from..to].partition_point(|c| *c < column)
}

/// A dot product of a row of A and a row of Bᵀ for each entry of the mask.
pub(super) fn dot_rows<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    job: &Job<A, B>,
    block: &Block,
    rows: &mut Rows<S::Out>,
    scratch: &mut Scratch<S::Out>,
) -> Result<()> {
    let (a, bt) = (&job.a.pattern, &job.b.pattern);
    for i in block.rows.clone() {
        let Some(mask) = job.mask else { continue };
        let admitted = &mask.pattern.indices[block.range(&mask.pattern, i)];
        let (columns, values) = job.a.row(i);
        if let (Some(first), Some(last), false) = (columns.first(), columns.last(), admitted.is_empty()) {
            let places = &mut scratch.places;
            places.grow(job.operation, a.ncols)?;
            places.span = (*first, *last);
            for (e, k) in columns.iter().enumerate() {
                // SAFETY: columns are below ncols in every pattern.
                unsafe { places.add(*k, e as u32, |_, e| e) };
            }
            rows.reserve(job.operation, admitted.len())?;
            for j in admitted {
                let (inner, right) = job.b.row(*j as usize);
                let mut sum = None;
                if searches(columns.len(), inner.len()) {
                    let mut from = 0;
                    for (k, x) in columns.iter().zip(values) {
                        from += below(&inner[from..], *k);
                        if inner.get(from) == Some(k)
                            && grow_sum::<A, B, S>(
                                &mut sum,
                                *x,
                                right[from],
                                at::<A, B, S>(job.at, i, *k as usize, *j as usize),
                            )
                        {
                            break;
                        }
                    }
                } else {
                    for (k, y) in inner.iter().zip(right) {
                        // SAFETY: columns of Bᵀ are inner indices, below A's ncols; one in the set has a place.
                        let x = unsafe { places.columns.contains(*k).then(|| values[places.value(*k) as usize]) };
                        if let Some(x) = x
                            && grow_sum::<A, B, S>(&mut sum, x, *y, at::<A, B, S>(job.at, i, *k as usize, *j as usize))
                        {
                            break;
                        }
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
    debug_assert!(bt.ncols == a.ncols);
    Ok(())
}

/// One more product; whether the sum is final.
#[inline(always)]
fn grow_sum<A: Scalar, B: Scalar, S: Semiring<A, B>>(sum: &mut Option<S::Out>, x: A, y: B, at: At) -> bool {
    let product = S::Multiply::multiply(x, y, at);
    let next = sum.map_or(product, |sum| S::Add::apply(sum, product));
    *sum = Some(next);
    is_final::<S::Out, S::Add>(next)
}

/// The pattern of a product alone: every sum is known to be one and the same value.
pub(super) fn structural_rows(
    (a, b, mask): (&Pattern, &Pattern, OnMask),
    block: &Block,
    rows: &mut Rows<()>,
    scratch: &mut (Columns, Vec<u32>),
) -> Result<()> {
    let operation = "mxm";
    for i in block.rows.clone() {
        let survey = if admits_none(mask, i) { None } else { Some(Survey::of::<()>(a, i, b, &[], block)) };
        if let Some(survey) = survey.filter(|s| s.products > 0) {
            let start = rows.indices.len();
            rows.reserve(operation, survey.most())?;
            let (columns, list) = scratch;
            if survey.banded {
                // SAFETY: room for `most`, here the whole span, was reserved.
                (survey.span.0..=survey.span.1).for_each(|j| unsafe { rows.push_unchecked(j, ()) });
            } else if survey.is_scattered() {
                list.clear();
                crate::memory::reserve(operation, list, survey.products)?;
                a.row(i).iter().for_each(|k| list.extend_from_slice(&b.indices[block.range(b, *k as usize)]));
                list.sort_unstable();
                list.dedup();
                // SAFETY: room for `most` was reserved.
                list.iter().for_each(|j| unsafe { rows.push_unchecked(*j, ()) });
            } else {
                columns.grow(operation, b.ncols)?;
                for k in a.row(i) {
                    for j in &b.indices[block.range(b, *k as usize)] {
                        // SAFETY: columns are below ncols in every pattern.
                        unsafe { columns.insert(*j) };
                    }
                }
                columns.drain(survey.span, |first, mut word| {
                    while word != 0 {
                        // SAFETY: room for `most` was reserved.
                        unsafe { rows.push_unchecked(first + word.trailing_zeros(), ()) };
                        word &= word - 1;
                    }
                });
            }
            if let Some(m) = mask {
                filter(rows, start, m.pattern.row(i), m.complement);
            }
        }
        rows.end_row();
    }
    Ok(())
}
