//! [`Sixteen`] in one AVX-512 register, masks in a mask register.
use super::Sixteen;
use std::arch::x86_64::*;

/// The processor has AVX-512F, POPCNT and BMI2.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Avx512(());

impl Avx512 {
    #[inline(always)]
    pub(super) fn found() -> Option<Self> {
        use std::is_x86_feature_detected as has;
        (has!("avx512f") && has!("popcnt") && has!("bmi2")).then_some(Self(()))
    }
}

/// Lanes whose number has the bit.
const ODD: [__mmask16; 4] = [0xAAAA, 0xCCCC, 0xF0F0, 0xFF00];

// SAFETY of every block: the processor has the instructions, as whoever made `self` has asked; addresses as the trait says.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Sixteen for Avx512 {
    type V = __m512i;
    type M = __mmask16;
    type Table<const K: usize> = [__m512i; K];

    #[inline(always)]
    fn splat(self, x: u32) -> __m512i {
        unsafe { _mm512_set1_epi32(x as i32) }
    }
    #[inline(always)]
    fn numbers(self) -> __m512i {
        unsafe { _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) }
    }
    #[inline(always)]
    unsafe fn load(self, from: *const u32) -> __m512i {
        unsafe { _mm512_loadu_epi32(from.cast()) }
    }
    #[inline(always)]
    unsafe fn load_some(self, lanes: __mmask16, from: *const u32) -> __m512i {
        unsafe { _mm512_maskz_loadu_epi32(lanes, from.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u32, v: __m512i) {
        unsafe { _mm512_storeu_epi32(to.cast(), v) }
    }
    #[inline(always)]
    unsafe fn store_kept(self, to: *mut u32, kept: u16, v: __m512i) {
        // In a register first: compressing to memory is slow on some processors.
        unsafe { _mm512_storeu_epi32(to.cast(), _mm512_maskz_compress_epi32(kept, v)) }
    }
    #[inline(always)]
    unsafe fn gather(self, lanes: __mmask16, from: *const u32, at: __m512i) -> __m512i {
        unsafe { _mm512_mask_i32gather_epi32::<4>(_mm512_setzero_si512(), lanes, at, from.cast()) }
    }

    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_add_epi32(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_sub_epi32(a, b) }
    }
    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_or_si512(a, b) }
    }
    #[inline(always)]
    fn shl<const N: u32>(self, v: __m512i) -> __m512i {
        unsafe { _mm512_slli_epi32::<N>(v) }
    }
    #[inline(always)]
    fn shr<const N: u32>(self, v: __m512i) -> __m512i {
        unsafe { _mm512_srli_epi32::<N>(v) }
    }
    #[inline(always)]
    fn bit(self, x: __m512i) -> __m512i {
        unsafe { _mm512_sllv_epi32(_mm512_set1_epi32(1), x) }
    }
    #[inline(always)]
    fn shr_by(self, v: __m512i, x: __m512i) -> __m512i {
        unsafe { _mm512_srlv_epi32(v, _mm512_and_si512(x, _mm512_set1_epi32(31))) }
    }

    #[inline(always)]
    fn first(self, n: usize) -> __mmask16 {
        unsafe { _bzhi_u32(u32::MAX, n.min(16) as u32) as __mmask16 }
    }
    #[inline(always)]
    fn none(self) -> __mmask16 {
        0
    }
    #[inline(always)]
    fn equal(self, a: __m512i, b: __m512i) -> __mmask16 {
        unsafe { _mm512_cmpeq_epi32_mask(a, b) }
    }
    #[inline(always)]
    fn odd(self, v: __m512i) -> __mmask16 {
        unsafe { _mm512_test_epi32_mask(v, _mm512_set1_epi32(1)) }
    }
    #[inline(always)]
    fn both(self, a: __mmask16, b: __mmask16) -> __mmask16 {
        a & b
    }
    #[inline(always)]
    fn either(self, a: __mmask16, b: __mmask16) -> __mmask16 {
        a | b
    }
    #[inline(always)]
    fn without(self, a: __mmask16, b: __mmask16) -> __mmask16 {
        a & !b
    }
    #[inline(always)]
    fn bits(self, lanes: __mmask16) -> u16 {
        lanes
    }
    #[inline(always)]
    fn select(self, lanes: __mmask16, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_mask_blend_epi32(lanes, a, b) }
    }

    #[inline(always)]
    fn counted(self, set: u16) -> __m512i {
        unsafe {
            let zero = _mm512_setzero_si512();
            let n = _mm512_maskz_set1_epi32(set, 1);
            let n = _mm512_add_epi32(n, _mm512_alignr_epi32::<15>(n, zero));
            let n = _mm512_add_epi32(n, _mm512_alignr_epi32::<14>(n, zero));
            let n = _mm512_add_epi32(n, _mm512_alignr_epi32::<12>(n, zero));
            _mm512_add_epi32(n, _mm512_alignr_epi32::<8>(n, zero))
        }
    }
    #[inline(always)]
    fn previous(self, v: __m512i, before: __m512i) -> __m512i {
        unsafe { _mm512_alignr_epi32::<15>(v, before) }
    }
    #[inline(always)]
    fn united(self, v: __m512i) -> u32 {
        unsafe { _mm512_reduce_or_epi32(v) as u32 }
    }

    #[inline(always)]
    unsafe fn table<const K: usize>(self, from: *const u32) -> [__m512i; K] {
        let mut table = [self.splat(0); K];
        for (r, part) in table.iter_mut().enumerate() {
            *part = unsafe { self.load(from.add(16 * r)) };
        }
        table
    }
    #[inline(always)]
    unsafe fn pick<const K: usize>(self, from: [__m512i; K], at: __m512i) -> __m512i {
        match K {
            1 => self.pick_lane(from[0], at),
            2 => self.pick_of_two(from[0], from[1], at),
            _ => {
                let low = self.pick_of_two(from[0], from[1], at);
                let high = self.pick_of_two(from[K / 2], from[K - 1], at);
                unsafe { _mm512_mask_blend_epi32(_mm512_test_epi32_mask(at, _mm512_set1_epi32(32)), low, high) }
            }
        }
    }
    #[inline(always)]
    fn pick_lane(self, a: __m512i, at: __m512i) -> __m512i {
        unsafe { _mm512_permutexvar_epi32(at, a) }
    }
    #[inline(always)]
    fn pick_of_two(self, a: __m512i, b: __m512i, at: __m512i) -> __m512i {
        unsafe { _mm512_permutex2var_epi32(a, at, b) }
    }

    #[inline(always)]
    fn min(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_min_epu32(a, b) }
    }
    #[inline(always)]
    fn max(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_max_epu32(a, b) }
    }
    #[inline(always)]
    fn exchange<const BIT: u32>(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_mask_max_epu32(_mm512_min_epu32(a, b), ODD[BIT.trailing_zeros() as usize], a, b) }
    }
    #[inline(always)]
    fn fours<const ORDER: i32>(self, v: __m512i) -> __m512i {
        unsafe { _mm512_shuffle_epi32::<ORDER>(v) }
    }
    #[inline(always)]
    fn swap_fours(self, v: __m512i) -> __m512i {
        unsafe { _mm512_shuffle_i32x4::<0xB1>(v, v) }
    }
    #[inline(always)]
    fn swap_eights(self, v: __m512i) -> __m512i {
        unsafe { _mm512_shuffle_i32x4::<0x4E>(v, v) }
    }
    #[inline(always)]
    fn reverse_eights(self, v: __m512i) -> __m512i {
        let at = unsafe { _mm512_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8) };
        unsafe { _mm512_permutexvar_epi32(at, v) }
    }
    #[inline(always)]
    fn reverse(self, v: __m512i) -> __m512i {
        let at = unsafe { _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0) };
        unsafe { _mm512_permutexvar_epi32(at, v) }
    }
}
