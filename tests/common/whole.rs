//! Operations on whole matrices and vectors, on the devices that the test binary names (`devices`), against ordered maps.
use super::model::*;
use oplus::prelude::*;
use quickcheck::{Arbitrary, Gen, TestResult, quickcheck};

/// Two matrices of one shape, a vector for rows and one for columns, and options of this shape and of others.
#[derive(Clone, Debug)]
struct Case {
    a: Model,
    b: Model,
    c: Model,
    by_row: Model,
    by_column: Model,
    options: Options,
    k: i64,
    transposed: bool,
}
impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let shape = (dimension(g), dimension(g));
        Case {
            a: Model::arbitrary(g, shape),
            b: Model::arbitrary(g, shape),
            c: Model::arbitrary(g, shape),
            by_row: Model::arbitrary(g, (1, shape.0)),
            by_column: Model::arbitrary(g, (1, shape.1)),
            options: Options::arbitrary(g, shape),
            k: i64::arbitrary(g) % 20,
            transposed: bool::arbitrary(g),
        }
    }
}

/// An operation's result alone, and written by all rules into C; `seen` makes a model of what it makes.
fn check<K>(
    what: &str,
    operation: impl Fn() -> Operation<K>,
    expected: &Model,
    (c, options): (&Model, &Options),
    device: Device,
) where
    K: Compute<Target = Matrix<i32, PlusTimes>>,
{
    assert_eq!(&Model::of(&operation().eval().unwrap()), expected, "{what} on {device}");
    let mut out = c.matrix(device);
    let mut written = operation();
    if options.replace {
        written = written.replace();
    }
    if let Some(mask) = options.library_mask(device, false) {
        written = written.mask(&mask);
    }
    if options.accumulate { written.accumulate(Minus).into(&mut out) } else { written.into(&mut out) }.unwrap();
    assert_eq!(Model::of(&out), options.written(c, expected), "{what} into C on {device}");
}

fn model(shape: (u64, u64), entries: impl IntoIterator<Item = ((u64, u64), i32)>) -> Model {
    Model { shape, entries: entries.into_iter().collect() }
}

/// Wrapping x − 2y: neither commutative nor associative.
fn skewed(x: i32, y: i32) -> i32 {
    x.wrapping_sub(y.wrapping_add(y))
}
oplus::operator! { pub Skewed[T: Number](T, T) -> T = |x, y| sub(x, add(y, y)) }

quickcheck! {
    fn unions_with_values_for_what_is_missing(case: Case) -> bool {
        let Case { a, b, c, options, transposed, .. } = case;
        let keys = a.entries.keys().chain(b.entries.keys());
        let expected = model(a.shape, keys.map(|k| {
            (*k, skewed(a.get(k.0, k.1).unwrap_or(7), b.get(k.0, k.1).unwrap_or(-3)))
        }));
        for device in super::devices() {
            let (left, right) = (a.matrix(device), if transposed { b.transposed() } else { b.clone() }.matrix(device));
            let operation = || {
                let o = ewise_union(&left, 7, &right, -3, Skewed);
                if transposed { o.transpose_b() } else { o }
            };
            check("ewise_union", operation, &expected, (&c, &options), device);
        }
        true
    }
    fn scaled_rows_and_columns(case: Case) -> bool {
        let Case { a, c, by_row, by_column, options, transposed, .. } = case;
        let rows = model(a.shape, a.entries.iter().filter_map(|(k, x)| by_row.get(0, k.0).map(|v| (*k, skewed(v, *x)))));
        let columns =
            model(a.shape, a.entries.iter().filter_map(|(k, x)| by_column.get(0, k.1).map(|v| (*k, skewed(*x, v)))));
        for device in super::devices() {
            let m = if transposed { a.transposed() } else { a.clone() }.matrix(device);
            let (r, l) = (by_row.vector(device), by_column.vector(device));
            let of_rows = || {
                let o = scale_rows(&r, &m, Skewed);
                if transposed { o.transpose_a() } else { o }
            };
            check("scale_rows", of_rows, &rows, (&c, &options), device);
            let of_columns = || {
                let o = scale_columns(&m, &l, Skewed);
                if transposed { o.transpose_a() } else { o }
            };
            check("scale_columns", of_columns, &columns, (&c, &options), device);
        }
        true
    }
    fn triangles(case: Case) -> bool {
        let Case { a, c, options, k, .. } = case;
        let diagonal = |(i, j): &(u64, u64)| i128::from(*j) - i128::from(*i);
        if a.shape.0 == u64::MAX || a.shape.1 == u64::MAX {
            return true;
        }
        let low = model(a.shape, a.entries.clone().into_iter().filter(|(at, _)| diagonal(at) <= i128::from(k)));
        let high = model(a.shape, a.entries.clone().into_iter().filter(|(at, _)| diagonal(at) >= i128::from(k)));
        for device in super::devices() {
            let m = a.matrix(device);
            check("tril", || tril(&m, k), &low, (&c, &options), device);
            check("triu", || triu(&m, k), &high, (&c, &options), device);
        }
        true
    }
    fn diagonals(case: Case) -> bool {
        let Case { a, k, by_column, .. } = case;
        let (m, n) = a.shape;
        let (down, right) = (if k < 0 { -k as u64 } else { 0 }, if k > 0 { k as u64 } else { 0 });
        let length = m.saturating_sub(down).min(n.saturating_sub(right));
        let expected: Vec<(u64, i32)> = a.entries.iter()
            .filter(|((i, j), _)| i128::from(*j) - i128::from(*i) == i128::from(k))
            .map(|((i, _), x)| (i - down, *x))
            .collect();
        for device in super::devices() {
            let matrix = a.matrix(device);
            for (d, view) in [(diag_extract(&matrix, k), "as it is"), (diag_extract(&a.transposed().matrix(device), -k), "turned"),
                (diag_extract(&a.transposed().matrix(device), k).transpose_a(), "seen transposed")] {
                let d = d.eval().unwrap();
                assert_eq!((d.len(), d.entries().unwrap()), (length, expected.clone()), "{view} on {device}");
            }
            let v = by_column.vector(device);
            let size = n as u128 + k.unsigned_abs() as u128;
            let made = diag(&v, k).eval();
            if size > u64::MAX as u128 {
                assert!(matches!(made, Err(Error::IndexOverflow { .. })));
                continue;
            }
            let placed = by_column.entries.iter().map(|((_, i), x)| ((i + down, i + right), *x));
            let expected = model((size as u64, size as u64), placed);
            assert_eq!(Model::of(&made.unwrap()), expected, "{device}");
            if size > 0 {
                let options = Options { replace: true, ..Options::arbitrary(&mut Gen::new(20), expected.shape) };
                let c = Model::arbitrary(&mut Gen::new(30), expected.shape);
                check("diag", || diag(&v, k), &expected, (&c, &options), device);
            }
        }
        true
    }
    fn kronecker_products(first: Case, second: Case) -> TestResult {
        let (a, b) = (first.a, second.b);
        let shape = (a.shape.0 as u128 * b.shape.0 as u128, a.shape.1 as u128 * b.shape.1 as u128);
        let (left, right) = (first.transposed, second.transposed);
        for device in super::devices() {
            let of = |m: &Model, t: bool| if t { m.transposed() } else { m.clone() }.matrix(device);
            let (x, y) = (of(&a, left), of(&b, right));
            let operation = || {
                let o = kronecker(&x, &y, Skewed);
                let o = if left { o.transpose_a() } else { o };
                if right { o.transpose_b() } else { o }
            };
            let (Ok(m), Ok(n)) = (u64::try_from(shape.0), u64::try_from(shape.1)) else {
                assert!(matches!(operation().eval(), Err(Error::IndexOverflow { .. })));
                continue;
            };
            let (p, q) = b.shape;
            let expected = model((m, n), a.entries.iter().flat_map(|((i, j), x)| {
                b.entries.iter().map(move |((k, l), y)| ((i * p + k, j * q + l), skewed(*x, *y)))
            }));
            let options = Options::arbitrary(&mut Gen::new(30), (m, n));
            let c = Model::arbitrary(&mut Gen::new(30), (m, n));
            check("kronecker", operation, &expected, (&c, &options), device);
        }
        TestResult::passed()
    }
    fn least_and_largest(case: Case) -> bool {
        let Case { a, by_column, .. } = case;
        let lines = |m: &Model, largest: bool| -> Vec<(u64, u64)> {
            let rows: std::collections::BTreeSet<u64> = m.entries.keys().map(|k| k.0).collect();
            rows.into_iter().map(|i| {
                let key = |j: u64, x: i32| (if largest { -i64::from(x) } else { i64::from(x) }, j);
                let best = m.entries.iter().filter(|(k, _)| k.0 == i).map(|(k, x)| key(k.1, *x)).min();
                (i, best.unwrap().1)
            }).collect()
        };
        for device in super::devices() {
            let m = a.matrix(device);
            assert_eq!(argmin_rows(&m).eval().unwrap().entries().unwrap(), lines(&a, false), "{device}");
            assert_eq!(argmax_rows(&m).eval().unwrap().entries().unwrap(), lines(&a, true), "{device}");
            let turned = lines(&a.transposed(), false);
            assert_eq!(argmin_rows(&m).transpose_a().eval().unwrap().entries().unwrap(), turned, "{device}");
            assert_eq!(argmin_rows(&m.transposed()).eval().unwrap().entries().unwrap(), turned, "{device}");
            let v = by_column.vector(device);
            assert_eq!(argmin(&v).unwrap(), lines(&by_column, false).first().map(|l| l.1), "{device}");
            assert_eq!(argmax(&v).unwrap(), lines(&by_column, true).first().map(|l| l.1), "{device}");
            // Of bool, false < true.
            let truth = |x: &Model| Model { entries: x.entries.iter().map(|(k, x)| (*k, i32::from(*x > 0))).collect(), ..x.clone() };
            let (flags, of) = (apply_second(&m, Gt, 0).eval().unwrap(), truth(&a));
            assert_eq!(argmin_rows(&flags).eval().unwrap().entries().unwrap(), lines(&of, false), "{device}");
            assert_eq!(argmax_rows(&flags).eval().unwrap().entries().unwrap(), lines(&of, true), "{device}");
            let turned = lines(&of.transposed(), true);
            assert_eq!(argmax_rows(&flags).transpose_a().eval().unwrap().entries().unwrap(), turned, "{device}");
            let (flags, of) = (apply_second(&v, Gt, 0).eval().unwrap(), truth(&by_column));
            assert_eq!(argmin(&flags).unwrap(), lines(&of, false).first().map(|l| l.1), "{device}");
            assert_eq!(argmax(&flags).unwrap(), lines(&of, true).first().map(|l| l.1), "{device}");
        }
        true
    }
    fn sorted_rows(case: Case) -> bool {
        let Case { a, transposed, .. } = case;
        let rows: std::collections::BTreeSet<u64> = a.entries.keys().map(|k| k.0).collect();
        let (mut ascending, mut descending) = (vec![], vec![]);
        for i in rows {
            let mut row: Vec<(u64, i32)> = a.entries.iter().filter(|(k, _)| k.0 == i).map(|(k, x)| (k.1, *x)).collect();
            row.sort_by_key(|(_, x)| *x);
            ascending.extend(row.iter().enumerate().map(|(p, (j, x))| (i, p as u64, *x, *j)));
            row.sort_by_key(|(j, x)| (-i64::from(*x), *j));
            descending.extend(row.iter().enumerate().map(|(p, (j, x))| (i, p as u64, *x, *j)));
        }
        for device in super::devices() {
            let m = if transposed { a.transposed() } else { a.clone() }.matrix(device);
            let view = m.transposed();
            let up = if transposed { sort(&view, Lt) } else { sort(&m, Lt) }.unwrap();
            let down = if transposed { sort(&view, Gt) } else { sort(&m, Gt) }.unwrap();
            for ((values, columns), expected) in [(up, &ascending), (down, &descending)] {
                assert_eq!((values.shape(), columns.shape()), (a.shape, a.shape));
                let found: Vec<_> = values.entries().unwrap().into_iter().zip(columns.entries().unwrap())
                    .map(|((i, p, x), (i2, p2, j))| {
                        assert_eq!((i, p), (i2, p2));
                        (i, p, x, j)
                    })
                    .collect();
                assert_eq!(&found, expected, "{device}");
            }
        }
        true
    }
    fn resized(case: Case, rows: u8, cols: u8) -> bool {
        let Case { a, by_column, .. } = case;
        let size = |n: u64, to: u8| match to {
            0..8 => 0,
            8..16 => u64::from(to - 7) << 36,
            16..40 => n,
            _ => u64::from(to) % 20,
        };
        let shape = (size(a.shape.0, rows), size(a.shape.1, cols));
        let expected = model(shape, a.entries.clone().into_iter().filter(|((i, j), _)| *i < shape.0 && *j < shape.1));
        for device in super::devices() {
            let mut m = a.matrix(device);
            let shared = m.clone();
            m.resize(shape.0, shape.1).unwrap();
            assert_eq!(Model::of(&m), expected, "{device}");
            assert_eq!(Model::of(&shared), a, "{device}");
            let mut v = by_column.vector(device);
            v.resize(shape.1).unwrap();
            let kept = by_column.entries.clone().into_iter().filter(|((_, j), _)| *j < shape.1);
            assert_eq!(Model::of_vector(&v), model((1, shape.1), kept), "{device}");
            // What was resized is as good as new: it meets others of its shape.
            let sum = ewise_add(&m, &expected.matrix(device), Minus).eval().unwrap();
            assert!(sum.entries().unwrap().iter().all(|e| e.2 == 0));
        }
        true
    }
    fn tiles_together_and_apart(case: Case, down: Vec<u8>, across: Vec<u8>) -> bool {
        let Case { a, .. } = case;
        // Cuts of both dimensions.
        let sizes = |n: u64, cuts: &[u8]| -> Vec<u64> {
            let mut at: Vec<u64> = cuts.iter().take(3).map(|c| (u128::from(*c) * u128::from(n) / 256) as u64).collect();
            at.sort_unstable();
            let mut sizes: Vec<u64> = at.iter().scan(0, |before, c| Some(c - std::mem::replace(before, *c))).collect();
            sizes.push(n - at.last().copied().unwrap_or(0));
            sizes
        };
        let (rows, cols) = (sizes(a.shape.0, &down), sizes(a.shape.1, &across));
        for device in super::devices() {
            let m = a.matrix(device);
            let tiles = split(&m, &rows, &cols).unwrap();
            let mut top = 0;
            for (r, line) in tiles.iter().enumerate() {
                let mut left = 0;
                for (c, tile) in line.iter().enumerate() {
                    let inside = |(i, j): &(u64, u64)| (top..top + rows[r]).contains(i) && (left..left + cols[c]).contains(j);
                    let expected = a.entries.iter().filter(|(k, _)| inside(k)).map(|((i, j), x)| ((i - top, j - left), *x));
                    assert_eq!(Model::of(tile), model((rows[r], cols[c]), expected), "{device}");
                    left += cols[c];
                }
                top += rows[r];
            }
            let borrowed: Vec<Vec<&Matrix<i32>>> = tiles.iter().map(|line| line.iter().collect()).collect();
            assert_eq!(Model::of(&concat(&borrowed).unwrap()), a, "{device}");
        }
        true
    }
    fn updates_in_batches_and_alone(case: Case, changes: Vec<(u8, u8, Option<i8>)>) -> bool {
        let Case { a, .. } = case;
        if a.shape.0 == 0 || a.shape.1 == 0 {
            return true;
        }
        for device in super::devices() {
            let (mut expected, mut together, mut alone) = (a.clone(), a.matrix(device), a.matrix(device));
            let (before, mut updates) = (together.clone(), Updates::new());
            for (i, j, change) in changes.iter().take(12) {
                // Now and then where there is an entry.
                let of = |x: u8, n: u64| if n > 1000 { u64::from(x % 8) * (n / 9) } else { u64::from(x) % n };
                let met = a.entries.keys().nth(usize::from(*i)).filter(|_| j % 2 == 0);
                let (i, j) = met.copied().unwrap_or((of(*i, a.shape.0), of(*j, a.shape.1)));
                match change {
                    Some(x) => {
                        expected.entries.insert((i, j), i32::from(*x));
                        updates.set(i, j, i32::from(*x)).unwrap();
                        alone.set(i, j, i32::from(*x)).unwrap();
                    }
                    None => {
                        expected.entries.remove(&(i, j));
                        updates.remove(i, j).unwrap();
                        alone.remove(i, j).unwrap();
                    }
                }
                assert_eq!(alone.get(i, j).unwrap(), change.map(i32::from), "{device}");
            }
            together.update(&updates).unwrap();
            assert_eq!(Model::of(&together), expected, "{device}");
            assert_eq!(Model::of(&alone), expected, "{device}");
            assert_eq!(Model::of(&before), a, "{device}");
        }
        true
    }
    fn entries_one_by_one(case: Case) -> bool {
        let Case { a, by_column, .. } = case;
        let all: Vec<_> = a.entries.iter().map(|((i, j), x)| (*i, *j, *x)).collect();
        for device in super::devices() {
            let m = a.matrix(device);
            let iter = m.iter().unwrap();
            assert_eq!(iter.len(), all.len());
            assert_eq!(iter.collect::<Vec<_>>(), all);
            let rows = m.rows().unwrap();
            let again: Vec<_> = rows.iter().flat_map(|row| row.iter().map(move |(j, x)| (row.index(), j, x))).collect();
            assert_eq!(again, all);
            for i in (0..a.shape.0.min(15)).chain(all.iter().map(|e| e.0)) {
                let expected: Vec<_> = all.iter().filter(|e| e.0 == i).map(|e| (e.1, e.2)).collect();
                assert_eq!(rows.row(i).iter().collect::<Vec<_>>(), expected);
            }
            let v: Vec<_> = by_column.entries.iter().map(|((_, j), x)| (*j, *x)).collect();
            assert_eq!(by_column.vector(device).iter().unwrap().collect::<Vec<_>>(), v);
        }
        true
    }
}

#[test]
fn nan_is_passed_over_and_sorted_last() {
    let nan = f64::NAN;
    let list =
        [(0, 0, nan), (0, 1, 2.0), (0, 2, -1.0), (0, 3, nan), (1, 1, nan), (1, 2, nan), (2, 0, -0.0), (2, 3, 0.0)];
    for device in super::devices() {
        let a = Matrix::<f64>::build(3, 4, &list).unwrap().to(&device).unwrap();
        assert_eq!(argmin_rows(&a).eval().unwrap().entries().unwrap(), [(0, 2), (1, 1), (2, 0)], "{device}");
        assert_eq!(argmax_rows(&a).eval().unwrap().entries().unwrap(), [(0, 1), (1, 1), (2, 0)], "{device}");
        for (columns, expected) in
            [(sort(&a, Lt).unwrap().1, [2, 1, 0, 3, 1, 2, 0, 3]), (sort(&a, Gt).unwrap().1, [1, 2, 0, 3, 1, 2, 0, 3])]
        {
            let found: Vec<u64> = columns.entries().unwrap().into_iter().map(|e| e.2).collect();
            assert_eq!(found, expected, "{device}");
        }
    }
}

/// Rows longer than what is sorted and compared in one piece, by an order that ties often.
#[test]
fn long_rows_in_order() {
    for device in super::devices() {
        let n = if matches!(device, Device::Cpu) { 200_000 } else { 3_000 };
        let value = |j: u64| ((j * 7919) % 1013) as i32;
        let list: Vec<_> = (0..n).map(|j| (j, value(j))).collect();
        let x = Vector::<i32>::build(n, &list).unwrap().to(&device).unwrap();
        let (values, columns) = sort(&x, Lt).unwrap();
        let mut expected: Vec<(i32, u64)> = list.iter().map(|(j, v)| (*v, *j)).collect();
        expected.sort_unstable();
        let found: Vec<(i32, u64)> =
            values.iter().unwrap().zip(columns.iter().unwrap()).map(|((_, v), (_, j))| (v, j)).collect();
        assert!(found == expected, "{device}");
        assert_eq!(argmin(&x).unwrap(), Some(expected[0].1));
        let largest = list.iter().rev().max_by_key(|(_, v)| *v).map(|(j, _)| *j);
        assert_eq!(argmax(&x).unwrap(), largest);
        // Columns reversed and repeated, in rows of this length.
        let reversed = extract_vector(&x, Indices::stride(n - 1, -1, n)).eval().unwrap();
        assert!(reversed.iter().unwrap().all(|(j, v)| v == value(n - 1 - j)), "{device}");
    }
}

/// An order that is none must not end in anything but entries of the row.
#[test]
fn any_operator_sorts_without_harm() {
    oplus::operator! { pub Always[T: Number](T, T) -> bool = |x, y| x == y || x != y }
    for device in super::devices() {
        let list: Vec<_> = (0..700).map(|j| (j, (j % 5) as i32)).collect();
        let x = Vector::<i32>::build(900, &list).unwrap().to(&device).unwrap();
        let (values, columns) = sort(&x, Always).unwrap();
        assert_eq!((values.nvals(), columns.nvals()), (700, 700));
        assert!(columns.iter().unwrap().zip(values.iter().unwrap()).all(|((_, j), (_, v))| v == (j % 5) as i32));
    }
}

#[test]
fn errors_name_operands_and_change_nothing() {
    for device in super::devices() {
        let a = Matrix::<i32>::build(2, 3, &[(0, 0, 1)]).unwrap().to(&device).unwrap();
        let v = Vector::<i32>::build(2, &[(0, 1)]).unwrap().to(&device).unwrap();
        let text = |e: Error| e.to_string();
        let e = text(ewise_union(&a, 0, &a.transposed(), 0, Plus).eval().unwrap_err());
        assert!(e.contains("ewise_union: A is 2×3, B is 3×2"), "{e}");
        let e = text(scale_columns(&a, &v, Plus).eval().unwrap_err());
        assert!(e.contains("scale_columns: v has length 2, a row of A has length 3"), "{e}");
        let e = text(scale_rows(&v, &a.transposed(), Plus).eval().unwrap_err());
        assert!(e.contains("scale_rows: v has length 2"), "{e}");
        let e = text(split(&a, &[1], &[3]).unwrap_err());
        assert!(e.contains("split: A is 2×3, all tiles together is 1×3"), "{e}");
        let b = Matrix::<i32>::build(1, 3, &[]).unwrap().to(&device).unwrap();
        let e = text(concat(&[[&a, &b]]).unwrap_err());
        assert!(e.contains("concat: a tile is 1×3, its place is 2×3"), "{e}");
        let none: [[&Matrix<i32>; 0]; 1] = [[]];
        assert!(matches!(concat(&none), Err(Error::InvalidValue { .. })));
        assert!(matches!(concat(&[vec![&a], vec![&a, &a]]), Err(Error::InvalidValue { .. })));
        let huge = Matrix::<i32>::build(1 << 40, 1 << 40, &[]).unwrap().to(&device).unwrap();
        assert!(matches!(kronecker(&huge, &huge, Times).eval(), Err(Error::IndexOverflow { .. })));
        let mut c = a.clone();
        assert!(matches!(c.set(2, 0, 5), Err(Error::IndexOutOfBounds { what: "row", index: 2, bound: 2, .. })));
        assert!(matches!(c.remove(0, 3), Err(Error::IndexOutOfBounds { what: "column", index: 3, bound: 3, .. })));
        let mut updates = Updates::new();
        updates.set(0, 1, 9).unwrap();
        updates.remove(0, 3).unwrap();
        let e = c.update(&updates).unwrap_err();
        assert!(
            matches!(e, Error::IndexOutOfBounds { what: "column", position: Some(1), index: 3, bound: 3, .. }),
            "{e}"
        );
        assert!(kronecker(&a, &b, Times).into(&mut c).is_err());
        assert_eq!(c.entries().unwrap(), [(0, 0, 1)]);
    }
}
