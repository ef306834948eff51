//! Bytes on a device.
use super::account::Share;
use super::keep::COPIED;
use crate::backend::cuda::Context;
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::footprint::Footprint;
use bytemuck::Pod;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes on a device, aligned to at least 256, freed in stream order when dropped. It does not know what it holds.
/// A length of 0 is normal and never touches the driver.
pub struct Buffer {
    context: Arc<Context>,
    pointer: u64,
    bytes: u64,
    /// What was allocated: no less than `bytes`.
    capacity: u64,
    serial: u64,
    /// Its part of what the operation that made it may hold.
    _share: Option<Share>,
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffer").field("device", &self.context.device()).field("bytes", &self.bytes).finish()
    }
}

/// Above this a copy from the host waits until the source has been read; below it a copy of the source is cheaper.
const STAGED: usize = 64 << 10;

/// The number of the next buffer.
static SERIAL: AtomicU64 = AtomicU64::new(1);

impl Buffer {
    /// `bytes` of memory, contents unspecified.
    pub fn alloc(context: &Arc<Context>, bytes: u64) -> Result<Buffer> {
        let share = Share::take(context, bytes)?;
        let pointer = if bytes == 0 { 0 } else { context.allocate("allocate", bytes)? };
        let serial = SERIAL.fetch_add(1, Relaxed);
        Ok(Buffer { context: context.clone(), pointer, bytes, capacity: bytes, serial, _share: share })
    }

    /// Memory for `count` values of `T`, contents unspecified.
    pub fn alloc_for<T: Pod>(context: &Arc<Context>, count: usize) -> Result<Buffer> {
        let bytes = count as u128 * size_of::<T>() as u128;
        let bytes = u64::try_from(bytes).map_err(|_| Error::OutOfMemory {
            operation: "allocate",
            device: context.device().to_string(),
            needed: u64::MAX,
            available: None,
        })?;
        Buffer::alloc(context, bytes)
    }

    /// `bytes` zeros.
    pub fn zeroed(context: &Arc<Context>, bytes: u64) -> Result<Buffer> {
        let mut buffer = Buffer::alloc(context, bytes)?;
        buffer.fill(0)?;
        Ok(buffer)
    }

    /// `count` values of `T`, all bits zero.
    pub fn zeroed_for<T: Pod>(context: &Arc<Context>, count: usize) -> Result<Buffer> {
        let mut buffer = Buffer::alloc_for::<T>(context, count)?;
        buffer.fill(0)?;
        Ok(buffer)
    }

    /// A copy of a host slice.
    pub fn from_host<T: Pod>(context: &Arc<Context>, from: &[T]) -> Result<Buffer> {
        let mut buffer = Buffer::alloc(context, size_of_val(from) as u64)?;
        buffer.write(0, from)?;
        Ok(buffer)
    }

    /// Its device handle.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// How many whole values of `T` it holds.
    pub fn len_of<T: Pod>(&self) -> usize {
        match size_of::<T>() {
            0 => 0,
            size => (self.bytes / size as u64) as usize,
        }
    }

    /// Counts all that was allocated.
    pub(crate) fn footprint(&self, to: &mut Footprint) -> bool {
        to.piece(self.serial, self.capacity)
    }

    /// A number that no other buffer has or had, nor this one with other contents once it was shared; not 0.
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// To be called where contents that somebody may have seen are written over: what was found of them is nothing of the new ones.
    pub(crate) fn renew(&mut self) {
        self.serial = SERIAL.fetch_add(1, Relaxed);
    }

    /// The device address, for libraries that take one; 0 if empty. Valid while the buffer lives.
    pub fn pointer(&self) -> u64 {
        self.pointer
    }

    /// Checks that `count` values of `T` from value `start` on lie inside; their bytes.
    fn range<T>(&self, operation: &'static str, start: usize, count: usize) -> Result<Range<u64>> {
        let size = size_of::<T>() as u128;
        let end = (start as u128 + count as u128) * size;
        if end > u128::from(self.bytes) {
            let reason = format!(
                "values {start}..{} of {size} bytes, the buffer holds {} bytes",
                start as u128 + count as u128,
                self.bytes
            );
            return Err(Error::InvalidValue { operation, reason });
        }
        Ok((start as u128 * size) as u64..end as u64)
    }

    /// Writes a host slice over the values of `T` from value `start` on.
    pub fn write<T: Pod>(&mut self, start: usize, from: &[T]) -> Result<()> {
        const OPERATION: &str = "copy to device";
        let range = self.range::<T>(OPERATION, start, from.len())?;
        if range.is_empty() {
            return Ok(());
        }
        self.renew();
        let bytes: &[u8] = bytemuck::cast_slice(from);
        // The driver has read pageable memory before it returns, where the device cannot read that itself; page-locked memory is read
        // later. A slice may be either, so small ones go through pageable memory of ours and large ones wait.
        if bytes.len() <= STAGED && !self.context.reads_host() {
            let staged = memory::copied(OPERATION, bytes)?;
            return self.copy_from(OPERATION, range.start, &staged);
        }
        self.copy_from(OPERATION, range.start, bytes)?;
        self.context.synchronize_for(OPERATION)
    }

    fn copy_from(&mut self, operation: &'static str, at: u64, from: &[u8]) -> Result<()> {
        self.context.bind(operation)?;
        // SAFETY: the caller checked the range; the source stays until it is read, see `write`.
        self.context.check(operation, unsafe {
            (self.context.driver().api.memcpy_htod_async)(
                self.pointer + at,
                from.as_ptr().cast(),
                from.len(),
                self.context.stream(),
            )
        })
    }

    /// All of it as values of `T`. Waits for the device. A length that is no multiple of T's size is an error.
    pub fn to_host<T: Pod>(&self) -> Result<Vec<T>> {
        if size_of::<T>() == 0 || !self.bytes.is_multiple_of(size_of::<T>() as u64) {
            let reason = format!("{} bytes are not a whole number of values of {} bytes", self.bytes, size_of::<T>());
            return Err(Error::InvalidValue { operation: "copy to host", reason });
        }
        self.read::<T>(0..self.len_of::<T>())
    }

    /// Values `range` of `T`. Waits for the device.
    pub fn read<T: Pod>(&self, range: Range<usize>) -> Result<Vec<T>> {
        const OPERATION: &str = "copy to host";
        let count = range.end.saturating_sub(range.start);
        let bytes = self.range::<T>(OPERATION, range.start, count)?;
        let mut to: Vec<T> = memory::with_capacity(OPERATION, count)?;
        if !bytes.is_empty() {
            // SAFETY: the range was checked and there is room for `count` values.
            unsafe { self.copy_to(OPERATION, bytes, to.as_mut_ptr().cast())? };
        }
        // SAFETY: all were written above, and every bit pattern is a T.
        unsafe { to.set_len(count) };
        Ok(to)
    }

    /// All of two buffers, for which the host waits once where they are small.
    pub(crate) fn both_to_host<A: Pod, B: Pod>(a: &Buffer, b: &Buffer) -> Result<(Vec<A>, Vec<B>)> {
        const OPERATION: &str = "copy to host";
        let (m, n) = (a.len_of::<A>(), b.len_of::<B>());
        let (bytes, whole) = ((m * size_of::<A>(), n * size_of::<B>()), a.bytes.saturating_add(b.bytes));
        let together = Arc::ptr_eq(&a.context, &b.context) && m > 0 && n > 0;
        if together && (bytes.0 + bytes.1) as u64 == whole && whole <= COPIED as u64 {
            let mut to: (Vec<A>, Vec<B>) = (memory::with_capacity(OPERATION, m)?, memory::with_capacity(OPERATION, n)?);
            let pieces =
                [(a.pointer, bytes.0, to.0.as_mut_ptr().cast()), (b.pointer, bytes.1, to.1.as_mut_ptr().cast())];
            a.context.bind(OPERATION)?;
            // SAFETY: all of both buffers, and room for them.
            if let Some(done) = unsafe { a.context.copy_by_page(OPERATION, pieces) } {
                done?;
                // SAFETY: all were written above, and every bit pattern is a value.
                unsafe {
                    to.0.set_len(m);
                    to.1.set_len(n);
                }
                return Ok(to);
            }
        }
        Ok((a.to_host()?, b.to_host()?))
    }

    /// Value `index` of `T`. Waits for the device.
    pub fn read_one<T: Pod>(&self, index: usize) -> Result<T> {
        const OPERATION: &str = "copy to host";
        let bytes = self.range::<T>(OPERATION, index, 1)?;
        let mut value = T::zeroed();
        if !bytes.is_empty() {
            // SAFETY: the range was checked; one value of room.
            unsafe { self.copy_to(OPERATION, bytes, (&raw mut value).cast())? };
        }
        Ok(value)
    }

    /// # Safety
    /// `range` lies inside the buffer and `to` has room for it.
    unsafe fn copy_to(&self, operation: &'static str, range: Range<u64>, to: *mut u8) -> Result<()> {
        self.context.bind(operation)?;
        let length = (range.end - range.start) as usize;
        if length <= COPIED {
            let piece = (self.pointer + range.start, length, to);
            // SAFETY: by the caller.
            if let Some(done) = unsafe { self.context.copy_by_page(operation, [piece]) } {
                return done;
            }
        }
        // SAFETY: by the caller; the wait below, on failure too, ends the write before `to` can go.
        let copied = self.context.check(operation, unsafe {
            (self.context.driver().api.memcpy_dtoh_async)(
                to.cast(),
                self.pointer + range.start,
                length,
                self.context.stream(),
            )
        });
        let waited = self.context.synchronize_for(operation);
        copied.and(waited)
    }

    /// Copies bytes `source` of `from` to byte `at` of this one, which is another buffer of the same handle.
    pub fn copy_range(&mut self, at: u64, from: &Buffer, source: Range<u64>) -> Result<()> {
        const OPERATION: &str = "copy on device";
        same_handle(OPERATION, &self.context, &from.context)?;
        let length = source.end.saturating_sub(source.start);
        let fits = source.end <= from.bytes && at.checked_add(length).is_some_and(|end| end <= self.bytes);
        if length > 0 && !fits {
            let reason = format!(
                "bytes {}..{} of a buffer of {} to byte {at} of a buffer of {}",
                source.start, source.end, from.bytes, self.bytes
            );
            return Err(Error::InvalidValue { operation: OPERATION, reason });
        }
        if length == 0 {
            return Ok(());
        }
        self.context.bind(OPERATION)?;
        // SAFETY: both ranges were checked; `&mut self` and `&from` are different buffers.
        self.context.check(OPERATION, unsafe {
            (self.context.driver().api.memcpy_dtod_async)(
                self.pointer + at,
                from.pointer + source.start,
                length as usize,
                self.context.stream(),
            )
        })
    }

    /// A copy on the same handle.
    pub fn duplicate(&self) -> Result<Buffer> {
        let mut copy = Buffer::alloc(&self.context, self.bytes)?;
        copy.copy_range(0, self, 0..self.bytes)?;
        Ok(copy)
    }

    /// Keeps the first `bytes`. They stay where they are while little is lost by that (a small part of them, or of all memory), and
    /// else are moved to memory of their size, if there is any.
    pub(crate) fn shorten(&mut self, bytes: u64) -> Result<()> {
        const LITTLE: u64 = 8192;
        self.bytes = self.bytes.min(bytes);
        let little = self.context.properties().total_memory / LITTLE;
        if self.capacity - self.bytes > little.max(self.bytes / 16)
            && let Ok(copy) = self.duplicate()
        {
            *self = copy;
        }
        Ok(())
    }

    /// Sets every byte.
    pub fn fill(&mut self, byte: u8) -> Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        self.context.bind("fill")?;
        // SAFETY: the whole of our own allocation.
        self.context.check("fill", unsafe {
            (self.context.driver().api.memset_d8_async)(self.pointer, byte, self.bytes as usize, self.context.stream())
        })
    }
}

/// Two things used together must belong to one handle: only then does the stream order them.
pub(crate) fn same_handle(operation: &'static str, left: &Arc<Context>, right: &Arc<Context>) -> Result<()> {
    if Arc::ptr_eq(left, right) {
        return Ok(());
    }
    if left.ordinal() == right.ordinal() {
        let reason = format!("two handles of {} are used together", left.device());
        return Err(Error::InvalidValue { operation, reason });
    }
    Err(Error::DeviceMismatch {
        operation,
        left_name: "the target",
        left: left.device(),
        right_name: "the source",
        right: right.device(),
    })
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.capacity > 0 {
            self.context.free(self.pointer, self.capacity);
        }
    }
}
