//! SuiteSparse:GraphBLAS numbers its bugs; these are the cases behind them.
use crate::kit::*;
use oplus::prelude::*;

#[test]
fn ss36_equal_values_into_an_empty_output_under_a_mask() {
    each(|d| {
        let ones = apply(&some(d, 9, 9, 1), Pair::<i32>::default()).eval().unwrap();
        let mask = some(d, 9, 9, 2);
        let mut c = Matrix::<i32>::new(9, 9).unwrap().to(&d).unwrap();
        mxm(&ones.over::<PlusPair<i32>>(), &ones.over()).mask(&mask.structure()).into(&mut c).unwrap();
        assert_eq!(got(&c), made(ewise_mult(&mxm(&ones, &ones).eval().unwrap(), &mask, First)));
        let mut c = Matrix::<i32>::new(9, 9).unwrap().to(&d).unwrap();
        apply(&ones, Identity).mask(&mask.structure()).into(&mut c).unwrap();
        assert_eq!(got(&c), made(ewise_mult(&ones, &mask, First)));
    });
}

#[test]
fn ss38_accumulator_equal_to_the_monoid_into_a_full_output() {
    each(|d| {
        let a = some(d, 7, 7, 1);
        let mut c = Matrix::<i32>::new(7, 7).unwrap().to(&d).unwrap();
        assign_scalar(3, .., ..).into(&mut c).unwrap();
        let mut c = in_format(&c.with_value(3).unwrap(), Format::Full);
        assert!(c.is_iso() || d == Device::Reference);
        mxm(&a, &a).accumulate(Plus).into(&mut c).unwrap();
        let square = mxm(&a, &a).eval().unwrap();
        let expected: Vec<_> =
            (0..49).map(|e| (e / 7, e % 7)).map(|(i, j)| (i, j, 3 + square.get(i, j).unwrap().unwrap_or(0))).collect();
        assert_eq!(got(&c), expected);
        let mut w = full(d, 7, 3);
        mxv(&a, &full(d, 7, 1)).accumulate(Plus).into(&mut w).unwrap();
        let sums = reduce_rows(&a, Plus).eval().unwrap();
        assert_eq!(
            w.entries().unwrap(),
            (0..7).map(|i| (i, 3 + sums.get(i).unwrap().unwrap_or(0))).collect::<Vec<_>>()
        );
    });
}

#[test]
fn ss42_one_value_everywhere_in_nothing() {
    each(|d| {
        for (m, n) in [(0, 0), (0, 6), (6, 0)] {
            let c = Matrix::<i32>::full(m, n, 1).unwrap().to(&d).unwrap();
            let mut c = in_format(&c, Format::Full);
            assign_scalar(1, .., ..).into(&mut c).unwrap();
            let (x, y) = (full(d, n, 1), full(d, m, 1));
            assert_eq!((c.shape(), c.nvals(), x.nvals()), ((m, n), 0, n));
            assert_eq!((made_vector(mxv(&c, &x)), made_vector(vxm(&y, &c))), (vec![], vec![]));
            assert_eq!((made(mxm(&c, &c).transpose_b()), made(mxm(&c, &c).transpose_a())), (vec![], vec![]));
            let (zero, plus) = (reduce(&c, Plus).unwrap(), ewise_add(&c, &c, Plus).eval().unwrap());
            assert_eq!((zero, plus.shape(), transpose(&c).eval().unwrap().shape()), (0, (m, n), (n, m)));
        }
    });
}

oplus::scalar! { pub struct Wide { a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64, i: u64, j: u64, k: u64, l: u64, m: u64, n: u64, o: u64, p: u64, q: u64 } }
fn wide(x: u64) -> Wide {
    Wide::make(x, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, !x, x + 1)
}

#[test]
fn ss46_users_types_of_more_than_128_bytes() {
    assert_eq!(size_of::<Wide>(), 136);
    each(|d| {
        let a = matrix(d, (3, 3), &[(0, 1, wide(1)), (1, 0, wide(2)), (2, 2, wide(3))]);
        assert_eq!(made(transpose(&a)), [(0, 1, wide(2)), (1, 0, wide(1)), (2, 2, wide(3))]);
        assert_eq!(made(ewise_add(&a, &a, Second)), got(&a));
        assert_eq!(made(mxm(&a.over::<AnyFirst>(), &a.over())), [(0, 0, wide(1)), (1, 1, wide(2)), (2, 2, wide(3))]);
        let mut c = a.clone();
        apply(&transpose(&a).eval().unwrap(), Identity).mask(&a.structure()).accumulate(First).into(&mut c).unwrap();
        assert_eq!(got(&c), got(&a));
    });
}

#[test]
fn ss48_counts_in_matrices_of_very_many_columns() {
    each(|d| {
        let n = 1 << 60;
        let a = matrix(d, (5, n), &[(0, 3, 1), (4, n - 1, 2), (4, n / 2, 3)]);
        assert_eq!((a.nvals(), a.shape()), (3, (5, n)));
        assert_eq!(made_vector(reduce_rows(&a, Plus)), [(0, 1), (4, 5)]);
        assert_eq!(mxm(&a, &a).transpose_a().eval().unwrap().nvals(), 5);
    });
}

#[test]
fn ss53_mask_and_operands_all_hypersparse() {
    each(|d| {
        let a = matrix(d, (HUGE, HUGE), &[(3, 1 << 35, 2), (1 << 35, 7, 3), (HUGE - 1, 0, 5)]);
        let m = matrix(d, (HUGE, HUGE), &[(3, 7, true), (4, 4, true), (HUGE - 1, 0, true)]);
        assert_eq!(made(mxm(&a, &a).mask(&m)), [(3, 7, 6)]);
        assert_eq!(made(mxm(&a, &a).mask(&m.structure().complement())), []);
        assert_eq!(made(ewise_add(&a, &a, Plus).mask(&m)), [(HUGE - 1, 0, 10)]);
        assert_eq!(
            made(ewise_mult(&a, &a, Times).mask(&m.structure().complement())),
            [(3, 1 << 35, 4), (1 << 35, 7, 9)]
        );
    });
}

#[test]
fn ss54_sums_of_equal_values_in_huge_matrices() {
    each(|d| {
        let n = 1 << 61;
        let a = matrix(d, (n, n), &(0..50).map(|k| (k << 50, k << 50, 2)).collect::<Vec<_>>());
        assert_eq!((reduce(&a, Plus).unwrap(), reduce(&a, Max).unwrap()), (100, 2));
    });
}

oplus::index_operator! { pub Weight[](i32, i64) -> i64 = |_, i, j, y| add(mul(i, y), j) }

#[test]
fn ss55_users_index_operators_on_equal_values() {
    each(|d| {
        let ones = apply(&some(d, 9, 9, 1), Pair::<i32>::default()).eval().unwrap();
        let expected: Vec<_> = got(&ones).into_iter().map(|(i, j, _)| (i, j, (i * 100 + j) as i64)).collect();
        assert_eq!(made(apply_index(&ones, Weight, 100)), expected);
    });
}

oplus::semiring! {
    /// A user's ring of integers.
    pub struct Own[](i32, i32) -> i32;
    identity = 0;
    add = |x, y| (add(x, y));
    multiply = |a, b, _| (mul(a, b));
}

#[test]
fn ss58_users_monoids_with_pairs() {
    each(|d| {
        let a = some(d, 9, 9, 1);
        let counts: Vec<(u64, u64, i32)> = made(mxm(&a.over::<PlusPair<i32>>(), &a.over()));
        assert_eq!(made(mxm(&a.over::<Compose<Own, Pair<i32>>>(), &a.over())), counts);
    });
}

oplus::scalar! { pub struct Span { low: i32, high: i32 } }
oplus::semiring! {
    /// The hull of intervals.
    pub struct Hull[](Span, bool) -> Span;
    identity = Span::make(i32::MAX, i32::MIN);
    add = |x, y| (Span::make(min(x.low, y.low), max(x.high, y.high)));
    multiply = |a, _, _| (a);
}

/// Its saxpy into a full output, of sparse times dense.
#[test]
fn ss60_users_types_added_to_a_full_output() {
    each(|d| {
        let a = matrix(d, (3, 4), &[(0, 1, Span::make(1, 2)), (0, 3, Span::make(-5, 0)), (2, 0, Span::make(7, 9))]);
        // Column 1 has nothing in row 1; where B is full it has something there too, which no row of A is multiplied with.
        let some: Vec<_> = (0..8).filter(|e| *e != 5).map(|e| (e / 2, e % 2, true)).collect();
        let all: Vec<_> = (0..8).map(|e| (e / 2, e % 2, true)).collect();
        let old = matrix(d, (3, 2), &(0..6).map(|e| (e / 2, e % 2, Span::make(0, 1))).collect::<Vec<_>>());
        for (entries, format) in [(&some, Format::Bitmap), (&all, Format::Full)] {
            let b = in_format(&matrix(d, (4, 2), entries), format);
            let mut c = in_format(&old, Format::Full);
            mxm(&a.over::<Hull>(), &b.over()).accumulate(Hull).into(&mut c).unwrap();
            let [x, y, z] = [Span::make(-5, 2), Span::make(0, 1), Span::make(0, 9)];
            assert_eq!(got(&c), [(0, 0, x), (0, 1, x), (1, 0, y), (1, 1, y), (2, 0, z), (2, 1, z)]);
        }
    });
}

/// Building from indices of different widths: `b7_rows_and_columns_of_different_widths`. Here with an order of its own.
#[test]
fn ss62_wide_and_narrow_indices_in_one_build() {
    let mut coo = Coo::new(4, HUGE);
    for (i, j, v) in [(3, HUGE - 1, 1), (0, 0, 2), (3, 5, 3), (3, HUGE - 1, 10)] {
        coo.push(i, j, v);
    }
    each(|d| {
        assert_eq!(got(&Matrix::<i32>::build_on(&coo, Plus, &d).unwrap()), [(0, 0, 2), (3, 5, 3), (3, HUGE - 1, 11)])
    });
}

#[test]
fn ss63_masked_dots_of_equal_values() {
    each(|d| {
        let a = apply(&some(d, 13, 13, 1), Pair::<bool>::default()).eval().unwrap();
        assert!(a.is_iso() || d == Device::Reference);
        let board: Vec<_> = (0..169).filter(|e| e % 2 == 0).map(|e| (e / 13, e % 13, true)).collect();
        let mask = matrix(d, (13, 13), &board).structure();
        let rows = mxm(&a.over::<LorLand>(), &a.over()).transpose_b().mask(&mask).strategy(Strategy::Hash);
        let expected = made(rows);
        assert!(expected.len() > 5);
        for (x, y) in [(Format::Csr, Format::Csr), (Format::Csr, Format::Bitmap), (Format::Bitmap, Format::Csc)] {
            let (x, y) = (in_format(&a, x), in_format(&a, y));
            let dots = mxm(&x.over::<AnyPair>(), &y.over()).transpose_b().mask(&mask).strategy(Strategy::Dot).eval();
            let dots = dots.unwrap();
            assert_eq!(got(&dots), expected);
        }
    });
}

#[test]
fn ss64_masked_accumulation_of_a_full_matrix() {
    each(|d| {
        let mut a = Matrix::<i32>::new(6, 6).unwrap().to(&d).unwrap();
        assign_scalar(5, .., ..).into(&mut a).unwrap();
        let a = in_format(&a, Format::Full);
        let (c, m) = (some(d, 6, 6, 1), some(d, 6, 6, 2));
        let at = |i, j| match (c.get(i, j).unwrap(), m.get(i, j).unwrap()) {
            (c, Some(_)) => Some(c.unwrap_or(0) + 5),
            (c, None) => c,
        };
        let expected: Vec<_> =
            (0..36).map(|e| (e / 6, e % 6)).filter_map(|(i, j)| at(i, j).map(|v| (i, j, v))).collect();
        for (of_c, of_m) in [(Format::Csr, Format::Csr), (Format::Bitmap, Format::Csr), (Format::Csr, Format::Bitmap)] {
            let (c, m) = (in_format(&c, of_c), in_format(&m, of_m));
            let mut out = c.clone();
            apply(&a, Identity).mask(&m.structure()).accumulate(Plus).into(&mut out).unwrap();
            assert_eq!(got(&out), expected);
            let mut out = c.clone();
            assign(&a, .., ..).mask(&m.structure()).accumulate(Plus).into(&mut out).unwrap();
            assert_eq!(got(&out), expected);
        }
    });
}

#[test]
fn ss67_masks_over_hypersparse_results() {
    each(|d| {
        let entries = [(1, 1, 1), (1 << 36, 5, 2), (HUGE - 1, HUGE - 1, 3)];
        let c = matrix(d, (HUGE, HUGE), &entries);
        let t = matrix(d, (HUGE, HUGE), &[(1, 1, 10), (2, 2, 20), (HUGE - 1, HUGE - 1, 30)]);
        let m = matrix(d, (HUGE, HUGE), &[(2, 2, 1), (1 << 36, 5, 1), (HUGE - 1, HUGE - 1, 1)]);
        let mut out = c.clone();
        apply(&t, Identity).mask(&m).into(&mut out).unwrap();
        assert_eq!(got(&out), [(1, 1, 1), (2, 2, 20), (HUGE - 1, HUGE - 1, 30)]);
        let mut out = c.clone();
        apply(&t, Identity).mask(&m).accumulate(Plus).replace().into(&mut out).unwrap();
        assert_eq!(got(&out), [(2, 2, 20), (1 << 36, 5, 2), (HUGE - 1, HUGE - 1, 33)]);
    });
}
