//! What is spread unevenly on CUDA, emulated or real: many tiles one below the other, indices again and again, hubs and dense columns cost
//! as much as they have entries, and come to what the CPU makes of them.
#![cfg(feature = "cuda")]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator;
use oplus::backend::cuda::Context;
use oplus::prelude::*;
use random::Rng;

const GPU: Device = Device::Cuda(0);

/// What `run` makes, and the most bytes that buffers held at once beyond those before.
fn measured<R>(run: impl FnOnce() -> R) -> (R, u64) {
    let context = Context::get(0).unwrap();
    let held = context.memory_in_use();
    context.reset_peak();
    let made = run();
    (made, context.peak() - held)
}

fn random(rows: u64, columns: u64, entries: u64, seed: u64) -> Matrix<i64> {
    let (mut coo, mut random) = (Coo::new(rows, columns), Rng(seed | 1));
    (0..entries).for_each(|_| coo.push(random.below(rows), random.below(columns), random.below(99) as i64 - 40));
    Matrix::build_with(&coo, Plus).unwrap()
}

/// Lines of tiles of so many rows, of `width` each; some have no entries, some no rows.
fn tiles(lines: u64, width: u64, rows: u64) -> Vec<Vec<Matrix<i64>>> {
    let line = |l: u64| {
        let rows = if l % 7 == 3 { 0 } else { rows };
        let tile = |t: u64| random(rows, 5 + t, if rows == 0 || l % 5 == 2 { 0 } else { 1 + l % 9 }, 31 * l + t);
        (0..width).map(tile).collect()
    };
    (0..lines).map(line).collect()
}

fn on_gpu(tiles: &[Vec<Matrix<i64>>]) -> Vec<Vec<Matrix<i64>>> {
    tiles.iter().map(|line| line.iter().map(|t| t.to(&GPU).unwrap()).collect()).collect()
}

fn together(tiles: &[Vec<Matrix<i64>>]) -> Matrix<i64> {
    concat(&tiles.iter().map(|line| line.iter().collect::<Vec<_>>()).collect::<Vec<_>>()).unwrap()
}

/// Each line was moved to the height of all: offsets for every row of the result, as many times as there are lines.
#[test]
fn tiles_below_each_other_take_what_they_have() {
    let Some(_one) = emulator::alone() else { return };
    for (width, rows) in [(1, 1), (1, 8), (3, 4)] {
        let tiles = tiles(150, width, rows);
        let there = on_gpu(&tiles);
        let (made, peak) = measured(|| together(&there));
        let expected = together(&tiles);
        assert_eq!(made.shape(), expected.shape());
        assert_eq!(made.entries().unwrap(), expected.entries().unwrap(), "{width} tiles of {rows} rows");
        let (rows, entries) = (made.nrows(), made.nvals());
        // The result, and a line of tiles.
        assert!(peak <= 2 * (8 * (rows + 1) + 12 * entries) + 4096, "{peak} bytes for {rows} rows, {entries} entries");
    }
}

#[test]
fn tiles_of_one_value_keep_it() {
    let Some(_one) = emulator::alone() else { return };
    let of = |value: [i64; 3]| -> Vec<Vec<Matrix<i64>>> {
        let tile = |(seed, value): (u64, i64)| random(6, 9, 12, seed).with_value(value).unwrap();
        (0..3).map(|l| (0..2).map(|t| tile((l * 2 + t + 1, value[l as usize]))).collect()).collect()
    };
    for values in [[7, 7, 7], [7, 7, 8], [i64::MIN, 1, 0]] {
        let mut tiles = of(values);
        // Of no entries none has another value.
        tiles.push(vec![Matrix::new(2, 9).unwrap(), Matrix::new(2, 9).unwrap()]);
        let made = together(&on_gpu(&tiles));
        assert_eq!(made.entries().unwrap(), together(&tiles).entries().unwrap(), "{values:?}");
        let (all, one) = (made.memory_bytes(), made.with_value(7).unwrap().memory_bytes());
        assert_eq!(all == one, values == [7, 7, 7], "{values:?}: {all} and {one} bytes");
    }
}

/// One thread wrote all that an entry becomes; now every result has a thread, whatever it comes from.
#[test]
fn indices_again_and_again() {
    let Some(_one) = emulator::alone() else { return };
    let a = random(20, 30, 200, 5);
    let there = a.to(&GPU).unwrap();
    let mut random = Rng(17);
    let mut drawn = |n: usize, often: u64| -> Vec<u64> {
        (0..n).map(|_| if random.below(10) < often { 5 } else { random.below(30) }).collect()
    };
    let mut sorted = drawn(6000, 8);
    sorted.sort_unstable();
    for columns in [vec![5; 9000], drawn(9000, 9), drawn(700, 0), sorted, vec![7, 5, 5]] {
        let context = Context::get(0).unwrap();
        let (made, launches) = context.trace(|| extract(&there, .., columns.clone()).eval()).unwrap();
        let expected = extract(&a, .., columns.clone()).eval().unwrap();
        assert_eq!(made.entries().unwrap(), expected.entries().unwrap(), "{} columns", columns.len());
        let keys = launches.iter().find(|l| l.kernel == "columns_keys").expect("columns are moved one by one");
        // Blocks of 4096 results at most.
        assert!(keys.blocks >= expected.nvals().div_ceil(4096), "{} blocks: {}", keys.blocks, expected.nvals());
        for row in [0, 3, 19] {
            let (u, on_gpu) = (extract_row(&a, row, ..).eval().unwrap(), extract_row(&there, row, ..).eval().unwrap());
            let made = extract_vector(&on_gpu, columns.clone()).eval().unwrap();
            let expected = extract_vector(&u, columns.clone()).eval().unwrap();
            assert_eq!(made.entries().unwrap(), expected.entries().unwrap(), "row {row}, {} indices", columns.len());
        }
    }
}

oplus::scalar! { /// 16 bytes.
pub struct Hop { dist: f64, hops: u64 } }
oplus::semiring! { pub struct Shortest[](Hop, Hop) -> Hop;
    identity = Hop::make(f64::INFINITY, u64::MAX);
    add = |x, y| (select(x.dist < y.dist || (x.dist == y.dist && x.hops <= y.hops), x, y));
    multiply = |a, b, at| (Hop::make(add(a.dist, b.dist), add(add(a.hops, a.hops), add(b.hops, at.k))));
}
oplus::scalar! { /// 24 bytes, of which a block has the sums of fewer columns.
pub struct Route { dist: f64, first: u64, toll: i64 } }
oplus::semiring! { pub struct Together[](Route, Route) -> Route;
    identity = Route::make(f64::INFINITY, 0, 0);
    add = |x, y| (Route::make(min(x.dist, y.dist), max(x.first, y.first), add(x.toll, y.toll)));
    multiply = |a, b, at| (Route::make(add(a.dist, b.dist), add(b.first, at.k), mul(a.toll, b.toll)));
}

fn hop(n: u64) -> Hop {
    Hop::make((n % 7) as f64, n)
}
fn route(n: u64) -> Route {
    Route::make((n % 50) as f64, n, n as i64 % 13 - 6)
}
fn number(n: u64) -> i64 {
    n as i64 % 19 - 9
}

/// Rows with entries in these columns.
fn matrix<T: Scalar>(rows: u64, columns: u64, value: fn(u64) -> T, row: fn(u64) -> Vec<u64>) -> Matrix<T> {
    let all = (0..rows).flat_map(|i| row(i).into_iter().map(move |j| (i, j, value(i * 31 + j * 7))));
    Matrix::build(rows, columns, &all.collect::<Vec<_>>()).unwrap()
}
fn vector<T: Scalar>(n: u64, value: fn(u64) -> T, has: impl Fn(u64) -> bool) -> Vector<T> {
    let entries: Vec<_> = (0..n).filter(|i| has(*i)).map(|i| (i, value(i * 5 + 1))).collect();
    Vector::build(n, &entries).unwrap()
}

/// Which products of a matrix and a vector are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asked {
    Vxm,
    Mxv,
}

/// The most blocks that a launch of this kernel had, where the product on CUDA is the CPU's without a mask, under one and under its
/// complement.
fn most_blocks<T: Scalar, S: Semiring<T, T>>(asked: Asked, a: &Matrix<T>, x: &Vector<T>, kernel: &str) -> u64 {
    let context = Context::get(0).unwrap();
    let (there, x_there) = (a.to(&GPU).unwrap(), x.to(&GPU).unwrap());
    let n = if asked == Asked::Vxm { a.ncols() } else { a.nrows() };
    let m = vector(n, |_| true, |i| i % 3 == 0 || i == 5);
    let made = |a: &Matrix<T>, x: &Vector<T>, m: &Vector<bool>, masked: usize| -> Result<Vec<(u64, S::Out)>> {
        let (a, x) = (a.over::<S>(), x.over::<S>());
        let operation = match asked {
            Asked::Vxm => vxm(&x, &a),
            Asked::Mxv => mxv(&a, &x),
        };
        let made = match masked {
            0 => operation.eval(),
            1 => operation.mask(&m.structure()).eval(),
            _ => operation.mask(&m.structure().complement()).eval(),
        };
        made?.entries()
    };
    let m_there = m.to(&GPU).unwrap();
    let mut most = 0;
    for masked in 0..3 {
        let (found, launches) = context.trace(|| made(&there, &x_there, &m_there, masked)).unwrap();
        assert_eq!(found, made(a, x, &m, masked).unwrap(), "{asked:?} {} {masked}", std::any::type_name::<S>());
        let blocks = launches.iter().filter(|l| l.kernel == kernel).map(|l| l.blocks).max();
        most = most.max(blocks.unwrap_or(0));
    }
    most
}

const HUB: u64 = 60_000;

/// Three columns.
fn few(i: u64) -> Vec<u64> {
    vec![i * 97 % 20_000, 20_000 + i * 13 % 20_000, 40_000 + i * 7 % 20_000]
}

/// A block had all of a hub's row to itself.
#[test]
fn a_hub_is_pushed_by_many_blocks() {
    let Some(_one) = emulator::alone() else { return };
    let hub = |i| if i == 7 { (0..HUB).collect() } else { few(i) };
    let frontier = |i| i == 7 || i % 500 == 1;
    fn same<T: Scalar, S: Semiring<T, T>>(value: fn(u64) -> T, row: fn(u64) -> Vec<u64>, x: fn(u64) -> bool) -> u64 {
        let (a, x) = (matrix(4000, HUB, value, row), vector(4000, value, x));
        let most = |kernel| most_blocks::<T, S>(Asked::Vxm, &a, &x, kernel);
        most("spmspv_push").max(most("spmspv_claim"))
    }
    for (name, blocks) in [
        ("PlusTimes", same::<_, PlusTimes>(number, hub, frontier)),
        ("MinSecondI", same::<_, MinSecondI>(number, hub, frontier)),
        ("AnySecondI", same::<_, AnySecondI>(number, hub, frontier)),
        ("Shortest", same::<_, Shortest>(hop, hub, frontier)),
    ] {
        // 8192 products each.
        assert_eq!(blocks, HUB / 8192, "{name}");
    }
    // Rows of a few entries are as they were, where products are too large for one block to sort.
    assert_eq!(same::<_, Together>(route, few, frontier), 1);
}

/// Terms of a ⊕ without an atomic operation: each waited for the lock of its column.
#[test]
fn a_dense_column_is_summed_by_blocks() {
    let Some(_one) = emulator::alone() else { return };
    // More columns than a block has sums of.
    let dense = |i| [3].into_iter().chain((0..5).map(|e| 4 + e * 250 + i * 11 % 250)).collect();
    fn same<T: Scalar, S: Semiring<T, T>>(value: fn(u64) -> T, row: fn(u64) -> Vec<u64>) {
        let a = matrix(900, 1300, value, row);
        for part in [1, 2, 7] {
            let x = vector(900, value, |i| i % 7 < part || part == 7);
            let push = if part == 7 { "spmspv_push_all" } else { "spmspv_push" };
            assert!(most_blocks::<T, S>(Asked::Vxm, &a, &x, push) > 0, "{push}");
        }
    }
    same::<_, Compose<Times, First>>(number, dense);
    same::<_, Shortest>(hop, dense);
    same::<_, Together>(route, dense);
}

/// A row of many entries was a block's.
#[test]
fn long_rows_are_pulled_by_many_blocks() {
    let Some(_one) = emulator::alone() else { return };
    let long = |i| match i {
        0 => (0..HUB).collect(),
        1 => (1..HUB).step_by(6).collect(),
        3 => (2..HUB).step_by(11).collect(),
        4 => (40_000..HUB).collect(),
        _ => few(i),
    };
    fn same<T: Scalar, S: Semiring<T, T>>(value: fn(u64) -> T, row: fn(u64) -> Vec<u64>) {
        let a = matrix(6, HUB, value, row);
        let frontiers: [fn(u64) -> bool; 4] = [|j| j % 2 == 0, |j| j < 9000, |j| j == 59_998, |_| true];
        for x in frontiers {
            let blocks = most_blocks::<T, S>(Asked::Mxv, &a, &vector(HUB, value, x), "spmv_long_rows");
            assert!(blocks > a.nrows(), "{blocks} blocks");
        }
    }
    same::<_, PlusTimes>(number, long);
    same::<_, AnySecondI>(number, long);
    same::<_, LorLand>(|n| n % 50 != 0, long);
    same::<_, Compose<Times, First>>(number, long);
    same::<_, Shortest>(hop, long);
}
