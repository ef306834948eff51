//! Where data lives and operations run.
use crate::error::{Error, Result};
use crate::memory::setting;
use std::fmt;
use std::str::FromStr;

/// A place to compute on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Device {
    /// One thread, obviously right: the oracle of the tests.
    Reference,
    /// All cores of the host.
    Cpu,
    /// The NVIDIA GPU of this ordinal.
    Cuda(u32),
}

/// Environment variable that overrides [`Device::best`]. Set to nothing it is as if it were not set.
pub const DEVICE_VARIABLE: &str = "OPLUS_DEVICE";

impl Device {
    /// GPU 0 where it can be used, else the CPU; `OPLUS_DEVICE=cpu|cuda|cuda:N|reference` overrides. Never panics;
    /// a variable that names no device is passed over, which
    /// [`try_best`](Self::try_best) tells. O(1); the first call looks for the driver and NVRTC and makes the device's context.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let device = Device::best();
    /// assert!(device.check().is_ok() || std::env::var(oplus::device::DEVICE_VARIABLE).is_ok());
    /// # Ok(()) }
    /// ```
    pub fn best() -> Device {
        Self::named().unwrap_or_else(|_| Self::found())
    }

    /// As [`best`](Self::best), but a variable that names no device is an error, and so is one of bytes that is none. O(1).
    ///
    /// # Errors
    /// `InvalidValue`, naming the variable.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::new(2, 2)?.to(&Device::try_best()?)?;
    /// # assert_eq!(a.device(), Device::best());
    /// # Ok(()) }
    /// ```
    pub fn try_best() -> Result<Device> {
        setting::check()?;
        Self::named()
    }

    fn named() -> Result<Device> {
        let Some(named) = setting::set(DEVICE_VARIABLE) else { return Ok(Self::found()) };
        named.parse().map_err(|e| match e {
            Error::InvalidValue { reason, .. } => Error::InvalidValue { operation: DEVICE_VARIABLE, reason },
            other => other,
        })
    }

    fn found() -> Device {
        if Device::Cuda(0).usable().is_ok() { Device::Cuda(0) } else { Device::Cpu }
    }

    /// Whether operations can run here: driver, device, and an NVRTC that goes with both. O(1), as [`best`](Self::best).
    ///
    /// # Errors
    /// `Unavailable`, saying why and what would help; `InvalidValue` for an environment variable of bytes that is none.
    pub fn check(&self) -> Result<()> {
        setting::check()?;
        self.usable()
    }

    fn usable(&self) -> Result<()> {
        match self {
            #[cfg(feature = "cuda")]
            Device::Cuda(ordinal) => {
                let context = crate::backend::cuda::Context::get(*ordinal)?;
                let nvrtc = crate::backend::cuda::nvrtc::Nvrtc::get()?;
                nvrtc.goes_with(context.driver())?;
                nvrtc.serves(context.properties().architecture)
            }
            #[cfg(not(feature = "cuda"))]
            Device::Cuda(_) => Err(Error::Unavailable {
                device: self.to_string(),
                reason: "oplus was built without the feature `cuda`".into(),
            }),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Reference => f.write_str("reference"),
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

impl FromStr for Device {
    type Err = Error;
    /// `cpu`, `cuda` (the first), `cuda:N`, `reference`.
    fn from_str(text: &str) -> Result<Device> {
        match text {
            "cpu" => Ok(Device::Cpu),
            "cuda" => Ok(Device::Cuda(0)),
            "reference" => Ok(Device::Reference),
            other => other.strip_prefix("cuda:").and_then(|n| n.parse().ok()).map(Device::Cuda).ok_or_else(|| {
                let reason = format!("{other:?} is no device: cpu, cuda, cuda:N or reference");
                Error::InvalidValue { operation: "device", reason }
            }),
        }
    }
}
