//! Formats of matrices and iso values: never visible in a result, chosen by hand and by themselves.
#[path = "common/formats.rs"]
mod formats;
#[path = "common/random.rs"]
mod random;

use formats::{Operands, check, one_row};
use oplus::prelude::*;
use quickcheck::QuickCheck;
use random::Rng;

const TESTS: u64 = 40;

fn agrees(o: Operands) -> bool {
    for device in [Device::Reference, Device::Cpu] {
        check::<i64>(&o, &device);
    }
    check::<f64>(&o, &Device::Cpu);
    true
}

#[test]
fn operations_give_the_same_in_every_format() {
    QuickCheck::new().tests(TESTS).quickcheck(agrees as fn(Operands) -> bool);
}

fn diagonal(n: u64) -> Matrix<f64> {
    let entries: Vec<_> = (0..n).map(|i| (i, i, i as f64)).collect();
    Matrix::build(n, n, &entries).unwrap()
}

#[test]
fn what_a_format_cannot_hold_is_an_error() {
    let (a, large) = (diagonal(3), Matrix::<f64>::new(1 << 20, 1 << 20).unwrap());
    assert!(matches!(a.to_format(Format::Full), Err(Error::InvalidValue { operation: "to_format", .. })));
    for format in [Format::Bitmap, Format::Full] {
        match large.to_format(format) {
            Err(Error::OutOfMemory { needed, .. }) => assert_eq!(needed, (1 << 43) + (1 << 37)),
            other => panic!("{other:?}"),
        }
    }
    let huge: Matrix<f64> = Matrix::build(1 << 40, 1 << 40, &[(1, 1 << 39, 2.0), (1 << 38, 5, 3.0)]).unwrap();
    for format in [Format::Csr, Format::Dia] {
        assert!(matches!(huge.to_format(format), Err(Error::IndexOverflow { value, .. }) if value == 1 << 40));
    }
    assert!(matches!(huge.to_format(Format::Bitmap), Err(Error::OutOfMemory { needed: u64::MAX, .. })));
    // More bytes than 128 bits count.
    let largest: Matrix<i64> = Matrix::build(u64::MAX, u64::MAX, &[(0, 0, 1)]).unwrap();
    for format in [Format::Bitmap, Format::Full] {
        assert!(matches!(largest.to_format(format), Err(Error::OutOfMemory { needed: u64::MAX, .. })));
    }
    let columns = huge.to_format(Format::Csc).unwrap();
    assert_eq!((columns.format(), columns.entries().unwrap()), (Format::Csc, huge.entries().unwrap()));
    assert_eq!(columns.to_format(Format::Hypersparse).unwrap().format(), Format::Hypersparse);
}

#[test]
fn iso_matrices_store_one_value() {
    let n = 1000u64;
    let entries: Vec<_> = (0..n).flat_map(|i| (0..8).map(move |k| (i, (i * 7 + k * 31) % n, 2.5f64))).collect();
    let a: Matrix<f64> = Matrix::build(n, n, &entries).unwrap();
    assert!(a.is_iso());
    let positions = (n + 1) * 8 + n * 8 * 4;
    assert_eq!(a.memory_bytes(), positions + 8);
    assert_eq!(a.with_value(7u8).unwrap().memory_bytes(), positions + 1);
    // Another value for one entry, and the same again.
    let (mut b, (i, j, v)) = (a.clone(), entries[5]);
    b.set(i, j, 1.0).unwrap();
    assert!(!b.is_iso() && b.memory_bytes() == positions + n * 8 * 8);
    match b.to_iso() {
        Err(Error::InvalidValue { reason, .. }) => assert!(reason.contains(&format!("({i}, {j})")), "{reason}"),
        other => panic!("{other:?}"),
    }
    b.set(i, j, v).unwrap();
    assert!(b.to_iso().unwrap().is_iso());
    assert_eq!(b.to_iso().unwrap().entries().unwrap(), a.entries().unwrap());
    let x: Vector<f64> = Vector::build(5, &[(1, 2.0), (3, 2.0)]).unwrap();
    assert!(!x.is_iso() && x.to_iso().unwrap().is_iso());
    assert_eq!(x.to_iso().unwrap().entries().unwrap(), x.entries().unwrap());
    assert_eq!(x.with_value(4i32).unwrap().entries().unwrap(), [(1, 4), (3, 4)]);
}

/// Floats that are equal and not the same bits are different values.
#[test]
fn iso_is_bit_for_bit() {
    let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 0.0), (1, 1, -0.0)]).unwrap();
    assert!(!a.is_iso());
    let nan: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, f64::NAN), (1, 1, f64::NAN)]).unwrap();
    assert!(nan.is_iso() && nan.get(1, 1).unwrap().unwrap().is_nan());
}

/// Operations that keep equal values equal keep one value.
#[test]
fn iso_stays_where_values_stay_equal() {
    let a: Matrix<f64> = Matrix::build(40, 40, &(0..40).map(|i| (i, i * 7 % 40, 2.0)).collect::<Vec<_>>()).unwrap();
    let b: Matrix<f64> =
        Matrix::build(40, 40, &(0..40).map(|i| (i, (i / 2) * 14 % 40, 2.0)).collect::<Vec<_>>()).unwrap();
    let loose = apply_index(&a, RowIndex, 0).eval().unwrap();
    assert!(a.is_iso() && !loose.is_iso());
    assert!(apply(&a, Negate).eval().unwrap().is_iso());
    assert!(apply_second(&loose, Second, 5i64).eval().unwrap().is_iso());
    assert!(apply(&loose, Pair::<u64>::default()).eval().unwrap().is_iso());
    assert!(transpose(&a).eval().unwrap().is_iso());
    assert!(select(&a, Tril, 0).eval().unwrap().is_iso());
    assert!(extract(&a, 1..30, ..).eval().unwrap().is_iso());
    assert!(ewise_mult(&a, &b, Plus).eval().unwrap().is_iso());
    assert!(ewise_add(&a, &b, Max).eval().unwrap().is_iso());
    assert!(!ewise_add(&a, &b, Plus).eval().unwrap().is_iso());
    let united = ewise_union(&a, 7.0, &b, -3.0, First).eval().unwrap();
    assert!(!united.is_iso() && ewise_union(&a, 2.0, &b, 7.0, First).eval().unwrap().is_iso());
    assert!(ewise_union(&a, 2.0, &b, 2.0, Times).eval().unwrap().is_iso());
    let wide = extract(&a, ..20, ..).eval().unwrap();
    for sums in [reduce_rows(&wide, Max), reduce_rows(&wide, Max).transpose_a()] {
        let sums = sums.eval().unwrap();
        assert!(sums.is_iso() && sums.nvals() == 20 && sums.entries().unwrap().iter().all(|(_, x)| *x == 2.0));
    }
    assert!(!reduce_rows(&b, Plus).eval().unwrap().is_iso());
    assert!(mxm(&loose.over::<AnyPair>(), &loose.over::<AnyPair>()).eval().unwrap().is_iso());
    assert!(mxm(&a.over::<MinPlus>(), &b.over::<MinPlus>()).eval().unwrap().is_iso());
    assert!(!mxm(&a.over::<PlusPair>(), &b.over::<PlusPair>()).eval().unwrap().is_iso());
    // A product that looks at no value of A leaves it at one; so does one that looks at all.
    let full: Vector<f64> = Vector::build(40, &(0..40).map(|i| (i, i as f64)).collect::<Vec<_>>()).unwrap();
    let multiplied = |a: &Matrix<f64>| {
        let _ = mxm(&a.over::<PlusSecond>(), &loose.cast::<f64>().unwrap().over::<PlusSecond>()).eval().unwrap();
        let _ = mxm(a, &b).eval().unwrap();
        let _ = reduce_rows(a, Plus).eval().unwrap();
        let _ = ewise_add(a, &b, Plus).eval().unwrap();
        let _ = mxv(a, &full).eval().unwrap();
        let _ = vxm(&full, a).eval().unwrap();
        let _ = vxm(&full, &a.transposed()).eval().unwrap();
    };
    // What is kept with the positions is there before.
    let other = a.with_value(3.0).unwrap();
    (0..4).for_each(|_| multiplied(&other));
    let bytes = a.memory_bytes();
    multiplied(&a);
    assert_eq!(a.memory_bytes(), bytes);
}

/// Products with a full vector, pulled and pushed, take the one value of a matrix for all its entries: as if each had its own.
#[test]
fn one_value_times_a_full_vector() {
    fn same<S: Semiring<T, T, Out = T>, T: Scalar + PartialEq>(a: &Matrix<T>, other: T, x: &Vector<T>) {
        // One that was of several values has them all.
        let mut entries = a.entries().unwrap();
        let mut loose: Matrix<T> = Matrix::new(a.nrows(), a.ncols()).unwrap();
        if let Some((i, j, value)) = entries.first().copied() {
            entries[0].2 = other;
            loose = Matrix::build(a.nrows(), a.ncols(), &entries).unwrap();
            loose.set(i, j, value).unwrap();
            assert!(!loose.is_iso() || entries.len() == 1);
        }
        assert_eq!(loose.entries().unwrap(), a.entries().unwrap());
        let times = |a: &Matrix<T>, device| {
            let (a, x) = (a.to(device).unwrap().over::<S>(), x.to(device).unwrap().over::<S>());
            let turned = transpose(&a).eval().unwrap();
            let made = [mxv(&a, &x), mxv(&turned.transposed(), &x), vxm(&x, &turned), vxm(&x, &a.transposed())];
            made.map(|t| t.eval().unwrap().entries().unwrap())
        };
        let made = times(a, &Device::Cpu);
        assert_eq!(made, times(&loose, &Device::Cpu));
        assert_eq!(made, times(a, &Device::Reference));
    }
    for (rows, columns, some) in [(1, 1, 1u64), (7, 5, 3), (7, 5, 0), (40, 30, 200), (300, 200, 3000), (90, 90, 8100)] {
        let at: Vec<_> = (0..some).map(|e| (e * e * 7 % rows, e * 11 % columns)).collect();
        let bools: Vec<_> = (0..columns).map(|k| (k, k % 3 == 1)).collect();
        let numbers: Vec<_> = (0..columns).map(|k| (k, (k * 13 % 17) as i64 - 8)).collect();
        let (bools, numbers) = (Vector::build(columns, &bools).unwrap(), Vector::build(columns, &numbers).unwrap());
        for value in [false, true] {
            let a = Matrix::from_pattern(rows, columns, &at, value).unwrap();
            assert!(a.is_iso() || some == 0);
            same::<LorLand, _>(&a, !value, &bools);
            same::<LxorLand, _>(&a, !value, &bools);
            same::<AnyPair, _>(&a, !value, &bools);
        }
        let a = Matrix::from_pattern(rows, columns, &at, -3i64).unwrap();
        same::<PlusTimes, _>(&a, 5, &numbers);
        same::<MinPlus, _>(&a, 5, &numbers);
        same::<PlusFirst, _>(&a, 5, &numbers);
        same::<PlusSecond, _>(&a, 5, &numbers);
    }
}

/// What reads cells alone leaves cells.
#[test]
fn cells_stay_cells() {
    let entries: Vec<_> = (0..30u64).flat_map(|i| (0..20u64).map(move |j| (i, j, (i * j) as f64))).collect();
    let full: Matrix<f64> = Matrix::build(30, 20, &entries).unwrap().to_format(Format::Full).unwrap();
    let most = select(&full, ValueGt, 50.0).eval().unwrap();
    assert_eq!((full.format(), most.format()), (Format::Full, Format::Bitmap));
    assert_eq!(apply(&full, Negate).eval().unwrap().format(), Format::Full);
    assert_eq!(ewise_add(&full, &most, Plus).eval().unwrap().format(), Format::Full);
    assert_eq!(ewise_mult(&full, &most, Plus).eval().unwrap().format(), Format::Bitmap);
    assert_eq!(full.memory_bytes(), 30 * 20 * 8);
    // Full += sparse stays full, where it lies.
    let few: Matrix<f64> = Matrix::build(30, 20, &[(3, 4, 1.0), (29, 19, 2.0)]).unwrap();
    let (mut c, mut b) = (full.clone(), most.clone());
    apply(&few, Identity).accumulate(Plus).into(&mut c).unwrap();
    apply(&few, Identity).accumulate(Plus).mask(&few.structure()).into(&mut b).unwrap();
    assert_eq!((c.format(), c.get(3, 4).unwrap(), full.get(3, 4).unwrap()), (Format::Full, Some(13.0), Some(12.0)));
    assert_eq!((b.format(), b.get(3, 4).unwrap(), most.get(3, 4).unwrap()), (Format::Bitmap, Some(1.0), None));
    assert_eq!((b.nvals(), b.entries().unwrap().len() as u64), (most.nvals() + 1, most.nvals() + 1));
}

/// Cells of one value stay that while an accumulator makes no other, also of many entries; what shares them does not change.
#[test]
fn cells_of_one_value_take_entries() {
    let (m, n) = (70u64, 1003u64);
    let at = |step: u64| (0..m * n).step_by(step as usize).map(|p| (p / n, p % n)).collect::<Vec<_>>();
    for device in [Device::Cpu, Device::Reference] {
        let of = |step, value: i32| Matrix::<i32>::from_pattern(m, n, &at(step), value).unwrap().to(&device).unwrap();
        for (step, value, iso) in [(2, 5, true), (1, 5, true), (3, 6, false), (1, 6, false), (900, 4, false)] {
            let list = of(7, 5);
            let mut cells = list.to_format(Format::Bitmap).unwrap();
            let (before, new) = (cells.clone(), of(step, value));
            let mut expected = list.clone();
            apply(&new, Identity).accumulate(Max).into(&mut expected).unwrap();
            apply(&new, Identity).accumulate(Max).into(&mut cells).unwrap();
            assert_eq!(cells.entries().unwrap(), expected.entries().unwrap(), "{step} {value}");
            assert_eq!(before.entries().unwrap(), list.entries().unwrap());
            assert_eq!(cells.nvals(), expected.nvals());
            assert!(device != Device::Cpu || cells.is_iso() == iso, "{step} {value}");
            let mut again = cells.clone();
            apply(&cells, Identity).accumulate(Plus).into(&mut again).unwrap();
            apply(&expected.clone(), Identity).accumulate(Plus).into(&mut expected).unwrap();
            assert_eq!(again.entries().unwrap(), expected.entries().unwrap());
        }
    }
}

/// Masks of cells, whatever asks for them.
#[test]
fn cells_are_masks() {
    let (m, n) = (9u64, 130u64);
    let of = |step: usize| (0..m * n).step_by(step).map(|p| (p / n, p % n)).collect::<Vec<_>>();
    let a: Matrix<i64> = Matrix::from_pattern(m, m, &[(0, 1), (0, 8), (3, 3), (4, 0), (4, 2), (8, 8)], 1).unwrap();
    let b: Matrix<i64> = Matrix::from_pattern(m, n, &of(2), 1).unwrap();
    for (step, complement) in [(1, false), (1, true), (3, false), (3, true), (700, false), (700, true)] {
        let list: Matrix<bool> = Matrix::from_pattern(m, n, &of(step), true).unwrap();
        let cells = list.to_format(Format::Bitmap).unwrap();
        let open = |mask: &Matrix<bool>| if complement { mask.structure().complement() } else { mask.structure() };
        let both = |work: &dyn Fn(&Matrix<bool>) -> Matrix<i64>| {
            assert_eq!(work(&cells).entries().unwrap(), work(&list).entries().unwrap(), "{step} {complement}");
        };
        both(&|mask| mxm(&a.over::<PlusTimes>(), &b.over()).mask(&open(mask)).eval().unwrap().over());
        both(&|mask| mxm(&a.over::<AnyPair>(), &b.over()).mask(&open(mask)).eval().unwrap().cast().unwrap().over());
        both(&|mask| apply(&b, Negate).mask(&open(mask)).eval().unwrap());
        both(&|mask| select(&b, ValueGt, 0).mask(&open(mask)).eval().unwrap());
        both(&|mask| ewise_add(&b, &b, Plus).mask(&open(mask)).eval().unwrap());
        both(&|mask| {
            let mut c = b.to_format(Format::Bitmap).unwrap();
            apply(&b, Identity).mask(&open(mask)).accumulate(Plus).into(&mut c).unwrap();
            assign_scalar(8, 1..4, ..).mask(&open(mask)).into(&mut c).unwrap();
            c
        });
        let sum = |mask| mxm(&a.over::<PlusTimes>(), &b.over()).mask(&open(mask)).reduce(Plus).unwrap();
        assert_eq!(sum(&cells), sum(&list));
        let plan = |mask| mxm(&a.over::<PlusTimes>(), &b.over()).mask(&open(mask)).plan().unwrap();
        let run = |mask| plan(mask).run(&a.over(), &b.over()).unwrap().entries().unwrap();
        assert_eq!(run(&cells), run(&list));
    }
}

/// Patterns read and built, and scalars assigned, are of one value.
#[test]
fn patterns_are_iso() {
    let text = b"%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 1\n2 3\n3 1\n";
    let read: Matrix<f32> = Matrix::from_coo(&oplus::io::matrix_market::read_bytes(text).unwrap()).unwrap();
    let built: Matrix<f32> = Matrix::from_pattern(3, 3, &[(2, 0), (0, 0), (1, 2), (0, 0)], 1.0).unwrap();
    assert!(read.is_iso() && built.is_iso());
    assert_eq!(read.entries().unwrap(), built.entries().unwrap());
    let mut assigned: Matrix<f32> = Matrix::new(3, 3).unwrap();
    assign_scalar(1.0, .., ..).mask(&read.structure()).into(&mut assigned).unwrap();
    assert!(assigned.is_iso());
    assert_eq!(assigned.entries().unwrap(), read.entries().unwrap());
    assign_scalar(2.0, 1.., ..).into(&mut assigned).unwrap();
    assert!(!assigned.is_iso() && assigned.nvals() == 7);
    assert!(matches!(Matrix::<f32>::from_pattern(3, 3, &[(0, 3)], 1.0), Err(Error::IndexOutOfBounds { index: 3, .. })));
}

/// A long dimension of which little is in use takes what is in use.
#[test]
fn hypersparse_by_itself() {
    let n = 1u64 << 31;
    let entries: Vec<_> = (0..100u64).map(|i| (i * 21_000_000, i * 19_000_000 % n, i as f64)).collect();
    let a: Matrix<f64> = Matrix::build(n, n, &entries).unwrap();
    assert_eq!(a.format(), Format::Hypersparse);
    assert!(a.memory_bytes() < 1 << 13);
    let squares = mxm(&a, &a.transposed()).eval().unwrap();
    assert_eq!(squares.get(42_000_000, 42_000_000).unwrap(), Some(4.0));
    assert_eq!(ewise_add(&a, &a, Plus).eval().unwrap().nvals(), 100);
    assert_eq!(transpose(&transpose(&a).eval().unwrap()).eval().unwrap().entries().unwrap(), a.entries().unwrap());
    let small: Matrix<f64> = Matrix::build(1 << 20, 1 << 20, &[(5, 5, 1.0)]).unwrap();
    assert_eq!(small.format(), Format::Csr);
}

/// Matrices that are made full are full, and parts of them are assigned where they lie.
#[test]
fn full_by_itself() {
    let n = 80u64;
    let entries: Vec<_> = (0..n * n).map(|e| (e / n, e % n, e as i64)).collect();
    let mut a: Matrix<i64> = Matrix::build(n, n, &entries).unwrap();
    let row: Matrix<i64> = Matrix::build(n, 1, &(0..n).map(|i| (i, 0, i as i64 - 40)).collect::<Vec<_>>()).unwrap();
    let outer = mxm(&row, &row.transposed()).eval().unwrap();
    assert_eq!((a.format(), outer.format(), row.format()), (Format::Full, Format::Full, Format::Csr));
    let mut listed = a.to_format(Format::Csr).unwrap();
    assert_eq!(listed.format(), Format::Csr);
    let part: Matrix<i64> = Matrix::build(2, 3, &[(0, 0, -1), (0, 2, -2), (1, 1, -3)]).unwrap();
    let all: Matrix<i64> = Matrix::build(2, 2, &[(0, 0, 1), (0, 1, 2), (1, 0, 3), (1, 1, 5)]).unwrap();
    for c in [&mut a, &mut listed] {
        assign(&all, 5..7, 9..11).into(c).unwrap();
        assign(&part, 30..32, 40..43).accumulate(Plus).into(c).unwrap();
    }
    assert_eq!((a.format(), a.entries().unwrap()), (Format::Full, listed.entries().unwrap()));
    // Cells without a value in what is assigned are deleted.
    for c in [&mut a, &mut listed] {
        assign(&part, 30..32, 40..43).into(c).unwrap();
    }
    assert_eq!((a.nvals(), a.entries().unwrap()), (n * n - 3, listed.entries().unwrap()));
}

#[test]
fn dense_arrays_and_back() {
    let values: Vec<i64> = (0..6000).map(|v| v % 97 - 40).collect();
    let x = Matrix::<i64>::from_full(60, 100, values.clone()).unwrap();
    assert_eq!((x.format(), x.nvals(), x.is_iso()), (Format::Full, 6000, false));
    assert_eq!(x, x.to_format(Format::Csr).unwrap());
    assert_eq!(x.get(59, 99).unwrap(), Some(values[5999]));
    // A clone keeps what it has.
    let kept = x.clone();
    assert_eq!(x.into_full(0).unwrap(), values);
    assert_eq!(kept.into_full(0).unwrap(), values);
    let one = Matrix::<i64>::full(60, 100, 7).unwrap();
    assert!(one.is_iso() && one.entries().unwrap().len() == 6000);
    assert_eq!(one.into_full(0).unwrap(), vec![7; 6000]);
    // In memory these have no room; what is nothing has.
    for (m, n) in [(0, 5), (5, 0), (0, 0)] {
        assert_eq!(Matrix::<i64>::full(m, n, 1).unwrap().shape(), (m, n));
        assert!(Matrix::<i64>::from_full(m, n, vec![]).unwrap().into_full(1).unwrap().is_empty());
    }
    let far = Matrix::<i64>::build(1 << 40, 1 << 40, &[(1 << 39, 5, 1)]).unwrap();
    assert!(matches!(far.into_full(0), Err(Error::OutOfMemory { operation: "into_full", .. })));
    assert!(matches!(Matrix::<i64>::full(1 << 31, 1 << 31, 0), Err(Error::OutOfMemory { operation: "full", .. })));
    assert!(matches!(Matrix::<i64>::full(1 << 32, 1, 0), Err(Error::IndexOverflow { operation: "full", .. })));
    let wrong = Matrix::<i64>::from_full(2, 3, vec![1; 5]);
    assert!(matches!(wrong, Err(Error::InvalidValue { operation: "from_full", .. })));
    let hypersparse = Matrix::<i64>::build(40, 1 << 20, &[(3, 1000, 1), (39, (1 << 20) - 1, 2)]).unwrap();
    let dense = hypersparse.to_format(Format::Hypersparse).unwrap().into_full(0).unwrap();
    let found: Vec<usize> = (0..dense.len()).filter(|e| dense[*e] != 0).collect();
    assert_eq!(found, [3 << 20 | 1000, (40 << 20) - 1]);
}

/// A transpose of what has an entry in every cell moves values alone, and is that again.
#[test]
fn full_matrices_turn_as_arrays() {
    for (m, n) in [(1, 1), (70, 90), (2, 4100), (4100, 3), (130, 64)] {
        let values: Vec<i64> = (0..(m * n) as i64).collect();
        let of_one = Matrix::<i64>::full(m, n, 7).unwrap();
        for full in [Matrix::<i64>::from_full(m, n, values.clone()).unwrap(), of_one] {
            let rows = full.to_format(Format::Csr).unwrap();
            let (turned, expected) = (transpose(&full).eval().unwrap(), transpose(&rows).eval().unwrap());
            assert_eq!((turned.format(), turned.is_iso()), (Format::Full, full.is_iso()));
            assert_eq!(turned.entries().unwrap(), expected.entries().unwrap());
            assert_eq!(transpose(&turned).eval().unwrap(), full);
            let x = Matrix::<i64>::build(n, 3, &[(0, 1, 2), (n - 1, 2, 5)]).unwrap();
            let product = |a: &Matrix<i64>| mxm(a, &x).transpose_a().eval().unwrap().entries().unwrap();
            assert_eq!(product(&turned), product(&expected));
        }
    }
}

#[test]
fn one_row_keeps_its_format_or_takes_another() {
    one_row(&Device::Reference);
    one_row(&Device::Cpu);
}

/// What is refused leaves the output in its format, its value stored once.
#[test]
fn one_row_that_there_is_no_room_for() {
    let n = 4096u64;
    let wide: Vec<_> = (0..n).filter(|j| j % 3 > 0).map(|j| (0, j, 1.0)).collect();
    let (a, b): (Matrix<f64>, Matrix<f64>) =
        (Matrix::build(1, 1, &[(0, 0, 2.0)]).unwrap(), Matrix::build(1, n, &wide).unwrap());
    let mut refused = 0;
    for limit in (0..200).map(|step| step * 8192) {
        let mut c = Matrix::<f64>::full(1, n, 0.5).unwrap();
        if mxm(&a, &b).memory_limit(limit).accumulate(Plus).into(&mut c).is_err() {
            refused += 1;
            assert_eq!((c.format(), c.is_iso(), c.nvals()), (Format::Full, true, n), "{limit}");
        }
    }
    assert!(refused > 0 && refused < 200);
}

/// Entries in every `step`-th row, and one in `wide` columns of row 2 · `step`; sums of them depend on their order.
fn sparse_rows(n: u64, step: u64, entries: u64, wide: u64) -> Matrix<f64> {
    let (mut coo, mut random) = (Coo::new(n, n), Rng(n + step));
    for i in (0..n).step_by(step as usize) {
        for _ in 0..if i == 2 * step { wide } else { entries } {
            let (near, far) = (random.below(n / step) * step, random.below(n));
            let value = (random.below(2000) as f64 - 1000.0) * 10f64.powi(random.below(12) as i32 - 6);
            coo.push(i, if random.below(4) > 0 { near } else { far }, value);
        }
    }
    Matrix::build_with(&coo, Second).unwrap()
}

/// The bits of floating sums, those over products that are not stored first.
fn sums(a: &Matrix<f64>, b: &Matrix<f64>, mask: &Matrix<f64>) -> [Vec<u64>; 2] {
    let (admitted, bit) = (mask.structure(), |sum: Result<f64>| sum.unwrap().to_bits());
    let bits = |x: Vector<f64>| x.entries().unwrap().into_iter().map(|(_, x)| x.to_bits()).collect::<Vec<_>>();
    let folded = vec![
        bit(mxm(a, b).reduce(Plus)),
        bit(mxm(a, b).mask(&admitted).reduce(Plus)),
        bit(mxm(a, b).mask(&admitted.clone().complement()).reduce(Plus)),
        bit(mxm(a, b).transpose_b().mask(&admitted).reduce(Plus)),
        bit(mxm(a, b).transpose_a().reduce(Times)),
    ];
    let n = a.nrows();
    let x = Vector::build(n, &(0..n).step_by(3).map(|i| (i, 0.1 + i as f64)).collect::<Vec<_>>()).unwrap();
    let full = Vector::full(n, 0.3).unwrap();
    let mut others = vec![bit(reduce(a, Plus)), bit(reduce(&x, Plus))];
    for x in [x, full] {
        others.extend(bits(mxv(a, &x).eval().unwrap()));
        others.extend(bits(vxm(&x, a).eval().unwrap()));
    }
    others.extend(bits(reduce_rows(a, Plus).eval().unwrap()));
    [folded, others]
}

/// The same of so many products that the few dots which the mask admits are handed out many at a time.
#[test]
fn floating_sums_of_few_dots_have_the_same_bits_in_every_format() {
    let (n, mut random) = (20_000, Rng(5));
    let mut operand = |step: u64| {
        let mut coo = Coo::new(n, 16);
        for (i, k) in (0..n).filter(|i| i % step != 0).flat_map(|i| (0..16).map(move |k| (i, k))) {
            coo.push(i, k, (random.below(2000) as f64 - 1000.0) * 10f64.powi(random.below(12) as i32 - 6));
        }
        Matrix::<f64>::build_with(&coo, Second).unwrap()
    };
    let (a, b) = (operand(3), operand(7));
    let near: Vec<_> = (0..n).flat_map(|i| [(i, i), (i, (i * 7 + 1) % n)]).collect();
    let mask = Matrix::<bool>::from_pattern(n, n, &near, true).unwrap();
    let formats = [Format::Csr, Format::Hypersparse, Format::Bitmap];
    let mut found = Vec::new();
    for (k, format) in formats.into_iter().enumerate() {
        let (a, b) = (a.to_format(format).unwrap(), b.to_format(formats[(k + 1) % 3]).unwrap());
        let mask = mask.to_format(formats[k % 2]).unwrap();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let sum = || mxm(&a, &b).transpose_b().mask(&mask.structure()).reduce(Plus).unwrap();
            found.push(pool.install(sum).to_bits());
        }
    }
    assert!(found.iter().all(|sum| *sum == found[0]), "{found:?}");
}

/// Work is cut at the same places, whether or not rows and columns without entries have a place, and whichever loop makes rows.
#[test]
fn floating_sums_have_the_same_bits_in_every_format() {
    let lists = [Format::Csr, Format::Hypersparse, Format::Csc];
    for (a, formats) in [
        (sparse_rows(24_000, 2, 4, 4), &lists[..]),
        // Few rows are in use of many.
        (sparse_rows(30_000, 300, 30, 60), &lists[..]),
        // A row is cut, into columns.
        (sparse_rows(1_600, 2, 48, 9_000), &[lists[0], lists[1], Format::Bitmap][..]),
    ] {
        let at = |format| a.to_format(format).unwrap();
        let expected = sums(&at(formats[0]), &at(formats[0]), &at(formats[0]));
        for (k, format) in formats.iter().enumerate().skip(1) {
            let (next, mask) = (formats[(k + 1) % formats.len()], formats[k - 1]);
            let found = sums(&at(*format), &at(next), &at(mask));
            for (found, expected) in found.iter().zip(&expected) {
                let differ = found.iter().zip(expected).position(|(x, y)| x != y);
                assert!(differ.is_none(), "{format:?} and {next:?}: {differ:?}");
            }
        }
        let dots = mxm(&a, &a).mask(&a.structure()).strategy(Strategy::Dot).reduce(Plus).unwrap();
        assert_eq!(dots.to_bits(), expected[0][1]);
    }
}
