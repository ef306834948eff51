//! Scalars: what a matrix can hold, on any device.
use super::cast::Cast;
use super::operator::{Identity, UnaryOp};
use crate::precompiled::{Entries, Products, precompiled};
use num_traits::{Bounded, Float, PrimInt, Saturating, WrappingAdd, WrappingMul, WrappingSub};
use oplus_codegen::text::ScalarText;
use std::fmt::Debug;

/// A value that can be stored in a matrix, on any device.
///
/// # Safety
/// `size_of`, `align_of` and the field order equal those of [`Scalar::TEXT`] in CUDA; there are no padding bytes; all
/// bytes zero is a valid value; [`Scalar::is_valid`] is true of bytes that are a value alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored in a matrix",
    note = "built in: bool, i8 to i64, u8 to u64, f32, f64, c32, c64, f16, bf16 (feature `half`); define a struct with `scalar!{{ … }}`"
)]
pub unsafe trait Scalar: Copy + PartialEq + Debug + Send + Sync + 'static {
    /// The type in CUDA.
    const TEXT: ScalarText;
    #[doc(hidden)]
    const PRODUCTS: Option<&'static Products<Self>> = None;
    #[doc(hidden)]
    fn entries() -> &'static Entries<Self> {
        const { &Entries::here() }
    }
    /// Bit-exact CUDA expression for this value (never a decimal float).
    fn cuda_literal(self) -> String;
    /// Whether these bytes are a value. As it stands here, for types of which all bytes are: of `bool`, of an enum and of what holds one not all are.
    fn is_valid(_bytes: &[u8]) -> bool {
        true
    }
    /// All bytes zero: initial memory, `false`, 0.
    fn zeroed() -> Self {
        // SAFETY: the trait's contract: all bytes zero is a value.
        unsafe { std::mem::zeroed() }
    }
}

/// The bytes of scalars, for the way to a device.
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
#[inline(always)]
pub(crate) fn as_bytes<T: Scalar>(values: &[T]) -> &[u8] {
    // SAFETY: no padding by the trait's contract, so every byte is initialised; u8 has no alignment.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Whether two values are the same, to the bit.
#[inline(always)]
pub(crate) fn same<A: Scalar, B: Scalar>(x: A, y: B) -> bool {
    as_bytes(&[x]) == as_bytes(&[y])
}

/// The scalars in bytes that came from a device; `None` where the bytes hold no whole number of values or no value.
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
pub(crate) fn from_bytes<T: Scalar>(operation: &'static str, bytes: &[u8]) -> crate::error::Result<Vec<T>> {
    let size = size_of::<T>();
    if !bytes.len().is_multiple_of(size) || !bytes.chunks_exact(size).all(T::is_valid) {
        let reason = format!("{} bytes from the device are not values of {}", bytes.len(), T::TEXT.name);
        return Err(crate::error::Error::InvalidValue { operation, reason });
    }
    let mut values = crate::memory::with_capacity(operation, bytes.len() / size)?;
    // SAFETY: each chunk has size_of::<T>() bytes that were just found to be a value.
    values.extend(bytes.chunks_exact(size).map(|b| unsafe { b.as_ptr().cast::<T>().read_unaligned() }));
    Ok(values)
}

/// Appends the scalars in bytes; `false`, and nothing is appended, where some are no value. Room is there.
pub(crate) fn append_bytes<T: Scalar>(values: &mut Vec<T>, bytes: &[u8]) -> bool {
    let size = size_of::<T>().max(1);
    if !bytes.chunks_exact(size).all(T::is_valid) {
        return false;
    }
    // SAFETY: each chunk has size_of::<T>() bytes that were just found to be a value.
    values.extend(bytes.chunks_exact(size).map(|b| unsafe { b.as_ptr().cast::<T>().read_unaligned() }));
    true
}

/// +, −, × and ÷ with one meaning on every backend: what numbers with and without an order have.
///
/// Integers wrap in `plus`, `minus`, `times`; x/0 is the type's largest value (smallest for negative x), 0/0 is 0.
#[diagnostic::on_unimplemented(message = "`{Self}` has no arithmetic", label = "this operator needs numbers")]
pub trait Arithmetic: Scalar {
    /// The type of |x|: of its parts for complex numbers, else its own.
    type Real: Ordered;
    /// The type that products are made and sums are added up in: `f32` for `f16` and `bf16`, else its own.
    type Sum: Arithmetic<Sum = Self::Sum>;
    /// Identity of +.
    const ZERO: Self;
    /// Identity of ×.
    const ONE: Self;
    /// −x; integers wrap, a float only changes its sign.
    fn negated(self) -> Self;
    /// x + y, integers wrap.
    fn plus(self, y: Self) -> Self;
    /// x − y, integers wrap.
    fn minus(self, y: Self) -> Self;
    /// x · y, integers wrap.
    fn times(self, y: Self) -> Self;
    /// x / y; never traps.
    fn over(self, y: Self) -> Self;
    /// |x|; the smallest signed integer stays.
    fn magnitude(self) -> Self::Real;
    /// x as a term of a sum; exact.
    fn widened(self) -> Self::Sum;
}

/// Values in an order: ordered numbers, and bool with false < true.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no order",
    label = "this operator needs values in an order: bool or numbers, but no complex ones"
)]
pub trait Comparable: super::operator::HasOne + PartialOrd {}
#[diagnostic::do_not_recommend]
impl<T: Ordered> Comparable for T {}
impl Comparable for bool {}

/// What has a least and a largest value to look for: ordered numbers, and bool, which is looked at as numbers in the same order.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no least and no largest value",
    label = "this operation needs bool or numbers in an order, but no complex ones"
)]
pub trait Ranked: Comparable {
    /// Numbers in the same order.
    type Rank: Ordered;
    /// x as one of them.
    type ToRank: UnaryOp<Self, Out = Self::Rank>;
}
#[diagnostic::do_not_recommend]
impl<T: Ordered> Ranked for T {
    type Rank = T;
    type ToRank = Identity;
}
impl Ranked for bool {
    type Rank = u8;
    type ToRank = Cast<u8>;
}

/// Ordered numbers that are added up as they are: integers, f32 and f64.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number type",
    note = "numbers are the integers, f32 and f64; `Arithmetic` has complex ones too, `Ordered` f16 and bf16"
)]
pub trait Number: Ordered<Sum = Self> {}
impl<T: Ordered<Sum = T>> Number for T {}

/// Numbers in an order: all but complex ones. [`Comparable`] is what has an order alone.
///
/// min and max omit NaN; `TOP` and `BOTTOM` are their identities, ±∞ for floats.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an ordered number type",
    label = "this operator needs numbers in an order: neither bool nor complex ones"
)]
pub trait Ordered: Arithmetic<Real = Self> + PartialOrd {
    /// Identity of min: the largest value, +∞ for floats.
    const TOP: Self;
    /// Identity of max: the smallest value, −∞ for floats.
    const BOTTOM: Self;
    /// Whether `TOP` and `BOTTOM` are ends of a range that stand for ±∞ (integers), not ±∞ themselves (floats).
    const SATURATES: bool;
    /// x + y; integers stop at the ends of their range.
    fn plus_saturating(self, y: Self) -> Self;
    /// x · y; integers stop at the ends of their range.
    fn times_saturating(self, y: Self) -> Self;
    /// min(x, y), NaN omitted.
    fn least(self, y: Self) -> Self;
    /// max(x, y), NaN omitted.
    fn greatest(self, y: Self) -> Self;
    /// The nearest f64.
    fn as_f64(self) -> f64;
    /// From f64 by Rust's `as`: saturating, NaN to 0.
    fn of_f64(x: f64) -> Self;
    /// From u64 by Rust's `as`.
    fn of_u64(x: u64) -> Self;
}

/// Types with a truth value: valued masks and the logical operators. User structs have none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no truth value",
    note = "a matrix of this type can be a structural mask only: `.mask(&m.structure())`"
)]
pub trait Truth: Scalar {
    /// Non-zero; NaN is true, −0.0 is false.
    fn truth(self) -> bool;
}

/// What a comparison can be a number of: true is 1, false is 0. bool and all numbers.
#[diagnostic::on_unimplemented(message = "`{Self}` has no 0 and 1", label = "this operator needs numbers or bool")]
pub trait Flag: Truth {
    /// 1 where it holds, else 0.
    fn flag(holds: bool) -> Self;
}
impl<T: Truth + super::operator::HasOne> Flag for T {
    #[inline(always)]
    fn flag(holds: bool) -> Self {
        if holds { T::one() } else { T::zeroed() }
    }
}

fn divide<T: PrimInt>(x: T, y: T) -> T {
    if y.is_zero() {
        return if x.is_zero() {
            T::zero()
        } else if x < T::zero() {
            T::min_value()
        } else {
            T::max_value()
        };
    }
    // Only MIN / −1 overflows; it wraps to MIN.
    x.checked_div(&y).unwrap_or_else(T::min_value)
}

macro_rules! integers { ($($t:ident $magnitude:expr;)*) => {$(
    // SAFETY: the CUDA typedefs of the preamble have these sizes; every bit pattern is a value.
    unsafe impl Scalar for $t {
        const TEXT: ScalarText = ScalarText { name: stringify!($t), definition: "", size: size_of::<$t>() };
        precompiled!($t);
        fn cuda_literal(self) -> String { format!("({})0x{:x}ull", stringify!($t), self) }
    }
    impl Truth for $t { fn truth(self) -> bool { self != 0 } }
    impl Arithmetic for $t {
        type Real = Self;
        type Sum = Self;
        const ZERO: Self = 0;
        const ONE: Self = 1;
        #[inline(always)] fn negated(self) -> Self { self.wrapping_neg() }
        #[inline(always)] fn plus(self, y: Self) -> Self { WrappingAdd::wrapping_add(&self, &y) }
        #[inline(always)] fn minus(self, y: Self) -> Self { WrappingSub::wrapping_sub(&self, &y) }
        #[inline(always)] fn times(self, y: Self) -> Self { WrappingMul::wrapping_mul(&self, &y) }
        #[inline(always)] fn over(self, y: Self) -> Self { divide(self, y) }
        #[inline(always)] fn magnitude(self) -> Self { let f: fn($t) -> $t = $magnitude; f(self) }
        #[inline(always)] fn widened(self) -> Self { self }
    }
    impl Ordered for $t {
        const TOP: Self = $t::MAX;
        const BOTTOM: Self = $t::MIN;
        const SATURATES: bool = true;
        #[inline(always)] fn plus_saturating(self, y: Self) -> Self { Saturating::saturating_add(self, y) }
        #[inline(always)] fn times_saturating(self, y: Self) -> Self { <$t>::saturating_mul(self, y) }
        #[inline(always)] fn least(self, y: Self) -> Self { Ord::min(self, y) }
        #[inline(always)] fn greatest(self, y: Self) -> Self { Ord::max(self, y) }
        #[inline(always)] fn as_f64(self) -> f64 { self as f64 }
        #[inline(always)] fn of_f64(x: f64) -> Self { x as $t }
        #[inline(always)] fn of_u64(x: u64) -> Self { x as $t }
    }
)*} }
integers! {
    u8 |x| x; u16 |x| x; u32 |x| x; u64 |x| x;
    i8 |x| x.wrapping_abs(); i16 |x| x.wrapping_abs(); i32 |x| x.wrapping_abs(); i64 |x| x.wrapping_abs();
}

macro_rules! floats { ($($t:ident $from_bits:literal)*) => {$(
    // SAFETY: IEEE formats on both sides; every bit pattern is a value.
    unsafe impl Scalar for $t {
        const TEXT: ScalarText = ScalarText { name: stringify!($t), definition: "", size: size_of::<$t>() };
        precompiled!($t);
        fn cuda_literal(self) -> String { format!("{}(0x{:x}ull)", $from_bits, self.to_bits()) }
    }
    impl Truth for $t { fn truth(self) -> bool { self != 0.0 } }
    impl Arithmetic for $t {
        type Real = Self;
        type Sum = Self;
        const ZERO: Self = 0.0;
        const ONE: Self = 1.0;
        #[inline(always)] fn negated(self) -> Self { -self }
        #[inline(always)] fn plus(self, y: Self) -> Self { self + y }
        #[inline(always)] fn minus(self, y: Self) -> Self { self - y }
        #[inline(always)] fn times(self, y: Self) -> Self { self * y }
        #[inline(always)] fn over(self, y: Self) -> Self { self / y }
        #[inline(always)] fn magnitude(self) -> Self { Float::abs(self) }
        #[inline(always)] fn widened(self) -> Self { self }
    }
    impl Ordered for $t {
        const TOP: Self = $t::INFINITY;
        const BOTTOM: Self = $t::NEG_INFINITY;
        const SATURATES: bool = false;
        #[inline(always)] fn plus_saturating(self, y: Self) -> Self { self + y }
        #[inline(always)] fn times_saturating(self, y: Self) -> Self { self * y }
        // −0 < +0, so that every backend and order gives the same bits. One selection, an instruction, differs for NaN and for
        // equal zeros only, and gives one of these there, which another instruction tells.
        #[allow(clippy::double_comparisons)] // which NaN is neither of
        #[inline(always)] fn least(self, y: Self) -> Self {
            let z = if self < y { self } else { y };
            if z < 0.0 || z > 0.0 { z } else { rare(self, y, z, |x, y| $t::from_bits(x.to_bits() | y.to_bits())) }
        }
        #[allow(clippy::double_comparisons)] // which NaN is neither of
        #[inline(always)] fn greatest(self, y: Self) -> Self {
            let z = if self > y { self } else { y };
            if z < 0.0 || z > 0.0 { z } else { rare(self, y, z, |x, y| $t::from_bits(x.to_bits() & y.to_bits())) }
        }
        #[inline(always)] fn as_f64(self) -> f64 { self as f64 }
        #[inline(always)] fn of_f64(x: f64) -> Self { x as $t }
        #[inline(always)] fn of_u64(x: u64) -> Self { x as $t }
    }
)*} }
/// What is chosen where the choice is zero or no number: the one that is a number, of two zeros what their signs make.
#[inline(never)]
fn rare<T: Float>(x: T, y: T, chosen: T, zeros: fn(T, T) -> T) -> T {
    if x.is_nan() {
        y
    } else if y.is_nan() {
        x
    } else if x == y {
        zeros(x, y)
    } else {
        chosen
    }
}
floats! { f32 "f32_bits" f64 "f64_bits" }

// SAFETY: one byte on both sides, 0 is false; other bytes than 0 and 1 are refused on the way in.
unsafe impl Scalar for bool {
    const TEXT: ScalarText = ScalarText { name: "bool", definition: "", size: 1 };
    precompiled!(bool);
    fn cuda_literal(self) -> String {
        self.to_string()
    }
    fn is_valid(bytes: &[u8]) -> bool {
        bytes.iter().all(|b| *b < 2)
    }
}
impl Truth for bool {
    fn truth(self) -> bool {
        self
    }
}

/// The largest and smallest finite values, for callers that must not meet ±∞.
pub fn finite_bounds<T: Bounded>() -> (T, T) {
    (T::min_value(), T::max_value())
}
