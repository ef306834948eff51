//! Products by `esc` on CUDA with rows of more products than a block sorts: tiles sorted in device memory and merged.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/shapes.rs"]
mod shapes;

use common::emulator;
use oplus::prelude::*;
use oplus::primitive::Context;
use shapes::{Hop, Shortest};

const GPU: Device = Device::Cuda(0);

fn below(state: &mut u64, n: u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) % n
}

/// Some rows of thousands of products, most of few, some of none, one of a single entry; B's rows are of every length to 90.
fn operands() -> (Matrix<i64>, Matrix<i64>) {
    let (mut a, mut b, mut state) = (Coo::new(90, 400), Coo::new(400, 70_000), 5);
    for i in 0..90 {
        let length = match i % 15 {
            3 => 90 + i,
            7 => 300,
            11 => 0,
            12 => 1,
            _ => i % 6 + 1,
        };
        (0..length).for_each(|_| a.push(i, below(&mut state, 400), below(&mut state, 100) as i64 - 50));
    }
    for k in 0..400 {
        for e in 0..k % 90 {
            // Near columns and far ones, so that some meet.
            let column = if e % 3 == 0 { below(&mut state, 70_000) } else { (k * 7 + e * e) % 900 };
            b.push(k, column, below(&mut state, 100) as i64 - 50);
        }
    }
    (Matrix::build_with(&a, Plus).unwrap(), Matrix::build_with(&b, Plus).unwrap())
}

/// `which`: no mask, a mask, its complement.
fn product<S: Semiring<i64, i64>>(
    (a, b): (&Matrix<i64>, &Matrix<i64>),
    mask: &Matrix<bool>,
    which: u32,
    device: Device,
) -> Vec<(u64, u64, S::Out)> {
    let (a, b, m) = (a.to(&device).unwrap().over::<S>(), b.to(&device).unwrap().over(), mask.to(&device).unwrap());
    let product = match which {
        0 => mxm(&a, &b),
        1 => mxm(&a, &b).mask(&m.structure()),
        _ => mxm(&a, &b).mask(&m.structure().complement()),
    };
    product.strategy(Strategy::Esc).eval().unwrap().entries().unwrap()
}

fn mask_of(a: &Matrix<i64>, b: &Matrix<i64>) -> Matrix<bool> {
    let all = mxm(&a.over::<AnyPair>(), &b.over()).eval().unwrap().entries().unwrap();
    let some: Vec<_> =
        all.iter().filter(|(i, j, _)| (i * 31 + j) % 3 == 0 && i % 30 != 7).map(|(i, j, _)| (*i, *j, true)).collect();
    Matrix::build(a.nrows(), b.ncols(), &some).unwrap()
}

#[test]
fn every_mask_and_kind_of_semiring() {
    let Some(_one) = emulator::alone() else { return };
    fn same<S: Semiring<i64, i64>>(of: (&Matrix<i64>, &Matrix<i64>), mask: &Matrix<bool>, all: &[u32]) {
        for which in all {
            let on = |device| product::<S>(of, mask, *which, device);
            assert!(on(GPU) == on(Device::Reference), "{}, mask {which}", std::any::type_name::<S>());
        }
    }
    let (a, b) = operands();
    let mask = mask_of(&a, &b);
    same::<PlusTimes>((&a, &b), &mask, &[0, 1, 2]);
    same::<MinPlus>((&a, &b), &mask, &[0]);
    // What a row is called counts, and whether there is a value at all.
    same::<Compose<Max, FirstI>>((&a, &b), &mask, &[0, 2]);
    same::<AnySecondI>((&a, &b), &mask, &[1]);
    same::<AnyPair>((&a, &b), &mask, &[0, 1]);
}

/// Rows of a hypersparse matrix are not called what they are numbered.
#[test]
fn rows_of_hypersparse_matrices() {
    let Some(_one) = emulator::alone() else { return };
    let (a, b) = operands();
    let far = |m: &Matrix<i64>, (rows, columns): (u64, u64), ncols: u64| {
        let entries: Vec<_> =
            m.entries().unwrap().into_iter().map(|(i, j, v)| (i * rows + 3, j * columns + 3, v)).collect();
        Matrix::<i64>::build(m.nrows() * rows + 9, ncols, &entries).unwrap()
    };
    let b = far(&b, (1 << 20, 1 << 10), 1 << 40);
    let a = far(&a, (1 << 30, 1 << 20), b.nrows());
    let on = |device: Device| {
        let (a, b) = (a.to(&device).unwrap(), b.to(&device).unwrap());
        let c = mxm(&a.over::<Compose<Min, FirstI>>(), &b.over()).strategy(Strategy::Esc).eval().unwrap();
        let d = mxm(&a.over::<Compose<Max, SecondJ>>(), &b.over()).strategy(Strategy::Esc).eval().unwrap();
        (c.entries().unwrap(), d.entries().unwrap())
    };
    assert!(on(GPU) == on(Device::Reference));
}

/// Sorts and merges are stable: sums of floats have the host's bits without being asked for, and so does a sum that does not commute.
#[test]
fn sums_run_in_the_order_of_k() {
    let Some(_one) = emulator::alone() else { return };
    let (a, b) = operands();
    let float = |m: &Matrix<i64>| {
        let entries: Vec<_> =
            m.entries().unwrap().into_iter().map(|(i, j, v)| (i, j, 1.0 / (v as f64 + 0.1))).collect();
        Matrix::<f64>::build(m.nrows(), m.ncols(), &entries).unwrap()
    };
    let (a, b) = (float(&a), float(&b));
    let bits = |device: Device| {
        let (a, b) = (a.to(&device).unwrap(), b.to(&device).unwrap());
        let c = mxm(&a, &b).strategy(Strategy::Esc).eval().unwrap().entries().unwrap();
        c.into_iter().map(|(i, j, v)| (i, j, v.to_bits())).collect::<Vec<_>>()
    };
    assert!(bits(GPU) == bits(Device::Cpu));
    assert!(mxm(&a.to(&GPU).unwrap(), &b.to(&GPU).unwrap()).strategy(Strategy::Esc).explain().unwrap().in_order);
    let hops = |m: &Matrix<f64>| {
        let entries: Vec<_> = m.entries().unwrap().into_iter().map(|(i, j, v)| (i, j, Hop::make(v.abs(), 1))).collect();
        Matrix::<Hop>::build(m.nrows(), m.ncols(), &entries).unwrap()
    };
    let (a, b) = (hops(&a), hops(&b));
    let on = |device: Device| {
        let (a, b) = (a.to(&device).unwrap().over::<Shortest>(), b.to(&device).unwrap().over());
        mxm(&a, &b).strategy(Strategy::Esc).eval().unwrap().entries().unwrap()
    };
    assert!(on(GPU) == on(Device::Cpu));
}

/// No table, no block with sums: and it is said so.
#[test]
fn what_runs_is_what_is_explained() {
    let Some(_one) = emulator::alone() else { return };
    let (a, b) = operands();
    let (a, b) = (a.to(&GPU).unwrap(), b.to(&GPU).unwrap());
    let said = mxm(&a, &b).strategy(Strategy::Esc).explain().unwrap().to_string();
    assert!(said.contains("sort tiles") && !said.contains("table") && !said.contains("block 0"), "{said}");
    let context = Context::get(0).unwrap();
    let (_, launches) = context.trace(|| mxm(&a, &b).strategy(Strategy::Esc).eval()).unwrap();
    let names: Vec<&str> = launches.iter().map(|l| l.kernel.as_str()).collect();
    for kernel in ["merge_sort_tiles", "merge_level", "entries_put", "spgemm_esc"] {
        assert!(names.contains(&kernel), "{names:?} without {kernel}");
    }
    assert!(!names.iter().any(|n| n.contains("table") || n.contains("block")), "{names:?}");
}

/// Values of a plan change, its rows stay where they are.
#[test]
fn plans_run_again() {
    let Some(_one) = emulator::alone() else { return };
    let (a, b) = operands();
    let (a, b) = (a.to(&GPU).unwrap().over::<MinPlus>(), b.to(&GPU).unwrap().over());
    let plan = mxm(&a, &b).strategy(Strategy::Esc).plan().unwrap();
    for by in [1, 5, -3] {
        let a = apply_second(&a, Times, by).eval().unwrap();
        let expected = mxm(&a.to(&Device::Reference).unwrap(), &b.to(&Device::Reference).unwrap()).eval().unwrap();
        assert!(plan.run(&a, &b).unwrap().entries().unwrap() == expected.entries().unwrap(), "times {by}");
    }
}

/// Without being asked for: rows whose columns lie further apart than windows reach. Where B's long rows are not named, there are far
/// fewer products than there likely are.
#[test]
fn rows_of_far_columns() {
    let Some(_one) = emulator::alone() else { return };
    let (n, columns) = (128, 4 << 20);
    let (mut a, mut b, mut state) = (Coo::new(n, 4096), Coo::new(4096, columns), 11);
    for i in 0..n {
        // Few products, as many as are sorted in device memory, or none.
        let length = [2, 150, 110, 0][i as usize % 4];
        (0..length).for_each(|e| a.push(i, 2 * ((i * 29 + e * 7) % 2048), below(&mut state, 100) as i64 - 50));
    }
    for k in 0..4096 {
        let (length, step) = if k % 2 == 0 { (40 + k % 7, columns / 64) } else { (4096, 97) };
        (0..length).for_each(|e| b.push(k, (k * 131 + e * step) % columns, (k + e) as i64 % 100 - 50));
    }
    let (a, b): (Matrix<i64>, Matrix<i64>) =
        (Matrix::build_with(&a, Plus).unwrap(), Matrix::build_with(&b, Plus).unwrap());
    fn far<S: Semiring<i64, i64>>(a: &Matrix<i64>, b: &Matrix<i64>) {
        let on = |device| (a.to(&device).unwrap().over::<S>(), b.to(&device).unwrap().over());
        let ((a, b), (x, y)) = (on(GPU), on(Device::Reference));
        let said = mxm(&a, &b).explain().unwrap().to_string();
        assert!(said.contains("sort tiles"), "{said}");
        let (c, launches) = Context::get(0).unwrap().trace(|| mxm(&a, &b).eval()).unwrap();
        assert!(launches.iter().any(|l| l.kernel == "merge_sort_tiles"), "{launches:?}");
        let expected = mxm(&x, &y).eval().unwrap();
        assert!(c.entries().unwrap() == expected.entries().unwrap(), "{}", std::any::type_name::<S>());
    }
    far::<PlusTimes>(&a, &b);
    far::<MinPlus>(&a, &b);
    far::<Compose<Max, FirstI>>(&a, &b);
}
