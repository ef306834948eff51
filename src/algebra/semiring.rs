//! Monoids and semirings: how products are made and added.
use super::bits::Bits;
use super::operator::*;
use super::scalar::{Arithmetic, Ordered, Scalar};
use super::texts::{FUNCTIONS, SEMIRINGS};
use oplus_codegen::text::{Atomic, OperatorText, Reads, ScalarText, Terminal};
use oplus_codegen::{FunctionText, SemiringText, Shared};
use std::any::TypeId;
use std::marker::PhantomData;

/// An associative operator with an identity. ⊕ of a semiring must be commutative as well.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a monoid over `{T}`",
    note = "numbers are summed by Plus, Times, Min, Max, booleans by Lor, Land, Lxor, Lxnor, any values by Any",
    note = "`f16` and `bf16` are added up as `f32`: see `Reduction`, or convert with `.cast()`"
)]
pub trait Monoid<T: Scalar>: BinaryOp<T, T, Out = T> {
    /// e with e ⊕ x = x.
    fn identity() -> T;
    /// When a running sum can stop early: a value is met to the bit, −0.0 is not 0.0.
    fn terminal() -> Terminal<T> {
        Terminal::Never
    }
    /// Which hardware atomic does ⊕, where there is one.
    const ATOMIC: Atomic = Atomic::None;
    /// The sum of terms in an order of its own, the same each time, where there is a faster way than parts one behind the other.
    #[doc(hidden)]
    fn of_many(_terms: &[T]) -> Option<T> {
        None
    }
}

/// `f16` and `bf16` are not added up as they are, sums would stop growing at 2048 ones: products are `f32`, and so is what [`Reduction`]
/// makes of them.
impl<T: Arithmetic<Sum = T>> Monoid<T> for Plus {
    fn identity() -> T {
        T::ZERO
    }
    const ATOMIC: Atomic = Atomic::Add;
    fn of_many(terms: &[T]) -> Option<T> {
        side_by_side(terms, T::plus)
    }
}
impl<T: Arithmetic<Sum = T>> Monoid<T> for Times {
    fn identity() -> T {
        T::ONE
    }
    fn of_many(terms: &[T]) -> Option<T> {
        side_by_side(terms, T::times)
    }
}
/// Terms that a commutative ⊕ takes as a processor reads them: neighbours into sums of their own, in vector registers.
fn side_by_side<T: Copy>(terms: &[T], add: impl Fn(T, T) -> T) -> Option<T> {
    const LANES: usize = 16;
    let (chunks, rest) = terms.as_chunks::<LANES>();
    let (first, chunks) = chunks.split_first()?;
    let mut sums = *first;
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum = add(*sum, *x));
    }
    sums.into_iter().chain(rest.iter().copied()).reduce(add)
}
/// The term that is `before` all others, by one comparison each: NaN is before none. `None` where that is not all there is to know: of
/// zeros one sign is less, and `last`, which is before no term, may stand for no number at all.
fn foremost<T: Ordered>(terms: &[T], last: T, before: impl Fn(T, T) -> bool) -> Option<T> {
    const LANES: usize = 16;
    let nearer = |x: T, y: T| if before(x, y) { x } else { y };
    let (chunks, rest) = terms.as_chunks::<LANES>();
    let mut found = [last; LANES];
    for chunk in chunks {
        found.iter_mut().zip(chunk).for_each(|(y, x)| *y = nearer(*x, *y));
    }
    let found = found.iter().chain(rest).fold(last, |y, x| nearer(*x, y));
    (found != last && found != T::ZERO).then_some(found)
}

impl<T: Ordered> Monoid<T> for Min {
    fn identity() -> T {
        T::TOP
    }
    fn terminal() -> Terminal<T> {
        Terminal::Value(T::BOTTOM)
    }
    const ATOMIC: Atomic = Atomic::Min;
    fn of_many(terms: &[T]) -> Option<T> {
        foremost(terms, T::TOP, |x, y| x < y)
    }
}
impl<T: Ordered> Monoid<T> for Max {
    fn identity() -> T {
        T::BOTTOM
    }
    fn terminal() -> Terminal<T> {
        Terminal::Value(T::TOP)
    }
    const ATOMIC: Atomic = Atomic::Max;
    fn of_many(terms: &[T]) -> Option<T> {
        foremost(terms, T::BOTTOM, |x, y| x > y)
    }
}
impl Monoid<bool> for Lor {
    fn identity() -> bool {
        false
    }
    fn terminal() -> Terminal<bool> {
        Terminal::Value(true)
    }
    const ATOMIC: Atomic = Atomic::Or;
}
impl Monoid<bool> for Land {
    fn identity() -> bool {
        true
    }
    fn terminal() -> Terminal<bool> {
        Terminal::Value(false)
    }
    const ATOMIC: Atomic = Atomic::And;
}
impl Monoid<bool> for Lxor {
    fn identity() -> bool {
        false
    }
    const ATOMIC: Atomic = Atomic::Xor;
}
impl Monoid<bool> for Lxnor {
    fn identity() -> bool {
        true
    }
}
impl<T: Bits> Monoid<T> for Bor {
    fn identity() -> T {
        T::ZERO
    }
    fn terminal() -> Terminal<T> {
        Terminal::Value(T::ONES)
    }
    const ATOMIC: Atomic = Atomic::Or;
}
impl<T: Bits> Monoid<T> for Band {
    fn identity() -> T {
        T::ONES
    }
    fn terminal() -> Terminal<T> {
        Terminal::Value(T::ZERO)
    }
    const ATOMIC: Atomic = Atomic::And;
}
impl<T: Bits> Monoid<T> for Bxor {
    fn identity() -> T {
        T::ZERO
    }
    const ATOMIC: Atomic = Atomic::Xor;
}
impl<T: Bits> Monoid<T> for Bxnor {
    fn identity() -> T {
        T::ONES
    }
}
/// `Any` has no identity in algebra. What stands here, 0, is what [`reduce`](crate::operation::reduce()) gives where there is nothing, as
/// in SuiteSparse; [`reduce_stored`](crate::operation::reduce_stored) tells. Every other sum starts from its first term.
impl<T: Scalar> Monoid<T> for Any {
    fn identity() -> T {
        T::zeroed()
    }
    fn terminal() -> Terminal<T> {
        Terminal::Always
    }
    const ATOMIC: Atomic = Atomic::First;
}

/// How values of `T` are reduced: by a monoid of `T`, to a `T`; [`Plus`] and [`Times`] of `f16` and `bf16` in `f32`, which is the
/// result's type, as that of a product's sums is.
/// ```
/// # #[cfg(feature = "half")] fn main() -> oplus::Result<()> {
/// use oplus::prelude::*;
/// let x: Vector<f16> = Vector::full(5000, f16::ONE)?;
/// assert_eq!(reduce(&x, Plus)?, 5000f32);
/// assert_eq!(reduce(&x, Max)?, f16::ONE);
/// # Ok(()) }
/// # #[cfg(not(feature = "half"))] fn main() {}
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is not a monoid over `{T}`, which values are reduced by")]
pub trait Reduction<T: Scalar>: Copy + Send + Sync + 'static {
    /// The type of sums.
    type Sum: Scalar;
    /// What adds terms up.
    type Monoid: Monoid<Self::Sum>;
    /// A value as a term; exact.
    type Term: UnaryOp<T, Out = Self::Sum>;
}
#[diagnostic::do_not_recommend]
impl<T: Scalar, M: Monoid<T>> Reduction<T> for M {
    type Sum = T;
    type Monoid = M;
    type Term = Identity;
}

/// What a product of an `A` and a `B` is, and how products are added.
#[diagnostic::on_unimplemented(
    message = "semiring `{Self}` does not fit scalars ({A}, {B})",
    label = "no multiply and monoid of `{Self}` for these scalars",
    note = "a graph's bools with values: `.over::<PlusSecond>()` where the values are on the right, `PlusFirst` on the left; bools alone: `LorLand`, `PlusPair`",
    note = "relabel with `.over::<S>()`, convert with `.cast::<T>()?`, or define one with `semiring!{{ … }}`"
)]
pub trait Semiring<A: Scalar, B: Scalar>: Copy + Send + Sync + 'static {
    /// The type of products and sums.
    type Out: Scalar;
    /// ⊕.
    type Add: Monoid<Self::Out>;
    /// ⊗.
    type Multiply: Multiply<A, B, Out = Self::Out>;
}

/// All the generator needs to know of a semiring over these scalars.
pub fn semiring_text<A: Scalar, B: Scalar, S: Semiring<A, B>>() -> SemiringText {
    SemiringParts::of::<A, B, S>().text()
}

/// What a [`SemiringText`] is made of: constants, so that little is compiled for a semiring.
#[derive(Debug)]
pub(crate) struct SemiringParts {
    /// Of what, with the scalars.
    of: TypeId,
    name: fn() -> &'static str,
    scalars: [ScalarText; 3],
    add: OperatorText,
    atomic: Atomic,
    multiply: OperatorText,
    reads: Reads,
    identity: fn() -> String,
    terminal: fn() -> Terminal<String>,
}
impl SemiringParts {
    pub(crate) const fn of<A: Scalar, B: Scalar, S: Semiring<A, B>>() -> Self {
        SemiringParts {
            of: TypeId::of::<(A, B, S)>(),
            name: std::any::type_name::<S>,
            scalars: [A::TEXT, B::TEXT, <S::Out as Scalar>::TEXT],
            add: <S::Add as BinaryOp<S::Out, S::Out>>::TEXT,
            atomic: <S::Add as Monoid<S::Out>>::ATOMIC,
            multiply: <S::Multiply as Multiply<A, B>>::TEXT,
            reads: <S::Multiply as Multiply<A, B>>::READS,
            identity: identity_text::<S::Out, S::Add>,
            terminal: terminal_text::<S::Out, S::Add>,
        }
    }
    /// The text, made once.
    pub(crate) fn shared(&self) -> Shared<SemiringText> {
        SEMIRINGS.get((self.of, "semiring"), &|| self.text())
    }
    fn text(&self) -> SemiringText {
        let [a, b, c] = self.scalars;
        SemiringText {
            name: short_name((self.name)()),
            a,
            b,
            c,
            counted: None,
            add: self.add,
            atomic: self.atomic,
            multiply: self.multiply,
            reads: self.reads,
            identity: (self.identity)(),
            terminal: (self.terminal)(),
        }
    }
}

fn identity_text<T: Scalar, M: Monoid<T>>() -> String {
    M::identity().cuda_literal()
}

fn short_name(name: &str) -> String {
    name.rsplit("::").next().unwrap_or(name).trim_end_matches('>').to_string()
}

fn terminal_text<T: Scalar, M: Monoid<T>>() -> Terminal<String> {
    match M::terminal() {
        Terminal::Never => Terminal::Never,
        Terminal::Always => Terminal::Always,
        Terminal::Value(v) => Terminal::Value(v.cuda_literal()),
    }
}

/// All the generator needs to know of a monoid.
pub(crate) fn monoid_text<T: Scalar, M: Monoid<T>>(name: &'static str) -> Shared<FunctionText> {
    FUNCTIONS.get((TypeId::of::<(T, M)>(), name), &|| {
        let text = FunctionText::new(name, vec![T::TEXT, T::TEXT], T::TEXT, <M as BinaryOp<T, T>>::TEXT);
        text.monoid(M::identity().cuda_literal(), terminal_text::<T, M>(), M::ATOMIC)
    })
}

/// Named semirings: a type of its own each, so that error messages say `MinPlus`.
macro_rules! named { ($($(#[$m:meta])* $name:ident $(<$c:ident = $d:ty>)? = $add:ty, $mul:ty;)*) => {$(
    $(#[$m])* #[derive(Clone, Copy, Debug, Default)]
    pub struct $name$(<$c = $d>(PhantomData<$c>))?;
    #[diagnostic::do_not_recommend]
    impl<A: Scalar, B: Scalar, $($c: HasOne)?> Semiring<A, B> for $name$(<$c>)?
    where $mul: Multiply<A, B>, $add: Monoid<<$mul as Multiply<A, B>>::Out> {
        type Out = <$mul as Multiply<A, B>>::Out;
        type Add = $add;
        type Multiply = $mul;
    })*}
}
named! {
    /// (+, ×): the ring of numbers; integers wrap. 0 annihilates except 0·∞ and 0·NaN. Of `f16` and `bf16` products are made
    /// and added up in `f32`, the type of the result; `.apply(Cast::<f16>::default())` on the product rounds it.
    PlusTimes = Plus, TimesWide;
    /// (+, ×) of operands of two types: `f16` or `bf16` with each other or with `f32`, added up in `f32`.
    PlusTimesMixed = Plus, TimesMixed;
    /// (min, +): shortest paths. Integers saturate and their largest value is ∞. ∞ annihilates except ∞ + −∞ of floats.
    MinPlus = Min, PlusTop;
    /// (max, +): longest paths. Integers saturate and their smallest value is −∞. −∞ annihilates except −∞ + ∞ of floats.
    MaxPlus = Max, PlusBottom;
    /// (min, max): minimax paths. ∞ annihilates.
    MinMax = Min, Max;
    /// (max, min): bottleneck paths. −∞ annihilates.
    MaxMin = Max, Min;
    /// (min, ×); integers saturate. The identity does not annihilate (∞·0 is not ∞).
    MinTimes = Min, TimesSaturating;
    /// (max, ×); integers saturate. The identity does not annihilate (−∞·0 is not −∞), but for unsigned integers, of which it is 0.
    MaxTimes = Max, TimesSaturating;
    /// (∨, ∧): reachability. False annihilates.
    LorLand = Lor, Land;
    /// (∧, ∨): the dual of [`LorLand`]. True annihilates.
    LandLor = Land, Lor;
    /// (⊻, ∧): the field of two elements. False annihilates.
    LxorLand = Lxor, Land;
    /// (bitwise ∨, ∧): sets as bits, joined along paths. 0 annihilates.
    BorBand = Bor, Band;
    /// (bitwise ∧, ∨): the dual of [`BorBand`]. All bits annihilate.
    BandBor = Band, Bor;
    /// (bitwise ⊻, ∧): a field of two elements in every bit. 0 annihilates.
    BxorBand = Bxor, Band;
    /// (bitwise ≡, ∨): the dual of [`BxorBand`]. All bits annihilate.
    BxnorBor = Bxnor, Bor;
    /// (min, first): ignores B's values. ∞ annihilates in A, and does not in B.
    MinFirst = Min, First;
    /// (min, second): ignores A's values. ∞ annihilates in B, and does not in A.
    MinSecond = Min, Second;
    /// (max, first): ignores B's values. −∞ annihilates in A, and does not in B.
    MaxFirst = Max, First;
    /// (max, second): ignores A's values. −∞ annihilates in B, and does not in A.
    MaxSecond = Max, Second;
    /// (+, first): ignores B's values. 0 annihilates in A, and does not in B.
    PlusFirst = Plus, FirstWide;
    /// (+, second): ignores A's values. 0 annihilates in B, and does not in A.
    PlusSecond = Plus, SecondWide;
    /// (any, first): ignores B's values. `Any` has no identity, so nothing annihilates.
    AnyFirst = Any, First;
    /// (any, second): ignores A's values. `Any` has no identity, so nothing annihilates.
    AnySecond = Any, Second;
    /// (any, secondi): the smallest k of the products, as u64: BFS parents. `Any` has no identity, so nothing annihilates.
    AnySecondI = Any, SecondI;
    /// (min, secondi): the same as [`AnySecondI`] by an algebraic sum. Nothing annihilates: ⊗ is a place, whatever the values.
    MinSecondI = Min, SecondI;
    /// (max, secondi): the largest k of the products. Nothing annihilates: ⊗ is a place, whatever the values.
    MaxSecondI = Max, SecondI;
    /// (any, firsti): the row. `Any` has no identity, so nothing annihilates.
    AnyFirstI = Any, FirstI;
    /// (any, secondj): the column. `Any` has no identity, so nothing annihilates.
    AnySecondJ = Any, SecondJ;
    /// (any, pair): the pattern of the product; value-free. `Any` has no identity, so nothing annihilates.
    AnyPair<C = bool> = Any, Pair<C>;
    /// (+, pair): how many products an entry has; C counts. 0 does not annihilate: a product is 1, whatever the values.
    PlusPair<C = u64> = Plus, Pair<C>;
}

/// Any monoid with any multiply, without a definition: `a.over::<Compose<Max, First>>()`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compose<Add, Mul>(PhantomData<(Add, Mul)>);
#[diagnostic::do_not_recommend]
impl<A: Scalar, B: Scalar, Add, Mul> Semiring<A, B> for Compose<Add, Mul>
where
    Add: Copy + Send + Sync + 'static,
    Mul: Multiply<A, B>,
    Add: Monoid<Mul::Out>,
{
    type Out = Mul::Out;
    type Add = Add;
    type Multiply = Mul;
}

/// The semiring with the operands of ⊗ exchanged: what a product of transposes needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flipped<S>(PhantomData<S>);
/// ⊗ of a [`Flipped`] semiring.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlippedMultiply<S>(PhantomData<S>);
impl<A: Scalar, B: Scalar, S: Semiring<B, A>> Multiply<A, B> for FlippedMultiply<S> {
    type Out = S::Out;
    const TEXT: oplus_codegen::text::OperatorText = <Flip<S::Multiply> as Multiply<A, B>>::TEXT;
    const READS: Reads = Reads { flipped: !S::Multiply::READS.flipped, ..<Flip<S::Multiply> as Multiply<A, B>>::READS };
    #[inline(always)]
    fn multiply(a: A, b: B, at: At) -> S::Out {
        S::Multiply::multiply(b, a, At { i: at.j, k: at.k, j: at.i })
    }
}
#[diagnostic::do_not_recommend]
impl<A: Scalar, B: Scalar, S: Semiring<B, A>> Semiring<A, B> for Flipped<S> {
    type Out = S::Out;
    type Add = S::Add;
    type Multiply = FlippedMultiply<S>;
}
