//! Products with a vector of which there are few, on CUDA, emulated or real: one launch makes the row, and nothing is as long as there are
//! columns.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::backend::cuda::{Context, Timed};
use oplus::prelude::*;
use random::Rng;

const GPU: Device = Device::Cuda(0);
const ROWS: u64 = 3000;
const COLUMNS: u64 = 50_000;
/// So many are cleared more slowly than the most products are sorted.
const WIDE: u64 = 1 << 21;

oplus::scalar! { /// 16 bytes.
pub struct Hop { dist: f64, hops: u64 } }
oplus::semiring! { pub struct Shortest[](Hop, Hop) -> Hop;
    identity = Hop::make(f64::INFINITY, u64::MAX);
    add = |x, y| (select(x.dist < y.dist || (x.dist == y.dist && x.hops <= y.hops), x, y));
    multiply = |a, b, at| (Hop::make(add(a.dist, b.dist), add(add(a.hops, a.hops), add(b.hops, at.k))));
}
oplus::scalar! { /// 24 bytes: too many for the one launch.
pub struct Route { dist: f64, first: u64, toll: i64 } }
oplus::semiring! { pub struct Together[](Route, Route) -> Route;
    identity = Route::make(f64::INFINITY, 0, 0);
    add = |x, y| (Route::make(min(x.dist, y.dist), max(x.first, y.first), add(x.toll, y.toll)));
    multiply = |a, b, at| (Route::make(add(a.dist, b.dist), add(b.first, at.k), mul(a.toll, b.toll)));
}

/// Rows of up to five entries, some of none; every tenth row meets others in the first columns.
fn row(i: u64) -> Vec<u64> {
    let mut random = Rng(i * 7 + 1);
    let end = if i.is_multiple_of(10) { 40 } else { COLUMNS };
    let mut row: Vec<u64> = (0..i % 6).map(|_| random.below(end)).collect();
    row.sort_unstable();
    row.dedup();
    row
}
fn matrix<T: Scalar>(value: fn(u64) -> T, row: fn(u64) -> Vec<u64>) -> Matrix<T> {
    let all = (0..ROWS).flat_map(|i| row(i).into_iter().map(move |j| (i, j, value(i * 31 + j * 7))));
    Matrix::build(ROWS, COLUMNS, &all.collect::<Vec<_>>()).unwrap()
}
fn wide<T: Scalar>(value: fn(u64) -> T) -> Matrix<T> {
    let all = (0..ROWS).flat_map(|i| row(i).into_iter().map(move |j| (i, j * 41, value(i * 31 + j * 7))));
    Matrix::build(ROWS, WIDE, &all.collect::<Vec<_>>()).unwrap()
}
fn vector<T: Scalar>(n: u64, value: fn(u64) -> T, has: impl Fn(u64) -> bool) -> Vector<T> {
    let entries: Vec<_> = (0..n).filter(|i| has(*i)).map(|i| (i, value(i * 5 + 1))).collect();
    Vector::build(n, &entries).unwrap()
}

/// Kernels launched where the product on CUDA is the definition's, for all masks.
fn launched<T: Scalar, S: Semiring<T, T>>(a: &Matrix<T>, x: &Vector<T>) -> Vec<Timed> {
    let context = Context::get(0).unwrap();
    let m = vector(a.ncols(), |_| true, |i| i % 3 == 0 || i < 20);
    let made = |device: &Device, masked: usize| -> Result<Vec<(u64, S::Out)>> {
        let (a, x, m) = (a.to(device)?, x.to(device)?, m.to(device)?);
        let m = if masked.is_multiple_of(2) { m.to_bitmap()? } else { m };
        let (a, x) = (a.over::<S>(), x.over::<S>());
        let product = vxm(&x, &a);
        match masked {
            0 => product.eval(),
            1 | 2 => product.mask(&m.structure()).eval(),
            _ => product.mask(&m.structure().complement()).eval(),
        }?
        .entries()
    };
    let mut all = Vec::new();
    for masked in 0..5 {
        let (found, launches) = context.trace(|| made(&GPU, masked)).unwrap();
        let expected = made(&Device::Reference, masked).unwrap();
        assert!(!expected.is_empty());
        assert_eq!(found, expected, "{} mask {masked}", std::any::type_name::<S>());
        all.extend(launches);
    }
    all
}

fn times(launches: &[Timed], kernel: &str) -> usize {
    launches.iter().filter(|l| l.kernel == kernel).count()
}

fn frontier(i: u64) -> bool {
    i % 60 < 2
}

/// They were written to places for all columns, which were cleared before and looked through afterwards.
#[test]
fn few_products_are_one_launch() {
    let Some(_one) = emulator::alone() else { return };
    fn one<T: Scalar, S: Semiring<T, T>>(value: fn(u64) -> T) {
        let launches = launched::<T, S>(&matrix(value, row), &vector(ROWS, value, frontier));
        assert_eq!(times(&launches, "spmspv_few"), 5, "{}", std::any::type_name::<S>());
        let columns = launches.iter().filter(|l| l.kernel.starts_with("spmspv") && l.kernel != "spmspv_few");
        assert_eq!(columns.count(), 0);
    }
    // Sums of floats in the order of k, as by the definition.
    one::<f64, PlusTimes>(|n| n as f64 * 0.37 - 11.0);
    one::<f32, MaxPlus>(|n| n as f32 * 0.37 - 11.0);
    one::<u8, PlusTimes>(|n| n as u8);
    one::<bool, LorLand>(|n| n % 3 > 0);
    one::<bool, LxorLand>(|n| n % 3 > 0);
    one::<i64, MinSecondI>(|n| n as i64);
    one::<i64, AnySecondI>(|n| n as i64);
    one::<i32, AnyPair>(|n| n as i32);
    one::<i64, Compose<Times, First>>(|n| n as i64 % 5 - 2);
    one::<Hop, Shortest>(|n| Hop::make((n % 7) as f64, n));
    one::<c64, PlusTimes>(|n| c64::new(n as f64 * 0.3, 5.0 - n as f64));
    // As many as one block sorts.
    let most = vector(ROWS, |n| n as f64 * 0.37 - 11.0, |i| i % 60 < 8);
    let launches = launched::<f64, PlusTimes>(&wide(|n| n as f64 * 0.37 - 11.0), &most);
    assert_eq!(times(&launches, "spmspv_few"), 5);
}

/// Larger values, more products, fewer columns, and rows of a length that nobody knew.
#[test]
fn others_are_pushed() {
    let Some(_one) = emulator::alone() else { return };
    let route = |n| Route::make((n % 50) as f64, n, n as i64 % 13 - 6);
    let launches = launched::<Route, Together>(&matrix(route, row), &vector(ROWS, route, frontier));
    assert_eq!(times(&launches, "spmspv_few"), 0);
    let number = |n| n as i64 % 19 - 9;
    let launches = launched::<i64, PlusTimes>(&matrix(number, row), &vector(ROWS, number, |i| i % 60 < 8));
    assert_eq!(times(&launches, "spmspv_few"), 0);
    // A hub among rows of whose lengths only the mean is known: made by the device.
    let hub = |i| if i == 20 { (0..COLUMNS / 10).collect() } else { row(i) };
    let a = transpose(&transpose(&matrix(number, hub).to(&GPU).unwrap()).eval().unwrap()).eval().unwrap();
    for (has, pushed) in [(21, 0), (20, 1)] {
        let x = vector(ROWS, number, |i| i == 7 || i == has || i == 31);
        let (there, context) = (x.to(&GPU).unwrap(), Context::get(0).unwrap());
        let (made, launches) = context.trace(|| vxm(&there, &a).eval()?.entries()).unwrap();
        assert_eq!(made, vxm(&x, &a.to(&Device::Cpu).unwrap()).eval().unwrap().entries().unwrap());
        assert_eq!((times(&launches, "spmspv_few"), times(&launches, "spmspv_push")), (1, pushed), "{has}");
    }
}

/// Sums that need no mark of their first term have none: places for all columns, and nothing else as long.
#[test]
fn native_sums_have_no_state() {
    let Some(_one) = emulator::alone() else { return };
    let number = |n| n as i64 % 19 - 9;
    let (a, x) = (matrix(number, row).to(&GPU).unwrap(), vector(ROWS, number, |i| i % 20 < 17).to(&GPU).unwrap());
    let context = Context::get(0).unwrap();
    let run = || vxm(&x, &a).eval().unwrap();
    drop(run());
    let held = context.memory_in_use();
    context.reset_peak();
    let made = run();
    let entries = made.nvals();
    let bytes = context.peak() - held;
    assert!(bytes <= COLUMNS * 8 + COLUMNS / 8 + COLUMNS * 12 + 4096, "{bytes} bytes, {entries} entries");
}

const MANY: u64 = 1 << 26;

/// Nothing is as long as there are columns, neither while it is made nor afterwards.
fn small<R>(what: &str, run: impl FnOnce() -> Result<R>) -> R {
    let context = Context::get(0).unwrap();
    let held = context.memory_in_use();
    context.reset_peak();
    let made = run().unwrap();
    let (most, now) = (context.peak() - held, context.memory_in_use() - held);
    assert!(most < 1 << 20 && now < 1 << 16, "{what}: {most} bytes, {now} at the end");
    made
}

/// 1000 rows with a place for each of many columns.
fn of_many_columns(entries: &[(u64, u64, f64)]) -> Matrix<f64> {
    Matrix::build(1000, MANY, entries).unwrap().to_format(Format::Csr).unwrap()
}

fn two_a_row() -> Vec<(u64, u64, f64)> {
    let value = |n: u64| n as f64 * 0.37 - 11.0;
    (0..1000).flat_map(|i| [(i, i * 67_000, value(i)), (i, i % 50 * 1000 + 1, value(i + 7))]).collect()
}

/// Columns were kept from the second call on, however few entries they had.
#[test]
fn few_products_of_a_full_vector_keep_no_columns() {
    let Some(_one) = emulator::alone() else { return };
    let (a, x) = (of_many_columns(&two_a_row()), vector(1000, |n| n as f64 * 0.11 - 3.0, |_| true));
    let (there, full) = (a.to(&GPU).unwrap(), x.to(&GPU).unwrap());
    let expected = vxm(&x.to(&Device::Reference).unwrap(), &a.to(&Device::Reference).unwrap()).eval().unwrap();
    let expected = expected.entries().unwrap();
    for nth in 0..4 {
        let told = vxm(&full, &there).explain().unwrap().analysis;
        assert_eq!((told.strategy, told.products, told.workspace), ("few", 2000, 2000 * 12), "{nth}: {told:?}");
        let made = small("full", || vxm(&full, &there).eval()?.entries());
        assert_eq!(made, expected, "{nth}");
    }
}

/// Places for all columns were cleared and looked through for a result without entries.
#[test]
fn what_has_no_entries_takes_no_places() {
    let Some(_one) = emulator::alone() else { return };
    let context = Context::get(0).unwrap();
    let (a, none) = (of_many_columns(&two_a_row()).to(&GPU).unwrap(), of_many_columns(&[]).to(&GPU).unwrap());
    let on = |n, entries: &[(u64, f64)]| Vector::<f64>::build(n, entries).unwrap().to(&GPU).unwrap();
    let (x, nothing, full) = (on(1000, &[(3, 1.5)]), on(1000, &[]), Vector::full(1000, 0.5).unwrap().to(&GPU).unwrap());
    let (y, no_places) = (on(MANY, &[(5, 1.0), (MANY - 1, 2.0)]), on(MANY, &[]));
    let mask = y.structure();
    let (made, launches) = context
        .trace(|| {
            Ok([
                small("no x", || vxm(&nothing, &a).eval()),
                small("limited", || vxm(&nothing, &a).memory_limit(1 << 12).eval()),
                small("no A", || vxm(&x, &none).eval()),
                small("full x", || vxm(&full, &none).eval()),
                small("masked", || vxm(&nothing, &a).mask(&mask).eval()),
                small("complement", || vxm(&x, &none).mask(&mask.complement()).eval()),
                small("pulled", || mxv(&a, &no_places).eval()),
                small("pulled from nothing", || mxv(&none, &y).eval()),
            ])
        })
        .unwrap();
    let sizes: Vec<u64> = made.iter().map(|v| v.len()).collect();
    assert_eq!(sizes, [MANY, MANY, MANY, MANY, MANY, MANY, 1000, 1000]);
    assert!(made.iter().all(|v| v.nvals() == 0) && launches.is_empty(), "{launches:?}");
    for told in [vxm(&nothing, &a).explain(), vxm(&full, &none).explain(), mxv(&a, &no_places).explain()] {
        let told = told.unwrap().analysis;
        assert_eq!((told.strategy, told.products, told.workspace, told.bound), ("empty", 0, 0, 0), "{told:?}");
    }
}

/// What is kept is asked first.
#[test]
fn kept_columns_come_before_few_products() {
    let Some(_one) = emulator::alone() else { return };
    let context = Context::get(0).unwrap();
    let number = |n| n as i64 % 19 - 9;
    let entries: Vec<_> = (0..300).map(|i| (i, i * 7 % 1000, number(i))).collect();
    let (a, x) = (Matrix::build(300, COLUMNS, &entries).unwrap(), vector(300, number, |_| true));
    let expected = vxm(&x, &a).eval().unwrap().entries().unwrap();
    let (a, x) = (a.to_format(Format::Csr).unwrap().to(&GPU).unwrap(), x.to(&GPU).unwrap());
    let run = || {
        let told = vxm(&x, &a).explain().unwrap().analysis.strategy;
        let (made, launches) = context.trace(|| vxm(&x, &a).eval()?.entries()).unwrap();
        assert_eq!(made, expected);
        (told, times(&launches, "spmspv_few"))
    };
    assert_eq!([run(), run(), run()], [("few", 1); 3]);
    // Dot products that are asked for keep them.
    let b = Matrix::<i64>::build(2, 300, &[(0, 3, 1i64), (1, 7, 2)]).unwrap().to(&GPU).unwrap();
    let m = Matrix::<i64>::build(2, COLUMNS, &[(0, 21, 1i64), (1, 8, 2)]).unwrap().to(&GPU).unwrap();
    for _ in 0..2 {
        let _ = mxm(&b, &a).mask(&m.structure()).strategy(Strategy::Dot).eval().unwrap();
    }
    assert_eq!([run(), run()], [("columns", 0); 2]);
}
