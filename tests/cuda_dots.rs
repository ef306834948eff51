//! Products on CUDA by a dot product for each entry of a mask, against the reference; and that it is dot products that run.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/shapes.rs"]
mod shapes;

use common::emulator;
use oplus::prelude::*;
use quickcheck::quickcheck;
use shapes::{Hop, Shape, Shortest, far_apart};

const GPU: Device = Device::Cuda(0);

/// A, B and a mask.
type Case<'a> = (&'a Shape, &'a Shape, &'a Shape);

/// How a product is asked for.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// B is given by columns.
    transposed: bool,
    /// Only the mask's entries that are true count.
    valued: bool,
}
const FORMS: [Form; 3] = [
    Form { transposed: false, valued: false },
    Form { transposed: true, valued: false },
    Form { transposed: false, valued: true },
];

fn mask_of(mask: &Shape, form: Form, device: &Device) -> Mask {
    let m = mask.matrix::<bool, PlusTimes>(|v| v % 3 != 0).to(device).unwrap();
    if form.valued { m.as_mask() } else { m.structure() }
}

/// The product by the strategy, and the kernels that ran.
fn product<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    (left, right, mask): Case,
    (a, b): (fn(u64) -> A, fn(u64) -> B),
    form: Form,
    strategy: Strategy,
    device: &Device,
) -> (Vec<(u64, u64, S::Out)>, Vec<String>) {
    let a = left.matrix::<A, S>(a).to(device).unwrap();
    let b = if form.transposed { right.turned().matrix::<B, S>(b) } else { right.matrix(b) }.to(device).unwrap();
    let mask = mask_of(mask, form, device);
    let operation = if form.transposed { mxm(&a, &b).transpose_b() } else { mxm(&a, &b) };
    let (c, trace) = operation.mask(&mask).strategy(strategy).traced().unwrap();
    let entries = c.entries().unwrap();
    assert_eq!(c.nvals(), entries.len() as u64);
    (entries, trace.kernels.into_iter().map(|k| k.name).collect())
}

/// Every form on the device equals the reference, and was made by dot products.
fn check<A: Scalar, B: Scalar, S: Semiring<A, B>>(case: Case, values: (fn(u64) -> A, fn(u64) -> B)) {
    for form in FORMS {
        let (expected, _) = product::<A, B, S>(case, values, form, Strategy::Auto, &Device::Reference);
        let (found, ran) = product::<A, B, S>(case, values, form, Strategy::Dot, &GPU);
        let what = (std::any::type_name::<S>(), form);
        assert!(found == expected, "{what:?}:\n{found:?}\n{expected:?}");
        let (a, b, m) = case;
        let work = [a, b, m].iter().all(|s| !s.places.is_empty());
        let others: Vec<_> = ran.iter().filter(|k| k.starts_with("spgemm_") && !k.starts_with("spgemm_dot")).collect();
        assert!(others.is_empty(), "{what:?}: {ran:?}");
        // A mask of values may have none that is true.
        if work && !form.valued {
            assert!(ran.iter().any(|k| k == "spgemm_dot"), "{what:?}: {ran:?}");
        }
    }
}

/// Semirings and scalars of every kind: native, a user's, positional, of constants, with a terminal value, keeping the first.
fn check_semirings(case: Case) {
    let signed: fn(u64) -> i64 = |v| v as i64 - 40;
    check::<i64, i64, PlusTimes>(case, (signed, signed));
    check::<f32, f32, MinPlus>(case, (|v| v as f32 / 8.0, |v| v as f32 - 50.0));
    check::<bool, bool, LorLand>(case, (|v| v > 50, |v| v > 30));
    check::<bool, bool, LxorLand>(case, (|v| v > 50, |v| v > 30));
    check::<f64, i32, PlusPair>(case, (|v| v as f64, |v| v as i32));
    check::<bool, i64, AnySecondI>(case, (|v| v > 50, signed));
    check::<i8, i8, MaxPlus>(case, (|v| v as i8, |v| v as i8 - 90));
    check::<bool, bool, AnyPair>(case, (|v| v > 50, |v| v > 30));
    check::<u64, u64, PlusTimes>(case, (|v| v, |v| v + 1));
    check::<u8, u8, PlusTimes>(case, (|v| v as u8, |v| v as u8));
    check::<i16, i16, MaxFirst>(case, (|v| v as i16, |v| v as i16));
    check::<c64, c64, PlusTimes>(case, (|v| c64::new(v as f64 / 7.0, 1.0), |v| c64::new(1.0, v as f64 / 3.0)));
    let hop: fn(u64) -> Hop = |v| Hop::make(v as f64 / 4.0, v % 3);
    check::<Hop, Hop, Shortest>(case, (hop, hop));
}

#[test]
fn unkind_structures() {
    let Some(_one) = emulator::alone() else { return };
    let n = 70;
    let some = |seed| Shape::random((n, n), 260, seed);
    let with = |seed, more: Vec<(u64, u64)>| Shape::new((n, n), some(seed).places.into_iter().chain(more));
    let dense_row = with(1, (0..n).map(|j| (9, j)).collect());
    let dense_column = with(2, (0..n).map(|i| (i, 11)).collect());
    let empty_rows = Shape::new((n, n), some(4).places.into_iter().filter(|e| e.0 % 9 == 0));
    let (empty, full) = (Shape::new((n, n), []), Shape::full((n, n)));
    let row_of_mask = with(5, (0..n).map(|j| (30, j)).collect());
    for (a, b, m) in [
        (&dense_row, &dense_column, &full),
        (&dense_column, &dense_row, &row_of_mask),
        (&empty_rows, &dense_row, &some(6)),
        (&some(7), &some(8), &empty_rows),
        (&full, &full, &some(9)),
        (&empty, &full, &full),
        (&full, &empty, &some(3)),
        (&some(1), &some(2), &empty),
    ] {
        check::<i64, i64, PlusTimes>((a, b, m), (|v| v as i64 - 40, |v| v as i64));
        check::<bool, i64, AnySecondI>((a, b, m), (|v| v > 50, |v| v as i64));
        check::<bool, bool, AnyPair>((a, b, m), (|v| v > 50, |v| v > 30));
    }
    // Columns that a place each would be too many for.
    let far = 4_000_000_000;
    let apart = |seed| Shape::new((n, far), some(seed).places.into_iter().map(|(i, j)| (i, j * 57_142_857)));
    check::<i64, i64, PlusTimes>((&some(7), &apart(8), &apart(9)), (|v| v as i64 - 40, |v| v as i64));
    for (m, k, p) in [(0, 4, 3), (3, 0, 3), (3, 4, 0), (1, 300, 1), (1, 1, 400), (400, 1, 1)] {
        let (a, b) = (Shape::random((m, k), 200, 3), Shape::random((k, p), 200, 4));
        let mask = Shape::random((m, p), 300, 5);
        check::<i64, i64, PlusTimes>((&a, &b, &mask), (|v| v as i64 - 40, |v| v as i64));
    }
}

#[test]
fn every_semiring() {
    let Some(_one) = emulator::alone() else { return };
    let (a, b) = (Shape::random((60, 300), 2500, 1), Shape::random((300, 90), 2000, 2));
    check_semirings((&a, &b, &Shape::random((60, 90), 700, 3)));
}

/// Lists of very different lengths, and of more places to look up than a warp takes on: blocks.
#[test]
fn long_lists() {
    let Some(_one) = emulator::alone() else { return };
    let k = 30_000;
    let long = (0..k).filter(|k| k % 3 != 1).map(|k| (1, k));
    let late = (0..5000).map(|e| (2, k - 1 - e * 2));
    let short = Shape::random((5, k), 60, 5).places.into_iter().filter(|e| e.0 != 1);
    let a = Shape::new((5, k), long.chain(late).chain(short));
    // The last column has nothing in common with row 2.
    let columns = (0..k).filter(|k| k % 2 == 0).map(|k| (k, 0)).chain((0..6000).map(|e| (e * 5, 1)));
    let b = Shape::new((k, 4), columns.chain((0..40).map(|e| (e * 700, 2))).chain((0..9000).map(|e| (e, 3))));
    let mask = Shape::full((5, 4));
    check_semirings((&a, &b, &mask));
    // Sums of floats show their order.
    check::<f64, f64, PlusTimes>((&a, &b, &mask), (|v| 1.0 / (v as f64 + 3.0), |v| 1.0 / (v as f64 + 7.0)));
    let value: fn(u64) -> f64 = |v| 1.0 / (v as f64 + 3.0);
    let (_, ran) = product::<f64, f64, PlusTimes>((&a, &b, &mask), (value, value), FORMS[0], Strategy::Dot, &GPU);
    assert!(ran.iter().any(|k| k == "spgemm_dot_long"), "{ran:?}");
    let (c, d) = (Shape::random((40, 300), 3000, 1), Shape::random((300, 40), 3000, 2));
    check::<f64, f64, PlusTimes>((&c, &d, &Shape::random((40, 40), 500, 3)), (value, value));
    let (_, ran) =
        product::<f64, f64, PlusTimes>((&c, &d, &mask_shape()), (value, value), FORMS[0], Strategy::Dot, &GPU);
    assert!(!ran.iter().any(|k| k == "spgemm_dot_long"), "{ran:?}");
}

fn mask_shape() -> Shape {
    Shape::random((40, 40), 500, 3)
}

/// Places are not their ids.
#[test]
fn listed_axes() {
    let Some(_one) = emulator::alone() else { return };
    let [a, b, m] = far_apart();
    check::<bool, i64, AnySecondI>((&a, &b, &m), (|v| v > 50, |v| v as i64));
    check::<i64, i64, PlusTimes>((&a, &b, &m), (|v| v as i64, |v| v as i64 - 30));
}

/// What becomes of the product: accumulated, replaced, reduced, from operands of one value, by a plan, again with kept columns.
#[test]
fn what_follows() {
    let Some(_one) = emulator::alone() else { return };
    let (left, right) = (Shape::random((50, 60), 600, 4), Shape::random((60, 50), 700, 5));
    let (mask, old) = (Shape::random((50, 50), 500, 6), Shape::random((50, 50), 300, 7));
    let on = |d: &Device, strategy| {
        let signed: fn(u64) -> i64 = |v| v as i64 - 20;
        let a = left.matrix::<i64, PlusTimes>(signed).to(d).unwrap();
        let b = right.matrix::<i64, PlusTimes>(signed).to(d).unwrap();
        let m = mask.matrix::<bool, PlusTimes>(|v| v % 3 != 0).to(d).unwrap();
        let mut all = Vec::new();
        for m in [m.as_mask(), m.structure()] {
            let product = || mxm(&a, &b).mask(&m).strategy(strategy);
            let mut c = old.matrix::<i64, PlusTimes>(signed).to(d).unwrap();
            product().accumulate(Plus).into(&mut c).unwrap();
            all.push(c.entries().unwrap());
            product().replace().into(&mut c).unwrap();
            all.push(c.entries().unwrap());
            let sums =
                [product().reduce(Plus).unwrap(), product().reduce(Min).unwrap(), product().reduce(Any).unwrap()];
            all.push(sums.iter().map(|s| (0, 0, *s)).collect());
            all.push(product().reproducible().eval().unwrap().entries().unwrap());
            let plan = product().plan().unwrap();
            all.push(plan.run(&a, &b).unwrap().entries().unwrap());
            // The second and the third time columns are there.
            (0..3).for_each(|_| all.push(product().eval().unwrap().entries().unwrap()));
        }
        // One value for all, stored once.
        let (one, other) = (a.with_value(3i64).unwrap(), b.with_value(-5i64).unwrap());
        let m = m.structure();
        for (x, y) in [(&one, &b), (&a, &other), (&one, &other)] {
            let made = mxm(x, y).mask(&m).strategy(strategy).eval().unwrap();
            all.push(made.entries().unwrap());
        }
        all.push(vec![(
            0,
            0,
            mxm(&one.over::<PlusPair>(), &b.over()).mask(&m).strategy(strategy).reduce(Plus).unwrap() as i64,
        )]);
        let nothing = Matrix::<bool>::new(50, 50).unwrap().to(d).unwrap().structure();
        all.push(vec![(0, 0, mxm(&a, &b).mask(&nothing).strategy(strategy).reduce(Plus).unwrap())]);
        all
    };
    let expected = on(&Device::Reference, Strategy::Auto);
    let found = on(&GPU, Strategy::Dot);
    for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "{k}");
    }
    assert_eq!(found.len(), expected.len());
}

/// Products under a mask of few entries are dot products by themselves, and say so; of many they are not.
#[test]
fn few_entries_are_dotted() {
    const N: u64 = 400;
    let Some(_one) = emulator::alone() else { return };
    let (left, right) = (Shape::random((N, N), 40_000, 4), Shape::random((N, N), 40_000, 5));
    let mut looks = 0;
    let mut on = |d: &Device, mask: &Shape, turned: bool| {
        let a = left.matrix::<i64, PlusTimes>(|v| v as i64).to(d).unwrap();
        let b = right.matrix::<i64, PlusTimes>(|v| v as i64 - 20).to(d).unwrap();
        let m = mask.matrix::<bool, PlusTimes>(|_| true).to(d).unwrap().structure();
        let product = || if turned { mxm(&a, &b).transpose_b().mask(&m) } else { mxm(&a, &b).mask(&m) };
        let (c, trace) = product().traced().unwrap();
        // What it costs is looked at once.
        let again = product().traced().unwrap().1;
        assert!(!again.kernels.iter().any(|k| k.name == "dot_costs"), "{again}");
        let explained = product().explain().unwrap().analysis;
        let sum = product().reduce(Plus).unwrap();
        let dots = trace.kernels.iter().any(|k| k.name == "spgemm_dot");
        assert_eq!(dots, *d == GPU && explained.strategy == "dot", "{trace}\n{explained:?}");
        looks += usize::from(trace.kernels.iter().any(|k| k.name == "dot_costs"));
        (c.entries().unwrap(), sum, dots)
    };
    for turned in [false, true] {
        // In rows of their own, few of them; in many rows; and most of all.
        let one_row = Shape::new((N, N), (0..N).map(|j| (7, j)));
        let cases =
            [(Shape::random((N, N), 800, 3), true), (one_row, turned), (Shape::random((N, N), 44_000, 3), false)];
        for (mask, dotted) in &cases {
            let (found, expected) = (on(&GPU, mask, turned), on(&Device::Cpu, mask, turned));
            assert_eq!((&found.0, found.1), (&expected.0, expected.1));
            assert_eq!(found.2, *dotted, "{} entries, turned {turned}", mask.places.len());
        }
    }
    assert!(looks > 0);
}

#[test]
fn asked_for_by_name_it_is_explained() {
    let Some(_one) = emulator::alone() else { return };
    let a = Shape::random((40, 40), 200, 4).matrix::<i64, PlusTimes>(|v| v as i64).to(&GPU).unwrap();
    let product = || mxm(&a, &a).strategy(Strategy::Dot);
    let explained = product().mask(&a.structure()).explain().unwrap();
    assert_eq!((explained.analysis.strategy, explained.analysis.bins.len()), ("dot", 1), "{explained}");
    assert!(explained.to_string().contains("dot was asked for"), "{explained}");
    let complement = a.structure().complement();
    for refused in [product().eval(), product().mask(&complement).eval()] {
        assert!(matches!(refused, Err(Error::InvalidValue { operation: "mxm", .. })), "{refused:?}");
    }
}

/// A limit is held to, by chunks of rows where it must be.
#[test]
fn within_a_limit() {
    let Some(_one) = emulator::alone() else { return };
    let (left, right) = (Shape::random((400, 80), 2000, 4), Shape::random((80, 300), 900, 5));
    let a = left.matrix::<i64, PlusTimes>(|v| v as i64).to(&GPU).unwrap();
    let b = right.matrix::<i64, PlusTimes>(|v| v as i64 - 9).to(&GPU).unwrap();
    let mask = Shape::random((400, 300), 40_000, 6).matrix::<bool, PlusTimes>(|_| true).to(&GPU).unwrap().structure();
    let product = || mxm(&a, &b).mask(&mask).strategy(Strategy::Dot);
    let (c, trace) = product().traced().unwrap();
    let (free, expected) = (trace.peak.unwrap(), c.entries().unwrap());
    let mut chunked = 0;
    for part in (1..10).rev() {
        let limit = free * part / 10;
        let (c, trace) = match product().memory_limit(limit).traced() {
            Ok(made) => made,
            Err(Error::OutOfMemory { .. }) => break,
            Err(e) => panic!("{e:?}"),
        };
        assert!(trace.peak.unwrap() <= limit, "{trace}");
        assert_eq!(c.entries().unwrap(), expected);
        chunked += usize::from(trace.kernels.iter().filter(|k| k.name == "spgemm_dot").count() > 1);
    }
    assert!(chunked > 0, "never in chunks");
    let refused = product().memory_limit(1000).eval();
    assert!(matches!(refused, Err(Error::OutOfMemory { .. })), "{refused:?}");
}

quickcheck! {
    fn random_products(m: u8, k: u8, n: u8, dense: u8, seed: u64) -> bool {
        let Some(_one) = emulator::alone() else { return true };
        if let Some(emulator) = emulator::emulator() {
            emulator.seed(seed);
        }
        let (m, k, n) = (u64::from(m) % 60, u64::from(k) % 90, u64::from(n) % 70);
        let dense = u64::from(dense) % 20 + 1;
        let (a, b) = (Shape::random((m, k), m * dense, seed), Shape::random((k, n), k * dense, seed ^ 1));
        let mask = Shape::random((m, n), m * (seed % 40), seed ^ 2);
        let case = (&a, &b, &mask);
        let signed: fn(u64) -> i64 = |v| v as i64 - 40;
        match seed % 4 {
            0 => check::<i64, i64, PlusTimes>(case, (signed, signed)),
            1 => check::<bool, i64, AnySecondI>(case, (|v| v > 50, signed)),
            2 => check::<Hop, Hop, Shortest>(case, (|v| Hop::make(v as f64, v % 5), |v| Hop::make(v as f64, 1))),
            _ => check::<bool, bool, LorLand>(case, (|v| v > 50, |v| v > 30)),
        }
        true
    }
}
