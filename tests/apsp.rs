//! apsp against Floyd's three loops; next hops by walking them.
mod oracles;
use oplus::algorithm::{ApspMethod, ApspOptions, apsp};
use oplus::prelude::*;
use oracles::*;
use quickcheck::quickcheck;

fn options(method: ApspMethod, next_hops: bool) -> ApspOptions {
    let mut options = ApspOptions::default();
    (options.method, options.next_hops) = (method, next_hops);
    options
}

fn every_way() -> impl Iterator<Item = ApspOptions> {
    let methods = [ApspMethod::Auto, ApspMethod::RepeatedSquaring, ApspMethod::FloydWarshall];
    methods.into_iter().flat_map(|m| [options(m, false), options(m, true)])
}

/// Distances are Floyd's; each path's edges exist and sum to its distance.
fn agrees(n: usize, edges: &[Edge], options: &ApspOptions) -> bool {
    let found = match (apsp(&matrix(n, edges), options), floyd_warshall(n, edges)) {
        (Err(Error::NegativeCycle { operation: "apsp", vertex }), None) => {
            return on_negative_cycle(n, edges, vertex as usize);
        }
        (Ok(found), Some(d)) => {
            let finite = |i: usize, j: usize| (d[i][j] < f64::INFINITY).then_some((i as u64, j as u64, d[i][j]));
            let expected: Vec<_> = (0..n).flat_map(|i| (0..n).filter_map(move |j| finite(i, j))).collect();
            if found.distances.entries().unwrap() != expected {
                return false;
            }
            found
        }
        _ => return false,
    };
    if !options.next_hops {
        return found.next.is_none();
    }
    let weight = |i: u64, j: u64| edges.iter().find(|e| (e.0 as u64, e.1 as u64) == (i, j)).map(|e| e.2);
    let all = (0..n as u64).flat_map(|i| (0..n as u64).map(move |j| (i, j)));
    all.into_iter().all(|(i, j)| match (found.path(i, j).unwrap(), found.distances.get(i, j).unwrap()) {
        (None, None) => true,
        (Some(path), Some(d)) => {
            let length: Option<f64> = path.windows(2).map(|w| weight(w[0], w[1])).sum();
            length == Some(d) && path[0] == i && path.last() == Some(&j)
        }
        _ => false,
    })
}

quickcheck! {
    fn every_method_is_floyd_warshall(seed: u64) -> bool {
        let (n, edges) = random(seed, 24, 3, (0, 9));
        every_way().all(|o| agrees(n, &edges, &o))
    }
    fn negative_weights(seed: u64) -> bool {
        let (n, edges) = random(seed, 24, 2, (-1, 9));
        every_way().all(|o| agrees(n, &edges, &o))
    }
    fn circles_of_length_zero(seed: u64) -> bool {
        let (n, mut edges) = random(seed, 16, 3, (0, 1));
        edges.iter_mut().for_each(|e| e.2 += (e.0 * 7 % 5) as f64 - (e.1 * 7 % 5) as f64);
        every_way().all(|o| agrees(n, &edges, &o))
    }
}

#[test]
fn blocks_meet() {
    // More vertices than two blocks and a column tile hold.
    let (n, edges) = (601, (0..601).flat_map(|i| [(i, (i + 1) % 601, 1.0), (i, (i * 7 + 3) % 601, 4.0)]));
    let edges: Vec<Edge> = edges
        .filter(|e| e.0 != e.1)
        .map(|e| ((e.0, e.1), e.2))
        .collect::<std::collections::BTreeMap<_, _>>()
        .into_iter()
        .map(|((i, j), w)| (i, j, w))
        .collect();
    let expected: Vec<_> = (0..n).map(|source| dijkstra(n, &edges, source)).collect();
    for next_hops in [false, true] {
        let found = apsp(&matrix(n, &edges), &options(ApspMethod::FloydWarshall, next_hops)).unwrap();
        let distances = found.distances.entries().unwrap();
        assert_eq!(distances.len(), n * n);
        assert!(distances.iter().all(|(i, j, d)| expected[*i as usize][*j as usize] == *d));
    }
}

#[test]
fn auto_goes_on_densely_where_it_fills_up() {
    let ring: Vec<Edge> = (0..64).map(|i| (i, (i + 1) % 64, 1.0)).collect();
    let found = apsp(&matrix(64, &ring), &ApspOptions::default()).unwrap();
    assert!(found.dense && (1..6).contains(&found.squarings), "{} {}", found.dense, found.squarings);
    assert_eq!(reduce(&found.distances, Max).unwrap(), 63.0);
    // Without room for the array it stays sparse.
    let mut small = ApspOptions::default();
    small.memory = 100;
    let found = apsp(&matrix(64, &ring), &small).unwrap();
    assert!(!found.dense);
    assert_eq!(reduce(&found.distances, Plus).unwrap(), 64.0 * 63.0 * 32.0);
    small.method = ApspMethod::FloydWarshall;
    let error = apsp(&matrix(64, &ring), &small).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { needed: 32768, available: Some(100), .. }), "{error}");
}

#[test]
fn loops_infinities_and_nothing() {
    for o in every_way() {
        let found = apsp(&matrix(3, &[(0, 0, 5.0), (0, 1, f64::INFINITY), (1, 2, 1.0)]), &o).unwrap();
        assert_eq!(found.distances.entries().unwrap(), [(0, 0, 0.0), (1, 1, 0.0), (1, 2, 1.0), (2, 2, 0.0)], "{o:?}");
        let error = apsp(&matrix(3, &[(1, 1, -5.0)]), &o).unwrap_err();
        assert!(matches!(error, Error::NegativeCycle { vertex: 1, .. }), "{error}");
        let nothing: Matrix<f64> = Matrix::new(0, 0).unwrap();
        assert_eq!(apsp(&nothing, &o).unwrap().distances.shape(), (0, 0));
        assert!(matches!(apsp(&matrix(2, &[(0, 1, f64::NAN)]), &o), Err(Error::InvalidValue { .. })));
        let wide: Matrix<f64> = Matrix::new(2, 3).unwrap();
        assert!(matches!(apsp(&wide, &o), Err(Error::NotSquare { .. })));
    }
}

#[test]
fn a_path_needs_next_hops() {
    let found = apsp(&matrix(2, &[(0, 1, 1.0)]), &ApspOptions::default()).unwrap();
    assert!(matches!(found.path(0, 1), Err(Error::InvalidValue { .. })));
    let found = apsp(&matrix(2, &[(0, 1, 1.0)]), &options(ApspMethod::Auto, true)).unwrap();
    assert_eq!((found.path(0, 1).unwrap(), found.path(1, 0).unwrap()), (Some(vec![0, 1]), None));
    assert_eq!(found.path(1, 1).unwrap(), Some(vec![1]));
    for (from, to) in [(0, 7), (7, 0), (9, 9), (2, 2)] {
        assert!(matches!(found.path(from, to), Err(Error::IndexOutOfBounds { bound: 2, .. })), "{from} to {to}");
    }
}
