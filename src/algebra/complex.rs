//! Complex numbers: `num_complex::Complex` over f32 and f64.
//!
//! They have arithmetic and equality but no order: semirings and operators of min, max and < do not take them. Conversions
//! are GraphBLAS's: a real number has imaginary part 0, a complex one becomes its real part, and `true` unless it is 0.
use super::cast::Cast;
use super::operator::UnaryOp;
use super::scalar::{Arithmetic, Number, Scalar, Truth};
use num_complex::Complex;
use oplus_codegen::text::{OperatorText, ScalarText};

/// Complex numbers of two `f32`.
#[allow(non_camel_case_types)]
pub type c32 = Complex<f32>;
/// Complex numbers of two `f64`.
#[allow(non_camel_case_types)]
pub type c64 = Complex<f64>;

/// A type of which complex numbers are made.
#[diagnostic::on_unimplemented(message = "there are no complex numbers of `{Self}`", note = "f32 and f64 have them")]
pub trait Part: Number {
    /// The complex numbers of this type.
    type Complex: ComplexNumber<Real = Self>;
    /// re + im·i.
    fn complex(re: Self, im: Self) -> Self::Complex;
}

/// Complex numbers.
#[diagnostic::on_unimplemented(message = "`{Self}` is not complex", label = "this operator needs c32 or c64")]
pub trait ComplexNumber: Arithmetic<Real: Part<Complex = Self>> {
    /// re.
    fn real_part(self) -> Self::Real;
    /// im.
    fn imaginary_part(self) -> Self::Real;
    /// re − im·i.
    fn conjugated(self) -> Self;
    /// The angle in (−π, π].
    fn angle(self) -> Self::Real;
}

/// |x| of two f32: their squares are exact in f64.
fn length_f32(re: f32, im: f32) -> f32 {
    if re.is_infinite() || im.is_infinite() {
        return f32::INFINITY;
    }
    let (re, im) = (f64::from(re), f64::from(im));
    (re * re + im * im).sqrt() as f32
}

/// |x| of two f64, without the squares' overflow: each step is one that every device rounds the same.
fn length_f64(re: f64, im: f64) -> f64 {
    let (re, im) = (re.abs(), im.abs());
    let (large, small) = if re < im { (im, re) } else { (re, im) };
    if re == f64::INFINITY || im == f64::INFINITY {
        return f64::INFINITY;
    }
    if small == 0.0 {
        return large;
    }
    let ratio = small / large;
    large * (1.0 + ratio * ratio).sqrt()
}

macro_rules! complex { ($($c:ident $t:ident $length:ident;)*) => {$(
    // SAFETY: repr(C), two floats without padding, as `struct Complex` of kernels/complex.cuh; every bit pattern is a value.
    unsafe impl Scalar for $c {
        const TEXT: ScalarText = ScalarText { name: stringify!($c), definition: "", size: size_of::<$c>() };
        fn cuda_literal(self) -> String { format!("{}({}, {})", stringify!($c), self.re.cuda_literal(), self.im.cuda_literal()) }
    }
    impl Truth for $c { fn truth(self) -> bool { self.re != 0.0 || self.im != 0.0 } }
    impl Part for $t {
        type Complex = $c;
        #[inline(always)] fn complex(re: $t, im: $t) -> $c { $c { re, im } }
    }
    impl ComplexNumber for $c {
        #[inline(always)] fn real_part(self) -> $t { self.re }
        #[inline(always)] fn imaginary_part(self) -> $t { self.im }
        #[inline(always)] fn conjugated(self) -> $c { $c { re: self.re, im: -self.im } }
        #[inline(always)] fn angle(self) -> $t { self.im.atan2(self.re) }
    }
    impl Arithmetic for $c {
        type Real = $t;
        type Sum = Self;
        const ZERO: Self = $c { re: 0.0, im: 0.0 };
        const ONE: Self = $c { re: 1.0, im: 0.0 };
        #[inline(always)] fn negated(self) -> Self { $c { re: -self.re, im: -self.im } }
        #[inline(always)] fn plus(self, y: Self) -> Self { $c { re: self.re + y.re, im: self.im + y.im } }
        #[inline(always)] fn minus(self, y: Self) -> Self { $c { re: self.re - y.re, im: self.im - y.im } }
        #[inline(always)] fn times(self, y: Self) -> Self {
            $c { re: self.re * y.re - self.im * y.im, im: self.re * y.im + self.im * y.re }
        }
        // Smith's method: neither square overflows. A divisor on an axis divides each part.
        fn over(self, y: Self) -> Self {
            let (x, zero) = (self, 0.0);
            if y.im == zero {
                $c { re: x.re / y.re, im: x.im / y.re }
            } else if y.re == zero {
                $c { re: x.im / y.im, im: -x.re / y.im }
            } else if y.re.abs() < y.im.abs() {
                let ratio = y.re / y.im;
                let by = y.re * ratio + y.im;
                $c { re: (x.re * ratio + x.im) / by, im: (x.im * ratio - x.re) / by }
            } else {
                let ratio = y.im / y.re;
                let by = y.im * ratio + y.re;
                $c { re: (x.im * ratio + x.re) / by, im: (x.im - x.re * ratio) / by }
            }
        }
        #[inline(always)] fn magnitude(self) -> $t { $length(self.re, self.im) }
        #[inline(always)] fn widened(self) -> Self { self }
    }
)*} }
complex! { c32 f32 length_f32; c64 f64 length_f64; }

/// The text of a conversion to the type of this name.
macro_rules! to {
    ($u:ident) => {
        OperatorText { parameters: &["x"], expression: concat!("to_", stringify!($u), "(x)") }
    };
}

macro_rules! from_complex { ($($u:ident)*) => {$(
    impl UnaryOp<c32> for Cast<$u> {
        type Out = $u;
        const TEXT: OperatorText = to!($u);
        #[inline(always)] fn apply(x: c32) -> $u { <Cast<$u> as UnaryOp<f32>>::apply(x.re) }
    }
    impl UnaryOp<c64> for Cast<$u> {
        type Out = $u;
        const TEXT: OperatorText = to!($u);
        #[inline(always)] fn apply(x: c64) -> $u { <Cast<$u> as UnaryOp<f64>>::apply(x.re) }
    }
)*} }
from_complex!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

macro_rules! to_complex { ($c:ident $part:ident: $($t:ident)*) => {$(
    impl UnaryOp<$t> for Cast<$c> {
        type Out = $c;
        const TEXT: OperatorText = to!($c);
        #[inline(always)] fn apply(x: $t) -> $c { $c { re: <Cast<$part> as UnaryOp<$t>>::apply(x), im: 0.0 } }
    }
)*} }
to_complex!(c32 f32: bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);
to_complex!(c64 f64: bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

macro_rules! between { ($($c:ident $part:ident: $($d:ident)*;)*) => {$($(
    impl UnaryOp<$d> for Cast<$c> {
        type Out = $c;
        const TEXT: OperatorText = to!($c);
        #[inline(always)] fn apply(x: $d) -> $c { $c { re: x.re as $part, im: x.im as $part } }
    }
)*)*} }
between! { c32 f32: c32 c64; c64 f64: c32 c64; }
