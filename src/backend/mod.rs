//! One implementation each of the same small set of kernels.
//!
//! Everything here works on plain compressed rows: places below 2³², columns ascending in each row. Shapes, devices and
//! axes were checked above; what is left to fail is memory and, on CUDA, the driver.
use crate::algebra::{BinaryOp, IndexUnaryOp, Monoid, Ordered, Scalar};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::operation::Accumulate;
use crate::spgemm::Strategy;
use crate::storage::axis::Ids;
use crate::storage::dense::{Dense, Places};
use crate::storage::held::Held;
use crate::storage::pattern::Pattern;
use places::{Assigned, Moves};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

pub(crate) mod chain;
pub(crate) mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
pub(crate) mod ends;
pub(crate) mod host;
pub(crate) mod places;
pub(crate) mod reference;
pub(crate) mod ring;
pub(crate) mod side;
pub(crate) mod untyped;

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
    #[cfg(feature = "cuda")]
    Cuda(MaskOn<Arc<cuda::DevicePattern>>),
    /// As `Bits`.
    #[cfg(feature = "cuda")]
    CudaBits(MaskOn<Arc<cuda::DevicePlaces>>, Arc<OnceLock<MaskOn<Arc<cuda::DevicePattern>>>>),
}
impl MaskBody {
    pub(crate) fn new(pattern: &PatternBody, complement: bool) -> Self {
        match pattern {
            PatternBody::Host(p) => MaskBody::Host(MaskOn { pattern: p.clone(), complement }),
            PatternBody::Bits(p) => MaskBody::Bits(MaskOn { pattern: p.clone(), complement }, Arc::default()),
            #[cfg(feature = "cuda")]
            PatternBody::Cuda(p) => MaskBody::Cuda(MaskOn { pattern: p.clone(), complement }),
            #[cfg(feature = "cuda")]
            PatternBody::CudaBits(p) => MaskBody::CudaBits(MaskOn { pattern: p.clone(), complement }, Arc::default()),
        }
    }
    pub(crate) fn nnz(&self) -> u64 {
        match self {
            MaskBody::Host(m) => m.pattern.nnz() as u64,
            MaskBody::Bits(m, _) => m.pattern.count() as u64,
            #[cfg(feature = "cuda")]
            MaskBody::Cuda(m) => m.pattern.nnz,
            #[cfg(feature = "cuda")]
            MaskBody::CudaBits(m, _) => m.pattern.count(),
        }
    }
    pub(crate) fn is_complement(&self) -> bool {
        match self {
            MaskBody::Host(m) => m.complement,
            MaskBody::Bits(m, _) => m.complement,
            #[cfg(feature = "cuda")]
            MaskBody::Cuda(m) => m.complement,
            #[cfg(feature = "cuda")]
            MaskBody::CudaBits(m, _) => m.complement,
        }
    }
    /// A vector's places on a device as bits.
    #[cfg(feature = "cuda")]
    pub(crate) fn bits(&self) -> Result<Option<MaskOn<Arc<cuda::DevicePlaces>>>> {
        Ok(match self {
            MaskBody::CudaBits(m, _) => Some(m.clone()),
            MaskBody::Cuda(m) if m.pattern.nrows == 1 => Some(cuda::DevicePlaces::of_mask(m)?),
            _ => None,
        })
    }
}

/// What the ids of places are, for operators that look at positions; `None` where a place is its id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Positions {
    pub(crate) i: Ids,
    pub(crate) k: Ids,
    pub(crate) j: Ids,
}

/// Options of a product that concern how, not what.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MxmOptions {
    pub(crate) strategy: Strategy,
    /// B is given transposed: its rows are the columns of the product's right operand.
    pub(crate) transposed_b: bool,
    /// Workspace and result take no more bytes at once.
    pub(crate) memory_limit: Option<u64>,
    /// Sums run in the order of k.
    pub(crate) reproducible: bool,
}

impl MxmOptions {
    /// The same with another limit.
    pub(crate) fn within(self, memory_limit: Option<u64>) -> Self {
        Self { memory_limit, ..self }
    }
}

/// Pivots of a closure handled at once. It is part of the order in which ways are joined, so that it is one for all.
pub(crate) const PIVOTS: usize = 64;

/// The kernels every device offers, but for products, whose operands come as [`untyped`] stores and whose semiring comes as
/// a table, a [`ring`].
pub(crate) trait Backend: Sized {
    /// Compressed rows in this device's memory; cheap to clone.
    type Csr<T: Scalar>: Clone;
    /// Their positions alone.
    type Pattern: Clone;

    fn csr<'a, T: Scalar>(&self, body: &'a Body<T>) -> Result<&'a Self::Csr<T>>;
    fn pattern<'a>(&self, body: &'a PatternBody) -> Result<&'a Self::Pattern>;
    fn mask<'a>(&self, mask: Option<&'a MaskBody>) -> Result<Option<&'a MaskOn<Self::Pattern>>>;
    /// Rows without entries.
    fn empty<T: Scalar>(&self, operation: &'static str, nrows: usize, ncols: usize) -> Result<Self::Csr<T>>;
    fn upload<T: Scalar>(&self, host: &host::HostCsr<T>) -> Result<Self::Csr<T>>;
    fn download<T: Scalar>(&self, a: &Self::Csr<T>) -> Result<host::HostCsr<T>>;
    fn upload_pattern(&self, host: &Arc<Pattern>) -> Result<Self::Pattern>;
    fn download_pattern(&self, a: &Self::Pattern) -> Result<Arc<Pattern>>;

    /// Entries of either, `F` where both are.
    fn union<T: Scalar, F: BinaryOp<T, T, Out = T>>(&self, a: &Self::Csr<T>, b: &Self::Csr<T>) -> Result<Self::Csr<T>>;
    /// `F` where both are.
    fn intersection<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &Self::Csr<A>,
        b: &Self::Csr<B>,
    ) -> Result<Self::Csr<F::Out>>;
    /// F(a, i, j, y) at every entry; the pattern is shared.
    fn apply<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
        &self,
        a: &Self::Csr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<Self::Csr<F::Out>>;
    /// The entries where F holds.
    fn select<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
        &self,
        a: &Self::Csr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<Self::Csr<A>>;
    /// One row: ⊕ over each row in column order, no entry for an empty row.
    fn reduce_rows<T: Scalar, M: Monoid<T>>(&self, a: &Self::Csr<T>) -> Result<Self::Csr<T>>;
    /// The rows of Aᵀ summed up where that needs no Aᵀ.
    fn reduce_columns<T: Scalar, M: Monoid<T>>(&self, _a: &Self::Csr<T>) -> Result<Option<Self::Csr<T>>> {
        Ok(None)
    }
    /// ⊕ over all entries; `None` where there are none.
    fn reduce<T: Scalar, M: Monoid<T>>(&self, a: &Self::Csr<T>) -> Result<Option<T>>;
    fn transpose<T: Scalar>(&self, a: &Self::Csr<T>) -> Result<Self::Csr<T>>;
    /// Rows from triplets in any order; duplicates folded by F in input order. Places are in range.
    /// `Err` of the position of a second entry where `refuse` is set.
    fn build<T: Scalar, F: BinaryOp<T, T, Out = T>>(
        &self,
        shape: (usize, usize),
        rows: &[u32],
        columns: &[u32],
        values: &[T],
        refuse: bool,
    ) -> Result<std::result::Result<Self::Csr<T>, usize>>;
    /// The rule of the standard: C⟨M, replace⟩ ⊙= T.
    fn write<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &Self::Csr<C>,
        t: &Self::Csr<T>,
        mask: Option<&MaskOn<Self::Pattern>>,
        replace: bool,
    ) -> Result<Self::Csr<C>>;
    /// Row r of the result is row `rows[r]` of A, an empty one for [`places::NONE`].
    fn extract_rows<T: Scalar>(&self, a: &Self::Csr<T>, rows: &[u32]) -> Result<Self::Csr<T>>;
    /// The entry of each row r in the column `at(r)`, if it has one, as entry r of one row, where that is known to be
    /// simpler than other ways.
    fn one_a_row<T: Scalar>(
        &self,
        _a: &Self::Csr<T>,
        _at: &(dyn Fn(usize) -> Option<u32> + Sync),
    ) -> Result<Option<Self::Csr<T>>> {
        Ok(None)
    }
    /// The same with one column for all rows.
    fn one_column<T: Scalar>(&self, a: &Self::Csr<T>, column: u32) -> Result<Option<Self::Csr<T>>> {
        self.one_a_row(a, &|_| Some(column))
    }
    /// The same entries where row and column k are row and column `map[k]`, which ascend; `None`: as they are. Where a device
    /// does that itself.
    fn spread(
        &self,
        _a: &Self::Pattern,
        _shape: (usize, usize),
        _rows: Option<&[u32]>,
        _cols: Option<&[u32]>,
    ) -> Result<Option<Self::Pattern>> {
        Ok(None)
    }
    /// The same entries, row by row, in rows of another length; there are as many places. Where a device does that itself.
    fn reshaped(&self, _a: &Self::Pattern, _shape: (usize, usize)) -> Result<Option<Self::Pattern>> {
        Ok(None)
    }
    /// The rows and the columns that have entries, of which these are asked for, where a device looks for them itself.
    #[allow(clippy::type_complexity)]
    fn used(&self, _a: &Self::Pattern, _which: (bool, bool)) -> Result<Option<(Vec<u32>, Vec<u32>)>> {
        Ok(None)
    }
    /// The same entries on these rows and columns alone, which are all that have any; `None`: as they are. Where a device does that
    /// itself.
    fn gathered(
        &self,
        _a: &Self::Pattern,
        _rows: Option<&[u32]>,
        _cols: Option<&[u32]>,
    ) -> Result<Option<Self::Pattern>> {
        Ok(None)
    }
    /// `value` at every place of these rows and columns, where a device makes that of nothing.
    fn block<T: Scalar>(
        &self,
        _shape: (usize, usize),
        _rows: Range<u32>,
        _cols: Range<u32>,
        _value: T,
    ) -> Result<Option<Self::Csr<T>>> {
        Ok(None)
    }
    /// A with its rows and columns moved, where that is known to be simpler than `gather`.
    fn window<T: Scalar>(
        &self,
        _a: &Self::Csr<T>,
        _rows: Option<&Moves>,
        _cols: Option<&Moves>,
    ) -> Result<Option<Self::Csr<T>>> {
        Ok(None)
    }
    /// Rows as [`extract_rows`](Self::extract_rows) takes them, all without a list, and in them the columns where `moves` says;
    /// the others are left out.
    fn gather<T: Scalar>(&self, a: &Self::Csr<T>, rows: Option<&[u32]>, moves: &Moves) -> Result<Self::Csr<T>>;
    /// The same value at every position.
    fn filled<T: Scalar>(&self, pattern: &Self::Pattern, value: T) -> Result<Self::Csr<T>>;
    /// C(region)⟨M, replace⟩ ⊙= T: inside the region Z = C ⊙ T or T, outside Z = C. In the reach C becomes Z where the mask
    /// admits, and elsewhere stays or is deleted; beyond it C stays.
    fn assign<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &Self::Csr<C>,
        t: &Self::Csr<T>,
        how: &Assigned,
        mask: Option<&MaskOn<Self::Pattern>>,
    ) -> Result<Self::Csr<C>>;
    /// C(i·p + k, j·q + l) = F(A(i, j), B(k, l)) for p × q places of B; those of C are below 2³².
    fn kronecker<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &Self::Csr<A>,
        b: &Self::Csr<B>,
    ) -> Result<Self::Csr<F::Out>>;
    /// Of a square matrix: the best ways through all places, as [`closure`](crate::operation::closure) has it; `Err` of a place from
    /// which a way to itself is better than `trivial`.
    fn closure<T: Scalar, J: BinaryOp<T, T, Out = T>, B: BinaryOp<T, T, Out = bool>>(
        &self,
        a: &Self::Csr<T>,
        trivial: T,
        absent: T,
    ) -> Result<std::result::Result<Self::Csr<T>, usize>>;
    /// F where either has an entry, alpha and beta for those that are not there.
    fn ewise_union<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &Self::Csr<A>,
        alpha: A,
        b: &Self::Csr<B>,
        beta: B,
    ) -> Result<Self::Csr<F::Out>>;
    /// The square matrix with a row's entries on its diagonal.
    fn diagonal<T: Scalar>(&self, v: &Self::Csr<T>) -> Result<Self::Csr<T>>;
    /// F(v(i), A(i, j)) where both are; v is a row.
    fn scale_rows<V: Scalar, A: Scalar, F: BinaryOp<V, A>>(
        &self,
        v: &Self::Csr<V>,
        a: &Self::Csr<A>,
    ) -> Result<Self::Csr<F::Out>>;
    /// F(A(i, j), v(j)) where both are; v is a row.
    fn scale_columns<A: Scalar, V: Scalar, F: BinaryOp<A, V>>(
        &self,
        a: &Self::Csr<A>,
        v: &Self::Csr<V>,
    ) -> Result<Self::Csr<F::Out>>;
    /// One row: the id of the first column of each row's smallest (largest) value, NaN passed over where there is another.
    fn arg_rows<T: Ordered, const LARGEST: bool>(&self, a: &Self::Csr<T>, at: &Positions) -> Result<Self::Csr<u64>>;
    /// The rows' values in the order of F, stable, at places 0, 1, …, and the ids of the columns they had.
    fn sort_rows<T: Scalar, F: BinaryOp<T, T, Out = bool>>(
        &self,
        a: &Self::Csr<T>,
        ids: &Ids,
    ) -> Result<(Self::Csr<T>, Self::Csr<u64>)>;
    /// Rows of tiles, one below the other; there is one.
    fn concat<T: Scalar>(&self, tiles: &[Vec<&Self::Csr<T>>]) -> Result<Self::Csr<T>>;
    fn get<T: Scalar>(&self, a: &Self::Csr<T>, row: usize, column: u32) -> Result<Option<T>>;
}

/// Whether x goes in front of y in a sorted row: as F says, NaN last whatever it says.
#[inline(always)]
pub(crate) fn in_front<T: Scalar, F: BinaryOp<T, T, Out = bool>>(x: T, y: T) -> bool {
    if matches!(T::TEXT.name, "f32" | "f64" | "c32" | "c64" | "f16" | "bf16") {
        #[allow(clippy::eq_op)]
        let (x_is_nan, y_is_nan) = (x != x, y != y);
        if x_is_nan || y_is_nan {
            return !x_is_nan && y_is_nan;
        }
    }
    F::apply(x, y)
}

pub(crate) use cpu::in_pieces;

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
            Body::Held(h) => PatternBody::Host(h.frame.pattern("dispatch")?.clone()),
            #[cfg(feature = "cuda")]
            Body::Cuda(d) => PatternBody::Cuda(d.pattern.clone()),
            #[cfg(feature = "cuda")]
            Body::CudaDense(d) => PatternBody::CudaBits(d.places().clone()),
            #[cfg(feature = "cuda")]
            Body::CudaHeld(h) => PatternBody::Cuda(h.frame.listed()?.clone()),
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
            #[cfg(feature = "cuda")]
            (Body::Cuda(d), PatternBody::Cuda(pattern)) => Ok(Body::Cuda(d.at(pattern))),
            #[cfg(feature = "cuda")]
            (Body::CudaDense(d), PatternBody::Cuda(pattern)) => Ok(Body::Cuda(d.listed()?.at(pattern))),
            #[cfg(feature = "cuda")]
            (Body::CudaHeld(h), PatternBody::Cuda(pattern)) => Ok(Body::Cuda(h.listed()?.at(pattern))),
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
            cuda::Transposed::Full(full) => Body::CudaHeld(full),
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
    Bits(Arc<Places>),
    #[cfg(feature = "cuda")]
    Cuda(Arc<cuda::DevicePattern>),
    #[cfg(feature = "cuda")]
    CudaBits(Arc<cuda::DevicePlaces>),
}
impl PatternBody {
    pub(crate) fn nnz(&self) -> u64 {
        match self {
            PatternBody::Host(p) => p.nnz() as u64,
            PatternBody::Bits(p) => p.count() as u64,
            #[cfg(feature = "cuda")]
            PatternBody::Cuda(p) => p.nnz,
            #[cfg(feature = "cuda")]
            PatternBody::CudaBits(p) => p.count(),
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

/// The one place that knows all backends: the body is compiled once for each.
macro_rules! on_backend {
    ($device:expr, |$backend:ident| $body:block) => {
        match $device {
            $crate::device::Device::Reference => {
                let $backend = $crate::backend::reference::Reference;
                #[allow(unused_imports)]
                use $crate::backend::Backend as _;
                $body
            }
            $crate::device::Device::Cpu => {
                let $backend = $crate::backend::cpu::Cpu;
                #[allow(unused_imports)]
                use $crate::backend::Backend as _;
                $body
            }
            #[cfg(feature = "cuda")]
            $crate::device::Device::Cuda(ordinal) => {
                let $backend = $crate::backend::cuda::Cuda::open(ordinal)?;
                #[allow(unused_imports)]
                use $crate::backend::Backend as _;
                $body
            }
            #[cfg(not(feature = "cuda"))]
            device => {
                return Err($crate::error::Error::Unavailable {
                    device: device.to_string(),
                    reason: "oplus was built without the feature `cuda`".into(),
                })
            }
        }
    };
}
pub(crate) use on_backend;
