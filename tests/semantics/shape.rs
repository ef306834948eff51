//! S: shapes.
use crate::kit::*;
use oplus::prelude::*;

/// GraphBLAS has no matrices without rows or columns; SuiteSparse and oplus do.
#[test]
fn s1_nothing_through_every_operation() {
    each(|d| {
        for (m, n) in [(0, 5), (5, 0), (0, 0)] {
            let a = matrix::<i32>(d, (m, n), &[]);
            let shapes = [
                mxm(&a, &a).transpose_b().eval().unwrap().shape(),
                mxm(&a, &a).transpose_a().eval().unwrap().shape(),
                transpose(&a).eval().unwrap().shape(),
                ewise_add(&a, &a, Plus).eval().unwrap().shape(),
                ewise_mult(&a, &a, Plus).eval().unwrap().shape(),
                ewise_union(&a, 1, &a, 2, Plus).eval().unwrap().shape(),
                apply(&a, Negate).mask(&a).eval().unwrap().shape(),
                select(&a, Tril, 0).eval().unwrap().shape(),
                kronecker(&a, &a, Times).eval().unwrap().shape(),
                extract(&a, .., ..).eval().unwrap().shape(),
                extract_rows(&a, &[]).eval().unwrap().shape(),
                concat(&[[&a, &a], [&a, &a]]).unwrap().shape(),
            ];
            let same = (m, n);
            let expected =
                [(m, m), (n, n), (n, m), same, same, same, same, same, (m * m, n * n), same, (0, n), (2 * m, 2 * n)];
            assert_eq!(shapes, expected);
            let (x, y) = (vector::<i32>(d, n, &[]), vector::<i32>(d, m, &[]));
            assert_eq!(mxv(&a, &x).eval().unwrap().len(), m);
            assert_eq!(vxm(&y, &a).eval().unwrap().len(), n);
            assert_eq!(reduce_rows(&a, Plus).eval().unwrap().len(), m);
            assert_eq!(reduce_rows(&a, Plus).transpose_a().eval().unwrap().len(), n);
            assert_eq!((reduce(&a, Plus).unwrap(), reduce(&a, Min).unwrap()), (0, i32::MAX));
            assert_eq!(diag(&x, 1).eval().unwrap().shape(), (n + 1, n + 1));
            let mut c = a.clone();
            mxm(&a, &matrix::<i32>(d, (n, n), &[])).mask(&a).accumulate(Plus).replace().into(&mut c).unwrap();
            assign_scalar(1, .., ..).into(&mut c).unwrap();
            assert_eq!((c.shape(), c.nvals(), got(&c)), ((m, n), 0, vec![]));
            c.resize(3, 3).unwrap();
            assert_eq!((c.shape(), c.nvals()), ((3, 3), 0));
        }
    });
}

#[test]
fn s2_inner_dimension_zero() {
    each(|d| {
        let (a, b) = (matrix::<i32>(d, (4, 0), &[]), matrix::<i32>(d, (0, 3), &[]));
        let c = mxm(&a, &b).eval().unwrap();
        assert_eq!((c.shape(), c.nvals()), ((4, 3), 0));
        let old = matrix(d, (4, 3), &[(0, 0, 1), (3, 2, 2)]);
        let mask = matrix(d, (4, 3), &[(3, 2, true)]);
        let mut c = old.clone();
        mxm(&a, &b).accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(got(&c), got(&old));
        mxm(&a, &b).mask(&mask).accumulate(Plus).replace().into(&mut c).unwrap();
        assert_eq!(got(&c), [(3, 2, 2)]);
        mxm(&a, &b).into(&mut c).unwrap();
        assert_eq!(got(&c), []);
        assert_eq!(made_vector(mxv(&a, &vector(d, 0, &[]))), []);
    });
}

#[test]
fn s3_single_rows_and_columns() {
    each(|d| {
        let one = matrix(d, (1, 1), &[(0, 0, 3)]);
        assert_eq!(made(mxm(&one, &one)), [(0, 0, 9)]);
        let row = matrix(d, (1, 4), &[(0, 0, 1), (0, 2, 2), (0, 3, -1)]);
        let column = transpose(&row).eval().unwrap();
        assert_eq!(made(mxm(&row, &column)), [(0, 0, 6)]);
        assert_eq!(mxm(&column, &row).eval().unwrap().nvals(), 9);
        assert_eq!(made(mxm(&one, &row)), [(0, 0, 3), (0, 2, 6), (0, 3, -3)]);
        assert_eq!(made_vector(reduce_rows(&row, Plus)), [(0, 2)]);
        assert_eq!(made_vector(reduce_rows(&column, Plus)), [(0, 1), (2, 2), (3, -1)]);
    });
}

#[test]
fn s4_dense_rows_and_columns_and_hypersparse() {
    each(|d| {
        let none = matrix::<i32>(d, (20, 20), &[]);
        assert_eq!(made(mxm(&none, &none)), []);
        assert_eq!(made(ewise_add(&none, &none, Plus)), []);
        let row = matrix(d, (20, 20), &(0..20).map(|j| (7, j, 1)).collect::<Vec<_>>());
        let column = transpose(&row).eval().unwrap();
        // Row times column is one entry; column times row is everything.
        assert_eq!(made(mxm(&row, &column)), [(7, 7, 20)]);
        let all = mxm(&column, &row).eval().unwrap();
        assert_eq!((all.nvals(), reduce(&all, Plus).unwrap()), (400, 400));
        let a = matrix(d, (HUGE, HUGE), &[(5, HUGE - 1, 2), (HUGE - 1, 5, 3), (7, 7, 1)]);
        assert_eq!(made(mxm(&a, &a)), [(5, 5, 6), (7, 7, 1), (HUGE - 1, HUGE - 1, 6)]);
        assert_eq!(made(transpose(&a)), [(5, HUGE - 1, 3), (7, 7, 1), (HUGE - 1, 5, 2)]);
        assert_eq!(made_vector(reduce_rows(&a, Plus)), [(5, 2), (7, 1), (HUGE - 1, 3)]);
    });
}

#[test]
fn s5_misfits_name_both_shapes_and_change_nothing() {
    each(|d| {
        let (a, b) = (some(d, 4, 5, 1), some(d, 6, 7, 2));
        let (x, c) = (vector(d, 9, &[(0, 1)]), some(d, 3, 8, 3));
        let mut out = c.clone();
        let told = |e: oplus::Result<()>, parts: [&str; 2]| {
            let text = e.unwrap_err().to_string();
            assert!(parts.iter().all(|p| text.contains(p)), "{text}");
        };
        told(mxm(&a, &b).into(&mut out), ["4×5", "6×7"]);
        told(mxm(&a, &b).transpose_a().into(&mut out), ["5×4", "6×7"]);
        told(mxv(&a, &x).eval().map(drop), ["4×5", "9"]);
        told(vxm(&x, &a).eval().map(drop), ["9", "4×5"]);
        told(ewise_add(&a, &b, Plus).into(&mut out), ["4×5", "6×7"]);
        told(ewise_mult(&a, &b, Plus).into(&mut out), ["4×5", "6×7"]);
        told(apply(&a, Negate).into(&mut out), ["4×5", "3×8"]);
        told(transpose(&a).into(&mut out), ["5×4", "3×8"]);
        told(select(&a, Tril, 0).mask(&b).eval().map(drop), ["4×5", "6×7"]);
        told(kronecker(&a, &b, Times).into(&mut out), ["24×35", "3×8"]);
        told(assign(&a, .., ..).into(&mut out), ["4×5", "3×8"]);
        told(assign(&a, ..2, ..2).into(&mut out), ["4×5", "2×2"]);
        told(extract(&a, .., ..).into(&mut out), ["4×5", "3×8"]);
        assert_eq!(got(&out), got(&c));
    });
}
