//! [`Sixteen`] in a pair of AVX2 registers; masks are pairs too, all bits of a lane set or none.
use super::Sixteen;
use std::arch::x86_64::*;

/// The processor has AVX2, BMI1 and POPCNT.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Avx2(());

impl Avx2 {
    #[inline(always)]
    pub(super) fn found() -> Option<Self> {
        use std::is_x86_feature_detected as has;
        (has!("avx2") && has!("bmi1") && has!("popcnt")).then_some(Self(()))
    }
}

/// For each byte, the places of its bits that are set, in order; then zeros.
static KEPT: [[u8; 8]; 256] = {
    let (mut kept, mut byte) = ([[0; 8]; 256], 0);
    while byte < 256 {
        let (mut bit, mut n) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                kept[byte][n] = bit as u8;
                n += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    kept
};
/// For each byte, how many of its bits up to each are set.
static COUNTED: [[u8; 8]; 256] = {
    let (mut counted, mut byte) = ([[0; 8]; 256], 0);
    while byte < 256 {
        let (mut bit, mut n) = (0, 0);
        while bit < 8 {
            n += (byte >> bit & 1) as u8;
            counted[byte][bit] = n;
            bit += 1;
        }
        byte += 1;
    }
    counted
};

/// Eight bytes as lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn widened(bytes: &[u8; 8]) -> __m256i {
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(*bytes)))
}
/// The bytes of a mask of sixteen.
#[inline(always)]
fn halves(set: u16) -> [usize; 2] {
    [usize::from(set & 0xFF), usize::from(set >> 8)]
}

type Pair = [__m256i; 2];

/// The same of both halves. No closure: it would have to be inlined to be compiled for AVX2.
macro_rules! pair {
    ($half:ident => $one:expr) => {
        [
            {
                const $half: usize = 0;
                $one
            },
            {
                const $half: usize = 1;
                $one
            },
        ]
    };
}

// SAFETY of every block: the processor has the instructions, as whoever made `self` has asked; addresses as the trait says.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Sixteen for Avx2 {
    type V = Pair;
    type M = Pair;
    // More than two pairs would fill the registers.
    type Table<const K: usize> = *const u32;

    #[inline(always)]
    fn splat(self, x: u32) -> Pair {
        [unsafe { _mm256_set1_epi32(x as i32) }; 2]
    }
    #[inline(always)]
    fn numbers(self) -> Pair {
        unsafe { [_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15)] }
    }
    #[inline(always)]
    unsafe fn load(self, from: *const u32) -> Pair {
        unsafe { pair!(H => _mm256_loadu_si256(from.add(8 * H).cast())) }
    }
    #[inline(always)]
    unsafe fn load_some(self, lanes: Pair, from: *const u32) -> Pair {
        unsafe { pair!(H => _mm256_maskload_epi32(from.wrapping_add(8 * H).cast(), lanes[H])) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u32, v: Pair) {
        unsafe {
            _mm256_storeu_si256(to.cast(), v[0]);
            _mm256_storeu_si256(to.add(8).cast(), v[1]);
        }
    }
    #[inline(always)]
    unsafe fn store_kept(self, to: *mut u32, kept: u16, v: Pair) {
        let [low, high] = halves(kept);
        unsafe {
            let (begin, n) = (widened(&KEPT[low]), low.count_ones() as usize);
            _mm256_storeu_si256(to.cast(), _mm256_permutevar8x32_epi32(v[0], begin));
            _mm256_storeu_si256(to.add(n).cast(), _mm256_permutevar8x32_epi32(v[1], widened(&KEPT[high])));
        }
    }
    #[inline(always)]
    unsafe fn gather(self, lanes: Pair, from: *const u32, at: Pair) -> Pair {
        let zero = self.splat(0);
        unsafe { pair!(H => _mm256_mask_i32gather_epi32::<4>(zero[H], from.cast(), at[H], lanes[H])) }
    }

    #[inline(always)]
    fn add(self, a: Pair, b: Pair) -> Pair {
        unsafe { pair!(H => _mm256_add_epi32(a[H], b[H])) }
    }
    #[inline(always)]
    fn sub(self, a: Pair, b: Pair) -> Pair {
        unsafe { pair!(H => _mm256_sub_epi32(a[H], b[H])) }
    }
    #[inline(always)]
    fn or(self, a: Pair, b: Pair) -> Pair {
        unsafe { pair!(H => _mm256_or_si256(a[H], b[H])) }
    }
    #[inline(always)]
    fn shl<const N: u32>(self, v: Pair) -> Pair {
        unsafe { pair!(H => _mm256_sll_epi32(v[H], _mm_cvtsi32_si128(N as i32))) }
    }
    #[inline(always)]
    fn shr<const N: u32>(self, v: Pair) -> Pair {
        unsafe { pair!(H => _mm256_srl_epi32(v[H], _mm_cvtsi32_si128(N as i32))) }
    }
    #[inline(always)]
    fn bit(self, x: Pair) -> Pair {
        unsafe { pair!(H => _mm256_sllv_epi32(_mm256_set1_epi32(1), x[H])) }
    }
    #[inline(always)]
    fn shr_by(self, v: Pair, x: Pair) -> Pair {
        unsafe { pair!(H => _mm256_srlv_epi32(v[H], _mm256_and_si256(x[H], _mm256_set1_epi32(31)))) }
    }

    #[inline(always)]
    fn first(self, n: usize) -> Pair {
        let (n, numbers) = (self.splat(n.min(16) as u32), self.numbers());
        unsafe { pair!(H => _mm256_cmpgt_epi32(n[H], numbers[H])) }
    }
    #[inline(always)]
    fn none(self) -> Pair {
        self.splat(0)
    }
    #[inline(always)]
    fn equal(self, a: Pair, b: Pair) -> Pair {
        unsafe { pair!(H => _mm256_cmpeq_epi32(a[H], b[H])) }
    }
    #[inline(always)]
    fn odd(self, v: Pair) -> Pair {
        unsafe { pair!(H => _mm256_srai_epi32::<31>(_mm256_slli_epi32::<31>(v[H]))) }
    }
    #[inline(always)]
    fn both(self, a: Pair, b: Pair) -> Pair {
        unsafe { pair!(H => _mm256_and_si256(a[H], b[H])) }
    }
    #[inline(always)]
    fn either(self, a: Pair, b: Pair) -> Pair {
        self.or(a, b)
    }
    #[inline(always)]
    fn without(self, a: Pair, b: Pair) -> Pair {
        unsafe { pair!(H => _mm256_andnot_si256(b[H], a[H])) }
    }
    #[inline(always)]
    fn bits(self, lanes: Pair) -> u16 {
        let [low, high] = unsafe { pair!(H => _mm256_movemask_ps(_mm256_castsi256_ps(lanes[H]))) };
        (low | high << 8) as u16
    }
    #[inline(always)]
    fn select(self, lanes: Pair, a: Pair, b: Pair) -> Pair {
        unsafe { pair!(H => _mm256_blendv_epi8(a[H], b[H], lanes[H])) }
    }

    #[inline(always)]
    fn counted(self, set: u16) -> Pair {
        let [low, high] = halves(set);
        unsafe {
            let before = _mm256_set1_epi32(low.count_ones() as i32);
            [widened(&COUNTED[low]), _mm256_add_epi32(before, widened(&COUNTED[high]))]
        }
    }
    #[inline(always)]
    fn previous(self, v: Pair, before: Pair) -> Pair {
        unsafe {
            let at = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
            let [low, high] = pair!(H => _mm256_permutevar8x32_epi32(v[H], at));
            let last = _mm256_permutevar8x32_epi32(before[1], at);
            [_mm256_blend_epi32::<1>(low, last), _mm256_blend_epi32::<1>(high, low)]
        }
    }
    #[inline(always)]
    fn united(self, v: Pair) -> u32 {
        unsafe {
            let v = _mm256_or_si256(v[0], v[1]);
            let v = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
            let v = _mm_or_si128(v, _mm_unpackhi_epi64(v, v));
            let both = _mm_cvtsi128_si64(v) as u64;
            (both | both >> 32) as u32
        }
    }

    #[inline(always)]
    unsafe fn table<const K: usize>(self, from: *const u32) -> *const u32 {
        from
    }
    #[inline(always)]
    unsafe fn pick<const K: usize>(self, from: *const u32, at: Pair) -> Pair {
        unsafe {
            match K {
                1 => self.pick_lane(self.load(from), at),
                2 => self.pick_of_two(self.load(from), self.load(from.add(16)), at),
                _ => {
                    let most = self.splat(16 * K as u32 - 1);
                    pair!(H => _mm256_i32gather_epi32::<4>(from.cast(), _mm256_and_si256(at[H], most[H])))
                }
            }
        }
    }
    #[inline(always)]
    fn pick_lane(self, a: Pair, at: Pair) -> Pair {
        unsafe {
            pair!(H => {
            let (low, high) = (_mm256_permutevar8x32_epi32(a[0], at[H]), _mm256_permutevar8x32_epi32(a[1], at[H]));
                        // Bit 3 where blends look: at the sign.
                        let upper = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(at[H]));
                        _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), upper))
            })
        }
    }
    #[inline(always)]
    fn pick_of_two(self, a: Pair, b: Pair, at: Pair) -> Pair {
        let (low, high) = (self.pick_lane(a, at), self.pick_lane(b, at));
        unsafe {
            pair!(H => {
            let upper = _mm256_castsi256_ps(_mm256_slli_epi32::<27>(at[H]));
                        _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(low[H]), _mm256_castsi256_ps(high[H]), upper))
            })
        }
    }

    #[inline(always)]
    fn min(self, a: Pair, b: Pair) -> Pair {
        unsafe { pair!(H => _mm256_min_epu32(a[H], b[H])) }
    }
    #[inline(always)]
    fn max(self, a: Pair, b: Pair) -> Pair {
        unsafe { pair!(H => _mm256_max_epu32(a[H], b[H])) }
    }
    #[inline(always)]
    fn exchange<const BIT: u32>(self, a: Pair, b: Pair) -> Pair {
        unsafe {
            if BIT == 8 {
                return [_mm256_min_epu32(a[0], b[0]), _mm256_max_epu32(a[1], b[1])];
            }
            let (small, large) = (self.min(a, b), self.max(a, b));
            pair!(H => match BIT {
                1 => _mm256_blend_epi32::<0xAA>(small[H], large[H]),
                2 => _mm256_blend_epi32::<0xCC>(small[H], large[H]),
                _ => _mm256_blend_epi32::<0xF0>(small[H], large[H]),
            })
        }
    }
    #[inline(always)]
    fn fours<const ORDER: i32>(self, v: Pair) -> Pair {
        unsafe { pair!(H => _mm256_shuffle_epi32::<ORDER>(v[H])) }
    }
    #[inline(always)]
    fn swap_fours(self, v: Pair) -> Pair {
        unsafe { pair!(H => _mm256_permute4x64_epi64::<0x4E>(v[H])) }
    }
    #[inline(always)]
    fn swap_eights(self, v: Pair) -> Pair {
        [v[1], v[0]]
    }
    #[inline(always)]
    fn reverse_eights(self, v: Pair) -> Pair {
        unsafe { pair!(H => _mm256_permutevar8x32_epi32(v[H], _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0))) }
    }
    #[inline(always)]
    fn reverse(self, v: Pair) -> Pair {
        let [low, high] = self.reverse_eights(v);
        [high, low]
    }
}
