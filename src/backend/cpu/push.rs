//! vxm where most columns are met: sums in an array as long as the result.
//!
//! Where ⊕ has an element that changes nothing to the bit, sums start from it and nothing is asked of a product: which
//! columns were met is found out later, for those whose sum is still that element. Sums that may be grouped at will
//! take some rows a thread; others keep the order of k, and columns are cut among threads where rows are long or threads
//! many.
use super::flat::neutral;
use super::job::at;
use super::parallel::{SERIAL, Shared, scan, unwritten, written};
use super::product::MxmKernels;
use super::pull::full_row;
use crate::algebra::scalar::as_bytes;
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

/// A result this many times longer than there are products is made otherwise.
const SPARSE: usize = if cfg!(test) { 2 } else { 8 };
/// Threads that are worth cutting columns of short rows.
const MANY: usize = if cfg!(test) { 2 } else { 6 };
/// Columns handled at a time where all of them are looked at.
const PIECE: usize = if cfg!(test) { 1 << 4 } else { 1 << 14 };

/// Products of a row vector with a matrix.
pub(super) fn products(x: &Pattern, a: &Pattern) -> usize {
    let len = |k: &u32| a.range(*k as usize).len();
    if x.nnz() == a.nrows {
        a.nnz()
    } else if x.nnz() < SERIAL {
        x.indices.iter().map(len).sum()
    } else {
        x.indices.par_iter().with_min_len(1 << 12).map(len).sum()
    }
}

/// Whether [`push`] is the way.
pub(super) fn meets_most(products: usize, a: &Pattern) -> bool {
    products >= (a.ncols / SPARSE).max(if cfg!(test) { 1 } else { 1 << 10 })
}

/// The loops of vxm, compiled for one semiring.
#[derive(Debug)]
pub(crate) struct VxmKernels<X, A, C> {
    pub(super) rows: MxmKernels<X, A, C>,
    pub(super) push: PushKernels<X, A, C>,
}
#[derive(Debug)]
pub(super) struct PushKernels<X, A, C> {
    neutral: fn() -> Option<(C, bool)>,
    add_rows: fn(&Pushing<X, A>, Range<usize>, &Range<usize>, &mut [MaybeUninit<C>]),
    flagged: fn(&Pushing<X, A>, &mut [MaybeUninit<C>], &mut [u8]),
    merge: unsafe fn(&mut [MaybeUninit<C>], &[MaybeUninit<C>]),
}
impl<X: Scalar, A: Scalar, C: Scalar> VxmKernels<X, A, C> {
    pub(crate) const fn of<S: Semiring<X, A, Out = C>>() -> Self {
        let push = PushKernels {
            neutral: neutral::<C, S::Add>,
            add_rows: add_rows::<X, A, S>,
            flagged: flagged::<X, A, S>,
            merge: merge::<C, S::Add>,
        };
        Self { rows: MxmKernels::of_rows::<S>(), push }
    }
}

/// The operands of vxm.
struct Pushing<'a, X, A> {
    x: &'a HostCsr<X>,
    a: &'a HostCsr<A>,
    at: &'a Positions,
}

/// t = xᵀ ⊕.⊗ A.
pub(super) fn push<X: Scalar, A: Scalar, C: Scalar>(
    kernels: &PushKernels<X, A, C>,
    x: &HostCsr<X>,
    a: &HostCsr<A>,
    products: usize,
    at: &Positions,
) -> Result<HostCsr<C>> {
    let operation = "vxm";
    let (n, pushing) = (a.pattern.ncols, Pushing { x, a, at });
    let mut sums = unwritten::<C>(operation, n)?;
    let Some((start, free)) = (kernels.neutral)() else {
        let mut unmet = memory::filled(operation, n, 1)?;
        (kernels.flagged)(&pushing, &mut sums, &mut unmet);
        return kept(operation, &sums, &unmet);
    };
    let all = 0..x.pattern.nnz();
    if free && products >= SERIAL {
        let most = rayon::current_num_threads().min(products / (3 * n.max(1))).max(1);
        let chunks = entry_chunks(&x.pattern, &a.pattern, products, most);
        let mut others = memory::with_capacity(operation, chunks.len())?;
        for _ in 1..chunks.len() {
            others.push(unwritten::<C>(operation, n)?);
        }
        let mut parts: Vec<_> = std::iter::once(&mut sums).chain(&mut others).zip(chunks).collect();
        let one = |(sums, chunk): &mut (&mut Vec<MaybeUninit<C>>, Range<usize>)| {
            sums.fill(MaybeUninit::new(start));
            (kernels.add_rows)(&pushing, chunk.clone(), &(0..n), sums);
        };
        parts.par_iter_mut().with_max_len(1).for_each(one);
        drop(parts);
        for other in &others {
            // SAFETY: all were filled with the neutral element.
            let merge = |(to, from): (&mut [_], &[_])| unsafe { (kernels.merge)(to, from) };
            sums.par_chunks_mut(PIECE).zip(other.par_chunks(PIECE)).for_each(merge);
        }
    } else {
        let parts = column_parts(operation, &x.pattern, &a.pattern, products)?;
        let shared = Shared::new(&mut sums);
        let one = |part: &Range<usize>| {
            // SAFETY: parts are disjoint ranges of columns.
            let sums = unsafe { shared.part(part.clone()) };
            sums.fill(MaybeUninit::new(start));
            (kernels.add_rows)(&pushing, all.clone(), part, sums);
        };
        if parts.len() < 2 { parts.iter().for_each(one) } else { parts.par_iter().with_max_len(1).for_each(one) }
    }
    // SAFETY: every sum was filled with the neutral element at least.
    let sums = unsafe { written(sums, n) };
    let unmet = unmet(operation, &x.pattern, &a.pattern, &sums, start)?;
    let Some(unmet) = unmet else {
        return Ok(HostCsr { pattern: full_row(operation, n, &x.pattern)?, values: Arc::new(sums) });
    };
    // SAFETY: MaybeUninit<T> has the layout of T.
    let sums = unsafe { std::slice::from_raw_parts(sums.as_ptr().cast::<MaybeUninit<C>>(), n) };
    kept(operation, sums, &unmet)
}

/// Adds the products of some entries of x in some columns to sums that all have a value.
fn add_rows<X: Scalar, A: Scalar, S: Semiring<X, A>>(
    Pushing { x, a, at: positions }: &Pushing<X, A>,
    entries: Range<usize>,
    part: &Range<usize>,
    sums: &mut [MaybeUninit<S::Out>],
) {
    let (offsets, indices, values) = (&a.pattern.offsets[..], &a.pattern.indices[..], &a.values[..]);
    assert!(sums.len() == part.len() && indices.len() == values.len() && part.end <= a.pattern.ncols);
    assert!(offsets.len() == a.pattern.nrows + 1 && x.pattern.ncols <= a.pattern.nrows);
    let whole = part.len() == a.pattern.ncols;
    for (k, v) in x.pattern.indices[entries.clone()].iter().zip(&x.values[entries]) {
        // SAFETY: k is below the columns of x, for which offsets of A were asserted.
        let (from, to) = unsafe { (*offsets.get_unchecked(*k as usize), *offsets.get_unchecked(*k as usize + 1)) };
        let mut range = from as usize..to as usize;
        if !whole {
            range = within(&indices[range.clone()], range, part);
        }
        for e in range {
            // SAFETY: e is in a row's range, inside both arrays by the pattern's promise; its column is in the part, whose
            // length is that of the sums, and sums have a value by this function's condition.
            unsafe {
                let (j, y) = (*indices.get_unchecked(e), *values.get_unchecked(e));
                let product = S::Multiply::multiply(*v, y, at::<X, A, S>(positions, 0, *k as usize, j as usize));
                let sum = sums.get_unchecked_mut(j as usize - part.start);
                *sum = MaybeUninit::new(S::Add::apply(sum.assume_init(), product));
            }
        }
    }
}

/// Sums of the same columns met by ⊕.
/// # Safety
/// All have a value.
unsafe fn merge<T: Scalar, M: Monoid<T>>(to: &mut [MaybeUninit<T>], from: &[MaybeUninit<T>]) {
    for (to, from) in to.iter_mut().zip(from) {
        // SAFETY: the contract.
        *to = MaybeUninit::new(unsafe { M::apply(to.assume_init(), from.assume_init()) });
    }
}

/// The part of a row's range with columns in `part`: most rows lie on one side.
#[inline(always)]
fn within(columns: &[u32], range: Range<usize>, part: &Range<usize>) -> Range<usize> {
    let (Some(first), Some(last)) = (columns.first(), columns.last()) else { return range };
    if (*last as usize) < part.start || *first as usize >= part.end {
        return range.start..range.start;
    }
    let below = |c: usize| columns.partition_point(|j| (*j as usize) < c);
    let from = if (*first as usize) < part.start { below(part.start) } else { 0 };
    let to = if (*last as usize) < part.end { columns.len() } else { below(part.end) };
    range.start + from..range.start + to
}

/// Without a neutral element: whether a column was met is asked of every product.
fn flagged<X: Scalar, A: Scalar, S: Semiring<X, A>>(
    Pushing { x, a, at: positions }: &Pushing<X, A>,
    sums: &mut [MaybeUninit<S::Out>],
    unmet: &mut [u8],
) {
    for (k, v) in x.pattern.indices.iter().zip(x.values.iter()) {
        let (columns, values) = a.row(*k as usize);
        for (j, y) in columns.iter().zip(values) {
            let c = *j as usize;
            let product = S::Multiply::multiply(*v, *y, at::<X, A, S>(positions, 0, *k as usize, c));
            let next = match unmet[c] {
                // SAFETY: a column that was met has a sum.
                0 => S::Add::apply(unsafe { sums[c].assume_init() }, product),
                _ => product,
            };
            (sums[c], unmet[c]) = (MaybeUninit::new(next), 0);
        }
    }
}

/// Entries of x in runs with about equal products.
fn entry_chunks(x: &Pattern, a: &Pattern, products: usize, most: usize) -> Vec<Range<usize>> {
    let (n, share) = (x.nnz(), products.div_ceil(most.max(1)).max(1));
    let mut ends: Vec<usize> = if n == a.nrows {
        (1..most).map(|c| a.offsets.partition_point(|o| (*o as usize) < c * share).min(n)).collect()
    } else {
        (1..most).map(|c| n * c / most).collect()
    };
    ends.push(n);
    ends.iter().scan(0, |start, end| Some(std::mem::replace(start, *end)..*end)).collect()
}

/// Ranges of columns with about equal products: one a thread where most rows lie in one range or are long.
fn column_parts(operation: &'static str, x: &Pattern, a: &Pattern, products: usize) -> Result<Vec<Range<usize>>> {
    let threads = if products < SERIAL { 1 } else { rayon::current_num_threads() };
    const SAMPLE: usize = 512;
    let rows = || x.indices.iter().step_by(x.nnz() / SAMPLE + 1).map(|k| a.row(*k as usize));
    let mut sample = memory::with_capacity(operation, 4 * SAMPLE)?;
    if threads > 1 {
        sample.extend(rows().flat_map(|row| row.iter().step_by(row.len() / 4 + 1).copied()));
        sample.sort_unstable();
    }
    let mut cuts = memory::with_capacity(operation, threads)?;
    cuts.extend((1..threads).filter_map(|p| sample.get(sample.len() * p / threads)).filter(|c| **c > 0).copied());
    cuts.dedup();
    let crossing = rows().filter(|row| match row {
        [first, .., last] => cuts.iter().any(|c| first < c && c <= last),
        _ => false,
    });
    // Each part looks at every row: as many threads as make up for that, or rows long enough.
    let long = products / (64 * x.nnz().max(1)) >= threads;
    if !long && (threads < MANY || crossing.count() > SAMPLE / 16) {
        cuts.clear();
    }
    let mut ranges = memory::with_capacity(operation, cuts.len() + 1)?;
    let mut start = 0;
    for end in cuts.into_iter().map(|c: u32| c as usize).chain([a.ncols]) {
        ranges.push(start..end);
        start = end;
    }
    Ok(ranges)
}

/// The bits of a number.
#[inline(always)]
fn bits<T: Scalar>(value: &T) -> u64 {
    let mut word = [0; 8];
    let bytes = as_bytes(std::slice::from_ref(value));
    word[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    u64::from_ne_bytes(word)
}

/// A byte for each column: 0 where there is a product. `None` where every column has one, as the sums show.
fn unmet<T: Scalar>(
    operation: &'static str,
    x: &Pattern,
    a: &Pattern,
    sums: &[T],
    start: T,
) -> Result<Option<Vec<u8>>> {
    let start = bits(&start);
    // Without a branch, so that the compiler makes vectors of it.
    let any = |piece: &[T]| piece.iter().fold(false, |any, sum| any | (bits(sum) == start));
    match sums.len() <= SERIAL {
        true if !any(sums) => Ok(None),
        false if !sums.par_chunks(PIECE).any(any) => Ok(None),
        _ => never_met(operation, x, a).map(Some),
    }
}

/// A byte for each column: 0 where some row of x has an entry.
fn never_met(operation: &'static str, x: &Pattern, a: &Pattern) -> Result<Vec<u8>> {
    let full = x.nnz() == a.nrows;
    let steps = if full { a.nnz() } else { x.nnz() };
    let most = rayon::current_num_threads().min(a.nnz() / a.ncols.max(SERIAL)).max(1);
    let share = steps.div_ceil(most).max(1);
    let mark = |chunk: usize| {
        let mut unmet = memory::filled(operation, a.ncols, 1u8)?;
        let range = steps.min(chunk * share)..steps.min((chunk + 1) * share);
        let mut close = |columns: &[u32]| {
            assert!(unmet.len() == a.ncols);
            // SAFETY: columns are below ncols in every pattern.
            columns.iter().for_each(|j| unsafe { *unmet.get_unchecked_mut(*j as usize) = 0 });
        };
        if full {
            close(&a.indices[range])
        } else {
            x.indices[range].iter().for_each(|k| close(a.row(*k as usize)))
        }
        Ok(unmet)
    };
    if most < 2 {
        return mark(0);
    }
    let marked: Vec<Result<Vec<u8>>> = (0..most).into_par_iter().with_max_len(1).map(mark).collect();
    let mut marked = marked.into_iter();
    let mut unmet = marked.next().unwrap_or_else(|| mark(0))?;
    for other in marked {
        unmet.iter_mut().zip(other?).for_each(|(u, o)| *u &= o);
    }
    Ok(unmet)
}

/// The sums of the columns that were met: those whose byte is 0.
fn kept<T: Scalar>(operation: &'static str, sums: &[MaybeUninit<T>], unmet: &[u8]) -> Result<HostCsr<T>> {
    let n = sums.len();
    let piece = |p: usize| p * PIECE..n.min((p + 1) * PIECE);
    let count = |p: usize| unmet[piece(p)].iter().map(|u| (*u == 0) as u64).sum();
    let starts = scan(operation, n.div_ceil(PIECE), count)?;
    let total = starts.last().copied().unwrap_or(0) as usize;
    let (mut indices, mut values) = (unwritten::<u32>(operation, total)?, unwritten::<T>(operation, total)?);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    let one = |p: usize| {
        let place = starts[p] as usize..starts[p + 1] as usize;
        // SAFETY: pieces have disjoint places by the scan of their counts.
        let (c, v) = unsafe { (to_indices.part(place.clone()), to_values.part(place)) };
        let (mut j, mut kept) = (piece(p).start, 0);
        // Each column is written where the next one kept goes: no branch to guess.
        while kept < c.len() {
            (c[kept], v[kept]) = (MaybeUninit::new(j as u32), sums[j]);
            kept += (unmet[j] == 0) as usize;
            j += 1;
        }
    };
    let all = 0..n.div_ceil(PIECE);
    if n <= SERIAL {
        all.for_each(one)
    } else {
        all.into_par_iter().for_each(one)
    }
    // SAFETY: each piece wrote as many as it counted, and each of them was met.
    let (indices, values) = unsafe { (written(indices, total), written(values, total)) };
    Ok(HostCsr::new(Pattern { nrows: 1, ncols: n, offsets: vec![0, total as u64], indices }, values))
}
