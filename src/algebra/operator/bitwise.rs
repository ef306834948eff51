//! Operators on the bits of integers. Positions count from 1; a place that the type has not is defined, as a shift by more
//! than its width is: SuiteSparse's rules, to the bit on every device.
use crate::algebra::bits::Bits;
use crate::{operator, unary_operator};

unary_operator! { /// ¬x, bit by bit (GraphBLAS BNOT).
pub Bnot[T: Bits](T) -> T = |x| bit_not(x) }
operator! { /// x ∨ y, bit by bit (GraphBLAS BOR).
pub Bor[T: Bits](T, T) -> T = |x, y| bit_or(x, y) }
operator! { /// x ∧ y, bit by bit (GraphBLAS BAND).
pub Band[T: Bits](T, T) -> T = |x, y| bit_and(x, y) }
operator! { /// x ⊻ y, bit by bit (GraphBLAS BXOR).
pub Bxor[T: Bits](T, T) -> T = |x, y| bit_xor(x, y) }
operator! { /// x ≡ y, bit by bit (GraphBLAS BXNOR).
pub Bxnor[T: Bits](T, T) -> T = |x, y| bit_not(bit_xor(x, y)) }
operator! { /// Bit y of x, 0 or 1; 0 where x has no bit y (SuiteSparse BGET).
pub Bget[T: Bits](T, T) -> T = |x, y| bit_get(x, y) }
operator! { /// x with bit y set; x where it has no bit y (SuiteSparse BSET).
pub Bset[T: Bits](T, T) -> T = |x, y| bit_set(x, y) }
operator! { /// x with bit y cleared; x where it has no bit y (SuiteSparse BCLR).
pub Bclr[T: Bits](T, T) -> T = |x, y| bit_clear(x, y) }
operator! { /// x·2ʸ with what leaves the type lost, for negative y x / 2⁻ʸ rounded down (SuiteSparse BSHIFT): by the width or more
/// 0, or −1 where x is negative and shifted to the right.
/// ```
/// use oplus::algebra::*;
/// assert_eq!(<Bshift as BinaryOp<i32, i8>>::apply(-5, -1), -3);
/// assert_eq!(<Bshift as BinaryOp<u8, i8>>::apply(129, 1), 2);
/// ```
pub Bshift[T: Bits](T, i8) -> T = |x, y| bit_shift(x, y) }
