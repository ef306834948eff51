//! Elementary functions as operators. What differs between devices, and by how much, is said in [`algebra::operator`](crate::algebra::operator).
use crate::algebra::elementary::{Elementary, Floating, Power};
use crate::{operator, unary_operator};

unary_operator! { /// √x; of complex numbers the root with a real part from 0 up.
pub Sqrt[T: Elementary](T) -> T = |x| sqrt(x) }
unary_operator! { /// eˣ.
pub Exp[T: Elementary](T) -> T = |x| exp(x) }
unary_operator! { /// The natural logarithm; of complex numbers the one with its angle in (−π, π].
pub Log[T: Elementary](T) -> T = |x| log(x) }
unary_operator! { /// The sine.
pub Sin[T: Elementary](T) -> T = |x| sin(x) }
unary_operator! { /// The cosine.
pub Cos[T: Elementary](T) -> T = |x| cos(x) }
unary_operator! { /// The tangent.
pub Tan[T: Elementary](T) -> T = |x| tan(x) }
unary_operator! { /// The hyperbolic sine.
pub Sinh[T: Elementary](T) -> T = |x| sinh(x) }
unary_operator! { /// The hyperbolic cosine.
pub Cosh[T: Elementary](T) -> T = |x| cosh(x) }
unary_operator! { /// The hyperbolic tangent.
pub Tanh[T: Elementary](T) -> T = |x| tanh(x) }
unary_operator! { /// The smallest whole number from x up; of complex numbers of each part.
pub Ceil[T: Elementary](T) -> T = |x| ceil(x) }
unary_operator! { /// The largest whole number up to x; of complex numbers of each part.
pub Floor[T: Elementary](T) -> T = |x| floor(x) }
unary_operator! { /// The nearest whole number, halves away from 0; of complex numbers of each part.
pub Round[T: Elementary](T) -> T = |x| round(x) }
unary_operator! { /// The whole number towards 0; of complex numbers of each part.
pub Trunc[T: Elementary](T) -> T = |x| trunc(x) }
unary_operator! { /// −1, 0 or 1 by the sign of x, NaN of NaN; of complex numbers x / |x|, 0 of 0.
pub Signum[T: Elementary](T) -> T = |x| signum(x) }
unary_operator! { /// x is ±∞; of complex numbers a part is.
pub IsInf[T: Elementary](T) -> bool = |x| is_inf(x) }
unary_operator! { /// x is NaN; of complex numbers a part is.
pub IsNan[T: Elementary](T) -> bool = |x| is_nan(x) }
unary_operator! { /// x is neither ±∞ nor NaN; of complex numbers no part is.
pub IsFinite[T: Elementary](T) -> bool = |x| is_finite(x) }
unary_operator! { /// 2ˣ.
pub Exp2[T: Elementary](T) -> T = |x| exp2(x) }
unary_operator! { /// eˣ − 1, exact near 0.
pub Expm1[T: Elementary](T) -> T = |x| expm1(x) }
unary_operator! { /// The logarithm to base 2; of complex numbers [`Log`] by log 2.
pub Log2[T: Elementary](T) -> T = |x| log2(x) }
unary_operator! { /// The logarithm to base 10; of complex numbers [`Log`] by log 10.
pub Log10[T: Elementary](T) -> T = |x| log10(x) }
unary_operator! { /// log(1 + x), exact near 0; cut where x ≤ −1.
pub Log1p[T: Elementary](T) -> T = |x| log1p(x) }
unary_operator! { /// The angle in [−π/2, π/2] with this sine; of complex numbers its real part is there, cut where |x| ≥ 1 on the real axis.
pub Asin[T: Elementary](T) -> T = |x| asin(x) }
unary_operator! { /// The angle in [0, π] with this cosine; of complex numbers its real part is there, cut where |x| ≥ 1 on the real axis.
pub Acos[T: Elementary](T) -> T = |x| acos(x) }
unary_operator! { /// The angle in [−π/2, π/2] with this tangent; of complex numbers its real part is there, cut where |x| ≥ 1 on the
/// imaginary axis.
pub Atan[T: Elementary](T) -> T = |x| atan(x) }
unary_operator! { /// The inverse of [`Sinh`]; of complex numbers with its imaginary part in [−π/2, π/2], cut where |x| ≥ 1 on the imaginary axis.
pub Asinh[T: Elementary](T) -> T = |x| asinh(x) }
unary_operator! { /// The inverse of [`Cosh`] from 0 up; of complex numbers with its imaginary part in [−π, π], cut where x ≤ 1.
pub Acosh[T: Elementary](T) -> T = |x| acosh(x) }
unary_operator! { /// The inverse of [`Tanh`]; of complex numbers with its imaginary part in [−π/2, π/2], cut where |x| ≥ 1 on the real axis.
pub Atanh[T: Elementary](T) -> T = |x| atanh(x) }
unary_operator! { /// The cube root.
pub Cbrt[T: Floating](T) -> T = |x| cbrt(x) }
unary_operator! { /// The error function.
pub Erf[T: Floating](T) -> T = |x| erf(x) }
unary_operator! { /// 1 − erf(x), exact where that is small.
pub Erfc[T: Floating](T) -> T = |x| erfc(x) }
unary_operator! { /// log |Γ(x)|.
pub Lgamma[T: Floating](T) -> T = |x| lgamma(x) }
unary_operator! { /// Γ(x).
pub Tgamma[T: Floating](T) -> T = |x| tgamma(x) }
unary_operator! { /// m of x = m·2ᵉ with |m| in [½, 1); 0, ±∞ and NaN are their own (SuiteSparse FREXPX).
pub Frexpx[T: Floating](T) -> T = |x| frexpx(x) }
unary_operator! { /// e of x = m·2ᵉ with |m| in [½, 1); 0 of 0, ±∞ and NaN (SuiteSparse FREXPE).
pub Frexpe[T: Floating](T) -> T = |x| frexpe(x) }

operator! { /// xʸ. Of floats NaN if x or y is, then 1 where y = 0, else the library's. Of integers the exact power, which stops at
/// the ends of the range: x⁻ⁿ is 0 but for 1 and −1, 0⁻ⁿ the largest value. Of bool x ∨ ¬y.
/// ```
/// use oplus::algebra::*;
/// assert_eq!(<Pow as BinaryOp<i8, i8>>::apply(-2, 7), -128);
/// assert_eq!(<Pow as BinaryOp<i8, i8>>::apply(3, 9), 127);
/// assert_eq!(<Pow as BinaryOp<f64, f64>>::apply(2.0, -1.0), 0.5);
/// ```
pub Pow[T: Power](T, T) -> T = |x, y| pow(x, y) }
operator! { /// The angle of y + x·i, in [−π, π].
pub Atan2[T: Floating](T, T) -> T = |x, y| atan2(x, y) }
operator! { /// √(x² + y²), without overflow of the squares.
pub Hypot[T: Floating](T, T) -> T = |x, y| hypot(x, y) }
operator! { /// x − n·y with n = x/y towards 0, exact; NaN of y = 0 and x = ±∞.
pub Fmod[T: Floating](T, T) -> T = |x, y| fmod(x, y) }
operator! { /// x − n·y with n the whole number nearest to x/y, exact; NaN of y = 0 and x = ±∞.
pub Remainder[T: Floating](T, T) -> T = |x, y| remainder(x, y) }
operator! { /// |x| with the sign of y; that of a NaN is [the device's own](super#bits), and lost where CUDA makes an f32 of 16 bits.
pub CopySign[T: Floating](T, T) -> T = |x, y| copysign(x, y) }
operator! { /// x·2ⁿ, rounded once, where n is y as an i32: cut, saturating, 0 of NaN.
pub Ldexp[T: Floating](T, T) -> T = |x, y| ldexp(x, y) }
