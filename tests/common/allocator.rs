//! A counting allocator: what a test holds at once.
#![allow(dead_code)]
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

/// One test at a time: the counts are the process's.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What `run` makes, and the most bytes held at once beyond those before.
pub fn measured<R>(run: impl FnOnce() -> R) -> (R, u64) {
    let held = LIVE.load(SeqCst);
    PEAK.store(held, SeqCst);
    let made = run();
    (made, PEAK.load(SeqCst) - held)
}

/// Bytes held now.
pub fn live() -> u64 {
    LIVE.load(SeqCst)
}
