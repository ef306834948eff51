//! The CUDA backend: the generic part is a few lines an operation, what it needs as text and bytes.
use super::merge::{self, Kind};
use super::product::{Operand, Product};
use super::scale::{self, Scaling};
use super::{
    Buffer, Context, DeviceCsr, DevicePattern, account, assign, build, chunks, columns, composed, entries, kronecker,
    map, order, places, reduce, segmented_merge, transpose,
};
use super::{spgemm, spmspv, spmv};
use crate::algebra::scalar::{as_bytes, from_bytes};
use crate::algebra::semiring::monoid_text;
use crate::algebra::*;
use crate::backend::host::HostCsr;
use crate::backend::places::{Assigned, Moves};
use crate::backend::ring::Step;
use crate::backend::{Backend, Body, MaskBody, MaskOn, MxmOptions, PatternBody, Positions, misplaced};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::operation::Accumulate;
use crate::spgemm::{Analysis, KernelTrace, Trace};
use crate::storage::axis::Ids;
use crate::storage::pattern::Pattern;
use oplus_codegen::FunctionText;
use std::ops::Range;
use std::sync::Arc;

/// One GPU.
#[derive(Clone, Debug)]
pub(crate) struct Cuda {
    context: Arc<Context>,
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
    /// The rule of the standard, everywhere or within bounds.
    fn written<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &DeviceCsr<C>,
        t: &DeviceCsr<T>,
        mask: Option<&Mask>,
        replace: bool,
        bounds: Option<&Buffer>,
    ) -> Result<DeviceCsr<C>> {
        if C::TEXT != T::TEXT {
            let reason = format!("values of {} cannot be written as {}", T::TEXT.name, C::TEXT.name);
            return Err(Error::InvalidValue { operation: "write", reason });
        }
        // Without an accumulator values are only moved.
        let second = OperatorText { parameters: &["_", "y"], expression: "y" };
        let (text, scalar) = F::TEXT.map_or((second, entries::movable(C::TEXT)), |text| (text, C::TEXT));
        let op = FunctionText::new("op", vec![scalar, scalar], scalar, text);
        let kind = Kind::Write { mask, replace, accumulate: F::TEXT.is_some(), bounds };
        made(merge::merge(&kind, op, operand(c), operand(t)))
    }
    fn device(&self) -> Device {
        self.context.device()
    }
    /// What `work` makes of a product, B turned where that was asked for.
    fn of<R>(
        &self,
        semiring: SemiringText,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
        work: impl FnOnce(&Product) -> Result<R>,
    ) -> Result<R> {
        let turned = if options.transposed_b { Some(b.transposed(semiring.b)?) } else { None };
        let (a, b) = (operand(a), operand(turned.as_ref().unwrap_or(b)));
        work(&Product { context: &self.context, semiring, a, b, mask, at })
    }
    /// A product by the semiring that the text describes.
    pub(crate) fn multiply(
        &self,
        step: Step,
        text: SemiringText,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<DeviceCsr<()>> {
        let known = |made: (DevicePattern, Buffer)| (Arc::new(made.0), made.1);
        let (pattern, values) = self.of(text, a, b, mask, at, options, |product| match step {
            Step::Mxm => chunks::mxm(product, options).map(known),
            Step::Mxv if options.reproducible => chunks::mxv_ordered(product, options).map(known),
            Step::Vxm if options.reproducible => chunks::mxm(product, options).map(known),
            Step::Mxv => spmv::mxv(product),
            Step::Vxm => spmspv::vxm(product),
        })?;
        Ok(DeviceCsr::on(pattern, values))
    }
    /// What [`multiply`](Self::multiply) will do.
    pub(crate) fn explain(
        &self,
        step: Step,
        text: SemiringText,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<Analysis> {
        self.of(text, a, b, mask, at, options, |product| match step {
            Step::Mxm => {
                let ordered = options.reproducible && !spgemm::is_exact(&product.semiring);
                let mut analysis = spgemm::explain(product, options.strategy)?;
                if ordered {
                    analysis.reason += "; what does not sum in the order of k is summed again so";
                }
                Ok(analysis)
            }
            // Counted on the host: nothing here needs more than one look at the positions.
            Step::Mxv | Step::Vxm => {
                let mask = match mask {
                    Some(m) => Some(MaskOn { pattern: Arc::new(m.pattern.download()?), complement: m.complement }),
                    None => None,
                };
                let (a, b) = (product.a.pattern.download()?, product.b.pattern.download()?);
                let size = product.semiring.c.size;
                crate::backend::cpu::explain_vector(self.device(), step, &a, &b, mask.as_ref(), size)
            }
        })
    }
    /// What `work` makes where its buffers hold at most `limit` bytes at once.
    pub(crate) fn within<R>(&self, limit: u64, work: impl FnOnce() -> Result<R>) -> Result<R> {
        account::within(limit, work).map(|(made, _)| made)
    }
    /// What `work` makes, and what it launched.
    pub(crate) fn traced<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Trace)> {
        let ((made, launches), peak) = account::within(u64::MAX, || self.context.trace(work))?;
        let kernels =
            launches.into_iter().map(|l| KernelTrace::new(l.kernel, l.ms, Some(l.bytes), (l.blocks, l.threads)));
        Ok((made, Trace::of(kernels.collect(), Some(peak))))
    }
    /// ⊕ᵢⱼ (A ⊕.⊗ B)⟨M⟩ by a monoid without storing the product: the bytes of the sums of some
    /// rows each, which together are all; none where there is no product.
    pub(crate) fn multiply_and_reduce(
        &self,
        text: SemiringText,
        reduce: FunctionText,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<Vec<Vec<u8>>> {
        self.of(text, a, b, mask, at, options, |product| chunks::mxm_reduce(product, &reduce))
    }
}

/// The positions of a product and what its values are computed by.
#[derive(Clone, Debug)]
pub(crate) struct DevicePlan {
    pub(crate) pattern: Arc<DevicePattern>,
    prepared: Arc<spgemm::Prepared>,
}

impl Cuda {
    /// What is known of a product of matrices before values are.
    pub(crate) fn plan(
        &self,
        text: SemiringText,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<DevicePlan> {
        let prepared = self.of(text, a, b, mask, at, options, |product| spgemm::prepare(product, options));
        let (prepared, pattern) = prepared?;
        Ok(DevicePlan { pattern: Arc::new(pattern), prepared: Arc::new(prepared) })
    }
    /// The product, by its plan.
    pub(crate) fn run_plan(
        &self,
        plan: &DevicePlan,
        text: SemiringText,
        a: &DeviceCsr<()>,
        b: &DeviceCsr<()>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<DeviceCsr<()>> {
        let values = |product: &Product| plan.prepared.values(product, &plan.pattern);
        let values = self.of(text, a, b, mask, at, options, values)?;
        Ok(DeviceCsr::on(plan.pattern.clone(), values))
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
        let window = |a: &DeviceCsr<T>, rows, cols| columns::window(T::TEXT, operand(a), rows, cols);
        if let Some((pattern, values)) = window(a, rows, cols)? {
            return Ok(DeviceCsr::new(pattern, values));
        }
        // One of them goes one by one.
        let a = match rows {
            None => a.clone(),
            Some(rows) => match window(a, Some(rows), None)? {
                Some((pattern, values)) => DeviceCsr::new(pattern, values),
                None => {
                    let sources = places::sources(&self.context, rows)?;
                    made(entries::listed_rows(T::TEXT, operand(a), &sources))?
                }
            },
        };
        match cols {
            None => Ok(a),
            Some(cols) => match window(&a, None, Some(cols))? {
                Some((pattern, values)) => Ok(DeviceCsr::new(pattern, values)),
                None => made(columns::move_columns(T::TEXT, operand(&a), cols)),
            },
        }
    }
}

impl DeviceCsr<()> {
    /// The transpose of values of this scalar.
    pub(crate) fn transposed(&self, scalar: ScalarText) -> Result<Self> {
        made(transpose::transpose(scalar, operand(self)))
    }
}

impl<T: Scalar> DeviceCsr<T> {
    /// The transpose by segmented merge.
    pub(crate) fn transposed_by_merging(&self) -> Result<Self> {
        made(segmented_merge::transpose(T::TEXT, operand(self)))
    }
}

fn operand<T>(a: &DeviceCsr<T>) -> Operand<'_> {
    Operand { pattern: &a.pattern, values: &a.values }
}

fn made<T>(parts: Result<(DevicePattern, Buffer)>) -> Result<DeviceCsr<T>> {
    parts.map(|(pattern, values)| DeviceCsr::new(pattern, values))
}

fn binary_text<A: Scalar, B: Scalar, F: BinaryOp<A, B>>() -> FunctionText {
    FunctionText::new("op", vec![A::TEXT, B::TEXT], <F::Out as Scalar>::TEXT, F::TEXT)
}

fn index_text<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>() -> FunctionText {
    let place = <i64 as Scalar>::TEXT;
    FunctionText::new("op", vec![A::TEXT, place, place, Y::TEXT], <F::Out as Scalar>::TEXT, F::TEXT)
}

type Mask = MaskOn<Arc<DevicePattern>>;

impl Backend for Cuda {
    type Csr<T: Scalar> = DeviceCsr<T>;
    type Pattern = Arc<DevicePattern>;

    fn csr<'a, T: Scalar>(&self, body: &'a Body<T>) -> Result<&'a DeviceCsr<T>> {
        match body {
            Body::Cuda(d) => Ok(d),
            Body::Host(_) | Body::Dense(_) | Body::Held(_) => Err(misplaced(self.device())),
        }
    }
    fn pattern<'a>(&self, body: &'a PatternBody) -> Result<&'a Arc<DevicePattern>> {
        match body {
            PatternBody::Cuda(p) => Ok(p),
            PatternBody::Host(_) | PatternBody::Bits(_) => Err(misplaced(self.device())),
        }
    }
    fn mask<'a>(&self, mask: Option<&'a MaskBody>) -> Result<Option<&'a Mask>> {
        match mask {
            None => Ok(None),
            Some(MaskBody::Cuda(m)) => Ok(Some(m)),
            Some(MaskBody::Host(_) | MaskBody::Bits(..)) => Err(misplaced(self.device())),
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
        made(merge::merge(&Kind::Union, binary_text::<T, T, F>(), operand(a), operand(b)))
    }
    fn intersection<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &DeviceCsr<A>,
        b: &DeviceCsr<B>,
    ) -> Result<DeviceCsr<F::Out>> {
        made(merge::merge(&Kind::Intersection, binary_text::<A, B, F>(), operand(a), operand(b)))
    }
    fn apply<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
        &self,
        a: &DeviceCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<DeviceCsr<F::Out>> {
        let values = map::apply(index_text::<A, Y, F>(), as_bytes(&[y]), operand(a), at)?;
        Ok(DeviceCsr::on(a.pattern.clone(), values))
    }
    fn select<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
        &self,
        a: &DeviceCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<DeviceCsr<A>> {
        let (marks, kept) = map::mark(index_text::<A, Y, F>(), as_bytes(&[y]), operand(a), at)?;
        if kept == a.nnz() {
            return Ok(a.clone());
        }
        made(entries::compact(A::TEXT, operand(a), &marks, kept))
    }
    fn reduce_rows<T: Scalar, M: Monoid<T>>(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        made(reduce::reduce_rows(monoid_text::<T, M>("op"), operand(a)))
    }
    fn reduce<T: Scalar, M: Monoid<T>>(&self, a: &DeviceCsr<T>) -> Result<Option<T>> {
        match reduce::reduce(monoid_text::<T, M>("op"), operand(a))? {
            None => Ok(None),
            Some(bytes) => Ok(from_bytes("reduce", &bytes)?.first().copied()),
        }
    }
    fn transpose<T: Scalar>(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        made(transpose::transpose(T::TEXT, operand(a)))
    }
    fn build<T: Scalar, F: BinaryOp<T, T, Out = T>>(
        &self,
        shape: (usize, usize),
        rows: &[u32],
        columns: &[u32],
        values: &[T],
        refuse: bool,
    ) -> Result<std::result::Result<DeviceCsr<T>, usize>> {
        let fold = binary_text::<T, T, F>();
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
        made(entries::extract_rows(T::TEXT, operand(a), rows))
    }
    fn gather<T: Scalar>(&self, a: &DeviceCsr<T>, rows: Option<&[u32]>, moves: &Moves) -> Result<DeviceCsr<T>> {
        let taken = rows.map(|rows| self.extract_rows(a, rows)).transpose()?;
        let a = taken.as_ref().unwrap_or(a);
        made(columns::move_columns(T::TEXT, operand(a), moves))
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
        // The operator reads no value: there need be none.
        let none = Buffer::alloc(&self.context, 0)?;
        let op = index_text::<T, T, BindSecond<Second>>();
        let values = map::apply(op, as_bytes(&[value]), Operand { pattern, values: &none }, &Positions::default())?;
        Ok(DeviceCsr::on(pattern.clone(), values))
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
        made(kronecker::kronecker(binary_text::<A, B, F>(), operand(a), operand(b)))
    }
    fn ewise_union<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &DeviceCsr<A>,
        alpha: A,
        b: &DeviceCsr<B>,
        beta: B,
    ) -> Result<DeviceCsr<F::Out>> {
        let (alpha, beta) = ([alpha], [beta]);
        let kind = Kind::Filled { alpha: as_bytes(&alpha), beta: as_bytes(&beta) };
        made(merge::merge(&kind, binary_text::<A, B, F>(), operand(a), operand(b)))
    }
    fn diagonal<T: Scalar>(&self, v: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        composed::diagonal(self, v)
    }
    fn scale_rows<V: Scalar, A: Scalar, F: BinaryOp<V, A>>(
        &self,
        v: &DeviceCsr<V>,
        a: &DeviceCsr<A>,
    ) -> Result<DeviceCsr<F::Out>> {
        let scaling = Scaling {
            rows: true,
            op: binary_text::<V, A, F>(),
            v: operand(v),
            factor: V::TEXT,
            a: operand(a),
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
        let scaling = Scaling {
            rows: false,
            op: binary_text::<A, V, F>(),
            v: operand(v),
            factor: V::TEXT,
            a: operand(a),
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
        let (pattern, values, columns) = order::sort_rows(binary_text::<T, T, F>(), operand(a), ids)?;
        Ok((DeviceCsr::on(pattern.clone(), values), DeviceCsr::on(pattern, columns)))
    }
    fn concat<T: Scalar>(&self, tiles: &[Vec<&DeviceCsr<T>>]) -> Result<DeviceCsr<T>> {
        composed::concat(self, tiles)
    }
    fn get<T: Scalar>(&self, a: &DeviceCsr<T>, row: usize, column: u32) -> Result<Option<T>> {
        let Some(e) = entries::find(&a.pattern, row, column)? else { return Ok(None) };
        let (size, e) = (size_of::<T>(), entries::places(e));
        Ok(from_bytes("get", &a.values.read::<u8>(e * size..(e + 1) * size)?)?.first().copied())
    }
}
