//! Matrices and vectors as values of Rust: compared, shown, made of other types.
use oplus::prelude::*;

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
