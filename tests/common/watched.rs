//! An allocator that tells what was asked of it, and has as much as it is told.
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which remembers this thread's largest request, and refuses those above a limit.
struct Watched;

thread_local! {
    /// The largest request of this thread.
    pub static LARGEST: Cell<usize> = const { Cell::new(0) };
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Whether there is so much.
fn seen(size: usize) -> bool {
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
    LIMIT.try_with(|limit| size <= limit.get()).unwrap_or(true)
}

/// Done by this thread where no request above `limit` bytes is granted.
pub fn within<R>(limit: usize, work: impl FnOnce() -> R) -> R {
    LIMIT.set(limit);
    let made = work();
    LIMIT.set(usize::MAX);
    made
}

// SAFETY: the system's allocator.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !seen(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !seen(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !seen(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        unsafe { System.realloc(p, layout, size) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(p, layout) }
    }
}

#[global_allocator]
static WATCHED: Watched = Watched;
