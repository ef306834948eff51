//! A single row's entries made in one launch, which tells how many there are: two vectors merged, or what is kept of one.
use super::given::Given;
use crate::backend::cuda::entries::{block_and_tile, movable, places};
use crate::backend::cuda::product::Operand;
use crate::backend::cuda::runtime::launch::Launch;
use crate::backend::cuda::runtime::program::{Program, tuning};
use crate::backend::cuda::runtime::report::SAID;
use crate::backend::cuda::storage::values::MARK;
use crate::backend::cuda::{Buffer, DevicePattern, Kernel};
use crate::error::Result;
use oplus_codegen::text::{OperatorText, ScalarText};
use oplus_codegen::{FunctionText, Shared, Template};

/// Whether so many entries are few enough: room is taken for all that there could be, and a block waits for those before it.
pub(crate) fn suits(of: &DevicePattern, entries: u64) -> bool {
    of.nrows == 1 && (1..=u64::from(tuning(of.offsets.context()).one_row_most)).contains(&entries)
}

/// The most entries there can be, and the bytes of a value; 0: positions alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) most: u64,
    pub(crate) size: u64,
}

/// A row of `ncols` places that a kernel writes from so many entries; `inputs` are its first arguments.
pub(crate) fn row_of<'a>(
    kernel: &'a Kernel,
    entries: u64,
    shape: (usize, Room),
    inputs: impl Fn(Launch<'a>) -> Launch<'a>,
) -> Result<(DevicePattern, Buffer)> {
    row_by(kernel, entries.div_ceil(block_and_tile(kernel.context()).1), shape, inputs)
}

/// The same by so many blocks.
pub(crate) fn row_by<'a>(
    kernel: &'a Kernel,
    tiles: u64,
    (ncols, room): (usize, Room),
    inputs: impl Fn(Launch<'a>) -> Launch<'a>,
) -> Result<(DevicePattern, Buffer)> {
    let block = block_and_tile(kernel.context()).0;
    written(kernel, (tiles, block), room, inputs)?.row(ncols, room)
}

/// The same by one block of a kernel that may say that it did not: `None`.
pub(crate) fn row_unless<'a>(
    kernel: &'a Kernel,
    block: u32,
    (ncols, room): (usize, Room),
    inputs: impl Fn(Launch<'a>) -> Launch<'a>,
) -> Result<Option<(DevicePattern, Buffer)>> {
    let written = written(kernel, (1, block), room, inputs)?;
    if written.nnz == u64::MAX { Ok(None) } else { written.row(ncols, room).map(Some) }
}

/// What a kernel wrote into the room.
struct Written {
    nnz: u64,
    offsets: Buffer,
    indices: Buffer,
    values: Buffer,
}
impl Written {
    fn row(mut self, ncols: usize, room: Room) -> Result<(DevicePattern, Buffer)> {
        self.indices.shorten(4 * self.nnz)?;
        self.values.shorten(room.size * self.nnz)?;
        Ok((DevicePattern::new((1, ncols), self.nnz, self.offsets, self.indices), self.values))
    }
}

fn written<'a>(
    kernel: &'a Kernel,
    (tiles, block): (u64, u32),
    room: Room,
    inputs: impl Fn(Launch<'a>) -> Launch<'a>,
) -> Result<Written> {
    let context = kernel.context();
    let offsets = Buffer::alloc_for::<u64>(context, 2)?;
    let indices = Buffer::alloc_for::<u32>(context, places(room.most))?;
    let values = Buffer::alloc(context, room.most.saturating_mul(room.size))?;
    let [nnz, ..] = context.with_slate(SAID as u64 + tiles + 1, |slate| {
        let launch = inputs(kernel.launch(tiles, block, 0)).arg(&indices).arg(&values).arg(&offsets);
        let launch = launch.arg(slate.control + 8 * SAID as u64).arg(slate.control).arg(SAID as u32);
        // SAFETY: parameters as the README lists them; zeros and room of the sizes it asks for.
        unsafe { launch.leaving(slate).run() }
    })?;
    Ok(Written { nnz, offsets, indices, values })
}

/// One of two vectors to be merged: its entries' values, or without those the one that all have.
pub(crate) struct Side<'a> {
    pub(crate) pattern: &'a DevicePattern,
    pub(crate) all: Option<&'a Buffer>,
    pub(crate) one: &'a Given,
}

/// A and B merged; `kind` and `op` are the template's, and alpha and beta stand for what is missing.
pub(crate) fn merged(
    kind: u64,
    op: Shared<FunctionText>,
    [a, b]: [Side<'_>; 2],
    [alpha, beta]: [&Given; 2],
    room: Room,
) -> Result<(DevicePattern, Buffer)> {
    let (context, (m, n)) = (a.pattern.offsets.context(), (a.pattern.nnz, b.pattern.nnz));
    let program = Program::new(context, Template::MergeRow, |s| {
        let s = s.function(op).number("kind", kind);
        s.flag("left_one", a.all.is_none()).flag("right_one", b.all.is_none())
    });
    let kernel = program.kernel("merge_row")?;
    row_of(&kernel, m + n, (a.pattern.ncols, room), |launch| {
        let launch = launch.arg(m).arg(n).arg(&a.pattern.indices).arg(a.all).arg(&b.pattern.indices).arg(b.all);
        launch.arg(a.one).arg(b.one).arg(alpha).arg(beta)
    })
}

/// The template's kinds for A's entries that B has, and for those that it has not.
const WITHIN: u64 = 5;
const WITHOUT: u64 = 6;

/// The entries of A that a mask admits.
pub(crate) fn admitted(
    scalar: ScalarText,
    a: Operand<'_>,
    mask: &DevicePattern,
    complement: bool,
) -> Result<(DevicePattern, Buffer)> {
    let first = OperatorText { parameters: &["x", "_"], expression: "x" };
    let op = FunctionText::new("op", vec![movable(scalar), MARK], movable(scalar), first);
    let kind = if complement { WITHOUT } else { WITHIN };
    let most = if complement { a.pattern.nnz } else { a.pattern.nnz.min(mask.nnz) };
    let nothing = &Given::nothing();
    let a = Side { pattern: a.pattern, all: Some(a.values), one: nothing };
    let b = Side { pattern: mask, all: None, one: nothing };
    merged(kind, op.into(), [a, b], [nothing, nothing], Room { most, size: scalar.size as u64 })
}
