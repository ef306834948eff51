//! Operators: functions on scalars as zero-sized types, in Rust and CUDA from one text.
//!
//! # Bits
//! Integers give the same bits on every device, and nothing of them is undefined: x/0, shifts by more than the width ([`Bshift`]),
//! bits that a type has not ([`Bget`]), powers beyond the range ([`Pow`]). So do sums, products, comparisons and roundings of
//! floats, [`Fmod`], [`Remainder`], [`Ldexp`], [`Frexpx`], [`Frexpe`] and [`Sqrt`], but for NaN: where one device has a NaN all have, and
//! its sign and the bits behind are the device's own (0/0 is negative by an x86 processor, positive by CUDA), which [`CopySign`] shows.
//!
//! The other elementary functions, complex roots and powers of floats are by each device's own library, and on CUDA perhaps by the
//! host's where all entries share [one value](crate::container::Matrix::is_iso): the last bits may differ, on CUDA by no more than the [bounds NVIDIA states](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#mathematical-functions),
//! 1 to 5 units in the last place, 10 of [`Tgamma`], and of [`Lgamma`] more between −11 and −2.2, where it has zeros. `f16` and
//! `bf16` go through f32 and are rounded once. Results of complex numbers are made by parts: ∞ · 0 in one is NaN.
// Not all bodies need what the macros import.
#![allow(unused_imports)]
use super::complex::{ComplexNumber, Part};
use super::scalar::{Arithmetic, Comparable, Ordered, Scalar, Truth};
use crate::{index_operator, operator, unary_operator};
use oplus_codegen::text::{OperatorText, Reads};
use std::marker::PhantomData;

mod bitwise;
mod compared;
mod elementary;
pub use bitwise::*;
pub use compared::*;
pub use elementary::*;

/// Where a product a(i,k) ⊗ b(k,j) stands, after the transpose options are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// Row of the left operand and of the result.
    pub i: u64,
    /// The index summed over.
    pub k: u64,
    /// Column of the right operand and of the result.
    pub j: u64,
}

/// z = f(x).
#[diagnostic::on_unimplemented(
    message = "operator `{Self}` does not take {A}",
    note = "operands of another type are converted by `.cast::<T>()?`, results of operations by `.apply(Cast::<T>::default())`",
    note = "a function or closure has no text for a GPU: define it with `oplus::unary_operator!`, of named ones see `oplus::algebra`"
)]
pub trait UnaryOp<A: Scalar>: Copy + Send + Sync + 'static {
    /// The type of z.
    type Out: Scalar;
    /// f in CUDA.
    const TEXT: OperatorText;
    /// f.
    fn apply(x: A) -> Self::Out;
}

/// z = f(x, y).
#[diagnostic::on_unimplemented(
    message = "operator `{Self}` does not take ({A}, {B})",
    note = "operands of two types: convert one by `.cast::<T>()?`, or the result of an operation by `.apply(Cast::<T>::default())`",
    note = "a function or closure has no text for a GPU: define it with `oplus::operator!`, of named ones see `oplus::algebra`"
)]
pub trait BinaryOp<A: Scalar, B: Scalar>: Copy + Send + Sync + 'static {
    /// The type of z.
    type Out: Scalar;
    /// f in CUDA.
    const TEXT: OperatorText;
    /// f.
    fn apply(x: A, y: B) -> Self::Out;
}

/// z = f(x, i, j, y): a value, its row and column, and a thunk.
#[diagnostic::on_unimplemented(
    message = "index operator `{Self}` does not take ({A}, thunk {Y})",
    note = "the thunk of a comparison has the type of the values, that of a place is an `i64`; values are converted by `.cast::<T>()?`",
    note = "a function or closure has no text for a GPU: define it with `oplus::index_operator!`, of named ones see `oplus::algebra`"
)]
pub trait IndexUnaryOp<A: Scalar, Y: Scalar>: Copy + Send + Sync + 'static {
    /// The type of z.
    type Out: Scalar;
    /// f in CUDA.
    const TEXT: OperatorText;
    /// f. Positions are those after the transpose option.
    fn apply(x: A, i: i64, j: i64, y: Y) -> Self::Out;
}

/// a ⊗ b of a semiring; may look at the position as well. Every binary [`operator!`] is one.
#[diagnostic::on_unimplemented(
    message = "multiply `{Self}` does not take ({A}, {B})",
    note = "`First`, `Second` and `Pair` take operands of any two types; others are converted by `.cast::<T>()?`"
)]
pub trait Multiply<A: Scalar, B: Scalar>: Copy + Send + Sync + 'static {
    /// The type of the product.
    type Out: Scalar;
    /// ⊗ in CUDA.
    const TEXT: OperatorText;
    /// What it looks at.
    const READS: Reads;
    /// ⊗.
    fn multiply(a: A, b: B, at: At) -> Self::Out;
}

operator! { /// x + y; integers wrap.
pub Plus[T: Arithmetic](T, T) -> T = |x, y| add(x, y) }
operator! { /// x − y; integers wrap.
pub Minus[T: Arithmetic](T, T) -> T = |x, y| sub(x, y) }
operator! { /// x · y; integers wrap.
pub Times[T: Arithmetic](T, T) -> T = |x, y| mul(x, y) }
operator! { /// x · y as a term of a sum: `f32` from `f16` and `bf16`. The ⊗ of (+,×).
pub TimesWide[T: Arithmetic](T, T) -> T::Sum = |x, y| mul(widen(x), widen(y)) }
operator! { /// [`TimesWide`] of two types whose sums are of one: `f16`, `bf16` and `f32`.
pub TimesMixed[A: Arithmetic, B: Arithmetic<Sum = A::Sum>](A, B) -> A::Sum = |x, y| mul(widen(x), widen(y)) }
operator! { /// x as a term of a sum: `f32` from `f16` and `bf16`.
pub FirstWide[A: Arithmetic, B: Scalar](A, B) -> A::Sum = |x, _| widen(x) }
operator! { /// y as a term of a sum: `f32` from `f16` and `bf16`.
pub SecondWide[A: Scalar, B: Arithmetic](A, B) -> B::Sum = |_, y| widen(y) }
operator! { /// x + y·i.
pub FromParts[T: Part](T, T) -> T::Complex = |x, y| complex(x, y) }
operator! { /// x / y; never traps: x/0 is the end of the integer's range on x's side, 0/0 is 0.
pub Div[T: Arithmetic](T, T) -> T = |x, y| div(x, y) }
operator! { /// x + y; integers stop at the ends of their range and the largest is +∞: it stays. The ⊗ of (min,+).
pub PlusTop[T: Ordered](T, T) -> T = |x, y| add_top(x, y) }
operator! { /// x + y; integers stop at the ends of their range and the smallest is −∞: it stays. The ⊗ of (max,+).
pub PlusBottom[T: Ordered](T, T) -> T = |x, y| add_bottom(x, y) }
operator! { /// x · y; integers stop at the ends of their range.
pub TimesSaturating[T: Ordered](T, T) -> T = |x, y| mul_sat(x, y) }
operator! { /// min(x, y), NaN omitted.
pub Min[T: Ordered](T, T) -> T = |x, y| min(x, y) }
operator! { /// max(x, y), NaN omitted.
pub Max[T: Ordered](T, T) -> T = |x, y| max(x, y) }
operator! { /// x ∨ y.
pub Lor[](bool, bool) -> bool = |x, y| x || y }
operator! { /// x ∧ y.
pub Land[](bool, bool) -> bool = |x, y| x && y }
operator! { /// x ⊻ y.
pub Lxor[](bool, bool) -> bool = |x, y| x != y }
operator! { /// x ≡ y.
pub Lxnor[](bool, bool) -> bool = |x, y| x == y }
operator! { /// x.
pub First[A: Scalar, B: Scalar](A, B) -> A = |x, _| x }
operator! { /// y.
pub Second[A: Scalar, B: Scalar](A, B) -> B = |_, y| y }
operator! { /// Either; the one met first, so the one with the smallest index.
pub Any[T: Scalar](T, T) -> T = |x, _| x }
operator! { /// x = y.
pub Eq[T: Scalar](T, T) -> bool = |x, y| x == y }
operator! { /// x ≠ y.
pub Ne[T: Scalar](T, T) -> bool = |x, y| x != y }
operator! { /// x < y; false < true.
pub Lt[T: Comparable](T, T) -> bool = |x, y| x < y }
operator! { /// x ≤ y.
pub Le[T: Comparable](T, T) -> bool = |x, y| x <= y }
operator! { /// x > y.
pub Gt[T: Comparable](T, T) -> bool = |x, y| x > y }
operator! { /// x ≥ y.
pub Ge[T: Comparable](T, T) -> bool = |x, y| x >= y }

unary_operator! { /// x.
pub Identity[T: Scalar](T) -> T = |x| x }
unary_operator! { /// −x; integers wrap.
pub Negate[T: Arithmetic](T) -> T = |x| neg(x) }
unary_operator! { /// |x|; of complex numbers it is real.
pub Abs[T: Arithmetic](T) -> T::Real = |x| abs(x) }
unary_operator! { /// 1 / x.
pub Inverse[T: Arithmetic](T) -> T = |x| inv(x) }
unary_operator! { /// re − im·i.
pub Conjugate[T: ComplexNumber](T) -> T = |x| conj(x) }
unary_operator! { /// The real part.
pub RealPart[T: ComplexNumber](T) -> T::Real = |x| real(x) }
unary_operator! { /// The imaginary part.
pub ImaginaryPart[T: ComplexNumber](T) -> T::Real = |x| imag(x) }
unary_operator! { /// The angle in (−π, π]; the last bits are each device's own.
pub Argument[T: ComplexNumber](T) -> T::Real = |x| arg(x) }
unary_operator! { /// ¬x.
pub Not[](bool) -> bool = |x| !x }
unary_operator! { /// x ≠ 0.
pub IsTrue[T: Truth](T) -> bool = |x| truth(x) }

/// 1 for every product; `C` is the counter. A multiply of its own because its output is no operand's type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair<C>(PhantomData<C>);
/// A type with a one, `true` for bool.
pub trait HasOne: Scalar {
    /// 1.
    fn one() -> Self;
}
impl<T: Arithmetic> HasOne for T {
    #[inline(always)]
    fn one() -> T {
        T::ONE
    }
}
impl HasOne for bool {
    #[inline(always)]
    fn one() -> bool {
        true
    }
}
const PAIR: OperatorText = OperatorText { parameters: &["_", "_", "_"], expression: "one<C>()" };
impl<A: Scalar, B: Scalar, C: HasOne> Multiply<A, B> for Pair<C> {
    type Out = C;
    const TEXT: OperatorText = PAIR;
    const READS: Reads = Reads { a: false, b: false, position: false, flipped: false };
    #[inline(always)]
    fn multiply(_: A, _: B, _: At) -> C {
        C::one()
    }
}
impl<A: Scalar, C: HasOne> UnaryOp<A> for Pair<C> {
    type Out = C;
    const TEXT: OperatorText = OperatorText { parameters: &["_"], expression: "one<C>()" };
    #[inline(always)]
    fn apply(_: A) -> C {
        C::one()
    }
}

impl<A: Scalar, B: Scalar, C: HasOne> BinaryOp<A, B> for Pair<C> {
    type Out = C;
    const TEXT: OperatorText = OperatorText { parameters: &["_", "_"], expression: "one<C>()" };
    #[inline(always)]
    fn apply(_: A, _: B) -> C {
        C::one()
    }
}

macro_rules! positional { ($($(#[$m:meta])* $name:ident |$at:ident| $e:expr, $text:literal;)*) => {$(
    $(#[$m])* #[derive(Clone, Copy, Debug, Default)]
    pub struct $name;
    impl<A: Scalar, B: Scalar> Multiply<A, B> for $name {
        type Out = u64;
        const TEXT: OperatorText = OperatorText { parameters: &["_", "_", "at"], expression: $text };
        const READS: Reads = Reads { a: false, b: false, position: true, flipped: false };
        #[inline(always)]
        fn multiply(_: A, _: B, $at: At) -> u64 { $e }
    }
)*} }
positional! {
    /// The row i of a product (GraphBLAS FIRSTI).
    FirstI |at| at.i, "at.i";
    /// The inner index k of a product (GraphBLAS SECONDI, FIRSTJ).
    SecondI |at| at.k, "at.k";
    /// The column j of a product (GraphBLAS SECONDJ).
    SecondJ |at| at.j, "at.j";
    /// The row counted from 1 (SuiteSparse FIRSTI1).
    FirstI1 |at| at.i.wrapping_add(1), "at.i + 1";
    /// The inner index counted from 1 (SuiteSparse SECONDI1, FIRSTJ1).
    SecondI1 |at| at.k.wrapping_add(1), "at.k + 1";
    /// The column counted from 1 (SuiteSparse SECONDJ1).
    SecondJ1 |at| at.j.wrapping_add(1), "at.j + 1";
}
/// The inner index under the name that it has on A's side.
pub use self::{SecondI as FirstJ, SecondI1 as FirstJ1};

index_operator! { /// The row.
pub RowIndex[A: Scalar](A, i64) -> i64 = |_, i, _, y| add(i, y) }
index_operator! { /// The column.
pub ColIndex[A: Scalar](A, i64) -> i64 = |_, _, j, y| add(j, y) }
index_operator! { /// The diagonal, j − i + thunk.
pub DiagIndex[A: Scalar](A, i64) -> i64 = |_, i, j, y| add(sub(j, i), y) }
index_operator! { /// On or below the thunk-th diagonal.
pub Tril[A: Scalar](A, i64) -> bool = |_, i, j, y| sub(j, i) <= y }
index_operator! { /// On or above the thunk-th diagonal.
pub Triu[A: Scalar](A, i64) -> bool = |_, i, j, y| sub(j, i) >= y }
index_operator! { /// On the thunk-th diagonal.
pub Diag[A: Scalar](A, i64) -> bool = |_, i, j, y| sub(j, i) == y }
index_operator! { /// Off the thunk-th diagonal.
pub Offdiag[A: Scalar](A, i64) -> bool = |_, i, j, y| sub(j, i) != y }
index_operator! { /// In rows up to the thunk.
pub RowLe[A: Scalar](A, i64) -> bool = |_, i, _, y| i <= y }
index_operator! { /// In rows above the thunk.
pub RowGt[A: Scalar](A, i64) -> bool = |_, i, _, y| i > y }
index_operator! { /// In columns up to the thunk.
pub ColLe[A: Scalar](A, i64) -> bool = |_, _, j, y| j <= y }
index_operator! { /// In columns above the thunk.
pub ColGt[A: Scalar](A, i64) -> bool = |_, _, j, y| j > y }
index_operator! { /// Value equal to the thunk; NaN never.
pub ValueEq[A: Scalar](A, A) -> bool = |x, _, _, y| x == y }
index_operator! { /// Value different from the thunk; NaN always.
pub ValueNe[A: Scalar](A, A) -> bool = |x, _, _, y| x != y }
index_operator! { /// Value below the thunk; false < true.
pub ValueLt[A: Comparable](A, A) -> bool = |x, _, _, y| x < y }
index_operator! { /// Value up to the thunk.
pub ValueLe[A: Comparable](A, A) -> bool = |x, _, _, y| x <= y }
index_operator! { /// Value above the thunk.
pub ValueGt[A: Comparable](A, A) -> bool = |x, _, _, y| x > y }
index_operator! { /// Value from the thunk up.
pub ValueGe[A: Comparable](A, A) -> bool = |x, _, _, y| x >= y }

/// A unary operator as an index operator that looks at the value alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfValue<F>(PhantomData<F>);
impl<F> OfValue<F> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}
impl<A: Scalar, Y: Scalar, F: UnaryOp<A>> IndexUnaryOp<A, Y> for OfValue<F> {
    type Out = F::Out;
    const TEXT: OperatorText =
        OperatorText { parameters: &[F::TEXT.parameters[0], "_", "_", "_"], expression: F::TEXT.expression };
    #[inline(always)]
    fn apply(x: A, _: i64, _: i64, _: Y) -> F::Out {
        F::apply(x)
    }
}
/// f(thunk, x).
#[derive(Clone, Copy, Debug, Default)]
pub struct BindFirst<F>(PhantomData<F>);
impl<F> BindFirst<F> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}
impl<A: Scalar, Y: Scalar, F: BinaryOp<Y, A>> IndexUnaryOp<A, Y> for BindFirst<F> {
    type Out = F::Out;
    const TEXT: OperatorText = OperatorText {
        parameters: &[F::TEXT.parameters[1], "_", "_", F::TEXT.parameters[0]],
        expression: F::TEXT.expression,
    };
    #[inline(always)]
    fn apply(x: A, _: i64, _: i64, y: Y) -> F::Out {
        F::apply(y, x)
    }
}
/// f(x, thunk).
#[derive(Clone, Copy, Debug, Default)]
pub struct BindSecond<F>(PhantomData<F>);
impl<F> BindSecond<F> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}
impl<A: Scalar, Y: Scalar, F: BinaryOp<A, Y>> IndexUnaryOp<A, Y> for BindSecond<F> {
    type Out = F::Out;
    const TEXT: OperatorText = OperatorText {
        parameters: &[F::TEXT.parameters[0], "_", "_", F::TEXT.parameters[1]],
        expression: F::TEXT.expression,
    };
    #[inline(always)]
    fn apply(x: A, _: i64, _: i64, y: Y) -> F::Out {
        F::apply(x, y)
    }
}
/// The operator with its inputs exchanged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flip<F>(PhantomData<F>);
impl<A: Scalar, B: Scalar, F: Multiply<B, A>> Multiply<A, B> for Flip<F> {
    type Out = F::Out;
    const TEXT: OperatorText = OperatorText {
        parameters: &[F::TEXT.parameters[1], F::TEXT.parameters[0], F::TEXT.parameters[2]],
        expression: F::TEXT.expression,
    };
    const READS: Reads = Reads { a: F::READS.b, b: F::READS.a, position: F::READS.position, flipped: false };
    #[inline(always)]
    fn multiply(a: A, b: B, at: At) -> F::Out {
        F::multiply(b, a, at)
    }
}
