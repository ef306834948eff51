//! Products on CUDA by every strategy, over structures that are unkind to some of them.
#![cfg(feature = "cuda")]
mod common;

use common::emulator;
use oplus::prelude::*;

oplus::scalar! { pub struct Hop { dist: f64, hops: u64 } }
oplus::semiring! {
    pub struct Shortest[](Hop, Hop) -> Hop;
    identity = Hop::make(f64::INFINITY, 0);
    add = |x, y| (select(x.dist < y.dist || (x.dist == y.dist && x.hops <= y.hops), x, y));
    multiply = |a, b, _| (Hop::make(add(a.dist, b.dist), add(a.hops, b.hops)));
}
// A wide left operand and a narrow result.
oplus::semiring! {
    pub struct Reach[](Hop, f64) -> f64;
    identity = f64::INFINITY;
    add = |x, y| (min(x, y));
    multiply = |a, b, _| (add(a.dist, b));
}

const GPU: Device = Device::Cuda(0);

struct Rng(u64);
impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n.max(1)
    }
}

/// Positions of a matrix.
struct Shape {
    name: &'static str,
    m: u64,
    n: u64,
    places: Vec<(u64, u64)>,
}

impl Shape {
    fn new(name: &'static str, (m, n): (u64, u64), places: impl IntoIterator<Item = (u64, u64)>) -> Self {
        Self { name, m, n, places: places.into_iter().collect() }
    }
    fn random(name: &'static str, (m, n): (u64, u64), count: u64, seed: u64) -> Self {
        let mut rng = Rng(seed);
        Self::new(name, (m, n), (0..count).map(|_| (rng.below(m), rng.below(n))))
    }
    fn matrix<T: Scalar, S>(&self, value: fn(u64) -> T) -> Matrix<T, S> {
        let mut coo = Coo::new(self.m, self.n);
        self.places.iter().enumerate().for_each(|(e, (i, j))| coo.push(*i, *j, value(e as u64 * 7 % 100)));
        Matrix::build_with(&coo, First).unwrap()
    }
}

/// Pairs A, B that some way of multiplying finds hard.
fn adversaries() -> Vec<(Shape, Shape)> {
    let n = 70;
    let square = |name, places: Vec<(u64, u64)>| Shape::new(name, (n, n), places);
    let some = |seed| Shape::random("some", (n, n), 260, seed).places;
    let dense_row = || square("a dense row", (0..n).map(|j| (9, j)).chain(some(1)).collect());
    let dense_column = || square("a dense column", (0..n).map(|i| (i, 11)).chain(some(2)).collect());
    let one_column = || square("all in one column", (0..n).map(|i| (i, 5)).collect());
    let one_row = || square("all in one row", (0..n).map(|j| (5, j)).collect());
    let mut rng = Rng(8);
    // Few vertices have most of the edges.
    let hub = |rng: &mut Rng| rng.below(n) * rng.below(n) * rng.below(n) / (n * n);
    let hubs = square("hubs", (0..700).map(|_| (hub(&mut rng), hub(&mut rng))).collect());
    let empty_rows = || square("mostly empty rows", some(4).into_iter().filter(|e| e.0 % 9 == 0).collect());
    let permuted = square(
        "a permuted band",
        (0..n).flat_map(|i| (i.saturating_sub(2)..(i + 3).min(n)).map(move |j| (i * 37 % n, j * 37 % n))).collect(),
    );
    // Rows of the same columns, three by three.
    let repeated = || {
        square(
            "duplicates of structure",
            (0..n).flat_map(|i| (0..6).map(move |e| (i, (i / 3 * 17 + e * e * 5) % n))).collect(),
        )
    };
    let far = 4_000_000_000;
    vec![
        (repeated(), repeated()),
        (dense_row(), dense_row()),
        (dense_column(), dense_column()),
        (dense_row(), dense_column()),
        (one_column(), one_row()),
        (one_row(), one_column()),
        (hubs, empty_rows()),
        (permuted, square("some", some(6))),
        (square("empty", vec![]), dense_row()),
        (dense_row(), square("empty", vec![])),
        (Shape::random("no rows", (0, 4), 0, 1), Shape::random("few", (4, 3), 5, 2)),
        (Shape::random("no columns", (3, 0), 0, 1), Shape::random("nothing", (0, 3), 0, 2)),
        (Shape::random("one row", (1, 300), 250, 3), Shape::random("wide", (300, 300), 2500, 4)),
        (
            Shape::random("far", (n, n), 300, 5),
            Shape::new("apart", (n, far), some(7).into_iter().map(|(i, j)| (i, j * 57_142_857))),
        ),
    ]
}

/// Strategies that take matrices of any structure, and masks of any kind.
fn general() -> impl Iterator<Item = Strategy> {
    Strategy::ALL.iter().copied().filter(|s| !matches!(s, Strategy::Band | Strategy::Dot))
}

fn product<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    (a, b): (&Matrix<A, S>, &Matrix<B, S>),
    mask: Option<(&Matrix<bool>, bool)>,
    strategy: Strategy,
    device: Device,
) -> Result<Vec<(u64, u64, S::Out)>> {
    let operation = mxm(&a.to(&device)?, &b.to(&device)?).strategy(strategy);
    let c = match mask {
        None => operation.eval()?,
        Some((m, complement)) => {
            let m = m.to(&device)?.structure();
            operation.mask(&if complement { m.complement() } else { m }).eval()?
        }
    };
    let entries = c.entries()?;
    assert_eq!(c.nvals(), entries.len() as u64);
    Ok(entries)
}

fn compare<A: Scalar, B: Scalar, S: Semiring<A, B>>(
    (left, right): (&Shape, &Shape),
    (a, b): (fn(u64) -> A, fn(u64) -> B),
    strategies: &[Strategy],
    masks: &[u32],
) {
    let (a, b) = (left.matrix::<A, S>(a), right.matrix::<B, S>(b));
    let mask: Matrix<bool> = {
        let mut rng = Rng(3);
        let there: Vec<(u64, u64)> = right.places.iter().map(|p| p.1).map(|j| (rng.below(left.m), j)).collect();
        Shape::new("mask", (left.m, right.n), if left.m > 0 { there } else { vec![] }).matrix(|v| v > 30)
    };
    for kind in masks {
        let mask = [None, Some((&mask, false)), Some((&mask, true))][*kind as usize];
        let expected = product((&a, &b), mask, Strategy::Auto, Device::Reference).unwrap();
        for strategy in strategies {
            let found = product((&a, &b), mask, *strategy, GPU).unwrap();
            let (what, names) = (std::any::type_name::<S>(), (left.name, right.name));
            assert!(found == expected, "{strategy} {what} {names:?} mask {kind}:\n{found:?}\n{expected:?}");
        }
    }
}

#[test]
fn every_structure_by_every_strategy() {
    if emulator::cuda().is_none() {
        return;
    }
    let all: Vec<Strategy> = general().collect();
    for (left, right) in &adversaries() {
        let signed: fn(u64) -> i64 = |v| v as i64 - 40;
        compare::<i64, i64, PlusTimes>((left, right), (signed, signed), &all, &[0, 1, 2]);
        compare::<bool, i64, AnySecondI>((left, right), (|v| v > 50, signed), &all, &[0, 1]);
    }
}

/// Which are added under locks: `on_gpu.sh` keeps racecheck from them by this name.
#[test]
fn values_of_a_users_type_by_every_strategy() {
    if emulator::cuda().is_none() {
        return;
    }
    let all: Vec<Strategy> = general().collect();
    let shapes = (&Shape::random("left", (60, 80), 500, 1), &Shape::random("right", (80, 3000), 900, 2));
    let hop: fn(u64) -> Hop = |v| Hop::make(v as f64 / 4.0, v % 3);
    compare::<Hop, Hop, Shortest>(shapes, (hop, hop), &all, &[0, 2]);
    compare::<Hop, f64, Reach>(shapes, (hop, |v| v as f64), &all, &[0]);
}

#[test]
fn every_semiring_by_every_strategy() {
    if emulator::cuda().is_none() {
        return;
    }
    let all: Vec<Strategy> = general().collect();
    let shapes = (&Shape::random("left", (60, 80), 500, 1), &Shape::random("right", (80, 3000), 900, 2));
    // Few bits, so that sums in any order are equal.
    compare::<f64, f64, PlusTimes>(shapes, (|v| v as f64 / 8.0, |v| v as f64 - 50.0), &all, &[1]);
    compare::<f32, f32, MinPlus>(shapes, (|v| v as f32 / 8.0, |v| v as f32 - 50.0), &all, &[0]);
    compare::<u8, u8, PlusTimes>(shapes, (|v| v as u8, |v| v as u8), &all, &[0]);
    compare::<i16, i16, MaxPlus>(shapes, (|v| v as i16, |v| v as i16), &all, &[0]);
    compare::<bool, bool, LxorLand>(shapes, (|v| v > 50, |v| v > 30), &all, &[0]);
    compare::<bool, bool, AnyPair>(shapes, (|v| v > 50, |v| v > 30), &all, &[0, 1]);
    compare::<f64, i32, PlusPair>(shapes, (|v| v as f64, |v| v as i32), &all, &[0]);
    compare::<i64, i64, MaxFirst>(shapes, (|v| v as i64, |v| v as i64), &all, &[0]);
    // By native atomics of 4 and 8 bytes; bits of both halves.
    compare::<u32, u32, BorBand>(shapes, (|v| (v as u32) << 13, |v| (v as u32) << 15), &all, &[0]);
    compare::<i64, i64, BxorBand>(shapes, (|v| (v as i64) << 58 | v as i64, |v| (v as i64) << 57 | 5), &all, &[0]);
    compare::<i32, i32, BandBor>(shapes, (|v| !(v as i32), |v| (v as i32) << 25), &all, &[0]);
}

/// Rows from a few products to many thousands.
#[test]
fn rows_of_every_length_by_every_strategy() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(5);
    let left = Shape::new(
        "longer and longer",
        (100, 300),
        (0..100).flat_map(|r| (0..r * r / 40).map(move |e| (r, e * 31 % 300))),
    );
    let right = Shape::new("any", (300, 20_000), (0..9000).map(|_| (rng.below(300), rng.below(500) * 37)));
    let all: Vec<Strategy> = general().collect();
    let signed: fn(u64) -> i64 = |v| v as i64 - 40;
    compare::<i64, i64, PlusTimes>((&left, &right), (signed, signed), &all, &[0]);
}

/// Columns far apart and side by side: from one in hundreds of words of 32 to all of many words, mostly the same or some of each.
#[test]
fn rows_of_words_of_every_filling() {
    if emulator::cuda().is_none() {
        return;
    }
    let columns = 40_000;
    let mut rng = Rng(9);
    let mut right = Vec::new();
    for r in 0..30u64 {
        let (far, near) = ([3, 40, 300, 1200, 5000][r as usize % 5], [0, 90, 1500][r as usize % 3]);
        right.extend((0..far).map(|_| (r, rng.below(columns))));
        right.extend((0..near).map(|e| (r, 20_000 + r + e)));
    }
    let left = (0..40u64).flat_map(|i| [(i, i % 30), (i, (i + 15) % 30), (i, (7 * i + 1) % 30)]);
    let (left, right) = (Shape::new("three each", (40, 30), left), Shape::new("filled", (30, columns), right));
    let signed: fn(u64) -> i64 = |v| v as i64 - 40;
    for blocks in [Strategy::BitmapRank, Strategy::Auto] {
        compare::<i64, i64, PlusTimes>((&left, &right), (signed, signed), &[blocks], &[0, 1]);
        compare::<bool, bool, LorLand>((&left, &right), (|v| v > 3, |v| v > 5), &[blocks], &[0]);
    }
}

/// Most products of a row are of one row of B, of one of two with the same columns, of one of two others, or of none.
#[test]
fn rows_mostly_of_one_row_of_b_by_every_strategy() {
    if emulator::cuda().is_none() {
        return;
    }
    let long = |r: u64| (0..6000).filter(move |j| j % 5 != r % 5).map(move |j| (r, j));
    let right = Shape::new(
        "long and short",
        (64, 6000),
        (0..6)
            .flat_map(long)
            .chain((0..4800).map(|j| (6, j)))
            .chain((0..4800).map(|j| (7, j)))
            .chain((8..64).flat_map(|r| (0..r).map(move |e| (r, (r * 97 + e * 61) % 6000)))),
    );
    let left = Shape::new(
        "a few, one of them long",
        (60, 64),
        (0..60u64).flat_map(|i| {
            let first: &[u64] = [&[0][..], &[3], &[6, 7], &[1, 4], &[5], &[]][i as usize % 6];
            first.iter().map(move |k| (i, *k)).chain((0..i % 40).map(move |e| (i, 8 + (i + e * 11) % 56)))
        }),
    );
    let all: Vec<Strategy> = general().collect();
    let signed: fn(u64) -> i64 = |v| v as i64 - 40;
    let float: fn(u64) -> f64 = |v| v as f64 - 40.0;
    compare::<i64, i64, PlusTimes>((&left, &right), (signed, signed), &all, &[0]);
    for blocks in [Strategy::BitmapRank, Strategy::Auto] {
        compare::<f64, f64, MinPlus>((&left, &right), (float, float), &[blocks], &[0, 1]);
        compare::<f64, f64, PlusTimes>((&left, &right), (float, float), &[blocks], &[0, 1]);
        compare::<u8, u8, MaxMin>((&left, &right), (|v| v as u8, |v| v as u8), &[blocks], &[0]);
    }
}

#[test]
fn bands_by_name() {
    if emulator::cuda().is_none() {
        return;
    }
    let band = [Strategy::Band];
    // Far too small and too empty to be taken for bands by themselves.
    let on_diagonals = |name, (m, n): (u64, u64), shifts: &[i64], gap: u64| {
        let at =
            |i: u64, s: &i64| u64::try_from(i as i64 + s).ok().filter(|j| *j < n && (i + j) % gap != 1).map(|j| (i, j));
        Shape::new(name, (m, n), (0..m).flat_map(|i| shifts.iter().filter_map(move |s| at(i, s))).collect::<Vec<_>>())
    };
    let hop: fn(u64) -> Hop = |v| Hop::make(v as f64 / 4.0, v % 3);
    for (left, right) in [
        (on_diagonals("a", (70, 90), &[-2, 0, 1, 40], 3), on_diagonals("b", (90, 50), &[-60, -1, 0, 7], 4)),
        (on_diagonals("full", (40, 40), &[-1, 0, 1], 1000), on_diagonals("full", (40, 40), &[0, 2], 1000)),
        (on_diagonals("a row", (1, 40), &[3, 5], 1000), on_diagonals("empty", (40, 6), &[], 2)),
    ] {
        let shapes = (&left, &right);
        compare::<i64, i64, PlusTimes>(shapes, (|v| v as i64 - 9, |v| v as i64), &band, &[0, 1, 2]);
        compare::<bool, i64, AnySecondI>(shapes, (|v| v > 50, |v| v as i64), &band, &[0]);
        compare::<Hop, Hop, Shortest>(shapes, (hop, hop), &band, &[0, 1]);
        compare::<Hop, f64, Reach>(shapes, (hop, |v| v as f64), &band, &[0]);
    }
    let wide = Shape::random("random", (300, 300), 3000, 3);
    let a = wide.matrix::<f64, PlusTimes>(|v| v as f64);
    let error = product((&a, &a), None, Strategy::Band, GPU).unwrap_err();
    let Error::InvalidValue { operation: "mxm", reason } = &error else { panic!("{error:?}") };
    assert!(reason.contains("`band`") && reason.contains("A, 300×300"), "{reason}");
    let on = a.to(&GPU).unwrap();
    assert!(mxm(&on, &on).strategy(Strategy::Band).explain().unwrap_err().to_string().contains("A, 300×300"));
    assert!(mxm(&on, &on).strategy(Strategy::Band).plan().unwrap_err().to_string().contains("A, 300×300"));
    let full =
        on_diagonals("full", (40, 40), &[-1, 0, 1], 1000).matrix::<f64, PlusTimes>(|v| v as f64).to(&GPU).unwrap();
    let explained = mxm(&full, &full).strategy(Strategy::Band).explain().unwrap();
    assert_eq!((explained.analysis.strategy, explained.analysis.bins.len()), ("band", 1), "{explained}");
    let plan = mxm(&full, &full).strategy(Strategy::Band).plan().unwrap();
    assert_eq!(
        plan.run(&full, &full).unwrap().entries().unwrap(),
        mxm(&full, &full).eval().unwrap().entries().unwrap()
    );
    // The host needs no bands.
    assert_eq!(
        product((&a, &a), None, Strategy::Band, Device::Cpu).unwrap(),
        product((&a, &a), None, Strategy::Auto, Device::Reference).unwrap()
    );
}

/// Places are not their ids: dimensions beyond 32 bits, of which few rows and columns are used.
#[test]
fn listed_axes_by_every_strategy() {
    if emulator::cuda().is_none() {
        return;
    }
    let far = |e: u64, n: u64| e * e * 1_000_003 % n;
    let left = Shape::new("left", (1 << 40, 1 << 35), (0..90).map(|e| (far(e % 20, 1 << 40), far(e % 13, 1 << 35))));
    let right = Shape::new("right", (1 << 35, 1 << 33), (0..80).map(|e| (far(e % 11, 1 << 35), far(e % 17, 1 << 33))));
    let all: Vec<Strategy> = general().collect();
    compare::<bool, i64, AnySecondI>((&left, &right), (|v| v > 50, |v| v as i64), &all, &[0, 1]);
    compare::<i64, i64, PlusTimes>((&left, &right), (|v| v as i64, |v| v as i64 - 30), &all, &[2]);
}

#[test]
fn transposed_operands_by_every_strategy() {
    if emulator::cuda().is_none() {
        return;
    }
    let (left, right) = (Shape::random("left", (50, 60), 300, 4), Shape::random("right", (70, 50), 350, 5));
    let (a, b) = (left.matrix::<i64, PlusTimes>(|v| v as i64), right.matrix::<i64, PlusTimes>(|v| v as i64 - 20));
    let on = |d: Device, strategy| {
        let (a, b) = (a.to(&d).unwrap(), b.to(&d).unwrap());
        let mask = Shape::random("mask", (60, 70), 900, 6).matrix::<bool, PlusTimes>(|_| true).to(&d).unwrap();
        let product = || mxm(&a, &b).strategy(strategy).transpose_a().transpose_b();
        let mut c = Shape::random("c", (60, 70), 200, 7).matrix::<i64, PlusTimes>(|v| v as i64).to(&d).unwrap();
        product().mask(&mask.structure()).accumulate(Plus).into(&mut c).unwrap();
        (product().eval().unwrap().entries().unwrap(), c.entries().unwrap())
    };
    let expected = on(Device::Reference, Strategy::Auto);
    for strategy in general() {
        assert!(on(GPU, strategy) == expected, "{strategy}");
    }
}

/// Shapes, densities, values and schedules by chance.
#[test]
fn random_products_by_every_strategy() {
    let Some(emulator) = emulator::emulator() else { return };
    let all: Vec<Strategy> = general().collect();
    for seed in 0..12 {
        let mut rng = Rng(seed * 7919 + 13);
        let (m, k, n) = (1 + rng.below(60), 1 + rng.below(60), 1 + rng.below(400));
        let dense = [1, 3, 20][rng.below(3) as usize];
        let left = Shape::random("left", (m, k), rng.below(m * dense) + 1, seed + 100);
        let right = Shape::random("right", (k, n), rng.below(k * dense) + 1, seed + 200);
        emulator.seed(seed);
        let kind = rng.below(3) as u32;
        compare::<i64, i64, PlusTimes>((&left, &right), (|v| v as i64 - 50, |v| v as i64), &all, &[kind]);
        compare::<Hop, Hop, Shortest>(
            (&left, &right),
            (|v| Hop::make(v as f64, v % 5), |v| Hop::make(v as f64, 1)),
            &all,
            &[0],
        );
    }
}

/// Sums that are not in the order of k would show in the last bits.
#[test]
fn floats_are_summed_in_the_order_of_k() {
    if emulator::cuda().is_none() {
        return;
    }
    let (left, right) = (Shape::random("left", (40, 300), 4000, 1), Shape::random("right", (300, 90), 5000, 2));
    let value: fn(u64) -> f64 = |v| 1.0 / (v as f64 + 3.0);
    let strategies = [Strategy::EscGlobal, Strategy::SegmentedMerge, Strategy::ColumnRow, Strategy::Window];
    compare::<f64, f64, PlusTimes>((&left, &right), (value, value), &strategies, &[0, 1]);
}

/// Rows are listed by class at once where a list of all of them for each class is short, else they are counted before.
#[test]
fn lists_of_many_rows_are_counted_first() {
    if emulator::cuda().is_none() {
        return;
    }
    let b: Matrix<i64> = Shape::random("B", (300, 20_000), 6000, 5).matrix(|v| v as i64);
    for (rows, counted) in [(400, false), (80_000, true)] {
        // Rows of no, one and many entries.
        let places = (0..rows).step_by(40).flat_map(|i| (0..i / 40 % 7 * 5).map(move |k| (i, (i + k * 31) % 300)));
        let a: Matrix<i64> = Shape::new("A", (rows, 300), places).matrix(|v| v as i64);
        let expected = mxm(&a, &b).eval().unwrap().entries().unwrap();
        let (a, b) = (a.to(&GPU).unwrap(), b.to(&GPU).unwrap());
        let (c, trace) = mxm(&a, &b).strategy(Strategy::BitmapRank).traced().unwrap();
        assert_eq!(c.entries().unwrap(), expected);
        let ran = |name: &str| trace.kernels.iter().any(|k| k.name == name);
        assert_eq!((ran("spgemm_list_units"), ran("spgemm_count_units")), (true, counted), "{rows} rows");
    }
}
