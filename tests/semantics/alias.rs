//! A: operands, masks and outputs that are one object count as if copied first.
use crate::kit::*;
use oplus::prelude::*;

#[test]
fn a1_output_is_operand_or_mask() {
    each(|d| {
        let (x, y) = (some(d, 9, 9, 1), some(d, 9, 9, 4));
        // C = A, C = B, C = A = B.
        let mut c = x.clone();
        mxm(&c, &y).into(&mut c).unwrap();
        assert_eq!(got(&c), made(mxm(&x, &y)));
        let mut c = y.clone();
        mxm(&x, &c).into(&mut c).unwrap();
        assert_eq!(got(&c), made(mxm(&x, &y)));
        let mut c = x.clone();
        mxm(&c, &c).into(&mut c).unwrap();
        assert_eq!(got(&c), made(mxm(&x, &x)));
        let mut c = x.clone();
        ewise_add(&c, &c, Minus).into(&mut c).unwrap();
        assert_eq!(got(&c), made(ewise_add(&x, &x, Minus)));
        // C = M, C = A = M.
        let with = |a: &Matrix<i32>, c: &mut Matrix<i32>| {
            let mask = c.as_mask();
            mxm(a, &y).mask(&mask).accumulate(Minus).replace().into(c).unwrap();
        };
        let mut expected = x.clone();
        mxm(&x, &y).mask(&matrix(d, (9, 9), &got(&x))).accumulate(Minus).replace().into(&mut expected).unwrap();
        let mut c = x.clone();
        with(&x, &mut c);
        assert_eq!(got(&c), got(&expected));
        let mut c = x.clone();
        with(&c.clone(), &mut c);
        assert_eq!(got(&c), got(&expected));
        // w = u = m.
        let u = vector(d, 9, &[(0, 1), (2, 0), (5, 3), (8, -1)]);
        let mut w = u.clone();
        mxv(&x, &w).mask(&w).replace().into(&mut w).unwrap();
        let other = vector(d, 9, &u.entries().unwrap());
        assert_eq!(w.entries().unwrap(), made_vector(mxv(&x, &u).mask(&other)));
    });
}

#[test]
fn a2_scalar_into_its_own_structure() {
    each(|d| {
        let x = some(d, 8, 5, 1);
        let mut c = x.clone();
        assign_scalar(7, .., ..).mask(&c.structure()).into(&mut c).unwrap();
        assert_eq!(got(&c), got(&x).into_iter().map(|(i, j, _)| (i, j, 7)).collect::<Vec<_>>());
        let mut c = x.clone();
        subassign_scalar(7, .., ..).mask(&c.structure()).accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(got(&c), got(&x).into_iter().map(|(i, j, v)| (i, j, v + 7)).collect::<Vec<_>>());
    });
}

#[test]
fn a3_accumulated_and_complemented_squares() {
    each(|d| {
        let x = matrix(d, (4, 4), &[(0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 3, 5), (0, 0, 1)]);
        let square = mxm(&x, &x).eval().unwrap();
        let mut c = x.clone();
        mxm(&c, &c).accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(got(&c), made(ewise_add(&x, &square, Plus)));
        let mut c = x.clone();
        mxm(&c, &c).mask(&c.structure().complement()).into(&mut c).unwrap();
        let new = square.clone();
        let mut expected = x.clone();
        apply(&new, Identity).mask(&x.structure().complement()).into(&mut expected).unwrap();
        assert_eq!(got(&c), got(&expected));
        assert!(c.nvals() > x.nvals());
    });
}

#[test]
fn a4_transposed_times_itself() {
    each(|d| {
        let x = some(d, 9, 9, 3);
        let expected = made(mxm(&transpose(&x).eval().unwrap(), &x));
        let mut c = x.clone();
        mxm(&c, &c).transpose_a().into(&mut c).unwrap();
        assert_eq!(got(&c), expected);
        let mut c = x.clone();
        mxm(&c.transposed(), &c).into(&mut c).unwrap();
        assert_eq!(got(&c), expected);
        let mut c = x.clone();
        transpose(&c).into(&mut c).unwrap();
        assert_eq!(got(&c), made(transpose(&x)));
    });
}

#[test]
fn a5_a_part_of_itself() {
    each(|d| {
        let x = some(d, 8, 8, 1);
        let turned: Vec<u64> = (0..8).rev().collect();
        let mut c = x.clone();
        assign(&c, &turned, ..).into(&mut c).unwrap();
        assert_eq!(got(&c), made(extract(&x, &turned, ..)));
        let mut c = x.clone();
        extract(&c, &turned, &turned).into(&mut c).unwrap();
        assert_eq!(got(&c), made(extract(&x, &turned, &turned)));
    });
}

oplus::operator! { pub Halfway[T: Number](T, T) -> T = |x, y| sub(add(x, x), y) }

/// Operators are functions of values: their result has no address that could be that of an operand.
#[test]
fn a6_operators_into_their_operands() {
    each(|d| {
        let (x, y) = (some(d, 6, 6, 1), some(d, 6, 6, 2));
        let expected = made(ewise_mult(&x, &y, Halfway));
        let mut c = x.clone();
        ewise_mult(&c, &y, Halfway).into(&mut c).unwrap();
        assert_eq!(got(&c), expected);
        let mut c = y.clone();
        ewise_mult(&x, &c, Halfway).into(&mut c).unwrap();
        assert_eq!(got(&c), expected);
    });
}
