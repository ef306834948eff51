//! Values as plain numbers, and whether a result is the one expected.
use oplus::prelude::*;

/// The value as plain numbers, real and imaginary; true counts 1, and of 64-bit integers it is the nearest f64.
pub(crate) trait Plain: Scalar {
    /// Of sums, relative to the largest value; 0 where they are exact.
    const TOLERANCE: f64;
    fn plain(self) -> [f64; 2];
}
macro_rules! plain { ($($t:ty: $tolerance:expr, |$x:ident| $plain:expr;)*) => {$(
    impl Plain for $t {
        const TOLERANCE: f64 = $tolerance;
        fn plain(self) -> [f64; 2] { let $x = self; $plain }
    }
)*} }
plain! {
    bool: 0.0, |x| [x as u8 as f64, 0.0];
    i32: 0.0, |x| [x as f64, 0.0];
    i64: 0.0, |x| [x as f64, 0.0];
    u64: 0.0, |x| [x as f64, 0.0];
    f32: 1e-5, |x| [x as f64, 0.0];
    f64: 1e-12, |x| [x, 0.0];
    c32: 1e-5, |x| [x.re as f64, x.im as f64];
    c64: 1e-12, |x| [x.re, x.im];
}
#[cfg(feature = "half")]
plain! {
    f16: 0.0, |x| [x.as_f64(), 0.0];
    bf16: 0.0, |x| [x.as_f64(), 0.0];
}

/// Equal; floating sums may run in another order on a GPU, and what cancels is measured by the largest value.
pub(crate) fn close<T: Plain>(found: &[T], expected: &[T]) -> bool {
    let parts = |values: &[T]| -> Vec<f64> { values.iter().flat_map(|v| v.plain()).collect() };
    let not_numbers = |x: &T, y: &T| [x, y].iter().all(|v| v.plain().iter().any(|part| part.is_nan()));
    if found.len() != expected.len() {
        return false;
    }
    if T::TOLERANCE == 0.0 {
        // As they are: two 64-bit integers may be one f64.
        return found.iter().zip(expected).all(|(x, y)| x == y || not_numbers(x, y));
    }
    let (found, expected) = (parts(found), parts(expected));
    let largest = expected.iter().map(|v| v.abs()).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let near = |(x, y): (&f64, &f64)| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= T::TOLERANCE * largest;
    found.iter().zip(&expected).all(near)
}
