//! A matrix seen transposed is, to every operation, its transpose.
use oplus::prelude::*;

fn check<T: Number>(device: &Device, a: &Matrix<T>, b: &Matrix<T>) {
    let (a, b) = (a.to(device).unwrap(), b.to(device).unwrap());
    let (at, bt) = (transpose(&a).eval().unwrap(), transpose(&b).eval().unwrap());
    let (av, bv) = (a.transposed(), b.transposed());
    let same = |view: Result<Matrix<T>>, made: Result<Matrix<T>>| {
        let (view, made) = (view.unwrap(), made.unwrap());
        assert_eq!((view.shape(), view.entries().unwrap()), (made.shape(), made.entries().unwrap()));
    };
    let same_vector = |view: Result<Vector<T>>, made: Result<Vector<T>>| {
        assert_eq!(view.unwrap().entries().unwrap(), made.unwrap().entries().unwrap());
    };
    assert_eq!((av.shape(), av.nvals(), av.device()), (at.shape(), at.nvals(), at.device()));
    same(Ok(av.transposed()), Ok(a.clone()));
    // a is m × k, b is m × k too.
    same(mxm(&a, &bv).eval(), mxm(&a, &bt).eval());
    same(mxm(&av, &b).eval(), mxm(&at, &b).eval());
    same(mxm(&bv, &av.transposed()).eval(), mxm(&bt, &a).eval());
    same(mxm(&av, &bv).transpose_b().eval(), mxm(&at, &b).eval());
    same(a.mxm(&bv), a.mxm(&bt));
    let square = mxm(&a, &bt).eval().unwrap();
    let mask = transpose(&square).eval().unwrap().structure();
    same(mxm(&b, &av).mask(&mask).eval(), mxm(&b, &at).mask(&mask).eval());
    same(mxm(&b, &av).mask(&square.transposed().structure()).eval(), mxm(&b, &at).mask(&mask).eval());
    let (m, k) = a.shape();
    let x: Vector<T> = Vector::full(m, T::ONE).unwrap().to(device).unwrap();
    let y: Vector<T> = Vector::build_with(k, &[(0, T::ONE), (k - 1, T::ONE)], Plus).unwrap().to(device).unwrap();
    same_vector(mxv(&av, &x).eval(), mxv(&at, &x).eval());
    same_vector(mxv(&av.transposed(), &y).eval(), mxv(&a, &y).eval());
    same_vector(vxm(&y, &av).eval(), vxm(&y, &at).eval());
    same(ewise_add(&av, &bt, Plus).eval(), ewise_add(&at, &bt, Plus).eval());
    same(ewise_add(&at, &bv, Minus).eval(), ewise_add(&at, &bt, Minus).eval());
    same(ewise_mult(&av, &bv, Times).eval(), ewise_mult(&at, &bt, Times).eval());
    same(apply(&av, Negate).eval(), apply(&at, Negate).eval());
    same(apply_second(&av, Minus, T::ONE).eval(), apply_second(&at, Minus, T::ONE).eval());
    same(select(&av, Tril, 0).eval(), select(&at, Tril, 0).eval());
    same(transpose(&av).eval(), Ok(a.clone()));
    same(extract_rows(&av, [0, k - 1, 0]).eval(), extract_rows(&at, [0, k - 1, 0]).eval());
    same_vector(reduce_rows(&av, Plus).eval(), reduce_rows(&at, Plus).eval());
    assert_eq!(reduce(&av, Plus).unwrap(), reduce(&at, Plus).unwrap());
    let (mut view, mut made) = (at.clone(), at.clone());
    apply(&bv, Abs).accumulate(Max).into(&mut view).unwrap();
    apply(&bt, Abs).accumulate(Max).into(&mut made).unwrap();
    same(Ok(view), Ok(made));
}

#[test]
fn every_operation_reads_a_view_as_the_transpose() {
    for (m, k) in [(1, 1), (7, 4), (30, 50)] {
        let entries = |seed: u64| -> Vec<(u64, u64, i64)> {
            let mut state = seed;
            let mut next = |n: u64| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 33) % n
            };
            (0..3 * (m + k)).map(|_| (next(m), next(k), next(19) as i64 - 9)).collect()
        };
        let build = |seed: u64| {
            let mut coo = Coo::new(m, k);
            coo.reserve(3 * (m + k) as usize).unwrap();
            entries(seed).into_iter().for_each(|(i, j, v)| coo.push(i, j, v));
            Matrix::<i64>::build_with(&coo, Plus).unwrap()
        };
        for device in [Device::Reference, Device::Cpu] {
            check(&device, &build(1), &build(2));
        }
    }
}

#[test]
fn shapes_of_views_are_named_in_errors() {
    let a: Matrix<f64> = Matrix::new(2, 3).unwrap();
    let error = mxm(&a.transposed(), &a.transposed()).eval().unwrap_err();
    assert!(matches!(error, Error::DimensionMismatch { left: (3, 2), right: (3, 2), .. }), "{error}");
}

#[test]
fn valued_masks_may_be_views() {
    let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 0, 1), (0, 1, 2), (1, 0, 3), (1, 1, 4)]).unwrap();
    let m: Matrix<bool> = Matrix::build(2, 2, &[(0, 1, true), (1, 0, false)]).unwrap();
    assert_eq!(apply(&a, Identity).mask(&m.transposed()).eval().unwrap().entries().unwrap(), [(1, 0, 3)]);
}
