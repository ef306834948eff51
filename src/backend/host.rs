//! Compressed rows in host memory, shared by the reference and the CPU backend.
use crate::error::Result;
use crate::memory::{self, Buffer};
use crate::storage::footprint::Footprint;
use crate::storage::pattern::Pattern;
use std::sync::Arc;

/// Positions and values, shared: clones and relabelled matrices never copy entries. A value each, but that a matrix of one value
/// comes to a product with a full vector with that alone.
#[derive(Debug)]
pub(crate) struct HostCsr<T> {
    pub(crate) pattern: Arc<Pattern>,
    pub(crate) values: Arc<Buffer<T>>,
}
impl<T> Clone for HostCsr<T> {
    fn clone(&self) -> Self {
        Self { pattern: self.pattern.clone(), values: self.values.clone() }
    }
}
impl<T> HostCsr<T> {
    pub(crate) fn new(pattern: Pattern, values: Vec<T>) -> Self {
        Self { pattern: Arc::new(pattern), values: Arc::new(values.into()) }
    }
    /// Values of entries at known positions.
    pub(crate) fn at(pattern: Arc<Pattern>, values: Vec<T>) -> Self {
        Self { pattern, values: Arc::new(values.into()) }
    }
    /// The same with an equal pattern, which is shared.
    pub(crate) fn at_pattern(self, pattern: &Arc<Pattern>) -> Self {
        Self { pattern: pattern.clone(), values: self.values }
    }
    /// The values for changes: copied where somebody else holds them too.
    pub(crate) fn own_values(&mut self, operation: &'static str) -> Result<Option<&mut Buffer<T>>>
    where
        T: Copy + Send + Sync,
    {
        if Arc::get_mut(&mut self.values).is_none() {
            self.values = Arc::new(memory::copied(operation, &self.values)?.into());
        }
        Ok(Arc::get_mut(&mut self.values))
    }
    /// Counts what it holds.
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        self.pattern.footprint(to);
        to.slice(&self.values);
    }
    /// The columns and values of one row.
    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> (&[u32], &[T]) {
        let range = self.pattern.range(row);
        (&self.pattern.indices[range.clone()], &self.values[range])
    }
}

/// The methods both host backends share: data is in place already.
macro_rules! host_memory {
    () => {
        type Csr<T: Scalar> = HostCsr<T>;
        type Pattern = Arc<Pattern>;
        fn csr<'a, T: Scalar>(&self, body: &'a Body<T>) -> Result<&'a HostCsr<T>> {
            match body {
                Body::Host(h) => Ok(h),
                Body::Dense(d) => d.listed("dispatch"),
                Body::Held(h) => h.listed("dispatch"),
                #[cfg(feature = "cuda")]
                Body::Cuda(_) | Body::CudaDense(_) | Body::CudaHeld(_) => Err($crate::backend::misplaced(Self::DEVICE)),
            }
        }
        fn pattern<'a>(&self, body: &'a PatternBody) -> Result<&'a Arc<Pattern>> {
            match body {
                PatternBody::Host(p) => Ok(p),
                PatternBody::Bits(p) => p.listed("dispatch"),
                PatternBody::Cells(f) => f.pattern("dispatch"),
                #[cfg(feature = "cuda")]
                PatternBody::Cuda(_) | PatternBody::CudaBits(_) | PatternBody::CudaCells(_) => {
                    Err($crate::backend::misplaced(Self::DEVICE))
                }
            }
        }
        fn mask<'a>(&self, mask: Option<&'a MaskBody>) -> Result<Option<&'a MaskOn<Arc<Pattern>>>> {
            mask.map(MaskBody::on_host).transpose()
        }
        fn empty<T: Scalar>(&self, operation: &'static str, nrows: usize, ncols: usize) -> Result<HostCsr<T>> {
            Ok(HostCsr::new(Pattern::empty(operation, nrows, ncols)?, Vec::new()))
        }
        fn upload<T: Scalar>(&self, host: &HostCsr<T>) -> Result<HostCsr<T>> {
            Ok(host.clone())
        }
        fn download<T: Scalar>(&self, a: &HostCsr<T>) -> Result<HostCsr<T>> {
            Ok(a.clone())
        }
        fn upload_pattern(&self, host: &Arc<Pattern>) -> Result<Arc<Pattern>> {
            Ok(host.clone())
        }
        fn download_pattern(&self, a: &Arc<Pattern>) -> Result<Arc<Pattern>> {
            Ok(a.clone())
        }
    };
}
pub(crate) use host_memory;
