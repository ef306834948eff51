//! Many triplets in any order to rows: cut by ranges of rows first, all threads together, then each range by itself, which stays in the
//! cache. Triplets of one position keep their order.
use super::counting::distribute;
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::cpu::assemble::assemble;
use crate::backend::cpu::blocks::{Block, partition, target};
use crate::backend::cpu::parallel::{SERIAL, Shared, unwritten, written};
use crate::backend::cpu::rows::Rows;
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory::{self, Buffer};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ranges of rows: as many as a thread writes to side by side.
const RANGES: usize = if cfg!(test) { 1 << 3 } else { 1 << 11 };

/// A thread's room to sort a range of rows in.
#[derive(Default)]
struct Scratch {
    /// Where each row's next triplet goes.
    next: Vec<u32>,
    /// Column and place of each triplet, by rows.
    run: Vec<u64>,
}

/// Rows whose entries are the triplets, duplicates folded in input order; `None` where one is to be refused, and for 2³² triplets and more.
pub(crate) fn by_ranges<T: Scalar, F: BinaryOp<T, T, Out = T>>(
    operation: &'static str,
    (nrows, ncols): (usize, usize),
    (rows, columns, values): (&[u32], &[u32], &[T]),
    refuse: bool,
) -> Result<Option<HostCsr<T>>> {
    let n = rows.len();
    assert!(columns.len() == n && values.len() == n);
    if u32::try_from(n).is_err() {
        return Ok(None);
    }
    let mut shift = 0;
    while nrows.saturating_sub(1) >> shift >= RANGES {
        shift += 1;
    }
    let ranges = nrows.div_ceil(1 << shift);
    let of = |range: usize| range << shift..nrows.min((range + 1) << shift);
    let size = if n <= SERIAL { n } else { n.div_ceil(rayon::current_num_threads()) }.max(1);
    let chunks: Vec<Range<usize>> = (0..n.div_ceil(size)).map(|c| c * size..n.min((c + 1) * size)).collect();
    let (mut places, mut moved) = (unwritten::<(u32, u32)>(operation, n)?, unwritten::<T>(operation, n)?);
    let (to_places, to_moved) = (Shared::new(&mut places), Shared::new(&mut moved));
    let each = |chunk: &Range<usize>, count: &mut dyn FnMut(usize)| {
        rows[chunk.clone()].iter().for_each(|r| count(*r as usize >> shift));
    };
    let put = |chunk: &Range<usize>, next: &mut [u64]| {
        for e in chunk.clone() {
            let to = &mut next[rows[e] as usize >> shift];
            // SAFETY: a counting sort: every place is handed out once and is below n.
            unsafe {
                to_places.write(*to as usize, MaybeUninit::new((rows[e], columns[e])));
                to_moved.write(*to as usize, MaybeUninit::new(values[e]));
            }
            *to += 1;
        }
    };
    let starts = distribute(operation, ranges, &chunks, &each, &put)?;
    // SAFETY: every triplet was given a place of its own.
    let (places, moved) = unsafe { (Buffer::from(written(places, n)), Buffer::from(written(moved, n))) };
    let twice = AtomicBool::new(false);
    let kernel = |block: &Block, out: &mut Rows<T>, Scratch { next, run }: &mut Scratch| {
        for range in block.rows.start >> shift..block.rows.end.div_ceil(1 << shift) {
            let entries = starts[range] as usize..starts[range + 1] as usize;
            let (first, height) = (of(range).start, of(range).len());
            out.reserve(operation, entries.len())?;
            next.clear();
            run.clear();
            memory::reserve(operation, next, height + 1)?;
            memory::reserve(operation, run, entries.len())?;
            next.resize(height + 1, 0);
            run.resize(entries.len(), 0);
            let (places, values) = (&places[entries.clone()], &moved[entries]);
            places.iter().for_each(|(r, _)| next[*r as usize - first + 1] += 1);
            (0..height).for_each(|r| next[r + 1] += next[r]);
            for (e, (r, column)) in places.iter().enumerate() {
                let at = &mut next[*r as usize - first];
                run[*at as usize] = u64::from(*column) << 32 | e as u64;
                *at += 1;
            }
            // Each now is where the next row begins.
            let mut start = 0;
            for end in &next[..height] {
                let run = &mut run[start..*end as usize];
                start = *end as usize;
                if !run.is_sorted() {
                    sort(run);
                }
                fold::<T, F>(run, values, out, &twice);
            }
        }
        Ok(())
    };
    let before = |range: usize| starts[range] * 4 + of(range).start.min(nrows) as u64;
    let shape = (ranges, ncols);
    let mut blocks = partition(operation, shape, target(before(ranges)), &before, &|_, _| Ok(Vec::new()))?;
    blocks.iter_mut().for_each(|b| b.rows = of(b.rows.start).start..of(b.rows.end - 1).end);
    let made = assemble::<T, Scratch>(operation, (nrows, ncols), n as u64, &blocks, &kernel)?;
    Ok(if refuse && twice.into_inner() { None } else { Some(made) })
}

fn sort(run: &mut [u64]) {
    use rayon::slice::ParallelSliceMut;
    if run.len() < SERIAL { run.sort_unstable() } else { run.par_sort_unstable() }
}

/// A row of triplets, sorted by column and then by their order.
fn fold<T: Scalar, F: BinaryOp<T, T, Out = T>>(run: &[u64], values: &[T], out: &mut Rows<T>, twice: &AtomicBool) {
    let entry = |key: &u64| ((key >> 32) as u32, values[*key as u32 as usize]);
    let mut run = run.iter().map(entry);
    if let Some((mut column, mut value)) = run.next() {
        for (next, x) in run {
            if next == column {
                twice.store(true, Ordering::Relaxed);
                value = F::apply(value, x);
            } else {
                // SAFETY: room for all triplets was reserved.
                unsafe { out.push_unchecked(column, value) };
                (column, value) = (next, x);
            }
        }
        // SAFETY: as above.
        unsafe { out.push_unchecked(column, value) };
    }
    out.end_row();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::{First, Second};
    use crate::generate::Random;
    use std::collections::BTreeMap;

    #[test]
    fn ranges_of_triplets_are_rows_on_any_number_of_threads() {
        let mut random = Random::new(4, 7);
        // Fewer rows than ranges, as many, more; rows without entries, and one with nearly all.
        for (nrows, ncols, n, heavy) in
            [(1, 9, 300, false), (8, 5, 90, false), (9, 40, 400, false), (77, 30, 900, true), (500, 6, 200, false)]
        {
            let mut row = |_| if heavy && random.below(4) > 0 { 70 } else { random.below(nrows) as u32 };
            let rows: Vec<u32> = (0..n).map(&mut row).collect();
            let columns: Vec<u32> = (0..n).map(|_| random.below(ncols) as u32).collect();
            let values: Vec<u64> = (0..n).collect();
            let (mut first, mut last) = (BTreeMap::new(), BTreeMap::new());
            for e in 0..n as usize {
                first.entry((rows[e], columns[e])).or_insert(values[e]);
                last.insert((rows[e], columns[e]), values[e]);
            }
            let shape = (nrows as usize, ncols as usize);
            let entries = |made: &HostCsr<u64>| {
                made.pattern.validate("test", made.values.len()).unwrap();
                let all = (0..shape.0).flat_map(|r| made.pattern.range(r).map(move |e| (r, e)));
                all.map(|(r, e)| ((r as u32, made.pattern.indices[e]), made.values[e])).collect::<BTreeMap<_, _>>()
            };
            for threads in [1, 2, 8] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let all = (&rows[..], &columns[..], &values[..]);
                    let made = by_ranges::<u64, First>("test", shape, all, false).unwrap().unwrap();
                    assert_eq!(entries(&made), first);
                    let made = by_ranges::<u64, Second>("test", shape, all, false).unwrap().unwrap();
                    assert_eq!(entries(&made), last);
                    let refused = by_ranges::<u64, First>("test", shape, all, true).unwrap().is_none();
                    assert_eq!(refused, last.len() < n as usize);
                });
            }
        }
    }
}
