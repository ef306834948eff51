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
