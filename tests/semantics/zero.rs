//! Z: explicit zeros, and which positions a result has.
use crate::kit::*;
use oplus::prelude::*;

#[test]
fn z1_a_stored_zero_is_an_entry() {
    each(|d| {
        let a = matrix(d, (2, 2), &[(0, 0, 0), (1, 1, 5)]);
        assert_eq!(a.nvals(), 2);
        assert_eq!(a.get(0, 0).unwrap(), Some(0));
        assert_eq!(made(mxm(&a, &a)), [(0, 0, 0), (1, 1, 25)]);
        assert_eq!(made(ewise_add(&a, &a, Plus)), [(0, 0, 0), (1, 1, 10)]);
        assert_eq!(made(ewise_mult(&a, &a, Times)), [(0, 0, 0), (1, 1, 25)]);
        assert_eq!(made(apply_second(&a, Times, 0)), [(0, 0, 0), (1, 1, 0)]);
        assert_eq!(made(transpose(&a)), [(0, 0, 0), (1, 1, 5)]);
        assert_eq!(made_vector(reduce_rows(&a, Plus)), [(0, 0), (1, 5)]);
        assert_eq!(a.to_coo().unwrap().values, [0, 5]);
        // In files.
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().with_extension("mtx");
        oplus::io::matrix_market::write(&path, &a).unwrap();
        let back: Matrix<i32> = Matrix::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(got(&back), got(&a));
    });
}

#[test]
fn z2_cancellation_keeps_a_zero() {
    each(|d| {
        let a = matrix(d, (1, 2), &[(0, 0, 1), (0, 1, -1)]);
        let b = matrix(d, (2, 1), &[(0, 0, 1), (1, 0, 1)]);
        assert_eq!(made(mxm(&a, &b)), [(0, 0, 0)]);
        assert_eq!(made_vector(reduce_rows(&a, Plus)), [(0, 0)]);
        assert_eq!(made(ewise_add(&a, &apply(&a, Negate).eval().unwrap(), Plus)), [(0, 0, 0), (0, 1, 0)]);
    });
}

#[test]
fn z3_patterns_depend_on_structure_only() {
    each(|d| {
        let with = |f: fn(u64) -> f64| {
            let entries: Vec<_> = (0..40).map(|e| (e * 7 % 10, e * 3 % 11, f(e))).collect();
            matrix(d, (10, 11), &{
                let mut all = entries;
                all.sort_by_key(|e| (e.0, e.1));
                all.dedup_by_key(|e| (e.0, e.1));
                all
            })
        };
        let positions = |a: &Matrix<f64>| {
            let of = |e: Vec<(u64, u64, f64)>| e.into_iter().map(|e| (e.0, e.1)).collect::<Vec<_>>();
            [
                of(made(mxm(a, &a.transposed()))),
                of(made(mxm(&a.over::<MinPlus>(), &a.over::<MinPlus>().transposed()))),
                of(made(ewise_add(a, a, Minus))),
                of(made(apply_second(a, Times, 0.0))),
            ]
        };
        let usual = positions(&with(|e| e as f64));
        for f in [(|_| 0.0) as fn(u64) -> f64, |_| f64::NAN, |_| f64::INFINITY, |e| if e % 2 == 0 { 1.0 } else { -1.0 }]
        {
            assert_eq!(positions(&with(f)), usual);
        }
    });
}

#[test]
fn z4_stored_identities_stay() {
    each(|d| {
        let a = matrix(d, (2, 2), &[(0, 1, f64::INFINITY), (1, 0, 1.0)]).over::<MinPlus>();
        assert_eq!(made(mxm(&a, &a)), [(0, 0, f64::INFINITY), (1, 1, f64::INFINITY)]);
        let b = matrix(d, (2, 2), &[(0, 1, false), (1, 0, true)]).over::<LorLand>();
        assert_eq!(made(mxm(&b, &b)), [(0, 0, false), (1, 1, false)]);
        assert_eq!(made_vector(reduce_rows(&b, Lor)), [(0, false), (1, true)]);
    });
}

/// Triplets in and out keep zeros: other libraries' readers may drop them.
#[test]
fn z5_triplets_keep_zeros() {
    each(|d| {
        let mut coo = Coo::new(2, 3);
        coo.push(1, 2, 0.0);
        coo.push(0, 1, -0.0);
        let a = Matrix::<f64>::from_coo(&coo).unwrap().to(&d).unwrap();
        let back = a.to_coo().unwrap();
        assert_eq!((back.rows, back.columns), (vec![0, 1], vec![1, 2]));
        assert_eq!(back.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), [(-0.0f64).to_bits(), 0]);
    });
}

#[test]
fn z6_only_select_prunes() {
    each(|d| {
        let a = matrix(d, (1, 3), &[(0, 0, 0), (0, 1, 4), (0, 2, 0)]);
        assert_eq!(made(apply(&a, Negate)).len(), 3);
        assert_eq!(made(select(&a, ValueNe, 0)), [(0, 1, 4)]);
        assert_eq!(made(apply(&a, Identity).mask(&a.structure())), got(&a));
        // A stored zero meets others, and stays where the mask does not admit it.
        let mut c = matrix(d, (1, 4), &[(0, 0, 7), (0, 1, 0), (0, 3, 0)]);
        let wide = matrix(d, (1, 4), &got(&a));
        apply(&wide, Identity).mask(&wide.structure()).into(&mut c).unwrap();
        assert_eq!(got(&c), [(0, 0, 0), (0, 1, 4), (0, 2, 0), (0, 3, 0)]);
        apply(&wide, Negate).mask(&wide).accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(got(&c), [(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0)]);
    });
}
