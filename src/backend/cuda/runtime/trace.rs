//! What was launched and how long it took, while somebody wants to know.
use super::context::Context;
use crate::error::Result;
use std::cell::RefCell;

/// One launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// The kernel.
    pub kernel: String,
    /// Blocks.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u64,
    /// Bytes of dynamic shared memory of a block.
    pub shared: u32,
    /// Bytes of the buffers given to it.
    pub bytes: u64,
    /// Milliseconds on the device.
    pub ms: f64,
}

/// The launches on a context since its trace began.
struct Trace {
    /// Where the context is: it outlives its traces.
    context: usize,
    launches: Vec<Timed>,
}

// Kernels are launched by the thread that called the operation, so a trace is the thread's; one may begin inside another.
thread_local! { static OPEN: RefCell<Vec<Trace>> = const { RefCell::new(Vec::new()) }; }

fn place(context: &Context) -> usize {
    std::ptr::from_ref(context) as usize
}

/// Whether this thread's launches on the context are timed.
pub(crate) fn is_on(context: &Context) -> bool {
    OPEN.with(|open| open.borrow().iter().any(|trace| trace.context == place(context)))
}

/// Puts the thread's traces aside until this goes, as [`account::aside`](super::account::aside).
#[must_use]
pub(crate) fn aside() -> impl Drop {
    struct Aside(Vec<Trace>);
    impl Drop for Aside {
        fn drop(&mut self) {
            OPEN.set(std::mem::take(&mut self.0));
        }
    }
    Aside(OPEN.take())
}

/// A launch by this thread.
pub(crate) fn add(context: &Context, launch: &Timed) {
    OPEN.with(|open| {
        let mut open = open.borrow_mut();
        open.iter_mut().filter(|t| t.context == place(context)).for_each(|t| t.launches.push(launch.clone()));
    });
}

/// What `work` makes, and what this thread launched for it.
pub(crate) fn of<R>(context: &Context, work: impl FnOnce() -> Result<R>) -> Result<(R, Vec<Timed>)> {
    /// The thread's innermost trace while it lives.
    struct Innermost;
    impl Drop for Innermost {
        fn drop(&mut self) {
            OPEN.with(|open| open.borrow_mut().pop());
        }
    }
    OPEN.with(|open| open.borrow_mut().push(Trace { context: place(context), launches: Vec::new() }));
    let _innermost = Innermost;
    let made = work()?;
    let launches = OPEN.with(|open| open.borrow_mut().last_mut().map(|trace| std::mem::take(&mut trace.launches)));
    Ok((made, launches.unwrap_or_default()))
}
