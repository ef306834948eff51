//! The command line.
use crate::factors::Kind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use oplus::prelude::Strategy;
use std::path::PathBuf;

/// Sparse products on a GPU beside cuSPARSE, in one process; without a command: A², AP and PᵀAP as asked for.
///
/// Times are of whole calls, from operands on the device to a complete result there, allocations included (both libraries' from
/// one memory pool): medians after a warm-up. Results are compared.
#[derive(Parser, Debug)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) products: Products,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// A², AP and PᵀAP in f64 and f32 beside every algorithm of cuSPARSE, over min_plus and bool as well, then A² by every strategy:
    /// some 20 minutes of all matrices, which --seconds has to allow
    Everything,
    /// A·x and xᵀ·A beside cusparseSpMV, Aᵀ beside cusparseCsr2cscEx2, in f64
    Operations,
    /// Element-wise operations, select, apply, reduce, extract and transpose: what share of the copy bandwidth they reach
    Bandwidth {
        /// Entries of each matrix
        #[arg(long, default_value_t = 100_000_000, value_parser = clap::value_parser!(u64).range(1000..=1 << 32))]
        entries: u64,
    },
    /// What a call costs beside its work: microseconds of operations on few entries, in a row and one by one
    Calls {
        /// Entries of each vector
        #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
        entries: u64,
        /// Print the milliseconds of every kernel too
        #[arg(long)]
        trace: bool,
    },
    /// A·X and X·A beside cusparseSpMM, in f64, for X with an entry everywhere
    Full {
        /// Columns, or rows, of X
        #[arg(long, value_delimiter = ',', default_value = "4,32", value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
        columns: Vec<u32>,
        /// Print the milliseconds of every kernel too
        #[arg(long)]
        trace: bool,
    },
    /// A·A and A·Aᵀ under masks, stored and summed: dot products beside rows, and which of them auto takes
    Masked {
        /// Print the milliseconds of every kernel of each strategy too
        #[arg(long)]
        trace: bool,
    },
    /// Figures as SVG from JSON lines that --output wrote: GFLOP/s, share of the traffic bound, speed-ups
    Plot {
        /// Files of JSON lines
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The folder that gflops.svg, traffic.svg and speedup.svg go to; it is made where it is not there
        #[arg(long, default_value = ".")]
        into: PathBuf,
    },
}

/// What is said to the products alone.
#[derive(Args, Debug)]
pub(crate) struct Products {
    /// Which; P is made by smoothed aggregation, for matrices of nearly symmetric pattern without very long rows
    #[arg(long, value_delimiter = ',', default_value = "a2")]
    pub(crate) products: Vec<Kind>,
    /// Types of the values
    #[arg(long, value_delimiter = ',', default_value = "f64")]
    pub(crate) types: Vec<Type>,
    /// How this library multiplies: auto, or one of the names that an unknown one is answered with
    #[arg(long, default_value = "auto")]
    pub(crate) strategy: Strategy,
    /// Every strategy of this library beside the others instead of cuSPARSE; of PᵀAP the second product, Pᵀ·(AP)
    #[arg(long, conflicts_with_all = ["strategy", "semirings", "trace"])]
    pub(crate) strategies: bool,
    /// Over min_plus and over bool with ∨.∧ as well, this library alone
    #[arg(long)]
    pub(crate) semirings: bool,
    /// Print the milliseconds of every kernel too
    #[arg(long)]
    pub(crate) trace: bool,
}

impl Products {
    pub(crate) fn everything() -> Self {
        let (products, types) = (vec![Kind::A2, Kind::Ap, Kind::Ptap], vec![Type::F64, Type::F32]);
        Self { products, types, strategy: Strategy::Auto, strategies: false, semirings: true, trace: false }
    }
    pub(crate) fn of_strategies() -> Self {
        let (products, types) = (vec![Kind::A2], vec![Type::F64]);
        Self { products, types, strategies: true, semirings: false, ..Self::everything() }
    }
}

/// What every command takes, before or after its name.
#[derive(Args, Debug)]
pub(crate) struct Common {
    /// A folder of Matrix Market files to take besides the generated matrices
    #[arg(long, global = true)]
    pub(crate) data: Option<PathBuf>,
    /// So many matrices drawn at random instead of the generated ones, of all kinds and sizes
    #[arg(long, global = true, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1 << 20))]
    pub(crate) drawn: u64,
    /// The first drawn matrix's number; the others' follow it
    #[arg(long, global = true, default_value_t = 1, requires = "drawn")]
    pub(crate) seed: u64,
    /// Matrices (of `bandwidth` rows of the table) with one of these in their name only
    #[arg(long, global = true, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Begin with the matrix of this number, from 0, as a run that was stopped says
    #[arg(long, global = true, default_value_t = 0)]
    pub(crate) from: usize,
    /// Timed runs of each, after a warm-up; the median counts. What is 20 times slower than its rival runs once
    #[arg(long, global = true, default_value_t = 10)]
    pub(crate) runs: usize,
    /// Seconds after which no further matrix is begun
    #[arg(long, global = true, default_value_t = 480)]
    pub(crate) seconds: u64,
    /// Write one JSON object a line here
    #[arg(long, global = true)]
    pub(crate) output: Option<PathBuf>,
    /// Without cuSPARSE
    #[arg(long, global = true)]
    pub(crate) alone: bool,
    /// GB/s that the traffic bound is reckoned with
    #[arg(long, global = true, default_value_t = 4300.0, value_parser = positive)]
    pub(crate) bandwidth: f64,
}
impl Common {
    /// Whether a name is one of those asked for.
    pub(crate) fn asked(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|o| name.contains(o.as_str()))
    }
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    F64,
    F32,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("a positive number is needed".into()),
    }
}
