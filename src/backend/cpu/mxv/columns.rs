//! Sums of columns without the transpose: each entry is added where its column stands.
use super::cut;
use super::met;
use crate::algebra::{Monoid, Scalar};
use crate::backend::cpu::neutral::neutral;
use crate::backend::cpu::parallel::{SERIAL, Shared, each_large, unwritten, written};
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

/// Threads that transpose in less time than one of them adds up all columns.
const MANY: usize = 4;

/// Columns' sums in the order of rows, as one row: what reducing the rows of the transpose gives. `None` where entries are
/// too few for a place a column, and where many threads could not share the columns.
pub(crate) fn reduce_columns<T: Scalar, M: Monoid<T>>(a: &HostCsr<T>) -> Result<Option<HostCsr<T>>> {
    let (operation, pattern) = ("reduce_rows", &a.pattern);
    let n = pattern.ncols;
    if pattern.nnz() < n / 8 {
        return Ok(None);
    }
    let cuts = cut::columns(operation, pattern)?;
    if cuts.is_none() && pattern.nnz() >= SERIAL && rayon::current_num_threads() >= MANY {
        return Ok(None);
    }
    let met = met::columns(operation, pattern, &Arc::default())?;
    let start = neutral::<T, M>().map(|(start, _)| start);
    let mut sums = unwritten::<T>(operation, n)?;
    let mut present = memory::filled(operation, if start.is_some() { 0 } else { n }, false)?;
    let (to_sums, to_present) = (Shared::new(&mut sums), Shared::new(&mut present));
    let add = |columns: Range<usize>, rows: Range<usize>, search: bool| {
        // SAFETY: the ranges of columns are disjoint.
        let sums = unsafe { to_sums.part(columns.clone()) };
        if let Some(start) = start {
            sums.fill(MaybeUninit::new(start));
            // SAFETY: every sum has been started.
            return each(a, columns, rows, search, |at, x| unsafe {
                let Some(sum) = sums.get_mut(at) else { return };
                *sum = MaybeUninit::new(M::apply(sum.assume_init(), x));
            });
        }
        // SAFETY: as above.
        let present = unsafe { to_present.part(columns.clone()) };
        each(a, columns, rows, search, |at, x| {
            let (Some(sum), Some(present)) = (sums.get_mut(at), present.get_mut(at)) else { return };
            // SAFETY: a sum that is present was written.
            let next = if *present { M::apply(unsafe { sum.assume_init() }, x) } else { x };
            (*sum, *present) = (MaybeUninit::new(next), true);
        });
    };
    match cuts {
        Some(cuts) => each_large(cuts.rows.len(), &|p| {
            let rows = &cuts.rows[p];
            let columns = cuts.starts[p] as usize..cuts.starts[p + 1] as usize;
            // Most entries of long rows lie elsewhere, few of short ones do: those are not worth a search.
            let long = pattern.nnz() / pattern.nrows.max(1) >= 32;
            add(columns, rows.start as usize..rows.end as usize, long);
        }),
        None => add(0..n, 0..pattern.nrows, false),
    }
    let values = match met.nnz() == n {
        // SAFETY: every column was met, and its sum written.
        true => unsafe { written(sums, n) },
        // SAFETY: these columns were met.
        false => unsafe { met::gathered(operation, &met, &sums)? },
    };
    Ok(Some(HostCsr::at(met, values)))
}

/// The values of rows, each with its column's distance from the first of `columns`: with `search` of these columns alone.
#[inline(always)]
fn each<T: Scalar>(
    a: &HostCsr<T>,
    columns: Range<usize>,
    rows: Range<usize>,
    search: bool,
    mut add: impl FnMut(usize, T),
) {
    let mut all = |range: Range<usize>| {
        for (j, x) in a.pattern.indices[range.clone()].iter().zip(&a.values[range]) {
            add((*j as usize).wrapping_sub(columns.start), *x);
        }
    };
    if search {
        return rows.for_each(|r| all(narrowed(&a.pattern, a.pattern.range(r), &columns)));
    }
    // Where rows end is nothing to the sums.
    all(a.pattern.offsets[rows.start] as usize..a.pattern.offsets[rows.end] as usize);
}

/// The entries of a row in some columns: mostly all of them, or none.
fn narrowed(pattern: &Pattern, range: Range<usize>, columns: &Range<usize>) -> Range<usize> {
    let row = &pattern.indices[range.clone()];
    let (Some(first), Some(last)) = (row.first(), row.last()) else { return range };
    let (first, last) = (*first as usize, *last as usize);
    if first >= columns.start && last < columns.end {
        return range;
    }
    if first >= columns.end || last < columns.start {
        return range.start..range.start;
    }
    let below = |bound: usize| range.start + row.partition_point(|c| (*c as usize) < bound);
    below(columns.start)..below(columns.end)
}
