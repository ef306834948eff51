//! C = A² on the CPU backend, beside SuiteSparse:GraphBLAS on the same matrices.
//!
//! `cargo run --release --example compare_suitesparse -- --directory /tmp/compare` writes the matrices and this
//! library's times there; `python tests/suitesparse/compare.py /tmp/compare` times SuiteSparse on them, compares the
//! results and prints the table. Both take the best and the median of as many runs, after one to warm up.
use clap::Parser;
use oplus::prelude::*;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

type Outcome = std::result::Result<(), Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
struct Options {
    /// Where matrices and times go.
    #[arg(long)]
    directory: PathBuf,
    /// Threads of this library.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Timed runs each.
    #[arg(long, default_value_t = 11)]
    runs: usize,
    /// Matrices with this in their name only.
    #[arg(long, default_value = "")]
    only: String,
    /// Matrices this many times smaller.
    #[arg(long, default_value_t = 1)]
    smaller: u64,
}

fn main() -> Outcome {
    let options = Options::parse();
    std::fs::create_dir_all(&options.directory)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build()?;
    pool.install(|| run(&options))
}

fn run(options: &Options) -> Outcome {
    let s = options.smaller.max(1);
    let matrices: Vec<(&str, Box<dyn Fn() -> Coo<f64>>)> = vec![
        ("grid5-1024", Box::new(move || grid(&[1024 / s, 1024 / s]))),
        ("grid7-101", Box::new(move || grid(&[101 / s, 101 / s, 101 / s]))),
        ("rmat-14", Box::new(move || rmat(14 - s.ilog2(), 8))),
        ("rmat-15", Box::new(move || rmat(15 - s.ilog2(), 8))),
        ("rmat-16", Box::new(move || rmat(16 - s.ilog2(), 8))),
        ("band-31", Box::new(move || band(100_000 / s, 31))),
        ("random-17", Box::new(move || random((1 << 17) / s, 8))),
    ];
    let mut times = std::fs::File::create(options.directory.join("oplus.tsv"))?;
    for (name, make) in matrices.iter().filter(|m| m.0.contains(&options.only)) {
        let coo = make();
        let a: Matrix<f64> = Matrix::build_with(&coo, First)?;
        write_matrix(&options.directory.join(format!("{name}.mtx")), &a)?;
        let reached = apply_second(&a, Ne, f64::NEG_INFINITY).eval()?;
        let mut report = |semiring: &str, (best, median, nnz, sum): (f64, f64, u64, f64)| {
            println!("{name:12} {semiring:10} {best:9.4} s best {median:9.4} s median, nnz(C) {nnz}");
            writeln!(times, "{name}\t{semiring}\t{}\t{best}\t{median}\t{nnz}\t{sum:e}", options.threads)
        };
        report("plus_times", square(&a.over::<PlusTimes>(), options.runs, |c| reduce(c, Plus))?)?;
        report("min_plus", square(&a.over::<MinPlus>(), options.runs, |c| reduce(c, Plus))?)?;
        report("lor_land", square(&reached.over::<LorLand>(), options.runs, |c| Ok(c.nvals() as f64))?)?;
    }
    Ok(())
}

/// Best and median seconds of C = A², nnz(C) and a sum to compare by.
fn square<T: Scalar, S: Semiring<T, T, Out = T>>(
    a: &Matrix<T, S>,
    runs: usize,
    sum: impl Fn(&Matrix<T, S>) -> Result<f64>,
) -> Result<(f64, f64, u64, f64)> {
    let c = mxm(a, a).eval()?;
    let (nnz, sum) = (c.nvals(), sum(&c)?);
    drop(c);
    let mut seconds = Vec::new();
    for _ in 0..runs.max(1) {
        let start = Instant::now();
        let c = mxm(a, a).eval()?;
        seconds.push(start.elapsed().as_secs_f64());
        drop(c);
    }
    seconds.sort_by(f64::total_cmp);
    Ok((seconds[0], seconds[seconds.len() / 2], nnz, sum))
}

/// Reproducible noise (splitmix64).
struct Noise(u64);
impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A point and its neighbours on a grid: 5 points in two dimensions, 7 in three.
fn grid(sides: &[u64]) -> Coo<f64> {
    let n: u64 = sides.iter().product();
    let (mut coo, mut noise) = (Coo::new(n, n), Noise(1));
    for i in 0..n {
        let mut columns = vec![i];
        let mut stride = 1;
        for side in sides {
            let x = i / stride % side;
            if x > 0 {
                columns.push(i - stride);
            }
            if x + 1 < *side {
                columns.push(i + stride);
            }
            stride *= side;
        }
        columns.sort_unstable();
        columns.into_iter().for_each(|j| coo.push(i, j, noise.unit()));
    }
    coo
}

/// Recursive matrix graph, Graph500 quadrants; vertices keep their numbers.
fn rmat(scale: u32, edges_per_vertex: u64) -> Coo<f64> {
    let n = 1u64 << scale;
    let (mut coo, mut noise) = (Coo::new(n, n), Noise(2));
    for _ in 0..n * edges_per_vertex {
        let (mut i, mut j) = (0, 0);
        for _ in 0..scale {
            let q = noise.unit();
            let (down, right) = (q >= 0.76, (0.57..0.76).contains(&q) || q >= 0.95);
            (i, j) = (2 * i + down as u64, 2 * j + right as u64);
        }
        coo.push(i, j, noise.unit());
    }
    coo
}

fn band(n: u64, half: u64) -> Coo<f64> {
    let (mut coo, mut noise) = (Coo::new(n, n), Noise(3));
    for i in 0..n {
        for j in i.saturating_sub(half)..(i + half + 1).min(n) {
            coo.push(i, j, noise.unit());
        }
    }
    coo
}

fn random(n: u64, per_row: u64) -> Coo<f64> {
    let (mut coo, mut noise) = (Coo::new(n, n), Noise(4));
    for i in 0..n {
        (0..per_row).for_each(|_| coo.push(i, noise.next() % n, noise.unit()));
    }
    coo
}

fn write_matrix(path: &Path, a: &Matrix<f64>) -> Outcome {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    writeln!(file, "%%MatrixMarket matrix coordinate real general\n{} {} {}", a.nrows(), a.ncols(), a.nvals())?;
    for (i, j, v) in a.entries()? {
        writeln!(file, "{} {} {v:?}", i + 1, j + 1)?;
    }
    Ok(())
}
