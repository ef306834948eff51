//! The columns of flags, a byte a column, taken 64 at a time: each flag is 0 after it.
#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::tiny::SLACK;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::backend::cpu::simd::avx2::Avx2;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::backend::cpu::simd::{Simd, Sixteen};
use std::mem::MaybeUninit;

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

/// The columns with a flag, which they have no more; how many.
pub(crate) fn take(flags: &mut [u8], (first, len): (u32, usize), to: &mut [MaybeUninit<u32>]) -> usize {
    let flags = &mut flags.as_chunks_mut::<64>().0[..len.div_ceil(64)];
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        if lanes::present() {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { lanes::take(flags, first, to) };
        }
        if let Some(Simd::Avx2(s)) = Simd::found() {
            // SAFETY: as above.
            return unsafe { take_256(s, flags, first, to) };
        }
    }
    take_by(one_by_one, flags, first, to)
}

/// As [`take`] where every flag's chunk has one.
pub(crate) fn take_far(
    flags: &mut [u8],
    chunks: &mut [u8],
    (first, len): (u32, usize),
    to: &mut [MaybeUninit<u32>],
) -> usize {
    let (flags, chunks) = (flags.as_chunks_mut::<64>().0, chunks.as_chunks_mut::<64>().0);
    let chunks = &mut chunks[..len.div_ceil(4096)];
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        if lanes::present() {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { lanes::take_far(flags, chunks, first, to) };
        }
        if let Some(Simd::Avx2(s)) = Simd::found() {
            // SAFETY: as above.
            return unsafe { take_far_256(s, flags, chunks, first, to) };
        }
    }
    take_far_by(one_by_one, flags, chunks, first, to)
}

/// The columns of chunks of 64 flags, by what makes columns of bits.
#[inline(always)]
fn take_by(
    columns: impl Fn(u64, u32, &mut [MaybeUninit<u32>]) -> usize,
    flags: &mut [[u8; 64]],
    first: u32,
    to: &mut [MaybeUninit<u32>],
) -> usize {
    let mut n = 0;
    for (c, flags) in flags.iter_mut().enumerate() {
        let met = set(flags);
        if met != 0 {
            n += columns(met, first + 64 * c as u32, &mut to[n..]);
            *flags = [0; 64];
        }
    }
    n
}

/// … and of those whose flag in `chunks` is set.
#[inline(always)]
fn take_far_by(
    columns: impl Fn(u64, u32, &mut [MaybeUninit<u32>]) -> usize,
    flags: &mut [[u8; 64]],
    chunks: &mut [[u8; 64]],
    first: u32,
    to: &mut [MaybeUninit<u32>],
) -> usize {
    let mut n = 0;
    for (s, chunks) in chunks.iter_mut().enumerate() {
        let mut some = set(chunks);
        while some != 0 {
            let c = 64 * s + some.trailing_zeros() as usize;
            let chunk = std::slice::from_mut(&mut flags[c]);
            n += take_by(&columns, chunk, first + 64 * c as u32, &mut to[n..]);
            some &= some - 1;
        }
        *chunks = [0; 64];
    }
    n
}

#[inline(always)]
fn one_by_one(mut met: u64, first: u32, to: &mut [MaybeUninit<u32>]) -> usize {
    let mut n = 0;
    while met != 0 {
        to[n] = MaybeUninit::new(first + met.trailing_zeros());
        n += 1;
        met &= met - 1;
    }
    n
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx2,popcnt,bmi1")]
fn take_256(s: Avx2, flags: &mut [[u8; 64]], first: u32, to: &mut [MaybeUninit<u32>]) -> usize {
    take_by(|met, first, to| by_sixteen(s, met, first, to), flags, first, to)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx2,popcnt,bmi1")]
fn take_far_256(
    s: Avx2,
    flags: &mut [[u8; 64]],
    chunks: &mut [[u8; 64]],
    first: u32,
    to: &mut [MaybeUninit<u32>],
) -> usize {
    take_far_by(|met, first, to| by_sixteen(s, met, first, to), flags, chunks, first, to)
}

/// Sixteen bits at a time, or of few that are set four. Up to SLACK columns more are written behind them.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn by_sixteen<S: Sixteen>(s: S, mut met: u64, first: u32, to: &mut [MaybeUninit<u32>]) -> usize {
    let n = met.count_ones() as usize;
    assert!(n + SLACK <= to.len());
    if n <= 8 {
        for four in to[..SLACK].as_chunks_mut::<4>().0 {
            // Whether they are there or not: a branch on each would be guessed wrong.
            for column in four {
                *column = MaybeUninit::new(first.wrapping_add(met.trailing_zeros()));
                met &= met.wrapping_sub(1);
            }
            if met == 0 {
                return n;
            }
        }
    }
    let mut at = to.as_mut_ptr().cast::<u32>();
    for q in 0..4 {
        let part = (met >> (16 * q)) as u16;
        // SAFETY: of the columns, at most n, sixteen more have room behind them.
        unsafe {
            s.store_kept(at, part, s.add(s.numbers(), s.splat(first.wrapping_add(16 * q))));
            at = at.add(part.count_ones() as usize);
        }
    }
    n
}

/// 64 flags at a time.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod lanes {
    use super::SLACK;
    use std::arch::x86_64::*;
    use std::mem::MaybeUninit;

    #[inline(always)]
    pub(crate) fn present() -> bool {
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
    pub(crate) fn take(flags: &mut [[u8; 64]], first: u32, to: &mut [MaybeUninit<u32>]) -> usize {
        let mut n = 0;
        for (c, flags) in flags.iter_mut().enumerate() {
            let met = taken(flags);
            if met != 0 {
                n += columns(met, first + 64 * c as u32, &mut to[n..]);
            }
        }
        n
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi1")]
    pub(crate) fn take_far(
        flags: &mut [[u8; 64]],
        chunks: &mut [[u8; 64]],
        first: u32,
        to: &mut [MaybeUninit<u32>],
    ) -> usize {
        let mut n = 0;
        for (s, chunks) in chunks.iter_mut().enumerate() {
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
