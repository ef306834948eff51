//! Products on CUDA in slices: a process of its own, whose device has little memory and whose launches are traced.
#![cfg(feature = "cuda")]
mod common;

use common::emulator;
use oplus::prelude::*;
use oplus::primitive::{Buffer, Context, segmented_merge};
use std::sync::{Mutex, MutexGuard, PoisonError};

const GPU: Device = Device::Cuda(0);

/// An emulated device of 12 MiB: a slice is of some 40 000 products. One test at a time.
fn device() -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: every test of this process begins here, one at a time, before anything reads the variable.
    unsafe { std::env::set_var("EMU_MEMORY", "12582912") };
    emulator::emulator().map(|_| guard)
}

fn matrix(m: u64, n: u64, places: impl IntoIterator<Item = (u64, u64)>) -> Matrix<i64> {
    let mut coo = Coo::new(m, n);
    places.into_iter().enumerate().for_each(|(e, (i, j))| coo.push(i, j, e as i64 * 7 % 100 - 50));
    Matrix::build_with(&coo, First).unwrap()
}

/// The last one of rows of over 2048 products alone.
const SLICED: [(Strategy, &str); 4] = [
    (Strategy::EscGlobal, "sort_pass"),
    (Strategy::SegmentedMerge, "merge_shorts"),
    (Strategy::ColumnRow, "slice_ordered_lengths"),
    (Strategy::Esc, "merge_sort_tiles"),
];

fn check<S: Semiring<i64, i64>>(
    by: &[(Strategy, &str)],
    a: &Matrix<i64>,
    b: &Matrix<i64>,
    mask: Option<&Matrix<bool>>,
    slices: usize,
) {
    let on = |d: Device, strategy| {
        let (a, b) = (a.to(&d).unwrap().over::<S>(), b.to(&d).unwrap().over());
        let product = mxm(&a, &b).strategy(strategy);
        let c = match mask {
            Some(m) => product.mask(&m.to(&d).unwrap().structure().complement()).eval(),
            None => product.eval(),
        };
        c.unwrap().entries().unwrap()
    };
    let expected = on(Device::Reference, Strategy::Auto);
    let context = Context::get(0).unwrap();
    for (strategy, kernel) in by.iter().copied() {
        let (found, launches) = context.trace(|| Ok(on(GPU, strategy))).unwrap();
        assert!(found == expected, "{strategy} {}", std::any::type_name::<S>());
        let expanded = launches.iter().filter(|l| l.kernel == "spgemm_expand").count();
        assert!(expanded >= slices, "{strategy}: {expanded} slices");
        assert!(launches.iter().any(|l| l.kernel == kernel), "{strategy} without {kernel}");
    }
}

#[test]
fn many_slices() {
    let Some(_one) = device() else { return };
    // 130 000 products, rows without any, a stretch of empty rows at the end.
    let a = matrix(
        500,
        200,
        (0..400).filter(|i| i % 7 != 2).flat_map(|i| (0..i % 30).map(move |e| (i, (i * 3 + e * 11) % 200))),
    );
    let b = matrix(200, 900, (0..200).flat_map(|k| (0..k % 60).map(move |e| (k, (k * k + e * 13) % 900))));
    check::<PlusTimes>(&SLICED[..3], &a, &b, None, 3);
    check::<AnySecondI>(&SLICED[..3], &a, &b, None, 3);
    let mask: Matrix<bool> = Matrix::build(500, 900, &(0..450).map(|i| (i, i * 2, true)).collect::<Vec<_>>()).unwrap();
    check::<MinPlus>(&SLICED[..3], &a, &b, Some(&mask), 3);
}

#[test]
fn rows_of_more_products_than_a_slice() {
    let Some(_one) = device() else { return };
    let row = matrix(3, 300, (0..300).map(|k| (1, k)).chain([(0, 5), (2, 7)]));
    let wide = matrix(300, 500, (0..300).flat_map(|k| (0..300).map(move |e| (k, (k + e * 3) % 500))));
    check::<PlusTimes>(&SLICED, &row, &wide, None, 3);
    // One column has more than all.
    let n = 50_000;
    let (long, tall) = (matrix(2, n, (0..n).map(|k| (1, k))), matrix(n, 9, (0..n).map(|k| (k, 3))));
    check::<PlusTimes>(&SLICED, &long, &tall, None, 1);
    check::<AnyPair>(&SLICED, &long, &tall, None, 1);
}

/// What a strategy's name promises is what runs.
#[test]
fn every_strategy_runs_its_own_kernels() {
    let Some(_one) = device() else { return };
    let places = |n: u64| (0..300).flat_map(move |i| [0u64, 1, 5, 9, 40].map(|s| (i, (i * (s % 4 + 1) + s) % n)));
    let (near, far) = (matrix(300, 300, places(300)), matrix(300, 90_000, places(300).map(|(i, j)| (i, j * 300))));
    let band = matrix(300, 300, (1..300).flat_map(|i| [(i, i - 1), (i, i)]));
    let context = Context::get(0).unwrap();
    for (strategy, a, b, kernel) in [
        (Strategy::EscGlobal, &near, &near, "spgemm_contract"),
        (Strategy::Esc, &near, &far, "spgemm_esc"),
        (Strategy::Hash, &near, &near, "spgemm_numeric_table0"),
        (Strategy::SegmentedMerge, &near, &near, "merge_shorts"),
        (Strategy::ColumnRow, &near, &near, "slice_columns"),
        (Strategy::RowRow, &near, &far, "spgemm_rows"),
        (Strategy::Band, &band, &band, "spgemm_band"),
        (Strategy::BitmapRank, &near, &near, "spgemm_window"),
        (Strategy::BitmapRank, &near, &far, "spgemm_block"),
        (Strategy::Window, &near, &near, "spgemm_window"),
    ] {
        let (a, b) = (a.to(&GPU).unwrap(), b.to(&GPU).unwrap());
        let ((), launches) = context.trace(|| mxm(&a, &b).strategy(strategy).eval().map(drop)).unwrap();
        let names: Vec<&str> = launches.iter().map(|l| l.kernel.as_str()).collect();
        assert!(names.contains(&kernel), "{strategy} runs {names:?}");
        let own = |name: &str| {
            ["spgemm_window", "spgemm_block", "spgemm_esc", "numeric_table"].iter().any(|k| name.contains(k))
        };
        if matches!(strategy, Strategy::BitmapRank | Strategy::Window) {
            assert!(names.iter().filter(|n| own(n)).all(|n| n.contains("window") || n.contains("block")), "{names:?}");
        }
    }
}

/// Segments of no run, one and many; runs of nothing; keys that are equal.
#[test]
fn runs_of_every_length_are_merged() {
    let Some(_one) = device() else { return };
    let mut state = 3u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    for (p, most_runs, longest, keys_below) in [
        (1, 1, 5, 9),
        (0, 1, 1, 1),
        (1, 700, 9, 50),
        (40, 2, 3000, 1 << 40),
        (300, 9, 40, 30),
        (2000, 3, 3, 1 << 20),
        (5, 40, 200, 4),
        (60, 12, 300, 1000),
        (30, 4, 1100, 1 << 50),
    ] {
        let (mut segments, mut runs, mut keys) = (vec![0u64], vec![0u64], Vec::<u64>::new());
        for _ in 0..p {
            for _ in 0..below(most_runs + 1) {
                let mut run: Vec<u64> = (0..below(longest + 1)).map(|_| below(keys_below)).collect();
                run.sort_unstable();
                keys.extend(run);
                runs.push(keys.len() as u64);
            }
            segments.push(runs.len() as u64 - 1);
        }
        let payloads: Vec<u32> = (0..keys.len() as u32).collect();
        let mut expected: Vec<(u64, u32)> = keys.iter().copied().zip(payloads.iter().copied()).collect();
        for s in segments.windows(2) {
            expected[runs[s[0] as usize] as usize..runs[s[1] as usize] as usize].sort();
        }
        let context = Context::get(0).unwrap();
        let (k, v) = (Buffer::from_host(&context, &keys).unwrap(), Buffer::from_host(&context, &payloads).unwrap());
        let (r, s) = (Buffer::from_host(&context, &runs).unwrap(), Buffer::from_host(&context, &segments).unwrap());
        let ((k, v), launches) = context.trace(|| segmented_merge(k, v, &r, &s)).unwrap();
        let has_long = segments.windows(2).any(|s| s[1] - s[0] > 1 && runs[s[1] as usize] - runs[s[0] as usize] > 1024);
        assert_eq!(launches.iter().any(|l| l.kernel == "merge_level"), has_long);
        let found: Vec<(u64, u32)> = k.to_host().unwrap().into_iter().zip(v.to_host::<u32>().unwrap()).collect();
        assert!(found == expected, "{p} segments of up to {most_runs} runs of up to {longest}");
    }
    let context = Context::get(0).unwrap();
    let of = |n: usize| Buffer::zeroed_for::<u64>(&context, n).unwrap();
    let payloads = Buffer::zeroed_for::<u32>(&context, 3).unwrap();
    let error = segmented_merge(of(2), payloads, &of(1), &of(1)).unwrap_err();
    assert!(matches!(&error, Error::InvalidValue { reason, .. } if reason.contains("2 keys, 3 payloads")), "{error}");
    // Keys, runs, segments, and what is said of them.
    let wrong: [(&[u64], &[u64], &[u64], &str); 9] = [
        (&[1, 2], &[0, 2], &[0, 2], "bounds of 1 segments have to ascend from 0 to 1"),
        (&[1, 2], &[0, 2], &[1, 1], "bounds of 1 segments"),
        (&[1, 2], &[0, 1], &[0, 1], "those of 1 runs from 0 to 2"),
        (&[1, 2], &[0, 3], &[0, 1], "those of 1 runs from 0 to 2"),
        (&[1, 2], &[1, 2], &[0, 1], "bounds"),
        (&[1, 2], &[0, u64::MAX, 2], &[0, 2], "bounds"),
        (&[1, 2], &[0, 1, 2], &[0, 3, 2], "bounds"),
        (&[2, 1], &[0, 2], &[0, 1], "a key is smaller than the one before it in its run"),
        (&[], &[0], &[0, 1], "bounds of 1 segments have to ascend from 0 to 0"),
    ];
    for (keys, runs, segments, about) in wrong {
        let on = |from: &[u64]| Buffer::from_host(&context, from).unwrap();
        let payloads = Buffer::zeroed_for::<u32>(&context, keys.len()).unwrap();
        let error = segmented_merge(on(keys), payloads, &on(runs), &on(segments)).unwrap_err();
        assert!(matches!(&error, Error::InvalidValue { reason, .. } if reason.contains(about)), "{error}");
    }
}
