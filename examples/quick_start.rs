//! A first program: one matrix, three semirings, three questions.
mod common;
use common::say_line;
use oplus::prelude::*;

fn run() -> Result<()> {
    // Roads between four towns, an entry (from, to, kilometres).
    let roads: Matrix<f64> = Matrix::build(4, 4, &[(0, 1, 5.0), (0, 2, 1.0), (2, 1, 2.0), (1, 3, 1.0)])?;
    let roads = roads.to(&Device::try_best()?)?;
    say_line!("on {}: {} roads between {} towns", roads.device(), roads.nvals(), roads.nrows())?;

    // C = A min.+ A: the shortest way of exactly two roads. Relabelling copies nothing.
    let two_roads = roads.over::<MinPlus>().mxm(&roads.over())?;
    say_line!("two roads:   {:?}", two_roads.entries()?)?;
    // C = A +.pair A: how many such ways there are.
    let ways = mxm(&roads.over::<PlusPair>(), &roads.over()).eval()?;
    say_line!("ways:        {:?}", ways.entries()?)?;
    // C⟨¬A⟩ = A ∨.∧ A: which towns are two roads apart and not one.
    let linked = roads.cast::<bool>()?.over::<LorLand>();
    let apart = mxm(&linked, &linked).mask(&roads.structure().complement()).eval()?;
    say_line!("not one:     {:?}", apart.entries()?)?;

    // Algorithms are written with the same operations and run wherever the matrix is.
    let shortest = algorithm::sssp(&roads, 0, &Default::default())?;
    say_line!("from town 0: {:?}", shortest.distances.entries()?)?;
    Ok(())
}

fn main() -> std::process::ExitCode {
    common::program(run)
}
