//! What was launched and how long it took, while somebody wants to know.
use crate::backend::cuda::lock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

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

/// The launches of a context since tracing began.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    on: AtomicBool,
    launches: Mutex<Vec<Timed>>,
}

impl Trace {
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Relaxed)
    }
    pub(crate) fn add(&self, launch: Timed) {
        lock(&self.launches).push(launch);
    }
    /// Begins anew.
    pub(crate) fn begin(&self) {
        lock(&self.launches).clear();
        self.on.store(true, Relaxed);
    }
    /// Ends and gives what was launched.
    pub(crate) fn end(&self) -> Vec<Timed> {
        self.on.store(false, Relaxed);
        std::mem::take(&mut *lock(&self.launches))
    }
}
