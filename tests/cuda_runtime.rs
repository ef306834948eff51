//! The CUDA runtime on a device, or on the emulated one. Without a C++ compiler for the emulator and without a driver the
//! typed error is what is tested; `OPLUS_REQUIRE_CUDA=1` makes its absence a failure.
#![cfg(feature = "cuda")]
mod common;

use oplus::backend::cuda::{Buffer, Context, Kernel, Source, cache};
use oplus::error::Error;
use std::sync::Arc;

/// A handle of the test's own, so that counts of memory are its own too.
fn context() -> Option<Arc<Context>> {
    common::emulator::cuda();
    match Context::separate(0) {
        Ok(context) => Some(context),
        Err(Error::Unavailable { device, reason }) if std::env::var_os("OPLUS_REQUIRE_CUDA").is_none() => {
            assert_eq!(device, "cuda:0");
            assert!(!reason.is_empty());
            None
        }
        Err(e) => panic!("no device: {e}"),
    }
}

const SCALE: Source<'_> = Source {
    name: "scale.cu",
    key: "test/scale",
    text: r#"
extern "C" __global__ void scale(const double* from, double* to, unsigned n, double factor) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = factor * from[i];
}
struct Mixed { unsigned char tag; unsigned long long offset; double weights[3]; };
extern "C" __global__ void arguments(double* to, unsigned char a, unsigned short b, unsigned c, unsigned long long d,
                                     float e, bool f, Mixed m, const double* absent, int g) {
    to[0] = a; to[1] = b; to[2] = c; to[3] = double(d); to[4] = e; to[5] = f;
    to[6] = m.tag; to[7] = double(m.offset); to[8] = m.weights[2]; to[9] = absent == nullptr; to[10] = g;
}
"#,
};

fn kernel(context: &Arc<Context>, function: &str) -> Kernel {
    context.kernel(&SCALE, function).unwrap()
}

#[test]
fn bytes_travel() {
    let Some(context) = context() else { return };
    let values: Vec<u32> = (0..100_000).collect();
    let buffer = Buffer::from_host(&context, &values).unwrap();
    assert_eq!(buffer.bytes(), 400_000);
    assert_eq!(buffer.len_of::<u64>(), 50_000);
    assert_eq!(buffer.to_host::<u32>().unwrap(), values);
    assert_eq!(buffer.read::<u32>(99_998..100_000).unwrap(), [99_998, 99_999]);
    assert_eq!(buffer.read_one::<u32>(77).unwrap(), 77);
    let mut other = Buffer::zeroed_for::<u32>(&context, 5).unwrap();
    other.copy_range(4, &buffer, 40..52).unwrap();
    assert_eq!(other.to_host::<u32>().unwrap(), [0, 10, 11, 12, 0]);
    other.write(3, &[9u32, 8]).unwrap();
    assert_eq!(other.duplicate().unwrap().to_host::<u32>().unwrap(), [0, 10, 11, 9, 8]);
    other.fill(0xff).unwrap();
    assert_eq!(other.to_host::<i32>().unwrap(), [-1; 5]);
}

#[test]
fn outside_is_an_error() {
    let Some(context) = context() else { return };
    let mut buffer = Buffer::from_host(&context, &[1u32, 2, 3]).unwrap();
    let invalid = |r: Result<(), Error>| assert!(matches!(r, Err(Error::InvalidValue { .. })), "{r:?}");
    invalid(buffer.read_one::<u32>(3).map(drop));
    invalid(buffer.read_one::<u64>(1).map(drop));
    invalid(buffer.read::<u32>(1..4).map(drop));
    invalid(buffer.read::<u32>(usize::MAX..usize::MAX).map(drop));
    invalid(buffer.to_host::<u64>().map(drop));
    invalid(buffer.write(2, &[1u32, 2]));
    let other = Buffer::zeroed(&context, 8).unwrap();
    invalid(buffer.copy_range(8, &other, 0..8));
    invalid(buffer.copy_range(0, &other, 4..12));
    invalid(buffer.copy_range(u64::MAX, &other, 0..8));
    let stranger = Context::separate(0).unwrap();
    invalid(buffer.copy_range(0, &Buffer::zeroed(&stranger, 8).unwrap(), 0..8));
    assert_eq!(buffer.to_host::<u32>().unwrap(), [1, 2, 3]);
}

#[test]
fn nothing_is_normal() {
    let Some(context) = context() else { return };
    let mut empty = Buffer::from_host::<f64>(&context, &[]).unwrap();
    assert!(empty.is_empty());
    assert_eq!(empty.to_host::<f64>().unwrap(), []);
    empty.fill(1).unwrap();
    empty.write::<f64>(0, &[]).unwrap();
    let other = Buffer::zeroed(&context, 0).unwrap();
    empty.copy_range(0, &other, 0..0).unwrap();
    let scale = kernel(&context, "scale");
    let mut to = Buffer::zeroed(&context, 0).unwrap();
    // SAFETY: no block runs.
    unsafe { scale.launch(0u32, 256u32, 0).arg(&empty).arg(&mut to).arg(0u32).arg(1.0).run() }.unwrap();
    // SAFETY: n is 0, so nothing is touched.
    unsafe { scale.launch(1u32, 256u32, 0).arg(&empty).arg(&mut to).arg(0u32).arg(1.0).run() }.unwrap();
    context.synchronize().unwrap();
    assert_eq!(context.memory_in_use(), 0);
}

#[test]
fn kernels_run() {
    let Some(context) = context() else { return };
    let n = 100_003u32;
    let values: Vec<f64> = (0..n).map(f64::from).collect();
    let from = Buffer::from_host(&context, &values).unwrap();
    let mut to = context.alloc::<f64>(n as usize).unwrap();
    let scale = kernel(&context, "scale");
    let ((), milliseconds) = context
        // SAFETY: scale(const double*, double*, unsigned, double), both of n values.
        .time(|| unsafe { scale.launch(n.div_ceil(256), 256u32, 0).arg(&from).arg(&mut to).arg(n).arg(2.5).run() })
        .unwrap();
    assert!(milliseconds >= 0.0);
    assert!(to.to_host::<f64>().unwrap().iter().zip(&values).all(|(y, x)| *y == 2.5 * x));
    assert_eq!(scale.name(), "scale");
    assert!(scale.attributes().max_threads >= 256);
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Mixed {
    tag: u8,
    pad: [u8; 7],
    offset: u64,
    weights: [f64; 3],
}

#[test]
fn arguments_arrive() {
    let Some(context) = context() else { return };
    let mut to = Buffer::zeroed_for::<f64>(&context, 11).unwrap();
    let mixed = Mixed { tag: 7, pad: [0; 7], offset: 1 << 40, weights: [0.0, 0.0, 8.5] };
    let kernel = kernel(&context, "arguments");
    let launch = kernel.launch((1, 1, 1), (1, 1), 0).arg(&mut to).arg(1u8).arg(2u16).arg(3u32).arg(1u64 << 33);
    // SAFETY: the kernel's parameters in its order; eleven values are written.
    unsafe { launch.arg(5.5f32).arg(true).scalar(mixed).arg(None).arg(-9i32).run() }.unwrap();
    let expected = [1.0, 2.0, 3.0, (1u64 << 33) as f64, 5.5, 1.0, 7.0, (1u64 << 40) as f64, 8.5, 1.0, -9.0];
    assert_eq!(to.to_host::<f64>().unwrap(), expected);
}

#[test]
fn impossible_launches_are_errors() {
    let Some(context) = context() else { return };
    let mut to = Buffer::zeroed_for::<f64>(&context, 1).unwrap();
    let from = Buffer::zeroed_for::<f64>(&context, 1).unwrap();
    let scale = kernel(&context, "scale");
    let far = Buffer::zeroed(&Context::separate(0).unwrap(), 8).unwrap();
    let mut launch = |grid: u64, block: u32, shared: u32, from: &Buffer| {
        // SAFETY: scale(const double*, double*, unsigned, double), nothing is touched with n = 0.
        unsafe { scale.launch(grid, block, shared).arg(from).arg(&mut to).arg(0u32).arg(1.0).run() }
    };
    for (grid, block, shared, from) in
        [(1 << 31, 1, 0, &from), (1, 0, 0, &from), (1, 4096, 0, &from), (1, 1, 1 << 30, &from), (1, 1, 0, &far)]
    {
        let r = launch(grid, block, shared, from);
        assert!(matches!(r, Err(Error::InvalidValue { operation: "launch", .. })), "{grid} {block} {shared}: {r:?}");
    }
    launch(1, 32, context.properties().shared_per_block_optin, &from).unwrap();
    launch(1, 32, 0, &from).unwrap();
    context.synchronize().unwrap();
    assert!(scale.occupancy(256, 0).unwrap() >= 1);
}

#[test]
fn wrong_sources_are_errors() {
    let Some(context) = context() else { return };
    let missing = context.kernel(&SCALE, "absent");
    assert!(matches!(&missing, Err(Error::InvalidValue { reason, .. }) if reason.contains("absent")), "{missing:?}");
    let broken =
        Source { name: "broken.cu", key: "test/broken", text: "extern \"C\" __global__ void f() { undeclared; }" };
    for _ in 0..2 {
        let r = context.kernel(&broken, "f");
        assert!(
            matches!(&r, Err(Error::Compile { kernel, log }) if kernel == "broken.cu" && log.contains("undeclared")),
            "{r:?}"
        );
    }
}

#[test]
fn a_second_context_finds_the_kernel_on_disk() {
    let Some(first) = context() else { return };
    let stamp = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    // A text no earlier run has stored.
    let text = format!("extern \"C\" __global__ void once(unsigned long long* to) {{ *to = {}ull; }}", stamp as u64);
    let source = Source { name: "once.cu", key: "test/once", text: &text };
    let run = |context: &Arc<Context>| {
        let mut to = Buffer::zeroed(context, 8).unwrap();
        // SAFETY: once(unsigned long long*) writes one value.
        unsafe { context.kernel(&source, "once").unwrap().launch(1u32, 1u32, 0).arg(&mut to).run() }.unwrap();
        assert_eq!(to.read_one::<u64>(0).unwrap(), stamp as u64);
    };
    run(&first);
    run(&first);
    if let cache::Status::Off(_) = cache::Cache::get().status() {
        return;
    }
    let (before, _) = cache::Cache::get().counts();
    run(&Context::separate(0).unwrap());
    assert!(cache::Cache::get().counts().0 > before);
}

#[test]
fn threads_share_a_context() {
    let Some(context) = context() else { return };
    std::thread::scope(|scope| {
        for factor in 0..4 {
            let context = &context;
            scope.spawn(move || {
                let from = Buffer::from_host(context, &[1.0f64, 2.0, 3.0]).unwrap();
                let mut to = context.alloc::<f64>(3).unwrap();
                let scale = kernel(context, "scale");
                let factor = f64::from(factor);
                // SAFETY: scale(const double*, double*, unsigned, double), both of 3 values.
                unsafe { scale.launch(1u32, 32u32, 0).arg(&from).arg(&mut to).arg(3u32).arg(factor).run() }.unwrap();
                assert_eq!(to.to_host::<f64>().unwrap(), [factor, 2.0 * factor, 3.0 * factor]);
            });
        }
    });
    assert_eq!(context.memory_in_use(), 0);
}

#[test]
fn memory_is_counted_and_running_out_is_an_error() {
    let Some(context) = context() else { return };
    let (_, total) = context.memory().unwrap();
    let first = Buffer::alloc(&context, 1000).unwrap();
    drop(Buffer::alloc(&context, 5000).unwrap());
    assert_eq!((context.memory_in_use(), context.peak()), (1000, 6000));
    context.reset_peak();
    assert_eq!(context.peak(), 1000);
    for bytes in [2 * total, u64::MAX >> 1] {
        let r = Buffer::alloc(&context, bytes);
        assert!(matches!(r, Err(Error::OutOfMemory { needed, available: Some(_), .. }) if needed == bytes), "{r:?}");
    }
    let r = context.alloc::<u64>(usize::MAX);
    assert!(matches!(r, Err(Error::OutOfMemory { .. })), "{r:?}");
    assert_eq!(context.memory_in_use(), 1000);
    drop(first);
    // It goes on after a failure.
    assert_eq!(Buffer::zeroed(&context, 16).unwrap().to_host::<u8>().unwrap(), [0; 16]);
    context.trim().unwrap();
    assert_eq!(context.memory_in_use(), 0);
}

#[test]
fn contexts_are_shared_and_counted() {
    let Some(_) = context() else { return };
    assert!(Arc::ptr_eq(&Context::get(0).unwrap(), &Context::get(0).unwrap()));
    let r = Context::get(10_000);
    assert!(matches!(&r, Err(Error::Unavailable { device, .. }) if device == "cuda:10000"), "{r:?}");
    let p = Context::get(0).unwrap().properties().clone();
    assert!(!p.name.is_empty() && p.architecture >= 50 && p.multiprocessors > 0 && p.total_memory > 0);
    assert!(p.shared_per_block >= 16 << 10 && p.shared_per_block_optin >= p.shared_per_block);
}

/// A trace is its thread's, and one inside another is part of that.
#[test]
fn traces_of_two_threads_at_once() {
    let Some(context) = context() else { return };
    let kernel = &kernel(&context, "scale");
    let barrier = std::sync::Barrier::new(2);
    let launched = |blocks: u32| {
        let (n, to) = (256 * blocks, Buffer::zeroed_for::<f64>(&context, 256 * blocks as usize).unwrap());
        let from = to.duplicate().unwrap();
        let run = || {
            let launch = kernel.launch(blocks, 256u32, 0).arg(&from).arg(&to).arg(n).arg(2.0f64);
            // SAFETY: parameters as above; n values in each.
            unsafe { launch.run() }
        };
        let (inner, all) = context
            .trace(|| {
                barrier.wait();
                (0..20).try_for_each(|_| run())?;
                let ((), inner) = context.trace(run)?;
                barrier.wait();
                Ok(inner)
            })
            .unwrap();
        assert_eq!((inner.len(), all.len()), (1, 21));
        assert!(all.iter().all(|l| l.kernel == "scale" && l.blocks == u64::from(blocks)), "{all:?}");
        // Nothing is traced any more.
        run().unwrap();
        assert!(context.trace(|| Ok(())).unwrap().1.is_empty());
    };
    std::thread::scope(|threads| {
        threads.spawn(|| launched(1));
        threads.spawn(|| launched(3));
    });
    // What fails or panics leaves no trace on.
    let failed = context.trace(|| Err::<(), _>(Error::InvalidValue { operation: "test", reason: String::new() }));
    assert!(failed.is_err());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        context.trace(|| -> oplus::Result<()> { panic!("as asked") })
    }));
    assert!(panicked.is_err());
    let from = Buffer::zeroed_for::<f64>(&context, 256).unwrap();
    let ((), launches) = context
        .trace(|| {
            let launch = kernel.launch(1u32, 256u32, 0).arg(&from).arg(&from).arg(256u32).arg(2.0f64);
            // SAFETY: as above; each value is read and written by one thread.
            unsafe { launch.run() }
        })
        .unwrap();
    assert_eq!(launches.len(), 1);
}

/// Looks that go twice as far each time in lists as long as the type of their places allows: a quarter of what it counts.
#[test]
fn a_search_that_gallops_ends_where_the_list_does() {
    let Some(context) = context() else { return };
    let search = include_str!("../kernels/thread/search.cuh").replace("#include \"portable.cuh\"", "");
    let text = format!(
        "namespace oplus {{ template <class T> __device__ T min(T x, T y) {{ return y < x ? y : x; }} }}
{search}
extern \"C\" __global__ void gallop(const unsigned char* sorted, unsigned n, unsigned char* found) {{
    // Every place by every first step from every place before it.
    const unsigned low = blockIdx.x, x = threadIdx.x;
    for (unsigned step = 1; step <= n; step++) {{
        unsigned char at = oplus::lower_bound_near<unsigned char, unsigned char>(sorted, low, n, x, step);
        if (at != oplus::lower_bound<unsigned char, unsigned char>(sorted, low, n, x)) found[x] = 0;
    }}
}}"
    );
    let source = Source { name: "gallop.cu", key: "test/gallop", text: &text };
    let kernel = context.kernel(&source, "gallop").unwrap();
    let n = 63u32;
    let sorted = Buffer::from_host(&context, &(0..n as u8).collect::<Vec<_>>()).unwrap();
    let found = Buffer::from_host(&context, &vec![1u8; 256]).unwrap();
    // SAFETY: a list of n, and a place for every thread; all writers write the same.
    unsafe { kernel.launch(u64::from(n), 256u32, 0).arg(&sorted).arg(n).arg(&found).run().unwrap() };
    assert_eq!(found.to_host::<u8>().unwrap(), vec![1; 256]);
}
