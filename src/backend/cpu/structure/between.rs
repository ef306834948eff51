//! The entries of each row between two columns, which are the same for all rows or follow the diagonal: triangles, bands, rectangles.
//!
//! Rows are looked at once, a piece of them at a time: what a row keeps is copied to a bench that stays in the cache, eight entries of a
//! shorter row too, as the next row writes over what was too much. As soon as the piece before has said where it ends, all of it is moved
//! to where it stays: a processor that is given whole stretches does not read what it writes over. Pieces are taken in their order, so
//! that whoever is waited for is at work. Room is taken for all of A's entries, and what is not needed given back.
//! Values are moved as bytes: compiled for a few sizes instead of every scalar.
use crate::algebra::Scalar;
use crate::backend::cpu::mxm::analysis::Soon;
use crate::backend::cpu::parallel::{Shared, each, nth_piece, unwritten, written};
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Rows that are looked at and moved together, at most.
const PIECE: usize = if cfg!(test) { 1 << 5 } else { 1 << 11 };
/// Entries of a piece that the bench has room for.
const ROOM: usize = if cfg!(test) { 1 << 8 } else { 1 << 14 };
/// Entries that are copied at once.
const WIDE: usize = 8;
/// Longer rows are searched for where the columns are, not looked through.
const SEARCHED: usize = 64;

/// What is kept of which rows of A, and where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Between {
    pub(crate) rows: Range<usize>,
    /// Columns from the first on and before the second.
    pub(crate) columns: (i64, i64),
    /// Whether columns are counted from the diagonal on.
    pub(crate) diagonal: bool,
    /// Added to columns, wrapping.
    pub(crate) shift: u32,
    /// The result's row that the first one is.
    pub(crate) to: usize,
    pub(crate) shape: (usize, usize),
}

/// The entries between two columns, which takes room for all of these rows' entries; `None` of values of a rare size, and of more rows or columns than are compared here.
pub(crate) fn between<T: Scalar>(
    operation: &'static str,
    a: &HostCsr<T>,
    kept: &Between,
) -> Result<Option<HostCsr<T>>> {
    made(operation, a, kept, has_lanes())
}

/// Whether the processor compares eight columns at once.
fn has_lanes() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::is_x86_feature_detected as has;
        has!("avx2") && has!("bmi2") && has!("popcnt")
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    false
}

fn made<T: Scalar>(operation: &'static str, a: &HostCsr<T>, kept: &Between, lanes: bool) -> Result<Option<HostCsr<T>>> {
    let (size, pattern) = (size_of::<T>(), &a.pattern);
    if !matches!(size, 0 | 1 | 2 | 4 | 8 | 16) || pattern.nrows.max(pattern.ncols) > i32::MAX as usize {
        return Ok(None);
    }
    assert!(a.values.len() == pattern.nnz());
    let room = (pattern.offsets[kept.rows.end] - pattern.offsets[kept.rows.start]) as usize;
    let mut values = unwritten::<T>(operation, room)?;
    let (from, to) = (a.values.as_ptr().cast(), Shared::of_bytes(&mut values));
    // SAFETY: room for the values of all entries of these rows, of this size, on both sides.
    let pattern = unsafe { sized(operation, pattern, kept, (size, lanes), from, &to)? };
    let total = pattern.nnz();
    // SAFETY: as many values were written as entries.
    Ok(Some(HostCsr::new(pattern, unsafe { written(values, total) })))
}

/// # Safety
/// `from` has a value of this size, one of those below, for each entry of A, `to` has room for those of the rows asked for.
unsafe fn sized(
    operation: &'static str,
    a: &Pattern,
    kept: &Between,
    (size, lanes): (usize, bool),
    from: *const u8,
    to: &Shared<u8>,
) -> Result<Pattern> {
    let (rows, places) = (&kept.rows, kept.shape.0);
    let room = (a.offsets[rows.end] - a.offsets[rows.start]) as usize;
    let mut offsets = unwritten::<u64>(operation, places + 1)?;
    let mut indices = unwritten::<u32>(operation, room)?;
    let piece = (ROOM / 2 / (room / rows.len().max(1) + 1)).clamp(PIECE / 32, PIECE);
    let pieces = rows.len().div_ceil(piece);
    let mut ends = memory::with_capacity(operation, pieces)?;
    ends.extend((0..pieces).map(|_| AtomicU64::new(UNKNOWN)));
    let threads = rayon::current_num_threads().min(pieces);
    let mut benches = memory::with_capacity(operation, threads)?;
    let most = room.min(ROOM) + WIDE;
    for _ in 0..threads {
        let columns = unwritten::<u32>(operation, most)?;
        benches.push(Bench { columns, values: unwritten::<u64>(operation, (most * size).div_ceil(8))? });
    }
    let (before, behind) = offsets.split_at_mut(kept.to + 1);
    before.fill(MaybeUninit::new(0));
    let (ended, behind) = behind.split_at_mut(rows.len());
    // No column is as far from another one or from a row as the numbers at the ends.
    let bound = |column: i64| column.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    let job = Job {
        a,
        kept,
        low: bound(kept.columns.0),
        high: bound(kept.columns.1),
        lanes,
        piece,
        ends: &ends,
        next: AtomicUsize::new(0),
        from: Shared::read_only(from, a.nnz() * size),
        to: (Shared::new(ended), Shared::new(&mut indices), to),
    };
    let benches = Shared::new(&mut benches);
    each(threads, &|thread| {
        // SAFETY: each thread has one of its own.
        let bench = &mut unsafe { benches.part(thread..thread + 1) }[0];
        // SAFETY: the contract.
        unsafe {
            match size {
                0 => job.work::<0>(bench),
                1 => job.work::<1>(bench),
                2 => job.work::<2>(bench),
                4 => job.work::<4>(bench),
                8 => job.work::<8>(bench),
                _ => job.work::<16>(bench),
            }
        }
    });
    let total = ends.last().map_or(0, |end| end.load(Ordering::Acquire));
    behind.fill(MaybeUninit::new(total));
    // SAFETY: the lines above wrote the ends of rows before and behind, every piece those of its own and as many entries as it said.
    let (offsets, indices) = unsafe { (written(offsets, places + 1), written(indices, total as usize)) };
    Ok(Pattern::new(places, kept.shape.1, offsets, indices))
}

/// A thread's room for what a piece keeps.
struct Bench {
    columns: Vec<MaybeUninit<u32>>,
    values: Vec<MaybeUninit<u64>>,
}

/// A value's bytes.
type Bytes<const N: usize> = MaybeUninit<[u8; N]>;

struct Job<'a> {
    a: &'a Pattern,
    kept: &'a Between,
    /// The columns kept, counted from the diagonal or the first one.
    low: i32,
    high: i32,
    /// Whether the processor compares eight columns at once.
    #[cfg_attr(any(miri, not(target_arch = "x86_64")), allow(dead_code))]
    lanes: bool,
    piece: usize,
    /// Where each piece ends; [`UNKNOWN`] before it has said so.
    ends: &'a [AtomicU64],
    next: AtomicUsize,
    from: Shared<u8>,
    to: (Shared<MaybeUninit<u64>>, Shared<MaybeUninit<u32>>, &'a Shared<u8>),
}

/// Where a piece ends that nobody has counted yet.
const UNKNOWN: u64 = u64::MAX;

impl Job<'_> {
    /// Takes pieces until there are none.
    /// # Safety
    /// Values are of N bytes, and the bench was made for them.
    unsafe fn work<const N: usize>(&self, bench: &mut Bench) {
        let (first, all) = (self.kept.rows.start, self.kept.rows.len());
        loop {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            let places = nth_piece(all, self.piece, piece);
            if places.is_empty() {
                return;
            }
            let rows = first + places.start..first + places.end;
            let entries = (self.a.offsets[rows.end] - self.a.offsets[rows.start]) as usize;
            // SAFETY: pieces are disjoint.
            let ends = unsafe { self.to.0.part(places) };
            let benched = entries <= ROOM;
            let n = match benched {
                // SAFETY: the contract, and no more entries than there is room for.
                true => unsafe { self.look::<N>(rows.clone(), bench, ends) },
                false => self.count(rows.clone(), ends),
            };
            let before = piece.checked_sub(1).map_or(0, |last| end_of(&self.ends[last]));
            self.ends[piece].store(before + n as u64, Ordering::Release);
            // SAFETY: `look` or `count` wrote all of them.
            ends.iter_mut().for_each(|end| *end = MaybeUninit::new(before + unsafe { end.assume_init() }));
            // SAFETY: pieces say how much they keep, and go one behind the other.
            let (columns, values) = unsafe {
                let at = before as usize;
                (self.to.1.place(at, n).cast::<u32>(), self.to.2.place(at * N, n * N).cast::<Bytes<N>>())
            };
            // SAFETY: room for n entries, as many as were copied to the bench or are now.
            unsafe {
                if benched {
                    columns.copy_from_nonoverlapping(bench.columns.as_ptr().cast(), n);
                    values.copy_from_nonoverlapping(bench.values.as_ptr().cast(), n);
                } else {
                    self.copy::<N>(rows, columns, values);
                }
            }
        }
    }
    /// What columns of a row are counted from.
    #[inline(always)]
    fn origin(&self, r: usize) -> i32 {
        if self.kept.diagonal { r as i32 } else { 0 }
    }
    /// The entries that a row keeps.
    #[inline(always)]
    fn searched(&self, r: usize) -> Range<usize> {
        let (row, origin) = (self.a.range(r), self.origin(r));
        let columns = &self.a.indices[row.clone()];
        let before = |column: i32| columns.partition_point(|j| *j as i32 - origin < column);
        let low = before(self.low);
        row.start + low..row.start + low.max(before(self.high))
    }
    /// How many entries rows keep, and in `ends` where each ends, counted from the first.
    fn count(&self, rows: Range<usize>, ends: &mut [MaybeUninit<u64>]) -> usize {
        let mut n = 0;
        for (r, end) in rows.zip(ends) {
            n += self.searched(r).len();
            *end = MaybeUninit::new(n as u64);
        }
        n
    }
    /// Copies what rows keep, as counted.
    /// # Safety
    /// There is room for it, and values are of N bytes.
    unsafe fn copy<const N: usize>(&self, rows: Range<usize>, mut columns: *mut u32, mut values: *mut Bytes<N>) {
        for r in rows {
            let kept = self.searched(r);
            let n = kept.len();
            // SAFETY: the contract; entries of rows lie within all arrays.
            unsafe {
                for (e, j) in self.a.indices[kept.clone()].iter().enumerate() {
                    columns.add(e).write(j.wrapping_add(self.kept.shift));
                }
                values.copy_from_nonoverlapping(self.from.at(kept.start * N).cast::<Bytes<N>>(), n);
                (columns, values) = (columns.add(n), values.add(n));
            }
        }
    }
    /// Copies what rows keep to the bench; how much it is, and in `ends` where each row ends.
    /// # Safety
    /// The rows have no more entries than the bench has room for, values are of N bytes.
    unsafe fn look<const N: usize>(
        &self,
        rows: Range<usize>,
        bench: &mut Bench,
        ends: &mut [MaybeUninit<u64>],
    ) -> usize {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if self.lanes {
            // SAFETY: the processor has what the function is compiled for; the contract.
            return unsafe { self.look_avx2::<N>(rows, bench, ends) };
        }
        let before = |columns: &[u32; WIDE], origin: i32, column: i32, len: usize| {
            let before = |e: usize| i32::from((columns[e] as i32 - origin < column) & ((e as i32) < len as i32));
            (0..WIDE).map(before).sum::<i32>() as usize
        };
        let count = |columns: &[u32; WIDE], origin: i32, len: usize| {
            (before(columns, origin, self.low, len), before(columns, origin, self.high, len))
        };
        // SAFETY: the contract.
        unsafe { self.look_by::<N>(rows, bench, ends, count) }
    }
    /// # Safety
    /// As [`look`](Self::look).
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[target_feature(enable = "avx2,bmi2,popcnt")]
    unsafe fn look_avx2<const N: usize>(
        &self,
        rows: Range<usize>,
        bench: &mut Bench,
        ends: &mut [MaybeUninit<u64>],
    ) -> usize {
        use std::arch::x86_64::*;
        let bounds = (_mm256_set1_epi32(self.low), _mm256_set1_epi32(self.high));
        // SAFETY: eight columns are read, by instructions that the function is compiled for; the contract.
        unsafe {
            self.look_by::<N>(
                rows,
                bench,
                ends,
                #[inline(always)]
                |columns, origin, len| {
                    let columns = _mm256_loadu_si256(columns.as_ptr().cast());
                    let columns = _mm256_sub_epi32(columns, _mm256_set1_epi32(origin));
                    let before = |bound| _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(bound, columns)));
                    let count = |before: i32| _bzhi_u32(before as u32, len as u32).count_ones() as usize;
                    (count(before(bounds.0)), count(before(bounds.1)))
                },
            )
        }
    }
    /// `count` says how many of the first so many of eight columns, counted from an origin, come before each of the two bounds.
    /// # Safety
    /// As [`look`](Self::look).
    #[inline(always)]
    unsafe fn look_by<const N: usize>(
        &self,
        rows: Range<usize>,
        bench: &mut Bench,
        ends: &mut [MaybeUninit<u64>],
        count: impl Fn(&[u32; WIDE], i32, usize) -> (usize, usize),
    ) -> usize {
        let (shift, indices) = (self.kept.shift, &self.a.indices[..]);
        let origin = i32::from(self.kept.diagonal);
        // SAFETY: the first of them.
        let values = unsafe { self.from.at(0) }.cast_const().cast::<Bytes<N>>();
        let (columns, bytes) = (bench.columns.as_mut_ptr().cast::<u32>(), bench.values.as_mut_ptr().cast::<Bytes<N>>());
        let offsets = &self.a.offsets[rows.start..=rows.end];
        // SAFETY: as many values as entries, whose bytes are not looked at.
        let soon = (Soon::of(indices), Soon::of(unsafe { std::slice::from_raw_parts(values, indices.len()) }));
        let (mut at, mut begin) = (0, offsets[0] as usize);
        for ((r, to), end) in rows.zip(&offsets[1..]).zip(ends) {
            let len = *to as usize - begin;
            soon.0.stream(begin);
            soon.1.stream(begin);
            let eight = |e: usize| {
                // SAFETY: asked for where they are there.
                unsafe { &*indices.as_ptr().add(e).cast::<[u32; WIDE]>() }
            };
            let (skipped, before) = if len <= WIDE && begin + 2 * WIDE <= indices.len() {
                count(eight(begin), r as i32 * origin, len)
            } else if len <= SEARCHED && begin + SEARCHED + WIDE <= indices.len() {
                (0..len).step_by(WIDE).fold((0, 0), |sum, e| {
                    let some = count(eight(begin + e), r as i32 * origin, WIDE.min(len - e));
                    (sum.0 + some.0, sum.1 + some.1)
                })
            } else {
                let kept = self.searched(r);
                (kept.start - begin, kept.end - begin)
            };
            let (from, n) = (begin + skipped, before.saturating_sub(skipped));
            // SAFETY: rows keep as many entries as they have at most, for which and eight more there is room; as many are read as are
            // there, or as are kept.
            unsafe {
                if from + n.max(1).next_multiple_of(WIDE) <= indices.len() {
                    let copy = |e: usize| {
                        let some = eight(from + e).map(|j| j.wrapping_add(shift));
                        columns.add(at + e).cast::<[u32; WIDE]>().write(some);
                        let some = values.add(from + e).cast::<[Bytes<N>; WIDE]>().read();
                        bytes.add(at + e).cast::<[Bytes<N>; WIDE]>().write(some);
                    };
                    copy(0);
                    (WIDE..n).step_by(WIDE).for_each(copy);
                } else {
                    for e in 0..n {
                        columns.add(at + e).write(indices[from + e].wrapping_add(shift));
                        bytes.add(at + e).write(values.add(from + e).read());
                    }
                }
            }
            at += n;
            *end = MaybeUninit::new(at as u64);
            begin += len;
        }
        at
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;
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

    /// Values of every size; rows of no entries, of eight, of more than are looked through and of more than a bench has room for, the
    /// last ones too; bounds within, before and behind the columns.
    #[test]
    fn what_lies_between_is_kept() {
        fn check<T: Scalar + PartialEq>(lengths: &[u64], n: u64, value: impl Fn(u64) -> T) {
            let mut random = Random::new(8, lengths.len() as u64);
            let (mut offsets, mut indices) = (vec![0], Vec::new());
            for length in lengths {
                indices.extend((0..n as u32).filter(|_| random.below(n) < *length));
                offsets.push(indices.len() as u64);
            }
            let values: Vec<T> = (0..indices.len() as u64).map(&value).collect();
            let a = HostCsr::new(Pattern::new(lengths.len(), n as usize, offsets, indices), values);
            let all = lengths.len();
            for (rows, to, more) in [(0..all, 0, 0), (all / 3..all, 2, 3), (1..all / 2, 0, 1), (all / 2..all / 2, 1, 1)]
            {
                let far = i64::MAX;
                for columns in [(i64::MIN, 4), (0, far), (-3, 9), (n as i64 / 2, n as i64), (7, 5), (far, far)] {
                    for diagonal in [false, true] {
                        let shape = (to + rows.len() + more, n as usize);
                        let kept = Between { rows: rows.clone(), columns, diagonal, shift: 0, to, shape };
                        let (mut offsets, mut entries) = (vec![0; to + 1], Vec::new());
                        for r in rows.clone() {
                            let origin = if diagonal { r as i64 } else { 0 };
                            let stays = |j: u32| (columns.0..columns.1).contains(&(i64::from(j) - origin));
                            entries.extend(a.pattern.range(r).filter(|e| stays(a.pattern.indices[*e])));
                            offsets.push(entries.len() as u64);
                        }
                        offsets.resize(shape.0 + 1, entries.len() as u64);
                        for lanes in [false, has_lanes()] {
                            let found = super::made("test", &a, &kept, lanes).unwrap().unwrap();
                            let pattern = &found.pattern;
                            assert_eq!(pattern.offsets[..], offsets[..], "{kept:?}");
                            assert!(
                                pattern.indices.iter().eq(entries.iter().map(|e| &a.pattern.indices[*e])),
                                "{kept:?}"
                            );
                            assert!(found.values.iter().eq(entries.iter().map(|e| &a.values[*e])), "{kept:?}");
                        }
                    }
                }
            }
        }
        for lengths in [
            (0..150).map(|r| r % 9).collect::<Vec<u64>>(),
            (0..90).map(|r| if r % 20 == 7 { 500 } else { r % 13 }).collect(),
            vec![8; 40],
            vec![300; 9],
            vec![0, 3],
        ] {
            check(&lengths, 600, |e| e);
            check(&lengths, 600, |e| e as u32);
            check(&lengths, 600, |e| e as u16);
            check(&lengths, 600, |e| e as u8);
            check(&lengths, 600, |e| num_complex::Complex::new(e as f64, 1.0));
        }
    }
}
