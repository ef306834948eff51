//! Products on the CPU with matrices that have an entry at every place, or few columns.
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

/// Where other words take over, with A of one value and of both, stored and not; sums that words make and others.
#[test]
fn booleans_of_every_width() {
    let shape = Shape::random((60, 50), 300, 3).with_row(7);
    let both = shape.matrix::<bool, PlusTimes>(|v| v % 3 != 0);
    let ones = apply(&both, Pair::<bool>::default()).eval().unwrap();
    let all = [both, ones, shape.matrix(|_| true), shape.matrix(|_| false)];
    for k in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130] {
        let full = Shape::full((50, k));
        let half = full.matrix::<bool, PlusTimes>(|v| v % 2 == 0);
        let one = apply(&half, Pair::<bool>::default()).eval().unwrap();
        for x in [half, full.matrix(|v| v == 7), full.matrix(|_| true), one] {
            for a in &all {
                let a = a.over();
                full::same::<LorLand, _, _>(Device::Cpu, &a, &x.over());
                full::same::<LandLor, _, _>(Device::Cpu, &a, &x.over());
                full::same::<Compose<Lor, First>, _, _>(Device::Cpu, &a, &x.over());
                full::same::<Compose<Land, Second>, _, _>(Device::Cpu, &a, &x.over());
                full::same::<Compose<Lor, Lxor>, _, _>(Device::Cpu, &a, &x.over());
                full::same::<LxorLand, _, _>(Device::Cpu, &a, &x.over());
            }
        }
        let x = full.matrix::<bool, LorLand>(|v| v % 2 == 0);
        let said = |said: Explanation| said.to_string().contains("words of booleans");
        assert!(said(mxm(&all[0].over::<LorLand>(), &x).explain().unwrap()));
        assert!(!said(mxm(&all[0].over::<LxorLand>(), &x.over()).explain().unwrap()));
        let limited = mxm(&all[0].over::<LorLand>(), &x).memory_limit(1 << 30).eval().unwrap();
        assert_eq!(limited, mxm(&all[0].over::<LorLand>(), &x).eval().unwrap());
    }
}

/// 64 columns are a word where positions are all there is to know.
#[test]
fn few_columns_over_positions_alone() {
    let (mut taken, mut said) = (0, 0);
    for (round, k) in [1, 3, 63, 64, 65, 130].into_iter().cycle().enumerate().take(24) {
        let seed = round as u64;
        let a = Shape::random((150, 120), 3000, seed).with_row(seed).matrix::<bool, LorLand>(|_| true);
        let x = Shape::random((120, k), k * [3, 40][round % 2], seed + 1).matrix::<bool, LorLand>(|_| true);
        let m = Shape::random((150, k), 60 * k, seed + 2).matrix::<bool, LorLand>(|_| true);
        let cells = m.to_format(Format::Bitmap).unwrap();
        let masks = [&m, &cells].map(|m| [m.structure(), m.structure().complement()]);
        let masks = [None].into_iter().chain(masks.iter().flatten().map(Some));
        for (n, mask) in masks.enumerate() {
            let products = |device: Device| {
                let [a, x] = [&a, &x].map(|a| a.to(&device).unwrap());
                let (at, xt) = (transpose(&a).eval().unwrap().over(), transpose(&x).eval().unwrap().over());
                macro_rules! under {
                    ($c:expr) => {
                        if let Some(m) = mask { $c.mask(m) } else { $c }
                    };
                }
                let made = [
                    under!(mxm(&a, &x)),
                    under!(mxm(&at, &x)).transpose_a(),
                    under!(mxm(&a, &xt)).transpose_b(),
                    under!(mxm(&a, &x)).memory_limit(1 << 30),
                ];
                made.map(|c| (c.explain().unwrap().analysis.bins, c.eval().unwrap().entries().unwrap()))
            };
            let ours = products(Device::Cpu);
            // A mask is where the product is.
            let expected = {
                let entries = mxm(&a.to(&Device::Reference).unwrap(), &x.to(&Device::Reference).unwrap());
                let admitted = |e: &(u64, u64, bool)| n == 0 || (m.get(e.0, e.1).unwrap().is_some() == (n % 2 == 1));
                entries.eval().unwrap().entries().unwrap().into_iter().filter(admitted).collect::<Vec<_>>()
            };
            for (way, (bins, entries)) in ours.iter().enumerate() {
                assert_eq!(*entries, expected, "{k} columns, mask {n}, way {way}");
                let words = bins.iter().any(|b| b.name == "bits" && b.about.starts_with("64 columns"));
                assert!(!words || way < 3);
                (taken, said) = (taken + words as usize, said + 1);
            }
        }
    }
    assert!(taken > said / 3, "{taken} of {said}");
}
