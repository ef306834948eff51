use super::cases::{Stored, bits, vector};
use ndarray::{Array1, Array2, array, s};
use oplus::prelude::*;
use quickcheck::quickcheck;

#[test]
fn full_vectors_are_moved() {
    let values = array![1.0, 2.0, 3.0];
    let place = values.as_ptr();
    let x: Vector<f64> = values.try_into().unwrap();
    assert_eq!(x.csr_parts().unwrap().values().as_ptr(), place);
    let back: Array1<f64> = x.try_into().unwrap();
    assert_eq!((back.as_ptr(), back), (place, array![1.0, 2.0, 3.0]));
    let missing: Vector<f64> = Vector::build(3, &[(1, 1.0)]).unwrap();
    assert!(matches!(Array1::try_from(missing), Err(Error::InvalidValue { .. })));
}

#[test]
fn slices_and_orders() {
    let mut part = array![1, 2, 3, 4, 5, 6];
    part.slice_collapse(s![2..5]);
    assert_eq!(Vector::<i32>::try_from(part).unwrap().entries().unwrap(), [(0, 3), (1, 4), (2, 5)]);
    let mut reversed = array![1, 2, 3];
    reversed.invert_axis(ndarray::Axis(0));
    assert_eq!(Vector::<i32>::try_from(reversed).unwrap().entries().unwrap(), [(0, 3), (1, 2), (2, 1)]);
    let columns = array![[1, 0], [2, 3]].reversed_axes();
    let a: Matrix<i32> = Matrix::from_array(&columns, 0).unwrap();
    assert_eq!(a.entries().unwrap(), [(0, 0, 1), (0, 1, 2), (1, 1, 3)]);
    let view: Matrix<i32> = Matrix::from_array(&columns.slice(s![.., 1..]), 0).unwrap();
    assert_eq!(view.entries().unwrap(), [(0, 0, 2), (1, 0, 3)]);
}

#[test]
fn absent_values_may_be_nan_and_too_many_are_an_error() {
    let a: Matrix<f64> = Matrix::from_array(&array![[f64::NAN, 1.0]], f64::NAN).unwrap();
    assert_eq!(a.entries().unwrap(), [(0, 1, 1.0)]);
    let b: Matrix<f64> = Matrix::from_array(&array![[f64::NAN, 0.0]], 0.0).unwrap();
    assert_eq!(b.nvals(), 1);
    let hypersparse: Matrix<f64> = Matrix::new(1 << 40, 1 << 40).unwrap();
    assert!(matches!(hypersparse.to_array(0.0), Err(Error::OutOfMemory { .. })));
    let long: Vector<f64> = Vector::build(1 << 62, &[(5, 1.0)]).unwrap();
    assert!(matches!(long.into_array(0.0), Err(Error::OutOfMemory { operation: "into_array", .. })));
    let none: Matrix<f64> = Matrix::new(u64::MAX, 0).unwrap();
    let told = none.to_array(0.0).unwrap_err().to_string();
    assert!(told.starts_with("to_array: number of rows is 18446744073709551615, the limit is "), "{told}");
    assert_eq!(Matrix::<f64>::new(1 << 40, 0).unwrap().to_array(0.0).unwrap().dim(), (1 << 40, 0));
}

quickcheck! {
    fn matrices(a: Stored<f64>) -> bool {
        // A value that occurs nowhere.
        let absent = 0.123456789;
        let there: Array2<f64> = a.0.to_array(absent).unwrap();
        bits(&Matrix::<f64>::from_array(&there, absent).unwrap()) == bits(&a.0)
    }
    fn vectors(entries: Vec<(u8, i32)>) -> bool {
        let x = vector(&entries);
        let there = x.clone().into_array(0).unwrap();
        let expected: Vec<_> = x.entries().unwrap().into_iter().filter(|e| e.1 != 0).collect();
        Vector::<i32>::from_array(&there, 0).unwrap().entries().unwrap() == expected
    }
}
