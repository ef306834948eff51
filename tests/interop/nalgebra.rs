use super::cases::{Stored, bits};
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
