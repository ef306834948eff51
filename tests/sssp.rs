//! sssp against Dijkstra and Bellman–Ford.
mod oracles;
use oplus::algorithm::{SsspOptions, sssp};
use oplus::prelude::*;
use oracles::*;
use quickcheck::quickcheck;

fn dense(n: usize, distances: &Vector<f64, MinPlus>) -> Vec<f64> {
    let mut d = vec![f64::INFINITY; n];
    distances.entries().unwrap().into_iter().for_each(|(v, x)| d[v as usize] = x);
    d
}

quickcheck! {
    fn positive_weights_as_dijkstra(seed: u64) -> bool {
        let (n, edges) = random(seed, 60, 4, (0, 9));
        let found = sssp(&matrix(n, &edges), 0, &SsspOptions::default()).unwrap();
        dense(n, &found.distances) == dijkstra(n, &edges, 0)
    }
    fn negative_weights_as_bellman_ford(seed: u64) -> bool {
        // Weights from potentials: negative edges, no negative cycle.
        let (n, mut edges) = random(seed, 60, 4, (0, 9));
        edges.iter_mut().for_each(|e| e.2 += (e.0 * 7 % 11) as f64 - (e.1 * 7 % 11) as f64);
        let found = sssp(&matrix(n, &edges), 0, &SsspOptions::default()).unwrap();
        dense(n, &found.distances) == bellman_ford(n, &edges, 0).unwrap()
    }
    fn any_weights_or_a_negative_cycle(seed: u64) -> bool {
        let (n, edges) = random(seed, 40, 2, (-2, 9));
        match (sssp(&matrix(n, &edges), 0, &SsspOptions::default()), bellman_ford(n, &edges, 0)) {
            (Ok(found), Some(d)) => dense(n, &found.distances) == d,
            (Err(Error::NegativeCycle { operation: "sssp", vertex }), None) => on_negative_cycle(n, &edges, vertex as usize),
            _ => false,
        }
    }
    fn integers_as_floats(seed: u64) -> bool {
        let (n, edges) = random(seed, 40, 3, (0, 9));
        let graph = matrix(n, &edges).cast::<i16>().unwrap();
        let found = sssp(&graph, 0, &SsspOptions::default()).unwrap().distances;
        dense(n, &found.cast().unwrap()) == dijkstra(n, &edges, 0)
    }
}

/// So many vertices at once that the near ones come first, on the CPU: more rounds, the same distances to the bit.
#[test]
fn near_vertices_first() {
    let roads = oplus::generate::road_grid(48, 48, 3).unwrap();
    let mut random = oplus::generate::Random::new(5, 1);
    let mut many = Coo::<f64>::new(1500, 1500);
    (0..9000).for_each(|_| many.push(random.below(1500), random.below(1500), 255.0 * random.unit()));
    for (coo, slow) in [(roads, true), (many, false)] {
        let edges: Vec<Edge> =
            (0..coo.len()).map(|e| (coo.rows[e] as usize, coo.columns[e] as usize, coo.values[e])).collect();
        let graph: Matrix<f64> = Matrix::build_with(&coo, Min).unwrap();
        let found = sssp(&graph, 0, &SsspOptions::default()).unwrap();
        assert_eq!(dense(coo.nrows as usize, &found.distances), dijkstra(coo.nrows as usize, &edges, 0));
        let by_edges = sssp(&graph, 0, &SsspOptions::default().with_max_rounds(u64::MAX)).unwrap();
        assert_eq!(found.distances.entries().unwrap(), by_edges.distances.entries().unwrap());
        assert!(!slow || found.rounds > by_edges.rounds, "{} {}", found.rounds, by_edges.rounds);
        // Sums that stop at the largest number are no paths; whole numbers below one edge's share of a range.
        let short = graph.cast::<u8>().unwrap();
        let found = sssp(&short, 0, &SsspOptions::default()).unwrap();
        let by_edges = sssp(&short, 0, &SsspOptions::default().with_max_rounds(u64::MAX)).unwrap();
        assert_eq!(found.distances.entries().unwrap(), by_edges.distances.entries().unwrap());
        let free = apply_second(&graph, Second, 0.0f64).eval().unwrap();
        let found = sssp(&free, 0, &SsspOptions::default()).unwrap();
        assert!(found.distances.nvals() > 1000 && reduce(&found.distances, Max).unwrap() == 0.0);
    }
}

/// Distances much farther apart than the edges are long that were looked at, none of which leads on: not a round for each.
#[test]
fn distances_far_apart_take_few_rounds() {
    let n = 3000;
    for short in [1.0, 1e-30, 0.0] {
        let star = (2..n).map(|v| (1, v, 1000.0 * v as f64));
        let edges: Vec<Edge> = star.chain((0..n).step_by(2).map(|v| (v, 0, short))).collect();
        let found = sssp(&matrix(n, &edges), 1, &SsspOptions::default()).unwrap();
        assert_eq!(dense(n, &found.distances), dijkstra(n, &edges, 1));
        assert!(found.rounds < 400, "{short}: {}", found.rounds);
    }
}

#[test]
fn a_long_negative_cycle_is_found_on_it() {
    // A tail of 30, then a cycle of 50 whose sum is −1.
    let tail = (0..30).map(|i| (i, i + 1, 1.0));
    let cycle = (0..50).map(|i| (30 + i, 30 + (i + 1) % 50, if i == 0 { -50.0 } else { 1.0 }));
    let edges: Vec<Edge> = tail.chain(cycle).chain([(40, 80, 1.0)]).collect();
    match sssp(&matrix(81, &edges), 0, &SsspOptions::default()) {
        Err(Error::NegativeCycle { vertex, .. }) => assert!((30..80).contains(&vertex), "{vertex}"),
        other => panic!("{other:?}"),
    }
    // Out of reach it does no harm.
    let found = sssp(&matrix(82, &edges), 81, &SsspOptions::default()).unwrap();
    assert_eq!(found.distances.entries().unwrap(), [(81, 0.0)]);
}

#[test]
fn zero_cycles_and_negative_loops() {
    let zero = [(0, 1, 2.0), (1, 0, -2.0), (1, 2, -5.0)];
    let found = sssp(&matrix(3, &zero), 0, &SsspOptions::default()).unwrap();
    assert_eq!(found.distances.entries().unwrap(), [(0, 0.0), (1, 2.0), (2, -3.0)]);
    let error = sssp(&matrix(2, &[(0, 1, 1.0), (1, 1, -1.0)]), 0, &SsspOptions::default()).unwrap_err();
    assert!(matches!(error, Error::NegativeCycle { vertex: 1, .. }), "{error}");
}

#[test]
fn no_path_through_infinity() {
    let edges = [(0, 1, f64::INFINITY), (0, 2, 1.0)];
    let found = sssp(&matrix(3, &edges), 0, &SsspOptions::default()).unwrap();
    assert_eq!(found.distances.entries().unwrap(), [(0, 0.0), (2, 1.0)]);
    // 100 + 100 saturates an i8, and its largest value is ∞.
    let far: Matrix<i8> = Matrix::build(3, 3, &[(0, 1, 100), (1, 2, 100)]).unwrap();
    assert_eq!(sssp(&far, 0, &SsspOptions::default()).unwrap().distances.entries().unwrap(), [(0, 0), (1, 100)]);
}

/// Two vertices among n, each `w` from the other.
fn there_and_back<T: Ordered>(w: T) -> Result<Vec<(u64, T)>> {
    let graph: Matrix<T> = Matrix::build(50, 50, &[(0, 1, w), (1, 0, w)])?;
    sssp(&graph, 0, &SsspOptions::default())?.distances.entries()
}

#[test]
fn negative_cycles_whose_sums_leave_the_range() {
    fn is_found<T: Ordered>(w: T) {
        let found = there_and_back(w);
        assert!(matches!(found, Err(Error::NegativeCycle { vertex: 0 | 1, .. })), "{found:?}");
    }
    is_found(-100i8);
    is_found(i8::MIN);
    is_found(-20_000i16);
    is_found(-(1i32 << 30));
    is_found(-(1i64 << 62));
    is_found(-1e308f64);
    is_found(-3e38f32);
    // The cycle's edges lie on no shortest path among saturated sums: 0 is nearer by 2, over which it is no nearer.
    let hidden: Matrix<i8> =
        Matrix::build(4, 4, &[(0, 1, -100), (1, 0, 50), (3, 2, -60), (2, 0, -60), (3, 0, 0)]).unwrap();
    let found = sssp(&hidden, 3, &SsspOptions::default());
    assert!(matches!(found, Err(Error::NegativeCycle { vertex: 0 | 1, .. })), "{found:?}");
}

#[test]
fn distances_below_the_range_are_refused() {
    let path: Matrix<i8> = Matrix::build(4, 4, &[(0, 1, -100), (1, 2, -28), (2, 3, -1)]).unwrap();
    let error = sssp(&path, 0, &SsspOptions::default()).unwrap_err();
    assert!(matches!(&error, Error::InvalidValue { reason, .. } if reason.contains("vertex 3")), "{error}");
    let far: Matrix<f64> = Matrix::build(4, 4, &[(0, 1, -1e308), (1, 2, -1e308), (2, 3, 5.0), (3, 2, 5.0)]).unwrap();
    let error = sssp(&far, 0, &SsspOptions::default()).unwrap_err();
    assert!(matches!(&error, Error::InvalidValue { reason, .. } if reason.contains("f64")), "{error}");
    // The least value itself is one that a distance may have, and a cycle of sum 0 through it does no harm.
    let least: Matrix<i8> = Matrix::build(3, 3, &[(0, 1, -100), (1, 2, -28), (2, 1, 28)]).unwrap();
    let found = sssp(&least, 0, &SsspOptions::default()).unwrap().distances;
    assert_eq!(found.entries().unwrap(), [(0, 0), (1, -100), (2, -128)]);
}

#[test]
fn rounds_are_limited() {
    let path: Vec<Edge> = (0..9).map(|i| (i, i + 1, 1.0)).collect();
    let options = SsspOptions::default().with_max_rounds(3);
    let found = sssp(&matrix(10, &path), 0, &options).unwrap();
    assert_eq!((found.distances.nvals(), found.rounds), (4, 3));
}

/// What left the range of floats is no cycle, and the vertex named is one whose distance left it.
#[test]
fn sums_that_overflow_are_no_cycle() {
    let mut edges: Vec<(u64, u64, f32)> = (0..14).map(|i| (i, i + 1, 0.0)).collect();
    edges.extend([(14, 15, -3e38), (15, 16, -1e38), (16, 15, 2e38)]);
    let error = sssp(&Matrix::<f32>::build(17, 17, &edges).unwrap(), 0, &SsspOptions::default()).unwrap_err();
    assert!(matches!(&error, Error::InvalidValue { reason, .. } if reason.contains("vertex 16 ")), "{error}");
    let edges = [(0, 1, -1.5e308), (1, 2, -1e308), (2, 1, 1.4e308)];
    let error = sssp(&matrix(3, &edges), 0, &SsspOptions::default()).unwrap_err();
    assert!(matches!(&error, Error::InvalidValue { reason, .. } if reason.contains("vertex 2 ")), "{error}");
    // The same with a cycle whose sum is below 0, all of it out of range.
    let edges = [(0, 1, -1.5e308), (1, 2, -1e308), (2, 1, -1e308)];
    let error = sssp(&matrix(3, &edges), 0, &SsspOptions::default()).unwrap_err();
    assert!(matches!(error, Error::NegativeCycle { vertex: 1 | 2, .. }), "{error}");
}

/// Edges that no round is left for count nothing, and a cycle at the source is found after any number of them.
#[test]
fn limited_rounds_of_negative_weights() {
    let within = |most: u64| SsspOptions::default().with_max_rounds(most);
    let path: Matrix<i8> = Matrix::build(4, 4, &[(0, 1, -128), (1, 2, -1), (2, 3, 100)]).unwrap();
    let found = sssp(&path, 0, &within(1)).unwrap().distances;
    assert_eq!(found.entries().unwrap(), [(0, 0), (1, -128)]);
    for most in [2, 3, 4] {
        let error = sssp(&path, 0, &within(most)).unwrap_err();
        assert!(matches!(&error, Error::InvalidValue { reason, .. } if reason.contains("vertex 2 ")), "{error}");
    }
    // A sum that stopped is told even if a nearer way to where it began is found in the last round.
    let late: Matrix<i8> = Matrix::build(5, 5, &[(0, 1, -120), (1, 2, -10), (0, 3, -1), (3, 1, -121)]).unwrap();
    let error = sssp(&late, 0, &within(2)).unwrap_err();
    assert!(matches!(&error, Error::InvalidValue { reason, .. } if reason.contains("vertex 2 ")), "{error}");
    let looped = matrix(1000, &[(0, 0, -1.0), (0, 1, 1.0)]);
    for most in [1, 2, 15, 16, 17, 100] {
        let error = sssp(&looped, 0, &within(most)).unwrap_err();
        assert!(matches!(error, Error::NegativeCycle { vertex: 0, .. }), "{most}: {error}");
    }
    assert_eq!(sssp(&looped, 0, &within(0)).unwrap().distances.entries().unwrap(), [(0, 0.0)]);
}

#[test]
fn bad_input() {
    let options = SsspOptions::default();
    for bad in [f64::NAN, f64::NEG_INFINITY] {
        let error = sssp(&matrix(3, &[(0, 1, 1.0), (1, 2, bad)]), 0, &options).unwrap_err();
        assert!(matches!(&error, Error::InvalidValue { reason, .. } if reason.contains("(1, 2)")), "{error}");
    }
    let wide: Matrix<f64> = Matrix::new(2, 3).unwrap();
    assert!(matches!(sssp(&wide, 0, &options), Err(Error::NotSquare { .. })));
    let graph: Matrix<f64> = Matrix::new(2, 2).unwrap();
    assert!(matches!(sssp(&graph, 2, &options), Err(Error::IndexOutOfBounds { index: 2, bound: 2, .. })));
}
