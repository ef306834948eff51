use super::cases::{Any, Stored, bits, vector};
use oplus::prelude::*;
use quickcheck::quickcheck;
use sprs::{CsMat, CsMatI, CsVecI, TriMat};

#[test]
fn arrays_alike_are_moved() {
    let a: Matrix<f64> = Matrix::build(2, 3, &[(0, 1, 1.0), (1, 0, 2.0), (1, 2, 3.0)]).unwrap();
    let view = a.csr_parts().unwrap();
    let places = (view.offsets().as_ptr().addr(), view.indices().as_ptr(), view.values().as_ptr());
    drop(view);
    let moved: CsMatI<f64, u32, usize> = a.try_into().unwrap();
    let there = (moved.proper_indptr().as_ptr().addr(), moved.indices().as_ptr(), moved.data().as_ptr());
    assert_eq!(there.1, places.1);
    assert_eq!(there.2, places.2);
    #[cfg(target_pointer_width = "64")]
    assert_eq!(there.0, places.0);
    let back: Matrix<f64> = moved.try_into().unwrap();
    let moved: CsMatI<f64, u32, u64> = back.try_into().unwrap();
    assert_eq!((moved.proper_indptr().as_ptr().addr(), moved.data().as_ptr()), (places.0, places.2));
}

#[test]
fn what_does_not_fit_is_an_error() {
    let wide: Matrix<f64> = Matrix::build(1, 40_000, &[(0, 39_999, 1.0)]).unwrap();
    let error = CsMatI::<f64, i16>::try_from(wide.clone()).unwrap_err();
    assert!(matches!(error, Error::IndexOverflow { value: 39_999, limit: 32_767, .. }), "{error}");
    assert!(CsMatI::<f64, u16>::try_from(wide).is_ok());
    let hypersparse: Matrix<f64> = Matrix::build(1, 1 << 40, &[(0, 7, 1.0)]).unwrap();
    let error = CsMat::try_from(hypersparse).unwrap_err();
    assert!(matches!(error, Error::IndexOverflow { what: "columns", .. }), "{error}");
    let long: Vector<f64> = Vector::build(1 << 40, &[(1 << 39, 1.0)]).unwrap();
    assert!(matches!(CsVecI::<f64, u32>::try_from(long), Err(Error::IndexOverflow { .. })));
    // Indices would fit, the dimension does not.
    let beginning: Matrix<f64> = Matrix::build(1, 40_000, &[(0, 7, 1.0)]).unwrap();
    let told = CsMatI::<f64, i16>::try_from(beginning.clone()).unwrap_err();
    assert!(matches!(told, Error::IndexOverflow { what: "columns", value: 40_000, limit: 32_767, .. }), "{told}");
    let tall = CsMatI::<f64, i16>::try_from(transpose(&beginning).eval().unwrap()).unwrap_err();
    assert!(matches!(tall, Error::IndexOverflow { what: "rows", value: 40_000, limit: 32_766, .. }), "{tall}");
    for n in [40_000, 1 << 40] {
        let x: Vector<f64> = Vector::build(n, &[(7, 1.0)]).unwrap();
        let told = CsVecI::<f64, i16>::try_from(x).unwrap_err();
        let expected =
            Error::IndexOverflow { operation: "to sprs", what: "the vector's length", value: n.into(), limit: 32_767 };
        assert_eq!(told, expected);
    }
}

#[test]
fn duplicates_triplets_and_slices() {
    let mut triplets = TriMat::new((3, 3));
    triplets.add_triplet(2, 1, 1.5);
    triplets.add_triplet(2, 1, 2.0);
    triplets.add_triplet(0, 2, 4.0);
    let columns: CsMat<f64> = triplets.to_csc();
    let a: Matrix<f64> = columns.try_into().unwrap();
    assert_eq!(a.entries().unwrap(), [(0, 2, 4.0), (2, 1, 3.5)]);
    let rows: CsMat<f64> = triplets.to_csr();
    let slice: Matrix<f64> = rows.slice_outer(1..3).to_owned().try_into().unwrap();
    assert_eq!((slice.shape(), slice.entries().unwrap()), ((2, 3), vec![(1, 1, 3.5)]));
}

/// What sprs has not checked is told in its terms, whether u32 counts the dimensions or not.
#[test]
fn malformed_arrays_are_refused() {
    use sprs::CompressedStorage::{CSC, CSR};
    let told = |storage, shape, offsets: &[usize], indices: &[usize], values: &[i64]| {
        let (offsets, indices, values) = (offsets.to_vec(), indices.to_vec(), values.to_vec());
        // SAFETY: nothing is asked of it but its arrays.
        let a = unsafe { CsMatI::<i64, usize>::new_unchecked(storage, shape, offsets, indices, values) };
        Matrix::<i64>::try_from(a).unwrap_err().to_string()
    };
    for inner in [3, 1 << 40] {
        for (storage, shape, line, across) in [(CSR, (2, inner), "row", "column"), (CSC, (inner, 2), "column", "row")] {
            for (offsets, indices, values, expected) in [
                (
                    &[0, 3][..],
                    &[0, 1, 2][..],
                    &[1, 2, 3][..],
                    format!("2 offsets for 2 {line}s: {line}s + 1 are needed"),
                ),
                (
                    &[0, 1, 3, 3, 3, 3],
                    &[0, 1, 2],
                    &[1, 2, 3],
                    format!("6 offsets for 2 {line}s: {line}s + 1 are needed"),
                ),
                (&[], &[], &[], format!("0 offsets for 2 {line}s: {line}s + 1 are needed")),
                (&[0, 1, 2], &[0, 1, 2], &[1, 2, 3], "offsets run from 0 to 2, they must run from 0 to 3".into()),
                (&[1, 2, 3], &[0, 1, 2], &[1, 2, 3], "offsets run from 0 to 2, they must run from 0 to 3".into()),
                (&[0, 3, 2], &[0, 1], &[1, 2], format!("offsets decrease at {line} 1: 3 to 2")),
                (&[0, 1, 3], &[0, 1, 2], &[1, 2], format!("2 values for 3 {across} indices")),
                (&[0, 1, 3], &[0, 2, 1], &[1, 2, 3], format!("{across}s of {line} 1 are not ascending at position 2")),
                (&[0, 1, 3], &[0, 1, 1], &[1, 2, 3], format!("{across}s of {line} 1 are not ascending at position 2")),
                (
                    &[0, 1, 3],
                    &[0, 1, 1 << 41],
                    &[1, 2, 3],
                    match inner {
                        3 => format!("index is {}, the limit is {}", 1u64 << 41, u32::MAX),
                        _ => format!("{across} {} at position 2 is out of range, the bound is {inner}", 1u64 << 41),
                    },
                ),
            ] {
                assert_eq!(told(storage, shape, offsets, indices, values), format!("from sprs: {expected}"));
            }
        }
    }
    let tall = told(CSR, (1 << 40, 3), &[0, 3], &[0, 1, 2], &[1, 2, 3]);
    assert_eq!(tall, "from sprs: 2 offsets for 1099511627776 rows: rows + 1 are needed");
    let beyond = told(CSC, (3, 1), &[0, 2], &[0, 9], &[1, 2]);
    assert_eq!(beyond, "from sprs: row 9 at position 1 is out of range, the bound is 3");
}

quickcheck! {
    fn rows_columns_and_widths(a: Stored<f64>) -> bool {
        let expected = bits(&a.0);
        let rows: CsMat<f64> = a.0.clone().try_into().unwrap();
        let narrow: CsMatI<f64, i32, u16> = a.0.clone().try_into().unwrap();
        let columns = rows.to_other_storage();
        rows.iter().map(|(v, (i, j))| (i as u64, j as u64, v.to_bits())).eq(expected.2.iter().copied())
            && bits::<PlusTimes>(&columns.try_into().unwrap()) == expected
            && bits::<PlusTimes>(&narrow.try_into().unwrap()) == expected
            && bits::<PlusTimes>(&rows.try_into().unwrap()) == expected
    }
    fn any_matrix_or_an_error(a: Any<f64>) -> bool {
        let (expected, small) = (bits(&a.0), a.0.nrows().max(a.0.ncols()) < 1 << 32);
        match CsMat::try_from(a.0) {
            Ok(there) => small && bits::<PlusTimes>(&there.try_into().unwrap()) == expected,
            Err(e) => !small && matches!(e, Error::IndexOverflow { .. }),
        }
    }
    fn vectors(entries: Vec<(u8, i32)>) -> bool {
        let x = vector(&entries);
        let (there, wide): (CsVecI<i32, u32>, CsVecI<i32, usize>) =
            (x.clone().try_into().unwrap(), x.clone().try_into().unwrap());
        let back = [Vector::<i32>::try_from(there).unwrap(), Vector::try_from(wide).unwrap()];
        back.iter().all(|y| y.len() == 40 && y.entries().unwrap() == x.entries().unwrap())
    }
    fn long_vectors(entries: Vec<(u64, i32)>) -> bool {
        let entries: Vec<(u64, i32)> = entries.iter().map(|(i, v)| (i % (u64::MAX - 1), *v)).collect();
        let x: Vector<i32> = Vector::build_with(u64::MAX - 1, &entries, First).unwrap();
        let there: CsVecI<i32, u64> = x.clone().try_into().unwrap();
        Vector::<i32>::try_from(there).unwrap().entries().unwrap() == x.entries().unwrap()
    }
}
