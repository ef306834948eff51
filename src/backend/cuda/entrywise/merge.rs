//! Operations on two patterns at once: union, intersection, and the rule by which results are written.
use super::given::Given;
use super::one_row::{self, Room, Side};
use crate::backend::MaskOn;
use crate::backend::cuda::entries::{Marks, block_and_tile, empty, places, rank_offsets, structures};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::program::{Program, scan_bits, scanning, tuning};
use crate::backend::cuda::storage::values::of_marks;
use crate::backend::cuda::{Buffer, Context, DeviceCsr, DevicePattern};
use crate::error::Result;
use oplus_codegen::{FunctionText, Shared, Template};
use std::sync::Arc;

/// Which of the merged entries are entries of the result.
pub(crate) enum Kind<'a> {
    /// Entries of either.
    Union,
    /// Entries of both.
    Intersection,
    /// Entries of either; `op` everywhere, with the bytes of these for what is missing.
    Filled { alpha: &'a [u8], beta: &'a [u8] },
    /// A⟨mask, replace⟩ ⊙= B, without or with accumulator; with bounds as `assign` has them.
    Write { mask: Option<&'a MaskOn<Arc<DevicePattern>>>, replace: bool, accumulate: bool, bounds: Option<&'a Buffer> },
}

impl Kind<'_> {
    /// The template's number.
    fn number(&self) -> u64 {
        match self {
            Kind::Union => 0,
            Kind::Intersection => 1,
            Kind::Write { accumulate: false, .. } => 2,
            Kind::Write { accumulate: true, .. } => 3,
            Kind::Filled { .. } => 4,
        }
    }
    /// What stands for missing entries.
    fn missing(&self, context: &Arc<Context>) -> Result<[Given; 2]> {
        match self {
            Kind::Filled { alpha, beta } => Ok([Given::new(context, alpha)?, Given::new(context, beta)?]),
            _ => Ok([Given::nothing(), Given::nothing()]),
        }
    }
    /// The most entries there can be, if the two are vectors that one launch merges.
    fn most_of_one_row(&self, a: &DevicePattern, b: &DevicePattern) -> Option<u64> {
        let most = match self {
            Kind::Write { mask, accumulate, bounds, .. } if mask.is_some() || bounds.is_some() || !accumulate => {
                return None;
            }
            Kind::Intersection => a.nnz.min(b.nnz),
            _ => (a.nnz + b.nnz).min(a.ncols as u64),
        };
        one_row::suits(a, a.nnz + b.nnz).then_some(most)
    }
}

/// A and B, of one shape, merged; `op` is the template's function for where both have an entry.
pub(crate) fn merged<A, B>(
    kind: &Kind,
    op: Shared<FunctionText>,
    a: &DeviceCsr<A>,
    b: &DeviceCsr<B>,
) -> Result<(DevicePattern, Buffer)> {
    let Some(most) = kind.most_of_one_row(&a.pattern, &b.pattern) else {
        return merge(kind, op, a.read()?.operand(), b.read()?.operand());
    };
    let ([alpha, beta], size) = (kind.missing(a.pattern.offsets.context())?, op.output.size as u64);
    let (x, y) = (a.one_or_all()?, b.one_or_all()?);
    let a = Side { pattern: &a.pattern, all: x.all.as_deref(), one: &x.one };
    let b = Side { pattern: &b.pattern, all: y.all.as_deref(), one: &y.one };
    one_row::merged(kind.number(), op, [a, b], [&alpha, &beta], Room { most, size })
}

/// The positions alone.
pub(crate) fn positions<A, B>(kind: &Kind, a: &DeviceCsr<A>, b: &DeviceCsr<B>) -> Result<DevicePattern> {
    let Some(most) = kind.most_of_one_row(&a.pattern, &b.pattern) else {
        return merge(kind, of_marks(), a.marks()?.operand(), b.marks()?.operand()).map(|(pattern, _)| pattern);
    };
    let nothing = &Given::nothing();
    let [a, b] = [&a.pattern, &b.pattern].map(|pattern| Side { pattern, all: None, one: nothing });
    let room = Room { most, size: 0 };
    one_row::merged(kind.number(), of_marks(), [a, b], [nothing, nothing], room).map(|(pattern, _)| pattern)
}

/// As [`merged`], whatever the rows, of operands with a value for each entry.
pub(crate) fn merge(
    kind: &Kind,
    op: Shared<FunctionText>,
    a: Operand<'_>,
    b: Operand<'_>,
) -> Result<(DevicePattern, Buffer)> {
    let (context, pattern) = (a.pattern.offsets.context(), a.pattern);
    let (rows, total, size) = (pattern.nrows as u64, a.pattern.nnz + b.pattern.nnz, op.output.size as u64);
    if total == 0 {
        return empty(context, pattern.nrows, pattern.ncols);
    }
    let (number, [alpha, beta]) = (kind.number(), kind.missing(context)?);
    let (mask, replace, bounds) = match kind {
        Kind::Write { mask, replace, bounds, .. } => (*mask, *replace, *bounds),
        _ => (None, false, None),
    };
    let count = Program::new(context, Template::MergeCount, |s| {
        let complement = mask.is_some_and(|m| m.complement);
        // A filled union's entries are a union's.
        let s = s.number("kind", number % 4).flag("masked", mask.is_some()).flag("region", bounds.is_some());
        s.flag("complement", complement).flag("replace", replace && mask.is_some())
    });
    let bounded = mask.is_some() || bounds.is_some();
    let write =
        Program::new(context, Template::MergeWrite, |s| s.function(op).number("kind", number).flag("masked", bounded));
    let (block, tile) = block_and_tile(context);
    let tiles = total.div_ceil(tile);
    let splits = Buffer::alloc_for::<u64>(context, places(tiles + 1))?;
    let split_rows = Buffer::alloc_for::<u32>(context, places(tiles + 1))?;
    let marks = Marks::room(context, tiles * tile)?;
    let bits = || Buffer::alloc_for::<u32>(context, places(tiles * tile / 32));
    let (sides, pairs) = (bits()?, bits()?);
    let admitted = if bounded { Some(bits()?) } else { None };
    let mask_before = mask.is_some().then(|| Buffer::alloc_for::<u64>(context, places(tiles + 1))).transpose()?;
    let (mask_offsets, mask_indices) = (mask.map(|m| &m.pattern.offsets), mask.map(|m| &m.pattern.indices));
    let follow = || {
        let offsets = structures(context).wanted("rank_offsets");
        vec![write.wanted("merge_write"), scanning(context, scan_bits), offsets]
    };
    let kernel = count.kernel_beside("merge_partition", follow)?;
    let launch = kernel.launch((tiles + 1).div_ceil(u64::from(block)), block, 0).arg(rows).arg(total).arg(tiles);
    let launch = launch.arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(&b.pattern.offsets);
    let launch = launch.arg(&b.pattern.indices).arg(mask_offsets).arg(mask_indices);
    // SAFETY: of all launches here, parameters as the README lists them; total > 0, so there is a row; buffers of the
    // sizes it asks for.
    unsafe { launch.arg(&splits).arg(&split_rows).arg(mask_before.as_ref()).run()? };
    let kernel = count.kernel("merge_count")?;
    let column_bits = usize::BITS - pattern.ncols.saturating_sub(1).leading_zeros();
    let threads = (tile / u64::from(tuning(context).merge_items)) as u32;
    let launch = kernel.launch(tiles, threads, 0).arg(total).arg(column_bits);
    let launch = launch.arg(&a.pattern.offsets).arg(&a.pattern.indices);
    let launch = launch.arg(&b.pattern.offsets).arg(&b.pattern.indices).arg(&splits).arg(&split_rows);
    let launch = launch.arg(mask_offsets).arg(mask_indices).arg(mask_before.as_ref()).arg(bounds);
    let launch = launch.arg(&marks.words).arg(&sides).arg(&pairs);
    // SAFETY: as above.
    unsafe { launch.arg(admitted.as_ref()).run()? };
    let nnz = marks.ranked()?;
    let offsets = rank_offsets(&marks, a.pattern, Some(b.pattern))?;
    let indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
    let values = Buffer::alloc(context, nnz.saturating_mul(size))?;
    if nnz > 0 {
        let kernel = write.kernel("merge_write")?;
        let launch = kernel.launch(tiles, block, 0).arg(total).arg(&a.pattern.indices).arg(a.values);
        let launch = launch.arg(&b.pattern.indices).arg(b.values).arg(&splits).arg(&marks.words).arg(&marks.starts);
        let launch = launch.arg(&sides).arg(&pairs).arg(admitted.as_ref());
        let launch = launch.arg(&alpha).arg(&beta);
        // SAFETY: as above.
        unsafe { launch.arg(&indices).arg(&values).run()? };
    }
    Ok((DevicePattern::new((pattern.nrows, pattern.ncols), nnz, offsets, indices), values))
}
