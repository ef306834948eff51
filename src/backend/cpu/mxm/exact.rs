//! Products in little memory: positions counted and written to arrays of their size, then the values.
use super::admitted;
use super::analysis::OnMask;
use super::fits::{budget, folded_fits, usual_fits, what_is_left};
use super::full;
use super::full_bools;
use super::in_parts::InParts;
use super::job::Job;
use super::need::{Budget, By, Need, Shape, compressed};
use super::numeric::numeric;
use super::product;
use super::symbolic::{self, symbolic};
use crate::algebra::*;
use crate::backend::cpu::structure::layout::transpose;
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
            Err(Error::OutOfMemory { .. }) => exactly(ring, a, b, mask, at, options.transposed_b, &what_is_left()),
            made => made,
        };
    }
    if usual_fits(ring, a, b, mask, options, false) {
        return usual();
    }
    exactly(ring, a, b, mask, at, options.transposed_b, &budget(options))
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
    if options.memory_limit.is_some() && !usual_fits(ring, a, b, mask, options, true) {
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

/// T⟨M⟩ = A ⊕.⊗ B of few products under a mask of cells: all of them, of which the cells then admit some. Nobody lists the mask.
pub(crate) fn mxm_looked_up<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: Option<&MaskBody>,
    at: &Positions,
    options: &MxmOptions,
) -> Result<Option<HostCsr<C>>> {
    let looked_up = admitted::looked_up(&a.pattern, &b.pattern, mask).filter(|_| options.memory_limit.is_none());
    let Some((_, admitted)) = looked_up else { return Ok(None) };
    let made = product::mxm(NAME, &ring.cpu, a, b, None, at, options);
    match made.and_then(|all| admitted::kept(NAME, admitted(NAME, &all.pattern)?, all)) {
        Err(Error::OutOfMemory { .. }) => Ok(None),
        made => made.map(Some),
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
    let limited = options.memory_limit.is_some() && !usual_fits(ring, a, x, None, options, false);
    if mask.is_some() || limited || !full::suits(&a.pattern, &x.pattern, None, options) {
        return Ok(None);
    }
    match full_bools::mxm(NAME, &ring.operators, a, x) {
        Err(Error::OutOfMemory { .. }) => Ok(None),
        made => made,
    }
}

/// ⊕ᵢⱼ (A ⊕.⊗ B)⟨M⟩, within the limit if there is one: where what is usual does not fit, of as many rows at a time as do.
pub(crate) fn mxm_reduce<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    fold: &Fold<C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    options: &MxmOptions,
) -> Result<Option<C>> {
    let mut left = budget(options);
    if options.memory_limit.is_none() || folded_fits(fold, &a.pattern, b, mask, options) {
        match product::mxm_reduce(&ring.cpu, fold, a, b, mask, at, options) {
            Err(Error::OutOfMemory { .. }) if options.memory_limit.is_none() => left = what_is_left(),
            made => return made,
        }
    }
    let mut total = None;
    InParts { ring, a, b, mask, at, transposed_b: options.transposed_b }.each(
        left,
        &mut |_, rows: &HostCsr<C>, _| {
            total = match (total, (fold.all)(&rows.values)) {
                (Some(x), Some(y)) => Some((fold.two)(x, y)),
                (x, y) => x.or(y),
            };
            Ok(())
        },
    )?;
    Ok(total)
}

/// T⟨M⟩ = A ⊕.⊗ B in little memory.
pub(super) fn exactly<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    transposed_b: bool,
    budget: &Budget,
) -> Result<HostCsr<C>> {
    let (turned, budget) = turn(b, transposed_b, size_of::<C>(), *budget)?;
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
        match product::structural(NAME, a, b, (mask, None), options) {
            Err(Error::OutOfMemory { .. }) => budget = what_is_left(),
            made => return made,
        }
    }
    let mut turned = None;
    if options.transposed_b {
        budget.check(NAME, Need::turned(b, &Shape { value, right: 0, by: By::Rows }))?;
        let pattern = transpose::<()>(b, &memory::filled(NAME, b.nnz(), ())?)?.0;
        budget = budget.without(NAME, compressed(pattern.nrows as u64, pattern.nnz() as u64, 0))?;
        turned = Some(pattern);
    }
    counted_positions(a, turned.as_ref().unwrap_or(b), mask, value, &budget).map(Arc::new)
}

/// T⟨M⟩ = A ⊕.⊗ B at its positions `c`, which the caller keeps; they are part of the result that a limit counts. Without a
/// limit as many threads as there is memory for, if all run out of it.
pub(crate) fn at_positions<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    options: &MxmOptions,
    c: &Arc<Pattern>,
) -> Result<HostCsr<C>> {
    let within = |(budget, taken)| {
        let (turned, budget) = turn(b, options.transposed_b, size_of::<C>(), budget)?;
        values(ring, a, turned.as_ref().unwrap_or(b), mask, at, c, taken, &budget)
    };
    let values = match within((budget(options), compressed(c.nrows as u64, c.nnz() as u64, 0))) {
        // The positions are no part of what the machine has left.
        Err(Error::OutOfMemory { .. }) if options.memory_limit.is_none() => within((what_is_left(), 0)),
        made => made,
    };
    Ok(HostCsr::at(c.clone(), values?))
}

/// B by rows where it is given by columns, and what is left beside it.
pub(super) fn turn<B: Scalar>(
    b: &HostCsr<B>,
    transposed: bool,
    value: usize,
    budget: Budget,
) -> Result<(Option<HostCsr<B>>, Budget)> {
    if !transposed {
        return Ok((None, budget));
    }
    let shape = Shape { value, right: size_of::<B>(), by: By::Rows };
    budget.check(NAME, Need::turned(&b.pattern, &shape))?;
    let (pattern, values) = transpose(&b.pattern, &b.values)?;
    let budget = budget.without(NAME, compressed(pattern.nrows as u64, pattern.nnz() as u64, size_of::<B>() as u64))?;
    Ok((Some(HostCsr::new(pattern, values)), budget))
}
