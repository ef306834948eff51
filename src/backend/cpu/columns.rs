//! Sums of columns without the transpose: each entry is added where its column stands.
use super::cut;
use super::parallel::{Shared, unwritten, written};
use crate::algebra::{Monoid, Scalar};
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Columns' sums in the order of rows, as one row: what reducing the rows of the transpose gives. `None` where entries are
/// too few for a place a column.
pub(super) fn reduce_columns<T: Scalar, M: Monoid<T>>(a: &HostCsr<T>) -> Result<Option<HostCsr<T>>> {
    let (operation, pattern) = ("reduce_rows", &a.pattern);
    let n = pattern.ncols;
    if pattern.nnz() < n / 8 {
        return Ok(None);
    }
    let mut sums = unwritten::<T>(operation, n)?;
    let mut present = memory::filled(operation, n, false)?;
    let (to_sums, to_present) = (Shared::new(&mut sums), Shared::new(&mut present));
    let add = |columns: Range<usize>, rows: Range<usize>, whole: bool| {
        // SAFETY: the ranges of columns are disjoint.
        let (sums, present) = unsafe { (to_sums.part(columns.clone()), to_present.part(columns.clone())) };
        for r in rows {
            let mut range = pattern.range(r);
            if !whole {
                range = narrowed(pattern, range, &columns);
            }
            for (j, x) in pattern.indices[range.clone()].iter().zip(&a.values[range]) {
                let at = *j as usize - columns.start;
                // SAFETY: a sum that is present was written.
                let sum = if present[at] { M::apply(unsafe { sums[at].assume_init() }, *x) } else { *x };
                sums[at] = MaybeUninit::new(sum);
                present[at] = true;
            }
        }
    };
    match cut::columns(operation, pattern)? {
        Some(cuts) => cuts.rows.par_iter().enumerate().with_max_len(1).for_each(|(p, rows)| {
            let columns = cuts.starts[p] as usize..cuts.starts[p + 1] as usize;
            add(columns, rows.start as usize..rows.end as usize, false);
        }),
        None => add(0..n, 0..pattern.nrows, true),
    }
    let count = present.iter().filter(|p| **p).count();
    let mut indices = memory::with_capacity(operation, count)?;
    if count == n {
        indices.extend(0..n as u32);
        // SAFETY: every sum is present.
        let values = unsafe { written(sums, n) };
        return Ok(Some(HostCsr::new(Pattern::new(1, n, vec![0, n as u64], indices), values)));
    }
    let mut values = memory::with_capacity(operation, count)?;
    for (j, sum) in
        present.iter().zip(&sums).enumerate().filter(|(_, (present, _))| **present).map(|(j, (_, sum))| (j, sum))
    {
        indices.push(j as u32);
        // SAFETY: a sum that is present was written.
        values.push(unsafe { sum.assume_init() });
    }
    Ok(Some(HostCsr::new(Pattern::new(1, n, vec![0, count as u64], indices), values)))
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
