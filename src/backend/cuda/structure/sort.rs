//! Stable radix sort of keys with the places they come from.
use crate::backend::cuda::runtime::ahead::Wanted;
use crate::backend::cuda::runtime::program::{primitives, scan_in_place, scan_u64, scanning, tuning};
use crate::backend::cuda::{Buffer, Context};
use crate::error::Result;
use std::ops::Range;
use std::sync::Arc;

const DIGIT: u32 = 8;
const DIGITS: u64 = 1 << DIGIT;
/// The kernels.
const COUNTS: &str = "sort_counts";
const PASS: &str = "sort_pass";

/// u64 keys, and the u32 places they belong to.
pub(crate) struct Keyed {
    pub(crate) keys: Buffer,
    pub(crate) places: Buffer,
}

impl Keyed {
    /// Room for n.
    pub(crate) fn room(context: &Arc<Context>, n: u64) -> Result<Self> {
        let n = crate::backend::cuda::entries::places(n);
        Ok(Self { keys: Buffer::alloc_for::<u64>(context, n)?, places: Buffer::alloc_for::<u32>(context, n)? })
    }
}

/// Bits that tell numbers below `n` apart.
pub(crate) fn bits_below(n: usize) -> u32 {
    (n as u64).saturating_sub(1).checked_ilog2().map_or(0, |b| b + 1)
}

/// Its kernels, to be listed.
pub(crate) fn wanted(context: &Arc<Context>) -> impl Iterator<Item = Wanted> {
    let passes = [COUNTS, PASS].map(|name| primitives(context).wanted(name));
    passes.into_iter().chain([scanning(context, scan_u64)])
}

/// Ascending by the bits `bits` of the keys, which have none above; equal ones stay in order. As many passes as it takes.
pub(crate) fn sort(context: &Arc<Context>, mut from: Keyed, n: u64, bits: Range<u32>) -> Result<Keyed> {
    if bits.is_empty() || n < 2 {
        return Ok(from);
    }
    let (tuning, primitives) = (tuning(context), primitives(context));
    let (block, tiles) = (tuning.primitive_block, n.div_ceil(u64::from(tuning.primitive_block * tuning.sort_items)));
    let counts = Buffer::alloc_for::<u64>(context, crate::backend::cuda::entries::places(DIGITS * tiles + 1))?;
    let mut to = Keyed::room(context, n)?;
    let (count, scatter) = (primitives.kernel(COUNTS)?, primitives.kernel(PASS)?);
    for shift in bits.step_by(DIGIT as usize) {
        // SAFETY: parameters as `primitives.cu` lists them; n keys and places each, a count a digit and tile.
        unsafe { count.launch(tiles, block, 0).arg(&from.keys).arg(n).arg(shift).arg(&counts).run()? };
        scan_in_place(context, &counts, DIGITS * tiles, None)?;
        let launch = scatter.launch(tiles, block, 0).arg(&from.keys).arg(&from.places).arg(n).arg(shift).arg(&counts);
        // SAFETY: as above.
        unsafe { launch.arg(&to.keys).arg(&to.places).run()? };
        std::mem::swap(&mut from, &mut to);
    }
    Ok(from)
}
