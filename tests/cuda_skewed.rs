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
