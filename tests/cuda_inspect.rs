//! The example that shows generated kernels, with the real NVRTC and no device. Where NVRTC is missing the example's refusal is
//! what is tested; `OPLUS_REQUIRE_NVRTC=1` makes that a failure.
#![cfg(feature = "cuda")]
#[path = "common/example.rs"]
mod example;
mod oracles;
use example::*;
use oplus::backend::cuda::nvrtc::Nvrtc;

/// Registers of each kernel that is printed, and the whole text; `None` without NVRTC.
fn inspected(arguments: &[&str]) -> Option<(Vec<(String, u64)>, String)> {
    if let Err(e) = Nvrtc::get() {
        assert!(std::env::var_os("OPLUS_REQUIRE_NVRTC").is_none(), "{e}");
        refused("inspect_kernel", arguments, "NVRTC");
        eprintln!("skipped: {e}");
        return None;
    }
    let output = run("inspect_kernel", arguments);
    let (text, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(output.status.success() && err.is_empty(), "{arguments:?}: {err}");
    let (_, table) = text.split_once("// kernel").expect("a table");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells.len(), 5, "{line}");
        (cells[0].to_string(), cells[1].parse().expect("a count of registers"))
    };
    Some((table.lines().skip(1).map(row).collect(), text))
}

#[test]
fn kernels_of_some_semirings() {
    for (semiring, scalar, strategy, arch, name) in [
        ("plus_times", "f64", "esc", "90", "spgemm_esc"),
        ("min_plus", "f32", "hash", "80", "spgemm_numeric"),
        ("any_second", "c64", "dot", "100", "spgemm_dot"),
        ("lxor_land", "bool", "bitmap_rank", "75", "spgemm_block"),
        ("plus_pair", "i64", "masked", "90", "spgemm_masked"),
        ("max_first", "u64", "column_row", "120", "spgemm_expand"),
    ] {
        let arguments = ["--semiring", semiring, "--type", scalar, "--strategy", strategy, "--arch", arch, "--source"];
        let Some((kernels, text)) = inspected(&arguments) else { return };
        assert!(!kernels.is_empty() && kernels.iter().all(|k| (1..=255).contains(&k.1)), "{arguments:?}: {kernels:?}");
        for part in [&format!("// {name}"), &format!("sm_{arch}"), "struct Semiring", "__global__", "// compiled in"] {
            assert!(text.contains(part), "{arguments:?}: no {part:?} in {text}");
        }
    }
}

/// Strategies that a product can be asked for are those that can be looked at.
#[test]
fn every_strategy_has_a_source() {
    for strategy in oplus::spgemm::Strategy::ALL.iter().filter(|s| s.name() != "auto") {
        let Some((kernels, _)) = inspected(&["--strategy", strategy.name()]) else { return };
        assert!(!kernels.is_empty(), "{strategy}");
    }
}

/// One kernel, as a product has it compiled: by default the one that rows of medium length take, marked in the help.
#[test]
fn kernels_one_by_one() {
    let help = String::from_utf8(run("inspect_kernel", &["--help"]).stdout).unwrap();
    let (_, listed) = help.split_once("Kernels of strategies that have several").expect("a list of kernels");
    let (mut strategies, mut default) = (0, 0);
    for line in listed.lines().skip(1) {
        let (strategy, names) = line.trim().split_once(": ").expect(line);
        let names: Vec<&str> = names.split(", ").collect();
        let marked: Vec<&str> = names.iter().filter_map(|n| n.strip_suffix('*')).collect();
        assert!(names.len() > 1 && marked.len() == 1, "{line}");
        let Some((kernels, _)) = inspected(&["--strategy", strategy]) else { return };
        assert_eq!(kernels.iter().map(|k| k.0.as_str()).collect::<Vec<_>>(), marked, "{strategy}");
        default += 1;
        // All of them are in the table, whichever they are.
        let Some((kernels, text)) = inspected(&["--strategy", strategy, "--kernel", "all"]) else { return };
        let mut names: Vec<&str> = names.iter().map(|n| n.trim_end_matches('*')).collect();
        names.sort_unstable();
        assert_eq!(kernels.iter().map(|k| k.0.as_str()).collect::<Vec<_>>(), names, "{strategy}");
        assert!(!text.contains("together"), "{text}");
        // Each can be asked for; not all of these, which takes long.
        for name in names.iter().step_by(9) {
            let Some((kernels, _)) = inspected(&["--strategy", strategy, "--kernel", name]) else { return };
            assert_eq!(kernels.iter().map(|k| k.0.as_str()).collect::<Vec<_>>(), [*name], "{strategy}");
        }
        strategies += 1;
        refused(
            "inspect_kernel",
            &["--strategy", strategy, "--kernel", "nothing"],
            &format!("{}, all", names_of(line)),
        );
    }
    assert!(strategies > 8 && default == strategies, "{strategies}");
    // What a product compiles alone has no other kernel in its module; what it compiles with another says so.
    let Some((_, text)) = inspected(&["--strategy", "hash", "--kernel", "spgemm_numeric_table0"]) else { return };
    assert!(!text.contains("together"), "{text}");
    let Some((_, text)) = inspected(&["--strategy", "dot"]) else { return };
    assert!(text.contains("// compiled together with spgemm_dot_long, as products have it"), "{text}");
    refused("inspect_kernel", &["--kernel", "spgemm_numeric_copy"], "it has spgemm_esc, all");
    refused("inspect_kernel", &["--arch", "99999"], "no machine code for sm_99999");
}

#[test]
fn widths_that_none_has() {
    for width in ["0", "5000000000", "18446744073709551615"] {
        refused("inspect_kernel", &["--width", width], &format!("{width} is not in 1..="));
    }
}

/// What a strategy's kernels do not have would be ignored: it is refused, before anything is compiled.
#[test]
fn options_that_a_strategy_does_not_know() {
    let nothing = tempfile::tempdir().unwrap();
    for (strategy, option) in [
        ("band", "--masked"),
        ("contract", "--masked"),
        ("slices", "--wide"),
        ("analyze", "--wide"),
        ("hash", "--whole"),
        ("window", "--whole"),
        ("symbolic", "--width"),
        ("segmented_merge", "--width"),
    ] {
        let mut arguments = vec!["--strategy", strategy, option];
        arguments.extend((option == "--width").then_some("64"));
        refused("inspect_kernel", &arguments, &format!("`{strategy}` knows no {option}"));
    }
    // Others go on, as far as there is NVRTC.
    for (strategy, options) in [
        ("esc", &["--masked", "--wide", "--whole", "--width", "32"][..]),
        ("hash_table", &["--masked", "--wide", "--width", "128"]),
        ("dot", &["--masked", "--wide"]),
        ("block", &["--whole", "--width", "2048"]),
    ] {
        let mut command = example("inspect_kernel");
        command.args(["--strategy", strategy]).args(options).env("OPLUS_NVRTC_PATH", nothing.path());
        let err = String::from_utf8(command.output().unwrap().stderr).unwrap();
        assert!(err.contains("NVRTC") && !err.contains("knows no"), "{strategy} {options:?}: {err}");
    }
}

/// As on a machine that has no NVRTC, on any: one line says so, and no source is printed before it.
#[test]
fn no_nvrtc_is_one_line() {
    let nothing = tempfile::tempdir().unwrap();
    for arguments in [&["--strategy", "esc", "--source"][..], &["--strategy", "analyze"], &["--start"]] {
        let output =
            example("inspect_kernel").args(arguments).env("OPLUS_NVRTC_PATH", nothing.path()).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{arguments:?}: {output:?}");
        assert!(err.contains("NVRTC") && err.trim_end().lines().count() == 1, "{arguments:?}: {err}");
    }
}

/// The kernels of a line of the help, as errors list them.
fn names_of(line: &str) -> String {
    line.split_once(": ").unwrap().1.replace('*', "")
}
