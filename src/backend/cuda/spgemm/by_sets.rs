//! Positions of products whose right operand has neighbouring columns: A times B's column sets, whose sums are the sets of C's columns,
//! which are listed in the end. Rows have fewer products in fewer columns then: tables that hold them, windows that are narrow.
use super::{Job, Made};
use crate::backend::Positions;
use crate::backend::cuda::product::Product;
use crate::backend::cuda::stand_in::of_sets;
use crate::backend::cuda::storage::asked::Asked;
use crate::backend::cuda::storage::column_sets::{ColumnSets, listed};
use crate::backend::cuda::{Buffer, lock};
use crate::error::{Error, Result};
use crate::spgemm::{Analysis, Strategy};

/// Of fewer products, listing the columns in the end takes longer than what is gained.
const LEAST: u64 = 4 << 20;
/// Sets must be so many times fewer than B's entries: it is no use if only its long rows have them.
const ENTRIES: u64 = 2;
/// Where words of C's columns have more products each, rows are better as bits from the beginning (`walked`).
const FULL: u64 = 5;

impl Job<'_> {
    /// The product, if it is of positions alone and B's rows are known as sets.
    pub(super) fn by_sets(&self, strategy: Strategy) -> Result<Option<Made>> {
        if !self.may_be_united(strategy) {
            return Ok(None);
        }
        let made = self.with_sets(self.column_sets(true)?, |job| {
            let pattern = listed(job.make(strategy)?, self.b.pattern.ncols)?;
            Ok((pattern, Buffer::alloc(self.context, 0)?))
        });
        match made {
            // Other ways take less.
            Err(Error::OutOfMemory { .. }) => Ok(None),
            made => made,
        }
    }
    /// Whether the next product is made so, and how.
    pub(super) fn explain_by_sets(&self, strategy: Strategy, to: &mut Analysis) -> Result<bool> {
        let kept = if self.may_be_united(strategy) { lock(&self.b.pattern.column_sets).kept() } else { None };
        let explained = self.with_sets(kept.as_deref(), |job| {
            job.choose(strategy, &job.control(job.limits(strategy))?, to)?;
            let those = std::mem::take(&mut to.reason);
            to.reason = format!(
                "B's rows are united 32 columns at a time, as nothing but C's positions is to be found; {those}"
            );
            Ok(())
        })?;
        Ok(explained.is_some())
    }
    /// Whether the next product looks whether B's rows are sets worth it, which nobody knows before.
    pub(super) fn looks_for_sets(&self, strategy: Strategy) -> bool {
        self.may_be_united(strategy) && matches!(&*lock(&self.b.pattern.column_sets), Asked::Once)
    }
    fn may_be_united(&self, strategy: Strategy) -> bool {
        let positions = self.semiring.is_constant() && self.semiring.written().size == 0 && self.mask.is_none();
        strategy == Strategy::Auto && positions && !self.is_small() && self.likely_products() >= LEAST
    }
    /// What `work` makes of the product with sets in place of B's rows; `None` where there are none, or they are not worth it.
    fn with_sets<R>(&self, sets: Option<&ColumnSets>, work: impl FnOnce(&Job) -> Result<R>) -> Result<Option<R>> {
        let few = |sets: &&ColumnSets| sets.operand().pattern.nnz.saturating_mul(ENTRIES) <= self.b.pattern.nnz;
        let Some(sets) = sets.filter(few) else { return Ok(None) };
        let (context, semiring, a, b, at) = (self.context, of_sets(), self.a, sets.operand(), &Positions::default());
        let product =
            Product { context, semiring, a, b, by_columns: false, mask: None, bits: None, at, unwritten: None };
        let job = Job { united: true, ..Job::new(&product)? };
        let words = job.rows.saturating_mul(u64::from(job.columns));
        let full = job.likely_products() > words.saturating_mul(FULL);
        if full { Ok(None) } else { work(&job).map(Some) }
    }
}
