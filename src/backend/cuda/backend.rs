//! The CUDA backend: the generic part is a few lines an operation, what it needs as text and bytes.
use super::entrywise::merge::{self, Kind};
use super::entrywise::scale::{self, Scaling};
use super::entrywise::{assign, map, one_row, order, pair, reduce};
use super::runtime::account;
use super::storage::values::{Values, of_marks};
use super::storage::{in_use, places};
use super::structure::{build, columns, kronecker, reshape, segmented_merge, transpose};
use super::{Buffer, Context, DeviceCsr, DevicePattern, closure, composed, entries};
use crate::algebra::scalar::{as_bytes, from_bytes, same};
use crate::algebra::semiring::monoid_text;
use crate::algebra::texts::{binary_text, index_text};
use crate::algebra::*;
use crate::backend::host::HostCsr;
use crate::backend::places::{Assigned, How, Moves};
use crate::backend::side::Side;
use crate::backend::{Backend, Body, MaskBody, MaskOn, PatternBody, Positions, misplaced};
use crate::device::Device;
use crate::error::Result;
use crate::operation::Accumulate;
use crate::spgemm::{KernelTrace, Trace};
use crate::storage::axis::Ids;
use crate::storage::pattern::Pattern;
use std::ops::Range;
use std::sync::Arc;

/// One GPU.
#[derive(Clone, Debug)]
pub(crate) struct Cuda {
    pub(super) context: Arc<Context>,
}

impl Cuda {
    /// The GPU of this ordinal, or why it cannot be used.
    pub(crate) fn open(ordinal: u32) -> Result<Self> {
        Ok(Self { context: Context::get(ordinal)? })
    }
    /// The GPU that this device names.
    pub(crate) fn on(device: Device) -> Result<Self> {
        match device {
            Device::Cuda(ordinal) => Self::open(ordinal),
            _ => Err(misplaced(device)),
        }
    }
    pub(super) fn device(&self) -> Device {
        self.context.device()
    }
    /// What `work` makes where its buffers hold at most `limit` bytes at once.
    pub(crate) fn within<R>(&self, limit: u64, work: impl FnOnce() -> Result<R>) -> Result<R> {
        account::within(limit, work).map(|(made, _)| made)
    }
    /// One row: how many entries each row has, none for an empty one.
    pub(crate) fn count_rows(&self, a: &DevicePattern) -> Result<DeviceCsr<u64>> {
        made(reduce::count_rows(a))
    }
    /// What `work` makes, and what it launched.
    pub(crate) fn traced<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Trace)> {
        let ((made, launches), peak) = account::within(u64::MAX, || self.context.trace(work))?;
        let kernels =
            launches.into_iter().map(|l| KernelTrace::new(l.kernel, l.ms, Some(l.bytes), (l.blocks, l.threads)));
        Ok((made, Trace::of(kernels.collect(), Some(peak))))
    }
}

impl Cuda {
    /// A with its rows and columns moved; no list of them comes from the host but one that the caller gave.
    pub(super) fn moved<T: Scalar>(
        &self,
        a: &DeviceCsr<T>,
        rows: Option<&Moves>,
        cols: Option<&Moves>,
    ) -> Result<DeviceCsr<T>> {
        let ranges = |moves: Option<&Moves>| moves.is_none_or(|m| matches!(m.how, How::Range { .. }));
        if ranges(rows) && ranges(cols) {
            return a.moved(T::TEXT, |scalar, a| columns::window(scalar, a, rows, cols));
        }
        // One of them goes one by one.
        let a = match rows {
            None => a.clone(),
            Some(_) if ranges(rows) => a.moved(T::TEXT, |scalar, a| columns::window(scalar, a, rows, None))?,
            Some(rows) => {
                let sources = places::sources(&self.context, rows)?;
                a.moved(T::TEXT, |scalar, a| entries::listed_rows(scalar, a, &sources))?
            }
        };
        match cols {
            None => Ok(a),
            Some(_) if ranges(cols) => a.moved(T::TEXT, |scalar, a| columns::window(scalar, a, None, cols)),
            Some(cols) => a.moved(T::TEXT, |scalar, a| columns::move_columns(scalar, a, cols)),
        }
    }
}

impl DeviceCsr<()> {
    /// The transpose of values of this scalar.
    pub(crate) fn transposed(&self, scalar: ScalarText) -> Result<Self> {
        self.moved(scalar, transpose::transpose)
    }
}

impl<T: Scalar> DeviceCsr<T> {
    /// The transpose by segmented merge.
    pub(crate) fn transposed_by_merging(&self) -> Result<Self> {
        self.moved(T::TEXT, segmented_merge::transpose)
    }
}

pub(super) fn made<T>(parts: Result<(DevicePattern, Buffer)>) -> Result<DeviceCsr<T>> {
    parts.map(|(pattern, values)| DeviceCsr::new(pattern, values))
}

pub(super) type Mask = MaskOn<Arc<DevicePattern>>;

impl Backend for Cuda {
    type Csr<T: Scalar> = DeviceCsr<T>;
    type Pattern = Arc<DevicePattern>;

    fn csr<'a, T: Scalar>(&self, body: &'a Body<T>) -> Result<&'a DeviceCsr<T>> {
        match body {
            Body::Cuda(d) => Ok(d),
            Body::CudaDense(d) => d.listed(),
            Body::CudaHeld(h) => h.listed(),
            Body::Host(_) | Body::Dense(_) | Body::Held(_) => Err(misplaced(self.device())),
        }
    }
    fn pattern<'a>(&self, body: &'a PatternBody) -> Result<&'a Arc<DevicePattern>> {
        match body {
            PatternBody::Cuda(p) => Ok(p),
            PatternBody::CudaBits(p) => p.listed(),
            PatternBody::CudaCells(p) => p.listed(),
            PatternBody::Host(_) | PatternBody::Bits(_) | PatternBody::Cells(_) => Err(misplaced(self.device())),
        }
    }
    fn mask<'a>(&self, mask: Option<&'a MaskBody>) -> Result<Option<&'a Mask>> {
        match mask {
            None => Ok(None),
            Some(MaskBody::Cuda(m)) => Ok(Some(m)),
            Some(MaskBody::CudaBits(m, listed)) => {
                let pattern = m.pattern.listed()?.clone();
                Ok(Some(listed.get_or_init(|| MaskOn { pattern, complement: m.complement })))
            }
            Some(MaskBody::CudaCells(m, listed)) => {
                let pattern = m.pattern.listed()?.clone();
                Ok(Some(listed.get_or_init(|| MaskOn { pattern, complement: m.complement })))
            }
            Some(MaskBody::Host(_) | MaskBody::Bits(..) | MaskBody::Cells(..)) => Err(misplaced(self.device())),
        }
    }
    fn empty<T: Scalar>(&self, _: &'static str, nrows: usize, ncols: usize) -> Result<DeviceCsr<T>> {
        made(entries::empty(&self.context, nrows, ncols))
    }
    fn upload<T: Scalar>(&self, host: &HostCsr<T>) -> Result<DeviceCsr<T>> {
        DeviceCsr::upload(&self.context, host)
    }
    fn download<T: Scalar>(&self, a: &DeviceCsr<T>) -> Result<HostCsr<T>> {
        a.download()
    }
    fn upload_pattern(&self, host: &Arc<Pattern>) -> Result<Arc<DevicePattern>> {
        DevicePattern::upload(&self.context, host).map(Arc::new)
    }
    fn download_pattern(&self, a: &Arc<DevicePattern>) -> Result<Arc<Pattern>> {
        a.download().map(Arc::new)
    }

    fn union<T: Scalar, F: BinaryOp<T, T, Out = T>>(&self, a: &DeviceCsr<T>, b: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        if let Some(made) = pair::combined::<T, T, F>(|| binary_text::<T, T, F>("op"), a, b)? {
            return Ok(made);
        }
        if let (Some(x), Some(y)) = (a.one(), b.one())
            && same(x, y)
            && same(x, F::apply(x, y))
        {
            return DeviceCsr::iso(Arc::new(merge::positions(&Kind::Union, a, b)?), x);
        }
        made(merge::merged(&Kind::Union, binary_text::<T, T, F>("op"), a, b))
    }
    fn intersection<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &DeviceCsr<A>,
        b: &DeviceCsr<B>,
    ) -> Result<DeviceCsr<F::Out>> {
        if let Some(made) = pair::combined::<A, B, F>(|| binary_text::<A, B, F>("op"), a, b)? {
            return Ok(made);
        }
        let kind = Kind::Intersection;
        if let (Some(x), Some(y)) = (a.one(), b.one()) {
            return DeviceCsr::iso(Arc::new(merge::positions(&kind, a, b)?), F::apply(x, y));
        }
        made(merge::merged(&kind, binary_text::<A, B, F>("op"), a, b))
    }
    fn apply<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
        &self,
        a: &DeviceCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<DeviceCsr<F::Out>> {
        let read = a.read_if(F::TEXT.reads(0))?;
        let values = map::apply(index_text::<A, Y, F>("op"), as_bytes(&[y]), read.operand(), at)?;
        Ok(DeviceCsr::on(a.pattern.clone(), values))
    }
    fn select<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
        &self,
        a: &DeviceCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<DeviceCsr<A>> {
        // One value, and nobody looks at positions: all or none.
        if let (Some(x), false) = (a.one(), F::TEXT.reads(1) || F::TEXT.reads(2)) {
            return match F::apply(x, 0, 0, y) {
                true => Ok(a.clone()),
                false => self.empty("select", a.pattern.nrows, a.pattern.ncols),
            };
        }
        if let (Some(side), None) = (Side::of::<A, Y, F>(y), &at.j)
            && at.i.is_none()
            && a.nnz() > 0
        {
            let spans = map::spans(index_text::<A, Y, F>("op"), as_bytes(&[y]), a.blank()?.operand(), side.before)?;
            let (offsets, kept) = spans.counted()?;
            if kept == a.nnz() {
                return Ok(a.clone());
            }
            let ncols = a.pattern.ncols;
            return a.moved(A::TEXT, |scalar, a| spans.taken(scalar, a, (offsets, kept), (ncols, 0)));
        }
        let looks = F::TEXT.reads(0);
        if one_row::suits(&a.pattern, a.nnz()) {
            let (read, size) = (a.read_if(looks || !a.is_iso())?, if a.is_iso() { 0 } else { size_of::<A>() as u64 });
            let (pattern, values) = map::row(index_text::<A, Y, F>("op"), as_bytes(&[y]), read.operand(), at, size)?;
            return match a.one() {
                _ if pattern.nnz == a.nnz() => Ok(a.clone()),
                Some(x) => DeviceCsr::iso(Arc::new(pattern), x),
                None => Ok(DeviceCsr::new(pattern, values)),
            };
        }
        let read = a.read_if(looks)?;
        let (marks, kept) = map::mark(index_text::<A, Y, F>("op"), as_bytes(&[y]), read.operand(), at)?;
        if kept == a.nnz() {
            return Ok(a.clone());
        }
        a.moved(A::TEXT, |scalar, a| entries::compact(scalar, a, &marks, kept))
    }
    fn reduce_rows<T: Scalar, M: Monoid<T>>(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        let (pattern, values) = reduce::reduce_rows(monoid_text::<T, M>("op"), a.read()?.operand())?;
        Ok(DeviceCsr::on(pattern, values))
    }
    fn reduce<T: Scalar, M: Monoid<T>>(&self, a: &DeviceCsr<T>) -> Result<Option<T>> {
        match reduce::reduce(monoid_text::<T, M>("op"), a.read()?.operand())? {
            None => Ok(None),
            Some(bytes) => Ok(from_bytes("reduce", &bytes)?.first().copied()),
        }
    }
    fn transpose<T: Scalar>(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        a.moved(T::TEXT, transpose::transpose)
    }
    fn build<T: Scalar, F: BinaryOp<T, T, Out = T>>(
        &self,
        shape: (usize, usize),
        rows: &[u32],
        columns: &[u32],
        values: &[T],
        refuse: bool,
    ) -> Result<std::result::Result<DeviceCsr<T>, usize>> {
        let fold = binary_text::<T, T, F>("op");
        let built = build::build(&self.context, fold, shape, rows, columns, as_bytes(values), refuse)?;
        Ok(built.map(|(pattern, values)| DeviceCsr::new(pattern, values)))
    }
    fn write<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &DeviceCsr<C>,
        t: &DeviceCsr<T>,
        mask: Option<&Mask>,
        replace: bool,
    ) -> Result<DeviceCsr<C>> {
        self.written::<C, T, F>(c, t, mask, replace, None)
    }
    fn extract_rows<T: Scalar>(&self, a: &DeviceCsr<T>, rows: &[u32]) -> Result<DeviceCsr<T>> {
        a.moved(T::TEXT, |scalar, a| entries::extract_rows(scalar, a, rows))
    }
    fn gather<T: Scalar>(&self, a: &DeviceCsr<T>, rows: Option<&[u32]>, moves: &Moves) -> Result<DeviceCsr<T>> {
        let taken = rows.map(|rows| self.extract_rows(a, rows)).transpose()?;
        let a = taken.as_ref().unwrap_or(a);
        a.moved(T::TEXT, |scalar, a| columns::move_columns(scalar, a, moves))
    }
    fn window<T: Scalar>(
        &self,
        a: &DeviceCsr<T>,
        rows: Option<&Moves>,
        cols: Option<&Moves>,
    ) -> Result<Option<DeviceCsr<T>>> {
        self.moved(a, rows, cols).map(Some)
    }
    fn spread(
        &self,
        a: &Arc<DevicePattern>,
        shape: (usize, usize),
        rows: Option<&[u32]>,
        cols: Option<&[u32]>,
    ) -> Result<Option<Arc<DevicePattern>>> {
        places::spread(a, shape, rows, cols).map(|made| Some(Arc::new(made)))
    }
    fn reshaped(&self, a: &Arc<DevicePattern>, shape: (usize, usize)) -> Result<Option<Arc<DevicePattern>>> {
        reshape::reshaped(a, shape).map(|made| Some(Arc::new(made)))
    }
    fn used(&self, a: &Arc<DevicePattern>, which: (bool, bool)) -> Result<Option<(Vec<u32>, Vec<u32>)>> {
        in_use::used(a, which).map(Some)
    }
    fn gathered(
        &self,
        a: &Arc<DevicePattern>,
        rows: Option<&[u32]>,
        cols: Option<&[u32]>,
    ) -> Result<Option<Arc<DevicePattern>>> {
        in_use::gathered(a, rows, cols).map(|made| Some(Arc::new(made)))
    }
    fn block<T: Scalar>(
        &self,
        shape: (usize, usize),
        rows: Range<u32>,
        cols: Range<u32>,
        value: T,
    ) -> Result<Option<DeviceCsr<T>>> {
        let pattern = Arc::new(places::block(&self.context, shape, rows, cols)?);
        self.filled(&pattern, value).map(Some)
    }
    fn filled<T: Scalar>(&self, pattern: &Arc<DevicePattern>, value: T) -> Result<DeviceCsr<T>> {
        DeviceCsr::iso(pattern.clone(), value)
    }
    fn assign<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &DeviceCsr<C>,
        t: &DeviceCsr<T>,
        how: &Assigned,
        mask: Option<&Mask>,
    ) -> Result<DeviceCsr<C>> {
        let bounds = assign::bounds(&self.context, how)?;
        self.written::<C, T, F>(c, t, mask, how.replace, Some(&bounds))
    }
    fn kronecker<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &DeviceCsr<A>,
        b: &DeviceCsr<B>,
    ) -> Result<DeviceCsr<F::Out>> {
        if let (Some(x), Some(y)) = (a.one(), b.one()) {
            let (pattern, _) = kronecker::kronecker(of_marks(), a.marks()?.operand(), b.marks()?.operand())?;
            return DeviceCsr::iso(Arc::new(pattern), F::apply(x, y));
        }
        made(kronecker::kronecker(binary_text::<A, B, F>("op"), a.read()?.operand(), b.read()?.operand()))
    }
    fn closure<T: Scalar, J: BinaryOp<T, T, Out = T>, B: BinaryOp<T, T, Out = bool>>(
        &self,
        a: &DeviceCsr<T>,
        trivial: T,
        absent: T,
    ) -> Result<std::result::Result<DeviceCsr<T>, usize>> {
        let by = (binary_text::<T, T, J>("join"), binary_text::<T, T, B>("better"));
        let (trivial, absent) = ([trivial], [absent]);
        let closed = closure::closure(by, a.read()?.operand(), (as_bytes(&trivial), as_bytes(&absent)))?;
        Ok(closed.map(|(pattern, values)| DeviceCsr::new(pattern, values)))
    }
    fn ewise_union<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &DeviceCsr<A>,
        alpha: A,
        b: &DeviceCsr<B>,
        beta: B,
    ) -> Result<DeviceCsr<F::Out>> {
        if let Some(made) = pair::combined::<A, B, F>(|| binary_text::<A, B, F>("op"), a, b)? {
            return Ok(made);
        }
        let (alpha, beta) = ([alpha], [beta]);
        let kind = Kind::Filled { alpha: as_bytes(&alpha), beta: as_bytes(&beta) };
        made(merge::merged(&kind, binary_text::<A, B, F>("op"), a, b))
    }
    fn diagonal<T: Scalar>(&self, v: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        composed::diagonal(self, v)
    }
    fn scale_rows<V: Scalar, A: Scalar, F: BinaryOp<V, A>>(
        &self,
        v: &DeviceCsr<V>,
        a: &DeviceCsr<A>,
    ) -> Result<DeviceCsr<F::Out>> {
        let reads = (v.read()?, a.read()?);
        let scaling = Scaling {
            rows: true,
            op: binary_text::<V, A, F>("op"),
            v: reads.0.operand(),
            factor: V::TEXT,
            a: reads.1.operand(),
            entry: A::TEXT,
        };
        let (pattern, values) = scale::scale(&a.pattern, scaling)?;
        Ok(DeviceCsr::on(pattern, values))
    }
    fn scale_columns<A: Scalar, V: Scalar, F: BinaryOp<A, V>>(
        &self,
        a: &DeviceCsr<A>,
        v: &DeviceCsr<V>,
    ) -> Result<DeviceCsr<F::Out>> {
        let reads = (v.read()?, a.read()?);
        let scaling = Scaling {
            rows: false,
            op: binary_text::<A, V, F>("op"),
            v: reads.0.operand(),
            factor: V::TEXT,
            a: reads.1.operand(),
            entry: A::TEXT,
        };
        let (pattern, values) = scale::scale(&a.pattern, scaling)?;
        Ok(DeviceCsr::on(pattern, values))
    }
    fn arg_rows<T: Ordered, const LARGEST: bool>(&self, a: &DeviceCsr<T>, at: &Positions) -> Result<DeviceCsr<u64>> {
        composed::arg_rows::<T, LARGEST>(self, a, at)
    }
    fn sort_rows<T: Scalar, F: BinaryOp<T, T, Out = bool>>(
        &self,
        a: &DeviceCsr<T>,
        ids: &Ids,
    ) -> Result<(DeviceCsr<T>, DeviceCsr<u64>)> {
        let (pattern, values, columns) = order::sort_rows(binary_text::<T, T, F>("op"), a.read()?.operand(), ids)?;
        Ok((DeviceCsr::on(pattern.clone(), values), DeviceCsr::on(pattern, columns)))
    }
    fn concat<T: Scalar>(&self, tiles: &[Vec<&DeviceCsr<T>>]) -> Result<DeviceCsr<T>> {
        composed::concat(self, tiles)
    }
    fn get<T: Scalar>(&self, a: &DeviceCsr<T>, row: usize, column: u32) -> Result<Option<T>> {
        let Some(e) = entries::find(&a.pattern, row, column)? else { return Ok(None) };
        let (size, e) = (size_of::<T>(), entries::places(e));
        match &a.values {
            Values::One(_) => Ok(a.one()),
            Values::All(all) => Ok(from_bytes("get", &all.read::<u8>(e * size..(e + 1) * size)?)?.first().copied()),
        }
    }
}
