//! Up to 64 keys put in order in vector registers, by a network of comparisons: no branch depends on a key.
use std::arch::x86_64::*;

/// Lanes whose number has the bit: of a pair they take the larger.
const ODD: [__mmask16; 4] = [0xAAAA, 0xCCCC, 0xF0F0, 0xFF00];

/// The smaller of each lane's pair, or in `upper` lanes the larger.
#[target_feature(enable = "avx512f")]
#[inline]
fn exchange(v: __m512i, other: __m512i, upper: __mmask16) -> __m512i {
    _mm512_mask_max_epu32(_mm512_min_epu32(v, other), upper, v, other)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn reversed(v: __m512i) -> __m512i {
    _mm512_permutexvar_epi32(_mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), v)
}

/// Lanes that ascend and then descend, or the other way round, in order four by four.
#[target_feature(enable = "avx512f")]
#[inline]
fn close(v: __m512i) -> __m512i {
    let v = exchange(v, _mm512_shuffle_epi32::<0x4E>(v), ODD[1]);
    exchange(v, _mm512_shuffle_epi32::<0xB1>(v), ODD[0])
}

/// Lanes that ascend and then descend, or the other way round, in order.
#[target_feature(enable = "avx512f")]
#[inline]
fn bitonic(v: __m512i) -> __m512i {
    let v = exchange(v, _mm512_shuffle_i32x4::<0x4E>(v, v), ODD[3]);
    close(exchange(v, _mm512_shuffle_i32x4::<0xB1>(v, v), ODD[2]))
}

/// 16 keys in order.
#[target_feature(enable = "avx512f")]
#[inline]
fn one(v: __m512i) -> __m512i {
    // Pairs, then each two sorted parts as one: the first step compares with the other part backwards.
    let v = exchange(v, _mm512_shuffle_epi32::<0xB1>(v), ODD[0]);
    let v = exchange(v, _mm512_shuffle_epi32::<0x1B>(v), ODD[1]);
    let v = exchange(v, _mm512_shuffle_epi32::<0xB1>(v), ODD[0]);
    let eights = _mm512_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    let v = close(exchange(v, _mm512_permutexvar_epi32(eights, v), ODD[2]));
    let v = exchange(v, reversed(v), ODD[3]);
    close(exchange(v, _mm512_shuffle_i32x4::<0xB1>(v, v), ODD[2]))
}

/// Two sequences in order as one.
#[target_feature(enable = "avx512f")]
#[inline]
fn two(a: __m512i, b: __m512i) -> [__m512i; 2] {
    let b = reversed(b);
    [bitonic(_mm512_min_epu32(a, b)), bitonic(_mm512_max_epu32(a, b))]
}

/// 32 keys that ascend and then descend, or the other way round, in order.
#[target_feature(enable = "avx512f")]
#[inline]
fn bitonic_two(a: __m512i, b: __m512i) -> [__m512i; 2] {
    [bitonic(_mm512_min_epu32(a, b)), bitonic(_mm512_max_epu32(a, b))]
}

/// 16·K keys in order; K is 1, 2 or 4.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn sort<const K: usize>(v: &mut [__m512i; K]) {
    for v in v.iter_mut() {
        *v = one(*v);
    }
    if K >= 2 {
        for h in (0..K).step_by(2) {
            [v[h], v[h + 1]] = two(v[h], v[h + 1]);
        }
    }
    if K == 4 {
        let (c, d) = (reversed(v[2]), reversed(v[3]));
        let (low, high) = (
            [_mm512_min_epu32(v[0], d), _mm512_min_epu32(v[1], c)],
            [_mm512_max_epu32(v[0], d), _mm512_max_epu32(v[1], c)],
        );
        [v[0], v[1]] = bitonic_two(low[0], low[1]);
        [v[2], v[3]] = bitonic_two(high[0], high[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    #[target_feature(enable = "avx512f")]
    fn sorted<const K: usize>(keys: &[u32]) -> Vec<u32> {
        // SAFETY: 16·K keys are there, and room for as many.
        unsafe {
            let mut v = [_mm512_setzero_si512(); K];
            for (r, v) in v.iter_mut().enumerate() {
                *v = _mm512_loadu_epi32(keys[16 * r..].as_ptr().cast());
            }
            sort(&mut v);
            let mut to = vec![0u32; 16 * K];
            for (r, v) in v.iter().enumerate() {
                _mm512_storeu_epi32(to[16 * r..].as_mut_ptr().cast(), *v);
            }
            to
        }
    }

    #[test]
    fn keys_are_in_order() {
        if !std::is_x86_feature_detected!("avx512f") {
            return;
        }
        let mut random = Random::new(9, 0);
        for round in 0..600 {
            let n = [16, 32, 64][round % 3];
            let bound = [2, 40, 1 << 32][round / 3 % 3];
            let keys: Vec<u32> = (0..n).map(|_| random.below(bound) as u32).collect();
            // SAFETY: the processor has it.
            let made = unsafe {
                match n {
                    16 => sorted::<1>(&keys),
                    32 => sorted::<2>(&keys),
                    _ => sorted::<4>(&keys),
                }
            };
            let mut expected = keys;
            expected.sort_unstable();
            assert_eq!(made, expected);
        }
    }
}
