//! Small device memory kept for the next that asks, and a page of host memory that the device writes to by itself.
//!
//! The driver's pool takes a microsecond or two to give and to take back, and a copy to pageable memory goes by way of a buffer
//! of the driver's: more, together, than a small product needs. Everything here is in the order of the context's one stream,
//! so what is freed may be given away again at once.
use super::report::{Host, NUMBER};
use crate::backend::cuda::{Context, lock};
use crate::error::Result;
use crate::memory::setting;
use std::sync::Mutex;

/// Sizes kept: powers of two from 2^LEAST to 2^FINE, and from there four between each and the next, up to 2^MOST.
const LEAST: u32 = 8;
const FINE: u32 = 20;
const MOST: u32 = 24;
const CLASSES: usize = (FINE - LEAST + 1 + 4 * (MOST - FINE)) as usize;
/// Bytes of the page, and how many of them copies go through: what a kernel has told last is behind them.
const PAGE: usize = 4096;
pub(crate) const COPIED: usize = 8 * NUMBER;
const _: () = assert!(COPIED + 8 <= PAGE);

/// What is kept.
#[derive(Debug)]
pub(crate) struct Keep {
    /// At most so many bytes; 0: sizes are not rounded and nothing is kept.
    limit: u64,
    free: Mutex<Free>,
    pub(crate) host: Mutex<Host>,
}

#[derive(Debug, Default)]
struct Free {
    bytes: u64,
    by_size: [Vec<u64>; CLASSES],
}

/// A size that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Class {
    number: usize,
    bytes: u64,
}

impl Class {
    /// The least that has room for so many bytes.
    fn of(bytes: u64) -> Option<Class> {
        let power = bytes.max(1).checked_next_power_of_two()?.trailing_zeros().max(LEAST);
        if power <= FINE {
            return Some(Class { number: (power - LEAST) as usize, bytes: 1 << power });
        }
        if power > MOST {
            return None;
        }
        let (below, quarter) = (1u64 << (power - 1), 1u64 << (power - 3));
        let quarters = (bytes - below).div_ceil(quarter);
        let number = u64::from(FINE - LEAST + 4 * (power - 1 - FINE)) + quarters;
        Some(Class { number: number as usize, bytes: below + quarters * quarter })
    }
}

/// A page of host memory.
#[derive(Debug)]
pub(crate) enum Page {
    Untried,
    Refused,
    /// Its address.
    Here(usize),
}

impl Page {
    /// Where it is; asked for at the first call, when the context must be current.
    pub(crate) fn address(&mut self, context: &Context) -> Option<*mut u64> {
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
    pub(crate) fn from_env() -> Keep {
        let limit = setting::bytes(setting::CUDA_KEEP).unwrap_or(256 << 20);
        Keep { limit, free: Mutex::default(), host: Mutex::new(Host::new()) }
    }

    /// Whether anything is kept.
    pub(crate) fn keeps(&self) -> bool {
        self.limit > 0
    }

    fn class(&self, bytes: u64) -> Option<Class> {
        Class::of(bytes).filter(|class| class.bytes <= self.limit)
    }

    /// How much to ask of the driver for `bytes`.
    pub(crate) fn rounded(&self, bytes: u64) -> u64 {
        self.class(bytes).map_or(bytes, |class| class.bytes)
    }

    /// Bytes that are kept.
    pub(crate) fn bytes(&self) -> u64 {
        lock(&self.free).bytes
    }

    /// Memory of that size, if some is kept.
    pub(crate) fn take(&self, bytes: u64) -> Option<u64> {
        let class = self.class(bytes)?;
        let mut free = lock(&self.free);
        let found = free.by_size[class.number].pop()?;
        free.bytes -= class.bytes;
        Some(found)
    }

    /// Keeps memory that was taken for `bytes`. `false`: there is no room for it.
    pub(crate) fn put(&self, pointer: u64, bytes: u64) -> bool {
        let Some(class) = self.class(bytes) else { return false };
        let free = &mut *lock(&self.free);
        let list = &mut free.by_size[class.number];
        if free.bytes + class.bytes > self.limit || list.try_reserve(1).is_err() {
            return false;
        }
        list.push(pointer);
        free.bytes += class.bytes;
        true
    }

    /// All that is kept, to be given back; but for zeros that a kernel is about to be given.
    pub(crate) fn drain(&self) -> Vec<u64> {
        let lists = std::mem::take(&mut *lock(&self.free)).by_size;
        let slate = self.host.try_lock().ok().and_then(|mut host| host.take_slate());
        lists.into_iter().flatten().chain(slate).collect()
    }
}

impl Context {
    /// Copies pieces, each (from, length, to), of together at most [`COPIED`] bytes by way of the page, and waits once. `None`: there is no
    /// page.
    ///
    /// # Safety
    /// Each `from` holds and its `to` has room for so many bytes.
    pub(crate) unsafe fn copy_by_page<const N: usize>(
        &self,
        operation: &'static str,
        pieces: [(u64, usize, *mut u8); N],
    ) -> Option<Result<()>> {
        let mut host = lock(&self.keep.host);
        let page = host.page.address(self)?.cast::<u8>();
        let mut at = 0;
        let placed = pieces.map(|(from, length, to)| {
            at += length;
            // SAFETY: all pieces together are no more than the page has room for.
            (unsafe { page.add(at - length) }, from, length, to)
        });
        let copied = placed.iter().try_for_each(|(place, from, length, _)| {
            // SAFETY: the page is ours alone under the lock and stays; `from` by the caller.
            self.check(operation, unsafe {
                (self.driver().api.memcpy_dtoh_async)(place.cast(), *from, *length, self.stream())
            })
        });
        let done = copied.and(self.synchronize_for(operation));
        if done.is_ok() {
            for (place, _, length, to) in placed {
                // SAFETY: written above; `to` by the caller.
                unsafe { std::ptr::copy_nonoverlapping(place, to, length) };
            }
        }
        Some(done)
    }

    /// Gives the page back.
    pub(crate) fn free_page(&self) {
        if let Page::Here(address) = std::mem::replace(&mut lock(&self.keep.host).page, Page::Refused) {
            // SAFETY: allocated above and freed once.
            unsafe { (self.driver().api.mem_free_host)(address as *mut std::ffi::c_void) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_room_and_waste_little() {
        assert_eq!(Class::of(0), Class::of(1 << LEAST));
        assert_eq!(Class::of(u64::MAX), None);
        assert_eq!(Class::of((1 << MOST) + 1), None);
        let mut before = None;
        for bytes in (0..=1u64 << MOST).step_by(251).chain((LEAST..=MOST).flat_map(|p| [(1 << p) - 1, 1 << p])) {
            let class = Class::of(bytes).unwrap();
            assert!(class.number < CLASSES && class.bytes >= bytes);
            assert!(
                class.bytes <= (2 * bytes).max(1 << LEAST) && (bytes <= 1 << FINE || class.bytes <= bytes + bytes / 4)
            );
            // What is kept for one number has room for all that ask for it.
            assert_eq!(Class::of(class.bytes), Some(class));
            if let Some(before) = before.replace(class)
                && class.bytes > before.bytes
            {
                assert!(class.number > before.number);
            }
        }
    }
}
