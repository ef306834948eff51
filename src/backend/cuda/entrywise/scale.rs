//! Rows or columns scaled: values at A's entries, where the vector has one.
use crate::backend::cuda::entries::{Marks, block_and_tile, compact};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::program::Program;
use crate::backend::cuda::storage::vector;
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::Result;
use oplus_codegen::text::ScalarText;
use oplus_codegen::{FunctionText, Shared, Template};
use std::sync::Arc;

/// What is scaled and by what.
pub(crate) struct Scaling<'a> {
    /// Rows, by op(v, a); else columns, by op(a, v).
    pub(crate) rows: bool,
    /// The template's function.
    pub(crate) op: Shared<FunctionText>,
    /// A single row, one place for each row or column of A, and its type.
    pub(crate) v: Operand<'a>,
    pub(crate) factor: ScalarText,
    pub(crate) a: Operand<'a>,
    pub(crate) entry: ScalarText,
}

/// The result's positions are `whole`, A's, where v has them all.
pub(crate) fn scale(whole: &Arc<DevicePattern>, x: Scaling<'_>) -> Result<(Arc<DevicePattern>, Buffer)> {
    let context = whole.offsets.context();
    let (block, tile) = block_and_tile(context);
    let program = Program::new(context, Template::Scale, |s| s.function(x.op.clone()).flag("rows", x.rows));
    let full = x.v.pattern.nnz == x.v.pattern.ncols as u64;
    let dense = if full { None } else { Some(vector::bitmap(x.v.pattern, x.factor, x.v.values)?) };
    let kept = match &dense {
        Some(dense) if x.a.pattern.nnz > 0 => {
            let (n, marks) = (x.a.pattern.nnz, Marks::room(context, x.a.pattern.nnz)?);
            let kernel = program.kernel("scale_mark")?;
            let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(x.a.pattern.nrows as u64);
            let launch = launch.arg(&x.a.pattern.offsets).arg(&x.a.pattern.indices).arg(&dense.present);
            // SAFETY: of both launches, parameters as the README lists them; a bit a row or column, n entries
            // everywhere.
            unsafe { launch.arg(&marks.words).run()? };
            let kept = marks.ranked()?;
            (kept < n).then(|| compact(x.entry, x.a, &marks, kept)).transpose()?
        }
        _ => None,
    };
    let (pattern, values) = match &kept {
        Some((pattern, values)) => (pattern, values),
        None => (x.a.pattern, x.a.values),
    };
    let out = Buffer::alloc(context, pattern.nnz.saturating_mul(x.op.output.size as u64))?;
    if pattern.nnz > 0 {
        let kernel = program.kernel("scale_apply")?;
        let launch = kernel.launch(pattern.nnz.div_ceil(tile), block, 0).arg(pattern.nnz).arg(pattern.nrows as u64);
        let launch = launch.arg(&pattern.offsets).arg(&pattern.indices).arg(values);
        // SAFETY: as above; a factor for every row or column that has entries.
        unsafe { launch.arg(dense.as_ref().map_or(x.v.values, |d| &d.values)).arg(&out).run()? };
    }
    Ok((kept.map_or_else(|| whole.clone(), |(pattern, _)| Arc::new(pattern)), out))
}
