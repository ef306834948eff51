//! One sparse product over a chosen semiring and type.
mod common;
#[path = "common/names.rs"]
mod names;
#[path = "common/plain.rs"]
mod plain;

use clap::{Parser, ValueEnum};
use names::{SemiringName, over_booleans, over_complex, over_numbers};
use oplus::io::matrix_market::{self, Field, FromMatrixMarket, ToMatrixMarket};
use oplus::prelude::*;
use oplus::spgemm::Bin;
use plain::{Plain, close};
use serde_json::json;
use std::path::{Path, PathBuf};

/// C⟨M⟩ = A ⊕.⊗ B; `sum` is that of its values as f64, also of 64-bit integers
#[derive(Parser, Clone, Debug)]
struct Arguments {
    /// Matrix Market file of A
    a: PathBuf,
    /// Matrix Market file of B; A itself without it
    b: Option<PathBuf>,
    /// ⊕.⊗
    #[arg(long, default_value = "plus_times")]
    semiring: SemiringName,
    /// Type of the values; bool is true where a value is not zero, sums of f16 and bf16 are f32
    #[arg(long = "type", default_value = "f64")]
    scalar: ScalarName,
    #[arg(long, default_value = "auto", help = strategies())]
    strategy: Strategy,
    /// Matrix Market file of any field whose positions alone C may have, those of stored zeros too
    #[arg(long)]
    mask: Option<PathBuf>,
    /// Hold workspace and result to so many bytes
    #[arg(long)]
    memory_limit: Option<u64>,
    /// Sum in the order of k everywhere
    #[arg(long)]
    reproducible: bool,
    /// Use the transposed A
    #[arg(long)]
    transpose_a: bool,
    /// Use the transposed B
    #[arg(long)]
    transpose_b: bool,
    /// Say on stderr what was to be done and why, and what each kernel took; with --json in the object too
    #[arg(long)]
    explain: bool,
    /// Write C to this Matrix Market file
    #[arg(long)]
    output: Option<PathBuf>,
    /// Compare with the reference backend
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    common: common::Common,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq)]
enum ScalarName {
    Bool,
    I32,
    I64,
    U64,
    F32,
    F64,
    C32,
    C64,
    #[cfg(feature = "half")]
    F16,
    #[cfg(feature = "half")]
    Bf16,
}

/// How products may be made.
fn strategies() -> String {
    let names: Vec<&str> = Strategy::ALL.iter().map(|s| s.name()).collect();
    format!("How [possible values: {}]", names.join(", "))
}

/// The positions of a file, whatever its values are.
fn positions(path: &Path) -> Result<Matrix<bool>> {
    // A pipe is read once only, and complex numbers take every field.
    let complex = match path.metadata() {
        Ok(about) if about.is_file() => matrix_market::read_header(path).is_ok_and(|h| h.field == Field::Complex),
        _ => true,
    };
    if complex { Matrix::<c64>::read(path)?.with_value(true) } else { Matrix::read(path) }
}

fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map(|v| v.get_name().to_string()).unwrap_or_default()
}

/// A product, its milliseconds, and with `--explain` what was said of it.
struct Made<T> {
    c: Matrix<T>,
    ms: f64,
    explained: Option<(Explanation, Trace)>,
}

/// The product under one semiring: all that is compiled once for each, the rest is once for each type.
type Multiply<T, C> = fn(&Arguments, Device, &Matrix<T>, &Matrix<T>, Option<&Mask>) -> Result<Made<C>>;

fn multiply<T: Scalar, S: Semiring<T, T>>(
    arguments: &Arguments,
    device: Device,
    a: &Matrix<T>,
    b: &Matrix<T>,
    mask: Option<&Mask>,
) -> Result<Made<S::Out>> {
    let mut operation = mxm(&a.over::<S>(), &b.over()).strategy(arguments.strategy);
    if arguments.transpose_a {
        operation = operation.transpose_a();
    }
    if arguments.transpose_b {
        operation = operation.transpose_b();
    }
    if let Some(mask) = mask {
        operation = operation.mask(mask);
    }
    if let Some(bytes) = arguments.memory_limit {
        operation = operation.memory_limit(bytes);
    }
    if arguments.reproducible {
        operation = operation.reproducible();
    }
    let explanation = if arguments.explain { Some(operation.explain()?) } else { None };
    let Some(explanation) = explanation else {
        let (c, ms) = common::timed(device, || operation.eval())?;
        return Ok(Made { c: c.over(), ms, explained: None });
    };
    let ((c, trace), ms) = common::timed(device, || operation.traced())?;
    Ok(Made { c: c.over(), ms, explained: Some((explanation, trace)) })
}

/// What was said of a product, for `--json`.
fn explained((e, trace): &(Explanation, Trace)) -> serde_json::Value {
    let listed = |bins: &Vec<Bin>| -> Vec<_> {
        bins.iter().map(|b| json!({"name": b.name, "about": b.about, "rows": b.rows})).collect()
    };
    let otherwise: Vec<_> = e.analysis.otherwise.iter().map(listed).collect();
    let kernels = trace.kernels.iter().map(|k| json!({"name": k.name, "ms": k.milliseconds, "bytes": k.bytes}));
    json!({
        "products": e.analysis.products, "largest_row": e.analysis.largest_row, "bound": e.analysis.bound,
        "compression": e.analysis.compression(), "entries": e.analysis.entries(), "strategy": e.analysis.strategy,
        "reason": e.analysis.reason, "bins": listed(&e.analysis.bins), "otherwise": otherwise,
        "workspace": e.analysis.workspace, "output": e.analysis.output,
        "kernels": kernels.collect::<Vec<_>>(), "peak": trace.peak,
    })
}

fn product<T: FromMatrixMarket, C: ToMatrixMarket + Plain>(
    arguments: &Arguments,
    multiply: Multiply<T, C>,
) -> Result<()> {
    let device = arguments.common.device()?;
    let a: Matrix<T> = Matrix::read(&arguments.a)?;
    let b = arguments.b.as_ref().map_or_else(|| Ok(a.clone()), Matrix::read)?;
    let mask: Option<Matrix<bool>> = arguments.mask.as_deref().map(positions).transpose()?;
    let on = |arguments: &Arguments, device: Device| -> Result<Made<C>> {
        let mask = mask.as_ref().map(|m| m.to(&device)).transpose()?.map(|m| m.structure());
        multiply(arguments, device, &a.to(&device)?, &b.to(&device)?, mask.as_ref())
    };
    let products = count(&a, &b, arguments.transpose_a, arguments.transpose_b)?;
    let Made { c, ms, explained: said } = on(arguments, device)?;
    let coo = c.to_coo()?;
    if arguments.check {
        let quiet = Arguments { explain: false, memory_limit: None, ..arguments.clone() };
        let expected = on(&quiet, Device::Reference)?.c.to_coo()?;
        let same = coo.rows == expected.rows && coo.columns == expected.columns;
        if !same || !close(&coo.values, &expected.values) {
            let (found, reference) = (coo.len(), expected.len());
            let reason = format!("the result on {device} is not the reference's: {found} and {reference} entries");
            return Err(Error::InvalidValue { operation: "check", reason });
        }
    }
    if let Some(path) = &arguments.output {
        matrix_market::write(path, &c)?;
    }
    // In f64 for every type: of 64-bit integers, whose values and sums may have more than its 53 bits, the nearest there are.
    // The standard library's sum of nothing is −0.
    let part = |n: usize| coo.values.iter().fold(0.0, |sum, v| sum + v.plain()[n]);
    let sum = if matches!(C::FIELD, Field::Complex) { json!([part(0), part(1)]) } else { json!(part(0)) };
    let mut object = json!({
        "device": device.to_string(), "semiring": name(arguments.semiring), "type": name(arguments.scalar),
        "strategy": arguments.strategy.name(), "rows": c.nrows(), "cols": c.ncols(), "nnz_a": a.nvals(),
        "nnz_b": b.nvals(), "products": products, "nnz_c": c.nvals(), "sum": sum, "ms": ms,
    });
    if let Some(said) = said.as_ref().filter(|_| arguments.common.json) {
        object["explain"] = explained(said);
    }
    arguments.common.print(object)?;
    // Where something fails, the error is all that is on stderr.
    if let Some((explanation, trace)) = &said {
        common::tell(format_args!("{explanation}{trace}"));
    }
    Ok(())
}

/// Σₖ entries of column k of A · entries of row k of B, transposes applied.
fn count<T: Scalar, S>(a: &Matrix<T, S>, b: &Matrix<T, S>, transpose_a: bool, transpose_b: bool) -> Result<u64> {
    let (left, right) = (a.to_coo()?, b.to_coo()?);
    let (inner, ks) = if transpose_a { (left.nrows, left.rows) } else { (left.ncols, left.columns) };
    let (other, ls) = if transpose_b { (right.ncols, right.columns) } else { (right.nrows, right.rows) };
    if inner != other {
        // The product itself says so best.
        return Ok(0);
    }
    let mut sorted = ls;
    sorted.sort_unstable();
    let length = |k: &u64| sorted.partition_point(|l| l <= k) - sorted.partition_point(|l| l < k);
    Ok(ks.iter().map(|k| length(k) as u64).sum())
}

fn run(arguments: Arguments) -> Result<()> {
    let refused = |why: &str| {
        let reason = format!("{} is {why}", name(arguments.semiring));
        Err(Error::InvalidValue { operation: "spgemm", reason })
    };
    macro_rules! of {
        ($t:ty, $s:ty) => {
            product(&arguments, multiply::<$t, $s>)
        };
    }
    macro_rules! numbers {
        ($t:ty, $count:ty) => {
            over_numbers!(arguments.semiring, $t, $count, of, refused("over bool: add --type bool"))
        };
    }
    macro_rules! complex {
        ($t:ty) => {
            over_complex!(arguments.semiring, $t, of, refused("not over complex numbers"))
        };
    }
    match arguments.scalar {
        ScalarName::Bool => over_booleans!(arguments.semiring, of),
        ScalarName::I32 => numbers!(i32, i32),
        ScalarName::I64 => numbers!(i64, i64),
        ScalarName::U64 => numbers!(u64, u64),
        ScalarName::F32 => numbers!(f32, f32),
        ScalarName::F64 => numbers!(f64, f64),
        ScalarName::C32 => complex!(c32),
        ScalarName::C64 => complex!(c64),
        #[cfg(feature = "half")]
        ScalarName::F16 => numbers!(f16, f32),
        #[cfg(feature = "half")]
        ScalarName::Bf16 => numbers!(bf16, f32),
    }
}

fn main() -> std::process::ExitCode {
    common::main(run)
}
