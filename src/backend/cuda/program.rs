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
    key: Arc<str>,
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
        let key = key(&spec);
        Self { context, spec, key }
    }
    pub(super) fn kernel(&self, function: &str) -> Result<Kernel> {
        self.context.kernel_with(self.spec.template.name(), &self.key, function, || {
            self.spec.source().map_err(|e| Error::Compile { kernel: self.key.to_string(), log: e.to_string() })
        })
    }
}

/// As many blocks as the device runs at once, and no more than `useful`.
pub(super) fn resident(kernel: &Kernel, block: u32, shared: u32, useful: u64) -> Result<u64> {
    let at_once = kernel.occupancy(block, shared)?.max(1) as u64 * kernel.context().properties().multiprocessors as u64;
    Ok(at_once.min(useful).max(1))
}

/// offsets[0..=n] = exclusive sums of the n counts already in its first n places; the total stays on the device.
pub(super) fn scan_in_place(
    context: &Arc<Context>,
    offsets: &Buffer,
    n: u64,
    total: Option<(&Buffer, u64)>,
) -> Result<()> {
    let (tuning, primitives) = (tuning(context), Program::new(context, Template::Primitives, |s| s));
    let tile = (tuning.primitive_block * tuning.scan_items) as u64;
    let tiles = n.div_ceil(tile);
    let mut sums = Buffer::alloc_for::<u64>(context, tiles as usize + 1)?;
    if n == 0 {
        sums.fill(0)?;
    }
    let block = tuning.primitive_block;
    // SAFETY: parameters as `primitives.cu` lists them; `offsets` has n + 1 places, `sums` one a tile.
    unsafe {
        primitives.kernel("scan_sums_u64")?.launch(tiles, block, 0).arg(offsets).arg(n).arg(&sums).run()?;
        let spine = primitives.kernel("scan_spine_u64")?;
        let total = total.map_or(0, |(buffer, place)| buffer.pointer() + 8 * place);
        spine.launch(1u32, block, 0).arg(&sums).arg(tiles).arg(total).run()?;
        let apply = primitives.kernel("scan_apply_u64")?;
        apply.launch((n + 1).div_ceil(tile), block, 0).arg(offsets).arg(n).arg(&sums).arg(offsets).run()
    }
}

/// starts[0..=n] = exclusive sums of n u32 counts.
pub(super) fn widen_and_scan(context: &Arc<Context>, counts: &Buffer, starts: &Buffer, n: u64) -> Result<()> {
    if n == 0 {
        return scan_in_place(context, starts, 0, None);
    }
    let (tuning, primitives) = (tuning(context), Program::new(context, Template::Primitives, |s| s));
    let tile = (tuning.primitive_block * tuning.scan_items) as u64;
    let (tiles, block) = (n.div_ceil(tile), tuning.primitive_block);
    let sums = Buffer::alloc_for::<u64>(context, tiles as usize)?;
    // SAFETY: parameters as `primitives.cu` lists them; `starts` has n + 1 places, `sums` one a tile.
    unsafe {
        primitives.kernel("scan_sums_u32")?.launch(tiles, block, 0).arg(counts).arg(n).arg(&sums).run()?;
        primitives.kernel("scan_spine_u64")?.launch(1u32, block, 0).arg(&sums).arg(tiles).arg(0u64).run()?;
        let apply = primitives.kernel("scan_apply_u32")?;
        apply.launch((n + 1).div_ceil(tile), block, 0).arg(counts).arg(n).arg(&sums).arg(starts).run()
    }
}
