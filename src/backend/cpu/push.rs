//! vxm where most columns are met: sums in an array as long as the result, columns cut among threads.
//!
//! Each thread reads every row of its own columns, so that sums still run in the order of k whatever the cut.
use super::analysis::hub_cuts;
use super::multiply::at;
use super::parallel::{SERIAL, Shared, pieces, unwritten, written};
use super::pull::full_row;
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;

/// A result this many times longer than there are products is made otherwise.
const SPARSE: usize = if cfg!(test) { 2 } else { 8 };

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
    products >= (a.ncols / SPARSE).max(1 << 10)
}

/// t = xᵀ ⊕.⊗ A.
pub(super) fn push<X: Scalar, A: Scalar, S: Semiring<X, A>>(
    x: &HostCsr<X>,
    a: &HostCsr<A>,
    products: usize,
    positions: &Positions,
) -> Result<HostCsr<S::Out>> {
    let operation = "vxm";
    let n = a.pattern.ncols;
    let parts = column_parts(operation, &x.pattern, &a.pattern, products)?;
    let (mut sums, mut met) = (unwritten::<S::Out>(operation, n)?, unwritten::<bool>(operation, n)?);
    let (to_sums, to_met) = (Shared::new(&mut sums), Shared::new(&mut met));
    let one = |part: &Range<usize>| {
        // SAFETY: parts are disjoint ranges of columns.
        let (sums, met) = unsafe { (to_sums.part(part.clone()), to_met.part(part.clone())) };
        // SAFETY: MaybeUninit<T> has the layout of T, and all is written before it is read.
        let (sums, met) = unsafe {
            sums.fill(MaybeUninit::new(S::Add::identity()));
            met.fill(MaybeUninit::new(false));
            (&mut *(sums as *mut [_] as *mut [S::Out]), &mut *(met as *mut [_] as *mut [bool]))
        };
        scatter::<X, A, S>(x, a, positions, part, sums, met);
    };
    if parts.len() < 2 {
        parts.iter().for_each(one)
    } else {
        parts.par_iter().with_max_len(1).for_each(one)
    }
    // SAFETY: the parts cover every column.
    let (sums, met) = unsafe { (written(sums, n), written(met, n)) };
    gathered(operation, &x.pattern, sums, &met)
}

/// The products of some columns.
fn scatter<X: Scalar, A: Scalar, S: Semiring<X, A>>(
    x: &HostCsr<X>,
    a: &HostCsr<A>,
    positions: &Positions,
    part: &Range<usize>,
    sums: &mut [S::Out],
    met: &mut [bool],
) {
    let (indices, values) = (&a.pattern.indices[..], &a.values[..]);
    let (first, last) = (part.start == 0, part.end == a.pattern.ncols);
    assert!(sums.len() == part.len() && met.len() == part.len() && indices.len() == values.len());
    for (k, v) in x.pattern.indices.iter().zip(x.values.iter()) {
        let range = a.pattern.range(*k as usize);
        let columns = &indices[range.clone()];
        // The first part's columns come first and the last's come last: only what lies between is searched.
        let (mut from, mut to) = (range.start, range.end);
        if !first && !last {
            from += columns.partition_point(|c| (*c as usize) < part.start);
        }
        let mut add = |e: usize| {
            // SAFETY: e is in the row's range, which `columns` above checked.
            let (j, y) = unsafe { (*indices.get_unchecked(e), *values.get_unchecked(e)) };
            let c = (j as usize).wrapping_sub(part.start);
            if c >= part.len() {
                return false;
            }
            let product = S::Multiply::multiply(*v, y, at::<X, A, S>(positions, 0, *k as usize, j as usize));
            // SAFETY: c is below the part's length, which is that of both slices.
            unsafe {
                let (sum, met) = (sums.get_unchecked_mut(c), met.get_unchecked_mut(c));
                let more = S::Add::apply(*sum, product);
                *sum = if *met { more } else { product };
                *met = true;
            }
            true
        };
        if last && !first {
            while to > from && add(to - 1) {
                to -= 1;
            }
        } else {
            while from < to && add(from) {
                from += 1;
            }
        }
    }
}

/// Ranges of columns with about equal products: one a thread, as long as rows are long enough to be cut.
fn column_parts(operation: &'static str, x: &Pattern, a: &Pattern, products: usize) -> Result<Vec<Range<usize>>> {
    let most = if products < SERIAL { 1 } else { (products / (2 * x.nnz().max(1))).max(2) };
    let parts = rayon::current_num_threads().min(most);
    let cuts = if parts > 1 { hub_cuts(operation, &x.indices, a, parts)? } else { Vec::new() };
    let mut ranges = memory::with_capacity(operation, parts)?;
    let mut start = 0;
    for end in cuts.into_iter().map(|c| c as usize).chain([a.ncols]) {
        if end > start {
            ranges.push(start..end);
            start = end;
        }
    }
    Ok(ranges)
}

/// The sums of the columns that were met.
fn gathered<T: Scalar>(
    operation: &'static str,
    x: &std::sync::Arc<Pattern>,
    sums: Vec<T>,
    met: &[bool],
) -> Result<HostCsr<T>> {
    const PIECE: usize = 1 << 14;
    let n = met.len();
    let count = |piece: &[bool]| piece.iter().map(|m| *m as usize).sum::<usize>();
    let counts: Vec<usize> =
        if n <= SERIAL { met.chunks(PIECE).map(count).collect() } else { met.par_chunks(PIECE).map(count).collect() };
    let total: usize = counts.iter().sum();
    if total == n {
        return Ok(HostCsr { pattern: full_row(operation, n, x)?, values: std::sync::Arc::new(sums) });
    }
    let (mut indices, mut values) = (unwritten::<u32>(operation, total)?, unwritten::<T>(operation, total)?);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    let mut starts = memory::with_capacity(operation, counts.len())?;
    let mut start = 0;
    counts.iter().for_each(|count| {
        starts.push(start);
        start += count;
    });
    let one = |piece: Range<usize>| {
        let p = piece.start / PIECE;
        let place = starts[p]..starts[p] + counts[p];
        // SAFETY: pieces have disjoint places by the scan of their counts.
        let (c, v) = unsafe { (to_indices.part(place.clone()), to_values.part(place)) };
        let listed = piece.filter(|j| met[*j]);
        for ((c, v), j) in c.iter_mut().zip(v).zip(listed) {
            (*c, *v) = (MaybeUninit::new(j as u32), MaybeUninit::new(sums[j]));
        }
    };
    if n <= SERIAL {
        (0..n.div_ceil(PIECE)).for_each(|p| one(p * PIECE..n.min((p + 1) * PIECE)));
    } else {
        pieces(n, PIECE).for_each(one);
    }
    // SAFETY: each piece wrote as many as it counted.
    let (indices, values) = unsafe { (written(indices, total), written(values, total)) };
    Ok(HostCsr::new(Pattern { nrows: 1, ncols: n, offsets: vec![0, total as u64], indices }, values))
}
