//! Which columns and rows of a matrix have entries: the positions of a product with a full vector, kept with the pattern.
use crate::backend::cpu::parallel::{SERIAL, Shared, each_piece, nth_piece, scan, unwritten, written};
use crate::backend::cpu::scatter::kept;
use crate::error::Result;
use crate::memory;
use crate::storage::facts::known;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

/// Columns handled at a time where all of them are looked at.
const PIECE: usize = if cfg!(test) { 1 << 4 } else { 1 << 14 };

/// The columns of A that have an entry, as a row; `like` is it where it is full and has the length.
pub(crate) fn columns(operation: &'static str, a: &Pattern, like: &Arc<Pattern>) -> Result<Arc<Pattern>> {
    known(&a.facts.columns, || {
        let met = marked(operation, a)?;
        listed(operation, a.ncols, &|j| met[j] != 0, like)
    })
}

/// The rows of A that have an entry, as a row; `like` is it where it is full and has the length.
pub(crate) fn rows(operation: &'static str, a: &Pattern, like: &Arc<Pattern>) -> Result<Arc<Pattern>> {
    known(&a.facts.rows, || listed(operation, a.nrows, &|r| a.offsets[r] < a.offsets[r + 1], like))
}

/// Both, also of a matrix that has few entries for its width.
pub(crate) fn rows_and_columns(operation: &'static str, a: &Pattern) -> Result<(Arc<Pattern>, Arc<Pattern>)> {
    let rows = rows(operation, a, &Arc::default())?;
    if a.nnz() >= a.ncols / 8 {
        return Ok((rows, columns(operation, a, &Arc::default())?));
    }
    let mut columns = memory::copied(operation, &a.indices)?;
    columns.sort_unstable();
    columns.dedup();
    Ok((rows, Arc::new(Pattern::new(1, a.ncols, vec![0, columns.len() as u64], columns))))
}

/// A byte for each column: 1 where there is an entry.
fn marked(operation: &'static str, a: &Pattern) -> Result<Vec<u8>> {
    let most = rayon::current_num_threads().min(a.nnz() / a.ncols.max(SERIAL)).max(1);
    let share = a.nnz().div_ceil(most).max(1);
    let mark = |chunk: &[u32]| {
        let mut met = memory::filled(operation, a.ncols, 0u8)?;
        chunk.iter().for_each(|j| met[*j as usize] = 1);
        Ok(met)
    };
    if most < 2 {
        return mark(&a.indices);
    }
    let marked: Vec<Result<Vec<u8>>> = a.indices.par_chunks(share).with_max_len(1).map(mark).collect();
    let mut marked = marked.into_iter();
    let mut met = marked.next().unwrap_or_else(|| mark(&[]))?;
    for other in marked {
        met.iter_mut().zip(other?).for_each(|(m, o)| *m |= o);
    }
    Ok(met)
}

/// The places below n that are met, as a row.
fn listed(
    operation: &'static str,
    n: usize,
    met: &(dyn Fn(usize) -> bool + Sync),
    like: &Arc<Pattern>,
) -> Result<Arc<Pattern>> {
    let piece = |p: usize| nth_piece(n, PIECE, p);
    let starts = scan(operation, n.div_ceil(PIECE), |p| piece(p).map(|j| met(j) as u64).sum())?;
    let total = starts.last().copied().unwrap_or(0) as usize;
    if total == n {
        return full_row(operation, n, like);
    }
    let indices = kept(operation, n, |j| met(j).then_some(j as u32))?;
    Ok(Arc::new(Pattern::new(1, n, vec![0, total as u64], indices)))
}

/// One row with an entry everywhere; `like` is it where it has the length.
pub(crate) fn full_row(operation: &'static str, n: usize, like: &Arc<Pattern>) -> Result<Arc<Pattern>> {
    if like.is_full_row() && like.ncols == n {
        return Ok(like.clone());
    }
    let mut indices = unwritten::<u32>(operation, n)?;
    let shared = Shared::new(&mut indices);
    each_piece(n, 1 << 16, &|piece| {
        // SAFETY: pieces are disjoint.
        let part = unsafe { shared.part(piece.clone()) };
        part.iter_mut().zip(piece).for_each(|(c, j)| *c = MaybeUninit::new(j as u32));
    });
    // SAFETY: every index was written.
    let indices = unsafe { written(indices, n) };
    Ok(Arc::new(Pattern::new(1, n, vec![0, n as u64], indices)))
}

/// The values at the places of a row.
/// # Safety
/// Those places have a value.
pub(crate) unsafe fn gathered<T: Copy + Send + Sync>(
    operation: &'static str,
    places: &Pattern,
    values: &[MaybeUninit<T>],
) -> Result<Vec<T>> {
    assert!(places.ncols <= values.len());
    let mut gathered = unwritten::<T>(operation, places.nnz())?;
    let to = Shared::new(&mut gathered);
    let one = |piece: Range<usize>| {
        // SAFETY: pieces are disjoint.
        for (to, j) in unsafe { to.part(piece.clone()) }.iter_mut().zip(&places.indices[piece]) {
            // SAFETY: columns are below ncols in every pattern.
            *to = unsafe { *values.get_unchecked(*j as usize) };
        }
    };
    match places.nnz() {
        n if n < SERIAL => one(0..n),
        n => each_piece(n, PIECE, &one),
    }
    // SAFETY: every place was read, and has a value by the contract.
    Ok(unsafe { written(gathered, places.nnz()) })
}
