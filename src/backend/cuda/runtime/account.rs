//! Bytes held by one operation, and how many it may hold.
use crate::backend::cuda::Context;
use crate::error::{Error, Result};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What buffers made under it hold. Buffers are made by the thread that called the operation, so it is the thread's.
#[derive(Debug)]
pub(crate) struct Account {
    limit: u64,
    live: AtomicU64,
    peak: AtomicU64,
    /// The one it was opened under, which is charged too.
    outer: Option<Arc<Account>>,
}

thread_local! { static CURRENT: RefCell<Option<Arc<Account>>> = const { RefCell::new(None) }; }

/// A buffer's part of an account; given back when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    account: Arc<Account>,
    bytes: u64,
}

impl Account {
    fn accounts(&self) -> impl Iterator<Item = &Account> {
        std::iter::successors(Some(self), |a| a.outer.as_deref())
    }
}

impl Share {
    /// Part of the thread's account, where it has one.
    pub(crate) fn take(context: &Context, bytes: u64) -> Result<Option<Share>> {
        let Some(account) = CURRENT.with(|c| c.borrow().clone()) else { return Ok(None) };
        // What is refused is given back when the share goes.
        let share = Share { account, bytes };
        let mut refused = None;
        for account in share.account.accounts() {
            let live = account.live.fetch_add(bytes, Relaxed).saturating_add(bytes);
            if live > account.limit {
                refused = refused.or(Some((live, account.limit)));
            }
        }
        if let Some((needed, limit)) = refused {
            let (device, available) = (context.device().to_string(), Some(limit));
            return Err(Error::OutOfMemory { operation: "memory limit", device, needed, available });
        }
        for account in share.account.accounts() {
            account.peak.fetch_max(account.live.load(Relaxed), Relaxed);
        }
        Ok(Some(share))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        for account in self.account.accounts() {
            account.live.fetch_sub(self.bytes, Relaxed);
        }
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

/// What `work` makes outside all accounts: what an operand keeps is not the operation's.
pub(crate) fn outside<R>(work: impl FnOnce() -> R) -> R {
    let _aside = aside();
    work()
}

/// Puts the thread's account aside until this goes: while work of the host is done by all threads, this one may be given work of other
/// operations.
#[must_use]
pub(crate) fn aside() -> impl Drop {
    Open { before: CURRENT.with(|c| c.borrow_mut().take()) }
}

/// Whether the thread's operation is held to a limit.
pub(crate) fn is_limited() -> bool {
    CURRENT.with(|c| c.borrow().as_ref().is_some_and(|account| account.accounts().any(|a| a.limit < u64::MAX)))
}

/// What `work` makes, while the buffers it makes hold at most `limit` bytes at once; the most they held.
pub(crate) fn within<R>(limit: u64, work: impl FnOnce() -> Result<R>) -> Result<(R, u64)> {
    let before = CURRENT.with(|c| c.borrow().clone());
    let (live, peak) = (AtomicU64::new(0), AtomicU64::new(0));
    let account = Arc::new(Account { limit, live, peak, outer: before.clone() });
    CURRENT.with(|c| *c.borrow_mut() = Some(account.clone()));
    let open = Open { before };
    let made = work();
    drop(open);
    Ok((made?, account.peak.load(Relaxed)))
}

#[cfg(test)]
mod tests {
    use super::{is_limited, within};
    use crate::backend::cpu::each_piece;

    #[test]
    fn what_a_thread_does_for_others_is_not_the_operations() {
        let (sum, peak) = within(1 << 20, || {
            assert!(is_limited());
            each_piece(1000, 10, &|_| assert!(!is_limited()));
            assert!(is_limited());
            Ok(7)
        })
        .expect("nothing fails");
        assert_eq!((sum, peak, is_limited()), (7, 0, false));
    }
}
