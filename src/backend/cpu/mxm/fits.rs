//! Whether the fast ways of a product hold a limit, and what there is for the others.
use super::analysis::OnMask;
use super::explain::counted;
use super::need::{Budget, Need, Shape};
use super::product::is_foreseen;
use crate::algebra::*;
use crate::backend::MxmOptions;
use crate::backend::cpu::blocks::target;
use crate::backend::ends::{End, Most};
use crate::backend::host::HostCsr;
use crate::backend::ring::MxmRing;
use crate::error::Error;
use crate::memory;
use crate::spgemm::Analysis;
use crate::storage::pattern::Pattern;

/// What the machine has.
pub(super) fn what_is_left() -> Budget {
    Budget { limit: memory::available(), threads: rayon::current_num_threads() }
}

pub(super) fn budget(options: &MxmOptions) -> Budget {
    Budget { limit: options.memory_limit, threads: rayon::current_num_threads() }
}

/// How much work a product is; not known where B has to be turned first, and then no usual way is taken.
fn foreseen(a: &Pattern, b: &Pattern, mask: OnMask, options: &MxmOptions) -> Option<Analysis> {
    (!options.transposed_b).then(|| counted(a, b, mask))
}

/// Whether the usual way holds the limit.
pub(super) fn usual_fits<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    options: &MxmOptions,
) -> bool {
    let Some(analysis) = foreseen(&a.pattern, &b.pattern, mask, options) else { return false };
    let constant = is_foreseen(&ring.operators, &a.values, &b.values);
    let shape = Shape { value: size_of::<C>(), right: size_of::<B>(), dot: false, constant };
    fits((&a.pattern, &b.pattern), mask, &analysis, &shape, 0, options)
}

/// Whether a product holds the limit of which no more is stored than a block a thread.
pub(super) fn folded_fits<B: Scalar, C: Scalar>(a: &Pattern, b: &Pattern, mask: OnMask, options: &MxmOptions) -> bool {
    let Some(mut analysis) = foreseen(a, b, mask, options) else { return false };
    let blocks = blocks(a, &analysis, size_of::<C>());
    // A sum of each block.
    let sums = Need::blocks(a, &analysis).saturating_mul(size_of::<Result<Option<C>, Error>>() as u64);
    analysis.bound = 0;
    let shape = Shape { value: size_of::<C>(), right: size_of::<B>(), dot: false, constant: false };
    fits((a, b), mask, &analysis, &shape, blocks.saturating_add(sums), options)
}

/// Whether a product that an end takes holds the limit: what waits for its place is the end's.
pub(super) fn ended_fits<B: Scalar, C: Scalar, T: Scalar>(
    end: &dyn End<C, T>,
    a: &Pattern,
    b: &Pattern,
    mask: OnMask,
    options: &MxmOptions,
) -> bool {
    let Some(mut analysis) = foreseen(a, b, mask, options) else { return false };
    let blocks = blocks(a, &analysis, size_of::<C>().max(size_of::<T>()));
    if let Most::Row(k) = end.most() {
        analysis.bound = analysis.bound.min((a.nrows as u64).saturating_mul(k as u64));
    }
    let shape = Shape { value: size_of::<T>(), right: size_of::<B>(), dot: false, constant: false };
    fits((a, b), mask, &analysis, &shape, blocks, options)
}

/// Bytes of so many entries on their way to the end, in vectors that grow by doubling, with what is between the steps.
pub(super) fn between(entries: u64, value: usize) -> u64 {
    entries.saturating_mul(6 * (4 + value as u64))
}

/// A block of the product for each thread.
fn blocks(a: &Pattern, analysis: &Analysis, value: usize) -> u64 {
    let rows = a.nnz() as u64 + a.nrows as u64;
    let block = target(analysis.products.saturating_add(rows)).max(analysis.largest_row);
    between(block, value).saturating_mul(rayon::current_num_threads() as u64)
}

/// Whether B by rows, and `more` bytes beside, hold the limit.
fn fits(
    (a, b): (&Pattern, &Pattern),
    mask: OnMask,
    analysis: &Analysis,
    shape: &Shape,
    more: u64,
    options: &MxmOptions,
) -> bool {
    let scattered = Need::usual((a, b, false), analysis, shape);
    // Whether dots are better is not known before memory is taken to find out: either must fit.
    let dotted = mask.map_or(0, |_| Need::turned(b, shape));
    budget(options).fits(scattered.total().saturating_add(dotted).saturating_add(more))
}
