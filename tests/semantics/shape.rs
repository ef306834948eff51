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
                extract_rows(&a, []).eval().unwrap().shape(),
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
fn s1_nothing_taken_out_sorted_and_looked_through() {
    each(|d| {
        for (m, n) in [(0, 5), (5, 0), (0, 0)] {
            let a = matrix::<i32>(d, (m, n), &[]);
            let (x, y) = (vector::<i32>(d, n, &[]), vector::<i32>(d, m, &[]));
            let shapes = [
                apply_first(1, Minus, &a).eval().unwrap().shape(),
                apply_second(&a, Minus, 1).eval().unwrap().shape(),
                apply_index(&a, ColIndex, 1).eval().unwrap().shape(),
                top_k(&a, 2).eval().unwrap().shape(),
                tril(&a, 0).eval().unwrap().shape(),
                triu(&a, 0).eval().unwrap().shape(),
                scale_rows(&y, &a, Times).eval().unwrap().shape(),
                scale_columns(&a, &x, Times).eval().unwrap().shape(),
                sort(&a, Lt).unwrap().0.shape(),
                sort(&a, Lt).unwrap().1.shape(),
                cast::<f64, _>(&a).unwrap().shape(),
                transpose_merged(&a.transposed()).eval().unwrap().shape(),
            ];
            assert_eq!(shapes, [(m, n); 12]);
            assert_eq!((argmin_rows(&a).eval().unwrap().len(), argmax_rows(&a).eval().unwrap().len()), (m, m));
            assert_eq!(argmax_rows(&a).transpose_a().eval().unwrap().len(), n);
            assert_eq!((argmin(&x).unwrap(), argmax(&y).unwrap()), (None, None));
            assert_eq!((reduce_stored(&a, Plus).unwrap(), reduce(&x, Plus).unwrap()), (None, 0));
            // Vectors of no or of nothing but absent entries.
            for (u, len) in [(&x, n), (&y, m)] {
                let lens = [
                    ewise_add(u, u, Plus).eval().unwrap().len(),
                    ewise_union(u, 1, u, 2, Plus).eval().unwrap().len(),
                    ewise_mult(u, u, Plus).eval().unwrap().len(),
                    apply(u, Negate).eval().unwrap().len(),
                    select(u, ValueGt, 0).eval().unwrap().len(),
                    top_k(u, 1).eval().unwrap().len(),
                    sort(u, Gt).unwrap().0.len(),
                    extract_vector(u, ..).eval().unwrap().len(),
                ];
                assert_eq!(lens, [len; 8]);
                assert_eq!(extract_vector(u, []).eval().unwrap().len(), 0);
            }
            // Lines, where there are any.
            let (row, column) = (extract_row(&a, 0, ..).eval(), extract_column(&a, .., 0).eval());
            assert_eq!((row.is_ok(), column.is_ok()), (m > 0, n > 0));
            assert!(row.is_ok_and(|r| r.len() == n) == (m > 0) && column.is_ok_and(|c| c.len() == m) == (n > 0));
            assert_eq!(extract(&a, .., []).eval().unwrap().shape(), (m, 0));
            for k in [-7, -1, 0, 1, 7] {
                assert_eq!(diag_extract(&a, k).eval().unwrap().nvals(), 0);
                assert_eq!(diag_extract(&a, k).transpose_a().eval().unwrap().nvals(), 0);
            }
            let tiles = split(&a, &[0, m], &[n]).unwrap();
            let shapes: Vec<_> = tiles.iter().map(|row| row.iter().map(Matrix::shape).collect::<Vec<_>>()).collect();
            assert_eq!(shapes, [[(0, n)], [(m, n)]]);
        }
    });
}

#[test]
fn s1_nothing_assigned_and_chained() {
    each(|d| {
        for (m, n) in [(0, 5), (5, 0), (0, 0)] {
            let a = matrix::<i32>(d, (m, n), &[]);
            let (x, y) = (vector::<i32>(d, n, &[]), vector::<i32>(d, m, &[]));
            let mut c = a.clone();
            assign(&a, .., ..).mask(&a.structure().complement()).replace().into(&mut c).unwrap();
            subassign(&a, .., ..).mask(&a).accumulate(Plus).into(&mut c).unwrap();
            assign_empty::<i32>(.., ..).into(&mut c).unwrap();
            subassign_scalar(1, .., ..).into(&mut c).unwrap();
            // A line that is not there is none to write to.
            let rows = [assign_row(&x, 0, ..).into(&mut c), subassign_row(&x, 0, ..).into(&mut c)];
            assert_eq!(rows.map(|r| r.is_ok()), [m > 0; 2]);
            let columns = [assign_column(&y, .., 0).into(&mut c), subassign_column(&y, .., 0).into(&mut c)];
            assert_eq!(columns.map(|r| r.is_ok()), [n > 0; 2]);
            assert_eq!((c.shape(), got(&c)), ((m, n), vec![]));
            // No indices: an A without entries, and nothing is written.
            let old = matrix(d, (3, 3), &[(1, 1, 5)]);
            let mut c = old.clone();
            let none = matrix::<i32>(d, (0, 3), &[]);
            assign(&none, [], ..).into(&mut c).unwrap();
            subassign(&none, [], ..).accumulate(Plus).into(&mut c).unwrap();
            assign_scalar(7, [], ..).into(&mut c).unwrap();
            assert_eq!(got(&c), got(&old));
            let mut w = x.clone();
            assign_vector(&x, ..).mask(&x).replace().into(&mut w).unwrap();
            subassign_vector(&x, ..).accumulate(Plus).into(&mut w).unwrap();
            assign_vector(&vector::<i32>(d, 0, &[]), []).into(&mut w).unwrap();
            assign_empty_vector::<i32>(..).into(&mut w).unwrap();
            assert_eq!((w.len(), w.nvals()), (n, 0));
            assign_scalar_vector(1, ..).into(&mut w).unwrap();
            subassign_scalar_vector(2, ..).accumulate(Plus).into(&mut w).unwrap();
            assert_eq!(w.entries().unwrap(), (0..n).map(|j| (j, 3)).collect::<Vec<_>>());
            // Products and element-wise operations with more to do.
            let shapes = [
                mxm(&a, &a).transpose_b().apply(Negate).eval().unwrap().shape(),
                mxm(&a, &a).transpose_b().select(ValueGt, 0).top_k(2).eval().unwrap().shape(),
                mxm(&a, &a).transpose_b().scale_rows(&y, Times).apply_index(ColIndex, 0).eval().unwrap().shape(),
            ];
            assert_eq!(shapes, [(m, m); 3]);
            assert_eq!(mxm(&a, &a).transpose_b().reduce(Plus).unwrap(), 0);
            let mask = a.structure().complement();
            let shapes = [
                ewise_add(&a, &a, Plus).ewise_mult(&a, Times).apply(Abs).eval().unwrap().shape(),
                ewise_union(&a, 1, &a, 2, Plus).select(ValueGt, 0).ewise_add(&a, Plus).eval().unwrap().shape(),
                ewise_mult(&a, &a, Plus).mask(&mask).top_k(1).eval().unwrap().shape(),
            ];
            assert_eq!(shapes, [(m, n); 3]);
            let triple = triple_product(&a, &a.transposed(), &a).eval().unwrap();
            assert_eq!((triple.shape(), triple.nvals()), ((m, n), 0));
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

/// Row by row, or column by column, the places are the same ones.
#[test]
fn s6_reshaped_places_are_the_same_in_their_order() {
    each(|d| {
        let a = some(d, 12, 10, 1);
        let by_rows = |a: &Matrix<i32>, n: u64| -> Vec<_> {
            let width = a.ncols() as u128;
            let place = |i: u64, j: u64| i as u128 * width + j as u128;
            let at = |p: u128| ((p / n as u128) as u64, (p % n as u128) as u64);
            got(a).into_iter().map(|(i, j, v)| (at(place(i, j)), v)).map(|((i, j), v)| (i, j, v)).collect()
        };
        for (m, n) in [(12, 10), (10, 12), (1, 120), (120, 1), (8, 15), (40, 3)] {
            for format in [Format::Csr, Format::Csc, Format::Bitmap, Format::Hypersparse, Format::Dia] {
                let c = reshape(&in_format(&a, format), m, n).unwrap();
                assert_eq!((c.shape(), got(&c)), ((m, n), by_rows(&a, n)), "{m}×{n} {format:?}");
            }
            let c = reshape_columns(&a, m, n).unwrap();
            let turned = reshape(&transpose(&a).eval().unwrap(), n, m).unwrap();
            assert_eq!((c.shape(), got(&c)), ((m, n), made(transpose(&turned))));
            assert_eq!(got(&reshape_columns(&c, 12, 10).unwrap()), got(&a));
            assert_eq!(got(&reshape(&a.transposed(), m, n).unwrap()), by_rows(&transpose(&a).eval().unwrap(), n));
            // What comes of it is a matrix like any other.
            assert_eq!(reduce(&ewise_add(&c, &c, Plus).eval().unwrap(), Plus), reduce(&a, Plus).map(|sum| 2 * sum));
        }
        let seven = a.with_value(7).unwrap();
        let c = reshape(&seven, 20, 6).unwrap();
        assert!(c.is_iso() || d == Device::Reference);
        assert!(got(&c).iter().all(|e| e.2 == 7) && c.nvals() == a.nvals());
        let full = Matrix::<i32>::from_full(70, 80, (0..5600).collect()).unwrap().to(&d).unwrap();
        let c = reshape(&full, 56, 100).unwrap();
        assert!(c.format() == Format::Full || d == Device::Reference);
        assert_eq!(c.into_full(-1).unwrap(), (0..5600).collect::<Vec<_>>());
    });
}

#[test]
fn s6_reshaped_hypersparse_nothing_and_misfits() {
    each(|d| {
        let entries = [(0, 5, 1), (3, HUGE - 1, 2), (1 << 39, 7, 3), (HUGE - 1, 0, 4), (HUGE - 1, HUGE - 1, 5)];
        let a = matrix(d, (HUGE, HUGE), &entries);
        let at = |n: u64| {
            let place = |(i, j, v): (u64, u64, i32)| (u128::from(i) * u128::from(HUGE) + u128::from(j), v);
            let n = u128::from(n);
            entries.map(place).map(|(p, v)| ((p / n) as u64, (p % n) as u64, v))
        };
        for (m, n) in [(1 << 50, 1 << 30), (1 << 60, 1 << 20), (1 << 20, 1 << 60), (1 << 63, 1 << 17)] {
            let c = reshape(&a, m, n).unwrap();
            assert_eq!((c.shape(), got(&c)), ((m, n), at(n).to_vec()));
            assert_eq!(got(&reshape(&c, HUGE, HUGE).unwrap()), entries);
            let c = reshape_columns(&a, m, n).unwrap();
            assert_eq!((c.shape(), c.nvals()), ((m, n), 5));
            assert_eq!(got(&reshape_columns(&c, HUGE, HUGE).unwrap()), entries);
        }
        // From rows that are listed to few that are not, and back.
        let long = matrix(d, (1 << 33, 4), &[(0, 1, 1), (1 << 32, 2, 2), ((1 << 33) - 1, 3, 3)]);
        let c = reshape(&long, 1 << 10, 1 << 25).unwrap();
        assert_eq!(got(&c), [(0, 1, 1), (512, 2, 2), (1023, (1 << 25) - 1, 3)]);
        assert_eq!(got(&reshape(&c, 1 << 33, 4).unwrap()), got(&long));
        for (m, n) in [(0, 5), (5, 0), (0, 0)] {
            let none = matrix::<i32>(d, (m, n), &[]);
            for (rows, cols) in [(0, 3), (HUGE, 0), (0, 0)] {
                assert_eq!(reshape(&none, rows, cols).unwrap().shape(), (rows, cols));
                assert_eq!(reshape_columns(&none, rows, cols).unwrap().shape(), (rows, cols));
            }
            assert!(reshape(&none, 1, 1).is_err());
        }
        assert_eq!(reshape(&matrix::<i32>(d, (4, 6), &[]), 8, 3).unwrap().nvals(), 0);
        let told = |name: &str, e: oplus::Result<Matrix<i32>>| {
            let text = e.unwrap_err().to_string();
            assert!(text.starts_with(name) && text.contains("2×6") && text.contains("5×3"), "{text}");
        };
        let small = some(d, 2, 6, 1);
        told("reshape: ", reshape(&small, 5, 3));
        told("reshape_columns: ", reshape_columns(&small, 5, 3));
        // As many places modulo 2⁶⁴ are not as many.
        assert!(reshape(&matrix::<i32>(d, (1 << 33, 1 << 31), &[]), 0, 9).is_err());
    });
}

/// A place for every column is more than there can be, one for those in use is not.
#[test]
fn s7_tiles_of_one_row_together_beyond_32_bits() {
    each(|d| {
        let n = 3_000_000_000u64;
        let (a, b) = (matrix(d, (1, n), &[(0, 5, 1), (0, n - 1, 2)]), matrix(d, (1, n), &[(0, 5, 3)]));
        let (none, short) = (matrix::<i32>(d, (1, n), &[]), matrix(d, (1, 3), &[(0, 1, 4)]));
        let c = concat(&[[&a, &short, &none, &b]]).unwrap();
        assert_eq!(c.shape(), (1, 3 * n + 3));
        assert_eq!(got(&c), [(0, 5, 1), (0, n - 1, 2), (0, n + 1, 4), (0, 2 * n + 8, 3)]);
        // And it is taken apart again, in one row and in more of them.
        let tiles = split(&c, &[1], &[n, 3, n, n]).unwrap();
        assert!(tiles[0].iter().zip([&a, &short, &none, &b]).all(|(x, y)| got(x) == got(y) && x.shape() == y.shape()));
        let c = concat(&[[&b, &a], [&a, &none]]).unwrap();
        assert_eq!((c.shape(), c.nvals()), ((2, 2 * n), 5));
        assert_eq!(got(&c)[..3], [(0, 5, 3), (0, n + 5, 1), (0, 2 * n - 1, 2)]);
        // Stored once, it is then too.
        let seven = a.with_value(7).unwrap();
        let c = concat(&[[&seven, &seven]]).unwrap();
        assert_eq!(got(&c), [(0, 5, 7), (0, n - 1, 7), (0, n + 5, 7), (0, 2 * n - 1, 7)]);
        let far = matrix::<i32>(d, (1, u64::MAX), &[]);
        match concat(&[[&far, &short]]) {
            Err(Error::IndexOverflow { what: "number of columns", value, limit, .. }) => {
                assert_eq!((value - limit, limit), (3, u128::from(u64::MAX)))
            }
            other => panic!("{other:?}"),
        }
    });
}
