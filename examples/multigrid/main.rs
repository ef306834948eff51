//! Sparse linear equations by conjugate gradients, preconditioned by multigrid. Without a file: Poisson's equation on a grid.
#[path = "../common/mod.rs"]
mod common;
mod hierarchy;
mod solve;

use clap::Parser;
use oplus::prelude::*;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Solves A·x = b, b = A·1, by conjugate gradients with one cycle of smoothed-aggregation multigrid a step
#[derive(Parser, Debug)]
struct Arguments {
    /// Matrix Market file of a symmetric positive definite A; without it the 7-point stencil on a cube
    file: Option<PathBuf>,
    /// Points along an edge of the cube, with a boundary of zeros around it
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1024), conflicts_with = "file")]
    grid: u64,
    /// Done when the residual is this part of b; 0 is as far as rounding lets it
    #[arg(long, default_value_t = 1e-8, value_parser = common::tolerance)]
    tolerance: f64,
    /// Steps after which it is given up
    #[arg(long, default_value_t = 1000)]
    steps: u64,
    #[command(flatten)]
    common: common::Common,
}

/// The 7-point stencil on a cube whose neighbours outside are zero.
fn poisson(n: u64) -> Result<Matrix<f64>> {
    let laplacian: Matrix<f64> = Matrix::from_coo(&oplus::generate::stencil_7(n, n, n)?)?;
    // Its diagonal counts the neighbours that are there.
    let off = select(&laplacian, Offdiag, 0).eval()?;
    let diagonal: Vector<f64> = Vector::full(n * n * n, 6.0)?;
    ewise_add(&off, &diag(&diagonal, 0).eval()?, Plus).eval()
}

/// Refuses what is not symmetric, naming the file.
fn symmetric(path: &Path, a: &Matrix<f64>) -> Result<()> {
    let reason = match a.shape() {
        (rows, columns) if rows != columns => format!("the matrix is {rows}×{columns}, equations need a square one"),
        _ => {
            let off = ewise_union(a, 0.0, &a.transposed(), 0.0, Ne).eval()?;
            if !reduce(&off, Lor)? {
                return Ok(());
            }
            "the matrix is not symmetric".into()
        }
    };
    Err(Error::Parse { path: Some(path.to_path_buf()), line: None, reason })
}

fn run(arguments: Arguments) -> Result<()> {
    let device = arguments.common.device()?;
    let a: Matrix<f64> = match &arguments.file {
        Some(path) => {
            let a = Matrix::read(path)?.to(&device)?;
            symmetric(path, &a)?;
            a
        }
        None => poisson(arguments.grid)?.to(&device)?,
    };
    let b = mxv(&a, &Vector::full(a.nrows(), 1.0)?.to(&device)?).eval()?;
    let (levels, setup_ms) = common::timed(device, || hierarchy::levels(&a))?;
    let solve = || solve::conjugate_gradients(&levels, &b, arguments.tolerance, arguments.steps);
    let (solved, ms) = common::timed(device, solve)?;
    let off = apply(&apply_second(&solved.x, Minus, 1.0).eval()?, Abs).eval()?;
    let entries: u64 = levels.iter().map(|level| level.a.nvals()).sum();
    arguments.common.print(json!({
        "device": device.to_string(), "rows": a.nrows(), "nnz": a.nvals(),
        "levels": levels.iter().map(|level| level.a.nrows()).collect::<Vec<_>>(),
        "operator_complexity": entries as f64 / a.nvals().max(1) as f64,
        "steps": solved.steps, "converged": solved.residual <= arguments.tolerance, "residual": solved.residual,
        "error": reduce_stored(&off, Max)?, "setup_ms": setup_ms, "ms": ms,
    }))
}

fn main() -> std::process::ExitCode {
    common::main(run)
}
