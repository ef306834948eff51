//! Products on CUDA whose right operand has rows with an entry in one of few columns, as hubs have: blocks that count columns take
//! these rows as bits, from the second product on.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::prelude::*;
use random::Rng;

/// Of more rows than this no product is made without analysis.
const MANY: u64 = 21_000;

/// `inner` rows of a few entries, every 50th of many: a third of the columns, all of them, or just as many as are worth bits.
fn hubs(inner: u64, columns: u64) -> Matrix<i64> {
    let (mut coo, mut random) = (Coo::<i64>::new(inner, columns), Rng(11));
    for k in 0..inner {
        let hub = k % 50 == 7;
        let entries = match k / 50 % 3 {
            _ if !hub => random.below(6),
            0 => columns / 3,
            1 => columns.min(5000),
            _ => columns.div_ceil(64).max(128),
        };
        let from = random.below(columns);
        for e in 0..entries {
            // Hubs of all columns have each once; others leave gaps.
            let column = if hub { from + e * (columns / entries).max(1) } else { random.below(columns) };
            coo.push(k, column % columns, random.below(100) as i64 - 50);
        }
    }
    Matrix::build_with(&coo, Plus).unwrap()
}

/// `some` of the rows have entries: a few, two in three of them that name hubs; the last of them has a row of very many.
fn naming(rows: u64, some: u64, inner: u64) -> Matrix<i64> {
    let (mut coo, mut random) = (Coo::<i64>::new(rows, inner), Rng(3));
    for i in 0..some {
        let row = i * (rows / some);
        let many = i + 1 == some;
        for _ in 0..if many { inner / 2 } else { 1 + random.below(40) } {
            coo.push(row, random.below(inner), random.below(9) as i64 - 4);
        }
        for _ in 0..if i % 3 == 0 { 0 } else { random.below(5) } {
            coo.push(row, random.below(inner / 50) * 50 + 7, random.below(9) as i64 - 4);
        }
    }
    Matrix::build_with(&coo, Plus).unwrap()
}

fn same<S: Semiring<i64, i64>>(a: &Matrix<i64>, b: &Matrix<i64>, mask: Option<&Matrix<bool>>, strategy: Strategy) {
    let expected = match mask {
        None => mxm(&a.over::<S>(), &b.over::<S>()).eval().unwrap().entries().unwrap(),
        Some(m) => {
            mxm(&a.over::<S>(), &b.over::<S>()).mask(&m.structure().complement()).eval().unwrap().entries().unwrap()
        }
    };
    let device = Device::Cuda(0);
    let (a, b) = (a.to(&device).unwrap().over::<S>(), b.to(&device).unwrap().over::<S>());
    let mask = mask.map(|m| m.to(&device).unwrap());
    for time in ["first", "second", "third"] {
        let product = mxm(&a, &b).strategy(strategy);
        let made = match &mask {
            None => product.eval(),
            Some(m) => product.mask(&m.structure().complement()).eval(),
        };
        assert!(made.unwrap().entries().unwrap() == expected, "{strategy:?}, the {time} time");
    }
}

fn check(a: &Matrix<i64>, b: &Matrix<i64>) {
    for strategy in [Strategy::Auto, Strategy::BitmapRank] {
        same::<PlusTimes>(a, b, None, strategy);
        same::<AnyPair>(a, b, None, strategy);
    }
    same::<MinPlus>(a, b, None, Strategy::BitmapRank);
    let mut mask = Coo::<bool>::new(a.nrows(), b.ncols());
    let pattern = oplus::generate::uniform(a.nrows(), b.ncols(), 20, 4).unwrap();
    pattern.rows.iter().zip(&pattern.columns).for_each(|(i, j)| mask.push(*i, *j, true));
    same::<PlusTimes>(a, b, Some(&Matrix::build_with(&mask, First).unwrap()), Strategy::BitmapRank);
}

#[test]
fn rows_of_one_window() {
    if emulator::cuda().is_some() {
        check(&naming(MANY, 40, 600), &hubs(600, 9000));
    }
}

/// As many columns as rows may have bits for, and more.
#[test]
fn rows_of_many_columns() {
    if emulator::cuda().is_some() {
        let rows = emulator::sized(12, 7);
        check(&naming(MANY, rows, 400), &hubs(400, 65_536));
        check(&naming(MANY, rows, 400), &hubs(400, 150_000));
    }
}

/// Few rows of many products are shared by blocks.
#[test]
fn rows_that_blocks_share() {
    if emulator::cuda().is_some() {
        check(&naming(MANY, 3, 3000), &hubs(3000, 20_000));
    }
}

/// Rows with the same columns side by side are walked together, hubs among them.
#[test]
fn supernodes_of_hubs() {
    if emulator::cuda().is_some() {
        let (n, columns) = (300, 20_000);
        let (mut coo, mut random) = (Coo::<i64>::new(n, columns), Rng(5));
        for node in 0..n / 3 {
            let step = if node % 20 == 3 { 12 } else { 900 + random.below(900) };
            for column in (random.below(step)..columns).step_by(step as usize) {
                (0..3).for_each(|i| coo.push(3 * node + i, column, random.below(100) as i64 - 50));
            }
        }
        check(&naming(MANY, 40, n), &Matrix::build_with(&coo, Plus).unwrap());
    }
}
