//! What follows a product is done to its rows; the result is that of the steps one by one.
#[path = "common/fused.rs"]
mod fused;

use fused::{Factors, agrees, bits, largest};
use oplus::prelude::*;
use quickcheck::QuickCheck;

#[test]
fn fused_products_are_what_the_steps_make() {
    fn check(f: Factors) -> bool {
        for device in [Device::Reference, Device::Cpu] {
            agrees(&f, &device);
        }
        true
    }
    QuickCheck::new().tests(60).quickcheck(check as fn(Factors) -> bool);
}

/// Rows of more work than a block has, which are cut where nobody looks at whole rows.
#[test]
fn long_rows_are_whole_to_top_k() {
    let n = 3000u64;
    let mut coo = Coo::new(4, n);
    let mut wide = Coo::new(n, n);
    for k in 0..n {
        coo.push(1, k, (k % 17) as f64 - 8.0);
        coo.push(k % 4, (k * 7) % n, 0.5);
        (0..60).for_each(|e| wide.push(k, (k * 31 + e * 53) % n, (e % 5) as f64 - 1.0));
    }
    let (a, b) = (Matrix::<f64>::build_with(&coo, Plus).unwrap(), Matrix::<f64>::build_with(&wide, Plus).unwrap());
    let c = mxm(&a, &b).eval().unwrap();
    for k in [0, 1, 10, 2999, n + 1, u64::MAX] {
        let top = mxm(&a, &b).top_k(k).eval().unwrap();
        assert_eq!(bits(&top), bits(&top_k(&c, k).eval().unwrap()), "{k}");
        if k < 100 {
            assert_eq!(top.entries().unwrap(), largest(&c, k));
        }
    }
    assert_eq!(
        bits(&mxm(&a, &b).select(ValueGt, 3.0).eval().unwrap()),
        bits(&select(&c, ValueGt, 3.0).eval().unwrap())
    );
    assert_eq!(bits(&mxm(&a, &b).apply(Negate).eval().unwrap()), bits(&apply(&c, Negate).eval().unwrap()));
}

#[test]
fn errors_are_those_of_the_product() {
    let (a, mask) = (Matrix::<f64>::new(2, 3).unwrap(), Matrix::<f64>::new(2, 3).unwrap());
    assert!(matches!(mxm(&a, &a).top_k(1).eval(), Err(Error::DimensionMismatch { operation: "mxm", .. })));
    let wrong = mxm(&a, &a.transposed()).mask(&mask.structure()).select(ValueGt, 0.0).eval();
    assert!(matches!(wrong, Err(Error::DimensionMismatch { right_name: "the mask", .. })));
    let dots = mxm(&a, &a.transposed()).strategy(Strategy::Dot).apply(Abs).eval();
    assert!(matches!(dots, Err(Error::InvalidValue { .. })));
}
