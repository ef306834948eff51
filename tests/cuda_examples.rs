//! The examples on a GPU, emulated or not, by `OPLUS_DEVICE` and by `--device cuda`: the figures of independent oracles, and the
//! refusals of the CPU.
#![cfg(feature = "cuda")]
#[path = "common/emulator.rs"]
mod emulator;
#[path = "common/example.rs"]
mod example;
mod oracles;
use emulator::Cuda;
use example::*;
use oracles::*;

/// Whether there is a GPU, emulated or not, for the examples to run on.
fn on_cuda() -> bool {
    let Some(cuda) = emulator::cuda() else { return false };
    SETTINGS.get_or_init(|| {
        let mut settings = match cuda {
            Cuda::Emulated(emulator) => emulator::environment(&emulator.folder),
            Cuda::Gpu => Vec::new(),
        };
        settings.push(("OPLUS_DEVICE", "cuda".into()));
        settings
    });
    true
}

#[test]
fn searches_and_paths() {
    if !on_cuda() {
        return;
    }
    let (n, _, edges) = tiny("karate.mtx");
    let path = data("karate.mtx");
    assert_eq!(json("triangle_count", &[&path])["device"], "cuda:0");
    check_bfs(&path, n, &edges, 16);
    check_pagerank(&path, n, &edges, &[5, 33, 5]);
    check_multi_source_bfs(&path, n, &edges, &[0, 33, 0, 16], false);
    check_triangles(&path, n, &edges);
    check_sssp(&path, 33, &dijkstra(n, &edges, 33));
    check_apsp(&path, &floyd_warshall(n, &edges).unwrap());
    let (n, _, edges) = tiny("weights.mtx");
    let path = data("weights.mtx");
    check_bfs(&path, n, &edges, 0);
    check_multi_source_bfs(&path, n, &edges, &[5, 3], true);
    check_triangles(&path, n, &edges);
    (0..n).for_each(|s| check_sssp(&path, s, &bellman_ford(n, &edges, s).unwrap()));
    check_apsp(&path, &floyd_warshall(n, &edges).unwrap());
    refused("apsp", &[&data("negative_cycle.mtx")], "negative cycle");
    refused("bfs", &[&path, "--source", "99"], "99");
}

#[test]
fn products_over_semirings_and_types() {
    if !on_cuda() {
        return;
    }
    for ((semiring, add, multiply), scalar) in NUMBERS.into_iter().zip(["f64", "f32", "i64", "i32"].into_iter().cycle())
    {
        check_product(semiring, add, multiply, scalar);
    }
    let found = json("spgemm", &[&data("hermitian.mtx"), "--type", "c64", "--check"]);
    assert_eq!((&found["nnz_c"], &found["sum"]), (&4.into(), &serde_json::json!([12.0, 0.0])));
    let wide = data("wide.mtx");
    let found = json("spgemm", &[&wide, "--semiring", "lor_land", "--type", "bool", "--transpose-b", "--check"]);
    assert_eq!((&found["nnz_c"], &found["sum"]), (&4.into(), &2.0.into()));
    refused("spgemm", &[&wide], "A is 2×3, B is 2×3: they do not fit");
}

#[test]
fn strategies_by_name() {
    if !on_cuda() {
        return;
    }
    let karate = data("karate.mtx");
    for strategy in oplus::spgemm::Strategy::ALL {
        let name = strategy.to_string();
        let masked = ["--mask", &karate, "--strategy", &name, "--check", "--explain"];
        let found = json("spgemm", &[&[karate.as_str()], &masked[..]].concat());
        assert_eq!((&found["sum"], &found["nnz_c"]), (&270.0.into(), &134.into()), "{name}");
        assert!(found["explain"]["kernels"].as_array().is_some_and(|kernels| !kernels.is_empty()), "{name}: {found}");
    }
}

#[test]
fn multigrid() {
    if !on_cuda() {
        return;
    }
    let found = json("multigrid", &["--grid", "4"]);
    assert!(found["converged"] == true && found["error"].as_f64().unwrap() < 1e-6, "{found}");
}

/// `--device` says which, whatever the environment says; two GPUs here.
#[test]
fn devices_by_option() {
    if !on_cuda() {
        return;
    }
    let karate = data("karate.mtx");
    let on = |name: &str, arguments: &[&str], device: &str| {
        let mut command = example(name);
        command.args(arguments).args(["--device", device, "--json"]).env("OPLUS_DEVICE", "cpu").env("EMU_DEVICES", "2");
        let output = command.output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => Ok(serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()),
            Some(2) if output.stdout.is_empty() && err.lines().count() == 1 => Err(err),
            _ => panic!("{name} on {device}: {err}"),
        }
    };
    // A machine's own GPU may be its only one.
    let (second, none) = match emulator::cuda() {
        Some(Cuda::Emulated(_)) => (&["cuda:1"][..], "cuda:7"),
        _ => (&[][..], "cuda:99"),
    };
    for (asked, is) in [("cuda", "cuda:0"), ("cuda:0", "cuda:0")].into_iter().chain(second.iter().map(|d| (*d, *d))) {
        let triangles = on("triangle_count", &[&karate], asked).unwrap();
        assert_eq!((&triangles["device"], &triangles["triangles"]), (&is.into(), &45.into()));
        let found = on("spgemm", &[&karate, "--mask", &karate, "--check"], asked).unwrap();
        assert_eq!((&found["device"], &found["sum"]), (&is.into(), &270.0.into()));
        let found = on("multi_source_bfs", &[&karate, "--sources", "0"], asked).unwrap();
        assert_eq!((&found["device"], &found["reached"][0]), (&is.into(), &34.into()));
    }
    for (name, more) in [
        ("bfs", &["--source", "0"][..]),
        ("sssp", &["--source", "0"]),
        ("apsp", &[]),
        ("triangle_count", &[]),
        ("pagerank", &[]),
    ] {
        assert!(on(name, &[&[karate.as_str()], more].concat(), "cuda").is_ok(), "{name}");
        let e = on(name, &[&[karate.as_str()], more].concat(), none).unwrap_err();
        assert!(e.starts_with(&format!("error: {none} is not available: ")), "{name}: {e}");
    }
}

#[test]
fn masks_are_structural() {
    if !on_cuda() {
        return;
    }
    check_masks();
    check_parity();
}

/// How long it takes until a kernel can be launched, of each that is asked for: compiled, and found on disk.
#[test]
fn kernels_are_started() {
    if !on_cuda() {
        return;
    }
    let started = |more: &[&str]| {
        let output = example("inspect_kernel").arg("--start").args(more).output().unwrap();
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr).into_owned());
        assert!(output.status.success() && err.is_empty(), "{err}");
        let of = |line: &str| {
            let (kernel, rest) = line.strip_prefix("// ")?.split_once(": ")?;
            let how = rest.split_once(" and loaded in ").map_or(rest, |(how, _)| how);
            Some(format!("{kernel} {how}"))
        };
        out.lines().filter_map(of).collect::<Vec<_>>()
    };
    let both = |kernel: &str| ["compiled", "found on disk"].map(|how| format!("{kernel} {how}"));
    assert_eq!(started(&[]), both("spgemm_esc"));
    assert_eq!(started(&["--strategy", "symbolic"]), both("spgemm_symbolic_table2"));
    assert_eq!(
        started(&["--strategy", "symbolic", "--kernel", "spgemm_symbolic_table4"]),
        both("spgemm_symbolic_table4")
    );
    let all: Vec<_> = (0..5).flat_map(|t| both(&format!("spgemm_symbolic_table{t}"))).collect();
    assert_eq!(started(&["--strategy", "symbolic", "--kernel", "all"]), all);
    let [compiled, found] = both("spgemm_dot");
    let dots = [compiled, found, "spgemm_dot_long in one module with spgemm_dot".to_string()];
    assert_eq!(started(&["--strategy", "dot", "--kernel", "all"]), dots);
}
