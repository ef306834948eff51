//! Sparse vectors merged and selected from on CUDA, emulated or real, in one launch: as the reference backend has them, wherever tiles begin and end.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::prelude::*;
use quickcheck::{Arbitrary, Gen, QuickCheck};
use random::Rng;
use std::collections::BTreeSet;
use std::fmt::Debug;

oplus::scalar! { pub struct Route { dist: f64, first: u64, hops: i32, toll: i32 } }
oplus::scalar! { pub struct Wide { a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64, i: u64 } }
oplus::operator! { pub Sum[](Wide, Wide) -> Wide = |x, y| Wide::make(add(x.a, y.i), y.b, x.c, y.d, x.e, y.f, x.g, y.h, add(x.i, y.a)) }
oplus::index_operator! { pub Least[](Wide, Wide) -> bool = |x, i, j, y| (x.a < y.i) != (i < j) }
oplus::operator! { pub Shorter[](Route, Route) -> Route = |x, y| select(x.dist <= y.dist, x, y) }

oplus::index_operator! { pub Below[T: Ordered](T, T) -> bool = |x, i, j, y| (x < y) != (i < j) }
oplus::index_operator! { pub Nearer[](Route, Route) -> bool = |x, i, j, y| (x.dist < y.dist) != (i < j) }
oplus::index_operator! { pub Differs[](bool, bool) -> bool = |x, i, j, y| (x == y) != (i < j) }
oplus::index_operator! { pub Outside[T: Scalar](T, i64) -> bool = |_, _, j, k| j < k || j > mul(k, k) }

const GPU: Device = Device::Cuda(0);
/// What the template gives a block: entries of both vectors.
const TILE: u64 = 2048;

fn vector<T: Scalar>(n: u64, places: impl Iterator<Item = u64>, value: impl Fn(u64) -> T) -> Vector<T> {
    Vector::build(n, &places.map(|i| (i, value(i * 7 % 101))).collect::<Vec<_>>()).unwrap()
}

/// Every operation of two vectors, there as on the CPU: so often the reference would take too long.
fn check<T: Scalar + Debug + PartialEq>(
    what: &str,
    (a, b): (&Vector<T>, &Vector<T>),
    op: impl BinaryOp<T, T, Out = T>,
    keep: impl IndexUnaryOp<T, T, Out = bool>,
    (alpha, beta): (T, T),
) {
    let results = |device: Device| {
        let (a, b) = (a.to(&device).unwrap(), b.to(&device).unwrap());
        let mut c = a.clone();
        apply(&b, Identity).accumulate(op).into(&mut c).unwrap();
        let one = apply_second(&a, Second, alpha).eval().unwrap();
        let other = apply_second(&b, Second, beta).eval().unwrap();
        let (has, lacks) = (b.structure(), b.structure().complement());
        let mut d = a.clone();
        apply(&other, Identity).accumulate(op).into(&mut d).unwrap();
        let made = [
            ewise_add(&a, &b, op).eval().unwrap(),
            ewise_mult(&a, &b, op).eval().unwrap(),
            ewise_union(&a, alpha, &b, beta, op).eval().unwrap(),
            c,
            d,
            ewise_add(&one, &b, op).eval().unwrap(),
            ewise_mult(&a, &other, op).eval().unwrap(),
            ewise_union(&one, alpha, &other, beta, op).eval().unwrap(),
            ewise_union(&one, beta, &b, alpha, op).eval().unwrap(),
            ewise_add(&one, &apply_second(&b, Second, alpha).eval().unwrap(), First).eval().unwrap(),
            ewise_mult(&one, &other, op).eval().unwrap(),
            apply(&a, Identity).mask(&has).eval().unwrap(),
            apply(&a, Identity).mask(&lacks).eval().unwrap(),
            apply(&one, Identity).mask(&has).eval().unwrap(),
            apply(&one, Identity).mask(&lacks).eval().unwrap(),
            select(&a, keep, alpha).eval().unwrap(),
            select(&a, Outside, 40).eval().unwrap(),
            select(&one, Outside, 60).eval().unwrap(),
        ];
        made.map(|v| (v.nvals(), v.entries().unwrap()))
    };
    let names = [
        "ewise_add",
        "ewise_mult",
        "ewise_union",
        "accumulate",
        "accumulate of one value",
        "ewise_add of one value",
        "ewise_mult by one value",
        "ewise_union of one value each",
        "ewise_union of one value",
        "positions of either",
        "positions of both",
        "mask",
        "complement",
        "mask of one value",
        "complement of one value",
        "select by value",
        "select by place",
        "select of one value",
    ];
    for (name, (found, expected)) in names.iter().zip(results(GPU).iter().zip(&results(Device::Cpu))) {
        assert!(found == expected, "{name} of {what}: {} entries, {} expected", found.0, expected.0);
    }
}

#[test]
fn wherever_tiles_end() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 6 * TILE;
    let all = |first: u64, step: usize| (first..n).step_by(step);
    let value = |x: u64| x as f64 - 50.0;
    // Both have every third place; so many more entries before put pairs across the ends of tiles, or not.
    for more in [0, 1, 2, 7, 8, 9] {
        let places: BTreeSet<u64> = all(0, 3).chain((0..n).filter(|i| i % 3 != 0).take(more)).collect();
        let (a, b) = (vector(n, places.into_iter(), value), vector(n, all(0, 3), value));
        check(&format!("thirds, {more} more on the left"), (&a, &b), Minus, Below, (1.0, 2.0));
        check(&format!("thirds, {more} more on the right"), (&b, &a), Minus, Below, (1.0, 2.0));
    }
    // One after the other, one within the other, none in common, one entry, an entry a tile, nothing.
    let some = [
        vector(n, 0..n / 2, value),
        vector(n, n / 2..n, value),
        vector(n, all(0, 2), value),
        vector(n, all(1, 2), value),
        vector(n, all(TILE - 1, TILE as usize), value),
        vector(n, 5000..5001, value),
        vector(n, 0..0, value),
    ];
    for (i, a) in some.iter().enumerate() {
        for (j, b) in some.iter().enumerate() {
            check(&format!("{i} and {j}"), (a, b), Minus, Below, (3.0, -4.0));
        }
    }
    let route = |x: u64| Route::make((x % 7) as f64, x, x as i32 % 5, 1);
    let (a, b) = (vector(n, all(0, 2), route), vector(n, all(0, 3), route));
    check("routes", (&a, &b), Shorter, Nearer, (route(3), route(200)));
    let wide = |x: u64| Wide::make(x, 1, x * x, 2, 3, x + 4, 5, 6, !x);
    let (a, b) = (vector(n, all(0, 2), wide), vector(n, all(0, 3), wide));
    check("wide values", (&a, &b), Sum, Least, (wide(3), wide(200)));
    let odd = |x: u64| x % 2 == 1;
    check("booleans", (&vector(n, all(0, 2), odd), &vector(n, all(0, 3), odd)), Lxor, Differs, (true, false));
}

#[derive(Clone, Debug)]
struct Two {
    n: u64,
    places: [Vec<u64>; 2],
}

impl Arbitrary for Two {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut rng = Rng(u64::arbitrary(g) | 1);
        let n = 1 + rng.below(4 * TILE);
        // Seldom, in runs, or nearly everywhere.
        let places = [(), ()].map(|()| {
            let (kept, run) = (1 + rng.below(16), 1 + rng.below(40));
            (0..n).filter(|i| (i / run).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60 < kept && rng.below(8) > 0).collect()
        });
        Self { n, places }
    }
}

#[test]
fn random_vectors() {
    if emulator::cuda().is_none() {
        return;
    }
    fn property(two: Two) -> bool {
        let [a, b] = two.places.map(|places| vector(two.n, places.into_iter(), |x| x as i64));
        check("random vectors", (&a, &b), Minus, Below, (5, 6));
        true
    }
    QuickCheck::new().tests(20).quickcheck(property as fn(Two) -> bool);
}
