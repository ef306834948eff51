//! Vectors as lists, as bits with a value for every place, and full ones: never visible in a result.
#[path = "common/vectors.rs"]
mod vectors;

use oplus::generate::Random;
use oplus::prelude::*;
use vectors::{N, vector};

#[test]
fn formats_do_not_show() {
    vectors::formats_do_not_show(&Device::Cpu);
}

#[test]
fn accumulating_a_little_again_and_again() {
    vectors::accumulating_a_little_again_and_again(&Device::Cpu, 400);
}

#[test]
fn a_row_that_grows() {
    vectors::a_row_that_grows(&Device::Cpu);
}

#[test]
fn formats_by_hand() {
    let x = vector(&mut Random::new(4, 0), 30);
    let dense = x.to_bitmap().unwrap();
    assert_eq!((x.format(), dense.format()), (Format::Sparse, Format::Bitmap));
    assert_eq!(dense.to_sparse().unwrap().format(), Format::Sparse);
    assert_eq!(dense.over::<MinPlus>().format(), Format::Bitmap);
    let full = Vector::<i64>::full(N, 1).unwrap();
    assert_eq!((full.format(), full.to_bitmap().unwrap().format()), (Format::Full, Format::Full));
    assert_eq!(Vector::<i64>::new(0).unwrap().to_bitmap().unwrap().nvals(), 0);
    // Too long for a place each: it stays a list.
    let long: Vector<i64> = Vector::build(1 << 40, &[(1 << 39, 5)]).unwrap();
    assert_eq!(long.to_bitmap().unwrap().format(), Format::Sparse);
    assert_eq!(x.to(&Device::Reference).unwrap().to_bitmap().unwrap().format(), Format::Sparse);
}

/// What gives its operand back is the operand, in its format; what is written to it is not written to the operand.
#[test]
fn operands_that_are_given_back() {
    let x = vector(&mut Random::new(4, 0), 30);
    for x in [x.clone(), x.to_bitmap().unwrap(), Vector::<i64>::full(N, 1).unwrap()] {
        let before = x.entries().unwrap();
        for mut same in [apply(&x, Identity).eval().unwrap(), apply_second(&x, First, 0).eval().unwrap()] {
            assert_eq!((same.format(), same.entries().unwrap()), (x.format(), before.clone()));
            let one: Vector<i64> = Vector::build(N, &[(7, 5)]).unwrap();
            apply(&one, Identity).accumulate(Second).into(&mut same).unwrap();
            assert_eq!((same.get(7).unwrap(), x.entries().unwrap()), (Some(5), before.clone()));
        }
        // A name of another type is no copy of its bytes.
        assert!(
            apply(&x, Cast::<f64>::default())
                .eval()
                .unwrap()
                .entries()
                .unwrap()
                .iter()
                .all(|(i, v)| { before.iter().any(|(j, w)| j == i && *w as f64 == *v) })
        );
    }
}
