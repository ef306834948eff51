//! Assignments that reach many rows of a matrix on the host, and yet few of all: those rows are looked at by all threads.
use super::few::{Columns, row_of};
use crate::algebra::Scalar;
use crate::backend::cpu::{self, meet};
use crate::backend::host::HostCsr;
use crate::backend::places::Within;
use crate::error::Result;
use crate::memory;
use crate::operation::Accumulate;
use crate::operation::assignment::Source;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

const OPERATION: &str = "assign";
/// Rows that a thread looks at, one after the other.
const ROWS: usize = if cfg!(test) { 4 } else { 1 << 8 };

/// What is assigned and where it goes.
pub(super) struct Reached<'a, T> {
    pub(super) source: &'a Source<T>,
    /// Its entries, where it has any.
    pub(super) from: Option<HostCsr<T>>,
    /// The places of the rows in C, ascending.
    pub(super) rows: &'a [Option<usize>],
    pub(super) cols: &'a Columns<'a>,
}

/// The values of one row of the source, and the places where they go.
struct New<T> {
    pairs: Vec<(u32, T)>,
    columns: Vec<u32>,
    values: Vec<T>,
}
impl<T> Default for New<T> {
    fn default() -> Self {
        Self { pairs: Vec::new(), columns: Vec::new(), values: Vec::new() }
    }
}

/// The values that change of some of the rows, where all that is assigned to them is there already and nothing is deleted;
/// `meant` counts the columns that are meant.
pub(super) fn written<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    c: &HostCsr<C>,
    to: &Reached<'_, T>,
    positions: Range<usize>,
    meant: &dyn Fn(&[u32]) -> usize,
) -> Result<Option<Vec<(usize, C)>>> {
    let (mut writes, mut new) = (Vec::new(), Vec::new());
    for p in positions {
        if row_of(to.source, to.from.as_ref(), p, to.cols, &mut new)?.is_none() {
            return Ok(None);
        }
        let Some(row) = to.rows[p] else { if new.is_empty() { continue } else { return Ok(None) } };
        let (columns, values) = c.row(row);
        if F::TEXT.is_none() && meant(columns) != new.len() {
            return Ok(None);
        }
        memory::reserve(OPERATION, &mut writes, new.len())?;
        let (first, mut at) = (c.pattern.range(row).start, 0);
        for (column, x) in &new {
            at += cpu::below(&columns[at..], *column);
            if columns.get(at) != Some(column) {
                return Ok(None);
            }
            let Some(z) = F::combine(Some(values[at]), Some(*x)) else { return Ok(None) };
            writes.push((first + at, z));
        }
    }
    Ok(Some(writes))
}

/// Writes the source into the rows, whose columns `within` are meant; `more` entries are new at most. Whether it did: not where C has
/// no row or column for an entry.
pub(super) fn assigned<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    c: &mut HostCsr<C>,
    to: &Reached<'_, T>,
    within: &Within,
    more: usize,
) -> Result<bool> {
    let meant = |columns: &[u32]| columns.iter().filter(|column| within.has(**column)).count();
    let (n, failed) = (to.rows.len(), AtomicBool::new(false));
    let look: &(dyn Fn(usize) -> Result<Option<Vec<(usize, C)>>> + Sync) = &|piece| {
        if failed.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let writes = written::<C, T, F>(c, to, cpu::nth_piece(n, ROWS, piece), &meant);
        failed.fetch_or(!matches!(writes, Ok(Some(_))), Ordering::Relaxed);
        writes
    };
    let looked = cpu::collected(OPERATION, n.div_ceil(ROWS), look)?;
    let mut writes = memory::with_capacity(OPERATION, looked.len())?;
    for piece in looked {
        writes.extend(piece?);
    }
    if !failed.into_inner() {
        put(c.own_values(OPERATION)?, writes)?;
        return Ok(true);
    }
    let mut new = Vec::new();
    for (p, _) in to.rows.iter().enumerate().filter(|(_, row)| row.is_none()) {
        if row_of(to.source, to.from.as_ref(), p, to.cols, &mut new)?.is_none() || !new.is_empty() {
            return Ok(false);
        }
    }
    let mut reached = memory::with_capacity(OPERATION, n)?;
    reached.extend(to.rows.iter().enumerate().filter_map(|(p, row)| Some((p, (*row)?))));
    let rows = cpu::mapped(OPERATION, &reached, |(_, row)| row)?;
    let lacking = AtomicBool::new(false);
    // Without an accumulator what has no value now is deleted, inside the region.
    let combined = |column: u32, old: Option<C>, new: Option<T>| match (old, new) {
        (Some(old), None) if F::TEXT.is_some() || !within.has(column) => Some(old),
        (old, new) => F::combine(old, new),
    };
    let made = cpu::anew::<C, New<T>>(OPERATION, c, &rows, more, &|k, old, out, new| {
        if row_of(to.source, to.from.as_ref(), reached[k].0, to.cols, &mut new.pairs)?.is_none() {
            lacking.store(true, Ordering::Relaxed);
        }
        let New { pairs, columns, values } = new;
        columns.clear();
        values.clear();
        memory::reserve(OPERATION, columns, pairs.len())?;
        memory::reserve(OPERATION, values, pairs.len())?;
        columns.extend(pairs.iter().map(|e| e.0));
        values.extend(pairs.iter().map(|e| e.1));
        meet(OPERATION, old, (columns, values), out, combined)
    })?;
    if lacking.into_inner() {
        return Ok(false);
    }
    *c = made;
    Ok(true)
}

/// Writes values to places that ascend.
fn put<C: Scalar>(values: Option<&mut crate::memory::Buffer<C>>, writes: Vec<Vec<(usize, C)>>) -> Result<()> {
    let Some(values) = values else { return Ok(()) };
    let (mut rest, mut start) = (&mut values[..], 0);
    let mut parts = memory::with_capacity(OPERATION, writes.len())?;
    for writes in writes {
        let end = writes.last().map_or(start, |(place, _)| place + 1);
        let (own, behind) = rest.split_at_mut(end - start);
        parts.push((start, own, writes));
        (rest, start) = (behind, end);
    }
    cpu::each_mut(&mut parts, &|_, (start, own, writes)| {
        for (place, z) in writes {
            own[*place - *start] = *z;
        }
    });
    Ok(())
}
