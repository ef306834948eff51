use super::cases::{Stored, bits};
use super::watched::within;
use nalgebra_sparse::{CooMatrix, CscMatrix, CsrMatrix};
use oplus::prelude::*;
use quickcheck::quickcheck;

#[test]
fn values_and_offsets_are_moved() {
    let a: Matrix<f64> = Matrix::build(2, 3, &[(0, 1, 1.0), (1, 0, 2.0)]).unwrap();
    let view = a.csr_parts().unwrap();
    let places = (view.offsets().as_ptr().addr(), view.values().as_ptr());
    drop(view);
    let there: CsrMatrix<f64> = a.try_into().unwrap();
    #[cfg(target_pointer_width = "64")]
    assert_eq!(there.row_offsets().as_ptr().addr(), places.0);
    assert_eq!(there.values().as_ptr(), places.1);
    let back: Matrix<f64> = there.try_into().unwrap();
    assert_eq!(back.csr_parts().unwrap().values().as_ptr(), places.1);
}

#[test]
fn duplicates_need_an_operator() {
    let mut triplets = CooMatrix::new(2, 2);
    triplets.push(1, 0, 2.0);
    triplets.push(1, 0, 3.0);
    let error = Matrix::<f64>::try_from(&triplets).unwrap_err();
    assert!(matches!(error, Error::DuplicateEntry { row: 1, column: 0, position: 1, .. }), "{error}");
    let folded: Matrix<f64> = Matrix::build_with(&Coo::try_from(&triplets).unwrap(), Plus).unwrap();
    assert_eq!(folded.entries().unwrap(), [(1, 0, 5.0)]);
}

/// What is too long is the matrix's own dimension, and the error that of the conversion.
#[test]
fn errors_are_of_the_matrix() {
    let long: Matrix<f64> = Matrix::build(1 << 40, 3, &[(1 << 39, 2, 0.5)]).unwrap();
    let wide: Matrix<f64> = Matrix::build(3, 1 << 40, &[(2, 1 << 39, 0.5)]).unwrap();
    for (a, axis) in [(long, "rows"), (wide, "columns")] {
        for error in [CsrMatrix::try_from(a.clone()).unwrap_err(), CscMatrix::try_from(a).unwrap_err()] {
            let told = format!("to nalgebra-sparse: {axis} is {}, the limit is {}", 1u64 << 40, u32::MAX);
            assert_eq!(error.to_string(), told);
        }
    }
    let entries: Vec<_> = (0..1000).map(|i| (i, i, 0.5)).collect();
    let a: Matrix<f64> = Matrix::build(1000, 1000, &entries).unwrap();
    let listed = a.to_format(Format::Hypersparse).unwrap();
    let mut triplets = CooMatrix::new(1000, 1000);
    (0..1000).for_each(|i| triplets.push(i, i, 0.5));
    let of = |error: Error, name: &str| match error {
        Error::OutOfMemory { operation, .. } => assert_eq!(operation, name),
        other => panic!("{other}"),
    };
    within(2000, || {
        // Shared, so copied.
        of(CsrMatrix::try_from(a.clone()).unwrap_err(), "to nalgebra-sparse");
        of(CsrMatrix::try_from(listed.clone()).unwrap_err(), "to nalgebra-sparse");
        of(CscMatrix::try_from(a.clone()).unwrap_err(), "to nalgebra-sparse");
        of(CooMatrix::try_from(&a).unwrap_err(), "to nalgebra-sparse");
        of(Coo::try_from(&triplets).unwrap_err(), "from nalgebra-sparse");
    });
}

quickcheck! {
    fn rows_columns_triplets(a: Stored<f64>) -> bool {
        let expected = bits(&a.0);
        let rows: CsrMatrix<f64> = a.0.clone().try_into().unwrap();
        let columns: CscMatrix<f64> = a.0.clone().try_into().unwrap();
        let triplets: CooMatrix<f64> = (&a.0).try_into().unwrap();
        columns.triplet_iter().all(|(i, j, v)| a.0.get(i as u64, j as u64).unwrap().map(f64::to_bits) == Some(v.to_bits()))
            && bits::<PlusTimes>(&rows.try_into().unwrap()) == expected
            && bits::<PlusTimes>(&columns.try_into().unwrap()) == expected
            && bits::<PlusTimes>(&(&triplets).try_into().unwrap()) == expected
    }
}
