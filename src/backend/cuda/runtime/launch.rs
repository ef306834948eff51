//! Starting a kernel: grid, block, shared memory and arguments, checked before the driver sees them.
use super::buffer::same_handle;
use super::trace::{self, Timed};
use crate::backend::cuda::{Buffer, Kernel};
use crate::error::{Error, Result};
use bytemuck::Pod;
use cudarc::driver::sys::CUstream;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ffi::c_void;
use std::marker::PhantomData;

/// Room for one argument, aligned as any scalar wants it.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Slot([u8; 16]);

/// Arguments, and where each begins.
#[derive(Default)]
struct List {
    slots: Vec<Slot>,
    starts: Vec<u32>,
    /// Of all buffers given.
    traffic: u64,
    error: Option<Error>,
}

thread_local! { static SPARE: RefCell<Option<Box<List>>> = const { RefCell::new(None) }; }

/// A list whose room is handed on from launch to launch of a thread. Boxed, for a launch is moved with every argument.
struct Arguments(Option<Box<List>>);

impl Arguments {
    fn room() -> Self {
        Self(SPARE.try_with(|spare| spare.borrow_mut().take()).ok().flatten())
    }
    fn list(&mut self) -> &mut List {
        self.0.get_or_insert_default()
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        if let Some(mut list) = self.0.take() {
            list.slots.clear();
            list.starts.clear();
            (list.traffic, list.error) = (0, None);
            // Not while the thread ends.
            let _ = SPARE.try_with(|spare| *spare.borrow_mut() = Some(list));
        }
    }
}

/// Blocks or threads: a number, or two or three dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent(u64, u64, u64);

impl From<u32> for Extent {
    fn from(x: u32) -> Self {
        Extent(x.into(), 1, 1)
    }
}

impl From<u64> for Extent {
    fn from(x: u64) -> Self {
        Extent(x, 1, 1)
    }
}

impl From<usize> for Extent {
    fn from(x: usize) -> Self {
        Extent(x as u64, 1, 1)
    }
}

impl From<(u32, u32)> for Extent {
    fn from((x, y): (u32, u32)) -> Self {
        Extent(x.into(), y.into(), 1)
    }
}

impl From<(u32, u32, u32)> for Extent {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Extent(x.into(), y.into(), z.into())
    }
}

/// A launch being put together; [`Launch::run`] starts it.
#[must_use = "a launch does nothing until run"]
pub struct Launch<'a> {
    kernel: &'a Kernel,
    grid: Extent,
    block: Extent,
    shared: u32,
    arguments: Arguments,
    buffers: PhantomData<&'a Buffer>,
}

impl std::fmt::Debug for Launch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launch")
            .field("kernel", &self.kernel.name())
            .field("grid", &self.grid)
            .field("block", &self.block)
            .field("shared", &self.shared)
            .field("arguments", &self.arguments.0.as_ref().map_or(0, |list| list.starts.len()))
            .finish()
    }
}

/// What a kernel takes: a buffer as the address of its first byte (null if empty), a scalar or a `repr(C)` struct by value.
pub trait Argument<'a> {
    /// Appends it to the arguments.
    fn push(self, launch: &mut Launch<'a>);
}

impl<'a> Argument<'a> for &'a Buffer {
    fn push(self, launch: &mut Launch<'a>) {
        if let Err(e) = same_handle(OPERATION, launch.kernel.context(), self.context()) {
            launch.arguments.list().error.get_or_insert(e);
        }
        launch.arguments.list().traffic += self.bytes();
        launch.value(&self.pointer());
    }
}

impl<'a> Argument<'a> for &'a mut Buffer {
    fn push(self, launch: &mut Launch<'a>) {
        (&*self).push(launch);
    }
}

/// A null pointer where the buffer is absent.
impl<'a> Argument<'a> for Option<&'a Buffer> {
    fn push(self, launch: &mut Launch<'a>) {
        match self {
            Some(buffer) => buffer.push(launch),
            None => launch.value(&0u64),
        }
    }
}

macro_rules! scalars {
    ($($t:ty)*) => { $(impl<'a> Argument<'a> for $t {
        fn push(self, launch: &mut Launch<'a>) {
            launch.value(&self);
        }
    })* };
}
scalars!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

impl Argument<'_> for bool {
    fn push(self, launch: &mut Launch<'_>) {
        launch.value(&u8::from(self));
    }
}

const OPERATION: &str = "launch";

impl Kernel {
    /// A launch of `grid` blocks of `block` threads with `shared` bytes of dynamic shared memory. No block is no work.
    pub fn launch<'a>(&'a self, grid: impl Into<Extent>, block: impl Into<Extent>, shared: u32) -> Launch<'a> {
        Launch {
            kernel: self,
            grid: grid.into(),
            block: block.into(),
            shared,
            arguments: Arguments::room(),
            buffers: PhantomData,
        }
    }
}

impl<'a> Launch<'a> {
    /// Adds an argument; they are given in the kernel's order.
    #[inline]
    pub fn arg(mut self, argument: impl Argument<'a>) -> Self {
        argument.push(&mut self);
        self
    }

    /// Adds a plain value of any type, by value; for structs, and for scalars of a generic type.
    #[inline]
    pub fn scalar<T: Pod>(mut self, value: T) -> Self {
        const { assert!(align_of::<T>() <= 16) };
        self.value(&value);
        self
    }

    #[inline]
    fn value<T: Pod>(&mut self, value: &T) {
        if size_of::<T>() > size_of::<Slot>() {
            return self.bytes(bytemuck::bytes_of(value));
        }
        // Of a size known when compiled: no call to copy it.
        let mut slot = Slot([0; 16]);
        slot.0[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(value));
        let List { slots, starts, .. } = self.arguments.list();
        starts.push(slots.len() as u32);
        slots.push(slot);
    }

    /// A value of any type by its bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let List { slots, starts, .. } = self.arguments.list();
        starts.push(slots.len() as u32);
        // At least one slot each, so that an argument's address is never past the end.
        for chunk in bytes.chunks(16).chain(bytes.is_empty().then_some(&[][..])) {
            let mut slot = Slot([0; 16]);
            slot.0[..chunk.len()].copy_from_slice(chunk);
            slots.push(slot);
        }
    }

    /// Starts it on the context's stream and does not wait. Limits of the launch are checked here; what the kernel itself
    /// does wrong shows at the next synchronisation.
    ///
    /// # Safety
    /// The arguments are the kernel's in number, order and type, and with them it touches nothing but the buffers given,
    /// inside their lengths, and no buffer in two ways at once that Rust would not allow.
    pub unsafe fn run(self) -> Result<()> {
        let stream = self.kernel.context().stream();
        // SAFETY: the caller's promise.
        unsafe { self.run_on(stream) }
    }

    /// As [`run`](Self::run), on another stream of the same context.
    ///
    /// # Safety
    /// As there, and the buffers live until the context's own stream has waited for this one.
    pub(crate) unsafe fn run_on(mut self, stream: CUstream) -> Result<()> {
        let list = self.arguments.list();
        if let Some(error) = list.error.take() {
            return Err(error);
        }
        let (Extent(gx, gy, gz), Extent(bx, by, bz)) = (self.grid, self.block);
        let threads = u128::from(bx) * u128::from(by) * u128::from(bz);
        let name = self.kernel.name();
        let invalid = |reason: String| {
            Err(Error::InvalidValue { operation: OPERATION, reason: format!("kernel {name}: {reason}") })
        };
        if gx == 0 || gy == 0 || gz == 0 {
            return Ok(());
        }
        if gx > i32::MAX as u64 || gy > 65_535 || gz > 65_535 {
            return invalid(format!("a grid of {gx}×{gy}×{gz} blocks, the limit is 2147483647×65535×65535"));
        }
        let limit = self.kernel.attributes().max_threads;
        if threads == 0 || threads > u128::from(limit) || bz > 64 {
            return invalid(format!("a block of {bx}×{by}×{bz} threads, from 1 to {limit} are possible"));
        }
        self.kernel.allow_shared(OPERATION, self.shared)?;
        let base = list.slots.as_mut_ptr();
        // SAFETY: `starts` holds indices into `slots`, which does not grow any more.
        let mut addresses: SmallVec<[*mut c_void; 36]> =
            list.starts.iter().map(|&s| unsafe { base.add(s as usize) }.cast()).collect();
        let context = self.kernel.context();
        // SAFETY: limits checked above; the driver copies the arguments before it returns; what the kernel does with
        // them is the caller's promise.
        let mut start = || unsafe {
            (context.driver().api.launch_kernel)(
                self.kernel.raw(),
                gx as u32,
                gy as u32,
                gz as u32,
                bx as u32,
                by as u32,
                bz as u32,
                self.shared,
                stream,
                addresses.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        let status = if trace::is_on(context) {
            let (status, ms) = context.time(|| Ok(start()))?;
            let (kernel, threads) = (name.to_owned(), threads as u64);
            let (blocks, shared, bytes) = (gx * gy * gz, self.shared, list.traffic);
            trace::add(context, &Timed { kernel, blocks, threads, shared, bytes, ms });
            status
        } else {
            start()
        };
        // A launch takes memory for the stacks of all threads that can be resident.
        let p = context.properties();
        let stacks = u64::from(p.multiprocessors) * u64::from(p.threads_per_multiprocessor);
        context.check_memory(OPERATION, status, stacks * u64::from(self.kernel.attributes().local))
    }
}
