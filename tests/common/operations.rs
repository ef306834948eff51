//! Every operation on the device that the test binary names (`under_test`) against the reference, by quickcheck, over masks,
//! accumulators and replace.
use oplus::prelude::*;
use quickcheck::{Arbitrary, Gen, quickcheck};

#[derive(Clone, Debug)]
struct Case {
    m: u64,
    n: u64,
    k: u64,
    a: Vec<(u64, u64, i32)>,
    b: Vec<(u64, u64, i32)>,
    c: Vec<(u64, u64, i32)>,
    mask: Vec<(u64, u64, i32)>,
    complement: bool,
    valued: bool,
    replace: bool,
}

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        // Sizes up to 3 × the generator's size; now and then none at all, now and then dimensions beyond 2³².
        let dimension = |g: &mut Gen| match u8::arbitrary(g) {
            0..10 => 0,
            10..30 => 1,
            30..40 => 1 << 40,
            _ => u64::arbitrary(g) % 60 + 1,
        };
        let (m, n, k) = (dimension(g), dimension(g), dimension(g));
        let list = |g: &mut Gen, rows: u64, cols: u64| -> Vec<(u64, u64, i32)> {
            let count = if rows == 0 || cols == 0 { 0 } else { u64::arbitrary(g) % 200 };
            let index = |g: &mut Gen, n: u64| {
                if n > 1000 { (u64::arbitrary(g) % 40) * (n / 41) } else { u64::arbitrary(g) % n }
            };
            (0..count).map(|_| (index(g, rows), index(g, cols), i32::arbitrary(g) % 5)).collect()
        };
        Case {
            a: list(g, m, k),
            b: list(g, k, n),
            c: list(g, m, n),
            mask: list(g, m, n),
            complement: bool::arbitrary(g),
            valued: bool::arbitrary(g),
            replace: bool::arbitrary(g),
            m,
            n,
            k,
        }
    }
}

fn matrix<T: Scalar>(m: u64, n: u64, entries: &[(u64, u64, i32)], value: fn(i32) -> T, device: Device) -> Matrix<T> {
    let mut coo = Coo::new(m, n);
    entries.iter().for_each(|(i, j, v)| coo.push(*i, *j, value(*v)));
    Matrix::build_on(&coo, Second, &device).unwrap()
}

impl Case {
    fn mask_on(&self, device: Device) -> Mask {
        let m = matrix(self.m, self.n, &self.mask, |v| v, device);
        let mask = if self.valued { m.as_mask() } else { m.structure() };
        if self.complement { mask.complement() } else { mask }
    }
    /// The operation with and without mask and accumulator, written into C.
    fn all_ways<K, T>(
        &self,
        device: Device,
        operation: impl Fn() -> Operation<K>,
        c: &Matrix<T>,
    ) -> Vec<Vec<(u64, u64, T)>>
    where
        T: Number,
        K: Compute<Target = Matrix<T, PlusTimes>>,
    {
        let mut results = vec![operation().eval().unwrap().entries().unwrap()];
        results.push(operation().mask(&self.mask_on(device)).eval().unwrap().entries().unwrap());
        let replaced = |o: Operation<K>| if self.replace { o.replace() } else { o };
        let mut out = c.clone();
        replaced(operation()).into(&mut out).unwrap();
        results.push(out.entries().unwrap());
        let mut out = c.clone();
        replaced(operation().mask(&self.mask_on(device))).into(&mut out).unwrap();
        results.push(out.entries().unwrap());
        let mut out = c.clone();
        replaced(operation().mask(&self.mask_on(device))).accumulate(Minus).into(&mut out).unwrap();
        results.push(out.entries().unwrap());
        let mut out = c.clone();
        operation().accumulate(Plus).into(&mut out).unwrap();
        results.push(out.entries().unwrap());
        results
    }
    fn same<T: PartialEq>(&self, run: impl Fn(Device) -> T) -> bool {
        let same = crate::under_test().is_none_or(|device| run(device) == run(Device::Reference));
        if !same {
            eprintln!("differs: {self:?}");
        }
        same
    }
}

quickcheck! {
    fn products_agree(case: Case) -> bool {
        case.same(|d| {
            // Sums that no order changes: a GPU adds in any.
            let a = matrix(case.m, case.k, &case.a, |v| v as f64 * 0.5, d);
            let b = matrix(case.k, case.n, &case.b, |v| v as f64 * 0.25, d);
            let c = matrix(case.m, case.n, &case.c, |v| v as f64, d);
            let bt = transpose(&b).eval().unwrap();
            let at = transpose(&a).eval().unwrap();
            let mut all = case.all_ways(d, || mxm(&a, &b), &c);
            all.extend(case.all_ways(d, || mxm(&at, &bt).transpose_a().transpose_b(), &c));
            all
        })
    }
    fn semirings_agree(case: Case) -> bool {
        case.same(|d| {
            let a = matrix(case.m, case.k, &case.a, |v| v, d);
            let b = matrix(case.k, case.n, &case.b, |v| v, d);
            let mask = case.mask_on(d);
            let least = mxm(&a.over::<MinPlus>(), &b.over()).mask(&mask).eval().unwrap().entries().unwrap();
            let parent = mxm(&a.over::<AnySecondI>(), &b.over()).mask(&mask).eval().unwrap().entries().unwrap();
            let first = mxm(&a.over::<MaxFirst>(), &b.over()).eval().unwrap().entries().unwrap();
            let pair = mxm(&a.over::<PlusPair>(), &b.over()).mask(&mask).reduce(Plus).unwrap();
            (least, parent, first, pair)
        })
    }
    fn dots_are_rows(case: Case) -> bool {
        let Some(d) = crate::under_test() else { return true };
        let (a, b) = (matrix(case.m, case.k, &case.a, |v| v, d), matrix(case.k, case.n, &case.b, |v| v, d));
        let mask = matrix(case.m, case.n, &case.mask, |v| v, d).structure();
        let by = |s| mxm(&a, &b).mask(&mask).strategy(s).eval().unwrap().entries().unwrap();
        by(Strategy::Dot) == by(Strategy::Hash)
    }
    fn vectors_agree(case: Case) -> bool {
        case.same(|d| {
            let a = matrix(case.m, case.k, &case.a, |v| v, d);
            let column = |entries: &[(u64, u64, i32)], n: u64, by_row: bool| -> Vector<i32> {
                let list: Vec<_> = entries.iter().map(|(i, j, v)| (if by_row { *i } else { *j }, *v)).collect();
                Vector::build_with(n, &list, Plus).unwrap().to(&d).unwrap()
            };
            let (x, y, m) = (column(&case.b, case.k, true), column(&case.c, case.m, true), column(&case.mask, case.m, true));
            let mask = if case.complement { m.structure().complement() } else { m.as_mask() };
            let mut out = y.clone();
            mxv(&a, &x).mask(&mask).accumulate(Minus).into(&mut out).unwrap();
            [mxv(&a, &x).eval(), mxv(&a, &y).transpose().eval(), vxm(&y, &a).eval(), vxm(&x, &a).transpose().mask(&mask).eval(), Ok(out)]
                .map(|v| v.unwrap().entries().unwrap())
        })
    }
    fn elementwise_agree(case: Case) -> bool {
        case.same(|d| {
            let a = matrix(case.m, case.n, &case.mask, |v| v, d);
            let b = matrix(case.m, case.n, &case.c, |v| v, d);
            let c = matrix(case.m, case.n, &case.c, |v| v + 1, d);
            let mut all = case.all_ways(d, || ewise_add(&a, &b, Minus), &c);
            all.extend(case.all_ways(d, || ewise_mult(&a, &b, Div), &c));
            all.extend(case.all_ways(d, || apply(&a, Negate), &c));
            all.extend(case.all_ways(d, || apply_first(7, Minus, &a), &c));
            all.extend(case.all_ways(d, || select(&a, Tril, 1), &c));
            all.extend(case.all_ways(d, || select(&a, ValueGt, 0), &c));
            all
        })
    }
    fn reductions_agree(case: Case) -> bool {
        case.same(|d| {
            let a = matrix(case.m, case.n, &case.c, |v| v, d);
            let rows = reduce_rows(&a, Plus).eval().unwrap().entries().unwrap();
            let columns = reduce_rows(&a, Min).transpose_a().eval().unwrap().entries().unwrap();
            (rows, columns, reduce(&a, Max).unwrap(), transpose(&a).eval().unwrap().entries().unwrap())
        })
    }
    fn rows_and_elements_agree(case: Case) -> bool {
        case.same(|d| {
            let a = matrix(case.m, case.n, &case.c, |v| v, d);
            let rows: Vec<u64> = case.c.iter().map(|e| e.0).take(20).collect();
            let taken = extract_rows(&a, &rows).eval().unwrap().entries().unwrap();
            let met: Vec<_> = case.mask.iter().map(|e| a.get(e.0, e.1).unwrap()).collect();
            (taken, met)
        })
    }
    fn build_folds_in_input_order(case: Case) -> bool {
        case.same(|d| {
            let mut coo = Coo::new(case.m, case.n);
            case.c.iter().chain(&case.mask).for_each(|(i, j, v)| coo.push(*i, *j, *v));
            Matrix::<i32>::build_on(&coo, Minus, &d).unwrap().entries().unwrap()
        })
    }
}

/// E1 to E6: all combinations of replace, accumulator, and where c, t and m have an entry.
#[test]
fn the_write_rule_in_full() {
    for device in crate::under_test().into_iter().chain([Device::Reference]) {
        for bits in 0..32u32 {
            let [replace, accumulate, c, t, m] = [0, 1, 2, 3, 4].map(|b| bits >> b & 1 != 0);
            let one = |there: bool, v: i32| -> Matrix<i32> {
                let list = if there { vec![(0, 0, v)] } else { vec![] };
                Matrix::build(1, 1, &list).unwrap().to(&device).unwrap()
            };
            let mut out = one(c, 10);
            let operation = apply(&one(t, 3), Identity).mask(&one(m, 1));
            let operation = if replace { operation.replace() } else { operation };
            if accumulate { operation.accumulate(Minus).into(&mut out) } else { operation.into(&mut out) }.unwrap();
            let z = match (c, t) {
                (true, true) if accumulate => Some(7),
                (_, true) => Some(3),
                (true, false) if accumulate => Some(10),
                _ => None,
            };
            let expected = if m {
                z
            } else if replace {
                None
            } else {
                c.then_some(10)
            };
            assert_eq!(out.get(0, 0).unwrap(), expected, "{device}, {bits:05b}");
        }
    }
}
