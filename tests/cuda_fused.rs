//! Products with what follows them on CUDA, where they are made by chunks of rows: a process of its own, whose device has little
//! memory. The product is never there as a whole, and the result is that of the steps.
#![cfg(all(feature = "cuda", target_os = "linux"))]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::backend::cuda::Context;
use oplus::prelude::*;
use quickcheck::QuickCheck;
use random::Rng;
use std::sync::{Mutex, MutexGuard, PoisonError};

const GPU: Device = Device::Cuda(0);
/// Of the device: rows of a product are made until they might have a 128th of this.
const MEMORY: u64 = 32 << 20;

/// The context counts for the whole process: one test at a time.
fn alone() -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: every test of this process begins here, one at a time, before anything reads the variable.
    unsafe { std::env::set_var("EMU_MEMORY", MEMORY.to_string()) };
    emulator::emulator().map(|_| guard)
}

fn random(m: u64, n: u64, entries: u64, seed: u64) -> Matrix<i64> {
    let mut coo = Coo::new(m, n);
    let mut random = Rng(seed | 1);
    // A few rows are longer.
    (0..entries).for_each(|e| {
        let row = if e % 9 == 0 { random.below(3.min(m)) } else { random.below(m) };
        coo.push(row, random.below(n), random.below(200) as i64 - 60);
    });
    Matrix::build_with(&coo, Plus).unwrap().to(&GPU).unwrap()
}

/// What `run` makes, the most bytes that buffers held at once beyond those before.
fn measured<R>(run: impl FnOnce() -> Result<R>) -> (R, u64) {
    let context = Context::get(0).unwrap();
    let held = context.memory_in_use();
    context.reset_peak();
    let made = run().unwrap();
    (made, context.peak() - held)
}

/// Entries with their values' bits.
fn bits<T: Scalar, S>(a: &Matrix<T, S>) -> String {
    format!("{:?} {:?}", a.shape(), a.entries().unwrap())
}

#[test]
fn a_product_is_never_whole() {
    let Some(_one) = alone() else { return };
    let (a, b) = (random(900, 300, 9000, 3), random(300, 700, 6000, 5));
    let (m, old) = (random(900, 700, 90_000, 7), random(900, 700, 4000, 9));
    let c = mxm(&a, &b).eval().unwrap();
    let size = c.memory_bytes();
    assert!(size > 4 * MEMORY / 128, "{size}");
    let (top, peak) = measured(|| mxm(&a, &b).top_k(2).eval());
    assert_eq!(bits(&top), bits(&top_k(&c, 2).eval().unwrap()));
    assert!(peak < size, "top_k held {peak} bytes, the product has {size}");
    let (kept, peak) = measured(|| mxm(&a, &b).select(ValueGt, 14_000).eval());
    assert!(kept.nvals() > 50 && kept.nvals() * 20 < c.nvals(), "{} of {}", kept.nvals(), c.nvals());
    assert_eq!(bits(&kept), bits(&select(&c, ValueGt, 14_000).eval().unwrap()));
    assert!(peak < size / 2, "select held {peak} bytes, the product has {size}");
    // A byte for eight, and rows whose numbers are seen.
    let (some, _) = measured(|| mxm(&a, &b).apply_second(Gt, 9000).select(RowLe, 880).eval());
    let steps = select(&apply_second(&c, Gt, 9000).eval().unwrap(), RowLe, 880).eval().unwrap();
    assert_eq!(bits(&some), bits(&steps));
    let rows = mxm(&a, &b).apply_index(RowIndex, 5).eval().unwrap();
    assert_eq!(bits(&rows), bits(&apply_index(&c, RowIndex, 5).eval().unwrap()));
    // Masks of the product, of both kinds; transposes; and written by mask, accumulator and replace.
    for mask in [m.structure(), m.structure().complement()] {
        let c = mxm(&a, &b).mask(&mask).eval().unwrap();
        let steps = select(&c, ValueLt, -2000).eval().unwrap();
        assert_eq!(bits(&mxm(&a, &b).mask(&mask).select(ValueLt, -2000).eval().unwrap()), bits(&steps));
        let turned = mxm(&a.transposed(), &b.transposed()).transpose_a().transpose_b();
        assert_eq!(bits(&turned.mask(&mask).select(ValueLt, -2000).eval().unwrap()), bits(&steps));
        let (mut once, mut stepped) = (old.clone(), old.clone());
        mxm(&a, &b).select(ValueLt, -2000).mask(&mask).accumulate(Minus).replace().into(&mut once).unwrap();
        let all = select(&mxm(&a, &b).eval().unwrap(), ValueLt, -2000).eval().unwrap();
        apply(&all, Identity).mask(&mask).accumulate(Minus).replace().into(&mut stepped).unwrap();
        assert_eq!(bits(&once), bits(&stepped));
    }
    // Of one value, whose product is positions alone.
    let (ones, pairs) = (a.over::<AnyPair>(), b.over::<AnyPair>());
    let c = mxm(&ones, &pairs).eval().unwrap();
    let upper = mxm(&ones, &pairs).select(Triu, 500).eval().unwrap();
    assert_eq!(bits(&upper), bits(&select(&c, Triu, 500).eval().unwrap()));
}

/// Random operands, masks and steps; a limit that cuts most products into chunks of rows.
/// A mask between steps is of all rows.
#[test]
fn a_mask_between_steps_is_of_the_whole() {
    let Some(_one) = alone() else { return };
    let (a, b) = (random(900, 300, 9000, 3), random(300, 700, 6000, 5));
    let m = random(900, 700, 90_000, 7);
    let first = apply(&mxm(&a, &b).eval().unwrap(), Negate).mask(&m.structure()).eval().unwrap();
    let expected = apply(&first, Abs).eval().unwrap();
    let found = mxm(&a, &b).apply(Negate).mask(&m.structure()).apply(Abs).eval().unwrap();
    assert_eq!(bits(&found), bits(&expected));
}

/// By dot products rows of C are no longer than the mask's, and are cut by these.
#[test]
fn dot_products_are_cut_by_the_mask() {
    let Some(_one) = alone() else { return };
    let (a, b) = (random(900, 300, 9000, 3), random(300, 700, 6000, 5));
    let m = random(900, 700, 90_000, 7);
    for transposed in [false, true] {
        let b = if transposed { transpose(&b).eval().unwrap() } else { b.clone() };
        let product = || {
            let product = mxm(&a, &b).mask(&m.structure()).strategy(Strategy::Dot);
            if transposed { product.transpose_b() } else { product }
        };
        let c = product().eval().unwrap();
        assert!(12 * m.nvals() > 2 * MEMORY / 128, "{}", m.nvals());
        let expected = select(&apply(&c, Negate).eval().unwrap(), ValueGt, 9000).eval().unwrap();
        let run = || product().apply(Negate).select(ValueGt, 9000).eval();
        let (found, launches) = Context::get(0).unwrap().trace(run).unwrap();
        assert_eq!(bits(&found), bits(&expected));
        let dots = launches.iter().filter(|launch| launch.kernel == "spgemm_dot").count();
        assert!(dots > 1, "{dots} chunks by dot products");
    }
}

#[test]
fn any_product_is_what_the_steps_make() {
    fn check(seed: u64) -> bool {
        let mut r = Rng(seed | 1);
        let (m, k, n) = (1 + r.below(120), 1 + r.below(60), 1 + r.below(120));
        let (a, b) = (random(m, k, r.below(12 * m), seed ^ 5), random(k, n, r.below(12 * k), seed ^ 9));
        let mask = random(m, n, r.below(m * n), seed ^ 17);
        let product = || match seed % 3 {
            0 => mxm(&a, &b),
            1 => mxm(&a, &b).mask(&mask.structure()),
            _ => mxm(&a, &b).mask(&mask.structure().complement()),
        };
        let (c, limited, t) = (product().eval().unwrap(), || product().memory_limit(250_000), r.below(9000) as i64);
        let kept = select(&c, ValueGt, t).eval().unwrap();
        let steps = apply_index(&kept, RowIndex, t).eval().unwrap();
        bits(&limited().select(ValueGt, t).eval().unwrap()) == bits(&kept)
            && bits(&limited().select(ValueGt, t).apply_index(RowIndex, t).eval().unwrap()) == bits(&steps)
            && bits(&limited().top_k(2).eval().unwrap()) == bits(&top_k(&c, 2).eval().unwrap())
    }
    let Some(_one) = alone() else { return };
    QuickCheck::new().tests(15).quickcheck(check as fn(u64) -> bool);
}

#[test]
fn sums_in_order_are_the_same_to_the_bit() {
    let Some(_one) = alone() else { return };
    let third = |m: &Matrix<i64>| apply_second(&cast::<f64, _>(m).unwrap(), Div, 3.0).eval().unwrap();
    let (a, b) = (third(&random(700, 200, 8000, 11)), third(&random(200, 500, 5000, 13)));
    let c = mxm(&a, &b).reproducible().eval().unwrap();
    assert!(c.memory_bytes() > 4 * MEMORY / 128);
    let kept = mxm(&a, &b).reproducible().apply(Abs).select(ValueGt, 900.0).eval().unwrap();
    let steps = select(&apply(&c, Abs).eval().unwrap(), ValueGt, 900.0).eval().unwrap();
    assert!(kept.nvals() > 0);
    assert_eq!(bits(&kept), bits(&steps));
    let (a, b) = (a.to(&Device::Cpu).unwrap(), b.to(&Device::Cpu).unwrap());
    assert_eq!(bits(&kept), bits(&mxm(&a, &b).apply(Abs).select(ValueGt, 900.0).eval().unwrap()));
}

#[test]
fn a_row_beyond_the_bound_is_a_chunk() {
    let Some(_one) = alone() else { return };
    // One row meets all of B, and has more columns than a chunk may have entries.
    let n = 30_000u64;
    let a: Vec<_> =
        (0..40).flat_map(|i| (0..if i == 17 { 60 } else { 2 }).map(move |k| (i, k, 1 + k as i64))).collect();
    let b: Vec<_> = (0..60).flat_map(|k| (0..500).map(move |e| (k, (k * 500 + e) % n, e as i64))).collect();
    let (a, b): (Matrix<i64>, Matrix<i64>) = (Matrix::build(40, 60, &a).unwrap(), Matrix::build(60, n, &b).unwrap());
    let expected = mxm(&a, &b).select(ValueGt, 400).eval().unwrap();
    let (a, b) = (a.to(&GPU).unwrap(), b.to(&GPU).unwrap());
    assert_eq!(bits(&mxm(&a, &b).select(ValueGt, 400).eval().unwrap()), bits(&expected));
}

#[test]
fn limits_are_kept() {
    let Some(_one) = alone() else { return };
    let (a, b) = (random(120, 100, 1500, 17), random(100, 600, 2500, 19));
    let m = random(120, 600, 15_000, 23);
    let c = mxm(&a, &b).eval().unwrap();
    type Run<'a> = Box<dyn Fn(u64) -> Result<Vec<(u64, u64, i64)>> + 'a>;
    let mask = || mxm(&a, &b).mask(&m.structure());
    let runs: Vec<(&str, Run)> = vec![
        ("select", Box::new(|l| mxm(&a, &b).memory_limit(l).select(ValueGt, 9000).eval()?.entries())),
        ("top_k", Box::new(|l| mxm(&a, &b).memory_limit(l).top_k(1).eval()?.entries())),
        ("apply", Box::new(|l| mxm(&a, &b).memory_limit(l).apply(Negate).eval()?.entries())),
        ("masked", Box::new(|l| mask().memory_limit(l).select(ValueGt, 3000).eval()?.entries())),
    ];
    for (name, run) in &runs {
        let (expected, context) = (run(u64::MAX).unwrap(), Context::get(0).unwrap());
        let (mut limit, mut kept) = (2 * c.memory_bytes(), 0);
        loop {
            let held = context.memory_in_use();
            context.reset_peak();
            let made = run(limit);
            let peak = context.peak() - held;
            assert!(peak <= limit, "{name}: {peak} bytes under a limit of {limit}");
            match made {
                Ok(made) => assert_eq!(made, expected, "{name} within {limit}"),
                Err(Error::OutOfMemory { operation: "mxm", available: Some(available), needed, .. }) => {
                    assert!(available == limit && needed > limit, "{name}");
                    break;
                }
                Err(e) => panic!("{name} within {limit}: {e:?}"),
            }
            (limit, kept) = (limit / 2, kept + 1);
        }
        // What is kept of select is little, so that it is done within much less than the product.
        assert!(kept > if *name == "select" { 2 } else { 0 }, "{name} was done within {kept} limits only");
    }
}

#[test]
fn what_fails_leaves_all_as_it_was() {
    let Some(_one) = alone() else { return };
    let Some(emulator) = emulator::emulator() else { return };
    let (a, b) = (random(300, 200, 4000, 29), random(200, 500, 4000, 31));
    let mut out = random(300, 500, 500, 37);
    let before = out.entries().unwrap();
    let expected = mxm(&a, &b).select(ValueGt, 12_000).eval().unwrap().entries().unwrap();
    assert!(mxm(&a, &b).eval().unwrap().memory_bytes() > 2 * MEMORY / 128);
    // What b keeps of itself once it was a right operand twice is kept from here on.
    let (bytes, pairs) = (b.memory_bytes(), (a.over::<AnyPair>(), b.over::<AnyPair>()));
    (0..2).for_each(|_| drop(mxm(&pairs.0, &pairs.1).strategy(Strategy::BitmapRank).eval().unwrap()));
    assert!(b.memory_bytes() > bytes);
    let live = emulator.live();
    let (mut failed, mut done) = (0, 0);
    // From the n-th allocation on all fail: an error; two alone: smaller chunks, and the result.
    for n in (0..400).step_by(7) {
        emulator.fail_allocations(n, 1 << 30);
        let made = mxm(&a, &b).select(ValueGt, 12_000).into(&mut out);
        emulator.fail_allocations(-1, 0);
        match made {
            Err(Error::OutOfMemory { .. }) => {
                failed += 1;
                assert_eq!(out.entries().unwrap(), before, "allocation {n}");
            }
            Err(e) => panic!("allocation {n}: {e}"),
            Ok(()) => break,
        }
        assert_eq!(emulator.live(), live, "allocation {n}");
        emulator.fail_allocations(n, 2);
        let made = mxm(&a, &b).select(ValueGt, 12_000).eval();
        emulator.fail_allocations(-1, 0);
        match made {
            Ok(made) => {
                assert_eq!(made.entries().unwrap(), expected, "allocation {n}");
                done += 1;
            }
            Err(e) => assert!(matches!(e, Error::OutOfMemory { .. }), "allocation {n}: {e}"),
        }
        assert_eq!(emulator.live(), live, "allocation {n}");
    }
    assert!(failed > 3 && done > 0, "{failed} {done}");
    assert_eq!(
        (a.nvals() > 0, mxm(&a, &b).select(ValueGt, 12_000).eval().unwrap().entries().unwrap()),
        (true, expected)
    );
}
