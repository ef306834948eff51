//! Products on CUDA whose right operand has neighbouring columns: kernels that only tell which columns a row has take them as sets of
//! 32, from the second product on, and large products of positions alone are those of the sets.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::prelude::*;
use oplus::primitive::Context;
use random::Rng;

const GPU: Device = Device::Cuda(0);
/// Of more rows than this no product is made without analysis.
const MANY: u64 = 21_000;

/// Rows of `runs` runs of up to `longest` columns each within `near` columns: across words, at both ends, some rows empty. `same` neighbouring
/// rows have the same columns.
fn runs(inner: u64, columns: u64, (runs, longest, near, same): (u64, u64, u64, u64)) -> Matrix<i64> {
    let (mut coo, mut random) = (Coo::<i64>::new(inner, columns), Rng(17));
    for node in 0..inner.div_ceil(same) {
        let first = if columns > near { random.below(columns - near) } else { 0 };
        let begins: Vec<u64> = (0..if node % 11 == 5 { 0 } else { runs }).map(|_| random.below(near)).collect();
        for k in node * same..((node + 1) * same).min(inner) {
            for begin in &begins {
                let length = 1 + (begin * 7 + node) % longest;
                (0..length)
                    .for_each(|e| coo.push(k, (first + begin + e).min(columns - 1), random.below(100) as i64 - 50));
            }
        }
    }
    Matrix::build_with(&coo, Plus).unwrap()
}

/// `some` of the rows have up to `most` entries within `near` of each other.
fn naming(rows: u64, some: u64, inner: u64, most: u64, near: u64) -> Matrix<i64> {
    let (mut coo, mut random) = (Coo::<i64>::new(rows, inner), Rng(3));
    for i in 0..some {
        let from = random.below(inner - near + 1);
        for _ in 0..1 + random.below(most) {
            coo.push(i * (rows / some), from + random.below(near), random.below(9) as i64 - 4);
        }
    }
    Matrix::build_with(&coo, Plus).unwrap()
}

/// Each product is that of the CPU, and what is kept with B grew as is said.
fn same<S: Semiring<i64, i64>>(a: &Matrix<i64>, b: &Matrix<i64>, strategy: Strategy, kept: bool) {
    let expected = mxm(&a.over::<S>(), &b.over::<S>()).eval().unwrap().entries().unwrap();
    let (a, b) = (a.to(&GPU).unwrap().over::<S>(), b.to(&GPU).unwrap().over::<S>());
    let mut bytes = Vec::new();
    // That nothing more is kept the third time the emulator shows of one strategy.
    let times = if strategy == Strategy::Auto || emulator::every(2) == 1 { 3 } else { 2 };
    for time in 1..=times {
        let c = mxm(&a, &b).strategy(strategy).eval().unwrap();
        assert!(c.entries().unwrap() == expected, "{strategy:?}, time {time}");
        bytes.push(b.memory_bytes());
    }
    assert!(!kept || bytes[0] < bytes[1], "{strategy:?}: {bytes:?}");
    assert_eq!(Some(&bytes[1]), bytes.last());
}

fn check(a: &Matrix<i64>, b: &Matrix<i64>, kept: bool) {
    same::<AnyPair>(a, b, Strategy::Auto, kept);
    same::<AnyPair>(a, b, Strategy::BitmapRank, kept);
    same::<AnyPair>(a, b, Strategy::Window, false);
    same::<PlusTimes>(a, b, Strategy::Auto, false);
    let (ones, both) = (a.with_value(1).unwrap(), b.with_value(1).unwrap());
    same::<PlusTimes>(&ones, &both, Strategy::Auto, false);
    let plan = (a.to(&GPU).unwrap(), b.to(&GPU).unwrap());
    let expected = mxm(a, b).eval().unwrap().entries().unwrap();
    for _ in 0..2 {
        // Which counts every row first.
        let planned = mxm(&plan.0, &plan.1).plan().unwrap();
        assert!(planned.run(&plan.0, &plan.1).unwrap().entries().unwrap() == expected, "planned");
    }
}

/// A warp's window, and a block's.
#[test]
fn near_rows() {
    if emulator::cuda().is_some() {
        check(&naming(MANY, 60, 900, 60, 40), &runs(900, 3001, (9, 12, 300, 1)), true);
        check(&naming(MANY, 20, 900, 200, 200), &runs(900, 7003, (12, 20, 3000, 1)), true);
        // Fewer columns than a word has.
        check(&naming(MANY, 60, 900, 60, 40), &runs(900, 29, (2, 9, 29, 1)), false);
    }
}

/// Blocks with bits over the columns: one window, several, rows that they share.
#[test]
fn rows_of_many_columns() {
    if emulator::cuda().is_some() {
        check(&naming(MANY, 12, 900, 300, 900), &runs(900, 30_011, (12, 24, 30_011, 1)), true);
        check(&naming(MANY, 9, 900, 200, 900), &runs(900, 4_000_037, (12, 24, 4_000_037, 1)), true);
        check(&naming(MANY, 3, 1000, 2000, 1000), &runs(1000, 20_011, (12, 24, 20_011, 1)), true);
    }
}

/// Rows with the same columns are walked together, those of very many columns come as bits.
#[test]
fn supernodes_and_hubs() {
    if emulator::cuda().is_some() {
        check(&naming(MANY, 25, 900, 60, 60), &runs(900, 3001, (9, 12, 300, 3)), true);
        check(&naming(MANY, 9, 900, 100, 900), &runs(900, 9001, (9, 600, 9001, 3)), true);
    }
}

/// Small products need no analysis.
#[test]
fn small_products() {
    if emulator::cuda().is_some() {
        check(&naming(500, 90, 900, 60, 60), &runs(900, 3001, (9, 12, 300, 1)), true);
        check(&naming(500, 60, 900, 100, 900), &runs(900, 40_003, (12, 24, 40_003, 3)), false);
    }
}

/// From the second product on B's rows are united as sets, by one of the kernels `by`, and C's columns listed in the end.
fn united(a: &Matrix<i64>, b: &Matrix<i64>, by: &[&str]) {
    let context = Context::get(0).unwrap();
    let expected = mxm(&a.over::<AnyPair>(), &b.over::<AnyPair>()).eval().unwrap();
    let columns = Matrix::<i64>::identity(b.ncols()).unwrap().to(&GPU).unwrap().over::<AnyPair>();
    let (a, b) = (a.to(&GPU).unwrap().over::<AnyPair>(), b.to(&GPU).unwrap().over::<AnyPair>());
    for (time, sets) in [("first", false), ("second", true), ("third", true)] {
        let (c, ran) = context.trace(|| mxm(&a, &b).eval()).unwrap();
        let ran: Vec<&str> = ran.iter().map(|launch| launch.kernel.as_str()).collect();
        assert_eq!(ran.contains(&"set_columns"), sets, "the {time} time: {ran:?}");
        assert!(!sets || by.iter().any(|kernel| ran.contains(kernel)), "the {time} time: {ran:?}");
        assert!(c.entries().unwrap() == expected.entries().unwrap(), "the {time} time");
        let said = mxm(&a, &b).explain().unwrap().to_string();
        assert_eq!(said.contains("32 columns at a time"), sets, "after the {time} time: {said}");
        // The product after that will look, and nobody knows what it finds.
        assert_eq!(said.contains("looked at first"), !sets, "after the {time} time: {said}");
        // What is known of C's rows is what an uploaded matrix knows.
        let known = expected.to(&GPU).unwrap();
        let next = [&c, &known].map(|c| mxm(c, &columns).explain().unwrap().to_string());
        assert_eq!(next[0], next[1]);
    }
    // Where there is room for nothing else, rows are made as they stand, some at a time.
    let mut limit = 2 * (a.memory_bytes() + b.memory_bytes() + 12 * expected.nvals());
    let mut made = 0;
    loop {
        match mxm(&a, &b).memory_limit(limit).eval() {
            Ok(c) => assert!(c.entries().unwrap() == expected.entries().unwrap(), "within {limit}"),
            Err(Error::OutOfMemory { .. }) => break,
            Err(e) => panic!("within {limit}: {e}"),
        }
        made += 1;
        limit /= 2;
    }
    assert!(made > 0);
}

/// `b` and below it `some` rows of long runs, which nobody names: products are many, as far as one can tell. `a` has as many columns then.
fn as_if_large(a: &Matrix<i64>, b: &Matrix<i64>, some: u64) -> (Matrix<i64>, Matrix<i64>) {
    let mut coo = Coo::<i64>::new(b.nrows() + some, b.ncols());
    for e in b.entries().unwrap() {
        coo.push(e.0, e.1, e.2);
    }
    for i in 0..some {
        (0..b.ncols() / 2).for_each(|j| coo.push(b.nrows() + i, 2 * j - j % 16, 1));
    }
    let mut names = Coo::<i64>::new(a.nrows(), b.nrows() + some);
    for e in a.entries().unwrap() {
        names.push(e.0, e.1, e.2);
    }
    (Matrix::build_with(&names, Plus).unwrap(), Matrix::build_with(&coo, Plus).unwrap())
}

/// Rows that threads, warps and blocks make, and rows without products.
#[test]
fn positions_by_sets() {
    let Some(_one) = emulator::alone() else { return };
    let (a, b) = as_if_large(&naming(MANY, 900, 900, 12, 900), &runs(900, 60_001, (3, 24, 60_001, 1)), 40);
    united(&a, &b, &["spgemm_esc"]);
    let (a, b) = as_if_large(&naming(MANY, 60, 900, 400, 900), &runs(900, 300_007, (8, 20, 300_007, 1)), 12);
    united(&a, &b, &["spgemm_block"]);
    let (a, b) = as_if_large(&naming(MANY, 300, 900, 60, 40), &runs(900, 9_000, (6, 20, 3_000, 3)), 200);
    united(&a, &b, &["spgemm_window"]);
}

/// Rows of few sets: hash tables of them, or where a device is too large for a look at some rows first, sorted.
#[test]
fn tables_of_sets() {
    let Some(_one) = emulator::alone() else { return };
    united(&naming(MANY, MANY, 2000, 24, 9), &runs(2000, 9_000, (2, 40, 300, 6)), &["spgemm_hash", "spgemm_esc"]);
}

/// Columns that are never side by side are no sets.
#[test]
fn scattered_columns() {
    if emulator::cuda().is_some() {
        let (a, b) = (naming(MANY, 40, 900, 90, 60), runs(900, 30_000, (40, 1, 30_000, 1)));
        let (a, b) = (a.to(&GPU).unwrap().over::<AnyPair>(), b.to(&GPU).unwrap().over::<AnyPair>());
        let made: Vec<u64> = (0..3).map(|_| (mxm(&a, &b).eval().unwrap(), b.memory_bytes()).1).collect();
        assert_eq!(made[0], made[1]);
        assert_eq!(made[1], made[2]);
    }
}
