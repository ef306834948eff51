//! Products on CUDA of matrices on few diagonals.
#![cfg(feature = "cuda")]
mod common;

use common::emulator;
use oplus::backend::cuda::Context;
use oplus::prelude::*;

oplus::scalar! { pub struct Hop { length: f64, hops: u64 } }
oplus::semiring! {
    pub struct Shortest[](Hop, Hop) -> Hop;
    identity = Hop::make(f64::INFINITY, 0);
    add = |x, y| (select(x.length < y.length || (x.length == y.length && x.hops <= y.hops), x, y));
    multiply = |a, b, _| (Hop::make(add(a.length, b.length), add(a.hops, b.hops)));
}

/// Entries on the diagonals j - i of `shifts` but for one in `gap`, values by place; m rows, n columns.
fn on_diagonals(m: u64, n: u64, shifts: &[i64], gap: u64) -> Matrix<i64> {
    let mut coo = Coo::<i64>::new(m, n);
    let mut number = 0u64;
    for i in 0..m {
        for shift in shifts {
            let j = i as i64 + shift;
            number += 1;
            // Full stretches in the middle, gaps elsewhere.
            if j >= 0 && (j as u64) < n && !(number.is_multiple_of(3 * gap) && i % 1000 <= 300) {
                coo.push(i, j as u64, (i * 7 + j as u64 * 3) as i64 % 101 - 50);
            }
        }
    }
    Matrix::build_with(&coo, Plus).unwrap()
}

fn compare<S: Semiring<i64, i64>>(a: &Matrix<i64>, b: &Matrix<i64>, strategy: Strategy) {
    let on = |d: Device, strategy: Strategy| {
        let (a, b) = (a.to(&d).unwrap().over::<S>(), b.to(&d).unwrap().over());
        // Twice: diagonals are kept.
        let _ = mxm(&a, &b).strategy(strategy).eval().unwrap();
        let c = mxm(&a, &b).strategy(strategy).eval().unwrap();
        assert_eq!(c.nvals(), c.entries().unwrap().len() as u64);
        c.entries().unwrap()
    };
    let oracle = emulator::oracle(a.nvals() + b.nvals());
    let (made, expected) = (on(Device::Cuda(0), strategy), on(oracle, Strategy::Auto));
    assert!(made == expected, "{} by {strategy:?}", std::any::type_name::<S>());
}

#[test]
fn diagonals_full_and_gappy() {
    if emulator::cuda().is_none() {
        return;
    }
    let wide: Vec<i64> = (-20..=20).collect();
    for (m, k, n, left, right) in [
        (5000, 5000, 5000, vec![-70, -1, 0, 1, 70], vec![-70, -1, 0, 1, 70]),
        (4200, 4300, 4100, vec![-3, 5, 90], vec![-90, 2]),
        (4100, 4100, 4100, wide.clone(), vec![0, 1]),
        (4100, 4100, 4100, vec![-2, 0], wide),
    ] {
        let (a, b) = (on_diagonals(m, k, &left, 5), on_diagonals(k, n, &right, 7));
        compare::<PlusTimes>(&a, &b, Strategy::Band);
        compare::<AnySecondI>(&a, &b, Strategy::Band);
        compare::<AnyPair>(&a, &b, Strategy::Band);
        compare::<MinPlus>(&a, &b, Strategy::Band);
        compare::<PlusTimes>(&a, &b, Strategy::Auto);
    }
}

/// So many rows that diagonals are looked for unasked.
#[test]
fn diagonals_are_found() {
    if emulator::cuda().is_none() {
        return;
    }
    let (full, gappy) =
        (on_diagonals(33000, 33000, &[-1, 0, 64], u64::MAX / 4), on_diagonals(33000, 33000, &[0, 9], 5));
    compare::<PlusTimes>(&full, &full, Strategy::Auto);
    compare::<PlusTimes>(&full, &gappy, Strategy::Auto);
}

#[test]
fn floats_are_summed_in_the_order_of_k() {
    if emulator::cuda().is_none() {
        return;
    }
    let grid = oplus::generate::stencil_9(80, 70).unwrap();
    let mut coo = Coo::<f64>::new(grid.nrows, grid.ncols);
    for (n, (i, j)) in grid.rows.iter().zip(&grid.columns).enumerate() {
        coo.push(*i, *j, 1.0 / (n as f64 + 3.0));
    }
    let a: Matrix<f64> = Matrix::build_with(&coo, Plus).unwrap();
    let on = |d: Device| -> Vec<_> {
        let a = a.to(&d).unwrap();
        let strategy = if d == Device::Reference { Strategy::Auto } else { Strategy::Band };
        let entries = mxm(&a, &a).strategy(strategy).eval().unwrap().entries().unwrap();
        entries.iter().map(|e| (e.0, e.1, e.2.to_bits())).collect()
    };
    assert!(on(Device::Cuda(0)) == on(Device::Reference));
}

/// Terms without order, zeros of both signs and infinite ones: sums that no comparison decides are added up.
#[test]
fn least_and_greatest_floats() {
    if emulator::cuda().is_none() {
        return;
    }
    let odd = [f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.5, -2.25, 3.0];
    fn bits<S: Semiring<f64, f64, Out = f64>>(a: &Matrix<f64>, d: Device) -> Vec<(u64, u64, Option<u64>)> {
        let a = a.to(&d).unwrap().over::<S>();
        let strategy = if d == Device::Reference { Strategy::Auto } else { Strategy::Band };
        let entries = mxm(&a, &a).strategy(strategy).eval().unwrap().entries().unwrap();
        entries.iter().map(|e| (e.0, e.1, (!e.2.is_nan()).then_some(e.2.to_bits()))).collect()
    }
    fn same<S: Semiring<f64, f64, Out = f64>>(a: &Matrix<f64>) {
        assert!(bits::<S>(a, Device::Cuda(0)) == bits::<S>(a, Device::Reference), "{}", std::any::type_name::<S>());
    }
    // Of how many kinds values are: of one alone, of zeros alone, of all.
    for (from, kinds) in [(0, 1), (1, 2), (3, 1), (0, 8)] {
        let pattern = on_diagonals(700, 700, &[-33, -2, -1, 0, 1, 2, 40], 9);
        let entries = pattern.entries().unwrap().into_iter().enumerate();
        let entries: Vec<_> = entries.map(|(n, (i, j, _))| (i, j, odd[from + (n * n / 3 + n) % kinds])).collect();
        let a: Matrix<f64> = Matrix::build(700, 700, &entries).unwrap();
        same::<MinPlus>(&a);
        same::<MaxPlus>(&a);
        same::<MinFirst>(&a);
        same::<MaxTimes>(&a);
    }
}

/// More diagonals than a word has bits, of A, of B and of C; sums of every kind.
#[test]
fn many_diagonals() {
    if emulator::cuda().is_none() {
        return;
    }
    let band = |half: i64| (-half..=half).collect::<Vec<_>>();
    for (left, right, gap) in [(band(45), band(40), u64::MAX / 4), (band(3), band(70), 11), (band(34), vec![-5, 0], 4)]
    {
        let (a, b) = (on_diagonals(500, 480, &left, gap), on_diagonals(480, 510, &right, gap));
        compare::<PlusTimes>(&a, &b, Strategy::Band);
        compare::<AnySecond>(&a, &b, Strategy::Band);
        compare::<PlusPair>(&a, &b, Strategy::Band);
    }
}

/// Rows with gaps by corners alone and by many gaps, of so many diagonals that several warps share a row.
#[test]
fn rows_with_gaps() {
    if emulator::cuda().is_none() {
        return;
    }
    let wide: Vec<i64> = (-40..=40).collect();
    let apart: Vec<i64> = (-9..=9).map(|d| d * d * d / 4).collect();
    for (m, k, n, left, right, gap) in [
        (400, 400, 400, &wide, &wide, u64::MAX / 4),
        (400, 420, 390, &apart, &wide, 30),
        (640, 640, 640, &apart, &apart, 1),
    ] {
        let (a, b) = (on_diagonals(m, k, left, gap), on_diagonals(k, n, right, gap));
        compare::<PlusTimes>(&a, &b, Strategy::Band);
        compare::<MaxMin>(&a, &b, Strategy::Band);
        compare::<PlusFirst>(&a, &b, Strategy::Band);
        compare::<AnySecondI>(&a, &b, Strategy::Band);
        compare::<AnyPair>(&a, &b, Strategy::Band);
    }
}

/// Few rows with gaps are summed by a lane a step, many by a lane a row; their number is what decides.
#[test]
fn rows_with_gaps_few_and_many() {
    if emulator::cuda().is_none() {
        return;
    }
    let kernels = |a: &Matrix<i64>, kernel: &str| {
        let a = a.to(&Device::Cuda(0)).unwrap();
        let context = Context::get(0).unwrap();
        let (_, ran) = context.trace(|| mxm(&a, &a).strategy(Strategy::Band).eval()).unwrap();
        ran.iter().filter(|timed| timed.kernel == kernel).count()
    };
    let wide: Vec<i64> = (-20..=20).collect();
    // Full but for the corners; and on real devices, which have more multiprocessors, more rows.
    let (few, many) = (on_diagonals(4100, 4100, &wide, u64::MAX / 4), on_diagonals(60_000, 60_000, &[-9, 0, 1], 1));
    assert_eq!((kernels(&few, "spgemm_band_few"), kernels(&few, "spgemm_band_others")), (1, 0));
    assert_eq!((kernels(&many, "spgemm_band_few"), kernels(&many, "spgemm_band_others")), (0, 1));
    compare::<PlusTimes>(&few, &few, Strategy::Band);
    compare::<AnySecondI>(&few, &few, Strategy::Band);
    compare::<AnyPair>(&few, &few, Strategy::Band);
    compare::<MaxMin>(&few, &few, Strategy::Band);
    compare::<PlusTimes>(&many, &many, Strategy::Band);
    // Values larger than what the first of these has room for.
    let hops: Vec<_> =
        few.entries().unwrap().into_iter().map(|(i, j, v)| (i, j, Hop::make((v % 4) as f64, i))).collect();
    let hops: Matrix<Hop, Shortest> = Matrix::build(4100, 4100, &hops).unwrap();
    let on = |d: Device, strategy: Strategy| {
        let a = hops.to(&d).unwrap();
        mxm(&a, &a).strategy(strategy).eval().unwrap().entries().unwrap()
    };
    assert!(on(Device::Cuda(0), Strategy::Band) == on(emulator::oracle(2 * hops.nvals()), Strategy::Auto));
}

/// A semiring of the user's, whose values are larger than what is staged; ties are broken by the order of terms.
#[test]
fn own_semirings() {
    if emulator::cuda().is_none() {
        return;
    }
    let pattern = on_diagonals(900, 900, &[-30, -1, 0, 1, 2, 30], 6);
    let hops: Vec<_> =
        pattern.entries().unwrap().into_iter().map(|(i, j, v)| (i, j, Hop::make((v % 4) as f64, i))).collect();
    let a: Matrix<Hop, Shortest> = Matrix::build(900, 900, &hops).unwrap();
    let on = |d: Device, strategy: Strategy| {
        let a = a.to(&d).unwrap();
        mxm(&a, &a).strategy(strategy).eval().unwrap().entries().unwrap()
    };
    assert!(on(Device::Cuda(0), Strategy::Band) == on(Device::Reference, Strategy::Auto));
}

/// Any shapes, diagonals and gaps, numbers and what is none.
#[test]
fn any_diagonals() {
    if emulator::cuda().is_none() {
        return;
    }
    fn of((m, n): (u64, u64), shifts: &[i8], gap: u8) -> Matrix<f64> {
        let shifts: std::collections::BTreeSet<i64> = shifts.iter().map(|s| i64::from(*s) * 3 / 2).collect();
        let pattern = on_diagonals(m, n, &shifts.into_iter().collect::<Vec<_>>(), u64::from(gap) + 1);
        let entries = pattern.entries().unwrap().into_iter();
        let value = |(n, v): (usize, i64)| [v as f64, v as f64, 0.0, -0.0, f64::NAN, f64::INFINITY][n % 6];
        let entries: Vec<_> = entries.enumerate().map(|(at, (i, j, v))| (i, j, value((at, v)))).collect();
        Matrix::build(m, n, &entries).unwrap()
    }
    fn same<S: Semiring<f64, f64>>(a: &Matrix<f64>, b: &Matrix<f64>) -> bool {
        let on = |d: Device, strategy: Strategy| {
            let (a, b) = (a.to(&d).unwrap().over::<S>(), b.to(&d).unwrap().over());
            let c = mxm(&a, &b).strategy(strategy).eval().unwrap();
            // Zeros by their sign; of what is no number any bits.
            let text = |e: (u64, u64, S::Out)| (e.0, e.1, format!("{:?}", e.2));
            c.entries().unwrap().into_iter().map(text).collect::<Vec<_>>()
        };
        on(Device::Cuda(0), Strategy::Band) == on(Device::Reference, Strategy::Auto)
    }
    fn property((m, k, n): (u8, u8, u8), left: Vec<i8>, right: Vec<i8>, gap: u8) -> bool {
        let [m, k, n] = [m, k, n].map(|x| u64::from(x) + 1);
        let (a, b) = (of((m, k), &left, gap), of((k, n), &right, gap / 2));
        same::<PlusTimes>(&a, &b)
            && same::<MinPlus>(&a, &b)
            && same::<MaxMin>(&a, &b)
            && same::<AnySecondJ>(&a, &b)
            && same::<PlusPair>(&a, &b)
    }
    quickcheck::QuickCheck::new().tests(25).quickcheck(property as fn((u8, u8, u8), Vec<i8>, Vec<i8>, u8) -> bool);
}

/// A product of a product: the result's diagonals are found out in turn.
#[test]
fn powers() {
    if emulator::cuda().is_none() {
        return;
    }
    let a = on_diagonals(4200, 4200, &[-1, 0, 64], 4);
    let on = |d: Device| {
        let a = a.to(&d).unwrap();
        let squared = mxm(&a, &a).strategy(Strategy::Band).eval().unwrap();
        mxm(&squared, &squared).strategy(Strategy::Band).eval().unwrap().entries().unwrap()
    };
    assert!(on(Device::Cuda(0)) == on(emulator::oracle(4 * a.nvals())));
}

/// Vectors with a value at every place, from the right and, from the second time on by kept columns, from the left.
#[test]
fn full_vectors() {
    if emulator::cuda().is_none() {
        return;
    }
    let context = Context::get(0).unwrap();
    let many: Vec<i64> = (-3..=28).collect();
    // Rows that fill no warp at the end; gaps, but an entry in each row; all 32 diagonals; more columns than rows; rows without any
    // entry, too many diagonals and too few rows for this way.
    for (m, n, shifts, gap, by_diagonals) in [
        (33_001, 33_001, vec![-180, -1, 0, 1, 180], u64::MAX / 4, true),
        (33_010, 33_010, vec![-2, 0, 7], 5, true),
        (32_800, 32_828, many.clone(), 40, true),
        (32_770, 70_000, vec![0, 30_000], u64::MAX / 4, true),
        (33_000, 33_000, vec![3, 40], u64::MAX / 4, false),
        (32_800, 32_850, many.iter().copied().chain([40]).collect(), 40, false),
        (3_000, 3_000, vec![-1, 0, 1], u64::MAX / 4, false),
    ] {
        let a = on_diagonals(m, n, &shifts, gap);
        let full = |n: u64| -> Vector<i64> {
            Vector::build(n, &(0..n).map(|i| (i, (i * 37 % 101) as i64 - 40)).collect::<Vec<_>>()).unwrap()
        };
        let hop = |v: i64| Hop::make((v % 50) as f64, v.unsigned_abs());
        let hops: Vec<_> = a.entries().unwrap().into_iter().map(|(i, j, v)| (i, j, hop(v))).collect();
        let hops: Matrix<Hop, Shortest> = Matrix::build(m, n, &hops).unwrap();
        let to: Vec<_> = (0..n).map(|j| (j, hop(j as i64))).collect();
        let to: Vector<Hop, Shortest> = Vector::build(n, &to).unwrap();
        let on = |d: Device| {
            let (a, x, y) = (a.to(&d).unwrap(), full(n).to(&d).unwrap(), full(m).to(&d).unwrap());
            // Of two times the second is by columns.
            let mut values = vec![
                mxv(&a, &x).eval().unwrap(),
                mxv(&a.over::<MinPlus>(), &x.over()).eval().unwrap().over(),
                vxm(&y, &a).eval().unwrap(),
                vxm(&y, &a).eval().unwrap(),
            ];
            let mut places = vec![mxv(&a.over::<AnySecondI>(), &x.over()).eval().unwrap().over::<PlusTimes>()];
            let (mut floats, mut truth, mut paths) = (None, None, None);
            // The rest of few entries.
            if shifts.len() < 10 {
                values.extend([
                    mxv(&a.over::<MaxFirst>(), &x.over()).eval().unwrap().over(),
                    mxv(&a.over::<AnySecond>(), &x.over()).eval().unwrap().over(),
                    vxm(&y.over::<MaxSecond>(), &a.over()).eval().unwrap().over(),
                ]);
                places.extend([
                    vxm(&y.over::<AnyFirstI>(), &a.over()).eval().unwrap().over(),
                    vxm(&y.over::<AnySecondJ>(), &a.over()).eval().unwrap().over(),
                    mxv(&a.over::<PlusPair>(), &x.over()).eval().unwrap().over(),
                ]);
                let (narrow, bits) = (a.cast::<f32>().unwrap(), a.cast::<bool>().unwrap().over::<LorLand>());
                floats = Some(mxv(&narrow, &x.cast::<f32>().unwrap()).eval().unwrap().entries().unwrap());
                truth = Some(mxv(&bits, &x.cast::<bool>().unwrap().over()).eval().unwrap().entries().unwrap());
                paths = Some(mxv(&hops.to(&d).unwrap(), &to.to(&d).unwrap()).eval().unwrap().entries().unwrap());
            }
            let entries = |v: &Vector<i64>| v.entries().unwrap();
            let places: Vec<_> = places.iter().map(|v| v.entries().unwrap()).collect();
            (values.iter().map(entries).collect::<Vec<_>>(), places, floats, truth, paths)
        };
        let (made, launches) = context.trace(|| Ok(on(Device::Cuda(0)))).unwrap();
        assert!(made == on(emulator::oracle(m)), "{m}×{n} on {} diagonals", shifts.len());
        let count = |name: &str| launches.iter().filter(|l| l.kernel == name).count();
        // Of columns some may be empty.
        let (by_band, by_tiles) = (count("spmv_band"), count("spmv_full"));
        assert_eq!(by_band > 0, by_diagonals, "{m}×{n}: {by_band} by diagonals, {by_tiles} by tiles");
    }
}
