//! Breadth-first search from many sources at once. Without a file: a generated graph of over a million edges.
mod common;

use clap::Parser;
use oplus::algorithm::{MultiSourceBfsOptions, Progress, multi_source_bfs, undirected};
use oplus::generate::{self, Random};
use oplus::prelude::*;
use serde_json::json;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

/// Levels of breadth-first search from a batch of sources, one sparse product a level
#[derive(Parser, Debug)]
struct Arguments {
    /// Matrix Market file of the edges i→j; without it a graph is generated
    file: Option<PathBuf>,
    /// Source vertices, from 0
    #[arg(long, value_delimiter = ',', conflicts_with = "random_sources")]
    sources: Option<Vec<u64>>,
    /// So many distinct random sources, all vertices where there are fewer
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=1 << 24))]
    random_sources: Option<u64>,
    /// Seed of the sources, and of the generated graph
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Edges go both ways
    #[arg(long)]
    undirected: bool,
    #[command(flatten)]
    common: common::Common,
}

/// Distinct random vertices, those with edges first: half of an R-MAT graph has none.
fn random_sources(graph: &Matrix<bool>, count: u64, seed: u64) -> Result<Vec<u64>> {
    let mut random = Random::new(seed, 0);
    let with_edges: Vec<u64> = reduce_rows(graph, Lor).eval()?.entries()?.into_iter().map(|e| e.0).collect();
    let (n, count) = (graph.nrows(), count.min(graph.nrows()) as usize);
    let missing = |_| {
        let needed = 24 * count as u64;
        Error::OutOfMemory { operation: "random_sources", device: "host".into(), needed, available: None }
    };
    let (mut seen, mut sources) = (HashSet::new(), Vec::new());
    seen.try_reserve(count).map_err(missing)?;
    sources.try_reserve_exact(count).map_err(missing)?;
    while sources.len() < count {
        let source = match sources.len() < with_edges.len() {
            true => with_edges[random.below(with_edges.len() as u64) as usize],
            false => random.below(n),
        };
        if seen.insert(source) {
            sources.push(source);
        }
    }
    Ok(sources)
}

fn run(arguments: Arguments) -> Result<()> {
    let device = arguments.common.device()?;
    let spinner = indicatif::ProgressBar::new_spinner();
    if !spinner.is_hidden() {
        spinner.enable_steady_tick(Duration::from_millis(100));
    }
    let generated = arguments.file.is_none();
    let graph: Matrix<bool> = match &arguments.file {
        Some(path) => {
            spinner.set_message(format!("reading {}", path.display()));
            let graph = Matrix::read(path)?;
            common::square(path, &graph)?;
            graph
        }
        None => {
            spinner.set_message("generating an R-MAT graph of 2^17 vertices");
            let coo = generate::rmat(17, 10, Default::default(), arguments.seed)?;
            let weighted: Matrix<f64> = Matrix::from_coo(&coo)?;
            apply(&weighted, Pair::<bool>::default()).eval()?
        }
    };
    let graph = if arguments.undirected { undirected(&graph)? } else { graph };
    let n = graph.nrows();
    let sources = match (&arguments.sources, arguments.random_sources) {
        (Some(sources), _) => sources.clone(),
        (None, Some(count)) => random_sources(&graph, count, arguments.seed)?,
        (None, None) if generated => random_sources(&graph, 64, arguments.seed)?,
        (None, None) => random_sources(&graph, 1, arguments.seed)?,
    };
    let graph = graph.to(&device)?;
    let progress = |p: Progress| {
        let (done, all) = (p.sources_done, p.sources);
        spinner.set_message(format!("{done} of {all} sources done: level {}, {} vertices", p.level, p.frontier));
    };
    let options = MultiSourceBfsOptions::default().with_progress(&progress);
    let (found, ms) = common::timed(device, || multi_source_bfs(&graph, &sources, &options))?;
    spinner.finish_and_clear();
    if !arguments.common.json {
        let (edges, count) = (graph.nvals(), sources.len());
        common::say(format_args!("{n} vertices, {edges} edges, on {device}: {count} sources in {ms} ms\n"))?;
        common::say(format_args!("{:>10} {:>10} {:>7} {:>12}\n", "source", "reached", "depth", "mean level"))?;
        for (s, source) in sources.iter().enumerate() {
            let mean = found.level_sum[s] as f64 / found.reached[s] as f64;
            let (reached, depth) = (found.reached[s], found.depth[s]);
            common::say(format_args!("{source:>10} {reached:>10} {depth:>7} {mean:>12.3}\n"))?;
        }
        return Ok(());
    }
    arguments.common.print(json!({
        "device": device.to_string(), "rows": n, "nnz": graph.nvals(), "sources": sources, "reached": found.reached,
        "depth": found.depth, "level_sum": found.level_sum, "ms": ms,
    }))
}

fn main() -> std::process::ExitCode {
    common::main(run)
}
