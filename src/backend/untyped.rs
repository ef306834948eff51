//! Stores whose scalar is not in the type: a product's way from the call to the kernel is compiled once.
use super::host::HostCsr;
use super::places::NONE;
use super::{Body, MaskOn, PatternBody, cpu, reference};
use crate::algebra::{Scalar, ScalarText};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::{self, Buffer};
use crate::storage::axis::Axis;
use crate::storage::dense::{Dense, Places};
use crate::storage::held::Held;
use crate::storage::pattern::Pattern;
use crate::storage::store::{PatternStore, Store};
use std::any::Any;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

mod compared;

/// A vector of some scalar.
pub(crate) trait HostValues: Any + Debug + Send + Sync {
    /// The rows with this pattern and these values, transposed.
    fn transposed(&self, pattern: &Pattern, device: Device) -> Result<UntypedCsr>;
    /// The entries of one row at columns that `keeps` holds for.
    fn kept(&self, row: &Pattern, keeps: &dyn Fn(u32) -> bool) -> Result<UntypedCsr>;
}
impl<T: Scalar> HostValues for Buffer<T> {
    fn transposed(&self, pattern: &Pattern, device: Device) -> Result<UntypedCsr> {
        match device {
            Device::Reference => {
                let (pattern, values) = reference::transpose(pattern, self)?;
                Ok(HostCsr::new(pattern, values).into())
            }
            _ => Ok(cpu::turned(pattern, self)?.into()),
        }
    }
    fn kept(&self, row: &Pattern, keeps: &dyn Fn(u32) -> bool) -> Result<UntypedCsr> {
        let n = row.nnz();
        let (mut indices, mut values) = (memory::with_capacity("mask", n)?, memory::with_capacity("mask", n)?);
        for (j, value) in row.indices.iter().zip(self.iter()).filter(|(j, _)| keeps(**j)) {
            indices.push(*j);
            values.push(*value);
        }
        Ok(HostCsr::new(Pattern::new(1, row.ncols, vec![0, indices.len() as u64], indices), values).into())
    }
}

/// One value for all entries.
#[derive(Debug)]
struct Same<T>(T);
impl<T: Scalar> HostValues for Same<T> {
    fn transposed(&self, pattern: &Pattern, device: Device) -> Result<UntypedCsr> {
        Buffer::from(memory::filled("transpose", pattern.nnz(), self.0)?).transposed(pattern, device)
    }
    fn kept(&self, row: &Pattern, keeps: &dyn Fn(u32) -> bool) -> Result<UntypedCsr> {
        Buffer::from(memory::filled("mask", row.nnz(), self.0)?).kept(row, keeps)
    }
}

/// Compressed rows in host memory.
#[derive(Clone, Debug)]
pub(crate) struct UntypedCsr {
    pattern: Arc<Pattern>,
    values: Arc<dyn HostValues>,
}
impl<T: Scalar> From<HostCsr<T>> for UntypedCsr {
    fn from(a: HostCsr<T>) -> Self {
        UntypedCsr { pattern: a.pattern, values: a.values }
    }
}
impl UntypedCsr {
    /// The entries of one row where a mask admits.
    pub(crate) fn admitted(&self, mask: &MaskOn<Arc<Places>>) -> Result<Self> {
        self.values.kept(&self.pattern, &|j| mask.pattern.get(j) != mask.complement)
    }
    /// The same of a list, which is searched for each of them.
    pub(crate) fn admitted_by_list(&self, mask: &MaskOn<Arc<Pattern>>) -> Result<Self> {
        self.values.kept(&self.pattern, &|j| mask.pattern.find(0, j).is_some() != mask.complement)
    }
    pub(crate) fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }
    /// As [`typed`](Self::typed), but where all entries share a value with that alone: for what reads it so.
    pub(crate) fn shared<T: Scalar>(&self) -> Result<HostCsr<T>> {
        let values: Arc<dyn Any + Send + Sync> = self.values.clone();
        match values.downcast::<Same<T>>() {
            Ok(same) => Ok(HostCsr::at(self.pattern.clone(), memory::filled("dispatch", 1, same.0)?)),
            Err(_) => self.typed(),
        }
    }
    /// One value at every position.
    pub(crate) fn iso<T: Scalar>(pattern: Arc<Pattern>, value: T) -> Self {
        UntypedCsr { pattern, values: Arc::new(Same(value)) }
    }
    fn body<T: Scalar>(&self) -> Result<Body<T>> {
        let values: Arc<dyn Any + Send + Sync> = self.values.clone();
        match values.downcast::<Same<T>>() {
            Ok(same) => Ok(Body::Held(Held::iso(self.pattern.clone(), same.0))),
            Err(_) => self.typed().map(Body::Host),
        }
    }
    pub(crate) fn typed<T: Scalar>(&self) -> Result<HostCsr<T>> {
        let values: Arc<dyn Any + Send + Sync> = self.values.clone();
        let values = match values.downcast() {
            Ok(values) => values,
            Err(values) => match values.downcast::<Same<T>>() {
                Ok(same) => Arc::new(memory::filled("dispatch", self.pattern.nnz(), same.0)?.into()),
                Err(_) => return Err(mistyped(T::TEXT)),
            },
        };
        Ok(HostCsr { pattern: self.pattern.clone(), values })
    }
}

/// Values that are not what their label says: cannot happen unless a store was put together wrongly.
pub(super) fn mistyped(scalar: ScalarText) -> Error {
    Error::InvalidValue { operation: "dispatch", reason: format!("the values are not of {}", scalar.name) }
}

/// A body without its scalar.
#[derive(Clone, Debug)]
pub(crate) enum UntypedBody {
    Host(UntypedCsr),
    /// A vector that becomes a list where an operation is laid out.
    Dense(Arc<dyn AnyDense>),
    /// Another format, that becomes one too.
    Held(Arc<dyn AnyHeld>),
    #[cfg(feature = "cuda")]
    Cuda(super::cuda::DeviceCsr<()>),
    /// A vector that becomes a list too.
    #[cfg(feature = "cuda")]
    CudaDense(super::cuda::DeviceDense<()>),
    /// And any other format.
    #[cfg(feature = "cuda")]
    CudaHeld(super::cuda::DeviceHeld<()>),
}

/// A vector with a place for everything, of some scalar.
pub(crate) trait AnyDense: Debug + Send + Sync {
    fn places(&self) -> &Arc<Places>;
    fn listed(&self) -> Result<UntypedCsr>;
}
impl<T: Scalar> AnyDense for Dense<T> {
    fn places(&self) -> &Arc<Places> {
        self.places()
    }
    fn listed(&self) -> Result<UntypedCsr> {
        self.listed("dispatch").map(|row| row.clone().into())
    }
}

/// Entries in another format than compressed rows, of some scalar.
pub(crate) trait AnyHeld: Debug + Send + Sync {
    fn count(&self) -> usize;
    fn pattern(&self) -> Result<&Arc<Pattern>>;
    fn listed(&self) -> Result<UntypedCsr>;
    /// For a product that does not look at values.
    fn blank(&self) -> Result<UntypedCsr>;
    /// For a product that takes one value for all: the list only where they differ.
    fn shared(&self) -> Result<UntypedCsr>;
    /// The transpose, where no entries have to be sorted for it.
    fn turned(&self) -> Result<Option<Arc<dyn AnyHeld>>>;
    /// The same, for a product that looks at every entry: what it lists is not kept.
    fn once(&self) -> Arc<dyn AnyHeld>;
}
impl<T: Scalar> AnyHeld for Held<T> {
    fn count(&self) -> usize {
        self.frame.count()
    }
    fn pattern(&self) -> Result<&Arc<Pattern>> {
        self.frame.pattern("dispatch")
    }
    fn listed(&self) -> Result<UntypedCsr> {
        self.listed("dispatch").map(|list| list.clone().into())
    }
    fn blank(&self) -> Result<UntypedCsr> {
        self.blank("dispatch").map(|list| list.clone().into())
    }
    fn shared(&self) -> Result<UntypedCsr> {
        match self.one() {
            Some(value) => Ok(UntypedCsr::iso(self.frame.pattern("dispatch")?.clone(), value)),
            None => AnyHeld::listed(self),
        }
    }
    fn turned(&self) -> Result<Option<Arc<dyn AnyHeld>>> {
        Ok(self.turned("dispatch")?.map(|turned| Arc::new(turned) as Arc<dyn AnyHeld>))
    }
    fn once(&self) -> Arc<dyn AnyHeld> {
        Arc::new(self.once())
    }
}

impl UntypedBody {
    /// Its positions as a list.
    fn positions(&self) -> Result<PatternBody> {
        Ok(match self.pattern()? {
            PatternBody::Bits(places) => PatternBody::Host(places.listed("dispatch")?.clone()),
            PatternBody::Cells(frame) => PatternBody::Host(frame.pattern("dispatch")?.clone()),
            #[cfg(feature = "cuda")]
            PatternBody::CudaBits(places) => PatternBody::Cuda(places.listed()?.clone()),
            other => other,
        })
    }
    /// The rows of what is no list on the device; those of its transpose, and `true`, where that is asked for and takes no sorting.
    #[cfg(feature = "cuda")]
    fn device_rows(&self, transposed: bool, reads: Reading) -> Result<Option<(super::cuda::DeviceCsr<()>, bool)>> {
        Ok(match self {
            UntypedBody::CudaDense(d) => Some((d.listed()?.clone(), false)),
            UntypedBody::CudaHeld(h) => Some(match (if transposed { h.turned()? } else { None }, reads) {
                (Some(turned), _) => (turned.listed()?, true),
                (None, Reading::Nothing) => (h.blank()?, false),
                (None, _) => (h.listed()?.clone(), false),
            }),
            _ => None,
        })
    }
    pub(crate) fn is_host(&self) -> bool {
        matches!(self, UntypedBody::Host(_) | UntypedBody::Dense(_) | UntypedBody::Held(_))
    }
    pub(crate) fn of<T: Scalar>(body: &Body<T>) -> Self {
        match body {
            Body::Host(h) => UntypedBody::Host(h.clone().into()),
            Body::Dense(d) => UntypedBody::Dense(Arc::new(d.clone())),
            Body::Held(h) => UntypedBody::Held(Arc::new(h.clone())),
            #[cfg(feature = "cuda")]
            Body::Cuda(d) => UntypedBody::Cuda(d.cast()),
            #[cfg(feature = "cuda")]
            Body::CudaDense(d) => UntypedBody::CudaDense(d.cast()),
            #[cfg(feature = "cuda")]
            Body::CudaHeld(h) => UntypedBody::CudaHeld(h.cast()),
        }
    }
    pub(crate) fn typed<T: Scalar>(&self) -> Result<Body<T>> {
        Ok(match self {
            UntypedBody::Host(h) => h.body()?,
            UntypedBody::Dense(d) => Body::Host(d.listed()?.typed()?),
            UntypedBody::Held(h) => Body::Host(h.listed()?.typed()?),
            #[cfg(feature = "cuda")]
            UntypedBody::Cuda(d) => Body::Cuda(d.cast()),
            #[cfg(feature = "cuda")]
            UntypedBody::CudaDense(d) => Body::CudaDense(d.cast()),
            #[cfg(feature = "cuda")]
            UntypedBody::CudaHeld(h) => Body::CudaHeld(h.cast()),
        })
    }
    pub(crate) fn nnz(&self) -> u64 {
        match self {
            UntypedBody::Host(h) => h.pattern.nnz() as u64,
            UntypedBody::Dense(d) => d.places().count() as u64,
            UntypedBody::Held(h) => h.count() as u64,
            #[cfg(feature = "cuda")]
            UntypedBody::Cuda(d) => d.nnz(),
            #[cfg(feature = "cuda")]
            UntypedBody::CudaDense(d) => d.places().count(),
            #[cfg(feature = "cuda")]
            UntypedBody::CudaHeld(h) => h.frame.count(),
        }
    }
    pub(crate) fn pattern(&self) -> Result<PatternBody> {
        Ok(match self {
            UntypedBody::Host(h) => PatternBody::Host(h.pattern.clone()),
            UntypedBody::Dense(d) => PatternBody::Bits(d.places().clone()),
            UntypedBody::Held(h) => PatternBody::Host(h.pattern()?.clone()),
            #[cfg(feature = "cuda")]
            UntypedBody::Cuda(d) => PatternBody::Cuda(d.pattern.clone()),
            #[cfg(feature = "cuda")]
            UntypedBody::CudaDense(d) => PatternBody::CudaBits(d.places().clone()),
            #[cfg(feature = "cuda")]
            UntypedBody::CudaHeld(h) => PatternBody::Cuda(h.frame.listed()?.clone()),
        })
    }
    /// The same values at other positions of the same memory.
    fn at(self, pattern: PatternBody) -> Result<Self> {
        match (self, pattern) {
            (UntypedBody::Host(h), PatternBody::Host(pattern)) => {
                Ok(UntypedBody::Host(UntypedCsr { pattern, values: h.values }))
            }
            (UntypedBody::Dense(d), pattern) => UntypedBody::Host(d.listed()?).at(pattern),
            (UntypedBody::Held(h), pattern) => UntypedBody::Host(h.listed()?).at(pattern),
            (body, PatternBody::Bits(places)) => body.at(PatternBody::Host(places.listed("dispatch")?.clone())),
            (body, PatternBody::Cells(frame)) => body.at(PatternBody::Host(frame.pattern("dispatch")?.clone())),
            #[cfg(feature = "cuda")]
            (UntypedBody::Cuda(d), PatternBody::Cuda(pattern)) => Ok(UntypedBody::Cuda(d.at(pattern))),
            #[cfg(feature = "cuda")]
            (UntypedBody::CudaDense(d), pattern) => UntypedBody::Cuda(d.listed()?.clone()).at(pattern),
            #[cfg(feature = "cuda")]
            (UntypedBody::CudaHeld(h), pattern) => UntypedBody::Cuda(h.listed()?.clone()).at(pattern),
            #[cfg(feature = "cuda")]
            (body, PatternBody::CudaBits(places)) => body.at(PatternBody::Cuda(places.listed()?.clone())),
            #[cfg(feature = "cuda")]
            _ => Err(super::misplaced(Device::Cpu)),
        }
    }
}

/// What a product looks at of an operand's values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reading {
    Each,
    /// Each, or the one that all share.
    Shared,
    /// They may be anything.
    Nothing,
}

/// A store without its scalar.
#[derive(Clone)]
pub(crate) struct UntypedStore {
    pub(crate) rows: Axis,
    pub(crate) cols: Axis,
    pub(crate) body: UntypedBody,
    pub(crate) device: Device,
    scalar: ScalarText,
}

impl Debug for UntypedStore {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (rows, cols) = self.shape(false);
        write!(f, "{} {rows}×{cols}, {} entries on {}", self.scalar.name, self.body.nnz(), self.device)
    }
}

impl UntypedStore {
    #[inline(never)]
    pub(crate) fn of<T: Scalar>(a: &Store<T>) -> Self {
        let body = (T::entries().untyped)(&a.body);
        Self { rows: a.rows.clone(), cols: a.cols.clone(), body, device: a.device, scalar: T::TEXT }
    }
    /// Rows and columns, as if transposed where asked.
    pub(crate) fn shape(&self, transposed: bool) -> (u64, u64) {
        let (rows, cols) = (self.rows.n(), self.cols.n());
        if transposed { (cols, rows) } else { (rows, cols) }
    }
    /// The same for a product that looks at every entry once.
    pub(crate) fn once(&self) -> Self {
        match &self.body {
            UntypedBody::Held(h) => {
                let body = UntypedBody::Held(h.once());
                Self { rows: self.rows.clone(), cols: self.cols.clone(), body, ..*self }
            }
            _ => self.clone(),
        }
    }
    /// Bytes of its entries.
    pub(crate) fn bytes(&self) -> u64 {
        let entries = self.body.nnz().saturating_mul(4 + self.scalar.size as u64);
        entries.saturating_add((self.rows.places() as u64 + 1) * 8)
    }
    /// Whether this is the same memory.
    pub(crate) fn shares(&self, other: &Self) -> bool {
        match (&self.body, &other.body) {
            (UntypedBody::Host(x), UntypedBody::Host(y)) => Arc::ptr_eq(&x.pattern, &y.pattern),
            #[cfg(feature = "cuda")]
            (UntypedBody::Cuda(x), UntypedBody::Cuda(y)) => Arc::ptr_eq(&x.pattern, &y.pattern),
            _ => false,
        }
    }
    /// The most host memory that transposing takes, its result among it.
    pub(crate) fn turning_bytes(&self) -> u64 {
        let (entries, keys) = (self.body.nnz(), self.cols.places().max(self.rows.places()) as u64 + 1);
        let each = match self.device {
            // Counters of each thread, and what is kept of where entries go.
            Device::Cpu => {
                let counters = keys.saturating_mul(8 * rayon::current_num_threads() as u64 + 12);
                counters.saturating_add(entries.saturating_mul(8))
            }
            // Ordered maps, and vectors that grow by doubling.
            _ => keys.saturating_mul(96).saturating_add(entries.saturating_mul(112 + 3 * self.scalar.size as u64)),
        };
        entries.saturating_mul(4 + self.scalar.size as u64).saturating_add(each)
    }
    /// The same positions, of which the values are forgotten.
    pub(crate) fn without_values(&self) -> Result<Self> {
        let body = match &self.body {
            UntypedBody::Host(h) => {
                UntypedBody::Host(UntypedCsr { pattern: h.pattern.clone(), values: Arc::new(Buffer::<u8>::default()) })
            }
            UntypedBody::Dense(d) => {
                let pattern = d.listed()?.pattern().clone();
                UntypedBody::Host(UntypedCsr { pattern, values: Arc::new(Buffer::<u8>::default()) })
            }
            UntypedBody::Held(h) => {
                let pattern = h.pattern()?.clone();
                UntypedBody::Host(UntypedCsr { pattern, values: Arc::new(Buffer::<u8>::default()) })
            }
            #[cfg(feature = "cuda")]
            UntypedBody::Cuda(d) => UntypedBody::Cuda(d.without_values()?),
            #[cfg(feature = "cuda")]
            UntypedBody::CudaDense(d) => UntypedBody::Cuda(d.listed()?.without_values()?),
            #[cfg(feature = "cuda")]
            UntypedBody::CudaHeld(h) => UntypedBody::Cuda(h.blank()?),
        };
        Ok(Self { rows: self.rows.clone(), cols: self.cols.clone(), body, ..*self })
    }
    /// The entries of a row in host memory whose indices have places on this axis, there, where both are lists.
    pub(crate) fn within(self, cols: &Axis, operation: &'static str) -> Result<Self> {
        if !self.cols.is_listed() || !cols.is_listed() || self.cols.same(cols) {
            return Ok(self);
        }
        let list = match &self.body {
            UntypedBody::Host(list) => list.clone(),
            UntypedBody::Dense(d) => d.listed()?,
            UntypedBody::Held(h) => h.shared()?,
            #[cfg(feature = "cuda")]
            _ => return Ok(self),
        };
        let places = self.cols.found_on(cols, operation)?;
        let kept = list.values.kept(&list.pattern, &|j| places[j as usize] != NONE)?;
        let indices = cpu::mapped(operation, &kept.pattern.indices, |j| places[j as usize])?;
        let pattern = Pattern::new(1, cols.places(), vec![0, indices.len() as u64], indices);
        let body = UntypedBody::Host(UntypedCsr { pattern: Arc::new(pattern), values: kept.values });
        Ok(Self { cols: cols.clone(), body, ..self })
    }
    /// Transposed where asked, a list in any case.
    pub(crate) fn oriented(&self, transposed: bool, reads: Reading) -> Result<Self> {
        #[cfg(feature = "cuda")]
        if let Some((rows, turned)) = self.body.device_rows(transposed, reads)? {
            let (rows, body) = ((self.rows.clone(), self.cols.clone()), UntypedBody::Cuda(rows));
            let (rows, cols) = if turned { (rows.1, rows.0) } else { rows };
            return Self { rows, cols, body, ..*self }.oriented(transposed && !turned, reads);
        }
        let listed = match &self.body {
            UntypedBody::Dense(d) => Some(d.listed()?),
            UntypedBody::Held(h) => {
                if transposed && let Some(turned) = h.turned()? {
                    let body = UntypedBody::Held(turned);
                    let turned = Self { rows: self.cols.clone(), cols: self.rows.clone(), body, ..*self };
                    return turned.oriented(false, reads);
                }
                Some(match reads {
                    Reading::Each => h.listed()?,
                    Reading::Shared => h.shared()?,
                    Reading::Nothing => h.blank()?,
                })
            }
            _ => None,
        };
        if let Some(listed) = listed {
            let body = UntypedBody::Host(listed);
            let listed = Self { rows: self.rows.clone(), cols: self.cols.clone(), body, ..*self };
            return listed.oriented(transposed, reads);
        }
        if !transposed {
            return Ok(self.clone());
        }
        if let Some(fewer) = self.listed((false, true), "transpose")? {
            return fewer.oriented(true, reads);
        }
        let body = match &self.body {
            UntypedBody::Host(h) => UntypedBody::Host(h.values.transposed(&h.pattern, self.device)?),
            UntypedBody::Dense(_) | UntypedBody::Held(_) => return Err(super::misplaced(self.device)),
            #[cfg(feature = "cuda")]
            UntypedBody::Cuda(d) => UntypedBody::Cuda(d.transposed(self.scalar)?),
            #[cfg(feature = "cuda")]
            UntypedBody::CudaDense(_) | UntypedBody::CudaHeld(_) => return Err(super::misplaced(self.device)),
        };
        Ok(Self { rows: self.cols.clone(), cols: self.rows.clone(), body, ..*self })
    }
    /// The same entries on axes that have at least these places.
    pub(crate) fn on_axes(self, rows: &Axis, cols: &Axis, operation: &'static str) -> Result<Self> {
        if self.rows.same(rows) && self.cols.same(cols) {
            return Ok(self);
        }
        let (device, body) = (self.device, self.body.pattern()?);
        let (from, to) = (self.rows.clone(), self.cols.clone());
        let on = PatternStore { rows: from, cols: to, body, device }.on_axes(rows, cols, operation)?;
        self.at(on)
    }
    /// The same values, in the same order, at other positions in the same memory.
    pub(crate) fn at(self, on: PatternStore) -> Result<Self> {
        Ok(Self {
            rows: on.rows,
            cols: on.cols,
            body: self.body.at(on.body)?,
            device: self.device,
            scalar: self.scalar,
        })
    }
}

impl<T: Scalar> Store<T> {
    /// What a product made.
    pub(crate) fn made(rows: Axis, cols: Axis, body: &UntypedBody, device: Device) -> Result<Self> {
        Ok(Self { rows, cols, body: (T::entries().typed)(body)?, device })
    }
}
