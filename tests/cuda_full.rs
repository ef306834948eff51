//! Products on CUDA with matrices that have an entry at every place.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/full.rs"]
mod full;

use common::emulator;
use full::{COLUMNS, ROWS, Shape, uneven};
use oplus::prelude::*;
use oplus::primitive::Context;

const GPU: Device = Device::Cuda(0);

#[test]
fn every_number_of_columns() {
    let Some(_one) = emulator::alone() else { return };
    full::every_number_of_columns(GPU);
}

#[test]
fn every_kind_of_semiring() {
    let Some(_one) = emulator::alone() else { return };
    full::every_kind_of_semiring(GPU);
}

#[test]
fn from_the_left() {
    let Some(_one) = emulator::alone() else { return };
    full::every_kind_of_semiring_from_the_left(GPU);
}

/// A product from the left of a matrix whose columns all have entries is on the positions of its factor, and B's columns are found once.
#[test]
fn from_the_left_again() {
    let Some(_one) = emulator::alone() else { return };
    let context = Context::get(0).unwrap();
    let x = Shape::full((90, 900)).matrix::<f64, PlusTimes>(|v| v as f64).to(&GPU).unwrap();
    let places = (0..4000).map(|i| (i / 5 % 900, i * 7 % 900));
    let a = Shape::new((900, 900), places).matrix::<f64, PlusTimes>(|v| 1.0 / (v as f64 + 1.0));
    let expected = mxm(&x.to(&Device::Reference).unwrap(), &a.to(&Device::Reference).unwrap()).reproducible().eval();
    let expected = expected.unwrap().entries().unwrap();
    let a = a.to(&GPU).unwrap();
    for n in 0..4 {
        let (c, launches) = context.trace(|| mxm(&x, &a).reproducible().eval()).unwrap();
        let ran = |name| launches.iter().filter(|l| l.kernel.starts_with(name)).count();
        assert!(ran("spmm_full") == 1 && ran("entries_turned") == 2, "{launches:?}");
        // X lists its positions once.
        assert_eq!(ran("full_positions"), usize::from(n == 0), "{launches:?}");
        assert_eq!(ran("transpose") + ran("partition") + ran("sort") > 0, n < 2, "{launches:?}");
        assert!(c.entries().unwrap() == expected);
    }
    let said = mxm(&x, &a).explain().unwrap();
    assert!(said.to_string().contains("A has an entry at every place"), "{said}");
}

/// Values of one are stored once; masks, accumulators and what the product's rows are called are as with other matrices.
#[test]
fn other_ways_in_and_out() {
    let Some(_one) = emulator::alone() else { return };
    let (a, full) = (uneven().matrix::<i64, PlusTimes>(|v| v as i64 - 40), Shape::full((4300, 6)));
    let x = full.matrix::<i64, PlusTimes>(|v| v as i64 - 50);
    let mask = Shape::random((70, 6), 150, 3).matrix::<bool, PlusTimes>(|v| v % 2 == 0);
    let on = |device: Device| {
        let (a, x, m) = (a.to(&device).unwrap(), x.to(&device).unwrap(), mask.to(&device).unwrap());
        let mut all = vec![mxm(&a.with_value(3).unwrap(), &x).eval().unwrap()];
        all.push(mxm(&a, &x.with_value(2).unwrap()).eval().unwrap());
        all.push(mxm(&a.with_value(3_i64).unwrap(), &x.with_value(2_i64).unwrap()).eval().unwrap());
        all.push(mxm(&a, &x).mask(&m.structure().complement()).eval().unwrap());
        let mut c = mxm(&a, &x).mask(&m.structure()).eval().unwrap();
        mxm(&a, &x).accumulate(Plus).into(&mut c).unwrap();
        all.push(c);
        all.push(mxm(&a, &transpose(&x).eval().unwrap().transposed()).eval().unwrap());
        all.push(mxm(&transpose(&a).eval().unwrap().transposed(), &x).eval().unwrap());
        let sum = mxm(&a, &x).reduce(Plus).unwrap();
        (all.iter().map(|c| c.entries().unwrap()).collect::<Vec<_>>(), sum)
    };
    assert!(on(GPU) == on(Device::Reference));
    // Rows and columns of these are not called what they are numbered.
    let far: Vec<_> = a.entries().unwrap().into_iter().map(|(i, k, v)| (i << 30, k << 20, v)).collect();
    let far = Matrix::<i64, Compose<Max, FirstI>>::build(1 << 40, 4300 << 20, &far).unwrap();
    let near: Vec<_> = x.entries().unwrap().into_iter().map(|(k, j, v)| (k << 20, j << 34, v)).collect();
    let near = Matrix::<i64>::build(4300 << 20, 1 << 40, &near).unwrap();
    let on = |device: Device| {
        let (a, x) = (far.to(&device).unwrap(), near.to(&device).unwrap());
        let c = mxm(&a, &x.over()).eval().unwrap();
        let d = mxm(&a.over::<Compose<Plus, SecondJ>>(), &x.over()).eval().unwrap();
        (c.entries().unwrap(), d.entries().unwrap())
    };
    assert!(on(GPU) == on(Device::Reference));
    let turned = |m: Vec<(u64, u64, i64)>| -> Vec<_> { m.into_iter().map(|(i, j, v)| (j, i, v)).collect() };
    let far = Matrix::<i64>::build(4300 << 20, 1 << 40, &turned(far.entries().unwrap())).unwrap();
    let wide = Shape::full((ROWS[0], 4300)).matrix::<i64, PlusTimes>(|v| v as i64).entries().unwrap();
    let wide: Vec<_> = wide.into_iter().map(|(i, k, v)| (i << 33, k << 20, v)).collect();
    let wide = Matrix::<i64, Compose<Max, FirstI>>::build(1 << 40, 4300 << 20, &wide).unwrap();
    let on = |device: Device| {
        let (x, a) = (wide.to(&device).unwrap(), far.to(&device).unwrap());
        let c = mxm(&x, &a.over()).eval().unwrap();
        let d = mxm(&x.over::<Compose<Plus, SecondJ>>(), &a.over()).eval().unwrap();
        (c.entries().unwrap(), d.entries().unwrap())
    };
    assert!(on(GPU) == on(Device::Reference));
}

/// Sums in the order of k have the host's bits, however long the rows.
#[test]
fn reproducible_sums() {
    let Some(_one) = emulator::alone() else { return };
    let a = uneven().matrix::<f64, PlusTimes>(|v| 1.0 / (v as f64 + 0.7));
    for k in [1, 5, 32] {
        let x = Shape::full((4300, k)).matrix::<f64, PlusTimes>(|v| 1.0 / (v as f64 + 0.3));
        let bits = |device: Device| {
            let (a, x) = (a.to(&device).unwrap(), x.to(&device).unwrap());
            let c = mxm(&a, &x).reproducible().eval().unwrap().entries().unwrap();
            c.into_iter().map(|(i, j, v)| (i, j, v.to_bits())).collect::<Vec<_>>()
        };
        assert!(bits(GPU) == bits(Device::Cpu), "{k}");
        // Without that: the same bits each time.
        let (a, x) = (a.to(&GPU).unwrap(), x.to(&GPU).unwrap());
        let made = || mxm(&a, &x).eval().unwrap().entries().unwrap();
        assert!(made() == made());
    }
}

/// Nothing is copied of positions that are known: the product of a square matrix without empty rows is on those of its factor, others are
/// on those of the product before.
#[test]
fn positions_are_shared() {
    let Some(_one) = emulator::alone() else { return };
    let context = Context::get(0).unwrap();
    let x = Shape::full((900, 8)).matrix::<f64, PlusTimes>(|v| v as f64).to(&GPU).unwrap();
    let square = Shape::new((900, 900), (0..900).map(|i| (i, i * 7 % 900))).matrix::<f64, PlusTimes>(|v| v as f64);
    let empty_rows = Shape::new((900, 900), (0..450).map(|i| (2 * i, i))).matrix::<f64, PlusTimes>(|v| v as f64);
    // Once those of X, once those of the product.
    for a in [square, empty_rows] {
        let a = a.to(&GPU).unwrap();
        let mut kept = Vec::new();
        for n in 0..3 {
            let (c, launches) = context.trace(|| mxm(&a, &x).eval()).unwrap();
            let written = launches.iter().filter(|l| l.kernel == "full_positions").count();
            assert_eq!(written, usize::from(n == 0), "{n}");
            kept.push(c);
        }
        drop(kept);
    }
}

/// Plans, and what follows a product, read whole rows as well.
#[test]
fn plans_and_what_follows() {
    let Some(_one) = emulator::alone() else { return };
    let context = Context::get(0).unwrap();
    let square = Shape::random((900, 900), 4000, 3).matrix::<i64, PlusTimes>(|v| v as i64 - 40);
    for (left, x) in [(false, Shape::full((900, 6))), (true, Shape::full((7, 900)))] {
        let x = x.matrix::<i64, PlusTimes>(|v| v as i64 - 50);
        let operands = |device: Device, times: i64| {
            let x = apply_second(&x, Times, times).eval().unwrap().to(&device).unwrap();
            let a = square.to(&device).unwrap();
            if left { (x, a) } else { (a, x) }
        };
        let ((a, b), (p, q)) = (operands(GPU, 1), operands(Device::Reference, 1));
        let plan = mxm(&a, &b).plan().unwrap();
        let expected = mxm(&p, &q).eval().unwrap().entries().unwrap();
        let summed = |kernels: &[oplus::backend::cuda::Timed]| {
            assert!(kernels.iter().any(|k| k.kernel == "spmm_full"), "{left} {kernels:?}");
            assert!(kernels.iter().all(|k| !k.kernel.starts_with("spgemm_")), "{left} {kernels:?}");
        };
        let (c, kernels) = context.trace(|| plan.run(&a, &b)).unwrap();
        summed(&kernels);
        assert!(c.entries().unwrap() == expected, "{left}");
        // With other values.
        let ((a, b), (p, q)) = (operands(GPU, 3), operands(Device::Reference, 3));
        let c = plan.run(&a, &b).unwrap();
        assert!(c.entries().unwrap() == mxm(&p, &q).eval().unwrap().entries().unwrap(), "{left}");
        let (c, kernels) = context.trace(|| mxm(&a, &b).select(ValueGt, 100).apply(Negate).eval()).unwrap();
        summed(&kernels);
        assert!(
            c.entries().unwrap() == mxm(&p, &q).select(ValueGt, 100).apply(Negate).eval().unwrap().entries().unwrap()
        );
        let ones = |a: &Matrix<i64>| a.with_value(2i64).unwrap();
        let minima = mxm(&ones(&a).over::<MinPlus>(), &ones(&b).over()).plan().unwrap();
        let c = minima.run(&ones(&a).over(), &ones(&b).over()).unwrap();
        let expected = mxm(&ones(&p).over::<MinPlus>(), &ones(&q).over()).eval().unwrap();
        assert!(c.entries().unwrap() == expected.entries().unwrap(), "{left}");
        assert!(plan.run(&operands(GPU, 1).0, &ones(&a)).is_err());
    }
}

#[test]
fn what_runs_is_what_is_explained() {
    let Some(_one) = emulator::alone() else { return };
    let a = uneven().matrix::<i64, PlusTimes>(|v| v as i64).to(&GPU).unwrap();
    let x = Shape::full((4300, 6)).matrix::<i64, PlusTimes>(|v| v as i64).to(&GPU).unwrap();
    let said = mxm(&a, &x).explain().unwrap();
    assert!(said.to_string().contains("B has an entry at every place"), "{said}");
    let said = mxm(&a, &x).strategy(Strategy::Hash).explain().unwrap();
    assert!(!said.to_string().contains("every place"), "{said}");
    // One column is a vector.
    let context = Context::get(0).unwrap();
    for k in COLUMNS {
        let x = Shape::full((4300, k)).matrix::<i64, PlusTimes>(|v| v as i64).to(&GPU).unwrap();
        let (_, launches) = context.trace(|| mxm(&a, &x).eval()).unwrap();
        let name = if k == 1 { "spmv_full" } else { "spmm_full" };
        assert!(launches.iter().any(|l| l.kernel == name), "{k}: {launches:?}");
    }
}

/// With less and less memory: the same product, by chunks of rows in the end, or an error that says how much it takes.
#[test]
fn little_memory() {
    let Some(_one) = emulator::alone() else { return };
    let a = uneven().matrix::<i64, PlusTimes>(|v| v as i64).to(&GPU).unwrap();
    let x = Shape::full((4300, 40)).matrix::<i64, PlusTimes>(|v| v as i64).to(&GPU).unwrap();
    let expected = mxm(&a, &x).strategy(Strategy::Hash).eval().unwrap().entries().unwrap();
    let (mut made, mut refused) = (0, 0);
    for limit in (10..24).map(|bits| 1u64 << bits) {
        match mxm(&a, &x).memory_limit(limit).eval() {
            Ok(c) => {
                made += 1;
                assert!(c.entries().unwrap() == expected, "{limit}");
            }
            Err(Error::OutOfMemory { .. }) => refused += 1,
            Err(e) => panic!("{limit}: {e}"),
        }
    }
    assert!(made > 3 && refused > 3, "{made} {refused}");
}
