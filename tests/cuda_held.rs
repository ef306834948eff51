//! Matrices by columns, cells and diagonals on CUDA, emulated or real: made there, taken there and back, and what is done without a list.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;
#[path = "common/scalars.rs"]
mod scalars;

use common::emulator;
use oplus::backend::cuda::Context;
use oplus::prelude::*;
use random::Rng;
use scalars::{Point, Rgb, Route};

const GPU: Device = Device::Cuda(0);
const OTHERS: [Format; 3] = [Format::Csc, Format::Bitmap, Format::Dia];

type Places = Vec<(u64, u64)>;

/// Shapes whose cells end inside a word and at its end, wide, tall and empty ones, bands and what is nearly full.
fn shapes() -> Vec<(u64, u64, Places)> {
    let mut random = Rng(7);
    let mut all = Vec::new();
    for (m, n) in [(1u64, 1u64), (5, 7), (32, 4), (3, 300), (400, 3), (64, 64), (33, 31)] {
        let cells = || (0..m).flat_map(move |i| (0..n).map(move |j| (i, j)));
        all.push((m, n, cells().collect()));
        all.push((m, n, cells().filter(|(i, j)| i.abs_diff(*j) < 2).collect()));
        all.push((m, n, cells().filter(|(i, j)| i + 3 == *j || *i == j + 2 && j % 2 == 0).collect()));
        all.push((m, n, cells().filter(|_| random.below(3) > 0).collect()));
        all.push((m, n, Places::new()));
    }
    all.extend([(0, 4, Places::new()), (6, 0, Places::new())]);
    all
}

fn made<T: Scalar>((m, n, places): &(u64, u64, Places), value: impl Fn(u64) -> T) -> Matrix<T> {
    let entries: Vec<_> = places.iter().enumerate().map(|(e, (i, j))| (*i, *j, value(e as u64))).collect();
    Matrix::build(*m, *n, &entries).unwrap()
}

fn text<T: Scalar>(a: &Matrix<T>) -> String {
    format!("{:?} {} {:?}", a.shape(), a.nvals(), a.entries().unwrap())
}

/// Made on the device and taken there, of values of their own and of one value: of the shapes one in `every`.
fn there_and_back<T: Scalar>(every: usize, value: impl Fn(u64) -> T) {
    for shape in shapes().into_iter().step_by(every) {
        for one in [false, true] {
            let a = made(&shape, |e| value(if one { 3 } else { e }));
            let expected = text(&a);
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
                    assert_eq!(text(&back), expected, "{asked:?}");
                    // A list made there of what was never one here.
                    assert_eq!(text(&on), expected, "{asked:?}");
                    let mask = on.structure();
                    assert_eq!(text(&apply(&on, Identity).mask(&mask).eval().unwrap()), expected, "{asked:?}");
                    for again in OTHERS.into_iter().chain([Format::Csr]) {
                        let other = on.to_format(again).unwrap();
                        assert_eq!(text(&other), expected, "{asked:?} then {again:?}");
                    }
                    let turned = transpose(&on).eval().unwrap();
                    assert_eq!(text(&turned), text(&transpose(&a).eval().unwrap()), "{asked:?}");
                }
            }
        }
    }
}

#[test]
fn there_and_back_of_any_scalar() {
    let Some(_one) = emulator::alone() else { return };
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
            let expected = text(&a);
            for format in [Format::Bitmap, Format::Dia] {
                let on = a.to(&GPU).unwrap().to_format(format).unwrap();
                let back = on.to(&Device::Cpu).unwrap();
                assert!(text(&back) == expected, "{} {} {format:?} {one}", shape.0, shape.1);
                // The values of positions that are known, and both at once.
                for known in [false, true] {
                    let came = back.to(&GPU).unwrap();
                    assert_eq!(came.format(), format);
                    let made = match known {
                        false => came.to_format(Format::Csr).unwrap(),
                        true => apply(&came, Identity).mask(&came.structure()).eval().unwrap(),
                    };
                    assert!(text(&made) == expected, "{} {} {format:?} {one} {known}", shape.0, shape.1);
                }
            }
        }
    }
}

#[test]
fn blocks_and_warps_meet() {
    let Some(_one) = emulator::alone() else { return };
    large_there_and_back(1, |e| e as f64 - 7.5);
    large_there_and_back(5, |e| Rgb::make(e as u8, 1, !e as u8));
    large_there_and_back(5, |e| c64::new(e as f64, -1.0));
    large_there_and_back(5, |e| Route::make(e as f64, e, 5, -1));
}

#[test]
fn elements_are_found_and_set_where_they_lie() {
    let Some(_one) = emulator::alone() else { return };
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
            assert_eq!(text(&own), text(&on));
        }
        let (i, j) =
            (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).find(|p| a.get(p.0, p.1).unwrap().is_none()).unwrap();
        on.set(i, j, 2000).unwrap();
        on.remove(a.entries().unwrap()[3].0, a.entries().unwrap()[3].1).unwrap();
        let mut expected = a.clone();
        expected.set(a.entries().unwrap()[17].0, a.entries().unwrap()[17].1, 1000).unwrap();
        expected.set(i, j, 2000).unwrap();
        expected.remove(a.entries().unwrap()[3].0, a.entries().unwrap()[3].1).unwrap();
        assert_eq!(text(&on), text(&expected), "{format:?}");
    }
}

/// Which kernels ran.
fn ran<R>(context: &std::sync::Arc<Context>, work: impl FnOnce() -> oplus::Result<R>) -> (R, Vec<String>) {
    let (made, launches) = context.trace(work).unwrap();
    (made, launches.into_iter().map(|l| l.kernel.to_string()).collect())
}

#[test]
fn columns_turn_for_nothing_and_serve_products_from_the_left() {
    let Some(_one) = emulator::alone() else { return };
    let context = Context::get(0).unwrap();
    let a = made(&shapes()[28], |e| e as f64 - 7.5).to(&GPU).unwrap().to_format(Format::Csc).unwrap();
    let (turned, kernels) = ran(&context, || transpose(&a).eval());
    assert!(kernels.is_empty(), "{kernels:?}");
    assert_eq!(text(&turned), text(&transpose(&a.to(&Device::Cpu).unwrap()).eval().unwrap()));
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
    assert_eq!(text(&transpose(&c).eval().unwrap()), text(&transpose(&c.to(&Device::Cpu).unwrap()).eval().unwrap()));
    assert_eq!(expected.shape(), c.shape());
}

/// What is made full is that by itself, and a transpose moves values alone.
#[test]
fn full_matrices_stay_full() {
    let Some(_one) = emulator::alone() else { return };
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
            assert_eq!(text(&turned), text(&expected));
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
    assert_eq!(text(&c), text(&mxm(&a, &full).transpose_b().eval().unwrap()));
}

/// Slots meet slots: nothing is listed, and the result has cells again.
#[test]
fn cells_meet_cells() {
    let Some(_one) = emulator::alone() else { return };
    let context = Context::get(0).unwrap();
    let only = |kernels: &[String], names: &[&str]| {
        assert!(kernels.iter().all(|k| names.iter().any(|n| k.starts_with(n))), "{kernels:?}");
    };
    let slots = ["cells_union", "pair_apply", "words_met", "scan", "map_", "entries_fill"];
    for (p, q) in [(25, 28), (28, 25), (28, 28), (25, 25), (28, 29), (0, 0), (8, 5), (33, 30)] {
        let (p, q) = (&shapes()[p], &shapes()[q]);
        let other = |(m, n, places): &(u64, u64, Places)| {
            (*m, *n, places.iter().copied().filter(|(i, j)| (i * 3 + j) % 5 > 0).collect())
        };
        for (p, q) in [(p.clone(), q.clone()), (p.clone(), other(q)), (other(p), other(q))] {
            for kind in 0..4 {
                let value = |one: bool, e: u64| if one { 4 } else { e as i64 % 11 - 5 };
                let (a, b) = (made(&p, |e| value(kind & 1 > 0, e)), made(&q, |e| value(kind & 2 > 0, e)));
                let (x, y) = (a.to_format(Format::Bitmap).unwrap(), b.to_format(Format::Bitmap).unwrap());
                let (x, y) = (x.to(&GPU).unwrap(), y.to(&GPU).unwrap());
                let (c, kernels) = ran(&context, || ewise_add(&x, &y, Minus).eval());
                if kind == 0 && a.nvals() + b.nvals() > 2000 {
                    only(&kernels, &slots);
                    assert!(matches!(c.format(), Format::Bitmap | Format::Full));
                }
                assert_eq!(text(&c), text(&ewise_add(&a, &b, Minus).eval().unwrap()));
                let (c, kernels) = ran(&context, || ewise_add(&x, &y, Min).eval());
                if a.nvals() + b.nvals() > 2000 {
                    only(&kernels, &slots);
                }
                assert_eq!(text(&c), text(&ewise_add(&a, &b, Min).eval().unwrap()));
                let (c, kernels) = ran(&context, || ewise_mult(&x, &y, Lt).eval());
                if a.nvals().min(b.nvals()) > 2000 {
                    only(&kernels, &slots);
                    assert!(matches!(c.format(), Format::Bitmap | Format::Full));
                }
                assert_eq!(text(&c), text(&ewise_mult(&a, &b, Lt).eval().unwrap()));
                let (c, kernels) = ran(&context, || select(&x, ValueGt, -2).eval());
                if kind & 1 == 0 && a.nvals() > 2000 {
                    only(&kernels, &slots);
                    assert!(matches!(c.format(), Format::Bitmap | Format::Full));
                }
                let expected = select(&a, ValueGt, -2).eval().unwrap();
                assert_eq!(text(&c), text(&expected));
                // Cells that are left go on as cells.
                let (d, _) = ran(&context, || ewise_add(&c, &y, Plus).eval());
                assert_eq!(text(&d), text(&ewise_add(&expected, &b, Plus).eval().unwrap()));
                let (c, kernels) = ran(&context, || apply_second(&x, Times, 3).eval());
                only(&kernels, &slots);
                assert_eq!(c.format(), x.format());
                assert_eq!(text(&c), text(&apply_second(&a, Times, 3).eval().unwrap()));
                // What gives its operand back moves nothing.
                let (c, kernels) = ran(&context, || apply_second(&x, First, 3).eval());
                assert!(kernels.is_empty() && c.format() == x.format(), "{kernels:?}");
                assert_eq!(text(&c), text(&a));
                let many = |kernels: &[String]| {
                    if a.nvals() > 2000 {
                        only(kernels, &slots);
                    }
                };
                let (c, kernels) = ran(&context, || select(&x, Tril, 1).eval());
                many(&kernels);
                assert_eq!(text(&c), text(&select(&a, Tril, 1).eval().unwrap()));
                let (c, kernels) = ran(&context, || apply_index(&x, RowIndex, 3).eval());
                many(&kernels);
                assert_eq!(text(&c), text(&apply_index(&a, RowIndex, 3).eval().unwrap()));
                let (c, kernels) = ran(&context, || apply_index(&x, ColIndex, -1).eval());
                many(&kernels);
                assert_eq!(text(&c), text(&apply_index(&a, ColIndex, -1).eval().unwrap()));
            }
        }
    }
}

/// Cells are written into cells under masks of cells or rows, by values and structure: nothing is listed.
#[test]
fn cells_are_written_into_cells() {
    let Some(_one) = emulator::alone() else { return };
    let context = Context::get(0).unwrap();
    let slots = ["cells_", "pair_apply", "words_met", "scan", "map_", "bitmap_update", "reduce_all"];
    let mut random = Rng(5);
    let (m, n) = (61u64, 83u64);
    let mut some = |of: u64, full: bool, value: fn(u64) -> i64| {
        let cells = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
        made(&(m, n, cells.filter(|_| full || random.below(8) < of).collect()), value)
    };
    let value = |e: u64| e as i64 % 13 - 6;
    let none = some(0, false, value);
    let outputs = [none, some(5, false, value), some(0, true, value), some(4, false, |_| 4)];
    let inputs = [some(6, false, value), some(0, true, value), some(3, false, |_| 4)];
    let masks = [some(4, false, |e| e as i64 % 3), some(0, true, |e| e as i64 % 2)];
    let on = |a: &Matrix<i64>| a.to_format(Format::Bitmap).unwrap().to(&GPU).unwrap();
    for (o, c) in outputs.iter().enumerate() {
        for (i, t) in inputs.iter().enumerate() {
            for (k, mask) in masks.iter().enumerate() {
                for kind in 0..16 {
                    let write = |c: &mut Matrix<i64>, t: &Matrix<i64>, mask: &Matrix<i64>| {
                        let mask = if kind & 1 > 0 { mask.structure() } else { mask.as_mask() };
                        let mask = if kind & 2 > 0 { mask.complement() } else { mask };
                        let made = apply_second(t, First, 1).mask(&mask);
                        match kind >> 2 {
                            0 => made.into(c),
                            1 => made.replace().into(c),
                            2 => made.accumulate(Minus).into(c),
                            _ => made.accumulate(Min).replace().into(c),
                        }
                    };
                    let mut expected = c.clone();
                    write(&mut expected, t, mask).unwrap();
                    let (mut got, x, listed) = (on(c), on(t), mask.to(&GPU).unwrap());
                    let shared = got.clone();
                    let by = if kind & 1 > 0 && k == 0 && i == 0 { &listed } else { &on(mask) };
                    let ((), kernels) = ran(&context, || write(&mut got, &x, by));
                    let asked = (o, i, k, kind);
                    assert!(
                        kernels.iter().all(|k| slots.iter().any(|s| k.starts_with(s)) || o == 0),
                        "{asked:?} {kernels:?}"
                    );
                    assert_eq!(text(&got), text(&expected), "{asked:?}");
                    assert_eq!(text(&shared), text(c), "{asked:?}");
                    assert!(got.is_iso() || !expected.is_iso() || expected.nvals() < 2, "{asked:?}");
                }
            }
            // A value for what is missing, of another scalar.
            let (x, y) = (on(c), on(t));
            let (made, kernels) = ran(&context, || ewise_union(&x, -3, &y, 9, Lt).eval());
            assert!(kernels.iter().all(|k| slots.iter().any(|s| k.starts_with(s))) || o == 0, "{kernels:?}");
            assert_eq!(text(&made), text(&ewise_union(c, -3, t, 9, Lt).eval().unwrap()));
            let (turned, kernels) = ran(&context, || transpose(&y).eval());
            assert_eq!(turned.format(), y.format());
            assert!(kernels.iter().all(|k| ["cells_turned", "entries_turned"].contains(&k.as_str())), "{kernels:?}");
            assert_eq!(text(&turned), text(&transpose(t).eval().unwrap()));
            for turned in [false, true] {
                let rows = |a: &Matrix<i64>| match turned {
                    false => reduce_rows(a, Plus).eval(),
                    true => reduce_rows(a, Plus).transpose_a().eval(),
                };
                let (sums, kernels) = ran(&context, || rows(&on(t)));
                assert_eq!(sums.entries().unwrap(), rows(t).unwrap().entries().unwrap());
                assert!(i != 1 || kernels.iter().any(|k| k == "reduce_rows"), "{kernels:?}");
            }
            let (sum, kernels) = ran(&context, || reduce(&y, Plus));
            assert_eq!(sum, reduce(t, Plus).unwrap());
            assert!(i != 1 || kernels == ["reduce_all"], "{kernels:?}");
        }
    }
    // A few entries where they lie, under a mask of cells.
    for mask in &masks {
        for complement in [false, true] {
            let mut c = outputs[1].clone();
            let t = made(&(m, n, vec![(0, 3), (4, 5), (4, 6), (60, 82)]), |e| e as i64 + 100);
            let open = |mask: Mask| if complement { mask.complement() } else { mask };
            let mut got = on(&c);
            let (t_on, bits) = (t.to(&GPU).unwrap(), open(on(mask).structure()));
            apply(&t, Identity).mask(&open(mask.structure())).accumulate(Plus).into(&mut c).unwrap();
            let ((), kernels) = ran(&context, || apply(&t_on, Identity).mask(&bits).accumulate(Plus).into(&mut got));
            assert!(kernels.iter().all(|k| k == "bitmap_update"), "{kernels:?}");
            assert_eq!(text(&got), text(&c));
        }
    }
}

/// Windows of cells, and what is assigned to them: a value or other cells, under masks of all.
#[test]
fn parts_of_cells_stay_cells() {
    let Some(_one) = emulator::alone() else { return };
    let context = Context::get(0).unwrap();
    let mut random = Rng(9);
    let (m, n) = (47u64, 71u64);
    let mut some = |(m, n): (u64, u64), of: u64, value: fn(u64) -> i32| {
        let cells = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
        made(&(m, n, cells.filter(|_| of == 8 || random.below(8) < of).collect()), value)
    };
    let value = |e: u64| e as i32 % 17 - 8;
    let outputs = [some((m, n), 5, value), some((m, n), 8, value), some((m, n), 5, |_| 7), some((m, n), 8, |_| 4)];
    let masks = [None, Some(some((m, n), 4, value)), Some(some((m, n), 8, value))];
    let on = |a: &Matrix<i32>| a.to_format(Format::Bitmap).unwrap().to(&GPU).unwrap();
    let cells = |kernels: &[String]| {
        let names = ["cells_", "scan", "entries_turned"];
        assert!(kernels.iter().all(|k| names.iter().any(|n| k.starts_with(n))), "{kernels:?}");
    };
    for (rows, cols) in [(3..40, 5..70), (0..m, 0..n), (0..m, 7..9), (44..46, 0..n), (7..8, 9..10)] {
        let area = (rows.end - rows.start, cols.end - cols.start);
        let parts = [some(area, 5, value), some(area, 8, value), some(area, 3, |_| 7)];
        for (o, c) in outputs.iter().enumerate() {
            let x = on(c);
            let (taken, kernels) = ran(&context, || extract(&x, rows.clone(), cols.clone()).eval());
            let expected = extract(c, rows.clone(), cols.clone()).eval().unwrap();
            assert_eq!(text(&taken), text(&expected), "{o} {area:?}");
            if area.0 > 1 && area.1 > 1 {
                cells(&kernels);
                assert_eq!(taken.is_iso(), c.is_iso());
                let (again, _) = ran(&context, || ewise_add(&taken, &taken, Plus).eval());
                assert_eq!(text(&again), text(&ewise_add(&expected, &expected, Plus).eval().unwrap()));
            }
            for (k, mask) in masks.iter().enumerate() {
                for kind in 0..8 {
                    let open = |mask: &Matrix<i32>| {
                        let mask = mask.structure();
                        if kind & 1 > 0 { mask.complement() } else { mask }
                    };
                    for (source, t) in [None, Some(&parts[0]), Some(&parts[1]), Some(&parts[2])].into_iter().enumerate()
                    {
                        let write = |c: &mut Matrix<i32>, t: Option<&Matrix<i32>>, mask: Option<Mask>| {
                            macro_rules! end {
                                ($made:expr) => {{
                                    let made = $made;
                                    let made = if kind & 2 > 0 { made.replace() } else { made };
                                    let made = if let Some(mask) = &mask { made.mask(mask) } else { made };
                                    if kind & 4 > 0 { made.accumulate(Minus).into(c) } else { made.into(c) }
                                }};
                            }
                            match t {
                                None => end!(assign_scalar(7, rows.clone(), cols.clone())),
                                Some(t) => end!(assign(t, rows.clone(), cols.clone())),
                            }
                        };
                        let mut expected = c.clone();
                        write(&mut expected, t, mask.as_ref().map(open)).unwrap();
                        let (mut got, t) = (on(c), t.map(on));
                        let bits = mask.as_ref().map(|m| open(&if k == 1 { on(m) } else { m.to(&GPU).unwrap() }));
                        let ((), kernels) = ran(&context, || write(&mut got, t.as_ref(), bits));
                        let asked = (o, k, kind, source, area);
                        assert_eq!(text(&got), text(&expected), "{asked:?}");
                        assert!(kernels.iter().any(|k| k == "cells_write"), "{asked:?} {kernels:?}");
                    }
                }
            }
        }
    }
}

/// What is there is changed where it lies, and not for who shares it.
#[test]
fn entries_are_written_where_they_lie() {
    let Some(_one) = emulator::alone() else { return };
    let context = Context::get(0).unwrap();
    let few = |m: u64, n: u64, salt: u64| {
        let places: Places =
            (0..9).map(|e| (e * salt % m, e * 5 % n)).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
        made(&(m, n, places), |e| e as i64 + 10)
    };
    for nth in [5, 8, 25, 28, 29, 30, 33] {
        let shape = &shapes()[nth];
        let (m, n) = (shape.0, shape.1);
        let c = made(shape, |e| e as i64 - 30);
        let (t, mask) = (few(m, n, 3), few(m, n, 7));
        let cells = if c.nvals() == m * n { Format::Full } else { Format::Bitmap };
        let on = |a: &Matrix<i64>| a.to(&GPU).unwrap();
        for kind in 0..4 {
            let write = |c: &mut Matrix<i64>, t: &Matrix<i64>, mask: &Matrix<i64>| match kind {
                0 => apply(t, Identity).accumulate(Minus).into(c),
                1 => apply(t, Identity).accumulate(Minus).mask(&mask.structure()).into(c),
                2 => apply(t, Identity).accumulate(Minus).mask(&mask.structure().complement()).into(c),
                _ => apply(&t.with_value(7).unwrap(), Identity).accumulate(Plus).into(c),
            };
            let mut expected = c.clone();
            write(&mut expected, &t, &mask).unwrap();
            let mut made = on(&c).to_format(Format::Bitmap).unwrap();
            let (t, mask) = (on(&t), on(&mask));
            assert_eq!(made.format(), cells);
            let ((), kernels) = ran(&context, || write(&mut made, &t, &mask));
            assert!(kernels.iter().any(|k| k == "bitmap_update") && kernels.len() < 4, "{kernels:?}");
            assert_eq!(text(&made), text(&expected), "{nth} {kind}");
            let shared = made.clone();
            write(&mut made, &t, &mask).unwrap();
            assert_eq!(text(&shared), text(&expected), "{nth} {kind}, shared");
            write(&mut expected, &t.to(&Device::Cpu).unwrap(), &mask.to(&Device::Cpu).unwrap()).unwrap();
            assert_eq!(text(&made), text(&expected), "{nth} {kind}, again");
        }
    }
    // Cells of one value: it stays, or is written out.
    for (old, new, stays) in [(7i64, 7i64, true), (7, 8, false), (0, 3, false)] {
        let list = made(&shapes()[28], |_| old);
        let t = made(
            &(
                shapes()[28].0,
                shapes()[28].1,
                few(shapes()[28].0, shapes()[28].1, 3).entries().unwrap().iter().map(|e| (e.0, e.1)).collect(),
            ),
            |_| new,
        );
        let one = |a: &Matrix<i64>, value: i64| a.with_value(value).unwrap();
        let (mut expected, t) = (one(&list, old), one(&t, new));
        let mut cells = expected.to_format(Format::Bitmap).unwrap().to(&GPU).unwrap();
        let (before, t_on) = (cells.clone(), t.to(&GPU).unwrap());
        apply(&t, Identity).accumulate(Max).into(&mut expected).unwrap();
        apply(&t_on, Identity).accumulate(Max).into(&mut cells).unwrap();
        assert_eq!((text(&cells), cells.is_iso()), (text(&expected), stays), "{old} {new}");
        assert_eq!(text(&before), text(&one(&list, old)));
    }
}

#[test]
fn what_cannot_be_is_told() {
    let Some(_one) = emulator::alone() else { return };
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
