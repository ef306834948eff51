//! Tables of the driver's and NVRTC's functions, filled once, so that a missing symbol is an answer and not a panic.
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute,
    CUmemPool_attribute, CUmemoryPool, CUmodule, CUstream,
};
use std::ffi::{c_char, c_int, c_uint, c_void};

/// Defines a struct of function pointers and how to fill it from a library. A function may have several names: the
/// first one found is taken. The library is never unloaded.
macro_rules! library {
    ($(#[$doc:meta])* struct $table:ident; $(fn $field:ident = $($symbol:literal)|+ ($($arg:ty),*) -> $result:ty;)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $table { $(pub(super) $field: unsafe extern "C" fn($($arg),*) -> $result,)* }

        impl $table {
            /// The functions of `library`, or the name of the first one it lacks.
            pub(super) fn load(library: libloading::Library) -> Result<Self, &'static str> {
                let table = Self {
                    $($field: {
                        let symbols = [$($symbol),+];
                        // SAFETY: the field's type is the signature CUDA documents for these symbols.
                        match unsafe { find(&library, &symbols) } {
                            Some(f) => f,
                            None => return Err(symbols[0].trim_end_matches('\0')),
                        }
                    },)*
                };
                // The pointers must stay valid for the life of the process.
                std::mem::forget(library);
                Ok(table)
            }

            /// Every symbol looked for, one a function.
            #[cfg(test)]
            pub(super) const SYMBOLS: &[&str] = &[$([$($symbol),+][0]),*];
        }
    };
}

/// The first of `symbols` that the library has.
///
/// # Safety
/// `F` is a function pointer of the type the symbols have.
unsafe fn find<F: Copy>(library: &libloading::Library, symbols: &[&str]) -> Option<F> {
    // SAFETY: by the caller.
    symbols.iter().find_map(|symbol| unsafe { library.get::<F>(*symbol) }.ok().map(|f| *f))
}

/// A `CUresult` or `nvrtcResult` as a number: a value that cudarc's enums do not know would be undefined behaviour.
pub(super) type Status = c_uint;

library! {
    /// What is called of the driver, `libcuda.so.1`.
    struct DriverApi;
    fn init = "cuInit\0"(c_uint) -> Status;
    fn driver_get_version = "cuDriverGetVersion\0"(*mut c_int) -> Status;
    fn get_error_string = "cuGetErrorString\0"(Status, *mut *const c_char) -> Status;
    fn device_get_count = "cuDeviceGetCount\0"(*mut c_int) -> Status;
    fn device_get = "cuDeviceGet\0"(*mut CUdevice, c_int) -> Status;
    fn device_get_name = "cuDeviceGetName\0"(*mut c_char, c_int, CUdevice) -> Status;
    fn device_total_mem = "cuDeviceTotalMem_v2\0"(*mut usize, CUdevice) -> Status;
    fn device_get_attribute = "cuDeviceGetAttribute\0"(*mut c_int, CUdevice_attribute, CUdevice) -> Status;
    fn device_get_default_mem_pool = "cuDeviceGetDefaultMemPool\0"(*mut CUmemoryPool, CUdevice) -> Status;
    fn mem_pool_set_attribute = "cuMemPoolSetAttribute\0"(CUmemoryPool, CUmemPool_attribute, *mut c_void) -> Status;
    fn mem_pool_trim_to = "cuMemPoolTrimTo\0"(CUmemoryPool, usize) -> Status;
    fn primary_ctx_retain = "cuDevicePrimaryCtxRetain\0"(*mut CUcontext, CUdevice) -> Status;
    fn primary_ctx_release = "cuDevicePrimaryCtxRelease_v2\0"(CUdevice) -> Status;
    fn ctx_set_current = "cuCtxSetCurrent\0"(CUcontext) -> Status;
    fn mem_get_info = "cuMemGetInfo_v2\0"(*mut usize, *mut usize) -> Status;
    fn mem_alloc = "cuMemAlloc_v2\0"(*mut CUdeviceptr, usize) -> Status;
    fn mem_free = "cuMemFree_v2\0"(CUdeviceptr) -> Status;
    fn mem_alloc_async = "cuMemAllocAsync\0"(*mut CUdeviceptr, usize, CUstream) -> Status;
    fn mem_free_async = "cuMemFreeAsync\0"(CUdeviceptr, CUstream) -> Status;
    fn memcpy_htod_async = "cuMemcpyHtoDAsync_v2\0"(CUdeviceptr, *const c_void, usize, CUstream) -> Status;
    fn memcpy_dtoh_async = "cuMemcpyDtoHAsync_v2\0"(*mut c_void, CUdeviceptr, usize, CUstream) -> Status;
    fn memcpy_dtod_async = "cuMemcpyDtoDAsync_v2\0"(CUdeviceptr, CUdeviceptr, usize, CUstream) -> Status;
    fn memset_d8_async = "cuMemsetD8Async\0"(CUdeviceptr, u8, usize, CUstream) -> Status;
    fn stream_create = "cuStreamCreate\0"(*mut CUstream, c_uint) -> Status;
    fn stream_destroy = "cuStreamDestroy_v2\0"(CUstream) -> Status;
    fn stream_synchronize = "cuStreamSynchronize\0"(CUstream) -> Status;
    fn event_create = "cuEventCreate\0"(*mut CUevent, c_uint) -> Status;
    fn event_destroy = "cuEventDestroy_v2\0"(CUevent) -> Status;
    fn event_record = "cuEventRecord\0"(CUevent, CUstream) -> Status;
    fn event_synchronize = "cuEventSynchronize\0"(CUevent) -> Status;
    fn event_elapsed_time = "cuEventElapsedTime_v2\0" | "cuEventElapsedTime\0"(*mut f32, CUevent, CUevent) -> Status;
    fn module_load_data = "cuModuleLoadData\0"(*mut CUmodule, *const c_void) -> Status;
    fn module_unload = "cuModuleUnload\0"(CUmodule) -> Status;
    fn module_get_function = "cuModuleGetFunction\0"(*mut CUfunction, CUmodule, *const c_char) -> Status;
    fn func_get_attribute = "cuFuncGetAttribute\0"(*mut c_int, CUfunction_attribute, CUfunction) -> Status;
    fn func_set_attribute = "cuFuncSetAttribute\0"(CUfunction, CUfunction_attribute, c_int) -> Status;
    fn occupancy = "cuOccupancyMaxActiveBlocksPerMultiprocessor\0"(*mut c_int, CUfunction, c_int, usize) -> Status;
    fn launch_kernel = "cuLaunchKernel\0"(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void, *mut *mut c_void
    ) -> Status;
}

/// `nvrtcProgram`.
pub(super) type Program = *mut c_void;

library! {
    /// What is called of NVRTC.
    struct NvrtcApi;
    fn version = "nvrtcVersion\0"(*mut c_int, *mut c_int) -> Status;
    fn get_error_string = "nvrtcGetErrorString\0"(Status) -> *const c_char;
    fn create_program = "nvrtcCreateProgram\0"(
        *mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    ) -> Status;
    fn compile_program = "nvrtcCompileProgram\0"(Program, c_int, *const *const c_char) -> Status;
    fn destroy_program = "nvrtcDestroyProgram\0"(*mut Program) -> Status;
    fn program_log_size = "nvrtcGetProgramLogSize\0"(Program, *mut usize) -> Status;
    fn program_log = "nvrtcGetProgramLog\0"(Program, *mut c_char) -> Status;
    fn cubin_size = "nvrtcGetCUBINSize\0"(Program, *mut usize) -> Status;
    fn cubin = "nvrtcGetCUBIN\0"(Program, *mut c_char) -> Status;
    fn ptx_size = "nvrtcGetPTXSize\0"(Program, *mut usize) -> Status;
    fn ptx = "nvrtcGetPTX\0"(Program, *mut c_char) -> Status;
}

library! {
    /// Since NVRTC 11.2; without it every architecture is simply tried.
    struct NvrtcArchitectures;
    fn count = "nvrtcGetNumSupportedArchs\0"(*mut c_int) -> Status;
    fn list = "nvrtcGetSupportedArchs\0"(*mut c_int) -> Status;
}
