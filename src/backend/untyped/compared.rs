//! Whether operands have the positions of others, whatever holds them.
use super::{Reading, UntypedStore};
use crate::backend::PatternBody;
use crate::device::Device;
use crate::error::Result;
use crate::storage::axis::Axis;
use crate::storage::pattern::Pattern;
use crate::storage::store::PatternStore;
use std::sync::Arc;

/// The rows that have entries, with their places.
fn in_use<'a>(pattern: &'a Pattern, rows: &'a Axis) -> impl Iterator<Item = (u64, usize)> + use<'a> {
    (0..pattern.nrows).filter(|p| !pattern.range(*p).is_empty()).map(|p| (rows.id(p), p))
}

impl UntypedStore {
    /// These entries, transposed where asked, held as `other` holds its positions; `None` where those are others, by looking at all of
    /// them unless they are in the same memory.
    pub(crate) fn in_place_of(self, other: &Self, transposed: bool, operation: &'static str) -> Result<Option<Self>> {
        if !transposed && self.rows.same(&other.rows) && self.cols.same(&other.cols) {
            return Ok(self.same_positions(other)?.then_some(self));
        }
        if self.body.nnz() != other.body.nnz() {
            return Ok(None);
        }
        let listed = self.oriented(transposed, Reading::Each)?;
        let (rows, cols, device) = (listed.rows.clone(), listed.cols.clone(), listed.device);
        let on = PatternStore { rows, cols, body: listed.body.pattern()?, device };
        let on = on.in_use((other.rows.is_listed(), other.cols.is_listed()), operation)?;
        if !other.rows.has_all(&on.rows) || !other.cols.has_all(&on.cols) {
            return Ok(None);
        }
        let moved = listed.at(on.on_axes(&other.rows, &other.cols, operation)?)?;
        Ok(moved.same_positions(other)?.then_some(moved))
    }
    /// The first row, by its index, of which the positions, transposed where asked, are not those of `other`. `None` on a device, where to
    /// look takes a download.
    pub(crate) fn first_line_unlike(&self, other: &Self, transposed: bool) -> Result<Option<u64>> {
        if let Device::Cuda(_) = self.device {
            return Ok(None);
        }
        let this = self.oriented(transposed, Reading::Nothing)?;
        let (PatternBody::Host(x), PatternBody::Host(y)) = (this.body.positions()?, other.body.positions()?) else {
            return Ok(None);
        };
        let (mut xs, mut ys) = (in_use(&x, &this.rows), in_use(&y, &other.rows));
        let same = |p: usize, q: usize| {
            let columns = (x.row(p).iter().map(|c| this.cols.id(*c as usize)), y.row(q));
            columns.0.eq(columns.1.iter().map(|c| other.cols.id(*c as usize)))
        };
        Ok(loop {
            match (xs.next(), ys.next()) {
                (Some((i, p)), Some((j, q))) if i == j && same(p, q) => {}
                (Some((i, _)), Some((j, _))) => break Some(i.min(j)),
                (last, end) => break last.or(end).map(|(i, _)| i),
            }
        })
    }
    /// Of the same places along both dimensions.
    fn same_positions(&self, other: &Self) -> Result<bool> {
        Ok(self.shares(other)
            || match (self.body.positions()?, other.body.positions()?) {
                (PatternBody::Host(x), PatternBody::Host(y)) => Arc::ptr_eq(&x, &y) || x == y,
                #[cfg(feature = "cuda")]
                (PatternBody::Cuda(x), PatternBody::Cuda(y)) => x.same(&y)?,
                _ => false,
            })
    }
}
