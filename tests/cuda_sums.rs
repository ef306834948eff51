//! Sums on CUDA that are added up where they stand in the result: the least and the greatest of special values, in any order, and
//! sums of numbers below the normal ones.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/semirings.rs"]
mod semirings;

use common::emulator;
use oplus::prelude::*;
use semirings::Sample;

const COLUMNS: u64 = 60_000;
const INNER: u64 = 9;

/// Rows of B with more columns than a block has sums for in shared memory; values of every kind meet at most columns.
fn compare<T: Sample, S: Semiring<T, T, Out = T>>(value: impl Fn(u64) -> T, name: &str) {
    let (mut left, mut right) = (Coo::<T>::new(3, INNER), Coo::<T>::new(INNER, COLUMNS));
    for k in 0..INNER {
        for j in (k % 2..COLUMNS).step_by(4 + k as usize % 3) {
            right.push(k, j, value(k * k + j * (k + 1) / 3));
        }
        left.push(0, k, value(k));
        if k % 2 == 0 {
            left.push(2, k, value(k + 1));
        }
    }
    let a: Matrix<T, S> = Matrix::build_with(&left, First).unwrap();
    let b: Matrix<T, S> = Matrix::build_with(&right, First).unwrap();
    let expected = mxm(&a, &b).eval().unwrap().entries().unwrap();
    assert!(expected.len() > 60_000);
    let (a, b) = (a.to(&Device::Cuda(0)).unwrap(), b.to(&Device::Cuda(0)).unwrap());
    for strategy in [Strategy::Auto, Strategy::BitmapRank] {
        let found = mxm(&a, &b).strategy(strategy).eval().unwrap().entries().unwrap();
        assert_eq!(found.len(), expected.len(), "{name} by {strategy:?}");
        for (x, y) in found.iter().zip(&expected) {
            assert!(x.0 == y.0 && x.1 == y.1 && x.2.same(y.2), "{name} by {strategy:?}: {x:?} instead of {y:?}");
        }
    }
}

fn special<T: Sample>(n: u64) -> T {
    let all = T::special();
    all[n as usize % all.len()]
}

macro_rules! extremes { ($($t:ident)*) => {$(
    #[test]
    fn $t() {
        if emulator::cuda().is_some() {
            compare::<$t, MinSecond>(special, "min");
            compare::<$t, Compose<Max, Second>>(special, "max");
        }
    }
)*} }
extremes!(i32 u32 i64 u64 f32 f64);

#[test]
fn nothing_but_nan() {
    if emulator::cuda().is_some() {
        compare::<f64, MinSecond>(|_| f64::NAN, "min of NaN");
        compare::<f32, Compose<Max, Second>>(|_| f32::NAN, "max of NaN");
    }
}

/// Sums of so small numbers are exact in any order: all are a few of the least number there is, or of its double.
macro_rules! subnormal { ($($name:ident $t:ident $value:expr;)*) => {$(
    #[test]
    fn $name() {
        if emulator::cuda().is_some() {
            let value = $value;
            compare::<$t, PlusTimes>(value, "products");
            compare::<$t, PlusFirst>(|n| value(n) * value(3), "left factors");
            compare_pushed::<$t>(value);
        }
    }
)*} }
subnormal! {
    subnormal_f32 f32 |n: u64| (n % 13) as f32 * 2f32.powi(-74) - 6.0 * 2f32.powi(-74);
    subnormal_c32 c32 |n: u64| c32::new(((n % 13) as f32 - 6.0) * 2f32.powi(-74), (n % 5) as f32 * 2f32.powi(-74));
}

/// Vectors of few entries are pushed along the rows of A, of many they are pulled.
fn compare_pushed<T: Sample>(value: impl Fn(u64) -> T)
where
    PlusTimes: Semiring<T, T, Out = T>,
{
    let mut coo = Coo::<T>::new(2000, 300);
    (0..2000).for_each(|i| (0..300).step_by(1 + i as usize % 60).for_each(|j| coo.push(i, j, value(i + j))));
    let a: Matrix<T> = Matrix::build_with(&coo, First).unwrap();
    for step in [1, 2, 40, 900] {
        let entries: Vec<_> = (0..2000).step_by(step).map(|i| (i, value(i / 2 + 1))).collect();
        let x = Vector::<T>::build(2000, &entries).unwrap();
        let expected = vxm(&x, &a).eval().unwrap().entries().unwrap();
        let (x, a) = (x.to(&Device::Cuda(0)).unwrap(), a.to(&Device::Cuda(0)).unwrap());
        let turned = a.transposed();
        for found in [vxm(&x, &a).eval().unwrap(), mxv(&turned, &x).eval().unwrap()] {
            let found = found.entries().unwrap();
            assert_eq!(found.len(), expected.len());
            for (x, y) in found.iter().zip(&expected) {
                assert!(x.0 == y.0 && x.1.same(y.1), "one of {step}: {x:?} instead of {y:?}");
            }
        }
    }
}
