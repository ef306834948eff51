//! What becomes of finished rows before they are stored: apply, select and the largest entries, one after the other.
use super::cpu::Rows;
use super::{Positions, in_front};
use crate::algebra::{Comparable, Gt, IndexUnaryOp, Scalar};
use crate::error::{Error, Result};
use std::cmp::Ordering;
use std::marker::PhantomData;
use std::sync::Arc;

/// The most entries of the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Most {
    /// As many as there are.
    All,
    /// So many in each row.
    Row(usize),
    /// Some, nobody knows how many.
    Some,
}

/// A step from rows of `C` to rows of `T`.
pub(crate) trait End<C, T>: Send + Sync {
    /// Appends what becomes of these rows, of which the first is `first`.
    fn rows(
        &self,
        operation: &'static str,
        first: usize,
        at: &Positions,
        from: &Rows<C>,
        to: &mut Rows<T>,
    ) -> Result<()>;
    fn most(&self) -> Most;
    /// Whether a row needs to be seen as a whole.
    fn whole_rows(&self) -> bool {
        false
    }
}

/// In place of more steps than there may be, which nobody is to run.
pub(crate) struct TooMany;
impl<C, T> End<C, T> for TooMany {
    fn rows(&self, operation: &'static str, _: usize, _: &Positions, _: &Rows<C>, _: &mut Rows<T>) -> Result<()> {
        Err(Error::InvalidValue { operation, reason: "an expression of too many steps".into() })
    }
    fn most(&self) -> Most {
        Most::Some
    }
}

/// The bounds of the rows, with their places.
fn rows_of<C>(first: usize, from: &Rows<C>) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> + '_ {
    let mut start = 0;
    from.ends.iter().enumerate().map(move |(r, end)| {
        let range = start..*end as usize;
        start = range.end;
        (first + r, range)
    })
}

#[inline(always)]
fn id(ids: &crate::storage::axis::Ids, place: usize) -> i64 {
    ids.as_ref().map_or(place as u64, |ids| ids[place]) as i64
}

/// One step after the other.
pub(crate) struct Then<C, M, T>(pub(crate) Arc<dyn End<C, M>>, pub(crate) Arc<dyn End<M, T>>);

impl<C: Scalar, M: Scalar, T: Scalar> End<C, T> for Then<C, M, T> {
    fn rows(
        &self,
        operation: &'static str,
        first: usize,
        at: &Positions,
        from: &Rows<C>,
        to: &mut Rows<T>,
    ) -> Result<()> {
        let mut between = Rows::default();
        self.0.rows(operation, first, at, from, &mut between)?;
        self.1.rows(operation, first, at, &between, to)
    }
    fn most(&self) -> Most {
        match (self.0.most(), self.1.most()) {
            (Most::Row(k), Most::Row(l)) => Most::Row(k.min(l)),
            (Most::Row(k), _) | (_, Most::Row(k)) => Most::Row(k),
            (Most::All, Most::All) => Most::All,
            _ => Most::Some,
        }
    }
    fn whole_rows(&self) -> bool {
        self.0.whole_rows() || self.1.whole_rows()
    }
}

/// f(c, i, j, thunk) in place of c.
#[derive(Debug)]
pub(crate) struct Mapped<F, Y>(pub(crate) Y, pub(crate) PhantomData<F>);

impl<C: Scalar, Y: Scalar, F: IndexUnaryOp<C, Y>> End<C, F::Out> for Mapped<F, Y> {
    fn rows(
        &self,
        operation: &'static str,
        first: usize,
        at: &Positions,
        from: &Rows<C>,
        to: &mut Rows<F::Out>,
    ) -> Result<()> {
        to.reserve(operation, from.indices.len())?;
        to.reserve_rows(operation, from.ends.len())?;
        for (r, range) in rows_of(first, from) {
            let i = id(&at.i, r);
            for (column, c) in from.indices[range.clone()].iter().zip(&from.values[range]) {
                // SAFETY: room for all was reserved.
                unsafe { to.push_unchecked(*column, F::apply(*c, i, id(&at.j, *column as usize), self.0)) };
            }
            to.end_row();
        }
        Ok(())
    }
    fn most(&self) -> Most {
        Most::All
    }
}

/// The entries for which f(c, i, j, thunk) holds.
#[derive(Debug)]
pub(crate) struct Kept<F, Y>(pub(crate) Y, pub(crate) PhantomData<F>);

impl<C: Scalar, Y: Scalar, F: IndexUnaryOp<C, Y, Out = bool>> End<C, C> for Kept<F, Y> {
    fn rows(
        &self,
        operation: &'static str,
        first: usize,
        at: &Positions,
        from: &Rows<C>,
        to: &mut Rows<C>,
    ) -> Result<()> {
        to.reserve_rows(operation, from.ends.len())?;
        for (r, range) in rows_of(first, from) {
            let i = id(&at.i, r);
            // A row at a time: what is dropped needs no room behind it.
            to.reserve(operation, range.len())?;
            for (column, c) in from.indices[range.clone()].iter().zip(&from.values[range]) {
                let keep = F::apply(*c, i, id(&at.j, *column as usize), self.0);
                // SAFETY: room for the row was reserved.
                unsafe { to.push_if(keep, *column, *c) };
            }
            to.end_row();
        }
        Ok(())
    }
    fn most(&self) -> Most {
        Most::Some
    }
}

/// The k largest entries of each row, of equal ones those of the smallest columns; NaN is smaller than all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Largest(pub(crate) usize);

impl<C: Comparable> End<C, C> for Largest {
    fn rows(
        &self,
        operation: &'static str,
        first: usize,
        _: &Positions,
        from: &Rows<C>,
        to: &mut Rows<C>,
    ) -> Result<()> {
        to.reserve_rows(operation, from.ends.len())?;
        let mut order: Vec<u32> = Vec::new();
        for (_, range) in rows_of(first, from) {
            let (columns, values) = (&from.indices[range.clone()], &from.values[range]);
            let k = self.0.min(values.len());
            to.reserve(operation, k)?;
            if k == values.len() {
                to.indices.extend_from_slice(columns);
                to.values.extend_from_slice(values);
            } else if k > 0 {
                order.clear();
                crate::memory::reserve(operation, &mut order, values.len())?;
                order.extend(0..values.len() as u32);
                order.select_nth_unstable_by(k - 1, |p, q| {
                    let (x, y) = (values[*p as usize], values[*q as usize]);
                    match (in_front::<C, Gt>(x, y), in_front::<C, Gt>(y, x)) {
                        (true, _) => Ordering::Less,
                        (_, true) => Ordering::Greater,
                        _ => p.cmp(q),
                    }
                });
                order.truncate(k);
                order.sort_unstable();
                to.indices.extend(order.iter().map(|e| columns[*e as usize]));
                to.values.extend(order.iter().map(|e| values[*e as usize]));
            }
            to.end_row();
        }
        Ok(())
    }
    fn most(&self) -> Most {
        Most::Row(self.0)
    }
    fn whole_rows(&self) -> bool {
        true
    }
}
