//! Products on CUDA of matrices on few diagonals.
mod common;

use common::emulator;
use oplus::prelude::*;

/// Entries on the diagonals j - i of `shifts` but for one in `gap`, values by place; m rows, n columns.
fn on_diagonals(m: u64, n: u64, shifts: &[i64], gap: u64) -> Matrix<i64> {
    let mut coo = Coo::<i64>::new(m, n);
    let mut number = 0u64;
    for i in 0..m {
        for shift in shifts {
            let j = i as i64 + shift;
            number += 1;
            // Full stretches in the middle, gaps elsewhere.
            if j >= 0 && (j as u64) < n && !(number.is_multiple_of(3 * gap) && i % 1000 <= 300) {
                coo.push(i, j as u64, (i * 7 + j as u64 * 3) as i64 % 101 - 50);
            }
        }
    }
    Matrix::build_with(&coo, Plus).unwrap()
}

fn compare<S: Semiring<i64, i64>>(a: &Matrix<i64>, b: &Matrix<i64>, strategy: Strategy) {
    let on = |d: Device, strategy: Strategy| {
        let (a, b) = (a.to(&d).unwrap().over::<S>(), b.to(&d).unwrap().over());
        // Twice: diagonals are kept.
        mxm(&a, &b).strategy(strategy).eval().unwrap();
        let c = mxm(&a, &b).strategy(strategy).eval().unwrap();
        assert_eq!(c.nvals(), c.entries().unwrap().len() as u64);
        c.entries().unwrap()
    };
    let (made, expected) = (on(Device::Cuda(0), strategy), on(Device::Reference, Strategy::Auto));
    assert!(made == expected, "{} by {strategy:?}", std::any::type_name::<S>());
}

#[test]
fn diagonals_full_and_gappy() {
    if emulator::cuda().is_none() {
        return;
    }
    let wide: Vec<i64> = (-20..=20).collect();
    for (m, k, n, left, right) in [
        (5000, 5000, 5000, vec![-70, -1, 0, 1, 70], vec![-70, -1, 0, 1, 70]),
        (4200, 4300, 4100, vec![-3, 5, 90], vec![-90, 2]),
        (4100, 4100, 4100, wide.clone(), vec![0, 1]),
        (4100, 4100, 4100, vec![-2, 0], wide),
    ] {
        let (a, b) = (on_diagonals(m, k, &left, 5), on_diagonals(k, n, &right, 7));
        compare::<PlusTimes>(&a, &b, Strategy::Band);
        compare::<AnySecondI>(&a, &b, Strategy::Band);
        compare::<AnyPair>(&a, &b, Strategy::Band);
        compare::<MinPlus>(&a, &b, Strategy::Band);
        compare::<PlusTimes>(&a, &b, Strategy::Auto);
    }
}

/// So many rows that diagonals are looked for unasked.
#[test]
fn diagonals_are_found() {
    if emulator::cuda().is_none() {
        return;
    }
    let (full, gappy) =
        (on_diagonals(33000, 33000, &[-1, 0, 64], u64::MAX / 4), on_diagonals(33000, 33000, &[0, 9], 5));
    compare::<PlusTimes>(&full, &full, Strategy::Auto);
    compare::<PlusTimes>(&full, &gappy, Strategy::Auto);
}

#[test]
fn floats_are_summed_in_the_order_of_k() {
    if emulator::cuda().is_none() {
        return;
    }
    let grid = oplus::generate::stencil_9(80, 70).unwrap();
    let mut coo = Coo::<f64>::new(grid.nrows, grid.ncols);
    for (n, (i, j)) in grid.rows.iter().zip(&grid.columns).enumerate() {
        coo.push(*i, *j, 1.0 / (n as f64 + 3.0));
    }
    let a: Matrix<f64> = Matrix::build_with(&coo, Plus).unwrap();
    let on = |d: Device| -> Vec<_> {
        let a = a.to(&d).unwrap();
        let strategy = if d == Device::Reference { Strategy::Auto } else { Strategy::Band };
        let entries = mxm(&a, &a).strategy(strategy).eval().unwrap().entries().unwrap();
        entries.iter().map(|e| (e.0, e.1, e.2.to_bits())).collect()
    };
    assert!(on(Device::Cuda(0)) == on(Device::Reference));
}

/// A product of a product: the result's diagonals are found out in turn.
#[test]
fn powers() {
    if emulator::cuda().is_none() {
        return;
    }
    let a = on_diagonals(4200, 4200, &[-1, 0, 64], 4);
    let on = |d: Device| {
        let a = a.to(&d).unwrap();
        let squared = mxm(&a, &a).strategy(Strategy::Band).eval().unwrap();
        mxm(&squared, &squared).strategy(Strategy::Band).eval().unwrap().entries().unwrap()
    };
    assert!(on(Device::Cuda(0)) == on(Device::Reference));
}
