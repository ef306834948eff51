//! Sums of a row: a flag and a sum a column, written without asking what is there. Where columns lie far apart, 64 flags
//! have one of their own.
use super::assemble::Rows;
use super::tiny::SLACK;
use crate::algebra::*;
use crate::error::Result;
use crate::memory;
use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// What a sum can start from so that adding to it leaves x to the bit.
enum Neutral {
    Identity,
    Float(f64),
    /// Of both parts of a complex number.
    Parts(f64),
}

/// The neutral element by scalar and monoid, and whether sums may be grouped at will to the bit.
fn known(t: TypeId, m: TypeId) -> Option<(Neutral, bool)> {
    let whole = [
        TypeId::of::<bool>(),
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<i8>(),
        TypeId::of::<i16>(),
        TypeId::of::<i32>(),
        TypeId::of::<i64>(),
    ];
    let built_in = [
        TypeId::of::<Plus>(),
        TypeId::of::<Times>(),
        TypeId::of::<Min>(),
        TypeId::of::<Max>(),
        TypeId::of::<Lor>(),
        TypeId::of::<Land>(),
        TypeId::of::<Lxor>(),
        TypeId::of::<Lxnor>(),
    ];
    if whole.contains(&t) && built_in.contains(&m) {
        return Some((Neutral::Identity, true));
    }
    let complex = t == TypeId::of::<c32>() || t == TypeId::of::<c64>();
    if t != TypeId::of::<f32>() && t != TypeId::of::<f64>() && !complex {
        return None;
    }
    // Only −0 + x is x for both zeros, only NaN leaves NaN to a minimum that omits it.
    if m == TypeId::of::<Plus>() {
        Some((if complex { Neutral::Parts(-0.0) } else { Neutral::Float(-0.0) }, false))
    } else if complex {
        None
    } else if m == TypeId::of::<Min>() || m == TypeId::of::<Max>() {
        Some((Neutral::Float(f64::NAN), true))
    } else {
        None
    }
}

/// e with e ⊕ x = x to the bit, and whether sums may be grouped at will to the bit.
pub(super) fn neutral<T: Scalar, M: Monoid<T>>() -> Option<(T, bool)> {
    let (neutral, free) = known(TypeId::of::<T>(), TypeId::of::<M>())?;
    let mut e = M::identity();
    if let Neutral::Float(value) | Neutral::Parts(value) = neutral {
        // SAFETY: T is made of f32 or f64 as the type said: its bytes, no padding, every pattern of bits is one.
        let bytes = unsafe { std::slice::from_raw_parts_mut((&mut e as *mut T).cast::<u8>(), size_of::<T>()) };
        let parts = if matches!(neutral, Neutral::Parts(_)) { 2 } else { 1 };
        bytes.chunks_exact_mut(size_of::<T>() / parts).for_each(|part| put(value, part));
    }
    Some((e, free))
}

fn put(value: f64, bytes: &mut [u8]) {
    match bytes.len() {
        4 => bytes.copy_from_slice(&(value as f32).to_ne_bytes()),
        _ => bytes.copy_from_slice(&value.to_ne_bytes()),
    }
}

/// A bit for each flag that is set.
#[inline(always)]
fn set(flags: &[u8; 64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8, _mm_slli_epi16};
        let mut met = 0;
        for (q, part) in flags.as_chunks::<16>().0.iter().enumerate() {
            // SAFETY: every x86-64 has SSE2; the sixteen bytes are there.
            let bits = unsafe { _mm_movemask_epi8(_mm_slli_epi16::<7>(_mm_loadu_si128(part.as_ptr().cast()))) };
            met |= (bits as u16 as u64) << (16 * q);
        }
        met
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // The eight low bits side by side.
        let eight = |part: &[u8; 8]| u64::from_le_bytes(*part).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        flags.as_chunks::<8>().0.iter().rev().fold(0, |met, part| met << 8 | eight(part))
    }
}

/// Columns `first..first + len` of one row. All flags are 0 and all sums neutral between rows.
#[derive(Debug)]
pub(super) struct Flat<T> {
    flags: Vec<u8>,
    /// One for 64 flags, where columns lie far apart.
    chunks: Vec<u8>,
    sums: Vec<T>,
}
impl<T> Default for Flat<T> {
    fn default() -> Self {
        Self { flags: Vec::new(), chunks: Vec::new(), sums: Vec::new() }
    }
}

impl<T: Copy> Flat<T> {
    /// Bytes for `len` columns whose sums have this size.
    pub(super) fn bytes(len: usize, value: usize) -> usize {
        (len + len / 4).next_multiple_of(64) * (1 + value)
    }
    /// The sums of `listed`, ascending, of which the first is the first column; there are no others. It is empty after it.
    pub(super) fn take_listed(&mut self, listed: &[u32], neutral: T, to: &mut [MaybeUninit<T>]) {
        let first = listed.first().copied().unwrap_or(0);
        for (z, j) in to.iter_mut().zip(listed) {
            let place = (*j - first) as usize;
            (*z, self.sums[place], self.flags[place]) = (MaybeUninit::new(self.sums[place]), neutral, 0);
        }
    }
    /// Room for `len` columns.
    pub(super) fn grow(&mut self, operation: &'static str, len: usize, neutral: T) -> Result<()> {
        if self.sums.len() < len {
            let room = (len + len / 4).next_multiple_of(64);
            self.flags = memory::filled(operation, room, 0)?;
            self.sums = memory::filled(operation, room, neutral)?;
        }
        Ok(())
    }
    /// Room for chunks of `len` columns.
    pub(super) fn grow_far(&mut self, operation: &'static str, len: usize, neutral: T) -> Result<()> {
        self.grow(operation, len, neutral)?;
        let chunks = self.flags.len().div_ceil(64).next_multiple_of(64);
        if self.chunks.len() < chunks {
            self.chunks = memory::filled(operation, chunks, 0)?;
        }
        Ok(())
    }
    /// Ready to be added to.
    #[inline(always)]
    pub(super) fn open(&mut self) -> Open<'_, T> {
        let (flags, chunks, sums) = (self.flags.as_mut_ptr(), self.chunks.as_mut_ptr(), self.sums.as_mut_ptr());
        Open { flags, chunks, sums, of: PhantomData }
    }
    /// The sums of those of `listed`, ascending, that have one, appended; there are no others.
    pub(super) fn drain_listed(
        &mut self,
        operation: &'static str,
        listed: &[u32],
        neutral: T,
        rows: &mut Rows<T>,
    ) -> Result<()> {
        rows.reserve(operation, listed.len())?;
        for j in listed {
            let (flag, sum) = (&mut self.flags[*j as usize], &mut self.sums[*j as usize]);
            // SAFETY: room for all that are listed was reserved.
            unsafe { rows.push_if(*flag != 0, *j, *sum) };
            (*flag, *sum) = (0, neutral);
        }
        Ok(())
    }
    /// The row, appended; it is empty after it. At most `most` columns of `first..first + len` were met, `FAR` of them with
    /// their chunks.
    pub(super) fn drain<const FAR: bool>(
        &mut self,
        operation: &'static str,
        (first, len): (u32, usize),
        most: usize,
        neutral: T,
        rows: &mut Rows<T>,
    ) -> Result<()> {
        memory::reserve(operation, &mut rows.indices, most + SLACK)?;
        memory::reserve(operation, &mut rows.values, most)?;
        let (before, room) = (rows.indices.len(), rows.indices.spare_capacity_mut());
        assert!(self.flags.len() >= len && self.sums.len() == self.flags.len());
        let n = match FAR {
            true => take_far(&mut self.flags, &mut self.chunks, (first, len), room),
            false => take(&mut self.flags, (first, len), room),
        };
        debug_assert!(n <= most);
        // SAFETY: n columns were written, each from `first` on and with a flag, of which there are as many as sums; at most
        // `most` were met, for which room was reserved.
        unsafe {
            rows.indices.set_len(before + n);
            let to = rows.values.as_mut_ptr().add(before);
            for (e, j) in rows.indices[before..].iter().enumerate() {
                let sum = self.sums.get_unchecked_mut((*j - first) as usize);
                to.add(e).write(*sum);
                *sum = neutral;
            }
            rows.values.set_len(before + n);
        }
        Ok(())
    }
}

/// Where flags and sums lie: read once, as bytes that are written could be anything.
#[derive(Debug)]
pub(super) struct Open<'a, T> {
    flags: *mut u8,
    chunks: *mut u8,
    sums: *mut T,
    of: PhantomData<&'a mut Flat<T>>,
}
impl<T: Copy> Open<'_, T> {
    /// # Safety
    /// `place` is below the `len` of [`Flat::grow`].
    #[inline(always)]
    pub(super) unsafe fn add(&self, place: usize, product: T, add: impl Fn(T, T) -> T) {
        // SAFETY: the contract.
        unsafe {
            *self.flags.add(place) = 1;
            let sum = self.sums.add(place);
            *sum = add(*sum, product);
        }
    }
    /// As [`add`](Self::add) for columns that lie far apart.
    /// # Safety
    /// `place` is below the `len` of [`Flat::grow_far`].
    #[inline(always)]
    pub(super) unsafe fn add_far(&self, place: usize, product: T, add: impl Fn(T, T) -> T) {
        // SAFETY: the contract.
        unsafe {
            *self.chunks.add(place >> 6) = 1;
            self.add(place, product, add);
        }
    }
    /// As [`add`](Self::add) where nothing is neutral: the first product of a column is its sum.
    /// # Safety
    /// `place` is below the `len` of [`Flat::grow`].
    #[inline(always)]
    pub(super) unsafe fn add_or_put(&self, place: usize, product: T, add: impl Fn(T, T) -> T) {
        // SAFETY: the contract.
        unsafe {
            let (flag, sum) = (self.flags.add(place), self.sums.add(place));
            *sum = if *flag != 0 { add(*sum, product) } else { product };
            *flag = 1;
        }
    }
    /// Marks a column without a sum.
    /// # Safety
    /// `place` is below the `len` of [`Flat::grow`].
    #[inline(always)]
    pub(super) unsafe fn mark(&self, place: usize) {
        // SAFETY: the contract.
        unsafe { *self.flags.add(place) = 1 };
    }
    /// Marks a column without a sum, and its chunk.
    /// # Safety
    /// `place` is below the `len` of [`Flat::grow_far`].
    #[inline(always)]
    pub(super) unsafe fn mark_far(&self, place: usize) {
        // SAFETY: the contract.
        unsafe {
            *self.chunks.add(place >> 6) = 1;
            self.mark(place);
        }
    }
}

/// The columns with a flag, which they have no more; how many.
fn take(flags: &mut [u8], (first, len): (u32, usize), to: &mut [MaybeUninit<u32>]) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if lanes::present() {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { lanes::take(flags, (first, len), to) };
    }
    let mut n = 0;
    for (c, flags) in flags.as_chunks_mut::<64>().0[..len.div_ceil(64)].iter_mut().enumerate() {
        n += take_chunk(flags, first + 64 * c as u32, &mut to[n..]);
    }
    n
}

/// As [`take`] where every flag's chunk has one.
fn take_far(flags: &mut [u8], chunks: &mut [u8], (first, len): (u32, usize), to: &mut [MaybeUninit<u32>]) -> usize {
    let (flags, chunks) = (flags.as_chunks_mut::<64>().0, chunks.as_chunks_mut::<64>().0);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if lanes::present() {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { lanes::take_far(flags, chunks, (first, len), to) };
    }
    let mut n = 0;
    for (s, chunks) in chunks[..len.div_ceil(4096)].iter_mut().enumerate() {
        let mut met = set(chunks);
        while met != 0 {
            let c = 64 * s + met.trailing_zeros() as usize;
            n += take_chunk(&mut flags[c], first + 64 * c as u32, &mut to[n..]);
            met &= met - 1;
        }
        *chunks = [0; 64];
    }
    n
}

fn take_chunk(flags: &mut [u8; 64], first: u32, to: &mut [MaybeUninit<u32>]) -> usize {
    let (mut met, mut n) = (set(flags), 0);
    if met == 0 {
        return 0;
    }
    while met != 0 {
        to[n] = MaybeUninit::new(first + met.trailing_zeros());
        n += 1;
        met &= met - 1;
    }
    *flags = [0; 64];
    n
}

/// 64 flags at a time.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod lanes {
    use super::SLACK;
    use std::arch::x86_64::*;
    use std::mem::MaybeUninit;

    #[inline(always)]
    pub(super) fn present() -> bool {
        use std::is_x86_feature_detected as has;
        has!("avx512f") && has!("avx512bw") && has!("avx512vbmi2") && has!("popcnt") && has!("bmi1")
    }

    const NUMBERS: [u8; 64] = {
        let (mut numbers, mut n) = ([0; 64], 0);
        while n < 64 {
            numbers[n] = n as u8;
            n += 1;
        }
        numbers
    };

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi1")]
    pub(super) fn take(flags: &mut [u8], (first, len): (u32, usize), to: &mut [MaybeUninit<u32>]) -> usize {
        let mut n = 0;
        for (c, flags) in flags.as_chunks_mut::<64>().0[..len.div_ceil(64)].iter_mut().enumerate() {
            let met = taken(flags);
            if met != 0 {
                n += columns(met, first + 64 * c as u32, &mut to[n..]);
            }
        }
        n
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi1")]
    pub(super) fn take_far(
        flags: &mut [[u8; 64]],
        chunks: &mut [[u8; 64]],
        (first, len): (u32, usize),
        to: &mut [MaybeUninit<u32>],
    ) -> usize {
        let mut n = 0;
        for (s, chunks) in chunks[..len.div_ceil(4096)].iter_mut().enumerate() {
            let mut some = taken(chunks);
            while some != 0 {
                let c = 64 * s + some.trailing_zeros() as usize;
                n += columns(taken(&mut flags[c]), first + 64 * c as u32, &mut to[n..]);
                some &= some - 1;
            }
        }
        n
    }

    /// A bit for each flag that was set; none is after it.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn taken(flags: &mut [u8; 64]) -> u64 {
        // SAFETY: 64 bytes are there.
        unsafe {
            let v = _mm512_loadu_epi8(flags.as_ptr().cast());
            let met = _mm512_test_epi8_mask(v, v);
            if met != 0 {
                _mm512_storeu_epi8(flags.as_mut_ptr().cast(), _mm512_setzero_si512());
            }
            met
        }
    }

    /// The columns of the bits; how many. Up to SLACK more are written behind them.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    #[inline]
    fn columns(met: u64, first: u32, to: &mut [MaybeUninit<u32>]) -> usize {
        let n = met.count_ones() as usize;
        assert!(n + SLACK <= to.len());
        let (first, to) = (_mm512_set1_epi32(first as i32), to.as_mut_ptr());
        // SAFETY: 64 numbers are there; only those parts are written that have a column, the last with less than SLACK
        // behind it.
        unsafe {
            let numbers = _mm512_maskz_compress_epi8(met, _mm512_loadu_epi8(NUMBERS.as_ptr().cast()));
            let wide = |part| _mm512_add_epi32(first, _mm512_cvtepu8_epi32(part));
            _mm512_storeu_epi32(to.cast(), wide(_mm512_castsi512_si128(numbers)));
            if n > 16 {
                _mm512_storeu_epi32(to.add(16).cast(), wide(_mm512_extracti32x4_epi32::<1>(numbers)));
            }
            if n > 32 {
                _mm512_storeu_epi32(to.add(32).cast(), wide(_mm512_extracti32x4_epi32::<2>(numbers)));
            }
            if n > 48 {
                _mm512_storeu_epi32(to.add(48).cast(), wide(_mm512_extracti32x4_epi32::<3>(numbers)));
            }
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    #[test]
    fn columns_are_taken_once_and_in_order() {
        let mut random = Random::new(8, 0);
        let mut flat = Flat::<u64>::default();
        for round in 0..200 {
            let (first, len) = (random.below(1000) as u32, 1 + random.below(20_000) as usize);
            flat.grow_far("test", len, 0).unwrap();
            let mut expected = std::collections::BTreeMap::<u32, u64>::new();
            let far = round % 2 == 0;
            for _ in 0..random.below(500) {
                let (place, x) =
                    (random.below(len as u64).min(random.below(2 * len as u64)) as usize, random.below(100));
                *expected.entry(first + place as u32).or_default() += x;
                // SAFETY: below len.
                unsafe {
                    match far {
                        true => flat.open().add_far(place, x, |x, y| x + y),
                        false => flat.open().add(place, x, |x, y| x + y),
                    }
                }
            }
            let mut rows = Rows::<u64>::default();
            let most = expected.len();
            match far {
                true => flat.drain::<true>("test", (first, len), most, 0, &mut rows).unwrap(),
                false => flat.drain::<false>("test", (first, len), most, 0, &mut rows).unwrap(),
            }
            let made: Vec<(u32, u64)> = rows.indices.iter().copied().zip(rows.values.iter().copied()).collect();
            assert_eq!(made, expected.into_iter().collect::<Vec<_>>());
            assert!(flat.flags.iter().chain(&flat.chunks).all(|f| *f == 0) && flat.sums.iter().all(|s| *s == 0));
        }
    }
}
