//! Shortest paths between all pairs.
mod common;

use clap::Parser;
use oplus::algorithm::apsp;
use oplus::prelude::*;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

/// Distances between all pairs; pairs include i→i at distance 0
#[derive(Parser, Debug)]
struct Arguments {
    /// Matrix Market file of the weights; a pattern entry weighs 1
    file: PathBuf,
    #[command(flatten)]
    common: common::Common,
}

fn run(arguments: Arguments) -> Result<()> {
    let device = arguments.common.device()?;
    let weights: Matrix<f64> = common::read(&arguments.file)?;
    common::square(&arguments.file, &weights)?;
    let weights = weights.to(&device)?;
    let start = Instant::now();
    let found = apsp(&weights, &Default::default())?;
    let ms = common::ms(start);
    let coo = found.distances.to_coo()?;
    let sum: f64 = coo.values.iter().sum();
    let diameter = coo.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    arguments.common.print(json!({
        "rows": weights.nrows(), "reachable_pairs": coo.len(), "distance_sum": sum, "diameter": diameter, "ms": ms,
    }));
    Ok(())
}

fn main() -> std::process::ExitCode {
    common::main(run)
}
