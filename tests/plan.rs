//! Plans: the same result as the product itself, for other values, on every backend; misuse is an error.
mod common;
#[path = "common/devices.rs"]
mod devices;
#[path = "common/random.rs"]
mod random;

use devices::devices;
use oplus::prelude::*;
use random::Rng;

/// Positions by one seed, values by another.
fn coo(rows: u64, columns: u64, entries: u64, seed: u64, values: u64) -> Coo<f64> {
    let mut coo = Coo::new(rows, columns);
    let (mut place, mut value) = (Rng(seed | 1), Rng(values | 1));
    for e in 0..entries {
        let row = if e % 4 == 0 { place.below(3) } else { place.below(rows) };
        coo.push(row, place.below(columns), value.below(1000) as f64 * 0.1 - 31.0);
    }
    coo
}

/// The same positions with other values; whole numbers, so that any order of sums gives the same.
fn matrix(shape: (u64, u64), entries: u64, seed: u64, values: u64, device: Device) -> Matrix<i64> {
    let coo = coo(shape.0, shape.1, entries, seed, values);
    let values = coo.values.iter().map(|v| (v * 10.0) as i64).collect();
    let Coo { nrows, ncols, rows, columns, .. } = coo;
    let coo = Coo { nrows, ncols, rows, columns, values };
    Matrix::build_with(&coo, Second).unwrap().to(&device).unwrap()
}

fn planned<S>(what: &str, a: [&Matrix<i64>; 3], b: [&Matrix<i64>; 3], mask: Option<&Mask>, strategy: Strategy)
where
    S: Semiring<i64, i64, Out = i64>,
{
    let asked = |v: usize| {
        let operation = mxm(&a[v].over::<S>(), &b[v].over()).strategy(strategy);
        if let Some(mask) = mask { operation.mask(mask) } else { operation }
    };
    let plan = asked(0).plan().unwrap();
    for v in [1, 2, 0, 1] {
        let expected = asked(v).eval().unwrap();
        let found = plan.run(&a[v].over(), &b[v].over()).unwrap();
        assert_eq!(found.entries().unwrap(), expected.entries().unwrap(), "{what}, values {v}");
        assert_eq!((plan.nvals(), plan.shape()), (expected.nvals(), expected.shape()), "{what}");
        assert_eq!(plan.device(), a[0].device());
    }
}

#[test]
fn other_values_give_the_product() {
    for device in devices() {
        // Products of short rows, of rows that differ much, of a small matrix.
        for (k, (shape, entries)) in
            [((90, 80, 70), 300), ((200, 60, 500), 1000), ((20, 30, 900), 2500)].iter().enumerate()
        {
            let (m, n, p) = *shape;
            let a = [1, 2, 3].map(|v| matrix((m, n), *entries, 5, v, device));
            let b = [4, 5, 6].map(|v| matrix((n, p), *entries, 7, v, device));
            let mask = matrix((m, p), 2 * entries, 9, 1, device).structure();
            let (a, b) = (a.each_ref(), b.each_ref());
            for strategy in Strategy::ALL.iter().copied() {
                // These need bands and a mask.
                if matches!(strategy, Strategy::Band | Strategy::Dot) {
                    continue;
                }
                let what = format!("{device}, case {k}, {strategy:?}");
                planned::<PlusTimes>(&what, a, b, None, strategy);
                if k != 1 && !matches!(strategy, Strategy::Auto | Strategy::Hash | Strategy::SegmentedMerge) {
                    continue;
                }
                planned::<PlusTimes>(&format!("{what}, masked"), a, b, Some(&mask), strategy);
                planned::<MinPlus>(&format!("{what}, complement"), a, b, Some(&mask.clone().complement()), strategy);
            }
            planned::<Compose<Min, Second>>(&format!("{device}, case {k}, min second"), a, b, None, Strategy::Auto);
            planned::<AnyFirst>(&format!("{device}, case {k}, any first"), a, b, None, Strategy::Auto);
            planned::<PlusPair<i64>>(&format!("{device}, case {k}, plus pair"), a, b, Some(&mask), Strategy::Auto);
        }
    }
}

#[test]
fn bands_empty_matrices_and_listed_axes() {
    for device in devices() {
        let band = |v: i64| {
            let mut coo = Coo::new(3000, 3000);
            for i in 0..3000u64 {
                (i.saturating_sub(1)..(i + 2).min(3000)).for_each(|j| coo.push(i, j, v + (i * j) as i64 % 7));
            }
            Matrix::build_with(&coo, Second).unwrap().to(&device).unwrap()
        };
        let bands = [band(1), band(2), band(3)];
        planned::<PlusTimes>("band", bands.each_ref(), bands.each_ref(), None, Strategy::Auto);
        let empty: Matrix<i64> = Matrix::new(40, 40).unwrap().to(&device).unwrap();
        planned::<PlusTimes>("empty", [&empty; 3], [&empty; 3], None, Strategy::Auto);
        let (far, n) = (1u64 << 40, 1u64 << 50);
        let wide = |v: i64| {
            let entries = [(3, 5, v), (far, 5, v + 1), (far, far, 2 * v), (n - 1, far, 7)];
            Matrix::build(n, n, &entries).unwrap().to(&device).unwrap()
        };
        let wide = [wide(1), wide(2), wide(3)];
        planned::<PlusTimes>("wide", wide.each_ref(), wide.each_ref(), None, Strategy::Auto);
    }
}

#[test]
fn transposes_and_triple_products() {
    for device in devices() {
        let a = [1, 2].map(|v| matrix((60, 60), 500, 3, v, device));
        let p = [3, 4].map(|v| matrix((60, 20), 150, 5, v, device));
        let mask = matrix((20, 20), 150, 7, 1, device).structure();
        let plan = mxm(&p[0], &a[0]).transpose_a().transpose_b().plan().unwrap();
        let expected = mxm(&p[1], &a[1]).transpose_a().transpose_b().eval().unwrap();
        assert_eq!(plan.run(&p[1], &a[1]).unwrap().entries().unwrap(), expected.entries().unwrap());
        let expected = |v: usize| mxm(&p[v].transposed(), &mxm(&a[v], &p[v]).eval().unwrap());
        let triple = |v: usize| triple_product(&p[v].transposed(), &a[v], &p[v]);
        let (plan, masked) = (triple(0).plan().unwrap(), triple(0).mask(&mask).plan().unwrap());
        for v in 0..2 {
            let whole = expected(v).eval().unwrap();
            assert_eq!(triple(v).eval().unwrap().entries().unwrap(), whole.entries().unwrap());
            let found = plan.run(&p[v].transposed(), &a[v], &p[v]).unwrap();
            assert_eq!((plan.nvals(), found.entries().unwrap()), (whole.nvals(), whole.entries().unwrap()), "{device}");
            let found = masked.run(&p[v].transposed(), &a[v], &p[v]).unwrap();
            assert_eq!(found.entries().unwrap(), expected(v).mask(&mask).eval().unwrap().entries().unwrap());
        }
        assert!(matches!(
            plan.run(&p[1].transposed(), &p[1], &a[1]),
            Err(Error::InvalidValue { operation: "plan", .. })
        ));
        let told = |e: Result<Matrix<i64>>| e.unwrap_err().to_string();
        let (turned, square) = (p[0].transposed(), &a[0]);
        for (e, expected) in [
            (told(plan.run(&turned, square, square)), "plan: P is 60×60, the plan was made for 60×20"),
            (told(plan.run(square, square, &p[0])), "plan: R is 60×60, the plan was made for 20×60"),
        ] {
            assert_eq!(e, expected, "{device}");
        }
        for small in [triple(0).memory_limit(64).eval(), triple(0).memory_limit(64).plan().map(|_| p[0].clone())] {
            let refused = matches!(small, Err(Error::OutOfMemory { operation: "triple_product", .. }));
            assert!(refused || device == Device::Reference, "{small:?}");
        }
        // A·P has its part of the limit: what is enough for each product by itself need not be for both.
        let enough = (8..24).map(|e| 1u64 << e).find(|l| triple(1).memory_limit(*l).eval().is_ok()).unwrap();
        let limited = triple(1).memory_limit(enough).eval().unwrap();
        assert_eq!(limited.entries().unwrap(), expected(1).eval().unwrap().entries().unwrap());
        let plan = triple(0).memory_limit(4 * enough).plan().unwrap();
        let found = plan.run(&p[1].transposed(), &a[1], &p[1]).unwrap();
        assert_eq!(found.entries().unwrap(), expected(1).eval().unwrap().entries().unwrap());
    }
}

/// The same positions are the same in every format, with rows of no entries listed or not, and through a transposed view.
#[test]
fn positions_are_compared_whatever_holds_them() {
    let formats = [Format::Csr, Format::Csc, Format::Hypersparse, Format::Bitmap];
    for device in devices() {
        let b = matrix((25, 30), 200, 7, 4, device);
        let full = Matrix::<i64>::full(30, 25, 3).unwrap().to(&device).unwrap();
        for (what, a) in [("few", matrix((30, 25), 40, 5, 1, device)), ("full", full)] {
            let mut forms: Vec<Matrix<i64>> = formats.iter().map(|f| a.to_format(*f).unwrap()).collect();
            // A row that had entries, and one more for it that has none.
            let mut emptied = forms[2].clone();
            for place in [(29, 3), (17, 24)] {
                if a.get(place.0, place.1).unwrap().is_none() {
                    emptied.set(place.0, place.1, 5).unwrap();
                    emptied.remove(place.0, place.1).unwrap();
                }
            }
            forms.push(emptied);
            let (expected, turned) = (mxm(&a, &b).eval().unwrap(), transpose(&a).eval().unwrap());
            // As many entries elsewhere.
            let elsewhere: Vec<_> = a.entries().unwrap().iter().map(|(i, j, v)| ((i + 7) % 30, *j, *v)).collect();
            let elsewhere = Matrix::<i64>::build(30, 25, &elsewhere).unwrap().to(&device).unwrap();
            for (p, of) in forms.iter().enumerate() {
                let plan = mxm(of, &b).plan().unwrap();
                for (g, given) in forms.iter().enumerate() {
                    let found = plan.run(given, &b).unwrap_or_else(|e| panic!("{device}, {what}: {p} and {g}: {e}"));
                    assert_eq!(found, expected, "{device}, {what}: {p} and {g}");
                }
                assert_eq!(plan.run(&turned.transposed(), &b).unwrap(), expected, "{device}, {what}: {p}, a view");
                for format in formats {
                    let other = plan.run(&elsewhere.to_format(format).unwrap(), &b);
                    match what {
                        "few" => {
                            assert!(other.unwrap_err().to_string().contains("other positions"), "{device} {format:?}")
                        }
                        _ => drop(other.unwrap()),
                    }
                }
            }
            let plan = mxm(&turned.transposed(), &b).plan().unwrap();
            for (g, given) in forms.iter().enumerate() {
                assert_eq!(plan.run(given, &b).unwrap(), expected, "{device}, {what}: planned by a view, {g}");
            }
        }
    }
}

#[test]
fn misuse_is_refused() {
    for device in devices() {
        let (a, b) = (matrix((40, 30), 200, 3, 1, device), matrix((30, 50), 200, 5, 1, device));
        let plan = mxm(&a, &b).plan().unwrap();
        let refused = |result: Result<Matrix<i64>>, what: &str| match result {
            Err(Error::InvalidValue { operation: "plan", reason }) => assert!(reason.contains(what), "{reason}"),
            other => panic!("{other:?}"),
        };
        refused(plan.run(&b, &a), "A is 30×50, the plan was made for 40×30");
        let few = matrix((30, 50), 150, 6, 1, device);
        let told = format!("{} entries, {} were planned", few.nvals(), b.nvals());
        refused(plan.run(&a, &few), &format!("B has other positions than the plan was made for: {told}"));
        // As many entries in each row, one of them in another column.
        let mut entries = a.entries().unwrap();
        let (i, j, v) = entries[7];
        let free = (0..30).find(|c| !entries.iter().any(|e| (e.0, e.1) == (i, *c))).unwrap();
        entries[7] = (i, free, v);
        let moved = Matrix::build(40, 30, &entries).unwrap().to(&device).unwrap();
        assert!(j != free && moved.nvals() == a.nvals());
        refused(plan.run(&moved, &b), "A has other positions");
        // In host memory it is told where, of operands as they are read, whatever holds them.
        let (n, cuda) = (a.nvals(), matches!(device, Device::Cuda(_)));
        let told = |line: &str| match cuda {
            true => format!("{n} entries as planned, but not the same"),
            false => format!("{n} entries as planned, but {line} {i} has others"),
        };
        for format in [Format::Csr, Format::Csc, Format::Hypersparse] {
            refused(plan.run(&moved.to_format(format).unwrap(), &b), &told("row"));
        }
        let turned = mxm(&b.transposed(), &a.transposed()).plan().unwrap();
        refused(turned.run(&b.transposed(), &moved.transposed()), &told("column"));
        // Equal positions in other memory are good.
        let copy = Matrix::build(40, 30, &a.entries().unwrap()).unwrap().to(&device).unwrap();
        assert_eq!(plan.run(&copy, &b).unwrap().entries().unwrap(), mxm(&a, &b).eval().unwrap().entries().unwrap());
        let elsewhere = if device == Device::Cpu { Device::Reference } else { Device::Cpu };
        refused(plan.run(&a.to(&elsewhere).unwrap(), &b), "A is on ");
        let dot = mxm(&a, &a).transpose_b().strategy(Strategy::Dot).plan();
        assert!(matches!(dot, Err(Error::InvalidValue { operation: "mxm", .. })));
        assert!(matches!(mxm(&a, &a).plan(), Err(Error::DimensionMismatch { .. })));
        assert!(matches!(mxm(&a, &b).memory_limit(8).plan(), Err(Error::OutOfMemory { .. })));
    }
}

#[test]
fn threads_may_share_a_plan() {
    for device in devices() {
        let a = [1, 2, 3, 4].map(|v| matrix((200, 60), 1500, 5, v, device));
        let b = matrix((60, 500), 1500, 7, 1, device);
        let plan = mxm(&a[0], &b).plan().unwrap();
        let expected = a.each_ref().map(|a| mxm(a, &b).eval().unwrap().entries().unwrap());
        std::thread::scope(|scope| {
            for (a, expected) in a.iter().zip(&expected) {
                let (plan, b) = (plan.clone(), &b);
                scope.spawn(move || {
                    for _ in 0..4 {
                        assert_eq!(&plan.run(a, b).unwrap().entries().unwrap(), expected);
                    }
                });
            }
        });
    }
}
