//! Sums of a row whose columns lie close: a flag and a sum a column, written without asking what is there.
use super::assemble::Rows;
use crate::algebra::*;
use crate::error::Result;
use crate::memory;
use std::any::TypeId;
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
    sums: Vec<T>,
}
impl<T> Default for Flat<T> {
    fn default() -> Self {
        Self { flags: Vec::new(), sums: Vec::new() }
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
    /// # Safety
    /// `place` is below the `len` of [`grow`](Self::grow).
    #[inline(always)]
    pub(super) unsafe fn add(&mut self, place: usize, product: T, add: impl Fn(T, T) -> T) {
        // SAFETY: the contract.
        unsafe {
            *self.flags.get_unchecked_mut(place) = 1;
            let sum = self.sums.get_unchecked_mut(place);
            *sum = add(*sum, product);
        }
    }
    /// As [`add`](Self::add) where nothing is neutral: the first product of a column is its sum.
    /// # Safety
    /// `place` is below the `len` of [`grow`](Self::grow).
    #[inline(always)]
    pub(super) unsafe fn add_or_put(&mut self, place: usize, product: T, add: impl Fn(T, T) -> T) {
        // SAFETY: the contract.
        unsafe {
            let (flag, sum) = (self.flags.get_unchecked_mut(place), self.sums.get_unchecked_mut(place));
            *sum = if *flag != 0 { add(*sum, product) } else { product };
            *flag = 1;
        }
    }
    /// Marks a column without a sum.
    /// # Safety
    /// `place` is below the `len` of [`grow`](Self::grow).
    #[inline(always)]
    pub(super) unsafe fn mark(&mut self, place: usize) {
        // SAFETY: the contract.
        unsafe { *self.flags.get_unchecked_mut(place) = 1 };
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
    /// The row, appended; it is empty after it. At most `most` columns of `first..first + len` were met.
    pub(super) fn drain(
        &mut self,
        operation: &'static str,
        (first, len): (u32, usize),
        most: usize,
        neutral: T,
        rows: &mut Rows<T>,
    ) -> Result<()> {
        rows.reserve(operation, most)?;
        let (flags, _) = self.flags.as_chunks_mut::<64>();
        let (sums, _) = self.sums.as_chunks_mut::<64>();
        for ((c, flags), sums) in flags[..len.div_ceil(64)].iter_mut().enumerate().zip(sums) {
            let mut met = set(flags);
            if met == 0 {
                continue;
            }
            while met != 0 {
                let place = met.trailing_zeros() as usize & 63;
                // SAFETY: at most `most` columns were met, for which room was reserved.
                unsafe { rows.push_unchecked(first + (64 * c + place) as u32, sums[place]) };
                sums[place] = neutral;
                met &= met - 1;
            }
            *flags = [0; 64];
        }
        Ok(())
    }
}
