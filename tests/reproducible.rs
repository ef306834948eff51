//! Reproducible products: floating sums have the CPU's bits on the (emulated) device too, whatever the strategy, the limit
//! and the schedule.
#![cfg(all(feature = "cuda", target_os = "linux"))]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::prelude::*;
use random::Rng;

const GPU: Device = Device::Cuda(0);

fn matrix(rows: u64, columns: u64, entries: u64, seed: u64) -> Matrix<f64> {
    let mut coo = Coo::new(rows, columns);
    let mut random = Rng(seed | 1);
    let mut next = |below| random.below(below);
    for e in 0..entries {
        let row = if e % 3 == 0 { next(2) + 5 } else { next(rows) };
        // Sums of these depend on their order.
        coo.push(row, next(columns), (next(2000) as f64 - 1000.0) * 10f64.powi(next(30) as i32 - 15));
    }
    Matrix::build_with(&coo, Second).unwrap()
}

fn bits<T: Scalar, S>(c: &Matrix<T, S>) -> String {
    // Debug tells −0 from 0 and prints the shortest text that names a float.
    format!("{:?}", c.entries().unwrap())
}

/// How often sums that are not asked to be reproducible differ; without a mask (0), with it (1), and where it has no entry (2).
fn check<S: Semiring<f64, f64, Out = f64>>(
    a: &Matrix<f64>,
    b: &Matrix<f64>,
    mask: &Matrix<f64>,
    kinds: &[u32],
) -> usize {
    let mut differ = 0;
    let (a, b) = (a.over::<S>(), b.over::<S>());
    let (on_a, on_b) = (a.to(&GPU).unwrap(), b.to(&GPU).unwrap());
    for &kind in kinds {
        let on = |mask: &Matrix<f64>| {
            let mask = mask.structure();
            if kind == 2 { mask.complement() } else { mask }
        };
        let (expected, on_mask) = (mxm(&a, &b), mask.to(&GPU).unwrap());
        let expected = if kind > 0 { expected.mask(&on(mask)) } else { expected };
        let expected = bits(&expected.eval().unwrap());
        let asked = || {
            let operation = mxm(&on_a, &on_b).reproducible();
            if kind > 0 { operation.mask(&on(&on_mask)) } else { operation }
        };
        for strategy in Strategy::ALL.iter().copied().filter(|s| !matches!(s, Strategy::Band | Strategy::Dot)) {
            assert_eq!(bits(&asked().strategy(strategy).eval().unwrap()), expected, "{strategy:?}, mask {kind}");
            if kind == 0 {
                let differs = bits(&mxm(&on_a, &on_b).strategy(strategy).eval().unwrap()) != expected;
                assert!(!differs || !strategy.sums_in_order(), "{strategy:?} does not sum in the order of k");
                differ += usize::from(differs);
            }
        }
        assert_eq!(bits(&asked().plan().unwrap().run(&on_a, &on_b).unwrap()), expected, "planned, mask {kind}");
        let limited = asked().memory_limit(400_000).eval();
        assert!(matches!(&limited, Ok(c) if bits(c) == expected), "limited, mask {kind}: {:?}", limited.err());
    }
    differ
}

#[test]
fn floating_sums_have_the_bits_of_the_cpu() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut differ = 0;
    for (m, k, n, entries) in [(40, 60, 50, 300), (30, 200, 700, 2500), (8, 100, 6000, 4000)] {
        let (a, b, mask) = (matrix(m, k, entries, 3), matrix(k, n, entries, 5), matrix(m, n, 2 * entries, 7));
        differ += check::<PlusTimes>(&a, &b, &mask, &[0, 1, 2]);
    }
    assert!(differ > 0, "the order of sums shows nowhere: nothing is tested");
}

/// Twenty runs of each way that promises it, on the emulated device each in another order of its threads.
#[test]
fn twenty_runs_have_the_same_bits() {
    if emulator::cuda().is_none() {
        return;
    }
    let (a, b) = (matrix(40, 150, 900, 3), matrix(150, 500, 1800, 5));
    let expected = bits(&mxm(&a, &b).eval().unwrap());
    let (a, b) = (a.to(&GPU).unwrap(), b.to(&GPU).unwrap());
    let plan = mxm(&a, &b).reproducible().plan().unwrap();
    let in_order =
        || Strategy::ALL.iter().copied().filter(|s| s.sums_in_order() && !matches!(s, Strategy::Band | Strategy::Dot));
    assert!(in_order().count() > 1);
    for run in 0..20 {
        if let Some(emulator) = emulator::emulator() {
            emulator.seed(1000 + run);
        }
        assert_eq!(bits(&mxm(&a, &b).reproducible().eval().unwrap()), expected, "run {run}");
        assert_eq!(bits(&plan.run(&a, &b).unwrap()), expected, "planned, run {run}");
        for strategy in in_order() {
            assert_eq!(bits(&mxm(&a, &b).strategy(strategy).eval().unwrap()), expected, "{strategy}, run {run}");
        }
    }
}

#[test]
fn other_semirings_too() {
    if emulator::cuda().is_none() {
        return;
    }
    let (a, b, mask) = (matrix(30, 90, 900, 3), matrix(90, 300, 900, 5), matrix(30, 300, 900, 7));
    // Each strategy of each is kernels to compile.
    let some = |kind: u32| emulator::sized(vec![0, 1, 2], vec![kind]);
    check::<MinPlus>(&a, &b, &mask, &some(0));
    check::<Compose<Times, Plus>>(&a, &b, &mask, &some(1));
    check::<Compose<Plus, First>>(&a, &b, &mask, &some(2));
}

#[test]
fn vectors_too() {
    if emulator::cuda().is_none() {
        return;
    }
    let a = matrix(60, 80, 3000, 3);
    let x: Vec<(u64, f64)> = (0..80).filter(|i| i % 3 != 1).map(|i| (i, 0.1 * i as f64 - 2.0)).collect();
    let x = Vector::<f64>::build(80, &x).unwrap();
    let m = Vector::<f64>::build(60, &(0..60).step_by(2).map(|i| (i, 1.0)).collect::<Vec<_>>()).unwrap();
    let (on_a, on_x, on_m) = (a.to(&GPU).unwrap(), x.to(&GPU).unwrap(), m.to(&GPU).unwrap());
    let text = |x: Vector<f64>| format!("{:?}", x.entries().unwrap());
    let run = |a: &Matrix<f64>, x: &Vector<f64>, m: &Vector<f64>| {
        [
            text(mxv(a, x).reproducible().eval().unwrap()),
            text(mxv(a, x).reproducible().mask(&m.structure()).eval().unwrap()),
            text(mxv(a, x).reproducible().mask(&m.structure().complement()).eval().unwrap()),
            text(mxv(&transpose(a).eval().unwrap(), x).transpose().reproducible().eval().unwrap()),
            text(vxm(x, &transpose(a).eval().unwrap()).reproducible().eval().unwrap()),
            text(vxm(x, a).transpose().reproducible().mask(&m.structure()).eval().unwrap()),
        ]
    };
    assert_eq!(run(&on_a, &on_x, &on_m), run(&a, &x, &m));
    let positions = |a: &Matrix<f64>, x: &Vector<f64>| {
        let first = mxv(&a.over::<Compose<Min, FirstI>>(), &x.over()).reproducible().eval().unwrap();
        first.entries().unwrap()
    };
    assert_eq!(positions(&on_a, &on_x), positions(&a, &x));
}

#[test]
fn rows_that_outgrow_their_tables_too() {
    if emulator::cuda().is_none() {
        return;
    }
    // Of few rows, each of more columns than its hash table is likely to need, a block would sum the rest in any order.
    let mut random = Rng(11);
    let mut value = || (random.below(2000) as f64 - 1000.0) * 10f64.powi(random.below(30) as i32 - 15);
    let (mut a, mut b) = (Coo::new(2, 40), Coo::new(40, 1000));
    for k in 0..30 {
        (0..2).for_each(|i| a.push(i, k, value()));
        (0..10).chain(10 + 20 * k..30 + 20 * k).for_each(|j| b.push(k, j, value()));
    }
    let (a, b): (Matrix<f64>, Matrix<f64>) = (Matrix::from_coo(&a).unwrap(), Matrix::from_coo(&b).unwrap());
    let (on_a, on_b) = (a.to(&GPU).unwrap(), b.to(&GPU).unwrap());
    let expected = bits(&mxm(&a, &b).eval().unwrap());
    for strategy in [Strategy::Auto, Strategy::Hash, Strategy::Esc] {
        let found = mxm(&on_a, &on_b).reproducible().strategy(strategy).eval().unwrap();
        assert_eq!(bits(&found), expected, "{strategy}");
    }
}
