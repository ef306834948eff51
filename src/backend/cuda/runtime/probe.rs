//! Is CUDA usable on this machine? Answered once, safely: nothing here panics, whatever is or is not installed.
use super::api::{DriverApi, Status};
use crate::device::Device;
use crate::error::Error;
use cudarc::driver::sys::{CUdevice, CUdevice_attribute as Attribute, cudaError_enum as Code};
use libloading::Library;
use std::ffi::{CStr, c_int};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The oldest driver taken, as `cuDriverGetVersion` counts: 12.0. Every function of the table exists there (the youngest
/// are stream-ordered allocation, 11.2, and lazy module loading, 11.7); older drivers cannot load what NVRTC 12
/// makes, nor this one what NVRTC 13 does.
pub const DRIVER_FLOOR: u32 = 12_000;

/// Environment variable: the driver library, a file or the folder it lies in, and no other is tried. Where it is not set, the
/// loader looks for the usual names.
pub const DRIVER_PATH: &str = "OPLUS_CUDA_DRIVER_PATH";

/// Why CUDA cannot be used here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// No library of that name.
    #[error(
        "no CUDA driver library (libcuda.so.1) was found; it comes with the NVIDIA driver, the CPU backend works without it"
    )]
    NoDriver,
    /// Not where [`DRIVER_PATH`] says.
    #[error("{DRIVER_PATH} is {}, and no CUDA driver library is there; the CPU backend works without it", .0.display())]
    NotThere(PathBuf),
    /// A library is there that programs are linked with where no driver is: all that it answers is that.
    #[error(
        "the CUDA driver library that was found is the CUDA toolkit's stub, which programs are linked with, and no driver: LD_LIBRARY_PATH or {DRIVER_PATH} names its folder; the real one (libcuda.so.1) comes with the NVIDIA driver, the CPU backend works without it"
    )]
    Stub,
    /// A library is there, but lacks a function, as the stub libraries of containers do.
    #[error("the CUDA driver library lacks {0}: it is a stub, or older than CUDA {major}.{minor}", major = DRIVER_FLOOR / 1000, minor = DRIVER_FLOOR % 1000 / 10)]
    SymbolMissing(&'static str),
    /// Versions as the driver counts, 12080 for 12.8.
    #[error("the NVIDIA driver serves CUDA {}.{}, at least {}.{} is needed: update the driver", found / 1000, found % 1000 / 10, needed / 1000, needed % 1000 / 10)]
    DriverTooOld {
        /// What the driver serves.
        found: u32,
        /// What is needed.
        needed: u32,
    },
    /// The driver works and sees no device.
    #[error("the NVIDIA driver sees no device (check nvidia-smi and CUDA_VISIBLE_DEVICES)")]
    NoDevice,
    /// The driver did not start.
    #[error("the NVIDIA driver does not start: error {code}: {message}")]
    Failed {
        /// The driver's number.
        code: u32,
        /// The driver's words.
        message: String,
    },
}

impl Unavailable {
    /// The error for somebody who asked for device `ordinal`.
    pub fn error(&self, ordinal: u32) -> Error {
        Error::Unavailable { device: Device::Cuda(ordinal).to_string(), reason: self.to_string() }
    }
}

/// A driver that has been initialised and sees at least one device.
#[derive(Clone)]
pub struct Driver {
    pub(crate) api: DriverApi,
    version: u32,
    devices: u32,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("version", &self.version).field("devices", &self.devices).finish()
    }
}

impl Driver {
    /// The CUDA version it serves, 13000 for 13.0.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// How many devices it sees.
    pub fn devices(&self) -> u32 {
        self.devices
    }

    /// The driver's handle of a device.
    pub(crate) fn device(&self, ordinal: u32) -> Result<CUdevice, Error> {
        let mut device = 0;
        // SAFETY: initialised by `find`; a valid place to write to.
        self.check("open device", unsafe { (self.api.device_get)(&mut device, ordinal as c_int) })?;
        Ok(device)
    }

    pub(crate) fn attribute(&self, device: CUdevice, which: Attribute) -> Result<u32, Error> {
        let mut value = 0;
        // SAFETY: a device of this driver; a valid place to write to.
        self.check("read device attribute", unsafe { (self.api.device_get_attribute)(&mut value, which, device) })?;
        Ok(value.max(0) as u32)
    }

    /// Compute capability, 90 for 9.0.
    pub(crate) fn architecture(&self, device: CUdevice) -> Result<u32, Error> {
        let read = |which| self.attribute(device, which);
        Ok(10 * read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?
            + read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?)
    }

    /// The status of a call as a result.
    pub(crate) fn check(&self, operation: &'static str, status: Status) -> Result<(), Error> {
        if status == Code::CUDA_SUCCESS as Status {
            return Ok(());
        }
        Err(Error::Driver { operation, code: status, message: message(&self.api, status) })
    }
}

/// The driver, or why there is none. Looked for at the first call, the answer stands for the life of the process.
pub fn probe() -> Result<&'static Driver, &'static Unavailable> {
    static PROBE: OnceLock<Result<Driver, Unavailable>> = OnceLock::new();
    PROBE
        .get_or_init(|| {
            let named = std::env::var_os(DRIVER_PATH).filter(|p| !p.is_empty()).map(PathBuf::from);
            find(&candidates(named.as_deref())).map_err(|e| match (e, named) {
                (Unavailable::NoDriver, Some(path)) => Unavailable::NotThere(path),
                (e, _) => e,
            })
        })
        .as_ref()
}

/// Every function the driver library must have, for stand-ins that are tested against it.
pub fn required_symbols() -> Vec<&'static str> {
    DriverApi::SYMBOLS.iter().filter_map(|s| s.to_str().ok()).collect()
}

fn candidates(named: Option<&Path>) -> Vec<PathBuf> {
    let names = if cfg!(windows) { &["nvcuda.dll"][..] } else { &["libcuda.so.1", "libcuda.so"][..] };
    match named {
        Some(folder) if folder.is_dir() => names.iter().map(|n| folder.join(n)).collect(),
        Some(file) => vec![file.to_path_buf()],
        None => names.iter().map(PathBuf::from).collect(),
    }
}

/// Opens the first library that is there.
pub(crate) fn open(candidates: &[impl AsRef<Path>]) -> Option<Library> {
    // SAFETY: loading runs the initialisers of NVIDIA's libraries (or of one the user named), which have no preconditions.
    candidates.iter().find_map(|name| unsafe { Library::new(name.as_ref()) }.ok())
}

fn find(candidates: &[PathBuf]) -> Result<Driver, Unavailable> {
    let library = open(candidates).ok_or(Unavailable::NoDriver)?;
    let api = DriverApi::load(library).map_err(Unavailable::SymbolMissing)?;
    // Before cuInit, as this call allows: cuInit of an old driver may fail for another reason.
    let mut version: c_int = 0;
    // SAFETY: a valid place to write to; allowed before cuInit.
    started(&api, unsafe { (api.driver_get_version)(&mut version) })?;
    let version = version.max(0) as u32;
    if version < DRIVER_FLOOR {
        return Err(Unavailable::DriverTooOld { found: version, needed: DRIVER_FLOOR });
    }
    // SAFETY: the flags must be 0.
    started(&api, unsafe { (api.init)(0) })?;
    let mut count: c_int = 0;
    // SAFETY: initialised above; a valid place to write to.
    started(&api, unsafe { (api.device_get_count)(&mut count) })?;
    if count <= 0 {
        return Err(Unavailable::NoDevice);
    }
    Ok(Driver { api, version, devices: count as u32 })
}

fn started(api: &DriverApi, status: Status) -> Result<(), Unavailable> {
    match status {
        s if s == Code::CUDA_SUCCESS as Status => Ok(()),
        s if s == Code::CUDA_ERROR_NO_DEVICE as Status => Err(Unavailable::NoDevice),
        s if s == Code::CUDA_ERROR_STUB_LIBRARY as Status => Err(Unavailable::Stub),
        code => Err(Unavailable::Failed { code, message: message(api, code) }),
    }
}

fn message(api: &DriverApi, status: Status) -> String {
    let mut text = std::ptr::null();
    // SAFETY: any number may be asked for; the answer is a static string or null.
    let known = unsafe { (api.get_error_string)(status, &mut text) } == Code::CUDA_SUCCESS as Status && !text.is_null();
    if !known {
        return "unknown error".into();
    }
    // SAFETY: not null, and the driver's strings are static and end in NUL.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_an_answer() {
        assert_eq!(find(&["/nonexistent/libcuda.so.1".into()]).err(), Some(Unavailable::NoDriver));
    }

    #[test]
    fn a_library_without_the_functions_names_the_first() {
        // Any library that is not CUDA's: the C library is on every machine with this loader.
        let Some(_) = open(&["libc.so.6"]) else { return };
        assert_eq!(find(&["libc.so.6".into()]).err(), Some(Unavailable::SymbolMissing("cuInit")));
    }

    #[test]
    fn messages_say_what_helps() {
        let old = Unavailable::DriverTooOld { found: 11080, needed: 12000 };
        assert_eq!(old.to_string(), "the NVIDIA driver serves CUDA 11.8, at least 12.0 is needed: update the driver");
        assert!(matches!(old.error(1), Error::Unavailable { device, .. } if device == "cuda:1"));
    }
}
