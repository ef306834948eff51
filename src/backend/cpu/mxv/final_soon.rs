//! Sums that are mostly final after a few products, as those of booleans, of more rows than a processor remembers branches
//! of: no branch on a row's length, nor on whether its sum is final. Fewer rows are faster with those branches where the
//! vector is the one before, or nearly all true or false.
use super::pull::along;
use crate::algebra::*;
use crate::backend::cpu::mxm::job::is_final;
use std::mem::MaybeUninit;

/// So many rows.
const MANY: u64 = if cfg!(test) { 12 } else { 3 << 15 };
/// Products that are made of every row, and those that are made next, of rows that are not final then.
const FIRST: usize = 2;
const NEXT: usize = 2;
/// So many products are made of a row, however many entries it has.
pub(crate) const MADE: usize = FIRST + NEXT;
/// Rows at a time.
const ROWS: usize = if cfg!(test) { 8 } else { 128 };

/// Whether a matrix with `all` entries has many rows, if they are as those that have so many together.
pub(crate) fn is_many(all: usize, entries: u64, rows: usize) -> bool {
    (all as u64).saturating_mul(rows as u64) >= MANY * entries
}

/// The sums of rows that have entries, one behind the other; how many. product(r, e) is that of the r-th row's entry e, and
/// something for the [`MADE`] entries from each row's start on: those of other rows are forgotten. `full`: no row is empty.
#[inline(never)]
pub(crate) fn listed<T: Scalar, M: Monoid<T>>(
    offsets: &[u64],
    full: bool,
    out: &mut [MaybeUninit<T>],
    product: impl Fn(usize, usize) -> T + Copy,
) -> usize {
    let len = offsets.len() - 1;
    let add = |sum: T, r: usize, e: usize, to: usize| {
        let next = M::apply(sum, product(r, e));
        if e < to { next } else { sum }
    };
    // Sums, and which of them are not final.
    let (mut sums, mut open) = ([T::zeroed(); ROWS], [0u8; ROWS]);
    let mut n = 0;
    for start in (0..len).step_by(ROWS) {
        let offsets = &offsets[start..=len.min(start + ROWS)];
        let rows = offsets.len() - 1;
        let range = |q: usize| (offsets[q] as usize, offsets[q + 1] as usize);
        let (mut from, mut q, mut left) = (offsets[0] as usize, 0, 0);
        for (to, kept) in offsets[1..].iter().zip(&mut sums) {
            let (r, to) = (start + q, *to as usize);
            *kept = (1..FIRST).fold(product(r, from), |sum, e| add(sum, r, from + e, to));
            open[left % ROWS] = q as u8;
            left += ((to - from > FIRST) & !is_final::<T, M>(*kept)) as usize;
            (from, q) = (to, q + 1);
        }
        let mut still = 0;
        for o in 0..left.min(ROWS) {
            let q = open[o] as usize % ROWS;
            let (from, to) = range(q);
            let sum = (FIRST..MADE).fold(sums[q], |sum, e| add(sum, start + q, from + e, to));
            (sums[q], open[still % ROWS]) = (sum, q as u8);
            still += ((to - from > MADE) & !is_final::<T, M>(sum)) as usize;
        }
        for q in &open[..still.min(ROWS)] {
            let q = *q as usize % ROWS;
            let (from, to) = range(q);
            sums[q] = along::<T, M, _>(sums[q], start + q, from + MADE..to, product);
        }
        if full {
            out[n..n + rows].iter_mut().zip(&sums).for_each(|(to, sum)| *to = MaybeUninit::new(*sum));
            n += rows;
            continue;
        }
        for (ends, sum) in offsets.windows(2).zip(&sums) {
            // Only empty rows are left.
            let Some(place) = out.get_mut(n) else { break };
            // Where the row is empty the next one's sum is written over this.
            *place = MaybeUninit::new(*sum);
            n += (ends[0] < ends[1]) as usize;
        }
    }
    n
}

#[test]
fn listed_rows_are_those_one_by_one() {
    let mut random = crate::generate::Random::new(3, 4);
    for (rows, longest, share) in [(1, 1, 2), (7, 3, 2), (60, 6, 2), (100, 30, 2), (100, 30, 20), (64, 9, 1)] {
        for least in [0, 1] {
            let mut offsets = vec![0u64];
            (0..rows).for_each(|r| offsets.push(offsets[r] + least + random.below(longest)));
            let n = offsets[rows] as usize;
            let values: Vec<bool> = (0..n + MADE).map(|_| random.below(share) == 0).collect();
            let filled = |r: &usize| offsets[*r] < offsets[*r + 1];
            let any = |r: usize| values[offsets[r] as usize..offsets[r + 1] as usize].contains(&true);
            let sums: Vec<bool> = (0..rows).filter(filled).map(any).collect();
            let mut out = vec![MaybeUninit::new(false); sums.len()];
            let made = listed::<bool, Lor>(&offsets, sums.len() == rows, &mut out, |_, e| values[e]);
            // SAFETY: all had a value before.
            let out: Vec<bool> = out.iter().map(|sum| unsafe { sum.assume_init() }).collect();
            assert_eq!((made, out), (sums.len(), sums));
        }
    }
}
