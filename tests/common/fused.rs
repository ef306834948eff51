//! Products with what follows them, against the same step by step.
use oplus::prelude::*;
use quickcheck::{Arbitrary, Gen};

#[derive(Clone, Debug)]
pub struct Factors {
    pub a: Coo<f64>,
    pub b: Coo<f64>,
    pub mask: Coo<f64>,
    pub k: u64,
}

impl Arbitrary for Factors {
    fn arbitrary(g: &mut Gen) -> Self {
        let size = |g: &mut Gen| match u8::arbitrary(g) {
            0..12 => 0,
            12..24 => 1 << 40,
            n => n as u64 % 40 + 1,
        };
        let (m, n, k) = (size(g), size(g), size(g));
        let coo = |g: &mut Gen, m: u64, n: u64| {
            let count = if m == 0 || n == 0 { 0 } else { u64::arbitrary(g) % 250 };
            let mut coo = Coo::new(m, n);
            for _ in 0..count {
                let index = |g: &mut Gen, n: u64| u64::arbitrary(g) % n.min(40) * (n / n.min(40));
                let value = if u8::arbitrary(g) < 8 { f64::NAN } else { (i8::arbitrary(g) % 5) as f64 / 4.0 };
                coo.push(index(g, m), index(g, n), value);
            }
            coo
        };
        let (a, b, mask) = (coo(g, m, k), coo(g, k, n), coo(g, m, n));
        Self { a, b, mask, k: u64::arbitrary(g) % 6 }
    }
}

/// Entries with their values' bits.
pub fn bits<T: Scalar, S>(a: &Matrix<T, S>) -> String {
    format!("{:?} {:?}", a.shape(), a.entries().unwrap())
}

/// The k largest of each row, entry by entry.
pub fn largest(a: &Matrix<f64>, k: u64) -> Vec<(u64, u64, f64)> {
    let all = a.entries().unwrap();
    let ahead = |x: f64, y: f64| x > y || (!x.is_nan() && y.is_nan());
    let kept = |(i, j, v): &(u64, u64, f64)| {
        let before = |e: &&(u64, u64, f64)| e.0 == *i && (ahead(e.2, *v) || (!ahead(*v, e.2) && e.1 < *j));
        (all.iter().filter(before).count() as u64) < k
    };
    all.iter().filter(|e| kept(e)).copied().collect()
}

pub fn agrees(f: &Factors, device: &Device) {
    let on = |coo: &Coo<f64>| Matrix::<f64>::build_with(coo, Second).unwrap().to(device).unwrap();
    let (a, b, m) = (on(&f.a), on(&f.b), on(&f.mask));
    for mask in [None, Some(m.structure()), Some(m.structure().complement())] {
        let product = || match &mask {
            None => mxm(&a, &b),
            Some(mask) => mxm(&a, &b).mask(mask),
        };
        let c = product().eval().unwrap();
        let (k, t) = (f.k, f.k as f64 / 4.0 - 0.5);
        assert_eq!(format!("{:?}", top_k(&c, k).eval().unwrap().entries().unwrap()), format!("{:?}", largest(&c, k)));
        assert_eq!(bits(&product().top_k(k).eval().unwrap()), bits(&top_k(&c, k).eval().unwrap()));
        let (kept, positive) = (select(&c, ValueGt, t).eval().unwrap(), apply(&c, Abs).eval().unwrap());
        assert_eq!(bits(&product().select(ValueGt, t).eval().unwrap()), bits(&kept));
        assert_eq!(bits(&product().select(Tril, 1).eval().unwrap()), bits(&tril(&c, 1).eval().unwrap()));
        assert_eq!(bits(&product().apply(Abs).eval().unwrap()), bits(&positive));
        let columns = apply_index(&c, ColIndex, 3).eval().unwrap();
        assert_eq!(bits(&product().apply_index(ColIndex, 3).eval().unwrap()), bits(&columns));
        let less = apply_second(&c, Lt, t).eval().unwrap();
        assert_eq!(bits(&product().apply_second(Lt, t).eval().unwrap()), bits(&less));
        assert_eq!(
            bits(&product().apply_first(t, Minus).eval().unwrap()),
            bits(&apply_first(t, Minus, &c).eval().unwrap())
        );
        // One after the other, and written by mask and accumulator.
        let chain = || product().apply(Abs).select(ValueGe, 0.5).top_k(k);
        let steps = top_k(&select(&positive, ValueGe, 0.5).eval().unwrap(), k).eval().unwrap();
        assert_eq!(bits(&chain().eval().unwrap()), bits(&steps));
        assert_eq!(
            bits(&product().top_k(k + 1).apply_index(RowIndex, 0).eval().unwrap()),
            bits(&apply_index(&top_k(&c, k + 1).eval().unwrap(), RowIndex, 0).eval().unwrap())
        );
        let (mut fused, mut stepped) = (m.clone(), m.clone());
        chain().mask(&m).accumulate(Minus).into(&mut fused).unwrap();
        apply(&steps, Identity).mask(&m).accumulate(Minus).into(&mut stepped).unwrap();
        assert_eq!(bits(&fused), bits(&stepped));
    }
    // Scaled on the way in.
    let vector = |n: u64, step: u64| {
        let entries: Vec<_> = (0..40)
            .step_by(step as usize)
            .filter(|i| *i < n)
            .map(|i| (i * (n / n.min(40)), 0.5 * i as f64 - 3.0))
            .collect();
        Vector::<f64>::build(n, &entries).unwrap().to(device).unwrap()
    };
    let ((m1, k1), n1) = (a.shape(), b.shape().1);
    let (rows, inner, columns) = (vector(m1, 1), vector(k1, 3), vector(n1, 2));
    let scaled = || mxm(&a, &b).scale_rows(&rows, Minus).scale_inner(&inner, Times).scale_columns(&columns, Plus);
    let left = scale_columns(&scale_rows(&rows, &a, Minus).eval().unwrap(), &inner, Times).eval().unwrap();
    let right = scale_columns(&b, &columns, Plus).eval().unwrap();
    let c = mxm(&left, &right).eval().unwrap();
    assert_eq!(bits(&scaled().eval().unwrap()), bits(&c));
    assert_eq!(
        bits(&scaled().mask(&m).apply(Abs).eval().unwrap()),
        bits(&mxm(&left, &right).mask(&m).apply(Abs).eval().unwrap())
    );
    let (at, bt) = (a.transposed(), b.transposed());
    let t = mxm(&bt, &at).scale_rows(&columns, Second).scale_columns(&rows, First).eval().unwrap();
    let (left, right) =
        (scale_rows(&columns, &bt, Second).eval().unwrap(), scale_columns(&at, &rows, First).eval().unwrap());
    assert_eq!(bits(&t), bits(&mxm(&left, &right).eval().unwrap()));
    let c = mxm(&b, &a).transpose_a().transpose_b().eval().unwrap();
    let t = mxm(&b, &a).transpose_a().transpose_b().select(ValueLe, 0.25).eval().unwrap();
    assert_eq!(bits(&t), bits(&select(&c, ValueLe, 0.25).eval().unwrap()));
    let pairs = mxm(&a.over::<PlusPair>(), &b.over::<PlusPair>()).eval().unwrap();
    let pairs: Matrix<u64, PlusPair> = select(&pairs, ValueGt, 1u64).eval().unwrap();
    let fused: Matrix<u64, _> = mxm(&a.over::<PlusPair>(), &b.over()).select(ValueGt, 1u64).eval().unwrap();
    assert_eq!(bits(&fused), bits(&pairs));
}
