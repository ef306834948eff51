//! Every named semiring over every scalar it takes, and values to try it with.
#![allow(dead_code)] // each of the two tests uses a part
use oplus::prelude::*;

/// A built-in scalar with the values at which arithmetic is most likely to go wrong.
pub trait Sample: Scalar {
    /// Ends of ranges, zeros, ones, infinities, NaN.
    fn special() -> Vec<Self>;
    /// A value of its low bits.
    fn of_bits(bits: u64) -> Self;
    fn bits(self) -> u128;
    /// The value with these `bits`.
    fn exactly(bits: u128) -> Self;
    /// As a number, for bounds of rounding; of a complex one its real part.
    fn real(self) -> f64;
    /// As an integer, where it is one.
    fn whole(self) -> Option<i128>;
    /// Rounding of one operation relative to its operands: 0 where there is none.
    const ROUNDING: f64;

    /// One of the special values, a small number or any bits.
    fn pick(choice: u64) -> Self {
        let (special, rest) = (Self::special(), choice / 4);
        match choice % 4 {
            0 | 1 => special[rest as usize % special.len()],
            2 => Self::small(rest % 16),
            _ => Self::of_bits(rest),
        }
    }
    /// One of 16 small numbers, 0 among them.
    fn small(n: u64) -> Self;
    /// A value of another type where that is this one.
    fn of<U: Sample>(x: U) -> Option<Self> {
        (U::TEXT == Self::TEXT).then(|| Self::exactly(x.bits()))
    }
    /// The same value to the bit; all NaNs are one.
    fn same(self, other: Self) -> bool {
        self.bits() == other.bits() || (self.real().is_nan() && other.real().is_nan())
    }
}

macro_rules! integers { ($($t:ident)*) => {$(
    impl Sample for $t {
        fn special() -> Vec<Self> { vec![$t::MIN, $t::MIN + 1, 0, 1, 2, $t::MAX / 2, $t::MAX - 1, $t::MAX, (0 as $t).wrapping_sub(1)] }
        fn of_bits(bits: u64) -> Self { bits as $t }
        fn bits(self) -> u128 { (self as u64).into() }
        fn exactly(bits: u128) -> Self { bits as $t }
        fn real(self) -> f64 { self as f64 }
        fn whole(self) -> Option<i128> { Some(self as i128) }
        const ROUNDING: f64 = 0.0;
        fn small(n: u64) -> Self { (n as $t).wrapping_sub(8) }
    }
)*} }
integers!(u8 u16 u32 u64 i8 i16 i32 i64);

macro_rules! floats { ($($t:ident $u:ident)*) => {$(
    impl Sample for $t {
        fn special() -> Vec<Self> {
            let mut all = vec![0.0, 1.0, 1.5, $t::MAX, $t::MIN_POSITIVE, $t::from_bits(1), $t::INFINITY, 1.0 / $t::EPSILON];
            all.extend(all.clone().iter().map(|x| -x));
            all.push($t::NAN);
            all
        }
        // The high bits, so that any exponent comes out.
        fn of_bits(bits: u64) -> Self { $t::from_bits((bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - $u::BITS)) as $u) }
        fn bits(self) -> u128 { self.to_bits().into() }
        fn exactly(bits: u128) -> Self { $t::from_bits(bits as $u) }
        fn real(self) -> f64 { self as f64 }
        fn whole(self) -> Option<i128> { None }
        const ROUNDING: f64 = $t::EPSILON as f64;
        fn small(n: u64) -> Self { n as $t / 2.0 - 4.0 }
    }
)*} }
floats!(f32 u32 f64 u64);

impl Sample for bool {
    fn special() -> Vec<Self> {
        vec![false, true]
    }
    fn of_bits(bits: u64) -> Self {
        bits & 1 == 1
    }
    fn bits(self) -> u128 {
        self.into()
    }
    fn exactly(bits: u128) -> Self {
        bits == 1
    }
    fn real(self) -> f64 {
        self.into()
    }
    fn whole(self) -> Option<i128> {
        None
    }
    const ROUNDING: f64 = 0.0;
    fn small(n: u64) -> Self {
        n.is_multiple_of(2)
    }
}

#[cfg(feature = "half")]
macro_rules! halves { ($($t:ident)*) => {$(
    impl Sample for $t {
        fn special() -> Vec<Self> {
            let mut all = vec![$t::ZERO, $t::ONE, $t::from_f32(1.5), $t::MAX, $t::MIN_POSITIVE, $t::from_bits(1), $t::INFINITY];
            all.push($t::from_f32(1.0 / $t::EPSILON.to_f32()));
            all.extend(all.clone().iter().map(|x| -*x));
            all.push($t::NAN);
            all
        }
        fn of_bits(bits: u64) -> Self { $t::from_bits((bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16) }
        fn bits(self) -> u128 { self.to_bits().into() }
        fn exactly(bits: u128) -> Self { $t::from_bits(bits as u16) }
        fn real(self) -> f64 { self.to_f64() }
        fn whole(self) -> Option<i128> { None }
        const ROUNDING: f64 = 1.0 / (1u64 << ($t::MANTISSA_DIGITS - 1)) as f64;
        fn small(n: u64) -> Self { $t::from_f32(n as f32 / 2.0 - 4.0) }
    }
)*} }
#[cfg(feature = "half")]
halves!(f16 bf16);

macro_rules! complex { ($($t:ident $part:ident)*) => {$(
    impl Sample for $t {
        fn special() -> Vec<Self> {
            // Some of each kind, and what tells the sides of cuts and what omits NaN apart.
            let mut parts: Vec<_> = $part::special().into_iter().step_by(3).collect();
            parts.extend([-0.0, $part::NEG_INFINITY, $part::NAN]);
            parts.iter().flat_map(|re| parts.iter().map(|im| $t::new(*re, *im))).collect()
        }
        fn of_bits(bits: u64) -> Self { $t::new($part::of_bits(bits), $part::of_bits(bits.rotate_left(31))) }
        fn bits(self) -> u128 { self.re.bits() | self.im.bits() << (8 * size_of::<$part>()) }
        fn exactly(bits: u128) -> Self {
            let low = (1u128 << (8 * size_of::<$part>())) - 1;
            $t::new($part::exactly(bits & low), $part::exactly(bits >> (8 * size_of::<$part>())))
        }
        fn real(self) -> f64 { self.re.into() }
        fn whole(self) -> Option<i128> { None }
        const ROUNDING: f64 = $part::ROUNDING;
        fn small(n: u64) -> Self { $t::new($part::small(n % 4), $part::small(n / 4)) }
        fn same(self, other: Self) -> bool { self.re.same(other.re) && self.im.same(other.im) }
    }
)*} }
complex!(c32 f32 c64 f64);

/// What is done with each semiring and scalar.
pub trait Visitor {
    fn visit<T: Sample, S: Semiring<T, T>>(&mut self, name: &str)
    where
        S::Out: Sample;
}

macro_rules! over {
    ($v:ident $s:ty, numbers) => { over!($v $s, u8 u16 u32 u64 i8 i16 i32 i64 f32 f64) };
    ($v:ident $s:ty, integers) => { over!($v $s, u8 u16 u32 u64 i8 i16 i32 i64) };
    ($v:ident $s:ty, arithmetic) => { over!($v $s, u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 c32 c64) };
    ($v:ident $s:ty, all) => { over!($v $s, bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 c32 c64) };
    ($v:ident $s:ty, $($t:ident)+) => { $($v.visit::<$t, $s>(&format!("{} over {}", stringify!($s), stringify!($t)));)+ };
}
macro_rules! semirings { ($($s:ty: $scalars:ident;)*) => {
    /// The semirings visited, as written here.
    pub const LISTED: &[&str] = &[$(stringify!($s)),*];
    /// Visits every named semiring over every built-in scalar it takes on both sides.
    pub fn each(v: &mut impl Visitor) {
        $(over!(v $s, $scalars);)*
        #[cfg(feature = "half")]
        { $(over_halves!(v $s, $scalars);)* }
    }
} }
#[cfg(feature = "half")]
macro_rules! over_halves {
    ($v:ident $s:ty, bool) => {};
    ($v:ident $s:ty, integers) => {};
    ($v:ident $s:ty, $any:ident) => { over!($v $s, f16 bf16); };
}
semirings! {
    PlusTimes: arithmetic;
    PlusTimesMixed: numbers;
    MinPlus: numbers;
    MaxPlus: numbers;
    MinMax: numbers;
    MaxMin: numbers;
    MinTimes: numbers;
    MaxTimes: numbers;
    LorLand: bool;
    LandLor: bool;
    LxorLand: bool;
    BorBand: integers;
    BandBor: integers;
    BxorBand: integers;
    BxnorBor: integers;
    MinFirst: numbers;
    MinSecond: numbers;
    MaxFirst: numbers;
    MaxSecond: numbers;
    PlusFirst: arithmetic;
    PlusSecond: arithmetic;
    AnyFirst: all;
    AnySecond: all;
    AnySecondI: all;
    MinSecondI: all;
    MaxSecondI: all;
    AnyFirstI: all;
    AnySecondJ: all;
    AnyPair: all;
    PlusPair: all;
    PlusPair<f32>: all;
    AnyPair<i8>: all;
}
