//! Rows that are stretches of other rows: counted, then copied to where they stay.
use super::parallel::{SERIAL, Shared, each, each_piece, scan, unwritten, written};
use crate::algebra::Scalar;
use crate::backend::host::HostCsr;
use crate::backend::side::Side;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Entries that are copied at once, of shorter rows too: what is written too much the next row writes over.
const WIDE: usize = 8;

/// The entries of each row before a column, or from one on.
pub(super) fn side<T: Scalar>(operation: &'static str, a: &HostCsr<T>, side: &Side) -> Result<HostCsr<T>> {
    let pattern = &a.pattern;
    let count = |r: usize| {
        let row = pattern.range(r);
        let before = leading(pattern, row.clone(), side.column(r));
        if side.before { before } else { row.len() - before }
    };
    let start = |r: usize, n: usize| {
        let row = pattern.range(r);
        if side.before { row.start } else { row.end - n }
    };
    // Of rows of hardly any entries it is no gain; with fewer columns a row has fewer than 2³² of them.
    if pattern.nrows > PIECE && pattern.nnz() > SERIAL.max(2 * pattern.nrows) && pattern.ncols <= u32::MAX as usize {
        return counted_and_copied(operation, a, &count, &start);
    }
    copied(operation, a, (pattern.nrows, pattern.ncols), 0, &count, &start)
}

/// How many of a row's columns come before this one: without a branch where there are few.
#[inline(always)]
pub(super) fn leading(a: &Pattern, row: Range<usize>, column: u32) -> usize {
    if let (Some(columns), true) = (a.indices.get(row.start..row.start + WIDE), row.len() <= WIDE && a.ncols >> 31 == 0)
    {
        let (column, len) = (column.min(i32::MAX as u32) as i32, row.len() as i32);
        return (0..WIDE).map(|e| i32::from(((columns[e] as i32) < column) & ((e as i32) < len))).sum::<i32>() as usize;
    }
    a.indices[row].partition_point(|j| *j < column)
}

/// Row r has so many entries of A, count(r) = n, from start(r, n) on, `shift` added to their columns, wrapping.
pub(super) fn copied<T: Scalar>(
    operation: &'static str,
    a: &HostCsr<T>,
    (nrows, ncols): (usize, usize),
    shift: u32,
    count: &(impl Fn(usize) -> usize + Sync),
    start: &(impl Fn(usize, usize) -> usize + Sync),
) -> Result<HostCsr<T>> {
    let offsets = scan(operation, nrows, |r| count(r) as u64)?;
    let total = offsets[nrows] as usize;
    let (mut indices, mut values) = (unwritten::<u32>(operation, total)?, unwritten::<T>(operation, total)?);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    each_piece(total, SERIAL, &|place| {
        // Rows that have an entry in the piece, the first and the last perhaps before and behind it.
        let first = offsets.partition_point(|o| *o as usize <= place.start) - 1;
        let rows = (first..nrows).map(|r| (r, offsets[r] as usize..offsets[r + 1] as usize));
        let spans = rows.take_while(|(_, row)| row.start < place.end).map(|(r, row)| {
            let from = start(r, row.len()) + place.start.saturating_sub(row.start);
            from..from + row.end.min(place.end) - row.start.max(place.start)
        });
        // SAFETY: pieces are disjoint.
        let (indices, values) = unsafe { (to_indices.part(place.clone()), to_values.part(place.clone())) };
        stretches(a, shift, spans, indices, values);
    });
    // SAFETY: as many entries were written as were counted, which `stretches` asserts.
    let (indices, values) = unsafe { (written(indices, total), written(values, total)) };
    Ok(HostCsr::new(Pattern::new(nrows, ncols, offsets, indices), values))
}

/// Rows that are counted and copied while they are in the cache.
const PIECE: usize = if cfg!(test) { 1 << 5 } else { 1 << 13 };

/// The same of rows of A that keep a part of their entries each, most of which stay: a piece of rows is counted, waits to hear where the
/// one before it ends, and is copied while A's rows are still near. Pieces are taken in their order, so that whoever is waited for is at
/// work. Room is taken for all of A's entries, and what is not needed given back.
fn counted_and_copied<T: Scalar>(
    operation: &'static str,
    a: &HostCsr<T>,
    count: &(impl Fn(usize) -> usize + Sync),
    start: &(impl Fn(usize, usize) -> usize + Sync),
) -> Result<HostCsr<T>> {
    let (nrows, room) = (a.pattern.nrows, a.pattern.nnz());
    let mut offsets = unwritten::<u64>(operation, nrows + 1)?;
    offsets[0] = MaybeUninit::new(0);
    let (mut indices, mut values) = (unwritten::<u32>(operation, room)?, unwritten::<T>(operation, room)?);
    let pieces = nrows.div_ceil(PIECE);
    let mut ends = memory::with_capacity(operation, pieces)?;
    ends.extend((0..pieces).map(|_| AtomicU64::new(UNKNOWN)));
    let next = AtomicUsize::new(0);
    let to_offsets = Shared::new(&mut offsets[1..]);
    let (to_indices, to_values) = (Shared::new(&mut indices), Shared::new(&mut values));
    let ends = &ends[..];
    each(rayon::current_num_threads(), &|_| {
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            let rows = piece * PIECE..nrows.min((piece + 1) * PIECE);
            if rows.is_empty() {
                return;
            }
            // SAFETY: pieces are disjoint.
            let sums = unsafe { to_offsets.part(rows.clone()) };
            let mut counts = [0u32; PIECE];
            let mut own = 0;
            for (n, r) in counts.iter_mut().zip(rows.clone()) {
                *n = count(r) as u32;
                own += u64::from(*n);
            }
            let before = match piece.checked_sub(1) {
                Some(last) => end_of(&ends[last]),
                None => 0,
            };
            ends[piece].store(before + own, Ordering::Release);
            let mut sum = before;
            for (to, n) in sums.iter_mut().zip(&counts) {
                sum += u64::from(*n);
                *to = MaybeUninit::new(sum);
            }
            let spans = rows.zip(&counts).map(|(r, n)| {
                let from = start(r, *n as usize);
                from..from + *n as usize
            });
            let place = before as usize..sum as usize;
            // SAFETY: as above.
            let (indices, values) = unsafe { (to_indices.part(place.clone()), to_values.part(place)) };
            stretches(a, 0, spans, indices, values);
        }
    });
    let total = ends.last().map_or(0, |end| end.load(Ordering::Acquire)) as usize;
    // SAFETY: every piece wrote its rows' ends, and as many entries as it counted.
    let (offsets, indices, values) =
        unsafe { (written(offsets, nrows + 1), written(indices, total), written(values, total)) };
    Ok(HostCsr::new(Pattern::new(nrows, a.pattern.ncols, offsets, indices), values))
}

/// Where a piece ends that nobody has counted yet.
const UNKNOWN: u64 = u64::MAX;

/// What another thread is about to say.
fn end_of(end: &AtomicU64) -> u64 {
    loop {
        for _ in 0..64 {
            let said = end.load(Ordering::Acquire);
            if said != UNKNOWN {
                return said;
            }
            std::hint::spin_loop();
        }
        std::thread::yield_now();
    }
}

/// Stretches of A's entries one behind the other.
fn stretches<T: Scalar>(
    a: &HostCsr<T>,
    shift: u32,
    spans: impl Iterator<Item = Range<usize>>,
    indices: &mut [MaybeUninit<u32>],
    values: &mut [MaybeUninit<T>],
) {
    let (from_indices, from_values) = (&a.pattern.indices[..], &a.values[..]);
    let (mut at, room, all) = (0, indices.len(), from_indices.len());
    assert!(values.len() == room && from_values.len() == all);
    for span in spans {
        let n = span.len();
        let wide = if n <= WIDE && at + WIDE <= room && span.start + WIDE <= all { WIDE } else { n };
        let (from, to) = (span.start..span.start + wide, at..at + wide);
        let columns = indices[to.clone()].iter_mut().zip(&from_indices[from.clone()]);
        let put = |to: &mut MaybeUninit<u32>, j: u32| *to = MaybeUninit::new(j.wrapping_add(shift));
        if wide == WIDE {
            // A number of steps that the compiler knows.
            columns.take(WIDE).for_each(|(to, j)| put(to, *j));
            values[to].iter_mut().zip(&from_values[from]).take(WIDE).for_each(|(z, x)| *z = MaybeUninit::new(*x));
        } else {
            columns.for_each(|(to, j)| put(to, *j));
            values[to].iter_mut().zip(&from_values[from]).for_each(|(z, x)| *z = MaybeUninit::new(*x));
        }
        at += n;
    }
    assert!(at == room);
}

#[cfg(test)]
mod tests {
    use super::PIECE;
    use crate::prelude::*;

    #[test]
    fn pieces_that_wait_for_each_other() {
        let rows = 40 * PIECE as u64 + 7;
        let places = (0..rows).flat_map(|i| (0..i % 11).map(move |s| (i, (i * 5 + s * 31) % rows)));
        let entries: Vec<(u64, u64, u64)> = places.enumerate().map(|(e, (i, j))| (i, j, e as u64)).collect();
        let on = |device: &Device| Matrix::<u64>::build(rows, rows, &entries).unwrap().to(device).unwrap();
        let (here, there) = (on(&Device::Cpu), on(&Device::Reference));
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for k in [-(rows as i64) / 2, 0, 3, i64::MAX] {
                let same = |x: Matrix<u64>, y: Matrix<u64>| assert_eq!(x.entries().unwrap(), y.entries().unwrap());
                pool.install(|| {
                    same(tril(&here, k).eval().unwrap(), tril(&there, k).eval().unwrap());
                    same(triu(&here, k).eval().unwrap(), triu(&there, k).eval().unwrap());
                });
            }
        }
    }
}
