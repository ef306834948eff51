//! C⟨M⟩ = A ⊕.⊗ B by rows (Gustavson, 10.1145/355791.355796), or by a dot product for each entry of the mask.
//!
//! Sums run in the order of k, whatever the number of threads: bit-equal to the reference.
use super::accumulator::{Accumulator, Lending};
use super::rows::{Made, blocks, collect, each};
use crate::algebra::*;
use crate::backend::host::HostCsr;
use crate::backend::{MaskOn, Positions};
use crate::error::Result;
use crate::memory;
use crate::storage::axis::Ids;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::sync::Arc;

pub(super) type Mask<'a> = Option<&'a MaskOn<Arc<Pattern>>>;
const OPERATION: &str = "mxm";

#[inline(always)]
fn id(ids: &Ids, place: usize) -> u64 {
    ids.as_ref().map_or(place as u64, |ids| ids[place])
}

/// Products before each row of A: nrows + 1 sums.
pub(super) fn products(a: &Pattern, b: &Pattern) -> Result<Vec<u64>> {
    let mut sums: Vec<u64> = memory::filled(OPERATION, a.nrows + 1, 0)?;
    let count = |r: usize| a.row(r).iter().map(|k| b.offsets[*k as usize + 1] - b.offsets[*k as usize]).sum::<u64>();
    if a.nnz() > 1 << 14 {
        sums[1..].par_iter_mut().with_min_len(256).enumerate().for_each(|(r, s)| *s = count(r));
    } else {
        sums[1..].iter_mut().enumerate().for_each(|(r, s)| *s = count(r));
    }
    for r in 0..a.nrows {
        sums[r + 1] += sums[r];
    }
    Ok(sums)
}

/// One row into `made`, unsorted entries from `start` on.
fn row<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    operands: (&HostCsr<A>, &HostCsr<B>, &Positions),
    i: usize,
    mask: Mask,
    accumulator: &mut Accumulator,
    made: &mut Made<S::Out>,
    scratch: &mut Vec<S::Out>,
) -> Result<()> {
    let (a, b, at) = operands;
    let positional = <S::Multiply as Multiply<A, B>>::READS.position;
    let start = made.indices.len();
    let product = |x: A, y: B, k: u32, j: u32| {
        let at = match positional {
            true => At { i: id(&at.i, i), k: id(&at.k, k as usize), j: id(&at.j, j as usize) },
            false => At::default(),
        };
        S::Multiply::multiply(x, y, at)
    };
    let (ks, xs) = a.row(i);
    match mask {
        None => {
            if let ([k], [x]) = (ks, xs) {
                // A scaled copy: sorted already.
                let (js, ys) = b.row(*k as usize);
                made.indices.extend_from_slice(js);
                made.values.extend(js.iter().zip(ys).map(|(j, y)| product(*x, *y, *k, *j)));
                return Ok(());
            }
            for (k, x) in ks.iter().zip(xs) {
                let (js, ys) = b.row(*k as usize);
                for (j, y) in js.iter().zip(ys) {
                    accumulator.add::<S::Out, S::Add>(made, start, *j, product(*x, *y, *k, *j));
                }
            }
            accumulator.sort_row(made, start, scratch)
        }
        Some(m) if m.complement => {
            let forbidden = m.pattern.row(i);
            accumulator.set_bits(forbidden);
            for (k, x) in ks.iter().zip(xs) {
                let (js, ys) = b.row(*k as usize);
                for (j, y) in js.iter().zip(ys) {
                    if !accumulator.bit(*j) {
                        accumulator.add::<S::Out, S::Add>(made, start, *j, product(*x, *y, *k, *j));
                    }
                }
            }
            accumulator.clear_bits(forbidden);
            accumulator.sort_row(made, start, scratch)
        }
        Some(m) => {
            let wanted = m.pattern.row(i);
            if wanted.is_empty() || ks.is_empty() {
                return Ok(());
            }
            accumulator.mark(wanted);
            let mut sums: Vec<Option<S::Out>> = memory::filled(OPERATION, wanted.len(), None)?;
            for (k, x) in ks.iter().zip(xs) {
                let (js, ys) = b.row(*k as usize);
                for (j, y) in js.iter().zip(ys) {
                    if let Some(e) = accumulator.find(wanted, *j) {
                        let value = product(*x, *y, *k, *j);
                        sums[e] = Some(sums[e].map_or(value, |s| S::Add::apply(s, value)));
                    }
                }
            }
            made.reserve(OPERATION, wanted.len())?;
            wanted.iter().zip(sums).for_each(|(j, s)| s.into_iter().for_each(|s| made.push(*j, s)));
            Ok(())
        }
    }
}

/// By rows of A.
pub(super) fn saxpy<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: Mask,
    at: &Positions,
) -> Result<HostCsr<S::Out>> {
    let shape = (a.pattern.nrows, b.pattern.ncols);
    let products = products(&a.pattern, &b.pattern)?;
    let total = products[shape.0];
    if total == 0 {
        return Ok(HostCsr::new(Pattern::empty(OPERATION, shape.0, shape.1)?, Vec::new()));
    }
    // Slots a column do not pay where hardly any is met: a frontier on a road, say.
    if total < shape.1 as u64 / 16 {
        return sorted::<A, B, S>(a, b, mask, at, total);
    }
    let lending = Lending::new(OPERATION, shape.1);
    collect(OPERATION, shape, blocks(shape.0, |r| products[r] + r as u64), &|rows| {
        lending.with(|accumulator| {
            let mut made = Made::with_capacity(OPERATION, rows.len(), 0)?;
            let mut scratch = Vec::new();
            for i in rows {
                // Room for the row at most, so that pushes below never allocate; a mask bounds it as well.
                let bound = (products[i + 1] - products[i]).min(shape.1 as u64) as usize;
                made.reserve(OPERATION, bound)?;
                row::<A, B, S>((a, b, at), i, mask, accumulator, &mut made, &mut scratch)?;
                made.end_row();
            }
            Ok(made)
        })
    })
}

/// All products written down and sorted: for few of them in a wide matrix.
fn sorted<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: Mask,
    at: &Positions,
    total: u64,
) -> Result<HostCsr<S::Out>> {
    let shape = (a.pattern.nrows, b.pattern.ncols);
    let mut made = Made::with_capacity(OPERATION, shape.0, 0)?;
    let mut list: Vec<(u32, S::Out)> = memory::with_capacity(OPERATION, total as usize)?;
    for i in 0..shape.0 {
        list.clear();
        let (ks, xs) = a.row(i);
        for (k, x) in ks.iter().zip(xs) {
            let (js, ys) = b.row(*k as usize);
            for (j, y) in js.iter().zip(ys) {
                let at = At { i: id(&at.i, i), k: id(&at.k, *k as usize), j: id(&at.j, *j as usize) };
                list.push((*j, S::Multiply::multiply(*x, *y, at)));
            }
        }
        // Stable: equal columns stay in the order of k.
        list.sort_by_key(|p| p.0);
        made.reserve(OPERATION, list.len())?;
        for same in list.chunk_by(|p, q| p.0 == q.0) {
            let (j, first) = same[0];
            if mask.is_none_or(|m| m.pattern.find(i, j).is_some() != m.complement) {
                made.push(j, same[1..].iter().fold(first, |sum, p| S::Add::apply(sum, p.1)));
            }
        }
        made.end_row();
    }
    let mut offsets = memory::with_capacity(OPERATION, shape.0 + 1)?;
    offsets.push(0);
    offsets.append(&mut made.ends);
    let pattern = Pattern { nrows: shape.0, ncols: shape.1, offsets, indices: made.indices };
    Ok(HostCsr::new(pattern, made.values))
}

/// One dot product for each entry of the mask; the rows of `bt` are the columns of B.
pub(super) fn dot<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    a: &HostCsr<A>,
    bt: &HostCsr<B>,
    mask: &Pattern,
    at: &Positions,
) -> Result<HostCsr<S::Out>> {
    let shape = (a.pattern.nrows, bt.pattern.nrows);
    let work = |r: usize| mask.offsets[r] * 4 + a.pattern.offsets[r];
    collect(OPERATION, shape, blocks(shape.0, work), &|rows| {
        let mut made = Made::with_capacity(
            OPERATION,
            rows.len(),
            mask.range(rows.start).start.abs_diff(mask.offsets[rows.end] as usize),
        )?;
        for i in rows {
            let left = a.row(i);
            for j in mask.row(i) {
                if let Some(sum) = dot_one::<A, B, S>(left, bt.row(*j as usize), i, *j as usize, at) {
                    made.push(*j, sum);
                }
            }
            made.end_row();
        }
        Ok(made)
    })
}

/// ⊕ over the common indices of two ascending lists, in order, up to the terminal value.
#[inline(always)]
fn dot_one<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    (ks, xs): (&[u32], &[A]),
    (ls, ys): (&[u32], &[B]),
    i: usize,
    j: usize,
    at: &Positions,
) -> Option<S::Out> {
    let (mut p, mut q, mut sum) = (0, 0, None::<S::Out>);
    while p < ks.len() && q < ls.len() {
        let (k, l) = (ks[p], ls[q]);
        if k == l {
            let at = At { i: id(&at.i, i), k: id(&at.k, k as usize), j: id(&at.j, j) };
            let value = S::Multiply::multiply(xs[p], ys[q], at);
            let now = sum.map_or(value, |s| S::Add::apply(s, value));
            if finished::<S::Out, S::Add>(now) {
                return Some(now);
            }
            sum = Some(now);
        }
        // Without branches: both lists advance as their heads say.
        p += (k <= l) as usize;
        q += (l <= k) as usize;
    }
    sum
}

/// Whether nothing can change a sum any more.
#[inline(always)]
pub(super) fn finished<T: Scalar, M: Monoid<T>>(sum: T) -> bool {
    match M::terminal() {
        Terminal::Never => false,
        Terminal::Always => true,
        Terminal::Value(v) => sum == v,
    }
}

/// Whether dots read less than rows would: Σ over the mask of both lengths against the products.
pub(super) fn dot_is_cheaper(a: &Pattern, bt: &Pattern, mask: &Pattern) -> bool {
    let mut dots = 0u64;
    for i in 0..mask.nrows {
        let left = a.offsets[i + 1] - a.offsets[i];
        dots += mask.row(i).iter().map(|j| left + bt.offsets[*j as usize + 1] - bt.offsets[*j as usize]).sum::<u64>();
    }
    // Rows of A times the mean column of B, and the transposition.
    let mean = bt.nnz() as u64 / bt.ncols.max(1) as u64 + 1;
    dots < 2 * (a.nnz() as u64 * mean + 4 * bt.nnz() as u64)
}

/// ⊞ over the rows of C⟨M⟩ as they are made.
pub(super) fn reduce<A: Scalar, B: Scalar, S: Semiring<A, B>, R: Monoid<S::Out>>(
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: Mask,
    at: &Positions,
) -> Result<Option<S::Out>> {
    let products = products(&a.pattern, &b.pattern)?;
    let lending = Lending::new(OPERATION, b.pattern.ncols);
    let blocks = blocks(a.pattern.nrows, |r| products[r] + r as u64);
    let partial: Vec<Result<Option<S::Out>>> = each(blocks, &|rows| {
        lending.with(|accumulator| {
            let (mut made, mut scratch, mut sum) = (Made::with_capacity(OPERATION, 0, 0)?, Vec::new(), None);
            for i in rows {
                made.indices.clear();
                made.values.clear();
                let bound = (products[i + 1] - products[i]).min(b.pattern.ncols as u64) as usize;
                made.reserve(OPERATION, bound)?;
                row::<A, B, S>((a, b, at), i, mask, accumulator, &mut made, &mut scratch)?;
                sum = made.values.iter().fold(sum, |s, v| Some(s.map_or(*v, |s| R::apply(s, *v))));
            }
            Ok(sum)
        })
    });
    let mut all = None;
    for sum in partial {
        all = match (all, sum?) {
            (Some(x), Some(y)) => Some(R::apply(x, y)),
            (x, y) => x.or(y),
        };
    }
    Ok(all)
}
