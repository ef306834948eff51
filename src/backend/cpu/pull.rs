//! mxv with a full vector and no mask: no lookup, no list of rows, four rows of about one length at a time.
use super::assemble::{Block, partition, target};
use super::even::{BATCH, Batch};
use super::job::{at, is_final};
use super::parallel::{Shared, pieces, unwritten, written};
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// Rows at a time: sums of one row wait for each other, those of several do not.
const ROWS: usize = 4;

/// Rows shorter than this in the mean are summed one by one.
const LONG: u64 = 8;

/// Steps between looks at whether sums are final: most of two values soon are, others hardly ever.
const fn steps<T>() -> usize {
    if size_of::<T>() == 1 { 8 } else { 64 }
}

/// The sums of rows from one on that have entries, one behind the other; how many.
pub(super) type RowsKernel<A, X, C> = fn(&HostCsr<A>, &[X], &Positions, usize, &mut [MaybeUninit<C>]) -> usize;

/// t = A ⊕.⊗ x where x has an entry everywhere.
pub(super) fn pull<A: Scalar, X: Scalar, C: Scalar>(
    (rows, soon): (RowsKernel<A, X, C>, bool),
    a: &HostCsr<A>,
    x: &HostCsr<X>,
    positions: &Positions,
) -> Result<HostCsr<C>> {
    let operation = "mxv";
    let blocks = whole_rows(operation, &a.pattern, soon)?;
    let mut sums = unwritten::<C>(operation, a.pattern.nrows)?;
    let shared = Shared::new(&mut sums);
    let one = |block: &Block| {
        // SAFETY: blocks have disjoint rows.
        let out = unsafe { shared.part(block.rows.clone()) };
        rows(a, &x.values, positions, block.rows.start, out)
    };
    let counts: Vec<usize> =
        if blocks.len() < 2 { blocks.iter().map(one).collect() } else { blocks.par_iter().map(one).collect() };
    gathered(operation, &a.pattern, &x.pattern, &blocks, &counts, sums)
}

fn whole_rows(operation: &'static str, a: &Pattern, soon: bool) -> Result<Vec<Block>> {
    // Sums that are soon final take a few steps a row, however long it is.
    let most = |r: usize| if soon { 12 * r as u64 } else { u64::MAX };
    let before = |r: usize| a.offsets[r].min(most(r)) + r as u64;
    partition(operation, (a.nrows, a.ncols), target(before(a.nrows)), &before, &|_, _| Ok(Vec::new()))
}

/// A [`RowsKernel`].
pub(super) fn rows<A: Scalar, X: Scalar, S: Semiring<A, X>>(
    a: &HostCsr<A>,
    x: &[X],
    positions: &Positions,
    first: usize,
    out: &mut [MaybeUninit<S::Out>],
) -> usize {
    let (offsets, indices, values) =
        (&a.pattern.offsets[first..=first + out.len()], &a.pattern.indices[..], &a.values[..]);
    assert!(a.pattern.ncols <= x.len() && indices.len() == values.len());
    assert!(offsets.is_sorted() && offsets[out.len()] as usize <= indices.len());
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
    if soon_final::<S::Out, S::Add>() || offsets[out.len()] - offsets[0] < LONG * out.len() as u64 {
        for r in 0..out.len() {
            let (from, to) = range(r);
            if from < to {
                out[n] = MaybeUninit::new(along::<S::Out, S::Add>(product(r, from), from + 1, to, |e| product(r, e)));
                n += 1;
            }
        }
        return n;
    }
    let mut batch = Batch::new();
    for start in (0..out.len()).step_by(BATCH) {
        let rows = BATCH.min(out.len() - start);
        batch.sort(&offsets[start..=start + rows]);
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

/// The sums of the rows that have entries, from the front of each block's room: as they lie where every row has some.
fn gathered<T: Scalar>(
    operation: &'static str,
    a: &Pattern,
    x: &Arc<Pattern>,
    blocks: &[Block],
    counts: &[usize],
    sums: Vec<MaybeUninit<T>>,
) -> Result<HostCsr<T>> {
    let total: usize = counts.iter().sum();
    if total == a.nrows {
        // SAFETY: every row's sum was written.
        let values = Arc::new(unsafe { written(sums, total) });
        return Ok(HostCsr { pattern: full_row(operation, total, x)?, values });
    }
    let (mut indices, mut values) = (unwritten::<u32>(operation, total)?, unwritten::<T>(operation, total)?);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    let mut starts = memory::with_capacity(operation, counts.len())?;
    let mut start = 0;
    counts.iter().for_each(|count| {
        starts.push(start);
        start += count;
    });
    let one = |b: usize| {
        let (place, rows) = (starts[b]..starts[b] + counts[b], blocks[b].rows.clone());
        // SAFETY: blocks have disjoint places by the scan of their counts.
        let (c, v) = unsafe { (to_indices.part(place.clone()), to_values.part(place)) };
        v.copy_from_slice(&sums[rows.start..rows.start + counts[b]]);
        let (mut r, mut kept) = (rows.start, 0);
        // Each row is written where the next one kept goes: no branch to guess.
        while kept < c.len() {
            c[kept] = MaybeUninit::new(r as u32);
            kept += (a.offsets[r] < a.offsets[r + 1]) as usize;
            r += 1;
        }
    };
    if blocks.len() < 2 {
        (0..blocks.len()).for_each(one)
    } else {
        (0..blocks.len()).into_par_iter().for_each(one)
    }
    // SAFETY: each block wrote as many as it counted.
    let (indices, values) = unsafe { (written(indices, total), written(values, total)) };
    Ok(HostCsr::new(Pattern { nrows: 1, ncols: a.nrows, offsets: vec![0, total as u64], indices }, values))
}

/// One row with an entry everywhere; `like` is it where it has the length.
pub(super) fn full_row(operation: &'static str, n: usize, like: &Arc<Pattern>) -> Result<Arc<Pattern>> {
    if like.nrows == 1 && like.ncols == n && like.nnz() == n {
        return Ok(like.clone());
    }
    let mut indices = unwritten::<u32>(operation, n)?;
    let shared = Shared::new(&mut indices);
    pieces(n, 1 << 16).for_each(|piece| {
        // SAFETY: pieces are disjoint.
        let part = unsafe { shared.part(piece.clone()) };
        part.iter_mut().zip(piece).for_each(|(c, j)| *c = MaybeUninit::new(j as u32));
    });
    // SAFETY: every index was written.
    let indices = unsafe { written(indices, n) };
    Ok(Arc::new(Pattern { nrows: 1, ncols: n, offsets: vec![0, n as u64], indices }))
}
