//! Kernels compiled side by side in a process without a cache: each once, none in vain, and failures where they belong.
#![cfg(all(feature = "cuda", target_os = "linux"))]
mod common;
#[path = "common/random.rs"]
mod random;

use common::emulator::{self, Cuda, Emulator};
use oplus::backend::cuda::Context;
use oplus::backend::cuda::cache::Cache;
use oplus::prelude::*;
use random::Rng;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const GPU: Device = Device::Cuda(0);

type Entries = Vec<(u64, u64, i64)>;

/// Of so many rows a thread takes those of few products.
const MANY: u64 = 66_000;

/// A and B whose product has rows of every class: of one entry of A, and of 15, 250 and 1500 products far apart, 800 of near
/// columns, 4800 in a block's window and 5000 anywhere.
fn classes() -> (Coo<i64>, Coo<i64>) {
    let (mut a, mut b, mut random) = (Coo::new(MANY, MANY), Coo::new(MANY, MANY), Rng(5));
    let far = MANY / 32;
    for j in 0..far {
        (0..5).for_each(|_| b.push(32 * j + 7, random.below(MANY), random.below(9) as i64 + 1));
    }
    for j in (1000..3000).filter(|j| j % 32 != 7) {
        (0..8).for_each(|d| b.push(j, j + d, d as i64 + 1));
    }
    for i in 0..5 {
        for (kind, entries) in [1, 3, 50, 300, 1000].into_iter().enumerate() {
            (0..entries).for_each(|_| a.push(100 * i + kind as u64, 32 * random.below(far) + 7, 2));
        }
        for (kind, entries, near) in [(10, 100, 200), (11, 700, 1500)] {
            let mut column = || 1000 + random.below(near);
            (0..entries).map(|_| column()).filter(|j| j % 32 != 7).for_each(|j| a.push(100 * i + kind, j, 3));
        }
    }
    (a, b)
}

fn few(entries: u64, seed: u64) -> Coo<i64> {
    let (mut coo, mut random) = (Coo::new(40, 40), Rng(seed | 1));
    (0..entries).for_each(|_| coo.push(random.below(40), random.below(40), random.below(100) as i64 - 30));
    coo
}

/// What a process does, and what comes out.
fn results(device: &Device) -> Result<Vec<Entries>> {
    let on = |coo: &Coo<i64>| Matrix::<i64>::build_with(coo, Plus)?.to(device);
    let (a, b) = classes();
    let (a, b) = (on(&a)?, on(&b)?);
    let (m, n) = (on(&few(150, 3))?, on(&few(150, 5))?);
    let x = Vector::build(40, &[(3, 1i64), (20, 2), (21, 5)])?.to(device)?;
    let full = Vector::build(40, &(0..40).map(|i| (i, i as i64 - 9)).collect::<Vec<_>>())?.to(device)?;
    let by = |strategy| mxm(&m, &n).strategy(strategy).eval()?.entries();
    Ok(vec![
        mxm(&a, &b).eval()?.entries()?,
        mxm(&a, &b).strategy(Strategy::Hash).eval()?.entries()?,
        mxm(&a, &b).strategy(Strategy::BitmapRank).plan()?.run(&a, &b)?.entries()?,
        mxm(&m, &n).mask(&n.structure()).reduce(Plus).map(|sum| vec![(0, 0, sum)])?,
        by(Strategy::EscGlobal)?,
        by(Strategy::ColumnRow)?,
        ewise_add(&m, &n, Plus).eval()?.entries()?,
        transpose(&m).eval()?.entries()?,
        transpose_merged(&m).eval()?.entries()?,
        Matrix::<i64>::build_on(&few(90, 11), Plus, device)?.entries()?,
        mxv(&m, &full).eval()?.entries()?.into_iter().map(|(i, v)| (i, 0, v)).collect(),
        vxm(&x, &m).eval()?.entries()?.into_iter().map(|(j, v)| (0, j, v)).collect(),
    ])
}

const TASK: &str = "OPLUS_TEST_TASK";
/// The file whose lines are looked for in a kernel's text: with one of them it does not compile.
const PLANTED: &str = "OPLUS_TEST_PLANTED";

/// Does `task` in a process of its own with an empty cache, perhaps on one processor; what it says, and the names of the kernels
/// that are in the cache then.
fn child(task: &str, one_processor: bool, variables: &[(&str, OsString)]) -> Option<(String, Vec<OsString>)> {
    let folder = match emulator::cuda()? {
        Cuda::Emulated(Emulator { folder, .. }) => Some(folder),
        Cuda::Gpu => None,
    };
    let cache = tempfile::tempdir().unwrap();
    let mut command = Command::new(if one_processor { "taskset".into() } else { std::env::current_exe().unwrap() });
    if one_processor {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let allowed = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap().trim();
        let first = allowed.split(|c: char| !c.is_ascii_digit()).next().unwrap();
        command.args(["-c", first]).arg(std::env::current_exe().unwrap());
    }
    let output = command
        .args(["--exact", "in_a_process_of_its_own", "--ignored", "--nocapture"])
        .envs(folder.map(|f| emulator::environment(f)).unwrap_or_default())
        .env("OPLUS_CACHE_DIR", cache.path())
        .env(TASK, task)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .output();
    let output = match output {
        Err(_) if one_processor => {
            eprintln!("skipped: there is no taskset");
            return None;
        }
        output => output.unwrap(),
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{task} {variables:?}: {text}");
    let mut kernels: Vec<OsString> = std::fs::read_dir(cache.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    kernels.sort();
    Some((text, kernels))
}

#[test]
#[ignore = "runs in the processes that the other tests start"]
fn in_a_process_of_its_own() {
    match std::env::var(TASK).as_deref() {
        Ok("once") => {
            let expected = results(&Device::Cpu).unwrap();
            let compare = || {
                for (i, (found, expected)) in results(&GPU).unwrap().into_iter().zip(&expected).enumerate() {
                    assert!(found == *expected, "result {i} differs");
                }
                Cache::get().counts()
            };
            let (hits, misses) = compare();
            assert_eq!((hits, misses), compare(), "again the same kernels");
            println!("KERNELS {hits} hits {misses} misses");
        }
        Ok("threads") => {
            // Each asks for the same, all at once.
            let expected = product::<PlusTimes>(&Device::Cpu).unwrap();
            let all = std::sync::Barrier::new(3);
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        all.wait();
                        assert_eq!(product::<PlusTimes>(&GPU).unwrap(), expected);
                    });
                }
            });
            let (hits, misses) = Cache::get().counts();
            println!("KERNELS {hits} hits {misses} misses");
        }
        Ok("planted") => {
            let lines = std::env::var_os(PLANTED).unwrap();
            let plant = |text: &str| std::fs::write(&lines, text).unwrap();
            let fails = |planted: &str, made: Result<Entries>| {
                assert!(
                    matches!(&made, Err(Error::Compile { log, .. }) if log.contains("planted")),
                    "{planted}: {made:?}"
                );
                assert_eq!(Context::get(0).unwrap().memory_in_use(), 0, "{planted}");
            };
            let right = |made: Entries, expected: Result<Entries>| assert_eq!(made, expected.unwrap());
            // Two that are listed: whichever is needed first is told of, and what did compile is not compiled again.
            plant("scan_u64(\nspgemm_compact(\n");
            fails("scan", product::<PlusTimes>(&GPU));
            let counts = Cache::get().counts();
            plant("spgemm_compact(\n");
            fails("compact", product::<PlusTimes>(&GPU));
            // The scan compiles now; the other fails as one that is listed, and where it is needed.
            let (hits, misses) = Cache::get().counts();
            assert!(hits == counts.0 && misses <= counts.1 + 3, "{counts:?} {misses}");
            // The one that is asked for.
            plant("spgemm_esc(\n");
            fails("esc", product::<MinPlus>(&GPU));
            plant("no kernel\n");
            right(product::<PlusTimes>(&GPU).unwrap(), product::<PlusTimes>(&Device::Cpu));
            right(product::<MinPlus>(&GPU).unwrap(), product::<MinPlus>(&Device::Cpu));
            println!("KERNELS again");
        }
        _ => {}
    }
}

/// By analysis, in one pass, moved together.
fn product<S: Semiring<i64, i64, Out = i64>>(device: &Device) -> Result<Entries> {
    let on = |seed| Matrix::<i64>::build_with(&few(150, seed), Second)?.to(device);
    let (m, n) = (on(3)?.over::<S>(), on(5)?.over::<S>());
    mxm(&m, &n).strategy(Strategy::Esc).eval()?.entries()
}

#[test]
fn each_kernel_is_compiled_once_and_none_in_vain() {
    let Some((text, kernels)) = child("once", false, &[]) else { return };
    let counted = format!("KERNELS 0 hits {} misses", kernels.len());
    assert!(kernels.len() > 30 && text.contains(&counted), "{} kernels: {text}", kernels.len());
    // Of one processor each kernel is compiled when it is needed.
    let Some((text, needed)) = child("once", true, &[]) else { return };
    let in_vain: Vec<_> = kernels.iter().filter(|name| !needed.contains(name)).collect();
    assert!(in_vain.is_empty(), "{} needed, not {in_vain:?}", needed.len());
    assert!(text.contains(&counted) && needed == kernels, "{} needed, {}", needed.len(), kernels.len());
}

#[test]
fn threads_that_need_the_same_kernels_compile_each_once() {
    let Some((text, kernels)) = child("threads", false, &[]) else { return };
    let counted = format!("KERNELS 0 hits {} misses", kernels.len());
    assert!(kernels.len() > 3 && text.contains(&counted), "{} kernels: {text}", kernels.len());
}

#[test]
fn a_kernel_that_does_not_compile_is_told_where_it_is_needed() {
    let Some(Emulator { folder, .. }) = emulator::emulator() else { return };
    // In a home of its own: what the emulator has compiled before it does not compile again.
    let home = tempfile::tempdir().unwrap();
    for file in ["cuda_host.h", "libcuda.so.1"] {
        std::os::unix::fs::symlink(folder.join(file), home.path().join(file)).unwrap();
    }
    let compiler = home.path().join("compiler");
    // Says when it begins and ends.
    let script = format!(
        r#"#!/bin/sh
for f in "$@"; do
  case $f in *.cu) if grep -q -F -f "${PLANTED}" "$f"; then echo planted; exit 1; fi ;; esac
done
echo + >> "${PLANTED}.log"
${{PLANTED_CXX:-c++}} "$@"
status=$?
echo - >> "${PLANTED}.log"
exit $status
"#
    );
    std::fs::write(&compiler, script).unwrap();
    std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = |path: &Path| path.as_os_str().to_owned();
    let (planted, cxx) = (text(&home.path().join("lines")), std::env::var_os("EMU_CXX").unwrap_or_default());
    let variables =
        [(PLANTED, planted), ("EMU_CXX", text(&compiler)), ("PLANTED_CXX", cxx), ("EMU_HOME", text(home.path()))];
    let Some((text, _)) = child("planted", false, &variables) else { return };
    assert!(text.contains("KERNELS again"), "{text}");
    // As many at once as there are processors for, and no more.
    let log = std::fs::read_to_string(home.path().join("lines.log")).unwrap();
    let at_once = log.lines().scan(0, |n, line| {
        *n += if line == "+" { 1 } else { -1 };
        Some(*n)
    });
    let (most, processors) = (at_once.max(), std::thread::available_parallelism().map_or(1, |n| n.get() as i32));
    assert!(most >= Some(processors.min(2)) && most <= Some(processors), "{most:?} of {processors}: {log}");
}
