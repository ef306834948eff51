//! F: storage: a dimension beyond 2³² lists its rows and columns in use. Formats chosen by hand: `pairs.rs` and
//! `tests/formats.rs`.
use crate::kit::*;
use oplus::prelude::*;

/// The same entries in a longer dimension.
fn listed(a: &Matrix<i32>, m: u64, n: u64) -> Matrix<i32> {
    let mut a = a.clone();
    a.resize(m, n).unwrap();
    a
}

#[test]
fn f1_compressed_and_hypersparse_operands_agree() {
    each(|d| {
        let (a, b, c) = (some(d, 9, 9, 1), some(d, 9, 9, 2), some(d, 9, 9, 5));
        let results = |a: &Matrix<i32>, b: &Matrix<i32>, c: &Matrix<i32>| {
            let mut masked = c.clone();
            mxm(a, b).mask(&c.structure()).accumulate(Minus).into(&mut masked).unwrap();
            let mut outside = c.clone();
            apply(a, Negate).mask(&b.structure().complement()).replace().into(&mut outside).unwrap();
            [
                made(mxm(a, b)),
                made(mxm(a, b).transpose_a()),
                made(ewise_add(a, b, Minus)),
                made(ewise_mult(a, b, Minus)),
                made(transpose(a)),
                made(select(a, Tril, 1)),
                made(extract(a, ..9, ..9)),
                got(&masked),
                got(&outside),
            ]
        };
        let expected = results(&a, &b, &c);
        for (m, n) in [(HUGE, HUGE), (9, HUGE), (HUGE, 9)] {
            if m == n {
                assert_eq!(results(&listed(&a, m, n), &listed(&b, m, n), &listed(&c, m, n)), expected);
            }
            let (x, y) = (listed(&a, m, n), listed(&b, m, n));
            assert_eq!(made(ewise_add(&x, &y, Minus)), expected[2]);
            assert_eq!(made(transpose(&x)), expected[4]);
            assert_eq!(made(mxm(&x, &listed(&b, n, 9))), expected[0]);
        }
    });
}

/// Vectors of every density, whatever they are stored as.
#[test]
fn f1_vectors_of_every_density_agree() {
    each(|d| {
        let a = some(d, 40, 40, 1);
        let rows: Vec<Vec<(u64, i32)>> =
            (0..40).map(|k| (0..40).filter_map(|j| a.get(k, j).unwrap().map(|v| (j, v))).collect()).collect();
        for count in [0, 1, 5, 20, 39, 40] {
            let entries: Vec<_> = (0..count).map(|e| e * 7 % 40).map(|i| (i, i as i32 - 9)).collect();
            let x = vector(d, 40, &entries);
            let at = |j: u64| entries.iter().find(|e| e.0 == j).map(|e| e.1);
            let dot =
                |row: &Vec<(u64, i32)>| row.iter().filter_map(|(j, v)| at(*j).map(|x| v * x)).reduce(|s, t| s + t);
            let expected: Vec<_> = (0..40).filter_map(|i| dot(&rows[i as usize]).map(|s| (i, s))).collect();
            assert_eq!(made_vector(mxv(&a, &x)), expected, "{count}");
            assert_eq!(made_vector(vxm(&x, &a.transposed())), expected, "{count}");
            let mut c = full(d, 40, 3);
            apply(&x, Identity).mask(&x.structure().complement()).accumulate(Plus).replace().into(&mut c).unwrap();
            let expected: Vec<_> = (0..40).filter(|i| at(*i).is_none()).map(|i| (i, 3)).collect();
            assert_eq!(c.entries().unwrap(), expected, "{count}");
            let mut c = x.clone();
            ewise_add(&c, &full(d, 40, 1), Minus).mask(&x).into(&mut c).unwrap();
            let expected: Vec<_> = (0..40).filter_map(|i| at(i).map(|x| (i, if x == 0 { 0 } else { x - 1 }))).collect();
            assert_eq!(c.entries().unwrap(), expected, "{count}");
            let expected: Vec<_> = (0..40).filter_map(|i| at(i).filter(|x| *x > 0).map(|x| (i, x))).collect();
            assert_eq!(made_vector(select(&x, ValueGt, 0)), expected, "{count}");
        }
    });
}

/// All values alike, then not any more.
#[test]
fn f2_equal_values_stay_themselves_when_mixed() {
    each(|d| {
        let ones = apply(&some(d, 8, 8, 1), Pair::<i32>::default()).eval().unwrap();
        let (mut c, t) = (ones.clone(), some(d, 8, 8, 3));
        apply(&t, Identity).accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(got(&c), made(ewise_add(&ones, &t, Plus)));
        let mut c = ones.clone();
        apply(&t, Identity).mask(&t).into(&mut c).unwrap();
        let ones = got(&ones);
        let place = |e: &(u64, u64, i32)| (e.0, e.1);
        let mut expected: Vec<_> = got(&t).into_iter().filter(|e| e.2 != 0).collect();
        let kept: Vec<_> = ones.iter().filter(|e| !expected.iter().any(|x| place(x) == place(e))).copied().collect();
        expected.extend(&kept);
        expected.sort_unstable();
        assert!(!kept.is_empty() && kept.len() < expected.len());
        assert_eq!(got(&c), expected);
        assert!(ones.iter().all(|e| e.2 == 1));
    });
}

#[test]
fn f3_full_plus_sparse_stays_full() {
    each(|d| {
        let mut c = full(d, 50, 1);
        apply(&vector(d, 50, &[(3, 5), (49, -1)]), Identity).accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(
            (c.nvals(), c.get(3).unwrap(), c.get(49).unwrap(), c.get(0).unwrap()),
            (50, Some(6), Some(0), Some(1))
        );
        let (a, before) = (some(d, 50, 50, 1), c.entries().unwrap());
        mxv(&a, &vector(d, 50, &[(7, 2)])).accumulate(Plus).into(&mut c).unwrap();
        let column = |i: u64| a.get(i, 7).unwrap().unwrap_or_default();
        assert!((0..50).any(|i| column(i) != 0));
        let expected: Vec<_> = before.into_iter().map(|(i, v)| (i, v + 2 * column(i))).collect();
        assert_eq!(c.entries().unwrap(), expected);
    });
}

#[test]
fn f4_compressed_rows_are_checked_on_the_way_in() {
    let csr = |offsets: Vec<u64>, indices: Vec<u32>| {
        let values = vec![1; indices.len()];
        Matrix::<i32>::from_csr(2, 3, offsets, indices, values)
    };
    assert_eq!(got(&csr(vec![0, 2, 3], vec![0, 2, 1]).unwrap()), [(0, 0, 1), (0, 2, 1), (1, 1, 1)]);
    for (offsets, indices) in [
        (vec![0, 2, 3], vec![2, 0, 1]),
        (vec![0, 2, 3], vec![0, 0, 1]),
        (vec![0, 2, 3], vec![0, 3, 1]),
        (vec![0, 3, 2], vec![0, 1, 2]),
        (vec![0, 3], vec![0, 1, 2]),
        (vec![1, 2, 3], vec![0, 1, 2]),
    ] {
        assert!(csr(offsets.clone(), indices.clone()).is_err(), "{offsets:?} {indices:?}");
    }
}

#[test]
fn f5_short_and_long_dimensions_mix() {
    each(|d| {
        let tall = matrix(d, (HUGE, 3), &[(1, 0, 1), (HUGE - 1, 2, 2)]);
        let wide = matrix(d, (3, HUGE), &[(0, 1, 3), (2, HUGE - 2, 4)]);
        assert_eq!(made(mxm(&tall, &wide)), [(1, 1, 3), (HUGE - 1, HUGE - 2, 8)]);
        assert_eq!(made(mxm(&wide, &tall)), [(0, 0, 3)]);
        assert_eq!(made(mxm(&wide, &wide).transpose_a()).len(), 2);
        assert_eq!(made_vector(mxv(&wide, &vector(d, HUGE, &[(1, 1), (HUGE - 2, 1)]))), [(0, 3), (2, 4)]);
        assert_eq!(made_vector(vxm(&vector(d, 3, &[(2, 1)]), &wide)), [(HUGE - 2, 4)]);
        let mask = matrix(d, (HUGE, HUGE), &[(1, 1, true), (5, 5, true)]);
        assert_eq!(made(mxm(&tall, &wide).mask(&mask)), [(1, 1, 3)]);
        assert_eq!(made(mxm(&tall, &wide).mask(&mask.structure().complement())), [(HUGE - 1, HUGE - 2, 8)]);
    });
}

/// Index operators count in i64: what has no number there is told, not wrapped.
#[test]
fn f6_operators_that_look_at_indices_end_at_2_to_the_63() {
    let (long, first) = (u64::MAX, 1 << 63);
    each(|d| {
        let told = |e: oplus::Result<u64>, named: &str, index: u64| match e {
            Err(Error::IndexOverflow { what, value, limit, .. }) => {
                assert_eq!((what, value, limit), (named, index.into(), (first - 1).into()));
            }
            other => panic!("{other:?}"),
        };
        let tall = matrix(d, (long, long), &[(1, 2, 5), (first, 4, 6)]);
        let counted = |made: oplus::Result<Matrix<i32>>| made.map(|m| m.nvals());
        told(counted(tril(&tall, 0).eval()), "row", first);
        told(counted(triu(&tall, 0).eval()), "row", first);
        told(counted(select(&tall, RowLe, 9).eval()), "row", first);
        told(counted(tril(&tall, 0).transpose_a().eval()), "column", first);
        told(apply_index(&tall, RowIndex, 0).eval().map(|m| m.nvals()), "row", first);
        told(
            apply_index(&vector(d, long, &[(first + 7, 1)]), ColIndex, 0).eval().map(|v| v.nvals()),
            "column",
            first + 7,
        );
        // After other steps too, whatever computes them.
        told(counted(ewise_add(&tall, &tall, Plus).select(RowLe, 9).eval()), "row", first);
        told(ewise_add(&tall, &tall, Plus).apply_index(RowIndex, 9).eval().map(|m| m.nvals()), "row", first);
        let ends = matrix(d, (long, long), &[(2, 0, 1), (4, 4, 1)]);
        told(counted(mxm(&tall, &ends).select(RowLe, 9).eval()), "row", first);
        // What is not looked at may be anything.
        assert_eq!(made(select(&tall, ColLe, 3)), [(1, 2, 5)]);
        assert_eq!(made(ewise_add(&tall, &tall, Plus).select(ValueGt, 10)), [(first, 4, 12)]);
        assert_eq!(made(mxm(&tall, &ends).apply_index(ColIndex, 9)), [(1, 0, 9), (first, 4, 13)]);
        let last = matrix(d, (first, 2), &[(first - 1, 1, 5)]);
        assert_eq!(made(apply_index(&last, RowIndex, 0)), [(first - 1, 1, i64::MAX)]);
    });
}

#[test]
fn f6_diagonals_have_no_such_end() {
    let (long, far) = (u64::MAX, 1u64 << 63);
    each(|d| {
        let entries =
            [(0, far, 1), (1, 4, 2), (1, far + 1, 3), (far + 5, 5, 4), (far + 9, far + 12, 5), (long - 2, 0, 6)];
        let a = matrix(d, (long, long), &entries);
        assert_eq!(made_vector(diag_extract(&a, i64::MIN)), [(5, 4)]);
        assert_eq!(made_vector(diag_extract(&a, i64::MIN).transpose_a()), [(0, 1), (1, 3)]);
        // Row 2⁶⁴ − 3 and column 0 are 3 apart modulo 2⁶⁴.
        assert_eq!(made_vector(diag_extract(&a, 3)), [(1, 2), (far + 9, 5)]);
        assert_eq!(made_vector(diag_extract(&a, -3).transpose_a()), [(1, 2), (far + 9, 5)]);
        let small = matrix(d, (3, 4), &[(0, 0, 1)]);
        assert_eq!(diag_extract(&small, i64::MIN).transpose_a().eval().unwrap().len(), 0);
    });
}
