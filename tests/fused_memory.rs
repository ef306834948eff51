//! What a product with select or top-k holds at once, by a counting allocator: never the product.
use oplus::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The system's allocator, counted.
struct Counting;

static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);
/// Error texts, boxes and lists of a few blocks do not grow with the data.
const SMALL: usize = 1 << 10;

fn add(size: usize) {
    if size >= SMALL {
        PEAK.fetch_max(LIVE.fetch_add(size as u64, SeqCst) + size as u64, SeqCst);
    }
}
fn subtract(size: usize) {
    if size >= SMALL {
        LIVE.fetch_sub(size as u64, SeqCst);
    }
}

// SAFETY: the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may be there for a moment.
        add(size);
        // SAFETY: as above.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        subtract(layout.size());
        moved
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        subtract(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What `run` makes, and the most bytes held at once beyond those before.
fn measured<R>(run: impl FnOnce() -> R) -> (R, u64) {
    let held = LIVE.load(SeqCst);
    PEAK.store(held, SeqCst);
    let made = run();
    (made, PEAK.load(SeqCst) - held)
}

fn random(n: u64, entries: u64, seed: u64) -> Matrix<f64> {
    let mut coo = Coo::new(n, n);
    let mut state = seed | 1;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    (0..entries).for_each(|_| coo.push(next(n), next(n), next(1000) as f64 / 1000.0));
    Matrix::build_with(&coo, Plus).unwrap()
}

#[test]
fn what_is_dropped_is_never_stored() {
    let _alone = alone();
    let n = 4000;
    let (a, b) = (random(n, 25 * n, 1), random(n, 25 * n, 2));
    let (c, unfused) = measured(|| mxm(&a, &b).eval().unwrap());
    let product = c.memory_bytes();
    assert!(unfused >= product && product > 20 << 20, "{product} of {unfused} bytes");
    let (top, most) = measured(|| mxm(&a, &b).top_k(4).eval().unwrap());
    assert!(most < product / 3, "top_k held {most} bytes, the product is {product}");
    assert_eq!(top.entries().unwrap(), top_k(&c, 4).eval().unwrap().entries().unwrap());
    let (kept, most) = measured(|| mxm(&a, &b).select(ValueGt, 1.2).eval().unwrap());
    assert!(kept.nvals() > 0 && kept.nvals() < c.nvals() / 10);
    assert!(most < product / 3, "select held {most} bytes, the product is {product}");
    assert_eq!(kept.entries().unwrap(), select(&c, ValueGt, 1.2).eval().unwrap().entries().unwrap());
    // And under a limit that the product does not keep.
    let limit = product / 2;
    assert!(mxm(&a, &b).memory_limit(limit).eval().is_err());
    let (limited, most) = measured(|| mxm(&a, &b).memory_limit(limit).top_k(4).eval().unwrap());
    assert!(most <= limit, "{most} bytes under a limit of {limit}");
    assert_eq!(limited.entries().unwrap(), top.entries().unwrap());
}
