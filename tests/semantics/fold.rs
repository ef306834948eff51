//! D: reduce; T: transpose, kronecker, select and apply.
use crate::kit::*;
use oplus::prelude::*;

#[test]
fn d1_nothing_is_the_identity_and_with_accumulator_no_change() {
    each(|d| {
        let none = matrix::<i32>(d, (3, 4), &[]);
        assert_eq!((reduce(&none, Plus).unwrap(), reduce(&none, Times).unwrap()), (0, 1));
        assert_eq!((reduce(&none, Min).unwrap(), reduce(&none, Max).unwrap()), (i32::MAX, i32::MIN));
        assert_eq!(reduce(&vector::<f64>(d, 3, &[]), Min).unwrap(), f64::INFINITY);
        assert!(!reduce(&vector::<bool>(d, 3, &[]), Lor).unwrap() && reduce(&vector::<bool>(d, 3, &[]), Land).unwrap());
        assert_eq!(
            (reduce_stored(&none, Plus).unwrap(), reduce_stored(&vector(d, 3, &[(1, 0)]), Plus).unwrap()),
            (None, Some(0))
        );
        // By Any, which has no identity, 0.
        assert_eq!((reduce(&none, Any).unwrap(), reduce_stored(&none, Any).unwrap()), (0, None));
        assert_eq!(
            (reduce(&vector::<bool>(d, 3, &[]), Any).unwrap(), reduce(&vector(d, 3, &[(2, 7)]), Any).unwrap()),
            (false, 7)
        );
        let mut w = vector(d, 3, &[(0, 5), (2, 6)]);
        reduce_rows(&none, Plus).accumulate(Minus).into(&mut w).unwrap();
        assert_eq!(w.entries().unwrap(), [(0, 5), (2, 6)]);
        // A product that is nothing.
        assert_eq!(mxm(&none, &none).transpose_b().reduce(Min).unwrap(), i32::MAX);
    });
}

#[test]
fn d2_empty_rows_have_no_sum() {
    each(|d| {
        let a = matrix(d, (4, 3), &[(1, 0, 2), (1, 2, 3), (3, 1, 0)]);
        let w = reduce_rows(&a, Plus).eval().unwrap();
        assert_eq!((w.len(), w.entries().unwrap()), (4, vec![(1, 5), (3, 0)]));
    });
}

/// More positions than a u64 counts, few of them stored.
#[test]
fn d3_beyond_two_to_the_sixty_positions() {
    each(|d| {
        let n = 1 << 62;
        let a = matrix(d, (n, n), &(0..100).map(|k| (k << 40, k << 55 | k, 1)).collect::<Vec<_>>());
        assert_eq!((a.nvals(), reduce(&a, Plus).unwrap()), (100, 100));
        assert_eq!(reduce_rows(&a, Plus).eval().unwrap().nvals(), 100);
    });
}

#[test]
fn d4_columns_by_transpose() {
    each(|d| {
        let a = some(d, 12, 9, 1);
        let expected = made_vector(reduce_rows(&transpose(&a).eval().unwrap(), Plus));
        assert_eq!(made_vector(reduce_rows(&a, Plus).transpose_a()), expected);
        assert_eq!(made_vector(reduce_rows(&a.transposed(), Plus)), expected);
    });
}

/// A sum has the type of what is summed; a cast is a step of its own, before or after.
#[test]
fn d5_one_cast_where_it_is_written() {
    each(|d| {
        let a = matrix(d, (1, 3), &[(0, 0, 0.6), (0, 1, 0.6), (0, 2, 0.6)]);
        let after = cast::<i32, _>(&reduce_rows(&a, Plus).eval().unwrap()).unwrap();
        let before = reduce_rows(&cast::<i32, _>(&a).unwrap(), Plus).eval().unwrap();
        assert_eq!((after.get(0).unwrap(), before.get(0).unwrap()), (Some(1), Some(0)));
        let bytes = matrix(d, (1, 2), &[(0, 0, 200u8), (0, 1, 100)]);
        assert_eq!(reduce(&bytes, Plus).unwrap(), 44);
        assert_eq!(reduce(&cast::<u32, _>(&bytes).unwrap(), Plus).unwrap(), 300);
    });
}

oplus::semiring! {
    /// The product modulo 2³² as a sum.
    pub struct Folded[](i32, i32) -> i32;
    identity = 0;
    add = |x, y| (add(add(x, y), mul(x, y)));
    multiply = |a, b, _| (mul(a, b));
}

/// x + y + xy: associative and commutative, identity 0.
#[test]
fn d6_sums_by_a_users_operator() {
    each(|d| {
        let a = matrix(d, (2, 4), &[(0, 0, 1), (0, 1, 2), (0, 3, 3), (1, 2, 7)]);
        assert_eq!(made_vector(reduce_rows(&a, Folded)), [(0, 23), (1, 7)]);
        assert_eq!(reduce(&a, Folded).unwrap(), 191);
        let x = vector(d, 4, &[(0, 1), (1, 1), (3, 1)]);
        assert_eq!(made_vector(mxv(&a.over::<Folded>(), &x.over())), [(0, 23)]);
    });
}

#[test]
fn t1_all_transposes_of_rectangles() {
    each(|d| {
        let (a, b) = (some(d, 7, 5, 1), some(d, 5, 9, 2));
        let (at, bt) = (transpose(&a).eval().unwrap(), transpose(&b).eval().unwrap());
        let expected = made(mxm(&a, &b));
        assert_eq!(made(mxm(&at, &b).transpose_a()), expected);
        assert_eq!(made(mxm(&a, &bt).transpose_b()), expected);
        assert_eq!(made(mxm(&at, &bt).transpose_a().transpose_b()), expected);
        assert_eq!(made(mxm(&at.transposed(), &bt.transposed())), expected);
        assert_eq!(made(transpose(&at)), got(&a));
        assert_eq!(made(transpose(&a).transpose_a()), got(&a));
        assert_eq!(made(transpose(&a.transposed())), got(&a));
        assert_eq!(made(mxm(&bt, &at)), made(transpose(&mxm(&a, &b).eval().unwrap())));
    });
}

#[test]
fn t2_transpose_with_accumulator_and_mask() {
    each(|d| {
        let a = matrix(d, (2, 3), &[(0, 0, 1), (0, 2, 2), (1, 1, 3)]);
        let c = matrix(d, (3, 2), &[(0, 0, 10), (2, 1, 20)]);
        let mask = matrix(d, (3, 2), &[(0, 0, true), (2, 0, true), (1, 1, false)]);
        let mut out = c.clone();
        transpose(&a).mask(&mask).accumulate(Minus).into(&mut out).unwrap();
        assert_eq!(got(&out), [(0, 0, 9), (2, 0, 2), (2, 1, 20)]);
        let mut out = c.clone();
        transpose(&a).mask(&mask.structure().complement()).replace().into(&mut out).unwrap();
        assert_eq!(got(&out), []);
        let mut out = c.clone();
        transpose(&a).mask(&mask.structure()).into(&mut out).unwrap();
        assert_eq!(got(&out), [(0, 0, 1), (1, 1, 3), (2, 0, 2), (2, 1, 20)]);
    });
}

#[test]
fn t3_kronecker_products_too_large_are_refused_before_work() {
    each(|d| {
        let a = matrix(d, (HUGE, HUGE), &[(0, 0, 1), (HUGE - 1, 5, 2)]);
        assert!(matches!(kronecker(&a, &a, Times).eval(), Err(Error::IndexOverflow { operation: "kronecker", .. })));
        let b = matrix(d, (1 << 20, 1 << 20), &[((1 << 20) - 1, 7, 3)]);
        let c = kronecker(&a, &b, Times).eval().unwrap();
        assert_eq!(c.shape(), (1 << 60, 1 << 60));
        assert_eq!(got(&c), [((1 << 20) - 1, 7, 3), ((1 << 60) - 1, (5 << 20) + 7, 6)]);
    });
}

#[test]
fn t4_select_keeps_values_and_takes_any_thunk() {
    each(|d| {
        let nan = f64::NAN;
        let a = matrix(d, (3, 3), &[(0, 0, nan), (0, 2, 0.0), (1, 1, -1.0), (2, 0, 5.0)]);
        let at = |e: Vec<(u64, u64, f64)>| e.into_iter().map(|e| (e.0, e.1)).collect::<Vec<_>>();
        let all = vec![(0, 0), (0, 2), (1, 1), (2, 0)];
        assert!(made(select(&a, Tril, 0))[0].2.is_nan());
        assert_eq!(at(made(select(&a, Tril, 100))), all);
        assert_eq!(at(made(select(&a, Tril, -100))), []);
        assert_eq!(at(made(select(&a, Triu, -100))), all);
        assert_eq!(at(made(select(&a, Diag, 100))), []);
        assert_eq!(at(made(select(&a, Offdiag, i64::MAX))), all);
        assert_eq!(at(made(select(&a, Diag, -2))), [(2, 0)]);
        // NaN compares false, and differs from everything.
        for none in [made(select(&a, ValueEq, nan)), made(select(&a, ValueLt, nan)), made(select(&a, ValueGe, nan))] {
            assert_eq!(at(none), []);
        }
        assert_eq!(at(made(select(&a, ValueNe, nan))), all);
        assert_eq!(at(made(select(&a, ValueLe, 0.0))), [(0, 2), (1, 1)]);
        assert_eq!(at(made(select(&a, ValueGt, -2.0))), [(0, 2), (1, 1), (2, 0)]);
    });
}

/// A missing scalar is a compile error; any value there is binds.
#[test]
fn t5_bound_scalars() {
    each(|d| {
        let x = vector(d, 3, &[(0, 10), (2, -3)]);
        assert_eq!(made_vector(apply_first(1, Minus, &x)), [(0, -9), (2, 4)]);
        assert_eq!(made_vector(apply_second(&x, Minus, 1)), [(0, 9), (2, -4)]);
        assert_eq!(made_vector(apply_second(&x, First, 0)), [(0, 10), (2, -3)]);
        assert_eq!(made_vector(apply_first(7, First, &x)), [(0, 7), (2, 7)]);
    });
}

#[test]
fn t6_index_operators_see_positions_after_the_transpose() {
    each(|d| {
        let a = matrix(d, (2, 3), &[(0, 2, 5), (1, 0, 6)]);
        assert_eq!(made(apply_index(&a, RowIndex, 0)), [(0, 2, 0), (1, 0, 1)]);
        assert_eq!(made(apply_index(&a, RowIndex, 10).transpose_a()), [(0, 1, 10), (2, 0, 12)]);
        assert_eq!(made(apply_index(&a.transposed(), ColIndex, 0)), [(0, 1, 1), (2, 0, 0)]);
        // j − i + thunk, as the standard says.
        assert_eq!(made(apply_index(&a, DiagIndex, 10)), [(0, 2, 12), (1, 0, 9)]);
        assert_eq!(made(select(&a, Tril, 0).transpose_a()), [(2, 0, 5)]);
        assert_eq!(made(select(&a.transposed(), RowLe, 0)), [(0, 1, 6)]);
    });
}
