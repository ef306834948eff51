//! A specification as kernels of a context.
use super::module::Function;
use super::report::Report;
use super::{Buffer, Context, Kernel};
use crate::error::{Error, Result};
use oplus_codegen::{Spec, Template, Tuning};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The kernels that a context has had by their specification: writing its key takes longer than starting a kernel.
#[derive(Debug, Default)]
pub(super) struct Known(RwLock<HashMap<Spec, Vec<Arc<Function>>>>);

impl Known {
    fn find(&self, spec: &Spec, function: &str) -> Option<Arc<Function>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(spec)?.iter().find(|f| f.name() == function).cloned()
    }
    fn keep(&self, spec: &Spec, function: &Arc<Function>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(spec.clone()).or_default().push(function.clone());
    }
}

/// A specification whose source is written only if its module is not loaded yet.
pub(super) struct Program<'a> {
    pub(super) context: &'a Arc<Context>,
    pub(super) spec: Spec,
}

pub(super) fn tuning(context: &Context) -> &'static Tuning {
    Tuning::of(context.properties().architecture)
}

impl<'a> Program<'a> {
    /// `fill` completes the specification.
    pub(super) fn new(context: &'a Arc<Context>, template: Template, fill: impl FnOnce(Spec) -> Spec) -> Self {
        let spec = fill(Spec::new(template, context.properties().architecture));
        Self { context, spec }
    }
    pub(super) fn kernel(&self, function: &str) -> Result<Kernel> {
        if let Some(known) = self.context.known.find(&self.spec, function) {
            return Ok(Kernel::of(self.context, known));
        }
        let spec = match self.spec.template.apart() {
            true => Cow::Owned(self.spec.clone().only(function)),
            false => Cow::Borrowed(&self.spec),
        };
        let key = spec.key();
        let kernel = self.context.kernel_with(spec.template.name(), &key, function, || {
            spec.source().map_err(|e| Error::Compile { kernel: key.clone(), log: e.to_string() })
        })?;
        self.context.known.keep(&self.spec, kernel.function());
        Ok(kernel)
    }
}

/// As many blocks as the device runs at once, and no more than `useful`.
pub(super) fn resident(kernel: &Kernel, block: u32, shared: u32, useful: u64) -> Result<u64> {
    let at_once = kernel.occupancy(block, shared)?.max(1) as u64 * kernel.context().properties().multiprocessors as u64;
    Ok(at_once.min(useful).max(1))
}

/// The kernel for numbers of a width, and how many of them a thread takes.
fn scan_u64(tuning: &Tuning) -> (&'static str, u32) {
    ("scan_u64", tuning.scan_items)
}
fn scan_u32(tuning: &Tuning) -> (&'static str, u32) {
    ("scan_u32", tuning.scan_u32_items)
}

/// Words that are zero before a scan of n numbers of 64 bits; none where one block scans them all.
pub(super) fn scan_states(context: &Context, n: u64) -> u64 {
    states_of(tuning(context), n, scan_u64(tuning(context)).1)
}
fn states_of(tuning: &Tuning, n: u64, items: u32) -> u64 {
    let tiles = (n + 1).div_ceil(u64::from(tuning.primitive_block * items));
    if tiles > 1 { tiles + 1 } else { 0 }
}

/// out[0..=n] = exclusive sums of n numbers, by the kernel for their width; sum and maximum go to two places of `to`. The
/// states are those at an address, or made.
fn scan(
    context: &Arc<Context>,
    by: fn(&Tuning) -> (&'static str, u32),
    values: &Buffer,
    n: u64,
    out: &Buffer,
    to: Option<(&Buffer, u64, u64)>,
    states: Option<u64>,
    (control, said, report): (u64, u32, Report),
) -> Result<()> {
    let primitives = Program::new(context, Template::Primitives, |s| s);
    let tuning = tuning(context);
    let (kernel, items) = by(tuning);
    let count = states_of(tuning, n, items);
    let made = match states {
        None => Some(Buffer::zeroed_for::<u64>(context, count as usize)?),
        Some(_) => None,
    };
    let states = made.as_ref().map_or(states.unwrap_or(0), Buffer::pointer);
    let place = |at: u64| to.map_or(0, |(buffer, ..)| buffer.pointer() + 8 * at);
    let (total, largest) = to.map_or((0, 0), |(_, total, largest)| (place(total), place(largest)));
    let kernel = primitives.kernel(kernel)?;
    let launch = kernel.launch(count.saturating_sub(1).max(1), tuning.primitive_block, 0);
    let launch = launch.arg(values).arg(n).arg(if count > 0 { states } else { 0 });
    let launch = launch.arg(total).arg(largest).arg(out);
    let launch = launch.arg(control).arg(said).telling(report);
    // SAFETY: parameters as `primitives.cu` lists them; `out` has n + 1 places, there are as many states as it asks for.
    unsafe { launch.run() }
}

/// offsets[0..=n] = exclusive sums of the n counts already in its first n places. With `to` = (buffer, i, j) their sum goes to
/// place i of the buffer, and their maximum to place j, where there is no larger number.
pub(super) fn scan_in_place(
    context: &Arc<Context>,
    offsets: &Buffer,
    n: u64,
    to: Option<(&Buffer, u64, u64)>,
) -> Result<()> {
    scan(context, scan_u64, offsets, n, offsets, to, None, (0, 0, Report::default()))
}

/// The same with [`scan_states`] words that are zero at an address; sum and maximum go to places i and j of a control block, the first N
/// words of which are the result.
pub(super) fn scan_and_tell<const N: usize>(
    context: &Arc<Context>,
    offsets: &Buffer,
    n: u64,
    (control, i, j): (&Buffer, usize, usize),
    states: u64,
) -> Result<Vec<u64>> {
    let to = Some((control, i as u64, j as u64));
    context.tells::<N>(control, |report| {
        scan(context, scan_u64, offsets, n, offsets, to, Some(states), (control.pointer(), N as u32, report))
    })
}

/// starts[0..=n] = exclusive sums of n u32 counts.
pub(super) fn widen_and_scan(context: &Arc<Context>, counts: &Buffer, starts: &Buffer, n: u64) -> Result<()> {
    scan(context, scan_u32, counts, n, starts, None, None, (0, 0, Report::default()))
}
