//! The laws of every named semiring over every built-in scalar, and where they are documented not to hold.
#[path = "common/semirings.rs"]
mod semirings;

use oplus::algebra::Arithmetic;
use oplus::prelude::*;
use quickcheck::QuickCheck;
use semirings::{LISTED, Sample, Visitor, each};

type Add<T, S> = <S as Semiring<T, T>>::Add;
type Mul<T, S> = <S as Semiring<T, T>>::Multiply;

fn add<T: Sample, S: Semiring<T, T>>(x: S::Out, y: S::Out) -> S::Out {
    <Add<T, S> as BinaryOp<S::Out, S::Out>>::apply(x, y)
}
fn multiply<T: Sample, S: Semiring<T, T>>(a: T, b: T, at: At) -> S::Out {
    Mul::<T, S>::multiply(a, b, at)
}

/// Which numbers `case` tries each law with.
struct Laws {
    choices: [u64; 5],
}

const PLACES: [At; 3] = [At { i: 3, k: 5, j: 7 }, At { i: 0, k: u64::MAX, j: 1 }, At { i: 7, k: 5, j: 3 }];

/// ⊕ of the semiring as its name has it.
fn family(name: &str) -> &'static str {
    ["Plus", "Min", "Max", "Lor", "Land", "Lxor", "Bor", "Band", "Bxor", "Bxnor", "Any"]
        .into_iter()
        .find(|f| name.starts_with(f))
        .expect("a known ⊕")
}

impl Visitor for Laws {
    fn visit<T: Sample, S: Semiring<T, T>>(&mut self, name: &str)
    where
        S::Out: Sample,
    {
        // Complex numbers round in both parts: tests/complex.rs.
        if ["c32", "c64"].contains(&T::TEXT.name) {
            return;
        }
        let [x, y, z] = [0, 1, 2].map(|i| S::Out::pick(self.choices[i]));
        let [a, b] = [3, 4].map(|i| T::pick(self.choices[i]));
        addition::<T, S>(name, x, y, z);
        zero::<T, S>(name, a);
        inputs::<T, S>(name, a, b, T::pick(self.choices[0]));
        exchanged::<T, S>(name, a, b);
    }
}

/// ⊕ is associative and commutative, its identity does nothing, its terminal value stays.
fn addition<T: Sample, S: Semiring<T, T>>(name: &str, x: S::Out, y: S::Out, z: S::Out)
where
    S::Out: Sample,
{
    let plus = add::<T, S>;
    let (left, right) = (plus(plus(x, y), z), plus(x, plus(y, z)));
    let sums = family(name) == "Plus";
    if sums && S::Out::ROUNDING > 0.0 {
        // Sums of floats are associative up to rounding, where none leaves the range.
        let bound = x.real().abs() + y.real().abs() + z.real().abs();
        let near = (left.real() - right.real()).abs() <= 4.0 * S::Out::ROUNDING * bound;
        let finite = left.real().is_finite() && right.real().is_finite();
        assert!(!finite || near, "{name}: ({x:?} ⊕ {y:?}) ⊕ {z:?} is {left:?}, not {right:?}");
        // Without overflow, infinities and NaN come out of either order.
        let largest = S::Out::special().iter().map(|v| v.real()).filter(|v| v.is_finite()).fold(0.0, f64::max);
        let overflows =
            [x, y, z].iter().filter(|v| v.real().is_finite()).map(|v| v.real().abs()).sum::<f64>() >= largest;
        assert!(overflows || finite || left.same(right), "{name}: {x:?}, {y:?}, {z:?}: {left:?}, {right:?}");
    } else {
        assert!(left.same(right), "{name}: ({x:?} ⊕ {y:?}) ⊕ {z:?} is {left:?}, not {right:?}");
    }
    if family(name) == "Any" {
        assert!(plus(x, y).same(x), "{name}: the first term met stays");
    } else {
        assert!(plus(x, y).same(plus(y, x)), "{name}: {x:?} ⊕ {y:?}");
        // Documented: + of floats turns −0 into 0, min and max leave NaN out.
        let e = <Add<T, S> as Monoid<S::Out>>::identity();
        let sum = plus(e, x);
        let exact = sum.same(x) || (sums && sum == x) || x.real().is_nan();
        assert!(exact, "{name}: {e:?} ⊕ {x:?} is {sum:?}");
        assert!(plus(x, e).same(sum), "{name}: {x:?} ⊕ {e:?}");
    }
    match <Add<T, S> as Monoid<S::Out>>::terminal() {
        Terminal::Value(t) => assert!(plus(t, x).same(t) && plus(x, t).same(t), "{name}: {t:?} ⊕ {x:?}"),
        Terminal::Always => assert!(plus(x, y).same(x), "{name}: {x:?} ⊕ {y:?}"),
        Terminal::Never => {}
    }
    let leaves_nan_out = matches!(family(name), "Min" | "Max") && y.real().is_nan();
    assert!(!leaves_nan_out || (plus(x, y).same(x) && plus(y, x).same(x)), "{name}: {x:?} ⊕ {y:?}");
    let idempotent = matches!(family(name), "Min" | "Max" | "Lor" | "Land" | "Bor" | "Band" | "Any");
    assert!(!idempotent || plus(x, x).same(x), "{name}: {x:?} ⊕ {x:?}");
}

/// The identity of ⊕ annihilates under ⊗, on the sides where ⊗ reads it; the exceptions are the documented ones.
fn zero<T: Sample, S: Semiring<T, T>>(name: &str, a: T)
where
    S::Out: Sample,
{
    let zero = <Add<T, S> as Monoid<S::Out>>::identity();
    let Some(e) = T::of(zero) else { return };
    let (left, right) = (multiply::<T, S>(e, a, PLACES[0]), multiply::<T, S>(a, e, PLACES[0]));
    let stays = |x: S::Out| x == zero;
    let float = T::ROUNDING > 0.0;
    let base = name.split(" over ").next().unwrap_or(name);
    let (expect_left, expect_right) = match base {
        "PlusTimes" | "PlusTimesMixed" => (!float || a.real().is_finite(), !float || a.real().is_finite()),
        // ∞ + −∞.
        "MinPlus" | "MaxPlus" => [!float || !(a.real().is_nan() || a.real() == -e.real()); 2].into(),
        "MinMax" | "MaxMin" | "LorLand" | "LandLor" | "LxorLand" => (true, true),
        "BorBand" | "BandBor" | "BxorBand" | "BxnorBor" => (true, true),
        // Of the values that First and Second do not read nothing can be expected.
        "MinFirst" | "MaxFirst" | "PlusFirst" => (true, false),
        "MinSecond" | "MaxSecond" | "PlusSecond" => (false, true),
        "MaxTimes" => [e == T::small(8); 2].into(),
        _ => (false, false),
    };
    assert!(!expect_left || stays(left), "{name}: {e:?} ⊗ {a:?} is {left:?}");
    assert!(!expect_right || stays(right), "{name}: {a:?} ⊗ {e:?} is {right:?}");
    // Documented absence.
    match base {
        "MinTimes" | "MaxTimes" if !expect_left => {
            let nothing = multiply::<T, S>(e, T::small(8), PLACES[0]);
            assert!(!stays(nothing), "{name}: {e:?} ⊗ 0 is {nothing:?}");
        }
        "MinFirst" | "MaxFirst" | "PlusFirst" => {
            assert!(stays(right) == (a == e), "{name}: {a:?} ⊗ {e:?} is {right:?}")
        }
        "MinSecond" | "MaxSecond" | "PlusSecond" => {
            assert!(stays(left) == (a == e), "{name}: {e:?} ⊗ {a:?} is {left:?}");
        }
        "PlusPair" | "MinSecondI" | "MaxSecondI" => {
            assert!(!stays(left) && !stays(right), "{name}: {e:?} and {a:?}: {left:?}, {right:?}");
        }
        // What would be its identity is a term as all others.
        _ if family(name) == "Any" => {
            let kept = add::<T, S>(zero, left);
            assert!(kept.same(zero), "{name}: {zero:?} ⊕ {left:?} is {kept:?}");
            let product = |x: T, y: T| multiply::<T, S>(x, y, PLACES[0]);
            let (reads, other) = (Mul::<T, S>::READS, T::small(9));
            // The value that is read comes through, places and ones whatever the values.
            assert!(reads.a || left.same(product(other, a)), "{name}: {e:?} ⊗ {a:?} is {left:?}");
            assert!(reads.b || right.same(product(a, other)), "{name}: {a:?} ⊗ {e:?} is {right:?}");
        }
        _ => {}
    }
}

/// What ⊗ says it does not read changes nothing.
fn inputs<T: Sample, S: Semiring<T, T>>(name: &str, a: T, b: T, other: T)
where
    S::Out: Sample,
{
    let reads = Mul::<T, S>::READS;
    let product = multiply::<T, S>(a, b, PLACES[0]);
    assert!(reads.a || product.same(multiply::<T, S>(other, b, PLACES[0])), "{name} reads a");
    assert!(reads.b || product.same(multiply::<T, S>(a, other, PLACES[0])), "{name} reads b");
    for at in PLACES {
        assert!(reads.position || product.same(multiply::<T, S>(a, b, at)), "{name} reads its position");
    }
}

/// Exchanging operands exchanges values, row and column; twice is not at all; a composition is its parts.
fn exchanged<T: Sample, S: Semiring<T, T>>(name: &str, a: T, b: T)
where
    S::Out: Sample,
{
    for at in PLACES {
        let product = multiply::<T, S>(a, b, at);
        let back = At { i: at.j, k: at.k, j: at.i };
        assert!(product.same(Mul::<T, Flipped<S>>::multiply(b, a, back)), "{name}: {a:?}, {b:?}");
        assert!(product.same(Mul::<T, Flipped<Flipped<S>>>::multiply(a, b, at)), "{name}: {a:?}, {b:?}");
        assert!(product.same(Flip::<Mul<T, S>>::multiply(b, a, at)), "{name}: {a:?}, {b:?}");
        assert!(product.same(Mul::<T, Compose<Add<T, S>, Mul<T, S>>>::multiply(a, b, at)), "{name}: {a:?}, {b:?}");
    }
    let (plain, flipped) = (Mul::<T, S>::READS, Mul::<T, Flipped<S>>::READS);
    assert_eq!((plain.a, plain.b, plain.position), (flipped.b, flipped.a, flipped.position), "{name}");
    assert!(flipped.flipped != plain.flipped, "{name}");
    assert_eq!(Mul::<T, Flipped<Flipped<S>>>::READS, plain, "{name}");
}

/// Distributivity and saturation, over numbers.
struct Arithmetics {
    choices: [u64; 3],
}

impl Visitor for Arithmetics {
    fn visit<T: Sample, S: Semiring<T, T>>(&mut self, name: &str)
    where
        S::Out: Sample,
    {
        let [a, b, c] = self.choices.map(T::pick);
        if ["c32", "c64"].contains(&T::TEXT.name) {
            return;
        }
        distributes::<T, S>(name, a, b, c);
        let base = name.split(" over ").next().unwrap_or(name);
        let (Some(x), Some(y)) = (a.whole(), b.whole()) else { return };
        let all = T::special();
        let ends = |pick: fn(i128, i128) -> i128| all.iter().filter_map(|v| v.whole()).reduce(pick).expect("integers");
        let (bottom, top) = (ends(i128::min), ends(i128::max));
        let modulo = |v: i128| T::of_bits(v as u64);
        let expected = match base {
            "PlusTimes" => modulo(x.wrapping_mul(y)),
            "MinPlus" if x == top || y == top => modulo(top),
            "MaxPlus" if x == bottom || y == bottom => modulo(bottom),
            "MinPlus" | "MaxPlus" => modulo((x + y).clamp(bottom, top)),
            "MinTimes" | "MaxTimes" => modulo(x.saturating_mul(y).clamp(bottom, top)),
            "MinMax" => modulo(x.max(y)),
            "MaxMin" => modulo(x.min(y)),
            "BorBand" | "BxorBand" => modulo(x & y),
            "BandBor" | "BxnorBor" => modulo(x | y),
            _ => return,
        };
        let product = multiply::<T, S>(a, b, PLACES[0]);
        assert_eq!(product.bits(), expected.bits(), "{name}: {a:?} ⊗ {b:?} is {product:?}");
    }
}

/// a ⊗ (b ⊕ c) = (a ⊗ b) ⊕ (a ⊗ c), and on the other side.
fn distributes<T: Sample, S: Semiring<T, T>>(name: &str, a: T, b: T, c: T)
where
    S::Out: Sample,
{
    let base = name.split(" over ").next().unwrap_or(name);
    if ![
        "PlusTimes",
        "MinPlus",
        "MaxPlus",
        "MinMax",
        "MaxMin",
        "MinTimes",
        "MaxTimes",
        "LorLand",
        "LandLor",
        "LxorLand",
        "BorBand",
        "BandBor",
        "BxorBand",
        "BxnorBor",
    ]
    .contains(&base)
    {
        return;
    }
    let all = [a.real(), b.real(), c.real()];
    let float = T::ROUNDING > 0.0;
    // Of floats: + and × round, ∞ − ∞ and 0 · ∞ are NaN, min and max drop NaN.
    if float && (base == "PlusTimes" || all.iter().any(|v| !v.is_finite())) {
        return;
    }
    // × turns an order around at negative numbers.
    if base.ends_with("Times") && base != "PlusTimes" && all.iter().any(|v| v.is_sign_negative()) {
        return;
    }
    let times = |x: T, y: T| multiply::<T, S>(x, y, PLACES[0]);
    // T is S::Out here, which the type system does not know.
    let (Some(left), Some(right)) = (S::Out::of(b), S::Out::of(c)) else { panic!("{name}: a result of another type") };
    let Some(sum) = T::of(add::<T, S>(left, right)) else { panic!("{name}: a result of another type") };
    let (left, expected) = (times(a, sum), add::<T, S>(times(a, b), times(a, c)));
    assert!(left.same(expected), "{name}: {a:?} ⊗ ({b:?} ⊕ {c:?}) is {left:?}, not {expected:?}");
    let (right, expected) = (times(sum, a), add::<T, S>(times(b, a), times(c, a)));
    assert!(right.same(expected), "{name}: ({b:?} ⊕ {c:?}) ⊗ {a:?} is {right:?}, not {expected:?}");
}

#[test]
fn laws_of_every_semiring() {
    fn laws(a: u64, b: u64, c: u64, d: u64, e: u64) {
        each(&mut Laws { choices: [a, b, c, d, e] });
    }
    QuickCheck::new().tests(400).quickcheck(laws as fn(u64, u64, u64, u64, u64));
    // All special values against each other.
    for a in 0..20 {
        for b in 0..20 {
            laws(4 * a, 4 * b, 4 * (a + 7 * b), 4 * a, 4 * b);
        }
    }
}

/// The monoids that are ⊕ of no named semiring: × and ≡.
#[test]
fn laws_of_monoids_alone() {
    fn product<T: Sample + Arithmetic>(choices: [u64; 3])
    where
        Times: Monoid<T>,
    {
        let [x, y, z] = choices.map(T::pick);
        let times = <Times as BinaryOp<T, T>>::apply;
        let (name, e) = (T::TEXT.name, <Times as Monoid<T>>::identity());
        assert!(times(x, y).same(times(y, x)), "{name}: {x:?} × {y:?}");
        assert!(times(e, x).same(x) && times(x, e).same(x), "{name}: {e:?} × {x:?}");
        assert!(matches!(<Times as Monoid<T>>::terminal(), Terminal::Never), "{name}");
        let (left, right) = (times(times(x, y), z), times(x, times(y, z)));
        if T::ROUNDING == 0.0 {
            assert!(left.same(right), "{name}: ({x:?} × {y:?}) × {z:?} is {left:?}, not {right:?}");
            return;
        }
        // Of floats up to rounding, where nothing leaves the range of full precision on the way.
        let normal = |v: T| v.real().abs() > 1e-30 && v.real().abs() < 1e30;
        let near = (left.real() - right.real()).abs() <= 4.0 * T::ROUNDING * left.real().abs();
        let all = [x, y, z, times(x, y), times(y, z), left, right].into_iter().all(normal);
        assert!(!all || near, "{name}: ({x:?} × {y:?}) × {z:?} is {left:?}, not {right:?}");
    }
    fn laws(a: u64, b: u64, c: u64) {
        let choices = [a, b, c];
        product::<i8>(choices);
        product::<i16>(choices);
        product::<i32>(choices);
        product::<i64>(choices);
        product::<u8>(choices);
        product::<u16>(choices);
        product::<u32>(choices);
        product::<u64>(choices);
        product::<f32>(choices);
        product::<f64>(choices);
    }
    QuickCheck::new().tests(400).quickcheck(laws as fn(u64, u64, u64));
    let same = |x, y| <Lxnor as BinaryOp<bool, bool>>::apply(x, y);
    let e = <Lxnor as Monoid<bool>>::identity();
    assert!(e && matches!(<Lxnor as Monoid<bool>>::terminal(), Terminal::Never));
    for [x, y, z] in (0..8).map(|n| [n & 1, n & 2, n & 4].map(|bit| bit != 0)) {
        assert_eq!(same(x, y), x == y);
        assert_eq!(same(same(x, y), z), same(x, same(y, z)));
        assert!(same(x, y) == same(y, x) && same(e, x) == x);
    }
}

#[test]
fn arithmetic_of_every_semiring() {
    fn laws(a: u64, b: u64, c: u64) {
        each(&mut Arithmetics { choices: [a, b, c] });
    }
    QuickCheck::new().tests(400).quickcheck(laws as fn(u64, u64, u64));
    for a in 0..20 {
        for b in 0..20 {
            laws(4 * a, 4 * b, 4 * (b + 7 * a));
        }
    }
}

/// A semiring that is added to the library has to be added to the list that these tests go through.
#[test]
fn every_named_semiring_is_listed() {
    let source = include_str!("../src/algebra/semiring.rs");
    let (_, named) = source.split_once("\nnamed! {\n").expect("the named semirings");
    let (named, _) = named.split_once("\n}\n").expect("their end");
    let names: Vec<&str> = named
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("///") && line.contains('='))
        .map(|line| line.split([' ', '<', '=']).next().unwrap_or(line))
        .collect();
    assert!(names.len() >= 25, "{names:?}");
    for name in names {
        assert!(LISTED.contains(&name), "{name} is in no test: add it to tests/common/semirings.rs");
    }
}
