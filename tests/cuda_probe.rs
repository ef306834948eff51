//! Drivers that cannot be used, and compilers that do not go with them, each in a process of its own, since the answer of the
//! probe stands for the process. The stand-ins are libraries of the right name whose functions answer a number and do nothing.
#![cfg(all(feature = "cuda", target_os = "linux"))]
use oplus::backend::cuda::nvrtc::Nvrtc;
use oplus::backend::cuda::{Context, probe};
use oplus::device::Device;
use oplus::error::Error;
use std::ffi::OsStr;
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

/// The same for the compiler, and whether it goes with the device.
#[test]
#[ignore = "runs in the processes that the other tests start"]
fn compiler() {
    let version = Nvrtc::get().map(|n| n.version());
    match Device::Cuda(0).check() {
        Ok(()) => println!("ANSWER {version:?}"),
        Err(e) => println!("ANSWER {version:?} {e}"),
    }
}

/// And for the device that the environment names.
#[test]
#[ignore = "runs in the processes that the other tests start"]
fn device() {
    match Device::try_best() {
        Ok(device) => println!("ANSWER {device}"),
        Err(e) => println!("ANSWER {e}"),
    }
}

/// What a process with these variables answers.
fn answer_of(child: &str, variables: &[(&str, &OsStr)]) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", child, "--ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text.split("ANSWER ").nth(1).unwrap().lines().next().unwrap().to_owned()
}

fn answer(driver: &Path) -> String {
    answer_of("child", &[(FAKE, driver.as_os_str())])
}

fn library(file: &Path, text: &str) {
    let source = file.with_extension("c");
    std::fs::write(&source, text).unwrap();
    let status = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(file).arg(&source).status();
    assert!(status.expect("a C compiler, which linking Rust needs too").success());
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
    library(&folder.join("libcuda.so.1"), &text);
}

/// One with a device of this architecture that a context can be made for.
fn working_driver(folder: &Path, version: u32, architecture: u32) {
    let mut text = String::new();
    for symbol in probe::required_symbols() {
        text += &match symbol {
            "cuDriverGetVersion" => format!("int {symbol}(int* v) {{ *v = {version}; return 0; }}\n"),
            "cuDeviceGetCount" => format!("int {symbol}(int* n) {{ *n = 1; return 0; }}\n"),
            // Compute capability, major and minor; nothing of all else.
            "cuDeviceGetAttribute" => format!(
                "int {symbol}(int* v, int a) {{ *v = a == 75 ? {} : a == 76 ? {} : 0; return 0; }}\n",
                architecture / 10,
                architecture % 10
            ),
            _ => format!("int {symbol}() {{ return 0; }}\n"),
        };
    }
    library(&folder.join("libcuda.so.1"), &text);
}

/// A compiler of this version that knows architectures from `oldest` on; without one of its functions.
fn compiler_in(folder: &Path, name: &str, (major, minor): (u32, u32), oldest: u32, without: &str) {
    let mut text = format!(
        "int nvrtcVersion(int* a, int* b) {{ *a = {major}; *b = {minor}; return 0; }}
         const char* nvrtcGetErrorString(int e) {{ return \"words\"; }}
         int nvrtcGetNumSupportedArchs(int* n) {{ *n = 2; return 0; }}
         int nvrtcGetSupportedArchs(int* a) {{ a[0] = {oldest}; a[1] = 90; return 0; }}\n"
    );
    for symbol in ["CreateProgram", "CompileProgram", "DestroyProgram", "GetProgramLogSize", "GetProgramLog"]
        .into_iter()
        .chain(["GetCUBINSize", "GetCUBIN", "GetPTXSize", "GetPTX"])
        .filter(|&s| s != without)
    {
        text += &format!("int nvrtc{symbol}() {{ return 1; }}\n");
    }
    std::fs::create_dir_all(folder).unwrap();
    library(&folder.join(name), &text);
}

/// With these two folders on the loader's path, and nothing of this machine's before them; `path` is what OPLUS_NVRTC_PATH says.
fn compiler_answer(driver: &Path, first: &Path, second: &Path, path: &Path) -> String {
    let places = std::env::join_paths([first, second]).unwrap();
    let empty = OsStr::new("");
    let variables = [
        (FAKE, driver.as_os_str()),
        ("LD_LIBRARY_PATH", &places),
        ("OPLUS_NVRTC_PATH", path.as_os_str()),
        ("VIRTUAL_ENV", empty),
        ("CONDA_PREFIX", empty),
        ("HOME", empty),
        ("OPLUS_DEVICE", empty),
    ];
    answer_of("compiler", &variables)
}

#[test]
fn no_driver() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent/libcuda.so.1");
    // A file that is not there, a folder without one, and a file that is no library: the variable and what it says.
    let says = |path: &Path| {
        let text = answer(path);
        let named = format!("cuda:0: {FAKE} is {}, and no CUDA driver library is there", path.display());
        assert!(text.starts_with(&named), "{text}");
    };
    says(&absent);
    says(folder.path());
    std::fs::write(folder.path().join("libcuda.so.1"), "not a library").unwrap();
    says(folder.path());
    says(&folder.path().join("libcuda.so.1"));
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
}

/// What programs are linked with is no driver, and it is not missing either.
#[test]
fn a_stub_is_called_one() {
    let folder = tempfile::tempdir().unwrap();
    let says = || {
        let text = answer(folder.path());
        assert!(text.contains("that was found is the CUDA toolkit's stub") && text.contains(FAKE), "{text}");
    };
    // CUDA_ERROR_STUB_LIBRARY, of cuInit and of all.
    driver(folder.path(), "", 13000, 34, 1);
    says();
    let all = probe::required_symbols().into_iter().map(|symbol| format!("int {symbol}() {{ return 34; }}\n"));
    library(&folder.path().join("libcuda.so.1"), &all.collect::<String>());
    says();
}

#[test]
fn a_call_that_fails_later_is_a_driver_error() {
    let folder = tempfile::tempdir().unwrap();
    driver(folder.path(), "", 13000, 0, 1);
    assert_eq!(answer(folder.path()), "other: open device: CUDA driver error 999: words");
}

/// A compiler newer than the driver makes what that does not load, and one may know the device no longer: the search goes on to one
/// that goes with both.
#[test]
fn the_compiler_goes_with_the_driver_and_the_device() {
    let root = tempfile::tempdir().unwrap();
    let [old, new, volta] = ["old", "new", "volta"].map(|name| root.path().join(name));
    for (folder, version, architecture) in [(&old, 12040, 90), (&new, 13000, 90), (&volta, 13000, 70)] {
        std::fs::create_dir_all(folder).unwrap();
        working_driver(folder, version, architecture);
    }
    let (twelve, thirteen) = (root.path().join("twelve"), root.path().join("thirteen"));
    compiler_in(&thirteen, "libnvrtc.so.13", (13, 77), 75, "");
    compiler_in(&twelve, "libnvrtc.so.12", (12, 77), 50, "");
    let any = Path::new("");
    let with = |driver: &Path, path: &Path| compiler_answer(driver, &thirteen, &twelve, path);
    assert_eq!(with(&new, any), "Ok((13, 77))");
    assert_eq!(with(&old, any), "Ok((12, 77))");
    assert_eq!(with(&volta, any), "Ok((12, 77))");
    // Without a driver there is nothing to go by.
    assert!(with(&root.path().join("none"), any).starts_with("Ok((13, 77)) cuda:0 is not available"));
    // What was named is taken or refused.
    let file = thirteen.join("libnvrtc.so.13");
    for path in [&thirteen, &file] {
        assert_eq!(with(&new, path), "Ok((13, 77))");
        let text = with(&old, path);
        for said in [
            "NVRTC is not available: ",
            &format!("{} (OPLUS_NVRTC_PATH) is NVRTC 13.77", file.display()),
            "the NVIDIA driver serves CUDA 12.4",
            "pip install nvidia-cuda-nvrtc-cu12",
        ] {
            assert!(text.starts_with("Ok((13, 77)) ") && text.contains(said), "{said}: {text}");
        }
        let text = with(&volta, path);
        assert!(text.contains(&format!("{} (OPLUS_NVRTC_PATH) is NVRTC 13.77", file.display())), "{text}");
        assert!(text.contains("sm_70") && text.contains("pip install nvidia-cuda-nvrtc-cu12"), "{text}");
    }
    // In one folder too.
    compiler_in(&thirteen, "libnvrtc.so.12", (12, 78), 50, "");
    assert_eq!(with(&old, &thirteen), "Ok((12, 78))");
    assert!(with(&old, &file).starts_with("Ok((13, 77)) "));
}

/// One that lacks a function, or does not start, hides none that lies behind it.
#[test]
fn a_compiler_that_is_too_old_hides_none() {
    let root = tempfile::tempdir().unwrap();
    working_driver(root.path(), 13000, 90);
    let [first, second] = ["first", "second"].map(|name| root.path().join(name));
    compiler_in(&first, "libnvrtc.so.13", (13, 1), 75, "GetCUBIN");
    compiler_in(&second, "libnvrtc.so.12", (12, 77), 50, "");
    let any = Path::new("");
    assert_eq!(compiler_answer(root.path(), &first, &second, any), "Ok((12, 77))");
    let named = compiler_answer(root.path(), &first, &second, &first);
    assert!(named.starts_with("Err(") && named.contains("lacks nvrtcGetCUBIN"), "{named}");
    assert!(named.contains(&first.join("libnvrtc.so.13").display().to_string()), "{named}");
}

/// Blanks are no part of the name, and what is set to nothing is not set.
#[test]
fn the_device_of_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    for (text, said) in [
        ("reference", "reference"),
        (" reference ", "reference"),
        ("cuda:3\n", "cuda:3"),
        ("", "cpu"),
        ("  ", "cpu"),
        ("gpu", "OPLUS_DEVICE: \"gpu\" is no device: cpu, cuda, cuda:N or reference"),
    ] {
        let variables = [("OPLUS_DEVICE", OsStr::new(text)), (FAKE, folder.path().as_os_str())];
        assert_eq!(answer_of("device", &variables), said, "{text:?}");
    }
}
