//! Element-wise operations one after the other: evaluated together they are what they are one by one.
#[path = "common/chains.rs"]
mod chains;

use chains::{Operands, agrees};
use oplus::prelude::*;
use quickcheck::QuickCheck;

#[test]
fn chains_are_what_the_steps_make() {
    fn check(o: Operands) -> bool {
        for device in [Device::Reference, Device::Cpu] {
            agrees(&o, &device);
        }
        true
    }
    QuickCheck::new().tests(80).quickcheck(check as fn(Operands) -> bool);
}

#[test]
fn long_rows_and_many_blocks() {
    let n = 100_000u64;
    let build = |step: u64, seed: u64| -> Matrix<i64> {
        let wide = (0..n).step_by(step as usize).map(|j| (1, j, (j * seed % 13) as i64 - 6));
        let tall = (2..n).step_by(7).map(|i| (i, i * seed % n, (i % 5) as i64));
        Matrix::build(n, n, &wide.chain(tall).collect::<Vec<_>>()).unwrap()
    };
    let (a, b, c) = (build(1, 3), build(2, 5), build(3, 7));
    let steps = ewise_add(&a, &b, Minus).eval().unwrap();
    let steps = ewise_mult(&steps, &c, Times).eval().unwrap();
    let chain = || ewise_add(&a, &b, Minus).ewise_mult(&c, Times);
    assert_eq!(chain().eval().unwrap().entries().unwrap(), steps.entries().unwrap());
    assert_eq!(
        chain().top_k(3).eval().unwrap().entries().unwrap(),
        top_k(&steps, 3).eval().unwrap().entries().unwrap()
    );
}

#[test]
fn errors_name_the_step() {
    let (a, b) = (Matrix::<f64>::new(2, 3).unwrap(), Matrix::<f64>::new(3, 2).unwrap());
    let wrong = ewise_add(&a, &a, Plus).ewise_mult(&b, Times).eval();
    assert!(matches!(wrong, Err(Error::DimensionMismatch { operation: "ewise_mult", left: (2, 3), .. })));
    assert!(ewise_add(&a, &a, Plus).ewise_mult(&b.transposed(), Times).eval().is_ok());
    let wrong = ewise_add(&a, &a, Plus).mask(&b.structure()).apply(Abs).eval();
    assert!(matches!(wrong, Err(Error::DimensionMismatch { right_name: "the mask", .. })));
}
