//! A specification as kernels of a context.
use super::{Buffer, Context, Kernel};
use crate::error::{Error, Result};
use oplus_codegen::{Spec, Template, Tuning};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// A specification whose source is written only if its module is not loaded yet.
pub(super) struct Program<'a> {
    pub(super) context: &'a Arc<Context>,
    pub(super) spec: Spec,
}

/// The key of a specification. Writing it takes longer than starting a kernel, so each is written once.
fn key(spec: &Spec) -> Arc<str> {
    static KEYS: LazyLock<RwLock<HashMap<Spec, Arc<str>>>> = LazyLock::new(RwLock::default);
    if let Some(key) = KEYS.read().unwrap_or_else(PoisonError::into_inner).get(spec) {
        return key.clone();
    }
    let key: Arc<str> = spec.key().into();
    KEYS.write().unwrap_or_else(PoisonError::into_inner).insert(spec.clone(), key.clone());
    key
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
        let key = key(&self.spec);
        self.context.kernel_with(self.spec.template.name(), &key, function, || {
            self.spec.source().map_err(|e| Error::Compile { kernel: key.to_string(), log: e.to_string() })
        })
    }
}

/// As many blocks as the device runs at once, and no more than `useful`.
pub(super) fn resident(kernel: &Kernel, block: u32, shared: u32, useful: u64) -> Result<u64> {
    let at_once = kernel.occupancy(block, shared)?.max(1) as u64 * kernel.context().properties().multiprocessors as u64;
    Ok(at_once.min(useful).max(1))
}

/// out[0..=n] = exclusive sums of n numbers, by the kernel for their width; sum and maximum go to two places of `to`.
fn scan(
    context: &Arc<Context>,
    kernel: &str,
    values: &Buffer,
    n: u64,
    out: &Buffer,
    to: Option<(&Buffer, u64, u64)>,
) -> Result<()> {
    let (tuning, primitives) = (tuning(context), Program::new(context, Template::Primitives, |s| s));
    let block = tuning.primitive_block;
    let tiles = (n + 1).div_ceil((block * tuning.scan_items) as u64);
    let state = if tiles > 1 { Some(Buffer::zeroed_for::<u64>(context, tiles as usize + 1)?) } else { None };
    let place = |at: u64| to.map_or(0, |(buffer, ..)| buffer.pointer() + 8 * at);
    let (total, largest) = to.map_or((0, 0), |(_, total, largest)| (place(total), place(largest)));
    let kernel = primitives.kernel(kernel)?;
    let launch = kernel.launch(tiles, block, 0).arg(values).arg(n).arg(state.as_ref());
    // SAFETY: parameters as `primitives.cu` lists them; `out` has n + 1 places, `state` one a tile and one.
    unsafe { launch.arg(total).arg(largest).arg(out).run() }
}

/// offsets[0..=n] = exclusive sums of the n counts already in its first n places. With `to` = (buffer, i, j) their sum goes to
/// place i of the buffer, and their maximum to place j, where there is no larger number.
pub(super) fn scan_in_place(
    context: &Arc<Context>,
    offsets: &Buffer,
    n: u64,
    to: Option<(&Buffer, u64, u64)>,
) -> Result<()> {
    scan(context, "scan_u64", offsets, n, offsets, to)
}

/// starts[0..=n] = exclusive sums of n u32 counts.
pub(super) fn widen_and_scan(context: &Arc<Context>, counts: &Buffer, starts: &Buffer, n: u64) -> Result<()> {
    scan(context, "scan_u32", counts, n, starts, None)
}
