//! Every operation on CUDA, emulated or real, against the reference backend.
#![cfg(feature = "cuda")]
use oplus::prelude::*;
use std::cell::Cell;

mod common {
    pub mod emulator;
}
#[path = "common/operations.rs"]
mod properties;

/// Cases of each property: one takes the emulator about a second.
const CASES: u32 = 12;

/// The first GPU for so many cases of each property, which runs in a thread of its own.
fn under_test() -> Option<Device> {
    thread_local!(static CASE: Cell<u32> = const { Cell::new(0) });
    let gpu = matches!(common::emulator::cuda()?, common::emulator::Cuda::Gpu);
    (CASE.replace(CASE.get() + 1) < CASES || gpu).then_some(Device::Cuda(0))
}

fn pseudo(seed: &mut u64, n: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*seed >> 33) % n.max(1)
}

oplus::scalar! { pub struct Pair3 { x: f64, y: u64, z: u64 } }

/// Rows of all lengths, more entries than a tile holds, values of every size.
#[test]
fn larger_matrices_of_every_value_size() {
    if common::emulator::cuda().is_none() {
        return;
    }
    fn check<T: Scalar>(value: fn(u64) -> T) {
        let mut seed = 7;
        let (m, n) = (700, 900);
        let list = |seed: &mut u64| -> Coo<T> {
            let mut coo = Coo::new(m, n);
            (0..3000).for_each(|_| coo.push(pseudo(seed, m), pseudo(seed, n), value(pseudo(seed, 200))));
            // One full row and one full column.
            (0..n).for_each(|j| coo.push(m / 2, j, value(j)));
            (0..m).for_each(|i| coo.push(i, n / 3, value(i)));
            coo
        };
        let (a, b) = (list(&mut seed), list(&mut seed));
        let run = |d: Device| {
            let (a, b): (Matrix<T>, Matrix<T>) =
                (Matrix::build_on(&a, Second, &d).unwrap(), Matrix::build_on(&b, First, &d).unwrap());
            let rows: Vec<u64> = (0..400).map(|r| r * 7 % m).collect();
            let mut c = a.clone();
            apply(&b, Identity).mask(&a.structure().complement()).into(&mut c).unwrap();
            [
                transpose(&a).eval().unwrap().entries().unwrap(),
                ewise_add(&a, &b, Second).eval().unwrap().entries().unwrap(),
                ewise_mult(&a, &b, First).eval().unwrap().entries().unwrap(),
                select(&a, Tril, 5).eval().unwrap().entries().unwrap(),
                extract_rows(&a, &rows).eval().unwrap().entries().unwrap(),
                c.entries().unwrap(),
            ]
        };
        assert!(run(Device::Cuda(0)) == run(Device::Reference), "{}", std::any::type_name::<T>());
    }
    check::<bool>(|v| v % 2 == 0);
    check::<u8>(|v| v as u8);
    check::<i16>(|v| v as i16 - 100);
    check::<f32>(|v| v as f32);
    check::<f64>(|v| v as f64);
    check::<Pair3>(|v| Pair3::make(v as f64, v, v + 1));
}

/// Sums over more entries than a block takes, and the first duplicate's position.
#[test]
fn reductions_and_builds() {
    if common::emulator::cuda().is_none() {
        return;
    }
    let n = 20_000u64;
    let x: Vector<i64> = Vector::build(n, &(0..n).map(|i| (i, i as i64 % 1000 - 300)).collect::<Vec<_>>()).unwrap();
    let on = x.to(&Device::Cuda(0)).unwrap();
    assert_eq!(reduce(&on, Plus).unwrap(), reduce(&x, Plus).unwrap());
    assert_eq!(reduce(&on, Min).unwrap(), -300);
    let none: Vector<i64> = Vector::new(5).unwrap().to(&Device::Cuda(0)).unwrap();
    assert_eq!(reduce(&none, Plus).unwrap(), 0);
    let mut coo = Coo::new(50, 60);
    (0..200u64).for_each(|e| coo.push(e % 7, e % 11, e as i32));
    let cuda = Matrix::<i32>::build_on(&coo, Minus, &Device::Cuda(0)).unwrap().entries().unwrap();
    assert_eq!(cuda, Matrix::<i32>::build_on(&coo, Minus, &Device::Reference).unwrap().entries().unwrap());
}
