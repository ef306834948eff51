//! The built examples as processes: the figures they print against independent oracles, and what they do with bad input.
#[path = "common/example.rs"]
mod example;
#[path = "common/data.rs"]
mod real;

mod oracles;
#[path = "../examples/common/plain.rs"]
mod plain;
use example::*;
use oplus::prelude::*;
use oracles::*;
use serde_json::Value;
use std::io::{Seek, Write};

/// A real matrix, where it is here.
fn real(name: &str) -> Option<(String, usize, Vec<Edge>)> {
    let path = real::real(name)?.display().to_string();
    let coo = oplus::io::matrix_market::read::<f64>(&path).unwrap();
    let edges = (0..coo.len()).map(|e| (coo.rows[e] as usize, coo.columns[e] as usize, coo.values[e])).collect();
    Some((path, coo.nrows as usize, edges))
}

#[test]
fn karate_and_weights() {
    let (n, _, edges) = tiny("karate.mtx");
    let path = data("karate.mtx");
    for source in [0, 16, 33] {
        check_bfs(&path, n, &edges, source);
        check_sssp(&path, source, &dijkstra(n, &edges, source));
    }
    check_multi_source_bfs(&path, n, &edges, &[0, 33, 0, 16], false);
    check_triangles(&path, n, &edges);
    check_pagerank(&path, n, &edges, &[]);
    check_pagerank(&path, n, &edges, &[5, 33, 5]);
    assert_eq!(json("triangle_count", &[&path])["triangles"], 45);
    check_apsp(&path, &floyd_warshall(n, &edges).unwrap());
    let (n, _, edges) = tiny("weights.mtx");
    let path = data("weights.mtx");
    check_bfs(&path, n, &edges, 0);
    check_multi_source_bfs(&path, n, &edges, &[5, 3], true);
    check_triangles(&path, n, &edges);
    check_pagerank(&path, n, &edges, &[]);
    check_pagerank(&path, n, &edges, &[0]);
    (0..n).for_each(|s| check_sssp(&path, s, &bellman_ford(n, &edges, s).unwrap()));
    check_apsp(&path, &floyd_warshall(n, &edges).unwrap());
}

#[test]
fn real_graphs() {
    for name in ["jazz.mtx.zst", "ldbc-directed-example.mtx.gz", "power.mtx.zst", "rome99.mtx.zst", "test_BF.mtx.gz"] {
        let Some((path, n, edges)) = real(name) else { continue };
        check_bfs(&path, n, &edges, 1);
        check_multi_source_bfs(&path, n, &edges, &[0, n / 2, n - 1], false);
        check_triangles(&path, n, &edges);
        check_sssp(&path, 0, &bellman_ford(n, &edges, 0).unwrap());
    }
    if let Some((path, n, edges)) = real("test_FW_1000.mtx.zst") {
        let rows: Option<Vec<_>> = (0..n).map(|s| bellman_ford(n, &edges, s)).collect();
        match rows {
            Some(rows) => check_apsp(&path, &rows),
            None => refused("apsp", &[&path, "--json"], "negative cycle"),
        }
    }
    if let Some((path, ..)) = real("bcsstk13.mtx.zst") {
        assert_eq!(json("triangle_count", &[&path])["triangles"], 342_300);
    }
}

#[test]
fn without_a_file_a_million_edges() {
    let found = json("multi_source_bfs", &[]);
    assert!(found["nnz"].as_u64().unwrap() >= 1_000_000 && found["rows"] == 1 << 17);
    let lists = ["sources", "reached", "depth", "level_sum"].map(|k| found[k].as_array().unwrap().len());
    assert_eq!(lists, [64; 4]);
    assert_eq!(json("multi_source_bfs", &[])["level_sum"], found["level_sum"]);
    let text = String::from_utf8(run("multi_source_bfs", &[]).stdout).unwrap();
    assert!(text.lines().count() > 64 && text.contains("reached"), "{text}");
    let few = json("multi_source_bfs", &[&data("karate.mtx"), "--random-sources", "5", "--seed", "9"]);
    assert_eq!(few["sources"].as_array().unwrap().len(), 5);
    let again = json("multi_source_bfs", &[&data("karate.mtx"), "--random-sources", "5", "--seed", "9"]);
    assert_eq!(few["sources"], again["sources"]);
    let all = json("multi_source_bfs", &[&data("weights.mtx"), "--random-sources", "60"]);
    assert_eq!(all["sources"].as_array().unwrap().len(), 6);
}

#[test]
fn products_over_every_semiring_and_type() {
    let path = data("wide.mtx");
    for (semiring, add, multiply) in NUMBERS {
        for scalar in ["f64", "f32", "i64", "i32"] {
            check_product(semiring, add, multiply, scalar);
        }
    }
    check_parity();
    check_masks();
    for scalar in ["c32", "c64"] {
        let found = json("spgemm", &[&data("hermitian.mtx"), "--type", scalar, "--check"]);
        assert_eq!((&found["nnz_c"], &found["sum"]), (&4.into(), &serde_json::json!([12.0, 0.0])), "{scalar}");
    }
    // Sums of 16-bit floats are exact in f32 here.
    let exact = json("spgemm", &[&path, "--transpose-b"])["sum"].clone();
    for scalar in ["f16", "bf16"].into_iter().filter(|_| cfg!(feature = "half")) {
        assert_eq!(json("spgemm", &[&path, "--type", scalar, "--transpose-b", "--check"])["sum"], exact, "{scalar}");
    }
    // A stored zero is false: C = A ∨.∧ Aᵀ holds an entry wherever a product is, true only at (0, 0) and (1, 1).
    for semiring in ["lor_land", "plus_times", "max_min"] {
        let found = json("spgemm", &[&path, "--semiring", semiring, "--type", "bool", "--transpose-b", "--check"]);
        assert_eq!((&found["nnz_c"], &found["sum"]), (&4.into(), &2.0.into()), "{semiring}");
    }
    let karate = data("karate.mtx");
    let found =
        json("spgemm", &[&karate, &karate, "--type", "u64", "--mask", &karate, "--strategy", "dot", "--explain"]);
    assert_eq!((&found["sum"], &found["strategy"], &found["nnz_c"]), (&270.0.into(), &"dot".into(), &134.into()));
}

#[test]
fn products_are_explained() {
    let karate = data("karate.mtx");
    let plain = json("spgemm", &[&karate, &karate]);
    assert!(plain["explain"].is_null());
    let value = json("spgemm", &[&karate, &karate, "--explain", "--check"]);
    let said = &value["explain"];
    assert_eq!((&said["products"], &said["entries"]), (&plain["products"], &plain["nnz_c"]));
    assert!(said["bins"].as_array().unwrap().iter().map(|b| b["rows"].as_u64().unwrap()).sum::<u64>() == 34);
    assert!(said["workspace"].as_u64().unwrap() > 0 && said["kernels"][0]["ms"].as_f64().unwrap() > 0.0);
    let limited = json("spgemm", &[&karate, "--memory-limit", "40000", "--reproducible", "--check"]);
    assert_eq!((&limited["sum"], &limited["nnz_c"]), (&plain["sum"], &plain["nnz_c"]));
    refused("spgemm", &[&karate, "--memory-limit", "5000"], "mxm: out of memory on host: ");
    let output = run("spgemm", &[&karate, "--explain"]);
    let text = String::from_utf8(output.stderr).unwrap();
    for part in ["products: 1212", "products an entry", "strategy: ", " rows ", "bytes of workspace", " ms in all"] {
        assert!(text.contains(part), "{text}");
    }
    // The error alone, whatever else was asked for.
    refused("spgemm", &[&karate, "--explain", "--output", "/nowhere/at/all.mtx"], "/nowhere/at/all.mtx: ");
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.mtx").to_str().unwrap().to_string();
    std::fs::write(&empty, "%%MatrixMarket matrix coordinate real general\n2 2 0\n").unwrap();
    let nothing = run("spgemm", &[&empty, "--json"]);
    let text = String::from_utf8(nothing.stdout).unwrap();
    assert!(text.contains("\"sum\":0.0"), "{text}");
}

#[test]
fn the_product_is_written_and_sums_stay_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    json("spgemm", &[&data("wide.mtx"), "--transpose-b", "--output", &path("c.mtx")]);
    let c: Matrix<f64> = Matrix::read(path("c.mtx")).unwrap();
    assert_eq!(c.entries().unwrap(), [(0, 0, 13.0), (0, 1, 0.0), (1, 0, 0.0), (1, 1, 25.0)]);
    json("spgemm", &[&data("hermitian.mtx"), "--type", "c64", "--output", &path("c.mtx")]);
    let c: Matrix<c64> = Matrix::read(path("c.mtx")).unwrap();
    let parts = |(i, j, x): &(u64, u64, c64)| (*i, *j, x.re, x.im);
    let c: Vec<_> = c.entries().unwrap().iter().map(parts).collect();
    assert_eq!(c, [(0, 0, 6.0, 0.0), (0, 1, 2.0, 2.0), (1, 0, 2.0, -2.0), (1, 1, 2.0, 0.0)]);
    std::fs::write(path("inf.mtx"), "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 inf\n").unwrap();
    assert_eq!(json("spgemm", &[&path("inf.mtx")])["sum"], Value::Null);
    std::fs::write(path("nan.mtx"), "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 nan\n").unwrap();
    assert_eq!(json("spgemm", &[&path("nan.mtx"), "--check"])["sum"], Value::Null);
    refused("sssp", &[&path("nan.mtx"), "--source", "0"], "(0, 0) is NaN");
    refused("apsp", &[&path("nan.mtx")], "(0, 0) is NaN");
    refused("spgemm", &[&data("wide.mtx"), "--transpose-b", "--output", "/no/such/folder/c.mtx"], "/no/such/folder");
}

#[test]
fn bad_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &[u8]| written(folder.path(), name, text);
    let head = "%%MatrixMarket matrix coordinate real general\n";
    let truncated = file("truncated.mtx", format!("{head}3 3 5\n1 2 1\n2 3").as_bytes());
    let binary = file("binary.mtx", &(0..=255).cycle().take(5000).collect::<Vec<u8>>());
    let claiming = file("claiming.mtx", format!("{head}3 3 99999999999999\n1 2 1\n").as_bytes());
    let outside = file("outside.mtx", format!("{head}3 3 1\n4 1 1\n").as_bytes());
    let twice = file("twice.mtx", format!("{head}3 3 2\n1 2 1\n1 2 5\n").as_bytes());
    let empty = file("empty.mtx", b"");
    let missing = folder.path().join("missing.mtx").to_str().unwrap().to_string();
    for (path, what) in [
        (&truncated, "truncated.mtx:3"),
        (&binary, "binary.mtx"),
        (&claiming, "claiming.mtx"),
        (&outside, "outside.mtx:3"),
        (&twice, "(0, 1)"),
        (&empty, "empty.mtx"),
        (&missing, "missing.mtx: No such file"),
    ] {
        for (name, more) in [("bfs", &["--source", "0"][..]), ("apsp", &[]), ("spgemm", &[]), ("multi_source_bfs", &[])]
        {
            refused(name, &[&[path.as_str()], more, &["--json"]].concat(), what);
        }
        refused("triangle_count", &[path], what);
        refused("sssp", &[path, "--source", "0"], what);
    }
    let zero = file("zero.mtx", format!("{head}0 0 0\n").as_bytes());
    assert_eq!(json("spgemm", &[&zero])["nnz_c"], 0);
    assert_eq!(json("triangle_count", &[&zero])["triangles"], 0);
    let found = json("apsp", &[&zero]);
    assert_eq!((&found["reachable_pairs"], &found["diameter"]), (&0.into(), &0.0.into()));
    refused("bfs", &[&zero, "--source", "0"], "the bound is 0");
    assert_eq!(json("pagerank", &[&zero])["first"].as_array().unwrap().len(), 0);
    assert_eq!(json("multi_source_bfs", &[&zero])["sources"].as_array().unwrap().len(), 0);
}

#[test]
fn bad_arguments() {
    let (karate, wide) = (data("karate.mtx"), data("wide.mtx"));
    for (name, more) in
        [("bfs", &["--source", "0"][..]), ("sssp", &["--source", "0"]), ("apsp", &[]), ("triangle_count", &[])]
    {
        refused(name, &[&[wide.as_str()], more].concat(), "2×3");
    }
    refused("multi_source_bfs", &[&wide, "--sources", "0"], "2×3");
    refused("bfs", &[&karate, "--source", "34"], "source 34");
    refused("sssp", &[&karate, "--source", "34", "--json"], "source 34");
    refused("multi_source_bfs", &[&karate, "--sources", "0,99", "--json"], "source 99 at position 1");
    refused("pagerank", &[&wide, "--json"], "2×3");
    refused("pagerank", &[&karate, "--start", "0,99", "--json"], "index 99 at position 1");
    refused("pagerank", &[&karate, "--damping", "1"], "below 1");
    for tolerance in ["nan", "-1", "small"] {
        let option = format!("--tolerance={tolerance}");
        refused("pagerank", &[&karate, &option], "a tolerance is a number from 0 up");
    }
    refused("bfs", &[&karate, "--source", "-1"], "-1");
    refused("bfs", &[&karate], "--source");
    for count in ["18446744073709551615", "16777217", "-1"] {
        refused("multi_source_bfs", &["--random-sources", count], count);
    }
    refused("sssp", &[&data("negative_cycle.mtx"), "--source", "0"], "negative cycle");
    refused("apsp", &[&data("negative_cycle.mtx"), "--json"], "negative cycle");
    refused("spgemm", &[&karate, "--semiring", "plus_minus"], "plus_minus");
    refused("spgemm", &[&karate, "--type", "f8"], "f8");
    refused("spgemm", &[&karate, "--type", "c64", "--semiring", "max_plus"], "not over complex");
    refused("spgemm", &[&karate, "--semiring", "lor_land"], "--type bool");
    refused("spgemm", &[&wide, "--json"], "2×3");
    refused("spgemm", &[&karate, &wide], "34×34");
    refused("spgemm", &[&karate, "--mask", &wide], "the mask");
    refused("spgemm", &[&karate, "--strategy", "dot"], "dot");
    refused("spgemm", &[&karate, "--strategy", "gustavson"], "bitmap_rank, window, dot");
    refused("spgemm", &[&wide, "--transpose-b", "--type", "u64"], "wide.mtx:4");
    refused("spgemm", &[&karate, "--no-such-option"], "--no-such-option");
    refused("spgemm", &[], "<A>");
    for device in ["gpu", "cuda:x", "cuda:-1", ""] {
        refused("bfs", &[&karate, "--source", "0", "--device", device], "cuda:N");
    }
}

#[test]
fn multigrid() {
    // b = A·1, so that the error is known; the same steps on every backend.
    let mut all = Vec::new();
    for device in ["cpu", "reference"] {
        let found = json("multigrid", &["--grid", "9", "--device", device]);
        let levels: Vec<u64> = found["levels"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        assert!(levels[0] == 729 && levels.len() > 1 && levels.is_sorted_by(|x, y| x > y), "{found}");
        assert!(found["converged"] == true && found["error"].as_f64().unwrap() < 1e-6, "{found}");
        assert!(found["operator_complexity"].as_f64().unwrap() < 2.0, "{found}");
        all.push((levels, found["steps"].clone()));
    }
    assert!(all[0] == all[1] && all[0].1.as_u64().unwrap() < 20, "{all:?}");
    let given_up = json("multigrid", &["--grid", "9", "--steps", "1"]);
    // Down to where squares of what is left vanish.
    let all = json("multigrid", &["--grid", "5", "--tolerance", "0"]);
    assert!(all["residual"].as_f64().unwrap() <= f64::EPSILON && all["error"].as_f64().unwrap() < 1e-12, "{all}");
    for tolerance in ["nan", "-1", "small"] {
        let option = format!("--tolerance={tolerance}");
        refused("multigrid", &["--grid", "5", &option], "a tolerance is a number from 0 up");
    }
    assert_eq!((&given_up["steps"], &given_up["converged"]), (&1.into(), &false.into()));
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, entries: &str| {
        let text = format!("%%MatrixMarket matrix coordinate real general\n{entries}\n");
        written(folder.path(), name, text.as_bytes())
    };
    let solved = json("multigrid", &[&file("spd.mtx", "2 2 4\n1 1 2\n1 2 -1\n2 1 -1\n2 2 2")]);
    assert!(solved["converged"] == true && solved["error"].as_f64().unwrap() < 1e-8, "{solved}");
    assert_eq!(json("multigrid", &[&file("empty.mtx", "0 0 0")])["steps"], 0);
    for (entries, what) in [
        ("2 3 1\n1 1 1", "2×3"),
        ("2 2 3\n1 1 2\n1 2 1\n2 2 2", "not symmetric"),
        ("2 2 4\n1 1 2\n1 2 1\n2 1 -1\n2 2 2", "not symmetric"),
        ("2 2 1\n1 1 2", "diagonal"),
        ("2 2 4\n1 1 1\n1 2 -3\n2 1 -3\n2 2 1", "not positive definite"),
        ("1 1 1\n1 1 nan", "not symmetric"),
    ] {
        refused("multigrid", &[&file("bad.mtx", entries)], what);
    }
}

#[test]
fn devices() {
    let karate = data("karate.mtx");
    for device in ["cpu", "reference"] {
        assert_eq!(json("triangle_count", &[&karate, "--device", device])["device"], device);
    }
    let output = example("triangle_count").arg(&karate).env("OPLUS_DEVICE", "nonsense").output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_eq!(err, "error: OPLUS_DEVICE: \"nonsense\" is no device: cpu, cuda, cuda:N or reference\n");
    if Device::Cuda(0).check().is_err() {
        refused("triangle_count", &[&karate, "--device", "cuda"], "cuda:0 is not available");
        refused("bfs", &[&karate, "--source", "0", "--device", "cuda:7", "--json"], "cuda:7 is not available");
        refused("multi_source_bfs", &["--device", "cuda:0"], "not available");
    } else {
        for device in ["cuda", "cuda:0"] {
            let found = json("triangle_count", &[&karate, "--device", device]);
            assert_eq!((&found["device"], &found["triangles"]), (&"cuda:0".into(), &45.into()));
        }
    }
}

#[test]
fn first_programs_run() {
    for (name, line) in [
        ("quick_start", "from town 0: [(0, 0.0), (1, 3.0), (2, 1.0), (3, 4.0)]"),
        ("custom_semiring", "0 → 3:  71.3 % over 3 links"),
    ] {
        let output = run(name, &[]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && text.contains(line),
            "{name}: {text} {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// What fails is one line.
#[test]
fn first_programs_refuse_as_the_others() {
    for name in ["quick_start", "custom_semiring"] {
        for (device, line) in [
            ("nonsense", "error: OPLUS_DEVICE: \"nonsense\" is no device: cpu, cuda, cuda:N or reference\n"),
            ("cuda:99", "error: cuda:99 is not available: "),
        ] {
            let output = example(name).env("OPLUS_DEVICE", device).output().unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{name}: {err}");
            assert!(err.starts_with(line) && err.lines().count() == 1, "{name}: {err}");
        }
    }
}

/// Threads that there is no room for.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_cannot_be_started() {
    for name in ["quick_start", "custom_semiring", "triangle_count", "multi_source_bfs"] {
        let mut command = example(name);
        command.env("RUST_MIN_STACK", (1u64 << 50).to_string()).env("RAYON_NUM_THREADS", "2");
        let output = if name == "triangle_count" { command.arg(data("karate.mtx")) } else { &mut command }.output();
        let output = output.unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{name}: {err}");
        assert!(err.starts_with("error: threads cannot be started: ") && err.lines().count() == 1, "{name}: {err}");
    }
}

/// A pipe is read once.
#[cfg(target_os = "linux")]
#[test]
fn masks_from_pipes() {
    let wide = data("wide.mtx");
    for (field, entries) in [
        ("real", "1 1 0\n2 1 nan\n"),
        ("integer", "1 1 0\n2 1 -7\n"),
        ("pattern", "1 1\n2 1\n"),
        ("complex", "1 1 0 0\n2 1 0 1\n"),
    ] {
        let mut command = example("spgemm");
        command.args([&wide, "--transpose-b", "--mask", "/dev/stdin", "--check", "--json"]);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        write!(stdin, "%%MatrixMarket matrix coordinate {field} general\n2 2 2\n{entries}").unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        // Of [13 0; 0 25] the first column.
        assert_eq!((&found["nnz_c"], &found["sum"]), (&2.into(), &13.0.into()), "{field}");
    }
}

/// What `--check` compares by: 64-bit integers as they are, floats but for rounding.
#[test]
fn results_are_compared_exactly_where_sums_are_exact() {
    use plain::{Plain, close};
    let c = 94_906_267u64 * 94_906_267;
    assert!(close(&[c], &[c]) && !close(&[c], &[c - 1]) && c.plain() == (c - 1).plain());
    assert!(!close(&[i64::MIN], &[i64::MIN + 1]) && !close(&[true], &[false]) && !close(&[1i32, 2], &[1]));
    assert!(close(&[1.0, 1e-13], &[1.0, 0.0]) && !close(&[1.0, 1e-11], &[1.0, 0.0]));
    assert!(close(&[f64::NAN, f64::INFINITY], &[f64::NAN, f64::INFINITY]) && !close(&[f64::NAN], &[0.0]));
    assert!(close(&[c64::new(1.0, f64::NAN)], &[c64::new(1.0, f64::NAN)]) && close(&[1f32], &[1.0 + 1e-6]));
    #[cfg(feature = "half")]
    assert!(close(&[f16::NAN, f16::ONE], &[f16::NAN, f16::ONE]) && !close(&[f16::NAN], &[f16::ONE]));
}

/// An object has these members and no others: what `--json` promises.
#[test]
fn members_of_the_objects() {
    let (karate, weights) = (data("karate.mtx"), data("weights.mtx"));
    let product = "device semiring type strategy rows cols nnz_a nnz_b products nnz_c sum ms";
    for (name, arguments, members) in [
        ("multi_source_bfs", &[&karate, "--sources", "0,5"][..], "device rows nnz sources reached depth level_sum ms"),
        ("spgemm", &[&karate], product),
        ("triangle_count", &[&karate], "device rows edges triangles ms"),
        ("apsp", &[&weights], "rows reachable_pairs distance_sum diameter ms"),
        ("sssp", &[&weights, "--source", "0"], "reached distance_sum max_distance ms"),
        ("bfs", &[&karate, "--source", "0"], "reached depth level_sum parents_valid ms"),
        ("pagerank", &[&karate], "vertices rounds change sum first ms"),
    ] {
        let found = json(name, arguments);
        let mut found: Vec<&str> = found.as_object().unwrap().keys().map(String::as_str).collect();
        let mut members: Vec<&str> = members.split(' ').collect();
        found.sort_unstable();
        members.sort_unstable();
        assert_eq!(found, members, "{name}");
    }
}

#[test]
fn help_names_what_there_is() {
    let help = String::from_utf8(run("spgemm", &["--help"]).stdout).unwrap();
    for name in oplus::spgemm::Strategy::ALL.iter().map(|s| s.name()).chain(NUMBERS.map(|n| n.0)) {
        assert!(help.contains(name), "{name}: {help}");
    }
    assert!(help.contains("lor_land") && help.contains("lxor_land"), "{help}");
}

/// A disk that is full is an error; nobody who listens any more is none.
#[cfg(target_os = "linux")]
#[test]
fn stdout_that_cannot_be_written() {
    let (karate, folder) = (data("karate.mtx"), tempfile::tempdir().unwrap());
    let one = written(folder.path(), "one.mtx", b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
    for (name, arguments) in [
        ("multi_source_bfs", &[&karate, "--sources", "0"][..]),
        ("spgemm", &[&karate]),
        ("spgemm", &[&karate, "--explain"]),
        ("triangle_count", &[&karate]),
        ("apsp", &[&one]),
        ("sssp", &[&one, "--source", "0"]),
        ("bfs", &[&karate, "--source", "0"]),
        ("pagerank", &[&karate]),
        ("multigrid", &["--grid", "3"]),
    ] {
        for more in [&["--json"][..], &[], &["--help"]] {
            let to = |stdout: std::process::Stdio| {
                let output = example(name).args(arguments).args(more).stdout(stdout).output().unwrap();
                (output.status.code(), String::from_utf8(output.stderr).unwrap())
            };
            let full = to(std::fs::File::create("/dev/full").unwrap().into());
            let words = "error: stdout: No space left on device (os error 28)\n";
            assert_eq!(full, (Some(2), words.to_string()), "{name} {more:?}");
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let (code, told) = to(writer.into());
            let explained = arguments.contains(&"--explain") && more != ["--help"];
            assert_eq!((code, told.is_empty()), (Some(0), !explained), "{name} {more:?}: {told}");
        }
        // Nor is the error's own line worth a panic.
        let full = std::fs::File::create("/dev/full").unwrap();
        let output = example(name).arg("--no-such-option").stderr(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
    }
    for name in ["quick_start", "custom_semiring"] {
        let output = example(name).stdout(std::fs::File::create("/dev/full").unwrap()).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        let words = "error: stdout: No space left on device (os error 28)\n";
        assert_eq!((output.status.code(), &*err), (Some(2), words), "{name}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = example(name).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{name}");
    }
}

#[test]
fn a_comparison_refuses_as_the_others() {
    refused("compare_suitesparse", &[], "--directory");
    refused("compare_suitesparse", &["--directory", "/dev/null/there"], "/dev/null/there: ");
    refused("compare_suitesparse", &["--directory", "/tmp", "--threads", "two"], "--threads");
    refused("compare_suitesparse", &["--directory", "/tmp", "--no-such-option"], "--no-such-option");
    // Requests that are none end it the same way.
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (name, text) in [
        ("long", "1 1099511627776 1\n1 9 1"),
        ("longer", "1 1099511627777 1\n1 9 1"),
        ("empty", "3 3 0"),
        ("tiny", "2 2 1\n1 2 1"),
    ] {
        let text = format!("%%MatrixMarket matrix coordinate real general\n{text}\n");
        written(data.path(), &format!("{name}.mtx"), text.as_bytes());
    }
    for (request, what) in [
        ("matrix", "no such request: matrix"),
        ("matrix karate", "no generator makes karate"),
        ("matrix nobody", "no nobody.mtx"),
        ("run square plus_times f64 1", "no matrix yet"),
        ("operate 1 transpose", "no operands yet"),
        ("matrix uniform", "uniform: the size \"\" is none: "),
        ("matrix uniform-0", "uniform-0 has no entries"),
        ("matrix rmat-4294967300", "out of range"),
        ("matrix long", "long: 1 rows, 1099511627776 columns, at most 268435456 of each are taken"),
        ("matrix empty", "empty has no entries"),
        ("operands uniform", "uniform: the size \"\" is none: "),
        ("operands uniform-0", "uniform-0 has no entries"),
        ("operands grid-x", "grid-x: the size \"x\" is none: "),
        ("matrix tiny\nrun full:4294967295 plus_times f64 1", "2×4294967295 entries, at most 268435456 are taken"),
        ("operands grid-0", "grid-0 has no entries"),
        ("operands empty", "empty has no entries"),
        ("operands longer", "longer: 1 rows, 1099511627777 columns, at most 1099511627776 of each are taken"),
        ("operands hyper-0", "hyper-0: a scale is from 2 to 40"),
        ("operands hyper-1", "hyper-1: a scale is from 2 to 40"),
        ("operands hyper-64", "hyper-64: a scale is from 2 to 40"),
        ("operands hyper-40", "hyper-40: "),
    ] {
        let mut requests = tempfile::tempfile().unwrap();
        writeln!(requests, "{request}").unwrap();
        requests.rewind().unwrap();
        let mut command = example("compare_suitesparse");
        if request != "matrix karate" {
            command.arg("--data").arg(data.path());
        }
        let output = command.arg("--directory").arg(folder.path()).stdin(requests).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        // A reply to each line before it.
        let replies = output.stdout.iter().filter(|b| **b == b'\n').count();
        let expected = (Some(2), request.matches('\n').count(), 1);
        assert_eq!((output.status.code(), replies, err.lines().count()), expected, "{err}");
        assert!(err.starts_with("error: ") && err.contains(what), "{request}: {err}");
    }
}

#[cfg(feature = "cuda")]
#[test]
fn tools_refuse_as_the_others() {
    refused("inspect_kernel", &["--semiring", "plus_minus"], "plus_pair");
    refused("inspect_kernel", &["--strategy", "gustavson"], "segmented_merge");
    refused("inspect_kernel", &["--arch", "old"], "--arch");
    refused("inspect_kernel", &["--semiring", "lor_land"], "there is no lor_land over f64");
    // What `spgemm` takes over bool.
    for (semiring, _, _) in NUMBERS {
        let arguments = ["--type", "bool", "--semiring", semiring, "--kernel", "none"];
        refused("inspect_kernel", &arguments, "none");
    }
    refused("inspect_kernel", &["--type", "f8"], "there is no plus_times over f8");
    refused("benchmark", &["--no-such-option"], "--no-such-option");
    refused("benchmark", &["calls", "--entries", "0"], "0 is not in 1..");
    refused("benchmark", &["plot", "/no/such/file"], "/no/such/file");
}
