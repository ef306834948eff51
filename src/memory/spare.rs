//! Large host memory kept for the next result when a matrix or vector is dropped.
//!
//! An allocator gives a block of megabytes back to the operating system and asks for it again, and each of its pages is then
//! cleared and mapped when it is first written: as much work as many an operation does on it. What iterates makes results of
//! the same sizes again and again, so they are given the room of those before.
use super::setting;
use smallvec::SmallVec;
use std::alloc::{Layout, dealloc};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Smaller blocks are left to the allocator.
pub(super) const LEAST: usize = 1 << 20;
/// Kept at most, where `OPLUS_HOST_KEEP` does not say otherwise.
const KEPT: usize = 256 << 20;

/// A block of the global allocator, written or not.
struct Block {
    start: NonNull<u8>,
    layout: Layout,
}
// SAFETY: nobody else knows of the block.
unsafe impl Send for Block {}
impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the global allocator gave it with this layout, and it is nobody else's.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// Blocks that nobody uses, the oldest first.
#[derive(Default)]
struct Spares {
    bytes: usize,
    blocks: VecDeque<Block>,
}

static SPARES: Mutex<Spares> = Mutex::new(Spares { bytes: 0, blocks: VecDeque::new() });

fn spares() -> MutexGuard<'static, Spares> {
    SPARES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes that may be kept.
fn limit() -> usize {
    static LIMIT: LazyLock<usize> = LazyLock::new(|| {
        setting::bytes(setting::HOST_KEEP).map_or(KEPT, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
    });
    *LIMIT
}

/// Whether a block of so many bytes is kept when it is no longer used.
pub(super) fn keeps(size: usize) -> bool {
    (LEAST..=limit()).contains(&size)
}

impl Spares {
    /// The latest block, which caches may still hold, with room for `size`, but no more than an eighth of it too much, that
    /// can be a vector's.
    fn take(&mut self, size: usize, align: usize, element: usize) -> Option<Block> {
        let fits = |b: &Block| {
            let (has, aligned) = (b.layout.size(), b.layout.align() == align);
            aligned && has >= size && has - size <= size / 8 && has % element == 0
        };
        let at = self.blocks.iter().rposition(fits)?;
        let block = self.blocks.remove(at)?;
        self.bytes -= block.layout.size();
        Some(block)
    }
    /// Keeps a block; what is then too much, the oldest first, is returned to be freed.
    fn put(&mut self, block: Block, limit: usize) -> SmallVec<[Block; 4]> {
        if self.blocks.try_reserve(1).is_err() {
            return SmallVec::from_iter([block]);
        }
        self.bytes += block.layout.size();
        self.blocks.push_back(block);
        let mut freed = SmallVec::new();
        while self.bytes > limit
            && let Some(oldest) = self.blocks.pop_front()
        {
            self.bytes -= oldest.layout.size();
            freed.push(oldest);
        }
        freed
    }
}

/// An empty vector with room for `n` and at most an eighth more, if some is kept.
pub(super) fn take<T>(n: usize) -> Option<Vec<T>> {
    let (element, align) = (size_of::<T>(), align_of::<T>());
    let size = n.checked_mul(element).filter(|size| *size >= LEAST)?;
    let block = spares().take(size, align, element)?;
    let block = std::mem::ManuallyDrop::new(block);
    // SAFETY: the global allocator's block, of this alignment and of a size that is a multiple of T's; it is ours alone.
    Some(unsafe { Vec::from_raw_parts(block.start.as_ptr().cast(), 0, block.layout.size() / element) })
}

/// Keeps a vector's room, or frees it.
#[inline(never)]
pub(super) fn keep<T>(mut v: Vec<T>) {
    v.clear();
    let Ok(layout) = Layout::array::<T>(v.capacity()) else { return };
    if !keeps(layout.size()) {
        return;
    }
    let mut v = std::mem::ManuallyDrop::new(v);
    let Some(start) = NonNull::new(v.as_mut_ptr().cast()) else { return };
    let freed = spares().put(Block { start, layout }, limit());
    // After the lock: the system takes its time.
    drop(freed);
}

/// Frees all that is kept. Whether it was anything.
pub(super) fn free_all() -> bool {
    let freed = {
        let mut spares = spares();
        spares.bytes = 0;
        std::mem::take(&mut spares.blocks)
    };
    !freed.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Buffer;

    fn block(size: usize, align: usize) -> Block {
        let layout = Layout::from_size_align(size, align).unwrap();
        // SAFETY: the size is not zero.
        Block { start: NonNull::new(unsafe { std::alloc::alloc(layout) }).unwrap(), layout }
    }

    #[test]
    fn the_latest_that_fits_is_taken() {
        let mut spares = Spares::default();
        for (size, align) in [(1000, 8), (1008, 8), (1200, 8), (1004, 4)] {
            assert!(spares.put(block(size, align), 1 << 20).is_empty());
        }
        assert_eq!(spares.bytes, 4212);
        let mut take = |size, align, element| spares.take(size, align, element).map(|b| b.layout.size());
        // Another alignment, too small, more than an eighth too large, no whole number of elements.
        assert_eq!(take(1000, 16, 16), None);
        assert_eq!(take(1201, 8, 8), None);
        assert_eq!(take(800, 8, 8), None);
        assert_eq!(take(1000, 4, 8), None);
        assert_eq!(take(1000, 8, 16), Some(1008));
        assert_eq!(take(1000, 8, 8), Some(1000));
        assert_eq!(take(1000, 8, 8), None);
        assert_eq!(take(1100, 8, 8), Some(1200));
        assert_eq!(take(1000, 4, 4), Some(1004));
        assert_eq!(spares.bytes, 0);
    }

    #[test]
    fn the_oldest_are_freed_over_the_limit() {
        let mut spares = Spares::default();
        let mut put = |size| spares.put(block(size, 8), 1000).iter().map(|b| b.layout.size()).collect::<Vec<_>>();
        assert_eq!(put(400), []);
        assert_eq!(put(600), []);
        assert_eq!(put(8), [400]);
        assert_eq!(put(1000), [600, 8]);
        assert_eq!((spares.bytes, spares.blocks.len()), (1000, 1));
    }

    #[test]
    fn vectors_keep_their_room() {
        // A size of its own: other tests keep and take as well.
        let n = LEAST / 8 + 12_345;
        let mut v = Vec::with_capacity(n);
        v.resize(n - 7, 1.5f64);
        let start = v.as_ptr().addr();
        drop(Buffer::from(v));
        let again = take::<u64>(n - 7).unwrap();
        assert_eq!((again.as_ptr().addr(), again.len(), again.capacity()), (start, 0, n));
        assert!(take::<u64>(n - 7).is_none());
        // Small room, and none.
        assert!(take::<u64>(8).is_none() && take::<()>(usize::MAX).is_none() && take::<u64>(usize::MAX).is_none());
    }
}
