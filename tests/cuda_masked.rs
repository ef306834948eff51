//! Products on CUDA that look their columns up among the mask's, against the reference; and that it is these kernels that run.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/shapes.rs"]
mod shapes;

use common::emulator;
use oplus::prelude::*;
use quickcheck::quickcheck;
use shapes::{Hop, Shape, Shortest, far_apart};

/// One for all: what is added up has no values, by a monoid that might be pre-set.
#[derive(Clone, Copy, Debug, Default)]
struct MinPair;
impl Semiring<u64, u64> for MinPair {
    type Out = u64;
    type Add = Min;
    type Multiply = oplus::algebra::Pair<u64>;
}

const GPU: Device = Device::Cuda(0);
/// The kernels.
const ROWS: &str = "spgemm_masked";
const LONG: &str = "spgemm_masked_long";

/// A, B and a mask.
type Case<'a> = (&'a Shape, &'a Shape, &'a Shape);

/// What the strategy makes, and the kernels that ran; under the mask's entries that are true if it is `valued`.
fn product<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    (left, right, mask): Case,
    (a, b): (fn(u64) -> A, fn(u64) -> B),
    valued: bool,
    device: &Device,
) -> (Vec<(u64, u64, S::Out)>, Vec<String>) {
    let (a, b) = (left.matrix::<A, S>(a).to(device).unwrap(), right.matrix::<B, S>(b).to(device).unwrap());
    let mask = mask.matrix::<bool, PlusTimes>(|v| v % 3 != 0).to(device).unwrap();
    let mask = if valued { mask.as_mask() } else { mask.structure() };
    let (c, trace) = mxm(&a, &b).mask(&mask).strategy(Strategy::Hash).traced().unwrap();
    (c.entries().unwrap(), trace.kernels.into_iter().map(|k| k.name).collect())
}

/// On the device as on the reference, by these kernels and no others; returns how many times each ran.
fn check<A: Scalar, B: Scalar, S: Semiring<A, B>>(case: Case, values: (fn(u64) -> A, fn(u64) -> B)) -> (usize, usize) {
    let mut counts = (0, 0);
    for valued in [true, false] {
        let (expected, _) = product::<A, B, S>(case, values, valued, &Device::Reference);
        let (found, ran) = product::<A, B, S>(case, values, valued, &GPU);
        assert!(found == expected, "{} {valued}:\n{found:?}\n{expected:?}", std::any::type_name::<S>());
        let others = ran.iter().filter(|k| k.starts_with("spgemm_") && *k != ROWS && *k != LONG);
        assert_eq!(others.count(), 0, "{ran:?}");
        let of = |name| ran.iter().filter(|k| *k == name).count();
        counts = (of(ROWS), of(LONG));
    }
    counts
}

/// Integers, whatever the order of sums.
fn check_all(case: Case) -> (usize, usize) {
    check::<bool, bool, AnyPair>(case, (|_| true, |_| true));
    check::<u64, u64, MinPair>(case, (|v| v, |v| v));
    check::<u64, u64, AnySecondI>(case, (|v| v, |v| v));
    check::<i64, i64, MinFirst>(case, (|v| v as i64 - 50, |v| v as i64));
    check::<bool, bool, LxorLand>(case, (|v| v % 2 == 0, |v| v % 3 == 0));
    check::<i32, i32, MinPlus>(case, (|v| v as i32 - 9, |v| v as i32));
    check::<f64, f64, PlusTimes>(case, (|v| v as f64, |v| v as f64 - 30.0))
}

#[test]
fn groups_of_lanes() {
    let Some(_one) = emulator::alone() else { return };
    // Rows enough for groups of four lanes and more; rows of B of one step, of several and of none.
    for (rows, each) in [(2100u64, 2), (1200, 7), (500, 14), (300, 40)] {
        let a = Shape::random((rows, 80), rows * 3, 5);
        let b = Shape::random((80, 90), 80 * each, 6);
        let mask = Shape::random((rows, 90), rows * 4, 7);
        assert!(check_all((&a, &b, &mask)).0 > 0);
    }
}

#[test]
fn rows_that_groups_leave() {
    let Some(_one) = emulator::alone() else { return };
    // Of the mask longer than a group's, than a warp's and than a block's; and of A with many products.
    let a = Shape::random((1100, 1100), 2200, 1).with_row(3).with_row(1099);
    let b = Shape::random((1100, 1500), 4400, 2).with_row(7);
    let mut mask = Shape::random((1100, 1500), 3300, 3).with_row(3).with_row(9);
    mask.places.extend((0..100).map(|j| (20, 3 * j)));
    let (groups, blocks) = check_all((&a, &b, &mask));
    // A device of many multiprocessors gives so few rows a warp each, and then there are no others.
    assert_eq!((groups, blocks), (if emulator::emulator().is_some() { 2 } else { groups.clamp(1, 2) }, 1));
    // None is left where lengths say so.
    let short = Shape::new((1100, 1500), (0..1100).map(|i| (i, i)));
    let (groups, blocks) = check_all((&short, &Shape::new((1500, 1500), (0..1500).map(|i| (i, i))), &short));
    assert_eq!((groups, blocks), (1, 0));
}

/// By a test of its own: what blocks add under locks, racecheck takes for races.
#[test]
fn values_of_a_users_type() {
    let Some(_one) = emulator::alone() else { return };
    let a = Shape::random((600, 300), 1800, 1).with_row(3);
    let (b, mask) = (Shape::random((300, 500), 900, 2).with_row(7), Shape::random((600, 500), 2000, 3).with_row(3));
    let hop = |v: u64| Hop::make(v as f64, v);
    let (groups, blocks) = check::<Hop, Hop, Shortest>((&a, &b, &mask), (hop, |v| Hop::make((v % 7) as f64, 1)));
    assert!(groups > 0 && blocks > 0);
}

#[test]
fn columns_that_share_slots() {
    let Some(_one) = emulator::alone() else { return };
    // Words that lie a power of two apart, words that are full, and the last columns that there are.
    let n = 1u64 << 31;
    let columns: Vec<u64> = (0..40).map(|j| j << 20).chain(96..160).chain([n - 1, n - 33]).collect();
    let b = Shape::new((3, n), columns.iter().map(|j| (1, *j)).chain(columns.iter().rev().step_by(2).map(|j| (2, *j))));
    let a = Shape::new((2, 3), [(0, 1), (0, 2), (1, 0)]);
    let mask = Shape::new((2, n), columns.iter().step_by(3).map(|j| (0, *j)).chain([(0, n - 2), (1, 5)]));
    check_all((&a, &b, &mask));
}

/// Places are not their ids.
#[test]
fn listed_axes() {
    let Some(_one) = emulator::alone() else { return };
    let [a, b, m] = far_apart();
    check_all((&a, &b, &m));
    check::<bool, i64, AnySecondI>((&a, &b, &m), (|v| v > 50, |v| v as i64));
}

#[test]
fn unkind_structures() {
    let Some(_one) = emulator::alone() else { return };
    let (some, none) = (Shape::random((70, 70), 300, 4), Shape::new((70, 70), []));
    let full = Shape::full((70, 70));
    let column = Shape::new((70, 70), (0..70).map(|i| (i, 69)));
    for case in [(&some, &some, &none), (&none, &some, &some), (&some, &none, &full), (&full, &full, &full)] {
        check_all(case);
    }
    check_all((&some, &full, &column));
    check_all((&column, &some, &full));
    check_all((&Shape::new((0, 5), []), &Shape::random((5, 9), 20, 1), &Shape::new((0, 9), [])));
    check_all((&Shape::random((9, 5), 20, 1), &Shape::new((5, 0), []), &Shape::new((9, 0), [])));
}

quickcheck! {
    fn random_products(rows: u8, inner: u8, columns: u8, density: u8, seed: u64) -> bool {
        let Some(_one) = emulator::alone() else { return true };
        let (m, k, n) = (u64::from(rows), u64::from(inner), u64::from(columns));
        let each = u64::from(density % 8);
        let a = Shape::random((m, k), m * each, seed);
        let b = Shape::random((k, n), k * each, seed ^ 1);
        let mask = Shape::random((m, n), m * (each + 1), seed ^ 2);
        check::<i64, i64, PlusTimes>((&a, &b, &mask), (|v| v as i64 - 40, |v| v as i64));
        true
    }
}

#[test]
fn auto_takes_them_and_sums_them() {
    let Some(_one) = emulator::alone() else { return };
    // Dense enough that dot products look up more than there are products.
    let (left, mask) = (Shape::random((400, 400), 60_000, 8), Shape::random((400, 400), 90_000, 9));
    let on = |device: &Device| {
        let a = left.matrix::<i64, PlusTimes>(|v| v as i64 - 50).to(device).unwrap();
        let mask = mask.matrix::<bool, PlusTimes>(|_| true).to(device).unwrap().structure();
        let product = || mxm(&a, &a).mask(&mask);
        let (c, trace) = product().traced().unwrap();
        let explained = product().explain().unwrap();
        let ones = left.matrix::<u64, MinPair>(|v| v).to(device).unwrap();
        let some = Shape::new((400, 400), Shape::random((400, 100), 25_000, 3).places);
        let some = some.matrix::<u64, MinPair>(|v| v).to(device).unwrap();
        let count = mxm(&ones, &some).mask(&mask).reduce(Plus).unwrap();
        (c.entries().unwrap(), (product().reduce(Plus).unwrap(), count), trace, explained)
    };
    let (found, expected) = (on(&GPU), on(&Device::Cpu));
    assert_eq!((&found.0, found.1), (&expected.0, expected.1));
    assert!(found.1.1 > 0);
    assert!(found.2.kernels.iter().any(|k| k.name == ROWS), "{}", found.2);
    assert_eq!(found.3.analysis.strategy, "masked rows", "{}", found.3);
    assert!(found.3.to_string().contains("the mask's"), "{}", found.3);
    assert!(!found.3.in_order, "blocks add in any order");
}

#[test]
fn a_limit_is_held_to() {
    let Some(_one) = emulator::alone() else { return };
    let a = Shape::random((300, 300), 3000, 4).matrix::<i64, PlusTimes>(|v| v as i64).to(&GPU).unwrap();
    let mask = Shape::random((300, 300), 20_000, 5).matrix::<bool, PlusTimes>(|_| true).to(&GPU).unwrap().structure();
    let product = || mxm(&a, &a).mask(&mask).strategy(Strategy::Hash);
    let (c, trace) = product().traced().unwrap();
    let (free, expected) = (trace.peak.unwrap(), c.entries().unwrap());
    let mut chunked = 0;
    for part in (1..10).rev() {
        let limit = free * part / 10;
        let (c, trace) = match product().memory_limit(limit).traced() {
            Ok(made) => made,
            Err(Error::OutOfMemory { .. }) => break,
            Err(e) => panic!("{e:?}"),
        };
        assert!(trace.peak.unwrap() <= limit, "{trace}");
        assert_eq!(c.entries().unwrap(), expected);
        chunked += usize::from(trace.kernels.iter().filter(|k| k.name == ROWS).count() > 2);
    }
    assert!(chunked > 0, "never in chunks");
    let refused = product().memory_limit(1000).eval();
    assert!(matches!(refused, Err(Error::OutOfMemory { .. })), "{refused:?}");
}

#[test]
fn reproducible_products_take_other_ways() {
    let Some(_one) = emulator::alone() else { return };
    let a = Shape::random((200, 200), 3000, 4).matrix::<f64, PlusTimes>(|v| v as f64 * 0.1).to(&GPU).unwrap();
    let product = || mxm(&a, &a).mask(&a.structure()).strategy(Strategy::Hash).reproducible();
    let (c, trace) = product().traced().unwrap();
    assert!(!trace.kernels.iter().any(|k| k.name == ROWS), "{trace}");
    let b = a.to(&Device::Reference).unwrap();
    let expected = mxm(&b, &b).mask(&b.structure()).eval().unwrap();
    assert_eq!(c.entries().unwrap(), expected.entries().unwrap());
}
