//! Products on CUDA whose rows have many products with near columns, and matrices of several unknowns a node: rows in a block's
//! window, neighbouring rows of B with the same columns walked as one.
#![cfg(feature = "cuda")]
mod common;

use common::emulator;
use oplus::prelude::*;

type Entries<T> = Vec<(u64, u64, T)>;

/// Of more rows than this no product is made without analysis.
const MANY: u64 = 21_000;

struct Random(u64);
impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// Nodes of `unknowns(node)` rows each, coupled with about `degree` nodes no further than `reach`, fully; after them rows without an
/// entry up to `rows`, the last of which has many. Of many rows, some of them long, the product is made class by class.
fn coupled(rows: u64, (nodes, degree, reach): (u64, u64, u64), unknowns: impl Fn(u64) -> u64) -> Matrix<i64> {
    let first: Vec<u64> = (0..=nodes).map(|v| (0..v).map(&unknowns).sum()).collect();
    let n = first[nodes as usize].max(rows);
    let (mut coo, mut random) = (Coo::<i64>::new(n, n), Random(7));
    for v in 0..nodes {
        for other in 0..=degree {
            let w = if other == 0 { v } else { (v + random.below(2 * reach + 1)).saturating_sub(reach).min(nodes - 1) };
            for i in first[v as usize]..first[v as usize + 1] {
                for j in first[w as usize]..first[w as usize + 1] {
                    coo.push(i, j, random.below(100) as i64 - 50);
                }
            }
        }
    }
    for j in 0..if rows > 0 { 300 } else { 0 } {
        coo.push(n - 1, j * (n / 300), 1);
    }
    Matrix::build_with(&coo, Plus).unwrap()
}

/// The product, the second time it is asked for: supernodes are looked for when B is one a second time.
fn product<S: Semiring<i64, i64>>(
    (a, b, mask): (&Matrix<i64>, &Matrix<i64>, Option<(&Matrix<bool>, bool)>),
    device: Device,
    strategy: Strategy,
) -> Entries<S::Out> {
    let (a, b) = (a.to(&device).unwrap().over::<S>(), b.to(&device).unwrap().over::<S>());
    let mask = mask.map(|(m, complement)| (m.to(&device).unwrap(), complement));
    let make = || match &mask {
        None => mxm(&a, &b).strategy(strategy).eval().unwrap().entries().unwrap(),
        Some((m, false)) => mxm(&a, &b).mask(&m.structure()).strategy(strategy).eval().unwrap().entries().unwrap(),
        Some((m, true)) => {
            mxm(&a, &b).mask(&m.structure().complement()).strategy(strategy).eval().unwrap().entries().unwrap()
        }
    };
    let first = make();
    if device != Device::Reference {
        assert_eq!(make(), first, "the second time the same");
    }
    first
}

fn random_mask((rows, columns): (u64, u64)) -> Matrix<bool> {
    let pattern = oplus::generate::uniform(rows, columns, 20, 4).unwrap();
    let mut mask = Coo::<bool>::new(rows, columns);
    pattern.rows.iter().zip(&pattern.columns).for_each(|(i, j)| mask.push(*i, *j, true));
    Matrix::build_with(&mask, First).unwrap()
}

fn same<S: Semiring<i64, i64>>(
    operands: (&Matrix<i64>, &Matrix<i64>, Option<(&Matrix<bool>, bool)>),
    strategies: &[Strategy],
) {
    let expected = product::<S>(operands, Device::Reference, Strategy::Auto);
    for strategy in strategies {
        assert!(product::<S>(operands, Device::Cuda(0), *strategy) == expected, "{strategy:?}");
    }
}

/// Every strategy that walks supernodes; `Auto` in classes where there are many rows.
fn check(a: &Matrix<i64>, b: &Matrix<i64>) {
    let mask = random_mask((a.nrows(), b.ncols()));
    same::<PlusTimes>((a, b, None), &[Strategy::Auto, Strategy::Window, Strategy::BitmapRank]);
    same::<AnySecondI>((a, b, None), &[Strategy::Auto]);
    same::<MinPlus>((a, b, None), &[Strategy::BitmapRank]);
    same::<AnyPair>((a, b, None), &[Strategy::Auto]);
    same::<PlusTimes>((a, b, Some((&mask, false))), &[Strategy::Auto]);
    same::<AnyPair>((a, b, Some((&mask, true))), &[Strategy::Auto]);
}

#[test]
fn three_unknowns_a_node() {
    if emulator::cuda().is_some() {
        let nodes = emulator::sized(60, 35);
        let a = coupled(0, (nodes, 20, 15), |_| 3);
        check(&a, &a);
        let a = coupled(MANY, (nodes, 20, 15), |_| 3);
        check(&a, &a);
    }
}

/// Supernodes of one to nine rows, some of them cut by rounds of 32 entries.
#[test]
fn uneven_unknowns() {
    if emulator::cuda().is_some() {
        let a = coupled(MANY, (40, 14, 20), |v| 1 + v * v % 9);
        check(&a, &a);
    }
}

/// B of supernodes; A's entries seldom side by side, and some rows of A of one entry or none.
#[test]
fn supernodes_of_the_right_operand_alone() {
    if emulator::cuda().is_some() {
        let b = coupled(0, (60, 18, 15), |_| 4);
        let n = b.nrows();
        let (mut coo, mut random) = (Coo::<i64>::new(MANY, n), Random(3));
        for i in 0..100 {
            for _ in 0..i % 40 {
                coo.push(i * 200, random.below(n), random.below(9) as i64);
            }
        }
        check(&Matrix::build_with(&coo, Plus).unwrap(), &b);
    }
}

/// Rows of so many entries within `reach` columns of `center`.
fn near(shape: (u64, u64), rows: impl Iterator<Item = (u64, u64)>, entries: u64, reach: u64) -> Matrix<i64> {
    let (mut coo, mut random) = (Coo::<i64>::new(shape.0, shape.1), Random(5));
    for (row, center) in rows {
        for _ in 0..entries {
            let column = (center + random.below(2 * reach + 1)).saturating_sub(reach).min(shape.1 - 1);
            coo.push(row, column, random.below(100) as i64 - 50);
        }
    }
    Matrix::build_with(&coo, Plus).unwrap()
}

/// Rows within 1024, 2048, 4096 and 8192 columns, each a block's.
#[test]
fn every_width() {
    if emulator::cuda().is_none() {
        return;
    }
    for (reach, name) in [(220, "dense 1024"), (450, "dense 2048"), (900, "dense 4096"), (1900, "dense 8192")] {
        let n = 5 * reach;
        let b = near((n, n), (0..n).map(|k| (k, k)), 40, reach);
        let rows = emulator::sized(30, 12);
        let a = near((MANY, n), (0..rows).map(|i| (i * 700, 2 * reach + 10 * i)), 350, reach);
        let bins = explained(&a, &b);
        assert!(bins.iter().any(|bin| bin.name == name && bin.rows >= rows - rows / 6), "{name}: {bins:?}");
        same::<PlusTimes>((&a, &b, None), &[Strategy::Auto]);
        same::<AnyPair>((&a, &b, None), &[Strategy::Auto]);
        let mask = random_mask((MANY, n));
        same::<PlusTimes>((&a, &b, Some((&mask, true))), &[Strategy::Auto]);
        planned(&a, &b, &mask);
    }
}

/// Rows are counted first; twice with the same lists.
fn planned(a: &Matrix<i64>, b: &Matrix<i64>, mask: &Matrix<bool>) {
    let expected = mxm(a, b).mask(&mask.structure().complement()).eval().unwrap().entries().unwrap();
    let device = Device::Cuda(0);
    let (a, b, mask) = (a.to(&device).unwrap(), b.to(&device).unwrap(), mask.to(&device).unwrap());
    let plan = mxm(&a, &b).mask(&mask.structure().complement()).plan().unwrap();
    for _ in 0..2 {
        assert_eq!(plan.run(&a, &b).unwrap().entries().unwrap(), expected);
    }
}

fn explained(a: &Matrix<i64>, b: &Matrix<i64>) -> Vec<oplus::spgemm::Bin> {
    let (a, b) = (a.to(&Device::Cuda(0)).unwrap(), b.to(&Device::Cuda(0)).unwrap());
    mxm(&a, &b).explain().unwrap().analysis.bins
}
