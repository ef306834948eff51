//! Drivers that cannot be used, each in a process of its own, since the answer of the probe stands for the process. The
//! stand-ins are libraries of the right name whose functions answer a number and do nothing.
#![cfg(all(feature = "cuda", target_os = "linux"))]
use oplus::backend::cuda::{Context, probe};
use oplus::error::Error;
use std::path::Path;
use std::process::Command;

const FAKE: &str = "OPLUS_CUDA_DRIVER_PATH";

/// What the other process does: ask for a device and print the answer.
#[test]
#[ignore = "runs in the processes that the other tests start"]
fn child() {
    match Context::get(0) {
        Ok(_) => println!("ANSWER a device"),
        Err(Error::Unavailable { device, reason }) => println!("ANSWER {device}: {reason}"),
        Err(e) => println!("ANSWER other: {e}"),
    }
}

fn answer(driver: &Path) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env(FAKE, driver)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text.split("ANSWER ").nth(1).unwrap().lines().next().unwrap().to_owned()
}

/// A stand-in: functions without one of them, the version it tells, what cuInit answers and the devices it has.
fn driver(folder: &Path, without: &str, version: u32, init: u32, devices: u32) {
    let mut text = String::new();
    for symbol in probe::required_symbols().into_iter().filter(|&s| s != without) {
        text += &match symbol {
            "cuDriverGetVersion" => format!("int {symbol}(int* v) {{ *v = {version}; return 0; }}\n"),
            "cuInit" => format!("int {symbol}(unsigned f) {{ return {init}; }}\n"),
            "cuDeviceGetCount" => format!("int {symbol}(int* n) {{ *n = {devices}; return 0; }}\n"),
            "cuGetErrorString" => format!("int {symbol}(int e, const char** s) {{ *s = \"words\"; return 0; }}\n"),
            _ => format!("int {symbol}() {{ return 999; }}\n"),
        };
    }
    let source = folder.join("driver.c");
    std::fs::write(&source, text).unwrap();
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(folder.join("libcuda.so.1"))
        .arg(&source)
        .status()
        .expect("a C compiler, which linking Rust needs too");
    assert!(status.success());
}

#[test]
fn no_driver() {
    let folder = tempfile::tempdir().unwrap();
    let text = answer(&folder.path().join("absent/libcuda.so.1"));
    assert!(text.starts_with("cuda:0: no CUDA driver library"), "{text}");
    // A folder without one, and a file that is no library.
    assert!(answer(folder.path()).contains("no CUDA driver library"));
    std::fs::write(folder.path().join("libcuda.so.1"), "not a library").unwrap();
    assert!(answer(folder.path()).contains("no CUDA driver library"));
}

#[test]
fn every_missing_symbol_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for symbol in ["cuInit", "cuGetErrorString", "cuMemAllocAsync", "cuEventElapsedTime_v2", "cuLaunchKernel"] {
        driver(folder.path(), symbol, 13000, 0, 1);
        let text = answer(folder.path());
        assert!(text.contains(&format!("lacks {symbol}")), "{symbol}: {text}");
    }
}

#[test]
fn an_old_driver_says_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    driver(folder.path(), "", 11080, 0, 1);
    assert!(answer(folder.path()).contains("serves CUDA 11.8, at least 12.0 is needed"));
}

#[test]
fn no_device() {
    let folder = tempfile::tempdir().unwrap();
    driver(folder.path(), "", 13000, 0, 0);
    assert!(answer(folder.path()).contains("sees no device"));
    // cuInit's CUDA_ERROR_NO_DEVICE.
    driver(folder.path(), "", 13000, 100, 0);
    assert!(answer(folder.path()).contains("sees no device"));
}

#[test]
fn a_driver_that_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    // A code that no table knows, too.
    for code in [999, 803, 123_456] {
        driver(folder.path(), "", 13000, code, 1);
        let text = answer(folder.path());
        assert!(text.contains(&format!("error {code}: words")), "{text}");
    }
    // CUDA_ERROR_STUB_LIBRARY.
    driver(folder.path(), "", 13000, 34, 1);
    assert!(answer(folder.path()).contains("no CUDA driver library"));
}

#[test]
fn a_call_that_fails_later_is_a_driver_error() {
    let folder = tempfile::tempdir().unwrap();
    driver(folder.path(), "", 13000, 0, 1);
    assert_eq!(answer(folder.path()), "other: open device: CUDA driver error 999: words");
}
