//! The CUDA text of every semiring and operator against the Rust it was written with, value by value, on the emulator or a
//! device: the generator's own preamble with a kernel for each function.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/semirings.rs"]
mod semirings;
#[path = "common/shares.rs"]
mod shares;

use common::emulator;
use oplus::algebra::Eq;
use oplus::backend::cuda::{Buffer, Context, Source};
use oplus::prelude::*;
use oplus_codegen::{Spec, Template, literal};
use semirings::{Sample, Visitor, each};
use shares::{Share, shared};
use std::sync::Arc;

/// One function of one or two values, its arguments and results.
struct Case {
    name: String,
    kernel: String,
    /// The kernel's, and which of the definitions it is written with.
    text: String,
    definition: usize,
    arguments: [Vec<u8>; 2],
    count: usize,
    size: usize,
    check: Box<dyn Fn(&[u8]) -> Option<String>>,
}

#[derive(Default)]
struct Cases {
    /// For all.
    text: String,
    /// Namespaces, the last of which is for the cases that come.
    definitions: Vec<String>,
    cases: Vec<Case>,
}

/// So many definitions are compiled at once: the compiler takes more than twice as long for twice as many.
const TOGETHER: usize = 16;

fn bytes<T: Sample>(values: &[T]) -> Vec<u8> {
    values.iter().flat_map(|v| v.bits().to_le_bytes().into_iter().take(size_of::<T>())).collect()
}

fn value<T: Sample>(bytes: &[u8]) -> T {
    let mut all = [0; 16];
    all[..bytes.len()].copy_from_slice(bytes);
    T::exactly(u128::from_le_bytes(all))
}

/// All special values against all, and some others.
fn pairs<A: Sample, B: Sample>() -> (Vec<A>, Vec<B>) {
    let (a, b) = (A::special(), B::special());
    let special = a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y)));
    let choice = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1;
    special.chain((0..200).map(|i| (A::pick(choice(i)), B::pick(choice(i + 1000))))).unzip()
}

/// Those whose second has a sign to copy: a GPU that makes an f32 of a NaN of 16 bits does not keep its.
fn signed_pairs<T: Sample>() -> (Vec<T>, Vec<T>) {
    let (a, b) = pairs::<T, T>();
    a.into_iter().zip(b).filter(|(_, y)| !y.real().is_nan()).unzip()
}

const LOOP: &str =
    "for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = ";

impl Cases {
    /// `call` is an expression of a[i], b[i] and i; type names are those visible in `oplus::{space}`.
    fn push<A: Sample, B: Sample, C: Sample>(
        &mut self,
        what: (String, &str, &str),
        arguments: (Vec<A>, Vec<B>),
        expected: impl Fn(A, B, At) -> C,
    ) {
        self.compare(what, arguments, &expected, C::same);
    }

    /// [`push`](Self::push) with what counts as the same. Compiled for each three types, not for each operator.
    fn compare<A: Sample, B: Sample, C: Sample>(
        &mut self,
        (name, space, call): (String, &str, &str),
        (a, b): (Vec<A>, Vec<B>),
        expected: &dyn Fn(A, B, At) -> C,
        same: fn(C, C) -> bool,
    ) {
        let kernel = format!("case{}", self.cases.len());
        let [ta, tb, tc] = [A::TEXT.name, B::TEXT.name, C::TEXT.name];
        let text = format!(
            "extern \"C\" __global__ void {kernel}(const oplus::{ta}* a, const oplus::{tb}* b, oplus::{tc}* c, unsigned n) {{\n\
             using namespace oplus::{space};\n{LOOP}{call};\n}}\n"
        )
        .replace("oplus::bool", "bool");
        let at = |i: usize| At { i: i as u64, k: 3 * i as u64, j: 7 * i as u64 };
        let results: Vec<C> = a.iter().zip(&b).enumerate().map(|(i, (x, y))| expected(*x, *y, at(i))).collect();
        let (count, size, arguments) = (a.len(), size_of::<C>(), [bytes(&a), bytes(&b)]);
        let check = move |found: &[u8]| {
            let found: Vec<C> = found.chunks_exact(size).map(value).collect();
            let wrong = (0..count).find(|&i| !same(found[i], results[i]))?;
            Some(format!("({:?}, {:?}) gives {:?}, in Rust {:?}", a[wrong], b[wrong], found[wrong], results[wrong]))
        };
        let definition = self.definitions.len() - 1;
        self.cases.push(Case { name, kernel, text, definition, arguments, count, size, check: Box::new(check) });
    }

    /// An operator's text as it stands.
    fn operator<A: Sample, B: Sample, C: Sample>(&mut self, name: String, text: OperatorText, f: fn(A, B) -> C) {
        let (space, pairs) = (self.function::<A, B, C>(text), pairs::<A, B>());
        self.push((name, &space, "apply(a[i], b[i])"), pairs, move |x, y, _| f(x, y));
    }

    /// An operator's text in a namespace of its own.
    fn function<A: Sample, B: Sample, C: Sample>(&mut self, text: OperatorText) -> String {
        let space = format!("operator{}", self.definitions.len());
        let [ta, tb, tc] = [A::TEXT.name, B::TEXT.name, C::TEXT.name];
        let typed = |t: &str, p: Option<&&str>| format!("{t} {}", p.filter(|p| **p != "_").unwrap_or(&""));
        let parameters = [typed(ta, text.parameters.first()), typed(tb, text.parameters.get(1))].join(", ");
        self.definitions.push(format!(
            "namespace oplus {{ namespace {space} {{\ntypedef {ta} A; typedef {tb} B; typedef {tc} C;\n\
             __device__ inline C apply({parameters}) {{ return {}; }}\n}} }}\n",
            literal::translated(&text.expression.replace('\n', " "))
        ));
        space
    }

    /// Compiles all that was pushed and runs it, for the test of this name.
    fn check(self, test: &str) {
        assert!(!self.cases.is_empty());
        if emulator::cuda().is_some() {
            shared(test, |share| self.check_share(test, &share));
        }
    }

    fn check_share(&self, test: &str, share: &Share) {
        let context = Context::separate(0).unwrap();
        let starts = (0..self.definitions.len()).step_by(TOGETHER);
        for together in share.of(starts.map(|first| first..first + TOGETHER)) {
            let cases: Vec<&Case> = self.cases.iter().filter(|case| together.contains(&case.definition)).collect();
            let definitions = self.definitions.iter().take(together.end).skip(together.start);
            let texts = definitions.chain(cases.iter().map(|case| &case.text)).map(String::as_str);
            let text = portable() + &self.text + &texts.collect::<String>();
            let key = format!("{test}-{}", together.start);
            let source = Source { name: &key, key: &key, text: &text };
            for case in cases {
                if let Some(wrong) = case.run(&context, &source) {
                    panic!("{}: {wrong}", case.name);
                }
            }
        }
    }
}

impl Case {
    fn run(&self, context: &Arc<Context>, source: &Source<'_>) -> Option<String> {
        let [a, b] = [0, 1].map(|i| Buffer::from_host(context, &self.arguments[i]).unwrap());
        let mut c = Buffer::alloc(context, (self.count * self.size) as u64).unwrap();
        let kernel = context.kernel(source, &self.kernel).unwrap();
        let launch = kernel.launch(2u32, 64u32, 0).arg(&a).arg(&b).arg(&mut c).arg(self.count as u32);
        // SAFETY: a, b and c of `count` values each, as the kernels above take them.
        unsafe { launch.run() }.unwrap();
        (self.check)(&c.to_host::<u8>().unwrap())
    }
}

const PREAMBLE: &str = "#line 1 \"preamble\"\n";

/// The text of any kernel: portable functions, preamble, template.
fn source(semiring: SemiringText) -> String {
    Spec::new(Template::SpgemmNumeric, 90).semiring(semiring).source().unwrap()
}

/// With what kernels for complex numbers and halves have besides.
fn portable() -> String {
    #[cfg(feature = "half")]
    let mut semiring = semiring_text::<c64, f16, AnyPair>();
    #[cfg(not(feature = "half"))]
    let mut semiring = semiring_text::<c64, f32, AnyPair>();
    // And of functions.
    semiring.add.expression = "select(is_lor(x, y), bit_get(x, y), x)";
    let text = source(semiring);
    text.split(PREAMBLE).next().unwrap().to_owned()
}

impl Cases {
    /// ⊗ as the generator writes it; its namespace.
    fn semiring<T: Sample, S: Semiring<T, T>>(&mut self, name: &str) -> String
    where
        S::Out: Sample,
    {
        let space = format!("semiring{}", self.definitions.len());
        let whole = source(semiring_text::<T, T, S>());
        let preamble = whole.split(PREAMBLE).nth(1).unwrap().split("#line 1 ").next().unwrap();
        let inner = preamble.trim().strip_prefix("namespace oplus {").unwrap();
        let inner = inner.strip_suffix("}  // namespace oplus").unwrap();
        self.definitions.push(format!("namespace oplus {{ namespace {space} {{\n{inner}\n}} }}\n"));
        let call = "Semiring::multiply(a[i], b[i], {u64(i), u64(3) * i, u64(7) * i})".replace("u64(", "oplus::u64(");
        self.push((format!("⊗ of {name}"), &space, &call), pairs::<T, T>(), <S::Multiply as Multiply<T, T>>::multiply);
        space
    }
}

impl Visitor for Cases {
    fn visit<T: Sample, S: Semiring<T, T>>(&mut self, name: &str)
    where
        S::Out: Sample,
    {
        // A flipped kernel is written over the flipped semiring's text; one scalar shows it.
        if ["bool", "f64"].contains(&T::TEXT.name) {
            self.semiring::<T, Flipped<S>>(&format!("flipped {name}"));
        }
        let space = self.semiring::<T, S>(name);
        let add = |x, y, _| <S::Add as BinaryOp<S::Out, S::Out>>::apply(x, y);
        self.push((format!("⊕ of {name}"), &space, "Semiring::add(a[i], b[i])"), pairs::<S::Out, S::Out>(), add);
        let identity = (format!("identity of {name}"), &*space, "Semiring::identity()");
        self.push(identity, (vec![false], vec![false]), |_, _, _| <S::Add as Monoid<S::Out>>::identity());
        let terminal = move |x: S::Out, _: bool, _| match <S::Add as Monoid<S::Out>>::terminal() {
            Terminal::Never => false,
            Terminal::Always => true,
            Terminal::Value(t) => t.same(x),
        };
        let values = S::Out::special();
        let nothing = vec![false; values.len()];
        self.push((format!("terminal of {name}"), &space, "Semiring::is_terminal(a[i])"), (values, nothing), terminal);
    }
}

#[test]
fn semirings_mean_the_same_in_both_languages() {
    let mut cases = Cases::default();
    each(&mut cases);
    cases.check("semirings_mean_the_same_in_both_languages");
}

macro_rules! binary { ($cases:ident $($op:ident)+: $t:ident) => {$(
    $cases.operator(format!("{} over {}", stringify!($op), stringify!($t)), <$op as BinaryOp<$t, $t>>::TEXT,
        <$op as BinaryOp<$t, $t>>::apply);
)+} }
macro_rules! unary { ($cases:ident $($op:ty),+: $t:ident) => {$(
    $cases.operator(format!("{} over {}", stringify!($op), stringify!($t)), <$op as UnaryOp<$t>>::TEXT,
        |x: $t, _: bool| <$op as UnaryOp<$t>>::apply(x));
)+} }
macro_rules! mixed { ($cases:ident $($op:ident)+: $t:ident $u:ident) => {$(
    $cases.operator(format!("{} over {} and {}", stringify!($op), stringify!($t), stringify!($u)),
        <$op as BinaryOp<$t, $u>>::TEXT, <$op as BinaryOp<$t, $u>>::apply);
)+} }
macro_rules! numbers { ($cases:ident: $($t:ident)+) => {$(
    binary!($cases Plus Minus Times Div PlusTop PlusBottom TimesSaturating Min Max First Second Any Eq Ne Lt Le Gt Ge: $t);
    binary!($cases IsEq IsNe IsLt IsLe IsGt IsGe IsLor IsLand IsLxor Rminus Rdiv: $t);
    unary!($cases Identity, Negate, Abs, Inverse, IsTrue, IsZero: $t);
)+} }
macro_rules! bits { ($cases:ident: $($t:ident)+) => {$(
    binary!($cases Bor Band Bxor Bxnor Bget Bset Bclr Pow: $t);
    unary!($cases Bnot: $t);
    mixed!($cases Bshift: $t i8);
)+} }
// What every device rounds the same.
macro_rules! exact { ($cases:ident: $($t:ident)+) => {$(
    binary!($cases Fmod Remainder Ldexp: $t);
    let space = $cases.function::<$t, $t, $t>(<CopySign as BinaryOp<$t, $t>>::TEXT);
    let name = format!("CopySign over {}", stringify!($t));
    $cases.push((name, &space, "apply(a[i], b[i])"), signed_pairs::<$t>(), |x, y, _| <CopySign as BinaryOp<$t, $t>>::apply(x, y));
    unary!($cases Sqrt, Ceil, Floor, Round, Trunc, Signum, IsInf, IsNan, IsFinite, Frexpx, Frexpe: $t);
)+} }
macro_rules! for_complex { ($cases:ident: $($t:ident)+) => {$(
    binary!($cases Plus Minus Times Div TimesWide First Second Any Eq Ne: $t);
    binary!($cases IsEq IsNe IsLor IsLand IsLxor Rminus Rdiv: $t);
    unary!($cases Identity, Negate, Abs, Inverse, IsTrue, IsZero, Conjugate, RealPart, ImaginaryPart: $t);
    unary!($cases Sqrt, Ceil, Floor, Round, Trunc, Signum, IsInf, IsNan, IsFinite: $t);
)+} }
macro_rules! casts { ($cases:ident: $($t:ident)+) => {$(
    unary!($cases Cast<bool>, Cast<u8>, Cast<u16>, Cast<u32>, Cast<u64>, Cast<i8>, Cast<i16>, Cast<i32>, Cast<i64>,
        Cast<f32>, Cast<f64>, Cast<c32>, Cast<c64>: $t);
    #[cfg(feature = "half")]
    unary!($cases Cast<f16>, Cast<bf16>: $t);
)+} }

#[test]
fn operators_mean_the_same_in_both_languages() {
    let mut cases = Cases::default();
    numbers!(cases: u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);
    for_complex!(cases: c32 c64);
    bits!(cases: u8 u16 u32 u64 i8 i16 i32 i64);
    exact!(cases: f32 f64);
    #[cfg(feature = "half")]
    {
        numbers!(cases: f16 bf16);
        exact!(cases: f16 bf16);
        mixed!(cases TimesWide FirstWide SecondWide: f16 f16);
        mixed!(cases TimesMixed FirstWide SecondWide: bf16 f32);
        mixed!(cases TimesMixed: f32 f16);
    }
    mixed!(cases FromParts: f32 f32);
    mixed!(cases FromParts: f64 f64);
    binary!(cases Lor Land Lxor Lxnor First Second Any Eq Ne Lt Le Gt Ge Pow: bool);
    binary!(cases IsEq IsNe IsLt IsLe IsGt IsGe IsLor IsLand IsLxor: bool);
    unary!(cases Identity, Not, IsTrue, IsZero: bool);
    cases.check("operators_mean_the_same_in_both_languages");
}

oplus::operator! { Polynomial[](f64, f64) -> f64 = |x, y| add(mul(0.1f64, x), select(y < 1e-3f64, 2_5f64, mul(y, 0.75f64))) }
oplus::operator! { Hashed[](u32, u32) -> u32 = |x, y| bit_xor(mul(x, 0x9e37_79b9u32), bit_shift(add(y, 7u32), 13i8)) }
oplus::unary_operator! { Near[](f32) -> u8 = |x| select(abs(x) < 0.1f32, 255u8, 0b101u8) }

/// Numbers in a user's own operator, decimal fractions among them, are the same to the bit.
#[test]
fn literals_mean_the_same_in_both_languages() {
    let mut cases = Cases::default();
    binary!(cases Polynomial: f64);
    binary!(cases Hashed: u32);
    unary!(cases Near: f32);
    cases.check("literals_mean_the_same_in_both_languages");
}

/// Real and imaginary part.
trait Parts: Sample {
    fn parts(self) -> [f64; 2] {
        [self.real(), 0.0]
    }
    /// The least that is not 0.
    fn least() -> f64 {
        Self::exactly(1).real()
    }
    const LARGEST: f64;
}
impl Parts for f32 {
    const LARGEST: f64 = f32::MAX as f64;
}
impl Parts for f64 {
    const LARGEST: f64 = f64::MAX;
}
#[cfg(feature = "half")]
impl Parts for f16 {
    const LARGEST: f64 = f16::MAX.to_f64_const();
}
#[cfg(feature = "half")]
impl Parts for bf16 {
    const LARGEST: f64 = bf16::MAX.to_f64_const();
}
impl Parts for c32 {
    const LARGEST: f64 = f32::MAX as f64;
    fn parts(self) -> [f64; 2] {
        [self.re.into(), self.im.into()]
    }
}
impl Parts for c64 {
    const LARGEST: f64 = f64::MAX;
    fn parts(self) -> [f64; 2] {
        [self.re, self.im]
    }
}

/// Within so many units of the last place of y, of a complex one of its larger part, or of `floor` where that is more.
fn near<T: Parts>(x: T, y: T, units: f64, floor: f64) -> bool {
    let size = y.parts().into_iter().fold(floor, |s, p| s.max(p.abs()));
    x.parts().into_iter().zip(y.parts()).all(|(x, y)| {
        let bound = units * T::ROUNDING * size + 8.0 * T::least();
        // Infinity is one unit beyond the largest.
        let beyond =
            |x: f64, y: f64| x.is_infinite() && x * y > 0.0 && y.abs() >= T::LARGEST * (1.0 - units * T::ROUNDING);
        let one_is_beyond = beyond(x, y) || beyond(y, x);
        x == y || (x.is_nan() && y.is_nan()) || one_is_beyond || (y.is_finite() && (x - y).abs() <= bound)
    })
}

macro_rules! nearly { ($cases:ident $units:literal $floor:literal: $($op:ident)+, $($t:ident)+) => {
    nearly!(@ $cases $units $floor: [$($op)+] $($t)+)
};
(@ $cases:ident $units:literal $floor:literal: $ops:tt $($t:ident)+) => {$( nearly!(@@ $cases $units $floor: $ops $t); )+};
(@@ $cases:ident $units:literal $floor:literal: [$($op:ident)+] $t:ident) => {$(
    let space = $cases.function::<$t, bool, $t>(<$op as UnaryOp<$t>>::TEXT);
    let values = pairs::<$t, bool>();
    let name = format!("{} over {}", stringify!($op), stringify!($t));
    $cases.compare((name, &space, "apply(a[i], b[i])"), values, &|x, _, _| <$op as UnaryOp<$t>>::apply(x),
        |x, y| near::<$t>(x, y, $units, $floor));
)+} }
macro_rules! nearly_binary { ($cases:ident $units:literal: $($op:ident $t:ident $pairs:expr;)+) => {$(
    let space = $cases.function::<$t, $t, $t>(<$op as BinaryOp<$t, $t>>::TEXT);
    let name = format!("{} over {}", stringify!($op), stringify!($t));
    $cases.compare((name, &space, "apply(a[i], b[i])"), $pairs, &|x, y, _| <$op as BinaryOp<$t, $t>>::apply(x, y),
        |x, y| near::<$t>(x, y, $units, 0.0));
)+} }

/// Small numbers against each other: powers of large complex ones are far from what the angle's last bits say.
fn small_pairs<T: Sample>() -> (Vec<T>, Vec<T>) {
    (0..256).map(|n| (T::small(n % 16), T::small(n / 16))).unzip()
}

/// Elementary functions are within some units of the last place: the bounds that NVIDIA states, and as much for the host.
#[test]
fn elementary_functions() {
    let mut cases = Cases::default();
    nearly!(cases 8.0 0.0: Exp Log Sin Cos Tan Sinh Cosh Tanh Exp2 Expm1 Log2 Log10 Log1p Asin Acos Atan Asinh Acosh Atanh
        Cbrt Erf Erfc, f32 f64);
    nearly!(cases 32.0 0.0: Tgamma, f32 f64);
    // Absolute near its zeros.
    nearly!(cases 32.0 1.0: Lgamma, f32 f64);
    nearly_binary!(cases 8.0: Pow f32 pairs(); Pow f64 pairs(); Atan2 f32 pairs(); Atan2 f64 pairs(); Hypot f32 pairs();
        Hypot f64 pairs(););
    nearly!(cases 32.0 0.0: Exp Log Sin Cos Tan Sinh Cosh Tanh Exp2 Expm1 Log2 Log10 Log1p Asin Acos Atan Asinh Acosh Atanh,
        c32 c64);
    nearly_binary!(cases 64.0: Pow c32 small_pairs(); Pow c64 small_pairs(););
    #[cfg(feature = "half")]
    {
        nearly!(cases 1.0 0.0: Exp Log Sin Cos Tan Sinh Cosh Tanh Exp2 Expm1 Log2 Log10 Log1p Asin Acos Atan Asinh Acosh
            Atanh Cbrt Erf Erfc Tgamma, f16 bf16);
        nearly!(cases 1.0 1.0: Lgamma, f16 bf16);
        nearly_binary!(cases 1.0: Pow f16 pairs(); Pow bf16 pairs(); Atan2 f16 pairs(); Hypot bf16 pairs(););
    }
    cases.check("elementary_functions");
}

#[test]
fn casts_mean_the_same_in_both_languages() {
    let mut cases = Cases::default();
    casts!(cases: bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 c32 c64);
    #[cfg(feature = "half")]
    casts!(cases: f16 bf16);
    cases.check("casts_mean_the_same_in_both_languages");
}

/// Angles are within some units of the last place: each device has a library of its own.
#[test]
fn angles() {
    fn near(x: f64, y: f64, epsilon: f64) -> bool {
        (x.is_nan() && y.is_nan()) || (x - y).abs() <= 4.0 * epsilon * y.abs()
    }
    let mut cases = Cases::default();
    macro_rules! angles {
        ($c:ident $t:ident) => {
            let space = cases.function::<$c, $t, bool>(OperatorText {
                parameters: &["x", "y"],
                expression: concat!(
                    "(is_nan(arg(x)) && is_nan(y)) || abs(arg(x) - y) <= ",
                    stringify!($t),
                    "(4) * ",
                    stringify!($t),
                    "_bits(",
                    stringify!($c),
                    "_epsilon) * abs(y)"
                ),
            });
            let values = <$c>::special();
            let angles = values.iter().map(|x| <Argument as UnaryOp<$c>>::apply(*x)).collect();
            cases.push((stringify!($c).into(), &space, "apply(a[i], b[i])"), (values, angles), |x: $c, y: $t, _| {
                near(f64::from(x.im.atan2(x.re)), f64::from(y), f64::from($t::EPSILON))
            });
        };
    }
    cases.text += "namespace oplus { constexpr u32 c32_epsilon = 0x34000000u; constexpr u64 c64_epsilon = 0x3cb0000000000000ull; }\n";
    angles!(c32 f32);
    angles!(c64 f64);
    cases.check("angles");
}

/// An operator that is added to the library has to be added to the lists above, and to those that SuiteSparse is asked for.
#[test]
fn every_operator_of_these_files_is_compared() {
    let words = |text: &'static str| text.split(|c: char| !c.is_alphanumeric());
    let (here, conformance) = (include_str!("cuda_algebra.rs"), include_str!("conformance/function.rs"));
    let mut seen = 0;
    for file in [
        include_str!("../src/algebra/operator/bitwise.rs"),
        include_str!("../src/algebra/operator/compared.rs"),
        include_str!("../src/algebra/operator/elementary.rs"),
    ] {
        let names = file.lines().filter_map(|l| l.strip_prefix("pub ")?.split_once('['));
        for (name, _) in names {
            seen += 1;
            for text in [here, conformance] {
                assert!(words(text).any(|word| word == name), "{name} is in no list");
            }
        }
    }
    assert!(seen > 60, "{seen} operators: are they looked for where they are?");
}
