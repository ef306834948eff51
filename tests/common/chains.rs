//! Chains of element-wise operations against the same step by step.
use oplus::prelude::*;
use quickcheck::{Arbitrary, Gen};

#[derive(Clone, Debug)]
pub struct Operands {
    matrices: [Coo<f64>; 4],
    vectors: [Coo<f64>; 3],
}

impl Arbitrary for Operands {
    fn arbitrary(g: &mut Gen) -> Self {
        let size = |g: &mut Gen| match u8::arbitrary(g) {
            0..12 => 0,
            12..40 => 1 << 40,
            n => n as u64 % 30 + 1,
        };
        let (m, n) = (size(g), size(g));
        let coo = |g: &mut Gen, m: u64| {
            let count = if m == 0 || n == 0 { 0 } else { u64::arbitrary(g) % 200 };
            let mut coo = Coo::new(m, n);
            for _ in 0..count {
                let index = |g: &mut Gen, n: u64| u64::arbitrary(g) % n.min(30) * (n / n.min(30));
                coo.push(index(g, m), index(g, n), (i8::arbitrary(g) % 7) as f64 / 4.0);
            }
            coo
        };
        Self { matrices: std::array::from_fn(|_| coo(g, m)), vectors: std::array::from_fn(|_| coo(g, 1)) }
    }
}

fn same<T: Scalar>(chain: Result<Matrix<T>>, steps: Result<Matrix<T>>) {
    let (chain, steps) = (chain.unwrap(), steps.unwrap());
    assert_eq!((chain.shape(), chain.nvals()), (steps.shape(), steps.nvals()));
    assert_eq!(format!("{:?}", chain.entries().unwrap()), format!("{:?}", steps.entries().unwrap()));
}

pub fn agrees(o: &Operands, device: &Device) {
    let on = |coo: &Coo<f64>| Matrix::<f64>::build_with(coo, Second).unwrap().to(device).unwrap();
    let [a, b, c, m] = o.matrices.each_ref().map(on);
    let sum = || ewise_add(&a, &b, Minus);
    let s = sum().eval().unwrap();
    same(sum().apply(Abs).eval(), apply(&s, Abs).eval());
    same(sum().select(ValueGt, 0.5).eval(), select(&s, ValueGt, 0.5).eval());
    same(sum().ewise_mult(&c, Times).eval(), ewise_mult(&s, &c, Times).eval());
    same(sum().ewise_add(&c, Minus).eval(), ewise_add(&s, &c, Minus).eval());
    same(sum().apply_index(ColIndex, 1).eval(), apply_index(&s, ColIndex, 1).eval());
    same(sum().top_k(2).eval(), top_k(&s, 2).eval());
    let product = ewise_mult(&a, &b, Lt).eval().unwrap();
    same(ewise_mult(&a, &b, Lt).apply(Not).eval(), apply(&product, Not).eval());
    same(ewise_mult(&a, &b, Lt).ewise_mult(&c, Second).eval(), ewise_mult(&product, &c, Second).eval());
    let filled = ewise_union(&a, 2.0, &b, -1.0, Div).eval().unwrap();
    same(ewise_union(&a, 2.0, &b, -1.0, Div).apply_second(Max, 0.25).eval(), apply_second(&filled, Max, 0.25).eval());
    same(sum().ewise_union(5.0, &c, 0.5, Minus).eval(), ewise_union(&s, 5.0, &c, 0.5, Minus).eval());
    let (s, less) = (apply(&s, Abs).eval().unwrap(), || ewise_mult(&a, &b, Lt));
    same(
        sum().apply(Abs).ewise_union(-3.0, &c, 0.25, Div).select(ValueGt, 0.0).eval(),
        select(&ewise_union(&s, -3.0, &c, 0.25, Div).eval().unwrap(), ValueGt, 0.0).eval(),
    );
    // Of other types than it makes, and after one that fills up already.
    same(less().ewise_union(true, &c, 0.75, Second).eval(), ewise_union(&product, true, &c, 0.75, Second).eval());
    let twice =
        || ewise_union(&a, 2.0, &b, -1.0, Minus).ewise_union(4.0, &c, 8.0, Minus).ewise_union(1.0, &a, 2.0, Max);
    let steps = ewise_union(&a, 2.0, &b, -1.0, Minus).eval().unwrap();
    let steps = ewise_union(&steps, 4.0, &c, 8.0, Minus).eval().unwrap();
    same(twice().eval(), ewise_union(&steps, 1.0, &a, 2.0, Max).eval());
    // Many steps, transposed operands, masks before and after.
    let long = || {
        ewise_add(&a.transposed(), &b.transposed(), Plus)
            .ewise_mult(&c.transposed(), Minus)
            .apply(Negate)
            .ewise_add(&a.transposed(), Max)
            .select(ValueNe, 0.0)
            .apply_first(1.0, Minus)
    };
    let steps = ewise_add(&a, &b, Plus).eval().unwrap();
    let steps = apply(&ewise_mult(&steps, &c, Minus).eval().unwrap(), Negate).eval().unwrap();
    let steps = select(&ewise_add(&steps, &a, Max).eval().unwrap(), ValueNe, 0.0).eval().unwrap();
    let steps = transpose(&apply_first(1.0, Minus, &steps).eval().unwrap()).eval().unwrap();
    same(long().eval(), Ok(steps.clone()));
    let mt = transpose(&m).eval().unwrap();
    for mask in [mt.structure(), mt.as_mask(), mt.structure().complement()] {
        let (mut x, mut y) = (mt.clone(), mt.clone());
        long().mask(&mask).accumulate(Minus).into(&mut x).unwrap();
        apply(&steps, Identity).mask(&mask).accumulate(Minus).into(&mut y).unwrap();
        same(Ok(x), Ok(y));
        let masked = apply(&steps, Identity).mask(&mask).eval().unwrap();
        same(long().mask(&mask).apply(Abs).eval(), apply(&masked, Abs).eval());
        same(long().mask(&mask).ewise_add(&mt, Plus).eval(), ewise_add(&masked, &mt, Plus).eval());
    }
    let vector = |coo: &Coo<f64>| {
        let entries: Vec<_> = coo.columns.iter().copied().zip(coo.values.iter().copied()).collect();
        Vector::<f64>::build_with(coo.ncols, &entries, Second).unwrap().to(device).unwrap()
    };
    let [x, y, z] = o.vectors.each_ref().map(vector);
    let y = y.to_bitmap().unwrap();
    let steps = ewise_mult(&ewise_add(&x, &y, Plus).eval().unwrap(), &z, Times).eval().unwrap();
    let steps = select(&steps, ValueGe, 0.0).eval().unwrap();
    let chain = ewise_add(&x, &y, Plus).ewise_mult(&z, Times).select(ValueGe, 0.0).eval().unwrap();
    assert_eq!(chain.entries().unwrap(), steps.entries().unwrap());
}
