//! Small device memory kept for the next that asks, and a page of host memory that the device writes to by itself.
//!
//! The driver's pool takes a microsecond or two to give and to take back, and a copy to pageable memory goes by way of a buffer
//! of the driver's: more, together, than a small product needs. Everything here is in the order of the context's one stream,
//! so what is freed may be given away again at once.
use super::report::Host;
use super::{Context, lock};
use crate::error::Result;
use std::sync::Mutex;

/// Sizes kept: powers of two from 2^8 to 2^20.
const LEAST: u32 = 8;
const MOST: u32 = 20;
/// Bytes of the page.
pub(super) const PAGE: usize = 4096;

/// What is kept.
#[derive(Debug)]
pub(super) struct Keep {
    /// At most so many bytes; 0: sizes are not rounded and nothing is kept.
    limit: u64,
    free: Mutex<Free>,
    pub(super) host: Mutex<Host>,
}

#[derive(Debug, Default)]
struct Free {
    bytes: u64,
    by_size: [Vec<u64>; (MOST - LEAST + 1) as usize],
}

/// A page of host memory.
#[derive(Debug)]
pub(super) enum Page {
    Untried,
    Refused,
    /// Its address.
    Here(usize),
}

impl Page {
    /// Where it is; asked for at the first call, when the context must be current.
    pub(super) fn address(&mut self, context: &Context) -> Option<*mut u64> {
        if let Page::Untried = self {
            let mut found = std::ptr::null_mut();
            // SAFETY: the context is current; a valid place to write to.
            let status = unsafe { (context.driver().api.mem_host_alloc)(&mut found, PAGE, 0) };
            *self = if status == 0 && !found.is_null() { Page::Here(found as usize) } else { Page::Refused };
        }
        match self {
            Page::Here(address) => Some(*address as *mut u64),
            _ => None,
        }
    }
}

impl Keep {
    /// As `OPLUS_CUDA_KEEP` says, in bytes.
    pub(super) fn from_env() -> Keep {
        let limit = std::env::var("OPLUS_CUDA_KEEP").ok().and_then(|v| v.trim().parse().ok()).unwrap_or(64 << 20);
        Keep { limit, free: Mutex::default(), host: Mutex::new(Host::new()) }
    }

    /// Whether anything is kept.
    pub(super) fn keeps(&self) -> bool {
        self.limit > 0
    }

    fn class(&self, bytes: u64) -> Option<u32> {
        let power = bytes.max(1).checked_next_power_of_two()?.trailing_zeros().max(LEAST);
        (self.limit > 0 && power <= MOST).then_some(power)
    }

    /// How much to ask of the driver for `bytes`.
    pub(super) fn rounded(&self, bytes: u64) -> u64 {
        self.class(bytes).map_or(bytes, |power| 1 << power)
    }

    /// Memory of that size, if some is kept.
    pub(super) fn take(&self, bytes: u64) -> Option<u64> {
        let power = self.class(bytes)?;
        let mut free = lock(&self.free);
        let found = free.by_size[(power - LEAST) as usize].pop()?;
        free.bytes -= 1 << power;
        Some(found)
    }

    /// Keeps memory that was taken for `bytes`. `false`: there is no room for it.
    pub(super) fn put(&self, pointer: u64, bytes: u64) -> bool {
        let Some(power) = self.class(bytes) else { return false };
        let mut free = lock(&self.free);
        let list = &mut free.by_size[(power - LEAST) as usize];
        if list.try_reserve(1).is_err() {
            return false;
        }
        list.push(pointer);
        free.bytes += 1 << power;
        if free.bytes <= self.limit {
            return true;
        }
        free.by_size[(power - LEAST) as usize].pop();
        free.bytes -= 1 << power;
        false
    }

    /// All that is kept, to be given back; but for zeros that a kernel is about to be given.
    pub(super) fn drain(&self) -> Vec<u64> {
        let lists = std::mem::take(&mut *lock(&self.free)).by_size;
        let slate = self.host.try_lock().ok().and_then(|mut host| host.take_slate());
        lists.into_iter().flatten().chain(slate).collect()
    }
}

impl Context {
    /// Copies `length` <= [`PAGE`] bytes at `from` to `to` by way of the page, and waits. `None`: there is no page.
    ///
    /// # Safety
    /// `from` holds and `to` has room for so many bytes.
    pub(super) unsafe fn copy_by_page(
        &self,
        operation: &'static str,
        from: u64,
        length: usize,
        to: *mut u8,
    ) -> Option<Result<()>> {
        let mut host = lock(&self.keep.host);
        let source = host.page.address(self)?.cast::<u8>();
        // SAFETY: the page is ours alone under the lock and stays; `from` by the caller.
        let copied = self.check(operation, unsafe {
            (self.driver().api.memcpy_dtoh_async)(source.cast(), from, length, self.stream())
        });
        let done = copied.and(self.synchronize_for(operation));
        if done.is_ok() {
            // SAFETY: written above; `to` by the caller.
            unsafe { std::ptr::copy_nonoverlapping(source, to, length) };
        }
        Some(done)
    }

    /// Gives the page back.
    pub(super) fn free_page(&self) {
        if let Page::Here(address) = std::mem::replace(&mut lock(&self.keep.host).page, Page::Refused) {
            // SAFETY: allocated above and freed once.
            unsafe { (self.driver().api.mem_free_host)(address as *mut std::ffi::c_void) };
        }
    }
}
