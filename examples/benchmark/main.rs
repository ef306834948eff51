//! Sparse products and other operations on a GPU, beside cuSPARSE in the same process.
//!
//! `cargo run --release --example benchmark -- --data DIRECTORY --products a2,ap,ptap --output results.jsonl`, then
//! `… -- plot results.jsonl --into DIRECTORY`; `… -- operations` for vectors and transposes; `… -- full` for matrices with an entry everywhere; `… -- bandwidth` for
//! what moves entries; `… -- masked` for products under masks; `… -- calls` for what a call costs; `… -- --drawn 100 --seed 7` for matrices that nothing was tuned on; `… -- everything` for all products and then all strategies; `… -- --strategies` for this library's strategies beside one another; `--help` says the rest. BENCHMARKS.md says what came out, EXPERIMENTS.md beside this file what was tried.
mod aggregation;
mod bandwidth;
mod beside;
mod calls;
mod cases;
#[path = "../common/mod.rs"]
mod common;
mod cusparse;
mod drawn;
mod factors;
mod full;
mod masked;
mod measure;
mod operations;
mod options;
mod plots;
mod products;
mod rivals;
mod rows;
mod session;
mod strategies;
mod verdict;

use measure::Sum;
use options::{Command, Options, Products};
use session::Session;
use std::error::Error;
use std::path::Path;

pub(crate) type Failure = Box<dyn Error + Send + Sync>;
pub(crate) type Outcome<T> = Result<T, Failure>;

/// What went wrong with a file, by its name.
pub(crate) fn named(path: &Path, error: impl std::fmt::Display) -> Failure {
    format!("{}: {error}", path.display()).into()
}

fn run(options: Options) -> Outcome<()> {
    match &options.command {
        None => products::run(&mut Session::new(&options.common)?, &options.products),
        Some(Command::Everything) => {
            let mut session = Session::new(&options.common)?;
            let beside = products::run(&mut session, &Products::everything());
            beside.and(products::run(&mut session, &Products::of_strategies()))
        }
        Some(Command::Operations) => operations::run(&mut Session::new(&options.common)?),
        Some(Command::Bandwidth { entries }) => bandwidth::run(&mut Session::new(&options.common)?, *entries),
        Some(Command::Calls { entries, trace }) => calls::run(&mut Session::new(&options.common)?, *entries, *trace),
        Some(Command::Full { columns, trace }) => full::run(&mut Session::new(&options.common)?, columns, *trace),
        Some(Command::Masked { trace }) => masked::run(&mut Session::new(&options.common)?, *trace),
        Some(Command::Plot { files, into }) => plots::write(files, into),
    }
}

fn main() -> std::process::ExitCode {
    common::main(run)
}
