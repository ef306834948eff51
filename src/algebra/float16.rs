//! `f16` and `bf16` of the crate `half`: what is stored in 16 bits.
//!
//! An operator's result is that of f32, rounded once. Sums are not made in 16 bits: the products of (+,×), (+,first) and
//! (+,second) are f32 ([`Arithmetic::Sum`]), exact, and so is the result. `mxm(&a, &b).apply(Cast::<f16>::default())` rounds
//! each sum once, as rows are made; `.cast::<f16>()` does it to a result that is there. So are sums by `reduce` and `reduce_rows`
//! ([`Reduction`]).
use super::cast::Cast;
use super::complex::{c32, c64};
use super::operator::{Plus, Times, UnaryOp};
use super::scalar::{Arithmetic, Ordered, Scalar, Truth};
use super::semiring::Reduction;
use ::half::{bf16, f16};
use oplus_codegen::text::{OperatorText, ScalarText};

/// An f64 as an f32 that rounds on like the f64 itself: cut, its last bit set where anything was cut off.
fn round_to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    if x.is_nan() || f64::from(nearest) == x {
        return nearest;
    }
    let away = f64::from(nearest).abs() > x.abs();
    f32::from_bits((nearest.to_bits() - u32::from(away)) | 1)
}

/// An integer as an f64 that rounds on like the integer itself: of more than 53 bits the lowest ones become one that says
/// whether any was set.
fn cut_to_odd(x: u64) -> f64 {
    const LOW: u64 = (1 << 11) - 1;
    if x >> 53 == 0 { x as f64 } else { (x & !LOW | u64::from(x & LOW != 0) << 11) as f64 }
}

/// The same of longer integers.
pub(crate) fn long_to_odd(x: i128) -> f64 {
    let size = x.unsigned_abs();
    let cut = (u128::BITS - size.leading_zeros()).saturating_sub(f64::MANTISSA_DIGITS);
    let kept = size >> cut << cut;
    let odd = (kept | u128::from(kept != size) << cut) as f64;
    if x < 0 { -odd } else { odd }
}

/// The text of a conversion to the type of this name.
macro_rules! to {
    ($u:ident) => {
        OperatorText { parameters: &["x"], expression: concat!("to_", stringify!($u), "(x)") }
    };
}

macro_rules! conversions { ($h:ident $($t:ident |$x:ident| $e:expr;)*) => {$(
    impl UnaryOp<$t> for Cast<$h> {
        type Out = $h;
        const TEXT: OperatorText = to!($h);
        #[inline(always)] fn apply($x: $t) -> $h { $e }
    }
)*} }
macro_rules! from_half { ($h:ident: $($u:ident)*) => {$(
    impl UnaryOp<$h> for Cast<$u> {
        type Out = $u;
        const TEXT: OperatorText = to!($u);
        #[inline(always)] fn apply(x: $h) -> $u { <Cast<$u> as UnaryOp<f32>>::apply(x.to_f32()) }
    }
)*} }
macro_rules! integers { ($h:ident: $($t:ident)*) => { conversions! { $h $($t |x| $h::of_f64(x as f64);)* } } }

macro_rules! halves { ($($h:ident)*) => {$(
    // SAFETY: 16 bits on both sides; every bit pattern is a value.
    unsafe impl Scalar for $h {
        const TEXT: ScalarText = ScalarText { name: stringify!($h), definition: "", size: 2 };
        fn cuda_literal(self) -> String { format!("{}_bits(0x{:x}u)", stringify!($h), self.to_bits()) }
    }
    impl Truth for $h { fn truth(self) -> bool { self.to_f32() != 0.0 } }
    impl Arithmetic for $h {
        type Real = Self;
        type Sum = f32;
        const ZERO: Self = $h::ZERO;
        const ONE: Self = $h::ONE;
        #[inline(always)] fn negated(self) -> Self { $h::from_bits(self.to_bits() ^ 0x8000) }
        #[inline(always)] fn plus(self, y: Self) -> Self { $h::from_f32(self.to_f32() + y.to_f32()) }
        #[inline(always)] fn minus(self, y: Self) -> Self { $h::from_f32(self.to_f32() - y.to_f32()) }
        #[inline(always)] fn times(self, y: Self) -> Self { $h::from_f32(self.to_f32() * y.to_f32()) }
        #[inline(always)] fn over(self, y: Self) -> Self { $h::from_f32(self.to_f32() / y.to_f32()) }
        #[inline(always)] fn magnitude(self) -> Self { $h::from_bits(self.to_bits() & 0x7fff) }
        #[inline(always)] fn widened(self) -> f32 { self.to_f32() }
    }
    impl Ordered for $h {
        const TOP: Self = $h::INFINITY;
        const BOTTOM: Self = $h::NEG_INFINITY;
        const SATURATES: bool = false;
        #[inline(always)] fn plus_saturating(self, y: Self) -> Self { self.plus(y) }
        #[inline(always)] fn times_saturating(self, y: Self) -> Self { self.times(y) }
        #[inline(always)] fn least(self, y: Self) -> Self { $h::from_f32(self.to_f32().least(y.to_f32())) }
        #[inline(always)] fn greatest(self, y: Self) -> Self { $h::from_f32(self.to_f32().greatest(y.to_f32())) }
        #[inline(always)] fn as_f64(self) -> f64 { self.to_f32().into() }
        #[inline(always)] fn of_f64(x: f64) -> Self { $h::from_f32(round_to_odd(x)) }
        #[inline(always)] fn of_u64(x: u64) -> Self { Self::of_f64(cut_to_odd(x)) }
    }
    #[diagnostic::do_not_recommend]
    impl Reduction<$h> for Plus {
        type Sum = f32;
        type Monoid = Plus;
        type Term = Cast<f32>;
    }
    #[diagnostic::do_not_recommend]
    impl Reduction<$h> for Times {
        type Sum = f32;
        type Monoid = Times;
        type Term = Cast<f32>;
    }
    integers!($h: u8 u16 u32 i8 i16 i32);
    conversions! { $h
        bool |x| if x { $h::ONE } else { $h::ZERO };
        u64 |x| $h::of_u64(x);
        i64 |x| if x < 0 { $h::of_u64(x.unsigned_abs()).negated() } else { $h::of_u64(x as u64) };
        f32 |x| $h::from_f32(x);
        f64 |x| $h::of_f64(x);
        c32 |x| $h::from_f32(x.re);
        c64 |x| $h::of_f64(x.re);
        f16 |x| <Cast<$h> as UnaryOp<f32>>::apply(x.to_f32());
        bf16 |x| <Cast<$h> as UnaryOp<f32>>::apply(x.to_f32());
    }
    from_half!($h: u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 c32 c64);
)*} }
halves!(f16 bf16);
