//! Products at the ends of what there can be: rows of over 2^20 entries, columns that all collide in tables, and on a GPU with
//! the memory for it more than 2^32 products, 2^31 entries, and 2^26 in a row.
#![cfg(all(feature = "cuda", target_os = "linux"))]
mod common;

use common::emulator::{self, Cuda};
use oplus::backend::cuda::Context;
use oplus::prelude::*;
use oplus_codegen::{Spec, TABLES, Template};

const GPU: Device = Device::Cuda(0);

/// From compressed rows: `rows` gives the columns of each.
fn csr(columns: u32, rows: impl Iterator<Item = Vec<u32>>, value: impl Fn(usize) -> u8) -> Matrix<u8> {
    let (mut offsets, mut indices) = (vec![0u64], Vec::new());
    for row in rows {
        indices.extend(row);
        offsets.push(indices.len() as u64);
    }
    let values = (0..indices.len()).map(value).collect();
    Matrix::from_csr(offsets.len() as u64 - 1, columns.into(), offsets, indices, values).unwrap()
}

#[test]
fn g10_a_row_of_more_than_a_million_entries() {
    if emulator::cuda().is_none() {
        return;
    }
    const RUN: u32 = 1000;
    let runs = (1u32 << 20) / RUN + 50;
    let b = csr(runs * RUN, (0..runs).map(|r| (r * RUN..(r + 1) * RUN).collect()), |e| (e % 7) as u8);
    let a = csr(runs, [(0..runs).collect(), vec![3], (0..runs).step_by(2).collect()].into_iter(), |e| (e % 5) as u8);
    let expected = mxm(&a, &b).eval().unwrap();
    assert!(expected.nvals() > 3 << 19);
    let (a, b) = (a.to(&GPU).unwrap(), b.to(&GPU).unwrap());
    for operation in [mxm(&a, &b), mxm(&a, &b).strategy(Strategy::Hash)] {
        assert!(operation.eval().unwrap().entries().unwrap() == expected.entries().unwrap());
    }
}

/// The number by which 0x9e3779b1 is undone, modulo 2^32: Newton's iteration.
fn inverse() -> u32 {
    let mut x = 0x9e37_79b1u32;
    for _ in 0..5 {
        x = x.wrapping_mul(2u32.wrapping_sub(0x9e37_79b1u32.wrapping_mul(x)));
    }
    x
}

#[test]
fn g10_columns_that_all_collide() {
    if emulator::cuda().is_none() {
        return;
    }
    assert_eq!(inverse().wrapping_mul(0x9e37_79b1), 1);
    // Words of 32 columns whose product with the multiplier is below 2^16: all begin to look at slot 0 of every table.
    let mut words: Vec<u32> = (0..1 << 16).map(|t| inverse().wrapping_mul(t)).filter(|w| *w < 1 << 27).collect();
    words.sort_unstable();
    assert!(words.len() > 1000);
    // And columns that do in a table of so many single columns.
    let mut columns: Vec<u32> = (0..1 << 23).map(|t| inverse().wrapping_mul(t)).filter(|c| *c < 1 << 23).collect();
    columns.sort_unstable();
    columns.truncate(300);
    let cases: [(u32, Vec<u32>, &[Strategy]); 2] = [
        (u32::MAX, words.iter().map(|w| w << 5 | (w & 31)).collect(), &[Strategy::Hash, Strategy::Auto]),
        (1 << 23, columns, &[Strategy::Auto, Strategy::Hash]),
    ];
    for (width, columns, strategies) in cases {
        let some = |r: usize| columns.iter().skip(r % 5).step_by(1 + r % 3).copied().collect::<Vec<u32>>();
        let b = csr(width, (0..6).map(some), |e| (e % 7) as u8);
        let rows = [(0..6).collect(), vec![0, 5], vec![2, 3, 4], vec![1]].into_iter().cycle().take(40);
        let a = csr(6, rows, |e| 1 + (e % 5) as u8);
        let expected = mxm(&a, &b).eval().unwrap().entries().unwrap();
        let (a, b) = (a.to(&GPU).unwrap(), b.to(&GPU).unwrap());
        for strategy in strategies {
            let found = mxm(&a, &b).strategy(*strategy).eval().unwrap();
            assert!(found.entries().unwrap() == expected, "{strategy:?}, {width} columns");
        }
    }
}

/// As many columns as the largest table has sums, some fewer, some more, and so far apart that words of 32 of them are hashed: a part of
/// its own for the numeric phase, which is not cut by what stands where in a table.
#[test]
fn far_columns_that_just_fill_the_largest_table() {
    fn check<S: Semiring<f64, f64, Out = f64>>() {
        let architecture = Context::get(0).unwrap().properties().architecture;
        let spec = Spec::new(Template::SpgemmNumeric, architecture).semiring(semiring_text::<f64, f64, S>());
        let most = spec.table_launch(TABLES - 1).unwrap().values;
        for (together, apart) in [(1, 512), (2, 1024)] {
            let column = |e: u32| e / together * apart + e % together;
            let lengths = [most - 32, most - 31, most - 16, most, most + 1, 2 * most - 40, 2 * most];
            let width = column(2 * most) + 1;
            // Rows of B, and one that has one of their columns: two entries of A, so that no row is a copy.
            let rows = lengths.iter().map(|n| (0..*n).map(column).collect()).chain([vec![column(7)]]);
            let b = csr(width, rows, |e| (e % 7) as u8).cast::<f64>().unwrap().over::<S>();
            let a = csr(8, (0..7).map(|row| vec![row, 7]), |e| 1 + (e % 5) as u8).cast::<f64>().unwrap().over::<S>();
            let expected = mxm(&a, &b).eval().unwrap().entries().unwrap();
            let (a, b) = (a.to(&GPU).unwrap(), b.to(&GPU).unwrap());
            for strategy in [Strategy::Hash, Strategy::Auto] {
                let found = mxm(&a, &b).strategy(strategy).eval().unwrap();
                assert!(found.entries().unwrap() == expected, "{strategy}, {together} columns {apart} apart");
            }
        }
    }
    if emulator::cuda().is_none() {
        return;
    }
    check::<PlusTimes>();
    check::<AnyFirst>();
}

/// Whether there is a GPU with so much memory.
fn gpu_with(bytes: u64) -> bool {
    match emulator::cuda() {
        Some(Cuda::Gpu) => Context::get(0).unwrap().properties().total_memory >= bytes,
        _ => false,
    }
}

#[test]
fn g10_more_than_2_to_32_products() {
    if !gpu_with(30 << 30) {
        return;
    }
    // Every sum of 2^10 products; 2^33 in all, and C has 2^23 entries.
    let (m, k, n) = (1u32 << 16, 1u32 << 10, 1u32 << 7);
    let a = csr(k, (0..m).map(|_| (0..k).collect()), |_| 1).to(&GPU).unwrap();
    let b = csr(n, (0..k).map(|_| (0..n).collect()), |_| 1).to(&GPU).unwrap();
    let (a, b) = (a.over::<PlusPair<u64>>(), b.over());
    let explanation = mxm(&a, &b).explain().unwrap();
    assert_eq!(explanation.analysis.products, 1 << 33, "{explanation}");
    for strategy in [Strategy::Auto, Strategy::Hash] {
        let c = mxm(&a, &b).strategy(strategy).eval().unwrap();
        assert_eq!((c.nvals(), reduce(&c, Plus).unwrap()), (1 << 23, 1u64 << 33), "{strategy:?}");
        assert_eq!(c.get(m as u64 - 1, n as u64 - 1).unwrap(), Some(1 << 10));
    }
    assert_eq!(mxm(&a, &b).reduce(Plus).unwrap(), 1 << 33);
}

#[test]
fn g10_more_than_2_to_31_entries() {
    // 5 bytes each, and as much again for what they are moved from.
    if !gpu_with(60 << 30) {
        return;
    }
    let n = 48_000u32;
    let entries = u64::from(n) * u64::from(n);
    assert!(entries > 1 << 31);
    let column = csr(1, (0..n).map(|_| vec![0]), |e| (e % 3) as u8).to(&GPU).unwrap();
    let row = csr(n, std::iter::once((0..n).collect()), |e| (e % 5) as u8).to(&GPU).unwrap();
    let check = |c: Matrix<u8>, what: &str| {
        assert_eq!(c.nvals(), entries, "{what}");
        for (i, j) in [(0, 0), (47_999, 47_999), (44_744, 17), (1, 47_998)] {
            assert_eq!(c.get(i, j).unwrap(), Some((i % 3) as u8 * (j % 5) as u8), "{what} ({i}, {j})");
        }
    };
    check(mxm(&column, &row).eval().unwrap(), "outer product");
    check(mxm(&column, &row).memory_limit(30 << 30).eval().unwrap(), "within a limit");
    // Two products each, so that rows are summed and not copied.
    let pair = csr(2, (0..n).map(|_| vec![0, 1]), |e| (e / 2 % 3) as u8).to(&GPU).unwrap();
    let rows = [(0..n).collect(), Vec::new()];
    let rows = csr(n, rows.into_iter(), |e| (e % 5) as u8).to(&GPU).unwrap();
    check(mxm(&pair, &rows).eval().unwrap(), "two rows, one of them empty");
}

#[test]
fn g10_rows_of_more_than_2_to_26_entries() {
    // 9 · 2^27 entries of 5 bytes, and as much again for what they are moved from.
    if !gpu_with(60 << 30) {
        return;
    }
    const ROWS: u32 = 9;
    const COLUMNS: u32 = 1 << 27;
    let column = csr(1, (0..ROWS).map(|_| vec![0]), |_| 1).to(&GPU).unwrap();
    let row = csr(COLUMNS, std::iter::once((0..COLUMNS).collect()), |_| 1).to(&GPU).unwrap();
    let b = mxm(&column, &row).eval().unwrap().over::<PlusPair<u64>>();
    // More than 2^30 products of 32 entries of A: a warp takes them in pieces.
    let a = csr(ROWS, std::iter::once((0..ROWS).collect()), |_| 1).to(&GPU).unwrap().over::<PlusPair<u64>>();
    let products = u64::from(ROWS) * u64::from(COLUMNS);
    assert!(products > 1 << 30);
    assert_eq!(mxm(&a, &b).reduce(Plus).unwrap(), products);
    for strategy in [Strategy::Auto, Strategy::Hash] {
        let c = mxm(&a, &b).strategy(strategy).eval().unwrap();
        assert_eq!((c.nvals(), reduce(&c, Plus).unwrap()), (u64::from(COLUMNS), products), "{strategy:?}");
        for j in [0, 77_777_777, u64::from(COLUMNS) - 1] {
            assert_eq!(c.get(0, j).unwrap(), Some(u64::from(ROWS)), "{strategy:?} {j}");
        }
    }
}

/// Positions in an operand that take 64 bits: every strategy has kernels of its own for them.
#[test]
fn operands_of_more_than_2_to_31_entries() {
    // 5 bytes an entry twice, and what strategies that sort take of their products.
    if !gpu_with(60 << 30) {
        return;
    }
    let n = 48_000u32;
    const NONE: u32 = 7;
    let rows = (0..n).map(|i| if i == NONE { Vec::new() } else { vec![0] });
    let column = csr(1, rows, |e| (e % 3) as u8).to(&GPU).unwrap();
    let row = csr(n, std::iter::once((0..n).collect()), |e| (e % 5) as u8).to(&GPU).unwrap();
    let large = mxm(&column, &row).eval().unwrap();
    assert_eq!(large.nvals(), u64::from(n - 1) * u64::from(n));
    assert!(large.nvals() > 1 << 31);
    // Entry (k, j) is left(k) · (j % 5): rows after the empty one are counted one less.
    let left = |k: u32| ((if k < NONE { k } else { k - 1 }) % 3) as u8;
    // Rows of one, of two and of forty entries, the last of all among them.
    let columns = |i: u32| {
        let some = [1, 2, 40][i as usize % 3];
        let mut ks: Vec<u32> = (0..some).map(|e| (n - 1 - e * 1117 - i * 13) % n).collect();
        ks.sort_unstable();
        ks.dedup();
        ks
    };
    let a = csr(n, (0..60).map(columns), |_| 1).to(&GPU).unwrap();
    let sum = |i: u32| columns(i).iter().filter(|k| **k != NONE).fold(0u8, |s, k| s.wrapping_add(left(*k)));
    let check = |c: &Matrix<u8>, what: &str| {
        assert_eq!(c.nvals(), 60 * u64::from(n), "{what}");
        for (i, j) in [(0u32, 0u32), (1, n - 1), (2, 17), (58, 33_333), (59, n - 2)] {
            let expected = sum(i).wrapping_mul((j % 5) as u8);
            assert_eq!(c.get(i.into(), j.into()).unwrap(), Some(expected), "{what} ({i}, {j})");
        }
    };
    for strategy in Strategy::ALL.iter().copied().filter(|s| !matches!(s, Strategy::Band | Strategy::Dot)) {
        check(&mxm(&a, &large).strategy(strategy).eval().unwrap(), strategy.name());
    }
    check(&mxm(&a, &large).plan().unwrap().run(&a, &large).unwrap(), "planned");
    // Some places of each row, and all others.
    let mask = csr(n, (0..60).map(|i| (i..n).step_by(997).collect()), |_| 1).to(&GPU).unwrap().structure();
    let expected: u64 = (0..60).map(|i| u64::from((n - i).div_ceil(997))).sum();
    for strategy in [Strategy::Auto, Strategy::Hash, Strategy::Esc, Strategy::BitmapRank, Strategy::SegmentedMerge] {
        let some = mxm(&a, &large).strategy(strategy).mask(&mask).eval().unwrap();
        let others = mxm(&a, &large).strategy(strategy).mask(&mask.clone().complement()).eval().unwrap();
        assert_eq!((some.nvals(), some.nvals() + others.nvals()), (expected, 60 * u64::from(n)), "{strategy}");
        let (i, j) = (2, 2 + 997 * 5);
        assert_eq!(some.get(i, j).unwrap(), Some(sum(2).wrapping_mul((j % 5) as u8)), "{strategy}");
        assert_eq!((others.get(i, j).unwrap(), others.get(i, j + 1).unwrap().is_some()), (None, true), "{strategy}");
    }
    // On the left: a few rows of B, so that most of A's entries have no product.
    let b = csr(
        50,
        (0..n).map(|k| if k % 4001 == 0 { (0..50).step_by(1 + k as usize % 3).collect() } else { vec![] }),
        |_| 1,
    );
    let (ks, b) = ((0..n).step_by(4001), b.to(&GPU).unwrap());
    let places = |j: u32| ks.clone().filter(move |k| j.is_multiple_of(1 + k % 3));
    let sum = |i: u32, j: u32| places(j).fold(0u8, |s, k| s.wrapping_add(left(i).wrapping_mul((k % 5) as u8)));
    for strategy in [Strategy::Auto, Strategy::Hash, Strategy::Esc, Strategy::EscGlobal, Strategy::RowRow] {
        let c = mxm(&large, &b).strategy(strategy).eval().unwrap();
        assert_eq!(c.nvals(), u64::from(n - 1) * 50, "{strategy}");
        for (i, j) in [(0, 0), (n - 1, 49), (40_000, 6)] {
            assert_eq!(c.get(i.into(), j.into()).unwrap(), Some(sum(i, j)), "{strategy} ({i}, {j})");
        }
    }
}
