//! Bits of integers: positions count from 1, the lowest, as SuiteSparse:GraphBLAS has it; none is out of range.
use super::scalar::Ordered;

/// Integers as rows of bits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no integer",
    label = "this operator needs i8 to i64 or u8 to u64"
)]
pub trait Bits: Ordered {
    /// All bits set.
    const ONES: Self;
    /// Every bit inverted.
    fn bit_not(x: Self) -> Self;
    /// Bits set in both.
    fn bit_and(x: Self, y: Self) -> Self;
    /// Bits set in either.
    fn bit_or(x: Self, y: Self) -> Self;
    /// Bits set in one of the two.
    fn bit_xor(x: Self, y: Self) -> Self;
    /// Bit k of x, 0 or 1; 0 where x has no bit k.
    fn bit_get(x: Self, k: Self) -> Self;
    /// x with bit k set; x where it has no bit k.
    fn bit_set(x: Self, k: Self) -> Self;
    /// x with bit k cleared; x where it has no bit k.
    fn bit_clear(x: Self, k: Self) -> Self;
    /// x·2ᵏ with what leaves the type lost; for negative k x / 2⁻ᵏ rounded down: the sign stays.
    fn bit_shift(x: Self, k: i8) -> Self;
}

macro_rules! integers { ($($t:ident)*) => {$(
    impl Bits for $t {
        const ONES: Self = !0;
        #[inline(always)] fn bit_not(x: Self) -> Self { !x }
        #[inline(always)] fn bit_and(x: Self, y: Self) -> Self { x & y }
        #[inline(always)] fn bit_or(x: Self, y: Self) -> Self { x | y }
        #[inline(always)] fn bit_xor(x: Self, y: Self) -> Self { x ^ y }
        #[inline(always)] fn bit_get(x: Self, k: Self) -> Self {
            if (1..=$t::BITS as $t).contains(&k) { (x >> (k - 1)) & 1 } else { 0 }
        }
        #[inline(always)] fn bit_set(x: Self, k: Self) -> Self {
            if (1..=$t::BITS as $t).contains(&k) { x | 1 << (k - 1) } else { x }
        }
        #[inline(always)] fn bit_clear(x: Self, k: Self) -> Self {
            if (1..=$t::BITS as $t).contains(&k) { x & !(1 << (k - 1)) } else { x }
        }
        #[inline(always)] fn bit_shift(x: Self, k: i8) -> Self {
            let distance = u32::from(k.unsigned_abs());
            if k >= 0 {
                x.checked_shl(distance).unwrap_or(0)
            } else {
                // In two steps: by all bits at once is no shift of Rust's.
                (x >> (distance.min($t::BITS) - 1)) >> 1
            }
        }
    }
)*} }
integers!(u8 u16 u32 u64 i8 i16 i32 i64);

macro_rules! portable { ($($(#[$m:meta])* $f:ident($($x:ident),*);)*) => {$(
    $(#[$m])*
    #[inline(always)]
    pub fn $f<T: Bits>($($x: T),*) -> T {
        T::$f($($x),*)
    }
)*} }
/// The same as functions, of which operators are written: [`algebra::portable`](crate::algebra::portable).
pub(super) mod functions {
    use super::Bits;
    portable! {
        /// Every bit inverted.
        bit_not(x);
        /// Bits set in both.
        bit_and(x, y);
        /// Bits set in either.
        bit_or(x, y);
        /// Bits set in one of the two.
        bit_xor(x, y);
        /// Bit k of x, 0 or 1, counted from 1; 0 where x has no bit k.
        bit_get(x, k);
        /// x with bit k set, counted from 1; x where it has no bit k.
        bit_set(x, k);
        /// x with bit k cleared, counted from 1; x where it has no bit k.
        bit_clear(x, k);
    }
    /// x·2ᵏ with what leaves the type lost; for negative k x / 2⁻ᵏ rounded down: the sign stays.
    #[inline(always)]
    pub fn bit_shift<T: Bits>(x: T, k: i8) -> T {
        T::bit_shift(x, k)
    }
}
