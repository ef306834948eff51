//! Products in little memory: positions counted and written to arrays of their size, then the values.
use super::admitted;
use super::analysis::OnMask;
use super::explain::counted;
use super::full;
use super::full_bools;
use super::job::Job;
use super::need::{Budget, Need, Shape, compressed};
use super::numeric::numeric;
use super::product::{self, is_foreseen};
use super::symbolic::{self, symbolic};
use crate::algebra::*;
use crate::backend::cpu::blocks::target;
use crate::backend::cpu::structure::layout::transpose;
use crate::backend::ends::{End, Most};
use crate::backend::host::HostCsr;
use crate::backend::ring::{Fold, MxmRing};
use crate::backend::{MaskBody, MxmOptions, Positions};
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::pattern::Pattern;
use std::sync::Arc;

const NAME: &str = "mxm";

/// T⟨M⟩ = A ⊕.⊗ B, within the limit if there is one; without, in little memory if the usual way runs out of it.
pub(crate) fn mxm<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    options: &MxmOptions,
) -> Result<HostCsr<C>> {
    let usual = || product::mxm(NAME, &ring.cpu, a, b, mask, at, options);
    if options.memory_limit.is_none() {
        return match usual() {
            Err(Error::OutOfMemory { .. }) => exactly(ring, a, b, mask, at, options, &what_is_left()),
            made => made,
        };
    }
    if usual_fits(ring, a, b, mask, options) {
        return usual();
    }
    exactly(ring, a, b, mask, at, options, &budget(options))
}

/// T⟨M⟩ = A ⊕.⊗ B by its positions and the value of all sums, where that is known beforehand and the limit allows the usual
/// way.
pub(crate) fn mxm_iso<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: Option<&MaskBody>,
    options: &MxmOptions,
) -> Result<Option<(Arc<Pattern>, C)>> {
    match product::mxm_by_bits(NAME, &ring.operators, a, b, mask, options) {
        Ok(None) | Err(Error::OutOfMemory { .. }) => {}
        made => return made,
    }
    let looked_up = admitted::looked_up(&a.pattern, &b.pattern, mask).filter(|_| options.memory_limit.is_none());
    let seen = looked_up.as_ref().map(|(cells, _)| *cells);
    let mask = if looked_up.is_some() { None } else { mask.map(MaskBody::on_host).transpose()? };
    if options.memory_limit.is_some() && !usual_fits(ring, a, b, mask, options) {
        return Ok(None);
    }
    let made = product::mxm_iso(NAME, &ring.operators, &ring.cpu, a, b, (mask, seen), options);
    let made = match (made, looked_up) {
        (Ok(Some((all, value))), Some((_, admitted))) => {
            admitted(NAME, &all).map(|pattern| Some((Arc::new(pattern), value)))
        }
        (made, _) => made,
    };
    match made {
        Err(Error::OutOfMemory { .. }) => Ok(None),
        made => made,
    }
}

/// T = A ⊕.⊗ X over booleans by words of them, where X has an entry at every place, ⊕ is ∨ or ∧ and the limit allows the usual way.
pub(crate) fn mxm_bools<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    x: &HostCsr<B>,
    mask: Option<&MaskBody>,
    options: &MxmOptions,
) -> Result<Option<HostCsr<C>>> {
    let limited = options.memory_limit.is_some() && !usual_fits(ring, a, x, None, options);
    if mask.is_some() || limited || !full::suits(&a.pattern, &x.pattern, None, options) {
        return Ok(None);
    }
    match full_bools::mxm(NAME, &ring.operators, a, x) {
        Err(Error::OutOfMemory { .. }) => Ok(None),
        made => made,
    }
}

/// ⊕ᵢⱼ (A ⊕.⊗ B)⟨M⟩, within the limit if there is one: where what is usual does not fit, of the product, stored.
pub(crate) fn mxm_reduce<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    fold: &Fold<C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    options: &MxmOptions,
) -> Result<Option<C>> {
    if options.memory_limit.is_none() || usual_fits(ring, a, b, mask, options) {
        return product::mxm_reduce(&ring.cpu, fold, a, b, mask, at, options);
    }
    Ok((fold.all)(&exactly(ring, a, b, mask, at, options, &budget(options))?.values))
}

/// Whether the usual way holds the limit.
fn usual_fits<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    options: &MxmOptions,
) -> bool {
    if options.transposed_b {
        return false;
    }
    let constant = is_foreseen(&ring.operators, &a.values, &b.values);
    let shape = Shape { value: size_of::<C>(), right: size_of::<B>(), dot: false, constant };
    let scattered = Need::usual((&a.pattern, &b.pattern, false), &counted(&a.pattern, &b.pattern, mask), &shape);
    // Whether dots are better is not known before memory is taken to find out: either must fit.
    let dotted = mask.map_or(0, |_| Need::turned(&b.pattern, &shape));
    budget(options).fits(scattered.total().saturating_add(dotted))
}

/// Whether a product that an end takes holds the limit: what waits for its place is the end's.
pub(crate) fn ended_fits<A: Scalar, B: Scalar, C: Scalar, T: Scalar>(
    end: &dyn End<C, T>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    options: &MxmOptions,
) -> bool {
    if options.memory_limit.is_none() {
        return true;
    }
    if options.transposed_b {
        return false;
    }
    let mut analysis = counted(&a.pattern, &b.pattern, mask);
    // A block of the product, in vectors that grow by doubling, and what is between the steps: one a thread.
    let rows = a.pattern.nnz() as u64 + a.pattern.nrows as u64;
    let block = target(analysis.products.saturating_add(rows)).max(analysis.largest_row);
    let block = block.saturating_mul(6 * (4 + size_of::<C>().max(size_of::<T>()) as u64));
    if let Most::Row(k) = end.most() {
        analysis.bound = analysis.bound.min((a.pattern.nrows as u64).saturating_mul(k as u64));
    }
    let shape = Shape { value: size_of::<T>(), right: size_of::<B>(), dot: false, constant: false };
    let scattered = Need::usual((&a.pattern, &b.pattern, false), &analysis, &shape);
    let dotted = mask.map_or(0, |_| Need::turned(&b.pattern, &shape));
    let blocks = block.saturating_mul(rayon::current_num_threads() as u64);
    budget(options).fits(scattered.total().saturating_add(dotted).saturating_add(blocks))
}

fn exactly<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    options: &MxmOptions,
    budget: &Budget,
) -> Result<HostCsr<C>> {
    let (mut budget, mut turned) = (*budget, None);
    if options.transposed_b {
        (turned, budget) = turn(b, size_of::<C>(), budget)?;
    }
    let b = turned.as_ref().unwrap_or(b);
    let pattern = counted_positions(&a.pattern, &b.pattern, mask, size_of::<C>(), &budget)?;
    let taken = compressed(pattern.nrows as u64, pattern.nnz() as u64, 0);
    let values = values(ring, a, b, mask, at, &pattern, taken, &budget)?;
    Ok(HostCsr::at(Arc::new(pattern), values))
}

/// The positions of a product, B by rows; `value` is what will be stored at each.
fn counted_positions(a: &Pattern, b: &Pattern, mask: OnMask, value: usize, budget: &Budget) -> Result<Pattern> {
    let products = |i: usize| a.row(i).iter().map(|k| b.range(*k as usize).len() as u64).sum();
    let largest = (0..a.nrows).map(products).max().unwrap_or(0);
    symbolic(NAME, &symbolic::Positions { a, b, mask }, largest, value, budget)
}

/// The values of a product at its positions, B by rows.
fn values<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    pattern: &Pattern,
    taken: u64,
    budget: &Budget,
) -> Result<Vec<C>> {
    let job = Job::new(NAME, (a, b), mask, at, false);
    numeric(ring.cpu.scatter(), &ring.operators, &job, pattern, taken, budget)
}

/// What the machine has.
fn what_is_left() -> Budget {
    Budget { limit: memory::available(), threads: rayon::current_num_threads() }
}

fn budget(options: &MxmOptions) -> Budget {
    Budget { limit: options.memory_limit, threads: rayon::current_num_threads() }
}

/// The positions of a product of matrices, to be computed more than once; `value` is the size of a value of C.
pub(crate) fn positions(
    a: &Pattern,
    b: &Pattern,
    mask: OnMask,
    value: usize,
    options: &MxmOptions,
) -> Result<Arc<Pattern>> {
    let mut budget = budget(options);
    if options.memory_limit.is_none() {
        match product::structural(NAME, a, b, (mask, None), options.transposed_b) {
            Err(Error::OutOfMemory { .. }) => budget = what_is_left(),
            made => return made,
        }
    }
    let mut turned = None;
    if options.transposed_b {
        budget.check(NAME, Need::turned(b, &Shape { value, right: 0, dot: false, constant: false }))?;
        let pattern = transpose::<()>(b, &memory::filled(NAME, b.nnz(), ())?)?.0;
        budget = budget.without(NAME, compressed(pattern.nrows as u64, pattern.nnz() as u64, 0))?;
        turned = Some(pattern);
    }
    counted_positions(a, turned.as_ref().unwrap_or(b), mask, value, &budget).map(Arc::new)
}

/// T⟨M⟩ = A ⊕.⊗ B at its positions `c`, which the caller keeps; they are part of the result that a limit counts.
pub(crate) fn at_positions<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    options: &MxmOptions,
    c: &Arc<Pattern>,
) -> Result<HostCsr<C>> {
    let (mut budget, mut turned) = (budget(options), None);
    if options.transposed_b {
        (turned, budget) = turn(b, size_of::<C>(), budget)?;
    }
    let taken = compressed(c.nrows as u64, c.nnz() as u64, 0);
    let values = values(ring, a, turned.as_ref().unwrap_or(b), mask, at, c, taken, &budget)?;
    Ok(HostCsr::at(c.clone(), values))
}

/// B by rows, and what is left beside it.
fn turn<B: Scalar>(b: &HostCsr<B>, value: usize, budget: Budget) -> Result<(Option<HostCsr<B>>, Budget)> {
    let shape = Shape { value, right: size_of::<B>(), dot: false, constant: false };
    budget.check(NAME, Need::turned(&b.pattern, &shape))?;
    let (pattern, values) = transpose(&b.pattern, &b.values)?;
    let budget = budget.without(NAME, compressed(pattern.nrows as u64, pattern.nnz() as u64, size_of::<B>() as u64))?;
    Ok((Some(HostCsr::new(pattern, values)), budget))
}
