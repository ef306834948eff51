//! Every operation on the CPU backend against the reference, and what holds of operations on any device.
use oplus::prelude::*;

#[path = "common/operations.rs"]
mod properties;

fn under_test() -> Option<Device> {
    Some(Device::Cpu)
}

#[test]
fn outputs_may_be_operands() {
    let a: Matrix<i32> = Matrix::build(3, 3, &[(0, 1, 2), (1, 2, 3), (2, 0, 4), (0, 0, 1)]).unwrap();
    let square = a.mxm(&a).unwrap().entries().unwrap();
    let mut c = a.clone();
    mxm(&c, &c).into(&mut c).unwrap();
    assert_eq!(c.entries().unwrap(), square);
    let mut c = a.clone();
    mxm(&c, &c).mask(&c.structure().complement()).accumulate(Plus).into(&mut c).unwrap();
    let mut expected = a.clone();
    let (b, mask) = (a.clone(), a.structure().complement());
    mxm(&b, &b).mask(&mask).accumulate(Plus).into(&mut expected).unwrap();
    assert!(c.entries().unwrap() == expected.entries().unwrap() && c.nvals() > a.nvals());
}

#[test]
fn errors_name_operands_and_change_nothing() {
    let a: Matrix<f64> = Matrix::build(2, 3, &[(0, 0, 1.0)]).unwrap();
    let mut c: Matrix<f64> = Matrix::build(2, 2, &[(1, 1, 5.0)]).unwrap();
    let e = mxm(&a, &a).into(&mut c).unwrap_err().to_string();
    assert!(e.contains("mxm: A is 2×3, B is 2×3"), "{e}");
    let e = mxm(&a, &a).transpose_b().mask(&a).into(&mut c).unwrap_err().to_string();
    assert!(e.contains("the mask is 2×3"), "{e}");
    let e = ewise_add(&a, &c, Plus).eval().unwrap_err().to_string();
    assert!(e.contains("ewise_add: A is 2×3, B is 2×2"), "{e}");
    let e = mxm(&a, &a.to(&Device::Reference).unwrap()).transpose_b().eval().unwrap_err().to_string();
    assert!(e.contains("A is on cpu, B is on reference"), "{e}");
    assert_eq!(c.entries().unwrap(), [(1, 1, 5.0)]);
    let e = Matrix::<f64>::build(2, 2, &[(0, 1, 1.0), (2, 0, 1.0)]).unwrap_err();
    assert!(matches!(e, Error::IndexOutOfBounds { what: "row", position: Some(1), index: 2, bound: 2, .. }), "{e}");
    let e = Matrix::<f64>::build(2, 2, &[(0, 1, 1.0), (1, 0, 1.0), (0, 1, 2.0)]).unwrap_err();
    assert!(matches!(e, Error::DuplicateEntry { row: 0, column: 1, position: 2, .. }), "{e}");
    let e = Matrix::<f64>::from_csr(2, 2, vec![0, 2, 1], vec![0, 1], vec![1.0, 2.0]).unwrap_err().to_string();
    assert!(e.contains("offsets run from 0 to 1"), "{e}");
    assert!(
        Matrix::<f64>::from_csr(1, 2, vec![0, 2], vec![1, 0], vec![1.0, 2.0])
            .unwrap_err()
            .to_string()
            .contains("ascending")
    );
    assert!(mxm(&a, &a).transpose_b().strategy(Strategy::Dot).eval().unwrap_err().to_string().contains("needs a mask"));
}

#[test]
fn results_do_not_depend_on_threads() {
    let coo = oplus::generate::rmat(10, 8, Default::default(), 3).unwrap();
    let a: Matrix<f64> = Matrix::from_coo(&coo).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            (a.mxm(&a).unwrap().entries().unwrap(), reduce(&a, Plus).unwrap(), mxm(&a, &a).reduce(Plus).unwrap())
        })
    };
    assert!(run(1) == run(4));
    let reference = a.to(&Device::Reference).unwrap();
    assert!(a.mxm(&a).unwrap().entries().unwrap() == reference.mxm(&reference).unwrap().entries().unwrap());
}
