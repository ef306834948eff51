//! Shortest paths between all pairs.
mod common;

use clap::Parser;
use oplus::algorithm::apsp;
use oplus::prelude::*;
use serde_json::json;
use std::path::PathBuf;

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
    let weights: Matrix<f64> = Matrix::read(&arguments.file)?;
    common::square(&arguments.file, &weights)?;
    let weights = weights.to(&device)?;
    let (found, ms) = common::timed(device, || apsp(&weights, &Default::default()))?;
    let distances = &found.distances;
    // A vertex is at distance 0 from itself, so that no distance at all means no vertex.
    let (sum, diameter) = (reduce(distances, Plus)?, reduce(distances, Max)?.max(0.0));
    arguments.common.print(json!({
        "rows": weights.nrows(), "reachable_pairs": distances.nvals(), "distance_sum": sum, "diameter": diameter, "ms": ms,
    }))
}

fn main() -> std::process::ExitCode {
    common::main(run)
}
