//! Products on CUDA whose rows of very many products meet in few columns: blocks whose warps have sums of their own, against the reference.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/shapes.rs"]
mod shapes;

use common::emulator;
use oplus::prelude::*;
use shapes::Shape;

const GPU: Device = Device::Cuda(0);

/// The product, with or without a mask, and what ran.
fn product<T: Scalar, S: Semiring<T, T>>(
    (left, right): (&Shape, &Shape),
    value: fn(u64) -> T,
    complement: bool,
    device: &Device,
) -> (Vec<(u64, u64, S::Out)>, Trace) {
    let (a, b) = (left.matrix::<T, S>(value).to(device).unwrap(), right.matrix::<T, S>(value).to(device).unwrap());
    let mask = Shape::random((left.rows, right.columns), left.rows, 9).matrix::<bool, PlusTimes>(|_| true);
    let mask = mask.to(device).unwrap().structure().complement();
    let product = mxm(&a, &b);
    let (c, trace) = if complement { product.mask(&mask).traced() } else { product.traced() }.unwrap();
    (c.entries().unwrap(), trace)
}

/// On the device as on the reference, by one kernel that walks the products once.
fn check<T: Scalar, S: Semiring<T, T>>(case: (&Shape, &Shape), value: fn(u64) -> T) {
    for complement in [false, true] {
        let (expected, _) = product::<T, S>(case, value, complement, &Device::Reference);
        let (found, trace) = product::<T, S>(case, value, complement, &GPU);
        assert!(found == expected, "{} {complement}", std::any::type_name::<S>());
        assert!(trace.kernels.iter().all(|k| k.name == "spgemm_block"), "{trace}");
    }
}

fn check_all(case: (&Shape, &Shape)) {
    check::<i64, PlusTimes>(case, |v| v as i64 - 50);
    check::<f64, PlusTimes>(case, |v| v as f64 - 30.0);
    check::<f32, MinPlus>(case, |v| v as f32 - 9.0);
    check::<i32, MaxPlus>(case, |v| v as i32);
    check::<bool, LxorLand>(case, |v| v % 3 == 0);
    check::<u64, PlusPair>(case, |v| v);
}

#[test]
fn sums_of_each_warp() {
    let Some(_one) = emulator::alone() else { return };
    // Rows of B of a few entries, side by side in a warp, and longer than a warp; a row of C of most products; an empty one.
    let a = Shape::random((40, 900), 4000, 1).with_row(7);
    for (columns, each) in [(70, 9), (300, 40), (5, 4)] {
        check_all((&a, &Shape::random((900, columns), 900 * each, 2)));
    }
}

/// Those that have no block at once are looked at twice.
#[test]
fn more_rows_than_blocks() {
    let Some(_one) = emulator::alone() else { return };
    let a = Shape::random((700, 500), 42_000, 3).with_row(5);
    check::<i64, PlusTimes>((&a, &Shape::random((500, 150), 6000, 4)), |v| v as i64 - 50);
}

/// More entries than were thought: the pass is made again.
#[test]
fn rows_that_are_full() {
    let Some(_one) = emulator::alone() else { return };
    let (a, b) = (Shape::random((361, 500), 7200, 3), Shape::random((500, 361), 35_000, 4));
    check::<i64, PlusTimes>((&a, &b), |v| v as i64 - 50);
}

/// A's rows name the longest rows of B alone: there was far too little room, and the pass is made again.
#[test]
fn long_rows_used_most() {
    let Some(_one) = emulator::alone() else { return };
    let a = Shape::new((900, 2000), (0..900).flat_map(|i| [(i, i % 8), (i, 8 + i % 3)]));
    let long = (0..11).flat_map(|k| (0..400).map(move |j| (k, j * 20 + k)));
    let others = (11..2000).flat_map(|k| (0..60).map(move |j| (k, (k * 7 + j * 131) % 9000)));
    let b = Shape::new((2000, 9000), long.chain(others));
    let (expected, _) = product::<i64, PlusTimes>((&a, &b), |v| v as i64 - 50, false, &Device::Reference);
    let (found, trace) = product::<i64, PlusTimes>((&a, &b), |v| v as i64 - 50, false, &GPU);
    assert!(found == expected);
    assert!(trace.kernels.iter().filter(|k| k.name == "spgemm_block").count() == 2, "{trace}");
}

/// More products than small matrices have.
#[test]
fn very_many_products() {
    let Some(_one) = emulator::alone() else { return };
    if emulator::emulator().is_some() {
        return; // too much for it
    }
    let a = Shape::random((300, 2000), 60_000, 3).with_row(11);
    let b = Shape::random((2000, 361), 400_000, 4);
    for complement in [false, true] {
        // The reference would take minutes.
        let (expected, _) = product::<i64, PlusTimes>((&a, &b), |v| v as i64 - 50, complement, &Device::Cpu);
        let (found, trace) = product::<i64, PlusTimes>((&a, &b), |v| v as i64 - 50, complement, &GPU);
        assert!(found == expected && trace.kernels.iter().all(|k| k.name == "spgemm_block"), "{complement} {trace}");
    }
}

/// From the second time on neighbouring rows of B with the same columns are walked as one.
#[test]
fn again() {
    let Some(_one) = emulator::alone() else { return };
    let alike = (0..600).flat_map(|k| (0..40).map(move |j| (k, (k / 4 * 3 + j * 2) % 110)));
    let (left, right) = (Shape::random((50, 600), 3000, 5), Shape::new((600, 110), alike));
    let on = |device: &Device| {
        let a = left.matrix::<i64, PlusTimes>(|v| v as i64).to(device).unwrap();
        let b = right.matrix::<i64, PlusTimes>(|v| v as i64 - 40).to(device).unwrap();
        (0..3).map(|_| mxm(&a, &b).eval().unwrap().entries().unwrap()).collect::<Vec<_>>()
    };
    assert!(on(&GPU) == on(&Device::Reference));
}

/// Sums of floats are the same in every run.
#[test]
fn the_order_of_sums() {
    let Some(_one) = emulator::alone() else { return };
    let (a, b) = (Shape::random((40, 900), 6000, 5), Shape::random((900, 120), 20_000, 6));
    let run = || product::<f64, PlusTimes>((&a, &b), |v| 0.1 * v as f64, false, &GPU).0;
    let once = run();
    for _ in 0..5 {
        assert!(run() == once);
    }
}
