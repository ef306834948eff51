//! Products on CUDA when memory is short: a process of its own, as failures are planted in the driver.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/meeting.rs"]
mod meeting;

use common::emulator;
use meeting::meeting;
use oplus::backend::cuda::Context;
use oplus::generate::uniform;
use oplus::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Failures are planted for one test at a time.
static ONE: Mutex<()> = Mutex::new(());

#[test]
fn without_room_to_spare_rows_are_counted_first() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(emulator) = emulator::emulator() else { return };
    let a: Matrix<f64> = Matrix::build_with(&uniform(20, 30, 10, 1).unwrap(), First).unwrap();
    let b: Matrix<f64> = Matrix::build_with(&uniform(30, 900, 20, 2).unwrap(), First).unwrap();
    let expected = mxm(&a, &b).eval().unwrap().entries().unwrap();
    let (a, b) = (a.to(&Device::Cuda(0)).unwrap(), b.to(&Device::Cuda(0)).unwrap());
    let (mut counted, mut chunked) = (0, 0);
    for strategy in [Strategy::Auto, Strategy::Esc] {
        for n in 0..32 {
            emulator.fail_allocations(n, 2);
            let made = mxm(&a, &b).strategy(strategy).traced();
            emulator.fail_allocations(-1, 1);
            let (c, trace) = made.unwrap();
            assert_eq!(c.entries().unwrap(), expected, "allocation {n} failed, {strategy:?}");
            let ran = |kernel: &str| trace.kernels.iter().any(|k| k.name.ends_with(kernel));
            match ran("shift_offsets") {
                true => chunked += 1,
                false => counted += usize::from(ran("_count")),
            }
        }
    }
    // Products do without their staging area, of two buffers, and not without the others.
    assert!(counted >= 2 && chunked > 10, "{counted} counted first, {chunked} by chunks of rows");
}

/// A C that was guessed too small is gone on with in a larger one, or where there is no room for both begun again in that.
#[test]
fn without_room_for_two_results_the_first_is_made_again() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(emulator) = emulator::emulator() else { return };
    let a = meeting(30_000, |_| true);
    let expected = mxm(&a, &a).eval().unwrap().entries().unwrap();
    let a = a.to(&Device::Cuda(0)).unwrap();
    let (mut passes, mut chunked) = (Vec::new(), Vec::new());
    for n in -1..9 {
        emulator.fail_allocations(n, 2);
        let made = mxm(&a, &a).traced();
        emulator.fail_allocations(-1, 1);
        let (c, trace) = made.unwrap();
        assert_eq!(c.entries().unwrap(), expected, "allocation {n} failed");
        let ran = |kernel: &str| trace.kernels.iter().filter(|k| k.name == kernel).count();
        match ran("shift_offsets") {
            0 => passes.push(ran("spgemm_esc")),
            _ => chunked.push(n),
        }
    }
    assert!(passes.iter().all(|n| *n == 2), "{passes:?}");
    // Offsets, the two arrays of the first C and what each pass counts in are not done without; those of the second C are.
    assert_eq!(chunked, [0, 1, 2, 3, 6]);
}

/// Slices that find no memory are made smaller.
#[test]
fn without_room_for_a_slice_it_is_cut() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(emulator) = emulator::emulator() else { return };
    let a: Matrix<f64> = Matrix::build_with(&uniform(150, 200, 10, 1).unwrap(), First).unwrap();
    let b: Matrix<f64> = Matrix::build_with(&uniform(200, 900, 30, 2).unwrap(), First).unwrap();
    let row: Matrix<f64> = Matrix::build_with(&uniform(1, 1500, 3000, 1).unwrap(), First).unwrap();
    let wide: Matrix<f64> = Matrix::build_with(&uniform(1500, 900, 30, 2).unwrap(), First).unwrap();
    let context = Context::get(0).unwrap();
    for (a, b) in [(a, b), (row, wide)] {
        let expected = mxm(&a, &b).eval().unwrap().entries().unwrap();
        let (a, b) = (a.to(&Device::Cuda(0)).unwrap(), b.to(&Device::Cuda(0)).unwrap());
        for strategy in [Strategy::EscGlobal, Strategy::SegmentedMerge, Strategy::ColumnRow] {
            let (mut chunks, mut cut, mut whole) = (0, 0, 0);
            for n in [0, 2, 6, 8, 10, 12, 14, 40] {
                emulator.fail_allocations(n, 2);
                let traced = context.trace(|| mxm(&a, &b).strategy(strategy).eval());
                emulator.fail_allocations(-1, 1);
                match traced {
                    Ok((c, launches)) => {
                        assert_eq!(c.entries().unwrap(), expected, "{strategy}, allocation {n} failed");
                        let count = |name: &str| launches.iter().filter(|l| l.kernel == name).count();
                        // Without memory for what all slices share the product itself begins anew, of some rows at a time.
                        match (count("spgemm_contract"), count("slice_lengths")) {
                            (0..=1, _) => whole += 1,
                            (_, 2..) if a.nrows() > 1 => chunks += 1,
                            _ => cut += 1,
                        }
                    }
                    Err(e) => panic!("{e}"),
                }
            }
            assert!(cut > 1 && whole > 0, "{strategy}: {cut} cut, {chunks} begun anew, {whole} whole");
        }
    }
}

/// A plan that finds no memory for the places of all factors does without them.
#[test]
fn without_room_for_the_places_of_factors_a_plan_keeps_none() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(emulator) = emulator::emulator() else { return };
    let a: Matrix<f64> = Matrix::build_with(&uniform(20, 30, 10, 1).unwrap(), First).unwrap();
    let b: Matrix<f64> = Matrix::build_with(&uniform(30, 900, 20, 2).unwrap(), First).unwrap();
    let expected = mxm(&a, &b).eval().unwrap().entries().unwrap();
    let (a, b) = (a.to(&Device::Cuda(0)).unwrap(), b.to(&Device::Cuda(0)).unwrap());
    let context = Context::get(0).unwrap();
    let (mut kept, mut none) = (0, 0);
    for n in (0..24).chain([200]) {
        // What is kept of freed memory would not fail.
        context.trim().unwrap();
        emulator.fail_allocations(n, 2);
        let plan = mxm(&a, &b).plan();
        emulator.fail_allocations(-1, 1);
        let plan = plan.unwrap_or_else(|e| panic!("allocation {n} failed: {e}"));
        let (c, launches) = context.trace(|| plan.run(&a, &b)).unwrap();
        assert_eq!(c.entries().unwrap(), expected, "allocation {n} failed");
        match launches.iter().any(|l| l.kernel.starts_with("spmv_full")) {
            true => kept += 1,
            false => none += 1,
        }
    }
    assert!(kept > 0 && none > 10, "{kept} kept places, {none} none");
}
