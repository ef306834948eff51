//! Products in little memory: positions counted and written to arrays of their size, then the values.
use super::analysis::OnMask;
use super::explain::counted;
use super::job::Job;
use super::layout::transpose;
use super::need::{Budget, Need, Shape, compressed};
use super::numeric::numeric;
use super::product::{self, is_foreseen};
use super::symbolic::{self, symbolic};
use crate::algebra::*;
use crate::backend::host::HostCsr;
use crate::backend::ring::MxmRing;
use crate::backend::{MxmOptions, Positions};
use crate::error::{Error, Result};
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
    let usual = || product::mxm(NAME, &ring.operators, &ring.cpu, a, b, mask, at, options);
    let Some(limit) = options.memory_limit else {
        return match usual() {
            Err(Error::OutOfMemory { .. }) => {
                exactly(ring, a, b, mask, at, options, &Budget { limit: None, threads: 1 })
            }
            made => made,
        };
    };
    let budget = Budget { limit: Some(limit), threads: rayon::current_num_threads() };
    if !options.transposed_b {
        let constant = is_foreseen(&ring.operators, &a.values, &b.values);
        let shape = Shape { value: size_of::<C>(), right: size_of::<B>(), dot: false, constant };
        let scattered = Need::usual((&a.pattern, &b.pattern, false), &counted(&a.pattern, &b.pattern, mask), &shape);
        // Whether dots are better is not known before memory is taken to find out: either must fit.
        let dotted = mask.map_or(0, |_| Need::turned(&b.pattern, &shape));
        if budget.fits(scattered.total().saturating_add(dotted)) {
            return usual();
        }
    }
    exactly(ring, a, b, mask, at, options, &budget)
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
        let shape = Shape { value: size_of::<C>(), right: size_of::<B>(), dot: false, constant: false };
        budget.check(NAME, Need::turned(&b.pattern, &shape))?;
        let (pattern, values) = transpose(&b.pattern, &b.values)?;
        budget = budget.without(NAME, compressed(pattern.nrows as u64, pattern.nnz() as u64, size_of::<B>() as u64))?;
        turned = Some(HostCsr::new(pattern, values));
    }
    let b = turned.as_ref().unwrap_or(b);
    let pattern = positions(&a.pattern, &b.pattern, mask, size_of::<C>(), &budget)?;
    let values = values(ring, a, b, mask, at, &pattern, &budget)?;
    Ok(HostCsr { pattern: Arc::new(pattern), values: Arc::new(values) })
}

/// The positions of a product, B by rows; `value` is what will be stored at each.
pub(super) fn positions(a: &Pattern, b: &Pattern, mask: OnMask, value: usize, budget: &Budget) -> Result<Pattern> {
    let products = |i: usize| a.row(i).iter().map(|k| b.range(*k as usize).len() as u64).sum();
    let largest = (0..a.nrows).map(products).max().unwrap_or(0);
    symbolic(NAME, &symbolic::Positions { a, b, mask }, largest, value, budget)
}

/// The values of a product at its positions, B by rows.
pub(super) fn values<A: Scalar, B: Scalar, C: Scalar>(
    ring: &MxmRing<A, B, C>,
    a: &HostCsr<A>,
    b: &HostCsr<B>,
    mask: OnMask,
    at: &Positions,
    pattern: &Pattern,
    budget: &Budget,
) -> Result<Vec<C>> {
    let job = Job::new(NAME, (a, b), mask, at, false);
    let taken = compressed(pattern.nrows as u64, pattern.nnz() as u64, 0);
    numeric(ring.cpu.scatter(), &ring.operators, &job, pattern, taken, budget)
}
