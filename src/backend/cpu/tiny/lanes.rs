//! [`Tiny`] by sixteen lanes: AVX-512.
use super::super::analysis::{AHEAD, OnMask, Soon};
use super::super::job::read;
use super::{ADMITTED, ENTRIES, MOST, NUMBER, PRODUCTS, ROWS, Tiny, To, network};
use crate::storage::pattern::Pattern;
use std::arch::x86_64::*;
use std::ops::Range;

/// As many of the first lanes as there are, from lane 16·r on.
#[target_feature(enable = "bmi2")]
#[inline]
fn live(n: usize, r: usize) -> __mmask16 {
    _bzhi_u32(u32::MAX, n.saturating_sub(16 * r) as u32) as __mmask16
}

#[target_feature(enable = "avx512f")]
#[inline]
fn numbers() -> __m512i {
    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
}

/// # Safety
/// There are sixteen.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn load(from: &[u32], at: usize) -> __m512i {
    debug_assert!(at + 16 <= from.len());
    // SAFETY: the contract.
    unsafe { _mm512_loadu_epi32(from.as_ptr().add(at).cast()) }
}
/// # Safety
/// There is room for sixteen.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn store(to: &mut [u32], at: usize, v: __m512i) {
    debug_assert!(at + 16 <= to.len());
    // SAFETY: the contract.
    unsafe { _mm512_storeu_epi32(to.as_mut_ptr().add(at).cast(), v) }
}

/// How many lanes up to each one are set.
#[target_feature(enable = "avx512f")]
#[inline]
fn counted(set: __mmask16) -> __m512i {
    let zero = _mm512_setzero_si512();
    let n = _mm512_maskz_set1_epi32(set, 1);
    let n = _mm512_add_epi32(n, _mm512_alignr_epi32::<15>(n, zero));
    let n = _mm512_add_epi32(n, _mm512_alignr_epi32::<14>(n, zero));
    let n = _mm512_add_epi32(n, _mm512_alignr_epi32::<12>(n, zero));
    _mm512_add_epi32(n, _mm512_alignr_epi32::<8>(n, zero))
}

/// The lanes of K registers that `at` numbers.
#[target_feature(enable = "avx512f")]
#[inline]
fn pick<const K: usize>(from: &[__m512i; K], at: __m512i) -> __m512i {
    match K {
        1 => _mm512_permutexvar_epi32(at, from[0]),
        2 => _mm512_permutex2var_epi32(from[0], at, from[1]),
        _ => {
            let low = _mm512_permutex2var_epi32(from[0], at, from[1]);
            let high = _mm512_permutex2var_epi32(from[K / 2], at, from[K - 1]);
            _mm512_mask_blend_epi32(_mm512_test_epi32_mask(at, _mm512_set1_epi32(32)), low, high)
        }
    }
}

impl Tiny {
    /// Lists the products of rows from the first on: of whole rows, as many as there is room for.
    /// # Safety
    /// Buffers are grown; the rows are rows of A, the columns of A are rows of B.
    #[target_feature(enable = "avx512f,popcnt,bmi2")]
    pub(super) unsafe fn find<const VALUES: bool>(
        &mut self,
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
                    self.list::<VALUES>(b, start as usize + done, live(len, done / 16), n + done, entry);
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

    /// Lists products of one entry: those at `place` and behind it in B.
    /// # Safety
    /// They are there in `live` lanes; there is room for sixteen.
    #[target_feature(enable = "avx512f,popcnt,bmi2")]
    #[inline]
    unsafe fn list<const VALUES: bool>(&mut self, b: &Pattern, place: usize, live: __mmask16, at: usize, entry: u32) {
        // SAFETY: the contract.
        unsafe {
            let columns = _mm512_maskz_loadu_epi32(live, b.indices.as_ptr().wrapping_add(place).cast());
            store(&mut self.columns, at, columns);
            if VALUES {
                store(&mut self.places, at, _mm512_add_epi32(_mm512_set1_epi32(place as i32), numbers()));
                store(&mut self.entries, at, _mm512_set1_epi32(entry as i32));
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
    #[target_feature(enable = "avx512f,popcnt,bmi2")]
    pub(super) unsafe fn in_order<const VALUES: bool>(&mut self, a: &Pattern, to: To) -> usize {
        let base = to.indices.len();
        let (mut sums, mut done) = (0, 0);
        for r in self.rows.clone() {
            let (from, n) = self.of_row(a, r);
            // SAFETY: the contract: room for as many columns as products of all rows, and for SLACK behind them.
            unsafe {
                let columns = to.indices.as_mut_ptr().add(base + sums);
                sums += match n {
                    0 => 0,
                    1..=16 => self.row::<1, VALUES>(from, n, sums, columns),
                    17..=32 => self.row::<2, VALUES>(from, n, sums, columns),
                    33..=MOST => self.row::<4, VALUES>(from, n, sums, columns),
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
    #[target_feature(enable = "avx512f,popcnt,bmi2")]
    #[inline]
    unsafe fn row<const K: usize, const VALUES: bool>(
        &mut self,
        from: usize,
        n: usize,
        before: usize,
        to: *mut u32,
    ) -> usize {
        // SAFETY: the contract.
        if let Some(met) = unsafe { self.close::<K, VALUES>(from, n, before, to) } {
            return met;
        }
        let none = _mm512_set1_epi32(-1);
        let mut keys = [none; K];
        for (r, key) in keys.iter_mut().enumerate() {
            let number = _mm512_add_epi32(numbers(), _mm512_set1_epi32(16 * r as i32));
            // SAFETY: room for MOST and SLACK more is behind every listed product.
            let column = _mm512_slli_epi32::<NUMBER>(unsafe { load(&self.columns, from + 16 * r) });
            *key = _mm512_mask_or_epi32(none, live(n, r), column, number);
        }
        network::sort(&mut keys);
        let (mut places, mut entries) = ([none; K], [none; K]);
        if VALUES {
            for r in 0..K {
                // SAFETY: as above.
                (places[r], entries[r]) =
                    unsafe { (load(&self.places, from + 16 * r), load(&self.entries, from + 16 * r)) };
            }
        }
        let (mut met, mut last) = (0, none);
        for (r, key) in keys.into_iter().enumerate() {
            let columns = _mm512_srli_epi32::<NUMBER>(key);
            let new = _mm512_mask_cmpneq_epi32_mask(live(n, r), columns, _mm512_alignr_epi32::<15>(columns, last));
            last = columns;
            // SAFETY: at most n columns are new, behind which there is room for sixteen; as many products are listed as
            // were found, behind which there is as much room.
            unsafe {
                _mm512_storeu_epi32(to.add(met).cast(), _mm512_maskz_compress_epi32(new, columns));
                if VALUES {
                    let at = self.listed.len + 16 * r;
                    let sums = _mm512_add_epi32(counted(new), _mm512_set1_epi32((before + met) as i32 - 1));
                    store(&mut self.listed.sums, at, sums);
                    store(&mut self.listed.places, at, pick(&places, key));
                    store(&mut self.listed.entries, at, pick(&entries, key));
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
    #[target_feature(enable = "avx512f,popcnt,bmi2")]
    #[inline]
    unsafe fn close<const K: usize, const VALUES: bool>(
        &mut self,
        from: usize,
        n: usize,
        before: usize,
        to: *mut u32,
    ) -> Option<usize> {
        // The first column is one of the smallest.
        let base = self.columns[from].wrapping_sub(8);
        let (mut columns, mut bits, mut far) = ([_mm512_setzero_si512(); K], _mm512_setzero_si512(), 0);
        for (r, column) in columns.iter_mut().enumerate() {
            // SAFETY: room for MOST and SLACK more is behind every listed product.
            *column = unsafe { load(&self.columns, from + 16 * r) };
            *column = _mm512_sub_epi32(*column, _mm512_set1_epi32(base as i32));
            far |= _mm512_mask_cmpge_epu32_mask(live(n, r), *column, _mm512_set1_epi32(32));
            let bit = _mm512_maskz_sllv_epi32(live(n, r), _mm512_set1_epi32(1), *column);
            bits = _mm512_or_epi32(bits, bit);
        }
        if far != 0 {
            return None;
        }
        let bits = _mm512_reduce_or_epi32(bits) as u32;
        let (low, high) = (bits as __mmask16, (bits >> 16) as __mmask16);
        let lows = low.count_ones() as usize;
        let all = _mm512_add_epi32(numbers(), _mm512_set1_epi32(base as i32));
        let next = _mm512_add_epi32(all, _mm512_set1_epi32(16));
        // SAFETY: the contract.
        unsafe {
            _mm512_storeu_epi32(to.cast(), _mm512_maskz_compress_epi32(low, all));
            _mm512_storeu_epi32(to.add(lows).cast(), _mm512_maskz_compress_epi32(high, next));
        }
        if VALUES {
            let rank = |bits, before| {
                _mm512_add_epi32(_mm512_maskz_expand_epi32(bits, numbers()), _mm512_set1_epi32(before as i32))
            };
            let ranks = [rank(low, before), rank(high, before + lows)];
            for (r, column) in columns.into_iter().enumerate() {
                let (at, from) = (self.listed.len + 16 * r, from + 16 * r);
                // SAFETY: as above; as many products are listed as were found.
                unsafe {
                    store(&mut self.listed.sums, at, pick(&ranks, column));
                    store(&mut self.listed.places, at, load(&self.places, from));
                    store(&mut self.listed.entries, at, load(&self.entries, from));
                }
            }
        }
        self.listed.len += n;
        Some(bits.count_ones() as usize)
    }

    /// Rows of which the mask admits few columns, until there are too many or too many products.
    /// # Safety
    /// Their products were listed; there is room for all columns.
    #[target_feature(enable = "avx512f,popcnt,bmi2")]
    pub(super) unsafe fn admitted(&mut self, a: &Pattern, mask: &Pattern, to: To) -> usize {
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
                    1..=16 => self.looked_up::<1>(from, n, sums, admitted, columns),
                    17..=32 => self.looked_up::<2>(from, n, sums, admitted, columns),
                    33..=MOST => self.looked_up::<4>(from, n, sums, admitted, columns),
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
    #[target_feature(enable = "avx512f,popcnt,bmi2")]
    #[inline]
    unsafe fn looked_up<const K: usize>(
        &mut self,
        from: usize,
        n: usize,
        before: usize,
        admitted: &[u32],
        to: *mut u32,
    ) -> usize {
        let zero = _mm512_setzero_si512();
        let (mut columns, mut sums, mut met, mut used) = ([zero; K], [zero; K], [0 as __mmask16; K], 0u32);
        for (p, columns) in columns.iter_mut().enumerate() {
            // SAFETY: room for MOST and SLACK more is behind every listed product.
            *columns = unsafe { load(&self.columns, from + 16 * p) };
        }
        for (s, j) in admitted.iter().enumerate() {
            let (s_th, j, mut any) = (_mm512_set1_epi32(s as i32), _mm512_set1_epi32(*j as i32), 0);
            for p in 0..K {
                let equal = _mm512_mask_cmpeq_epi32_mask(live(n, p), columns[p], j);
                sums[p] = _mm512_mask_mov_epi32(sums[p], equal, s_th);
                met[p] |= equal;
                any |= equal;
            }
            used |= ((any != 0) as u32) << s;
        }
        if used == 0 {
            return 0;
        }
        // Which of the admitted columns that are met each is.
        let ranks = _mm512_maskz_expand_epi32(used as __mmask16, numbers());
        let ranks = _mm512_add_epi32(ranks, _mm512_set1_epi32(before as i32));
        for p in 0..K {
            let at = self.listed.len;
            // SAFETY: as above; fewer products are listed than were found, and sixteen more have room.
            unsafe {
                let sums = _mm512_permutexvar_epi32(sums[p], ranks);
                let (places, entries) = (load(&self.places, from + 16 * p), load(&self.entries, from + 16 * p));
                store(&mut self.listed.sums, at, _mm512_maskz_compress_epi32(met[p], sums));
                store(&mut self.listed.places, at, _mm512_maskz_compress_epi32(met[p], places));
                store(&mut self.listed.entries, at, _mm512_maskz_compress_epi32(met[p], entries));
            }
            self.listed.len += met[p].count_ones() as usize;
        }
        // SAFETY: only lanes that are there are read; the contract.
        unsafe {
            let columns = _mm512_maskz_loadu_epi32(live(admitted.len(), 0), admitted.as_ptr().cast());
            _mm512_storeu_epi32(to.cast(), _mm512_maskz_compress_epi32(used as __mmask16, columns));
        }
        used.count_ones() as usize
    }
}
