//! Bytes that operations must move, and how much of the copy bandwidth they reach. Not run by itself: a GPU and a release build are needed.
//! `OPLUS_TEST_DEVICE=gpu cargo test --release --test cuda_operations_speed -- --ignored --nocapture`; `OPLUS_TEST_ENTRIES`
//! sets how many entries, 10⁸ by default; `OPLUS_TEST_ONLY=union,transpose` and `OPLUS_TEST_ROWS=16` which operations and rows.
#![cfg(feature = "cuda")]
use oplus::backend::cuda::{Buffer, Context};
use oplus::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// Seconds of the fastest of several runs; the first, which compiles, does not count.
fn fastest<R>(context: &Arc<Context>, mut run: impl FnMut() -> R) -> f64 {
    let times = (0..6).map(|_| {
        context.synchronize().unwrap();
        let start = Instant::now();
        let result = run();
        context.synchronize().unwrap();
        let time = start.elapsed().as_secs_f64();
        drop(result);
        time
    });
    times.skip(1).fold(f64::INFINITY, f64::min)
}

/// Whether a name is among those asked for.
fn asked(variable: &str, name: &str) -> bool {
    std::env::var(variable).map_or(true, |names| names.split(',').any(|n| name.starts_with(n)))
}

/// Row lengths around a mean: equal, or one row in 1000 with a thousand times as many.
fn matrix(n: u64, mean: u64, skewed: bool, salt: u64) -> Matrix<f64> {
    let rows = (n / mean) as u32;
    let columns = rows.max(1 << 20);
    let (mut offsets, mut indices, mut left) = (vec![0u64], Vec::with_capacity(n as usize), n);
    for r in 0..rows {
        let length = if !skewed {
            mean
        } else if r % 1000 == 7 {
            mean * 500
        } else {
            mean / 2
        }
        .min(left);
        left -= length;
        let step = (columns as u64 / length.max(1)).max(1);
        indices.extend((0..length).map(|k| (k * step + (r as u64 * 31 + k * 7 + salt) % step) as u32));
        offsets.push(indices.len() as u64);
    }
    let values = (0..indices.len()).map(|e| (e % 1000) as f64).collect();
    Matrix::from_csr(rows, columns, offsets, indices, values).unwrap()
}

#[test]
#[ignore = "needs a GPU and a release build"]
fn share_of_the_copy_bandwidth() {
    let context = Context::get(0).unwrap();
    let n: u64 = std::env::var("OPLUS_TEST_ENTRIES").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000_000);
    let (from, mut to) = (Buffer::zeroed(&context, 8 * n).unwrap(), Buffer::zeroed(&context, 8 * n).unwrap());
    let copy = 16.0 * n as f64 / fastest(&context, || to.copy_range(0, &from, 0..8 * n).unwrap());
    println!("copy {:.0} GB/s", copy / 1e9);
    drop((from, to));
    for (name, mean, skewed) in
        [("16 a row", 16, false), ("skewed", 16, true), ("200 a row", 200, false), ("2 a row", 2, false)]
    {
        if !asked("OPLUS_TEST_ROWS", name) {
            continue;
        }
        let device = Device::Cuda(0);
        let (a, b) = (matrix(n, mean, skewed, 0).to(&device).unwrap(), matrix(n, mean, skewed, 3).to(&device).unwrap());
        let (nnz, rows, columns) = (a.nvals() as f64, a.nrows() as f64, a.ncols() as f64);
        let (x, y) = (Vector::<f64>::full(a.ncols(), 1.5).unwrap(), Vector::<f64>::full(a.nrows(), 2.5).unwrap());
        let (x, y) = (x.to(&device).unwrap(), y.to(&device).unwrap());
        // Least traffic: every input read once, every output written once. `bytes` is asked for what was made.
        let report = |what: &str, run: &mut dyn FnMut() -> Matrix<f64>, bytes: &dyn Fn(f64) -> f64| {
            if !asked("OPLUS_TEST_ONLY", what) {
                return;
            }
            let bytes = bytes(run().nvals() as f64);
            let time = fastest(&context, run);
            let share = bytes / time / copy * 100.0;
            let (moved, speed) = (bytes / 1e9, bytes / time / 1e9);
            println!("{name:10} {what:13} {moved:6.2} GB {:9.3} ms {speed:6.0} GB/s {share:5.1} % of copy", time * 1e3);
        };
        let none = Matrix::<f64>::new(1, 1).unwrap();
        report("apply", &mut || apply(&a, Negate).eval().unwrap(), &|_| 16.0 * nnz);
        report("bound", &mut || apply_second(&a, Times, 2.5).eval().unwrap(), &|_| 16.0 * nnz);
        let cast = &mut || {
            a.cast::<f32>().unwrap();
            none.clone()
        };
        report("cast", cast, &|_| 12.0 * nnz);
        report("scale rows", &mut || scale_rows(&y, &a, Times).eval().unwrap(), &|_| 16.0 * nnz + 16.0 * rows);
        let bytes = |_| 20.0 * nnz + 8.0 * columns;
        report("scale columns", &mut || scale_columns(&a, &x, Times).eval().unwrap(), &bytes);
        let row = &mut || {
            apply_index(&a, RowIndex, 0).eval().unwrap();
            none.clone()
        };
        report("row index", row, &|_| 8.0 * (nnz + rows));
        let bytes = |kept| 12.0 * (nnz + kept) + 16.0 * rows;
        report("select", &mut || select(&a, ValueGt, 499.0).eval().unwrap(), &bytes);
        report("tril", &mut || select(&a, Tril, 0).eval().unwrap(), &|kept| 4.0 * nnz + 20.0 * kept + 16.0 * rows);
        let bytes = |union| 12.0 * (2.0 * nnz + union) + 24.0 * rows;
        report("union", &mut || ewise_add(&a, &b, Plus).eval().unwrap(), &bytes);
        report("filled union", &mut || ewise_union(&a, 2.0, &b, 3.0, Minus).eval().unwrap(), &bytes);
        let bytes = |met| 8.0 * nnz + 28.0 * met + 24.0 * rows;
        report("intersection", &mut || ewise_mult(&a, &b, Plus).eval().unwrap(), &bytes);
        let written = &mut || {
            let mut c = a.clone();
            apply(&b, Negate).mask(&b.structure()).accumulate(Plus).into(&mut c).unwrap();
            c
        };
        report("masked write", written, &|union| 16.0 * nnz + 12.0 * (2.0 * nnz + union) + 4.0 * nnz + 32.0 * rows);
        let sums = &mut || {
            reduce_rows(&a, Plus).eval().unwrap();
            none.clone()
        };
        report("reduce rows", sums, &|_| 8.0 * nnz + 20.0 * rows);
        let sum = &mut || {
            oplus::operation::reduce(&a, Plus).unwrap();
            none.clone()
        };
        report("reduce", sum, &|_| 8.0 * nnz);
        let half = &mut || extract(&a, ..a.nrows() / 2, ..a.ncols() / 2).eval().unwrap();
        report("extract", half, &|half| 4.0 * nnz / 2.0 + 20.0 * half + 8.0 * rows);
        report("transpose", &mut || transpose(&a).eval().unwrap(), &|_| 24.0 * nnz + 8.0 * (rows + columns));
    }
}
