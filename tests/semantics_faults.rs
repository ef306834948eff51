//! G3, G4 and G9 of the semantics on the emulated driver: failing allocations and launches, and memory given back. Faults are
//! planted in the process, so this is a process of its own and its tests run one at a time.
#![cfg(feature = "cuda")]
mod common;

use common::emulator::{Emulator, emulator};
use oplus::prelude::*;
use std::sync::{Mutex, PoisonError};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn sample(n: u64, salt: u64) -> Matrix<i32> {
    let mut coo = Coo::new(n, n);
    (0..n * 6).for_each(|e| coo.push(e * (5 + salt) % n, e * e % n, e as i32 % 7));
    Matrix::build_with(&coo, Second).unwrap().to(&Device::Cuda(0)).unwrap()
}

/// Operations of all kinds, with mask, accumulator and replace.
const OPERATIONS: [(&str, fn(&Matrix<i32>, &Matrix<i32>, &mut Matrix<i32>) -> oplus::Result<()>); 6] = [
    ("mxm", |a, b, c| mxm(a, b).into(c)),
    ("masked mxm", |a, b, c| mxm(a, b).mask(&b.structure()).accumulate(Plus).replace().into(c)),
    ("ewise_add", |a, b, c| ewise_add(a, b, Minus).mask(&a.structure().complement()).into(c)),
    ("transpose", |a, _, c| transpose(a).accumulate(Plus).into(c)),
    ("assign", |a, _, c| assign(a, Indices::stride(49, -1, 50), ..).into(c)),
    ("mxv", |a, b, c| {
        let sums = mxv(a, &reduce_rows(b, Plus).eval()?).eval()?;
        assign_row(&sums, 3, ..).into(c)
    }),
];

/// What comes of every operation while `plant` makes allocations or launches from the n-th on fail, for all n. Now and then
/// it finds a way around the fault; then the result is right.
fn fails_cleanly(emulator: &Emulator, plant: impl Fn(i64), unplant: impl Fn(), right: impl Fn(&Error) -> bool) {
    let (a, b, output) = (sample(50, 0), sample(50, 2), sample(50, 4));
    let before = output.entries().unwrap();
    let inputs = (a.entries().unwrap(), b.entries().unwrap());
    let mut told = 0;
    for (name, run) in OPERATIONS {
        let mut c = output.clone();
        run(&a, &b, &mut c).unwrap();
        let expected = c.entries().unwrap();
        drop(c);
        let live = emulator.live().0;
        let (mut errors, mut right_in_a_row) = (0, 0);
        for n in 0.. {
            let mut c = output.clone();
            plant(n);
            let result = run(&a, &b, &mut c);
            unplant();
            let Err(error) = result else {
                assert_eq!(c.entries().unwrap(), expected, "{name}");
                right_in_a_row += 1;
                if right_in_a_row == 25 {
                    break;
                }
                continue;
            };
            (errors, right_in_a_row) = (errors + 1, 0);
            assert!(right(&error), "{name}, {n}: {error}");
            assert_eq!(c.entries().unwrap(), before, "{name}, {n}");
            drop(c);
            assert_eq!(emulator.live().0, live, "{name}, {n}: memory is lost");
            assert!(n < 500, "{name} never ends");
        }
        told += errors;
    }
    assert!(told > 10, "{told} faults were met");
    assert_eq!((a.entries().unwrap(), b.entries().unwrap()), inputs);
}

#[test]
fn g3_every_allocation_that_fails_is_told_and_nothing_is_lost() {
    let Some(emulator) = emulator() else { return };
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // All from one on: after the first one kept memory is given back and asked for again, then fewer rows are made at once.
    let plant = |n| emulator.fail_allocations(n, i64::MAX / 2);
    let right = |e: &Error| matches!(e, Error::OutOfMemory { .. });
    fails_cleanly(emulator, plant, || emulator.fail_allocations(-1, 1), right);
}

#[test]
fn g4_every_launch_that_fails_is_told_and_nothing_is_lost() {
    let Some(emulator) = emulator() else { return };
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let unplant = || {
        emulator.fail_launch(-1);
        emulator.recover();
    };
    // A launch that finds no memory for itself is what the emulated driver fails with.
    let right = |e: &Error| matches!(e, Error::OutOfMemory { .. } | Error::Driver { .. });
    fails_cleanly(emulator, |n| emulator.fail_launch(n), unplant, right);
}

#[test]
fn g9_dropped_operations_give_their_memory_back() {
    let Some(emulator) = emulator() else { return };
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let before = emulator.live().0;
    let (a, b) = (sample(50, 0), sample(50, 2));
    // Kept memory and modules are there after a first run.
    drop(mxm(&a, &b).mask(&b.structure()).eval().unwrap());
    let live = emulator.live().0;
    for _ in 0..3 {
        let mask = b.as_mask();
        let built = mxm(&a, &b.transposed()).mask(&mask).accumulate(Plus).replace();
        drop((built.clone(), built));
        drop(ewise_add(&a, &b, Plus).mask(&a.structure().complement()));
        drop(assign(&a, [0, 1], ..).mask(&mask));
        drop(mask);
        drop(mxm(&a, &b).mask(&b.structure()).eval().unwrap());
        assert_eq!(emulator.live().0, live);
    }
    drop((a, b));
    assert!(emulator.live().0 <= live && before <= live);
}
