//! The CUDA backend: the generic part is a few lines an operation, what it needs as text and bytes.
use super::arrange;
use super::elementwise::{self, Call, Rule};
use super::product::{self, Operand};
use super::spgemm;
use super::{Buffer, Context, DeviceCsr, DevicePattern};
use crate::algebra::scalar::{as_bytes, from_bytes};
use crate::algebra::*;
use crate::backend::cpu::Cpu;
use crate::backend::host::HostCsr;
use crate::backend::{Backend, Body, MaskOn, MxmOptions, PatternBody, Positions, misplaced};
use crate::device::Device;
use crate::error::Result;
use crate::operation::Accumulate;
use crate::storage::pattern::Pattern;
use oplus_codegen::FunctionText;
use oplus_codegen::text::OperatorText;
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
    fn device(&self) -> Device {
        self.context.device()
    }
    fn merge<T: Scalar>(
        &self,
        rule: Rule,
        text: FunctionText,
        a: Operand<'_>,
        b: Operand<'_>,
        mask: Option<&Mask>,
        replace: bool,
    ) -> Result<DeviceCsr<T>> {
        let (pattern, values) = elementwise::merge(&self.context, rule, text, a, b, mask, replace)?;
        Ok(DeviceCsr::new(pattern, values))
    }
    /// Beyond what the device's sort counts: on the host, between two copies.
    fn on_host<T: Scalar>(&self, run: impl FnOnce(&Cpu) -> Result<HostCsr<T>>) -> Result<DeviceCsr<T>> {
        DeviceCsr::upload(&self.context, &run(&Cpu)?)
    }
}

fn operand<T>(a: &DeviceCsr<T>) -> Operand<'_> {
    Operand { pattern: &a.pattern, values: &a.values }
}

fn monoid_text<T: Scalar, M: Monoid<T>>(name: &'static str) -> FunctionText {
    let terminal = match M::terminal() {
        Terminal::Never => Terminal::Never,
        Terminal::Always => Terminal::Always,
        Terminal::Value(v) => Terminal::Value(v.cuda_literal()),
    };
    FunctionText::new(name, vec![T::TEXT, T::TEXT], T::TEXT, <M as BinaryOp<T, T>>::TEXT).monoid(
        M::identity().cuda_literal(),
        terminal,
        M::ATOMIC,
    )
}

fn binary_text<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(name: &'static str) -> FunctionText {
    FunctionText::new(name, vec![A::TEXT, B::TEXT], <F::Out as Scalar>::TEXT, F::TEXT)
}

fn index_text<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>() -> FunctionText {
    FunctionText::new("f", vec![A::TEXT, i64::TEXT, i64::TEXT, Y::TEXT], <F::Out as Scalar>::TEXT, F::TEXT)
}

type Mask = MaskOn<Arc<DevicePattern>>;

impl Backend for Cuda {
    type Csr<T: Scalar> = DeviceCsr<T>;
    type Pattern = Arc<DevicePattern>;

    fn csr<T: Scalar>(&self, body: &Body<T>) -> Result<DeviceCsr<T>> {
        match body {
            Body::Cuda(d) => Ok(d.clone()),
            Body::Host(_) => Err(misplaced(self.device())),
        }
    }
    fn pattern(&self, body: &PatternBody) -> Result<Arc<DevicePattern>> {
        match body {
            PatternBody::Cuda(p) => Ok(p.clone()),
            PatternBody::Host(_) => Err(misplaced(self.device())),
        }
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

    fn mxm<A: Scalar, B: Scalar, S: Semiring<A, B>>(
        &self,
        a: &DeviceCsr<A>,
        b: &DeviceCsr<B>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<DeviceCsr<S::Out>> {
        let b = if options.transposed_b { self.transpose(b)? } else { b.clone() };
        let text = semiring_text::<A, B, S>();
        let (pattern, values) = spgemm::mxm(&self.context, text, operand(a), operand(&b), mask, at, options.strategy)?;
        Ok(DeviceCsr::new(pattern, values))
    }

    fn mxm_reduce<A: Scalar, B: Scalar, S: Semiring<A, B>, R: Monoid<S::Out>>(
        &self,
        a: &DeviceCsr<A>,
        b: &DeviceCsr<B>,
        mask: Option<&Mask>,
        at: &Positions,
        options: &MxmOptions,
    ) -> Result<Option<S::Out>> {
        let b = if options.transposed_b { self.transpose(b)? } else { b.clone() };
        let (text, reduce) = (semiring_text::<A, B, S>(), monoid_text::<S::Out, R>("reduce"));
        let bytes = spgemm::mxm_reduce(&self.context, text, reduce, operand(a), operand(&b), mask, at)?;
        match bytes {
            None => Ok(None),
            Some(bytes) => Ok(from_bytes("mxm", &bytes)?.first().copied()),
        }
    }

    fn mxv<A: Scalar, X: Scalar, S: Semiring<A, X>>(
        &self,
        a: &DeviceCsr<A>,
        x: &DeviceCsr<X>,
        mask: Option<&Mask>,
        at: &Positions,
    ) -> Result<DeviceCsr<S::Out>> {
        let text = semiring_text::<A, X, S>();
        let (pattern, values) = product::mxv(&self.context, text, operand(a), operand(x), mask, at)?;
        Ok(DeviceCsr::new(pattern, values))
    }

    fn vxm<X: Scalar, A: Scalar, S: Semiring<X, A>>(
        &self,
        x: &DeviceCsr<X>,
        a: &DeviceCsr<A>,
        mask: Option<&Mask>,
        at: &Positions,
    ) -> Result<DeviceCsr<S::Out>> {
        let text = semiring_text::<X, A, S>();
        let (pattern, values) = product::vxm(&self.context, text, operand(x), operand(a), mask, at)?;
        Ok(DeviceCsr::new(pattern, values))
    }

    fn union<T: Scalar, F: BinaryOp<T, T, Out = T>>(&self, a: &DeviceCsr<T>, b: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        self.merge(Rule::Union, binary_text::<T, T, F>("combine"), operand(a), operand(b), None, false)
    }
    fn intersection<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
        &self,
        a: &DeviceCsr<A>,
        b: &DeviceCsr<B>,
    ) -> Result<DeviceCsr<F::Out>> {
        self.merge(Rule::Intersection, binary_text::<A, B, F>("combine"), operand(a), operand(b), None, false)
    }
    fn apply<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y>>(
        &self,
        a: &DeviceCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<DeviceCsr<F::Out>> {
        let call = Call { f: index_text::<A, Y, F>(), thunk: as_bytes(std::slice::from_ref(&y)), at };
        let values = elementwise::apply(&self.context, operand(a), call)?;
        Ok(DeviceCsr::sharing(a.pattern.clone(), values))
    }
    fn select<A: Scalar, Y: Scalar, F: IndexUnaryOp<A, Y, Out = bool>>(
        &self,
        a: &DeviceCsr<A>,
        y: Y,
        at: &Positions,
    ) -> Result<DeviceCsr<A>> {
        let call = Call { f: index_text::<A, Y, F>(), thunk: as_bytes(std::slice::from_ref(&y)), at };
        let (pattern, values) = elementwise::select(&self.context, operand(a), call)?;
        Ok(DeviceCsr::new(pattern, values))
    }
    fn reduce_rows<T: Scalar, M: Monoid<T>>(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        let text = monoid_text::<T, M>("reduce");
        let (pattern, values) = elementwise::reduce_rows(&self.context, &a.pattern, &a.values, text)?;
        Ok(DeviceCsr::new(pattern, values))
    }
    fn reduce<T: Scalar, M: Monoid<T>>(&self, a: &DeviceCsr<T>) -> Result<Option<T>> {
        match elementwise::reduce(&self.context, a.nnz(), &a.values, monoid_text::<T, M>("reduce"))? {
            None => Ok(None),
            Some(bytes) => Ok(from_bytes("reduce", &bytes)?.first().copied()),
        }
    }
    fn transpose<T: Scalar>(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        if a.nnz() > arrange::MOST {
            return self.on_host(|cpu| cpu.transpose(&a.download()?));
        }
        let (pattern, values) = arrange::transpose(&self.context, &a.pattern, &T::TEXT, &a.values)?;
        Ok(DeviceCsr::new(pattern, values))
    }
    fn build<T: Scalar, F: BinaryOp<T, T, Out = T>>(
        &self,
        shape: (usize, usize),
        rows: &[u32],
        columns: &[u32],
        values: &[T],
        refuse: bool,
    ) -> Result<std::result::Result<DeviceCsr<T>, usize>> {
        if rows.len() as u64 >= arrange::MOST {
            return match Cpu.build::<T, F>(shape, rows, columns, values, refuse)? {
                Ok(host) => self.upload(&host).map(Ok),
                Err(position) => Ok(Err(position)),
            };
        }
        let values = Buffer::from_host(&self.context, as_bytes(values))?;
        let fold = binary_text::<T, T, F>("fold");
        let built = arrange::build(&self.context, shape, rows, columns, &values, fold, refuse)?;
        Ok(built.map(|(pattern, values)| DeviceCsr::new(pattern, values)))
    }
    fn write<C: Scalar, T: Scalar, F: Accumulate<C, T>>(
        &self,
        c: &DeviceCsr<C>,
        t: &DeviceCsr<T>,
        mask: Option<&Mask>,
        replace: bool,
    ) -> Result<DeviceCsr<C>> {
        const SECOND: OperatorText = OperatorText { parameters: &["_", "y"], expression: "y" };
        let rule = if F::TEXT.is_some() { Rule::Accumulate } else { Rule::Overwrite };
        let text = FunctionText::new("combine", vec![C::TEXT, T::TEXT], C::TEXT, F::TEXT.unwrap_or(SECOND));
        self.merge(rule, text, operand(c), operand(t), mask, replace)
    }
    fn extract_rows<T: Scalar>(&self, a: &DeviceCsr<T>, rows: &[u32]) -> Result<DeviceCsr<T>> {
        let (pattern, values) = arrange::extract_rows(&self.context, &a.pattern, &T::TEXT, &a.values, rows)?;
        Ok(DeviceCsr::new(pattern, values))
    }
    fn get<T: Scalar>(&self, a: &DeviceCsr<T>, row: usize, column: u32) -> Result<Option<T>> {
        let bounds: Vec<u64> = a.pattern.offsets.read(row..row + 2)?;
        let columns: Vec<u32> = a.pattern.indices.read(bounds[0] as usize..bounds[1] as usize)?;
        let Ok(e) = columns.binary_search(&column) else { return Ok(None) };
        let (size, e) = (size_of::<T>(), bounds[0] as usize + e);
        Ok(from_bytes("get", &a.values.read::<u8>(e * size..(e + 1) * size)?)?.first().copied())
    }
}
