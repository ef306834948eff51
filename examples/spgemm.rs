//! One sparse product over a chosen semiring and type.
mod common;

use clap::{Parser, ValueEnum};
use oplus::io::matrix_market::{self, FromMatrixMarket, ToMatrixMarket};
use oplus::prelude::*;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

/// C⟨M⟩ = A ⊕.⊗ B
#[derive(Parser, Debug)]
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
    /// auto, hash or dot
    #[arg(long, default_value = "auto")]
    strategy: StrategyName,
    /// Matrix Market file whose positions alone C may have
    #[arg(long)]
    mask: Option<PathBuf>,
    /// Use the transposed A
    #[arg(long)]
    transpose_a: bool,
    /// Use the transposed B
    #[arg(long)]
    transpose_b: bool,
    /// Say on stderr what will be done
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

#[derive(ValueEnum, Clone, Copy, Debug)]
enum StrategyName {
    Auto,
    Hash,
    Dot,
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

/// Floating sums may run in another order on a GPU.
fn close(x: f64, y: f64, exact: bool) -> bool {
    x == y || (x.is_nan() && y.is_nan()) || (!exact && (x - y).abs() <= 1e-4 * x.abs().max(y.abs()).max(1e-300))
}

fn product<T: FromMatrixMarket, S: Semiring<T, T>>(arguments: &Arguments) -> Result<()>
where
    S::Out: Plain + ToMatrixMarket,
{
    let device = arguments.common.device()?;
    let a: Matrix<T, S> = common::read(&arguments.a)?;
    let b: Matrix<T, S> = match &arguments.b {
        Some(path) => common::read(path)?,
        None => a.clone(),
    };
    let mask: Option<Matrix<bool>> = arguments.mask.as_ref().map(|path| common::read(path)).transpose()?;
    let strategy = match arguments.strategy {
        StrategyName::Auto => Strategy::Auto,
        StrategyName::Hash => Strategy::Hash,
        StrategyName::Dot => Strategy::Dot,
    };
    let on = |device: Device| -> Result<(Matrix<S::Out, S>, f64)> {
        let (a, b) = (a.to(&device)?, b.to(&device)?);
        let mask = mask.as_ref().map(|m| m.to(&device)).transpose()?;
        let mut operation = mxm(&a, &b).strategy(strategy);
        if arguments.transpose_a {
            operation = operation.transpose_a();
        }
        if arguments.transpose_b {
            operation = operation.transpose_b();
        }
        if let Some(m) = &mask {
            operation = operation.mask(&m.structure());
        }
        let start = Instant::now();
        let c = operation.eval()?;
        Ok((c, common::ms(start)))
    };
    let products = count(&a, &b, arguments.transpose_a, arguments.transpose_b)?;
    if arguments.explain {
        let (rows, cols) = (a.shape(), b.shape());
        eprintln!("A {}×{}, {} entries; B {}×{}, {} entries", rows.0, rows.1, a.nvals(), cols.0, cols.1, b.nvals());
        eprintln!(
            "{products} products; at most {} bytes of C",
            products.saturating_mul(4 + size_of::<S::Out>() as u64)
        );
        eprintln!("on {device}, strategy {}, mask: {}", name(arguments.strategy), mask.is_some());
    }
    let (c, ms) = on(device)?;
    let coo = c.to_coo()?;
    if arguments.check {
        let expected = on(Device::Reference)?.0.to_coo()?;
        let exact = !matches!(arguments.scalar, ScalarName::F32 | ScalarName::F64);
        let same = coo.rows == expected.rows && coo.columns == expected.columns;
        let same = same && coo.values.iter().zip(&expected.values).all(|(x, y)| close(x.plain(), y.plain(), exact));
        if !same {
            let reason = format!(
                "the result on {device} differs from the reference: {} and {} entries",
                coo.len(),
                expected.len()
            );
            return Err(Error::InvalidValue { operation: "check", reason });
        }
    }
    if let Some(path) = &arguments.output {
        matrix_market::write(path, &c)?;
    }
    let sum: f64 = coo.values.iter().map(|v| v.plain()).sum();
    arguments.common.print(json!({
        "device": device.to_string(), "semiring": name(arguments.semiring), "type": name(arguments.scalar),
        "strategy": name(arguments.strategy), "rows": c.nrows(), "cols": c.ncols(), "nnz_a": a.nvals(),
        "nnz_b": b.nvals(), "products": products, "nnz_c": c.nvals(), "sum": sum, "ms": ms,
    }));
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
            SemiringName::PlusTimes => product::<$t, PlusTimes>(&$arguments),
            SemiringName::MinPlus => product::<$t, MinPlus>(&$arguments),
            SemiringName::MaxPlus => product::<$t, MaxPlus>(&$arguments),
            SemiringName::MinMax => product::<$t, MinMax>(&$arguments),
            SemiringName::MaxMin => product::<$t, MaxMin>(&$arguments),
            SemiringName::MinTimes => product::<$t, MinTimes>(&$arguments),
            SemiringName::MaxTimes => product::<$t, MaxTimes>(&$arguments),
            SemiringName::MinFirst => product::<$t, MinFirst>(&$arguments),
            SemiringName::MinSecond => product::<$t, MinSecond>(&$arguments),
            SemiringName::MaxFirst => product::<$t, MaxFirst>(&$arguments),
            SemiringName::MaxSecond => product::<$t, MaxSecond>(&$arguments),
            SemiringName::PlusFirst => product::<$t, PlusFirst>(&$arguments),
            SemiringName::PlusSecond => product::<$t, PlusSecond>(&$arguments),
            SemiringName::AnyFirst => product::<$t, AnyFirst>(&$arguments),
            SemiringName::AnySecond => product::<$t, AnySecond>(&$arguments),
            SemiringName::AnyPair => product::<$t, AnyPair<$t>>(&$arguments),
            SemiringName::PlusPair => product::<$t, PlusPair<$t>>(&$arguments),
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
        PlusTimes | MaxTimes | MaxMin | LorLand => product::<bool, oplus::algebra::LorLand>(arguments),
        MinMax | MinPlus => product::<bool, LandLor>(arguments),
        MaxPlus => product::<bool, Compose<Lor, Lor>>(arguments),
        MinTimes => product::<bool, Compose<Land, Land>>(arguments),
        MinFirst => product::<bool, Compose<Land, First>>(arguments),
        MinSecond => product::<bool, Compose<Land, Second>>(arguments),
        PlusFirst | MaxFirst => product::<bool, Compose<Lor, First>>(arguments),
        PlusSecond | MaxSecond => product::<bool, Compose<Lor, Second>>(arguments),
        AnyFirst => product::<bool, oplus::algebra::AnyFirst>(arguments),
        AnySecond => product::<bool, oplus::algebra::AnySecond>(arguments),
        AnyPair | PlusPair => product::<bool, oplus::algebra::AnyPair>(arguments),
        LxorLand => product::<bool, oplus::algebra::LxorLand>(arguments),
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
