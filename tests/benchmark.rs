//! The benchmark of examples/benchmark: what of it needs no GPU, and the whole as a process on the emulated one.
#![cfg(feature = "cuda")]
#![allow(dead_code)]
#[path = "../examples/benchmark/aggregation.rs"]
mod aggregation;
#[path = "../examples/benchmark/cases.rs"]
mod cases;
#[path = "../examples/common/mod.rs"]
mod common;
#[path = "../examples/benchmark/drawn.rs"]
mod drawn;
#[path = "common/emulator.rs"]
mod emulator;
#[path = "../examples/benchmark/plots/mod.rs"]
mod plots;
#[path = "../examples/benchmark/rows.rs"]
mod rows;
#[path = "../examples/benchmark/verdict.rs"]
mod verdict;

use aggregation::{aggregate, companion, suits};
use oplus::generate::*;
use oplus::prelude::*;
use plots::{Groups, figures, read};
use rows::Rows;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use verdict::Verdict;

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn named(path: &Path, error: impl std::fmt::Display) -> Box<dyn std::error::Error + Send + Sync> {
    format!("{}: {error}", path.display()).into()
}

fn dense(m: &Matrix<f64>) -> Vec<Vec<f64>> {
    let mut d = vec![vec![0.0; m.ncols() as usize]; m.nrows() as usize];
    m.entries().unwrap().into_iter().for_each(|(i, j, v)| d[i as usize][j as usize] = v);
    d
}

/// The Laplacian of a path without its diagonal at the ends, two rows alone, one of them empty.
fn unkind() -> Coo<f64> {
    let mut coo = Coo::new(9, 9);
    for i in 0..6 {
        coo.push(i, i + 1, -1.0);
        coo.push(i + 1, i, -1.0);
    }
    (1..6).for_each(|i| coo.push(i, i, 2.0));
    coo.push(8, 8, 0.0);
    coo
}

#[test]
fn every_row_is_in_one_aggregate_of_neighbours() {
    for coo in
        [stencil_5(13, 7).unwrap(), band(60, 4, 1).unwrap(), permuted(stencil_9(9, 9).unwrap(), 3).unwrap(), unkind()]
    {
        let a = Rows::of(&coo).unwrap();
        let aggregates = aggregate(&a);
        assert_eq!(aggregates.of.len(), a.nrows as usize);
        let mut members = vec![Vec::new(); aggregates.count as usize];
        aggregates.of.iter().enumerate().for_each(|(i, g)| members[*g as usize].push(i as u32));
        let t = a.transposed();
        let near = |i: u32, j: u32| i == j || a.row(i as usize).contains(&j) || t.row(i as usize).contains(&j);
        for m in &members {
            // Not empty, and all within two steps of one of them.
            assert!(m.iter().any(|root| {
                m.iter().all(|i| near(*root, *i) || m.iter().any(|k| near(*root, *k) && near(*k, *i)))
            }));
        }
        assert_eq!(aggregate(&a).of, aggregates.of);
    }
    let grid = aggregate(&Rows::of(&stencil_5(30, 30).unwrap()).unwrap());
    assert!((150..300).contains(&grid.count), "{}", grid.count);
}

/// P = (I − ω·D⁻¹·A)·T by this library's products.
#[test]
fn prolongators_smooth_the_aggregates() {
    for coo in [stencil_5(8, 8).unwrap(), band(40, 3, 1).unwrap(), unkind()] {
        let a = Rows::of(&coo).unwrap();
        let (aggregates, p) = (aggregate(&a), companion(&a));
        let ones: Vec<_> = aggregates.of.iter().enumerate().map(|(i, g)| (i as u64, u64::from(*g), 1.0)).collect();
        let t: Matrix<f64> = Matrix::build(u64::from(a.nrows), u64::from(aggregates.count), &ones).unwrap();
        let at = dense(&mxm(&a.matrix().unwrap(), &t).eval().unwrap());
        let (found, t) = (dense(&p.matrix().unwrap()), dense(&t));
        for i in 0..a.nrows as usize {
            let diagonal = a.entries(i).find(|(j, _)| *j as usize == i).map_or(0.0, |(_, v)| v);
            let size: f64 = a.entries(i).map(|(_, v)| v.abs()).sum();
            let d = if diagonal != 0.0 { diagonal } else { size };
            for g in 0..aggregates.count as usize {
                let step = if d != 0.0 { 2.0 / 3.0 / d * at[i][g] } else { 0.0 };
                assert!((found[i][g] - (t[i][g] - step)).abs() < 1e-12, "({i}, {g}) of {}", a.nrows);
            }
        }
        // PᵀP is square and has a positive diagonal: no aggregate is empty.
        let r = p.transposed();
        assert_eq!(r.transposed(), p);
        let c = mxm(&r.matrix().unwrap(), &p.matrix().unwrap()).eval().unwrap();
        assert!((0..c.nrows()).all(|g| c.get(g, g).unwrap().is_some_and(|v| v > 0.0)));
        assert_eq!(r.products(&p), (0..a.nrows as usize).map(|i| (p.row(i).len() as u64).pow(2)).sum::<u64>());
    }
}

#[test]
fn companions_are_for_nearly_symmetric_matrices_without_hubs() {
    let suit = |coo: Result<Coo<f64>>| suits(&Rows::of(&coo.unwrap()).unwrap());
    assert!(suit(stencil_27(6, 6, 6)) && suit(permuted(band(200, 7, 1).unwrap(), 2)));
    assert!(!suit(uniform(300, 300, 4, 1)) && !suit(rmat(8, 8, Rmat::default(), 1)) && !suit(hub(2000, 4, 4, 900, 1)));
    assert!(!suit(Ok(Coo::new(3, 3))) && !suit(uniform(30, 20, 4, 1)));
}

const LINES: &str = r#"
{"mode":"product","matrix":"p5 <&> small","product":"a2","type":"f64","products":2000,"ms":0.1,"bound":0.02,"cusparse_ms":0.3}
{"mode":"product","matrix":"band","product":"a2","type":"f64","products":9000000,"ms":0.2,"bound":0.3,"cusparse_ms":0.1}
{"mode":"product","matrix":"alone","product":"ptap","type":"f32","products":5,"ms":1.0,"bound":0.001,"cusparse_ms":null}
{"mode":"strategies","matrix":"band","ms":{"auto":0.2}}
{"mode":"operation","matrix":"band","operation":"mxv","type":"f64","nnz":300,"ms":0.02,"bound":0.1,"cusparse_ms":0.03}
{"mode":"operation","matrix":"empty","operation":"mxv","type":"f64","nnz":0,"ms":0.02,"bound":0.0}
"#;

/// Tags close in the order in which they opened, and text holds no bare < or &.
fn well_formed(svg: &str) {
    let (mut open, mut rest) = (Vec::new(), svg);
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "{}", &rest[..start]);
        let end = rest.find('>').expect("a tag that closes");
        let tag = &rest[start + 1..end];
        let name = |t: &str| t.split_whitespace().next().unwrap_or_default().to_string();
        match (tag.strip_prefix('/'), tag.strip_suffix('/')) {
            (Some(closed), _) => assert_eq!(open.pop(), Some(name(closed))),
            (_, None) if !tag.starts_with(['?', '!']) => open.push(name(tag)),
            _ => assert_eq!(tag.matches('"').count() % 2, 0, "{tag}"),
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty() && svg.contains("<svg"));
    let known = ["lt;", "gt;", "amp;", "quot;", "apos;"];
    assert!(svg.split('&').skip(1).all(|rest| known.iter().any(|k| rest.starts_with(k))));
}

/// A product that no algorithm of the rival could make was compared with nothing.
#[test]
fn nothing_compared_is_not_equal() {
    let told = |products: &[&[bool]]| {
        let mut verdict = Verdict::default();
        for results in products {
            results.iter().enumerate().for_each(|(n, same)| verdict.compared(*same, || format!("result {n}")));
            verdict.next();
        }
        verdict.to_string()
    };
    assert_eq!(told(&[&[]]), "not compared");
    assert_eq!((told(&[&[true]]), told(&[&[true, true], &[true]])), ("equal".into(), "equal".into()));
    assert_eq!((told(&[&[], &[true]]), told(&[&[true], &[]])), ("not compared".into(), "not compared".into()));
    assert_eq!(
        (told(&[&[true, false, false]]), told(&[&[false], &[]])),
        ("DIFFER from result 1".into(), "DIFFER from result 0".into())
    );
}

#[test]
fn figures_are_drawn() {
    let mut groups = Groups::new();
    read(LINES, &mut groups).unwrap();
    assert_eq!(groups.keys().collect::<Vec<_>>(), ["C = A², f64", "C = Pᵀ·A·P, f32", "mxv, f64"]);
    let all = figures(&groups).unwrap();
    assert_eq!(all.iter().map(|f| f.0).collect::<Vec<_>>(), ["gflops.svg", "traffic.svg", "speedup.svg"]);
    all.iter().for_each(|(_, svg)| well_formed(svg));
    let circles = |n: usize| all[n].1.matches("<circle").count();
    // A point for each figure, two of a legend for each panel; each speed-up a point.
    assert_eq!((circles(0), circles(1), circles(2)), (5 + 2 * 2, 7 + 2 * 3, 3));
    assert!(all[0].1.contains("p5 &lt;&amp;&gt; small") && all[0].1.contains("GFLOP/s") && !all[0].1.contains("mxv"));
    assert!(all[2].1.contains("C = A², f64: 2 matrices, geometric mean 1.22"));
}

#[test]
fn what_is_no_result_is_refused() {
    let error = |text: &str| read(text, &mut Groups::new()).unwrap_err().to_string();
    assert!(error("\n{\"mode\":").starts_with("line 2: "));
    assert_eq!(error("[]"), "line 1: no text \"mode\"");
    let line = LINES.lines().nth(1).unwrap();
    assert_eq!(error(&line.replace("\"ms\":0.1", "\"ms\":-1")), "line 1: \"ms\" is no positive number");
    assert_eq!(error(&line.replace("\"matrix\":", "\"m\":")), "line 1: no text \"matrix\"");
    assert!(cases::files(std::path::Path::new("/no/such/folder")).is_err());
}

#[test]
fn drawn_matrices_are_those_of_their_seeds() {
    let names: Vec<String> = (0..1000).map(|seed| drawn::Drawn::new(seed).name()).collect();
    let lengths = ["same", "spread", "power", "hubs", "sparse", "two"];
    let columns = ["anywhere", "near", "power", "runs", "nearruns", "blocks", "shared", "diagonals"];
    let more = ["", "-sym", "-perm", "-sym-perm"];
    for end in more.iter().flat_map(|m| columns.iter().map(move |c| format!("-{c}{m}"))) {
        assert!(names.iter().any(|name| name.ends_with(&end)), "no {end}");
    }
    assert!(lengths.iter().all(|l| names.iter().any(|name| name.contains(&format!("-{l}-")))));
    // Small ones, a few of all kinds.
    for seed in [16, 23, 45, 59, 74, 102, 110] {
        let (one, same) = (drawn::Drawn::new(seed).make().unwrap(), drawn::Drawn::new(seed).make().unwrap());
        assert_eq!((&one.rows, &one.columns, &one.values), (&same.rows, &same.columns, &same.values));
        let a = Rows::of(&one).unwrap();
        assert!(a.nnz() > 0 && a.products(&a) <= 1 << 29, "{}", names[seed as usize]);
        let symmetric = a.transposed().columns == a.columns;
        assert!(symmetric || !names[seed as usize].contains("-sym"), "{}", names[seed as usize]);
    }
}

/// `cargo test` builds the examples beside the tests.
fn benchmark(arguments: &[&str]) -> Output {
    started(arguments).output().unwrap()
}

fn started(arguments: &[&str]) -> Command {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().and_then(Path::parent).unwrap().join("examples/benchmark");
    assert!(path.exists(), "{} is not built: `cargo build --example benchmark` first", path.display());
    let mut command = Command::new(path);
    if let Some(emulator::Cuda::Emulated(e)) = emulator::cuda() {
        command.envs(emulator::environment(&e.folder));
    }
    command.args(arguments);
    command
}

/// What it prints, and the JSON lines it writes.
fn lines(arguments: &[&str]) -> (String, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("lines.jsonl");
    let karate = folder.path().join("karate.mtx");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/karate.mtx"), karate).unwrap();
    let (data, file) = (folder.path().to_str().unwrap(), output.to_str().unwrap());
    // Of the shares of bandwidth some operations only.
    let only = if arguments.first() == Some(&"bandwidth") { "transpose,union" } else { "karate" };
    let common = ["--alone", "--data", data, "--only", only, "--runs", "1", "--output", file];
    let done = benchmark(&[arguments, &common].concat());
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
    let lines = std::fs::read_to_string(&output).unwrap();
    // What it writes, it can plot.
    let into = folder.path().join("figures");
    let drawn = benchmark(&["plot", file, "--into", into.to_str().unwrap()]);
    let plotted = arguments.first().is_none_or(|first| !["--strategies", "bandwidth", "masked"].contains(first));
    if plotted {
        let svg = std::fs::read_to_string(into.join("traffic.svg")).unwrap();
        well_formed(&svg);
        assert!(svg.contains("karate") && drawn.status.success());
    } else {
        assert_eq!(drawn.status.code(), Some(2));
    }
    (text, lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect())
}

#[test]
fn products_and_operations_run() {
    if emulator::cuda().is_none() {
        return;
    }
    let (text, rows) = lines(&["--products", "a2,ap,ptap", "--types", "f64,f32", "--semirings"]);
    let kinds = [("a2", 1212, 698), ("ap", 235, 59), ("ptap", 320, 4)];
    let kinds = kinds.iter().flat_map(|k| ["f64", "f32"].map(|scalar| (*k, scalar)));
    assert_eq!(rows.len(), 6, "{text}");
    for (row, ((kind, products, entries), scalar)) in rows.iter().zip(kinds) {
        assert_eq!((&row["matrix"], &row["type"], &row["product"]), (&"karate".into(), &scalar.into(), &kind.into()));
        let counts = (&row["products"], &row["nnz_c"], &row["results"]);
        assert_eq!(counts, (&products.into(), &entries.into(), &"alone".into()));
        assert!(
            ["ms", "numeric_ms", "min_plus_ms", "bool_ms", "gflops", "bound"]
                .iter()
                .all(|k| row[k].as_f64().unwrap() > 0.0)
        );
    }
    assert!(text.matches("ms: equal").count() == 6, "{text}");
    let (text, rows) = lines(&["everything"]);
    assert_eq!((rows.len(), text.matches("ms: equal").count()), (7, 6), "{text}");
    assert!(rows[6]["ms"]["esc_global"].as_f64().unwrap() > 0.0, "{text}");
    let (text, rows) = lines(&["masked"]);
    assert_eq!(rows.len(), 6, "{text}");
    for row in &rows {
        assert_eq!((&row["results"], row["ms"].as_object().unwrap().len()), (&"equal".into(), 4), "{text}");
        assert!(row["ms"]["dot"].as_f64().unwrap() > 0.0 && row["sum_ms"]["dot"].as_f64().unwrap() > 0.0, "{text}");
        assert!(row["plan_ms"].as_f64().unwrap() > 0.0, "{text}");
    }
    let (text, rows) = lines(&["operations"]);
    let names: Vec<_> = rows.iter().map(|r| r["operation"].as_str().unwrap()).collect();
    assert_eq!(names, ["mxv", "vxm", "transpose"], "{text}");
    let (text, rows) = lines(&["bandwidth", "--entries", "1000"]);
    let names: Vec<_> = rows.iter().map(|r| r["operation"].as_str().unwrap()).collect();
    // Of four shapes of rows, of cells, of a full matrix, and of a band.
    let of_rows = ["transpose", "union", "ewise_union"].repeat(4);
    let others = ["union", "ewise_union", "transpose", "union", "transpose", "transpose"];
    assert_eq!(names, [of_rows, others.to_vec()].concat(), "{text}");
    assert!(rows.iter().all(|r| r["share"].as_f64().unwrap() > 0.0) && text.contains("below 60 %: "));
}

#[test]
fn every_strategy_gives_the_same() {
    if emulator::cuda().is_none() {
        return;
    }
    let (text, rows) = lines(&["--strategies"]);
    assert!(text.contains("auto is within 10 % of the best single strategy on "), "{text}");
    assert!(text.contains("dot refused 1: "), "{text}");
    assert_eq!((rows.len(), &rows[0]["results"], &rows[0]["nnz_c"]), (1, &"equal".into(), &698.into()));
    let (times, refused) = (rows[0]["ms"].as_object().unwrap(), rows[0]["refused"].as_object().unwrap());
    assert_eq!(times.len() + refused.len(), Strategy::ALL.len());
}

/// A disk that is full is an error; nobody who listens any more is none.
#[cfg(target_os = "linux")]
#[test]
fn stdout_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines.jsonl");
    std::fs::write(&path, LINES).unwrap();
    let plot = ["plot", path.to_str().unwrap(), "--into", folder.path().to_str().unwrap()];
    let mut all = vec![&plot[..]];
    if emulator::cuda().is_some() {
        all.extend([
            &["--alone", "--only", "p5_64", "--runs", "1"][..],
            &["--alone", "--only", "p5_64", "--runs", "1", "--strategies", "--seconds", "0"],
            &["--alone", "--only", "p5_64", "--runs", "1", "operations"],
            &["--alone", "--only", "p5_64", "--runs", "1", "masked"],
            &["--alone", "--only", "reduce", "--runs", "1", "calls"],
            &["--alone", "--only", "transpose", "--runs", "1", "bandwidth", "--entries", "1000"],
        ]);
    }
    for arguments in all {
        let full = std::fs::File::create("/dev/full").unwrap();
        let output = started(arguments).stdout(full).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        let words = "error: stdout: No space left on device (os error 28)\n";
        assert_eq!((output.status.code(), &*err), (Some(2), words), "{arguments:?}");
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert!(started(&plot).stdout(writer).status().unwrap().success());
}

#[test]
fn bad_arguments_are_one_line() {
    let refused = |arguments: &[&str], what: &str| {
        let output = benchmark(arguments);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {err}");
        assert!(err.contains(what), "{arguments:?}: {err:?} does not say {what:?}");
    };
    refused(&["--strategy", "gustavson"], "bitmap_rank");
    refused(&["--products", "a3"], "ptap");
    refused(&["--types", "f16"], "f32");
    refused(&["--bandwidth", "0"], "positive");
    refused(&["--drawn", "18446744073709551615"], "18446744073709551615 is not in 0..=");
    refused(&["bandwidth", "--entries", "2305843009213693952"], "2305843009213693952 is not in 1000..=");
    refused(&["plot", "/no/such/file.jsonl"], "/no/such/file.jsonl: No such file");
    refused(&["plot"], "<FILES>");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.jsonl");
    std::fs::write(&path, "{\"mode\":\"strategies\"}\n{\"mode\":").unwrap();
    refused(&["plot", path.to_str().unwrap()], "broken.jsonl: line 2: ");
    // The names of what was drawn, once all of it is.
    std::fs::write(&path, LINES).unwrap();
    let figures = folder.path().join("figures");
    std::fs::create_dir_all(figures.join("traffic.svg")).unwrap();
    let output = benchmark(&["plot", path.to_str().unwrap(), "--into", figures.to_str().unwrap()]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    if emulator::cuda().is_some() {
        refused(&["--alone", "--data", "/no/such/folder"], "/no/such/folder: No such file");
        refused(&["--alone", "operations", "--only", "nothing"], "no matrix has nothing in its name");
        let (data, bad) =
            (tempfile::tempdir().unwrap(), "%%MatrixMarket matrix coordinate real general\n3 3 1\n4 1 1\n");
        std::fs::write(data.path().join("outside.mtx"), bad).unwrap();
        let data = data.path().to_str().unwrap();
        refused(&["--alone", "--data", data, "--only", "outside"], "1 matrices failed: outside");
        refused(&["--alone", "--output", "/no/such/folder/x", "--only", "p5_64"], "/no/such/folder/x: No such file");
    }
    let help = benchmark(&["--help"]);
    let text = String::from_utf8(help.stdout).unwrap();
    assert!(help.status.success() && ["--strategies", "operations", "plot", "--only"].iter().all(|o| text.contains(o)));
}
