//! apply and select: a function of every entry.
use super::given::Given;
use super::one_row::{Room, row_of};
use crate::backend::Positions;
use crate::backend::cuda::entries::{At, Marks, Spans, block_and_tile};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::program::Program;
use crate::backend::cuda::{Buffer, DevicePattern};
use crate::error::Result;
use crate::storage::axis::Ids;
use oplus_codegen::{FunctionText, Shared, Template};

/// What a launch of the template needs besides the entries.
struct Inputs<'a> {
    program: Program<'a>,
    thunk: Given,
    i: Option<Buffer>,
    j: Option<Buffer>,
}

fn inputs<'a>(
    select: bool,
    op: Shared<FunctionText>,
    thunk: &[u8],
    a: Operand<'a>,
    (at, columns): (&Positions, Option<u64>),
) -> Result<Inputs<'a>> {
    let context = a.pattern.offsets.context();
    let [value, row, column, thunk_read] = [0, 1, 2, 3].map(|n| op.text.reads(n));
    let ids = |ids: &Ids, read: bool| ids.as_ref().filter(|_| read).map(|i| Buffer::from_host(context, i)).transpose();
    let (i, j) = (ids(&at.i, row)?, ids(&at.j, column)?);
    let thunk = if thunk_read { Given::new(context, thunk)? } else { Given::nothing() };
    let program = Program::new(context, Template::Map, |s| {
        let s = s.function(op).number("select", u64::from(select)).flag("value", value);
        let s = s.flag("row", row).flag("column", column).flag("thunk", thunk_read);
        s.flag("grid", columns.is_some() && (row || column))
    });
    Ok(Inputs { program, thunk, i, j })
}

/// f at every entry of A: the values alone. `op` is the template's function, `thunk` its last input's bytes.
pub(crate) fn apply(op: Shared<FunctionText>, thunk: &[u8], a: Operand<'_>, at: &Positions) -> Result<Buffer> {
    applied(op, thunk, a, (at, None))
}

/// The same of a slot for every cell, in rows of so many columns: A is a single row of them.
pub(crate) fn apply_cells(op: Shared<FunctionText>, thunk: &[u8], a: Operand<'_>, columns: u64) -> Result<Buffer> {
    applied(op, thunk, a, (&Positions::default(), Some(columns)))
}

fn applied(op: Shared<FunctionText>, thunk: &[u8], a: Operand<'_>, at: (&Positions, Option<u64>)) -> Result<Buffer> {
    let (context, n) = (a.pattern.offsets.context(), a.pattern.nnz);
    let (block, tile) = block_and_tile(context);
    let out = Buffer::alloc(context, n.saturating_mul(op.output.size as u64))?;
    if n == 0 {
        return Ok(out);
    }
    let x = inputs(false, op, thunk, a, at)?;
    let kernel = x.program.kernel("map_apply")?;
    let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(at.1.unwrap_or(a.pattern.nrows as u64));
    let launch = launch.arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values).arg(&x.thunk);
    // SAFETY: parameters as the README lists them; n entries everywhere; what is null is not read.
    unsafe { launch.arg(x.i.as_ref()).arg(x.j.as_ref()).arg(&out).run()? };
    Ok(out)
}

/// The entries where f holds as marks, and how many.
pub(crate) fn mark(op: Shared<FunctionText>, thunk: &[u8], a: Operand<'_>, at: &Positions) -> Result<(Marks, u64)> {
    marked(op, thunk, a, (at, None))
}

/// The same of cells, as of [`apply_cells`].
pub(crate) fn mark_cells(op: Shared<FunctionText>, thunk: &[u8], a: Operand<'_>, columns: u64) -> Result<(Marks, u64)> {
    marked(op, thunk, a, (&Positions::default(), Some(columns)))
}

fn marked(
    op: Shared<FunctionText>,
    thunk: &[u8],
    a: Operand<'_>,
    at: (&Positions, Option<u64>),
) -> Result<(Marks, u64)> {
    let (context, n) = (a.pattern.offsets.context(), a.pattern.nnz);
    let (block, tile) = block_and_tile(context);
    let marks = Marks::room(context, n)?;
    if n == 0 {
        return Ok((marks, 0));
    }
    let x = inputs(true, op, thunk, a, at)?;
    let kernel = x.program.kernel("map_mark")?;
    let launch = kernel.launch(n.div_ceil(tile), block, 0).arg(n).arg(at.1.unwrap_or(a.pattern.nrows as u64));
    let launch = launch.arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values).arg(&x.thunk);
    // SAFETY: as above; a word for every 32 entries.
    unsafe { launch.arg(x.i.as_ref()).arg(x.j.as_ref()).arg(&marks.words).run()? };
    let kept = marks.ranked()?;
    Ok((marks, kept))
}

/// The entries of a single row where f holds, with their values if `size` is not 0.
pub(crate) fn row(
    op: Shared<FunctionText>,
    thunk: &[u8],
    a: Operand<'_>,
    at: &Positions,
    size: u64,
) -> Result<(DevicePattern, Buffer)> {
    let x = inputs(true, op, thunk, a, (at, None))?;
    let (kernel, n) = (x.program.kernel("map_row")?, a.pattern.nnz);
    row_of(&kernel, n, (a.pattern.ncols, Room { most: n, size }), |launch| {
        let launch = launch.arg(n).arg(&a.pattern.indices).arg(a.values).arg(&x.thunk);
        launch.arg(x.i.as_ref()).arg(x.j.as_ref())
    })
}

/// The entries where f holds, side by side in each row: f looks at positions alone, and along a row holds `upto` some column, or from
/// one on.
pub(crate) fn spans(op: Shared<FunctionText>, thunk: &[u8], a: Operand<'_>, upto: bool) -> Result<Spans> {
    let (context, rows) = (a.pattern.offsets.context(), a.pattern.nrows as u64);
    let at = if upto { At::Begins(0) } else { At::Ends };
    let (spans, block) = (Spans::room(context, a.pattern.nrows, at)?, block_and_tile(context).0);
    let x = inputs(true, op, thunk, a, (&Positions::default(), None))?;
    let kernel = x.program.kernel("map_spans")?;
    let launch = kernel.launch(rows.div_ceil(u64::from(block)), block, 0).arg(rows).arg(&a.pattern.offsets);
    let launch = launch.arg(&a.pattern.indices).arg(&x.thunk).arg(u32::from(upto));
    // SAFETY: parameters as the README lists them; a count a row.
    unsafe { launch.arg(&spans.counts).run()? };
    Ok(spans)
}
