//! Transposes on CUDA, each of the ways there: one block, a level of parts and a block for each, parts too large for that, several levels.
#![cfg(feature = "cuda")]
mod common;

use common::emulator;
use oplus::prelude::*;

struct Random(u64);
impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// About `count` entries anywhere, and the first `full` rows of a column in the middle.
fn matrix(nrows: u64, ncols: u64, count: u64, full: u64) -> Matrix<i64> {
    let (mut coo, mut random) = (Coo::<i64>::new(nrows, ncols), Random(nrows + ncols));
    for n in 0..count {
        coo.push(random.below(nrows), random.below(ncols), n as i64);
    }
    for i in 0..full {
        coo.push(i, ncols / 2, -(i as i64));
    }
    Matrix::build_with(&coo, First).unwrap()
}

/// On the device as on the CPU, of several sizes of values, and back.
fn check(a: &Matrix<i64>) {
    if emulator::cuda().is_none() {
        return;
    }
    let device = Device::Cuda(0);
    let what = format!("{}×{} with {}", a.nrows(), a.ncols(), a.nvals());
    let on_device = a.to(&device).unwrap();
    let t = transpose(&on_device).eval().unwrap();
    assert_eq!(t.device(), device);
    let expected = transpose(&a.to(&Device::Cpu).unwrap()).eval().unwrap().entries().unwrap();
    assert!(t.entries().unwrap() == expected, "{what}");
    assert!(transpose(&t).eval().unwrap().entries().unwrap() == a.entries().unwrap(), "{what}, and back");
    let bytes = on_device.cast::<u8>().unwrap();
    let small = transpose(&bytes).eval().unwrap().entries().unwrap();
    assert!(small.into_iter().eq(expected.iter().map(|e| (e.0, e.1, e.2 as u8))), "{what}, bytes");
    let wide = on_device.cast::<c64>().unwrap();
    let wide = transpose(&wide).eval().unwrap().entries().unwrap();
    assert!(wide.into_iter().eq(expected.iter().map(|e| (e.0, e.1, c64::new(e.2 as f64, 0.0)))), "{what}, complex");
    let pattern = on_device.cast::<bool>().unwrap();
    let pattern = transpose(&pattern).eval().unwrap().entries().unwrap();
    assert!(pattern.into_iter().eq(expected.iter().map(|e| (e.0, e.1, e.2 != 0))), "{what}, booleans");
}

#[test]
fn by_one_block() {
    for (nrows, ncols, count) in
        [(1, 1, 1), (40, 1, 40), (1, 900, 300), (300, 1000, 2000), (5000, 3, 1500), (7, 1024, 9000)]
    {
        check(&matrix(nrows, ncols, count, 0));
    }
}

#[test]
fn by_parts() {
    check(&matrix(9000, 1000, 30_000, 0));
    check(&matrix(2000, 1025, 5000, 0));
    // Half of all columns, and more than half of the bits, without an entry.
    check(&matrix(3000, 66_000, 20_000, 0));
}

#[test]
fn parts_too_large_for_a_block() {
    check(&matrix(12_000, 700, 20_000, 12_000));
    check(&matrix(12_000, 2, 14_000, 12_000));
    check(&matrix(9_000, 5000, 20_000, 9_000));
}

#[test]
fn by_several_levels() {
    check(&matrix(100, 3_000_000, 20_000, 60));
    check(&matrix(9_000, 3_000_000, 20_000, 9_000));
}
