//! Element-wise operations one after the other, by one generated kernel.
use super::given::Given;
use crate::backend::Positions;
use crate::backend::chain::{ChainText, Each, Join, JoinKind};
use crate::backend::cuda::entries::{block_and_tile, empty, places};
use crate::backend::cuda::runtime::program::{Program, scan_u32, scanning, widen_and_sum};
use crate::backend::cuda::{Buffer, Context, DeviceCsr, DevicePattern};
use crate::error::Result;
use crate::storage::axis::Ids;
use oplus_codegen::text::{OperatorText, ScalarText};
use oplus_codegen::{FunctionText, Shared, Template};
use std::sync::Arc;

/// Entries a thread takes, as in the template.
const ITEMS: u64 = 64;

const PLACE: ScalarText = ScalarText { name: "i64", definition: "", size: 8 };
const BOOL: ScalarText = ScalarText { name: "bool", definition: "", size: 1 };

fn number(join: Option<&Join>) -> u64 {
    match join.map(|join| join.kind) {
        Some(JoinKind::Union) => 0,
        Some(JoinKind::Intersection) => 1,
        Some(JoinKind::Filled) => 2,
        None => 3,
    }
}

/// The text of a map, or one that changes nothing.
fn mapping(name: &'static str, each: Option<&Each>, input: ScalarText) -> Shared<FunctionText> {
    let same = OperatorText { parameters: &["x", "_", "_", "_"], expression: "x" };
    let none = || FunctionText::new(name, vec![input, PLACE, PLACE, PLACE], input, same).into();
    each.map_or_else(none, |each| (each.text)(name))
}

fn thunk(context: &Arc<Context>, each: Option<&Each>) -> Result<Given> {
    each.map_or_else(|| Ok(Given::nothing()), |each| Given::new(context, &each.thunk))
}

/// What the chain makes of its two or three operands, which are of one shape.
pub(crate) fn chained(text: &ChainText, leaves: &[DeviceCsr<()>], at: &Positions) -> Result<DeviceCsr<()>> {
    let [a, b, rest @ ..] = leaves else {
        return Err(crate::backend::misplaced(crate::device::Device::Cpu));
    };
    if let Some(made) = super::pair::chained(text, leaves, at)? {
        return Ok(made);
    }
    let d = rest.first().unwrap_or(b);
    let context = a.pattern.offsets.context();
    let rows = a.pattern.nrows as u64;
    let third = if text.again.is_some() { d.nnz() } else { 0 };
    let work = rows + a.nnz() + b.nnz() + third;
    let shape = (a.pattern.nrows, a.pattern.ncols);
    if work == rows {
        let (pattern, values) = empty(context, shape.0, shape.1)?;
        return Ok(DeviceCsr::new(pattern, values));
    }
    let join = (text.join.text)("join");
    let map = mapping("map", text.map.as_ref(), join.output);
    let again = match &text.again {
        Some(again) => (again.text)("again"),
        None => {
            let first = OperatorText { parameters: &["x", "_"], expression: "x" };
            FunctionText::new("again", vec![map.output, map.output], map.output, first).into()
        }
    };
    let map_again = mapping("map_again", text.map_again.as_ref(), again.output);
    let size = map_again.output.size as u64;
    let keep = match &text.keep {
        Some(keep) => (keep.text)("keep"),
        None => {
            let all = OperatorText { parameters: &["_", "_", "_", "_"], expression: "true" };
            FunctionText::new("keep", vec![map_again.output, PLACE, PLACE, PLACE], BOOL, all).into()
        }
    };
    let program = Program::new(context, Template::Chain, |s| {
        let s = s.function(join).function(map).function(again).function(map_again).function(keep);
        let s = s.number("kind", number(Some(&text.join))).number("again", number(text.again.as_ref()));
        s.flag("keeps", text.keep.is_some())
    });
    let missing = |join: Option<&Join>| match join.and_then(|join| join.missing.as_ref()) {
        Some(missing) => Ok((Given::new(context, &missing.0)?, Given::new(context, &missing.1)?)),
        None => Ok((Given::nothing(), Given::nothing())),
    };
    let ((alpha, beta), (alpha_again, beta_again)) = (missing(Some(&text.join))?, missing(text.again.as_ref())?);
    let thunks = [&text.map, &text.map_again, &text.keep].map(|each| thunk(context, each.as_ref()));
    let [first, second, last] = thunks;
    let (first, second, last) = (first?, second?, last?);
    let ids = |ids: &Ids| ids.as_ref().map(|ids| Buffer::from_host(context, ids)).transpose();
    let (i, j) = (ids(&at.i)?, ids(&at.j)?);
    let (threads, block) = (work.div_ceil(ITEMS), block_and_tile(context).0);
    let counts = Buffer::alloc_for::<u32>(context, places(threads))?;
    let starts = Buffer::alloc_for::<u64>(context, places(threads).saturating_add(1))?;
    let reads = (a.read()?, b.read()?, d.read()?);
    let (a, b, d) = (reads.0.operand(), reads.1.operand(), reads.2.operand());
    let count = program.kernel_beside("chain_count", || vec![scanning(context, scan_u32)])?;
    let write = program.kernel("chain_write")?;
    let [count, write] = [&count, &write].map(|kernel| {
        let launch = kernel.launch(threads.div_ceil(u64::from(block)), block, 0).arg(threads).arg(rows).arg(work);
        let launch = launch.arg(&a.pattern.offsets).arg(&a.pattern.indices).arg(a.values);
        let launch = launch.arg(&b.pattern.offsets).arg(&b.pattern.indices).arg(b.values);
        let launch = launch.arg(&d.pattern.offsets).arg(&d.pattern.indices).arg(d.values);
        let launch = launch.arg(&alpha).arg(&beta).arg(&alpha_again).arg(&beta_again);
        launch.arg(&first).arg(&second).arg(&last).arg(i.as_ref()).arg(j.as_ref())
    });
    // SAFETY: of both launches, parameters as the README lists them; a count a thread, buffers of the sizes it asks
    // for.
    unsafe { count.arg(&counts).run()? };
    let nnz = widen_and_sum(context, &counts, &starts, threads)?;
    let offsets = Buffer::alloc_for::<u64>(context, shape.0 + 1)?;
    let indices = Buffer::alloc_for::<u32>(context, places(nnz))?;
    let values = Buffer::alloc(context, nnz.saturating_mul(size))?;
    // SAFETY: as above; the results have as many places as were counted.
    unsafe { write.arg(&starts).arg(&offsets).arg(&indices).arg(&values).run()? };
    Ok(DeviceCsr::new(DevicePattern::new(shape, nnz, offsets, indices), values))
}
