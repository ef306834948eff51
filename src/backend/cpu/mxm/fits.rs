//! Whether the fast ways of a product hold a limit, and what there is for the others.
use super::admitted::Admitted;
use super::analysis::{OnMask, lengths, longest, prefers_dot};
use super::explain::counted;
use super::folded::most_blocks;
use super::need::{Budget, By, Need, Shape};
use super::product::is_iso;
use crate::algebra::*;
use crate::backend::MxmOptions;
use crate::backend::cpu::blocks::target;
use crate::backend::ends::{End, Most};
use crate::backend::host::HostCsr;
use crate::backend::ring::{Fold, MxmRing};
use crate::memory;
use crate::spgemm::Analysis;
use crate::storage::pattern::Pattern;

const NAME: &str = "mxm";

/// What the machine has.
pub(super) fn what_is_left() -> Budget {
    Budget { limit: memory::available(), threads: rayon::current_num_threads() }
}

pub(super) fn budget(options: &MxmOptions) -> Budget {
    Budget { limit: options.memory_limit, threads: rayon::current_num_threads() }
}

/// How much work a product is, and `Dots` where B lies by columns and they are taken, else `Rows`; `None` without room to find out.
fn foreseen(a: &Pattern, b: &Pattern, mask: OnMask, options: &MxmOptions) -> Option<(Analysis, By)> {
    let listed = mask.filter(|m| !m.complement).map(|m| &*m.pattern);
    let mut analysis = match options.transposed_b {
        false => counted(a, b.ncols, &Admitted::All, |k| b.range(k).len() as u64),
        true => {
            budget(options).check(NAME, 4 * b.ncols as u64).ok()?;
            if let Some(m) = listed
                && prefers_dot(NAME, a, b, true, mask, options.strategy).ok()?
            {
                return Some((dots(a, b, m), By::Dots));
            }
            let lengths = lengths(NAME, b).ok()?;
            counted(a, b.nrows, &Admitted::All, |k| lengths[k].into())
        }
    };
    // Room for all that is listed is taken beforehand, and for all that a complement may leave.
    analysis.bound = listed.map_or(analysis.bound, |m| m.nnz() as u64);
    Some((analysis, By::Rows))
}

/// Dot products as work: steps at most, a column that is much longer than a row of A is searched. B by columns.
fn dots(a: &Pattern, b: &Pattern, mask: &Pattern) -> Analysis {
    let (longest, mut analysis) = (longest(b), Analysis { bound: mask.nnz() as u64, ..Analysis::default() });
    for i in 0..a.nrows {
        let (entries, admitted) = (a.range(i).len() as u64, mask.range(i).len() as u64);
        let steps = admitted.saturating_mul(1 + longest.min(16 * (entries + 1)));
        analysis.products = analysis.products.saturating_add(steps);
        analysis.largest_row = analysis.largest_row.max(admitted);
    }
    analysis
}

/// Whether the usual way holds the limit, if it makes positions alone or values too.
pub(super) fn usual_fits<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    options: &MxmOptions,
    positions: bool,
) -> bool {
    let Some((analysis, by)) = foreseen(&a.pattern, &b.pattern, mask, options) else { return false };
    let positions = positions && is_iso(&ring.operators, a, b, options.transposed_b);
    let by = match by {
        By::Rows if positions => By::Positions,
        By::Rows if ring.cpu.full(&a.pattern, &b.pattern, mask, options).is_some() => By::Whole,
        by => by,
    };
    let shape = Shape { value: size_of::<C>(), right: size_of::<B>(), by };
    // Of booleans that all are one a byte each.
    let written = if by == By::Whole && b.values.len() < b.pattern.nnz() { b.pattern.nnz() as u64 } else { 0 };
    fits((&a.pattern, &b.pattern), mask, &analysis, &shape, written, options)
}

/// Whether a product holds the limit of which no more is stored than a block a thread.
pub(super) fn folded_fits<B: Scalar, C: Scalar>(
    fold: &Fold<C>,
    a: &Pattern,
    b: &HostCsr<B>,
    mask: OnMask,
    options: &MxmOptions,
) -> bool {
    let b = &*b.pattern;
    let Some((mut analysis, by)) = foreseen(a, b, mask, options) else { return false };
    let usual = Need::blocks(a, &analysis);
    let (mut count, mut cut) = (usual, analysis.clone());
    if !fold.free {
        // What is cut by products is so where dots are made, too.
        if by == By::Dots {
            let Ok(lengths) = lengths(NAME, b) else { return false };
            cut.products = counted(a, b.nrows, &Admitted::All, |k| lengths[k].into()).products;
        }
        count = usual.max(most_blocks(cut.products.saturating_add(a.nnz() as u64)));
    }
    // A sum of each block, and room for blocks of which there are more than usual.
    let sums =
        count.saturating_mul(size_of::<Option<C>>() as u64).saturating_add((count - usual).saturating_mul(Need::BLOCK));
    let blocks = blocks(a, &cut, size_of::<C>());
    analysis.bound = 0;
    let shape = Shape { value: size_of::<C>(), right: size_of::<B>(), by };
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
    let Some((mut analysis, by)) = foreseen(a, b, mask, options) else { return false };
    let blocks = blocks(a, &analysis, size_of::<C>().max(size_of::<T>()));
    if let Most::Row(k) = end.most() {
        analysis.bound = analysis.bound.min((a.nrows as u64).saturating_mul(k as u64));
    }
    let shape = Shape { value: size_of::<T>(), right: size_of::<B>(), by };
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
    // Of all there can be, and of a row before the mask is asked.
    let block = block.min(analysis.bound.saturating_add(analysis.largest_row));
    between(block, value).saturating_mul(rayon::current_num_threads() as u64)
}

/// Whether a product, and `more` bytes beside, hold the limit.
fn fits(
    (a, b): (&Pattern, &Pattern),
    mask: OnMask,
    analysis: &Analysis,
    shape: &Shape,
    more: u64,
    options: &MxmOptions,
) -> bool {
    let made = Need::usual((a, b, options.transposed_b), analysis, shape);
    // Whether dots are better is not known of B by rows before memory is taken to find out: either must fit.
    let dotted = mask.filter(|_| !options.transposed_b).map_or(0, |_| Need::turned(b, shape));
    budget(options).fits(made.total().saturating_add(dotted).saturating_add(more))
}
