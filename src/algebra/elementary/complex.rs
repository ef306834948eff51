//! Elementary functions of complex numbers: by parts, each step as in kernels/math.cuh.
use super::branches::{self, log_of_size};
use super::{Elementary, Power};
use crate::algebra::complex::{c32, c64};
use crate::algebra::scalar::Arithmetic;
use num_complex::Complex;

/// Beyond it a hyperbolic tangent is 1 in both parts' digits.
const FLAT: f32 = 20.0;

macro_rules! complex { ($($c:ident $t:ident)*) => {$(
    impl Elementary for $c {
        fn sqrt(x: $c) -> $c {
            let mut size = x.magnitude();
            if size == 0.0 || x.im.is_infinite() {
                return $c { re: size, im: x.im };
            }
            // Neither sums nor halves leave the range.
            let large = size > $t::MAX / 8.0;
            let x = if large { $c { re: x.re / 4.0, im: x.im / 4.0 } } else { x };
            if large {
                size = x.magnitude();
            }
            let root = ((x.re.abs() + size) * 2.0).sqrt() / 2.0;
            let (re, im) = if x.re < 0.0 {
                (x.im.abs() / (root * 2.0), root.copysign(x.im))
            } else {
                (root, x.im / (root * 2.0))
            };
            let scale = if large { 2.0 } else { 1.0 };
            $c { re: re * scale, im: im * scale }
        }
        fn exp(x: $c) -> $c {
            let size = x.re.exp();
            if x.im == 0.0 { $c { re: size, im: x.im } } else { $c { re: size * x.im.cos(), im: size * x.im.sin() } }
        }
        fn log(x: $c) -> $c { $c { re: log_of_size(x, 1.0, $t::ln), im: x.im.atan2(x.re) } }
        fn log2(x: $c) -> $c {
            let unit = std::$t::consts::LOG2_E;
            $c { re: log_of_size(x, unit, $t::log2), im: x.im.atan2(x.re) * unit }
        }
        fn log10(x: $c) -> $c {
            let unit = std::$t::consts::LOG10_E;
            $c { re: log_of_size(x, unit, $t::log10), im: x.im.atan2(x.re) * unit }
        }
        fn log1p(x: $c) -> $c { branches::log1p(x) }
        fn expm1(x: $c) -> $c { branches::expm1(x) }
        fn exp2(x: $c) -> $c { branches::exp2(x) }
        fn asin(x: $c) -> $c { branches::asin(x) }
        fn acos(x: $c) -> $c { branches::acos(x) }
        fn acosh(x: $c) -> $c { branches::acosh(x) }
        fn atanh(x: $c) -> $c { branches::atanh(x) }
        fn asinh(x: $c) -> $c {
            let y = branches::asin($c { re: -x.im, im: x.re });
            $c { re: y.im, im: -y.re }
        }
        fn atan(x: $c) -> $c {
            let y = branches::atanh($c { re: -x.im, im: x.re });
            $c { re: y.im, im: -y.re }
        }
        fn sin(x: $c) -> $c { $c { re: x.re.sin() * x.im.cosh(), im: x.re.cos() * x.im.sinh() } }
        fn cos(x: $c) -> $c { $c { re: x.re.cos() * x.im.cosh(), im: -(x.re.sin() * x.im.sinh()) } }
        fn tan(x: $c) -> $c {
            let y = <$c as Elementary>::tanh($c { re: -x.im, im: x.re });
            $c { re: y.im, im: -y.re }
        }
        fn sinh(x: $c) -> $c { $c { re: x.re.sinh() * x.im.cos(), im: x.re.cosh() * x.im.sin() } }
        fn cosh(x: $c) -> $c { $c { re: x.re.cosh() * x.im.cos(), im: x.re.sinh() * x.im.sin() } }
        // W. Kahan, Branch cuts for complex elementary functions, 1987.
        fn tanh(x: $c) -> $c {
            if x.re.abs() > $t::from(FLAT) {
                let im = 4.0 * x.im.sin() * x.im.cos() * (-2.0 * x.re.abs()).exp();
                return $c { re: (1.0 as $t).copysign(x.re), im };
            }
            let (t, s) = (x.im.tan(), x.re.sinh());
            let (beta, rho) = (1.0 + t * t, (1.0 + s * s).sqrt());
            let by = 1.0 + beta * s * s;
            $c { re: beta * rho * s / by, im: t / by }
        }
        fn ceil(x: $c) -> $c { $c { re: x.re.ceil(), im: x.im.ceil() } }
        fn floor(x: $c) -> $c { $c { re: x.re.floor(), im: x.im.floor() } }
        fn round(x: $c) -> $c { $c { re: x.re.round(), im: x.im.round() } }
        fn trunc(x: $c) -> $c { $c { re: x.re.trunc(), im: x.im.trunc() } }
        fn signum(x: $c) -> $c {
            let size = x.magnitude();
            if size == 0.0 { Self::ZERO } else { $c { re: x.re / size, im: x.im / size } }
        }
        fn is_inf(x: $c) -> bool { x.re.is_infinite() || x.im.is_infinite() }
        fn is_nan(x: $c) -> bool { x.re.is_nan() || x.im.is_nan() }
        fn is_finite(x: $c) -> bool { x.re.is_finite() && x.im.is_finite() }
    }
    impl Power for $c {
        fn pow(x: $c, y: $c) -> $c {
            if <$c as Elementary>::is_nan(x) || <$c as Elementary>::is_nan(y) {
                return Complex::new($t::NAN, $t::NAN);
            }
            if y == Self::ZERO {
                return Self::ONE;
            }
            if x == Self::ZERO && y.re > 0.0 {
                return Self::ZERO;
            }
            <$c as Elementary>::exp(y.times(<$c as Elementary>::log(x)))
        }
    }
)*} }
complex!(c32 f32 c64 f64);
