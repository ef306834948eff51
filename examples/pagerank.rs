//! PageRank: where a walk along edges is found that now and then starts anew, anywhere or at given vertices.
//!
//! Page, Brin, Motwani, Winograd, *The PageRank Citation Ranking: Bringing Order to the Web*, Stanford InfoLab 1999-66.
mod common;

use clap::Parser;
use oplus::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// PageRank of every vertex, or as seen from some (personalised)
#[derive(Parser, Debug)]
struct Arguments {
    /// Matrix Market file of the edges i→j
    file: PathBuf,
    /// Vertices at which walks start; all by default
    #[arg(long, value_delimiter = ',')]
    start: Vec<u64>,
    /// The chance to follow an edge instead of starting anew
    #[arg(long, default_value_t = 0.85, value_parser = chance)]
    damping: f64,
    /// Ends when ranks change by less than this in all
    #[arg(long, default_value_t = 1e-9, value_parser = common::tolerance)]
    tolerance: f64,
    /// The most rounds
    #[arg(long, default_value_t = 100)]
    rounds: u64,
    /// How many of the first vertices are named
    #[arg(long, default_value_t = 5)]
    top: u64,
    #[command(flatten)]
    common: common::Common,
}

fn chance(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|d| (0.0..1.0).contains(d)).ok_or_else(|| "a chance is at least 0 and below 1".into())
}

/// r = d·(Pᵀr + lost·v) + (1 − d)·v, until it changes no more: ranks, rounds and the last change.
fn pagerank(graph: &Matrix<bool>, v: &Vector<f64>, arguments: &Arguments) -> Result<(Vector<f64>, u64, f64)> {
    let d = arguments.damping;
    // d·P: each vertex hands d of its rank to its successors, in equal parts. Vertices without any have no entry.
    let share = count_rows(graph).apply(Cast::<f64>::default()).apply_first(d, Div).eval()?;
    let p = scale_rows(&share, &apply(graph, Pair::<f64>::default()).eval()?, Times).eval()?;
    let (mut r, mut change) = (v.clone(), f64::INFINITY);
    for round in 1..=arguments.rounds {
        // What is not handed on, by those vertices and all others, starts anew.
        let handed: f64 = ewise_mult(&r, &share, First).reduce(Plus)?;
        let anew = apply_second(v, Times, 1.0 - d * handed).eval()?;
        let next = vxm(&r, &p).ewise_add(&anew, Plus).eval()?;
        change = ewise_union(&next, 0.0, &r, 0.0, Minus).apply(Abs).reduce(Plus)?;
        r = next;
        if change < arguments.tolerance {
            return Ok((r, round, change));
        }
    }
    Ok((r, arguments.rounds, change))
}

fn run(arguments: Arguments) -> Result<()> {
    let device = arguments.common.device()?;
    let host: Matrix<bool> = Matrix::read(&arguments.file)?;
    common::square(&arguments.file, &host)?;
    let (n, start) = (host.nrows(), &arguments.start);
    // v: where walks start, with a chance for each.
    let mut v: Vector<f64> = Vector::full(n, 1.0 / n as f64)?;
    if !start.is_empty() {
        let parts: Vec<(u64, f64)> = start.iter().map(|i| (*i, 1.0 / start.len() as f64)).collect();
        v = Vector::build_with(n, &parts, Plus)?;
    }
    let (graph, v) = (host.to(&device)?, v.to(&device)?);
    let ((ranks, rounds, change), ms) = common::timed(device, || pagerank(&graph, &v, &arguments))?;
    let mut first = top_k(&ranks, arguments.top).eval()?.entries()?;
    first.sort_by(|x, y| y.1.total_cmp(&x.1));
    arguments.common.print(json!({
        "vertices": n, "rounds": rounds, "change": change, "sum": reduce(&ranks, Plus)?, "first": first, "ms": ms,
    }))
}

fn main() -> std::process::ExitCode {
    common::main(run)
}
