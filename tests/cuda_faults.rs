//! Failures of the CUDA backend on the emulated driver: each is a typed error that changes no operand, leaks nothing and
//! does not stop what comes after it.
#![cfg(all(feature = "cuda", target_os = "linux"))]
mod common;
#[path = "common/fault_steps.rs"]
mod fault_steps;
#[path = "common/machines.rs"]
mod machines;
#[path = "common/random.rs"]
mod random;

use common::emulator::{self, Emulator};
use fault_steps::*;
use oplus::backend::cuda::{Buffer, Context, Source};
use oplus::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Tests that plant failures in the one driver of this process run one at a time.
fn device() -> Option<(&'static Emulator, MutexGuard<'static, ()>)> {
    static ONE: Mutex<()> = Mutex::new(());
    let emulator = emulator::emulator()?;
    Some((emulator, ONE.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// Runs every step with its first, second, … call of a kind failing, until it goes through.
/// A product may get over it with fewer rows at a time, where `recovers`.
fn each_failure(plant: impl Fn(&Emulator, i64), right: impl Fn(&Error) -> bool, recovers: bool) {
    let Some((emulator, _one)) = device() else { return };
    let before = emulator.live();
    let operands = Operands::on(GPU).unwrap();
    let reference = Operands::on(Device::Reference).unwrap();
    let contents = operands.contents();
    for (name, step) in STEPS {
        let expected = step(&reference).unwrap();
        assert_eq!(step(&operands).unwrap(), expected, "{name}");
        let mut failures = 0;
        for n in 0.. {
            // The step before may have kept what an earlier one had no room for.
            let held = emulator.live();
            plant(emulator, n);
            let result = step(&operands);
            plant(emulator, -1);
            match result {
                Ok(entries) => {
                    assert_eq!(entries, expected, "{name} with failure {n} never reached, or got over");
                    if recovers && name.starts_with("mxm") && n < 24 {
                        continue;
                    }
                    break;
                }
                Err(e) => assert!(right(&e), "{name}, failure {n}: {e:?}"),
            }
            failures += 1;
            assert_eq!(emulator.live(), held, "{name} leaks after failure {n}");
            assert_eq!(step(&operands).unwrap(), expected, "{name} again after failure {n}");
        }
        // What computes has to allocate and to launch; a look at one entry need not.
        assert!(
            failures > 0 || recovers || !(name.starts_with("mx") || name.starts_with("vx")),
            "{name} was never made to fail"
        );
        assert_eq!(operands.contents(), contents, "{name} changes its operands");
    }
    drop(operands);
    assert_eq!(emulator.live(), before);
}

#[test]
fn g3_every_allocation_may_fail() {
    // All from one on: after the first the pool is emptied and the allocation tried again, then fewer rows are.
    each_failure(
        |e, n| e.fail_allocations(n, i64::MAX / 2),
        |e| matches!(e, Error::OutOfMemory { device, needed, .. } if device == "cuda:0" && *needed > 0),
        false,
    );
}

#[test]
fn g3_an_allocation_that_fails_once_is_tried_again() {
    let Some((emulator, _one)) = device() else { return };
    let operands = Operands::on(GPU).unwrap();
    for (name, step) in STEPS {
        let expected = step(&operands).unwrap();
        for n in 0..12 {
            emulator.fail_allocations(n, 1);
            assert_eq!(step(&operands).unwrap(), expected, "{name} {n}");
        }
    }
    emulator.fail_allocations(-1, 0);
}

#[test]
fn g4_every_launch_may_fail() {
    each_failure(
        |e, n| e.fail_launch(n),
        |e| {
            // CUDA_ERROR_OUT_OF_MEMORY is what a launch without room for its stacks answers.
            matches!(
                e,
                Error::OutOfMemory { operation: "launch", .. } | Error::Driver { operation: "launch", code: 2, .. }
            )
        },
        true,
    );
}

#[test]
fn a_kernel_that_crashed_is_an_error_of_all_that_follows() {
    let Some((emulator, _one)) = device() else { return };
    let before = emulator.live();
    let operands = Operands::on(GPU).unwrap();
    for (_, step) in STEPS {
        step(&operands).unwrap();
    }
    let context = Context::get(0).unwrap();
    let text = "extern \"C\" __global__ void crash() {\nif (threadIdx.x) __syncthreads();\nelse __syncthreads();\n}";
    let kernel = context.kernel(&Source { name: "crash.cu", key: "test/crash", text }, "crash");
    let kernel = kernel.unwrap();
    // SAFETY: it touches nothing.
    unsafe { kernel.launch(1u32, 1024u32, 0).run() }.unwrap();
    for (name, step) in STEPS {
        let error = step(&operands).unwrap_err();
        assert!(matches!(&error, Error::Driver { code: 719, .. }), "{name}: {error:?}");
    }
    emulator.recover();
    drop(operands);
    assert_eq!(emulator.live(), before);
}

#[test]
fn no_schedule_changes_a_result() {
    let Some((emulator, _one)) = device() else { return };
    let (a, b) =
        (Matrix::<i64>::build_with(&coo(90, 1500, 13), Second), Matrix::<i64>::build_with(&coo(90, 1500, 17), Second));
    let (a, b) = (a.unwrap().to(&GPU).unwrap(), b.unwrap().to(&GPU).unwrap());
    let x: Vec<(u64, i64)> = (0..90).step_by(2).map(|i| (i, 2 * i as i64 - 9)).collect();
    let x = Vector::<i64>::build(90, &x).unwrap().to(&GPU).unwrap();
    let results = |seed| {
        emulator.seed(seed);
        let least = mxm(&a.over::<MinPlus>(), &b.over()).eval().unwrap().entries().unwrap();
        let parents = vxm(&x.over::<AnySecondI>(), &a.over()).eval().unwrap().entries().unwrap();
        let pairs = mxm(&a.over::<PlusPair>(), &b.over()).mask(&a.structure()).reduce(Plus).unwrap();
        let entries = [
            mxm(&a, &b).eval().unwrap().entries().unwrap(),
            mxm(&a, &b).mask(&a.structure()).eval().unwrap().entries().unwrap(),
            flat(mxv(&a, &x).eval().unwrap().entries().unwrap()),
            flat(vxm(&x, &a).eval().unwrap().entries().unwrap()),
        ];
        (least, parents, pairs, entries)
    };
    let first = results(1);
    for seed in 2..=5 {
        assert!(results(seed) == first, "schedule {seed} gives another result");
    }
}

/// Whichever block comes first makes the first of a few hundred rows, and says where lists begin.
#[test]
fn no_schedule_changes_the_lists_of_rows() {
    let Some((emulator, _one)) = device() else { return };
    let a = Matrix::<i64>::build_with(&coo(1500, 6000, 19), Second).unwrap();
    let expected = mxm(&a, &a).eval().unwrap().entries().unwrap();
    let a = a.to(&GPU).unwrap();
    for seed in 1..=12 {
        emulator.seed(seed);
        let made = mxm(&a, &a).strategy(Strategy::Window).eval().unwrap().entries().unwrap();
        assert!(made == expected, "schedule {seed}");
    }
}

#[test]
fn g9_buffers_of_a_dropped_handle_free_their_memory() {
    let Some((emulator, _one)) = device() else { return };
    let before = emulator.live();
    let context = Context::separate(0).unwrap();
    let buffer = Buffer::zeroed(&context, 100).unwrap();
    drop(context);
    assert_eq!(emulator.live().0, before.0 + 1);
    drop(buffer);
    assert_eq!(emulator.live(), before);
}
