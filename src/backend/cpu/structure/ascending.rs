//! Ascending columns: searched, and kept where a mask admits.
use crate::backend::cpu::rows::Rows;

/// Keeps of the entries from `start` on those that the mask's row admits.
pub(crate) fn filter<T: Copy>(rows: &mut Rows<T>, start: usize, mut mask: &[u32], complement: bool) {
    let mut kept = start;
    for e in start..rows.indices.len() {
        let (column, value) = (rows.indices[e], rows.values[e]);
        mask = &mask[below(mask, column)..];
        if (mask.first() == Some(&column)) != complement {
            (rows.indices[kept], rows.values[kept]) = (column, value);
            kept += 1;
        }
    }
    rows.indices.truncate(kept);
    rows.values.truncate(kept);
}

/// How many of the ascending columns are below this one: O(log of the answer).
#[inline(always)]
pub(crate) fn below<I: Copy + Ord>(columns: &[I], column: I) -> usize {
    let mut reach = 1;
    while reach < columns.len() && columns[reach - 1] < column {
        reach *= 2;
    }
    let (from, to) = (reach / 2, reach.min(columns.len()));
    from + columns[from..to].partition_point(|c| *c < column)
}
