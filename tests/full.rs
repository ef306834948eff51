//! Products on the CPU with matrices that have an entry at every place.
#[path = "common/full.rs"]
mod full;

use full::{Shape, uneven};
use oplus::prelude::*;

#[test]
fn every_number_of_columns() {
    full::every_number_of_columns(Device::Cpu);
}

#[test]
fn every_kind_of_semiring() {
    full::every_kind_of_semiring(Device::Cpu);
}

#[test]
fn from_the_left() {
    full::every_kind_of_semiring_from_the_left(Device::Cpu);
}

/// Sums run in the order of k and begin with the first product: to the bit, zeros and NaN too.
#[test]
fn sums_have_the_bits_of_the_reference() {
    let some = |v: u64| match v % 17 {
        3 => -0.0,
        5 => f64::NAN,
        7 => f64::NEG_INFINITY,
        _ => 1.0 / (v as f64 + 0.7) - 0.2,
    };
    fn bits<S: Semiring<f64, f64, Out = f64>>(device: Device, a: &Matrix<f64>, x: &Matrix<f64>) -> Vec<u64> {
        let number = |v: f64| if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() };
        full::product::<S, _, _>(device, a, x)[0].iter().map(|(_, _, v)| number(*v)).collect()
    }
    let a = uneven().matrix::<f64, _>(some);
    for k in [3, 8, 20] {
        let x = Shape::full((4300, k)).matrix::<f64, _>(some);
        assert!(bits::<PlusTimes>(Device::Cpu, &a, &x) == bits::<PlusTimes>(Device::Reference, &a, &x), "{k}");
        assert!(bits::<MinPlus>(Device::Cpu, &a, &x) == bits::<MinPlus>(Device::Reference, &a, &x), "{k}");
    }
}

#[test]
fn what_runs_is_what_is_explained() {
    let (a, x) = (uneven().matrix::<i64, PlusTimes>(|v| v as i64), Shape::full((4300, 6)).matrix(|v| v as i64));
    let said = mxm(&a, &x).explain().unwrap().to_string();
    assert!(said.contains("B has an entry at every place"), "{said}");
    // However it is stored.
    let dense = x.to_format(Format::Full).unwrap();
    assert_eq!(mxm(&a, &dense).eval().unwrap(), mxm(&a, &x).eval().unwrap());
    // All columns, in the rows of A that have entries.
    assert_eq!(mxm(&a, &x).eval().unwrap().nvals(), 6 * reduce_rows(&a, Plus).eval().unwrap().nvals());
}
