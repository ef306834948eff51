//! C = A² on a GPU: every strategy of this library beside every algorithm of cuSPARSE, in one process.
//!
//! `cargo run --release --example benchmark -- --data DIRECTORY --output results.jsonl`
//!
//! Times are of whole calls, from operands on the device to a complete result there, allocations included (both from the
//! same memory pool); medians after a warm-up. Results are compared: number of entries exactly, their sum to rounding.
mod cases;
mod cusparse;

use clap::Parser;
use cusparse::{Algorithm, Csr, Cusparse, Outcome};
use oplus::backend::cuda::Context;
use oplus::prelude::*;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

#[derive(Parser)]
struct Options {
    /// A folder of Matrix Market files to take besides the generated matrices
    #[arg(long)]
    data: Option<PathBuf>,
    /// Matrices with one of these in their name only
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// auto, hash or esc
    #[arg(long, default_value = "auto", value_parser = strategy)]
    strategy: Strategy,
    /// Timed runs each
    #[arg(long, default_value_t = 10)]
    runs: usize,
    /// Entries as f32
    #[arg(long)]
    single: bool,
    /// Semirings besides plus_times too
    #[arg(long)]
    semirings: bool,
    /// Milliseconds of every kernel too
    #[arg(long)]
    trace: bool,
    /// One JSON object a line goes here
    #[arg(long)]
    output: Option<PathBuf>,
    /// Seconds after which no further matrix is begun
    #[arg(long, default_value_t = 480)]
    seconds: u64,
}

fn strategy(name: &str) -> std::result::Result<Strategy, String> {
    match name {
        "auto" => Ok(Strategy::Auto),
        "hash" => Ok(Strategy::Hash),
        "esc" => Ok(Strategy::Esc),
        other => Err(format!("{other:?} is not auto, hash or esc")),
    }
}

/// Median milliseconds, and the most bytes in use beyond what was there before.
#[derive(Clone, Copy)]
struct Timing {
    ms: f64,
    peak: u64,
}

fn measure<T>(context: &Context, runs: usize, mut run: impl FnMut() -> Outcome<T>) -> Outcome<(Timing, T)> {
    context.synchronize()?;
    let before = context.memory_in_use();
    context.reset_peak();
    let mut result = run()?;
    context.synchronize()?;
    let peak = context.peak() - before;
    let mut ms = Vec::new();
    for _ in 0..runs.max(1) {
        drop(result);
        context.synchronize()?;
        let start = Instant::now();
        result = run()?;
        context.synchronize()?;
        ms.push(start.elapsed().as_secs_f64() * 1e3);
    }
    ms.sort_by(f64::total_cmp);
    Ok((Timing { ms: ms[ms.len() / 2], peak }, result))
}

fn main() -> std::process::ExitCode {
    match run(&Options::parse()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            std::process::ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Outcome<()> {
    let begun = Instant::now();
    let device = Device::Cuda(0);
    device.check()?;
    let context = Context::get(0)?;
    let peer = Cusparse::load(&context).map_err(|e| eprintln!("without cuSPARSE: {e}")).ok();
    let mut all = cases::generated();
    if let Some(folder) = &options.data {
        all.extend(cases::files(folder)?);
    }
    all.retain(|c| options.only.is_empty() || options.only.iter().any(|o| c.name.contains(o.as_str())));
    let mut lines = options.output.as_ref().map(std::fs::File::create).transpose()?;
    println!(
        "{:22} {:>11} {:>10} {:>5} | {:>9} {:>8} {:>7} {:>7} | {:>9} {:>13} {:>8} | {:>6} results",
        "matrix",
        "products",
        "nnz(C)",
        "ratio",
        "ms",
        "GFLOP/s",
        "bound%",
        "MB",
        "cuSPARSE",
        "best of it",
        "MB",
        "faster"
    );
    let mut ratios = Vec::new();
    for case in all {
        if begun.elapsed().as_secs() > options.seconds {
            println!("stopped after {} s", options.seconds);
            break;
        }
        let coo = (case.make)()?;
        if coo.nrows != coo.ncols || coo.nrows == 0 {
            continue;
        }
        let row = match options.single {
            false => one::<f64>(&case.name, &coo, &context, peer.as_ref(), options)?,
            true => {
                let mut narrow = Coo::<f32>::new(coo.nrows, coo.ncols);
                (narrow.rows, narrow.columns) = (coo.rows, coo.columns);
                narrow.values = coo.values.iter().map(|v| *v as f32).collect();
                one::<f32>(&case.name, &narrow, &context, peer.as_ref(), options)?
            }
        };
        ratios.extend(row["faster"].as_f64());
        if let Some(file) = &mut lines {
            writeln!(file, "{row}")?;
        }
    }
    if !ratios.is_empty() {
        let mean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let worst = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        println!("{} matrices: geometric mean {mean:.2} times cuSPARSE's best, worst {worst:.2}", ratios.len());
    }
    Ok(())
}

/// What the types timed here have in common.
trait Real: Scalar {
    const DOUBLE: bool;
    fn wide(self) -> f64;
}
impl Real for f64 {
    const DOUBLE: bool = true;
    fn wide(self) -> f64 {
        self
    }
}
impl Real for f32 {
    const DOUBLE: bool = false;
    fn wide(self) -> f64 {
        self as f64
    }
}

fn one<T: Real>(
    name: &str,
    coo: &Coo<T>,
    context: &Arc<Context>,
    peer: Option<&Cusparse>,
    options: &Options,
) -> Outcome<serde_json::Value>
where
    PlusTimes: Semiring<T, T, Out = T>,
    MinPlus: Semiring<T, T, Out = T>,
    First: BinaryOp<T, T, Out = T>,
{
    let host: Matrix<T> = Matrix::build_with(coo, First)?;
    let sorted = host.to_coo()?;
    let mut length = vec![0u64; sorted.nrows as usize];
    sorted.rows.iter().for_each(|r| length[*r as usize] += 1);
    let products: u64 = sorted.columns.iter().map(|k| length[*k as usize]).sum();
    let a = host.to(&Device::Cuda(0))?;
    let (ours, c) = measure(context, options.runs, || Ok(mxm(&a, &a).strategy(options.strategy).eval()?))?;
    let (nnz, sum) = (c.nvals(), c.to_coo()?.values.iter().map(|v| v.wide()).sum::<f64>());
    drop(c);
    if options.trace {
        let (_, launches) = context.trace(|| mxm(&a, &a).strategy(options.strategy).eval())?;
        let total: f64 = launches.iter().map(|l| l.ms).sum();
        println!("{name}: {total:.3} ms in {} launches", launches.len());
        for l in launches.iter().filter(|l| l.ms > 0.005) {
            println!(
                "  {:8.4} ms  {:28} {:>8} x {:>4} threads, {:>6} bytes shared",
                l.ms, l.kernel, l.blocks, l.threads, l.shared
            );
        }
    }
    let mut object = json!({
        "matrix": name, "type": T::TEXT.name, "rows": sorted.nrows, "nnz": sorted.len(), "products": products, "nnz_c": nnz,
        "ms": ours.ms, "peak": ours.peak,
    });
    if options.semirings {
        let (least, _) = measure(context, options.runs, || Ok(mxm(&a.over::<MinPlus>(), &a.over()).eval()?))?;
        let truth: Matrix<bool, LorLand> = Matrix::build_with(
            &Coo {
                nrows: sorted.nrows,
                ncols: sorted.ncols,
                rows: sorted.rows.clone(),
                columns: sorted.columns.clone(),
                values: vec![true; sorted.len()],
            },
            First,
        )?
        .to(&Device::Cuda(0))?;
        let (truth, _) = measure(context, options.runs, || Ok(mxm(&truth, &truth).eval()?))?;
        object["min_plus_ms"] = least.ms.into();
        object["bool_ms"] = truth.ms.into();
        println!("{name:22} plus_times {:.3} ms, min_plus {:.3} ms, bool {:.3} ms", ours.ms, least.ms, truth.ms);
    }
    drop(a);
    let mut best: Option<(Timing, &str)> = None;
    let mut verdict = String::from("alone");
    if let Some(peer) = peer.filter(|_| products < 1 << 31) {
        let wide = Coo {
            nrows: sorted.nrows,
            ncols: sorted.ncols,
            rows: sorted.rows.clone(),
            columns: sorted.columns.clone(),
            values: sorted.values.iter().map(|v| v.wide()).collect(),
        };
        let operand = Csr::upload(context, &wide, T::DOUBLE)?;
        let mut check = |c: &Csr| -> Outcome<()> {
            let (n, s) = c.fingerprint()?;
            let tolerance = if T::DOUBLE { 1e-9 } else { 1e-3 };
            let same = n == nnz && ((s - sum).abs() <= tolerance * s.abs().max(1.0) || (s.is_nan() && sum.is_nan()));
            verdict = if same { "equal".into() } else { format!("DIFFER: {nnz} {sum} and {n} {s}") };
            Ok(())
        };
        for algorithm in Algorithm::ALL {
            let timing = match algorithm {
                Algorithm::ReuseWhole => measure(context, options.runs, || peer.reuse(&operand, &operand, |_| Ok(())))
                    .map(|(t, c)| check(&c).map(|()| t)),
                Algorithm::ReuseNumeric => {
                    let mut timing = None;
                    peer.reuse(&operand, &operand, |run| {
                        timing = Some(measure(context, options.runs, &mut *run)?.0);
                        Ok(())
                    })
                    .map(|_| timing.ok_or_else(|| "no timing".into()))
                }
                _ => measure(context, options.runs, || peer.multiply(&operand, &operand, algorithm))
                    .map(|(t, c)| check(&c).map(|()| t)),
            };
            match timing.and_then(|t| t) {
                Ok(t) => {
                    object[format!("cusparse_{}_ms", algorithm.name())] = t.ms.into();
                    object[format!("cusparse_{}_peak", algorithm.name())] = t.peak.into();
                    if algorithm != Algorithm::ReuseNumeric && best.is_none_or(|b| t.ms < b.0.ms) {
                        best = Some((t, algorithm.name()));
                    }
                }
                Err(e) => object[format!("cusparse_{}_error", algorithm.name())] = e.to_string().into(),
            }
        }
    }
    let bound = 12.0 * (2.0 * sorted.len() as f64 + nnz as f64) / 4.3e9;
    let faster = best.map(|b| b.0.ms / ours.ms);
    object["faster"] = faster.into();
    object["results"] = verdict.clone().into();
    println!(
        "{name:22} {products:>11} {nnz:>10} {:>5.1} | {:>9.3} {:>8.1} {:>7.1} {:>7.0} | {:>9.3} {:>13} {:>8.0} | {:>6.2} {verdict}",
        products as f64 / nnz.max(1) as f64,
        ours.ms,
        2e-6 * products as f64 / ours.ms,
        100.0 * bound / ours.ms,
        ours.peak as f64 / 1e6,
        best.map_or(f64::NAN, |b| b.0.ms),
        best.map_or("", |b| b.1),
        best.map_or(f64::NAN, |b| b.0.peak as f64 / 1e6),
        faster.unwrap_or(f64::NAN),
    );
    std::io::stdout().flush()?;
    Ok(object)
}
