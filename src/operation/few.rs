//! Assignments that reach a few rows of a large matrix on the host: those rows are made anew, all others stay in place or
//! are moved along. O(entries of the rows reached), and O(m + nnz) simple moves where entries come or go.
use super::assignment::Source;
use super::indices::Chosen;
use super::region::{Part, within};
use super::some::{self, Reached};
use crate::algebra::Scalar;
use crate::backend::Body;
use crate::backend::cpu::{self, below};
use crate::backend::host::HostCsr;
use crate::device::Device;
use crate::error::Result;
use crate::memory::{self, Buffer};
use crate::operation::Accumulate;
use crate::storage::axis::Axis;
use crate::storage::facts::Facts;
use crate::storage::pattern::Pattern;
use crate::storage::store::Store;
use std::ops::Range;
use std::sync::Arc;

const OPERATION: &str = "assign";
/// The rows that are reached are this part of all at most, and their entries, old and new.
const FEW: u64 = 8;

/// With so many entries, old and new, the rows that are reached are looked at by all threads.
const MANY: u64 = if cfg!(test) { 1 << 6 } else { 1 << 15 };

/// The rows that change, made anew.
struct Anew<C> {
    /// Where each was.
    old: Vec<Range<usize>>,
    /// Which each is.
    rows: Vec<usize>,
    /// Where each ends in what follows.
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<C>,
}

/// Writes the source into the part of `c`, without a mask, where that reaches few rows: whether it did.
pub(super) fn assigned<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    c: &mut Store<C>,
    source: &Source<T>,
    part: &Part,
) -> Result<bool> {
    if c.device != Device::Cpu {
        return Ok(false);
    }
    if matches!(&c.body, Body::Held(_)) {
        return in_cells::<C, T, F>(c, source, part);
    }
    let (Body::Host(host), Some(cols)) = (&c.body, Columns::new(&c.cols, &part.cols)) else { return Ok(false) };
    let pattern = &host.pattern;
    let (nnz, reached) = (pattern.nnz() as u64, part.rows.count());
    let new = match source {
        Source::Store(_, true) => return Ok(false),
        Source::Store(a, false) => a.nvals(),
        Source::Value(Some(_)) => reached.saturating_mul(part.cols.count()),
        Source::Value(None) => 0,
    };
    let few = |n: u64, of: u64| n.saturating_mul(FEW) <= of;
    if reached == 0 || !few(reached, pattern.nrows as u64) || !few(new, nnz) || !ascending(&part.rows) {
        return Ok(false);
    }
    let rows = cpu::in_pieces(OPERATION, reached as usize, |p| c.rows.place(part.rows.index(p as u64)))?;
    let old: u64 = rows.iter().flatten().map(|r| pattern.range(*r).len() as u64).sum();
    if !few(new + old, nnz) {
        return Ok(false);
    }
    let from = match source {
        Source::Store(a, _) => Some(a.to_host()?),
        Source::Value(_) => None,
    };
    let reached = Reached { source, from, rows: &rows, cols: &cols };
    if new + old >= MANY && reached.rows.len() > 1 {
        let within = within(OPERATION, &c.cols, &part.cols)?;
        let Body::Host(host) = &mut c.body else { return Ok(false) };
        return some::assigned::<C, T, F>(host, &reached, &within, new as usize);
    }
    if let Some(writes) = some::written::<C, T, F>(host, &reached, 0..rows.len(), &|columns| cols.count_in(columns))? {
        let Body::Host(host) = &mut c.body else { return Ok(false) };
        if let Some(values) = host.own_values(OPERATION)? {
            writes.into_iter().for_each(|(place, z)| values[place] = z);
        }
        return Ok(true);
    }
    let Some(anew) = anew::<C, T, F>(host, &reached)? else { return Ok(false) };
    let Body::Host(host) = &mut c.body else { return Ok(false) };
    put(host, anew).map(|()| true)
}

/// The same where `c` has a cell for everything, of few of them.
fn in_cells<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
    c: &mut Store<C>,
    source: &Source<T>,
    part: &Part,
) -> Result<bool> {
    let (Body::Held(held), Some(cols)) = (&c.body, Columns::new(&c.cols, &part.cols)) else { return Ok(false) };
    let (rows, n) = (part.rows.count(), part.rows.count().saturating_mul(part.cols.count()));
    let few = n.saturating_mul(FEW) <= held.frame.slots() as u64 && n < MANY;
    if !held.frame.has_cells() || !few || !ascending(&part.rows) || matches!(source, Source::Store(_, true)) {
        return Ok(false);
    }
    // Vectors have bits and values, not cells.
    if c.rows.n() == 1 && F::TEXT.is_none() && !matches!(source, Source::Value(Some(_))) {
        return Ok(false);
    }
    let from = match source {
        Source::Store(a, _) => Some(a.to_host()?),
        Source::Value(_) => None,
    };
    let (mut writes, mut new) = (memory::with_capacity(OPERATION, n as usize)?, Vec::new());
    for p in 0..rows {
        if row_of(source, from.as_ref(), p as usize, &cols, &mut new)?.is_none() {
            return Ok(false);
        }
        let Some(row) = c.rows.place(part.rows.index(p)) else { return Ok(false) };
        let mut new = new.iter().peekable();
        for q in 0..part.cols.count() {
            let Some(column) = cols.place(q) else { return Ok(false) };
            let (before, after) = (held.get(row, column), new.next_if(|e| e.0 == column).map(|e| e.1));
            // An accumulator deletes nothing.
            if after.is_none() && F::TEXT.is_some() {
                continue;
            }
            let z = F::combine(before, after);
            if before.is_some() || z.is_some() {
                writes.push((row * c.cols.places() + column as usize, z));
            }
        }
    }
    let Body::Held(held) = &mut c.body else { return Ok(false) };
    Ok(writes.is_empty() || held.put_cells(OPERATION, &writes)?)
}

pub(super) fn ascending(chosen: &Chosen) -> bool {
    match chosen {
        Chosen::All(_) | Chosen::Range(_) => true,
        Chosen::Stride { step, .. } => *step > 0,
        Chosen::List(list) => list.is_sorted_by(|x, y| x < y),
    }
}

/// The columns of C that are meant.
pub(super) struct Columns<'a> {
    axis: &'a Axis,
    chosen: &'a Chosen,
}

impl<'a> Columns<'a> {
    /// `None` where they are in no order.
    fn new(axis: &'a Axis, chosen: &'a Chosen) -> Option<Self> {
        ascending(chosen).then_some(Self { axis, chosen })
    }
    /// The place in C of the q-th one.
    fn place(&self, q: u64) -> Option<u32> {
        self.axis.place(self.chosen.index(q)).map(|place| place as u32)
    }
    /// How many of a row's columns are meant.
    fn count_in(&self, columns: &[u32]) -> usize {
        let found = |index: u64| self.axis.place(index).is_some_and(|c| columns.binary_search(&(c as u32)).is_ok());
        match self.chosen {
            Chosen::All(_) => columns.len(),
            Chosen::Range(range) => {
                let below = |bound: u64| columns.partition_point(|c| self.axis.id(*c as usize) < bound);
                below(range.end) - below(range.start)
            }
            chosen if chosen.count() <= columns.len() as u64 => {
                (0..chosen.count()).filter(|q| found(chosen.index(*q))).count()
            }
            _ => columns.iter().scan(0, |from, c| Some(self.has(*c, from))).filter(|inside| *inside).count(),
        }
    }
    /// Whether a place of C is one of them; `from` is where the search in a list begins, places ascend.
    fn has(&self, place: u32, from: &mut usize) -> bool {
        let id = self.axis.id(place as usize);
        match self.chosen {
            Chosen::All(_) => true,
            Chosen::Range(range) => range.contains(&id),
            Chosen::Stride { start, step, count } => Chosen::position_in_stride(*start, *step, *count, id).is_some(),
            Chosen::List(list) => {
                *from += below(&list[*from..], id);
                list.get(*from) == Some(&id)
            }
        }
    }
}

/// The p-th row of the source as places and values in C; `None` where C has no place for one of them.
pub(super) fn row_of<T: Scalar>(
    source: &Source<T>,
    host: Option<&HostCsr<T>>,
    p: usize,
    cols: &Columns<'_>,
    to: &mut Vec<(u32, T)>,
) -> Result<Option<()>> {
    to.clear();
    match (source, host) {
        (Source::Store(a, _), Some(host)) => {
            let Some(place) = a.rows.place(p as u64) else { return Ok(Some(())) };
            let (columns, values) = host.row(place);
            memory::reserve(OPERATION, to, columns.len())?;
            for (q, x) in columns.iter().zip(values) {
                let Some(column) = cols.place(a.cols.id(*q as usize)) else { return Ok(None) };
                to.push((column, *x));
            }
        }
        (Source::Value(Some(x)), _) => {
            let count = cols.chosen.count();
            memory::reserve(OPERATION, to, count as usize)?;
            for q in 0..count {
                let Some(column) = cols.place(q) else { return Ok(None) };
                to.push((column, *x));
            }
        }
        _ => {}
    }
    Ok(Some(()))
}

/// `None` where C has no row or column for an entry.
fn anew<C: Scalar, T: Scalar, F: Accumulate<C, T>>(c: &HostCsr<C>, to: &Reached<'_, T>) -> Result<Option<Anew<C>>> {
    let Reached { source, from, rows, cols } = to;
    let mut made = Anew {
        old: memory::with_capacity(OPERATION, rows.len())?,
        rows: memory::with_capacity(OPERATION, rows.len())?,
        ends: memory::with_capacity(OPERATION, rows.len())?,
        columns: Vec::new(),
        values: Vec::new(),
    };
    let mut new: Vec<(u32, T)> = Vec::new();
    for (p, row) in rows.iter().enumerate() {
        if row_of(source, from.as_ref(), p, cols, &mut new)?.is_none() {
            return Ok(None);
        }
        let Some(row) = *row else { if new.is_empty() { continue } else { return Ok(None) } };
        let (columns, values) = c.row(row);
        memory::reserve(OPERATION, &mut made.columns, columns.len() + new.len())?;
        memory::reserve(OPERATION, &mut made.values, columns.len() + new.len())?;
        let (mut old, mut new) =
            (columns.iter().copied().zip(values.iter().copied()).peekable(), new.iter().peekable());
        let mut listed = 0;
        loop {
            let (x, y) = (old.peek().map(|e| e.0), new.peek().map(|e| e.0));
            let Some(column) = [x, y].into_iter().flatten().min() else { break };
            let before = old.next_if(|e| e.0 == column).map(|e| e.1);
            let after = new.next_if(|e| e.0 == column).map(|e| e.1);
            // Without an accumulator what has no value now is deleted, inside the region.
            let z = match (before, after) {
                (Some(before), None) if F::TEXT.is_some() || !cols.has(column, &mut listed) => Some(before),
                (before, after) => F::combine(before, after),
            };
            if let Some(z) = z {
                made.columns.push(column);
                made.values.push(z);
            }
        }
        made.old.push(c.pattern.range(row));
        made.rows.push(row);
        made.ends.push(made.columns.len());
    }
    Ok(Some(made))
}

fn put<C: Scalar>(c: &mut HostCsr<C>, anew: Anew<C>) -> Result<()> {
    let new = |k: usize| if k == 0 { 0 } else { anew.ends[k - 1] }..anew.ends[k];
    // All memory first: from there on nothing fails.
    let kept = kept(c.values.len(), &anew.old, &anew.ends)?;
    let values = elsewhere(&mut c.values, |v| v, &kept, &anew.ends, &anew.values)?;
    let indices = elsewhere(&mut c.pattern, |p| &p.indices, &kept, &anew.ends, &anew.columns)?;
    if Arc::get_mut(&mut c.pattern).is_none() {
        // Others hold it: then its indices are elsewhere already.
        let offsets = memory::copied(OPERATION, &c.pattern.offsets)?;
        c.pattern = Arc::new(Pattern::new(c.pattern.nrows, c.pattern.ncols, offsets, Vec::new()));
    }
    let Some(pattern) = Arc::get_mut(&mut c.pattern) else { return Ok(()) };
    match indices {
        Some(indices) => pattern.indices = indices.into(),
        None => splice(&mut pattern.indices, &kept, &anew.ends, &anew.columns, 0),
    }
    match (values, Arc::get_mut(&mut c.values)) {
        (Some(values), _) => c.values = Arc::new(values.into()),
        (None, Some(values)) => splice(values, &kept, &anew.ends, &anew.values, C::zeroed()),
        (None, None) => {}
    }
    pattern.facts = Facts::default();
    let mut moved = 0u64;
    for (k, row) in anew.rows.iter().enumerate() {
        // Modulo 2⁶⁴ the sums are what they are.
        moved = moved.wrapping_add(new(k).len() as u64).wrapping_sub(anew.old[k].len() as u64);
        let end = anew.rows.get(k + 1).copied().unwrap_or(pattern.nrows);
        pattern.offsets[row + 1..=end].iter_mut().for_each(|o| *o = o.wrapping_add(moved));
    }
    Ok(())
}

/// What a vector is to be, in other memory, if it cannot be changed where it lies: others hold it too, or it has not the room.
fn elsewhere<A, X: Scalar>(
    shared: &mut Arc<A>,
    part: impl Fn(&A) -> &Buffer<X>,
    kept: &[(Range<usize>, usize)],
    ends: &[usize],
    new: &[X],
) -> Result<Option<Vec<X>>> {
    let v = part(shared);
    let total = kept.last().map_or(v.len(), |(from, to)| to + from.len());
    if total <= v.capacity() && Arc::get_mut(shared).is_some() {
        return Ok(None);
    }
    let v = part(shared);
    let head = kept.first().zip(ends.first()).map_or(v.len(), |((_, to), end)| to - end);
    let mut parts: Vec<&[X]> = memory::with_capacity(OPERATION, 1 + 2 * kept.len())?;
    parts.push(&v[..head]);
    let mut start = 0;
    for ((from, _), end) in kept.iter().zip(ends) {
        parts.extend([&new[start..*end], &v[from.clone()]]);
        start = *end;
    }
    // So that many additions do not each move all.
    cpu::joined(OPERATION, &parts, total / 8).map(Some)
}

/// What stands between the ascending ranges `old` of so many and behind them, and where it goes when pieces that end at
/// `ends` take their places. What stands before all stays.
fn kept(length: usize, old: &[Range<usize>], ends: &[usize]) -> Result<Vec<(Range<usize>, usize)>> {
    let mut kept = memory::with_capacity(OPERATION, old.len())?;
    let mut gone = 0;
    for (k, range) in old.iter().enumerate() {
        gone += range.len();
        let end = old.get(k + 1).map_or(length, |next| next.start);
        kept.push((range.end..end, range.end - gone + ends[k]));
    }
    Ok(kept)
}

/// Moves what is kept and puts the pieces of `new`, which end at `ends`, before each. There is room.
fn splice<X: Copy>(v: &mut Vec<X>, kept: &[(Range<usize>, usize)], ends: &[usize], new: &[X], filler: X) {
    let length = v.len();
    let total = kept.last().map_or(length, |(from, to)| to + from.len());
    v.resize(total.max(length), filler);
    // What moves down, from below, meets nothing that is still to move; nor does then what moves up, from above.
    kept.iter().filter(|(from, to)| *to < from.start).for_each(|(from, to)| v.copy_within(from.clone(), *to));
    kept.iter().rev().filter(|(from, to)| *to > from.start).for_each(|(from, to)| v.copy_within(from.clone(), *to));
    let mut start = 0;
    for ((_, after), end) in kept.iter().zip(ends) {
        let piece = &new[start..*end];
        v[after - piece.len()..*after].copy_from_slice(piece);
        start = *end;
    }
    v.truncate(total);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    #[test]
    fn pieces_are_spliced() {
        let mut random = Random::new(1, 0);
        for _ in 0..2000 {
            let mut v: Vec<u32> = (0..random.below(40) as u32).collect();
            let (mut old, mut ends, mut new, mut expected, mut at) =
                (Vec::new(), Vec::new(), Vec::new(), Vec::new(), 0);
            while at < v.len() {
                let start = at + random.below(5) as usize;
                let end = start + random.below(4) as usize;
                if end > v.len() {
                    break;
                }
                let piece: Vec<u32> = (0..random.below(5) as u32).map(|x| 100 + x).collect();
                expected.extend(&v[at..start]);
                expected.extend(&piece);
                new.extend(&piece);
                old.push(start..end);
                ends.push(new.len());
                at = end.max(start + 1).min(v.len());
                expected.extend(&v[end..at]);
            }
            expected.extend(&v[at..]);
            let kept = kept(v.len(), &old, &ends).unwrap();
            splice(&mut v, &kept, &ends, &new, 0);
            assert_eq!(v, expected, "{old:?} {ends:?}");
        }
    }
}
