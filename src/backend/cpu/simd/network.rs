//! Up to 64 keys put in order in vector registers, more in blocks of them, by a network of comparisons: no branch depends on a key.
use super::Sixteen;

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
pub(in super::super) fn sort<S: Sixteen, const K: usize>(s: S, v: &mut [S::V; K]) {
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

/// Keys of one block of [`sort_all`].
pub(in super::super) const BLOCK: usize = 64;

/// Keys in order, whole blocks of them: each block by a network, then each two sorted parts as one, as often as it takes.
/// Comparisons with what lies behind the end, where all keys would be larger, are left out.
#[inline(always)]
pub(in super::super) fn sort_all<S: Sixteen>(s: S, keys: &mut [[u32; BLOCK]]) {
    for block in keys.iter_mut() {
        let mut v = loaded(s, block);
        sort(s, &mut v);
        stored(s, block, v);
    }
    let mut half = 1;
    while half < keys.len() {
        for part in keys.chunks_mut(2 * half) {
            // The first half with the second one backwards, then closer and closer ones; in the end within blocks.
            let (low, high) = part.split_at_mut(half.min(part.len()));
            for (b, high) in high.iter_mut().enumerate() {
                let low = &mut low[half - 1 - b];
                let (mut v, w) = (loaded(s, low), loaded(s, high));
                let mut w = [s.reverse(w[3]), s.reverse(w[2]), s.reverse(w[1]), s.reverse(w[0])];
                exchange(s, &mut v, &mut w);
                stored(s, low, v);
                stored(s, high, [s.reverse(w[3]), s.reverse(w[2]), s.reverse(w[1]), s.reverse(w[0])]);
            }
            let mut apart = half / 2;
            while apart > 0 {
                for part in part.chunks_mut(2 * apart) {
                    let (low, high) = part.split_at_mut(apart.min(part.len()));
                    for (low, high) in low.iter_mut().zip(high) {
                        let (mut v, mut w) = (loaded(s, low), loaded(s, high));
                        exchange(s, &mut v, &mut w);
                        stored(s, low, v);
                        stored(s, high, w);
                    }
                }
                apart /= 2;
            }
            for block in part {
                let v = loaded(s, block);
                let low = [s.min(v[0], v[2]), s.min(v[1], v[3])];
                let high = [s.max(v[0], v[2]), s.max(v[1], v[3])];
                let ([a, b], [c, d]) = (bitonic_two(s, low[0], low[1]), bitonic_two(s, high[0], high[1]));
                stored(s, block, [a, b, c, d]);
            }
        }
        half *= 2;
    }
}

#[inline(always)]
fn loaded<S: Sixteen>(s: S, block: &[u32; BLOCK]) -> [S::V; 4] {
    let at = block.as_ptr();
    // SAFETY: 64 keys are there.
    unsafe { [s.load(at), s.load(at.add(16)), s.load(at.add(32)), s.load(at.add(48))] }
}
#[inline(always)]
fn stored<S: Sixteen>(s: S, block: &mut [u32; BLOCK], v: [S::V; 4]) {
    for (r, v) in v.into_iter().enumerate() {
        // SAFETY: there is room for 64 keys.
        unsafe { s.store(block.as_mut_ptr().add(16 * r), v) };
    }
}
/// The smaller keys to the first, the larger ones to the second.
#[inline(always)]
fn exchange<S: Sixteen>(s: S, a: &mut [S::V; 4], b: &mut [S::V; 4]) {
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (s.min(*a, *b), s.max(*a, *b));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Simd;
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

    fn many_keys_are_in_order(s: impl Sixteen) {
        let mut random = Random::new(10, 0);
        for blocks in [1, 2, 3, 4, 5, 7, 8, 11, 16, 29, 32] {
            for bound in [2, 1000, 1 << 32] {
                let mut keys = vec![[0; BLOCK]; blocks];
                keys.as_flattened_mut().fill_with(|| random.below(bound) as u32);
                let mut expected = keys.as_flattened().to_vec();
                sort_all(s, &mut keys);
                expected.sort_unstable();
                assert_eq!(keys.as_flattened(), expected, "{s:?}, {blocks}");
            }
        }
    }

    #[test]
    fn keys_are_in_order_by_all() {
        for simd in Simd::all() {
            match simd {
                Simd::Avx512(s) => {
                    keys_are_in_order(s);
                    many_keys_are_in_order(s);
                }
                Simd::Avx2(s) => {
                    keys_are_in_order(s);
                    many_keys_are_in_order(s);
                }
            }
        }
    }
}
