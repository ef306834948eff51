//! A known number of threads with a known amount of memory each.
use super::parallel::{Shared, each_mut};
use crate::error::Result;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Ranges of 0..n, rows or blocks of them, are handed out to the workers until there are none; one worker stays on the caller's thread.
pub(super) fn share_out<W: Send>(
    workers: &mut [W],
    n: usize,
    work: &(dyn Fn(&mut W, Range<usize>) -> Result<()> + Sync),
) -> Result<()> {
    if let [only] = workers {
        return work(only, 0..n);
    }
    let (next, failed) = (AtomicUsize::new(0), OnceLock::new());
    let size = (n / (32 * workers.len().max(1))).clamp(1, 1 << 12);
    each_mut(workers, &|_, worker| {
        while failed.get().is_none() {
            let from = next.fetch_add(size, Relaxed);
            if from >= n {
                break;
            }
            if let Err(e) = work(worker, from..n.min(from + size)) {
                // Another's error does as well.
                let _ = failed.set(e);
            }
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}

/// A slice of which every row has a part of its own.
pub(super) struct Parts<T>(Shared<T>);

impl<T> Parts<T> {
    pub(super) fn of(slice: &mut [T]) -> Self {
        Self(Shared::new(slice))
    }
    /// # Safety
    /// The slice is alive, and no other part in use overlaps this one.
    #[allow(clippy::mut_from_ref)]
    pub(super) unsafe fn part(&self, range: Range<usize>) -> &mut [T] {
        // SAFETY: the contract.
        unsafe { self.0.part(range) }
    }
}
