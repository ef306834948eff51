//! Matrices with a slot for every cell on CUDA, emulated or real: slots meet slots, and what is written stays where it lies.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/held.rs"]
mod held;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use held::*;
use oplus::backend::cuda::Context;
use oplus::prelude::*;
use random::Rng;

/// Slots meet slots: nothing is listed, and the result has cells again.
#[test]
fn cells_meet_cells() {
    if emulator::cuda().is_none() {
        return;
    }
    let (context, every) = (Context::get(0).unwrap(), emulator::every(2));
    let only = |kernels: &[String], names: &[&str]| {
        assert!(kernels.iter().all(|k| names.iter().any(|n| k.starts_with(n))), "{kernels:?}");
    };
    let slots = ["cells_union", "pair_apply", "words_met", "scan", "map_", "entries_fill"];
    for (p, q) in [(25, 28), (28, 25), (28, 28), (25, 25), (28, 29), (0, 0), (8, 5), (33, 30)] {
        let (p, q) = (&shapes()[p], &shapes()[q]);
        let other = |(m, n, places): &(u64, u64, Places)| {
            (*m, *n, places.iter().copied().filter(|(i, j)| (i * 3 + j) % 5 > 0).collect())
        };
        for (nth, (p, q)) in [(p.clone(), q.clone()), (p.clone(), other(q)), (other(p), other(q))].iter().enumerate() {
            for kind in (nth % every..4).step_by(every) {
                let value = |one: bool, e: u64| if one { 4 } else { e as i64 % 11 - 5 };
                let (a, b) = (made(p, |e| value(kind & 1 > 0, e)), made(q, |e| value(kind & 2 > 0, e)));
                let (x, y) = (a.to_format(Format::Bitmap).unwrap(), b.to_format(Format::Bitmap).unwrap());
                let (x, y) = (x.to(&GPU).unwrap(), y.to(&GPU).unwrap());
                let (c, kernels) = ran(&context, || ewise_add(&x, &y, Minus).eval());
                if kind == 0 && a.nvals() + b.nvals() > 2000 {
                    only(&kernels, &slots);
                    assert!(matches!(c.format(), Format::Bitmap | Format::Full));
                }
                assert_eq!(contents(&c), contents(&ewise_add(&a, &b, Minus).eval().unwrap()));
                let (c, kernels) = ran(&context, || ewise_add(&x, &y, Min).eval());
                if a.nvals() + b.nvals() > 2000 {
                    only(&kernels, &slots);
                }
                assert_eq!(contents(&c), contents(&ewise_add(&a, &b, Min).eval().unwrap()));
                let (c, kernels) = ran(&context, || ewise_mult(&x, &y, Lt).eval());
                if a.nvals().min(b.nvals()) > 2000 {
                    only(&kernels, &slots);
                    assert!(matches!(c.format(), Format::Bitmap | Format::Full));
                }
                assert_eq!(contents(&c), contents(&ewise_mult(&a, &b, Lt).eval().unwrap()));
                let (c, kernels) = ran(&context, || select(&x, ValueGt, -2).eval());
                if kind & 1 == 0 && a.nvals() > 2000 {
                    only(&kernels, &slots);
                    assert!(matches!(c.format(), Format::Bitmap | Format::Full));
                }
                let expected = select(&a, ValueGt, -2).eval().unwrap();
                assert_eq!(contents(&c), contents(&expected));
                // Cells that are left go on as cells.
                let (d, _) = ran(&context, || ewise_add(&c, &y, Plus).eval());
                assert_eq!(contents(&d), contents(&ewise_add(&expected, &b, Plus).eval().unwrap()));
                let (c, kernels) = ran(&context, || apply_second(&x, Times, 3).eval());
                only(&kernels, &slots);
                assert_eq!(c.format(), x.format());
                assert_eq!(contents(&c), contents(&apply_second(&a, Times, 3).eval().unwrap()));
                // What gives its operand back moves nothing.
                let (c, kernels) = ran(&context, || apply_second(&x, First, 3).eval());
                assert!(kernels.is_empty() && c.format() == x.format(), "{kernels:?}");
                assert_eq!(contents(&c), contents(&a));
                let many = |kernels: &[String]| {
                    if a.nvals() > 2000 {
                        only(kernels, &slots);
                    }
                };
                let (c, kernels) = ran(&context, || select(&x, Tril, 1).eval());
                many(&kernels);
                assert_eq!(contents(&c), contents(&select(&a, Tril, 1).eval().unwrap()));
                let (c, kernels) = ran(&context, || apply_index(&x, RowIndex, 3).eval());
                many(&kernels);
                assert_eq!(contents(&c), contents(&apply_index(&a, RowIndex, 3).eval().unwrap()));
                let (c, kernels) = ran(&context, || apply_index(&x, ColIndex, -1).eval());
                many(&kernels);
                assert_eq!(contents(&c), contents(&apply_index(&a, ColIndex, -1).eval().unwrap()));
            }
        }
    }
}

/// Cells are written into cells under masks of cells or rows, by values and structure: nothing is listed.
#[test]
fn cells_are_written_into_cells() {
    if emulator::cuda().is_none() {
        return;
    }
    let (context, every) = (Context::get(0).unwrap(), emulator::every(3));
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
                for kind in ((o + i + k) % every..16).step_by(every) {
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
                    assert_eq!(contents(&got), contents(&expected), "{asked:?}");
                    assert_eq!(contents(&shared), contents(c), "{asked:?}");
                    assert!(got.is_iso() || !expected.is_iso() || expected.nvals() < 2, "{asked:?}");
                }
            }
            // A value for what is missing, of another scalar.
            let (x, y) = (on(c), on(t));
            let (made, kernels) = ran(&context, || ewise_union(&x, -3, &y, 9, Lt).eval());
            assert!(kernels.iter().all(|k| slots.iter().any(|s| k.starts_with(s))) || o == 0, "{kernels:?}");
            assert_eq!(contents(&made), contents(&ewise_union(c, -3, t, 9, Lt).eval().unwrap()));
            let (turned, kernels) = ran(&context, || transpose(&y).eval());
            assert_eq!(turned.format(), y.format());
            assert!(kernels.iter().all(|k| ["cells_turned", "entries_turned"].contains(&k.as_str())), "{kernels:?}");
            assert_eq!(contents(&turned), contents(&transpose(t).eval().unwrap()));
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
            assert_eq!(contents(&got), contents(&c));
        }
    }
}

/// Windows of cells, and what is assigned to them: a value or other cells, under masks of all.
#[test]
fn parts_of_cells_stay_cells() {
    if emulator::cuda().is_none() {
        return;
    }
    let (context, every) = (Context::get(0).unwrap(), emulator::every(3));
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
            assert_eq!(contents(&taken), contents(&expected), "{o} {area:?}");
            if area.0 > 1 && area.1 > 1 {
                cells(&kernels);
                assert_eq!(taken.is_iso(), c.is_iso());
                let (again, _) = ran(&context, || ewise_add(&taken, &taken, Plus).eval());
                assert_eq!(contents(&again), contents(&ewise_add(&expected, &expected, Plus).eval().unwrap()));
            }
            for (k, mask) in masks.iter().enumerate() {
                for kind in ((o + k) % every..8).step_by(every) {
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
                        assert_eq!(contents(&got), contents(&expected), "{asked:?}");
                        let written = |k: &String| k == "cells_write" || k == "cells_patch";
                        assert!(kernels.iter().any(written), "{asked:?} {kernels:?}");
                    }
                }
            }
        }
    }
}

/// What is there is changed where it lies, and not for who shares it.
#[test]
fn entries_are_written_where_they_lie() {
    if emulator::cuda().is_none() {
        return;
    }
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
            assert_eq!(contents(&made), contents(&expected), "{nth} {kind}");
            let shared = made.clone();
            write(&mut made, &t, &mask).unwrap();
            assert_eq!(contents(&shared), contents(&expected), "{nth} {kind}, shared");
            write(&mut expected, &t.to(&Device::Cpu).unwrap(), &mask.to(&Device::Cpu).unwrap()).unwrap();
            assert_eq!(contents(&made), contents(&expected), "{nth} {kind}, again");
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
        assert_eq!((contents(&cells), cells.is_iso()), (contents(&expected), stays), "{old} {new}");
        assert_eq!(contents(&before), contents(&one(&list, old)));
    }
}

/// What was found of a full matrix' columns is nothing of what is written into it later, on any device.
#[test]
fn columns_are_found_again_after_a_change() {
    if emulator::cuda().is_none() {
        return;
    }
    let (m, n) = (60u64, 70u64);
    let cells: Places = (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).collect();
    let few = made(&(m, n, vec![(3, 5), (40, 69), (59, 0)]), |e| e as i64 + 1000);
    let x = Vector::<i64>::full(m, 3).unwrap();
    let a = made(&(m, m, cells.iter().copied().filter(|(i, j)| *j < m && (i + j) % 3 == 0).collect()), |e| e as i64);
    let mask = made(&(m, n, cells.iter().copied().filter(|(i, j)| (i * j) % 5 == 0).collect()), |_| true);
    type Change<'a> = &'a dyn Fn(&mut Matrix<i64>, &Matrix<i64>);
    let changes: [Change; 4] = [
        &|c, t| apply(t, Identity).accumulate(Plus).into(c).unwrap(),
        &|c, _| c.set(7, 9, -5000).unwrap(),
        &|c, _| assign_scalar(-77, 10u64..20, 30u64..44).into(c).unwrap(),
        &|c, _| assign_scalar(5, 10u64..30, 3u64..60).accumulate(Max).into(c).unwrap(),
    ];
    let all = made(&(m, n, cells), |e| e as i64 * 7 % 31);
    for (nth, change) in changes.into_iter().enumerate() {
        for format in [Format::Full, Format::Csc] {
            // Three times each, since columns are kept once they were asked for again; then all of it once more with other values.
            let steps = |device: &Device| {
                let mut c = all.to(device).unwrap().to_format(format).unwrap();
                let (x, a, few, mask) =
                    (x.to(device).unwrap(), a.to(device).unwrap(), few.to(device).unwrap(), mask.to(device).unwrap());
                let mut found = Vec::new();
                for _ in 0..2 {
                    for _ in 0..3 {
                        let product = vxm(&x, &c).eval().unwrap();
                        found.push(format!("{:?}", product.entries().unwrap()));
                        let dots = mxm(&a, &c).mask(&mask.structure()).strategy(Strategy::Dot).eval().unwrap();
                        found.push(format!("{:?}", contents(&dots)));
                    }
                    change(&mut c, &few);
                    found.push(format!("{:?}", contents(&c)));
                }
                found
            };
            let expected = steps(&Device::Reference);
            for device in [Device::Cpu, GPU] {
                assert!(steps(&device) == expected, "{nth} {format:?} {device}");
            }
        }
    }
}

/// Values for all cells of a part of a full matrix go where they lie, where nobody else holds it.
#[test]
fn parts_of_full_matrices_are_written_where_they_lie() {
    if emulator::cuda().is_none() {
        return;
    }
    let context = Context::get(0).unwrap();
    fn check<T: Scalar + Number>(context: &std::sync::Arc<Context>, value: impl Fn(u64) -> T) {
        let full = |m: u64, n: u64| {
            let cells = (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).collect();
            made(&(m, n, cells), &value)
        };
        let on = |a: &Matrix<T>| a.to(&GPU).unwrap().to_format(Format::Full).unwrap();
        for (rows, columns) in [(3u64..40, 5u64..77), (0..1, 0..90), (10..50, 89..90), (0..50, 0..90), (7..7, 1..4)] {
            let here = full(50, 90);
            let part = full(rows.end - rows.start, columns.end - columns.start);
            for kind in 0..4 {
                let write = |c: &mut Matrix<T>, t: &Matrix<T>| match kind {
                    0 => assign(t, rows.clone(), columns.clone()).into(c),
                    1 => assign(t, rows.clone(), columns.clone()).accumulate(Minus).into(c),
                    2 => assign_scalar(value(9), rows.clone(), columns.clone()).into(c),
                    _ => assign_scalar(value(9), rows.clone(), columns.clone()).accumulate(Max).into(c),
                };
                let mut expected = here.clone();
                write(&mut expected, &part).unwrap();
                let (mut there, t) = (on(&here), on(&part));
                let ((), kernels) = ran(context, || write(&mut there, &t));
                let patched = kernels.iter().all(|k| k == "cells_patch") || part.nvals() == 0 || part.is_iso();
                assert!(patched, "{rows:?} {columns:?} {kind} {kernels:?}");
                assert_eq!(contents(&there), contents(&expected), "{rows:?} {columns:?} {kind}");
                let shared = there.clone();
                write(&mut there, &t).unwrap();
                assert_eq!(contents(&shared), contents(&expected), "{rows:?} {columns:?} {kind}, shared");
                write(&mut expected, &part).unwrap();
                assert_eq!((there.format(), contents(&there)), (Format::Full, contents(&expected)));
            }
        }
    }
    check(&context, |e| e as f64 * 0.5 - 7.0);
    check(&context, |e| (e % 91) as i8);
}

/// What a product writes out of the one value of all is for the entries of that matrix: others made of it have more or fewer.
#[test]
fn one_value_is_written_out_for_each() {
    if emulator::cuda().is_none() {
        return;
    }
    let (n, none) = (64u64, Matrix::<i64>::new(64, 64).unwrap());
    let places: Vec<(u64, u64)> = (0..n * n).map(|e| (e / n, e % n)).filter(|(i, j)| (i + j) % 4 > 0).collect();
    let a: Matrix<i64> = Matrix::from_pattern(n, n, &places, 2).unwrap();
    let b = made(&(n, n, places.iter().copied().filter(|(i, j)| (3 * i + j) % 7 == 0).collect()), |e| e as i64 % 9 - 4);
    let few: Matrix<i64> = Matrix::from_pattern(n, n, &[(0, 0), (9, 3), (63, 61)], 2).unwrap();
    type Relative<'a> = &'a dyn Fn(&Matrix<i64>) -> Matrix<i64>;
    let relatives: [Relative; 4] = [
        &|a| select(a, Tril, 0).eval().unwrap(),
        &|a| extract(a, 0..32, ..).eval().unwrap(),
        &|a| {
            let mut c = a.clone();
            apply(&few.to(&a.device()).unwrap(), Identity).accumulate(Max).into(&mut c).unwrap();
            c
        },
        &|a| ewise_add(a, &none.to(&a.device()).unwrap(), Plus).eval().unwrap(),
    ];
    for (nth, relative) in relatives.iter().enumerate() {
        for first in [false, true] {
            let run = |device: &Device| {
                let (rows, b) = (a.to(device).unwrap(), b.to(device).unwrap());
                let cells = rows.to_format(Format::Bitmap).unwrap();
                let times = |x: &Matrix<i64>| contents(&mxm(x, &b).eval().unwrap());
                // Twice: the second time it is kept.
                let before = first.then(|| [times(&cells), times(&cells)]);
                let relative = relative(&cells);
                let twice = [times(&relative), times(&relative)];
                (before, twice, times(&cells), times(&rows), reduce(&relative, Plus).unwrap())
            };
            assert_eq!(run(&GPU), run(&Device::Cpu), "{nth}, {first}");
        }
    }
}

/// An element that was not there gets its cell, and the matrix stays what it is.
#[test]
fn new_elements_get_their_cells() {
    if emulator::cuda().is_none() {
        return;
    }
    let entries: Vec<_> = (0..40).map(|e| (e % 9, e * 5 % 7, e as i64)).collect();
    let mut coo = Coo::new(9, 7);
    entries.iter().for_each(|(i, j, v)| coo.push(*i, *j, *v));
    let a: Matrix<i64> = Matrix::build_with(&coo, Second).unwrap();
    let (mut a, mut b) = (a.clone(), a.to_format(Format::Bitmap).unwrap().to(&GPU).unwrap());
    for i in 0..9 {
        for j in 0..7 {
            let before = b.clone();
            a.set(i, j, 100 + j as i64).unwrap();
            b.set(i, j, 100 + j as i64).unwrap();
            assert_eq!(b.entries().unwrap(), a.entries().unwrap());
            assert_eq!(b.format(), if a.nvals() == 63 { Format::Full } else { Format::Bitmap });
            assert!(before.get(i, j).unwrap() != Some(100 + j as i64));
        }
    }
}
