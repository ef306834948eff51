//! Columns cut among threads, kept with the pattern.
use crate::backend::cpu::parallel::{SERIAL, collected, nth_piece};
use crate::error::Result;
use crate::memory;
use crate::storage::facts::{ColumnCuts, known};
use crate::storage::pattern::Pattern;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Rows that cuts are guessed from.
pub(crate) const SAMPLE: usize = 512;

/// Ascending columns that cut the entries of these rows, [`SAMPLE`] at most, into about `parts` equal parts.
pub(crate) fn quantiles<'a>(
    operation: &'static str,
    some: impl Iterator<Item = &'a [u32]>,
    parts: usize,
) -> Result<Vec<u32>> {
    let mut sample = memory::with_capacity(operation, 5 * SAMPLE)?;
    sample.extend(some.flat_map(|row| row.iter().step_by(row.len() / 4 + 1).copied()));
    sample.sort_unstable();
    let mut cuts = memory::with_capacity(operation, parts)?;
    cuts.extend((1..parts).filter_map(|p| sample.get(sample.len() * p / parts)).filter(|c| **c > 0).copied());
    cuts.dedup();
    Ok(cuts)
}

/// Whether a row has entries on both sides of a cut.
pub(crate) fn crosses(row: &[u32], cuts: &[u32]) -> bool {
    match row {
        [first, .., last] => cuts.iter().any(|c| first < c && c <= last),
        _ => false,
    }
}

/// The columns of A cut for all threads. `None` where rows are short and lie on both sides of a cut: each thread looks at
/// every row that has an entry in its part. `None` for the first who asks, too: one product is not worth a look at all rows.
pub(crate) fn columns(operation: &'static str, a: &Pattern) -> Result<Option<Arc<ColumnCuts>>> {
    let threads = rayon::current_num_threads();
    if threads < 2 || a.nnz() < SERIAL {
        return Ok(None);
    }
    if !cfg!(test) && a.facts.cuts.get().is_none() && !a.facts.pushed.swap(true, Ordering::Relaxed) {
        return Ok(None);
    }
    known(&a.facts.cuts, || {
        let some = || (0..a.nrows).step_by(a.nrows / SAMPLE + 1).map(|r| a.row(r));
        let cuts = quantiles(operation, some(), threads)?;
        let long = a.nnz() / a.nrows.max(1) >= 32 * threads;
        if !long && some().filter(|row| crosses(row, &cuts)).count() > SAMPLE / 16 {
            return Ok(None);
        }
        let placed = placed(operation, a, &cuts)?;
        // Rows that several threads would look at.
        let looks: usize = placed.rows.iter().map(|rows| rows.len()).sum();
        Ok((long || looks - a.nrows.min(looks) <= a.nrows / 4).then(|| Arc::new(placed)))
    })
}

fn placed(operation: &'static str, a: &Pattern, inner: &[u32]) -> Result<ColumnCuts> {
    let mut starts = memory::with_capacity(operation, inner.len() + 2)?;
    starts.push(0);
    starts.extend_from_slice(inner);
    starts.push(a.ncols as u32);
    // For each part the rows of a piece with entries in it.
    let piece = |rows: Range<usize>| {
        let mut spans = vec![(u32::MAX, 0); inner.len() + 1];
        for r in rows {
            if let [first, .., last] | [first @ last] = a.row(r) {
                let part = |j: &u32| inner.partition_point(|c| c <= j);
                for span in &mut spans[part(first)..=part(last)] {
                    *span = (span.0.min(r as u32), r as u32 + 1);
                }
            }
        }
        spans
    };
    const PIECE: usize = 1 << 14;
    let spans: Vec<Vec<(u32, u32)>> =
        collected(operation, a.nrows.div_ceil(PIECE), &|p| piece(nth_piece(a.nrows, PIECE, p)))?;
    let mut rows = memory::with_capacity(operation, inner.len() + 1)?;
    rows.extend((0..=inner.len()).map(|p| {
        let (from, to) = spans.iter().map(|s| s[p]).fold((u32::MAX, 0), |x, y| (x.0.min(y.0), x.1.max(y.1)));
        from.min(to)..to
    }));
    Ok(ColumnCuts { starts, rows })
}
