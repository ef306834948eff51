//! A known number of threads with a known amount of memory each.
use super::parallel::Shared;
use crate::error::Result;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Ranges of rows are handed out to the workers until there are none; one worker stays on the caller's thread.
pub(super) fn share_out<W: Send>(
    workers: &mut [W],
    rows: usize,
    work: impl Fn(&mut W, Range<usize>) -> Result<()> + Sync,
) -> Result<()> {
    if let [only] = workers {
        return work(only, 0..rows);
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let size = (rows / (32 * workers.len().max(1))).clamp(1, 1 << 12);
    workers.par_iter_mut().with_max_len(1).try_for_each(|worker| {
        while !failed.load(Relaxed) {
            let from = next.fetch_add(size, Relaxed);
            if from >= rows {
                break;
            }
            work(worker, from..rows.min(from + size)).inspect_err(|_| failed.store(true, Relaxed))?;
        }
        Ok(())
    })
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
