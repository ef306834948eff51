//! Products of which some rows are stored at a time: all of them where they fit, else half, and so on.
use super::analysis::OnMask;
use super::exact::{exactly, turn};
use super::need::{Budget, compressed};
use crate::algebra::Scalar;
use crate::backend::host::HostCsr;
use crate::backend::ring::MxmRing;
use crate::backend::{MaskOn, Positions};
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::pattern::Pattern;
use std::ops::Range;
use std::sync::Arc;

const NAME: &str = "mxm";

/// T⟨M⟩ = A ⊕.⊗ B.
pub(super) struct InParts<'a, A: 'static, B: 'static, C: 'static> {
    pub(super) ring: &'a MxmRing<A, B, C>,
    pub(super) a: &'a HostCsr<A>,
    pub(super) b: &'a HostCsr<B>,
    pub(super) mask: OnMask<'a>,
    pub(super) at: &'a Positions,
    pub(super) transposed_b: bool,
}

/// What is done with some rows, in what is left beside them. Where that is too little it is done again with fewer of them.
pub(super) type Each<'a, C> = dyn FnMut(Range<usize>, &HostCsr<C>, &Budget) -> Result<()> + 'a;

impl<A: Scalar, B: Scalar, C: Scalar> InParts<'_, A, B, C> {
    /// All rows in order.
    pub(super) fn each(&self, budget: Budget, each: &mut Each<C>) -> Result<()> {
        let (turned, budget) = turn(self.b, self.transposed_b, size_of::<C>(), budget)?;
        let b = turned.as_ref().unwrap_or(self.b);
        let (mut start, mut step, nrows) = (0, self.a.pattern.nrows, self.a.pattern.nrows);
        while start < nrows {
            let rows = start..nrows.min(start.saturating_add(step));
            match self.part(b, rows.clone(), budget, each) {
                Err(Error::OutOfMemory { .. }) if rows.len() > 1 => step = rows.len() / 2,
                Err(e) => return Err(e),
                // Rows that come later may be smaller.
                Ok(()) => (start, step) = (rows.end, rows.len().saturating_mul(2)),
            }
        }
        Ok(())
    }
    fn part(&self, b: &HostCsr<B>, rows: Range<usize>, mut budget: Budget, each: &mut Each<C>) -> Result<()> {
        let made = if rows.len() == self.a.pattern.nrows {
            exactly(self.ring, self.a, b, self.mask, self.at, false, &budget)?
        } else {
            let bytes = |p: &Pattern, value| {
                let entries = p.offsets[rows.end] - p.offsets[rows.start];
                compressed(rows.len() as u64, entries, value)
            };
            let ids = self.at.i.as_ref().map_or(0, |_| 8 * rows.len() as u64);
            let masked = self.mask.map_or(0, |m| bytes(&m.pattern, 0));
            let taken = bytes(&self.a.pattern, size_of::<A>() as u64).saturating_add(masked).saturating_add(ids);
            let left = budget.without(NAME, taken)?;
            let values = memory::copied(NAME, &self.a.values[self.a.pattern.entries(&rows)])?;
            let a = HostCsr::new(taken_from(&self.a.pattern, &rows)?, values);
            let mask = match self.mask {
                Some(m) => {
                    let pattern = Arc::new(taken_from(&m.pattern, &rows)?);
                    Some(MaskOn { pattern, complement: m.complement })
                }
                None => None,
            };
            let i = match &self.at.i {
                Some(ids) => Some(Arc::new(memory::copied(NAME, &ids[rows.clone()])?)),
                None => None,
            };
            let at = Positions { i, ..self.at.clone() };
            exactly(self.ring, &a, b, mask.as_ref(), &at, false, &left)?
        };
        let (entries, value) = (made.pattern.nnz() as u64, size_of::<C>() as u64);
        budget = budget.without(NAME, compressed(rows.len() as u64, entries, value))?;
        each(rows, &made, &budget)
    }
}

/// Some rows of a pattern.
fn taken_from(pattern: &Pattern, rows: &Range<usize>) -> Result<Pattern> {
    let first = pattern.offsets[rows.start];
    let mut offsets = memory::with_capacity(NAME, rows.len() + 1)?;
    offsets.extend(pattern.offsets[rows.start..=rows.end].iter().map(|end| end - first));
    let indices = memory::copied(NAME, &pattern.indices[pattern.entries(rows)])?;
    Ok(Pattern::new(rows.len(), pattern.ncols, offsets, indices))
}
