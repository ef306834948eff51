//! Functions that exist under the same name in Rust and in the CUDA preamble, and mean the same in both.
//!
//! The body of every operator is written only with these, so one token stream serves both languages.
pub use super::bits::functions::*;
use super::complex::{ComplexNumber, Part};
pub use super::elementary::functions::*;
use super::scalar::{Arithmetic, Comparable, Flag, Ordered, Truth};

/// x + y; integers wrap.
#[inline(always)]
pub fn add<T: Arithmetic>(x: T, y: T) -> T {
    x.plus(y)
}
/// x − y; integers wrap.
#[inline(always)]
pub fn sub<T: Arithmetic>(x: T, y: T) -> T {
    x.minus(y)
}
/// x · y; integers wrap.
#[inline(always)]
pub fn mul<T: Arithmetic>(x: T, y: T) -> T {
    x.times(y)
}
/// x / y; x/0 is the end of the integer's range on x's side, 0/0 is 0; floats as IEEE has it.
#[inline(always)]
pub fn div<T: Arithmetic>(x: T, y: T) -> T {
    x.over(y)
}
/// x + y; integers stop at the ends of their range.
#[inline(always)]
pub fn add_sat<T: Ordered>(x: T, y: T) -> T {
    x.plus_saturating(y)
}
/// x · y; integers stop at the ends of their range.
#[inline(always)]
pub fn mul_sat<T: Ordered>(x: T, y: T) -> T {
    x.times_saturating(y)
}
/// Saturating x + y in which the largest integer is +∞ and stays so; floats as IEEE has it.
#[inline(always)]
pub fn add_top<T: Ordered>(x: T, y: T) -> T {
    if T::SATURATES && (x == T::TOP || y == T::TOP) { T::TOP } else { x.plus_saturating(y) }
}
/// Saturating x + y in which the smallest integer is −∞ and stays so; floats as IEEE has it.
#[inline(always)]
pub fn add_bottom<T: Ordered>(x: T, y: T) -> T {
    if T::SATURATES && (x == T::BOTTOM || y == T::BOTTOM) { T::BOTTOM } else { x.plus_saturating(y) }
}
/// min(x, y), NaN omitted.
#[inline(always)]
pub fn min<T: Ordered>(x: T, y: T) -> T {
    x.least(y)
}
/// max(x, y), NaN omitted.
#[inline(always)]
pub fn max<T: Ordered>(x: T, y: T) -> T {
    x.greatest(y)
}
/// |x|, of a complex number the real √(re² + im²).
#[inline(always)]
pub fn abs<T: Arithmetic>(x: T) -> T::Real {
    x.magnitude()
}
/// 0 − x; integers wrap, a float only changes its sign.
#[inline(always)]
pub fn neg<T: Arithmetic>(x: T) -> T {
    x.negated()
}
/// 1 / x.
#[inline(always)]
pub fn inv<T: Arithmetic>(x: T) -> T {
    T::ONE.over(x)
}
/// Non-zero.
#[inline(always)]
pub fn truth<T: Truth>(x: T) -> bool {
    x.truth()
}
/// `yes` where the condition holds, else `no`; both are evaluated.
#[inline(always)]
pub fn select<T>(condition: bool, yes: T, no: T) -> T {
    if condition { yes } else { no }
}
/// x as a term of a sum: `f32` from `f16` and `bf16`, else x itself.
#[inline(always)]
pub fn widen<T: Arithmetic>(x: T) -> T::Sum {
    x.widened()
}
/// re + im·i.
#[inline(always)]
pub fn complex<T: Part>(re: T, im: T) -> T::Complex {
    T::complex(re, im)
}
/// The real part.
#[inline(always)]
pub fn real<T: ComplexNumber>(x: T) -> T::Real {
    x.real_part()
}
/// The imaginary part.
#[inline(always)]
pub fn imag<T: ComplexNumber>(x: T) -> T::Real {
    x.imaginary_part()
}
/// re − im·i.
#[inline(always)]
pub fn conj<T: ComplexNumber>(x: T) -> T {
    x.conjugated()
}
/// The angle in (−π, π], by the library's atan2: the last bits are each device's own.
#[inline(always)]
pub fn arg<T: ComplexNumber>(x: T) -> T::Real {
    x.angle()
}

macro_rules! compared { ($($(#[$m:meta])* $f:ident($($x:ident),*) $e:expr;)*) => {$(
    $(#[$m])*
    #[inline(always)]
    pub fn $f<T: Flag>($($x: T),*) -> T {
        T::flag($e)
    }
)*} }
macro_rules! ordered { ($($(#[$m:meta])* $f:ident $by:tt;)*) => {$(
    $(#[$m])*
    #[inline(always)]
    pub fn $f<T: Comparable>(x: T, y: T) -> T {
        if x $by y { T::one() } else { T::zeroed() }
    }
)*} }
compared! {
    /// x = y as 1 or 0.
    is_eq(x, y) x == y;
    /// x ≠ y as 1 or 0.
    is_ne(x, y) x != y;
    /// x ≠ 0 ∨ y ≠ 0 as 1 or 0.
    is_lor(x, y) x.truth() || y.truth();
    /// x ≠ 0 ∧ y ≠ 0 as 1 or 0.
    is_land(x, y) x.truth() && y.truth();
    /// x ≠ 0 ⊻ y ≠ 0 as 1 or 0.
    is_lxor(x, y) x.truth() != y.truth();
    /// x = 0 as 1 or 0.
    is_zero(x) !x.truth();
}
ordered! {
    /// x < y as 1 or 0.
    is_lt <;
    /// x ≤ y as 1 or 0.
    is_le <=;
    /// x > y as 1 or 0.
    is_gt >;
    /// x ≥ y as 1 or 0.
    is_ge >=;
}
