//! Up to 64 keys put in order in vector registers, by a network of comparisons: no branch depends on a key.
use super::super::simd::Sixteen;

/// Lanes that ascend and then descend, or the other way round, in order four by four.
#[inline(always)]
fn close<S: Sixteen>(s: S, v: S::V) -> S::V {
    let v = s.exchange::<2>(v, s.fours::<0x4E>(v));
    s.exchange::<1>(v, s.fours::<0xB1>(v))
}

/// Lanes that ascend and then descend, or the other way round, in order.
#[inline(always)]
fn bitonic<S: Sixteen>(s: S, v: S::V) -> S::V {
    let v = s.exchange::<8>(v, s.swap_eights(v));
    close(s, s.exchange::<4>(v, s.swap_fours(v)))
}

/// 16 keys in order.
#[inline(always)]
fn one<S: Sixteen>(s: S, v: S::V) -> S::V {
    // Pairs, then each two sorted parts as one: the first step compares with the other part backwards.
    let v = s.exchange::<1>(v, s.fours::<0xB1>(v));
    let v = s.exchange::<2>(v, s.fours::<0x1B>(v));
    let v = s.exchange::<1>(v, s.fours::<0xB1>(v));
    let v = close(s, s.exchange::<4>(v, s.reverse_eights(v)));
    let v = s.exchange::<8>(v, s.reverse(v));
    close(s, s.exchange::<4>(v, s.swap_fours(v)))
}

/// 32 keys that ascend and then descend, or the other way round, in order.
#[inline(always)]
fn bitonic_two<S: Sixteen>(s: S, a: S::V, b: S::V) -> [S::V; 2] {
    [bitonic(s, s.min(a, b)), bitonic(s, s.max(a, b))]
}

/// 16·K keys in order; K is 1, 2 or 4.
#[inline(always)]
pub(super) fn sort<S: Sixteen, const K: usize>(s: S, v: &mut [S::V; K]) {
    for v in v.iter_mut() {
        *v = one(s, *v);
    }
    if K >= 2 {
        for h in (0..K).step_by(2) {
            [v[h], v[h + 1]] = bitonic_two(s, v[h], s.reverse(v[h + 1]));
        }
    }
    if K == 4 {
        let (c, d) = (s.reverse(v[2]), s.reverse(v[3]));
        let (low, high) = ([s.min(v[0], d), s.min(v[1], c)], [s.max(v[0], d), s.max(v[1], c)]);
        [v[0], v[1]] = bitonic_two(s, low[0], low[1]);
        [v[2], v[3]] = bitonic_two(s, high[0], high[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::simd::Simd;
    use super::*;
    use crate::generate::Random;

    fn sorted<S: Sixteen, const K: usize>(s: S, keys: &[u32]) -> Vec<u32> {
        // SAFETY: 16·K keys are there, and room for as many.
        unsafe {
            let mut v = [s.splat(0); K];
            for (r, v) in v.iter_mut().enumerate() {
                *v = s.load(keys[16 * r..].as_ptr());
            }
            sort(s, &mut v);
            let mut to = vec![0u32; 16 * K];
            for (r, v) in v.into_iter().enumerate() {
                s.store(to[16 * r..].as_mut_ptr(), v);
            }
            to
        }
    }

    fn keys_are_in_order(s: impl Sixteen) {
        let mut random = Random::new(9, 0);
        for round in 0..600 {
            let n = [16, 32, 64][round % 3];
            let bound = [2, 40, 1 << 32][round / 3 % 3];
            let keys: Vec<u32> = (0..n).map(|_| random.below(bound) as u32).collect();
            let made = match n {
                16 => sorted::<_, 1>(s, &keys),
                32 => sorted::<_, 2>(s, &keys),
                _ => sorted::<_, 4>(s, &keys),
            };
            let mut expected = keys;
            expected.sort_unstable();
            assert_eq!(made, expected, "{s:?}");
        }
    }

    #[test]
    fn keys_are_in_order_by_all() {
        for simd in Simd::all() {
            match simd {
                Simd::Avx512(s) => keys_are_in_order(s),
                Simd::Avx2(s) => keys_are_in_order(s),
            }
        }
    }
}
