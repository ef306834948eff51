//! multi_source_bfs against a queue per source.
mod oracles;
use oplus::algorithm::{MultiSourceBfsOptions, multi_source_bfs};
use oplus::prelude::*;
use oracles::*;
use quickcheck::quickcheck;
use std::sync::Mutex;

quickcheck! {
    fn each_source_is_a_queue(seed: u64, narrow: bool) -> bool {
        let (n, edges) = random(seed, 50, 3, (1, 1));
        let sources: Vec<u64> = (0..seed % 9).map(|s| (s * 7 + seed % 1000) % n as u64).collect();
        let options = MultiSourceBfsOptions::default().with_levels(true);
        let options = if narrow { options.with_memory(n as u64 * 30) } else { options };
        let found = multi_source_bfs(&matrix(n, &edges), &sources, &options).unwrap();
        let mut levels = vec![];
        for (s, source) in sources.iter().enumerate() {
            let expected = queue_bfs(n, &edges, *source as usize);
            let all: Vec<u64> = expected.iter().flatten().copied().collect();
            let sums = (all.len() as u64, all.iter().copied().max().unwrap(), all.iter().sum::<u64>());
            if (found.reached[s], found.depth[s], found.level_sum[s]) != sums {
                return false;
            }
            levels.extend((0..n).filter_map(|v| expected[v].map(|l| (s as u64, v as u64, l as u32))));
        }
        found.batches == if narrow { sources.len().div_ceil(2) } else { sources.len().min(1) }
            && (sources.is_empty() || found.levels.unwrap().entries().unwrap() == levels)
    }
}

#[test]
fn progress_tells_every_level() {
    let path: Vec<Edge> = (0..9).map(|i| (i, i + 1, 1.0)).collect();
    let seen = Mutex::new(vec![]);
    let record = |p: oplus::algorithm::Progress| seen.lock().unwrap().push((p.sources_done, p.level, p.frontier));
    let options = MultiSourceBfsOptions::default().with_progress(&record).with_memory(1);
    multi_source_bfs(&matrix(10, &path), &[7, 8], &options).unwrap();
    assert_eq!(*seen.lock().unwrap(), [(0, 1, 1), (0, 2, 1), (1, 1, 1)]);
}

#[test]
fn no_sources_and_bad_ones() {
    let graph: Matrix<bool> = Matrix::new(4, 4).unwrap();
    let options = MultiSourceBfsOptions::default().with_levels(true);
    let nothing = multi_source_bfs(&graph, &[], &options).unwrap();
    assert!(nothing.reached.is_empty());
    assert_eq!(nothing.levels.unwrap().shape(), (0, 4));
    let error = multi_source_bfs(&graph, &[0, 9], &options).unwrap_err();
    assert!(
        matches!(error, Error::IndexOutOfBounds { what: "source", position: Some(1), index: 9, bound: 4, .. }),
        "{error}"
    );
    let wide: Matrix<bool> = Matrix::new(2, 3).unwrap();
    assert!(matches!(multi_source_bfs(&wide, &[0], &options), Err(Error::NotSquare { .. })));
}

/// Wide levels of few products a column: on a grid levels are distances along its sides.
#[test]
fn grids_are_searched_in_diamonds() {
    let side = 800u64;
    let coo = oplus::generate::stencil_5(side, side).unwrap();
    let edges: Vec<_> = coo.rows.iter().copied().zip(coo.columns.iter().copied()).collect();
    let grid: Matrix<bool> = Matrix::from_pattern(side * side, side * side, &edges, true).unwrap();
    let (middle, corner) = (side * (side / 2) + side / 2, 0);
    let found = multi_source_bfs(&grid, &[middle, corner], &MultiSourceBfsOptions::default()).unwrap();
    let distances = |of: u64| {
        let (x, y) = (of % side, of / side);
        (0..side * side).map(move |v| (v % side).abs_diff(x) + (v / side).abs_diff(y))
    };
    assert_eq!(found.reached, vec![side * side; 2]);
    assert_eq!(found.depth, [middle, corner].map(|of| distances(of).max().unwrap()));
    assert_eq!(found.level_sum, [middle, corner].map(|of| distances(of).sum()));
}
