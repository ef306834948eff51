//! E: masks, accumulators, replace.
use crate::kit::*;
use oplus::prelude::*;

#[test]
fn e1_mask_true_without_accumulator_deletes_what_t_lacks() {
    each(|d| {
        let mut c = vector(d, 1, &[(0, 5)]);
        apply(&vector::<i32>(d, 1, &[]), Identity).mask(&vector(d, 1, &[(0, true)])).into(&mut c).unwrap();
        assert_eq!(c.entries().unwrap(), []);
    });
}

#[test]
fn e2_mask_true_with_accumulator_keeps_what_t_lacks() {
    each(|d| {
        let (mut c, mask) = (vector(d, 1, &[(0, 5)]), vector(d, 1, &[(0, true)]));
        apply(&vector::<i32>(d, 1, &[]), Identity).mask(&mask).accumulate(Minus).into(&mut c).unwrap();
        assert_eq!(c.entries().unwrap(), [(0, 5)]);
    });
}

#[test]
fn e3_accumulator_is_not_called_with_its_identity() {
    each(|d| {
        let mut c = vector(d, 2, &[(1, 5)]);
        apply(&vector(d, 2, &[(0, 3)]), Identity).accumulate(Minus).into(&mut c).unwrap();
        assert_eq!(c.entries().unwrap(), [(0, 3), (1, 5)]);
    });
}

#[test]
fn e4_mask_false_keeps_or_with_replace_deletes() {
    each(|d| {
        for t in [&[][..], &[(0, 3)]] {
            let (t, mask) = (vector(d, 1, t), vector(d, 1, &[(0, false)]));
            let mut c = vector(d, 1, &[(0, 5)]);
            apply(&t, Identity).mask(&mask).into(&mut c).unwrap();
            assert_eq!(c.entries().unwrap(), [(0, 5)]);
            apply(&t, Identity).mask(&mask).replace().accumulate(Plus).into(&mut c).unwrap();
            assert_eq!(c.entries().unwrap(), []);
        }
    });
}

#[test]
fn e6_replace_without_mask_has_no_effect() {
    each(|d| {
        let t = vector(d, 3, &[(0, 1)]);
        let mut c = vector(d, 3, &[(1, 5)]);
        apply(&t, Identity).replace().accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(c.entries().unwrap(), [(0, 1), (1, 5)]);
        apply(&t, Identity).replace().into(&mut c).unwrap();
        assert_eq!(c.entries().unwrap(), [(0, 1)]);
    });
}

/// A complement of everything: there is no complement without a mask here.
#[test]
fn e7_complement_of_everything() {
    each(|d| {
        let (a, c) = (some(d, 6, 6, 1), some(d, 6, 6, 2));
        let everything = matrix::<i32>(d, (6, 6), &[]).structure().complement();
        let nothing = everything.complement();
        let full = full(d, 6, 1);
        let column = matrix(d, (6, 1), &(0..6).map(|i| (i, 0, 1)).collect::<Vec<_>>());
        let row = matrix(d, (1, 6), &(0..6).map(|j| (0, j, 1)).collect::<Vec<_>>());
        let dense = mxm(&column, &row).eval().unwrap().structure().complement();
        for none in [&nothing, &dense] {
            let mut out = c.clone();
            mxm(&a, &a).mask(none).into(&mut out).unwrap();
            assert_eq!(got(&out), got(&c));
            mxm(&a, &a).mask(none).replace().accumulate(Plus).into(&mut out).unwrap();
            assert_eq!(got(&out), []);
        }
        // Errors are reported all the same.
        let mut out = c.clone();
        assert!(mxm(&a, &column).mask(&nothing).into(&mut out).is_err());
        assert!(mxv(&a, &full).mask(&nothing).eval().is_err());
        assert_eq!(got(&out), got(&c));
    });
}

#[test]
fn e8_valued_and_structural_masks() {
    each(|d| {
        let stored = [(0, 0.0), (1, f64::NAN), (2, 1.0), (4, f64::NEG_INFINITY), (5, 5e-324)];
        let m = vector(d, 6, &stored);
        let t = full(d, 6, 1);
        let by = |mask: Mask| made_vector(apply(&t, Identity).mask(&mask)).iter().map(|e| e.0).collect::<Vec<_>>();
        assert_eq!(by(m.as_mask()), [1, 2, 4, 5]);
        assert_eq!(by(m.as_mask().complement()), [0, 3]);
        assert_eq!(by(m.structure()), [0, 1, 2, 4, 5]);
        assert_eq!(by(m.structure().complement()), [3]);
        // NaN is true, in a part of a complex number too.
        let masks = [
            vector(d, 6, &[(1, f32::NAN), (3, 0.0)]).as_mask(),
            vector(d, 6, &[(1, c64::new(0.0, f64::NAN)), (3, c64::new(0.0, 0.0))]).as_mask(),
            vector(d, 6, &[(1, c32::new(f32::NAN, 0.0)), (3, c32::new(0.0, 0.0))]).as_mask(),
        ];
        for mask in masks {
            assert_eq!((by(mask.clone()), by(mask.complement())), (vec![1], vec![0, 2, 3, 4, 5]));
        }
        // Empty and full ones, all true and all false.
        let (none, all) = (vector::<bool>(d, 6, &[]), full(d, 6, true));
        let false_ = full(d, 6, false);
        assert_eq!((by(none.as_mask()), by(none.structure().complement())), (vec![], (0..6).collect()));
        assert_eq!((by(all.as_mask()), by(all.as_mask().complement())), ((0..6).collect(), vec![]));
        assert_eq!((by(false_.as_mask()), by(false_.structure())), (vec![], (0..6).collect()));
    });
}

/// As a cast to bool says, not as its bytes do.
#[test]
fn e9_negative_zero_is_false() {
    each(|d| {
        let t = full(d, 3, 1);
        let doubles = vector(d, 3, &[(0, -0.0f64), (1, 0.0), (2, 1.0)]);
        let singles = vector(d, 3, &[(0, -0.0f32), (1, 0.0), (2, 1.0)]);
        let complex = vector(d, 3, &[(0, c64::new(-0.0, 0.0)), (1, c64::new(0.0, -0.0)), (2, c64::new(-0.0, 1.0))]);
        let pairs = vector(d, 3, &[(0, c32::new(-0.0, -0.0)), (1, c32::new(0.0, -0.0)), (2, c32::new(1.0, -0.0))]);
        for mask in [doubles.as_mask(), singles.as_mask(), complex.as_mask(), pairs.as_mask()] {
            assert_eq!(made_vector(apply(&t, Identity).mask(&mask)), [(2, 1)]);
            assert_eq!(made_vector(apply(&t, Identity).mask(&mask.complement())), [(0, 1), (1, 1)]);
        }
    });
}

#[test]
fn e10_complement_with_empty_and_full_rows() {
    each(|d| {
        let all: Vec<_> = (0..4).flat_map(|i| (0..4).map(move |j| (i, j, 1))).collect();
        let a = matrix(d, (4, 4), &all);
        // Row 0 of the mask is empty, row 1 full, rows 2 and 3 neither.
        let m = matrix(d, (4, 4), &[(1, 0, 1), (1, 1, 1), (1, 2, 1), (1, 3, 1), (2, 1, 1), (3, 0, 0), (3, 3, 1)]);
        let at = |e: Vec<(u64, u64, i32)>| e.into_iter().map(|(i, j, v)| (i, j, v == 4)).collect::<Vec<_>>();
        let rows = |outside: &[(u64, u64)]| -> Vec<_> {
            all.iter().filter(|e| !outside.contains(&(e.0, e.1))).map(|e| (e.0, e.1, true)).collect()
        };
        let structural = [(1, 0), (1, 1), (1, 2), (1, 3), (2, 1), (3, 0), (3, 3)];
        let valued = [(1, 0), (1, 1), (1, 2), (1, 3), (2, 1), (3, 3)];
        assert_eq!(at(made(mxm(&a, &a).mask(&m.structure().complement()))), rows(&structural));
        assert_eq!(at(made(mxm(&a, &a).mask(&m.as_mask().complement()))), rows(&valued));
        assert_eq!(at(made(apply_second(&a, Times, 4).mask(&m.as_mask().complement()))), rows(&valued));
    });
}

#[test]
fn e11_masks_of_every_type() {
    each(|d| {
        let t = full(d, 3, 7);
        macro_rules! types { ($($t:ident $true:expr;)*) => {$(
            let m: Vector<$t> = vector(d, 3, &[(0, $t::default()), (1, $true)]);
            assert_eq!(made_vector(apply(&t, Identity).mask(&m)), [(1, 7)], stringify!($t));
            assert_eq!(made_vector(apply(&t, Identity).mask(&m.structure())), [(0, 7), (1, 7)], stringify!($t));
        )*} }
        types! { c32 c32::new(0.0, 0.1); c64 c64::new(-0.1, 0.0); }
        types! { bool true; i8 -1; u8 255; i16 256; u16 256; i32 1 << 16; u32 1 << 31; i64 1 << 40; u64 1 << 63; f32 0.1; f64 -0.1; }
        // A struct has no truth value (that is a compile error), but a structure.
        let m: Vector<Pixel> = vector(d, 3, &[(0, Pixel::make(0, 0, 0)), (2, Pixel::make(1, 2, 3))]);
        assert_eq!(made_vector(apply(&t, Identity).mask(&m.structure())), [(0, 7), (2, 7)]);
    });
}

#[cfg(feature = "half")]
#[test]
fn e11_masks_of_halves() {
    each(|d| {
        let t = full(d, 6, 7);
        macro_rules! types { ($($t:ident)*) => {$(
            // The least number, 0, NaN, −0, a negative one; none.
            let values = [$t::from_bits(1), $t::ZERO, $t::NAN, $t::from_f32(-0.0), $t::from_f32(-2.0)];
            let m: Vector<$t> = vector(d, 6, &(0..).zip(values).collect::<Vec<_>>());
            let by = |mask: Mask| -> Vec<u64> {
                made_vector(apply(&t, Identity).mask(&mask)).iter().map(|e| e.0).collect()
            };
            assert_eq!((by(m.as_mask()), by(m.as_mask().complement())), (vec![0, 2, 4], vec![1, 3, 5]), stringify!($t));
            assert_eq!((by(m.structure()), by(m.structure().complement())), ((0..5).collect(), vec![5]), stringify!($t));
        )*} }
        types! { f16 bf16 }
    });
}
oplus::scalar! { pub struct Pixel { red: u8, green: u8, blue: u8 } }

/// Types are equal or a compile error; conversions are `cast`s of their own.
#[test]
fn e12_first_inserts_and_second_never_deletes() {
    each(|d| {
        let (c, t) = (vector(d, 4, &[(0, 10), (1, 11)]), vector(d, 4, &[(1, 21), (2, 22)]));
        let mut out = c.clone();
        apply(&t, Identity).accumulate(First).into(&mut out).unwrap();
        assert_eq!(out.entries().unwrap(), [(0, 10), (1, 11), (2, 22)]);
        let mut out = c.clone();
        apply(&t, Identity).accumulate(Second).into(&mut out).unwrap();
        assert_eq!(out.entries().unwrap(), [(0, 10), (1, 21), (2, 22)]);
        // A conversion counts where nothing overlaps as well.
        let mut out = vector(d, 4, &[(0, 1)]);
        apply(&vector(d, 4, &[(3, 2.9)]), Cast::<i32>::default()).accumulate(Plus).into(&mut out).unwrap();
        assert_eq!(out.entries().unwrap(), [(0, 1), (3, 2)]);
    });
}

#[test]
fn e13_empty_results_and_empty_outputs() {
    each(|d| {
        let (a, none) = (some(d, 7, 7, 1), matrix::<i32>(d, (7, 7), &[]));
        let mut c = a.clone();
        mxm(&none, &a).accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(got(&c), got(&a));
        let mut c = none.clone();
        mxm(&a, &a).accumulate(Plus).into(&mut c).unwrap();
        assert_eq!(got(&c), made(mxm(&a, &a)));
    });
}

/// Where it stands says what a mask is of: the product, what a step has made, or what is written.
#[test]
fn e15_masks_and_replace_around_steps() {
    each(|d| {
        let (a, mask, c) = (some(d, 6, 6, 1), some(d, 6, 6, 2), some(d, 6, 6, 3));
        let m = || mask.structure();
        let product = mxm(&a, &a).eval().unwrap();
        let inside = mxm(&a, &a).mask(&m()).eval().unwrap();
        let (all, part) = (apply(&product, Negate).eval().unwrap(), apply(&inside, Negate).eval().unwrap());
        assert!(part.nvals() > 0 && part.nvals() < all.nvals());
        assert_eq!(made(mxm(&a, &a).mask(&m()).apply(Negate)), got(&part));
        assert_eq!(made(mxm(&a, &a).apply(Negate).mask(&m()).apply(Identity)), got(&part));
        let complement = || mask.structure().complement();
        assert!(made(mxm(&a, &a).mask(&m()).apply(Negate).mask(&complement()).apply(Identity)).is_empty());
        let top = apply(&all, Identity).mask(&m()).eval().unwrap();
        assert_eq!(made(mxm(&a, &a).apply(Negate).mask(&m()).top_k(1)), made(top_k(&top, 1)));
        // Written like any other result, and elsewhere left alone.
        let mut written = c.clone();
        mxm(&a, &a).mask(&m()).apply(Negate).into(&mut written).unwrap();
        assert_eq!(got(&written), got(&part));
        let (mut written, mut expected) = (c.clone(), c.clone());
        mxm(&a, &a).apply(Negate).mask(&m()).into(&mut written).unwrap();
        apply(&product, Negate).mask(&m()).into(&mut expected).unwrap();
        assert_eq!(got(&written), got(&expected));
        let told = |e: oplus::Result<()>| match e {
            Err(Error::InvalidValue { reason, .. }) => assert!(reason.contains("after the last step"), "{reason}"),
            other => panic!("{other:?}"),
        };
        let mut kept = c.clone();
        told(mxm(&a, &a).mask(&m()).replace().apply(Negate).into(&mut kept));
        told(mxm(&a, &a).apply(Negate).mask(&m()).replace().select(ValueGt, 0).into(&mut kept));
        told(ewise_add(&a, &c, Plus).mask(&m()).replace().apply(Negate).into(&mut kept));
        told(ewise_add(&a, &c, Plus).replace().ewise_mult(&c, Times).into(&mut kept));
        told(ewise_add(&a, &c, Plus).apply(Negate).replace().apply(Abs).into(&mut kept));
        assert_eq!(got(&kept), got(&c));
        mxm(&a, &a).apply(Negate).mask(&m()).replace().into(&mut kept).unwrap();
        assert_eq!(got(&kept), got(&part));
    });
}

/// A vector is stored as a row, but is none: a mask is of the result's kind.
#[test]
fn e14_masks_are_of_the_results_kind() {
    each(|d| {
        let line = [(0, 1), (2, 0)];
        let (v, row) = (vector(d, 3, &line), matrix(d, (1, 3), &[(0, 0, 1), (0, 2, 0)]));
        let square = matrix(d, (3, 3), &[(0, 0, 1), (1, 2, 2)]);
        let told = |found: oplus::Result<()>, operation: &str, result: &str, mask: &str| {
            let e = found.unwrap_err();
            assert!(matches!(e, oplus::Error::DimensionMismatch { .. }), "{e:?}");
            assert_eq!(e.to_string(), format!("{operation}: the result {result}, the mask {mask}: they do not fit"));
        };
        let (long, lying) = ("has length 3", "is 1×3");
        for mask in [v.structure(), v.as_mask(), v.structure().complement()] {
            told(apply(&row, Negate).mask(&mask).eval().map(drop), "apply", lying, long);
            told(mxm(&row, &square).mask(&mask).eval().map(drop), "mxm", lying, long);
            told(mxm(&row, &square).mask(&mask).reduce(Plus).map(drop), "mxm", lying, long);
            told(mxm(&row, &square).mask(&mask).plan().map(drop), "mxm", lying, long);
            told(mxm(&row, &square).apply(Negate).mask(&mask).eval().map(drop), "mxm", lying, long);
            told(mxm(&row, &square).mask(&mask).apply(Negate).eval().map(drop), "mxm", lying, long);
            told(ewise_add(&row, &row, Plus).mask(&mask).apply(Negate).eval().map(drop), "ewise_add", lying, long);
            let mut c = row.clone();
            told(assign(&row, .., ..).mask(&mask).into(&mut c), "assign", lying, long);
            told(subassign(&row, .., ..).mask(&mask).into(&mut c), "subassign", lying, long);
            told(transpose(&row.transposed()).mask(&mask).accumulate(Plus).into(&mut c), "transpose", lying, long);
            assert_eq!(got(&c), got(&row));
            // A line of a matrix is a vector.
            assert!(assign_row(&v, 0, ..).mask(&mask).into(&mut c).is_ok());
            assert!(subassign_column(&v, .., 1).mask(&mask).into(&mut square.clone()).is_ok());
        }
        for mask in [row.structure(), row.as_mask(), row.transposed().transposed().structure()] {
            told(apply(&v, Negate).mask(&mask).eval().map(drop), "apply", long, lying);
            told(mxv(&square, &v).mask(&mask).eval().map(drop), "mxv", long, lying);
            told(reduce_rows(&square, Plus).mask(&mask).eval().map(drop), "reduce_rows", long, lying);
            told(extract_row(&square, 0, ..).mask(&mask).eval().map(drop), "extract_row", long, lying);
            let mut w = v.clone();
            told(assign_vector(&v, ..).mask(&mask).into(&mut w), "assign_vector", long, lying);
            assert_eq!(w.entries().unwrap(), v.entries().unwrap());
            told(assign_row(&v, 0, ..).mask(&mask).into(&mut square.clone()), "assign_row", long, lying);
            told(assign_column(&v, .., 0).mask(&mask).into(&mut square.clone()), "assign_column", long, lying);
        }
    });
}
