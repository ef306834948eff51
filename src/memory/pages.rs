//! What the operating system is told about large room.
use std::mem::MaybeUninit;

/// A large page of most machines.
const HUGE: usize = 2 << 20;

#[cfg(all(target_os = "linux", not(miri)))]
mod advice {
    use std::ffi::{c_int, c_void};

    pub(super) const DONTNEED: c_int = 4;
    pub(super) const HUGEPAGE: c_int = 14;
    unsafe extern "C" {
        pub(super) fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
}

/// The large pages that lie wholly in a range: where they begin, and their bytes.
#[cfg(all(target_os = "linux", not(miri)))]
fn within<T>(room: &mut [MaybeUninit<T>]) -> Option<(*mut std::ffi::c_void, usize)> {
    let start = room.as_mut_ptr().cast::<u8>();
    let skipped = start.addr().next_multiple_of(HUGE) - start.addr();
    let bytes = size_of_val(room).checked_sub(skipped)? / HUGE * HUGE;
    // SAFETY: `skipped` is at most the range's length.
    (bytes > 0).then(|| (unsafe { start.add(skipped) }.cast(), bytes))
}

/// Asks for large pages behind large room: first touches by 4 KiB cost as much as a product. Only a wish.
pub(super) fn prefer_huge<T>(room: &mut [MaybeUninit<T>]) {
    if size_of_val(room) < 2 * HUGE {
        return;
    }
    #[cfg(all(target_os = "linux", not(miri)))]
    if let Some((start, bytes)) = within(room) {
        // SAFETY: a hint about pages that lie wholly inside the room; what they hold stays.
        unsafe { advice::madvise(start, bytes, advice::HUGEPAGE) };
    }
}

/// Gives the memory behind room that nobody reads back to the system; the addresses stay. Whether that was done.
pub(super) fn give_back<T>(room: &mut [MaybeUninit<T>]) -> bool {
    #[cfg(all(target_os = "linux", not(miri)))]
    return match within(room) {
        // SAFETY: pages that lie wholly inside the room, of which nothing is read before it is written.
        Some((start, bytes)) => (unsafe { advice::madvise(start, bytes, advice::DONTNEED) }) == 0,
        None => true,
    };
    #[cfg(not(all(target_os = "linux", not(miri))))]
    {
        let _ = room;
        false
    }
}

/// Gives back what was freed and the allocator still holds: of results in many small blocks that may be as much as they took.
pub(super) fn give_back_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: the C library's own, which any thread may call at any time; an allocator in its place is not touched.
        unsafe { malloc_trim(0) };
    }
}
