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

#[test]
fn masks_between_steps_are_looked_at_once() {
    let a: Matrix<i64> = Matrix::build(2, 2, &[(0, 0, 1), (1, 1, 2)]).unwrap();
    let mask = Matrix::<bool>::build(2, 2, &[(0, 0, true)]).unwrap().structure();
    for device in [Device::Reference, Device::Cpu] {
        let a = a.to(&device).unwrap();
        let mask = Matrix::<bool>::build(2, 2, &[(0, 0, true)]).unwrap().to(&device).unwrap().structure();
        let mut chain = ewise_add(&a, &a, Plus).mask(&mask).apply(Abs);
        for _ in 0..60 {
            chain = chain.mask(&mask).ewise_add(&a, Plus);
        }
        assert_eq!(chain.eval().unwrap().entries().unwrap(), [(0, 0, 62), (1, 1, 2)]);
    }
    let mut wrong = ewise_add(&a, &a, Plus).mask(&mask).apply(Abs);
    wrong = wrong.mask(&Matrix::<bool>::new(3, 2).unwrap().structure()).apply(Abs);
    assert!(matches!(wrong.eval(), Err(Error::DimensionMismatch { right_name: "the mask", .. })));
}

/// Four hundred steps, of two operands and of one; one more is an error, a hundred thousand are too.
#[test]
fn long_chains() {
    let a: Matrix<i64> = Matrix::build(40, 40, &[(0, 0, 1), (39, 1, 2)]).unwrap();
    for device in [Device::Reference, Device::Cpu] {
        let a = a.to(&device).unwrap();
        let chain = |steps: usize| {
            let mut chain = ewise_add(&a, &a, Plus).apply(Abs);
            for step in 2..steps {
                chain = if step % 3 == 0 { chain.apply(Abs) } else { chain.ewise_add(&a, Plus) };
            }
            chain
        };
        for steps in [62, 63, 64, 65, 66, 127, 128, 129, 400] {
            let added = (2..steps).filter(|step| step % 3 != 0).count() as i64 + 2;
            let made = chain(steps).eval().unwrap().entries().unwrap();
            assert_eq!(made, [(0, 0, added), (39, 1, 2 * added)], "{steps}");
        }
        for steps in [401, 100_000] {
            let refused = chain(steps).eval().unwrap_err().to_string();
            assert!(refused.contains("more than 400 steps"), "{refused}");
        }
        let mut wide = mxm(&a, &a).apply(Abs);
        for _ in 1..200 {
            wide = wide.apply_second(Plus, 1);
        }
        let made = wide.clone().eval().unwrap().entries().unwrap();
        assert_eq!(made, [(0, 0, 1 + 199)]);
        for _ in 0..100_000 {
            wide = wide.apply_second(Plus, 1);
        }
        let refused = wide.eval().unwrap_err().to_string();
        assert!(refused.contains("more than 200 steps"), "{refused}");
    }
}

/// Before anything is made.
#[test]
fn masks_are_checked_first() {
    let a: Matrix<f64> = Matrix::full(30, 30, 1.5).unwrap();
    let wrong = Matrix::<bool>::new(3, 3).unwrap().structure();
    let told = |e: Result<Matrix<f64>>| assert!(matches!(e, Err(Error::DimensionMismatch { .. })), "{e:?}");
    told(mxm(&a, &a).memory_limit(1).apply(Abs).mask(&wrong).apply(Negate).eval());
    told(mxm(&a, &a).memory_limit(1).mask(&wrong).apply(Negate).eval());
    told(triple_product(&a, &a, &a).mask(&wrong).memory_limit(1).eval());
    assert!(matches!(
        triple_product(&a, &a, &a).mask(&wrong).memory_limit(1).plan(),
        Err(Error::DimensionMismatch { .. })
    ));
}

#[test]
fn what_is_made_full_is_full_wherever_it_is_written() {
    let a: Matrix<f64> = Matrix::from_full(64, 64, (0..4096).map(|e| e as f64).collect()).unwrap();
    let a = a.to_format(Format::Csr).unwrap();
    let mut c = Matrix::new(64, 64).unwrap();
    mxm(&a, &a).into(&mut c).unwrap();
    let mut halves = tril(&a, 0).eval().unwrap();
    triu(&a, 1).accumulate(First).into(&mut halves).unwrap();
    let run = mxm(&a, &a).plan().unwrap().run(&a, &a).unwrap();
    let made = mxm(&a, &a).eval().unwrap();
    assert_eq!([&c, &halves, &run, &made].map(|x| x.format()), [Format::Full; 4]);
    assert!(c == made && run == made && halves == a);
}
