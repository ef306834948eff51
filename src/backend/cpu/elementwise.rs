//! Operations entry by entry: merges of two rows, selections, and the write rule.
use super::rows::{Made, blocks, collect};
use crate::algebra::*;
use crate::backend::host::HostCsr;
use crate::backend::{MaskOn, Positions};
use crate::error::Result;
use crate::operation::Accumulate;
use crate::storage::pattern::Pattern;
use std::sync::Arc;

fn place(ids: &crate::storage::axis::Ids, place: usize) -> i64 {
    ids.as_ref().map_or(place as i64, |ids| ids[place] as i64)
}

/// Calls `meet` at every column of either row, ascending, with the entries there.
#[inline(always)]
fn merge<A: Copy, B: Copy>(
    (js, xs): (&[u32], &[A]),
    (ks, ys): (&[u32], &[B]),
    mut meet: impl FnMut(u32, Option<A>, Option<B>),
) {
    let (mut p, mut q) = (0, 0);
    while p < js.len() && q < ks.len() {
        let (j, k) = (js[p], ks[q]);
        meet(j.min(k), (j <= k).then(|| xs[p]), (k <= j).then(|| ys[q]));
        p += (j <= k) as usize;
        q += (k <= j) as usize;
    }
    js[p..].iter().zip(&xs[p..]).for_each(|(j, x)| meet(*j, Some(*x), None));
    ks[q..].iter().zip(&ys[q..]).for_each(|(k, y)| meet(*k, None, Some(*y)));
}

/// Merges all rows of A and B.
fn merged<A: Scalar, B: Scalar, C: Scalar>(
    operation: &'static str,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    combine: impl Fn(usize, u32, Option<A>, Option<B>) -> Option<C> + Sync,
) -> Result<HostCsr<C>> {
    let work = |r: usize| a.pattern.offsets[r] + b.pattern.offsets[r] + r as u64;
    collect(operation, (a.pattern.nrows, a.pattern.ncols), blocks(a.pattern.nrows, work), &|rows| {
        let mut made = Made::with_capacity(operation, rows.len(), 0)?;
        for i in rows {
            let (left, right) = (a.row(i), b.row(i));
            made.reserve(operation, left.0.len() + right.0.len())?;
            merge(left, right, |j, x, y| combine(i, j, x, y).into_iter().for_each(|z| made.push(j, z)));
            made.end_row();
        }
        Ok(made)
    })
}

pub(super) fn union<T: Scalar, F: BinaryOp<T, T, Out = T>>(a: &HostCsr<T>, b: &HostCsr<T>) -> Result<HostCsr<T>> {
    merged("ewise_add", a, b, |_, _, x, y| match (x, y) {
        (Some(x), Some(y)) => Some(F::apply(x, y)),
        (x, y) => x.or(y),
    })
}

pub(super) fn intersection<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
    a: &HostCsr<A>,
    b: &HostCsr<B>,
) -> Result<HostCsr<F::Out>> {
    merged("ewise_mult", a, b, |_, _, x, y| Some(F::apply(x?, y?)))
}

pub(super) fn write<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    c: &HostCsr<C>,
    t: &HostCsr<T>,
    mask: Option<&MaskOn<Arc<Pattern>>>,
    replace: bool,
) -> Result<HostCsr<C>> {
    let Some(m) = mask else { return merged("write", c, t, |_, _, old, new| F::combine(old, new)) };
    let work = |r: usize| c.pattern.offsets[r] + t.pattern.offsets[r] + m.pattern.offsets[r] + r as u64;
    collect("write", (c.pattern.nrows, c.pattern.ncols), blocks(c.pattern.nrows, work), &|rows| {
        let mut made = Made::with_capacity("write", rows.len(), 0)?;
        for i in rows {
            let (left, right, admitted) = (c.row(i), t.row(i), m.pattern.row(i));
            made.reserve("write", left.0.len() + right.0.len())?;
            let mut next = 0;
            merge(left, right, |j, old, new| {
                while admitted.get(next).is_some_and(|k| *k < j) {
                    next += 1;
                }
                let z = if (admitted.get(next) == Some(&j)) != m.complement {
                    F::combine(old, new)
                } else if replace {
                    None
                } else {
                    old
                };
                z.into_iter().for_each(|z| made.push(j, z));
            });
            made.end_row();
        }
        Ok(made)
    })
}

pub(super) fn apply<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
    a: &HostCsr<A>,
    y: Y,
    at: &Positions,
) -> Result<HostCsr<F::Out>> {
    let mut values = crate::memory::with_capacity("apply", a.values.len())?;
    for i in 0..a.pattern.nrows {
        let (row, (columns, xs)) = (place(&at.i, i), a.row(i));
        values.extend(columns.iter().zip(xs).map(|(j, x)| F::apply(*x, row, place(&at.j, *j as usize), y)));
    }
    Ok(HostCsr { pattern: a.pattern.clone(), values: Arc::new(values) })
}

pub(super) fn select<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
    a: &HostCsr<A>,
    y: Y,
    at: &Positions,
) -> Result<HostCsr<A>> {
    let work = |r: usize| a.pattern.offsets[r] + r as u64;
    let kept = collect("select", (a.pattern.nrows, a.pattern.ncols), blocks(a.pattern.nrows, work), &|rows| {
        let mut made = Made::with_capacity("select", rows.len(), 0)?;
        for i in rows {
            let (row, (columns, xs)) = (place(&at.i, i), a.row(i));
            made.reserve("select", columns.len())?;
            for (j, x) in columns.iter().zip(xs) {
                if F::apply(*x, row, place(&at.j, *j as usize), y) {
                    made.push(*j, *x);
                }
            }
            made.end_row();
        }
        Ok(made)
    })?;
    // Nothing pruned: the pattern stays shared.
    Ok(if kept.values.len() == a.values.len() { a.clone() } else { kept })
}

pub(super) fn extract_rows<T: Scalar>(a: &HostCsr<T>, list: &[u32]) -> Result<HostCsr<T>> {
    let mut work = crate::memory::with_capacity("extract", list.len() + 1)?;
    work.push(0u64);
    let mut total = 0;
    for i in list {
        total += a.pattern.range(*i as usize).len() as u64 + 1;
        work.push(total);
    }
    collect("extract", (list.len(), a.pattern.ncols), blocks(list.len(), |r| work[r]), &|rows| {
        let mut made = Made::with_capacity("extract", rows.len(), (work[rows.end] - work[rows.start]) as usize)?;
        for r in rows {
            let (columns, values) = a.row(list[r] as usize);
            made.indices.extend_from_slice(columns);
            made.values.extend_from_slice(values);
            made.end_row();
        }
        Ok(made)
    })
}
