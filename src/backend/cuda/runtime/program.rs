//! A specification as kernels of a context.
use super::ahead::{self, Wanted};
use super::module::Function;
use super::report::{Report, SAID, Slate};
use crate::backend::cuda::{Buffer, Context, Kernel};
use crate::error::{Error, Result};
use oplus_codegen::{Spec, Template, Tuning};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The kernels that a context has had by their specification: writing its key takes longer than starting a kernel.
#[derive(Debug, Default)]
pub(crate) struct Known(RwLock<HashMap<Spec, Vec<Arc<Function>>>>);

impl Known {
    fn find(&self, spec: &Spec, function: &str) -> Option<Arc<Function>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(spec)?.iter().find(|f| f.name() == function).cloned()
    }
    pub(crate) fn has(&self, spec: &Spec, function: &str) -> bool {
        self.find(spec, function).is_some()
    }
    fn keep(&self, spec: &Spec, function: &Arc<Function>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let functions = known.entry(spec.clone()).or_default();
        // Another thread may have been faster.
        if functions.iter().all(|f| f.name() != function.name()) {
            functions.push(function.clone());
        }
    }
}

/// A specification whose source is written only if its module is not loaded yet.
pub(crate) struct Program<'a> {
    pub(crate) context: &'a Arc<Context>,
    pub(crate) spec: Spec,
}

pub(crate) fn tuning(context: &Context) -> &'static Tuning {
    Tuning::of(context.properties().architecture)
}

impl<'a> Program<'a> {
    /// `fill` completes the specification.
    pub(crate) fn new(context: &'a Arc<Context>, template: Template, fill: impl FnOnce(Spec) -> Spec) -> Self {
        let spec = fill(Spec::new(template, context.properties().architecture));
        Self { context, spec }
    }
    pub(crate) fn kernel(&self, function: &str) -> Result<Kernel> {
        match self.context.known.find(&self.spec, function) {
            Some(known) => Ok(Kernel::of(self.context, known)),
            None => ahead::obtained(self, function),
        }
    }
    /// The same; should it not be known yet, these that will be needed after it are compiled beside it.
    pub(crate) fn kernel_beside(&self, function: &str, others: impl Fn() -> Vec<Wanted>) -> Result<Kernel> {
        ahead::listed(&others, || self.kernel(function))
    }
    /// A kernel of this program, to be listed.
    pub(crate) fn wanted(&self, function: impl Into<Cow<'static, str>>) -> Wanted {
        Wanted { spec: self.spec.clone(), function: function.into() }
    }
    /// The kernel from its module, which is loaded if it is not yet.
    pub(crate) fn obtain(&self, function: &str) -> Result<Kernel> {
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
pub(crate) fn resident(kernel: &Kernel, block: u32, shared: u32, useful: u64) -> Result<u64> {
    let at_once = kernel.occupancy(block, shared)?.max(1) as u64 * kernel.context().properties().multiprocessors as u64;
    Ok(at_once.min(useful).max(1))
}

/// The kernels on arrays.
pub(crate) fn primitives(context: &Arc<Context>) -> Program<'_> {
    Program::new(context, Template::Primitives, |s| s)
}

/// The kernel for numbers of a width, and how many of them a thread takes.
type Width = fn(&Tuning) -> (&'static str, u32);

/// The kernel that scans these, to be listed.
pub(crate) fn scanning(context: &Arc<Context>, by: Width) -> Wanted {
    primitives(context).wanted(by(tuning(context)).0)
}

pub(crate) fn scan_u64(tuning: &Tuning) -> (&'static str, u32) {
    ("scan_u64", tuning.scan_items)
}
pub(crate) fn scan_u32(tuning: &Tuning) -> (&'static str, u32) {
    ("scan_u32", tuning.scan_u32_items)
}
pub(crate) fn scan_bits(tuning: &Tuning) -> (&'static str, u32) {
    ("scan_bits", tuning.scan_u32_items)
}

/// Words that are zero before a scan of n numbers of 64 bits; none where one block scans them all.
pub(crate) fn scan_states(context: &Context, n: u64) -> u64 {
    states_of(tuning(context), n, scan_u64(tuning(context)).1)
}
fn states_of(tuning: &Tuning, n: u64, items: u32) -> u64 {
    let tiles = (n + 1).div_ceil(u64::from(tuning.primitive_block * items));
    if tiles > 1 { tiles + 1 } else { 0 }
}

/// Numbers to be summed, and where their exclusive sums go: n + 1 places, perhaps their own.
struct Scan<'a> {
    context: &'a Arc<Context>,
    by: Width,
    values: &'a Buffer,
    n: u64,
    out: &'a Buffer,
}

/// What else a scan leaves, by addresses; 0: nothing.
#[derive(Default)]
struct Left {
    /// Zeros, as many as [`Scan::states`].
    states: u64,
    /// The sum of all, and their maximum where there was no larger number.
    total: u64,
    largest: u64,
    /// The block whose first `said` words are told, and of which `words` are left zero.
    control: u64,
    said: u32,
    report: Report,
    words: u64,
}

impl<'a> Scan<'a> {
    fn states(&self) -> u64 {
        let tuning = tuning(self.context);
        states_of(tuning, self.n, (self.by)(tuning).1)
    }
    fn kernel(&self) -> Result<Kernel> {
        primitives(self.context).kernel((self.by)(tuning(self.context)).0)
    }
    fn launch(&self, kernel: &Kernel, left: &Left) -> Result<()> {
        let blocks = self.states().saturating_sub(1).max(1);
        let launch = kernel.launch(blocks, tuning(self.context).primitive_block, 0).arg(self.values).arg(self.n);
        let launch = launch.arg(left.states).arg(left.total).arg(left.largest).arg(self.out);
        let launch = launch.arg(left.control).arg(left.said).telling(left.report).arg(left.words);
        // SAFETY: parameters as `primitives.cu` lists them; `out` has n + 1 places, there are as many states as it asks for.
        unsafe { launch.run() }
    }
    /// Nobody waits for it. The sum and the maximum go to places i and j of a buffer.
    fn run(&self, to: Option<(&Buffer, u64, u64)>) -> Result<()> {
        let states = Buffer::zeroed_for::<u64>(self.context, self.states() as usize)?;
        let place = |at: u64| to.map_or(0, |(buffer, ..)| buffer.pointer() + 8 * at);
        let (total, largest) = to.map_or((0, 0), |(_, total, largest)| (place(total), place(largest)));
        self.launch(&self.kernel()?, &Left { states: states.pointer(), total, largest, ..Left::default() })
    }
    /// The sum of all and their maximum, as the scan tells them.
    fn told(&self) -> Result<(u64, u64)> {
        let (kernel, states) = (self.kernel()?, self.states());
        let [sum, largest, ..] = self.context.with_slate(SAID as u64 + states, |slate| {
            let place = |at: u64| slate.control + 8 * at;
            let states = if states > 0 { place(SAID as u64) } else { 0 };
            let (total, largest, control, said) = (place(0), place(1), place(0), SAID as u32);
            let Slate { report, words, .. } = *slate;
            self.launch(&kernel, &Left { states, total, largest, control, said, report, words })
        })?;
        Ok((sum, largest))
    }
}

/// offsets[0..=n] = exclusive sums of the n counts already in its first n places. With `to` = (buffer, i, j) their sum goes to
/// place i of the buffer, and their maximum to place j, where there is no larger number.
pub(crate) fn scan_in_place(
    context: &Arc<Context>,
    offsets: &Buffer,
    n: u64,
    to: Option<(&Buffer, u64, u64)>,
) -> Result<()> {
    Scan { context, by: scan_u64, values: offsets, n, out: offsets }.run(to)
}

/// offsets[0..=n] = exclusive sums of the n counts already in its first n places; their sum and their maximum.
pub(crate) fn sum_in_place(context: &Arc<Context>, offsets: &Buffer, n: u64) -> Result<(u64, u64)> {
    Scan { context, by: scan_u64, values: offsets, n, out: offsets }.told()
}

/// As [`scan_in_place`], with [`scan_states`] words that are zero at an address; sum and maximum go to places i and j of a control
/// block, the first N words of which are the result.
pub(crate) fn scan_and_tell<const N: usize>(
    context: &Arc<Context>,
    offsets: &Buffer,
    n: u64,
    (control, i, j): (&Buffer, usize, usize),
    states: u64,
) -> Result<Vec<u64>> {
    let scan = Scan { context, by: scan_u64, values: offsets, n, out: offsets };
    let (kernel, states) = (scan.kernel()?, if scan.states() > 0 { states } else { 0 });
    let [total, largest] = [i, j].map(|place| control.pointer() + 8 * place as u64);
    context.tells::<N>(control, |report| {
        let (control, said) = (control.pointer(), N as u32);
        scan.launch(&kernel, &Left { states, total, largest, control, said, report, words: 0 })
    })
}

/// starts[0..=n] = exclusive sums of n u32 counts.
pub(crate) fn widen_and_scan(context: &Arc<Context>, counts: &Buffer, starts: &Buffer, n: u64) -> Result<()> {
    Scan { context, by: scan_u32, values: counts, n, out: starts }.run(None)
}

/// The same, and the sum of all.
pub(crate) fn widen_and_sum(context: &Arc<Context>, counts: &Buffer, starts: &Buffer, n: u64) -> Result<u64> {
    Scan { context, by: scan_u32, values: counts, n, out: starts }.told().map(|(sum, _)| sum)
}

/// starts[0..=n] = set bits before each of n words of 32.
pub(crate) fn scan_of_bits(context: &Arc<Context>, words: &Buffer, starts: &Buffer, n: u64) -> Result<()> {
    Scan { context, by: scan_bits, values: words, n, out: starts }.run(None)
}

/// starts[0..=n] = set bits before each of n words of 32; the sum of all.
pub(crate) fn sum_of_bits(context: &Arc<Context>, words: &Buffer, starts: &Buffer, n: u64) -> Result<u64> {
    Scan { context, by: scan_bits, values: words, n, out: starts }.told().map(|(sum, _)| sum)
}
