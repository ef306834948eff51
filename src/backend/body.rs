//! The entries and the pattern of a store, in the memory of whatever device.
#[cfg(feature = "cuda")]
use super::cuda;
use super::host;
use crate::algebra::Scalar;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::storage::dense::{Dense, Places};
use crate::storage::frame::Frame;
use crate::storage::held::Held;
use crate::storage::pattern::Pattern;
use std::sync::Arc;

/// A store's entries, wherever they are.
#[derive(Debug)]
pub(crate) enum Body<T> {
    Host(host::HostCsr<T>),
    /// A vector of the CPU.
    Dense(Dense<T>),
    /// Any other format in host memory.
    Held(Held<T>),
    #[cfg(feature = "cuda")]
    Cuda(cuda::DeviceCsr<T>),
    /// A vector of the device.
    #[cfg(feature = "cuda")]
    CudaDense(cuda::DeviceDense<T>),
    /// Any other format of the device.
    #[cfg(feature = "cuda")]
    CudaHeld(cuda::DeviceHeld<T>),
}
impl<T> Clone for Body<T> {
    fn clone(&self) -> Self {
        match self {
            Body::Host(h) => Body::Host(h.clone()),
            Body::Dense(d) => Body::Dense(d.clone()),
            Body::Held(h) => Body::Held(h.clone()),
            #[cfg(feature = "cuda")]
            Body::Cuda(d) => Body::Cuda(d.clone()),
            #[cfg(feature = "cuda")]
            Body::CudaDense(d) => Body::CudaDense(d.clone()),
            #[cfg(feature = "cuda")]
            Body::CudaHeld(h) => Body::CudaHeld(h.clone()),
        }
    }
}
impl<T> Body<T> {
    pub(crate) fn nnz(&self) -> u64 {
        match self {
            Body::Host(h) => h.pattern.nnz() as u64,
            Body::Dense(d) => d.places().count() as u64,
            Body::Held(h) => h.frame.count() as u64,
            #[cfg(feature = "cuda")]
            Body::Cuda(d) => d.nnz(),
            #[cfg(feature = "cuda")]
            Body::CudaDense(d) => d.places().count(),
            #[cfg(feature = "cuda")]
            Body::CudaHeld(h) => h.frame.count(),
        }
    }
    pub(crate) fn pattern(&self) -> Result<PatternBody> {
        Ok(match self {
            Body::Host(h) => PatternBody::Host(h.pattern.clone()),
            Body::Dense(d) => PatternBody::Bits(d.places().clone()),
            Body::Held(h) if h.frame.has_cells() => PatternBody::Cells(h.frame.clone()),
            Body::Held(h) => PatternBody::Host(h.frame.pattern("dispatch")?.clone()),
            #[cfg(feature = "cuda")]
            Body::Cuda(d) => PatternBody::Cuda(d.pattern.clone()),
            #[cfg(feature = "cuda")]
            Body::CudaDense(d) => PatternBody::CudaBits(d.places().clone()),
            #[cfg(feature = "cuda")]
            Body::CudaHeld(h) => match h.frame.form {
                cuda::DeviceForm::Cells(_) => PatternBody::CudaCells(h.frame.clone()),
                _ => PatternBody::Cuda(h.frame.listed()?.clone()),
            },
        })
    }
}
impl Body<u8> {
    /// A body without entries has no values: it is one of any scalar.
    pub(crate) fn without_values<T>(self) -> Body<T> {
        match self {
            Body::Host(h) => Body::Host(host::HostCsr::at(h.pattern, Vec::new())),
            Body::Dense(d) => Body::Dense(d.without_values()),
            Body::Held(h) => Body::Held(h.without_values()),
            #[cfg(feature = "cuda")]
            Body::Cuda(d) => Body::Cuda(d.cast()),
            #[cfg(feature = "cuda")]
            Body::CudaDense(d) => Body::CudaDense(d.cast()),
            #[cfg(feature = "cuda")]
            Body::CudaHeld(h) => Body::CudaHeld(h.cast()),
        }
    }
}
impl<T: Scalar> Body<T> {
    /// The same values, in the same order, at other positions in the same memory.
    pub(crate) fn at(&self, pattern: PatternBody) -> Result<Self> {
        match (self, pattern) {
            (Body::Host(h), PatternBody::Host(pattern)) => {
                Ok(Body::Host(host::HostCsr { pattern, values: h.values.clone() }))
            }
            (Body::Dense(d), PatternBody::Host(pattern)) => {
                Ok(Body::Host(host::HostCsr { pattern, values: d.listed("dispatch")?.values.clone() }))
            }
            (Body::Held(h), PatternBody::Host(pattern)) => Ok(match h.one() {
                Some(value) => Body::Held(Held::iso(pattern, value)),
                None => Body::Host(host::HostCsr { pattern, values: h.listed("dispatch")?.values.clone() }),
            }),
            (_, PatternBody::Bits(places)) => self.at(PatternBody::Host(places.listed("dispatch")?.clone())),
            (_, PatternBody::Cells(frame)) => self.at(PatternBody::Host(frame.pattern("dispatch")?.clone())),
            #[cfg(feature = "cuda")]
            (Body::Cuda(d), PatternBody::Cuda(pattern)) => Ok(Body::Cuda(d.at(pattern))),
            #[cfg(feature = "cuda")]
            (Body::CudaDense(d), PatternBody::Cuda(pattern)) => Ok(Body::Cuda(d.listed()?.at(pattern))),
            #[cfg(feature = "cuda")]
            (Body::CudaHeld(h), PatternBody::Cuda(pattern)) => Ok(Body::Cuda(h.listed()?.at(pattern))),
            #[cfg(feature = "cuda")]
            (_, PatternBody::CudaCells(cells)) => self.at(PatternBody::Cuda(cells.listed()?.clone())),
            #[cfg(feature = "cuda")]
            (_, PatternBody::CudaBits(places)) => self.at(PatternBody::Cuda(places.listed()?.clone())),
            #[cfg(feature = "cuda")]
            _ => Err(misplaced(Device::Cpu)),
        }
    }
}
impl<T> From<host::HostCsr<T>> for Body<T> {
    fn from(h: host::HostCsr<T>) -> Self {
        Body::Host(h)
    }
}
#[cfg(feature = "cuda")]
impl<T> From<cuda::Transposed<T>> for Body<T> {
    fn from(t: cuda::Transposed<T>) -> Self {
        match t {
            cuda::Transposed::Rows(rows) => Body::Cuda(rows),
            cuda::Transposed::Held(held) => Body::CudaHeld(held),
        }
    }
}
#[cfg(feature = "cuda")]
impl<T> From<cuda::DeviceCsr<T>> for Body<T> {
    fn from(d: cuda::DeviceCsr<T>) -> Self {
        Body::Cuda(d)
    }
}

/// A pattern, wherever it is.
#[derive(Clone, Debug)]
pub(crate) enum PatternBody {
    Host(Arc<Pattern>),
    /// A vector's.
    Bits(Arc<Places>),
    /// A matrix' with a bit for every place.
    Cells(Arc<Frame>),
    #[cfg(feature = "cuda")]
    Cuda(Arc<cuda::DevicePattern>),
    #[cfg(feature = "cuda")]
    CudaBits(Arc<cuda::DevicePlaces>),
    /// A slot for every cell of a matrix.
    #[cfg(feature = "cuda")]
    CudaCells(Arc<cuda::DeviceFrame>),
}
impl PatternBody {
    pub(crate) fn nnz(&self) -> u64 {
        match self {
            PatternBody::Host(p) => p.nnz() as u64,
            PatternBody::Bits(p) => p.count() as u64,
            PatternBody::Cells(f) => f.count() as u64,
            #[cfg(feature = "cuda")]
            PatternBody::Cuda(p) => p.nnz,
            #[cfg(feature = "cuda")]
            PatternBody::CudaBits(p) => p.count(),
            #[cfg(feature = "cuda")]
            PatternBody::CudaCells(p) => p.count(),
        }
    }
}
impl From<Arc<Pattern>> for PatternBody {
    fn from(p: Arc<Pattern>) -> Self {
        PatternBody::Host(p)
    }
}
#[cfg(feature = "cuda")]
impl From<Arc<cuda::DevicePattern>> for PatternBody {
    fn from(p: Arc<cuda::DevicePattern>) -> Self {
        PatternBody::Cuda(p)
    }
}

/// Data that its device label says is elsewhere: cannot happen unless a store was put together wrongly.
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
pub(crate) fn misplaced(device: Device) -> Error {
    Error::InvalidValue { operation: "dispatch", reason: format!("the data is not in the memory of {device}") }
}
