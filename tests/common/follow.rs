//! Steps after a product with a vector, sums of rows, apply and select: what the operations one by one make.
use oplus::prelude::*;

fn parts(device: &Device) -> (Matrix<f64>, Vector<f64>, Vector<f64>) {
    let mut coo = oplus::generate::uniform(200, 200, 5, 3).unwrap();
    coo.values.iter_mut().for_each(|v| *v = (*v * 16.0).round());
    let a: Matrix<f64> = Matrix::build_with(&coo, Plus).unwrap();
    let x = Vector::build(200, &(0..200).step_by(3).map(|i| (i, (i % 7) as f64)).collect::<Vec<_>>()).unwrap();
    let y = Vector::full(200, 2.0).unwrap();
    (a.to(device).unwrap(), x.to(device).unwrap(), y.to(device).unwrap())
}

pub fn is_what_the_steps_make(device: &Device) {
    let (a, x, y) = parts(device);
    let product = vxm(&x, &a).eval().unwrap();
    let scaled = apply_second(&product, Times, 0.5).eval().unwrap();
    let sum = ewise_add(&scaled, &y, Plus).eval().unwrap();
    assert_eq!(vxm(&x, &a).apply_second(Times, 0.5).eval().unwrap(), scaled);
    assert_eq!(vxm(&x, &a).apply_second(Times, 0.5).ewise_add(&y, Plus).eval().unwrap(), sum);
    let pulled = mxv(&a, &y).select(ValueGt, 40.0).top_k(7).eval().unwrap();
    assert_eq!(pulled, top_k(&select(&mxv(&a, &y).eval().unwrap(), ValueGt, 40.0).eval().unwrap(), 7).eval().unwrap());
    // y + αx, a distance, and of matrices.
    assert_eq!(
        apply_second(&x, Times, 3.0).ewise_add(&y, Plus).eval().unwrap(),
        ewise_add(&apply_second(&x, Times, 3.0).eval().unwrap(), &y, Plus).eval().unwrap()
    );
    let lower = tril(&a, 0).eval().unwrap();
    assert_eq!(
        tril(&a, 0).ewise_mult(&a.transposed(), Times).eval().unwrap(),
        ewise_mult(&lower, &a.transposed(), Times).eval().unwrap()
    );
    assert_eq!(
        select(&a, ValueGt, 5.0).transpose_a().apply(Negate).eval().unwrap(),
        apply(&select(&a.transposed(), ValueGt, 5.0).eval().unwrap(), Negate).eval().unwrap()
    );
    // 1 / degree.
    let degrees = count_rows(&a).eval().unwrap();
    assert_eq!(degrees, reduce_rows(&apply(&a, Pair::<u64>::default()).eval().unwrap(), Plus).eval().unwrap());
    assert_eq!(
        count_rows(&a).transpose_a().eval().unwrap(),
        reduce_rows(&apply(&a.transposed(), Pair::<u64>::default()).eval().unwrap(), Plus).eval().unwrap()
    );
    let inverse = count_rows(&a).apply(Cast::<f64>::default()).apply(Inverse).eval().unwrap();
    assert_eq!(inverse, apply(&degrees.cast::<f64>().unwrap(), Inverse).eval().unwrap());
    // Sums.
    let dot: f64 = ewise_mult(&x, &y, Times).reduce(Plus).unwrap();
    assert_eq!(dot, reduce(&ewise_mult(&x, &y, Times).eval().unwrap(), Plus).unwrap());
    assert_eq!(vxm(&x, &a).reduce(Max).unwrap(), reduce(&product, Max).unwrap());
    assert_eq!(vxm(&x, &a).apply(Abs).reduce(Max).unwrap(), reduce(&product, Max).unwrap());
    assert_eq!(apply(&x, Negate).reduce(Min).unwrap(), -6.0);
    assert_eq!(count_rows(&a).reduce(Plus).unwrap(), a.nvals());
    assert_eq!(mxm(&a, &a).apply(Negate).reduce(Min).unwrap(), -mxm(&a, &a).reduce(Max).unwrap());
    assert_eq!(apply(&Vector::<f64>::new(3).unwrap().to(device).unwrap(), Abs).reduce(Plus).unwrap(), 0.0);
}

pub fn masks_mean_what_stands_where(device: &Device) {
    let (a, x, y) = parts(device);
    let half: Vector<bool> = Vector::build(200, &(0..100).map(|i| (i, true)).collect::<Vec<_>>()).unwrap();
    let half = half.to(device).unwrap();
    let product = vxm(&x, &a).mask(&half).eval().unwrap();
    assert!(product.nvals() < vxm(&x, &a).eval().unwrap().nvals());
    // The product's: outside it y alone.
    let before = vxm(&x, &a).mask(&half).ewise_add(&y, Plus).eval().unwrap();
    assert_eq!(before, ewise_add(&product, &y, Plus).eval().unwrap());
    let after = vxm(&x, &a).ewise_add(&y, Plus).mask(&half).eval().unwrap();
    assert_eq!((before.nvals(), after.nvals()), (200, 100));
    let mut c = y.clone();
    vxm(&x, &a).mask(&half).apply(Negate).accumulate(Plus).into(&mut c).unwrap();
    let mut expected = y.clone();
    apply(&product, Negate).accumulate(Plus).into(&mut expected).unwrap();
    assert_eq!(c, expected);
    // One builder, used twice.
    let begun = vxm(&x, &a).apply_second(Plus, 1.0);
    assert_eq!(begun.clone().eval().unwrap(), begun.eval().unwrap());
}

pub fn errors_are_those_of_the_operations(device: &Device) {
    let (a, x, y) = parts(device);
    let short: Vector<f64> = Vector::full(199, 1.0).unwrap().to(device).unwrap();
    let bits = short.cast::<bool>().unwrap();
    let mut c = y.clone();
    for told in [
        vxm(&short, &a).apply(Abs).eval().unwrap_err(),
        vxm(&x, &a).mask(&bits).apply(Abs).eval().unwrap_err(),
        vxm(&x, &a).ewise_add(&short, Plus).eval().unwrap_err(),
        apply(&x, Abs).ewise_add(&short, Plus).into(&mut c).unwrap_err(),
        count_rows(&a).mask(&bits).apply(Identity).eval().unwrap_err(),
    ] {
        assert!(matches!(told, Error::DimensionMismatch { .. }), "{told}");
        assert!(told.to_string().contains("length 199"), "{told}");
    }
    let replaced = vxm(&x, &a).mask(&y.structure()).replace().apply(Abs).into(&mut c).unwrap_err();
    assert!(matches!(replaced, Error::InvalidValue { .. }), "{replaced}");
    let limited = mxv(&a, &y).memory_limit(8).apply(Abs).into(&mut c).unwrap_err();
    assert!(matches!(limited, Error::OutOfMemory { available: Some(8), .. }), "{limited}");
    assert_eq!(c, y);
}
