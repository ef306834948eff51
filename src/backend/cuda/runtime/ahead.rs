//! Kernels that a phase of work will need, compiled side by side before it goes on: each takes the compiler a third of a second, and
//! it works for several threads at once.
//!
//! A list is called only where a kernel is asked for that is not known yet, so that it costs nothing once all are.
use super::program::Program;
use crate::backend::cuda::{Context, Kernel};
use crate::error::Result;
use oplus_codegen::Spec;
use std::borrow::Cow;
use std::cell::Cell;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread;

/// What a thread has for the compiler, which goes deep.
const STACK: usize = 16 << 20;

/// A kernel that will be needed. Of those that share a module one is enough.
#[derive(Debug, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) spec: Spec,
    pub(crate) function: Cow<'static, str>,
}

/// A list somewhere up the stack: see `within`.
type List = *const dyn Fn() -> Vec<Wanted>;

thread_local! { static LIST: Cell<Option<List>> = const { Cell::new(None) }; }

/// The thread's list while it lives.
struct Open {
    before: Option<List>,
}

impl Drop for Open {
    fn drop(&mut self) {
        LIST.set(self.before);
    }
}

/// What `work` makes. The first kernel that it asks for and that is not known yet brings those of the list with it, if there is more
/// than one processor to compile them. What fails of the list is told when it is asked for.
pub(crate) fn listed<R>(list: &dyn Fn() -> Vec<Wanted>, work: impl FnOnce() -> R) -> R {
    if processors() > 1 { within(list, work) } else { work() }
}

fn within<R>(list: &dyn Fn() -> Vec<Wanted>, work: impl FnOnce() -> R) -> R {
    // SAFETY: the lifetime alone changes. `LIST` is this thread's and has the pointer until `_open` goes, or none at all, as only
    // calls inside `work` put others there, and these put back what they found; `list` is borrowed for longer.
    let list = unsafe { std::mem::transmute::<*const (dyn Fn() -> Vec<Wanted> + '_), List>(list) };
    let _open = Open { before: LIST.replace(Some(list)) };
    work()
}

/// The thread's list, if nobody has had it: what it calls has none.
fn taken() -> Option<Vec<Wanted>> {
    // SAFETY: `within` has put it there, has not returned, and borrows it.
    LIST.take().map(|list| unsafe { (*list)() })
}

fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// A kernel that is not known yet, and beside it those of the thread's list.
pub(crate) fn obtained(asked: &Program<'_>, function: &str) -> Result<Kernel> {
    let context: &Arc<Context> = asked.context;
    let mut others: Vec<Wanted> = Vec::new();
    for wanted in taken().unwrap_or_default() {
        let this = wanted.function == function && wanted.spec == asked.spec;
        if !this && !context.known.has(&wanted.spec, &wanted.function) && !others.contains(&wanted) {
            others.push(wanted);
        }
    }
    side_by_side(
        processors(),
        || asked.obtain(function),
        &others,
        |other| {
            // Should it fail, it will again when it is asked for.
            let _ = Program { context, spec: other.spec.clone() }.obtain(&other.function);
        },
    )
}

/// What `asked` makes on this thread, while others `obtain` the rest: no more than `limit` with this one, which helps once it can.
/// Not rayon's: one of those that waits may take other work, while it holds a module's lock.
fn side_by_side<T: Sync, R>(
    limit: usize,
    asked: impl FnOnce() -> Result<R>,
    others: &[T],
    obtain: impl Fn(&T) + Sync,
) -> Result<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(other) = others.get(next.fetch_add(1, Relaxed)) {
            obtain(other);
        }
    };
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok();
        // Where there is no thread to be had, this one has more to do.
        let threads: Vec<_> = (0..others.len().min(limit.saturating_sub(1))).map_while(start).collect();
        let made = asked();
        if made.is_err() {
            // The work ends here, and what is not begun is not needed.
            next.store(others.len(), Relaxed);
        }
        work();
        for thread in threads {
            // One that panicked has left its kernel to who asks for it.
            let _ = thread.join();
        }
        made
    })
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
