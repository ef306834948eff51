//! Two operands with the same entries: values alone, in one launch that nobody waits for.
use super::map;
use crate::algebra::{BinaryOp, Scalar};
use crate::backend::Positions;
use crate::backend::chain::{ChainText, Each};
use crate::backend::cuda::entries::{block_and_tile, compact};
use crate::backend::cuda::runtime::program::Program;
use crate::backend::cuda::storage::values::OneOrAll;
use crate::backend::cuda::{Buffer, Context, DeviceCsr, DevicePattern};
use crate::error::Result;
use oplus_codegen::{FunctionText, Shared, Template};
use std::sync::Arc;

impl DevicePattern {
    /// Whether both have the same entries as far as is known without looking: they share them, or each has all there can be.
    pub(crate) fn known_same(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        let all = (self.nrows as u64).saturating_mul(self.ncols as u64);
        Arc::ptr_eq(self, other)
            || (self.nrows, self.ncols, self.nnz, all) == (other.nrows, other.ncols, other.nnz, self.nnz)
    }
}

/// op(a, b) at each of `n` places. `op` is the template's function.
pub(crate) fn pair(
    context: &Arc<Context>,
    n: u64,
    op: Shared<FunctionText>,
    a: &OneOrAll,
    b: &OneOrAll,
) -> Result<Buffer> {
    let out = Buffer::alloc(context, n.saturating_mul(op.output.size as u64))?;
    if n > 0 {
        let program = Program::new(context, Template::Pair, |s| {
            s.function(op).flag("left_one", a.all.is_none()).flag("right_one", b.all.is_none())
        });
        let (kernel, (block, tile)) = (program.kernel("pair_apply")?, block_and_tile(context));
        let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n);
        let launch = launch.arg(a.all.as_deref()).arg(b.all.as_deref()).arg(&a.one).arg(&b.one);
        // SAFETY: parameters as the README lists them; n values everywhere but where the flag says that one is given.
        unsafe { launch.arg(&out).run()? };
    }
    Ok(out)
}

/// op(a, b) of A and B, which have the same entries.
pub(crate) fn paired<A, B, C>(op: Shared<FunctionText>, a: &DeviceCsr<A>, b: &DeviceCsr<B>) -> Result<DeviceCsr<C>> {
    let values = pair(a.pattern.offsets.context(), a.nnz(), op, &a.one_or_all()?, &b.one_or_all()?)?;
    Ok(DeviceCsr::on(a.pattern.clone(), values))
}

/// F(A, B) where both are known to have the same entries: what a union, an intersection and a union with values for what is missing then are.
pub(crate) fn combined<A: Scalar, B: Scalar, F: BinaryOp<A, B>>(
    op: impl FnOnce() -> Shared<FunctionText>,
    a: &DeviceCsr<A>,
    b: &DeviceCsr<B>,
) -> Result<Option<DeviceCsr<F::Out>>> {
    if !a.pattern.known_same(&b.pattern) {
        return Ok(None);
    }
    if let (Some(x), Some(y)) = (a.one(), b.one()) {
        return DeviceCsr::iso(a.pattern.clone(), F::apply(x, y)).map(Some);
    }
    paired(op(), a, b).map(Some)
}

/// A chain where all operands are known to have the same entries: its steps one after the other, on values alone until some
/// are not kept. No step waits for the device but that.
pub(crate) fn chained(text: &ChainText, leaves: &[DeviceCsr<()>], at: &Positions) -> Result<Option<DeviceCsr<()>>> {
    let [a, b, rest @ ..] = leaves else { return Ok(None) };
    if !leaves.iter().all(|leaf| a.pattern.known_same(&leaf.pattern)) {
        return Ok(None);
    }
    let each = |each: &Option<Each>, x: DeviceCsr<()>| match each {
        Some(each) => {
            let values = map::apply((each.text)("op"), &each.thunk, x.read()?.operand(), at)?;
            Ok(DeviceCsr::on(x.pattern, values))
        }
        None => Ok(x),
    };
    let mut made = each(&text.map, paired((text.join.text)("op"), a, b)?)?;
    if let (Some(again), Some(d)) = (&text.again, rest.first()) {
        made = paired((again.text)("op"), &made, d)?;
    }
    made = each(&text.map_again, made)?;
    let Some(keep) = &text.keep else { return Ok(Some(made)) };
    let (op, read) = ((keep.text)("op"), made.read()?);
    let scalar = op.parameters[0];
    let (marks, kept) = map::mark(op, &keep.thunk, read.operand(), at)?;
    if kept == made.nnz() {
        return Ok(Some(made));
    }
    let (pattern, values) = compact(scalar, read.operand(), &marks, kept)?;
    Ok(Some(DeviceCsr::new(pattern, values)))
}
