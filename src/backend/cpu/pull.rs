//! mxv with a full vector and no mask: no lookup, no list of rows, four rows of about one length at a time.
use super::assemble::{Block, partition};
use super::even::{self, BATCH, Batch};
use super::job::{at, is_final};
use super::met;
use super::parallel::{SERIAL, Shared, unwritten, written};
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

/// Rows at a time: sums of one row wait for each other, those of several do not.
const ROWS: usize = 4;

/// Rows shorter than this in the mean are summed one by one; those of lengths that nobody guesses, once they are sorted, are
/// where they are shorter than that.
const LONG: u64 = 8;
const LONG_UNEVEN: u64 = 4;

/// Steps between looks at whether sums are final: most of two values soon are, others hardly ever.
const fn steps<T>() -> usize {
    if size_of::<T>() == 1 { 8 } else { 64 }
}

/// The sums of some rows, of those that have entries, one behind the other; their batches, where they are known.
pub(super) type RowsKernel<A, X, C> =
    fn(&HostCsr<A>, &[X], &Positions, Range<usize>, Option<&[Batch]>, &mut [MaybeUninit<C>]) -> usize;

/// t = A ⊕.⊗ x where x has an entry everywhere.
pub(super) fn pull<A: Scalar, X: Scalar, C: Scalar>(
    (rows, soon): (RowsKernel<A, X, C>, bool),
    a: &HostCsr<A>,
    x: &HostCsr<X>,
    positions: &Positions,
) -> Result<HostCsr<C>> {
    let operation = "mxv";
    let met = met::rows(operation, &a.pattern, &x.pattern)?;
    let long = !soon && a.pattern.nnz() as u64 >= LONG_UNEVEN * a.pattern.nrows as u64;
    let batches = if long { even::batches(operation, &a.pattern)? } else { None };
    let blocks = whole_rows(operation, &a.pattern, soon, if batches.is_some() { BATCH } else { 1 })?;
    let mut sums = unwritten::<C>(operation, met.nnz())?;
    let shared = Shared::new(&mut sums);
    // How many rows before this one have entries.
    let place = |row: usize| match met.nnz() == met.ncols {
        true => row,
        false => met.indices.partition_point(|r| (*r as usize) < row),
    };
    let one = |block: &Block| {
        // SAFETY: blocks have disjoint rows.
        let out = unsafe { shared.part(place(block.rows.start)..place(block.rows.end)) };
        let batches = batches.as_ref().map(|all| &all[block.rows.start / BATCH..]);
        let made = rows(a, &x.values, positions, block.rows.clone(), batches, out);
        assert!(made == out.len());
    };
    if blocks.len() < 2 {
        blocks.iter().for_each(one)
    } else {
        blocks.par_iter().for_each(one)
    }
    // SAFETY: each block wrote a sum for each of its rows that have entries, as asserted.
    let values = unsafe { written(sums, met.nnz()) };
    Ok(HostCsr { pattern: met, values: Arc::new(values) })
}

/// Blocks that begin at multiples of so many rows.
fn whole_rows(operation: &'static str, a: &Pattern, soon: bool, multiple: usize) -> Result<Vec<Block>> {
    // Sums that are soon final take a few steps a row, however long it is.
    let most = |r: usize| if soon { 12 * r as u64 } else { u64::MAX };
    let before = |r: usize| a.offsets[r].min(most(r)) + r as u64;
    // Small blocks, so that few of them come out even; none of them is copied.
    let work = before(a.nrows);
    let target = if work < SERIAL as u64 { u64::MAX } else { (work / 64).clamp(SERIAL as u64 / 8, 1 << 17) };
    let row = |unit: usize| a.nrows.min(unit * multiple);
    let shape = (a.nrows.div_ceil(multiple), a.ncols);
    let mut blocks = partition(operation, shape, target, &|unit| before(row(unit)), &|_, _| Ok(Vec::new()))?;
    blocks.iter_mut().for_each(|b| b.rows = row(b.rows.start)..row(b.rows.end));
    Ok(blocks)
}

/// A [`RowsKernel`].
pub(super) fn rows<A: Scalar, X: Scalar, S: Semiring<A, X>>(
    a: &HostCsr<A>,
    x: &[X],
    positions: &Positions,
    of: Range<usize>,
    batches: Option<&[Batch]>,
    out: &mut [MaybeUninit<S::Out>],
) -> usize {
    let (first, len) = (of.start, of.len());
    let (offsets, indices, values) = (&a.pattern.offsets[first..=of.end], &a.pattern.indices[..], &a.values[..]);
    assert!(a.pattern.ncols <= x.len() && indices.len() == values.len());
    assert!(offsets.is_sorted() && offsets[len] as usize <= indices.len());
    let product = |r: usize, e: usize| {
        // SAFETY: entries of these rows lie within both arrays, and columns below ncols: asserted, or the pattern's own.
        let (k, v, y) = unsafe {
            let k = *indices.get_unchecked(e);
            (k, *values.get_unchecked(e), *x.get_unchecked(k as usize))
        };
        S::Multiply::multiply(v, y, at::<A, X, S>(positions, first + r, k as usize, 0))
    };
    let range = |r: usize| (offsets[r] as usize, offsets[r + 1] as usize);
    let mut n = 0;
    // Sums of short rows do not wait for each other, and what is soon final is not long.
    let one_by_one = |rows: Range<usize>, n: &mut usize, out: &mut [MaybeUninit<S::Out>]| {
        for r in rows {
            let (from, to) = range(r);
            if from < to {
                out[*n] = MaybeUninit::new(along::<S::Out, S::Add>(product(r, from), from + 1, to, |e| product(r, e)));
                *n += 1;
            }
        }
    };
    let entries = |rows: Range<usize>| offsets[rows.end] - offsets[rows.start];
    if soon_final::<S::Out, S::Add>() || (batches.is_none() && entries(0..len) < LONG * len as u64) {
        one_by_one(0..len, &mut n, out);
        return n;
    }
    let mut own = Batch::new();
    for start in (0..len).step_by(BATCH) {
        let rows = BATCH.min(len - start);
        let batch = match batches.and_then(|batches| batches.get(start / BATCH)) {
            Some(known) => {
                let long = if known.uneven { LONG_UNEVEN } else { LONG };
                if entries(start..start + rows) < long * rows as u64 {
                    one_by_one(start..start + rows, &mut n, out);
                    continue;
                }
                known
            }
            None => {
                own.sort(&offsets[start..=start + rows]);
                &own
            }
        };
        let order = &batch.order[batch.first..rows];
        let mut put = |r: u8, sum: S::Out| out[n + batch.place[r as usize] as usize] = MaybeUninit::new(sum);
        let (groups, rest) = order.as_chunks::<ROWS>();
        for group in groups {
            let at: [usize; ROWS] = std::array::from_fn(|q| start + group[q] as usize);
            let ranges = at.map(range);
            let common = ranges.iter().map(|(from, to)| to - from).min().unwrap_or(0);
            let mut sums: [S::Out; ROWS] = std::array::from_fn(|q| product(at[q], ranges[q].0));
            let mut done = 1;
            while done < common && !sums.iter().all(|s| is_final::<S::Out, S::Add>(*s)) {
                let until = common.min(done + steps::<S::Out>());
                for e in done..until {
                    for q in 0..ROWS {
                        sums[q] = S::Add::apply(sums[q], product(at[q], ranges[q].0 + e));
                    }
                }
                done = until;
            }
            for q in 0..ROWS {
                let (from, to) = (ranges[q].0 + done, ranges[q].1);
                put(group[q], along::<S::Out, S::Add>(sums[q], from, to, |e| product(at[q], e)));
            }
        }
        for r in rest {
            let (at, (from, to)) = (start + *r as usize, range(start + *r as usize));
            put(*r, along::<S::Out, S::Add>(product(at, from), from + 1, to, |e| product(at, e)));
        }
        n += order.len();
    }
    n
}

/// Whether a sum of some products hardly ever needs the others.
pub(super) fn soon_final<T: Scalar, M: Monoid<T>>() -> bool {
    match M::terminal() {
        Terminal::Never => false,
        Terminal::Always => true,
        Terminal::Value(_) => size_of::<T>() == 1,
    }
}

/// A sum and the products of entries `from..to`, in order.
#[inline(always)]
fn along<T: Scalar, M: Monoid<T>>(mut sum: T, mut from: usize, to: usize, product: impl Fn(usize) -> T) -> T {
    if matches!(M::terminal(), Terminal::Always) {
        return sum;
    }
    let never = matches!(M::terminal(), Terminal::Never);
    // Some products before the first look: one alone is final about as often as not.
    while !never && to - from > steps::<T>() {
        let until = from + steps::<T>();
        (from..until).for_each(|e| sum = M::apply(sum, product(e)));
        from = until;
        if is_final::<T, M>(sum) {
            return sum;
        }
    }
    (from..to).fold(sum, |sum, e| M::apply(sum, product(e)))
}
