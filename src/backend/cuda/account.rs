//! Bytes held by one operation, and how many it may hold.
use super::Context;
use crate::error::{Error, Result};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What buffers made under it hold. Buffers are made by the thread that called the operation, so it is the thread's.
#[derive(Debug)]
pub(super) struct Account {
    limit: u64,
    live: AtomicU64,
    peak: AtomicU64,
}

thread_local! { static CURRENT: RefCell<Option<Arc<Account>>> = const { RefCell::new(None) }; }

/// A buffer's part of an account; given back when dropped.
#[derive(Debug)]
pub(super) struct Share {
    account: Arc<Account>,
    bytes: u64,
}

impl Share {
    /// Part of the thread's account, where it has one.
    pub(super) fn take(context: &Context, bytes: u64) -> Result<Option<Share>> {
        let Some(account) = CURRENT.with(|c| c.borrow().clone()) else { return Ok(None) };
        let live = account.live.fetch_add(bytes, Relaxed).saturating_add(bytes);
        if live > account.limit {
            account.live.fetch_sub(bytes, Relaxed);
            let (device, available) = (context.device().to_string(), Some(account.limit));
            return Err(Error::OutOfMemory { operation: "memory limit", device, needed: live, available });
        }
        account.peak.fetch_max(live, Relaxed);
        Ok(Some(Share { account, bytes }))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.account.live.fetch_sub(self.bytes, Relaxed);
    }
}

/// The thread's account while it lives.
struct Open {
    before: Option<Arc<Account>>,
}

impl Drop for Open {
    fn drop(&mut self) {
        let before = self.before.take();
        CURRENT.with(|c| *c.borrow_mut() = before);
    }
}

/// What `work` makes, while the buffers it makes hold at most `limit` bytes at once; the most they held.
pub(super) fn within<R>(limit: u64, work: impl FnOnce() -> Result<R>) -> Result<(R, u64)> {
    let account = Arc::new(Account { limit, live: AtomicU64::new(0), peak: AtomicU64::new(0) });
    let open = Open { before: CURRENT.with(|c| c.borrow_mut().replace(account.clone())) };
    let made = work();
    drop(open);
    Ok((made?, account.peak.load(Relaxed)))
}
