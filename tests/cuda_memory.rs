//! Allocations that fail, one after the other: typed errors, no leak, and going on afterwards. The driver is a stand-in in
//! C whose device memory is the host's, which counts and which fails on order.
#![cfg(all(feature = "cuda", target_os = "linux"))]
use oplus::backend::cuda::{Buffer, Context};
use oplus::error::{Error, Result};
use std::process::Command;
use std::sync::Arc;

/// Functions that do something; the others answer success and write nothing.
const WORKING: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef uint64_t P;
static long fail_from, fail_until, allocations, live, trims, kept, unobserved, pooled;
/* Allocations number from..until-1, counted from now on, fail. Memory kept in the pool stands for what a trim gives back. */
void stand_in_fail(long from, long until) { fail_from = from; fail_until = until; allocations = 0; trims = 0; kept = 0; }
void stand_in_keep(void) { kept = 1; }
long stand_in_live(void) { return live; }
long stand_in_trims(void) { return trims; }
/* Blocks that were freed and that the pool has: a trim leaves those whose free the host has not waited for. */
long stand_in_pooled(void) { return unobserved + pooled; }
int cuStreamSynchronize(void* s) { pooled += unobserved; unobserved = 0; return 0; }
int cuDriverGetVersion(int* v) { *v = 13000; return 0; }
int cuDeviceGetCount(int* n) { *n = 1; return 0; }
int cuDeviceGet(int* d, int i) { *d = i; return 0; }
int cuDeviceGetName(char* s, int n, int d) { strncpy(s, "stand-in", n); return 0; }
int cuDeviceTotalMem_v2(size_t* n, int d) { *n = 1 << 20; return 0; }
int cuDeviceGetAttribute(int* v, int a, int d) { *v = a == 115 ? POOLS : 1; return 0; }
int cuMemGetInfo_v2(size_t* a, size_t* b) { *a = 4711; *b = 1 << 20; return 0; }
int cuGetErrorString(int e, const char** s) { *s = "words"; return 0; }
int cuMemPoolTrimTo(void* p, size_t n) { trims++; kept = pooled = 0; return 0; }
static int take(P* p, size_t n) {
    long i = allocations++;
    if (kept || (i >= fail_from && i < fail_until)) return 2;
    if (n == 0) return 1;
    *p = (P)malloc(n);
    live++;
    return 0;
}
int cuMemHostAlloc(void** p, size_t n, unsigned f) { *p = malloc(n); return 0; }
int cuMemFreeHost(void* p) { free(p); return 0; }
int cuMemAlloc_v2(P* p, size_t n) { return POOLS ? 999 : take(p, n); }
int cuMemAllocAsync(P* p, size_t n, void* s) { return POOLS ? take(p, n) : 801; }
int cuMemFree_v2(P p) { free((void*)p); live--; return 0; }
int cuMemFreeAsync(P p, void* s) { free((void*)p); live--; unobserved++; return 0; }
int cuMemcpyHtoDAsync_v2(P d, const void* s, size_t n, void* q) { memcpy((void*)d, s, n); return 0; }
int cuMemcpyDtoHAsync_v2(void* d, P s, size_t n, void* q) { memcpy(d, (void*)s, n); return 0; }
int cuMemcpyDtoDAsync_v2(P d, P s, size_t n, void* q) { memcpy((void*)d, (void*)s, n); return 0; }
int cuMemsetD8Async(P d, unsigned char v, size_t n, void* q) { memset((void*)d, v, n); return 0; }
int cuStreamCreate(void** s, unsigned f) { *s = (void*)8; return 0; }
"#;

const DRIVER: &str = "OPLUS_CUDA_DRIVER_PATH";
const CHILD: &str = "OPLUS_TEST_STAND_IN";

/// Runs `child` in a process with the stand-in for its driver.
fn with_stand_in(child: &str, pools: bool, keep: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut text = format!("#define POOLS {}\n{WORKING}", u32::from(pools));
    for symbol in oplus::backend::cuda::probe::required_symbols() {
        if !WORKING.contains(&format!("int {symbol}(")) {
            text += &format!("int {symbol}() {{ return 0; }}\n");
        }
    }
    let (source, library) = (folder.path().join("driver.c"), folder.path().join("libcuda.so.1"));
    std::fs::write(&source, text).unwrap();
    let status = Command::new("cc").args(["-w", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(status.expect("a C compiler, which linking Rust needs too").success());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", child, "--ignored", "--nocapture"])
        .env(DRIVER, &library)
        .env(CHILD, "1")
        .env("OPLUS_CUDA_KEEP", keep.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

struct StandIn(libloading::Library);

impl StandIn {
    /// `None` in a process that was not started for it, as under `cargo test -- --ignored`.
    fn get() -> Option<StandIn> {
        std::env::var_os(CHILD)?;
        // SAFETY: the stand-in has no initialisers; the probe opens the same file.
        Some(StandIn(unsafe { libloading::Library::new(std::env::var_os(DRIVER).unwrap()) }.unwrap()))
    }

    fn fail(&self, from: i64, until: i64) {
        // SAFETY: the C definition above.
        unsafe { self.0.get::<unsafe extern "C" fn(i64, i64)>("stand_in_fail").unwrap()(from, until) }
    }

    fn keep(&self) {
        // SAFETY: the C definition above.
        unsafe { self.0.get::<unsafe extern "C" fn()>("stand_in_keep").unwrap()() }
    }

    fn count(&self, what: &str) -> i64 {
        // SAFETY: the C definitions above.
        unsafe { self.0.get::<unsafe extern "C" fn() -> i64>(what).unwrap()() }
    }
}

/// Five allocations.
fn work(context: &Arc<Context>) -> Result<Vec<u32>> {
    let first = Buffer::from_host(context, &[1u32, 2, 3])?;
    let second = first.duplicate()?;
    let mut third = Buffer::zeroed_for::<u32>(context, 6)?;
    let mut fourth = Buffer::alloc(context, 100)?;
    fourth.fill(1)?;
    third.copy_range(12, &second, 0..12)?;
    third.duplicate()?.to_host()
}

const RESULT: [u32; 6] = [0, 0, 0, 1, 2, 3];

#[test]
#[ignore = "runs in the process of g3_every_allocation_may_fail"]
fn each_fails() {
    let Some(stand_in) = StandIn::get() else { return };
    let context = Context::get(0).unwrap();
    assert_eq!(work(&context).unwrap(), RESULT);
    for n in 0..5 {
        // Fails, and fails again after the pool was emptied.
        stand_in.fail(n, n + 2);
        match work(&context) {
            Err(Error::OutOfMemory { operation: "allocate", device, needed, available: Some(4711) }) => {
                assert_eq!((device.as_str(), needed), ("cuda:0", [12, 12, 24, 100, 24][n as usize]));
            }
            other => panic!("allocation {n}: {other:?}"),
        }
        assert_eq!((stand_in.count("stand_in_live"), context.memory_in_use()), (0, 0), "allocation {n} leaks");
        assert_eq!(work(&context).unwrap(), RESULT);
    }
}

#[test]
fn g3_every_allocation_may_fail() {
    with_stand_in("each_fails", true, 0);
    with_stand_in("each_fails", false, 0);
}

#[test]
#[ignore = "runs in the process of a_full_pool_is_emptied_first"]
fn trims() {
    let Some(stand_in) = StandIn::get() else { return };
    let context = Context::get(0).unwrap();
    stand_in.fail(0, 0);
    assert_eq!(work(&context).unwrap(), RESULT);
    assert_eq!(stand_in.count("stand_in_trims"), 0);
    stand_in.keep();
    assert_eq!(work(&context).unwrap(), RESULT);
    assert_eq!(stand_in.count("stand_in_trims"), 1);
    // A handle of its own closes without taking the other's memory along.
    let kept = Buffer::from_host(&context, &RESULT).unwrap();
    let other = Context::separate(0).unwrap();
    let buffer = Buffer::zeroed(&other, 8).unwrap();
    drop(other);
    assert_eq!(buffer.to_host::<u64>().unwrap(), [0]);
    drop(buffer);
    assert_eq!(kept.to_host::<u32>().unwrap(), RESULT);
    assert_eq!(stand_in.count("stand_in_live"), 1);
}

#[test]
fn a_full_pool_is_emptied_first() {
    with_stand_in("trims", true, 0);
}

#[test]
#[ignore = "runs in the process of small_memory_is_kept"]
fn keeps() {
    let Some(stand_in) = StandIn::get() else { return };
    let context = Context::separate(0).unwrap();
    assert_eq!(work(&context).unwrap(), RESULT);
    let held = stand_in.count("stand_in_live");
    assert!(held > 0 && context.memory_in_use() == 0);
    // No allocation succeeds, and none is needed.
    stand_in.fail(0, 1000);
    assert_eq!(work(&context).unwrap(), RESULT);
    assert_eq!(stand_in.count("stand_in_live"), held);
    // What is not at hand is asked for after all the rest was given back.
    assert!(matches!(Buffer::alloc(&context, 300_000), Err(Error::OutOfMemory { needed: 300_000, .. })));
    assert_eq!((stand_in.count("stand_in_live"), stand_in.count("stand_in_pooled")), (0, 0));
    stand_in.fail(0, 0);
    // 4096 bytes may be kept, and nothing large.
    let buffers: Vec<_> = (0..40).map(|_| Buffer::alloc(&context, 256).unwrap()).collect();
    let large = Buffer::alloc(&context, 2 << 20).unwrap();
    drop((buffers, large));
    assert_eq!(stand_in.count("stand_in_live"), 16);
    context.trim().unwrap();
    assert_eq!((stand_in.count("stand_in_live"), stand_in.count("stand_in_pooled")), (0, 0));
    assert_eq!(work(&context).unwrap(), RESULT);
    drop(context);
    assert_eq!(stand_in.count("stand_in_live"), 0);
}

#[test]
fn small_memory_is_kept() {
    with_stand_in("keeps", true, 4096);
    with_stand_in("keeps", false, 4096);
}
