//! Entries put into another order: transpose and build.
use super::rows::{Made, blocks, collect};
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Where each column's entries begin in the transposed pattern, and the pattern itself by `place(entry, position)`.
fn turned(a: &Pattern, mut place: impl FnMut(usize, usize)) -> Result<Pattern> {
    let operation = "transpose";
    let mut offsets = memory::filled(operation, a.ncols + 1, 0u64)?;
    a.indices.iter().for_each(|j| offsets[*j as usize + 1] += 1);
    for j in 0..a.ncols {
        offsets[j + 1] += offsets[j];
    }
    let mut next = memory::copied(operation, &offsets)?;
    let mut indices = memory::filled(operation, a.nnz(), 0u32)?;
    for i in 0..a.nrows {
        for e in a.range(i) {
            let to = &mut next[a.indices[e] as usize];
            indices[*to as usize] = i as u32;
            place(e, *to as usize);
            *to += 1;
        }
    }
    Ok(Pattern { nrows: a.ncols, ncols: a.nrows, offsets, indices })
}

pub(super) fn transpose<T: Scalar>(a: &HostCsr<T>) -> Result<HostCsr<T>> {
    let mut values = memory::filled("transpose", a.values.len(), T::zeroed())?;
    let pattern = turned(&a.pattern, |e, to| values[to] = a.values[e])?;
    Ok(HostCsr::new(pattern, values))
}

/// Stable by row, then stable by column within a row: equal positions meet in input order.
pub(super) fn build<T: Scalar, F: BinaryOp<T, T, Out = T>>(
    shape: (usize, usize),
    rows: &[u32],
    columns: &[u32],
    values: &[T],
    refuse: bool,
) -> Result<std::result::Result<HostCsr<T>, usize>> {
    let operation = "build";
    let mut offsets = memory::filled(operation, shape.0 + 1, 0u64)?;
    rows.iter().for_each(|i| offsets[*i as usize + 1] += 1);
    for i in 0..shape.0 {
        offsets[i + 1] += offsets[i];
    }
    let key = |e: usize| (rows[e], columns[e]);
    if (1..values.len()).all(|e| key(e - 1) < key(e)) {
        let (indices, values) = (memory::copied(operation, columns)?, memory::copied(operation, values)?);
        return Ok(Ok(HostCsr::new(Pattern { nrows: shape.0, ncols: shape.1, offsets, indices }, values)));
    }
    let mut next = memory::copied(operation, &offsets)?;
    // Positions in the input, grouped by row.
    let mut order = memory::filled(operation, values.len(), (0u32, 0usize))?;
    for (e, i) in rows.iter().enumerate() {
        let to = &mut next[*i as usize];
        order[*to as usize] = (columns[e], e);
        *to += 1;
    }
    let second = AtomicUsize::new(usize::MAX);
    let built = collect(operation, shape, blocks(shape.0, |r| 4 * offsets[r] + r as u64), &|rows| {
        let entries = &order[offsets[rows.start] as usize..offsets[rows.end] as usize];
        let mut made = Made::with_capacity(operation, rows.len(), entries.len())?;
        let mut sorted = memory::copied(operation, entries)?;
        let base = offsets[rows.start] as usize;
        for i in rows {
            let row = &mut sorted[offsets[i] as usize - base..offsets[i + 1] as usize - base];
            row.sort_unstable();
            for same in row.chunk_by(|p, q| p.0 == q.0) {
                let ((j, first), others) = (same[0], &same[1..]);
                if let Some((_, e)) = others.first() {
                    second.fetch_min(*e, Relaxed);
                }
                made.push(j, others.iter().fold(values[first], |v, (_, e)| F::apply(v, values[*e])));
            }
            made.end_row();
        }
        Ok(made)
    })?;
    match second.into_inner() {
        e if refuse && e < usize::MAX => Ok(Err(e)),
        _ => Ok(Ok(built)),
    }
}
