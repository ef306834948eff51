//! apsp against Floyd's three loops; next hops by walking them.
mod oracles;
use oplus::algorithm::{ApspMethod, ApspOptions, apsp};
use oplus::prelude::*;
use oracles::*;
use quickcheck::quickcheck;

fn options(method: ApspMethod, next_hops: bool) -> ApspOptions {
    ApspOptions::default().with_method(method).with_next_hops(next_hops)
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

/// Whether a cycle without a vertex twice, of a sum below 0, goes through `vertex`: by trying all ways.
fn on_simple_negative_cycle(n: usize, edges: &[Edge], vertex: usize) -> bool {
    fn goes_on(edges: &[Edge], end: usize, at: usize, length: f64, seen: &mut [bool]) -> bool {
        edges.iter().filter(|e| e.0 == at).any(|(_, to, w)| {
            if *to == end {
                return length + w < 0.0;
            }
            if seen[*to] {
                return false;
            }
            seen[*to] = true;
            let found = goes_on(edges, end, *to, length + w, seen);
            seen[*to] = false;
            found
        })
    }
    goes_on(edges, vertex, vertex, 0.0, &mut vec![false; n])
}

/// Edges of whole numbers from −3 to 3 as multiples of 2¹⁰²², of which four are no f64: what whole numbers say.
fn agrees_at_the_ends_of_the_range(n: usize, edges: &[Edge], options: &ApspOptions) -> bool {
    let unit = 1022f64.exp2();
    let huge: Vec<Edge> = edges.iter().map(|(i, j, w)| (*i, *j, w * unit)).collect();
    let found = apsp(&matrix(n, &huge), options);
    let Some(d) = floyd_warshall(n, edges) else {
        let Err(Error::NegativeCycle { operation: "apsp", vertex }) = found else { return false };
        return on_simple_negative_cycle(n, edges, vertex as usize);
    };
    let pairs = || (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    if let Some((i, j)) = pairs().find(|(i, j)| d[*i][*j] <= -4.0) {
        let Err(Error::InvalidValue { operation: "apsp", reason }) = found else { return false };
        return reason == format!("the distance from vertex {i} to {j} is less than the least value of f64");
    }
    let Ok(found) = found else { return false };
    let within = pairs().filter(|(i, j)| d[*i][*j] < 4.0).map(|(i, j)| (i as u64, j as u64, d[i][j] * unit));
    let same = found.distances.entries().unwrap() == within.collect::<Vec<_>>();
    let weight = |w: &[u64]| edges.iter().find(|e| (e.0 as u64, e.1 as u64) == (w[0], w[1])).map(|e| e.2);
    let a_path = |i: usize, j: usize| match found.path(i as u64, j as u64).unwrap() {
        Some(path) => path.windows(2).map(weight).sum::<Option<f64>>() == Some(d[i][j]) && d[i][j] < 4.0,
        None => d[i][j] >= 4.0,
    };
    same && (!options.next_hops || pairs().all(|(i, j)| a_path(i, j)))
}

quickcheck! {
    fn sums_at_the_ends_of_the_range(seed: u64) -> bool {
        let (n, edges) = random(seed, 7, 2, (-3, 3));
        let (more, upwards) = random(seed, 9, 3, (-2, 3));
        every_way().all(|o| agrees_at_the_ends_of_the_range(n, &edges, &o)
            && agrees_at_the_ends_of_the_range(more, &upwards, &o))
    }
    fn ends_of_the_range_without_negative_cycles(seed: u64) -> bool {
        // Potentials: every cycle keeps a length that is not negative.
        let (n, mut edges) = random(seed, 9, 3, (0, 1));
        edges.iter_mut().for_each(|e| e.2 += (e.0 * 7 % 3) as f64 - (e.1 * 7 % 3) as f64);
        every_way().all(|o| agrees_at_the_ends_of_the_range(n, &edges, &o))
    }
    fn the_vertex_named_is_on_a_negative_cycle(seed: u64) -> bool {
        let (n, edges) = random(seed, 8, 2, (-3, 5));
        every_way().all(|o| match apsp(&matrix(n, &edges), &o) {
            Err(Error::NegativeCycle { operation: "apsp", vertex }) => on_simple_negative_cycle(n, &edges, vertex as usize),
            found => found.is_ok() && floyd_warshall(n, &edges).is_some(),
        })
    }
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
    let small = ApspOptions::default().with_memory(100);
    let found = apsp(&matrix(64, &ring), &small).unwrap();
    assert!(!found.dense);
    assert_eq!(reduce(&found.distances, Plus).unwrap(), 64.0 * 63.0 * 32.0);
    let error = apsp(&matrix(64, &ring), &small.with_method(ApspMethod::FloydWarshall)).unwrap_err();
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
fn sums_above_the_range_are_no_path() {
    for o in every_way() {
        let found = apsp(&matrix(3, &[(0, 1, f64::MAX), (1, 2, f64::MAX)]), &o).unwrap();
        let expected = [(0, 0, 0.0), (0, 1, f64::MAX), (1, 1, 0.0), (1, 2, f64::MAX), (2, 2, 0.0)];
        assert_eq!(found.distances.entries().unwrap(), expected, "{o:?}");
        assert!(!o.next_hops || found.path(0, 2).unwrap().is_none(), "{o:?}");
        // What goes back into the range is a path: over 1 and 2 on the way to 3, though no f64 is as far as 2 from 0 or 3 from 4.
        let back = [(0, 1, f64::MAX), (1, 2, f64::MAX), (2, 3, -f64::MAX), (4, 0, f64::MAX)];
        let found = apsp(&matrix(5, &back), &o).unwrap();
        let far: Vec<_> = found.distances.entries().unwrap().into_iter().filter(|e| e.0 != e.1).collect();
        let one_edge = [(2, 3, -f64::MAX), (4, 0, f64::MAX)];
        let expected =
            [[(0, 1, f64::MAX), (0, 3, f64::MAX), (1, 2, f64::MAX), (1, 3, 0.0)].as_slice(), &one_edge].concat();
        assert_eq!(far, expected, "{o:?}");
        assert!(!o.next_hops || found.path(0, 3).unwrap() == Some(vec![0, 1, 2, 3]), "{o:?}");
        assert!(!o.next_hops || found.path(4, 3).unwrap().is_none(), "{o:?}");
    }
}

#[test]
fn distances_below_the_range_are_refused() {
    for o in every_way() {
        let refused = |n, edges: &[Edge], pair: &str| match apsp(&matrix(n, edges), &o) {
            Err(Error::InvalidValue { operation: "apsp", reason }) => {
                assert_eq!(
                    reason,
                    format!("the distance from vertex {pair} is less than the least value of f64"),
                    "{o:?}"
                );
            }
            other => panic!("{o:?}: {other:?}"),
        };
        refused(3, &[(0, 1, -f64::MAX), (1, 2, -f64::MAX)], "0 to 2");
        refused(5, &[(0, 1, -f64::MAX), (1, 2, -f64::MAX), (3, 4, f64::MAX), (4, 0, f64::MAX)], "0 to 2");
        // The least value itself is a distance.
        let found = apsp(&matrix(3, &[(0, 1, f64::MIN / 2.0), (1, 2, f64::MIN / 2.0)]), &o).unwrap();
        assert_eq!(found.distances.get(0, 2).unwrap(), Some(f64::MIN), "{o:?}");
        // A cycle whose sum is below the range is one.
        let error = apsp(&matrix(2, &[(0, 1, -f64::MAX), (1, 0, -f64::MAX)]), &o).unwrap_err();
        assert!(matches!(error, Error::NegativeCycle { vertex: 0 | 1, .. }), "{o:?}: {error}");
        let far = [(0, 1, f64::MAX), (1, 2, f64::MAX), (2, 3, f64::MIN), (3, 4, f64::MIN), (4, 0, f64::MIN)];
        let error = apsp(&matrix(5, &far), &o).unwrap_err();
        assert!(matches!(error, Error::NegativeCycle { .. }), "{o:?}: {error}");
    }
}

#[test]
fn negative_cycles_are_named_by_their_own_vertices() {
    let beside = [(0, 1, 3.0), (1, 2, -6.0), (2, 1, 1.0), (1, 0, 1.0)];
    let between = [(0, 1, 2.0), (1, 0, 0.0), (1, 3, -3.0), (2, 0, 5.0), (2, 1, 0.0), (3, 1, -3.0)];
    // Five edges, which squaring finds with walks of eight: two more edges lead to 0 and back.
    let five: Vec<Edge> = (1..6).map(|i| (i, i % 5 + 1, -2.0)).chain([(0, 1, 1.0), (1, 0, 1.0)]).collect();
    for (n, edges) in [(3, beside.as_slice()), (4, &between), (6, &five)] {
        for o in every_way() {
            match apsp(&matrix(n, edges), &o) {
                Err(Error::NegativeCycle { vertex, .. }) => {
                    assert!(on_simple_negative_cycle(n, edges, vertex as usize), "{o:?}: {vertex} of {edges:?}");
                }
                other => panic!("{o:?}: {other:?}"),
            }
        }
    }
    // Many vertices that nothing leads to cost nothing.
    let sparse = Matrix::<f64>::build(1 << 40, 1 << 40, &[(7, 1 << 39, 1.0), (1 << 39, 7, -2.0)]).unwrap();
    let error = apsp(&sparse, &ApspOptions::default()).unwrap_err();
    assert!(matches!(error, Error::NegativeCycle { vertex: 7 | 0x80_0000_0000, .. }), "{error}");
}

#[test]
fn a_path_needs_next_hops() {
    let found = apsp(&matrix(2, &[(0, 1, 1.0)]), &ApspOptions::default()).unwrap();
    assert!(matches!(found.path(0, 1), Err(Error::InvalidValue { .. })));
    let found = apsp(&matrix(2, &[(0, 1, 1.0)]), &options(ApspMethod::Auto, true)).unwrap();
    assert_eq!((found.path(0, 1).unwrap(), found.path(1, 0).unwrap()), (Some(vec![0, 1]), None));
    assert_eq!(found.path(1, 1).unwrap(), Some(vec![1]));
    for (from, to) in [(0, 7), (7, 0), (9, 9), (2, 2)] {
        assert!(
            matches!(found.path(from, to), Err(Error::IndexOutOfBounds { operation: "path", bound: 2, .. })),
            "{from} to {to}"
        );
    }
}
