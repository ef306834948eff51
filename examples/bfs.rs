//! Breadth-first search from one source: levels and parents.
mod common;

use clap::Parser;
use oplus::algorithm::bfs;
use oplus::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// Levels and parents of a breadth-first search
#[derive(Parser, Debug)]
struct Arguments {
    /// Matrix Market file of the edges i→j
    file: PathBuf,
    /// Source vertex, from 0
    #[arg(long)]
    source: u64,
    #[command(flatten)]
    common: common::Common,
}

fn run(arguments: Arguments) -> Result<()> {
    let device = arguments.common.device()?;
    let host: Matrix<bool> = Matrix::read(&arguments.file)?;
    common::square(&arguments.file, &host)?;
    let graph = host.to(&device)?;
    let (found, ms) = common::timed(device, || bfs(&graph, arguments.source, &Default::default()))?;
    let (levels, parents) =
        (found.levels.entries()?, found.parents.map(|p| p.entries()).transpose()?.unwrap_or_default());
    let level = |v: u64| levels.binary_search_by_key(&v, |e| e.0).map(|e| levels[e].1).ok();
    // A parent stands one level above, on an edge of the graph.
    let mut valid = levels.len() == parents.len();
    for (vertex, parent) in &parents {
        valid &= match (level(*vertex), level(*parent)) {
            (Some(0), _) => vertex == parent,
            (Some(below), Some(above)) => below == above + 1 && host.get(*parent, *vertex)?.is_some(),
            _ => false,
        };
    }
    arguments.common.print(json!({
        "reached": found.reached, "depth": found.depth, "level_sum": found.level_sum, "parents_valid": valid, "ms": ms,
    }))
}

fn main() -> std::process::ExitCode {
    common::main(run)
}
