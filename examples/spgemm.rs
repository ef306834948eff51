//! One sparse product over a chosen semiring and type.
mod common;

use clap::{Parser, ValueEnum};
use oplus::io::matrix_market::{self, FromMatrixMarket, ToMatrixMarket};
use oplus::prelude::*;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

/// C⟨M⟩ = A ⊕.⊗ B
#[derive(Parser, Clone, Debug)]
struct Arguments {
    /// Matrix Market file of A
    a: PathBuf,
    /// Matrix Market file of B; A itself without it
    b: Option<PathBuf>,
    /// ⊕.⊗
    #[arg(long, default_value = "plus_times")]
    semiring: SemiringName,
    /// Type of the values; bool is true where a value is not zero
    #[arg(long = "type", default_value = "f64")]
    scalar: ScalarName,
    /// How: auto, or one of the names that an unknown one is answered with
    #[arg(long, default_value = "auto")]
    strategy: Strategy,
    /// Matrix Market file whose positions alone C may have
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
    /// Say on stderr what will be done and why, and afterwards what each kernel took; with --json in the object too
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
#[value(rename_all = "snake_case")]
enum SemiringName {
    PlusTimes,
    MinPlus,
    MaxPlus,
    MinMax,
    MaxMin,
    MinTimes,
    MaxTimes,
    MinFirst,
    MinSecond,
    MaxFirst,
    MaxSecond,
    PlusFirst,
    PlusSecond,
    AnyFirst,
    AnySecond,
    AnyPair,
    PlusPair,
    LorLand,
    LxorLand,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq)]
enum ScalarName {
    Bool,
    I32,
    I64,
    U64,
    F32,
    F64,
}

/// The value as a plain number; true counts 1.
trait Plain: Scalar {
    fn plain(self) -> f64;
}
macro_rules! plain { ($($t:ty)*) => { $(impl Plain for $t { fn plain(self) -> f64 { self.as_f64() } })* } }
plain!(i32 i64 u64 f32 f64);
impl Plain for bool {
    fn plain(self) -> f64 {
        self as u8 as f64
    }
}

fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map(|v| v.get_name().to_string()).unwrap_or_default()
}

/// Equal; floating sums may run in another order on a GPU, and what cancels is measured by the largest value.
fn close<T: Plain>(found: &[T], expected: &[T], scalar: ScalarName) -> bool {
    let tolerance = match scalar {
        ScalarName::F32 => 1e-5,
        ScalarName::F64 => 1e-12,
        _ => 0.0,
    };
    let finite = expected.iter().map(|v| v.plain().abs()).filter(|v| v.is_finite());
    let allowed = tolerance * finite.fold(0.0, f64::max);
    found
        .iter()
        .zip(expected)
        .map(|(x, y)| (x.plain(), y.plain()))
        .all(|(x, y)| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= allowed)
}

/// A product, its milliseconds, and with `--explain` what was said of it.
struct Made<T> {
    c: Matrix<T>,
    ms: f64,
    explained: Option<(Explanation, Trace)>,
}

/// The product under one semiring: all that is compiled once for each, the rest is once for each type.
type Multiply<T> = fn(&Arguments, &Matrix<T>, &Matrix<T>, Option<&Mask>) -> Result<Made<T>>;

fn multiply<T: Scalar, S: Semiring<T, T, Out = T>>(
    arguments: &Arguments,
    a: &Matrix<T>,
    b: &Matrix<T>,
    mask: Option<&Mask>,
) -> Result<Made<T>> {
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
    let start = Instant::now();
    let Some(explanation) = explanation else {
        let c = operation.eval()?.over();
        return Ok(Made { c, ms: common::ms(start), explained: None });
    };
    eprint!("{explanation}");
    let (c, trace) = operation.traced()?;
    let ms = common::ms(start);
    eprint!("{trace}");
    Ok(Made { c: c.over(), ms, explained: Some((explanation, trace)) })
}

/// What was said of a product, for `--json`.
fn explained((e, trace): &(Explanation, Trace)) -> serde_json::Value {
    let bins: Vec<_> =
        e.analysis.bins.iter().map(|b| json!({"name": b.name, "about": b.about, "rows": b.rows})).collect();
    let kernels = trace.kernels.iter().map(|k| json!({"name": k.name, "ms": k.milliseconds, "bytes": k.bytes}));
    json!({
        "products": e.analysis.products, "largest_row": e.analysis.largest_row, "bound": e.analysis.bound,
        "compression": e.analysis.compression(), "entries": e.analysis.entries(), "strategy": e.analysis.strategy,
        "reason": e.analysis.reason, "bins": bins, "workspace": e.analysis.workspace, "output": e.analysis.output,
        "kernels": kernels.collect::<Vec<_>>(), "peak": trace.peak,
    })
}

fn product<T: FromMatrixMarket + ToMatrixMarket + Plain>(arguments: &Arguments, multiply: Multiply<T>) -> Result<()> {
    let device = arguments.common.device()?;
    let a: Matrix<T> = Matrix::read(&arguments.a)?;
    let b = arguments.b.as_ref().map_or_else(|| Ok(a.clone()), Matrix::read)?;
    let mask: Option<Matrix<bool>> = arguments.mask.as_ref().map(Matrix::read).transpose()?;
    let on = |arguments: &Arguments, device: Device| -> Result<Made<T>> {
        let mask = mask.as_ref().map(|m| m.to(&device)).transpose()?.map(|m| m.structure());
        multiply(arguments, &a.to(&device)?, &b.to(&device)?, mask.as_ref())
    };
    let products = count(&a, &b, arguments.transpose_a, arguments.transpose_b)?;
    let Made { c, ms, explained: said } = on(arguments, device)?;
    let coo = c.to_coo()?;
    if arguments.check {
        let quiet = Arguments { explain: false, memory_limit: None, ..arguments.clone() };
        let expected = on(&quiet, Device::Reference)?.c.to_coo()?;
        let same = coo.rows == expected.rows && coo.columns == expected.columns;
        if !same || !close(&coo.values, &expected.values, arguments.scalar) {
            let (found, reference) = (coo.len(), expected.len());
            let reason = format!("the result on {device} is not the reference's: {found} and {reference} entries");
            return Err(Error::InvalidValue { operation: "check", reason });
        }
    }
    if let Some(path) = &arguments.output {
        matrix_market::write(path, &c)?;
    }
    let sum: f64 = coo.values.iter().map(|v| v.plain()).sum();
    let mut object = json!({
        "device": device.to_string(), "semiring": name(arguments.semiring), "type": name(arguments.scalar),
        "strategy": arguments.strategy.name(), "rows": c.nrows(), "cols": c.ncols(), "nnz_a": a.nvals(),
        "nnz_b": b.nvals(), "products": products, "nnz_c": c.nvals(), "sum": sum, "ms": ms,
    });
    if let Some(said) = said.filter(|_| arguments.common.json) {
        object["explain"] = explained(&said);
    }
    arguments.common.print(object);
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

macro_rules! numbers {
    ($t:ty, $arguments:ident) => {
        match $arguments.semiring {
            SemiringName::PlusTimes => product::<$t>(&$arguments, multiply::<$t, PlusTimes>),
            SemiringName::MinPlus => product::<$t>(&$arguments, multiply::<$t, MinPlus>),
            SemiringName::MaxPlus => product::<$t>(&$arguments, multiply::<$t, MaxPlus>),
            SemiringName::MinMax => product::<$t>(&$arguments, multiply::<$t, MinMax>),
            SemiringName::MaxMin => product::<$t>(&$arguments, multiply::<$t, MaxMin>),
            SemiringName::MinTimes => product::<$t>(&$arguments, multiply::<$t, MinTimes>),
            SemiringName::MaxTimes => product::<$t>(&$arguments, multiply::<$t, MaxTimes>),
            SemiringName::MinFirst => product::<$t>(&$arguments, multiply::<$t, MinFirst>),
            SemiringName::MinSecond => product::<$t>(&$arguments, multiply::<$t, MinSecond>),
            SemiringName::MaxFirst => product::<$t>(&$arguments, multiply::<$t, MaxFirst>),
            SemiringName::MaxSecond => product::<$t>(&$arguments, multiply::<$t, MaxSecond>),
            SemiringName::PlusFirst => product::<$t>(&$arguments, multiply::<$t, PlusFirst>),
            SemiringName::PlusSecond => product::<$t>(&$arguments, multiply::<$t, PlusSecond>),
            SemiringName::AnyFirst => product::<$t>(&$arguments, multiply::<$t, AnyFirst>),
            SemiringName::AnySecond => product::<$t>(&$arguments, multiply::<$t, AnySecond>),
            SemiringName::AnyPair => product::<$t>(&$arguments, multiply::<$t, AnyPair<$t>>),
            SemiringName::PlusPair => product::<$t>(&$arguments, multiply::<$t, PlusPair<$t>>),
            SemiringName::LorLand | SemiringName::LxorLand => {
                let reason = format!("{} is over bool: add --type bool", name($arguments.semiring));
                Err(Error::InvalidValue { operation: "spgemm", reason })
            }
        }
    };
}

/// Over bool the arithmetic names mean what they mean on {0, 1}: + and max are ∨, × and min are ∧.
fn booleans(arguments: &Arguments) -> Result<()> {
    use SemiringName::*;
    match arguments.semiring {
        PlusTimes | MaxTimes | MaxMin | LorLand => {
            product::<bool>(arguments, multiply::<bool, oplus::algebra::LorLand>)
        }
        MinMax | MinPlus => product::<bool>(arguments, multiply::<bool, LandLor>),
        MaxPlus => product::<bool>(arguments, multiply::<bool, Compose<Lor, Lor>>),
        MinTimes => product::<bool>(arguments, multiply::<bool, Compose<Land, Land>>),
        MinFirst => product::<bool>(arguments, multiply::<bool, Compose<Land, First>>),
        MinSecond => product::<bool>(arguments, multiply::<bool, Compose<Land, Second>>),
        PlusFirst | MaxFirst => product::<bool>(arguments, multiply::<bool, Compose<Lor, First>>),
        PlusSecond | MaxSecond => product::<bool>(arguments, multiply::<bool, Compose<Lor, Second>>),
        AnyFirst => product::<bool>(arguments, multiply::<bool, oplus::algebra::AnyFirst>),
        AnySecond => product::<bool>(arguments, multiply::<bool, oplus::algebra::AnySecond>),
        AnyPair | PlusPair => product::<bool>(arguments, multiply::<bool, oplus::algebra::AnyPair>),
        LxorLand => product::<bool>(arguments, multiply::<bool, oplus::algebra::LxorLand>),
    }
}

fn run(arguments: Arguments) -> Result<()> {
    match arguments.scalar {
        ScalarName::Bool => booleans(&arguments),
        ScalarName::I32 => numbers!(i32, arguments),
        ScalarName::I64 => numbers!(i64, arguments),
        ScalarName::U64 => numbers!(u64, arguments),
        ScalarName::F32 => numbers!(f32, arguments),
        ScalarName::F64 => numbers!(f64, arguments),
    }
}

fn main() -> std::process::ExitCode {
    common::main(run)
}
