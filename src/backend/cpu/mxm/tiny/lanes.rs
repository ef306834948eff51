//! [`Tiny`] by sixteen lanes.
use super::{ADMITTED, ENTRIES, MOST, NUMBER, PRODUCTS, ROWS, SLACK, Tiny, To};
use crate::backend::cpu::mxm::analysis::{AHEAD, OnMask, Soon};
use crate::backend::cpu::mxm::job::read;
use crate::backend::cpu::simd::avx2::Avx2;
use crate::backend::cpu::simd::avx512::Avx512;
use crate::backend::cpu::simd::{Sixteen, network};
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use std::ops::Range;

/// Where sixteen numbers are, or have room.
#[inline(always)]
fn at(list: &[u32], at: usize) -> *const u32 {
    debug_assert!(at + 16 <= list.len());
    list.as_ptr().wrapping_add(at)
}
#[inline(always)]
fn at_mut(list: &mut [u32], at: usize) -> *mut u32 {
    debug_assert!(at + 16 <= list.len());
    list.as_mut_ptr().wrapping_add(at)
}

/// Ranks of the bits that are set: the first one's is `before`. No closure: it would be compiled without the lanes' instructions
/// where it is not inlined.
#[inline(always)]
fn ranked<S: Sixteen>(s: S, bits: u16, before: usize) -> S::V {
    s.add(s.counted(bits), s.splat((before as u32).wrapping_sub(1)))
}

impl Tiny {
    /// # Safety
    /// A's columns are rows of B, buffers are grown.
    #[target_feature(enable = "avx512f,popcnt,bmi2")]
    pub(super) unsafe fn rows_512<const VALUES: bool>(
        &mut self,
        s: Avx512,
        operation: &'static str,
        operands: (&Pattern, &Pattern, OnMask),
        soon: Soon,
        rows: Range<usize>,
        to: To,
    ) -> Result<usize> {
        // SAFETY: the contract.
        unsafe { self.rows_by::<_, VALUES>(s, operation, operands, soon, rows, to) }
    }

    /// # Safety
    /// As above.
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) unsafe fn rows_256<const VALUES: bool>(
        &mut self,
        s: Avx2,
        operation: &'static str,
        operands: (&Pattern, &Pattern, OnMask),
        soon: Soon,
        rows: Range<usize>,
        to: To,
    ) -> Result<usize> {
        // SAFETY: the contract.
        unsafe { self.rows_by::<_, VALUES>(s, operation, operands, soon, rows, to) }
    }

    /// As [`Tiny::rows`].
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn rows_by<S: Sixteen, const VALUES: bool>(
        &mut self,
        s: S,
        operation: &'static str,
        (a, b, mask): (&Pattern, &Pattern, OnMask),
        soon: Soon,
        rows: Range<usize>,
        to: To,
    ) -> Result<usize> {
        if !self.rows.contains(&rows.start) {
            // Nothing is listed in vain.
            if a.row(rows.start).iter().map(|k| b.range(*k as usize).len()).sum::<usize>() > MOST {
                return Ok(0);
            }
            // SAFETY: the contract.
            unsafe { self.find::<S, VALUES>(s, (a, b), mask, soon, rows.clone()) };
        }
        self.rows.start = rows.start;
        self.listed.first = self.first;
        let entries = |r: usize| a.offsets[r] as usize - self.first;
        let products = self.starts[entries(self.rows.end)] - self.starts[entries(self.rows.start)];
        let most = match mask {
            Some(m) => (m.pattern.offsets[self.rows.end] - m.pattern.offsets[self.rows.start]) as usize,
            None => products as usize,
        };
        memory::reserve(operation, to.indices, most + SLACK)?;
        // SAFETY: products of these rows are listed, and there is room for as many columns.
        let done = unsafe {
            match mask {
                Some(m) => self.admitted(s, a, &m.pattern, to),
                None => self.in_order::<S, VALUES>(s, a, to),
            }
        };
        self.rows.start += done;
        Ok(done)
    }

    /// Lists the products of rows from the first on: of whole rows, as many as there is room for.
    /// # Safety
    /// Buffers are grown; the rows are rows of A, the columns of A are rows of B.
    #[inline(always)]
    pub(super) unsafe fn find<S: Sixteen, const VALUES: bool>(
        &mut self,
        s: S,
        (a, b): (&Pattern, &Pattern),
        mask: OnMask,
        soon: Soon,
        rows: Range<usize>,
    ) {
        let mut last = rows.end.min(rows.start + ROWS);
        if let Some(m) = mask {
            // Products of rows without an admitted column are not looked at.
            let empty = |r: usize| m.pattern.range(r).is_empty() && !a.range(r).is_empty();
            last = (rows.start..last).find(|r| empty(*r)).unwrap_or(last).max(rows.start + 1);
        }
        let first = a.offsets[rows.start] as usize;
        let all = first..(a.offsets[last] as usize).min(first + ENTRIES);
        let (mut n, mut ended, end) = (0, all.end, a.indices.len().saturating_sub(1));
        for e in all {
            // SAFETY: entries up to the last of A, whose columns are rows of B; at most ENTRIES entries here, a start for
            // each and one more; at most PRODUCTS products; only lanes that are there are read.
            unsafe {
                // Rows of B lie anywhere: those of later entries are asked for.
                Soon::of(&b.offsets).prefetch(read(&a.indices, (e + 2 * AHEAD).min(end)) as usize);
                let later = read(&b.offsets, read(&a.indices, (e + AHEAD).min(end)) as usize) as usize;
                Soon::of(&b.indices).prefetch(later);
                if VALUES {
                    soon.prefetch(later);
                }
                let k = read(&a.indices, e) as usize;
                let (start, len) = (read(&b.offsets, k), (read(&b.offsets, k + 1) - read(&b.offsets, k)) as usize);
                *self.starts.get_unchecked_mut(e - first) = n as u32;
                if len > MOST || n + len > PRODUCTS {
                    ended = e;
                    break;
                }
                let (entry, mut done) = ((e - first) as u32, 0);
                loop {
                    self.list::<S, VALUES>(s, b, start as usize + done, len - done, n + done, entry);
                    done += 16;
                    if done >= len {
                        break;
                    }
                }
                n += len;
            }
        }
        self.starts[ended - first] = n as u32;
        if a.offsets[last] as usize > ended {
            // The last row that ends there.
            last = rows.start + a.offsets[rows.start..=last].partition_point(|o| *o as usize <= ended) - 1;
        }
        (self.first, self.rows) = (first, rows.start..last);
    }

    /// Lists `len` products of one entry, but no more than sixteen: those at `place` and behind it in B.
    /// # Safety
    /// They are there; there is room for sixteen.
    #[inline(always)]
    unsafe fn list<S: Sixteen, const VALUES: bool>(
        &mut self,
        s: S,
        b: &Pattern,
        place: usize,
        len: usize,
        n: usize,
        entry: u32,
    ) {
        // SAFETY: the contract.
        unsafe {
            let columns = s.load_some(s.first(len), b.indices.as_ptr().wrapping_add(place));
            s.store(at_mut(&mut self.columns, n), columns);
            if VALUES {
                s.store(at_mut(&mut self.places, n), s.add(s.splat(place as u32), s.numbers()));
                s.store(at_mut(&mut self.entries, n), s.splat(entry));
            }
        }
    }

    /// Where the products of a row begin and how many there are.
    #[inline(always)]
    fn of_row(&self, a: &Pattern, r: usize) -> (usize, usize) {
        let start = |r: usize| self.starts[a.offsets[r] as usize - self.first] as usize;
        (start(r), start(r + 1) - start(r))
    }

    /// Rows in order, until one has too many products.
    /// # Safety
    /// Their products were listed; there is room for all columns.
    #[inline(always)]
    pub(super) unsafe fn in_order<S: Sixteen, const VALUES: bool>(&mut self, s: S, a: &Pattern, to: To) -> usize {
        let base = to.indices.len();
        let (mut sums, mut done) = (0, 0);
        for r in self.rows.clone() {
            let (from, n) = self.of_row(a, r);
            // SAFETY: the contract: room for as many columns as products of all rows, and for SLACK behind them.
            unsafe {
                let columns = to.indices.as_mut_ptr().add(base + sums);
                sums += match n {
                    0 => 0,
                    1..=16 => self.row::<S, 1, VALUES>(s, from, n, sums, columns),
                    17..=32 => self.row::<S, 2, VALUES>(s, from, n, sums, columns),
                    33..=MOST => self.row::<S, 4, VALUES>(s, from, n, sums, columns),
                    _ => break,
                };
            }
            to.ends.push((base + sums) as u64);
            done += 1;
        }
        // SAFETY: as many columns were written.
        unsafe { to.indices.set_len(base + sums) };
        done
    }

    /// A row of n products, at most 16·K, in order; how many columns.
    /// # Safety
    /// They are listed from `from` on; there is room for n columns and SLACK more.
    #[inline(always)]
    unsafe fn row<S: Sixteen, const K: usize, const VALUES: bool>(
        &mut self,
        s: S,
        from: usize,
        n: usize,
        before: usize,
        to: *mut u32,
    ) -> usize {
        // SAFETY: the contract.
        if let Some(met) = unsafe { self.close::<S, K, VALUES>(s, from, n, before, to) } {
            return met;
        }
        let none = s.splat(u32::MAX);
        let mut keys = [none; K];
        for (r, key) in keys.iter_mut().enumerate() {
            let number = s.add(s.numbers(), s.splat(16 * r as u32));
            // SAFETY: room for MOST and SLACK more is behind every listed product.
            let column = s.shl::<NUMBER>(unsafe { s.load(at(&self.columns, from + 16 * r)) });
            *key = s.select(s.first(n.saturating_sub(16 * r)), none, s.or(column, number));
        }
        network::sort(s, &mut keys);
        // SAFETY: as above; nothing is listed among them while they are picked from.
        let (places, entries) =
            unsafe { (s.table::<K>(at(&self.places, from)), s.table::<K>(at(&self.entries, from))) };
        let (mut met, mut last) = (0, none);
        for (r, key) in keys.into_iter().enumerate() {
            let columns = s.shr::<NUMBER>(key);
            let old = s.equal(columns, s.previous(columns, last));
            let new = s.bits(s.without(s.first(n.saturating_sub(16 * r)), old));
            last = columns;
            // SAFETY: at most n columns are new, behind which there is room for sixteen; as many products are listed as
            // were found, behind which there is as much room.
            unsafe {
                s.store_kept(to.add(met), new, columns);
                if VALUES {
                    let listed = self.listed.len + 16 * r;
                    let sums = ranked(s, new, before + met);
                    s.store(at_mut(&mut self.listed.sums, listed), sums);
                    s.store(at_mut(&mut self.listed.places, listed), s.pick::<K>(places, key));
                    s.store(at_mut(&mut self.listed.entries, listed), s.pick::<K>(entries, key));
                }
            }
            met += new.count_ones() as usize;
        }
        self.listed.len += n;
        met
    }

    /// As [`row`](Self::row) where all columns are within 32: a bit for each.
    /// # Safety
    /// That of `row`.
    #[inline(always)]
    unsafe fn close<S: Sixteen, const K: usize, const VALUES: bool>(
        &mut self,
        s: S,
        from: usize,
        n: usize,
        before: usize,
        to: *mut u32,
    ) -> Option<usize> {
        // The first column is one of the smallest.
        let base = self.columns[from].wrapping_sub(8);
        let zero = s.splat(0);
        let (mut columns, mut bits, mut far) = ([zero; K], zero, s.none());
        for (r, column) in columns.iter_mut().enumerate() {
            // SAFETY: room for MOST and SLACK more is behind every listed product.
            *column = s.sub(unsafe { s.load(at(&self.columns, from + 16 * r)) }, s.splat(base));
            let live = s.first(n.saturating_sub(16 * r));
            let bit = s.select(live, zero, s.bit(*column));
            far = s.either(far, s.both(live, s.equal(bit, zero)));
            bits = s.or(bits, bit);
        }
        if s.bits(far) != 0 {
            return None;
        }
        let bits = s.united(bits);
        let (low, high) = (bits as u16, (bits >> 16) as u16);
        let lows = low.count_ones() as usize;
        let all = s.add(s.numbers(), s.splat(base));
        // SAFETY: the contract.
        unsafe {
            s.store_kept(to, low, all);
            s.store_kept(to.add(lows), high, s.add(all, s.splat(16)));
        }
        if VALUES {
            let (low, high) = (ranked(s, low, before), ranked(s, high, before + lows));
            for (r, column) in columns.into_iter().enumerate() {
                let (listed, from) = (self.listed.len + 16 * r, from + 16 * r);
                // SAFETY: as above; as many products are listed as were found.
                unsafe {
                    s.store(at_mut(&mut self.listed.sums, listed), s.pick_of_two(low, high, column));
                    s.store(at_mut(&mut self.listed.places, listed), s.load(at(&self.places, from)));
                    s.store(at_mut(&mut self.listed.entries, listed), s.load(at(&self.entries, from)));
                }
            }
        }
        self.listed.len += n;
        Some(bits.count_ones() as usize)
    }

    /// Rows of which the mask admits few columns, until there are too many or too many products.
    /// # Safety
    /// Their products were listed; there is room for all columns.
    #[inline(always)]
    pub(super) unsafe fn admitted<S: Sixteen>(&mut self, s: S, a: &Pattern, mask: &Pattern, to: To) -> usize {
        let base = to.indices.len();
        let (mut sums, mut done) = (0, 0);
        for r in self.rows.clone() {
            let ((from, n), admitted) = (self.of_row(a, r), mask.row(r));
            if admitted.len() > ADMITTED {
                break;
            }
            // SAFETY: the contract: room for all that is admitted, and for SLACK behind it.
            unsafe {
                let columns = to.indices.as_mut_ptr().add(base + sums);
                sums += match n {
                    0 => 0,
                    1..=16 => self.looked_up::<S, 1>(s, from, n, sums, admitted, columns),
                    17..=32 => self.looked_up::<S, 2>(s, from, n, sums, admitted, columns),
                    33..=MOST => self.looked_up::<S, 4>(s, from, n, sums, admitted, columns),
                    _ => break,
                };
            }
            to.ends.push((base + sums) as u64);
            done += 1;
        }
        // SAFETY: as many columns were written.
        unsafe { to.indices.set_len(base + sums) };
        done
    }

    /// Of n products, at most 16·K, those with an admitted column, at most ADMITTED; how many columns.
    /// # Safety
    /// They are listed from `from` on; there is room for all that are admitted and SLACK more.
    #[inline(always)]
    unsafe fn looked_up<S: Sixteen, const K: usize>(
        &mut self,
        s: S,
        from: usize,
        n: usize,
        before: usize,
        admitted: &[u32],
        to: *mut u32,
    ) -> usize {
        let zero = s.splat(0);
        let (mut columns, mut sums, mut met, mut used) = ([zero; K], [zero; K], [s.none(); K], 0u32);
        for (p, columns) in columns.iter_mut().enumerate() {
            // SAFETY: room for MOST and SLACK more is behind every listed product.
            *columns = unsafe { s.load(at(&self.columns, from + 16 * p)) };
        }
        for (sum, j) in admitted.iter().enumerate() {
            let (sum_th, j, mut any) = (s.splat(sum as u32), s.splat(*j), s.none());
            for p in 0..K {
                let equal = s.both(s.first(n.saturating_sub(16 * p)), s.equal(columns[p], j));
                sums[p] = s.select(equal, sums[p], sum_th);
                met[p] = s.either(met[p], equal);
                any = s.either(any, equal);
            }
            used |= u32::from(s.bits(any) != 0) << sum;
        }
        if used == 0 {
            return 0;
        }
        // Which of the admitted columns that are met each is.
        let ranks = ranked(s, used as u16, before);
        for p in 0..K {
            let (listed, met) = (self.listed.len, s.bits(met[p]));
            // SAFETY: as above; fewer products are listed than were found, and sixteen more have room.
            unsafe {
                let sums = s.pick_lane(ranks, sums[p]);
                let (places, entries) =
                    (s.load(at(&self.places, from + 16 * p)), s.load(at(&self.entries, from + 16 * p)));
                s.store_kept(at_mut(&mut self.listed.sums, listed), met, sums);
                s.store_kept(at_mut(&mut self.listed.places, listed), met, places);
                s.store_kept(at_mut(&mut self.listed.entries, listed), met, entries);
            }
            self.listed.len += met.count_ones() as usize;
        }
        // SAFETY: only lanes that are there are read; the contract.
        unsafe {
            s.store_kept(to, used as u16, s.load_some(s.first(admitted.len()), admitted.as_ptr()));
        }
        used.count_ones() as usize
    }
}
