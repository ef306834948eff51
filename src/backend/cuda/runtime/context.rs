//! A device made ready: its primary context, one stream, its memory pool and what is known about it.
use super::keep::Keep;
use super::lanes::Lanes;
use super::module::Modules;
use super::probe::{Driver, probe};
use super::program::Known;
use super::trace::{self, Timed};
use crate::backend::cuda::{Buffer, lock};
use crate::device::Device;
use crate::error::{Error, Result};
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute as Attribute, CUevent, CUmemPool_attribute, CUmemoryPool, CUstream,
    cudaError_enum as Code,
};
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

/// What does not change while a device is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// The maker's name for it.
    pub name: String,
    /// Compute capability, 90 for 9.0.
    pub architecture: u32,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Resident threads a multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// Shared memory a block gets without asking, in bytes.
    pub shared_per_block: u32,
    /// Shared memory a block may ask for, in bytes.
    pub shared_per_block_optin: u32,
    /// Shared memory of a multiprocessor, in bytes.
    pub shared_per_multiprocessor: u32,
    /// Second-level cache, in bytes.
    pub l2_cache: u32,
    /// Memory of the device, in bytes.
    pub total_memory: u64,
}

/// A device handle: one stream, on which everything started through it happens in order. Send and Sync; every call makes
/// the device current on the calling thread first.
pub struct Context {
    driver: &'static Driver,
    ordinal: u32,
    device: CUdevice,
    raw: CUcontext,
    stream: CUstream,
    /// `None` where the device has no stream-ordered allocation.
    pool: Option<CUmemoryPool>,
    properties: Properties,
    /// Whether the device reads the host's memory by the host's own page tables.
    reads_host: bool,
    pub(crate) usage: Usage,
    pub(crate) keep: Keep,
    pub(crate) modules: Modules,
    pub(crate) known: Known,
    pub(crate) lanes: OnceLock<Lanes>,
}

// SAFETY: the driver's handles may be used from any thread; `bind` makes the context current before each use.
unsafe impl Send for Context {}
// SAFETY: as above; the driver locks its own structures, ours are atomic or behind a mutex.
unsafe impl Sync for Context {}

/// Bytes that live buffers hold.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    live: AtomicU64,
    peak: AtomicU64,
}

impl Usage {
    pub(crate) fn add(&self, bytes: u64) {
        self.peak.fetch_max(self.live.fetch_add(bytes, Relaxed) + bytes, Relaxed);
    }

    pub(crate) fn subtract(&self, bytes: u64) {
        self.live.fetch_sub(bytes, Relaxed);
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("ordinal", &self.ordinal).field("properties", &self.properties).finish()
    }
}

impl Context {
    /// The handle that everything on device `ordinal` shares, made at the first call and kept for the life of the process.
    pub fn get(ordinal: u32) -> Result<Arc<Context>> {
        static CONTEXTS: Mutex<Vec<Arc<Context>>> = Mutex::new(Vec::new());
        let mut contexts = lock(&CONTEXTS);
        if let Some(found) = contexts.iter().find(|c| c.ordinal == ordinal) {
            return Ok(found.clone());
        }
        let made = Context::separate(ordinal)?;
        contexts.push(made.clone());
        Ok(made)
    }

    /// A handle of its own with its own stream, modules and memory count. Buffers of two handles do not mix.
    pub fn separate(ordinal: u32) -> Result<Arc<Context>> {
        let driver = probe().map_err(|e| e.error(ordinal))?;
        if ordinal >= driver.devices() {
            let reason = format!("the driver sees {} device(s), counted from 0", driver.devices());
            return Err(Error::Unavailable { device: Device::Cuda(ordinal).to_string(), reason });
        }
        let api = &driver.api;
        let device = driver.device(ordinal)?;
        let properties = properties(driver, device)?;
        let host_pages = Attribute::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES;
        let reads_host = driver.attribute(device, host_pages).unwrap_or(0) != 0;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a device of this driver; released in Drop.
        driver.check("open device", unsafe { (api.primary_ctx_retain)(&mut raw, device) })?;
        // From here on Drop gives back what has been taken.
        let mut context = Context {
            driver,
            ordinal,
            device,
            raw,
            stream: std::ptr::null_mut(),
            pool: None,
            lanes: OnceLock::new(),
            properties,
            reads_host,
            usage: Usage::default(),
            keep: Keep::from_env(),
            modules: Modules::default(),
            known: Known::default(),
        };
        context.bind("open device")?;
        const NON_BLOCKING: u32 = 1;
        // SAFETY: the context is current; a valid place to write to.
        driver.check("create stream", unsafe { (api.stream_create)(&mut context.stream, NON_BLOCKING) })?;
        context.pool = context.prepare_pool()?;
        Ok(Arc::new(context))
    }

    /// The device's default pool, told to keep what is freed: by default it returns everything at each synchronisation.
    fn prepare_pool(&self) -> Result<Option<CUmemoryPool>> {
        let api = &self.driver.api;
        let pools = Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
        if self.driver.attribute(self.device, pools).unwrap_or(0) == 0 {
            return Ok(None);
        }
        let mut pool = std::ptr::null_mut();
        // SAFETY: a device of this driver; a valid place to write to.
        self.check("open memory pool", unsafe { (api.device_get_default_mem_pool)(&mut pool, self.device) })?;
        let mut threshold = u64::MAX;
        // SAFETY: this attribute is a cuuint64_t, read during the call.
        self.check("open memory pool", unsafe {
            (api.mem_pool_set_attribute)(
                pool,
                CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&raw mut threshold).cast(),
            )
        })?;
        Ok(Some(pool))
    }

    /// Makes the context current on this thread.
    pub(crate) fn bind(&self, operation: &'static str) -> Result<()> {
        // SAFETY: the context is retained as long as `self` lives.
        self.check(operation, unsafe { (self.driver.api.ctx_set_current)(self.raw) })
    }

    pub(crate) fn check(&self, operation: &'static str, status: u32) -> Result<()> {
        self.driver.check(operation, status)
    }

    /// As `check`, where running out of device memory is a likely failure; `needed` is what was asked for.
    pub(crate) fn check_memory(&self, operation: &'static str, status: u32, needed: u64) -> Result<()> {
        if status == Code::CUDA_ERROR_OUT_OF_MEMORY as u32 {
            return Err(self.out_of_memory(operation, needed));
        }
        self.check(operation, status)
    }

    fn out_of_memory(&self, operation: &'static str, needed: u64) -> Error {
        let available = self.memory().ok().map(|(free, _)| free);
        Error::OutOfMemory { operation, device: self.device().to_string(), needed, available }
    }

    pub(crate) fn driver(&self) -> &'static Driver {
        self.driver
    }

    pub(crate) fn stream(&self) -> CUstream {
        self.stream
    }

    /// The stream's handle (a `CUstream`), for libraries that take one: what they start on it happens in order with ours.
    pub fn raw_stream(&self) -> *mut std::ffi::c_void {
        self.stream.cast()
    }

    /// Makes the context current on this thread, for libraries that work on the current one.
    ///
    /// # Errors
    /// `Driver`.
    pub fn make_current(&self) -> Result<()> {
        self.bind("make context current")
    }

    /// The device's number.
    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }

    /// The device as users name it.
    pub fn device(&self) -> Device {
        Device::Cuda(self.ordinal)
    }

    /// What is known about the device.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }
    pub(crate) fn reads_host(&self) -> bool {
        self.reads_host
    }

    /// Free and total bytes of the device's memory. What the pool keeps counts as taken.
    pub fn memory(&self) -> Result<(u64, u64)> {
        let (mut free, mut total) = (0usize, 0usize);
        self.bind("read free memory")?;
        // SAFETY: a context is current; valid places to write to.
        self.check("read free memory", unsafe { (self.driver.api.mem_get_info)(&mut free, &mut total) })?;
        Ok((free as u64, total as u64))
    }

    /// Bytes that may be asked for: those that are free, and those that were freed and are kept.
    pub(crate) fn available(&self) -> Result<u64> {
        let free = self.memory()?.0.saturating_add(self.keep.bytes());
        let Some(pool) = self.pool else { return Ok(free) };
        let read = |which| {
            let mut bytes = 0u64;
            // SAFETY: the device's own pool; these attributes are a cuuint64_t, for which there is room.
            let status = unsafe { (self.driver.api.mem_pool_get_attribute)(pool, which, (&raw mut bytes).cast()) };
            self.check("read free memory", status).map(|()| bytes)
        };
        let reserved = read(CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
        Ok(free.saturating_add(reserved.saturating_sub(read(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?)))
    }

    /// Waits for everything started through this handle; errors of kernels show here.
    pub fn synchronize(&self) -> Result<()> {
        self.synchronize_for("synchronize")
    }

    pub(crate) fn synchronize_for(&self, operation: &'static str) -> Result<()> {
        self.bind(operation)?;
        // SAFETY: the stream is ours.
        self.check(operation, unsafe { (self.driver.api.stream_synchronize)(self.stream) })
    }

    /// Gives memory that no buffer holds back to the device.
    pub fn trim(&self) -> Result<()> {
        const OPERATION: &str = "trim memory pool";
        self.bind(OPERATION)?;
        self.keep.drain().into_iter().for_each(|pointer| self.release(pointer));
        // What was freed in the order of the stream counts as held until the host has waited for it.
        self.synchronize_for(OPERATION)?;
        match self.pool {
            // SAFETY: the device's own pool.
            Some(pool) => self.check(OPERATION, unsafe { (self.driver.api.mem_pool_trim_to)(pool, 0) }),
            None => Ok(()),
        }
    }

    /// Bytes that live buffers of this handle hold.
    pub fn memory_in_use(&self) -> u64 {
        self.usage.live.load(Relaxed)
    }

    /// The most bytes held at once since the start or the last [`Context::reset_peak`].
    pub fn peak(&self) -> u64 {
        self.usage.peak.load(Relaxed)
    }

    /// Starts the count of [`Context::peak`] again from what is held now.
    pub fn reset_peak(&self) {
        self.usage.peak.store(self.memory_in_use(), Relaxed);
    }

    /// Device memory for `bytes` > 0, in the order of the stream: after an allocation fails the pool is emptied and it is
    /// tried once more.
    pub(crate) fn allocate(&self, operation: &'static str, bytes: u64) -> Result<u64> {
        if let Some(pointer) = self.keep.take(bytes) {
            self.usage.add(bytes);
            return Ok(pointer);
        }
        let size = usize::try_from(self.keep.rounded(bytes)).map_err(|_| self.out_of_memory(operation, bytes))?;
        self.bind(operation)?;
        let api = &self.driver.api;
        let attempt = || {
            let mut pointer = 0;
            let status = match self.pool {
                // SAFETY: a context is current, the stream is ours, a valid place to write to.
                Some(_) => unsafe { (api.mem_alloc_async)(&mut pointer, size, self.stream) },
                // SAFETY: a context is current, a valid place to write to.
                None => unsafe { (api.mem_alloc)(&mut pointer, size) },
            };
            (status, pointer)
        };
        let mut last = attempt();
        if last.0 == Code::CUDA_ERROR_OUT_OF_MEMORY as u32 {
            self.trim()?;
            last = attempt();
        }
        self.check_memory(operation, last.0, bytes)?;
        self.usage.add(bytes);
        Ok(last.1)
    }

    /// Frees what `allocate` gave, in the order of the stream. There is nobody to report to, and nothing to do about it.
    pub(crate) fn free(&self, pointer: u64, bytes: u64) {
        self.usage.subtract(bytes);
        if !self.keep.put(pointer, bytes) && self.bind("free").is_ok() {
            self.release(pointer);
        }
    }

    /// Gives memory back to the driver; the context is current.
    pub(crate) fn release(&self, pointer: u64) {
        let api = &self.driver.api;
        match self.pool {
            // SAFETY: allocated by `allocate` on this stream and freed once.
            Some(_) => unsafe { (api.mem_free_async)(pointer, self.stream) },
            // SAFETY: allocated by `allocate` and freed once; this call waits for work that uses it.
            None => unsafe { (api.mem_free)(pointer) },
        };
    }

    /// Milliseconds the device takes for what `work` starts through this handle, by events on its stream.
    pub fn time<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, f64)> {
        const OPERATION: &str = "time";
        let (start, end) = (Event::new(self)?, Event::new(self)?);
        start.record()?;
        let result = work()?;
        end.record()?;
        self.bind(OPERATION)?;
        let mut milliseconds = 0f32;
        // SAFETY: recorded above.
        self.check(OPERATION, unsafe { (self.driver.api.event_synchronize)(end.raw) })?;
        // SAFETY: both recorded, the later one completed.
        self.check(OPERATION, unsafe { (self.driver.api.event_elapsed_time)(&mut milliseconds, start.raw, end.raw) })?;
        Ok((result, f64::from(milliseconds)))
    }

    /// What `work` launches through this handle on the calling thread, each timed by itself: every launch is waited for. Other threads'
    /// launches are no part of it, and are not waited for.
    ///
    /// # Errors
    /// Those of `work`; `Driver`.
    pub fn trace<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Vec<Timed>)> {
        trace::of(self, work)
    }

    /// Device memory for `count` values of `T`, contents unspecified.
    pub fn alloc<T: bytemuck::Pod>(self: &Arc<Self>, count: usize) -> Result<Buffer> {
        Buffer::alloc_for::<T>(self, count)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let api = &self.driver.api;
        if self.bind("close device").is_ok() {
            // Buffers and kernels hold the context, so none is left; but what was launched may be at work yet.
            if !self.stream.is_null() {
                // SAFETY: ours.
                unsafe { (api.stream_synchronize)(self.stream) };
            }
            // Modules go before the context does.
            if let Some(lanes) = self.lanes.get() {
                lanes.close(api);
            }
            self.modules.unload(api);
            self.keep.drain().into_iter().for_each(|pointer| self.release(pointer));
            self.free_page();
            if !self.stream.is_null() {
                // SAFETY: ours, and destroyed once; pending is at most what was freed above, which is completed first.
                unsafe { (api.stream_synchronize)(self.stream) };
                // SAFETY: as above.
                unsafe { (api.stream_destroy)(self.stream) };
            }
        }
        // SAFETY: retained once in `separate`.
        unsafe { (api.primary_ctx_release)(self.device) };
    }
}

struct Event<'a> {
    context: &'a Context,
    raw: CUevent,
}

impl<'a> Event<'a> {
    fn new(context: &'a Context) -> Result<Self> {
        context.bind("create event")?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a context is current; a valid place to write to.
        context.check("create event", unsafe { (context.driver.api.event_create)(&mut raw, 0) })?;
        Ok(Self { context, raw })
    }

    fn record(&self) -> Result<()> {
        self.context.bind("record event")?;
        // SAFETY: our event on our stream.
        self.context
            .check("record event", unsafe { (self.context.driver.api.event_record)(self.raw, self.context.stream) })
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        if self.context.bind("destroy event").is_ok() {
            // SAFETY: ours, and destroyed once.
            unsafe { (self.context.driver.api.event_destroy)(self.raw) };
        }
    }
}

fn properties(driver: &Driver, device: CUdevice) -> Result<Properties> {
    let mut name = [0u8; 256];
    // SAFETY: room for 256 bytes with the NUL.
    driver.check("read device name", unsafe {
        (driver.api.device_get_name)(name.as_mut_ptr().cast::<c_char>(), name.len() as c_int, device)
    })?;
    let mut total = 0usize;
    // SAFETY: a valid place to write to.
    driver.check("read device memory", unsafe { (driver.api.device_total_mem)(&mut total, device) })?;
    let read = |which| driver.attribute(device, which);
    let shared_per_block = read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?;
    Ok(Properties {
        name: name.split(|&b| b == 0).next().map(|n| String::from_utf8_lossy(n).into_owned()).unwrap_or_default(),
        architecture: driver.architecture(device)?,
        multiprocessors: read(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads_per_multiprocessor: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        shared_per_block,
        shared_per_block_optin: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?
            .max(shared_per_block),
        shared_per_multiprocessor: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
        l2_cache: read(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
        total_memory: total as u64,
    })
}
