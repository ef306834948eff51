//! bfs against a queue; parents by their definition.
mod oracles;
use oplus::algorithm::{BfsOptions, Direction, bfs, bfs_with_transpose};
use oplus::prelude::*;
use oracles::*;
use quickcheck::quickcheck;

fn options(direction: Direction) -> BfsOptions {
    BfsOptions::default().with_direction(direction)
}

/// Levels are the queue's; every parent is the smallest vertex of the level before with an edge here.
fn agrees(n: usize, edges: &[Edge], source: usize, options: &BfsOptions) -> bool {
    let found = bfs(&matrix(n, edges), source as u64, options).unwrap();
    let expected = queue_bfs(n, edges, source);
    let levels: Vec<(u64, u32)> = (0..n).filter_map(|v| expected[v].map(|l| (v as u64, l as u32))).collect();
    let parent = |v: usize| match expected[v]? {
        0 => Some((v as u64, v as u64)),
        level => {
            let before = |u: &usize| expected[*u] == Some(level - 1);
            let from = edges.iter().filter(|e| e.1 == v).map(|e| e.0).filter(before).min()?;
            Some((v as u64, from as u64))
        }
    };
    let parents: Vec<(u64, u64)> = (0..n).filter_map(parent).collect();
    let sums =
        (levels.len() as u64, levels.iter().map(|l| l.1).max().unwrap(), levels.iter().map(|l| l.1 as u64).sum());
    let alone = bfs(&matrix(n, edges), source as u64, &options.clone().with_parents(false)).unwrap();
    found.levels.entries().unwrap() == levels
        && (alone.levels.entries().unwrap(), alone.reached, alone.depth, alone.pulled)
            == (levels, found.reached, found.depth, found.pulled)
        && found.parents.unwrap().entries().unwrap() == parents
        && (found.reached, found.depth, found.level_sum) == sums
}

quickcheck! {
    fn every_direction_is_a_queue(seed: u64) -> bool {
        let (n, edges) = random(seed, 60, 3, (1, 1));
        let source = seed as usize % n;
        [Direction::Auto, Direction::Push, Direction::Pull].into_iter().all(|d| agrees(n, &edges, source, &options(d)))
    }
    fn a_symmetric_graph_needs_no_transposition(seed: u64) -> bool {
        let (n, edges) = random(seed, 60, 3, (1, 1));
        agrees(n, &both_ways(&edges), 0, &options(Direction::Pull).with_symmetric(true))
    }
    fn the_limit_cuts_levels(seed: u64, limit: u8) -> bool {
        let (n, edges) = random(seed, 60, 2, (1, 1));
        let options = BfsOptions::default().with_max_level(limit as u32 % 8);
        let levels = bfs(&matrix(n, &edges), 0, &options).unwrap().levels.entries().unwrap();
        let all = queue_bfs(n, &edges, 0).into_iter().flatten();
        levels.len() == all.filter(|l| *l <= limit as u64 % 8).count()
    }
}

#[test]
fn karate_from_the_instructor() {
    let (n, edges) = karate();
    let found = bfs(&matrix(n, &both_ways(&edges)), 0, &BfsOptions::default()).unwrap();
    assert_eq!((found.reached, found.depth, found.level_sum), (34, 3, 58));
}

#[test]
fn auto_pulls_in_a_dense_middle() {
    let everything: Vec<Edge> =
        (0..40).flat_map(|i| (0..40).map(move |j| (i, j, 1.0))).filter(|e| e.0 != e.1).collect();
    // A tail keeps the search from ending with the clique.
    let edges: Vec<Edge> = everything.into_iter().chain([(39, 40, 1.0), (40, 41, 1.0)]).collect();
    let found = bfs(&matrix(42, &edges), 0, &BfsOptions::default()).unwrap();
    assert!(found.pulled > 0, "{found:?}");
    assert_eq!((found.reached, found.depth), (42, 3));
}

#[test]
fn transposed_graph_and_no_parents() {
    let (n, edges) = random(5, 50, 4, (1, 1));
    let graph = matrix(n, &edges);
    let transposed = transpose(&graph).eval().unwrap();
    let options = options(Direction::Pull).with_parents(false);
    let found = bfs_with_transpose(&graph, &transposed, 0, &options).unwrap();
    assert!(found.parents.is_none());
    assert_eq!(found.reached, queue_bfs(n, &edges, 0).into_iter().flatten().count() as u64);
    let narrow: Matrix<f64> = Matrix::new(2, 2).unwrap();
    assert!(matches!(bfs_with_transpose(&graph, &narrow, 0, &options), Err(Error::DimensionMismatch { .. })));
}

#[test]
fn huge_dimensions_cost_what_their_entries_cost() {
    let n = 1 << 40;
    let graph: Matrix<bool> = Matrix::build(n, n, &[(7, n - 1, true), (n - 1, 5, true)]).unwrap();
    for direction in [Direction::Auto, Direction::Push, Direction::Pull] {
        let found = bfs(&graph, 7, &options(direction)).unwrap();
        assert_eq!(found.levels.entries().unwrap(), [(5, 2), (7, 0), (n - 1, 1)]);
    }
}

#[test]
fn bad_input() {
    let wide: Matrix<bool> = Matrix::new(2, 3).unwrap();
    assert!(matches!(bfs(&wide, 0, &BfsOptions::default()), Err(Error::NotSquare { operation: "bfs", shape: (2, 3) })));
    for n in [0, 3] {
        let graph: Matrix<bool> = Matrix::new(n, n).unwrap();
        let error = bfs(&graph, 3, &BfsOptions::default()).unwrap_err();
        assert!(
            matches!(error, Error::IndexOutOfBounds { what: "source", index: 3, bound, .. } if bound == n),
            "{error}"
        );
    }
}
