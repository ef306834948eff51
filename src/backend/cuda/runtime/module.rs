//! Kernels: compiled or taken from the cache, loaded once a context, and what they take.
use super::api::DriverApi;
use super::cache::{Cache, Key};
use super::nvrtc::{Compiled, Nvrtc, Resources, options};
use crate::backend::cuda::{Context, lock};
use crate::error::{Error, Result};
use cudarc::driver::sys::{CUfunction, CUfunction_attribute as Attribute, CUmodule};
use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A kernel's source text.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// What it is called in messages: the file name the compiler shows.
    pub name: &'a str,
    /// What it is found by within a process: equal keys must mean equal texts.
    pub key: &'a str,
    /// CUDA C++.
    pub text: &'a str,
}

/// The modules of a context, by the source's key. Each has a lock of its own, so that two threads that ask for the same
/// one compile it once, and two that ask for different ones do not wait for each other's loading.
#[derive(Debug, Default)]
pub(crate) struct Modules(Mutex<HashMap<String, Arc<Mutex<Option<Arc<Module>>>>>>);

#[derive(Debug)]
struct Module {
    raw: CUmodule,
    resources: BTreeMap<String, Resources>,
    functions: Mutex<HashMap<String, Arc<Function>>>,
}

// SAFETY: the driver's handles may be used from any thread with the context current.
unsafe impl Send for Module {}
// SAFETY: as above; the rest is immutable or behind a mutex.
unsafe impl Sync for Module {}

#[derive(Debug)]
pub(crate) struct Function {
    raw: CUfunction,
    name: String,
    resources: Option<Resources>,
    attributes: Attributes,
    /// Dynamic shared memory that launches may use at present.
    shared_allowed: AtomicU32,
    /// Blocks at once by threads and shared memory, once asked for.
    occupancy: Mutex<BTreeMap<(u32, u32), u32>>,
}

// SAFETY: as for `Module`.
unsafe impl Send for Function {}
// SAFETY: as for `Module`.
unsafe impl Sync for Function {}

/// What the driver says about a loaded kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes {
    /// Registers a thread.
    pub registers: u32,
    /// Local memory (stack and spills), in bytes a thread.
    pub local: u32,
    /// Static shared memory, in bytes a block.
    pub shared: u32,
    /// The most threads a block may have.
    pub max_threads: u32,
}

impl Modules {
    /// Unloads all. The context must be current and nothing may use them any more.
    pub(crate) fn unload(&self, api: &DriverApi) {
        for (_, slot) in lock(&self.0).drain() {
            if let Some(module) = lock(&slot).take() {
                // SAFETY: loaded into this context, unloaded once, see `Context::drop`.
                unsafe { (api.module_unload)(module.raw) };
            }
        }
    }
}

impl Context {
    /// The kernel `function` of a source: from this context, or from the cache on disk, or compiled.
    pub fn kernel(self: &Arc<Self>, source: &Source<'_>, function: &str) -> Result<Kernel> {
        self.kernel_with(source.name, source.key, function, || Ok(source.text))
    }

    /// As [`Context::kernel`], with a text that is made only if the module is not loaded yet.
    pub fn kernel_with<S: AsRef<str>>(
        self: &Arc<Self>,
        name: &str,
        key: &str,
        function: &str,
        text: impl FnOnce() -> Result<S>,
    ) -> Result<Kernel> {
        let module = self.module(name, key, text)?;
        let function = self.function(&module, name, function)?;
        Ok(Kernel { context: self.clone(), function })
    }

    fn module<S: AsRef<str>>(&self, name: &str, key: &str, text: impl FnOnce() -> Result<S>) -> Result<Arc<Module>> {
        let slot = {
            let mut modules = lock(&self.modules.0);
            match modules.get(key) {
                Some(slot) => slot.clone(),
                None => modules.entry(key.to_owned()).or_default().clone(),
            }
        };
        let mut slot = lock(&slot);
        if let Some(module) = &*slot {
            return Ok(module.clone());
        }
        let module = Arc::new(self.obtain(name, text()?.as_ref())?);
        *slot = Some(module.clone());
        Ok(module)
    }

    /// The module from the disk cache or compiled. A stored one that the driver refuses is compiled anew.
    fn obtain(&self, name: &str, text: &str) -> Result<Module> {
        let nvrtc = Nvrtc::get()?;
        nvrtc.goes_with(self.driver())?;
        let (major, minor) = nvrtc.version();
        let architecture = self.properties().architecture;
        let key = Key::of(&[
            text,
            &options().join(" "),
            &format!("nvrtc {major}.{minor}"),
            &format!("sm_{architecture}"),
            env!("CARGO_PKG_VERSION"),
        ]);
        let cache = Cache::get();
        if let Some(stored) = cache.read(key) {
            match self.load(stored) {
                // Without room for it, it is none the worse.
                found @ (Ok(_) | Err(Error::OutOfMemory { .. })) => return found,
                Err(_) => cache.remove(key),
            }
        }
        let compiled = nvrtc.compile(text, name, architecture, options())?;
        cache.write(key, &compiled);
        self.load(compiled)
    }

    fn load(&self, compiled: Compiled) -> Result<Module> {
        const OPERATION: &str = "load kernel";
        self.bind(OPERATION)?;
        let mut raw = std::ptr::null_mut();
        let image = compiled.image.bytes();
        // SAFETY: a whole CUBIN, or PTX with its NUL, both copied by the driver; unloaded in `Modules::unload`.
        let status = unsafe { (self.driver().api.module_load_data)(&mut raw, image.as_ptr().cast()) };
        self.check_memory(OPERATION, status, image.len() as u64)?;
        Ok(Module { raw, resources: compiled.resources, functions: Mutex::default() })
    }

    fn function(&self, module: &Module, source: &str, name: &str) -> Result<Arc<Function>> {
        const OPERATION: &str = "find kernel";
        let mut functions = lock(&module.functions);
        if let Some(found) = functions.get(name) {
            return Ok(found.clone());
        }
        let missing =
            || Error::InvalidValue { operation: OPERATION, reason: format!("{source} has no kernel named {name}") };
        let symbol = CString::new(name).map_err(|_| missing())?;
        self.bind(OPERATION)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a module of this context; the name ends in NUL.
        let status = unsafe { (self.driver().api.module_get_function)(&mut raw, module.raw, symbol.as_ptr()) };
        if status == cudarc::driver::sys::cudaError_enum::CUDA_ERROR_NOT_FOUND as u32 {
            return Err(missing());
        }
        // A driver that loads lazily takes memory for it now.
        self.check_memory(OPERATION, status, 0)?;
        let read = |which| -> Result<u32> {
            let mut value = 0;
            // SAFETY: a function of this context; a valid place to write to.
            let status = unsafe { (self.driver().api.func_get_attribute)(&mut value, which, raw) };
            self.check_memory("read kernel attribute", status, 0)?;
            Ok(value.max(0) as u32)
        };
        let attributes = Attributes {
            registers: read(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local: read(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            shared: read(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            max_threads: read(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        };
        let shared_allowed = AtomicU32::new(self.properties().shared_per_block.saturating_sub(attributes.shared));
        let resources = module.resources.get(name).copied();
        let function = Arc::new(Function {
            raw,
            name: name.to_owned(),
            resources,
            attributes,
            shared_allowed,
            occupancy: Mutex::default(),
        });
        functions.insert(name.to_owned(), function.clone());
        Ok(function)
    }
}

/// A kernel ready to launch. Cheap to copy; it keeps its context, and thereby its module, alive.
#[derive(Debug, Clone)]
pub struct Kernel {
    context: Arc<Context>,
    function: Arc<Function>,
}

impl Function {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Kernel {
    /// A kernel that this context has loaded before.
    pub(crate) fn of(context: &Arc<Context>, function: Arc<Function>) -> Self {
        Kernel { context: context.clone(), function }
    }

    pub(crate) fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// The context it is loaded in.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Its name in the source.
    pub fn name(&self) -> &str {
        &self.function.name
    }

    /// What the driver says about it.
    pub fn attributes(&self) -> Attributes {
        self.function.attributes
    }

    /// What the compiler said about it, where it made machine code.
    pub fn resources(&self) -> Option<Resources> {
        self.function.resources
    }

    pub(crate) fn raw(&self) -> CUfunction {
        self.function.raw
    }

    /// How many blocks of `threads` threads with `shared` bytes of dynamic shared memory fit on a multiprocessor at once.
    pub fn occupancy(&self, threads: u32, shared: u32) -> Result<u32> {
        const OPERATION: &str = "occupancy";
        if let Some(known) = lock(&self.function.occupancy).get(&(threads, shared)) {
            return Ok(*known);
        }
        self.allow_shared(OPERATION, shared)?;
        let mut blocks = 0;
        // SAFETY: a function of this context, current since `allow_shared`.
        self.context.check(OPERATION, unsafe {
            (self.context.driver().api.occupancy)(
                &mut blocks,
                self.raw(),
                threads.min(i32::MAX as u32) as i32,
                shared as usize,
            )
        })?;
        let blocks = blocks.max(0) as u32;
        lock(&self.function.occupancy).insert((threads, shared), blocks);
        Ok(blocks)
    }

    /// Lets launches use `shared` bytes of dynamic shared memory; above 48 KB a kernel has to ask. Makes the context current.
    pub(crate) fn allow_shared(&self, operation: &'static str, shared: u32) -> Result<()> {
        self.context.bind(operation)?;
        if shared <= self.function.shared_allowed.load(Relaxed) {
            return Ok(());
        }
        let room = self.context.properties().shared_per_block_optin.saturating_sub(self.function.attributes.shared);
        if shared > room {
            let reason = format!(
                "kernel {}: {shared} bytes of dynamic shared memory, {} allows {room} beside the static {}",
                self.name(),
                self.context.device(),
                self.function.attributes.shared
            );
            return Err(Error::InvalidValue { operation, reason });
        }
        // All the device has, once: a smaller number set later by another thread would take it back from this one.
        // SAFETY: a function of this context, which is current.
        self.context.check(operation, unsafe {
            (self.context.driver().api.func_set_attribute)(
                self.raw(),
                Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                room as i32,
            )
        })?;
        self.function.shared_allowed.store(room, Relaxed);
        Ok(())
    }
}
