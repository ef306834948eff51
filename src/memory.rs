//! Fallible host allocation: anything that grows with the data is taken through here, so that running out is an error.
//!
//! What does not (error texts, boxes, buffers of files, lists of a few blocks, up to some 16 kB each) is allocated as Rust
//! does it, which ends the process. So is gzip's state, of one size whatever the data: `io/file.rs` and `io/output.rs` see first that it is there.
//! `tests/host_memory.rs` lets every other larger allocation of every operation fail once.
mod buffer;
mod machine;
mod pages;
pub(crate) mod setting;
mod spare;

use crate::algebra::Scalar;
use crate::error::{Error, Result};
pub(crate) use buffer::Buffer;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::sync::Arc;

fn out_of_memory<T>(operation: &'static str, n: usize) -> Error {
    Error::OutOfMemory {
        operation,
        device: "host".into(),
        needed: (n as u128 * size_of::<T>() as u128).min(u64::MAX as u128) as u64,
        available: machine::available(),
    }
}

/// Whether `take` gets its `n` elements: what is kept for later may be what is missing now.
fn taken<T>(n: usize, mut take: impl FnMut() -> bool) -> bool {
    let bytes = n.saturating_mul(size_of::<T>());
    // Until it is taken.
    let Some(_granted) = granted(|| machine::grants(bytes)) else { return false };
    take() || (spare::free_all() && take())
}

/// What the machine grants, if need be once it has back what nobody uses.
fn granted<G>(ask: impl Fn() -> Option<G>) -> Option<G> {
    ask().or_else(|| {
        spare::free_all();
        pages::give_back_heap();
        ask()
    })
}

/// Whether there are so many bytes for what is taken in parts: an error before the first part instead of after it.
pub(crate) fn check(operation: &'static str, bytes: u64) -> Result<()> {
    if granted(|| machine::has(bytes).then_some(())).is_some() {
        return Ok(());
    }
    Err(out_of_memory::<u8>(operation, usize::try_from(bytes).unwrap_or(usize::MAX)))
}

/// Bytes that the machine has left, where that is known, with what nobody uses.
pub(crate) fn available() -> Option<u64> {
    spare::free_all();
    pages::give_back_heap();
    machine::available()
}

/// An empty vector with room for `n`.
pub(crate) fn with_capacity<T>(operation: &'static str, n: usize) -> Result<Vec<T>> {
    if let Some(v) = spare::take(n) {
        return Ok(v);
    }
    let mut v = Vec::new();
    if !taken::<T>(n, || v.try_reserve_exact(n).is_ok()) {
        return Err(out_of_memory::<T>(operation, n));
    }
    pages::prefer_huge(v.spare_capacity_mut());
    Ok(v)
}

/// `n` copies of `value`.
pub(crate) fn filled<T: Clone>(operation: &'static str, n: usize, value: T) -> Result<Vec<T>> {
    let mut v = with_capacity(operation, n)?;
    v.resize(n, value);
    Ok(v)
}

/// `n` times all bytes zero, of pages that are not touched where there are many.
pub(crate) fn zeroed<T: Scalar>(operation: &'static str, n: usize) -> Result<Vec<T>> {
    let layout = std::alloc::Layout::array::<T>(n).map_err(|_| out_of_memory::<T>(operation, n))?;
    if layout.size() == 0 {
        return filled(operation, n, T::zeroed());
    }
    let mut start = std::ptr::null_mut();
    let take = || {
        // SAFETY: the size is not zero.
        start = unsafe { std::alloc::alloc_zeroed(layout) };
        !start.is_null()
    };
    if !taken::<T>(n, take) {
        return Err(out_of_memory::<T>(operation, n));
    }
    // SAFETY: all bytes zero is a value by the contract of `Scalar`, and the layout is that of a vector of n.
    Ok(unsafe { Vec::from_raw_parts(start.cast(), n, n) })
}

/// Bytes of a slice that is copied by all threads.
const LONG: usize = 1 << 20;

/// By all threads; of bytes, so that what splits the work is compiled once.
fn copy_bytes(to: &mut [MaybeUninit<u8>], from: &[MaybeUninit<u8>]) {
    to.par_chunks_mut(LONG / 4).zip(from.par_chunks(LONG / 4)).for_each(|(to, from)| to.copy_from_slice(from));
}

/// A copy of a slice.
pub(crate) fn copied<T: Copy + Send + Sync>(operation: &'static str, from: &[T]) -> Result<Vec<T>> {
    let mut v = with_capacity(operation, from.len())?;
    if size_of_val(from) < LONG {
        v.extend_from_slice(from);
        return Ok(v);
    }
    let (to, bytes) = (v.as_mut_ptr().cast::<MaybeUninit<u8>>(), size_of_val(from));
    // SAFETY: both are so many bytes, written or not, and the room is the vector's alone.
    let (to, from_bytes) =
        unsafe { (std::slice::from_raw_parts_mut(to, bytes), std::slice::from_raw_parts(from.as_ptr().cast(), bytes)) };
    copy_bytes(to, from_bytes);
    // SAFETY: there is room for as many, and all were written.
    unsafe { v.set_len(from.len()) };
    Ok(v)
}

/// The values themselves where nobody else has them, else a copy.
pub(crate) fn owned<T: Copy + Send + Sync>(operation: &'static str, values: Arc<Buffer<T>>) -> Result<Vec<T>> {
    match Arc::try_unwrap(values) {
        Ok(values) => Ok(values.into_vec()),
        Err(shared) => copied(operation, &shared),
    }
}

/// Gives back memory that a vector has room for and did not need, where it is worth a call. Large room stays room: it costs
/// nothing while it is not touched, and the next result of this kind asks for as much.
pub(crate) fn trim<T>(v: &mut Vec<T>) {
    let (len, room) = (v.len(), v.capacity());
    if room <= len + len / 8 + 1024 {
        return;
    }
    if !spare::keeps(room.saturating_mul(size_of::<T>())) || !pages::give_back(v.spare_capacity_mut()) {
        v.shrink_to_fit();
    }
}

/// Room for `n` more in a growing vector.
pub(crate) fn reserve<T>(operation: &'static str, v: &mut Vec<T>, n: usize) -> Result<()> {
    if v.capacity() == 0 {
        *v = with_capacity(operation, n)?;
        return Ok(());
    }
    // What is there need not be copied: a large block grows where it stands, or its pages move.
    let room = v.capacity();
    if room - v.len() >= n {
        return Ok(());
    }
    let more = v.len().saturating_add(n).max(room.saturating_mul(2)) - room;
    match taken::<T>(more, || v.try_reserve(n).is_ok()) {
        true => Ok(()),
        false => Err(out_of_memory::<T>(operation, v.len().saturating_add(n))),
    }
}
