//! Matrices and vectors as values of Rust: compared, shown, made of other types.
use oplus::iterate::{RowIter, RowsIter, VectorIter};
use oplus::prelude::*;
use std::collections::BTreeMap;

fn matrix() -> Matrix<f64> {
    Matrix::build(3, 4, &[(0, 1, 1.5), (2, 0, 2.0), (2, 3, -1.0)]).unwrap()
}

#[test]
fn equal_whatever_the_format_and_the_device() {
    let a = matrix();
    for format in [Format::Csr, Format::Csc, Format::Hypersparse, Format::Bitmap, Format::Dia] {
        let b = a.to_format(format).unwrap();
        assert_eq!(a, b, "{format:?}");
        assert_eq!(b.to(&Device::Reference).unwrap(), a, "{format:?}");
        assert!(b.equals(&a.over::<MinPlus>()).unwrap());
    }
    let x: Vector<i32> = Vector::build(5, &[(1, 7), (4, 8)]).unwrap();
    assert_eq!(x.to_bitmap().unwrap(), x);
}

#[test]
fn unequal_by_shape_position_or_value() {
    let a = matrix();
    let mut others = vec![a.clone(), a.clone(), a.clone(), a.clone()];
    others[0].resize(3, 5).unwrap();
    others[1].set(0, 1, 1.25).unwrap();
    others[2].remove(2, 0).unwrap();
    others[3].remove(2, 0).unwrap();
    others[3].set(1, 0, 2.0).unwrap();
    for b in others {
        assert_ne!(a, b);
        assert!(!b.equals(&a).unwrap());
    }
    let nan: Vector<f64> = Vector::full(2, f64::NAN).unwrap();
    assert_ne!(nan, nan);
    assert_ne!(Vector::<i32>::new(2).unwrap(), Vector::new(3).unwrap());
}

#[test]
fn shown_by_what_is_in_them() {
    let shown = format!("{:?}", matrix());
    assert_eq!(shown, "Matrix<f64> 3×4, 3 entries, Csr on cpu: [(0, 1, 1.5), (2, 0, 2.0), (2, 3, -1.0)]");
    let x: Vector<i32> = Vector::full(1000, 3).unwrap();
    let shown = format!("{x:?}");
    assert!(shown.starts_with("Vector<i32> of length 1000, 1000 entries, Full on cpu: [(0, 3), (1, 3), "), "{shown}");
    assert!(shown.ends_with(", …]") && shown.len() < 200, "{shown}");
    // What holds one is shown with it.
    let found = oplus::algorithm::sssp(&matrix_of_two(), 0, &Default::default()).unwrap();
    let shown = format!("{found:?}");
    assert!(shown.contains("Vector<i32> of length 2, 2 entries"), "{shown}");
}

fn matrix_of_two() -> Matrix<i32> {
    Matrix::build(2, 2, &[(0, 1, 4)]).unwrap()
}

#[test]
fn inclusive_ranges_and_lists_of_usize() {
    let x: Vector<i32> = Vector::build(6, &[(0, 10), (2, 12), (5, 15)]).unwrap();
    let part = |indices: Indices| extract_vector(&x, indices).eval().map(|t| (t.len(), t.entries().unwrap()));
    assert_eq!(part((2..=5).into()).unwrap(), (4, vec![(0, 12), (3, 15)]));
    assert_eq!(part((..=2).into()).unwrap(), (3, vec![(0, 10), (2, 12)]));
    #[allow(clippy::reversed_empty_ranges)]
    let none = 4..=2;
    assert_eq!(part(none.into()).unwrap(), (0, vec![]));
    let list: Vec<usize> = vec![5, 0, 5];
    assert_eq!(part(list.as_slice().into()).unwrap(), (3, vec![(0, 15), (1, 10), (2, 15)]));
    for (outside, first) in [((2..=6).into(), 6), ((..=u64::MAX).into(), 6)] {
        let error = part(outside).unwrap_err();
        assert!(matches!(error, Error::IndexOutOfBounds { index, bound: 6, .. } if index == first), "{error}");
    }
}

#[test]
fn vectors_of_triplets_and_back() {
    let x: Vector<i32> = Vector::build(5, &[(1, 7), (4, 8)]).unwrap();
    let coo = x.to_coo().unwrap();
    assert_eq!((coo.nrows, coo.ncols, &coo.rows, &coo.columns), (5, 1, &vec![1, 4], &vec![0, 0]));
    assert_eq!(Vector::<i32>::from_coo(&coo).unwrap(), x);
    let row = Coo { nrows: 1, ncols: 5, rows: coo.columns.clone(), columns: coo.rows.clone(), values: vec![7, 8] };
    assert_eq!(Vector::<i32>::from_coo(&row).unwrap(), x);
    let wide = Coo { ncols: 2, ..coo.clone() };
    assert!(matches!(Vector::<i32>::from_coo(&wide), Err(Error::InvalidValue { .. })));
    let beside = Coo { columns: vec![0, 1], ..coo.clone() };
    let error = Vector::<i32>::from_coo(&beside).unwrap_err();
    assert_eq!(
        error,
        Error::IndexOutOfBounds { operation: "from_coo", what: "column", position: Some(1), index: 1, bound: 1 }
    );
    let below = Coo { rows: vec![1, 5], ..coo.clone() };
    assert!(matches!(Vector::<i32>::from_coo(&below), Err(Error::IndexOutOfBounds { index: 5, bound: 5, .. })));
    let twice = Coo { rows: vec![4, 4], ..coo };
    assert!(matches!(
        Vector::<i32>::from_coo(&twice),
        Err(Error::DuplicateEntry { row: 4, column: 0, position: 1, .. })
    ));
}

#[test]
fn emptied_where_they_are() {
    for device in [Device::Reference, Device::Cpu] {
        let mut a = matrix().to(&device).unwrap();
        let kept = a.clone();
        a.clear().unwrap();
        assert_eq!((a.shape(), a.nvals(), a.device(), kept.nvals()), ((3, 4), 0, device, 3));
        let mut x: Vector<i32> = Vector::full(3, 1).unwrap().to(&device).unwrap();
        x.clear().unwrap();
        assert_eq!((x.len(), x.nvals(), x.device()), (3, 0, device));
    }
    let mut far: Matrix<f64> = Matrix::build(1 << 40, 1 << 40, &[(1 << 39, 5, 1.0)]).unwrap();
    far.clear().unwrap();
    assert_eq!((far.shape(), far.nvals(), far.format()), ((1 << 40, 1 << 40), 0, Format::Hypersparse));
}

#[test]
fn the_identity() {
    let identity: Matrix<f64> = Matrix::identity(3).unwrap();
    assert!(identity.is_iso());
    assert_eq!(mxm(&identity, &matrix()).eval().unwrap(), matrix());
    assert_eq!(Matrix::<i32>::identity(0).unwrap().shape(), (0, 0));
    // Too large is the same error everywhere, and says how large may be.
    let told =
        |e: Error, what: &str| assert_eq!(e.to_string(), format!("{what} is 4294967296, the limit is 4294967295"));
    told(Matrix::<i32>::identity(1 << 32).unwrap_err(), "identity: number of rows");
    told(Vector::<i32>::full(1 << 32, 0).unwrap_err(), "full: length");
    told(Matrix::<i32>::full(1 << 32, 1, 0).unwrap_err(), "full: number of rows");
    told(Matrix::<i32>::full(1, 1 << 32, 0).unwrap_err(), "full: number of columns");
    told(Matrix::<i32>::from_full(1 << 32, 0, vec![]).unwrap_err(), "from_full: number of rows");
    told(Matrix::<i32>::from_full(0, 1 << 32, vec![]).unwrap_err(), "from_full: number of columns");
    told(Matrix::<i32>::from_csr(1 << 32, 1, vec![0], vec![], vec![]).unwrap_err(), "from_csr: number of rows");
    told(Matrix::<i32>::from_csr(0, 1 << 32, vec![0], vec![], vec![]).unwrap_err(), "from_csr: number of columns");
}

#[test]
fn triplets_are_iterated_and_extended() {
    let mut coo = Coo::new(3, 3);
    coo.extend([(0, 1, 5), (2, 2, 6)]);
    assert_eq!((&coo).into_iter().map(|(i, j, v)| i + j + v).collect::<Vec<u64>>(), [6, 10]);
    assert_eq!(coo.into_iter().collect::<Vec<_>>(), [(0, 1, 5), (2, 2, 6)]);
}

#[test]
fn vectors_in_files() {
    let folder = std::env::temp_dir().join(format!("oplus_vectors_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let x: Vector<f64> = Vector::build(4, &[(1, 0.5), (3, -2.0)]).unwrap();
    for name in ["x.mtx", "x.mtx.gz", "x.oplus"] {
        let path = folder.join(name);
        x.write(&path).unwrap();
        assert_eq!(Vector::<f64>::read(&path).unwrap(), x, "{name}");
    }
    let side = folder.join("b.mtx");
    std::fs::write(&side, "%%MatrixMarket matrix array real general\n3 1\n1\n2.5\n-3\n").unwrap();
    let b = Vector::<f64>::read(&side).unwrap();
    assert_eq!(b, Vector::build(3, &[(0, 1.0), (1, 2.5), (2, -3.0)]).unwrap());
    matrix().write(&side).unwrap();
    let error = Vector::<f64>::read(&side).unwrap_err();
    assert!(matches!(&error, Error::Parse { reason, .. } if reason.contains("3×4")), "{error}");
    assert!(matches!(Vector::<f64>::read(folder.join("x.tsv")), Err(Error::NotSupported { .. })));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The prelude hides no name that Rust's own has.
#[test]
fn eq_is_rusts_own() {
    #[derive(PartialEq, Debug)]
    struct Id(u64);
    impl Eq for Id {}
    assert_eq!(Id(3), Id(3));
    let two: Vector<i32> = Vector::build(2, &[(0, 1), (1, 2)]).unwrap();
    let same = ewise_mult(&two, &two, oplus::algebra::Eq).eval().unwrap();
    assert_eq!(same, Vector::build(2, &[(0, true), (1, true)]).unwrap());
}

/// A user's struct of containers has what Rust derives.
#[test]
fn nothing_by_default() {
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Problem {
        a: Matrix<f64>,
        b: Vector<f64>,
    }
    let mut none = Problem::default();
    assert_eq!(none, Problem { a: Matrix::new(0, 0).unwrap(), b: Vector::new(0).unwrap() });
    assert_eq!((none.a.nvals(), mxv(&none.a, &none.b).eval().unwrap()), (0, none.b.clone()));
    none.b.resize(3).unwrap();
    none.b.set(1, 2.0).unwrap();
    assert_eq!(none.b.entries().unwrap(), [(1, 2.0)]);
    none.a.resize(2, 3).unwrap();
    assert_eq!(none.a.mxv(&none.b).unwrap().len(), 2);
}

#[test]
fn iterators_are_cloned_and_stay_at_their_end() {
    let a = matrix();
    let mut all = a.iter().unwrap();
    all.next();
    let rest = all.clone();
    assert_eq!((rest.len(), rest.collect::<Vec<_>>()), (2, vec![(2, 0, 2.0), (2, 3, -1.0)]));
    assert_eq!((all.by_ref().count(), all.next(), all.next()), (2, None, None));
    let rows = a.rows().unwrap();
    assert_eq!(rows.clone().row(2).len(), 2);
}

/// Rows and their entries in loops, and iterators kept in structs: they have names.
#[test]
fn iterators_have_names() {
    struct Kept<'a>(RowsIter<'a, f64>, RowIter<'a, f64>, VectorIter<f64>);
    let a = matrix();
    let mut found = vec![];
    for row in &a.rows().unwrap() {
        for (j, v) in row {
            found.push((row.index(), j, v));
        }
        assert!((&row).into_iter().eq(row.iter()));
    }
    assert_eq!(found, a.entries().unwrap());
    let (rows, x) = (a.rows().unwrap(), Vector::<f64>::build(9, &[(3, 1.5), (7, 2.5)]).unwrap());
    let mut kept = Kept(rows.iter(), rows.row(2).iter(), x.iter().unwrap());
    assert_eq!(kept.0.clone().map(|row| row.index()).collect::<Vec<_>>(), [0, 2]);
    assert_eq!((kept.1.next(), kept.1.len(), kept.1.clone().count()), (Some((0, 2.0)), 1, 1));
    assert_eq!((kept.2.next(), kept.2.len(), kept.2.clone().collect::<Vec<_>>()), (Some((3, 1.5)), 1, vec![(7, 2.5)]));
    assert_eq!(format!("{:?}", kept.0), "RowsIter of Rows of 3×4, 3 entries");
    assert_eq!(format!("{:?}", kept.1), "RowIter, 1 entries left");
    assert_eq!(format!("{:?}", kept.2), "VectorIter of length 9, 1 of 2 entries left");
    assert_eq!((kept.0.by_ref().count(), kept.0.next().is_none(), kept.1.nth(1), kept.2.nth(1)), (2, true, None, None));
}

/// The sum of absolute values: what is added up is of the values' own type.
#[derive(Clone, Copy, Debug)]
struct Norm;
impl Reduction<f64> for Norm {
    type Sum = f64;
    type Monoid = Plus;
    type Term = Abs;
}

#[test]
fn reductions_of_ones_own_add_up_their_terms() {
    for device in [Device::Reference, Device::Cpu] {
        let a: Matrix<f64> = Matrix::build(2, 3, &[(0, 0, -1.0), (0, 2, 2.0), (1, 2, -4.0)]).unwrap();
        let a = a.to(&device).unwrap();
        assert_eq!(reduce(&a, Norm).unwrap(), 7.0);
        assert_eq!(reduce_rows(&a, Norm).eval().unwrap().entries().unwrap(), [(0, 3.0), (1, 4.0)]);
        let columns = reduce_rows(&a, Norm).transpose_a().eval().unwrap();
        assert_eq!(columns.entries().unwrap(), [(0, 1.0), (2, 6.0)]);
    }
}

#[test]
fn a_range_that_was_stepped_through_selects_nothing() {
    let v: Vector<i32> = Vector::build(5, &[(3, 7)]).unwrap();
    let mut range = 3..=3u64;
    range.next();
    assert_eq!(extract_vector(&v, range).eval().unwrap().len(), 0);
}

/// What is shown of anything that holds many positions are sizes and kinds.
#[test]
fn whatever_holds_many_is_shown_briefly() {
    const N: u64 = 10_000;
    let entries: Vec<(u64, u64, f64)> = (0..N).flat_map(|i| [(i, i, 2.0), (i, (i + 1) % N, -1.0)]).collect();
    let long: Vec<(u64, f64)> = (0..N).map(|i| (i, 1.0)).collect();
    let x: Vector<f64> = Vector::build(N, &long).unwrap();
    let hub: Matrix<f64> = Matrix::build(2, N, &(0..N).map(|j| (0, j, 1.0)).collect::<Vec<_>>()).unwrap();
    let lines: Vec<u64> = (0..N).rev().collect();
    let far: Vec<(u64, u64, f64)> = (0..N).map(|i| (i << 30, i << 31, 1.0)).collect();
    let far: Matrix<f64> = Matrix::build(1 << 50, 1 << 50, &far).unwrap();
    let mut shown = Vec::new();
    let mut show = |what: &dyn std::fmt::Debug| shown.push(format!("{what:?}"));
    for format in [Format::Csr, Format::Csc, Format::Hypersparse, Format::Dia] {
        let a: Matrix<f64> = Matrix::build(N, N, &entries).unwrap().to_format(format).unwrap();
        show(&a);
        show(&a.structure().complement());
        show(&a.as_mask());
        show(&a.transposed());
        show(&a.rows().unwrap());
        show(&a.iter().unwrap());
        show(&a.csr_parts().unwrap());
        show(&mxm(&a, &a.transposed()).mask(&a).memory_limit(1 << 30));
        show(&mxm(&a, &a).scale_rows(&x, Times).select(Tril, 0));
        show(&mxv(&a, &x).mask(&x));
        show(&mxm(&a, &a).mask(&a).plan().unwrap());
        show(&triple_product(&a, &a, &a));
        show(&triple_product(&a, &a, &a).plan().unwrap());
        show(&ewise_add(&a, &a, Plus).ewise_mult(&a, Times).mask(&a));
        show(&apply(&a, Negate).mask(&a));
        show(&select(&a, Tril, 0));
        show(&reduce_rows(&a, Plus).mask(&x));
        show(&kronecker(&a, &a, Times));
        show(&scale_rows(&x, &a, Times));
        show(&diag(&x, 0));
        show(&extract(&a, lines.clone(), &lines[..]).mask(&a.structure()));
        show(&assign(&a, lines.clone(), ..).mask(&a));
        show(&assign_scalar(1.0, lines.clone(), ..));
    }
    show(&hub.rows().unwrap().row(0));
    show(&Indices::from(lines));
    show(&far.structure());
    show(&far.csr_parts().unwrap());
    show(&mxm(&far, &far).plan().unwrap());
    show(&x.structure());
    show(&x.to_bitmap().unwrap().structure());
    let mut updates = Updates::new();
    (0..N).for_each(|i| updates.set(i, i, 1.0).unwrap());
    show(&updates);
    for text in &shown {
        assert!(text.len() < 900 && !text.contains("1, 2, 3, 4, 5, 6, 7, 8, 9"), "{} bytes: {text:.300}…", text.len());
    }
    assert_eq!(format!("{:?}", hub.structure()), "Mask 2×10000, 10000 positions on cpu");
    assert_eq!(format!("{:?}", x.structure().complement()), "Mask of length 10000, all but 10000 positions on cpu");
    assert_eq!(format!("{:?}", hub.rows().unwrap()), "Rows of 2×10000, 10000 entries");
    assert_eq!(format!("{:?}", Indices::from(2..5)), "2..5");
}

/// Lists of any kind by integers of any type, from iterators too; literals in brackets are `u64`.
#[test]
fn indices_of_any_integers() {
    let x: Vector<i32> = Vector::from_full((0..9).collect()).unwrap();
    let taken = |indices: Indices| extract_vector(&x, indices).eval().map(|y| y.into_full(-1).unwrap());
    let list: Vec<usize> = vec![7, 2, 2];
    for indices in [
        list.clone().into(),
        (&list).into(),
        list[..].into(),
        [7u8, 2, 2][..].into(),
        vec![7, 2, 2].into(),
        vec![7i64, 2, 2].into(),
        vec![7u64, 2, 2].into(),
        [7, 2, 2].into(),
        (&[7, 2, 2]).into(),
        list.iter().copied().collect(),
        // Without an idea of how many there will be.
        (0..100u32).filter(|i| *i == 7).chain([2, 2]).collect(),
    ] {
        match taken(indices) {
            Ok(y) => assert_eq!(y, [7, 2, 2]),
            Err(e) => panic!("{e}"),
        }
    }
    for below in [Indices::from(vec![3, -2]), [3i64, -2][..].into(), [-2].into_iter().collect()] {
        assert_eq!(taken(below).unwrap_err().to_string(), "indices: index -2 is below 0");
    }
    assert!(matches!(taken([0usize, 9][..].into()), Err(Error::IndexOutOfBounds { position: Some(1), index: 9, .. })));
}

#[test]
fn dense_arrays_leave_what_they_are_made_of() {
    for device in [Device::Cpu, Device::Reference] {
        let a: Matrix<f64> = matrix().to(&device).unwrap();
        let dense = [0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, -1.0];
        for format in [Format::Csr, Format::Csc, Format::Bitmap] {
            let a = a.to_format(format).unwrap();
            let before = a.memory_bytes();
            assert_eq!(a.to_full(0.0).unwrap(), dense);
            // Of cells nothing is listed.
            assert!(a.memory_bytes() == before || !matches!(format, Format::Bitmap | Format::Full));
        }
        let full: Matrix<f64> = Matrix::from_full(3, 4, dense.to_vec()).unwrap().to(&device).unwrap();
        assert_eq!((full.to_full(7.0).unwrap(), full.to_full(7.0).unwrap()), (dense.to_vec(), dense.to_vec()));
        let x: Vector<f64> = Vector::build(3, &[(1, 2.5)]).unwrap().to(&device).unwrap();
        assert_eq!((x.to_full(-1.0).unwrap(), x.nvals()), (vec![-1.0, 2.5, -1.0], 1));
        assert_eq!(x.to_bitmap().unwrap().to_full(-1.0).unwrap(), [-1.0, 2.5, -1.0]);
    }
    let far: Vector<u8> = Vector::build(1 << 62, &[(1 << 40, 1)]).unwrap();
    assert!(matches!(far.to_full(0), Err(Error::OutOfMemory { operation: "to_full", .. })));
}

#[test]
fn made_of_positions_and_of_iterators() {
    let x: Vector<f32> = Vector::from_pattern(1 << 40, &[1 << 39, 3, 3], 0.5).unwrap();
    assert_eq!((x.is_iso(), x.entries().unwrap()), (true, vec![(3, 0.5), (1 << 39, 0.5)]));
    assert_eq!(Vector::<f32>::from_pattern(4, &[], 0.5).unwrap().nvals(), 0);
    let outside = Vector::<f32>::from_pattern(4, &[1, 4], 0.5);
    let (operation, what, position) = ("from_pattern", "index", Some(1));
    let expected = Error::IndexOutOfBounds { operation, what, position, index: 4, bound: 4 };
    assert_eq!(outside.unwrap_err(), expected);
    let a = matrix();
    let again = Coo::from_entries(3, 4, a.iter().unwrap()).unwrap();
    assert_eq!((Matrix::from_coo(&again).unwrap(), again), (a.clone(), a.to_coo().unwrap()));
    let some = (0..1000u64).filter(|i| i % 3 == 0).map(|i| (i % 10, i / 10, i as f64));
    let coo = Coo::from_entries(10, 100, some.clone()).unwrap();
    assert!(coo.into_iter().eq(some));
}

#[test]
fn a_mask_turned_round_by_not() {
    let a = matrix();
    let mask = a.structure();
    let all: Matrix<f64> = Matrix::full(3, 4, 1.0).unwrap();
    let nvals = |mask: &Mask| apply(&all, Identity).mask(mask).eval().unwrap().nvals();
    assert_eq!((nvals(&mask), nvals(&!&mask), nvals(&!!&mask), nvals(&!mask)), (3, 9, 3, 9));
}

/// Elements set, removed, and both, in any order and again: as one after the other, in every format.
#[test]
fn updates_are_as_if_one_by_one() {
    let (m, n) = (23, 17);
    let mut random = oplus::generate::Random::new(8, 0);
    for formats in [Format::Csr, Format::Csc, Format::Bitmap, Format::Full, Format::Hypersparse] {
        for (sets, removals) in [(30, 0), (0, 30), (1, 1), (20, 20), (0, 1), (400, 0)] {
            let there = if formats == Format::Full { 100 } else { random.below(100) };
            let before: BTreeMap<(u64, u64), i64> = (0..m * n)
                .filter(|_| random.below(100) < there)
                .collect::<Vec<_>>()
                .into_iter()
                .map(|e| ((e / n, e % n), random.below(9) as i64))
                .collect();
            let entries: Vec<(u64, u64, i64)> = before.iter().map(|((i, j), v)| (*i, *j, *v)).collect();
            let mut a: Matrix<i64> = Matrix::build(m, n, &entries).unwrap().to_format(formats).unwrap();
            let mut x: Vector<i64> =
                Vector::build(m * n, &entries.iter().map(|(i, j, v)| (i * n + j, *v)).collect::<Vec<_>>()).unwrap();
            if formats == Format::Bitmap {
                x = x.to_bitmap().unwrap();
            }
            let (old, old_x) = (a.clone(), x.clone());
            let (mut after, mut updates, mut of_x) = (before.clone(), Updates::new(), Updates::new());
            let mut kinds = [vec![true; sets], vec![false; removals]].concat();
            (1..kinds.len()).for_each(|k| kinds.swap(k, random.below(k as u64 + 1) as usize));
            for set in kinds {
                let (i, j, value) = (random.below(m), random.below(n), random.below(9) as i64);
                if set {
                    after.insert((i, j), value);
                    updates.set(i, j, value).unwrap();
                    of_x.set(0, i * n + j, value).unwrap();
                } else {
                    after.remove(&(i, j));
                    updates.remove(i, j).unwrap();
                    of_x.remove(0, i * n + j).unwrap();
                }
            }
            a.update(&updates).unwrap();
            x.update(&of_x).unwrap();
            let expected: Vec<(u64, u64, i64)> = after.into_iter().map(|((i, j), v)| (i, j, v)).collect();
            assert_eq!(a.entries().unwrap(), expected, "{formats:?}, {sets} set, {removals} removed");
            let expected: Vec<(u64, i64)> = expected.into_iter().map(|(i, j, v)| (i * n + j, v)).collect();
            assert_eq!(x.entries().unwrap(), expected);
            assert_eq!((a.nvals(), x.nvals()), (expected.len() as u64, expected.len() as u64));
            // Clones are what they were.
            assert_eq!((old.entries().unwrap(), old_x.nvals()), (entries, before.len() as u64));
            assert!(updates.len() == sets + removals && a.update(&Updates::new()).is_ok());
        }
    }
}
