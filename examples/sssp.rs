//! Shortest paths from one source.
mod common;

use clap::Parser;
use oplus::algorithm::sssp;
use oplus::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// Distances from one vertex; weights may be negative where there is no negative cycle
#[derive(Parser, Debug)]
struct Arguments {
    /// Matrix Market file of the weights; a pattern entry weighs 1
    file: PathBuf,
    /// Source vertex, from 0
    #[arg(long)]
    source: u64,
    #[command(flatten)]
    common: common::Common,
}

fn run(arguments: Arguments) -> Result<()> {
    let device = arguments.common.device()?;
    let weights: Matrix<f64> = Matrix::read(&arguments.file)?;
    common::square(&arguments.file, &weights)?;
    let weights = weights.to(&device)?;
    let (found, ms) = common::timed(device, || sssp(&weights, arguments.source, &Default::default()))?;
    let distances = &found.distances;
    let (sum, most) = (reduce(distances, Plus)?, reduce(distances, Max)?);
    let reached = distances.nvals();
    arguments.common.print(json!({ "reached": reached, "distance_sum": sum, "max_distance": most, "ms": ms }))
}

fn main() -> std::process::ExitCode {
    common::main(run)
}
