//! Raw arrays: moved both ways, checked on the way in.
use super::cases::{Any, bits, vector};
use oplus::interop::{CsrParts, VectorParts};
use oplus::prelude::*;
use quickcheck::quickcheck;

fn parts() -> CsrParts<f64> {
    let (offsets, indices, values) = (vec![0, 2, 2, 3], vec![0, 3, 1], vec![1.0, 2.0, 3.0]);
    CsrParts { nrows: 3, ncols: 4, offsets, indices, values, ..Default::default() }
}

#[test]
fn arrays_are_moved_not_copied() {
    let given = parts();
    let places = (given.offsets.as_ptr(), given.indices.as_ptr(), given.values.as_ptr());
    let a: Matrix<f64, MinPlus> = Matrix::from_csr_parts(given).unwrap();
    let view = a.csr_parts().unwrap();
    assert_eq!((view.offsets().as_ptr(), view.indices().as_ptr(), view.values().as_ptr()), places);
    drop(view);
    let clone = a.clone();
    let copied = a.into_csr_parts().unwrap();
    assert_eq!(copied, parts());
    assert_ne!(copied.values.as_ptr(), places.2, "the clone holds it");
    let moved = clone.over::<PlusTimes>().clone();
    drop(clone);
    let moved = moved.into_csr_parts().unwrap();
    assert_eq!((moved.offsets.as_ptr(), moved.indices.as_ptr(), moved.values.as_ptr()), places);
    assert_eq!(moved, parts());
}

#[test]
fn vectors_are_moved_not_copied() {
    let given = VectorParts { len: 9, ids: None, indices: vec![2, 8], values: vec![1u8, 2] };
    let places = (given.indices.as_ptr(), given.values.as_ptr());
    let x: Vector<u8> = Vector::from_parts(given.clone()).unwrap();
    let other: Vector<u8> = Vector::from_parts(given).unwrap();
    assert_eq!(x.entries().unwrap(), [(2, 1), (8, 2)]);
    let moved = other.into_parts().unwrap();
    assert_eq!((moved.indices.as_ptr(), moved.values.as_ptr()), places);

    let values = vec![5i64, 6, 7];
    let place = values.as_ptr();
    let x: Vector<i64> = Vector::from_full(values).unwrap();
    assert_eq!((x.format(), x.entries().unwrap()), (Format::Full, vec![(0, 5), (1, 6), (2, 7)]));
    let values = x.into_full(0).unwrap();
    assert_eq!((values.as_ptr(), &values[..]), (place, &[5, 6, 7][..]));
    assert_eq!(vector(&[(1, 5i64), (39, 6)]).into_full(-1).unwrap().iter().filter(|v| **v == -1).count(), 38);
}

#[test]
fn what_is_wrong_is_named() {
    let refused = |change: fn(&mut CsrParts<f64>)| {
        let mut parts = parts();
        change(&mut parts);
        Matrix::<f64>::from_csr_parts(parts).unwrap_err().to_string()
    };
    for (change, told) in [
        ((|p| p.offsets = vec![0, 3]) as fn(&mut CsrParts<f64>), "2 offsets for 3 rows"),
        (|p| p.offsets.clear(), "0 offsets for 3 rows"),
        (|p| p.offsets = vec![1, 2, 2, 3], "run from 1"),
        (|p| p.offsets = vec![0, 2, 2, u64::MAX], "run from 0"),
        (|p| p.offsets = vec![0, 3, 2, 3], "decrease at row 1"),
        (|p| p.offsets = vec![0, u64::MAX, 2, 3], "decrease at row 1"),
        (|p| p.indices[2] = 4, "column 4 at position 2 is out of range"),
        (|p| p.indices[1] = 0, "row 0 are not ascending at position 1"),
        (|p| p.values.truncate(2), "2 values for 3"),
        (|p| p.nrows = u64::MAX, "need a list"),
        (|p| p.row_ids = Some(vec![0, 1]), "4 offsets for 2 rows"),
        (|p| p.row_ids = Some(vec![0, 1, 3]), "row 3 at position 2 is out of range"),
        (|p| p.column_ids = Some(vec![0]), "column 3 at position 1 is out of range"),
    ] {
        let error = refused(change);
        assert!(error.contains(told), "{error:?} does not say {told:?}");
    }
    let hypersparse = |ids: Vec<u64>| {
        let (row_ids, ncols) = (Some(ids), u32::MAX as u64);
        Matrix::<f64>::from_csr_parts(CsrParts { nrows: 1 << 40, row_ids, ncols, ..parts() })
    };
    assert_eq!(hypersparse(vec![1, 5, (1 << 40) - 1]).unwrap().get((1 << 40) - 1, 1).unwrap(), Some(3.0));
    assert!(hypersparse(vec![1, 5, 5]).unwrap_err().to_string().contains("not ascending at position 2"));
    assert!(hypersparse(vec![1, 5, 1 << 40]).unwrap_err().to_string().contains("out of range"));
    assert!(hypersparse(vec![1, 5]).unwrap_err().to_string().contains("4 offsets for 2 rows"));
}

/// A vector has indices, and neither rows nor columns.
#[test]
fn what_is_wrong_with_a_vector_is_named_as_its_own() {
    let parts = || VectorParts { len: 5, ids: None, indices: vec![1, 3], values: vec![1u8, 2] };
    type Change = fn(&mut VectorParts<u8>);
    for (change, told) in [
        ((|p| p.indices[1] = 1) as Change, "indices are not ascending at position 1"),
        (|p| p.indices[1] = 5, "index 5 at position 1 is out of range, the bound is 5"),
        (|p| p.values.truncate(1), "1 values for 2 indices"),
        (|p| p.len = 1 << 40, "1099511627776 indices need a list"),
        (|p| p.ids = Some(vec![0, 2, 2, 4]), "the list of indices is not ascending at position 2"),
        (|p| p.ids = Some(vec![0, 2, 4, 5]), "index 5 at position 3 is out of range, the bound is 5"),
        (|p| p.ids = Some(vec![0, 2, 4]), "index 3 at position 1 is out of range, the bound is 3"),
    ] {
        let mut wrong = parts();
        change(&mut wrong);
        let error = Vector::<u8>::from_parts(wrong).unwrap_err().to_string();
        assert_eq!(error.replace(" of those that are stored", ""), format!("from_parts: {told}"));
    }
}

quickcheck! {
    fn every_matrix_comes_back(a: Any<f64>) -> bool {
        let expected = bits(&a.0);
        let view = a.0.csr_parts().unwrap();
        let looked = CsrParts {
            nrows: view.nrows(),
            ncols: view.ncols(),
            row_ids: view.row_ids().map(<[u64]>::to_vec),
            column_ids: view.column_ids().map(<[u64]>::to_vec),
            offsets: view.offsets().to_vec(),
            indices: view.indices().to_vec(),
            values: view.values().to_vec(),
        };
        let back: Matrix<f64> = Matrix::from_csr_parts(a.0.into_csr_parts().unwrap()).unwrap();
        bits(&back) == expected && bits(&Matrix::<f64>::from_csr_parts(looked).unwrap()) == expected
    }
    fn every_vector_comes_back(entries: Vec<(u8, i16)>) -> bool {
        let x = vector(&entries);
        let y: Vector<i16> = Vector::from_parts(x.clone().into_parts().unwrap()).unwrap();
        y.entries().unwrap() == x.entries().unwrap()
    }
}
