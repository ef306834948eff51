//! Every operation besides products on CUDA, emulated or real, against the reference backend.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/merges.rs"]
mod merges;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::prelude::*;
use random::Rng;

oplus::scalar! { pub struct Hop { dist: f64, hops: u64 } }
oplus::scalar! { pub struct Colour { red: f32, green: f32, blue: f32 } }
oplus::scalar! { pub struct Wide { a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64, i: u64 } }
oplus::operator! { pub Nearer[](Hop, Hop) -> Hop = |x, y| Hop::make(min(x.dist, y.dist), add(x.hops, y.hops)) }
// Neither commutative nor associative: the order of everything shows.
oplus::operator! { pub Mix[T: Number](T, T) -> T = |x, y| sub(add(x, add(x, x)), y) }
oplus::operator! { pub Blend[](Colour, Colour) -> Colour = |x, y| Colour::make(sub(x.red, y.blue), y.red, max(x.blue, y.green)) }
oplus::operator! { pub Length[](Hop, Colour) -> f32 = |x, y| select(x.dist <= mul(x.dist, x.dist), y.red, y.green) }
oplus::index_operator! { pub Place[](Hop, Hop) -> bool = |x, i, j, y| (x.hops < y.hops) != (i < j) }
oplus::unary_operator! { pub Redness[](Colour) -> f32 = |x| x.red }
// Composition of (offset, count): associative, not commutative.
oplus::operator! { pub Join[](Hop, Hop) -> Hop = |x, y| select(y.dist >= x.dist, Hop::make(x.dist, add(x.hops, y.hops)), Hop::make(y.dist, add(x.hops, y.hops))) }

type Positions = (u64, u64, Vec<(u64, u64)>);

fn random(rng: &mut Rng, m: u64, n: u64, e: u64) -> Positions {
    let mut all: Vec<_> = (0..e).map(|_| (rng.below(m), rng.below(n))).collect();
    all.sort_unstable();
    all.dedup();
    (m, n, all)
}

/// Structures that are hard to spread evenly, in pairs of one shape.
fn pairs(rng: &mut Rng) -> Vec<(Positions, Positions)> {
    let row = |m: u64, n: u64, r: u64| (m, n, (0..n).map(|j| (r, j)).collect::<Vec<_>>());
    let column = |m: u64, n: u64, c: u64| (m, n, (0..m).map(|i| (i, c)).collect::<Vec<_>>());
    let none = |m: u64, n: u64| (m, n, vec![]);
    let every = |m: u64, odd: u64| (m, 3, (0..m / 2).map(|i| (2 * i + odd, 1)).collect::<Vec<_>>());
    let hub = |rng: &mut Rng, m: u64, n: u64| {
        let (_, _, mut all) = random(rng, m, n, m);
        all.extend((0..n).map(|j| (m / 3, j)));
        all.extend((0..m).map(|i| (i, n / 2)));
        all.sort_unstable();
        all.dedup();
        (m, n, all)
    };
    vec![
        (none(0, 0), none(0, 0)),
        (none(0, 5), none(0, 5)),
        (none(5, 0), none(5, 0)),
        (none(4, 4), none(4, 4)),
        ((3, 3, vec![(1, 2)]), none(3, 3)),
        (none(3, 3), (3, 3, vec![(2, 0)])),
        ((3, 3, vec![(1, 2)]), (3, 3, vec![(1, 2)])),
        // Pairs on both sides of the ends of tiles: everything is met twice.
        (row(3, 2300, 1), row(3, 2300, 1)),
        (row(1, 2100, 0), (1, 2100, (0..2100).filter(|j| j % 3 != 1).map(|j| (0, j)).collect())),
        (column(700, 4, 2), row(700, 4, 699)),
        (hub(rng, 300, 250), hub(rng, 300, 250)),
        (random(rng, 60, 90, 3000), random(rng, 60, 90, 2000)),
        // Nearly all rows empty.
        ((9000, 7, vec![(0, 3), (4500, 1), (8999, 6)]), (9000, 7, vec![(0, 3), (4499, 1), (8999, 0)])),
        (random(rng, 3000, 50, 900), random(rng, 3000, 50, 1400)),
        // One column: of every row in both, of even rows in one and odd ones in the other, of rows far apart.
        (column(2100, 3, 1), column(2100, 3, 1)),
        (every(3000, 0), every(3000, 1)),
        (every(3000, 0), (3000, 3, (0..3000).filter(|i| i % 97 < 2).map(|i| (i, 1)).collect())),
        (random(rng, 9000, 3, 2500), random(rng, 9000, 3, 2500)),
    ]
}

fn structures(rng: &mut Rng) -> Vec<Positions> {
    pairs(rng).into_iter().flat_map(|(a, b)| [a, b]).collect()
}

/// Values from positions, so that no two entries are alike.
trait Made: Scalar {
    fn made(seed: u64) -> Self;
}
impl Made for f64 {
    fn made(seed: u64) -> f64 {
        seed as f64 / 8.0 - 20.0
    }
}
impl Made for i32 {
    fn made(seed: u64) -> i32 {
        seed as i32 - 50
    }
}
impl Made for u8 {
    fn made(seed: u64) -> u8 {
        seed as u8
    }
}
impl Made for u16 {
    fn made(seed: u64) -> u16 {
        seed as u16
    }
}
impl Made for bool {
    fn made(seed: u64) -> bool {
        seed.is_multiple_of(3)
    }
}
impl Made for Hop {
    fn made(seed: u64) -> Hop {
        Hop::make(seed as f64 * 0.5, seed)
    }
}
impl Made for Colour {
    fn made(seed: u64) -> Colour {
        Colour::make(seed as f32, 3.0 - seed as f32, 0.25 * seed as f32)
    }
}
impl Made for Wide {
    fn made(seed: u64) -> Wide {
        Wide::make(seed, 2, 3, 4, 5, 6, 7, 8, !seed)
    }
}

fn matrix<T: Made>((m, n, entries): &Positions, salt: u64) -> Matrix<T> {
    let all: Vec<_> = entries.iter().map(|&(i, j)| (i, j, T::made((i * 31 + j * 7 + salt) % 120))).collect();
    Matrix::build(*m, *n, &all).unwrap()
}

/// What `run` gives on CUDA and on the reference is the same.
fn same<R: PartialEq + std::fmt::Debug>(what: &str, run: impl Fn(Device) -> R) {
    same_as(Device::Reference, what, run);
}
fn same_as<R: PartialEq + std::fmt::Debug>(oracle: Device, what: &str, run: impl Fn(Device) -> R) {
    let (cuda, expected) = (run(Device::Cuda(0)), run(oracle));
    assert!(cuda == expected, "{what}\ncuda: {cuda:?}\n{oracle}: {expected:?}");
}

fn entries<T: Scalar, S>(m: Matrix<T, S>) -> Vec<(u64, u64, T)> {
    m.entries().unwrap()
}

fn both<T: Made, F: BinaryOp<T, T, Out = T> + Default>(a: &Positions, b: &Positions) {
    let (x, y): (Matrix<T>, Matrix<T>) = (matrix(a, 0), matrix(b, 5));
    same(&format!("{} {}×{}", std::any::type_name::<T>(), a.0, a.1), |d| {
        let (x, y) = (x.to(&d).unwrap(), y.to(&d).unwrap());
        let union = ewise_add(&x, &y, F::default()).eval().unwrap();
        let intersection = ewise_mult(&x, &y, F::default()).eval().unwrap();
        assert_eq!(union.device(), d);
        (entries(union), entries(intersection))
    });
}

#[test]
fn unions_and_intersections() {
    if emulator::cuda().is_none() {
        return;
    }
    for (a, b) in pairs(&mut Rng(5)) {
        both::<f64, Mix>(&a, &b);
        both::<bool, Lxor>(&a, &b);
        both::<Hop, Nearer>(&a, &b);
    }
    let mut rng = Rng(6);
    let (a, b) = (random(&mut rng, 40, 40, 500), random(&mut rng, 40, 40, 700));
    both::<i32, Mix>(&a, &b);
    both::<u8, Mix>(&a, &b);
    both::<Colour, Blend>(&a, &b);
    both::<Wide, First>(&a, &b);
    // Operands of different types.
    let (x, y): (Matrix<Hop>, Matrix<Colour>) = (matrix(&a, 0), matrix(&b, 0));
    same("mixed types", |d| entries(ewise_mult(&x.to(&d).unwrap(), &y.to(&d).unwrap(), Length).eval().unwrap()));
    // One matrix twice, and transposed.
    same("aliasing", |d| {
        let x: Matrix<i32> = matrix(&a, 0).to(&d).unwrap();
        (
            entries(ewise_add(&x, &x, Mix).eval().unwrap()),
            entries(ewise_mult(&x, &x, Mix).transpose_a().eval().unwrap()),
        )
    });
}

/// What rows keep is counted and summed in tiles of rows: fewer than one has, as many, and more.
#[test]
fn rows_kept_of_many_tiles() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(21);
    for rows in [4095u64, 4096, 4097, 12_289] {
        let a: Matrix<f64> = matrix(&random(&mut rng, rows, rows, 2 * rows), 0);
        same_as(emulator::oracle(3 * rows), &format!("{rows} rows"), |d| {
            let a = a.to(&d).unwrap();
            let part = extract(&a, 1.., ..rows / 2).eval().unwrap();
            (entries(tril(&a, 0).eval().unwrap()), entries(triu(&a, 1).eval().unwrap()), entries(part))
        });
    }
}

fn written<T: Made, F: BinaryOp<T, T, Out = T> + Default>(c: &Positions, t: &Positions, m: &Positions) {
    let (c, t, mask): (Matrix<T>, Matrix<T>, Matrix<bool>) = (matrix(c, 0), matrix(t, 3), matrix(m, 1));
    for case in 0..16 {
        same(&format!("write case {case} {}", std::any::type_name::<T>()), |d| {
            let (c, t, m) = (c.to(&d).unwrap(), t.to(&d).unwrap(), mask.to(&d).unwrap());
            let mask = match case % 4 {
                0 => m.structure(),
                1 => m.structure().complement(),
                2 => oplus::mask::AsMask::as_mask(&m),
                _ => oplus::mask::AsMask::as_mask(&m).complement(),
            };
            let mut out = c.clone();
            let operation = apply(&t, Identity).mask(&mask);
            let operation = if case & 4 != 0 { operation.replace() } else { operation };
            if case & 8 != 0 { operation.accumulate(F::default()).into(&mut out) } else { operation.into(&mut out) }
                .unwrap();
            // What shared its entries is untouched.
            (entries(out), entries(c))
        });
    }
    same("accumulate without mask", |d| {
        let (mut c, t) = (c.to(&d).unwrap(), t.to(&d).unwrap());
        apply(&t, Identity).accumulate(F::default()).into(&mut c).unwrap();
        entries(c)
    });
    same("operand, mask and result are one", |d| {
        let mut c = c.to(&d).unwrap();
        let mask = c.structure();
        apply(&c, Identity).mask(&mask).replace().accumulate(F::default()).into(&mut c).unwrap();
        entries(c)
    });
}

#[test]
fn writes_with_every_kind_of_mask() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(9);
    for (m, n, e) in [(0, 4, 0), (4, 0, 0), (3, 3, 2), (50, 60, 1200)] {
        let of = |rng: &mut Rng| if m * n == 0 { (m, n, vec![]) } else { random(rng, m, n, e) };
        let (c, t, mask) = (of(&mut rng), of(&mut rng), of(&mut rng));
        written::<f64, Mix>(&c, &t, &mask);
        written::<Hop, Nearer>(&c, &t, &mask);
    }
    for (c, t) in pairs(&mut rng).into_iter().skip(6) {
        let mask = random(&mut rng, c.0, c.1, (c.2.len() as u64).max(3));
        written::<i32, Mix>(&c, &t, &mask);
    }
    let (c, t, mask) = (random(&mut rng, 9, 9, 30), random(&mut rng, 9, 9, 40), random(&mut rng, 9, 9, 40));
    written::<u8, Mix>(&c, &t, &mask);
    written::<bool, Land>(&c, &t, &mask);
    written::<Colour, Blend>(&c, &t, &mask);
}

fn moved<T: Made>(a: &Positions) {
    let x: Matrix<T> = matrix(a, 2);
    same(&format!("transpose {} {}×{}", std::any::type_name::<T>(), a.0, a.1), |d| {
        let t = transpose(&x.to(&d).unwrap()).eval().unwrap();
        assert_eq!((t.device(), t.shape()), (d, (a.1, a.0)));
        let back = transpose(&t).eval().unwrap();
        assert_eq!(entries(back), entries(x.clone()));
        let merged = transpose_merged(&x.to(&d).unwrap()).eval().unwrap();
        assert_eq!((merged.device(), merged.shape()), (d, (a.1, a.0)));
        let entries_of_both = entries(t);
        assert_eq!(entries(merged), entries_of_both);
        entries_of_both
    });
    let rows: Vec<u64> = (0..a.0.min(300)).map(|r| r * 7 % a.0).chain((a.0 > 0).then(|| a.0 - 1)).collect();
    for list in [&rows[..], &[], &rows[..rows.len().min(1)]] {
        same("extract", |d| entries(extract_rows(&x.to(&d).unwrap(), list).eval().unwrap()));
    }
}

/// More rows than a block looks at: what each keeps, and where it goes.
#[test]
fn entries_side_by_side_of_many_rows() {
    if emulator::cuda().is_none() {
        return;
    }
    let a = random(&mut Rng(31), 9000, 700, 20_000);
    let x: Matrix<i32> = matrix(&a, 2);
    same("entries side by side", |d| {
        let x = x.to(&d).unwrap();
        let kept = [
            select(&x, Tril, -3).eval(),
            select(&x, Triu, -8000).eval(),
            select(&x, ColGt, 350).eval(),
            extract(&x, .., 100..600).eval(),
            extract(&x, 10..8990, ..20).eval(),
            extract(&x, 4000..4001, 1..).eval(),
        ];
        kept.map(|part| entries(part.unwrap()))
    });
}

#[test]
fn transposes_and_extracted_rows() {
    if emulator::cuda().is_none() {
        return;
    }
    for a in structures(&mut Rng(12)) {
        moved::<f64>(&a);
    }
    // Single entries, present and not, in rows short, long and empty.
    for a in structures(&mut Rng(14)).into_iter().filter(|a| a.0 * a.1 > 0) {
        let x: Matrix<f64> = matrix(&a, 2);
        let at: Vec<_> =
            a.2.iter().step_by(a.2.len() / 5 + 1).flat_map(|&(i, j)| [(i, j), (i, (j + 1) % a.1)]).collect();
        same("get", |d| {
            let x = x.to(&d).unwrap();
            let corners = [(0, 0), (a.0 - 1, a.1 - 1), (0, a.1 - 1), (a.0 / 2, 0)];
            at.iter().chain(&corners).map(|&(i, j)| x.get(i, j).unwrap()).collect::<Vec<_>>()
        });
    }
    let mut rng = Rng(13);
    let a = random(&mut rng, 70, 300, 900);
    moved::<u8>(&a);
    moved::<u16>(&a);
    moved::<i32>(&a);
    moved::<bool>(&a);
    moved::<Hop>(&a);
    moved::<Colour>(&a);
    moved::<Wide>(&a);
    // More rows than 32 bits, few of them used.
    let huge = (1 << 40, 1 << 35, vec![(3, 1 << 34), (1 << 39, 5), (1 << 39, 7)]);
    let x: Matrix<i32> = matrix(&huge, 0);
    same("listed axes", |d| {
        let x = x.to(&d).unwrap();
        let listed = extract_rows(&x, [0, 1 << 39, 3, 1 << 39]).eval().unwrap();
        let merged = entries(transpose_merged(&x).eval().unwrap());
        assert_eq!(entries(transpose_merged(&x).transpose_a().eval().unwrap()), entries(x.clone()));
        (entries(transpose(&x).eval().unwrap()), merged, entries(listed))
    });
}

/// Entries of an empty stretch, a long row, and many columns: tiles of very many rows, and columns of several digits.
fn scattered(rng: &mut Rng, m: u64, n: u64, e: u64) -> Positions {
    let (_, _, mut all) = random(rng, m, n, e);
    all.extend(random(rng, m / 100, n, e).2.into_iter().map(|(i, j)| (m / 2 + i, j)));
    all.extend((0..e).map(|k| (m / 3, k * (n / e))));
    all.extend((0..e).map(|k| (m - 1 - k * (m / e / 2), n / 3)));
    all.sort_unstable();
    all.dedup();
    (m, n, all)
}

/// Everything that looks for rows of entries or counts columns.
fn scattered_operations(a: &Positions, b: &Positions, oracle: Device) {
    let (x, y): (Matrix<f64>, Matrix<f64>) = (matrix(a, 1), matrix(b, 2));
    let scale: Vec<(u64, f64)> = (0..a.1).filter(|j| j % 3 > 0).map(|j| (j, j as f64)).collect();
    let scale = Vector::<f64>::build(a.1, &scale).unwrap();
    same_as(oracle, &format!("scattered {}×{}", a.0, a.1), |d| {
        let (x, y) = (x.to(&d).unwrap(), y.to(&d).unwrap());
        let turned = entries(transpose(&x).eval().unwrap());
        let rows = entries(apply_index(&x, DiagIndex, 0).eval().unwrap());
        let (low, union) = (entries(tril(&x, 0).eval().unwrap()), entries(ewise_add(&x, &y, Minus).eval().unwrap()));
        let both = entries(ewise_mult(&x, &y, Minus).eval().unwrap());
        let part = entries(extract(&x, a.0 / 4..a.0 * 3 / 4, a.1 / 5..a.1 * 4 / 5).eval().unwrap());
        let columns = entries(scale_columns(&x, &scale.to(&d).unwrap(), Minus).eval().unwrap());
        let rows_of_turned = scale_rows(&scale.to(&d).unwrap(), &transpose(&x).eval().unwrap(), Minus).eval().unwrap();
        (turned, rows, low, union, both, part, columns, entries(rows_of_turned))
    });
}

#[test]
fn scattered_entries() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(17);
    for (m, n, e) in [(60_000, 20_000, 500), (300, 5000, 4000)] {
        let (a, b) = (scattered(&mut rng, m, n, e), scattered(&mut rng, m, n, e));
        scattered_operations(&a, &b, emulator::oracle(m));
    }
    moved::<Hop>(&scattered(&mut rng, 3000, 5000, 700));
    moved::<bool>(&scattered(&mut rng, 3000, 5000, 700));
}

/// Three digits a column, and more tiles than there are multiprocessors.
#[test]
#[ignore = "slow on the emulator: run on a GPU"]
fn many_scattered_entries() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(18);
    let (m, n, e) = (1_000_000, 5_000_000, 700_000);
    let (a, b) = (scattered(&mut rng, m, n, e), scattered(&mut rng, m, n, e));
    // The reference would take minutes; the CPU is tested against it elsewhere.
    scattered_operations(&a, &b, Device::Cpu);
    scattered_operations(&(n, m, a.2.iter().map(|(i, j)| (*j, *i)).collect()), &(n, m, vec![(0, 0)]), Device::Cpu);
}

#[test]
fn maps_and_selections() {
    if emulator::cuda().is_none() {
        return;
    }
    for a in structures(&mut Rng(20)) {
        let x: Matrix<f64> = matrix(&a, 0);
        let h: Matrix<Hop> = matrix(&a, 0);
        same(&format!("apply {}×{}", a.0, a.1), |d| {
            let (x, h) = (x.to(&d).unwrap(), h.to(&d).unwrap());
            let negated = entries(apply(&x, Negate).eval().unwrap());
            let bound = entries(apply_second(&x, Minus, 0.5).eval().unwrap());
            let row = entries(apply_index(&x, RowIndex, 3).eval().unwrap());
            let diagonal = entries(apply_index(&x, DiagIndex, -1).transpose_a().eval().unwrap());
            let place = entries(apply_index(&h, Place, Hop::make(0.5, 9)).eval().unwrap());
            (negated, bound, row, diagonal, place)
        });
        same(&format!("select {}×{}", a.0, a.1), |d| {
            let x = x.to(&d).unwrap();
            let of_value = entries(select(&x, ValueGt, -3.0).eval().unwrap());
            let below = entries(select(&x, Tril, 0).eval().unwrap());
            let right = entries(select(&x, ColGt, a.1 as i64 / 2).transpose_a().eval().unwrap());
            let none = entries(select(&x, ValueLt, -1e9).eval().unwrap());
            let all = entries(select(&x, ValueLt, 1e9).eval().unwrap());
            (of_value, below, right, none, all)
        });
    }
    let mut rng = Rng(21);
    let a = random(&mut rng, 30, 80, 2200);
    let (c, b, w): (Matrix<Colour>, Matrix<bool>, Matrix<Wide>) = (matrix(&a, 0), matrix(&a, 0), matrix(&a, 0));
    same("other types", |d| {
        let (c, b, w) = (c.to(&d).unwrap(), b.to(&d).unwrap(), w.to(&d).unwrap());
        let cast = entries(b.cast::<u8>().unwrap());
        let kept = entries(select(&b, ValueEq, true).eval().unwrap());
        let few = entries(select(&w, RowLe, 4).eval().unwrap());
        (entries(apply(&c, Redness).eval().unwrap()), entries(apply(&b, Not).eval().unwrap()), cast, kept, few)
    });
    let huge = (1 << 40, 1 << 35, vec![(3, 1 << 34), (3, 1 << 33), (1 << 39, 5), (1 << 39, 7)]);
    let x: Matrix<i32> = matrix(&huge, 0);
    same("positions of listed axes are ids", |d| {
        let x = x.to(&d).unwrap();
        let at = |m| entries::<i64, _>(m);
        let rows = at(apply_index(&x, RowIndex, 1).eval().unwrap());
        let columns = at(apply_index(&x, ColIndex, 0).eval().unwrap());
        let far = entries(select(&x, Triu, 1 << 33).eval().unwrap());
        (rows, columns, at(apply_index(&x, DiagIndex, 0).transpose_a().eval().unwrap()), far)
    });
}

fn reduced<T: Made, M: Monoid<T> + Default>(a: &Positions) {
    let x: Matrix<T> = matrix(a, 0);
    same(&format!("reduce {} {}×{}", std::any::type_name::<M>(), a.0, a.1), |d| {
        let x = x.to(&d).unwrap();
        let rows = reduce_rows(&x, M::default()).eval().unwrap();
        let columns = reduce_rows(&x, M::default()).transpose_a().eval().unwrap();
        assert_eq!((rows.device(), rows.len()), (d, a.0));
        (rows.entries().unwrap(), columns.entries().unwrap(), oplus::operation::reduce(&x, M::default()).unwrap())
    });
}

/// Keeps the first distance and counts.
#[derive(Clone, Copy, Debug, Default)]
struct FirstAndCount;
impl BinaryOp<Hop, Hop> for FirstAndCount {
    type Out = Hop;
    const TEXT: OperatorText =
        OperatorText { parameters: &["x", "y"], expression: "Hop::make(x.dist, add(x.hops, y.hops))" };
    fn apply(x: Hop, y: Hop) -> Hop {
        Hop::make(x.dist, x.hops + y.hops)
    }
}
impl Monoid<Hop> for FirstAndCount {
    fn identity() -> Hop {
        Hop::make(0.0, 0)
    }
}

#[test]
fn reductions() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(30);
    let mut all = structures(&mut rng);
    // Rows of all classes: short, a warp's, of several chunks with an incomplete last one.
    let lengths = [1u64, 2, 31, 63, 64, 65, 96, 700, 1023, 1024, 1024, 1025, 1024, 2048, 2049, 4096, 4097, 9000, 3];
    all.push((21, 9000, lengths.iter().zip(1..).flat_map(|(&n, r)| (0..n).map(move |j| (r, j))).collect()));
    for a in &all {
        // Eighths: sums are exact in any order.
        reduced::<f64, Plus>(a);
        reduced::<i32, Min>(a);
        reduced::<Hop, FirstAndCount>(a);
    }
    let a = all.last().unwrap();
    reduced::<u8, Plus>(a);
    reduced::<bool, Lxor>(a);
    reduced::<bool, Land>(a);
    reduced::<i32, Any>(a);
    reduced::<Wide, Any>(a);
    reduced::<Colour, Any>(a);
}

#[test]
fn short_rows_are_added_in_order() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(31);
    let mut coo = Coo::new(400, 64);
    for i in 0..400 {
        for j in 0..rng.below(65) {
            coo.push(i, j, (rng.below(1 << 40) as f64 / 3.0) * 10f64.powi(rng.below(30) as i32 - 15));
        }
    }
    let a: Matrix<f64> = Matrix::from_coo(&coo).unwrap();
    same("bits of short sums", |d| {
        let sums = reduce_rows(&a.to(&d).unwrap(), Plus).eval().unwrap().entries().unwrap();
        sums.into_iter().map(|(i, v)| (i, v.to_bits())).collect::<Vec<_>>()
    });
}

#[test]
fn sums_do_not_depend_on_the_schedule() {
    let Some(emulator) = emulator::emulator() else { return };
    let n = 9500u64;
    let x: Vector<f64> = Vector::build(n, &(0..n).map(|i| (i, 1.0 / (i + 1) as f64)).collect::<Vec<_>>()).unwrap();
    let x = x.to(&Device::Cuda(0)).unwrap();
    let sums: Vec<u64> = (1..4)
        .map(|seed| {
            emulator.seed(seed);
            oplus::operation::reduce(&x, Plus).unwrap().to_bits()
        })
        .collect();
    assert!(sums.iter().all(|s| *s == sums[0]), "{sums:?}");
    let serial: f64 = (0..n).map(|i| 1.0 / (i + 1) as f64).sum();
    assert!((f64::from_bits(sums[0]) - serial).abs() < 1e-12);
}

fn built<T: Made, F: BinaryOp<T, T, Out = T> + Default>(m: u64, n: u64, triplets: &[(u64, u64)]) {
    let mut coo = Coo::new(m, n);
    for (e, &(i, j)) in triplets.iter().enumerate() {
        coo.push(i, j, T::made(e as u64 % 120));
    }
    same(&format!("build {} {m}×{n}, {} triplets", std::any::type_name::<T>(), triplets.len()), |d| {
        entries(Matrix::<T>::build_on(&coo, F::default(), &d).unwrap())
    });
}

#[test]
fn triplets_with_duplicates() {
    if emulator::cuda().is_none() {
        return;
    }
    let mut rng = Rng(40);
    for (m, n, e) in [(0, 0, 0), (3, 0, 0), (5, 5, 1), (6, 7, 300), (300, 300, 3000), (1, 1, 200), (70000, 3, 500)] {
        let triplets: Vec<_> = (0..e).map(|_| (rng.below(m), rng.below(n))).collect();
        built::<i32, Mix>(m, n, &triplets);
        built::<Hop, Join>(m, n, &triplets);
    }
    let triplets: Vec<_> = (0..500).map(|_| (rng.below(9), rng.below(9))).collect();
    built::<f64, Mix>(9, 9, &triplets);
    built::<u8, Mix>(9, 9, &triplets);
    built::<bool, Lxor>(9, 9, &triplets);
    built::<Colour, Blend>(9, 9, &triplets);
    built::<Wide, Second>(9, 9, &triplets);
    // Sorted already: runs of 1, 16, 17, 48, 49 and 700 equal ones.
    let runs = [1u64, 16, 17, 48, 49, 700, 1, 1];
    let sorted: Vec<_> = runs.iter().zip(0..).flat_map(|(&n, i)| (0..n).map(move |_| (i / 3, i))).collect();
    built::<i32, Mix>(3, 8, &sorted);
    let huge: Vec<_> = (0..90).map(|_| (rng.below(7) << 36, rng.below(5) << 33)).collect();
    built::<i32, Mix>(1 << 40, 1 << 36, &huge);
}
