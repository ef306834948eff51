//! What the machine has left. Linux hands out more memory than there is and ends the process that touches it, which nobody can
//! handle; so what is large is asked for here before it is taken.
use super::setting;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that are taken without a look, together: touching them takes a hundred times as long as a look.
const UNSEEN: u64 = 64 << 20;
/// Requests below are not counted.
const SMALL: usize = 64 << 10;

/// Whether so many bytes more can be touched, as far as is known.
pub(super) fn grants(bytes: usize) -> bool {
    static UNLOOKED: Unlooked = Unlooked::new();
    let promise = |taken| Promises::all(|promises| promises.bytes = promises.bytes.saturating_add(taken));
    bytes < SMALL || UNLOOKED.grants(bytes as u64, fits, promise)
}

/// What was granted since the machine was last looked at. What was refused is not taken and does not count.
struct Unlooked {
    bytes: AtomicU64,
    /// Whether the last look refused: who was refused asks again, and others are to look too.
    refused: AtomicBool,
}
impl Unlooked {
    const fn new() -> Self {
        Self { bytes: AtomicU64::new(0), refused: AtomicBool::new(false) }
    }
    /// Whether there is room for `bytes`, by a look where much was taken without; `promise` is told what is granted with a look.
    fn grants(&self, bytes: u64, fits: impl FnOnce(u64) -> bool, promise: impl FnOnce(u64)) -> bool {
        let unseen = |taken: u64| taken.checked_add(bytes).filter(|sum| *sum < UNSEEN);
        if !self.refused.load(Ordering::Relaxed)
            && self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, unseen).is_ok()
        {
            return true;
        }
        let fits = fits(bytes);
        self.refused.store(!fits, Ordering::Relaxed);
        if fits {
            promise(self.bytes.swap(0, Ordering::Relaxed).saturating_add(bytes));
        }
        fits
    }
}

/// The same of what is taken in parts, which are counted when they are.
pub(super) fn has(bytes: u64) -> bool {
    bytes < UNSEEN || fits(bytes)
}

fn fits(bytes: u64) -> bool {
    available().is_none_or(|left| bytes <= left)
}

/// Bytes that can be had beside what was granted and is not touched yet, where that is known.
pub(super) fn available() -> Option<u64> {
    let held = system::held();
    let allowed = allowed().and_then(|most| Some(most.saturating_sub(held?.touched)));
    let left = system::left().into_iter().chain(allowed).min()?;
    Some(left.saturating_sub(held.map_or(0, |held| Promises::all(|promises| promises.open(held, Instant::now())))))
}

/// Bytes of this process: of its addresses, and of those with memory behind them.
#[derive(Clone, Copy, Debug)]
struct Held {
    addresses: u64,
    touched: u64,
}

/// What was granted lately. An operation takes its arrays one after the other before it writes to any of them.
struct Promises {
    since: Option<Instant>,
    /// Addresses without memory when that began.
    untouched: u64,
    bytes: u64,
}
impl Promises {
    const LATELY: Duration = Duration::from_secs(1);

    fn all<T>(f: impl FnOnce(&mut Self) -> T) -> T {
        static ALL: Mutex<Promises> = Mutex::new(Promises { since: None, untouched: 0, bytes: 0 });
        f(&mut ALL.lock().unwrap_or_else(PoisonError::into_inner))
    }
    /// Bytes that were granted and not touched. Addresses without memory come from elsewhere too, so neither figure alone says it.
    fn open(&mut self, held: Held, now: Instant) -> u64 {
        let untouched = held.addresses.saturating_sub(held.touched);
        if self.since.is_none_or(|since| now.duration_since(since) > Self::LATELY) || untouched <= self.untouched {
            *self = Self { since: Some(now), untouched, bytes: 0 };
        }
        self.bytes.min(untouched - self.untouched)
    }
}

/// Bytes that this process may hold.
fn allowed() -> Option<u64> {
    static ALLOWED: LazyLock<Option<u64>> = LazyLock::new(|| setting::bytes(setting::HOST_MEMORY));
    *ALLOWED
}

#[cfg(all(target_os = "linux", not(miri)))]
#[path = "linux.rs"]
mod system;
/// Elsewhere the system says itself that there is no more.
#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    pub(super) fn left() -> Option<u64> {
        None
    }
    pub(super) fn held() -> Option<super::Held> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn the_machine_has_some_memory_and_not_all() {
        let left = available().expect("Linux says");
        assert!(left > 1 << 20 && left < 1 << 50, "{left}");
        assert!(has(1 << 20) && !has(1 << 50) && !grants(1 << 50));
        let held = || system::held().expect("Linux says");
        let before = held();
        let block = vec![1u8; 32 << 20];
        let after = held();
        assert!(after.touched >= before.touched + (24 << 20) && block[77] == 1, "{before:?} {after:?}");
        assert!(after.addresses >= after.touched);
    }

    #[test]
    fn what_was_refused_is_no_promise() {
        let (unlooked, start) = (Unlooked::new(), Instant::now());
        let mut promises = Promises { since: None, untouched: 0, bytes: 0 };
        promises.open(Held { addresses: 100, touched: 60 }, start);
        assert!(!unlooked.grants(1 << 40, |_| false, |_| panic!("nothing was granted")));
        // Others look after that, once.
        assert!(unlooked.grants(1 << 20, |bytes| bytes == 1 << 20, |granted| promises.bytes += granted));
        let held = Held { addresses: 100 + (200 << 30), touched: 60 };
        assert_eq!(promises.open(held, start), 1 << 20);
        assert!(unlooked.grants(1 << 20, |_| panic!("little was taken"), |_| {}));
        // What is taken without a look is promised by the next.
        let mut granted = 0;
        assert!(unlooked.grants(UNSEEN, |_| true, |bytes| granted = bytes));
        assert_eq!(granted, UNSEEN + (1 << 20));
    }

    #[test]
    fn what_is_promised_counts_until_it_is_touched() {
        let held = |addresses, touched| Held { addresses, touched };
        let start = Instant::now();
        let mut promises = Promises { since: None, untouched: 0, bytes: 0 };
        assert_eq!(promises.open(held(100, 60), start), 0);
        promises.bytes += 30;
        assert_eq!(promises.open(held(130, 60), start), 30);
        assert_eq!(promises.open(held(130, 80), start), 10);
        // What came from elsewhere is no promise.
        assert_eq!(promises.open(held(900, 60), start), 30);
        // Touched, or freed, and begun anew.
        assert_eq!(promises.open(held(130, 90), start), 0);
        promises.bytes += 30;
        assert_eq!(promises.open(held(160, 90), start + Promises::LATELY), 30);
        assert_eq!(promises.open(held(160, 90), start + 3 * Promises::LATELY), 0);
    }
}
