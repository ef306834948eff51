//! G: errors, threads, determinism and scale.
use crate::kit::*;
use oplus::prelude::*;

#[test]
fn g1_errors_modify_nothing() {
    each(|d| {
        let (a, x) = (some(d, 5, 6, 1), vector(d, 4, &[(0, 1)]));
        let (mut c, mut w) = (some(d, 5, 6, 2), vector(d, 5, &[(1, 1)]));
        let (before, vector_before) = (got(&c), w.entries().unwrap());
        assert!(mxm(&a, &a).into(&mut c).is_err());
        assert!(mxm(&a, &a).transpose_b().into(&mut c).is_err());
        assert!(mxv(&a, &x).into(&mut w).is_err());
        assert!(ewise_add(&a, &a, Plus).transpose_b().into(&mut c).is_err());
        assert!(apply(&a, Negate).mask(&some(d, 6, 5, 1)).into(&mut c).is_err());
        assert!(reduce_rows(&a, Plus).transpose_a().into(&mut w).is_err());
        assert!(extract_rows(&a, [5]).into(&mut c).is_err());
        assert_eq!((got(&c), w.entries().unwrap()), (before, vector_before));
    });
}

#[test]
fn g2_errors_name_the_operation_and_inputs_stay() {
    each(|d| {
        let (a, b) = (some(d, 5, 6, 1), some(d, 5, 6, 2));
        let inputs = (got(&a), got(&b));
        let named = |e: Error, name: &str| assert!(e.to_string().starts_with(name), "{e}");
        named(mxm(&a, &b).eval().unwrap_err(), "mxm");
        named(ewise_add(&a, &b, Plus).transpose_a().eval().unwrap_err(), "ewise_add");
        named(ewise_mult(&a, &b, Plus).transpose_a().eval().unwrap_err(), "ewise_mult");
        named(mxv(&a, &vector(d, 5, &[(0, 1)])).eval().unwrap_err(), "mxv");
        named(vxm(&vector(d, 6, &[(0, 1)]), &a).eval().unwrap_err(), "vxm");
        named(extract(&a, [9], ..).eval().unwrap_err(), "extract");
        named(a.get(7, 0).unwrap_err(), "get");
        let other = if d == Device::Cpu { Device::Reference } else { Device::Cpu };
        named(ewise_add(&a, &b.to(&other).unwrap(), Plus).eval().unwrap_err(), "ewise_add");
        let elsewhere = apply(&a, Negate).into(&mut b.to(&other).unwrap()).unwrap_err();
        named(elsewhere, &format!("apply: the result is on {d}, the output is on {other}"));
        assert_eq!((got(&a), got(&b)), inputs);
    });
}

#[test]
fn g2_what_makes_containers_has_its_name_in_its_errors() {
    let twice = Coo { nrows: 2, ncols: 1, rows: vec![1, 1], columns: vec![0, 0], values: vec![5, 6] };
    let way = "at position 1 and no operator to combine the values: `build_with` takes one";
    for (name, told) in [
        ("build", Matrix::<i32>::build(2, 1, &[(1, 0, 5), (1, 0, 6)]).unwrap_err()),
        ("from_coo", Matrix::<i32>::from_coo(&twice).unwrap_err()),
        ("from_coo", Vector::<i32>::from_coo(&twice).unwrap_err()),
    ] {
        assert_eq!(told.to_string(), format!("{name}: duplicate entry (1, 0) {way}"));
    }
    let folded: Matrix<i32> = Matrix::build_with(&twice, Plus).unwrap();
    assert_eq!(folded.entries().unwrap(), [(1, 0, 11)]);
    let mut uneven = twice.clone();
    uneven.rows.pop();
    each(|d| {
        for coo in [Coo { nrows: 1, ..twice.clone() }, uneven.clone()] {
            let named = |e: Error, name: &str| assert!(e.to_string().starts_with(&format!("{name}: ")), "{e}");
            named(Matrix::<i32>::from_coo(&coo).unwrap_err(), "from_coo");
            named(Matrix::<i32>::build_with(&coo, Plus).unwrap_err(), "build_with");
            named(Matrix::<i32>::build_on(&coo, Plus, &d).unwrap_err(), "build_on");
        }
        let named = |e: Error, name| {
            assert_eq!(e.to_string(), format!("{name}: {}", "index 3 at position 1 is out of range, the bound is 3"))
        };
        let far = [(0, 1), (3, 1)];
        named(Vector::<i32>::build_on(3, &far, Plus, &d).unwrap_err(), "build_on");
        named(Vector::<i32>::build_with(3, &far, Plus).unwrap_err(), "build_with");
        named(Vector::<i32>::build(3, &far).unwrap_err(), "build");
    });
    let told = Matrix::<i32>::from_pattern(3, 3, &[(0, 1), (3, 0)], 1).unwrap_err();
    assert_eq!(told.to_string(), "from_pattern: row 3 at position 1 is out of range, the bound is 3");
}

#[test]
fn g2_vectors_have_indices_and_lengths() {
    each(|d| {
        let (a, mut x) = (some(d, 3, 4, 1), vector(d, 3, &[(0, 1)]));
        let told = |e: Error, what: &str| assert_eq!(e.to_string(), what);
        let index = |name| format!("{name}: index 3 at position 0 is out of range, the bound is 3");
        let alone = |name| format!("{name}: index 3 is out of range, the bound is 3");
        told(Vector::<i32>::build(3, &[(3, 1)]).unwrap_err(), &index("build"));
        told(Vector::<i32>::build_with(3, &[(3, 1)], Plus).unwrap_err(), &index("build_with"));
        told(x.get(3).unwrap_err(), &alone("get"));
        told(x.set(3, 1).unwrap_err(), &alone("set"));
        told(x.remove(3).unwrap_err(), &alone("remove"));
        let mut updates = Updates::new();
        updates.set(0, 3, 1).unwrap();
        told(x.update(&updates).unwrap_err(), &index("update"));
        told(a.get(0, 9).unwrap_err(), "get: column 9 is out of range, the bound is 4");
        told(
            Vector::<i32>::build(3, &[(1, 1), (1, 2)]).unwrap_err(),
            "build: duplicate index 1 at position 1 and no operator to combine the values: `build_with` takes one",
        );
        let fit = "they do not fit";
        told(mxv(&a, &x).eval().unwrap_err(), &format!("mxv: A is 3×4, x has length 3: {fit}"));
        let long = vector(d, 5, &[(0, 1)]);
        told(vxm(&long, &a).eval().unwrap_err(), &format!("vxm: x has length 5, A is 3×4: {fit}"));
        told(
            mxv(&a, &vector(d, 4, &[(0, 1)])).into(&mut long.clone()).unwrap_err(),
            &format!("mxv: the result has length 3, the output has length 5: {fit}"),
        );
        told(
            ewise_add(&x, &long, Plus).eval().unwrap_err(),
            &format!("ewise_add: A has length 3, B has length 5: {fit}"),
        );
        told(
            apply(&x, Negate).mask(&long).eval().unwrap_err(),
            &format!("apply: the result has length 3, the mask has length 5: {fit}"),
        );
        told(
            assign_vector(&long, 1..).into(&mut x).unwrap_err(),
            &format!("assign_vector: u has length 5, the region has length 2: {fit}"),
        );
        let region = |name| format!("{name}: u has length 5, the region has length 3: {fit}");
        let mut c = some(d, 3, 3, 1);
        told(assign_row(&long, 0, ..).into(&mut c).unwrap_err(), &region("assign_row"));
        told(assign_column(&long, .., 0).into(&mut c).unwrap_err(), &region("assign_column"));
        told(subassign_row(&long, 0, ..).into(&mut c).unwrap_err(), &region("subassign_row"));
        told(subassign_column(&long, .., 0).into(&mut c).unwrap_err(), &region("subassign_column"));
        let (two, square) = (some(d, 2, 3, 1), some(d, 3, 3, 2));
        for (r, a, p, expected) in [
            (&square, &square, &two, format!("A is 3×3, P is 2×3: {fit}")),
            (&square, &two, &square, format!("R is 3×3, A is 2×3: {fit}")),
        ] {
            told(triple_product(r, a, p).eval().unwrap_err(), &format!("triple_product: {expected}"));
            told(triple_product(r, a, p).plan().unwrap_err(), &format!("triple_product: {expected}"));
        }
        told(
            triple_product(&square, &square, &square).mask(&two).eval().unwrap_err(),
            &format!("triple_product: the result is 3×3, the mask is 2×3: {fit}"),
        );
        told(
            scale_rows(&long, &a, Times).eval().unwrap_err(),
            &format!("scale_rows: v has length 5, a column of A has length 3: {fit}"),
        );
        told(
            scale_columns(&a, &long, Times).eval().unwrap_err(),
            &format!("scale_columns: v has length 5, a row of A has length 4: {fit}"),
        );
        for (name, product, line) in [
            ("scale_rows", mxm(&square, &square).scale_rows(&long, Times), "column"),
            ("scale_columns", mxm(&square, &square).scale_columns(&long, Times), "row"),
        ] {
            let told = product.eval().unwrap_err().to_string();
            assert_eq!(told, format!("{name}: v has length 5, a {line} of the factor has length 3: {fit}"));
        }
    });
}

/// Where it stands is said of an index among others alone.
#[test]
fn g2_an_index_given_alone_has_no_position() {
    each(|d| {
        let (a, x) = (some(d, 3, 4, 1), vector(d, 4, &[(0, 1)]));
        let mut c = a.clone();
        let told = |e: Error, what: &str| assert_eq!(e.to_string(), format!("{what} is out of range, the bound is 3"));
        told(extract_row(&a, 3, ..).eval().unwrap_err(), "extract_row: row 3");
        told(extract_rows(&a, [0, 3]).eval().unwrap_err(), "extract_rows: row 3 at position 1");
        told(extract(&a, 1..9, ..).eval().unwrap_err(), "extract: row 3 at position 2");
        told(assign_row(&x, 7, ..).into(&mut c).unwrap_err(), "assign_row: row 7");
        told(subassign_row(&x, u64::MAX, ..).into(&mut c).unwrap_err(), "subassign_row: row 18446744073709551615");
        told(c.set(3, 0, 5).unwrap_err(), "set: row 3");
        let told = |e: Error, what: &str| assert_eq!(e.to_string(), format!("{what} is out of range, the bound is 4"));
        told(extract_column(&a, .., 4).eval().unwrap_err(), "extract_column: column 4");
        told(c.remove(0, 9).unwrap_err(), "remove: column 9");
    });
    let graph: Matrix<bool, AnyPair> = Matrix::build(3, 3, &[(0, 1, true)]).unwrap();
    let told = oplus::algorithm::bfs(&graph, 3, &Default::default()).unwrap_err();
    assert_eq!(told.to_string(), "bfs: source 3 is out of range, the bound is 3");
}

/// Of a range the first index that is not there, whatever its end: no dimension has the index 2⁶⁴ − 1.
#[test]
fn g2_ranges_to_the_last_number() {
    each(|d| {
        let (a, far) = (some(d, 3, 4, 1), matrix(d, (u64::MAX, 1), &[(3, 0, 1)]));
        let told = |a: &Matrix<i32>, rows: Indices| extract(a, rows, ..).eval().unwrap_err().to_string();
        let last = u64::MAX;
        for (rows, what) in [
            (Indices::from(0..=last), "row 3 at position 3"),
            ((..=last).into(), "row 3 at position 3"),
            ((2..=last).into(), "row 3 at position 1"),
            ((5..=last).into(), "row 5 at position 0"),
            ((last..=last).into(), "row 18446744073709551615 at position 0"),
            ((0..last).into(), "row 3 at position 3"),
        ] {
            assert_eq!(told(&a, rows), format!("extract: {what} is out of range, the bound is 3"));
        }
        let end = "is out of range, the bound is 18446744073709551615";
        assert_eq!(told(&far, (7..=last).into()), format!("extract: row {last} at position {} {end}", last - 7));
        assert_eq!(extract(&far, ..last, ..).eval().unwrap().nrows(), last);
    });
}

/// Whatever is told, it begins with the operation that was asked for.
#[test]
fn g2_every_operation_has_its_name_in_its_errors() {
    each(|d| {
        let (a, b) = (some(d, 4, 5, 1), some(d, 6, 7, 2));
        let (x, y) = (full(d, 9, 1), full(d, 8, 1));
        let far = || Indices::from([99]);
        let mut c = a.clone();
        let mut w = x.clone();
        let mut into = |assignment: Assignment<i32, oplus::container::OfMatrices>| assignment.into(&mut c).err();
        let mut set = |assignment: Assignment<i32, oplus::container::OfVectors>| assignment.into(&mut w).err();
        let told = [
            ("mxm", mxm(&a, &b).eval().err()),
            ("mxm", mxm(&a, &b).apply(Negate).eval().err()),
            ("mxm", mxm(&a, &b).reduce(Plus).err()),
            ("triple_product", triple_product(&a, &b, &a).eval().err()),
            ("mxv", mxv(&a, &x).eval().err()),
            ("vxm", vxm(&x, &a).eval().err()),
            ("ewise_add", ewise_add(&a, &b, Plus).eval().err()),
            ("ewise_add", ewise_add(&x, &y, Plus).eval().err()),
            ("ewise_mult", ewise_mult(&a, &b, Plus).eval().err()),
            ("ewise_union", ewise_union(&a, 1, &b, 2, Plus).eval().err()),
            ("ewise_mult", ewise_add(&a, &a, Plus).ewise_mult(&b, Plus).eval().err()),
            ("ewise_union", ewise_add(&a, &a, Plus).ewise_union(1, &b, 2, Plus).eval().err()),
            ("scale_rows", scale_rows(&x, &a, Times).eval().err()),
            ("scale_columns", scale_columns(&a, &x, Times).eval().err()),
            ("apply", apply(&a, Negate).mask(&b).eval().err()),
            ("select", select(&a, Tril, 0).mask(&b).eval().err()),
            ("top_k", top_k(&a, 1).mask(&b).eval().err()),
            ("transpose", transpose(&a).mask(&b).eval().err()),
            ("reduce_rows", reduce_rows(&a, Plus).mask(&x).eval().err()),
            ("argmin_rows", argmin_rows(&a).mask(&x).eval().err()),
            ("argmax_rows", argmax_rows(&a).mask(&x).eval().err()),
            ("kronecker", kronecker(&a, &b, Times).mask(&b).eval().err()),
            ("diag", diag(&x, 0).mask(&b).eval().err()),
            ("diag_extract", diag_extract(&a, 0).mask(&x).eval().err()),
            ("extract", extract(&a, far(), ..).eval().err()),
            ("extract_rows", extract_rows(&a, [99]).eval().err()),
            ("extract_row", extract_row(&a, 99, ..).eval().err()),
            ("extract_column", extract_column(&a, .., 99).eval().err()),
            ("extract_vector", extract_vector(&x, far()).eval().err()),
            ("assign", into(assign(&b, .., ..))),
            ("assign_row", into(assign_row(&x, 0, ..))),
            ("assign_column", into(assign_column(&x, .., 0))),
            ("assign_scalar", into(assign_scalar(1, far(), ..))),
            ("assign_vector", set(assign_vector(&y, ..))),
            ("subassign", into(subassign(&b, .., ..))),
            ("subassign_scalar", into(subassign_scalar(1, far(), ..))),
            ("subassign_vector", set(subassign_vector(&y, ..))),
            ("concat", concat(&[[&a, &b]]).err()),
            ("split", split(&a, &[1], &[5]).err()),
        ];
        for (at, (name, error)) in told.into_iter().enumerate() {
            let text = error.map(|e| e.to_string()).unwrap_or_default();
            assert!(text.starts_with(&format!("{name}: ")), "{at}: {name} says {text:?}");
        }
    });
}

#[test]
fn g2_sums_that_are_no_u64_are_told() {
    each(|d| {
        let a = matrix(d, (u64::MAX, 1), &[(3, 0, 1)]);
        for (rows, cols, named) in
            [([u64::MAX, 5], [1, 0], "number of rows"), ([u64::MAX, 0], [u64::MAX, 2], "number of columns")]
        {
            match split(&a, &rows, &cols) {
                Err(Error::IndexOverflow { what, value, .. }) => assert_eq!((what, value >> 64), (named, 1)),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(got(&split(&a, &[2, u64::MAX - 2], &[1]).unwrap()[1][0]), [(1, 0, 1)]);
    });
}

#[test]
fn g2_dots_want_a_mask_whatever_becomes_of_them() {
    each(|d| {
        let (a, b) = (some(d, 5, 6, 1), some(d, 6, 5, 2));
        let mask = some(d, 5, 5, 3);
        let (dot, all) = (mxm(&a, &b).strategy(Strategy::Dot), mask.structure());
        let told = |e: Option<Error>| assert!(matches!(e, Some(Error::InvalidValue { .. })), "{e:?}");
        told(dot.clone().eval().err());
        told(dot.clone().reduce(Plus).err());
        told(dot.clone().mask(&all.clone().complement()).reduce(Plus).err());
        told(dot.clone().apply(Negate).eval().err());
        assert_eq!(dot.mask(&all).reduce(Plus).unwrap(), mxm(&a, &b).mask(&all).reduce(Plus).unwrap());
    });
}

#[test]
fn g5_many_threads_share_operands() {
    each(|d| {
        let (a, b) = (some(d, 40, 40, 1), some(d, 40, 40, 2));
        let expected = (made(mxm(&a, &b)), made(ewise_add(&a, &b, Minus)));
        std::thread::scope(|scope| {
            let run = || (made(mxm(&a, &b)), made(ewise_add(&a, &b, Minus)));
            let threads: Vec<_> = (0..6).map(|_| scope.spawn(run)).collect();
            threads.into_iter().for_each(|t| assert_eq!(t.join().unwrap(), expected));
        });
    });
}

/// What the limits hold is measured in `host_memory_limit.rs` and `cuda_memory_limit.rs`.
#[test]
fn g6_a_limit_just_below_the_need_fails_and_the_need_suffices() {
    each(|d| {
        let (a, b) = (some(d, 60, 40, 1), some(d, 40, 60, 2));
        let expected = made(mxm(&a, &b));
        let run = |limit| mxm(&a, &b).memory_limit(limit).eval();
        // The least limit that suffices, and the greatest below that does not.
        let (mut low, mut high) = (0u64, 1 << 24);
        assert_eq!(got(&run(high).unwrap()), expected);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match run(middle) {
                Ok(c) => {
                    assert_eq!(got(&c), expected);
                    high = middle;
                }
                Err(Error::OutOfMemory { operation: "mxm", needed, .. }) => {
                    assert!(needed > middle, "{needed} bytes are needed of {middle}");
                    low = middle;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert!(low > 0 && got(&run(high).unwrap()) == expected && run(low).is_err());
    });
}

#[test]
fn g7_every_run_gives_the_same_bytes() {
    each(|d| {
        let a = cast::<f64, _>(&some(d, 60, 60, 1)).unwrap();
        let a = apply_second(&a, Div, 7.0).eval().unwrap();
        let bits = |e: Vec<(u64, u64, f64)>| e.into_iter().map(|(i, j, v)| (i, j, v.to_bits())).collect::<Vec<_>>();
        let runs = if emulated(d) { 5 } else { 20 };
        for strategy in [Strategy::Auto, Strategy::Hash, Strategy::Esc] {
            let run = || bits(made(mxm(&a, &a).strategy(strategy)));
            let first = run();
            (1..runs).for_each(|_| assert_eq!(run(), first, "{strategy:?}"));
        }
        let sum = reduce(&a, Plus).unwrap().to_bits();
        (1..runs).for_each(|_| assert_eq!(reduce(&a, Plus).unwrap().to_bits(), sum));
    });
}

/// Whatever part of the rows is made at once.
#[test]
fn g7_every_run_of_every_strategy_and_limit_gives_the_same_bytes() {
    each(|d| {
        let a = apply_second(&cast::<f64, _>(&some(d, 61, 61, 1)).unwrap(), Div, 7.0).eval().unwrap();
        let mask = some(d, 61, 61, 2).structure();
        let bits = |m: Matrix<f64>| got(&m).into_iter().map(|(i, j, v)| (i, j, v.to_bits())).collect::<Vec<_>>();
        let runs = if emulated(d) { 3 } else { 20 };
        let mut chunked = 0;
        for strategy in strategies(d) {
            let product = || {
                let product = mxm(&a, &a).strategy(strategy);
                if strategy == Strategy::Dot { product.mask(&mask) } else { product }
            };
            let whole = bits(product().eval().unwrap());
            for limit in [1 << 24, 1 << 17, 1 << 15, 1 << 14, 1 << 13] {
                let run = || product().memory_limit(limit).eval().map(bits);
                let first = match run() {
                    Ok(first) => first,
                    Err(Error::OutOfMemory { .. }) if limit < 1 << 24 => continue,
                    Err(e) => panic!("{strategy:?}, {limit}: {e}"),
                };
                chunked += usize::from(limit < 1 << 24);
                (1..runs).for_each(|_| assert_eq!(run().unwrap(), first, "{strategy:?}, {limit}"));
                // Others may be added up by other tables where fewer rows are made at once.
                if !matches!(d, Device::Cuda(_)) || strategy.sums_in_order() {
                    assert_eq!(first, whole, "{strategy:?}, {limit}");
                }
            }
        }
        assert!(chunked > 1, "{chunked}");
    });
}

#[test]
fn g8_forced_strategies_agree_with_the_chosen_one() {
    each(|d| {
        let (a, b) = (some(d, 50, 40, 1), some(d, 40, 60, 2));
        let mask = some(d, 50, 60, 3).structure();
        let chosen =
            (made(mxm(&a, &b)), made(mxm(&a, &b).mask(&mask)), made(mxm(&a, &b).mask(&mask.clone().complement())));
        for strategy in strategies(d).into_iter().filter(|s| *s != Strategy::Dot) {
            assert_eq!(made(mxm(&a, &b).strategy(strategy)), chosen.0);
            assert_eq!(made(mxm(&a, &b).mask(&mask).strategy(strategy)), chosen.1);
            assert_eq!(made(mxm(&a, &b).mask(&mask.clone().complement()).strategy(strategy)), chosen.2);
        }
        assert_eq!(made(mxm(&a, &b).mask(&mask).strategy(Strategy::Dot)), chosen.1);
        // Dots need a mask that says where.
        assert!(mxm(&a, &b).strategy(Strategy::Dot).eval().is_err());
        assert!(mxm(&a, &b).mask(&mask.complement()).strategy(Strategy::Dot).eval().is_err());
    });
}

/// What the emulator can run in a moment is a little smaller.
#[test]
fn g10_long_rows_and_full_tables() {
    each(|d| {
        let long: u64 = if emulated(d) { 1 << 14 } else { 1 << 21 };
        // One row of A, long rows of B: a row of C of every length.
        let a = matrix(d, (1, 2), &[(0, 0, 1), (0, 1, 2)]);
        let b = matrix(
            d,
            (2, long),
            &(0..long).flat_map(|j| [(0, j, 1), (1, j, 1)]).filter(|e| e.1 % 3 != e.0).collect::<Vec<_>>(),
        );
        let c = mxm(&a, &b).eval().unwrap();
        let expected = |j: u64| {
            if j.is_multiple_of(3) {
                2
            } else if j % 3 == 1 {
                1
            } else {
                3
            }
        };
        assert_eq!(c.nvals(), long);
        assert!(got(&c).iter().all(|e| e.2 == expected(e.1)));
        // A long row of A, and all products in one column.
        let row = transpose(&matrix(d, (long, 1), &(0..long).map(|k| (k, 0, 1)).collect::<Vec<_>>())).eval().unwrap();
        let column = matrix(d, (long, 1 << 20), &(0..long).map(|k| (k, 777, 1)).collect::<Vec<_>>());
        assert_eq!(made(mxm(&row, &column)), [(0, 777, long as i32)]);
        // Columns a power of two apart.
        let apart = matrix(d, (1, 1), &[(0, 0, 1)]);
        let spread = matrix(d, (1, 1 << 30), &(0..2000).map(|k| (0, k << 18, k as i32)).collect::<Vec<_>>());
        assert_eq!(made(mxm(&apart, &spread)), got(&spread));
    });
}

/// Those that take their time are in `cuda_extremes.rs`.
#[test]
fn g10_more_products_and_entries_than_2_to_32() {
    each(|d| {
        let (m, n) = (1u64 << 16, 1u64 << 17);
        let column = matrix(d, (m, 1), &(0..m).map(|i| (i, 0, (i % 3) as u8)).collect::<Vec<_>>());
        let row = matrix(d, (1, n), &(0..n).map(|j| (0, j, (j % 5) as u8)).collect::<Vec<_>>());
        assert_eq!(mxm(&column, &row).explain().unwrap().analysis.products, 1 << 33);
        let places = [(0, 0), (1, n - 1), (m / 2, 77_777), (m - 1, 3), (m - 1, n - 1)];
        let mask = matrix(d, (m, n), &places.map(|(i, j)| (i, j, true)));
        let expected = places.map(|(i, j)| (i, j, (i % 3 * (j % 5)) as u8));
        // The reference looks at all of them.
        if d == Device::Reference {
            return;
        }
        assert_eq!(made(mxm(&column, &row).mask(&mask).strategy(Strategy::Dot)), expected);
        match mxm(&column, &row).memory_limit(1 << 16).eval() {
            Err(Error::OutOfMemory { operation: "mxm", needed, .. }) => assert!(needed > 1 << 16, "{needed}"),
            other => panic!("{:?}", other.map(|c| c.nvals())),
        }
        // Full and of one value: as many entries, and no memory.
        let ones = Matrix::<u8>::full(m, n, 3).unwrap().to(&d).unwrap();
        assert_eq!((ones.nvals(), ones.get(m - 1, n - 1).unwrap()), (1 << 33, Some(3)));
        let twice = apply_second(&ones, Plus, 1).eval().unwrap();
        assert_eq!((twice.nvals(), twice.get(m - 1, 0).unwrap(), twice.is_iso()), (1 << 33, Some(4), true));
        let turned = transpose(&ones).eval().unwrap();
        assert_eq!((turned.shape(), turned.nvals(), turned.get(n - 1, m - 1).unwrap()), ((n, m), 1 << 33, Some(3)));
    });
}
