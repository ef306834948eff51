//! Slow and obvious algorithms on edge lists, independent of the library: what its results are compared with.
#![allow(dead_code)]
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub(crate) type Edge = (usize, usize, f64);

/// A random graph: every seed is a graph of up to `most` vertices, weights whole numbers so that sums are exact.
pub(crate) fn random(seed: u64, most: u64, degree: u64, (low, high): (i64, i64)) -> (usize, Vec<Edge>) {
    let mut random = oplus::generate::Random::new(seed, 1);
    let n = 1 + random.below(most);
    let edges = random.below(n * degree + 1);
    let mut seen = BTreeMap::new();
    for _ in 0..edges {
        let weight = low + random.below((high - low + 1) as u64) as i64;
        seen.insert((random.below(n) as usize, random.below(n) as usize), weight as f64);
    }
    (n as usize, seen.into_iter().map(|((i, j), w)| (i, j, w)).collect())
}

pub(crate) fn adjacency(n: usize, edges: &[Edge]) -> Vec<Vec<(usize, f64)>> {
    let mut out = vec![vec![]; n];
    edges.iter().for_each(|(i, j, w)| out[*i].push((*j, *w)));
    out
}

/// Levels by a queue.
pub(crate) fn queue_bfs(n: usize, edges: &[Edge], source: usize) -> Vec<Option<u64>> {
    let out = adjacency(n, edges);
    let mut levels = vec![None; n];
    levels[source] = Some(0);
    let mut queue = VecDeque::from([source]);
    while let Some(u) = queue.pop_front() {
        for (v, _) in &out[u] {
            if levels[*v].is_none() {
                levels[*v] = levels[u].map(|l| l + 1);
                queue.push_back(*v);
            }
        }
    }
    levels
}

/// Distances by relaxing every edge n − 1 times; `None` where one more round still changes something.
pub(crate) fn bellman_ford(n: usize, edges: &[Edge], source: usize) -> Option<Vec<f64>> {
    let mut d = vec![f64::INFINITY; n];
    d[source] = 0.0;
    for round in 0..=n {
        let mut changed = false;
        for (i, j, w) in edges {
            if d[*i] + w < d[*j] {
                d[*j] = d[*i] + w;
                changed = true;
            }
        }
        if !changed {
            return Some(d);
        }
        if round == n {
            return None;
        }
    }
    Some(d)
}

/// Distances by always settling the nearest vertex; weights ≥ 0. Whole numbers make the keys exact.
pub(crate) fn dijkstra(n: usize, edges: &[Edge], source: usize) -> Vec<f64> {
    let out = adjacency(n, edges);
    let mut d = vec![f64::INFINITY; n];
    d[source] = 0.0;
    // Bits of non-negative floats are ordered as the floats are.
    let mut open = BTreeSet::from([(0u64, source)]);
    while let Some((_, u)) = open.pop_first() {
        for (v, w) in &out[u] {
            if d[u] + w < d[*v] {
                open.remove(&(d[*v].to_bits(), *v));
                d[*v] = d[u] + w;
                open.insert((d[*v].to_bits(), *v));
            }
        }
    }
    d
}

/// All distances by Floyd's three loops; `None` with a negative cycle.
pub(crate) fn floyd_warshall(n: usize, edges: &[Edge]) -> Option<Vec<Vec<f64>>> {
    let mut d = vec![vec![f64::INFINITY; n]; n];
    (0..n).for_each(|i| d[i][i] = 0.0);
    edges.iter().for_each(|(i, j, w)| d[*i][*j] = d[*i][*j].min(*w));
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                let through = d[i][k] + d[k][j];
                if through < d[i][j] {
                    d[i][j] = through;
                }
            }
        }
    }
    (0..n).all(|i| d[i][i] >= 0.0).then_some(d)
}

/// Undirected edges without loops, and triangles: each edge's ends compared for common neighbours.
pub(crate) fn triangles(n: usize, edges: &[Edge]) -> (u64, u64) {
    let mut neighbours = vec![BTreeSet::new(); n];
    for (i, j, _) in edges {
        if i != j {
            neighbours[*i].insert(*j);
            neighbours[*j].insert(*i);
        }
    }
    let mut edges = 0;
    let mut corners = 0;
    for u in 0..n {
        for v in neighbours[u].range(u + 1..) {
            edges += 1;
            corners += neighbours[u].intersection(&neighbours[*v]).filter(|w| *w > v).count() as u64;
        }
    }
    (edges, corners)
}

/// The vertices of strongly connected components that hold a negative cycle, by brute force: v lies on a closed walk of
/// negative length of at most 2n edges.
pub(crate) fn on_negative_cycle(n: usize, edges: &[Edge], vertex: usize) -> bool {
    let mut d = vec![f64::INFINITY; n];
    d[vertex] = 0.0;
    for _ in 0..2 * n {
        let before = d.clone();
        for (i, j, w) in edges {
            d[*j] = d[*j].min(before[*i] + w);
        }
        if d[vertex] < 0.0 {
            return true;
        }
    }
    false
}

/// Zachary, *An information flow model for conflict and fission in small groups*, 1977, 10.1086/jar.33.4.3629752:
/// 34 members, 78 friendships, from 1.
#[rustfmt::skip]
pub(crate) const KARATE: [(usize, usize); 78] = [
    (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1), (9, 1), (11, 1), (12, 1), (13, 1), (14, 1), (18, 1),
    (20, 1), (22, 1), (32, 1), (3, 2), (4, 2), (8, 2), (14, 2), (18, 2), (20, 2), (22, 2), (31, 2), (4, 3), (8, 3),
    (28, 3), (29, 3), (33, 3), (10, 3), (9, 3), (14, 3), (8, 4), (13, 4), (14, 4), (7, 5), (11, 5), (7, 6), (11, 6),
    (17, 6), (17, 7), (31, 9), (33, 9), (34, 9), (34, 10), (34, 14), (33, 15), (34, 15), (33, 16), (34, 16), (33, 19),
    (34, 19), (34, 20), (33, 21), (34, 21), (33, 23), (34, 23), (26, 24), (28, 24), (33, 24), (34, 24), (30, 24),
    (26, 25), (28, 25), (32, 25), (32, 26), (30, 27), (34, 27), (34, 28), (32, 29), (34, 29), (33, 30), (34, 30),
    (33, 31), (34, 31), (33, 32), (34, 32), (34, 33),
];

/// Karate's edges from 0, one direction.
pub(crate) fn karate() -> (usize, Vec<Edge>) {
    (34, KARATE.iter().map(|(i, j)| (i - 1, j - 1, 1.0)).collect())
}

/// Both directions of each edge.
pub(crate) fn both_ways(edges: &[Edge]) -> Vec<Edge> {
    let all: BTreeMap<_, _> = edges.iter().flat_map(|(i, j, w)| [((*i, *j), *w), ((*j, *i), *w)]).collect();
    all.into_iter().map(|((i, j), w)| (i, j, w)).collect()
}

/// The library's matrix.
pub(crate) fn matrix(n: usize, edges: &[Edge]) -> oplus::prelude::Matrix<f64> {
    let entries: Vec<_> = edges.iter().map(|(i, j, w)| (*i as u64, *j as u64, *w)).collect();
    oplus::prelude::Matrix::build(n as u64, n as u64, &entries).unwrap()
}
