//! Products on CUDA, emulated or real, against the reference backend.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::prelude::*;
use random::Rng;

oplus::scalar! { pub struct Hop { dist: f64, hops: u64 } }
oplus::semiring! {
    pub struct Shortest[](Hop, Hop) -> Hop;
    identity = Hop::make(f64::INFINITY, 0);
    add = |x, y| (select(x.dist < y.dist || (x.dist == y.dist && x.hops <= y.hops), x, y));
    multiply = |a, b, _| (Hop::make(add(a.dist, b.dist), add(a.hops, b.hops)));
}

fn random<T: Scalar, S>(rng: &mut Rng, m: u64, n: u64, e: u64, value: impl Fn(u64) -> T) -> Matrix<T, S> {
    let mut coo = Coo::new(m, n);
    if m > 0 && n > 0 {
        for _ in 0..e {
            coo.push(rng.below(m), rng.below(n), value(rng.below(100)));
        }
        // One long row among short ones.
        for j in 0..n.min(e) {
            if rng.below(2) == 0 {
                coo.push(m / 2, j, value(j % 100));
            }
        }
    }
    Matrix::build_with(&coo, Second).unwrap()
}

type Entries<T> = Vec<(u64, u64, T)>;

/// The product with and without masks on both devices; `same` compares two lists of entries.
fn compare<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    (a, b): (&Matrix<A, S>, &Matrix<B, S>),
    mask: &Matrix<bool>,
    same: impl Fn(&Entries<S::Out>, &Entries<S::Out>) -> bool,
) {
    let on = |device: Device, which: u32| -> Entries<S::Out> {
        let (a, b, m) = (a.to(&device).unwrap(), b.to(&device).unwrap(), mask.to(&device).unwrap());
        let product = mxm(&a, &b);
        let product = match which {
            0 => product,
            1 => product.mask(&m.structure()),
            _ => product.mask(&m.structure().complement()),
        };
        product.eval().unwrap().entries().unwrap()
    };
    for which in 0..3 {
        let (cuda, reference) = (on(Device::Cuda(0), which), on(Device::Reference, which));
        assert!(same(&cuda, &reference), "{} mask kind {which}:\n{cuda:?}\n{reference:?}", std::any::type_name::<S>());
    }
}

fn close(a: &Entries<f64>, b: &Entries<f64>) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(x, y)| (x.0, x.1) == (y.0, y.1) && (x.2 - y.2).abs() <= 1e-12 * (1.0 + y.2.abs()))
}

#[test]
fn mxm_of_every_kind_of_semiring() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(7);
    for (m, k, n, e) in [(5, 6, 7, 12), (40, 50, 60, 400), (0, 3, 4, 0), (3, 0, 4, 0), (4, 3, 0, 0), (1, 300, 300, 250)]
    {
        let mask: Matrix<bool> = random(&mut rng, m, n, e, |v| v > 20);
        let (a, b) = (
            random::<f64, PlusTimes>(&mut rng, m, k, e, |v| v as f64 / 8.0),
            random(&mut rng, k, n, e, |v| v as f64 - 50.0),
        );
        compare((&a, &b), &mask, close);
        compare::<_, _, MinPlus>((&a.over(), &b.over()), &mask, |x, y| x == y);
        compare::<_, _, AnySecondI>((&a.over(), &b.over()), &mask, |x, y| x == y);
        compare::<_, _, PlusPair>((&a.over(), &b.over()), &mask, |x, y| x == y);
        compare::<_, _, AnyPair>((&a.over(), &b.over()), &mask, |x, y| x == y);
        compare::<_, _, MaxFirst>((&a.over(), &b.over()), &mask, |x, y| x == y);
        let (a, b) = (
            random::<i32, MinPlus>(&mut rng, m, k, e, |v| v as i32 * 21_000_000),
            random(&mut rng, k, n, e, |v| v as i32 - 50),
        );
        compare((&a, &b), &mask, |x, y| x == y);
        let (a, b) = (random::<u8, PlusTimes>(&mut rng, m, k, e, |v| v as u8), random(&mut rng, k, n, e, |v| v as u8));
        compare((&a, &b), &mask, |x, y| x == y);
        let (a, b) = (random::<bool, LorLand>(&mut rng, m, k, e, |v| v > 50), random(&mut rng, k, n, e, |v| v > 50));
        compare((&a, &b), &mask, |x, y| x == y);
        compare::<_, _, LxorLand>((&a.over(), &b.over()), &mask, |x, y| x == y);
        let hop = |v: u64| Hop::make(v as f64, v % 3);
        let (a, b) = (random::<Hop, Shortest>(&mut rng, m, k, e, hop), random(&mut rng, k, n, e, hop));
        compare((&a, &b), &mask, |x, y| x == y);
    }
}

#[test]
fn fused_reduction() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(3);
    for (n, e) in [(1, 0), (30, 100), (60, 900)] {
        let a: Matrix<i64> = random(&mut rng, n, n, e, |v| v as i64 - 30);
        let on = |device: Device| {
            let a = a.to(&device).unwrap();
            let masked = mxm(&a.over::<PlusPair>(), &a.over()).mask(&a.structure()).reduce(Plus).unwrap();
            let least = mxm(&a, &a).reduce(Min).unwrap();
            (masked, least, mxm(&a, &a).mask(&a.structure().complement()).reduce(Plus).unwrap())
        };
        assert_eq!(on(Device::Cuda(0)), on(Device::Reference));
    }
}

#[test]
fn matrix_vector_products() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(11);
    for (m, n, e) in [(5, 7, 12), (90, 70, 800), (0, 3, 0), (3, 0, 0)] {
        let a: Matrix<i64> = random(&mut rng, m, n, e, |v| v as i64 - 30);
        let sparse = |rng: &mut Rng, n: u64| -> Vector<i64> {
            Vector::build_with(n, &(0..n / 2).map(|_| (rng.below(n), rng.below(50) as i64)).collect::<Vec<_>>(), Second)
                .unwrap()
        };
        let (x, y, mask) = (sparse(&mut rng, n), sparse(&mut rng, m), sparse(&mut rng, m));
        let on = |d: Device| {
            let (a, x, y, mask) = (a.to(&d).unwrap(), x.to(&d).unwrap(), y.to(&d).unwrap(), mask.to(&d).unwrap());
            let parents = mxv(&a.over::<AnySecondI>(), &x.over()).eval().unwrap().entries().unwrap();
            let values = [
                mxv(&a, &x).eval(),
                mxv(&a, &x).mask(&mask.structure()).eval(),
                mxv(&a, &x).mask(&mask.structure().complement()).eval(),
                mxv(&a, &y).transpose().eval(),
                vxm(&y, &a).eval(),
                vxm(&x, &a).transpose().mask(&mask.structure()).eval(),
                vxm(&y.over::<MinPlus>(), &a.over()).eval().map(|v| v.over()),
                vxm(&y.over::<AnyFirst>(), &a.over()).eval().map(|v| v.over()),
            ];
            (parents, values.map(|v| v.unwrap().entries().unwrap()))
        };
        assert_eq!(on(Device::Cuda(0)), on(Device::Reference));
    }
}

/// A vector without gaps: rows that are empty, short, a warp's, and shared by blocks, in tiles; the pattern knows them the second time.
#[test]
fn full_vectors() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(19);
    // Rows of about so many entries, some of them long, and which are empty.
    let shapes: [(u64, u64, u64, &[(u64, u64)], u64); 7] = [
        (3000, 40, 3, &[], 0),
        (700, 5000, 20, &[(0, 1500), (350, 4097), (699, 1024)], 3),
        (700, 5000, 20, &[(2, 252), (3, 253), (9, 2045), (11, 2047), (12, 2048), (14, 2049), (15, 4999)], 3),
        (40, 3000, 300, &[(20, 1025)], 0),
        (40, 4000, 500, &[(39, 1024), (7, 1024), (8, 1024)], 0),
        (9000, 50, 1, &[(4000, 50)], 2),
        (1, 5000, 5000, &[], 0),
    ];
    for (m, n, mean, long, empty) in shapes {
        let mut coo = Coo::<i64>::new(m, n);
        for r in (0..m).filter(|r| empty == 0 || r % empty != 1) {
            let count = long.iter().find(|l| l.0 == r).map_or(rng.below(2 * mean) + 1, |l| l.1).min(n);
            let step = n / count;
            (0..count).for_each(|k| coo.push(r, k * step + rng.below(step), rng.below(100) as i64 - 50));
        }
        let a: Matrix<i64> = Matrix::build_with(&coo, Second).unwrap();
        let full = |n: u64| -> Vector<i64> {
            Vector::build(n, &(0..n).map(|i| (i, (i * 37 % 101) as i64 - 40)).collect::<Vec<_>>()).unwrap()
        };
        let on = |d: Device| {
            let (a, x, y) = (a.to(&d).unwrap(), full(n).to(&d).unwrap(), full(m).to(&d).unwrap());
            let run = || {
                let parents = mxv(&a.over::<AnySecondI>(), &x.over()).eval().unwrap().entries().unwrap();
                let truth = mxv(&a.cast::<bool>().unwrap().over::<LorLand>(), &x.cast::<bool>().unwrap().over()).eval();
                let values = [
                    mxv(&a, &x).eval(),
                    mxv(&a.over::<MinPlus>(), &x.over()).eval().map(|v| v.over()),
                    mxv(&a.over::<AnyFirst>(), &x.over()).eval().map(|v| v.over()),
                    mxv(&a.over::<PlusPair>(), &x.over())
                        .eval()
                        .map(|v: Vector<u64, _>| v.cast::<i64>().unwrap().over()),
                    mxv(&a, &y).transpose().eval(),
                    vxm(&y, &a).eval(),
                    vxm(&y.over::<MinPlus>(), &a.over()).eval().map(|v| v.over()),
                    vxm(&x, &a).transpose().eval(),
                ];
                (parents, truth.unwrap().entries().unwrap(), values.map(|v| v.unwrap().entries().unwrap()))
            };
            let first = run();
            assert_eq!(first, run(), "the second time, {m}×{n} on {d}");
            let hops: Matrix<Hop, Shortest> =
                random(&mut Rng(3), m.min(200), n.min(200), 900, |v| Hop::make(v as f64, v % 7));
            let to: Vec<_> = (0..n.min(200)).map(|i| (i, Hop::make((i % 13) as f64, 1))).collect();
            let to: Vector<Hop, Shortest> = Vector::build(n.min(200), &to).unwrap();
            let hops = mxv(&hops.to(&d).unwrap(), &to.to(&d).unwrap()).eval().unwrap().entries().unwrap();
            (first, hops)
        };
        assert_eq!(on(Device::Cuda(0)), on(Device::Reference), "{m}×{n}");
    }
}

/// Rows that are long in the mean get a warp each, some of them blocks.
#[test]
fn full_vectors_and_sums_of_many_long_rows() {
    if emulator::cuda().is_none() {
        return;
    }
    let (m, n) = (4200u64, 4000u64);
    let (mut offsets, mut indices) = (vec![0u64], Vec::new());
    for r in 0..m {
        let count = match r {
            7 => 3999,
            8 => 1024,
            9 => 1025,
            500 => 2050,
            _ if r % 100 == 3 => 0,
            _ => 40 + r % 60,
        };
        let step = n / count.max(1);
        indices.extend((0..count).map(|k| (k * step + r % step) as u32));
        offsets.push(indices.len() as u64);
    }
    let values: Vec<i64> = (0..indices.len() as i64).map(|e| e * 37 % 101 - 50).collect();
    let a: Matrix<i64> = Matrix::from_csr(m, n, offsets, indices, values).unwrap();
    let x: Vector<i64> = Vector::build(n, &(0..n).map(|i| (i, i as i64 % 89 - 40)).collect::<Vec<_>>()).unwrap();
    let on = |d: Device| {
        let (a, x) = (a.to(&d).unwrap(), x.to(&d).unwrap());
        let results = [
            mxv(&a, &x).eval().unwrap(),
            mxv(&a.over::<MinPlus>(), &x.over()).eval().unwrap().over(),
            mxv(&a.over::<AnySecond>(), &x.over()).eval().unwrap().over(),
            reduce_rows(&a, Plus).eval().unwrap(),
            reduce_rows(&a, Any).eval().unwrap(),
        ];
        let parents = mxv(&a.over::<AnySecondI>(), &x.over()).eval().unwrap().entries().unwrap();
        (parents, results.map(|v| v.entries().unwrap()))
    };
    assert_eq!(on(Device::Cuda(0)), on(Device::Reference));
}

/// A full vector from the left, again and again: columns are kept from the second time on, with the values they had then.
#[test]
fn full_vectors_from_the_left_by_kept_columns() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(23);
    // The third has a column of 2500 entries and empty ones; the last is hypersparse.
    for (m, n, e, scale) in [(90, 70, 800, 1), (3, 900, 1500, 1), (2600, 40, 2600, 1), (50, 60, 300, 1 << 40)] {
        let mut coo = Coo::<i64>::new(m * scale, n * scale);
        for k in 0..e {
            coo.push(k % m * scale, rng.below(n) / 2 * scale, rng.below(100) as i64 - 50);
            coo.push(k % m * scale, n / 2 * scale, k as i64);
        }
        let a: Matrix<i64> = Matrix::build_with(&coo, Second).unwrap();
        let listed: Vec<_> = (0..m).map(|i| (i * scale, (i * 37 % 101) as i64 - 40)).collect();
        let x: Vector<i64> = Vector::build(m * scale, &listed).unwrap();
        let on = |d: Device| {
            let (a, x) = (a.to(&d).unwrap(), x.to(&d).unwrap());
            let other = apply(&a, Negate).eval().unwrap();
            let mut results = Vec::new();
            for _ in 0..3 {
                let parents = [
                    vxm(&x.over::<AnyFirstI>(), &a.over()).eval().unwrap().over::<PlusTimes>(),
                    vxm(&x.over::<AnySecondI>(), &a.over()).eval().unwrap().over(),
                    vxm(&x.over::<AnySecondJ>(), &a.over()).eval().unwrap().over(),
                ];
                let values = [
                    vxm(&x, &a).eval().unwrap(),
                    vxm(&x.over::<MinPlus>(), &a.over()).eval().unwrap().over(),
                    vxm(&x.over::<MaxFirst>(), &a.over()).eval().unwrap().over(),
                    vxm(&x.over::<MaxSecond>(), &a.over()).eval().unwrap().over(),
                    mxv(&a.over::<MaxFirst>(), &x.over()).transpose().eval().unwrap().over(),
                ];
                results.push((parents.map(|v| v.entries().unwrap()), values.map(|v| v.entries().unwrap())));
            }
            // The same positions with other values, in turns with the first.
            let turns =
                [&other, &a, &other, &other, &other, &a, &a, &a].map(|a| vxm(&x, a).eval().unwrap().entries().unwrap());
            assert_eq!(results[0], results[1], "{m}×{n} on {d}");
            assert_eq!(results[0], results[2], "{m}×{n} on {d}");
            (results.remove(0), turns)
        };
        assert_eq!(on(Device::Cuda(0)), on(Device::Reference), "{m}×{n}");
    }
}

#[test]
fn rows_of_every_size_by_every_strategy_near() {
    rows_of_every_size_by_every_strategy(500, 1);
}

#[test]
fn rows_of_every_size_by_every_strategy_apart() {
    rows_of_every_size_by_every_strategy(40_000, 75);
}

#[test]
fn rows_of_every_size_by_every_strategy_far() {
    rows_of_every_size_by_every_strategy(4_000_000_000, 7_999_999);
}

fn rows_of_every_size_by_every_strategy(columns: u64, spread: u64) {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(5);
    // Row r of A has about r entries, so that products go from none to some thousands; columns near and far.
    let (mut a, mut b) = (Coo::<i64>::new(120, 300), Coo::<i64>::new(300, columns));
    for r in 0..120 {
        (0..r).for_each(|_| a.push(r, rng.below(300), rng.below(100) as i64 - 50));
    }
    for r in 0..300 {
        (0..rng.below(40)).for_each(|_| b.push(r, rng.below(500) * spread, rng.below(100) as i64 - 50));
    }
    let a: Matrix<i64> = Matrix::build_with(&a, Second).unwrap();
    let b: Matrix<i64> = Matrix::build_with(&b, Second).unwrap();
    let mut mask = Coo::<bool>::new(120, columns);
    (0..20_000).for_each(|_| mask.push(rng.below(120), rng.below(500) * spread, true));
    let mask: Matrix<bool> = Matrix::build_with(&mask, Second).unwrap();
    fn on<S: Semiring<i64, i64>>(
        (a, b, mask): (&Matrix<i64>, &Matrix<i64>, &Matrix<bool>),
        d: Device,
        which: u32,
        strategy: Strategy,
    ) -> Entries<S::Out> {
        let (a, b, m) = (a.to(&d).unwrap().over::<S>(), b.to(&d).unwrap().over(), mask.to(&d).unwrap());
        let product = mxm(&a, &b).strategy(strategy);
        let product = match which {
            0 => product,
            1 => product.mask(&m.structure()),
            _ => product.mask(&m.structure().complement()),
        };
        product.eval().unwrap().entries().unwrap()
    }
    let all = (&a, &b, &mask);
    // Each with each in turns: cuda_strategies has every semiring by every strategy.
    for which in 0..3 {
        for (turn, strategy) in [Strategy::Auto, Strategy::Hash, Strategy::Esc].into_iter().enumerate() {
            let (d, r) = (Device::Cuda(0), Device::Reference);
            match (which as usize + turn) % 3 {
                0 => assert_eq!(on::<PlusTimes>(all, d, which, strategy), on::<PlusTimes>(all, r, which, strategy)),
                1 => assert_eq!(on::<AnySecondI>(all, d, which, strategy), on::<AnySecondI>(all, r, which, strategy)),
                _ => assert_eq!(on::<AnyPair>(all, d, which, strategy), on::<AnyPair>(all, r, which, strategy)),
            }
        }
    }
}

#[test]
fn every_row_may_spill_into_the_next_table() {
    if emulator::cuda().is_none() {
        return;
    }
    // About 256 products a row in as many words of columns: no row fits the tables that its compression might allow.
    let a: Matrix<f64> = Matrix::build_with(&oplus::generate::uniform(64, 4000, 16, 1).unwrap(), First).unwrap();
    let b: Matrix<f64> = Matrix::build_with(&oplus::generate::uniform(4000, 200_000, 16, 2).unwrap(), First).unwrap();
    let on = |d: Device| mxm(&a.to(&d).unwrap(), &b.to(&d).unwrap()).eval().unwrap().entries().unwrap();
    assert!(close(&on(Device::Cuda(0)), &on(Device::Reference)));
}

/// Few rows of so many products that blocks share them: of many columns, and of few, which one block sums alone.
#[test]
fn long_rows_shared_by_blocks() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(7);
    for (columns, apart) in [(300_000u64, 1u64), (60_000, 1), (300_000, 100)] {
        let (mut a, mut b) = (Coo::<i64>::new(3, 2000), Coo::<i64>::new(2000, columns));
        for r in 0..3 {
            // The last is short.
            (0..if r == 2 { 40 } else { 1500 }).for_each(|_| a.push(r, rng.below(2000), rng.below(100) as i64 - 50));
        }
        for r in 0..2000 {
            // Some so long that the warps of a block share them.
            (0..if r % 200 == 0 { 12_000 } else { 30 })
                .for_each(|_| b.push(r, rng.below(columns / apart) * apart, rng.below(100) as i64 - 50));
        }
        let (a, b) = (Matrix::build_with(&a, Second).unwrap(), Matrix::build_with(&b, Second).unwrap());
        let mut mask = Coo::<bool>::new(3, columns);
        (0..40_000).for_each(|_| mask.push(rng.below(3), rng.below(columns / apart) * apart, true));
        let mask: Matrix<bool> = Matrix::build_with(&mask, Second).unwrap();
        fn on<S: Semiring<i64, i64>>(
            (a, b, mask): (&Matrix<i64>, &Matrix<i64>, &Matrix<bool>),
            d: Device,
            masked: bool,
        ) -> Entries<S::Out> {
            let (a, b, m) = (a.to(&d).unwrap().over::<S>(), b.to(&d).unwrap().over(), mask.to(&d).unwrap());
            let product = mxm(&a, &b);
            let product = if masked { product.mask(&m.structure()) } else { product };
            let plan = product.plan().unwrap();
            let (first, again) = (plan.run(&a, &b).unwrap(), plan.run(&a, &b).unwrap());
            assert_eq!(first.entries().unwrap(), again.entries().unwrap());
            first.entries().unwrap()
        }
        let all = (&a, &b, &mask);
        for masked in [false, true] {
            let (d, r) = (Device::Cuda(0), emulator::oracle(a.nvals() + b.nvals()));
            assert_eq!(on::<PlusTimes>(all, d, masked), on::<PlusTimes>(all, r, masked));
            if apart > 1 {
                continue;
            }
            assert_eq!(on::<MinPlus>(all, d, masked), on::<MinPlus>(all, r, masked));
            assert_eq!(on::<AnyPair>(all, d, masked), on::<AnyPair>(all, r, masked));
        }
    }
}
