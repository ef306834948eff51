//! What the emulated driver is for: each kind of fault, planted in a small kernel, is reported with the kernel, the block
//! and thread, and the template's file and line.
#![cfg(all(feature = "cuda", target_os = "linux"))]
mod common;

use common::emulator::{self, Emulator};
use oplus::backend::cuda::{Buffer, Context, Kernel, Source};
use oplus::error::Error;
use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Line numbers are those of `planted.cu`.
const PLANTED: &str = r#"
#define SHOWN extern "C" __global__ void
#line 100 "planted.cu"
SHOWN part_of_a_block(unsigned* out) {
    if (threadIdx.x < 16)
        __syncthreads();
    else
        __syncwarp();
    out[threadIdx.x] = 1;
}
#line 200 "planted.cu"
SHOWN two_barriers(unsigned* out) {
    if (threadIdx.x % 2 == 0)
        __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}
#line 300 "planted.cu"
SHOWN lane_that_never_comes(unsigned* out) {
    unsigned got = 0;
    if (threadIdx.x < 8) got = __shfl_sync(0xffffu, threadIdx.x, 0);
    else if (threadIdx.x < 16) got = __ballot_sync(0xff00u, 1);
    __syncthreads();
    out[threadIdx.x] = got;
}
#line 400 "planted.cu"
SHOWN not_in_its_mask(unsigned* out) {
    out[threadIdx.x] = __ballot_sync(0x0fffffffu, threadIdx.x & 1);
}
#line 420 "planted.cu"
SHOWN from_two_places(unsigned* out) {
    unsigned got;
    if (threadIdx.x < 16)
        got = __shfl_sync(0xffffffffu, threadIdx.x, 20);
    else
        got = __shfl_sync(0xffffffffu, threadIdx.x, 4);
    out[threadIdx.x] = got;
}
#line 500 "planted.cu"
SHOWN spins_on_an_atomic(unsigned* out) {
    while (atomicAdd(&out[0], 0u) != 17u) {
    }
}
#line 520 "planted.cu"
SHOWN spins_on_a_barrier(unsigned* out) {
    while (__syncthreads_or(out[0] != 17u)) {
    }
}
#line 600 "planted.cu"
SHOWN spins_alone(volatile unsigned* out) {
    while (out[0] != 17u) {
    }
}
#line 700 "planted.cu"
SHOWN reads_past(unsigned* out, unsigned n) {
    unsigned* last = out + threadIdx.x;
    if (threadIdx.x == 5) out[0] = last[n];
}
#line 720 "planted.cu"
SHOWN writes_past(unsigned* out, unsigned n) {
    if (threadIdx.x == 6) out[n] = 1;
}
#line 740 "planted.cu"
SHOWN writes_before(unsigned* out, unsigned n) {
    if (threadIdx.x == 7) out[-1] = n;
}
#line 760 "planted.cu"
SHOWN leaves_shared(unsigned* out, unsigned n) {
    __shared__ unsigned tile[32];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 8) tile[n] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}
#line 770 "planted.cu"
SHOWN leaves_shared_by_pointer(unsigned* out, unsigned n) {
    __shared__ unsigned tile[32];
    unsigned* p = n == 0 ? out : tile;
    p[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 9) p[n] = 1;
}
#line 780 "planted.cu"
SHOWN leaves_dynamic_shared(unsigned* out, unsigned n) {
    DYN_SHARED(unsigned, tile);
    if (threadIdx.x == 9) tile[n] = 1;
    out[threadIdx.x] = 0;
}
#line 800 "planted.cu"
SHOWN overflows(unsigned* out, int n) {
    if (threadIdx.x == 10) out[0] = unsigned(n + 0x7fffffff);
}
#line 820 "planted.cu"
SHOWN misaligned(unsigned* out, unsigned n) {
    if (threadIdx.x == 11) *reinterpret_cast<unsigned*>(reinterpret_cast<char*>(out) + 1) = n;
}
#line 840 "planted.cu"
SHOWN uses_freed(unsigned* out, unsigned long long freed) {
    if (threadIdx.x == 12) out[0] = *reinterpret_cast<unsigned*>(freed);
}
#line 860 "planted.cu"
SHOWN address_of(unsigned long long* out, unsigned* p) { out[0] = (unsigned long long)p; }

#line 900 "planted.cu"
SHOWN reads_before_writing(unsigned* out) {
    __shared__ unsigned tile[32];
    DYN_SHARED(unsigned, more);
    out[threadIdx.x] = tile[threadIdx.x];
    out[threadIdx.x + 32] = more[threadIdx.x];
    tile[threadIdx.x] = more[threadIdx.x] = 5;
}
SHOWN neighbours(unsigned* out, bool barrier) {
    __shared__ unsigned tile[64];
    tile[threadIdx.x] = threadIdx.x;
    if (barrier) __syncthreads();
    out[threadIdx.x] = tile[(threadIdx.x + 1) % 64];
}
SHOWN counts(unsigned* out, bool atomic) {
    if (atomic) {
        atomicAdd(&out[0], 1u);
        return;
    }
    const unsigned before = out[0];
    atomicAdd(&out[1], 1u);
    out[0] = before + 1;
}
"#;

const SOURCE: Source<'_> = Source { name: "planted.cu", key: "test/planted", text: PLANTED };

/// The tests of this process break the one device there is, so one runs at a time.
fn device() -> Option<(&'static Emulator, Arc<Context>, MutexGuard<'static, ()>)> {
    static ONE: Mutex<()> = Mutex::new(());
    let emulator = emulator::emulator()?;
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    Some((emulator, Context::separate(0).unwrap(), guard))
}

fn kernel(context: &Arc<Context>, name: &str) -> Kernel {
    context.kernel(&SOURCE, name).unwrap()
}

/// Runs a planted kernel of one block of 32 threads on 64 numbers; what it is told of the fault.
fn fault(context: &Arc<Context>, name: &str) -> Error {
    let mut out = Buffer::zeroed_for::<u32>(context, 64).unwrap();
    let kernel = kernel(context, name);
    let launch = kernel.launch(1u32, 32u32, 128).arg(&mut out);
    let launch = match name {
        "reads_past" | "writes_past" | "writes_before" | "misaligned" => launch.arg(64u32),
        "leaves_shared" | "leaves_shared_by_pointer" | "leaves_dynamic_shared" => launch.arg(32u32),
        "overflows" => launch.arg(1i32),
        "uses_freed" => launch.arg(address_of_freed(context)),
        _ => launch,
    };
    // SAFETY: the parameters of each kernel; what it does wrong is the emulator's to stop.
    unsafe { launch.run() }.unwrap();
    context.synchronize().expect_err(name)
}

fn address_of_freed(context: &Arc<Context>) -> u64 {
    let freed = Buffer::zeroed(context, 4096).unwrap();
    let mut to = Buffer::zeroed(context, 8).unwrap();
    // SAFETY: one address is written.
    unsafe { kernel(context, "address_of").launch(1u32, 1u32, 0).arg(&mut to).arg(&freed).run() }.unwrap();
    to.read_one(0).unwrap()
}

#[test]
fn what_can_never_go_on_is_reported() {
    let Some((emulator, context, _one)) = device() else { return };
    for (name, parts) in [
        ("part_of_a_block", &["deadlock", "block barrier planted.cu:102", "warp operation planted.cu:104"][..]),
        ("two_barriers", &["divergent barrier", "planted.cu:202", "planted.cu:204"]),
        ("lane_that_never_comes", &["deadlock", "warp operation planted.cu:302", "mask 0000ffff", "8 threads wait"]),
        ("from_two_places", &["deadlock", "planted.cu:42", "mask ffffffff", "32 threads wait"]),
        ("not_in_its_mask", &["is not in the mask it gives", "planted.cu:401"]),
    ] {
        let before = emulator.live();
        // The report goes with every later call, until the process ends.
        let error = fault(&context, name);
        assert!(matches!(&error, Error::Driver { code: 719, .. }), "{name}: {error}");
        let text = error.to_string();
        let place = format!("kernel {name}, block (0,0,0), thread (");
        assert!(parts.iter().chain([&place.as_str()]).all(|p| text.contains(p)), "{name}: {text}");
        assert!(matches!(Buffer::alloc(&context, 8), Err(Error::Driver { code: 719, .. })), "{name}");
        assert!(emulator.report().contains(&place));
        emulator.recover();
        assert_eq!(emulator.live(), before, "{name}");
        let mut works = Buffer::zeroed_for::<u32>(&context, 64).unwrap();
        // SAFETY: counts(unsigned*, bool) touches two values.
        unsafe { kernel(&context, "counts").launch(2u32, 32u32, 0).arg(&mut works).arg(true).run() }.unwrap();
        assert_eq!(works.read_one::<u32>(0).unwrap(), 64, "after {name}");
    }
}

#[test]
fn a_leak_is_counted() {
    let Some((emulator, context, _one)) = device() else { return };
    let (count, bytes) = emulator.live();
    drop(Buffer::alloc(&context, 500).unwrap());
    assert_eq!(emulator.live(), (count, bytes));
    std::mem::forget(Buffer::alloc(&context, 500).unwrap());
    assert_eq!(emulator.live(), (count + 1, bytes + 500));
}

#[test]
fn memory_nobody_wrote_is_poison() {
    let Some((_, context, _one)) = device() else { return };
    assert_eq!(Buffer::alloc_for::<u32>(&context, 3).unwrap().to_host::<u32>().unwrap(), [0xcbcb_cbcb; 3]);
    let mut out = Buffer::zeroed_for::<u32>(&context, 64).unwrap();
    // Twice: what a block left there is not what the next one finds.
    for _ in 0..2 {
        // SAFETY: 64 values are written; 32 values of dynamic shared memory are read.
        let run = unsafe { kernel(&context, "reads_before_writing").launch(1u32, 32u32, 128).arg(&mut out).run() };
        run.unwrap();
        let found = out.to_host::<u32>().unwrap();
        assert_eq!(found, [0xcdcd_cdcd; 64]);
    }
}

#[test]
fn a_race_shows_under_some_schedule() {
    let Some((emulator, context, _one)) = device() else { return };
    // The answers of one block under ten schedules.
    let answers = |name: &str, right: bool| -> HashSet<Vec<u32>> {
        let kernel = kernel(&context, name);
        let run = |seed| {
            emulator.seed(seed);
            let mut out = Buffer::zeroed_for::<u32>(&context, 64).unwrap();
            // SAFETY: 64 values are written.
            unsafe { kernel.launch(1u32, 64u32, 0).arg(&mut out).arg(right).run() }.unwrap();
            out.to_host::<u32>().unwrap()
        };
        (1..=10)
            .map(|seed| {
                let first = run(seed);
                assert_eq!(first, run(seed), "{name}: a seed is a schedule");
                first
            })
            .collect()
    };
    for name in ["neighbours", "counts"] {
        assert_eq!(answers(name, true).len(), 1, "{name}");
        assert!(answers(name, false).len() > 1, "{name}: the planted race is not seen");
    }
    assert!(answers("neighbours", true).contains(&(1..64).chain([0]).collect::<Vec<_>>()));
}

const CHILD: &str = "OPLUS_TEST_PLANTED";

/// What the processes below do.
#[test]
#[ignore = "runs in the processes that the other tests start"]
fn child() {
    let Ok(name) = std::env::var(CHILD) else { return };
    let Some((_, context, _one)) = device() else { return };
    println!("ANSWER {}", fault(&context, &name));
}

fn planted(name: &str, variables: &[(&str, &Path)]) -> (Output, String) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env(CHILD, name)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output, text)
}

#[test]
fn endless_loops_end() {
    if emulator::emulator().is_none() {
        return;
    }
    let steps: &[(&str, &Path)] = &[("EMU_STEP_LIMIT", Path::new("20000"))];
    for (name, line) in [("spins_on_an_atomic", 501), ("spins_on_a_barrier", 521)] {
        let (output, text) = planted(name, steps);
        let report = format!("endless loop: kernel {name}, block (0,0,0), thread (");
        assert!(output.status.success() && text.contains(&report), "{text}");
        assert!(text.contains(&format!("is at planted.cu:{line} after 20000 steps")), "{text}");
    }
    // What never calls the runtime cannot be unwound: the process ends, with the report.
    let (output, text) = planted("spins_alone", &[("EMU_TIME_LIMIT_MS", Path::new("300"))]);
    assert_eq!(output.status.code(), Some(86), "{text}");
    assert!(text.contains("endless loop: kernel spins_alone, block (0,0,0), thread ("), "{text}");
    assert!(text.contains("runs for 300 ms"), "{text}");
}

const SANITIZE: &str = "-fsanitize=address,undefined -fno-sanitize-recover=undefined";

#[test]
fn the_sanitizers_see_every_access() {
    if emulator::emulator().is_none() {
        return;
    }
    let compiler = std::env::var("EMU_CXX").unwrap_or_else(|_| "c++".into());
    let found = Command::new(compiler).arg("-print-file-name=libasan.so").output().unwrap();
    let library = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    if !Path::new(&library).is_absolute() {
        eprintln!("skipped: the compiler has no AddressSanitizer");
        return;
    }
    // Built here, not in a child: the compiler is no process for the sanitizer.
    emulator::build(SANITIZE).unwrap();
    let variables: &[(&str, &Path)] = &[
        ("OPLUS_EMULATOR_FLAGS", Path::new(SANITIZE)),
        ("LD_PRELOAD", Path::new(&library)),
        ("ASAN_OPTIONS", Path::new("detect_leaks=0")),
        ("UBSAN_OPTIONS", Path::new("print_stacktrace=0")),
    ];
    for (name, kind, line, thread) in [
        ("reads_past", "heap-buffer-overflow", 702, 5),
        ("writes_past", "heap-buffer-overflow", 721, 6),
        ("writes_before", "heap-buffer-overflow", 741, 7),
        ("leaves_shared", "index 32 out of bounds", 764, 8),
        ("leaves_shared_by_pointer", "global-buffer-overflow", 774, 9),
        ("leaves_dynamic_shared", "heap-buffer-overflow", 782, 9),
        ("overflows", "signed integer overflow", 801, 10),
        ("misaligned", "misaligned address", 821, 11),
        ("uses_freed", "heap-use-after-free", 841, 12),
    ] {
        let (output, text) = planted(name, variables);
        assert!(!output.status.success() && !text.contains("ANSWER"), "{name} goes on:\n{text}");
        let place = format!("kernel {name}, block (0,0,0), thread ({thread},0,0)");
        for part in [kind, &format!("planted.cu:{line}"), &place] {
            assert!(text.contains(part), "{name}: no {part:?} in\n{text}");
        }
    }
    // What is right passes, on the stacks of fibers too.
    let (output, text) = planted("part_of_a_block", variables);
    assert!(output.status.success() && text.contains("ANSWER") && text.contains("planted.cu:102"), "{text}");
}
