//! Products on CUDA whose products all are one constant: those of 1 are counted in 32 bits and written as what the result is of, by every strategy.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::prelude::*;
use random::Rng;

const GPU: Device = Device::Cuda(0);
/// Of more rows than this no product is made without analysis.
const MANY: u64 = 21_000;

type Positions = (u64, u64, Vec<(u64, u64)>);

fn random(
    rows: u64,
    columns: u64,
    seed: u64,
    entries: impl Fn(u64) -> u64,
    from: impl Fn(u64) -> (u64, u64),
) -> Positions {
    let mut random = Rng(seed);
    let mut all = Vec::new();
    for i in 0..rows {
        let (low, width) = from(i);
        (0..entries(i)).for_each(|_| all.push((i, (low + random.below(width)) % columns)));
    }
    (rows, columns, all)
}
fn anywhere(columns: u64) -> impl Fn(u64) -> (u64, u64) {
    move |_| (0, columns)
}
fn of<T: Scalar>((rows, columns, at): &Positions, value: T) -> Matrix<T> {
    Matrix::from_pattern(*rows, *columns, at, value).unwrap()
}

/// The product on the device is that of the CPU to the bit, with the semiring's own sums where `counted` is false; and A's value is still there once.
fn check<T: Scalar, S: Semiring<T, T, Out = T>>(
    a: &Matrix<T>,
    b: &Matrix<T>,
    strategy: Strategy,
    counted: bool,
) -> Result<()> {
    let expected = mxm(&a.over::<S>(), &b.over::<S>()).eval()?.entries()?;
    let (a, b) = (a.to(&GPU)?.over::<S>(), b.to(&GPU)?.over::<S>());
    let before = a.memory_bytes();
    for reproducible in [false, true] {
        let product = mxm(&a, &b).strategy(strategy);
        let product = if reproducible { product.reproducible() } else { product };
        let said = product.explain()?.to_string();
        assert_eq!(said.contains("counted"), counted, "{strategy:?}: {said}");
        let c = product.eval()?;
        assert!(c.entries()? == expected, "{strategy:?}, reproducible: {reproducible}");
    }
    assert!(!counted || a.memory_bytes() == before, "{strategy:?}: {before} bytes, {}", a.memory_bytes());
    Ok(())
}

fn check_all(a: &Positions, b: &Positions) -> Result<()> {
    for strategy in [
        Strategy::Auto,
        Strategy::Hash,
        Strategy::Esc,
        Strategy::EscGlobal,
        Strategy::SegmentedMerge,
        Strategy::RowRow,
        Strategy::ColumnRow,
        Strategy::BitmapRank,
        Strategy::Window,
    ] {
        check::<f64, PlusTimes>(&of(a, 1.0), &of(b, 1.0), strategy, true)?;
    }
    for strategy in [Strategy::Auto, Strategy::BitmapRank] {
        check::<f32, PlusTimes>(&of(a, 2.0), &of(b, 0.5), strategy, true)?;
        check::<i64, PlusTimes>(&of(a, -1), &of(b, -1), strategy, true)?;
        check::<f64, PlusFirst>(&of(a, 1.0), &of(b, 3.0), strategy, true)?;
        check::<u64, PlusPair<u64>>(&of(a, 5), &of(b, 7), strategy, true)?;
        // Not of ones, or what shared memory adds anyway.
        check::<f64, PlusTimes>(&of(a, 1.0), &of(b, 2.0), strategy, false)?;
        check::<i32, PlusTimes>(&of(a, 1), &of(b, 1), strategy, false)?;
    }
    Ok(())
}

#[test]
fn short_and_longer_rows() -> Result<()> {
    if emulator::cuda().is_some() {
        check_all(&random(60, 40, 1, |i| i % 7, anywhere(40)), &random(40, 50, 2, |k| k % 9, anywhere(50)))?;
        check_all(
            &random(300, 200, 3, |i| i % 40, anywhere(200)),
            &random(200, 900, 4, |k| 5 + k % 60, anywhere(900)),
        )?;
    }
    Ok(())
}

/// Rows whose columns lie near each other, and supernodes: windows.
#[test]
fn near_columns() -> Result<()> {
    if emulator::cuda().is_some() {
        let near = |seed| random(700, 700, seed, |_| 12, |i| (i / 3 * 3, 40));
        check_all(&near(5), &near(6))?;
    }
    Ok(())
}

/// Rows of more columns than shared memory has room for, added up in C's own places: by a block each, and by several.
#[test]
fn long_rows() -> Result<()> {
    if emulator::cuda().is_some() {
        for rows in [2, 14] {
            let a = random(MANY, 600, 7, |i| if i % (MANY / rows) == 0 { 300 } else { 0 }, anywhere(600));
            let b = random(600, 100_000, 8, |_| 500, anywhere(100_000));
            for strategy in [Strategy::Auto, Strategy::BitmapRank] {
                check::<f64, PlusTimes>(&of(&a, 1.0), &of(&b, 1.0), strategy, true)?;
            }
            check::<f32, PlusTimes>(&of(&a, 1.0), &of(&b, 1.0), Strategy::Auto, true)?;
        }
        // By small blocks, and without analysis.
        let few = random(MANY, 600, 9, |i| if i % 500 == 3 { 250 } else { i % 2 }, anywhere(600));
        let many = random(20, 300, 10, |_| 250, anywhere(300));
        for (a, b) in [(few, (600, 60_000, 15)), (many, (300, 60_000, 400))] {
            let b = random(b.0, b.1, 13, |_| b.2, anywhere(b.1));
            check::<f64, PlusTimes>(&of(&a, 1.0), &of(&b, 1.0), Strategy::Auto, true)?;
        }
    }
    Ok(())
}

/// Matrices on few diagonals; and a full one, whose rows are read whole and not counted.
#[test]
fn diagonals_and_full_matrices() -> Result<()> {
    if emulator::cuda().is_some() {
        let at = (0..500u64).flat_map(|i| [0, 1, 7].map(|d| (i, (i + d).min(499)))).collect();
        let band = (500, 500, at);
        for strategy in [Strategy::Auto, Strategy::Band] {
            check::<f64, PlusTimes>(&of(&band, 1.0), &of(&band, 1.0), strategy, true)?;
        }
        let full = (500, 8, (0..500u64).flat_map(|i| (0..8u64).map(move |j| (i, j))).collect());
        check::<f64, PlusTimes>(&of(&band, 1.0), &of(&full, 1.0), Strategy::Auto, false)?;
    }
    Ok(())
}

/// In as little memory as there may be, by chunks of rows.
#[test]
fn within_a_limit() -> Result<()> {
    if emulator::cuda().is_some() {
        let (a, b) = (random(400, 300, 11, |_| 20, anywhere(300)), random(300, 5000, 12, |_| 30, anywhere(5000)));
        let (a, b) = (of(&a, 1.0f64), of(&b, 1.0));
        let expected = mxm(&a, &b).eval()?.entries()?;
        let (a, b) = (a.to(&GPU)?, b.to(&GPU)?);
        for limit in [4 << 20, 8 << 20, 64 << 20] {
            assert!(mxm(&a, &b).memory_limit(limit).eval()?.entries()? == expected, "{limit}");
            // What is kept of it, of some rows before the next.
            let kept = mxm(&a, &b).memory_limit(limit).select(ValueGt, 1.0).eval()?.entries()?;
            assert!(kept == expected.iter().copied().filter(|e| e.2 > 1.0).collect::<Vec<_>>(), "{limit}");
        }
    }
    Ok(())
}

/// A full matrix that is given turned is read whole once it is turned back, and then not counted, however many columns it has as it is given.
#[test]
fn full_matrices_turned() -> Result<()> {
    if emulator::cuda().is_some() {
        let n = 2_100_000;
        let a = of(&random(40, n, 14, |_| 9, anywhere(n)), 1.0f64);
        let b = of(&(1, n, (0..n).map(|j| (0, j)).collect()), 1.0f64);
        let expected = mxm(&a, &b).transpose_b().eval()?.entries()?;
        let (a, b) = (a.to(&GPU)?, b.to(&GPU)?);
        assert!(mxm(&a, &b).transpose_b().eval()?.entries()? == expected);
    }
    Ok(())
}

oplus::operator! {
    /// 2³¹, which twice is 0.
    pub Half[](u32, u32) -> u32 = |_, _| 2147483648u32
}

/// No sum of another constant tells which columns there are: a 0 is an entry as any.
#[test]
fn sums_of_a_constant_that_wrap() {
    if emulator::cuda().is_none() {
        return;
    }
    type Halves = Compose<Plus, Half>;
    let near = |i: u64| (i.saturating_sub(9), 20);
    let a: Matrix<u32> = of(&random(150, 150, 23, |i| i % 7, near), 1);
    let expected = mxm(&a.over::<Halves>(), &a.over()).eval().unwrap().entries().unwrap();
    assert!(expected.iter().any(|e| e.2 == 0) && expected.iter().any(|e| e.2 != 0));
    let a = a.to(&GPU).unwrap().over::<Halves>();
    for strategy in Strategy::ALL.iter().copied().filter(|s| !matches!(s, Strategy::Band | Strategy::Dot)) {
        let product = || mxm(&a, &a).strategy(strategy);
        assert!(product().eval().unwrap().entries().unwrap() == expected, "{strategy}");
        assert!(product().plan().unwrap().run(&a, &a).unwrap().entries().unwrap() == expected, "{strategy}, planned");
    }
}
