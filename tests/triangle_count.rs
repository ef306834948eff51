//! triangle_count against common neighbours of each edge, and known answers.
#[path = "common/data.rs"]
mod data;

mod oracles;
use oplus::algorithm::{TriangleMethod, TriangleOptions, VertexOrder, triangle_count};
use oplus::prelude::*;
use oracles::*;
use quickcheck::quickcheck;

const METHODS: [TriangleMethod; 6] = [
    TriangleMethod::Auto,
    TriangleMethod::Burkhardt,
    TriangleMethod::Cohen,
    TriangleMethod::SandiaLL,
    TriangleMethod::SandiaUU,
    TriangleMethod::SandiaLUT,
];
const ORDERS: [VertexOrder; 3] = [VertexOrder::Auto, VertexOrder::Natural, VertexOrder::Degree];

fn every_way() -> impl Iterator<Item = TriangleOptions> {
    METHODS.into_iter().flat_map(|method| {
        ORDERS.into_iter().map(move |order| TriangleOptions::default().with_method(method).with_order(order))
    })
}

quickcheck! {
    fn every_formulation_counts_common_neighbours(seed: u64) -> bool {
        let (n, edges) = random(seed, 40, 6, (0, 1));
        let graph = matrix(n, &edges);
        let expected = triangles(n, &edges);
        every_way().all(|options| {
            let found = triangle_count(&graph, &options).unwrap();
            (found.edges, found.triangles) == expected
        })
    }
    fn prepared_graphs_are_taken_as_they_are(seed: u64) -> bool {
        let (n, mut edges) = random(seed, 40, 6, (1, 1));
        edges.retain(|e| e.0 != e.1);
        let graph = matrix(n, &both_ways(&edges));
        every_way().all(|mut options| {
            options.prepare = false;
            triangle_count(&graph, &options).unwrap().triangles == triangles(n, &edges).1
        })
    }
}

#[test]
fn karate_has_45() {
    let (n, edges) = karate();
    assert_eq!(edges.len(), 78);
    for options in every_way() {
        let found = triangle_count(&matrix(n, &edges), &options).unwrap();
        assert_eq!((found.triangles, found.edges), (45, 78), "{options:?}");
    }
}

#[test]
fn bcsstk13_has_342300() {
    let Some(path) = data::real("bcsstk13.mtx.zst") else { return };
    let graph: Matrix<bool> = Matrix::from_coo(&oplus::io::matrix_market::read(path).unwrap()).unwrap();
    let found = triangle_count(&graph, &TriangleOptions::default()).unwrap();
    assert_eq!((found.triangles, found.edges), (342_300, (83_883 - 2003) / 2));
}

#[test]
fn a_hub_is_put_first() {
    // A star with a rim: the mean degree stays below four medians; with isolated vertices the median is 0.
    let star: Vec<Edge> = (1..20).map(|v| (0, v, 1.0)).chain((1..19).map(|v| (v, v + 1, 1.0))).collect();
    let found = triangle_count(&matrix(20, &star), &TriangleOptions::default()).unwrap();
    assert_eq!((found.triangles, found.ordered), (18, false));
    let found = triangle_count(&matrix(100, &star), &TriangleOptions::default()).unwrap();
    assert_eq!((found.triangles, found.ordered), (18, true));
}

#[test]
fn empty_and_rectangular() {
    for n in [0, 1, 2, 1 << 40] {
        let graph: Matrix<bool> = Matrix::new(n, n).unwrap();
        for options in every_way() {
            assert_eq!(triangle_count(&graph, &options).unwrap().triangles, 0);
        }
    }
    let wide: Matrix<bool> = Matrix::new(2, 3).unwrap();
    let error = triangle_count(&wide, &TriangleOptions::default()).unwrap_err();
    assert!(matches!(error, Error::NotSquare { shape: (2, 3), .. }), "{error}");
}

/// Places from 2⁶³ on have no numbers: said by the algorithm that was asked, not by what it is made of.
#[test]
fn vertices_beyond_places() {
    let far = (1 << 63) + 5;
    let graph = Matrix::<bool>::build(u64::MAX, u64::MAX, &[(0, far, true), (far, 1, true)]).unwrap();
    for (mut options, prepare) in every_way().flat_map(|options| [(options.clone(), true), (options, false)]) {
        options.prepare = prepare;
        match algorithm::triangle_count(&graph, &options) {
            Err(Error::IndexOverflow { operation: "triangle_count", value, .. }) => assert_eq!(value, far.into()),
            // Without a look at places, or with vertices numbered anew, there is nothing to refuse.
            found => assert!(!prepare && found.is_ok(), "{options:?}: {found:?}"),
        }
    }
    let refused = algorithm::without_loops(&graph);
    assert!(matches!(refused, Err(Error::IndexOverflow { operation: "without_loops", .. })), "{refused:?}");
    let weights = Matrix::<f64>::build(u64::MAX, u64::MAX, &[(0, far, 2.0), (far, far, -1.0)]).unwrap();
    for next_hops in [false, true] {
        let options = algorithm::ApspOptions::default().with_next_hops(next_hops);
        let refused = algorithm::apsp(&weights, &options);
        assert!(matches!(refused, Err(Error::IndexOverflow { operation: "apsp", .. })), "{refused:?}");
    }
}
