//! Values alone: apply and reductions. Sums are cut at fixed places, so that they do not depend on the threads.
use super::assemble::{Block, Rows, assemble};
use super::job::is_final;
use super::merge::entry_blocks;
use super::parallel::{SERIAL, Shared, mapped, pieces, unwritten, written};
use super::vector::row_blocks;
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) fn apply<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
    a: &HostCsr<A>,
    y: Y,
    at: &Positions,
) -> Result<HostCsr<F::Out>> {
    let operation = "apply";
    // Where positions are not looked at rows are not either.
    if F::TEXT.parameters.get(1..3) == Some(&["_", "_"]) {
        let values = mapped(operation, &a.values, |x| F::apply(x, 0, 0, y))?;
        return Ok(HostCsr { pattern: a.pattern.clone(), values: Arc::new(values) });
    }
    let mut values = unwritten::<F::Out>(operation, a.values.len())?;
    let target = Shared::new(&mut values);
    let fill = |block: &Block| {
        for r in block.rows.clone() {
            let range = block.range(&a.pattern, r);
            let i = at.i.as_ref().map_or(r as u64, |ids| ids[r]) as i64;
            // SAFETY: blocks have disjoint entries.
            let out = unsafe { target.part(range.clone()) };
            let columns = &a.pattern.indices[range.clone()];
            for ((z, x), c) in out.iter_mut().zip(&a.values[range]).zip(columns) {
                let j = at.j.as_ref().map_or(*c as u64, |ids| ids[*c as usize]) as i64;
                *z = MaybeUninit::new(F::apply(*x, i, j, y));
            }
        }
    };
    let blocks = entry_blocks(operation, &[&a.pattern])?;
    if blocks.len() < 2 {
        blocks.iter().for_each(fill)
    } else {
        blocks.par_iter().for_each(fill)
    }
    let n = values.len();
    // SAFETY: the blocks cover every entry.
    let values = unsafe { written(values, n) };
    Ok(HostCsr { pattern: a.pattern.clone(), values: Arc::new(values) })
}

/// Sums that are made side by side: one waits for the one before it.
const LANES: usize = 8;

/// As [`fold`], of parts one behind the other, which are put together at the end: the same for every number of threads.
fn fold_lanes<T: Scalar, M: Monoid<T>>(values: &[T]) -> Option<T> {
    const STEPS: usize = 64;
    let length = values.len() / LANES;
    if length < STEPS {
        return fold::<T, M>(values);
    }
    let parts: [&[T]; LANES] = std::array::from_fn(|k| &values[k * length..(k + 1) * length]);
    let mut sums: [T; LANES] = std::array::from_fn(|k| parts[k][0]);
    for start in (1..length).step_by(STEPS) {
        for at in start..length.min(start + STEPS) {
            sums.iter_mut().zip(&parts).for_each(|(sum, part)| *sum = M::apply(*sum, part[at]));
        }
        if let Some(sum) = sums.iter().find(|sum| is_final::<T, M>(**sum)) {
            return Some(*sum);
        }
    }
    let rest = &values[LANES * length..];
    sums.into_iter().chain(rest.iter().copied()).reduce(M::apply)
}

/// Left to right until the sum is final.
fn fold<T: Scalar, M: Monoid<T>>(values: &[T]) -> Option<T> {
    let (first, rest) = values.split_first()?;
    let mut sum = *first;
    for x in rest {
        if is_final::<T, M>(sum) {
            break;
        }
        sum = M::apply(sum, *x);
    }
    Some(sum)
}

pub(super) fn reduce_rows<T: Scalar, M: Monoid<T>>(a: &HostCsr<T>) -> Result<HostCsr<T>> {
    let operation = "reduce_rows";
    let n = a.pattern.nrows;
    let empty = |rows: Range<usize>| a.pattern.offsets[rows.start..=rows.end].windows(2).any(|o| o[0] == o[1]);
    if n > SERIAL && !pieces(n, SERIAL).any(empty) {
        return full_sums::<T, M>(a);
    }
    let kernel = |block: &Block, rows: &mut Rows<T>, _: &mut ()| {
        rows.reserve(operation, block.columns.len())?;
        for i in block.columns.clone() {
            if let Some(sum) = fold::<T, M>(a.row(i as usize).1) {
                // SAFETY: room for every row of the block was reserved.
                unsafe { rows.push_unchecked(i, sum) };
            }
        }
        rows.end_row();
        Ok(())
    };
    assemble::<T, ()>(operation, (1, n), n as u64, &row_blocks(operation, &a.pattern)?, &kernel)
}

/// The sums of rows that all have entries.
fn full_sums<T: Scalar, M: Monoid<T>>(a: &HostCsr<T>) -> Result<HostCsr<T>> {
    let (operation, n) = ("reduce_rows", a.pattern.nrows);
    let (mut indices, mut sums) = (unwritten::<u32>(operation, n)?, unwritten::<T>(operation, n)?);
    let (to_indices, to_sums) = (Shared::new(&mut indices), Shared::new(&mut sums));
    row_blocks(operation, &a.pattern)?.par_iter().for_each(|block| {
        let rows = block.columns.start as usize..block.columns.end as usize;
        // SAFETY: blocks have rows of their own.
        let (indices, sums) = unsafe { (to_indices.part(rows.clone()), to_sums.part(rows.clone())) };
        let ends = a.pattern.offsets[rows.start..=rows.end].windows(2);
        for (((i, index), sum), o) in rows.zip(indices).zip(sums).zip(ends) {
            *index = MaybeUninit::new(i as u32);
            *sum = MaybeUninit::new(fold::<T, M>(&a.values[o[0] as usize..o[1] as usize]).unwrap_or_else(M::identity));
        }
    });
    // SAFETY: the blocks cover every row.
    let (indices, sums) = unsafe { (written(indices, n), written(sums, n)) };
    Ok(HostCsr::new(Pattern::new(1, n, vec![0, n as u64], indices), sums))
}

pub(super) fn reduce<T: Scalar, M: Monoid<T>>(values: &[T]) -> Option<T> {
    if values.len() <= SERIAL {
        return fold::<T, M>(values);
    }
    if matches!(M::terminal(), Terminal::Always) {
        return values.first().copied();
    }
    // A final sum is that of everything: pieces that did not start yet need not.
    let done = AtomicBool::new(false);
    let one = |piece: Range<usize>| {
        if done.load(Ordering::Relaxed) {
            return None;
        }
        let sum = fold_lanes::<T, M>(&values[piece]);
        if sum.is_some_and(is_final::<T, M>) {
            done.store(true, Ordering::Relaxed);
        }
        sum
    };
    let sums: Vec<Option<T>> = pieces(values.len(), SERIAL).map(one).collect();
    sums.into_iter().flatten().reduce(M::apply)
}
