use super::watched::within;
use oplus::interop::petgraph::edges;
use oplus::prelude::*;
use petgraph::csr::Csr;
use petgraph::graph::{Graph, UnGraph};
use petgraph::graphmap::UnGraphMap;
use petgraph::stable_graph::StableGraph;
use petgraph::{Directed, Undirected};
use quickcheck::quickcheck;

fn square(entries: &[(u8, u8, i32)]) -> Matrix<i32> {
    let mut coo = Coo::new(20, 20);
    entries.iter().for_each(|(i, j, v)| coo.push(*i as u64 % 20, *j as u64 % 20, *v));
    Matrix::build_with(&coo, First).unwrap()
}

#[test]
fn undirected_edges_go_both_ways_in_every_graph() {
    let mut graph = UnGraph::<(), i32>::new_undirected();
    let v: Vec<_> = (0..3).map(|_| graph.add_node(())).collect();
    graph.add_edge(v[2], v[0], 7);
    graph.add_edge(v[1], v[1], 9);
    let expected = [(0, 2, 7), (1, 1, 9), (2, 0, 7)];
    let a: Matrix<i32> = (&graph).try_into().unwrap();
    assert_eq!(a.entries().unwrap(), expected);

    let mut rows = Csr::<(), i32, Undirected>::with_nodes(3);
    rows.add_edge(2, 0, 7);
    rows.add_edge(1, 1, 9);
    let b: Matrix<i32> = (&rows).try_into().unwrap();
    assert_eq!(b.entries().unwrap(), expected);

    let map = UnGraphMap::<u32, i32>::from_edges([(0, 1, 9)]);
    let c: Matrix<i32> = Matrix::from_coo(&edges(&map).unwrap()).unwrap();
    assert_eq!(c.entries().unwrap(), [(0, 1, 9), (1, 0, 9)]);
}

#[test]
fn removed_vertices_leave_empty_rows() {
    let mut graph = StableGraph::<(), i32>::new();
    let v: Vec<_> = (0..4).map(|_| graph.add_node(())).collect();
    graph.add_edge(v[0], v[3], 5);
    graph.remove_node(v[1]);
    let a: Matrix<i32> = Matrix::from_coo(&edges(&graph).unwrap()).unwrap();
    assert_eq!((a.shape(), a.entries().unwrap()), ((4, 4), vec![(0, 3, 5)]));
}

#[test]
fn what_does_not_fit_is_an_error() {
    let graph = Graph::<(), i32>::from_edges([(0, 1, 5), (0, 1, 6)]);
    assert!(matches!(Matrix::<i32>::try_from(&graph), Err(Error::DuplicateEntry { row: 0, column: 1, .. })));
    let rectangle: Matrix<i32> = Matrix::new(2, 3).unwrap();
    assert!(matches!(Graph::<(), i32>::try_from(&rectangle), Err(Error::NotSquare { shape: (2, 3), .. })));
    let large: Matrix<i32> = Matrix::new(256, 256).unwrap();
    assert!(matches!(
        Graph::<(), i32, Directed, u8>::try_from(&large),
        Err(Error::IndexOverflow { what: "vertices", value: 256, limit: 255, .. })
    ));
    let hypersparse: Matrix<i32> = Matrix::new(1 << 40, 1 << 40).unwrap();
    assert!(matches!(Csr::<(), i32>::try_from(&hypersparse), Err(Error::IndexOverflow { .. })));
    let one_way = square(&[(3, 4, 1)]);
    assert!(matches!(UnGraph::<(), i32>::try_from(&one_way), Err(Error::InvalidValue { .. })));
    let uneven = square(&[(3, 4, 1), (4, 3, 2)]);
    assert!(matches!(UnGraph::<(), i32>::try_from(&uneven), Err(Error::InvalidValue { .. })));
}

/// `Ix` counts what petgraph numbers by it: the edges of a `Graph`, an undirected one's once, and not those of a `Csr`.
#[test]
fn edges_are_counted_as_the_graph_counts_them() {
    let full = |n: u64| {
        let entries: Vec<_> = (0..n * n).map(|e| (e / n, e % n, (e / n + e % n) as i32)).collect();
        Matrix::<i32>::build(n, n, &entries).unwrap()
    };
    let a = full(22);
    let rows: Csr<(), i32, Directed, u8> = (&a).try_into().unwrap();
    assert_eq!(Matrix::<i32>::try_from(&rows).unwrap(), a);
    // 22 · 23 / 2 = 253 edges.
    let graph: Graph<(), i32, Undirected, u8> = (&a).try_into().unwrap();
    assert_eq!((graph.edge_count(), Matrix::<i32>::try_from(&graph).unwrap()), (253, a.clone()));
    let told = |value: u128, told: Error| {
        assert_eq!(told, Error::IndexOverflow { operation: "to petgraph", what: "edges", value, limit: 255 });
    };
    told(484, Graph::<(), i32, Directed, u8>::try_from(&a).map(|_| ()).unwrap_err());
    told(276, Graph::<(), i32, Undirected, u8>::try_from(&full(23)).map(|_| ()).unwrap_err());
}

/// As documented.
#[test]
fn an_adaptor_has_loops_twice() {
    let graph = Graph::<(), i32>::from_edges([(0, 0, 5), (0, 1, 6)]);
    let coo = edges(petgraph::visit::UndirectedAdaptor(&graph)).unwrap();
    let a: Matrix<i32> = Matrix::build_with(&coo, Plus).unwrap();
    assert_eq!(a.entries().unwrap(), [(0, 0, 10), (0, 1, 6), (1, 0, 6)]);
}

/// petgraph grows by itself, and where it cannot the process ends: what it will take is asked for before.
#[test]
fn graphs_that_memory_does_not_hold_are_an_error() {
    let empty: Matrix<i32> = Matrix::new(1 << 24, 1 << 24).unwrap();
    within(1 << 20, || {
        let told = Graph::<(), i32>::try_from(&empty).map(|_| ()).unwrap_err();
        assert!(matches!(told, Error::OutOfMemory { operation: "to petgraph", .. }), "{told}");
        let told = Csr::<(), i32>::try_from(&empty).map(|_| ()).unwrap_err();
        assert!(matches!(told, Error::OutOfMemory { operation: "to petgraph", .. }), "{told}");
    });
    let star = Graph::<(), i32>::from_edges((0..1000).map(|i| (0, i, 1)));
    let told = within(4096, || edges(&star).map(|_| ())).unwrap_err();
    assert!(matches!(told, Error::OutOfMemory { operation: "from petgraph", .. }), "{told}");
}

quickcheck! {
    fn directed_graphs(entries: Vec<(u8, u8, i32)>) -> bool {
        let a = square(&entries);
        let graph: Graph<(), i32> = (&a).try_into().unwrap();
        let rows: Csr<(), i32, Directed, u16> = (&a).try_into().unwrap();
        let back = [Matrix::<i32>::try_from(&graph).unwrap(), Matrix::try_from(&rows).unwrap()];
        let same = graph.edge_count() as u64 == a.nvals() && rows.edge_count() as u64 == a.nvals();
        same && back.iter().all(|b| b.shape() == a.shape() && b.entries().unwrap() == a.entries().unwrap())
    }
    fn undirected_graphs(entries: Vec<(u8, u8, i32)>) -> bool {
        let a = square(&entries);
        let a: Matrix<i32> = ewise_add(&a, &a.transposed(), Max).eval().unwrap();
        let graph: UnGraph<(), i32> = (&a).try_into().unwrap();
        let b = Matrix::<i32>::try_from(&graph).unwrap();
        b.shape() == a.shape() && b.entries().unwrap() == a.entries().unwrap()
    }
}
