//! Matrices by columns, cells and diagonals on CUDA, emulated or real: made there, taken there and back, and what is done without a list.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/held.rs"]
mod held;
#[path = "common/random.rs"]
mod random;
#[path = "common/scalars.rs"]
mod scalars;

use common::emulator;
use held::*;
use oplus::backend::cuda::Context;
use oplus::prelude::*;
use random::Rng;
use scalars::{Point, Rgb, Route};

/// Made on the device and taken there, of values of their own and of one value: of the shapes one in `every`.
fn there_and_back<T: Scalar>(every: usize, value: impl Fn(u64) -> T) {
    for shape in shapes().into_iter().step_by(every) {
        for one in [false, true] {
            let a = made(&shape, |e| value(if one { 3 } else { e }));
            let expected = contents(&a);
            let full = a.nvals() == shape.0 * shape.1;
            for format in OTHERS.into_iter().chain([Format::Full, Format::Hypersparse]) {
                let asked = (&shape.0, &shape.1, a.nvals(), format, one);
                if format == Format::Full && !full {
                    let refused = a.to(&GPU).unwrap().to_format(format);
                    assert!(matches!(refused, Err(Error::InvalidValue { operation: "to_format", .. })), "{asked:?}");
                    continue;
                }
                let here = a.to_format(format).unwrap();
                let formed = a.to(&GPU).unwrap().to_format(format).unwrap();
                for on in [here.to(&GPU).unwrap(), formed] {
                    assert_eq!((on.format(), on.is_iso()), (here.format(), a.is_iso()), "{asked:?}");
                    if full && matches!(format, Format::Bitmap | Format::Full) && !a.is_iso() && on.nvals() > 0 {
                        // A value each and nothing else.
                        assert_eq!(on.memory_bytes(), on.nvals() * size_of::<T>() as u64, "{asked:?}");
                    }
                    let back = on.to(&Device::Cpu).unwrap();
                    assert_eq!((back.format(), back.is_iso()), (here.format(), a.is_iso()), "{asked:?}");
                    assert_eq!(contents(&back), expected, "{asked:?}");
                    // A list made there of what was never one here.
                    assert_eq!(contents(&on), expected, "{asked:?}");
                    let mask = on.structure();
                    assert_eq!(contents(&apply(&on, Identity).mask(&mask).eval().unwrap()), expected, "{asked:?}");
                    for again in OTHERS.into_iter().chain([Format::Csr]) {
                        let other = on.to_format(again).unwrap();
                        assert_eq!(contents(&other), expected, "{asked:?} then {again:?}");
                    }
                    let turned = transpose(&on).eval().unwrap();
                    assert_eq!(contents(&turned), contents(&transpose(&a).eval().unwrap()), "{asked:?}");
                }
            }
        }
    }
}

#[test]
fn there_and_back_of_any_scalar() {
    if emulator::cuda().is_none() {
        return;
    }
    there_and_back(4, |e| e % 3 == 0);
    there_and_back(1, |e| e as i64 * 7 - 9);
    there_and_back(3, |e| Rgb::make(e as u8, 1, !e as u8));
    there_and_back(3, |e| Route::make(e as f64, e, 5, -1));
    there_and_back(4, |e| Point::make(e as f32, 0.5, -(e as f32)));
}

/// More cells than a block has, in few rows and in many, more diagonals than a warp has, with gaps, and empty stretches.
fn large_shapes() -> Vec<(u64, u64, Places)> {
    let mut random = Rng(11);
    let mut all = Vec::new();
    for (m, n) in [(70u64, 150u64), (9000, 1), (2, 9001), (40, 700), (700, 40), (130, 131)] {
        let cells = || (0..m).flat_map(move |i| (0..n).map(move |j| (i, j)));
        all.push((m, n, cells().filter(|_| random.below(4) > 0).collect()));
        all.push((m, n, cells().filter(|(i, j)| (i * n + j) % 4999 < 300 && j % 3 > 0).collect()));
        all.push((m, n, cells().filter(|(i, j)| i % 37 == 5 || i + 600 < *j).collect()));
    }
    let near = |far: u64| {
        (0..3 * far)
            .flat_map(move |i| [i.checked_sub(far), i.checked_sub(1), Some(i), Some(i + far)].map(move |j| (i, j)))
    };
    all.extend([7u64, 50].map(|far| {
        (3 * far, 3 * far, near(far).filter_map(|(i, j)| Some((i, j?))).filter(|(_, j)| *j < 3 * far).collect())
    }));
    all
}

fn large_there_and_back<T: Scalar>(every: usize, value: impl Fn(u64) -> T) {
    for shape in large_shapes().into_iter().step_by(every) {
        for one in [false, true] {
            let a = made(&shape, |e| value(if one { 3 } else { e }));
            let expected = contents(&a);
            for format in [Format::Bitmap, Format::Dia] {
                let on = a.to(&GPU).unwrap().to_format(format).unwrap();
                let back = on.to(&Device::Cpu).unwrap();
                assert!(contents(&back) == expected, "{} {} {format:?} {one}", shape.0, shape.1);
                // The values of positions that are known, and both at once.
                for known in [false, true] {
                    let came = back.to(&GPU).unwrap();
                    assert_eq!(came.format(), format);
                    let made = match known {
                        false => came.to_format(Format::Csr).unwrap(),
                        true => apply(&came, Identity).mask(&came.structure()).eval().unwrap(),
                    };
                    assert!(contents(&made) == expected, "{} {} {format:?} {one} {known}", shape.0, shape.1);
                }
            }
        }
    }
}

#[test]
fn blocks_and_warps_meet() {
    if emulator::cuda().is_none() {
        return;
    }
    large_there_and_back(emulator::every(2), |e| e as f64 - 7.5);
    large_there_and_back(5, |e| Rgb::make(e as u8, 1, !e as u8));
    large_there_and_back(5, |e| c64::new(e as f64, -1.0));
    large_there_and_back(5, |e| Route::make(e as f64, e, 5, -1));
}

#[test]
fn elements_are_found_and_set_where_they_lie() {
    if emulator::cuda().is_none() {
        return;
    }
    let context = Context::get(0).unwrap();
    let a = made(&shapes()[28], |e| e as i32 * 3 - 40);
    let (m, n) = a.shape();
    for format in OTHERS {
        let mut on = a.to(&GPU).unwrap().to_format(format).unwrap();
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).step_by(7) {
            assert_eq!(on.get(i, j).unwrap(), a.get(i, j).unwrap(), "{format:?} {i} {j}");
        }
        let shared = on.clone();
        let (i, j, old) = a.entries().unwrap()[17];
        on.set(i, j, 1000).unwrap();
        assert_eq!((on.get(i, j).unwrap(), shared.get(i, j).unwrap()), (Some(1000), Some(old)));
        if format != Format::Csc {
            let mut own = a.to(&GPU).unwrap().to_format(format).unwrap();
            let ((), launches) = context.trace(|| own.set(i, j, 1000)).unwrap();
            assert!(launches.is_empty() && own.format() == format, "{launches:?}");
            assert_eq!(contents(&own), contents(&on));
        }
        let (i, j) =
            (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).find(|p| a.get(p.0, p.1).unwrap().is_none()).unwrap();
        on.set(i, j, 2000).unwrap();
        on.remove(a.entries().unwrap()[3].0, a.entries().unwrap()[3].1).unwrap();
        let mut expected = a.clone();
        expected.set(a.entries().unwrap()[17].0, a.entries().unwrap()[17].1, 1000).unwrap();
        expected.set(i, j, 2000).unwrap();
        expected.remove(a.entries().unwrap()[3].0, a.entries().unwrap()[3].1).unwrap();
        assert_eq!(contents(&on), contents(&expected), "{format:?}");
    }
}

#[test]
fn columns_turn_for_nothing_and_serve_products_from_the_left() {
    if emulator::cuda().is_none() {
        return;
    }
    let context = Context::get(0).unwrap();
    let a = made(&shapes()[28], |e| e as f64 - 7.5).to(&GPU).unwrap().to_format(Format::Csc).unwrap();
    let (turned, kernels) = ran(&context, || transpose(&a).eval());
    assert!(kernels.is_empty(), "{kernels:?}");
    assert_eq!(contents(&turned), contents(&transpose(&a.to(&Device::Cpu).unwrap()).eval().unwrap()));
    let x = Vector::<f64>::full(a.nrows(), 2.0).unwrap().to(&GPU).unwrap();
    let (y, kernels) = ran(&context, || vxm(&x, &a).eval());
    assert!(kernels.iter().all(|k| !k.contains("transpose") && !k.contains("partition")), "{kernels:?}");
    let expected = vxm(&x.to(&Device::Cpu).unwrap(), &a.to(&Device::Cpu).unwrap()).reproducible().eval().unwrap();
    assert_eq!(y.entries().unwrap(), expected.entries().unwrap());
    // Of what came by columns rows are made once.
    let came = a.to(&Device::Cpu).unwrap().to(&GPU).unwrap();
    let (c, kernels) = ran(&context, || mxm(&came, &turned).transpose_a().transpose_b().eval());
    assert!(!kernels.is_empty());
    let expected = mxm(&turned, &came).transpose_a().transpose_b().eval().unwrap();
    assert_eq!(
        contents(&transpose(&c).eval().unwrap()),
        contents(&transpose(&c.to(&Device::Cpu).unwrap()).eval().unwrap())
    );
    assert_eq!(expected.shape(), c.shape());
}

/// What is made full is that by itself, and a transpose moves values alone.
#[test]
fn full_matrices_stay_full() {
    if emulator::cuda().is_none() {
        return;
    }
    fn check<T: Scalar>(context: &std::sync::Arc<Context>, value: impl Fn(u64) -> T) {
        for (m, n) in [(70u64, 90u64), (2, 4100), (4100, 3), (64, 128)] {
            let cells = (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).collect();
            let a = made(&(m, n, cells), &value);
            let on = a.to(&GPU).unwrap().to_format(Format::Csr).unwrap();
            let same = apply(&on, Identity).eval().unwrap();
            assert_eq!((on.format(), same.format()), (Format::Csr, Format::Full));
            let (turned, kernels) = ran(context, || transpose(&same).eval());
            assert!(kernels == ["entries_turned"] || (a.is_iso() && kernels.is_empty()), "{kernels:?}");
            assert_eq!((turned.format(), turned.is_iso()), (Format::Full, a.is_iso()));
            let expected = transpose(&a).eval().unwrap();
            assert_eq!(contents(&turned), contents(&expected));
            assert_eq!(turned.into_full(value(0)).unwrap(), expected.into_full(value(0)).unwrap());
        }
    }
    let context = Context::get(0).unwrap();
    check(&context, |e| e as i64 * 3);
    check(&context, |_| 5i32);
    check(&context, |e| e as u8);
    check(&context, |e| Route::make(e as f64, e, 5, -1));
    // As a factor of a product, turned or not.
    let places = |m: u64, n: u64| {
        (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| (i * 7 + j * 3) % 11 == 0).collect()
    };
    let (a, x) =
        (made(&(300, 200, places(300, 200)), |e| e as i64 - 90), made(&(20, 200, places(20, 20)), |e| e as i64));
    let full = Matrix::<i64>::full(x.nrows(), x.ncols(), 1).unwrap();
    let full = ewise_add(&x, &full, Plus).eval().unwrap();
    let c = mxm(&a.to(&GPU).unwrap(), &full.to(&GPU).unwrap()).transpose_b().eval().unwrap();
    assert_eq!(c.format(), Format::Full);
    assert_eq!(contents(&c), contents(&mxm(&a, &full).transpose_b().eval().unwrap()));
}

/// Diagonals turn slot by slot, with their bits, where the transpose is not flat; columns are made of the same.
#[test]
fn diagonals_turn_slot_by_slot() {
    if emulator::cuda().is_none() {
        return;
    }
    let context = Context::get(0).unwrap();
    fn check<T: Scalar>(context: &std::sync::Arc<Context>, every: usize, value: impl Fn(u64) -> T) {
        for shape in large_shapes().into_iter().chain(shapes()).step_by(every) {
            for one in [false, true] {
                let a = made(&shape, |e| value(if one { 3 } else { e }));
                let expected = contents(&transpose(&a).eval().unwrap());
                let on = a.to(&GPU).unwrap().to_format(Format::Dia).unwrap();
                let (turned, kernels) = ran(context, || transpose(&on).eval());
                let flat = shape.1 > 2 * shape.0;
                assert_eq!((contents(&turned), turned.is_iso()), (expected, a.is_iso()), "{shape:?} {kernels:?}");
                let told = flat || kernels.is_empty() || kernels == ["diagonals_turned"];
                assert!(told && (flat || turned.format() == Format::Dia), "{shape:?} {kernels:?}");
                let (columns, kernels) = ran(context, || on.to_format(Format::Csc));
                assert_eq!(
                    (columns.format(), contents(&columns), columns.is_iso()),
                    (Format::Csc, contents(&a), a.is_iso())
                );
                assert!(flat || kernels.iter().all(|k| !k.starts_with("transpose")), "{kernels:?}");
            }
        }
    }
    check(&context, emulator::every(4), |e| e as f64 - 7.5);
    check(&context, emulator::sized(3, 5), |e| e % 3 == 0);
    check(&context, emulator::sized(5, 7), |e| c64::new(e as f64, -1.0));
    check(&context, emulator::sized(7, 9), |e| Route::make(e as f64, e, 5, -1));
}

#[test]
fn what_cannot_be_is_told() {
    if emulator::cuda().is_none() {
        return;
    }
    let large: Matrix<f64> = Matrix::build(1 << 20, 1 << 20, &[(3, 5, 1.0), (3, 7, 2.0)]).unwrap();
    let on = large.to(&GPU).unwrap();
    for format in [Format::Bitmap, Format::Full] {
        let error = on.to_format(format).unwrap_err();
        assert!(
            matches!(&error, Error::OutOfMemory { device, needed, .. } if device == "cuda:0" && *needed > 1 << 43),
            "{error}"
        );
    }
    assert_eq!(on.to_format(Format::Dia).unwrap().entries().unwrap(), large.entries().unwrap());
    let huge: Matrix<f64> = Matrix::build(1 << 40, 1 << 40, &[(1 << 39, 7, 1.0), (5, 1 << 35, 2.0)]).unwrap();
    let huge = huge.to(&GPU).unwrap();
    assert!(matches!(huge.to_format(Format::Dia), Err(Error::IndexOverflow { value, .. }) if value == 1 << 40));
    let columns = huge.to_format(Format::Csc).unwrap();
    assert_eq!((columns.format(), columns.entries().unwrap()), (Format::Csc, huge.entries().unwrap()));
    assert_eq!(transpose(&columns).eval().unwrap().get(7, 1 << 39).unwrap(), Some(1.0));
    assert_eq!(columns.to(&Device::Cpu).unwrap().format(), Format::Csc);
}
