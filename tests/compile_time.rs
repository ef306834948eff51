//! What 90 semirings cost a user's crate: 9 types × 10 semirings, each with its own kernels, in release mode.
use std::path::Path;
use std::process::Command;

const SCALARS: [&str; 9] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "f32", "f64"];
const SEMIRINGS: [&str; 10] = [
    "PlusTimes",
    "MinPlus",
    "MaxPlus",
    "MinMax",
    "MaxMin",
    "MinTimes",
    "MaxTimes",
    "PlusFirst",
    "MinSecond",
    "Compose<Max, Second>",
];
/// Seconds of CPU time, all cores together.
const BUDGET: f64 = 10.0;

const MANIFEST: &str =
    "[package]\nname = \"products\"\nedition = \"2024\"\n[dependencies]\noplus = { path = 'OPLUS' }\n";

fn products() -> String {
    let mut text = String::from("use oplus::{algebra::*, prelude::*};\nfn main() -> oplus::Result<()> {\n");
    for scalar in SCALARS {
        text += &format!("    println!(\"{{}}\", products_{scalar}(&Matrix::new(2, 2)?)?);\n");
    }
    text += "    Ok(())\n}\n";
    for scalar in SCALARS {
        text +=
            &format!("fn products_{scalar}(a: &Matrix<{scalar}>) -> oplus::Result<u64> {{\n    let mut entries = 0;\n");
        for semiring in SEMIRINGS {
            text += &format!("    let s = a.over::<{semiring}>();\n    entries += mxm(&s, &s).eval()?.nvals();\n");
        }
        text += "    Ok(entries)\n}\n";
    }
    text
}

/// Builds the crate; seconds of CPU time of cargo and all it started.
fn build(directory: &Path, main: &str) -> f64 {
    std::fs::write(directory.join("src/main.rs"), main).expect("write");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_time");
    let output = Command::new("sh")
        .args(["-c", "\"$CARGO\" build --release --offline --quiet && times"])
        .current_dir(directory)
        .env("CARGO", env!("CARGO"))
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .output()
        .expect("sh");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The second line: user and system time of children, as 1m2.5s.
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().last().unwrap_or_default();
    let seconds = |t: &str| {
        let (minutes, seconds) = t.trim_end_matches('s').split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    line.split_whitespace().map(|t| seconds(t).unwrap_or_else(|| panic!("times said {text:?}"))).sum()
}

#[test]
#[cfg(unix)]
#[ignore = "compiles in release mode"]
fn ninety_products_compile_within_the_budget() {
    let manifest = env!("CARGO_MANIFEST_DIR");
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    std::fs::create_dir(directory.join("src")).expect("a directory");
    std::fs::write(directory.join("Cargo.toml"), MANIFEST.replace("OPLUS", manifest)).expect("write");
    // The same versions as here, which are downloaded already.
    let _ = std::fs::copy(Path::new(manifest).join("Cargo.lock"), directory.join("Cargo.lock"));
    let library = build(directory, "fn main() {}\n");
    let products = build(directory, &products());
    println!("{:.1} s of CPU time for {} products", products, SCALARS.len() * SEMIRINGS.len());
    println!("{library:.1} s before, for the library and what it needs where that was not built yet");
    assert!(products < BUDGET, "{products:.1} s of CPU time, {BUDGET} s are allowed");
}
