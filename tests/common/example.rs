//! Examples as processes, and what they print against independent oracles.
#![allow(dead_code)]
use crate::oracles::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The environment of the examples, where it is not that of the CPU.
pub static SETTINGS: OnceLock<Vec<(&'static str, PathBuf)>> = OnceLock::new();

/// `cargo test` builds the examples beside the tests; `OPLUS_TEST_EXAMPLES` is what is before the name of one that lies elsewhere.
pub fn example(name: &str) -> Command {
    let path = match std::env::var("OPLUS_TEST_EXAMPLES") {
        Ok(prefix) => PathBuf::from(prefix + name),
        Err(_) => {
            let tests = std::env::current_exe().unwrap();
            tests.parent().and_then(Path::parent).unwrap().join("examples").join(name)
        }
    };
    assert!(
        path.exists(),
        "{} is not built: run all of `cargo test`, or `cargo build --examples` first",
        path.display()
    );
    let mut command = Command::new(path);
    command.env("OPLUS_DEVICE", "cpu").envs(SETTINGS.get().into_iter().flatten().cloned());
    command
}

pub fn run(name: &str, arguments: &[&str]) -> Output {
    example(name).args(arguments).output().unwrap()
}

/// Exactly one JSON object on stdout.
pub fn json(name: &str, arguments: &[&str]) -> Value {
    let output = example(name).args(arguments).arg("--json").output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(output.status.success(), "{name} {arguments:?}: {err}");
    let value: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{name} {arguments:?}: {e}: {out:?}"));
    assert!(value.is_object() && out.trim_end().lines().count() == 1, "{out}");
    assert!(value["ms"].as_f64().unwrap() >= 0.0);
    value
}

/// One line on stderr that says `what`, exit code 2, nothing on stdout.
pub fn refused(name: &str, arguments: &[&str], what: &str) {
    let output = run(name, arguments);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{name} {arguments:?}: {err}");
    assert!(output.stdout.is_empty(), "{name} {arguments:?} printed {:?}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(err.trim_end().lines().count(), 1, "{name} {arguments:?}: {err}");
    assert!(err.contains(what), "{name} {arguments:?}: {err:?} does not say {what:?}");
}

/// Where the sources are, or from the working directory where the binary was built elsewhere.
pub fn data(name: &str) -> String {
    let built = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    if Path::new(&built).exists() { built } else { format!("tests/data/{name}") }
}

/// The tiny files by a reader of their own: no symmetric diagonal, no blank lines.
pub fn tiny(name: &str) -> (usize, usize, Vec<Edge>) {
    let text = std::fs::read_to_string(data(name)).unwrap();
    let symmetric = text.lines().next().unwrap().ends_with("symmetric");
    let mut lines = text.lines().filter(|l| !l.starts_with('%')).map(|l| l.split(' ').collect::<Vec<_>>());
    let size = lines.next().unwrap();
    let entry = |l: Vec<&str>| {
        let index = |t: usize| l[t].parse::<usize>().unwrap() - 1;
        (index(0), index(1), l.get(2).map_or(1.0, |w| w.parse().unwrap()))
    };
    let edges: Vec<Edge> = lines.map(entry).collect();
    (size[0].parse().unwrap(), size[1].parse().unwrap(), if symmetric { both_ways(&edges) } else { edges })
}

pub fn levels(n: usize, edges: &[Edge], source: usize) -> (u64, u64, u64) {
    let all: Vec<u64> = queue_bfs(n, edges, source).into_iter().flatten().collect();
    (all.len() as u64, *all.iter().max().unwrap(), all.iter().sum())
}

pub fn check_bfs(path: &str, n: usize, edges: &[Edge], source: usize) {
    let found = json("bfs", &[path, "--source", &source.to_string()]);
    let sums = ["reached", "depth", "level_sum"].map(|k| found[k].as_u64().unwrap());
    assert_eq!((sums[0], sums[1], sums[2]), levels(n, edges, source), "{path}");
    assert_eq!(found["parents_valid"], true);
}

pub fn check_multi_source_bfs(path: &str, n: usize, edges: &[Edge], sources: &[usize], undirected: bool) {
    let list = sources.iter().map(|s| s.to_string()).collect::<Vec<_>>().join(",");
    let mut arguments = vec![path, "--sources", &list];
    arguments.extend(undirected.then_some("--undirected"));
    let found = json("multi_source_bfs", &arguments);
    let both = both_ways(edges);
    let edges = if undirected { &both } else { edges };
    assert_eq!((found["rows"].as_u64(), found["nnz"].as_u64()), (Some(n as u64), Some(edges.len() as u64)), "{path}");
    for (s, source) in sources.iter().enumerate() {
        assert_eq!(found["sources"][s], *source);
        let sums = ["reached", "depth", "level_sum"].map(|k| found[k][s].as_u64().unwrap());
        assert_eq!((sums[0], sums[1], sums[2]), levels(n, edges, *source), "{path} from {source}");
    }
}

pub fn check_triangles(path: &str, n: usize, edges: &[Edge]) {
    let found = json("triangle_count", &[path]);
    let figures = ["rows", "edges", "triangles"].map(|k| found[k].as_u64().unwrap());
    let (edges, triangles) = triangles(n, edges);
    assert_eq!(figures, [n as u64, edges, triangles], "{path}");
}

pub fn near(x: &Value, y: f64) -> bool {
    (x.as_f64().unwrap() - y).abs() <= 1e-9 * y.abs().max(1.0)
}

pub fn check_sssp(path: &str, source: usize, expected: &[f64]) {
    let found = json("sssp", &[path, "--source", &source.to_string()]);
    let finite: Vec<f64> = expected.iter().copied().filter(|d| d.is_finite()).collect();
    assert_eq!(found["reached"], finite.len(), "{path}");
    assert!(near(&found["distance_sum"], finite.iter().sum()), "{path}: {found}");
    assert!(near(&found["max_distance"], finite.iter().copied().fold(f64::MIN, f64::max)), "{path}: {found}");
}

pub fn check_apsp(path: &str, expected: &[Vec<f64>]) {
    let found = json("apsp", &[path]);
    let finite: Vec<f64> = expected.iter().flatten().copied().filter(|d| d.is_finite()).collect();
    assert_eq!((&found["rows"], &found["reachable_pairs"]), (&expected.len().into(), &finite.len().into()), "{path}");
    assert!(near(&found["distance_sum"], finite.iter().sum()), "{path}: {found}");
    assert!(near(&found["diameter"], finite.iter().copied().fold(f64::MIN, f64::max)), "{path}: {found}");
}

pub type Operator = fn(f64, f64) -> f64;
pub const NUMBERS: [(&str, Operator, Operator); 17] = [
    ("plus_times", |x, y| x + y, |x, y| x * y),
    ("min_plus", f64::min, |x, y| x + y),
    ("max_plus", f64::max, |x, y| x + y),
    ("min_max", f64::min, f64::max),
    ("max_min", f64::max, f64::min),
    ("min_times", f64::min, |x, y| x * y),
    ("plus_pair", |x, y| x + y, |_, _| 1.0),
    ("any_pair", |x, _| x, |_, _| 1.0),
    ("plus_first", |x, y| x + y, |x, _| x),
    ("plus_second", |x, y| x + y, |_, y| y),
    ("min_first", f64::min, |x, _| x),
    ("max_second", f64::max, |_, y| y),
    ("max_times", f64::max, |x, y| x * y),
    ("min_second", f64::min, |_, y| y),
    ("max_first", f64::max, |x, _| x),
    // Of the products the one of the smallest k.
    ("any_first", |x, _| x, |x, _| x),
    ("any_second", |x, _| x, |_, y| y),
];

/// nnz of C, products and sum by three loops over dense matrices of options.
pub fn product(a: &[Vec<Option<f64>>], b: &[Vec<Option<f64>>], add: Operator, multiply: Operator) -> (u64, u64, f64) {
    let (mut entries, mut products, mut total) = (0, 0, 0.0);
    for row in a {
        for j in 0..b[0].len() {
            let terms = (0..b.len()).filter_map(|k| Some(multiply(row[k]?, b[k][j]?)));
            let terms: Vec<f64> = terms.collect();
            products += terms.len() as u64;
            if let Some(sum) = terms.into_iter().reduce(add) {
                entries += 1;
                total += sum;
            }
        }
    }
    (entries, products, total)
}

pub fn dense((m, n, edges): &(usize, usize, Vec<Edge>), transposed: bool) -> Vec<Vec<Option<f64>>> {
    let (m, n) = if transposed { (*n, *m) } else { (*m, *n) };
    let mut d = vec![vec![None; n]; m];
    edges.iter().for_each(|(i, j, w)| if transposed { d[*j][*i] = Some(*w) } else { d[*i][*j] = Some(*w) });
    d
}

/// Over bool, where what is not zero is true: parity of the products that are.
pub fn check_parity() {
    let (m, n, edges) = tiny("wide.mtx");
    let truth: Vec<Edge> = edges.into_iter().map(|(i, j, v)| (i, j, f64::from(v != 0.0))).collect();
    let wide = (m, n, truth);
    for flag in ["--transpose-a", "--transpose-b"] {
        let (a, b) = (dense(&wide, flag == "--transpose-a"), dense(&wide, flag == "--transpose-b"));
        let found = json("spgemm", &[&data("wide.mtx"), "--semiring", "lxor_land", "--type", "bool", flag, "--check"]);
        let (entries, _, sum) = product(&a, &b, |x, y| f64::from(x != y), |x, y| x * y);
        assert_eq!(found["nnz_c"], entries, "{flag}");
        assert!(near(&found["sum"], sum), "{flag}: {found} against {sum}");
    }
}

/// Masks are structural: all entries of a file admit, whatever their field and value.
pub fn check_masks() {
    let folder = tempfile::tempdir().unwrap();
    let wide = data("wide.mtx");
    for (field, entries) in [
        ("real", "1 1 0\n2 1 nan\n"),
        ("integer", "1 1 0\n2 1 -7\n"),
        ("pattern", "1 1\n2 1\n"),
        ("complex", "1 1 0 0\n2 1 0 1\n"),
    ] {
        let text = format!("%%MatrixMarket matrix coordinate {field} general\n2 2 2\n{entries}");
        let mask = written(folder.path(), "mask.mtx", text.as_bytes());
        let found = json("spgemm", &[&wide, "--transpose-b", "--mask", &mask, "--check"]);
        // Of [13 0; 0 25] the first column.
        assert_eq!((&found["nnz_c"], &found["sum"]), (&2.into(), &13.0.into()), "{field}");
    }
}

/// A wide matrix by its transpose, and its transpose by it.
pub fn check_product(semiring: &str, add: Operator, multiply: Operator, scalar: &str) {
    let wide = tiny("wide.mtx");
    let path = data("wide.mtx");
    for flag in ["--transpose-a", "--transpose-b"] {
        let (a, b) = (dense(&wide, flag == "--transpose-a"), dense(&wide, flag == "--transpose-b"));
        let found = json("spgemm", &[&path, "--semiring", semiring, "--type", scalar, flag, "--check"]);
        let figures = ["nnz_c", "products", "rows", "cols"].map(|k| found[k].as_u64().unwrap());
        let (entries, products, sum) = product(&a, &b, add, multiply);
        assert_eq!(figures, [entries, products, a.len() as u64, b[0].len() as u64], "{semiring} {scalar} {flag}");
        assert!(near(&found["sum"], sum), "{semiring} {scalar} {flag}: {found} against {sum}");
        assert_eq!((&found["semiring"], &found["type"]), (&semiring.into(), &scalar.into()));
    }
}

pub fn written(folder: &Path, name: &str, text: &[u8]) -> String {
    let path: PathBuf = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

/// Ranks by as many rounds as it takes, an edge at a time; `start` is where walks begin, anywhere if empty.
pub fn check_pagerank(path: &str, n: usize, edges: &[Edge], start: &[usize]) {
    let (mut v, mut degrees) = (vec![if start.is_empty() { 1.0 / n as f64 } else { 0.0 }; n], vec![0.0; n]);
    start.iter().for_each(|i| v[*i] += 1.0 / start.len() as f64);
    edges.iter().for_each(|e| degrees[e.0] += 1.0);
    let mut r = v.clone();
    for _ in 0..400 {
        let lost: f64 = (0..n).filter(|i| degrees[*i] == 0.0).map(|i| r[i]).sum();
        let mut next: Vec<f64> = v.iter().map(|v| (0.15 + 0.85 * lost) * v).collect();
        edges.iter().for_each(|e| next[e.1] += 0.85 * r[e.0] / degrees[e.0]);
        r = next;
    }
    let list: Vec<String> = start.iter().map(usize::to_string).collect();
    let (list, all) = (list.join(","), n.to_string());
    let mut arguments = vec![path, "--tolerance", "1e-13", "--rounds", "400", "--top", &all];
    if !start.is_empty() {
        arguments.extend(["--start", &list]);
    }
    let found = json("pagerank", &arguments);
    assert!(near(&found["sum"], 1.0) && found["vertices"] == n, "{found}");
    let mut left = n - r.iter().filter(|r| **r == 0.0).count();
    let mut last = f64::INFINITY;
    for entry in found["first"].as_array().unwrap() {
        let (vertex, rank) = (entry[0].as_u64().unwrap() as usize, entry[1].as_f64().unwrap());
        assert!((rank - r[vertex]).abs() < 1e-11 && rank <= last, "{path} {start:?} {vertex}: {rank}, {}", r[vertex]);
        last = rank;
        left -= (rank > 0.0) as usize;
    }
    assert_eq!(left, 0, "{path} {start:?}");
}
