//! Values compared: where the smallest and largest are, and rows in order.
use crate::algebra::{BinaryOp, Ordered, Scalar};
use crate::backend::cpu::assemble::assemble;
use crate::backend::cpu::blocks::{Block, partition, target};
use crate::backend::cpu::mxv::vector::row_blocks;
use crate::backend::cpu::parallel::{SERIAL, Shared, both, collected, nth_piece, unwritten, written};
use crate::backend::cpu::rows::Rows;
use crate::backend::cpu::workers::share_out;
use crate::backend::host::HostCsr;
use crate::backend::{Positions, in_front};
use crate::error::Result;
use crate::memory;
use crate::storage::axis::Ids;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

/// Whether y is better than what stands before it. A number is better than NaN.
#[inline(always)]
fn better<T: Ordered, const LARGEST: bool>(y: T, x: T) -> bool {
    let ahead = if LARGEST { y > x } else { y < x };
    #[allow(clippy::eq_op)]
    let (x_is_nan, y_is_nan) = (x != x, y != y);
    ahead || (x_is_nan && !y_is_nan)
}

/// The first of the best.
fn first_best<T: Ordered, const LARGEST: bool>(values: &[T], range: Range<usize>) -> Option<usize> {
    let mut best = range.start;
    for e in range.clone().skip(1) {
        if better::<T, LARGEST>(values[e], values[best]) {
            best = e;
        }
    }
    (!range.is_empty()).then_some(best)
}

pub(crate) fn arg_rows<T: Ordered, const LARGEST: bool>(a: &HostCsr<T>, at: &Positions) -> Result<HostCsr<u64>> {
    let operation = "argmin";
    let best = |row: &[T]| -> Result<Option<usize>> {
        if row.len() <= SERIAL {
            return Ok(first_best::<T, LARGEST>(row, 0..row.len()));
        }
        let one = |p| first_best::<T, LARGEST>(row, nth_piece(row.len(), SERIAL, p));
        // In order of the pieces: of equal ones the first stays.
        let found = collected(operation, row.len().div_ceil(SERIAL), &one)?;
        Ok(found.into_iter().flatten().reduce(|x, y| if better::<T, LARGEST>(row[y], row[x]) { y } else { x }))
    };
    let kernel = |block: &Block, rows: &mut Rows<u64>, _: &mut ()| {
        rows.reserve(operation, block.columns.len())?;
        for i in block.columns.clone() {
            let (columns, values) = a.row(i as usize);
            if let Some(e) = best(values)? {
                let place = columns[e] as usize;
                let id = at.j.as_ref().map_or(place as u64, |ids| ids[place]);
                // SAFETY: room for every row of the block was reserved.
                unsafe { rows.push_unchecked(i, id) };
            }
        }
        rows.end_row();
        Ok(())
    };
    let n = a.pattern.nrows;
    assemble::<u64, ()>(operation, (1, n), n as u64, &row_blocks(operation, &a.pattern)?, &kernel)
}

/// Up to so many entries are put in order one by one.
const SHORT: usize = 24;

/// A value and the column it had.
type Entry<T> = (T, u32);

/// What comes before goes in front, the others keep their order. Any `before` will do: it never reads outside, and an order
/// it is not gives some arrangement. `run` and `room` have one length.
fn arrange<T: Scalar, F: BinaryOp<T, T, Out = bool>>(run: &mut [Entry<T>], room: &mut [Entry<T>]) {
    if run.len() <= SHORT {
        for e in 1..run.len() {
            let (entry, mut at) = (run[e], e);
            while at > 0 && in_front::<T, F>(entry.0, run[at - 1].0) {
                run[at] = run[at - 1];
                at -= 1;
            }
            run[at] = entry;
        }
        return;
    }
    let half = run.len() / 2;
    let (low, high) = run.split_at_mut(half);
    let (low_room, high_room) = room.split_at_mut(half);
    if low.len() > SERIAL {
        both(&mut || arrange::<T, F>(low, low_room), &mut || arrange::<T, F>(high, high_room));
    } else {
        arrange::<T, F>(low, low_room);
        arrange::<T, F>(high, high_room);
    }
    if !in_front::<T, F>(run[half].0, run[half - 1].0) {
        return;
    }
    room.copy_from_slice(run);
    let (mut p, mut q) = (0, half);
    for to in run.iter_mut() {
        let second = p == half || (q < room.len() && in_front::<T, F>(room[q].0, room[p].0));
        *to = if second { room[q] } else { room[p] };
        (p, q) = (p + !second as usize, q + second as usize);
    }
}

/// A thread's room for a row, twice.
type Bench<T> = (Vec<Entry<T>>, Vec<Entry<T>>);

pub(crate) fn sort_rows<T: Scalar, F: BinaryOp<T, T, Out = bool>>(
    a: &HostCsr<T>,
    ids: &Ids,
) -> Result<(HostCsr<T>, HostCsr<u64>)> {
    let operation = "sort";
    let pattern = &a.pattern;
    let n = pattern.nnz();
    let (mut places, mut values) = (unwritten::<u32>(operation, n)?, unwritten::<T>(operation, n)?);
    let mut columns = unwritten::<u64>(operation, n)?;
    let to = (Shared::new(&mut places), Shared::new(&mut values), Shared::new(&mut columns));
    let sort = |(run, room): &mut Bench<T>, block: &Block| {
        for r in block.rows.clone() {
            let (range, (from, entries)) = (pattern.range(r), a.row(r));
            run.clear();
            room.clear();
            memory::reserve(operation, run, from.len())?;
            run.extend(entries.iter().copied().zip(from.iter().copied()));
            if run.len() > SHORT {
                memory::reserve(operation, room, from.len())?;
                room.extend_from_slice(run);
            }
            arrange::<T, F>(run, room);
            // SAFETY: blocks have rows of their own.
            let (p, v, c) = unsafe { (to.0.part(range.clone()), to.1.part(range.clone()), to.2.part(range)) };
            for (k, (((p, v), c), (x, j))) in p.iter_mut().zip(v).zip(c).zip(run.iter()).enumerate() {
                *p = MaybeUninit::new(k as u32);
                *v = MaybeUninit::new(*x);
                *c = MaybeUninit::new(ids.as_ref().map_or(u64::from(*j), |ids| ids[*j as usize]));
            }
        }
        Ok(())
    };
    let before = |r: usize| pattern.offsets[r] * 4 + r as u64;
    let shape = (pattern.nrows, pattern.ncols);
    let blocks = partition(operation, shape, target(before(pattern.nrows)), &before, &|_, _| Ok(Vec::new()))?;
    let mut benches = memory::filled(operation, rayon::current_num_threads().min(blocks.len()), Bench::default())?;
    share_out(&mut benches, blocks.len(), &|bench, some| blocks[some].iter().try_for_each(|block| sort(bench, block)))?;
    // SAFETY: the blocks cover every row, and each was written whole.
    let (places, values, columns) = unsafe { (written(places, n), written(values, n), written(columns, n)) };
    let positions = Arc::new(Pattern::new(shape.0, shape.1, memory::copied(operation, &pattern.offsets)?, places));
    let values = HostCsr::at(positions.clone(), values);
    Ok((values, HostCsr::at(positions, columns)))
}
