//! Complex functions beside 0 and those with branch cuts: by parts, each step as in kernels/math.cuh.
//!
//! W. Kahan, Branch cuts for complex elementary functions, 1987: no part is a difference of what is nearly equal, and on a cut the
//! sign of a zero tells the side.
use super::{Elementary, Floating};
use crate::algebra::scalar::Arithmetic;
use num_complex::Complex;
use num_traits::{Float, FloatConst};

/// The parts of complex numbers.
pub(super) trait Real: Float + FloatConst + Floating {
    /// What log 2 is beyond the number nearest to it.
    const REST_OF_LN_2: Self;
    /// Beyond it 1 is nothing beside a number, and soon after it squares overflow.
    const WIDE: Self;
    const ONE_HALF: Self;
    const TWO: Self;
}
impl Real for f32 {
    const REST_OF_LN_2: f32 = -1.904_654_3e-9;
    const WIDE: f32 = 2.3e18;
    const ONE_HALF: f32 = 0.5;
    const TWO: f32 = 2.0;
}
impl Real for f64 {
    const REST_OF_LN_2: f64 = 2.319_046_813_846_299_6e-17;
    const WIDE: f64 = 1.6e153;
    const ONE_HALF: f64 = 0.5;
    const TWO: f64 = 2.0;
}

/// Complex numbers of such parts.
pub(super) trait Plane<P>: Elementary + Arithmetic<Real = P> {}
impl<P, C: Elementary + Arithmetic<Real = P>> Plane<P> for C {}

/// log |x| by a logarithm of which `unit` is that of e.
pub(super) fn log_of_size<P: Real>(x: Complex<P>, unit: P, log: fn(P) -> P) -> P
where
    Complex<P>: Plane<P>,
{
    let size = x.magnitude();
    let (re, im) = (Float::abs(x.re), Float::abs(x.im));
    let (large, small) = if re < im { (im, re) } else { (re, im) };
    // Near 1 the logarithm is what is beside it.
    if size > P::ONE_HALF && size < P::TWO {
        ((large - P::ONE) * (large + P::ONE) + small * small).ln_1p() * P::ONE_HALF * unit
    } else if size.is_infinite() && large.is_finite() {
        log(Complex::new(re * P::ONE_HALF, im * P::ONE_HALF).magnitude()) + log(P::TWO)
    } else {
        log(size)
    }
}

pub(super) fn log1p<P: Real>(x: Complex<P>) -> Complex<P>
where
    Complex<P>: Plane<P>,
{
    let y = Complex::new(P::ONE + x.re, x.im);
    let size = y.magnitude();
    // What 1 + re rounds off counts near 1.
    let re = if size > P::ONE_HALF && size < P::TWO {
        (x.re * (P::TWO + x.re) + x.im * x.im).ln_1p() * P::ONE_HALF
    } else {
        log_of_size(y, P::ONE, P::ln)
    };
    Complex::new(re, Float::atan2(y.im, y.re))
}

pub(super) fn expm1<P: Real>(x: Complex<P>) -> Complex<P> {
    let more = x.re.exp_m1();
    if x.im == P::ZERO {
        return Complex::new(more, x.im);
    }
    let half = Float::sin(x.im * P::ONE_HALF);
    Complex::new(more * Float::cos(x.im) - P::TWO * half * half, Float::exp(x.re) * Float::sin(x.im))
}

/// The angle im·log 2 is turned by in two parts: what rounds off the first counts where it is large.
pub(super) fn exp2<P: Real>(x: Complex<P>) -> Complex<P> {
    let size = Float::exp2(x.re);
    if x.im == P::ZERO {
        return Complex::new(size, x.im);
    }
    let angle = x.im * P::LN_2();
    let rest = x.im.mul_add(P::LN_2(), -angle) + x.im * P::REST_OF_LN_2;
    let ((s, c), (t, d)) = (angle.sin_cos(), rest.sin_cos());
    Complex::new(size * (c * d - s * t), size * (s * d + c * t))
}

/// log |2x|.
fn log_of_twice<P: Real>(x: Complex<P>) -> P
where
    Complex<P>: Plane<P>,
{
    log_of_size(x, P::ONE, P::ln) + P::LN_2()
}

fn is_wide<P: Real>(x: Complex<P>) -> bool {
    Float::abs(x.re) > P::WIDE || Float::abs(x.im) > P::WIDE
}

fn nan<P: Real>() -> Complex<P> {
    Complex::new(P::nan(), P::nan())
}

/// The roots of 1 − x and 1 + x.
fn roots<P: Real>(x: Complex<P>) -> (Complex<P>, Complex<P>)
where
    Complex<P>: Plane<P>,
{
    (Elementary::sqrt(Complex::new(P::ONE - x.re, -x.im)), Elementary::sqrt(Complex::new(P::ONE + x.re, x.im)))
}

pub(super) fn asin<P: Real>(x: Complex<P>) -> Complex<P>
where
    Complex<P>: Plane<P>,
{
    if Elementary::is_nan(x) {
        return nan();
    }
    if is_wide(x) {
        let im = Float::copysign(log_of_twice(x), x.im);
        return Complex::new(Float::atan2(x.re, Float::abs(x.im)), im);
    }
    let (p, q) = roots(x);
    let re = Float::atan2(x.re, p.re * q.re - p.im * q.im);
    Complex::new(re, Elementary::asinh(p.re * q.im - p.im * q.re))
}

pub(super) fn acos<P: Real>(x: Complex<P>) -> Complex<P>
where
    Complex<P>: Plane<P>,
{
    if Elementary::is_nan(x) {
        return nan();
    }
    if is_wide(x) {
        let im = Float::copysign(log_of_twice(x), -x.im);
        return Complex::new(Float::atan2(Float::abs(x.im), x.re), im);
    }
    let (p, q) = roots(x);
    Complex::new(P::TWO * Float::atan2(p.re, q.re), Elementary::asinh(q.re * p.im - q.im * p.re))
}

pub(super) fn acosh<P: Real>(x: Complex<P>) -> Complex<P>
where
    Complex<P>: Plane<P>,
{
    if Elementary::is_nan(x) {
        return nan();
    }
    if is_wide(x) {
        return Complex::new(log_of_twice(x), Float::atan2(x.im, x.re));
    }
    let p = Elementary::sqrt(Complex::new(x.re - P::ONE, x.im));
    let q = Elementary::sqrt(Complex::new(x.re + P::ONE, x.im));
    Complex::new(Elementary::asinh(p.re * q.re + p.im * q.im), P::TWO * Float::atan2(p.im, q.re))
}

pub(super) fn atanh<P: Real>(x: Complex<P>) -> Complex<P>
where
    Complex<P>: Plane<P>,
{
    if Elementary::is_nan(x) {
        return nan();
    }
    let (a, b) = (Float::abs(x.re), Float::abs(x.im));
    let (four, quarter) = (P::TWO * P::TWO, P::ONE_HALF * P::ONE_HALF);
    let (re, im) = if is_wide(x) {
        // 1/x, by quarters so that its size is in the range.
        let size = Complex::new(a * quarter, b * quarter).magnitude();
        let re = if size.is_infinite() { P::ZERO } else { a * quarter / size / size * quarter };
        (re, P::FRAC_PI_2())
    } else if a == P::ONE && b < P::ONE {
        // The square of b may be 0 where b is not.
        let im = if b == P::ZERO { b } else { Float::atan2(P::TWO, -b) * P::ONE_HALF };
        ((Float::ln(Float::hypot(P::TWO, b)) - Float::ln(b)) * P::ONE_HALF, im)
    } else {
        let re = (four * a / ((P::ONE - a) * (P::ONE - a) + b * b)).ln_1p() * quarter;
        (re, Float::atan2(P::TWO * b, (P::ONE - a) * (P::ONE + a) - b * b) * P::ONE_HALF)
    };
    Complex::new(Float::copysign(re, x.re), Float::copysign(im, x.im))
}
