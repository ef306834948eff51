//! Element-wise operations on CUDA, emulated or real, whose operands have the same entries: values alone are made, at
//! positions that the operands share with the result, and nothing of it shows in results.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::prelude::*;
use random::Rng;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard};

oplus::scalar! { pub struct Route { dist: f64, first: u64, hops: i32, toll: i32 } }
oplus::operator! { pub Shorter[](Route, Route) -> Route = |x, y| select(x.dist <= y.dist, x, y) }
oplus::operator! { pub Tolled[](Route, f64) -> Route = |x, y| Route::make(add(x.dist, y), x.first, x.hops, x.toll) }

const GPU: Device = Device::Cuda(0);
/// Device memory is counted for the whole process: one test at a time has any.
static COUNTED: Mutex<()> = Mutex::new(());
fn counted() -> MutexGuard<'static, ()> {
    COUNTED.lock().unwrap_or_else(|e| e.into_inner())
}

/// A matrix with a value at each place.
fn full<T: Scalar>(m: u64, n: u64, value: impl Fn(u64) -> T) -> Matrix<T> {
    let places: Vec<_> = (0..m * n).map(|e| (e / n, e % n, value((e * 7 + m) % 41))).collect();
    Matrix::build(m, n, &places).unwrap()
}
fn random<T: Scalar>(m: u64, n: u64, count: u64, value: impl Fn(u64) -> T) -> Matrix<T> {
    let (mut coo, mut rng) = (Coo::new(m, n), Rng(3));
    (0..count).for_each(|_| coo.push(rng.below(m), rng.below(n), value(rng.below(50))));
    Matrix::build_with(&coo, Second).unwrap()
}

type Two<T, U, C> = fn(&Matrix<T>, &Matrix<U>) -> Result<Matrix<C>>;

/// Each operation on the GPU as on the reference backend, taking memory for values alone.
fn compare<T, U, C>(
    operands: &str,
    a: &Matrix<T>,
    derive: impl Fn(&Matrix<T>) -> Result<Matrix<U>>,
    all: &[(&str, Two<T, U, C>)],
) where
    T: Scalar,
    U: Scalar,
    C: Scalar + Debug + PartialEq,
{
    let _counted = counted();
    let emulator = emulator::emulator();
    let there = a.to(&GPU).unwrap();
    let (other, expected) = (derive(&there).unwrap(), a.to(&Device::Reference).unwrap());
    let expected_other = derive(&expected).unwrap();
    for (name, operation) in all {
        // What the device keeps from the first time on is not the result's.
        drop(operation(&there, &other).unwrap());
        let before = emulator.as_ref().map(|e| e.live().1);
        let c = operation(&there, &other).unwrap();
        if let (Some(emulator), Some(before)) = (&emulator, before) {
            let values = if c.is_iso() { 0 } else { c.nvals() as usize * size_of::<C>() };
            assert_eq!(emulator.live().1 - before, values, "{operands}: {name}");
        }
        let expected = operation(&expected, &expected_other).unwrap();
        assert_eq!(
            (c.shape(), c.entries().unwrap()),
            (expected.shape(), expected.entries().unwrap()),
            "{operands}: {name}"
        );
    }
}

#[test]
fn numbers() {
    if emulator::cuda().is_none() {
        return;
    }
    let all: [(&str, Two<i64, i64, i64>); 11] = [
        ("ewise_add", |a, b| ewise_add(a, b, Minus).eval()),
        ("ewise_mult", |a, b| ewise_mult(a, b, Minus).eval()),
        ("ewise_mult, the second", |a, b| ewise_mult(a, b, Second).eval()),
        ("ewise_union", |a, b| ewise_union(a, 5, b, 7, Minus).eval()),
        ("accumulate", |a, b| {
            let mut c = a.clone();
            apply_second(b, Times, 3).accumulate(Minus).into(&mut c)?;
            Ok(c)
        }),
        ("accumulate, itself", |a, _| {
            let mut c = a.clone();
            apply(&c.clone(), Negate).accumulate(Plus).into(&mut c)?;
            Ok(c)
        }),
        ("overwrite", |a, b| {
            let mut c = a.clone();
            ewise_add(b, b, Plus).into(&mut c)?;
            Ok(c)
        }),
        ("a chain", |a, b| ewise_add(a, b, Minus).ewise_mult(a, Times).apply_second(Max, -7).eval()),
        ("a chain that maps twice", |a, b| ewise_mult(a, b, Minus).apply(Negate).ewise_add(b, Minus).apply(Abs).eval()),
        ("a chain of positions", |a, b| ewise_add(a, b, Minus).apply_index(RowIndex, 2).ewise_add(a, Plus).eval()),
        ("a chain that keeps all", |a, b| ewise_add(a, b, Minus).select(ValueGt, -1_000_000).eval()),
    ];
    let value = |v: u64| v as i64 * 5 - 60;
    let derive: fn(&Matrix<i64>) -> Result<Matrix<i64>> = |a| apply_second(&apply(a, Negate).eval()?, Plus, 11).eval();
    let iso: fn(&Matrix<i64>) -> Result<Matrix<i64>> = |a| a.with_value(4);
    for (name, a) in [
        ("shared", random(90, 70, 2500, value)),
        ("tall", random(900, 3, 800, value)),
        ("full", full(37, 80, value)),
        ("a row", full(1, 3000, value)),
        ("one value", full(20, 30, value).with_value(9).unwrap()),
        ("one entry", full(1, 1, value)),
        ("no entries", Matrix::new(5, 6).unwrap()),
    ] {
        compare(name, &a, derive, &all);
        compare(name, &a, iso, &all);
        compare(name, &a.with_value(-3).unwrap(), iso, &all);
    }
    // Both have all there can be and share nothing.
    let other: Matrix<i64> = full(37, 80, |v| v as i64 * 3 + 1);
    compare("two full ones", &full(37, 80, value), |a| other.to(&a.device()), &all);
}

#[test]
fn what_is_not_kept_is_dropped() -> Result<()> {
    if emulator::cuda().is_none() {
        return Ok(());
    }
    let _counted = counted();
    let a = random(90, 70, 2500, |v| v as i64 - 25);
    let dropping = |a: &Matrix<i64>| {
        let b = apply_second(a, Times, 2).eval()?;
        ewise_add(a, &b, Plus).apply(Negate).select(ValueGt, 6).eval()?.entries()
    };
    let expected = dropping(&a)?;
    assert!(!expected.is_empty() && expected.len() < a.nvals() as usize);
    assert_eq!(dropping(&a.to(&GPU)?)?, expected);
    Ok(())
}

#[test]
fn types_of_many_sizes() {
    if emulator::cuda().is_none() {
        return;
    }
    let route = |v: u64| Route::make(v as f64 / 4.0, v, v as i32 % 5, 1);
    let routes: [(&str, Two<Route, Route, Route>); 3] = [
        ("ewise_add", |a, b| ewise_add(a, b, Shorter).eval()),
        ("ewise_mult", |a, b| ewise_mult(a, b, Shorter).eval()),
        ("accumulate", |a, b| {
            let mut c = a.clone();
            transpose(&transpose(b).eval()?).accumulate(Shorter).into(&mut c)?;
            Ok(c)
        }),
    ];
    compare("routes", &full(40, 30, route), |a| ewise_mult(a, a, Shorter).eval(), &routes);
    let tolls: [(&str, Two<Route, f64, Route>); 1] = [("two types", |a, b| ewise_mult(a, b, Tolled).eval())];
    compare("routes and numbers", &random(80, 30, 900, route), |a| a.with_value(2.5), &tolls);
    let less: [(&str, Two<u8, u8, bool>); 1] = [("another type", |a, b| ewise_mult(a, b, Lt).eval())];
    compare("bytes", &random(80, 30, 900, |v| v as u8), |a| apply_second(a, Plus, 200).eval(), &less);
    let both: [(&str, Two<bool, bool, bool>); 2] =
        [("land", |a, b| ewise_mult(a, b, Land).eval()), ("lxor", |a, b| ewise_add(a, b, Lxor).eval())];
    compare("booleans", &full(70, 50, |v| v % 3 == 0), |a| apply(a, Not).eval(), &both);
}

/// Vectors as an iterative solver has them.
#[test]
fn vectors_with_all_places() -> Result<()> {
    if emulator::cuda().is_none() {
        return Ok(());
    }
    let _counted = counted();
    let n = 5000;
    let steps = |device: &Device| -> Result<(Vec<(u64, f64)>, f64)> {
        let a: Matrix<f64> = Matrix::from_coo(&oplus::generate::stencil_5(50, 100)?)?.to(device)?;
        let b: Vector<f64> = Vector::build(n, &(0..n).map(|i| (i, (i % 13) as f64)).collect::<Vec<_>>())?.to(device)?;
        let weights: Vector<f64> = Vector::full(n, 0.125)?.to(device)?;
        let mut x: Vector<f64> = Vector::full(n, 1.0)?.to(device)?;
        for _ in 0..3 {
            let mut r = b.clone();
            mxv(&a, &x).accumulate(Minus).into(&mut r)?;
            ewise_mult(&weights, &r, Times).accumulate(Plus).into(&mut x)?;
        }
        Ok((x.entries()?, reduce(&ewise_mult(&x, &b, Times).eval()?, Plus)?))
    };
    // Sums of eighths: exact in any order.
    assert_eq!(steps(&GPU)?, steps(&Device::Reference)?);
    Ok(())
}
