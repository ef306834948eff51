//! Elementary functions of real and complex numbers, and powers.
//!
//! By the standard library, which asks the system's, and the crate `libm` where it has none or one that loses digits; on CUDA
//! by the device's. Associated functions, not methods: `x.floor()` stays what it is for those who use `num_traits`.
use super::scalar::{Arithmetic, Ordered, Scalar};

mod branches;
mod complex;

/// Numbers with elementary functions: f32, f64, `f16` and `bf16` by way of f32, and complex ones.
#[diagnostic::on_unimplemented(message = "`{Self}` has no elementary functions", note = "`.cast::<f64>()` first")]
pub trait Elementary: Arithmetic {
    /// √x.
    fn sqrt(x: Self) -> Self;
    /// eˣ.
    fn exp(x: Self) -> Self;
    /// The natural logarithm.
    fn log(x: Self) -> Self;
    /// The sine.
    fn sin(x: Self) -> Self;
    /// The cosine.
    fn cos(x: Self) -> Self;
    /// The tangent.
    fn tan(x: Self) -> Self;
    /// The hyperbolic sine.
    fn sinh(x: Self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(x: Self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(x: Self) -> Self;
    /// 2ˣ.
    fn exp2(x: Self) -> Self;
    /// eˣ − 1.
    fn expm1(x: Self) -> Self;
    /// The logarithm to base 2.
    fn log2(x: Self) -> Self;
    /// The logarithm to base 10.
    fn log10(x: Self) -> Self;
    /// log(1 + x).
    fn log1p(x: Self) -> Self;
    /// The inverse of the sine.
    fn asin(x: Self) -> Self;
    /// The inverse of the cosine.
    fn acos(x: Self) -> Self;
    /// The inverse of the tangent.
    fn atan(x: Self) -> Self;
    /// The inverse of the hyperbolic sine.
    fn asinh(x: Self) -> Self;
    /// The inverse of the hyperbolic cosine.
    fn acosh(x: Self) -> Self;
    /// The inverse of the hyperbolic tangent.
    fn atanh(x: Self) -> Self;
    /// Up to a whole number.
    fn ceil(x: Self) -> Self;
    /// Down to a whole number.
    fn floor(x: Self) -> Self;
    /// To the nearest whole number, halves away from 0.
    fn round(x: Self) -> Self;
    /// Towards 0 to a whole number.
    fn trunc(x: Self) -> Self;
    /// −1, 0 or 1; of complex numbers x / |x| or 0.
    fn signum(x: Self) -> Self;
    /// ±∞.
    fn is_inf(x: Self) -> bool;
    /// NaN.
    fn is_nan(x: Self) -> bool;
    /// Neither ±∞ nor NaN.
    fn is_finite(x: Self) -> bool;
}

/// Real numbers with elementary functions: f32, f64, `f16` and `bf16` by way of f32.
#[diagnostic::on_unimplemented(message = "`{Self}` is no floating-point number", note = "`.cast::<f64>()` first")]
pub trait Floating: Elementary + Ordered {
    /// ∛x.
    fn cbrt(x: Self) -> Self;
    /// The error function.
    fn erf(x: Self) -> Self;
    /// 1 − erf(x).
    fn erfc(x: Self) -> Self;
    /// log |Γ(x)|.
    fn lgamma(x: Self) -> Self;
    /// Γ(x).
    fn tgamma(x: Self) -> Self;
    /// m of x = m·2ᵉ.
    fn frexpx(x: Self) -> Self;
    /// e of x = m·2ᵉ.
    fn frexpe(x: Self) -> Self;
    /// The angle of y + x·i.
    fn atan2(x: Self, y: Self) -> Self;
    /// √(x² + y²).
    fn hypot(x: Self, y: Self) -> Self;
    /// The remainder of x/y towards 0.
    fn fmod(x: Self, y: Self) -> Self;
    /// The remainder of x/y to the nearest.
    fn remainder(x: Self, y: Self) -> Self;
    /// |x| with the sign of y.
    fn copysign(x: Self, y: Self) -> Self;
    /// x·2ⁿ, n of y.
    fn ldexp(x: Self, y: Self) -> Self;
}

/// What has powers: all numbers, and bool.
#[diagnostic::on_unimplemented(message = "`{Self}` has no powers", label = "this operator needs numbers or bool")]
pub trait Power: Scalar {
    /// xʸ.
    fn pow(x: Self, y: Self) -> Self;
}

macro_rules! reals { ($($t:ident $power:ident {
    $($elementary:ident $by:expr,)* ; $($unary:ident $with:expr,)* ; $($binary:ident $of:expr,)*
})*) => {$(
    impl Elementary for $t {
        $(#[inline(always)] fn $elementary(x: $t) -> $t { let f: fn($t) -> $t = $by; f(x) })*
        #[inline(always)] fn is_inf(x: $t) -> bool { x.is_infinite() }
        #[inline(always)] fn is_nan(x: $t) -> bool { x.is_nan() }
        #[inline(always)] fn is_finite(x: $t) -> bool { x.is_finite() }
    }
    impl Floating for $t {
        $(#[inline(always)] fn $unary(x: $t) -> $t { let f: fn($t) -> $t = $with; f(x) })*
        $(#[inline(always)] fn $binary(x: $t, y: $t) -> $t { let f: fn($t, $t) -> $t = $of; f(x, y) })*
    }
    impl Power for $t {
        // Not C's: there 1 and the exponent 0 make 1 of NaN.
        #[inline(always)]
        fn pow(x: $t, y: $t) -> $t {
            if x.is_nan() || y.is_nan() { $t::NAN } else if y == 0.0 { 1.0 } else { x.$power(y) }
        }
    }
)*} }

fn sign<T: Arithmetic + PartialOrd>(x: T) -> T {
    if x < T::ZERO {
        T::ONE.negated()
    } else if x > T::ZERO {
        T::ONE
    } else if x == T::ZERO {
        T::ZERO
    } else {
        x
    }
}

reals! {
    f32 powf {
        sqrt f32::sqrt, exp f32::exp, log f32::ln, sin f32::sin, cos f32::cos, tan f32::tan, sinh f32::sinh,
        cosh f32::cosh, tanh f32::tanh,
        exp2 f32::exp2, expm1 f32::exp_m1, log2 f32::log2, log10 f32::log10, log1p f32::ln_1p, asin f32::asin,
        acos f32::acos, atan f32::atan, asinh libm::asinhf, acosh |x| if x < 1.0 { f32::NAN } else { libm::acoshf(x) }, atanh libm::atanhf,
        ceil f32::ceil, floor f32::floor, round f32::round, trunc f32::trunc,
        signum sign, ;
        cbrt f32::cbrt,
        erf libm::erff, erfc libm::erfcf, lgamma libm::lgammaf, tgamma libm::tgammaf, frexpx |x| libm::frexpf(x).0,
        frexpe |x| if x.is_finite() { libm::frexpf(x).1 as f32 } else { 0.0 }, ;
        atan2 f32::atan2, hypot f32::hypot, fmod |x, y| x % y, remainder libm::remainderf, copysign f32::copysign,
        ldexp |x, y| libm::ldexpf(x, y as i32),
    }
    f64 powf {
        sqrt f64::sqrt, exp f64::exp, log f64::ln, sin f64::sin, cos f64::cos, tan f64::tan, sinh f64::sinh,
        cosh f64::cosh, tanh f64::tanh,
        exp2 f64::exp2, expm1 f64::exp_m1, log2 f64::log2, log10 f64::log10, log1p f64::ln_1p, asin f64::asin,
        acos f64::acos, atan f64::atan, asinh libm::asinh, acosh |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }, atanh libm::atanh,
        ceil f64::ceil, floor f64::floor, round f64::round, trunc f64::trunc,
        signum sign, ;
        cbrt f64::cbrt,
        erf libm::erf, erfc libm::erfc, lgamma libm::lgamma, tgamma libm::tgamma, frexpx |x| libm::frexp(x).0,
        frexpe |x| if x.is_finite() { libm::frexp(x).1.into() } else { 0.0 }, ;
        atan2 f64::atan2, hypot f64::hypot, fmod |x, y| x % y, remainder libm::remainder, copysign f64::copysign,
        ldexp |x, y| libm::ldexp(x, y as i32),
    }
}

macro_rules! integer_powers { ($($t:ident)*) => {$(
    impl Power for $t {
        fn pow(x: $t, y: $t) -> $t {
            // Not negative where unsigned; the reciprocal of a whole number is whole for ±1 alone.
            #[allow(unused_comparisons)]
            if y < 0 {
                return match x {
                    0 => $t::MAX,
                    1 => 1,
                    _ if x == (0 as $t).wrapping_sub(1) => if y & 1 == 0 { 1 } else { x },
                    _ => 0,
                };
            }
            let (mut power, mut square, mut left) = (1 as $t, x, y);
            while left != 0 {
                if left & 1 != 0 {
                    power = power.saturating_mul(square);
                }
                square = square.saturating_mul(square);
                left >>= 1;
            }
            power
        }
    }
)*} }
integer_powers!(u8 u16 u32 u64 i8 i16 i32 i64);

impl Power for bool {
    #[inline(always)]
    fn pow(x: bool, y: bool) -> bool {
        x || !y
    }
}

macro_rules! functions { (
    $(Elementary $(#[$me:meta])* $e:ident;)* $(Test $(#[$mt:meta])* $p:ident;)*
    $(Floating $(#[$mf:meta])* $f:ident;)* $(Pair $(#[$mp:meta])* $g:ident;)*
) => {
    /// The same as functions, of which operators are written: [`algebra::portable`](crate::algebra::portable).
    pub(super) mod functions {
        use super::{Elementary, Floating, Power};
        $($(#[$me])* #[inline(always)] pub fn $e<T: Elementary>(x: T) -> T { <T as Elementary>::$e(x) })*
        $($(#[$mt])* #[inline(always)] pub fn $p<T: Elementary>(x: T) -> bool { <T as Elementary>::$p(x) })*
        $($(#[$mf])* #[inline(always)] pub fn $f<T: Floating>(x: T) -> T { <T as Floating>::$f(x) })*
        $($(#[$mp])* #[inline(always)] pub fn $g<T: Floating>(x: T, y: T) -> T { <T as Floating>::$g(x, y) })*
        /// xʸ by [`Pow`](crate::algebra::Pow)'s rules.
        #[inline(always)]
        pub fn pow<T: Power>(x: T, y: T) -> T { <T as Power>::pow(x, y) }
    }
    #[cfg(feature = "half")]
    macro_rules! halves { ($h:ident) => {
        impl Elementary for ::half::$h {
            $(#[inline(always)] fn $e(x: Self) -> Self { Self::from_f32(<f32 as Elementary>::$e(x.to_f32())) })*
            $(#[inline(always)] fn $p(x: Self) -> bool { <f32 as Elementary>::$p(x.to_f32()) })*
        }
        impl Floating for ::half::$h {
            $(#[inline(always)] fn $f(x: Self) -> Self { Self::from_f32(<f32 as Floating>::$f(x.to_f32())) })*
            $(#[inline(always)] fn $g(x: Self, y: Self) -> Self {
                Self::from_f32(<f32 as Floating>::$g(x.to_f32(), y.to_f32()))
            })*
        }
        impl Power for ::half::$h {
            #[inline(always)] fn pow(x: Self, y: Self) -> Self {
                Self::from_f32(<f32 as Power>::pow(x.to_f32(), y.to_f32()))
            }
        }
    } }
} }
functions! {
    Elementary /** √x. */ sqrt;
    Elementary /** eˣ. */ exp;
    Elementary /** The natural logarithm. */ log;
    Elementary /** The sine. */ sin;
    Elementary /** The cosine. */ cos;
    Elementary /** The tangent. */ tan;
    Elementary /** The hyperbolic sine. */ sinh;
    Elementary /** The hyperbolic cosine. */ cosh;
    Elementary /** The hyperbolic tangent. */ tanh;
    Elementary /** 2ˣ. */ exp2;
    Elementary /** eˣ − 1. */ expm1;
    Elementary /** The logarithm to base 2. */ log2;
    Elementary /** The logarithm to base 10. */ log10;
    Elementary /** log(1 + x). */ log1p;
    Elementary /** The inverse of the sine. */ asin;
    Elementary /** The inverse of the cosine. */ acos;
    Elementary /** The inverse of the tangent. */ atan;
    Elementary /** The inverse of the hyperbolic sine. */ asinh;
    Elementary /** The inverse of the hyperbolic cosine. */ acosh;
    Elementary /** The inverse of the hyperbolic tangent. */ atanh;
    Elementary /** Up to a whole number. */ ceil;
    Elementary /** Down to a whole number. */ floor;
    Elementary /** To the nearest whole number, halves away from 0. */ round;
    Elementary /** Towards 0 to a whole number. */ trunc;
    Elementary /** −1, 0 or 1; of complex numbers x / |x| or 0. */ signum;
    Test /** ±∞. */ is_inf;
    Test /** NaN. */ is_nan;
    Test /** Neither ±∞ nor NaN. */ is_finite;
    Floating /** ∛x. */ cbrt;
    Floating /** The error function. */ erf;
    Floating /** 1 − erf(x). */ erfc;
    Floating /** log |Γ(x)|. */ lgamma;
    Floating /** Γ(x). */ tgamma;
    Floating /** m of x = m·2ᵉ with |m| in [½, 1). */ frexpx;
    Floating /** e of x = m·2ᵉ with |m| in [½, 1). */ frexpe;
    Pair /** The angle of y + x·i. */ atan2;
    Pair /** √(x² + y²). */ hypot;
    Pair /** x − n·y with n = x/y towards 0. */ fmod;
    Pair /** x − n·y with n the whole number nearest to x/y. */ remainder;
    Pair /** |x| with the sign of y. */ copysign;
    Pair /** x·2ⁿ, n of y as an i32. */ ldexp;
}
#[cfg(feature = "half")]
halves!(f16);
#[cfg(feature = "half")]
halves!(bf16);
