//! Functions of entries on the device: apply, select, union, intersection, writing under a mask, reductions.
use super::arrange::{each, keep};
use super::product::{DeviceMask, Operand};
use super::program::{Program, tuning};
use super::vector::{DeviceBitmap, compact, widen_and_scan};
use super::{Buffer, Context, DevicePattern};
use crate::backend::Positions;
use crate::error::Result;
use oplus_codegen::text::ScalarText;
use oplus_codegen::{FunctionText, Template};
use std::sync::Arc;

/// What an index operator is called with besides the entries.
pub(super) struct Call<'a> {
    /// z = f(x, i, j, y).
    pub(super) f: FunctionText,
    /// y, as bytes.
    pub(super) thunk: &'a [u8],
    pub(super) at: &'a Positions,
}

/// Room for a thunk: a launch takes it by value.
fn thunk<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut padded = [0; N];
    padded[..bytes.len()].copy_from_slice(bytes);
    padded
}

fn map(context: &Arc<Context>, a: Operand<'_>, call: Call<'_>, kernel: &str, out: &Buffer) -> Result<()> {
    let pattern = a.pattern;
    let looks = |n: usize| call.f.text.parameters.get(n).is_some_and(|p| *p != "_");
    let positional = looks(1) || looks(2);
    let ids = |ids: &crate::storage::axis::Ids| {
        ids.as_ref().filter(|_| positional).map(|i| Buffer::from_host(context, i)).transpose()
    };
    let (i, j) = (ids(&call.at.i)?, ids(&call.at.j)?);
    let program = Program::new(context, Template::Map, |s| {
        s.function(call.f.clone()).flag("positional", positional).number("select", u64::from(kernel == "map_mark"))
    });
    let kernel = program.kernel(kernel)?;
    let (grid, block) = each(context, pattern.nnz);
    let launch = kernel.launch(grid, block, 0).arg(pattern.nrows as u64).arg(&pattern.offsets).arg(pattern.nnz);
    let launch = launch.arg(&pattern.indices).arg(a.values);
    // By value, of the size the kernel's parameter has.
    let launch = match call.thunk.len() {
        1 => launch.scalar(thunk::<1>(call.thunk)),
        2 => launch.scalar(thunk::<2>(call.thunk)),
        4 => launch.scalar(thunk::<4>(call.thunk)),
        8 => launch.scalar(thunk::<8>(call.thunk)),
        n if n <= 16 => launch.scalar(thunk::<16>(call.thunk)),
        n if n <= 64 => launch.scalar(thunk::<64>(call.thunk)),
        n if n <= 256 => launch.scalar(thunk::<256>(call.thunk)),
        n => {
            return Err(crate::error::Error::InvalidValue {
                operation: "apply",
                reason: format!("a thunk of {n} bytes, a kernel takes 256"),
            });
        }
    };
    // SAFETY: parameters as `map.cu` lists them, buffers of the sizes it asks for.
    unsafe { launch.arg(i.as_ref()).arg(j.as_ref()).arg(out).run() }
}

/// F at every entry; the pattern stays.
pub(super) fn apply(context: &Arc<Context>, a: Operand<'_>, call: Call<'_>) -> Result<Buffer> {
    let out = Buffer::alloc(context, a.pattern.nnz * call.f.output.size as u64)?;
    map(context, a, call, "map_apply", &out)?;
    Ok(out)
}

/// The entries where F holds.
pub(super) fn select(context: &Arc<Context>, a: Operand<'_>, call: Call<'_>) -> Result<(DevicePattern, Buffer)> {
    let scalar = call.f.parameters.first().copied().unwrap_or(call.f.output);
    let marks = Buffer::alloc_for::<u32>(context, a.pattern.nnz as usize)?;
    map(context, a, call, "map_mark", &marks)?;
    keep(context, a.pattern, &scalar, a.values, &marks)
}

/// How two matrices meet: the numbers of `merge.cu`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    Union = 0,
    Intersection = 1,
    Accumulate = 2,
    Overwrite = 3,
}

/// Both, entry by entry; `mask` and `replace` for the last two rules.
pub(super) fn merge(
    context: &Arc<Context>,
    rule: Rule,
    combine: FunctionText,
    a: Operand<'_>,
    b: Operand<'_>,
    mask: DeviceMask,
    replace: bool,
) -> Result<(DevicePattern, Buffer)> {
    let (pa, pb, rows, size) = (a.pattern, b.pattern, a.pattern.nrows as u64, combine.output.size as u64);
    let program = Program::new(context, Template::Merge, |s| {
        let s = s.function(combine).number("rule", rule as u64).flag("masked", mask.is_some());
        s.flag("complement", mask.is_some_and(|m| m.complement)).flag("replace", replace)
    });
    let (m_offsets, m_indices) = (mask.map(|m| &m.pattern.offsets), mask.map(|m| &m.pattern.indices));
    let mark = program.kernel("merge_mark")?;
    let mut before = Vec::new();
    for (side, own) in [(0u32, pa), (1, pb)] {
        let marks = Buffer::alloc_for::<u32>(context, own.nnz as usize)?;
        let (grid, block) = each(context, own.nnz);
        let launch = mark.launch(grid, block, 0).arg(side).arg(rows).arg(&pa.offsets).arg(&pa.indices);
        let launch = launch.arg(&pb.offsets).arg(&pb.indices).arg(m_offsets).arg(m_indices);
        // SAFETY: parameters as `merge.cu` lists them, buffers of the sizes it asks for.
        unsafe { launch.arg(&marks).run()? };
        let sums = Buffer::alloc_for::<u64>(context, own.nnz as usize + 1)?;
        widen_and_scan(context, &marks, &sums, own.nnz)?;
        before.push(sums);
    }
    let (before_a, before_b) = (&before[0], &before[1]);
    let nnz = before_a.read_one::<u64>(pa.nnz as usize)? + before_b.read_one::<u64>(pb.nnz as usize)?;
    let offsets = Buffer::alloc_for::<u64>(context, pa.nrows + 1)?;
    let (indices, values) = (Buffer::alloc_for::<u32>(context, nnz as usize)?, Buffer::alloc(context, nnz * size)?);
    // SAFETY: as above.
    unsafe {
        let kernel = program.kernel("merge_offsets")?;
        let (grid, block) = each(context, rows + 1);
        let launch = kernel.launch(grid, block, 0).arg(rows).arg(&pa.offsets).arg(&pb.offsets);
        launch.arg(before_a).arg(before_b).arg(&offsets).run()?;
    }
    let emit = program.kernel("merge_emit")?;
    for (side, own) in [(0u32, pa), (1, pb)] {
        let (grid, block) = each(context, own.nnz);
        let launch = emit.launch(grid, block, 0).arg(side).arg(rows).arg(&pa.offsets).arg(&pa.indices).arg(a.values);
        let launch = launch.arg(&pb.offsets).arg(&pb.indices).arg(b.values).arg(m_offsets).arg(m_indices);
        // SAFETY: as above.
        unsafe { launch.arg(before_a).arg(before_b).arg(&indices).arg(&values).run()? };
    }
    Ok((DevicePattern { nrows: pa.nrows, ncols: pa.ncols, nnz, offsets, indices }, values))
}

/// ⊕ over each row.
pub(super) fn reduce_rows(
    context: &Arc<Context>,
    a: &DevicePattern,
    values: &Buffer,
    reduce: FunctionText,
) -> Result<(DevicePattern, Buffer)> {
    let (rows, scalar, block) = (a.nrows as u64, reduce.output, tuning(context).reduce_block);
    let present = Buffer::zeroed_for::<u32>(context, a.nrows.div_ceil(32))?;
    let sums = Buffer::alloc(context, rows * scalar.size as u64)?;
    let lanes: u64 = match a.nnz.checked_div(rows).unwrap_or(0) {
        0..=4 => 1,
        5..=16 => 8,
        _ => 32,
    };
    let program = Program::new(context, Template::Reduce, |s| s.function(reduce));
    let kernel = program.kernel(&format!("reduce_rows{lanes}"))?;
    let launch = kernel.launch((rows * lanes).div_ceil(block as u64), block, 0).arg(rows).arg(&a.offsets).arg(values);
    // SAFETY: parameters as `reduce.cu` lists them, buffers of the sizes it asks for.
    unsafe { launch.arg(&present).arg(&sums).run()? };
    compact(context, a.nrows, scalar, &DeviceBitmap { present, values: sums })
}

/// ⊕ over all of `n` values, as bytes; `None` of none.
pub(super) fn reduce(context: &Arc<Context>, n: u64, values: &Buffer, reduce: FunctionText) -> Result<Option<Vec<u8>>> {
    const CHUNK: u64 = 8192;
    if n == 0 {
        return Ok(None);
    }
    let (scalar, block): (ScalarText, _) = (reduce.output, tuning(context).reduce_block);
    let program = Program::new(context, Template::Reduce, |s| s.function(reduce).number("chunk", CHUNK));
    let kernel = program.kernel("reduce_chunks")?;
    let (mut left, mut sums) = (n, None::<Buffer>);
    loop {
        let chunks = left.div_ceil(CHUNK);
        let next = Buffer::alloc(context, chunks * scalar.size as u64)?;
        let launch = kernel.launch(chunks, block, 0).arg(left).arg(sums.as_ref().unwrap_or(values));
        // SAFETY: as above.
        unsafe { launch.arg(&next).run()? };
        left = chunks;
        if left == 1 {
            return next.to_host().map(Some);
        }
        sums = Some(next);
    }
}
