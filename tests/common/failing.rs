//! An allocator that fails when it is told to.
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// Above the buffers of files, which have one size whatever the data.
pub const LARGE: usize = 16 << 10;

/// The system's allocator, which fails one large allocation, or all from one on.
struct Failing;

/// Large allocations until one fails; negative: none does. How many fail.
pub static LEFT: AtomicI64 = AtomicI64::new(-1);
pub static FAILED: AtomicU64 = AtomicU64::new(0);
pub static ALL_AFTER: AtomicI64 = AtomicI64::new(0);
pub static TRACE: AtomicI64 = AtomicI64::new(0);

/// Sizes that gzip's state has, whatever the data: its crate allocates them as Rust does it, and they do not fail here.
static FIXED: [AtomicUsize; 16] = [const { AtomicUsize::new(0) }; 16];
static NOTING: AtomicI64 = AtomicI64::new(0);

fn fixed(size: usize) -> bool {
    if NOTING.load(SeqCst) != 0 {
        let mut places = FIXED.iter();
        while places.next().is_some_and(|place| place.compare_exchange(0, size, SeqCst, SeqCst).is_err()) {}
        return true;
    }
    FIXED.iter().any(|place| place.load(SeqCst) == size)
}

thread_local! { static TRACING: Cell<bool> = const { Cell::new(false) }; }

fn refuses(size: usize) -> bool {
    if size < LARGE || fixed(size) || LEFT.load(SeqCst) < 0 || TRACING.try_with(Cell::get).unwrap_or(true) {
        return false;
    }
    let left = LEFT.fetch_sub(1, SeqCst);
    if left != 0 {
        return false;
    }
    if ALL_AFTER.load(SeqCst) != 0 {
        LEFT.store(0, SeqCst);
    }
    FAILED.fetch_add(1, SeqCst);
    if TRACE.load(SeqCst) != 0 {
        TRACING.set(true);
        let trace = std::backtrace::Backtrace::force_capture().to_string();
        let ours: Vec<&str> =
            trace.lines().filter(|line| line.contains("/src/") && !line.contains("/rustc/")).collect();
        eprintln!("refused {size} bytes:\n{}", ours.join("\n"));
        TRACING.set(false);
    }
    true
}

// SAFETY: the system's allocator, or null, which the trait allows.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
        if refuses(layout.size()) { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        if refuses(layout.size()) { std::ptr::null_mut() } else { unsafe { System.alloc_zeroed(layout) } }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // What shrinks stays.
        if size > layout.size() && refuses(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// Notes what gzip's reader and writer allocate.
#[cfg(any(feature = "compression", feature = "npz"))]
pub fn note_gzip() {
    use std::io::{Read, Write};
    NOTING.store(1, SeqCst);
    let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    to.write_all(b"some").expect("room");
    let packed = to.finish().expect("room");
    let mut text = String::new();
    flate2::bufread::MultiGzDecoder::new(&packed[..]).read_to_string(&mut text).expect("a text");
    NOTING.store(0, SeqCst);
    assert!(text == "some" && FIXED[1].load(SeqCst) > LARGE && FIXED[15].load(SeqCst) == 0);
}
