//! Triangles of an undirected graph.
mod common;

use clap::Parser;
use oplus::algorithm::triangle_count;
use oplus::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// Triangles; the pattern is made symmetric, self-loops are dropped
#[derive(Parser, Debug)]
struct Arguments {
    /// Matrix Market file of the edges
    file: PathBuf,
    #[command(flatten)]
    common: common::Common,
}

fn run(arguments: Arguments) -> Result<()> {
    let device = arguments.common.device()?;
    let graph: Matrix<bool> = Matrix::read(&arguments.file)?;
    common::square(&arguments.file, &graph)?;
    let graph = graph.to(&device)?;
    let (found, ms) = common::timed(device, || triangle_count(&graph, &Default::default()))?;
    arguments.common.print(json!({
        "device": device.to_string(), "rows": graph.nrows(), "edges": found.edges, "triangles": found.triangles, "ms": ms,
    }))
}

fn main() -> std::process::ExitCode {
    common::main(run)
}
