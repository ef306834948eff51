//! Which entries of a result may be written, wherever that is known.
use super::PatternBody;
#[cfg(feature = "cuda")]
use super::cuda;
use crate::error::Result;
use crate::storage::dense::Places;
use crate::storage::frame::Frame;
use crate::storage::pattern::Pattern;
use std::sync::{Arc, OnceLock};

/// Which entries of the result may be written: those in the pattern, or with `complement` those not in it.
#[derive(Clone, Debug)]
pub(crate) struct MaskOn<P> {
    pub(crate) pattern: P,
    pub(crate) complement: bool,
}

/// A mask, wherever it is.
#[derive(Clone, Debug)]
pub(crate) enum MaskBody {
    Host(MaskOn<Arc<Pattern>>),
    /// A vector's places as bits, and as a list where somebody asked for it.
    Bits(MaskOn<Arc<Places>>, Arc<OnceLock<MaskOn<Arc<Pattern>>>>),
    /// A matrix' cells as bits, and as a list where somebody asked for it.
    Cells(MaskOn<Arc<Frame>>, Arc<OnceLock<MaskOn<Arc<Pattern>>>>),
    #[cfg(feature = "cuda")]
    Cuda(MaskOn<Arc<cuda::DevicePattern>>),
    /// As `Bits`.
    #[cfg(feature = "cuda")]
    CudaBits(MaskOn<Arc<cuda::DevicePlaces>>, Arc<OnceLock<MaskOn<Arc<cuda::DevicePattern>>>>),
    /// A matrix's cells, as bits, and as above.
    #[cfg(feature = "cuda")]
    CudaCells(MaskOn<Arc<cuda::DeviceFrame>>, Arc<OnceLock<MaskOn<Arc<cuda::DevicePattern>>>>),
}
impl MaskBody {
    pub(crate) fn new(pattern: &PatternBody, complement: bool) -> Self {
        match pattern {
            PatternBody::Host(p) => MaskBody::Host(MaskOn { pattern: p.clone(), complement }),
            PatternBody::Bits(p) => MaskBody::Bits(MaskOn { pattern: p.clone(), complement }, Arc::default()),
            PatternBody::Cells(f) => MaskBody::Cells(MaskOn { pattern: f.clone(), complement }, Arc::default()),
            #[cfg(feature = "cuda")]
            PatternBody::Cuda(p) => MaskBody::Cuda(MaskOn { pattern: p.clone(), complement }),
            #[cfg(feature = "cuda")]
            PatternBody::CudaBits(p) => MaskBody::CudaBits(MaskOn { pattern: p.clone(), complement }, Arc::default()),
            #[cfg(feature = "cuda")]
            PatternBody::CudaCells(p) => MaskBody::CudaCells(MaskOn { pattern: p.clone(), complement }, Arc::default()),
        }
    }
    pub(crate) fn nnz(&self) -> u64 {
        match self {
            MaskBody::Host(m) => m.pattern.nnz() as u64,
            MaskBody::Bits(m, _) => m.pattern.count() as u64,
            MaskBody::Cells(m, _) => m.pattern.count() as u64,
            #[cfg(feature = "cuda")]
            MaskBody::Cuda(m) => m.pattern.nnz,
            #[cfg(feature = "cuda")]
            MaskBody::CudaBits(m, _) => m.pattern.count(),
            #[cfg(feature = "cuda")]
            MaskBody::CudaCells(m, _) => m.pattern.count(),
        }
    }
    pub(crate) fn is_complement(&self) -> bool {
        match self {
            MaskBody::Host(m) => m.complement,
            MaskBody::Bits(m, _) => m.complement,
            MaskBody::Cells(m, _) => m.complement,
            #[cfg(feature = "cuda")]
            MaskBody::Cuda(m) => m.complement,
            #[cfg(feature = "cuda")]
            MaskBody::CudaBits(m, _) => m.complement,
            #[cfg(feature = "cuda")]
            MaskBody::CudaCells(m, _) => m.complement,
        }
    }
    /// The list of a mask in host memory, kept once it is made.
    pub(crate) fn on_host(&self) -> Result<&MaskOn<Arc<Pattern>>> {
        let (listed, pattern, complement) = match self {
            MaskBody::Host(m) => return Ok(m),
            MaskBody::Bits(m, listed) => (listed, m.pattern.listed("mask")?, m.complement),
            MaskBody::Cells(m, listed) => (listed, m.pattern.pattern("mask")?, m.complement),
            #[cfg(feature = "cuda")]
            MaskBody::Cuda(_) | MaskBody::CudaBits(..) | MaskBody::CudaCells(..) => {
                return Err(super::misplaced(crate::device::Device::Cpu));
            }
        };
        Ok(listed.get_or_init(|| MaskOn { pattern: pattern.clone(), complement }))
    }
    /// A vector's places on a device as bits.
    #[cfg(feature = "cuda")]
    pub(crate) fn bits(&self) -> Result<Option<MaskOn<Arc<cuda::DevicePlaces>>>> {
        Ok(match self {
            MaskBody::CudaBits(m, _) => Some(m.clone()),
            MaskBody::Cuda(m) if m.pattern.nrows == 1 => Some(cuda::DevicePlaces::of_mask(m)?),
            MaskBody::CudaCells(m, _) if m.pattern.shape.0 == 1 => {
                let pattern = m.pattern.listed()?.clone();
                Some(cuda::DevicePlaces::of_mask(&MaskOn { pattern, complement: m.complement })?)
            }
            _ => None,
        })
    }
}
