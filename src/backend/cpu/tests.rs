//! The CPU against the reference, through the public operations. Limits of work are small in tests, so that small
//! operands meet every path: many blocks, rows cut by columns, hashed and scattered rows, searches in dots.
// Not all bodies of operators need what the macros import.
#![allow(unused_imports)]
use crate::algebra::scalar::same as bits_alike;
use crate::prelude::*;
use quickcheck::{Arbitrary, Gen, quickcheck};

/// Small numbers that repeat: sums cancel, minima tie, integers wrap.
trait Sample: Scalar {
    fn sample(g: &mut Gen) -> Self;
}
macro_rules! sample { ($($t:ty: $values:expr;)*) => {$(
    impl Sample for $t { fn sample(g: &mut Gen) -> Self { *g.choose(&$values).unwrap() } }
)*} }
sample! {
    bool: [true, true, false];
    i8: [0, 1, -1, 3, 100, i8::MIN, i8::MAX];
    u32: [0, 1, 2, 7, u32::MAX];
    u64: [0, 1, u64::MAX];
    i64: [0, 1, -1, 5, i64::MIN, i64::MAX];
    f32: [0.0, -0.0, 1.5, -2.25, 1e30, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.1];
    f64: [0.0, -0.0, 0.1, 0.2, 0.3, -0.7, 1e16, 3.0];
    c64: [c64::new(0.0, 0.0), c64::new(-0.0, -0.0), c64::new(-0.0, 1.0), c64::new(0.1, 0.2), c64::new(-1e16, 0.3), c64::new(3.0, -0.7)];
}

/// Shapes and shared choices of one case.
#[derive(Clone, Debug)]
struct Case {
    m: u64,
    k: u64,
    n: u64,
    seed: Vec<u16>,
    threads: usize,
}
impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut size = || *g.choose(&[0, 1, 2, 5, 17, 40, 90, 200]).unwrap();
        let (m, k, n) = (size(), size(), size());
        Case { m, k, n, seed: Vec::arbitrary(g), threads: 1 + usize::arbitrary(g) % 4 }
    }
}

/// Triplets, duplicates among them; now and then one row or column is full.
fn triplets<T: Sample>(g: &mut Gen, nrows: u64, ncols: u64) -> Coo<T> {
    let mut coo = Coo::new(nrows, ncols);
    if nrows == 0 || ncols == 0 {
        return coo;
    }
    let many = *g.choose(&[0, 1, 1, 3, 6]).unwrap() * (nrows + ncols);
    for _ in 0..many {
        coo.push(u64::arbitrary(g) % nrows, u64::arbitrary(g) % ncols, T::sample(g));
    }
    let (row, column) = (u64::arbitrary(g) % nrows, u64::arbitrary(g) % ncols);
    if u8::arbitrary(g) % 3 == 0 {
        (0..ncols).for_each(|j| coo.push(row, j, T::sample(g)));
    }
    if u8::arbitrary(g) % 3 == 0 {
        (0..nrows).for_each(|i| coo.push(i, column, T::sample(g)));
    }
    coo
}

/// The same matrix on both backends; built twice, so that build is compared as well.
fn both<T: Sample, S>(g: &mut Gen, nrows: u64, ncols: u64) -> [Matrix<T, S>; 2] {
    let coo = triplets::<T>(g, nrows, ncols);
    let on = |device| Matrix::<T, S>::build_on(&coo, Any, &device).unwrap();
    let pair = [on(Device::Cpu), on(Device::Reference)];
    same(&pair[0], &pair[1]);
    pair
}
fn both_vectors<T: Sample, S>(g: &mut Gen, n: u64) -> [Vector<T, S>; 2] {
    let coo = triplets::<T>(g, 1, n);
    let entries: Vec<(u64, T)> = coo.columns.iter().copied().zip(coo.values.iter().copied()).collect();
    let x = Vector::<T, S>::build_with(n, &entries, Any).unwrap();
    [x.clone(), x.to(&Device::Reference).unwrap()]
}

/// Equal to the bit, or as Debug prints them: that tells −0 from 0 and prints the shortest text that names a float.
fn same<T: Scalar, S, R>(cpu: &Matrix<T, S>, reference: &Matrix<T, R>) {
    assert_eq!(cpu.shape(), reference.shape());
    let (cpu, reference) = (cpu.entries().unwrap(), reference.entries().unwrap());
    let alike = |(x, y): (&(u64, u64, T), &(u64, u64, T))| (x.0, x.1) == (y.0, y.1) && bits_alike(x.2, y.2);
    if cpu.len() != reference.len() || !cpu.iter().zip(&reference).all(alike) {
        assert_eq!(format!("{cpu:?}"), format!("{reference:?}"));
    }
}
fn same_vector<T: Scalar, S, R>(cpu: &Vector<T, S>, reference: &Vector<T, R>) {
    let (a, b) = (cpu.entries().unwrap(), reference.entries().unwrap());
    assert_eq!((cpu.len(), format!("{a:?}")), (reference.len(), format!("{b:?}")));
}

fn on_threads<R: Send>(case: &Case, f: impl FnOnce(&mut Gen) -> R + Send) -> R {
    let size = case.seed.len().max(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(case.threads).build().unwrap();
    // Gen seeds itself; cases of one run differ by it.
    pool.install(|| f(&mut Gen::new(size)))
}

/// Every way to ask for one product.
/// `exact`: the sums of `reduce` are the same in any grouping.
fn products<A: Sample, B: Sample, S: Semiring<A, B>>(case: &Case, reduce: impl Monoid<S::Out>, exact: bool)
where
    S::Out: Sample,
{
    on_threads(case, |g| {
        let (ta, tb) = (bool::arbitrary(g), bool::arbitrary(g));
        let (m, k, n) = (case.m, case.k, case.n);
        let a = both::<A, S>(g, if ta { k } else { m }, if ta { m } else { k });
        let b = both::<B, S>(g, if tb { n } else { k }, if tb { k } else { n });
        let masks = both::<bool, S>(g, m, n);
        let c = both::<S::Out, S>(g, m, n);
        for (kind, complement) in [(0, false), (1, false), (1, true), (2, false), (2, true)] {
            let asked = |d: usize, strategy: Strategy| {
                let mut p = mxm(&a[d], &b[d]).strategy(strategy);
                if ta {
                    p = p.transpose_a();
                }
                if tb {
                    p = p.transpose_b();
                }
                let mask = if kind == 1 { masks[d].structure() } else { masks[d].as_mask() };
                if kind > 0 {
                    p = p.mask(&if complement { mask.complement() } else { mask });
                }
                p
            };
            let run = |d: usize, strategy: Strategy, (into, replace): (bool, bool)| -> Matrix<S::Out, S> {
                let p = if replace { asked(d, strategy).replace() } else { asked(d, strategy) };
                if into {
                    let mut c = c[d].clone();
                    p.into(&mut c).unwrap();
                    return c;
                }
                p.eval().unwrap()
            };
            let sum = |d: usize, strategy: Strategy| format!("{:?}", asked(d, strategy).reduce(reduce).unwrap());
            // The reference goes one way, whatever the strategy.
            let ways = [(false, false), (true, false), (true, true)];
            let expected = ways.map(|way| run(1, Strategy::Auto, way));
            let expected_sum = exact.then(|| sum(1, Strategy::Auto));
            // Positions first, then values, by one thread and by several; the smallest limits suffice for few.
            let limited = |d: usize, strategy: Strategy| {
                for limit in [2_000, 16_000, 1 << 24] {
                    match asked(d, strategy).memory_limit(limit).eval() {
                        Ok(made) => same(&made, &expected[0]),
                        Err(e) => assert!(matches!(e, Error::OutOfMemory { .. }) && limit < 1 << 24, "{e}"),
                    }
                }
            };
            limited(1, Strategy::Auto);
            for strategy in [Strategy::Auto, Strategy::Hash, Strategy::Dot] {
                if strategy == Strategy::Dot && (kind == 0 || complement) {
                    continue;
                }
                ways.iter().zip(&expected).for_each(|(way, expected)| same(&run(0, strategy, *way), expected));
                limited(0, strategy);
                if let Some(expected) = &expected_sum {
                    assert_eq!(&sum(0, strategy), expected);
                }
            }
        }
        let x = both_vectors::<B, S>(g, k);
        let marks = both_vectors::<bool, S>(g, m);
        for complement in [None, Some(false), Some(true)] {
            let run = |d: usize| {
                let mut p = mxv(&a[d], &x[d]);
                if ta {
                    p = p.transpose();
                }
                if let Some(complement) = complement {
                    let mask = marks[d].structure();
                    p = p.mask(&if complement { mask.complement() } else { mask });
                }
                p.eval().unwrap()
            };
            same_vector(&run(0), &run(1));
        }
        let x = both_vectors::<A, S>(g, k);
        let marks = both_vectors::<bool, S>(g, n);
        for complement in [None, Some(false), Some(true)] {
            let run = |d: usize| {
                let mut p = vxm(&x[d], &b[d]);
                if tb {
                    p = p.transpose();
                }
                if let Some(complement) = complement {
                    let mask = marks[d].structure();
                    p = p.mask(&if complement { mask.complement() } else { mask });
                }
                p.eval().unwrap()
            };
            same_vector(&run(0), &run(1));
        }
        // The first products of a full vector are by rows, later ones by columns that are kept; values with the pattern or one for all.
        let all: Vec<(u64, A)> = (0..k).map(|i| (i, A::sample(g))).collect();
        let value = B::sample(g);
        let x: [Vector<A, S>; 2] =
            [Device::Cpu, Device::Reference].map(|d| Vector::build_on(k, &all, Any, &d).unwrap());
        for one in [false, true] {
            let run = |d: usize| {
                let mut p = b[d].clone();
                if one {
                    p = apply_second(&p, Second, value).eval().unwrap();
                }
                let mut p = vxm(&x[d], &p);
                if tb {
                    p = p.transpose();
                }
                p.eval().unwrap()
            };
            let expected = run(1);
            (0..3).for_each(|_| same_vector(&run(0), &expected));
        }
    });
}

quickcheck! {
    fn plus_times_f64(case: Case) -> () { products::<f64, f64, PlusTimes>(&case, Plus, false) }
    fn plus_times_i8(case: Case) -> () { products::<i8, i8, PlusTimes>(&case, Plus, true) }
    fn min_plus_f32(case: Case) -> () { products::<f32, f32, MinPlus>(&case, Min, false) }
    fn min_plus_i64(case: Case) -> () { products::<i64, i64, MinPlus>(&case, Max, true) }
    fn max_min_u32(case: Case) -> () { products::<u32, u32, MaxMin>(&case, Min, true) }
    fn lor_land(case: Case) -> () { products::<bool, bool, LorLand>(&case, Lxor, true) }
    fn lxor_land(case: Case) -> () { products::<bool, bool, LxorLand>(&case, Lor, true) }
    fn plus_pair(case: Case) -> () { products::<f64, bool, PlusPair>(&case, Plus, true) }
    fn any_pair(case: Case) -> () { products::<bool, f32, AnyPair>(&case, Land, true) }
    fn any_secondi(case: Case) -> () { products::<bool, bool, AnySecondI>(&case, Plus, true) }
    fn max_firsti(case: Case) -> () { products::<bool, f64, Compose<Max, FirstI>>(&case, Plus, true) }
    fn max_secondj(case: Case) -> () { products::<i64, bool, Compose<Min, SecondJ>>(&case, Plus, true) }
    fn plus_second(case: Case) -> () { products::<bool, f64, PlusSecond>(&case, Max, true) }
    fn min_first(case: Case) -> () { products::<i64, bool, MinFirst>(&case, Any, true) }


    fn entry_wise_f64(case: Case) -> () { entry_wise::<f64>(&case, Plus, Minus, 0.15) }
    fn entry_wise_f32(case: Case) -> () { entry_wise::<f32>(&case, Min, Div, -1.0) }
    fn entry_wise_i8(case: Case) -> () { entry_wise::<i8>(&case, Times, Minus, 1) }

    /// Wide rows with few entries and huge dimensions go the same ways.
    fn hypersparse(case: Case) -> () {
        on_threads(&case, |g| {
            let n = u64::MAX - 7;
            let far = |i: u64| i * 0x0123_4567_89ab_cdef % n;
            let mut coo = Coo::<i64>::new(n, n);
            (0..case.m).for_each(|_| coo.push(far(u64::arbitrary(g) % 9), far(u64::arbitrary(g) % 9), i64::sample(g)));
            let on = |device| Matrix::<i64>::build_on(&coo, Plus, &device).unwrap();
            let (a, r) = (on(Device::Cpu), on(Device::Reference));
            same(&a.mxm(&a).unwrap(), &r.mxm(&r).unwrap());
            let (p, q) = (a.over::<MaxSecondI>(), r.over::<MaxSecondI>());
            same(&mxm(&p, &p).mask(&a.structure()).eval().unwrap(), &mxm(&q, &q).mask(&r.structure()).eval().unwrap());
            same(&ewise_add(&a, &transpose(&a).eval().unwrap(), Plus).eval().unwrap(),
                &ewise_add(&r, &transpose(&r).eval().unwrap(), Plus).eval().unwrap());
        })
    }

    /// The duplicate that is reported is the second entry met first.
    fn refused_duplicate(case: Case) -> bool {
        on_threads(&case, |g| {
            let coo = triplets::<i64>(g, case.m, case.n);
            let mut seen = std::collections::HashSet::new();
            let second = coo.rows.iter().zip(&coo.columns).position(|e| !seen.insert(e));
            match (Matrix::<i64>::from_coo(&coo), second) {
                (Ok(_), None) => true,
                (Err(Error::DuplicateEntry { position, .. }), Some(e)) => position == e as u64,
                _ => false,
            }
        })
    }

    /// Floating reductions, the only sums that are cut, do not depend on the threads.
    fn reductions_ignore_threads(case: Case) -> bool {
        let a = both::<f64, PlusTimes>(&mut Gen::new(50), case.m, case.n);
        let b = transpose(&a[0]).eval().unwrap();
        let sums = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (reduce(&a[0], Plus).unwrap().to_bits(), mxm(&a[0], &b).reduce(Plus).unwrap().to_bits()))
        };
        sums(1) == sums(2) && sums(2) == sums(5)
    }
}

/// Of a bit matrix, whether both products of a value add nothing is seen by all of its bytes.
#[test]
fn products_of_complex_numbers() {
    let twice = |case: Case| {
        products::<c64, c64, PlusTimes>(&case, Plus, false);
        products::<c64, bool, PlusFirst>(&case, Times, false);
    };
    quickcheck::QuickCheck::new().tests(15).quickcheck(twice as fn(Case));
}

/// Everything that is not a product.
fn entry_wise<T: Sample + Number>(
    case: &Case,
    add: impl Monoid<T, Out = T>,
    multiply: impl BinaryOp<T, T, Out = T>,
    thunk: T,
) {
    on_threads(case, |g| {
        let (a, b) = (both::<T, PlusTimes>(g, case.m, case.n), both::<T, PlusTimes>(g, case.m, case.n));
        let (c, masks) = (both::<T, PlusTimes>(g, case.m, case.n), both::<bool, PlusTimes>(g, case.m, case.n));
        let rows: Vec<u64> = (0..case.k).filter(|_| case.m > 0).map(|_| u64::arbitrary(g) % case.m.max(1)).collect();
        let each = |f: &dyn Fn(usize) -> Matrix<T>| same(&f(0), &f(1));
        each(&|d| ewise_add(&a[d], &b[d], multiply).eval().unwrap());
        each(&|d| ewise_mult(&a[d], &b[d], multiply).eval().unwrap());
        each(&|d| transpose(&a[d]).eval().unwrap());
        each(&|d| select(&a[d], ValueGt, thunk).eval().unwrap());
        for k in [-3, 0, 20, i64::MIN, i64::MAX] {
            each(&|d| select(&a[d], Tril, k).eval().unwrap());
            each(&|d| select(&a[d], Triu, k).eval().unwrap());
            each(&|d| select(&a[d], Diag, k).eval().unwrap());
            each(&|d| select(&a[d], ColLe, k).eval().unwrap());
            each(&|d| select(&a[d], ColGt, k).eval().unwrap());
        }
        each(&|d| apply_second(&a[d], multiply, thunk).eval().unwrap());
        each(&|d| extract_rows(&a[d], &rows).eval().unwrap());
        same(&apply_index(&a[0], DiagIndex, 2).eval().unwrap(), &apply_index(&a[1], DiagIndex, 2).eval().unwrap());
        let (i, j) = (u64::arbitrary(g) % (case.m + 1), u64::arbitrary(g) % (case.n + 1));
        each(&|d| extract(&a[d], i..case.m, j / 2..j).eval().unwrap());
        let tiles = |d: usize| split(&a[d], &[i, case.m - i], &[j, case.n - j]).unwrap();
        (0..4).for_each(|k| each(&|d| tiles(d).remove(k / 2).remove(k % 2)));
        each(&|d| {
            let tiles = tiles(d);
            concat(&tiles.iter().map(|row| row.iter().collect::<Vec<_>>()).collect::<Vec<_>>()).unwrap()
        });
        let few = both::<T, PlusTimes>(g, 2, 1 + case.k % 4);
        each(&|d| kronecker(&a[d], &few[d], multiply).eval().unwrap());
        for (structural, complement, replace) in (0..8).map(|bits: u8| (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)) {
            let mask = |d: usize| {
                let mask: Mask = if structural { masks[d].structure() } else { masks[d].as_mask() };
                if complement { mask.complement() } else { mask }
            };
            each(&|d| {
                let mut c = c[d].clone();
                let op = apply(&a[d], Negate).mask(&mask(d));
                if replace { op.replace().into(&mut c) } else { op.into(&mut c) }.unwrap();
                c
            });
            each(&|d| {
                let mut c = c[d].clone();
                let op = apply(&a[d], Abs).mask(&mask(d)).accumulate(multiply);
                if replace { op.replace().into(&mut c) } else { op.into(&mut c) }.unwrap();
                c
            });
        }
        each(&|d| {
            let mut c = c[d].clone();
            apply(&a[d], Abs).accumulate(multiply).into(&mut c).unwrap();
            c
        });
        same_vector(&reduce_rows(&a[0], add).eval().unwrap(), &reduce_rows(&a[1], add).eval().unwrap());
        // Of one value for all entries, how many there are is all that counts.
        let alike = |d: usize| apply_second(&a[d], Second, thunk).eval().unwrap();
        same_vector(&reduce_rows(&alike(0), add).eval().unwrap(), &reduce_rows(&alike(1), add).eval().unwrap());
        same_vector(&reduce_rows(&alike(0), Times).eval().unwrap(), &reduce_rows(&alike(1), Times).eval().unwrap());
        if size_of::<T>() < 4 {
            let sums = |d: usize| (reduce_stored(&alike(d), add).unwrap(), reduce(&alike(d), Times).unwrap());
            assert_eq!(format!("{:?}", sums(0)), format!("{:?}", sums(1)));
        }
        let (x, y) = (both_vectors::<T, PlusTimes>(g, case.n * 3), both_vectors::<T, PlusTimes>(g, case.n * 3));
        let marks = both_vectors::<bool, PlusTimes>(g, case.n * 3);
        let vectors = |f: &dyn Fn(usize) -> Vector<T>| same_vector(&f(0), &f(1));
        vectors(&|d| ewise_add(&x[d], &y[d], multiply).eval().unwrap());
        vectors(&|d| ewise_mult(&x[d], &y[d], multiply).eval().unwrap());
        vectors(&|d| select(&x[d], ValueLe, thunk).eval().unwrap());
        each(&|d| diag(&x[d], 0).eval().unwrap());
        vectors(&|d| {
            let mut y = y[d].clone();
            apply(&x[d], Negate).mask(&marks[d].structure().complement()).accumulate(multiply).into(&mut y).unwrap();
            y
        });
    });
}

/// Room that is refused is an error, not an abort: 2⁶¹ products bound the size, the blocks need little. And where fewer
/// entries were expected, all are there.
#[test]
fn late_placement_without_room() {
    use super::assemble::{Size, assemble};
    use super::blocks::Block;
    use super::rows::Rows;
    let blocks: Vec<Block> = (0..50).map(|r| Block { rows: r..r + 1, columns: 0..9, whole: true }).collect();
    let kernel = |block: &Block, rows: &mut Rows<u32>, _: &mut ()| {
        for c in 0..block.rows.start as u32 % 9 {
            rows.reserve("test", 1)?;
            // SAFETY: room was reserved just now.
            unsafe { rows.push_unchecked(c, c + 1) };
        }
        rows.end_row();
        Ok(())
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let made = |size: Size| pool.install(|| assemble::<u32, ()>("test", (50, 9), size, &blocks, &kernel)).unwrap();
    let roomy = made(450.into());
    for other in [Size::from(u64::MAX / 8), Size { most: 450, likely: 0 }, Size { most: 450, likely: 50 }] {
        let other = made(other);
        assert_eq!((&roomy.pattern, &roomy.values), (&other.pattern, &other.values));
    }
    assert!(roomy.pattern.validate("test", roomy.values.len()).is_ok());
}

/// Minima and maxima of floats by their definition, bit by bit: NaN omitted, −0 below +0.
#[test]
fn least_and_greatest_of_floats() {
    let values = [0.0, -0.0, 1.5, -2.25, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE];
    for (x, y) in values.into_iter().flat_map(|x| values.map(|y| (x, y))) {
        let (least, greatest) = match (x.is_nan(), y.is_nan()) {
            (true, _) => (y, y),
            (_, true) => (x, x),
            _ if x.total_cmp(&y).is_le() => (x, y),
            _ => (y, x),
        };
        let bits = (x.least(y).to_bits(), x.greatest(y).to_bits());
        assert_eq!(bits, (least.to_bits(), greatest.to_bits()), "{x} {y}");
        let (x, y) = (x as f32, y as f32);
        let bits = (x.least(y).to_bits(), x.greatest(y).to_bits());
        assert_eq!(bits, ((least as f32).to_bits(), (greatest as f32).to_bits()), "{x} {y}");
    }
}

/// ∨ that counts how often it is applied.
#[derive(Clone, Copy, Debug)]
struct CountedLor;
static APPLIED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
impl BinaryOp<bool, bool> for CountedLor {
    type Out = bool;
    const TEXT: OperatorText = <Lor as BinaryOp<bool, bool>>::TEXT;
    fn apply(x: bool, y: bool) -> bool {
        APPLIED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        x || y
    }
}
impl Monoid<bool> for CountedLor {
    fn identity() -> bool {
        false
    }
    fn terminal() -> Terminal<bool> {
        Terminal::Value(true)
    }
}

#[test]
fn reductions_end_where_the_sum_is_final() {
    let n = 1 << 16;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for (first_true, most) in [(0, 64), (10, 128), (n, n)] {
        let entries: Vec<(u64, bool)> = (0..n).map(|i| (i, i >= first_true)).collect();
        let x: Vector<bool> = Vector::build(n, &entries).unwrap();
        APPLIED.store(0, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(pool.install(|| reduce(&x, CountedLor)).unwrap(), first_true < n);
        let applied = APPLIED.load(std::sync::atomic::Ordering::Relaxed) as u64;
        // Two threads may each have begun a piece, and what both left is added up.
        assert!(applied <= most, "{applied} of {n} for the first true at {first_true}");
    }
    let x: Vector<i64> = Vector::build(n, &(0..n).map(|i| (i, 7 + i as i64)).collect::<Vec<_>>()).unwrap();
    assert_eq!(pool.install(|| reduce(&x, Any)).unwrap(), 7);
    let x: Vector<i64> =
        Vector::build(n, &(0..n).map(|i| (i, if i == n / 2 { i64::MIN } else { 1 })).collect::<Vec<_>>()).unwrap();
    assert_eq!(pool.install(|| reduce(&x, Min)).unwrap(), i64::MIN);
}

crate::semiring! {
    /// The smallest of products that are not negative: −0 ends it, 0 does not.
    struct LeastOfZeros[](f64, f64) -> f64;
    identity = f64::INFINITY;
    terminal = -0.0;
    add = |x, y| (min(x, y));
    multiply = |x, _, _| (x);
}
crate::semiring! {
    /// A sum that nothing brings back from NaN.
    struct SumToNan[](f64, f64) -> f64;
    identity = 0.0;
    terminal = f64::NAN;
    add = |x, y| (add(x, y));
    multiply = |x, _, _| (x);
}

#[test]
fn sums_are_final_by_their_bits() {
    use super::mxm::job::is_final;
    fn bits<S: Semiring<f64, f64, Out = f64, Add = S> + Monoid<f64> + Default>(
        device: &Device,
        value: &dyn Fn(u64, u64) -> f64,
    ) -> Vec<u64> {
        let n = 200;
        let entries: Vec<_> = (0..n).flat_map(|i| (0..n).map(move |k| (i, k, value(i, k)))).collect();
        let a: Matrix<f64, S> = Matrix::build(n, n, &entries).unwrap().to(device).unwrap();
        let few = Matrix::build(n, 3, &(0..n).flat_map(|k| [(k, 0, 1.0), (k, 2, 1.0)]).collect::<Vec<_>>());
        let few: Matrix<f64, S> = few.unwrap().to(device).unwrap();
        let full: Matrix<f64, S> = Matrix::from_full(n, 2, vec![1.0; 400]).unwrap().to(device).unwrap();
        let x: Vector<f64, S> = Vector::full(n, 1.0).unwrap().to(device).unwrap();
        let mask: Matrix<f64> = few.clone().over();
        let products = [
            mxm(&a, &few).eval().unwrap(),
            mxm(&a, &full).eval().unwrap(),
            mxm(&a, &few).mask(&mask.structure()).strategy(Strategy::Dot).eval().unwrap(),
        ];
        let vectors = [mxv(&a, &x).eval().unwrap(), reduce_rows(&a, S::default()).eval().unwrap()];
        let values = products.iter().flat_map(|c| c.entries().unwrap().into_iter().map(|e| e.2));
        let values = values.chain(vectors.iter().flat_map(|y| y.entries().unwrap().into_iter().map(|e| e.1)));
        values.chain([reduce(&a, S::default()).unwrap()]).map(f64::to_bits).collect()
    }
    let zeros = |i, k| match k {
        0 => 0.0,
        _ if k == 2 + i % 198 => -0.0,
        _ => 1.0,
    };
    let found = bits::<LeastOfZeros>(&Device::Cpu, &zeros);
    assert!(found == bits::<LeastOfZeros>(&Device::Reference, &zeros));
    assert!(found.iter().all(|&bits| bits == (-0f64).to_bits()));
    assert!(is_final::<f64, SumToNan>(f64::NAN) && !is_final::<f64, SumToNan>(0.0));
    assert!(is_final::<bool, Lor>(true) && !is_final::<bool, Lor>(false));
}
