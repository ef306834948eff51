//! Matrices of every format on their way to CUDA, emulated or real, which knows compressed rows alone; and products with what
//! follows them, there step by step.
#![cfg(feature = "cuda")]
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
