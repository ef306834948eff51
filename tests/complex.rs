//! Complex numbers: the laws of their arithmetic, against `num_complex` and by definition; conversions; products.
use oplus::algebra::portable;
use oplus::prelude::*;
use quickcheck::{TestResult, quickcheck};

fn near(x: c64, y: c64, scale: f64) -> bool {
    (x - y).norm() <= 8.0 * f64::EPSILON * scale
}
fn apply<F: BinaryOp<c64, c64>>(x: c64, y: c64) -> F::Out {
    F::apply(x, y)
}
fn of(x: (i32, i32)) -> c64 {
    c64::new(f64::from(x.0) / 7.0, f64::from(x.1) / 3.0)
}

quickcheck! {
    fn a_field_up_to_rounding(x: (i32, i32), y: (i32, i32), z: (i32, i32)) -> bool {
        let (x, y, z) = (of(x), of(y), of(z));
        let scale = (1.0 + x.norm()) * (1.0 + y.norm()) * (1.0 + z.norm());
        assert_eq!(apply::<Plus>(x, y), x + y);
        assert_eq!(apply::<Minus>(x, y), x - y);
        assert_eq!(apply::<Times>(x, y), x * y);
        assert_eq!(apply::<Plus>(x, y), apply::<Plus>(y, x));
        assert_eq!(apply::<Times>(x, y), apply::<Times>(y, x));
        assert!(near(apply::<Times>(apply::<Times>(x, y), z), apply::<Times>(x, apply::<Times>(y, z)), scale));
        assert!(near(apply::<Times>(x, apply::<Plus>(y, z)), apply::<Plus>(apply::<Times>(x, y), apply::<Times>(x, z)), scale));
        assert_eq!(apply::<Plus>(x, <Plus as Monoid<c64>>::identity()), x);
        assert_eq!(apply::<Times>(x, <Times as Monoid<c64>>::identity()), x);
        assert_eq!(apply::<Plus>(x, Negate::apply(x)), c64::ZERO);
        if y != c64::ZERO {
            assert!(near(apply::<Times>(apply::<Div>(x, y), y), x, x.norm() + f64::MIN_POSITIVE), "{x} / {y}");
            assert!(near(apply::<Times>(Inverse::apply(y), y), c64::ONE, 1.0));
        }
        true
    }
    fn conjugation_and_parts(x: (i32, i32), y: (i32, i32)) -> bool {
        let (x, y) = (of(x), of(y));
        let conj = |x: c64| -> c64 { Conjugate::apply(x) };
        assert_eq!(conj(conj(x)), x);
        assert_eq!(conj(apply::<Times>(x, y)), apply::<Times>(conj(x), conj(y)));
        assert_eq!(c64::new(RealPart::apply(x), ImaginaryPart::apply(x)), x);
        assert_eq!(FromParts::apply(x.re, x.im), x);
        let length: f64 = Abs::apply(x);
        assert!((length - x.norm()).abs() <= 4.0 * f64::EPSILON * length);
        assert_eq!(Argument::apply(x), x.im.atan2(x.re));
        true
    }
    /// Far from 1, where squares leave the range: by numbers scaled there and back, which is exact.
    fn far_numbers(x: (i16, i16), y: (i16, i16), e: i16) -> TestResult {
        let of = |x: (i16, i16), by: f64| c64::new(f64::from(x.0) * by, f64::from(x.1) * by);
        let by = 2f64.powi(i32::from(e) % 900);
        let (near, far) = ((of(x, 1.0), of(y, 1.0)), (of(x, by), of(y, by)));
        if near.1 == c64::ZERO { return TestResult::discard(); }
        assert_eq!(apply::<Div>(near.0, near.1), apply::<Div>(far.0, far.1));
        assert_eq!(portable::abs(near.0) * by, portable::abs(far.0));
        TestResult::passed()
    }
    /// Of f32 the length is the nearest there is.
    fn lengths_of_c32(re: f32, im: f32) -> bool {
        let exact = f64::from(re).hypot(f64::from(im)) as f32;
        let length = portable::abs(c32::new(re, im));
        (length.is_nan() && exact.is_nan()) || length == exact || length.to_bits().abs_diff(exact.to_bits()) == 1
    }
}

#[test]
fn division_at_the_ends() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let c = c64::new;
    let same = |x: c64, y: c64| format!("{x:?}") == format!("{y:?}");
    assert!(same(apply::<Div>(c(1.0, -2.0), c(0.0, 0.0)), c(inf, -inf)));
    assert!(same(apply::<Div>(c(0.0, 0.0), c(0.0, 0.0)), c(nan, nan)));
    assert!(same(apply::<Div>(c(4.0, -2.0), c(2.0, 0.0)), c(2.0, -1.0)));
    assert!(same(apply::<Div>(c(4.0, -2.0), c(0.0, 2.0)), c(-1.0, -2.0)));
    assert!(same(Inverse::apply(c(0.0, 0.25)), c(0.0, -4.0)));
    assert_eq!(portable::abs(c(nan, inf)), inf);
    assert_eq!(portable::abs(c(-inf, nan)), inf);
    assert!(portable::abs(c(0.0, nan)).is_nan() && portable::abs(c(nan, 0.0)).is_nan());
    assert_eq!(portable::abs(c(-0.0, 0.0)).to_bits(), 0);
    assert_eq!(portable::abs(c(-3.0, 4.0)), 5.0);
}

#[test]
fn conversions() {
    let x = c64::new(-2.75, 1e300);
    assert_eq!(<Cast<i32> as UnaryOp<c64>>::apply(x), -2);
    assert_eq!(<Cast<u8> as UnaryOp<c64>>::apply(x), 0);
    assert_eq!(<Cast<f32> as UnaryOp<c64>>::apply(x), -2.75);
    assert_eq!(<Cast<c32> as UnaryOp<c64>>::apply(x), c32::new(-2.75, f32::INFINITY));
    assert_eq!(<Cast<c64> as UnaryOp<i64>>::apply(-3), c64::new(-3.0, 0.0));
    assert_eq!(<Cast<c32> as UnaryOp<bool>>::apply(true), c32::ONE);
    let truth = |re, im| <Cast<bool> as UnaryOp<c32>>::apply(c32::new(re, im));
    assert_eq!([truth(0.0, -0.0), truth(0.0, 1.0), truth(f32::NAN, 0.0)], [false, true, true]);
}

/// Products and what goes with them, by hand.
#[test]
fn in_matrices() -> oplus::Result<()> {
    let i = c64::I;
    let a: Matrix<c64> = Matrix::build(2, 2, &[(0, 0, i), (0, 1, 2.0 * i), (1, 1, c64::new(1.0, -1.0))])?;
    let square = a.mxm(&a)?;
    let expected = [(0, 0, c64::new(-1.0, 0.0)), (0, 1, c64::new(0.0, 2.0)), (1, 1, c64::new(0.0, -2.0))];
    // 2i·i + 2i·(1 − i) is −2 + 2i + 2.
    assert_eq!(square.entries()?, expected);
    let lengths: Matrix<f64> = oplus::operation::apply(&a, Abs).eval()?;
    assert_eq!(lengths.entries()?, [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 2f64.sqrt())]);
    // aᴴa is Hermitian.
    let adjoint = oplus::operation::apply(&a.transposed(), Conjugate).eval()?;
    let gram = adjoint.mxm(&a)?;
    assert_eq!(gram.entries()?, oplus::operation::apply(&gram.transposed(), Conjugate).eval()?.entries()?);
    // As a mask: what is not 0.
    let mask: Matrix<c64> = Matrix::build(2, 2, &[(0, 0, c64::ZERO), (0, 1, c64::new(0.0, 1e-300))])?;
    assert_eq!(oplus::operation::apply(&a, Negate).mask(&mask).eval()?.entries()?, [(0, 1, -2.0 * i)]);
    assert_eq!(reduce(&a, Plus)?, c64::new(1.0, 2.0));
    assert_eq!(reduce(&a, Times)?, c64::new(-2.0, 2.0));
    let counts: Matrix<u64, PlusPair> = a.over::<PlusPair>().mxm(&a.over())?;
    assert_eq!(counts.entries()?, [(0, 0, 1), (0, 1, 2), (1, 1, 1)]);
    assert_eq!(select(&a, ValueEq, i).eval()?.entries()?, [(0, 0, i)]);
    Ok(())
}
