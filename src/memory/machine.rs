//! What the machine has left. Linux hands out more memory than there is and ends the process that touches it, which nobody can
//! handle; so what is large is asked for here before it is taken.
use super::setting;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that are taken without a look, together: touching them takes a hundred times as long as a look.
const UNSEEN: u64 = 64 << 20;
/// Requests below are not counted.
const SMALL: usize = 64 << 10;

/// So many bytes more, where they can be touched, as far as is known; `None` where not.
pub(super) fn grants(bytes: usize) -> Option<Granted> {
    static UNLOOKED: Unlooked = Unlooked::new();
    if bytes < SMALL {
        return Some(Granted(0));
    }
    let bytes = bytes as u64;
    // From the look to the promise nobody else looks.
    let look = || {
        let mut promises = Promises::all();
        promises.fit(bytes).then_some(promises)
    };
    UNLOOKED.grants(bytes, look, |mut promises, unseen| {
        promises.bytes = promises.bytes.saturating_add(unseen);
        promises.pending = promises.pending.saturating_add(bytes);
    })
}

/// Bytes that were granted by a look; in flight, whatever the process is seen to hold, until this is dropped behind their allocation.
pub(super) struct Granted(u64);
impl Drop for Granted {
    fn drop(&mut self) {
        if self.0 > 0 {
            let mut promises = Promises::all();
            promises.pending = promises.pending.saturating_sub(self.0);
            promises.bytes = promises.bytes.saturating_add(self.0);
        }
    }
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
    /// `bytes`, where there is room: by a `look` where much was taken without; `promise` is told what that gave, and what was taken
    /// since the last.
    fn grants<P>(&self, bytes: u64, look: impl FnOnce() -> Option<P>, promise: impl FnOnce(P, u64)) -> Option<Granted> {
        let unseen = |taken: u64| taken.checked_add(bytes).filter(|sum| *sum < UNSEEN);
        if !self.refused.load(Ordering::Relaxed)
            && self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, unseen).is_ok()
        {
            return Some(Granted(0));
        }
        let fits = look();
        self.refused.store(fits.is_none(), Ordering::Relaxed);
        promise(fits?, self.bytes.swap(0, Ordering::Relaxed));
        Some(Granted(bytes))
    }
}

/// The same of what is taken in parts, which are counted when they are.
pub(super) fn has(bytes: u64) -> bool {
    bytes < UNSEEN || Promises::all().fit(bytes)
}

/// Bytes that can be had beside what was granted and is not touched yet, where that is known.
pub(super) fn available() -> Option<u64> {
    Promises::all().left()
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
    /// Granted beside these, and perhaps no address yet.
    pending: u64,
}
impl Promises {
    const LATELY: Duration = Duration::from_secs(1);
    const NONE: Self = Self { since: None, untouched: 0, bytes: 0, pending: 0 };

    fn all() -> MutexGuard<'static, Self> {
        static ALL: Mutex<Promises> = Mutex::new(Promises::NONE);
        ALL.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn fit(&mut self, bytes: u64) -> bool {
        self.left().is_none_or(|left| bytes <= left)
    }
    fn left(&mut self) -> Option<u64> {
        let held = system::held();
        let allowed = allowed().and_then(|most| Some(most.saturating_sub(held?.touched)));
        let left = system::left().into_iter().chain(allowed).min()?;
        Some(left.saturating_sub(held.map_or(0, |held| self.open(held, Instant::now()))))
    }
    /// Bytes that were granted and not touched. Addresses without memory come from elsewhere too, so neither figure alone says it.
    fn open(&mut self, held: Held, now: Instant) -> u64 {
        let untouched = held.addresses.saturating_sub(held.touched);
        if self.since.is_none_or(|since| now.duration_since(since) > Self::LATELY) || untouched <= self.untouched {
            *self = Self { since: Some(now), untouched, bytes: 0, pending: self.pending };
        }
        self.bytes.min(untouched - self.untouched).saturating_add(self.pending)
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
        assert!(has(1 << 20) && !has(1 << 50) && grants(1 << 50).is_none());
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
        let mut promises = Promises::NONE;
        promises.open(Held { addresses: 100, touched: 60 }, start);
        assert!(unlooked.grants(1 << 40, || None, |_: (), _| panic!("nothing was granted")).is_none());
        // Others look after that, once.
        let granted = unlooked.grants(1 << 20, || Some(()), |(), unseen| assert_eq!(unseen, 0));
        assert_eq!(granted.map(|granted| std::mem::ManuallyDrop::new(granted).0), Some(1 << 20));
        promises.bytes += 1 << 20;
        let held = Held { addresses: 100 + (200 << 30), touched: 60 };
        assert_eq!(promises.open(held, start), 1 << 20);
        assert!(unlooked.grants(1 << 20, || panic!("little was taken"), |(), _| {}).is_some());
        // What is taken without a look is promised by the next.
        let mut granted = 0;
        let _granted = std::mem::ManuallyDrop::new(unlooked.grants(UNSEEN, || Some(()), |(), unseen| granted = unseen));
        assert_eq!(granted, 1 << 20);
    }

    #[test]
    fn what_is_promised_counts_until_it_is_touched() {
        let held = |addresses, touched| Held { addresses, touched };
        let start = Instant::now();
        let mut promises = Promises::NONE;
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
        // What another thread is about to take counts, whatever is seen of the process, and is then as all that was granted.
        promises.pending += 50;
        assert_eq!(promises.open(held(130, 90), start + 3 * Promises::LATELY), 50);
        assert_eq!(promises.open(held(180, 90), start + 3 * Promises::LATELY), 50);
        (promises.pending, promises.bytes) = (0, 50);
        assert_eq!(promises.open(held(180, 90), start + 3 * Promises::LATELY), 50);
        assert_eq!(promises.open(held(180, 100), start + 3 * Promises::LATELY), 40);
    }

    /// Threads that ask at once are granted no more than there is.
    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn threads_that_look_at_once_are_granted_what_there_is() {
        let most = available().expect("Linux says") as usize;
        let (each, begin) = (most / 5 * 3, std::sync::Barrier::new(2));
        let both = std::thread::scope(|scope| {
            let ask = || {
                begin.wait();
                let granted = grants(each);
                begin.wait();
                granted.is_some()
            };
            let (first, second) = (scope.spawn(ask), scope.spawn(ask));
            [first, second].map(|thread| thread.join().unwrap_or_default())
        });
        assert!(both.contains(&true) && both.contains(&false), "{both:?}");
    }
}
