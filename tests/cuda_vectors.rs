//! Vectors as lists and as bits with a value for every place on CUDA, emulated or real: what is changed where it lies is what would be
//! made anew.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/few.rs"]
mod few;
#[path = "common/follow.rs"]
mod follow;
#[path = "common/random.rs"]
mod random;
#[path = "common/vectors.rs"]
mod vectors;

use common::emulator;
use oplus::algorithm::{bfs, sssp};
use oplus::prelude::*;
use quickcheck::{Gen, QuickCheck};
use random::Rng;
use std::fmt::Debug;

const GPU: Device = Device::Cuda(0);

oplus::scalar! { pub struct Route { dist: f64, first: u64, hops: i32, toll: i32 } }
oplus::scalar! { pub struct Wide { a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64, i: u64 } }
oplus::operator! { pub Sum[](Wide, Wide) -> Wide = |x, y| Wide::make(add(x.a, y.i), y.b, x.c, y.d, x.e, y.f, x.g, y.h, add(x.i, y.a)) }
oplus::operator! { pub Apart[](Wide, Wide) -> u64 = |x, y| add(x.a, mul(y.i, y.a)) }
oplus::operator! { pub Shorter[](Route, Route) -> Route = |x, y| select(x.dist <= y.dist, x, y) }
oplus::operator! { pub Nearer[](Route, Route) -> bool = |x, y| x.dist < y.dist }
oplus::operator! { pub Unequal[T: Scalar](T, T) -> bool = |x, y| x != y }

#[test]
fn formats_do_not_show_on_cuda() {
    if emulator::cuda().is_some() {
        vectors::formats_do_not_show(&GPU);
    }
}

#[test]
fn accumulating_a_little_again_and_again_on_cuda() {
    if emulator::cuda().is_some() {
        vectors::accumulating_a_little_again_and_again(&GPU, 150);
    }
}

#[test]
fn a_few_entries_on_cuda() {
    if emulator::cuda().is_some() {
        few::writes_are_what_the_definition_says(&GPU, 120);
        few::reads_are_what_the_definition_says(&GPU, 6);
        few::steps_are_what_the_definition_says(&GPU, 6);
    }
}

#[test]
fn steps_after_a_product_on_cuda() {
    if emulator::cuda().is_some() {
        follow::is_what_the_steps_make(&GPU);
        follow::masks_mean_what_stands_where(&GPU);
        follow::errors_are_those_of_the_operations(&GPU);
    }
}

#[test]
fn a_row_that_grows_on_cuda() {
    if emulator::cuda().is_some() {
        vectors::a_row_that_grows(&GPU);
    }
}

fn random_vector<T: Scalar>(random: &mut Rng, n: u64, part: u64, value: impl Fn(u64) -> T) -> Vector<T> {
    let mut entries = Vec::new();
    for i in 0..n {
        if random.below(100) < part {
            entries.push((i, value(random.below(50))));
        }
    }
    Vector::build(n, &entries).unwrap()
}

/// A bitmap changed and met by lists, of one value and of many, behind masks of every kind: as lists on the host.
fn check<T: Scalar + Debug + PartialEq, M: Scalar + Debug + PartialEq>(
    (seed, n): (u64, u64),
    value: impl Fn(u64) -> T,
    fold: impl BinaryOp<T, T, Out = T>,
    meet: impl BinaryOp<T, T, Out = M>,
) {
    let mut random = Rng(seed | 1);
    let parts = [0, 5, 50, 100];
    let [c, t, m] = [0; 3].map(|_| {
        let part = parts[random.below(4) as usize];
        random_vector(&mut random, n, part, &value)
    });
    let results = |on: &dyn Fn(&Vector<T>, bool) -> Vector<T>| {
        let (c, t, bits, list) = (on(&c, true), on(&t, false), on(&m, true), on(&m, false));
        let one = apply_second(&t, Second, value(7)).eval().unwrap();
        let mut made = Vec::new();
        for t in [&t, &one] {
            let masks = [&bits, &list].map(|m| [m.structure(), m.structure().complement()]);
            for mask in masks.iter().flatten().map(Some).chain([None]) {
                let mut to = c.clone();
                let accumulated = apply(t, Identity).accumulate(fold);
                mask.map_or(apply(t, Identity).accumulate(fold), |mask| accumulated.mask(mask)).into(&mut to).unwrap();
                // What the list knew is of what was; nobody else holds the vector now.
                let before = to.entries().unwrap();
                apply(t, Identity).accumulate(fold).into(&mut to).unwrap();
                made.push((to.nvals(), before, to.entries().unwrap()));
            }
        }
        let met = [&t, &one].map(|t| {
            let (left, right) = (ewise_mult(&c, t, meet).eval().unwrap(), ewise_mult(t, &c, meet).eval().unwrap());
            (left.nvals(), left.entries().unwrap(), right.entries().unwrap())
        });
        // One element after the other.
        let mut set = c.clone();
        for i in [0, n / 2, n - 1] {
            set.set(i, value(i)).unwrap();
        }
        let got = [0, n / 3, n / 2, n - 1].map(|i| set.get(i).unwrap());
        (made, met, got, set.entries().unwrap(), c.entries().unwrap())
    };
    let host = results(&|v, _| v.to(&Device::Reference).unwrap());
    let cuda = results(&|v, bitmap| {
        let v = v.to(&GPU).unwrap();
        if bitmap { v.to_bitmap().unwrap() } else { v }
    });
    assert!(cuda == host, "{n} places of {}", std::any::type_name::<T>());
}

#[test]
fn bitmaps_of_every_scalar() {
    if emulator::cuda().is_none() {
        return;
    }
    fn agrees(seed: u64) -> bool {
        let n = [1, 31, 32, 33, 300, 2049, 9000][(seed % 7) as usize];
        check((seed, n), |x| x as f64 / 4.0 - 3.0, Minus, Le);
        check((seed, n), |x| x as f32, Second, Unequal);
        check((seed, n), |x| x as i8 - 5, Plus, Lt);
        check((seed, n), |x| x % 2 == 0, Lor, Unequal);
        check((seed, n), |x| x as u16 * 3, Times, First);
        let route = |x: u64| Route::make((x % 7) as f64, x, x as i32 % 5, 1);
        check((seed, n), route, Shorter, Nearer);
        check((seed, n), |x| Wide::make(x, 1, x * x, 2, 3, x + 4, 5, 6, !x), Sum, Apart);
        true
    }
    QuickCheck::new().rng(Gen::new(64)).tests(8).quickcheck(agrees as fn(u64) -> bool);
}

/// More places than there is room taken for without counting.
#[test]
fn bitmaps_of_many_places() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = (1 << 20) + 77;
    let of = |step: usize, first: u64| {
        let entries: Vec<(u64, i32)> = (first..n).step_by(step).map(|i| (i, i as i32 % 1000)).collect();
        Vector::<i32>::build(n, &entries).unwrap()
    };
    let (x, y) = (of(1001, 3), of(77, 76));
    let results = |device: &Device| {
        let (mut c, t) = (x.to(device).unwrap().to_bitmap().unwrap(), y.to(device).unwrap());
        apply(&t, Identity).mask(&c.structure().complement()).accumulate(Plus).into(&mut c).unwrap();
        let met = ewise_mult(&c, &t, Minus).eval().unwrap();
        (c.nvals(), c.entries().unwrap(), met.entries().unwrap())
    };
    assert!(results(&GPU) == results(&Device::Cpu));
}

/// What algorithms add to a little at a time turns to a bitmap, and masks of its structure stay bits.
#[test]
fn algorithms_on_long_paths() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 2048u64;
    // A path of 80 steps, the vertices far apart, and 25 more behind each of them.
    let at = |k: u64| k * 25 + 7;
    let edges: Vec<(u64, u64, f64)> = (0..80)
        .flat_map(|k| {
            let others = (1..25).map(move |l| (at(k), at(k) + l, l as f64));
            others.chain([(at(k), at(k + 1), 1.5), (at(k + 1), at(k), 1.0)])
        })
        .filter(|(i, j, _)| *i < n && *j < n)
        .collect();
    let mut coo = Coo::new(n, n);
    edges.iter().for_each(|(i, j, w)| coo.push(*i, *j, *w));
    let graph: Matrix<f64> = Matrix::build_with(&coo, Second).unwrap();
    let there = graph.to(&GPU).unwrap();
    let (here, found) = (bfs(&graph, 7, &Default::default()).unwrap(), bfs(&there, 7, &Default::default()).unwrap());
    assert_eq!((found.depth, found.reached), (here.depth, here.reached));
    assert!(found.depth >= 79);
    assert_eq!(found.levels.format(), Format::Bitmap);
    assert_eq!(found.levels.entries().unwrap(), here.levels.entries().unwrap());
    assert_eq!(found.parents.unwrap().entries().unwrap(), here.parents.unwrap().entries().unwrap());
    let (here, found) = (sssp(&graph, 7, &Default::default()).unwrap(), sssp(&there, 7, &Default::default()).unwrap());
    assert_eq!((found.rounds, found.distances.entries().unwrap()), (here.rounds, here.distances.entries().unwrap()));
}

oplus::operator! { pub Chosen[](Route, bool) -> Route = |x, y| select(y, x, Route::make(0.5f64, x.first, x.toll, x.hops)) }
oplus::operator! { pub ChosenBy[](bool, Route) -> Route = |x, y| select(x, y, Route::make(0.5f64, y.first, y.toll, y.hops)) }
oplus::semiring! { pub struct Lefts[](Route, bool) -> Route;
    identity = Route::make(f64::INFINITY, u64::MAX, 0, 0);
    add = |x, y| (select(x.dist <= y.dist, x, y));
    multiply = |a, b, _| (select(b, a, Route::make(0.5f64, a.first, a.toll, a.hops)));
}
oplus::semiring! { pub struct Rights[](bool, Route) -> Route;
    identity = Route::make(f64::INFINITY, u64::MAX, 0, 0);
    add = |x, y| (select(x.dist <= y.dist, x, y));
    multiply = |a, b, _| (select(a, b, Route::make(0.5f64, b.first, b.toll, b.hops)));
}

/// Of factors of two types neither becomes the other: the order that is not meant must not have to compile.
#[test]
fn factors_of_two_types() {
    if emulator::cuda().is_none() {
        return;
    }
    let route = |n: u64| Route::make(n as f64, n, 3, 4);
    let mut seen = std::collections::BTreeMap::new();
    for e in 0..400u64 {
        seen.entry((e * 7 % 90, e * 11 % 90)).or_insert(e);
    }
    let routes: Vec<_> = seen.iter().map(|((i, j), e)| (*i, *j, route(*e % 50))).collect();
    let flags: Vec<_> = seen.iter().map(|((i, j), e)| (*i, *j, e % 3 == 0)).collect();
    let on = |d: Device, part: u64| {
        let mut random = Rng(7);
        let (x, y) =
            (random_vector(&mut random, 90, part, route), random_vector(&mut random, 90, part, |n| n % 2 == 0));
        let (x, y) = (x.to(&d).unwrap(), y.to(&d).unwrap());
        let a = Matrix::<Route, Lefts>::build(90, 90, &routes).unwrap().to(&d).unwrap();
        let b = Matrix::<bool, Rights>::build(90, 90, &flags).unwrap().to(&d).unwrap();
        let products = [
            mxv(&a, &y.over::<Lefts>()).eval().unwrap(),
            mxv(&b.over::<Rights>(), &x.over::<Rights>()).eval().unwrap().over::<Lefts>(),
            vxm(&x.over::<Lefts>(), &b.over::<Lefts>()).eval().unwrap(),
            vxm(&y.over::<Rights>(), &a.over::<Rights>()).eval().unwrap().over::<Lefts>(),
        ];
        // A list met with a bitmap, on either side.
        let few = |x: &Vector<Route>| select(x, RowLe, 15).eval().unwrap();
        let short = few(&x);
        let lookups = [
            ewise_mult(&short, &y.to_bitmap().unwrap(), Chosen).eval().unwrap(),
            ewise_mult(&y.to_bitmap().unwrap(), &short, ChosenBy).eval().unwrap(),
        ];
        let all: Vec<_> = products.iter().map(|p| p.entries().unwrap()).collect();
        (all, lookups.map(|v| v.entries().unwrap()))
    };
    for part in [10, 60, 100] {
        assert!(on(GPU, part) == on(Device::Reference, part), "{part} %");
    }
}
