//! Matrices of every format on CUDA, emulated or real; and products with what follows them.
#![cfg(feature = "cuda")]
#[path = "common/chains.rs"]
mod chains;
mod common;
#[path = "common/formats.rs"]
mod formats;
#[path = "common/fused.rs"]
mod fused;

use common::emulator;
use oplus::prelude::*;
use quickcheck::{Arbitrary, Gen};

const DEVICE: Device = Device::Cuda(0);

#[test]
fn formats_do_not_show_on_cuda() {
    if emulator::cuda().is_none() {
        return;
    }
    let of = |m: u64, n: u64, keep: fn(u64, u64) -> bool, value: fn(u64, u64) -> i8| {
        let positions = (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| keep(*i, *j));
        (m, n, positions.map(|(i, j)| (i, j, value(i, j))).collect())
    };
    let operands = formats::Operands {
        a: of(5, 4, |i, j| i.abs_diff(j) < 2, |i, j| i as i8 * 3 - j as i8 * 2),
        b: of(4, 6, |_, _| true, |_, _| 6),
        c: of(5, 4, |i, j| (i + j) % 3 == 0, |i, j| (i + j) as i8 % 2 * 2),
    };
    formats::check::<i64>(&operands, &DEVICE);
}

#[test]
fn fused_products_are_what_the_steps_make_on_cuda() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut g = Gen::new(20);
    for _ in 0..3 {
        fused::agrees(&fused::Factors::arbitrary(&mut g), &DEVICE);
    }
}

#[test]
fn top_k_of_rows_of_every_length() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut coo = Coo::new(6, 90);
    for (row, length) in [(0, 1), (1, 2), (2, 3), (4, 40), (5, 90)] {
        (0..length)
            .for_each(|j| coo.push(row, j * 90 / length, if j % 11 == 5 { f64::NAN } else { (j * 7 % 5) as f64 }));
    }
    let a = Matrix::<f64>::build_with(&coo, First).unwrap();
    for k in [0, 1, 2, 3, 20, 89, 90, 1000] {
        let top = top_k(&a.to(&DEVICE).unwrap(), k).eval().unwrap();
        assert_eq!(format!("{:?}", top.entries().unwrap()), format!("{:?}", fused::largest(&a, k)), "{k}");
    }
}

#[test]
fn chains_are_what_the_steps_make_on_cuda() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut g = Gen::new(20);
    for _ in 0..3 {
        chains::agrees(&chains::Operands::arbitrary(&mut g), &DEVICE);
    }
}

/// Rows that are cut among threads, empty rows by the thousand, and a launch for all steps.
#[test]
fn chains_of_long_and_empty_rows() {
    if emulator::cuda().is_none() {
        return;
    }
    let (m, n) = (3000u64, 900u64);
    let build = |step: u64, seed: u64| -> Matrix<i64> {
        let wide = (0..n).step_by(step as usize).map(|j| (7, j, (j * seed % 13) as i64 - 6));
        let wide = wide.chain((0..n).step_by(11 * step as usize).map(|j| (2999, j, 5)));
        let tall = (100..200).map(|i| (i * 7, i * seed % n, (i % 5) as i64));
        Matrix::build(m, n, &wide.chain(tall).collect::<Vec<_>>()).unwrap().to(&DEVICE).unwrap()
    };
    let (a, b, c) = (build(1, 3), build(2, 5), build(3, 7));
    let sum = ewise_add(&a, &b, Minus).eval().unwrap();
    let product = ewise_mult(&sum, &c, Times).eval().unwrap();
    let steps = select(&apply(&product, Abs).eval().unwrap(), ValueGt, 3).eval().unwrap();
    let chain = ewise_add(&a, &b, Minus).ewise_mult(&c, Times).apply(Abs).select(ValueGt, 3).eval().unwrap();
    assert_eq!(chain.entries().unwrap(), steps.entries().unwrap());
    let steps = ewise_add(&apply(&sum, Negate).eval().unwrap(), &c, Max).eval().unwrap();
    let chain = ewise_add(&a, &b, Minus).apply(Negate).ewise_add(&c, Max).eval().unwrap();
    assert_eq!(chain.entries().unwrap(), steps.entries().unwrap());
    let none: Matrix<i64> = Matrix::new(m, n).unwrap().to(&DEVICE).unwrap();
    assert_eq!(ewise_add(&none, &none, Plus).ewise_add(&none, Plus).eval().unwrap().nvals(), 0);
    assert_eq!(
        ewise_add(&none, &none, Plus).ewise_add(&a, Plus).eval().unwrap().entries().unwrap(),
        a.entries().unwrap()
    );
}

/// A product that its limit does not hold, of which what is kept is little.
#[test]
fn fused_products_in_chunks() {
    if emulator::cuda().is_none() {
        return;
    }
    let n = 300u64;
    let build = |step: u64, m: u64| -> Matrix<i64> {
        let entries: Vec<_> =
            (0..m).flat_map(|i| (0..12).map(move |e| (i, (i * step + e * 23) % n, ((i + e) % 9) as i64 - 4))).collect();
        let mut coo = Coo::new(m, n);
        entries.iter().for_each(|(i, j, v)| coo.push(*i, *j, *v));
        Matrix::build_with(&coo, Plus).unwrap().to(&DEVICE).unwrap()
    };
    let (a, b) = (build(7, 400), build(11, n));
    let mask = build(13, 400);
    let c = mxm(&a, &b).eval().unwrap();
    let limit = c.memory_bytes() / 2;
    assert!(matches!(mxm(&a, &b).memory_limit(limit).eval(), Err(Error::OutOfMemory { .. })));
    let few = mxm(&a, &b).memory_limit(limit).apply_index(RowIndex, 0).select(ValueLe, 3).eval().unwrap();
    let steps = select(&apply_index(&c, RowIndex, 0).eval().unwrap(), ValueLe, 3).eval().unwrap();
    assert_eq!(few.entries().unwrap(), steps.entries().unwrap());
    let top = mxm(&a, &b).memory_limit(limit).select(ValueGt, 20).eval().unwrap();
    assert_eq!(top.entries().unwrap(), select(&c, ValueGt, 20).eval().unwrap().entries().unwrap());
    for mask in [mask.structure(), mask.structure().complement()] {
        let c = mxm(&a, &b).mask(&mask).eval().unwrap();
        let limit = c.memory_bytes() / 2;
        let few = mxm(&a, &b).mask(&mask).memory_limit(limit).select(ValueGt, 25).eval();
        match few {
            Ok(few) => {
                assert_eq!(few.entries().unwrap(), select(&c, ValueGt, 25).eval().unwrap().entries().unwrap());
            }
            // Half of a small product is less than a row's workspace.
            Err(Error::OutOfMemory { .. }) => assert!(limit < 1 << 16),
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
fn one_row_keeps_its_format_or_takes_another_on_cuda() {
    if emulator::cuda().is_some() {
        formats::one_row(&DEVICE);
    }
}
