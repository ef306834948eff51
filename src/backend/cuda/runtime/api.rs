//! Tables of the driver's and NVRTC's functions, filled once, so that a missing symbol is an answer and not a panic.
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute,
    CUmemPool_attribute, CUmemoryPool, CUmodule, CUstream,
};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// Defines a struct of function pointers and how to fill it from a library. A function may have several names: the
/// first one found is taken. The library is never unloaded.
macro_rules! library {
    ($(#[$doc:meta])* struct $table:ident; $(fn $field:ident = $($symbol:literal)|+ ($($arg:ty),*) -> $result:ty;)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $table { $(pub(crate) $field: unsafe extern "C" fn($($arg),*) -> $result,)* }

        impl $table {
            /// The symbols looked for; of alternatives the first.
            #[allow(dead_code)]
            pub(crate) const SYMBOLS: &[&CStr] = &[$([$($symbol),+][0]),*];

            /// The functions of `library`, or the name of the first one it lacks.
            pub(crate) fn load(library: libloading::Library) -> Result<Self, &'static str> {
                let table = Self {
                    $($field: {
                        let symbols = [$($symbol),+];
                        // SAFETY: the field's type is the signature CUDA documents for these symbols.
                        match unsafe { find(&library, &symbols) } {
                            Some(f) => f,
                            None => return Err(symbols[0].to_str().unwrap_or_default()),
                        }
                    },)*
                };
                // The pointers must stay valid for the life of the process.
                std::mem::forget(library);
                Ok(table)
            }
        }
    };
}

/// The first of `symbols` that the library has.
///
/// # Safety
/// `F` is a function pointer of the type the symbols have.
unsafe fn find<F: Copy>(library: &libloading::Library, symbols: &[&CStr]) -> Option<F> {
    // SAFETY: by the caller.
    symbols.iter().find_map(|symbol| unsafe { library.get::<F>(*symbol) }.ok().map(|f| *f))
}

/// A `CUresult` or `nvrtcResult` as a number: a value that cudarc's enums do not know would be undefined behaviour.
pub(crate) type Status = c_uint;

library! {
    /// What is called of the driver, `libcuda.so.1`.
    struct DriverApi;
    fn init = c"cuInit"(c_uint) -> Status;
    fn driver_get_version = c"cuDriverGetVersion"(*mut c_int) -> Status;
    fn get_error_string = c"cuGetErrorString"(Status, *mut *const c_char) -> Status;
    fn device_get_count = c"cuDeviceGetCount"(*mut c_int) -> Status;
    fn device_get = c"cuDeviceGet"(*mut CUdevice, c_int) -> Status;
    fn device_get_name = c"cuDeviceGetName"(*mut c_char, c_int, CUdevice) -> Status;
    fn device_total_mem = c"cuDeviceTotalMem_v2"(*mut usize, CUdevice) -> Status;
    fn device_get_attribute = c"cuDeviceGetAttribute"(*mut c_int, CUdevice_attribute, CUdevice) -> Status;
    fn device_get_default_mem_pool = c"cuDeviceGetDefaultMemPool"(*mut CUmemoryPool, CUdevice) -> Status;
    fn mem_pool_set_attribute = c"cuMemPoolSetAttribute"(CUmemoryPool, CUmemPool_attribute, *mut c_void) -> Status;
    fn mem_pool_get_attribute = c"cuMemPoolGetAttribute"(CUmemoryPool, CUmemPool_attribute, *mut c_void) -> Status;
    fn mem_pool_trim_to = c"cuMemPoolTrimTo"(CUmemoryPool, usize) -> Status;
    fn primary_ctx_retain = c"cuDevicePrimaryCtxRetain"(*mut CUcontext, CUdevice) -> Status;
    fn primary_ctx_release = c"cuDevicePrimaryCtxRelease_v2"(CUdevice) -> Status;
    fn ctx_set_current = c"cuCtxSetCurrent"(CUcontext) -> Status;
    fn mem_get_info = c"cuMemGetInfo_v2"(*mut usize, *mut usize) -> Status;
    fn mem_alloc = c"cuMemAlloc_v2"(*mut CUdeviceptr, usize) -> Status;
    fn mem_free = c"cuMemFree_v2"(CUdeviceptr) -> Status;
    fn mem_alloc_async = c"cuMemAllocAsync"(*mut CUdeviceptr, usize, CUstream) -> Status;
    fn mem_free_async = c"cuMemFreeAsync"(CUdeviceptr, CUstream) -> Status;
    fn mem_host_alloc = c"cuMemHostAlloc"(*mut *mut c_void, usize, c_uint) -> Status;
    fn mem_free_host = c"cuMemFreeHost"(*mut c_void) -> Status;
    fn memcpy_htod_async = c"cuMemcpyHtoDAsync_v2"(CUdeviceptr, *const c_void, usize, CUstream) -> Status;
    fn memcpy_dtoh_async = c"cuMemcpyDtoHAsync_v2"(*mut c_void, CUdeviceptr, usize, CUstream) -> Status;
    fn memcpy_dtod_async = c"cuMemcpyDtoDAsync_v2"(CUdeviceptr, CUdeviceptr, usize, CUstream) -> Status;
    fn memset_d8_async = c"cuMemsetD8Async"(CUdeviceptr, u8, usize, CUstream) -> Status;
    fn stream_create = c"cuStreamCreate"(*mut CUstream, c_uint) -> Status;
    fn stream_destroy = c"cuStreamDestroy_v2"(CUstream) -> Status;
    fn stream_synchronize = c"cuStreamSynchronize"(CUstream) -> Status;
    fn stream_wait_event = c"cuStreamWaitEvent"(CUstream, CUevent, c_uint) -> Status;
    fn event_create = c"cuEventCreate"(*mut CUevent, c_uint) -> Status;
    fn event_destroy = c"cuEventDestroy_v2"(CUevent) -> Status;
    fn event_record = c"cuEventRecord"(CUevent, CUstream) -> Status;
    fn event_synchronize = c"cuEventSynchronize"(CUevent) -> Status;
    fn event_elapsed_time = c"cuEventElapsedTime_v2" | c"cuEventElapsedTime"(*mut f32, CUevent, CUevent) -> Status;
    fn module_load_data = c"cuModuleLoadData"(*mut CUmodule, *const c_void) -> Status;
    fn module_unload = c"cuModuleUnload"(CUmodule) -> Status;
    fn module_get_function = c"cuModuleGetFunction"(*mut CUfunction, CUmodule, *const c_char) -> Status;
    fn func_get_attribute = c"cuFuncGetAttribute"(*mut c_int, CUfunction_attribute, CUfunction) -> Status;
    fn func_set_attribute = c"cuFuncSetAttribute"(CUfunction, CUfunction_attribute, c_int) -> Status;
    fn occupancy = c"cuOccupancyMaxActiveBlocksPerMultiprocessor"(*mut c_int, CUfunction, c_int, usize) -> Status;
    fn launch_kernel = c"cuLaunchKernel"(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void, *mut *mut c_void
    ) -> Status;
}

/// `nvrtcProgram`.
pub(crate) type Program = *mut c_void;

library! {
    /// What is called of NVRTC.
    struct NvrtcApi;
    fn version = c"nvrtcVersion"(*mut c_int, *mut c_int) -> Status;
    fn get_error_string = c"nvrtcGetErrorString"(Status) -> *const c_char;
    fn create_program = c"nvrtcCreateProgram"(
        *mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    ) -> Status;
    fn compile_program = c"nvrtcCompileProgram"(Program, c_int, *const *const c_char) -> Status;
    fn destroy_program = c"nvrtcDestroyProgram"(*mut Program) -> Status;
    fn program_log_size = c"nvrtcGetProgramLogSize"(Program, *mut usize) -> Status;
    fn program_log = c"nvrtcGetProgramLog"(Program, *mut c_char) -> Status;
    fn cubin_size = c"nvrtcGetCUBINSize"(Program, *mut usize) -> Status;
    fn cubin = c"nvrtcGetCUBIN"(Program, *mut c_char) -> Status;
    fn ptx_size = c"nvrtcGetPTXSize"(Program, *mut usize) -> Status;
    fn ptx = c"nvrtcGetPTX"(Program, *mut c_char) -> Status;
}

library! {
    /// Since NVRTC 11.2; without it every architecture is simply tried.
    struct NvrtcArchitectures;
    fn count = c"nvrtcGetNumSupportedArchs"(*mut c_int) -> Status;
    fn list = c"nvrtcGetSupportedArchs"(*mut c_int) -> Status;
}
