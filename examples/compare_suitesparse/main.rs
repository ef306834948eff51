//! This library's side of the comparison with SuiteSparse:GraphBLAS: it makes matrices and times products on request.
//!
//! `cargo build --release --example compare_suitesparse`, then `python tests/suitesparse/compare.py`, which starts this
//! program, times SuiteSparse on the same matrices in turn with it, compares the results and prints the table.
//!
//! Requests are lines on standard input, one reply line each on standard output:
//! `matrix NAME` makes or reads a matrix, writes it to the directory and replies `rows columns entries products`;
//! `run OPERATION SEMIRING TYPE COUNT` replies `entries sum seconds…`: what came out, and how long each run took;
//! `operands NAME` and `operate COUNT OPERATION` do the same for the other operations, `tests/suitesparse/operations.py`;
//! `graph NAME` and `algorithm NAME COUNT` for graph algorithms, `tests/suitesparse/lagraph.py`.
mod algorithms;
#[path = "../common/mod.rs"]
mod common;
mod operations;

use clap::Parser;
use oplus::generate::{self, Random};
use oplus::prelude::*;
use std::fmt::Write as _;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

type Outcome<T = ()> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
struct Options {
    /// Where matrices are written for the other side.
    #[arg(long)]
    directory: PathBuf,
    /// Matrix Market files; a matrix that is none of the generated ones is looked for here.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Threads of this library.
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

fn main() -> std::process::ExitCode {
    // It has threads of its own.
    common::single_threaded(run)
}

fn run(options: Options) -> Outcome {
    let folder = &options.directory;
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build()?;
    pool.install(|| serve(&options))
}

fn serve(options: &Options) -> Outcome {
    let (mut case, mut operands, mut graph) = (None, None, None);
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let reply = match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["matrix", name] => {
                let made = Case::new(name, make(name, options.data.as_deref())?)?;
                made.write(&options.directory)?;
                let (rows, columns) = made.a.shape();
                let reply = format!("{rows} {columns} {} {}", made.a.nvals(), made.products()?);
                case = Some(made);
                reply
            }
            ["run", operation, semiring, scalar, count] => {
                case.as_ref().ok_or("no matrix yet")?.run(operation, semiring, scalar, count.parse()?)?
            }
            ["operands", name] => {
                let made = operations::Operands::new(name, options.data.as_deref())?;
                made.write(&options.directory)?;
                let reply = made.reply();
                operands = Some(made);
                reply
            }
            ["operate", count, ref operation @ ..] => {
                operands.as_ref().ok_or("no operands yet")?.run(&operation.join(" "), count.parse()?)?
            }
            ["graph", name] => {
                let made = algorithms::Graph::new(name, options.data.as_deref())?;
                made.write(&options.directory)?;
                let reply = made.reply();
                graph = Some(made);
                reply
            }
            ["algorithm", name, count] => {
                graph.as_ref().ok_or("no graph yet")?.run(name, count.parse()?, &options.directory)?
            }
            _ => return Err(format!("no such request: {line}").into()),
        };
        common::say(format_args!("{reply}\n"))?;
    }
    Ok(())
}

/// `stencil5-1024`, `rmat-16`, …, or the name of a file. Values are random throughout.
fn make(name: &str, data: Option<&Path>) -> Outcome<Coo<f64>> {
    let (kind, size) = name.split_once('-').unwrap_or((name, ""));
    let n = || sized(name, size);
    let mut coo = match kind {
        "stencil5" => generate::stencil_5(n()?, n()?)?,
        "stencil9" => generate::stencil_9(n()?, n()?)?,
        "stencil7" => generate::stencil_7(n()?, n()?, n()?)?,
        "stencil27" => generate::stencil_27(n()?, n()?, n()?)?,
        // Roads.
        "grid" => generate::road_grid(n()?, n()?, 1)?,
        "rmat" => generate::rmat(u32::try_from(n()?)?, 8, Default::default(), 1)?,
        "band" => generate::band(1 << 17, n()?, 1)?,
        "uniform" => generate::uniform(1 << 17, 1 << 17, n()?, 1)?,
        _ => {
            let folder = data.ok_or_else(|| format!("no generator makes {name}, and there is no --data"))?;
            let path = [".mtx", ".mtx.gz", ".mtx.zst"].map(|ending| folder.join(format!("{name}{ending}")));
            let path = path.into_iter().find(|p| p.exists()).ok_or_else(|| format!("no {name}.mtx"))?;
            oplus::io::matrix_market::read(path)?
        }
    };
    let mut random = Random::new(7, 0);
    coo.values.iter_mut().for_each(|v| *v = 1.0 - random.unit());
    Ok(coo)
}

/// The number behind a generator's name.
fn sized(name: &str, size: &str) -> std::result::Result<u64, String> {
    size.parse().map_err(|e| format!("{name}: the size {size:?} is none: {e}"))
}

/// Refuses what has nothing to be measured, and what has more than so many rows or columns.
fn suits(name: &str, coo: &Coo<f64>, most: u64) -> Outcome {
    let (rows, columns) = (coo.nrows, coo.ncols);
    match rows.max(columns) <= most {
        false => Err(format!("{name}: {rows} rows, {columns} columns, at most {most} of each are taken").into()),
        true if coo.is_empty() => Err(format!("{name} has no entries").into()),
        true => Ok(()),
    }
}

/// The most rows and columns that vectors and lists of offsets have a place for each of, and entries of a full matrix.
const LONGEST: u64 = 1 << 28;

/// Vertices that a search begins at.
const SOURCES: u64 = 64;

/// One matrix and all that its operations need.
struct Case {
    a: Matrix<f64>,
    a32: Matrix<f32>,
    pattern: Matrix<bool>,
    /// Of the graph of A without directions: the strict lower triangle.
    lower: Option<Matrix<bool>>,
    /// Full, 1 % full and 0.01 % full, as long as A is wide; and as long as A is high.
    right: [Vector<f64>; 3],
    left: [Vector<f64>; 3],
}

impl Case {
    fn new(name: &str, coo: Coo<f64>) -> Outcome<Self> {
        suits(name, &coo, LONGEST)?;
        let a: Matrix<f64> = Matrix::build_with(&coo, First)?;
        let pattern: Matrix<bool> = apply(&a, Pair::<bool>::default()).eval()?;
        let (n, mut lower) = (coo.nrows.max(coo.ncols), None);
        if coo.nrows == coo.ncols {
            let mut edges = Coo::<bool>::new(n, n);
            coo.rows
                .iter()
                .zip(&coo.columns)
                .filter(|(i, j)| i != j)
                .for_each(|(i, j)| edges.push(*i.max(j), *i.min(j), true));
            lower = Some(Matrix::build_with(&edges, Any)?);
        }
        let (right, left) = (vectors(coo.ncols)?, vectors(coo.nrows)?);
        Ok(Self { a32: a.cast()?, pattern, lower, right, left, a })
    }

    /// Products of A², or of A·Aᵀ where A is not square.
    fn products(&self) -> Outcome<u64> {
        let c = match self.a.nrows() == self.a.ncols() {
            true => mxm(&self.a.over::<PlusPair>(), &self.a.over()).reduce(Plus)?,
            false => mxm(&self.a.over::<PlusPair>(), &self.a.over()).transpose_b().reduce(Plus)?,
        };
        Ok(c)
    }

    /// Little-endian words of eight bytes: rows, columns, entries; row offsets, columns, values.
    fn write(&self, directory: &Path) -> Outcome {
        write_matrix(&directory.join("a.bin"), &self.a.to_coo()?)?;
        if let Some(lower) = &self.lower {
            write_matrix(&directory.join("lower.bin"), &lower.cast::<f64>()?.to_coo()?)?;
        }
        for (side, vectors) in [("right", &self.right), ("left", &self.left)] {
            for (v, density) in vectors.iter().zip(DENSITIES) {
                let mut coo = Coo::new(1, v.len());
                v.entries()?.into_iter().for_each(|(i, x)| coo.push(0, i, x));
                write_matrix(&directory.join(format!("{side}-{density}.bin")), &coo)?;
            }
        }
        Ok(())
    }

    fn run(&self, operation: &str, semiring: &str, scalar: &str, count: usize) -> Outcome<String> {
        let (a, a32, p) = (&self.a, &self.a32, &self.pattern);
        match (semiring, scalar) {
            ("plus_times", "f64") => self.product::<f64, PlusTimes>(&a.over(), operation, count),
            ("min_plus", "f64") => self.product::<f64, MinPlus>(&a.over(), operation, count),
            ("plus_times", "f32") => self.product::<f32, PlusTimes>(&a32.over(), operation, count),
            ("min_plus", "f32") => self.product::<f32, MinPlus>(&a32.over(), operation, count),
            ("any_pair", "bool") if operation == "search" => {
                let n = p.nrows();
                let sources: Vec<u64> = (0..SOURCES).map(|s| s * n / SOURCES).collect();
                let search = || Ok(algorithm::multi_source_bfs(p, &sources, &Default::default())?);
                let sum = |each: &[u64]| each.iter().sum::<u64>();
                times(count, search, |found| Ok((sum(&found.reached), sum(&found.level_sum) as f64)))
            }
            ("lor_land", "bool") => self.product::<bool, LorLand>(&p.over(), operation, count),
            ("plus_pair", "u64") => {
                let l = self.lower.as_ref().ok_or("no triangle of a matrix that is not square")?.over::<PlusPair>();
                match operation {
                    "triangles" => times(count, || Ok(mxm(&l, &l).mask(&l.structure()).eval()?), measured),
                    "triangle_sum" => {
                        times(count, || Ok(mxm(&l, &l).mask(&l.structure()).reduce(Plus)?), |s| Ok((0, *s as f64)))
                    }
                    _ => Err(format!("no operation {operation}").into()),
                }
            }
            _ => Err(format!("no semiring {semiring} of {scalar}").into()),
        }
    }

    fn product<T: Scalar, S: Semiring<T, T, Out = T>>(
        &self,
        a: &Matrix<T, S>,
        operation: &str,
        count: usize,
    ) -> Outcome<String>
    where
        Cast<f64>: UnaryOp<T, Out = f64>,
        Cast<T>: UnaryOp<f64, Out = T>,
    {
        if let Some(("full", columns)) = operation.split_once(':') {
            let x = self.full::<T>(columns.parse()?)?.over();
            return times(count, || Ok(mxm(a, &x).eval()?), measured);
        }
        let (operation, density) = operation.split_once(':').unwrap_or((operation, "full"));
        let place = DENSITIES.iter().position(|d| *d == density).ok_or("no such density")?;
        match operation {
            "square" if a.nrows() == a.ncols() => times(count, || Ok(mxm(a, a).eval()?), measured),
            "square" => times(count, || Ok(mxm(a, a).transpose_b().eval()?), measured),
            "mxv" => {
                let x = of_type(&self.right[place])?.over();
                times(count, || Ok(mxv(a, &x).eval()?), measured_vector)
            }
            "vxm" => {
                let x = of_type(&self.left[place])?.over();
                times(count, || Ok(vxm(&x, a).eval()?), measured_vector)
            }
            _ => Err(format!("no operation {operation}").into()),
        }
    }
}

impl Case {
    /// A matrix with an entry everywhere, of so many columns: what the other side makes too.
    fn full<T: Scalar>(&self, columns: u32) -> Outcome<Matrix<T>>
    where
        Cast<T>: UnaryOp<f64, Out = T>,
    {
        let (n, k) = (u32::try_from(self.a.ncols())?, u64::from(columns));
        if u64::from(n) * k > LONGEST {
            return Err(format!("{n}×{k} entries, at most {LONGEST} are taken").into());
        }
        let booleans = std::any::TypeId::of::<T>() == std::any::TypeId::of::<bool>();
        let number = |e: u64| (e * 7919 % 1000) as f64;
        let value = |e| if booleans { (number(e) >= 500.0) as u8 as f64 } else { (number(e) + 1.0) / 1000.0 };
        let values = (0..u64::from(n) * k).map(value).collect();
        let offsets = (0..=u64::from(n)).map(|r| r * k).collect();
        let indices = (0..n).flat_map(|_| 0..columns).collect();
        Ok(Matrix::<f64>::from_csr(n.into(), columns.into(), offsets, indices, values)?.cast()?)
    }
}

/// Of a full vector half the booleans are true, frontiers are.
fn of_type<T: Scalar>(x: &Vector<f64>) -> Result<Vector<T>>
where
    Cast<T>: UnaryOp<f64, Out = T>,
{
    match std::any::TypeId::of::<T>() == std::any::TypeId::of::<bool>() && x.nvals() == x.len() {
        true => apply_second(x, Gt, 0.5).eval()?.cast::<f64>()?.cast(),
        false => x.cast(),
    }
}

const DENSITIES: [&str; 3] = ["full", "1%", "0.01%"];

fn vectors(n: u64) -> Outcome<[Vector<f64>; 3]> {
    let mut random = Random::new(11, n);
    let full = Vector::build(n, &(0..n).map(|i| (i, 1.0 - random.unit())).collect::<Vec<_>>())?;
    let mut sparse = |count: u64| {
        let entries: Vec<(u64, f64)> = (0..count.max(1)).map(|_| (random.below(n), 1.0 - random.unit())).collect();
        Vector::build_with(n, &entries, First)
    };
    Ok([full, sparse(n / 100)?, sparse(n / 10_000)?])
}

/// Entries and their sum as f64.
fn measured<T: Scalar, S>(c: &Matrix<T, S>) -> Result<(u64, f64)>
where
    Cast<f64>: UnaryOp<T, Out = f64>,
{
    Ok((c.nvals(), reduce(&c.cast::<f64>()?, Plus)?))
}
fn measured_vector<T: Scalar, S>(c: &Vector<T, S>) -> Result<(u64, f64)>
where
    Cast<f64>: UnaryOp<T, Out = f64>,
{
    Ok((c.nvals(), reduce(&c.cast::<f64>()?, Plus)?))
}

/// The reply: what came out, and the seconds of each run. What a run made is given back outside its time.
fn times<C>(count: usize, run: impl Fn() -> Outcome<C>, measure: impl Fn(&C) -> Result<(u64, f64)>) -> Outcome<String> {
    let first = |c: &C| measure(c).map(|(entries, sum)| format!("{entries} {sum:e}")).map_err(Into::into);
    timed(count, || Ok(()), |()| run(), first)
}

/// What `first` says of the first run's result, and the seconds of each run, what is prepared for it not among them.
fn timed<P, C>(
    count: usize,
    prepare: impl Fn() -> Result<P>,
    run: impl Fn(P) -> Outcome<C>,
    first: impl Fn(&C) -> Outcome<String>,
) -> Outcome<String> {
    let mut reply = String::new();
    for n in 0..count {
        let prepared = prepare()?;
        let start = Instant::now();
        let c = run(prepared)?;
        let seconds = start.elapsed().as_secs_f64();
        if n == 0 {
            reply = first(&c)?;
        }
        write!(reply, " {seconds:e}")?;
    }
    Ok(reply)
}

fn write_matrix(path: &Path, coo: &Coo<f64>) -> Outcome {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut offsets = vec![0u64; coo.nrows as usize + 1];
    coo.rows.iter().for_each(|r| offsets[*r as usize + 1] += 1);
    (0..coo.nrows as usize).for_each(|r| offsets[r + 1] += offsets[r]);
    for word in [coo.nrows, coo.ncols, coo.len() as u64].iter().chain(&offsets).chain(&coo.columns) {
        file.write_all(&word.to_le_bytes())?;
    }
    coo.values.iter().try_for_each(|v| file.write_all(&v.to_le_bytes()))?;
    Ok(file.flush()?)
}
