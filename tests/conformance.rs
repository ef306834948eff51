//! Cases that SuiteSparse:GraphBLAS solved, on every backend: `tests/conformance/README.md`.
//!
//! `OPLUS_CONFORMANCE` names another file of cases, `OPLUS_CONFORMANCE_FAILED` a file for the numbers of failed ones.
//! On CUDA every operator on every type is a kernel to compile: a GPU takes all of them, the emulator a part. `OPLUS_CONFORMANCE_KINDS`
//! says how many, and which of them `OPLUS_CONFORMANCE_SALT`, a number that is printed: others every day where it is not given.
#[path = "conformance/call.rs"]
mod call;
#[path = "conformance/case.rs"]
mod case;
mod common;
#[path = "conformance/entrywise.rs"]
mod entrywise;
#[path = "conformance/function.rs"]
mod function;
#[path = "conformance/product.rs"]
mod product;
#[path = "conformance/region.rs"]
mod region;
#[path = "conformance/shape.rs"]
mod shape;
#[path = "conformance/structure.rs"]
mod structure;

use call::Call;
use case::{Case, Fault};
use oplus::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::SystemTime;

fn replay(case: &Case, device: Device) -> Fault<()> {
    let call = Call::new(case, device);
    match case.word("op") {
        "mxm" | "mxv" | "vxm" => product::run(&call),
        "mxm_reduce" => product::sums(&call),
        "ewise_add" | "ewise_mult" | "apply_first" | "apply_second" => entrywise::binary(&call),
        "apply" => entrywise::unary(&call),
        "apply_index" => entrywise::index(&call),
        "select" => entrywise::selection(&call),
        "cast" => entrywise::conversion(&call),
        "reduce" | "reduce_rows" => structure::reduction(&call),
        "function" => function::run(&call),
        "transpose" | "extract_rows" => structure::movement(&call),
        "build" => structure::building(&call),
        "extract" => region::extraction(&call),
        "assign" => region::assignment(&call),
        _ => shape::run(&call),
    }
}

/// The file's name, how it was made and its cases: the checked-in ones, or those of the environment.
fn cases() -> (String, String, Vec<Case>) {
    let (path, bytes) = match std::env::var("OPLUS_CONFORMANCE").ok().filter(|p| !p.is_empty()) {
        Some(path) => {
            let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
            (path, bytes)
        }
        None => ("tests/data/conformance.bin".into(), include_bytes!("data/conformance.bin").to_vec()),
    };
    let (made, cases) = case::read(&bytes);
    (path, made, cases)
}

/// Which operators are chosen: the environment's, or the day's.
fn salt() -> u64 {
    let day = || SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs() / 86_400);
    let given = std::env::var("OPLUS_CONFORMANCE_SALT").ok().filter(|salt| !salt.is_empty());
    given.map_or_else(day, |salt| salt.parse().unwrap_or_else(|e| panic!("OPLUS_CONFORMANCE_SALT: {salt}: {e}")))
}

/// `kinds` of the operators, others for another salt.
fn chosen(cases: Vec<&Case>, kinds: usize, salt: u64) -> BTreeSet<String> {
    let mut all: Vec<String> = cases.iter().map(|case| case.kind()).collect::<BTreeSet<_>>().into_iter().collect();
    if kinds < all.len() {
        all.sort_by_cached_key(|kind| {
            let mut hasher = DefaultHasher::new();
            (salt, kind).hash(&mut hasher);
            hasher.finish()
        });
        all.truncate(kinds);
    }
    all.into_iter().collect()
}

/// All cases of at most `kinds` operators, none only where none are asked for, by so many threads: a kind is one's; every failure is told.
fn all(device: Device, kinds: usize, threads: usize) {
    let asked = kinds;
    let (file, made, cases) = cases();
    assert!(!cases.is_empty(), "{file} has no cases");
    // There are very many operators alone: they are a third of what is to be compiled.
    let (functions, others) = cases.iter().partition(|case| case.word("op") == "function");
    let salt = salt();
    let (mut kinds, functions) = (chosen(others, kinds, salt), chosen(functions, kinds.div_ceil(3), salt));
    kinds.extend(functions);
    let mut by_kind = BTreeMap::<String, Vec<&Case>>::new();
    for (kind, case) in cases.iter().map(|case| (case.kind(), case)).filter(|(kind, _)| kinds.contains(kind)) {
        by_kind.entry(kind).or_default().push(case);
    }
    let by_kind: Vec<_> = by_kind.into_values().collect();
    let run: usize = by_kind.iter().map(Vec::len).sum();
    assert!(run > 0 || asked == 0, "no case of {file} is of the {} kinds that are chosen of it", kinds.len());
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(cases) = by_kind.get(next.fetch_add(1, Ordering::Relaxed)) {
            for case in cases {
                if let Err(e) = replay(case, device) {
                    eprintln!("{device}: case {} of {file}: {}: {e}", case.place, case.text);
                    failed.lock().unwrap_or_else(PoisonError::into_inner).push(case.place);
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).expect("a thread");
        }
        work();
    });
    let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.sort_unstable();
    let failed: Vec<String> = failed.iter().map(usize::to_string).collect();
    let failures = failed.len();
    println!("{device}: {run} of {} cases, {} operators, {failures} failed, salt {salt}", cases.len(), kinds.len());
    if let Ok(path) = std::env::var("OPLUS_CONFORMANCE_FAILED") {
        std::fs::write(format!("{path}.{device}"), failed.join("\n")).expect("the file of failed cases can be written");
    }
    let Some(first) = failed.first() else { return };
    panic!(
        "{device}: {failures} cases failed: {}\nThe file is that of {made}, the salt {salt}; the smallest case like the first one:\n\
         python3 tests/conformance/shrink.py {file} {first} --device {device}",
        failed.join(" ")
    );
}

/// What a thread has for the compiler of kernels, which goes deep.
const STACK: usize = 16 << 20;

#[test]
fn reference_agrees_with_suitesparse() {
    all(Device::Reference, usize::MAX, 1);
}

#[test]
fn cpu_agrees_with_suitesparse() {
    all(Device::Cpu, usize::MAX, 1);
}

#[cfg(feature = "cuda")]
#[test]
fn cuda_agrees_with_suitesparse() {
    let (kinds, threads) = match common::emulator::cuda() {
        None => return,
        Some(common::emulator::Cuda::Emulated(_)) => (40, 1),
        // The kernels take their time to compile, each on one processor.
        Some(common::emulator::Cuda::Gpu) => {
            (usize::MAX, thread::available_parallelism().map_or(1, |n| n.get().min(16)))
        }
    };
    let asked = std::env::var("OPLUS_CONFORMANCE_KINDS").ok().filter(|kinds| !kinds.is_empty());
    let asked = asked.map(|n| n.parse().unwrap_or_else(|e| panic!("OPLUS_CONFORMANCE_KINDS: {n}: {e}")));
    all(Device::Cuda(0), asked.unwrap_or(kinds), threads);
}
