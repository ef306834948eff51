//! O: what operators make of values where SuiteSparse's differ or say nothing (`tests/conformance/README.md`).
use crate::kit::*;
use oplus::prelude::*;
use std::f64::consts::{E, FRAC_PI_4, LN_2};

/// f(x, y) of each pair, on the device.
fn of_pairs<T: Scalar, F: BinaryOp<T, T, Out = T>>(d: Device, pairs: &[(T, T)], f: F) -> Vec<T> {
    let side = |values: Vec<T>| {
        let entries: Vec<_> = values.into_iter().enumerate().map(|(i, v)| (i as u64, v)).collect();
        vector(d, entries.len() as u64, &entries)
    };
    let (x, y) = pairs.iter().copied().unzip();
    made_vector(ewise_mult(&side(x), &side(y), f)).into_iter().map(|(_, v)| v).collect()
}

fn of_one<T: Scalar, F: UnaryOp<T, Out = T>>(d: Device, x: T, f: F) -> T {
    made_vector(apply(&vector(d, 1, &[(0, x)]), f))[0].1
}

#[test]
fn o1_powers_of_integers_are_exact_up_to_the_ends() {
    each(|d| {
        let (low, high) = (i64::MIN, i64::MAX);
        let pairs =
            [(3, 39), (-3, 39), (3, 40), (-3, 41), (10, 18), (2, -1), (-1, -3), (1, -9), (0, -1), (0, 0), (low, 1)];
        // 3³⁹ is beyond what a double has.
        let odd = 4_052_555_153_018_976_267;
        let expected = [odd, -odd, high, low, 1_000_000_000_000_000_000, 0, -1, 1, high, 1, low];
        assert_eq!(of_pairs(d, &pairs, Pow), expected);
    });
}

#[test]
fn o2_exponents_of_ldexp_are_cut() {
    each(|d| {
        let pairs = [(1.0, 2.9), (1.0, -2.9), (3.0, f64::NAN), (1.0, 1e300), (-1.0, f64::INFINITY), (1.0, -1e300)];
        assert_eq!(of_pairs(d, &pairs, Ldexp), [4.0, 0.25, 3.0, f64::INFINITY, f64::NEG_INFINITY, 0.0]);
    });
}

#[test]
fn o3_elementary_functions_are_near() {
    fn near<F: UnaryOp<f64, Out = f64>>(d: Device, x: f64, f: F, expected: f64) {
        let found = of_one(d, x, f);
        assert!((found - expected).abs() <= 16.0 * f64::EPSILON * expected.abs(), "{found}, not {expected}");
    }
    each(|d| {
        near(d, 1.0, Exp, E);
        near(d, 2.0, Log, LN_2);
        near(d, 1.0, Atan, FRAC_PI_4);
        near(d, 1.0, Erf, 0.842_700_792_949_714_9);
        near(d, 5.0, Tgamma, 24.0);
    });
}

#[test]
fn o4_functions_of_complex_infinities_by_parts() {
    let infinite = c64::new(f64::INFINITY, 0.0);
    each(|d| {
        // ∞ · 0 is NaN, where annex G of C99 has 0.
        let sinh = of_one(d, infinite, Sinh);
        assert!(sinh.re == f64::INFINITY && sinh.im.is_nan(), "{sinh}");
        let cosh = of_one(d, infinite, Cosh);
        assert!(cosh.re == f64::INFINITY && cosh.im.is_nan(), "{cosh}");
        // 0 · cos(∞) too.
        let exp = of_one(d, c64::new(f64::NEG_INFINITY, f64::INFINITY), Exp);
        assert!(exp.re.is_nan() && exp.im.is_nan(), "{exp}");
    });
}

#[test]
fn o5_products_of_complex_infinities_by_parts() {
    let (infinite, one) = (c64::new(f64::INFINITY, f64::INFINITY), c64::new(1.0, 0.0));
    each(|d| {
        // (∞ + ∞i)(1 + 0i) = (∞ − ∞ · 0) + (∞ · 0 + ∞)i, where annex G of C99 has ∞ + ∞i.
        let by_hand = |z: c64| assert!(z.re.is_nan() && z.im.is_nan(), "{z}");
        by_hand(of_pairs(d, &[(infinite, one)], Times)[0]);
        by_hand(made(mxm(&matrix(d, (1, 1), &[(0, 0, infinite)]), &matrix(d, (1, 1), &[(0, 0, one)])))[0].2);
    });
}

#[test]
fn o6_places_are_u64_and_those_of_vectors_columns() {
    each(|d| {
        let a = matrix(d, (3, 3), &[(2, 1, 1.0)]);
        let firsts: Vec<(u64, u64, u64)> =
            made(mxm(&a.over::<Compose<Max, FirstI>>(), &matrix(d, (3, 1), &[(1, 0, 1.0)]).over()));
        assert_eq!(firsts, [(2, 0, 2)]);
        let x = vector(d, 9, &[(4, 1.0)]);
        assert_eq!(made_vector(apply_index(&x, ColIndex, 0)), [(4, 4)]);
        assert_eq!(made_vector(apply_index(&x, RowIndex, 0)), [(4, 0)]);
    });
}

/// Whatever comes before what, and beside ±∞ and zeros of either sign, which are equal.
#[test]
fn o7_nan_comes_last_in_sorted_rows() {
    let (nan, infinity) = (f64::NAN, f64::INFINITY);
    let values = [nan, 0.0, infinity, -0.0, nan, -1.0, -infinity, -0.0];
    let sorted = |d: Device, made: oplus::Result<(Vector<f64>, Vector<u64>)>, expected: [u64; 8]| {
        let (sorted, places) = made.unwrap();
        assert_eq!(places.entries().unwrap(), (0..8).zip(expected).collect::<Vec<_>>(), "{d}");
        let bits = |x: f64| if x.is_nan() { nan.to_bits() } else { x.to_bits() };
        let found: Vec<_> = sorted.entries().unwrap().into_iter().map(|(i, x)| (i, bits(x))).collect();
        assert_eq!(found, (0..8).zip(expected.map(|p| bits(values[p as usize]))).collect::<Vec<_>>(), "{d}");
    };
    each(|d| {
        let x = vector(d, 8, &(0..8).zip(values).collect::<Vec<_>>());
        sorted(d, sort(&x, Lt), [6, 5, 1, 3, 7, 2, 0, 4]);
        sorted(d, sort(&x, Gt), [2, 1, 3, 7, 5, 6, 0, 4]);
    });
}
