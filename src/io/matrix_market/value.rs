//! What becomes of a file's values in a program's types, and back.
use super::Field;
use crate::algebra::{Scalar, c32, c64};
use crate::io::number;
use std::io::Write;

pub use crate::io::number::Refused;

/// A type that Matrix Market values can be read as.
///
/// Pattern entries are 1 or `true`. Whole numbers must fit, and floats take the nearest, which of 1e39 as an `f32` is infinity,
/// as Rust's own parser has it; a real file is read as an
/// integer type only where its values are whole. For `bool` anything but zero is true, NaN too. Complex files are read
/// as [`c32`] or [`c64`], or as a scalar of your own with [`COMPLEX`](Self::COMPLEX) set; real files are read as those too.
pub trait FromMatrixMarket: Scalar {
    /// Whether complex files can be read as this type.
    const COMPLEX: bool = false;
    /// The value of a pattern entry.
    fn pattern() -> Self;
    /// From a whole number, where it fits.
    fn integer(x: i128) -> Option<Self>;
    /// From a real number, where it fits.
    fn real(x: f64) -> Option<Self>;
    /// From the text of a real number; through the nearest f64 unless the type knows better.
    ///
    /// # Errors
    /// Why there is no such value.
    fn decimal(text: &[u8]) -> Result<Self, Refused> {
        Self::real(number::real(text)?).ok_or(Refused::DoesNotFit)
    }
    /// From a complex number, where it fits.
    fn complex(_re: f64, _im: f64) -> Option<Self> {
        None
    }
    /// From the texts of a complex number's parts; through the nearest f64 unless the type knows better.
    ///
    /// # Errors
    /// Why there is no such value.
    fn parts(re: &[u8], im: &[u8]) -> Result<Self, Refused> {
        Self::complex(number::real(re)?, number::real(im)?).ok_or(Refused::DoesNotFit)
    }
    /// −x, for skew-symmetric files, where there is one.
    fn negative(self) -> Option<Self>;
    /// The complex conjugate, for Hermitian files.
    fn conjugate(self) -> Self {
        self
    }
    /// Whether it is its own conjugate, as the diagonal of a Hermitian matrix is.
    fn is_real(self) -> bool {
        true
    }
}

/// A type that can be written as Matrix Market values.
pub trait ToMatrixMarket: Scalar {
    /// The field of the file.
    const FIELD: Field;
    /// Whether a pattern entry says as much: `true`. A matrix of nothing else is written as a pattern.
    fn is_pattern(self) -> bool {
        false
    }
    /// A blank and the value, so that reading it gives the same one.
    ///
    /// # Errors
    /// Those of `to`.
    fn write(self, to: &mut dyn Write) -> std::io::Result<()>;
}

macro_rules! integers { ($($t:ident)*) => {$(
    impl FromMatrixMarket for $t {
        fn pattern() -> Self { 1 }
        fn integer(x: i128) -> Option<Self> { Self::try_from(x).ok() }
        fn real(x: f64) -> Option<Self> {
            // Below 2⁶⁴ a whole f64 is an exact i128.
            (x.trunc() == x && x.abs() <= 2f64.powi(64)).then_some(x as i128).and_then(Self::integer)
        }
        // Whole numbers above 2⁵³ would lose digits on the way through f64, and what is next to a whole number would be one.
        fn decimal(text: &[u8]) -> Result<Self, Refused> {
            let x = match number::integer(text) {
                Err(Refused::NotANumber) => number::whole(text)?,
                x => x?,
            };
            Self::integer(x).ok_or(Refused::DoesNotFit)
        }
        fn negative(self) -> Option<Self> { (0 as $t).checked_sub(self) }
    }
    impl ToMatrixMarket for $t {
        const FIELD: Field = Field::Integer;
        fn write(self, to: &mut dyn Write) -> std::io::Result<()> { write!(to, " {self}") }
    }
)*} }
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats { ($($t:ident $decimal:expr;)*) => {$(
    impl FromMatrixMarket for $t {
        fn pattern() -> Self { 1.0 }
        fn integer(x: i128) -> Option<Self> { Some(x as $t) }
        fn real(x: f64) -> Option<Self> { Some(x as $t) }
        #[inline]
        fn decimal(text: &[u8]) -> Result<Self, Refused> { $decimal(text) }
        fn negative(self) -> Option<Self> { Some(-self) }
    }
    impl ToMatrixMarket for $t {
        const FIELD: Field = Field::Real;
        // Rust prints the shortest decimal that reads back as the same number.
        fn write(self, to: &mut dyn Write) -> std::io::Result<()> { write!(to, " {self:?}") }
    }
)*} }
floats! {
    // Rounding to f64 first could end on the wrong side of a tie.
    f32 number::parsed;
    f64 number::real;
}

impl FromMatrixMarket for bool {
    fn pattern() -> Self {
        true
    }
    fn integer(x: i128) -> Option<Self> {
        Some(x != 0)
    }
    fn real(x: f64) -> Option<Self> {
        Some(x != 0.0)
    }
    // What is nearest to 0 need not be 0.
    fn decimal(text: &[u8]) -> Result<Self, Refused> {
        number::nonzero(text)
    }
    fn negative(self) -> Option<Self> {
        Some(self)
    }
}
impl ToMatrixMarket for bool {
    const FIELD: Field = Field::Integer;
    fn is_pattern(self) -> bool {
        self
    }
    fn write(self, to: &mut dyn Write) -> std::io::Result<()> {
        write!(to, " {}", self as u8)
    }
}

macro_rules! complex { ($($c:ident $t:ident;)*) => {$(
    impl FromMatrixMarket for $c {
        const COMPLEX: bool = true;
        fn pattern() -> Self { Self::new(1.0, 0.0) }
        fn integer(x: i128) -> Option<Self> { <$t>::integer(x).map(Self::from) }
        fn real(x: f64) -> Option<Self> { <$t>::real(x).map(Self::from) }
        fn decimal(text: &[u8]) -> Result<Self, Refused> { <$t>::decimal(text).map(Self::from) }
        fn complex(re: f64, im: f64) -> Option<Self> { Some(Self::new(re as $t, im as $t)) }
        #[inline]
        fn parts(re: &[u8], im: &[u8]) -> Result<Self, Refused> { Ok(Self::new(<$t>::decimal(re)?, <$t>::decimal(im)?)) }
        fn negative(self) -> Option<Self> { Some(-self) }
        fn conjugate(self) -> Self { self.conj() }
        fn is_real(self) -> bool { self.im == 0.0 }
    }
    impl ToMatrixMarket for $c {
        const FIELD: Field = Field::Complex;
        fn write(self, to: &mut dyn Write) -> std::io::Result<()> { write!(to, " {:?} {:?}", self.re, self.im) }
    }
)*} }
complex! { c32 f32; c64 f64; }

#[cfg(feature = "half")]
mod halves {
    use super::{Field, FromMatrixMarket, Refused, ToMatrixMarket, Write, number};
    use crate::algebra::float16::long_to_odd;
    use crate::algebra::{Ordered, bf16, f16};

    macro_rules! halves { ($($h:ident)*) => {$(
        impl FromMatrixMarket for $h {
            fn pattern() -> Self { Self::ONE }
            fn integer(x: i128) -> Option<Self> { Some(Self::of_f64(long_to_odd(x))) }
            fn real(x: f64) -> Option<Self> { Some(Self::of_f64(x)) }
            fn decimal(text: &[u8]) -> Result<Self, Refused> { number::beside_ties(text).map(Self::of_f64) }
            fn negative(self) -> Option<Self> { Some(-self) }
        }
        impl ToMatrixMarket for $h {
            const FIELD: Field = Field::Real;
            fn write(self, to: &mut dyn Write) -> std::io::Result<()> { write!(to, " {:?}", self.to_f32()) }
        }
    )*} }
    halves!(f16 bf16);
}
