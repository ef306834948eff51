//! mxv with a full vector and no mask: no lookup, no list of rows, four rows of about one length at a time.
use super::even::{self, BATCH, Batch};
use super::final_soon;
use super::met;
use crate::algebra::*;
use crate::backend::Positions;
use crate::backend::cpu::blocks::{Block, partition};
use crate::backend::cpu::mxm::analysis::{Soon, longest};
use crate::backend::cpu::mxm::job::{at, is_final};
use crate::backend::cpu::parallel::{SERIAL, Shared, both, each_of, unwritten, written};
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

/// Rows at a time: sums of one row wait for each other, those of several do not.
const ROWS: usize = 4;

/// Rows shorter than this in the mean are summed one by one; those of lengths that nobody guesses, once they are sorted, are
/// where they are shorter than that.
const LONG: u64 = 8;
const LONG_UNEVEN: u64 = 4;

/// Rows of up to so many entries are summed without a branch on how many.
const FEW: usize = 4;

/// Matrices of more entries are no processor's own cache's: their rows come fastest one behind the other, if they are longer than
/// this in the mean: what a processor fetches ahead of itself are rows in their order.
const STREAMED: usize = if cfg!(test) { 1 << 9 } else { 1 << 20 };
const LONG_STREAMED: u64 = 5;

/// Steps between looks at whether sums are final: most of two values soon are, others hardly ever.
const fn steps<T>() -> usize {
    if size_of::<T>() == 1 { 4 } else { 64 }
}

/// Products of a row that are made at once where sums are soon final.
const SOON: usize = 2;

/// Some rows: the first, and where the entries of each end and the next one's begin; or entries of one row, from one to another.
pub(crate) type Lines<'a> = (usize, &'a [u64]);

/// The sums of some rows, of those that have entries, one behind the other; their batches, where they are known.
pub(crate) type RowsKernel<A, X, C> =
    fn(&HostCsr<A>, &[X], &Positions, Lines, Option<&[Batch]>, &mut [MaybeUninit<C>]) -> usize;

/// How sums go: whether they are soon final, and ⊕ where those of parts can be joined to the bit.
pub(crate) type How<C> = (bool, Option<fn(C, C) -> C>);

/// [`How`] sums by a monoid go.
pub(crate) fn how<T: Scalar, M: Monoid<T>>() -> How<T> {
    let soon = soon_final::<T, M>();
    // NaN loses against numbers, and −0 is less than 0: however terms are put together.
    let picks = matches!(M::ATOMIC, Atomic::Min | Atomic::Max);
    let whole = ["bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"].contains(&T::TEXT.name);
    let joined = picks || (whole && !matches!(M::ATOMIC, Atomic::None | Atomic::First));
    (soon, (joined && !soon).then_some(M::apply as fn(T, T) -> T))
}

/// Rows of more entries than this are cut where they can be, into parts of so many.
const CUT: u64 = if cfg!(test) { 1 << 5 } else { 1 << 16 };

/// t = A ⊕.⊗ x where x has an entry everywhere. A may have one value for all its entries.
pub(crate) fn pull<A: Scalar, X: Scalar, C: Scalar>(
    (rows, how): (RowsKernel<A, X, C>, How<C>),
    a: &HostCsr<A>,
    x: &HostCsr<X>,
    positions: &Positions,
) -> Result<HostCsr<C>> {
    lines("mxv", &a.pattern, &x.pattern, how, &|of, batches, out| rows(a, &x.values, positions, of, batches, out))
}

/// A sum for each row that has entries, as one row; `sums` makes those of some rows. `like` is a row that may be full and as
/// long as A is high.
pub(crate) fn lines<C: Scalar>(
    operation: &'static str,
    a: &Pattern,
    like: &Arc<Pattern>,
    (soon, join): How<C>,
    sums: &(dyn Fn(Lines, Option<&[Batch]>, &mut [MaybeUninit<C>]) -> usize + Sync),
) -> Result<HostCsr<C>> {
    let met = met::rows(operation, a, like)?;
    let streamed = is_streamed(a.nnz(), a.nnz() as u64, a.nrows);
    let long = !soon && !streamed && a.nnz() as u64 >= LONG_UNEVEN * a.nrows as u64;
    // What is cut stands alone.
    let cut = join.is_some() && a.nnz() as u64 > 2 * CUT && longest(a) > 2 * CUT;
    let long = long && !cut;
    let batches = if long { even::batches(operation, a)? } else { None };
    let blocks = whole_rows(operation, a, soon, if batches.is_some() { BATCH } else { 1 })?;
    let mut values = unwritten::<C>(operation, met.nnz())?;
    let shared = Shared::new(&mut values);
    // How many rows before this one have entries.
    let place = |row: usize| match met.nnz() == met.ncols {
        true => row,
        false => met.indices.partition_point(|r| (*r as usize) < row),
    };
    each_of(&blocks, &|block| {
        // SAFETY: blocks have disjoint rows.
        let out = unsafe { shared.part(place(block.rows.start)..place(block.rows.end)) };
        let batches = batches.as_ref().map(|all| &all[block.rows.start / BATCH..]);
        let (first, offsets) = (block.rows.start, &a.offsets[block.rows.start..=block.rows.end]);
        if let (Some(join), [from, to]) = (join, offsets)
            && to - from > 2 * CUT
        {
            out.copy_from_slice(&[MaybeUninit::new(in_parts((first, *from..*to), join, sums))]);
            return;
        }
        let made = sums((first, offsets), batches, out);
        assert!(made == out.len());
    });
    // SAFETY: each block wrote a sum for each of its rows that have entries, as asserted.
    let values = unsafe { written(values, met.nnz()) };
    Ok(HostCsr::at(met, values))
}

/// The sum of a long row's entries, parts of them by any thread, joined in their order.
fn in_parts<C: Scalar>(
    (row, entries): (usize, Range<u64>),
    join: fn(C, C) -> C,
    sums: &(dyn Fn(Lines, Option<&[Batch]>, &mut [MaybeUninit<C>]) -> usize + Sync),
) -> C {
    if entries.end - entries.start > CUT {
        let middle = entries.start + (entries.end - entries.start) / 2;
        let part = |entries| in_parts((row, entries), join, sums);
        let (mut one, mut other) = (None, None);
        both(&mut || one = Some(part(entries.start..middle)), &mut || other = Some(part(middle..entries.end)));
        if let (Some(one), Some(other)) = (one, other) {
            return join(one, other);
        }
    }
    let mut sum = [MaybeUninit::uninit()];
    let made = sums((row, &[entries.start, entries.end]), None, &mut sum);
    assert!(made == 1);
    // SAFETY: the sum of the one row was written, as asserted.
    unsafe { sum[0].assume_init() }
}

/// Blocks that begin at multiples of so many rows.
fn whole_rows(operation: &'static str, a: &Pattern, soon: bool, multiple: usize) -> Result<Vec<Block>> {
    // Sums that are soon final take a few steps a row, however long it is.
    let most = |r: usize| if soon { 12 * r as u64 } else { u64::MAX };
    let before = |r: usize| a.offsets[r].min(most(r)) + r as u64;
    // Small blocks, so that few of them come out even; none of them is copied.
    let work = before(a.nrows);
    let target = if work < SERIAL as u64 { u64::MAX } else { (work / 64).clamp(SERIAL as u64 / 8, 1 << 17) };
    let row = |unit: usize| a.nrows.min(unit * multiple);
    let shape = (a.nrows.div_ceil(multiple), a.ncols);
    let mut blocks = partition(operation, shape, target, &|unit| before(row(unit)), &|_, _| Ok(Vec::new()))?;
    blocks.iter_mut().for_each(|b| b.rows = row(b.rows.start)..row(b.rows.end));
    Ok(blocks)
}

/// A [`RowsKernel`].
pub(crate) fn rows<A: Scalar, X: Scalar, S: Semiring<A, X>>(
    a: &HostCsr<A>,
    x: &[X],
    positions: &Positions,
    (first, offsets): Lines,
    batches: Option<&[Batch]>,
    out: &mut [MaybeUninit<S::Out>],
) -> usize {
    let (indices, values) = (&a.pattern.indices[..], &a.values[..]);
    assert!(a.pattern.ncols <= x.len());
    let with = move |v: A, r: usize, e: usize| {
        // SAFETY: entries of rows lie within the array, and columns below ncols, which is at most the length of x: asserted, or
        // the pattern's promise.
        let (k, y) = unsafe {
            let k = *indices.get_unchecked(e);
            (k, *x.get_unchecked(k as usize))
        };
        S::Multiply::multiply(v, y, at::<A, X, S>(positions, first + r, k as usize, 0))
    };
    // Of other rows' entries products may be made and forgotten, unless someone looks at where they stand.
    let most = if S::Multiply::READS.position { 0 } else { indices.len() };
    match values {
        // What reads no values is compiled once.
        [one] if S::Multiply::READS.a => {
            let one = *one;
            sums::<S::Out, S::Add>(offsets, batches, out, most, move |r, e| with(one, r, e))
        }
        _ => {
            assert!(indices.len() == values.len());
            // SAFETY: entries of rows lie within both arrays, whose lengths are equal.
            let value = move |e| unsafe { *values.get_unchecked(e) };
            sums::<S::Out, S::Add>(offsets, batches, out, most, move |r, e| with(value(e), r, e))
        }
    }
}

/// The sums of the products of rows that have entries, one behind the other: product(r, e) is that of the r-th row's entry e,
/// and something for other e below `most`.
#[inline(always)]
pub(crate) fn sums<T: Scalar, M: Monoid<T>>(
    offsets: &[u64],
    batches: Option<&[Batch]>,
    out: &mut [MaybeUninit<T>],
    most: usize,
    product: impl Fn(usize, usize) -> T + Copy,
) -> usize {
    let len = offsets.len() - 1;
    let range = |r: usize| (offsets[r] as usize, offsets[r + 1] as usize);
    let mut n = 0;
    if matches!(M::terminal(), Terminal::Always) {
        return firsts(offsets, out, most, product);
    }
    // Sums of short rows do not wait for each other, and what is soon final is not long.
    let one_by_one = |rows: Range<usize>, n: &mut usize, out: &mut [MaybeUninit<T>]| {
        // A copy stays in registers, whatever else is called in between.
        let own = product;
        for r in rows {
            let (from, to) = range(r);
            if from < to {
                out[*n] = MaybeUninit::new(along::<T, M, _>(own(r, from), r, from + 1..to, own));
                *n += 1;
            }
        }
    };
    let entries = |rows: Range<usize>| offsets[rows.end] - offsets[rows.start];
    // Not compiled for wider values, whose sums never are.
    if const { size_of::<T>() == 1 } && soon_final::<T, M>() {
        let many = final_soon::is_many(most, entries(0..len), len);
        let made = if many { final_soon::MADE } else { SOON };
        // The last rows may have too few entries behind them.
        let safe = offsets[..len].partition_point(|from| *from as usize + made <= most);
        n = match many {
            true => final_soon::listed::<T, M>(&offsets[..=safe], out.len() == len, out, product),
            false => soon::<T, M>(&offsets[..=safe], out, product),
        };
        one_by_one(safe..len, &mut n, out);
        return n;
    }
    let short = batches.is_none() && entries(0..len) < LONG * len as u64;
    if short || is_streamed(most, entries(0..len), len) {
        one_by_one(0..len, &mut n, out);
        return n;
    }
    let mut own = Batch::new();
    for start in (0..len).step_by(BATCH) {
        let rows = BATCH.min(len - start);
        let batch = match batches.and_then(|batches| batches.get(start / BATCH)) {
            Some(known) => {
                let long = if known.uneven { LONG_UNEVEN } else { LONG };
                if entries(start..start + rows) < long * rows as u64 {
                    one_by_one(start..start + rows, &mut n, out);
                    continue;
                }
                known
            }
            None => {
                own.sort(&offsets[start..=start + rows]);
                &own
            }
        };
        let order = &batch.order[batch.first..rows];
        let mut put = |r: u8, sum: T| out[n + batch.place[r as usize] as usize] = MaybeUninit::new(sum);
        let (groups, rest) = order.as_chunks::<ROWS>();
        for group in groups {
            let Group { rows, from, to, common } = Group::of(group, start, offsets);
            let mut sums = [T::zeroed(); ROWS];
            for q in 0..ROWS {
                sums[q] = product(rows[q], from[q]);
            }
            let mut done = 1;
            while done < common {
                let mut all_final = true;
                for sum in sums {
                    all_final &= is_final::<T, M>(sum);
                }
                if all_final {
                    break;
                }
                let until = common.min(done + steps::<T>());
                for e in done..until {
                    for q in 0..ROWS {
                        sums[q] = M::apply(sums[q], product(rows[q], from[q] + e));
                    }
                }
                done = until;
            }
            for q in 0..ROWS {
                put(group[q], along::<T, M, _>(sums[q], rows[q], from[q] + done..to[q], product));
            }
        }
        for r in rest {
            let (row, (from, to)) = (start + *r as usize, range(start + *r as usize));
            put(*r, along::<T, M, _>(product(row, from), row, from + 1..to, product));
        }
        n += order.len();
    }
    n
}

/// Rows whose sums are made together: where they are, where their entries are, and how many all of them have.
struct Group {
    rows: [usize; ROWS],
    from: [usize; ROWS],
    to: [usize; ROWS],
    common: usize,
}
impl Group {
    #[inline(always)]
    fn of(group: &[u8; ROWS], start: usize, offsets: &[u64]) -> Self {
        let mut all = Self { rows: [0; ROWS], from: [0; ROWS], to: [0; ROWS], common: usize::MAX };
        for (q, r) in group.iter().enumerate() {
            let row = start + *r as usize;
            (all.rows[q], all.from[q], all.to[q]) = (row, offsets[row] as usize, offsets[row + 1] as usize);
            all.common = all.common.min(all.to[q] - all.from[q]);
        }
        all
    }
}

/// As [`sums`] where each is its first product.
#[inline(always)]
fn firsts<T: Scalar>(
    offsets: &[u64],
    out: &mut [MaybeUninit<T>],
    most: usize,
    product: impl Fn(usize, usize) -> T,
) -> usize {
    let mut n = 0;
    for (r, ends) in offsets.windows(2).enumerate() {
        let (from, to) = (ends[0] as usize, ends[1] as usize);
        // Only empty rows are left.
        let Some(place) = out.get_mut(n) else { break };
        if from < most.max(to) {
            // Where the row is empty the next one's sum is written over this.
            *place = MaybeUninit::new(product(r, from));
            n += (from < to) as usize;
        }
    }
    n
}

/// As [`sums`] where most are final after [`SOON`] products: that many are made of every row, those of other rows are
/// forgotten, and there is no branch on a row's length.
#[inline(always)]
fn soon<T: Scalar, M: Monoid<T>>(
    offsets: &[u64],
    out: &mut [MaybeUninit<T>],
    product: impl Fn(usize, usize) -> T + Copy,
) -> usize {
    let mut n = 0;
    for (r, ends) in offsets.windows(2).enumerate() {
        let (from, to) = (ends[0] as usize, ends[1] as usize);
        // Only empty rows are left.
        let Some(place) = out.get_mut(n) else { break };
        let mut sum = product(r, from);
        for e in from + 1..from + SOON {
            let next = M::apply(sum, product(r, e));
            sum = if e < to { next } else { sum };
        }
        if to - from > SOON && !is_final::<T, M>(sum) {
            sum = along::<T, M, _>(sum, r, from + SOON..to, product);
        }
        // Where the row is empty the next one's sum is written over this.
        *place = MaybeUninit::new(sum);
        n += (from < to) as usize;
    }
    n
}

/// As [`sums`] of values themselves, rows in their order where that is the way: a branch on the length of a row where it is long.
#[inline(always)]
pub(crate) fn sums_of_values<T: Scalar, M: Monoid<T>>(
    offsets: &[u64],
    batches: Option<&[Batch]>,
    out: &mut [MaybeUninit<T>],
    values: &[T],
) -> usize {
    let rows = offsets.len() - 1;
    let entries = offsets[rows] - offsets[0];
    let short = entries < LONG_UNEVEN * rows as u64 || is_streamed(values.len(), entries, rows);
    // SAFETY: entries of rows are below the number of values, the pattern's promise.
    let value = |_: usize, e: usize| unsafe { *values.get_unchecked(e) };
    if soon_final::<T, M>() || batches.is_some() || !short {
        return sums::<T, M>(offsets, batches, out, values.len(), value);
    }
    let (soon, mut n) = (Soon::of(values), 0);
    for ends in offsets.windows(2) {
        let (from, to) = (ends[0] as usize, ends[1] as usize);
        // Only empty rows are left.
        let Some(place) = out.get_mut(n) else { break };
        soon.stream(from);
        let sum = match values.get(from..from + FEW) {
            // All sums that it may be, of other rows' entries too, from which it is picked.
            Some(some) if to - from <= FEW => {
                let mut sums = [some[0]; FEW];
                for e in 1..FEW {
                    sums[e] = M::apply(sums[e - 1], some[e]);
                }
                sums[(to - from).wrapping_sub(1) % FEW]
            }
            _ if from == to => continue,
            _ => along::<T, M, _>(values[from], 0, from + 1..to, value),
        };
        *place = MaybeUninit::new(sum);
        n += (from < to) as usize;
    }
    n
}

/// Whether rows with so many entries together come one behind the other, of a matrix with `all`.
fn is_streamed(all: usize, entries: u64, rows: usize) -> bool {
    all >= STREAMED && entries >= LONG_STREAMED * rows as u64
}

/// Whether a sum of some products hardly ever needs the others.
pub(crate) fn soon_final<T: Scalar, M: Monoid<T>>() -> bool {
    match M::terminal() {
        Terminal::Never => false,
        Terminal::Always => true,
        Terminal::Value(_) => size_of::<T>() == 1,
    }
}

/// A sum and the products of a row's `entries`, in order. Loops, not iterators with closures, here and above: they are compiled for
/// every semiring.
#[inline(always)]
pub(crate) fn along<T: Scalar, M: Monoid<T>, P: Fn(usize, usize) -> T>(
    mut sum: T,
    row: usize,
    entries: Range<usize>,
    product: P,
) -> T {
    if matches!(M::terminal(), Terminal::Always) {
        return sum;
    }
    let (mut from, to) = (entries.start, entries.end);
    let never = matches!(M::terminal(), Terminal::Never);
    // Some products before the first look: one alone is final about as often as not.
    while !never && to - from > steps::<T>() {
        let until = from + steps::<T>();
        for e in from..until {
            sum = M::apply(sum, product(row, e));
        }
        from = until;
        if is_final::<T, M>(sum) {
            return sum;
        }
    }
    for e in from..to {
        sum = M::apply(sum, product(row, e));
    }
    sum
}
