//! What becomes of a file's values in a program's types, and back.
use super::Field;
use crate::algebra::Scalar;
use std::io::Write;

/// A type that Matrix Market values can be read as.
///
/// Pattern entries are 1 or `true`. Whole numbers must fit; a real file is read as an integer type only where its values
/// are whole. For `bool` anything but zero is true, NaN too. Complex files can be read as `[f64; 2]`-like pairs only, so
/// not at present as any scalar: reading one says so.
pub trait FromMatrixMarket: Scalar {
    /// The value of a pattern entry.
    fn pattern() -> Self;
    /// From a whole number, where it fits.
    fn integer(x: i128) -> Option<Self>;
    /// From a real number, where it fits.
    fn real(x: f64) -> Option<Self>;
    /// −x, for skew-symmetric files, where there is one.
    fn negative(self) -> Option<Self>;
}

/// A type that can be written as Matrix Market values.
pub trait ToMatrixMarket: Scalar {
    /// The field of the file.
    const FIELD: Field;
    /// The value, so that reading it gives the same one.
    fn write(self, to: &mut dyn Write) -> std::io::Result<()>;
}

macro_rules! integers { ($($t:ident)*) => {$(
    impl FromMatrixMarket for $t {
        fn pattern() -> Self { 1 }
        fn integer(x: i128) -> Option<Self> { Self::try_from(x).ok() }
        fn real(x: f64) -> Option<Self> {
            // Below 2⁶⁴ a whole f64 is an exact i128.
            (x.trunc() == x && x.abs() < 2f64.powi(64)).then_some(x as i128).and_then(Self::integer)
        }
        #[allow(unused_comparisons)]
        fn negative(self) -> Option<Self> { (0 as $t).checked_sub(self) }
    }
    impl ToMatrixMarket for $t {
        const FIELD: Field = Field::Integer;
        fn write(self, to: &mut dyn Write) -> std::io::Result<()> { write!(to, " {self}") }
    }
)*} }
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats { ($($t:ident)*) => {$(
    impl FromMatrixMarket for $t {
        fn pattern() -> Self { 1.0 }
        fn integer(x: i128) -> Option<Self> { Some(x as $t) }
        fn real(x: f64) -> Option<Self> { Some(x as $t) }
        fn negative(self) -> Option<Self> { Some(-self) }
    }
    impl ToMatrixMarket for $t {
        const FIELD: Field = Field::Real;
        // Rust prints the shortest decimal that reads back as the same number.
        fn write(self, to: &mut dyn Write) -> std::io::Result<()> { write!(to, " {self:?}") }
    }
)*} }
floats!(f32 f64);

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
    fn negative(self) -> Option<Self> {
        Some(self)
    }
}
impl ToMatrixMarket for bool {
    const FIELD: Field = Field::Integer;
    fn write(self, to: &mut dyn Write) -> std::io::Result<()> {
        write!(to, " {}", self as u8)
    }
}
