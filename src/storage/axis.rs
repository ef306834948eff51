//! One dimension of a matrix: all its indices, or a list of those in use where most are not (hypersparse).
use crate::backend::cpu::{all_among, among, in_pieces, listed_among};
use crate::error::{Error, Result};
use crate::memory;
use crate::shown::Few;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

/// A dimension of length n. `Full` stores a place for every index (n < 2³²); `Listed` only for the ascending `ids`,
/// so that dimensions up to 2⁶⁴ − 1 cost what their entries cost. Kernels see places only, always below 2³².
#[derive(Clone)]
pub(crate) enum Axis {
    Full(u32),
    Listed { n: u64, ids: Arc<Vec<u64>> },
}

/// The ids of places, `None` for places that are their own ids.
pub(crate) type Ids = Option<Arc<Vec<u64>>>;

/// What is numbered by places: a length with one for every index, say. `IndexOverflow` beyond what 32 bits count.
pub(crate) fn counted(operation: &'static str, what: &'static str, value: impl Into<u128>) -> Result<u32> {
    let (value, limit) = (value.into(), u128::from(u32::MAX));
    u32::try_from(value).map_err(|_| Error::IndexOverflow { operation, what, value, limit })
}

/// The same of rows and columns.
pub(crate) fn counted_shape(operation: &'static str, (nrows, ncols): (u64, u64)) -> Result<(u32, u32)> {
    Ok((counted(operation, "number of rows", nrows)?, counted(operation, "number of columns", ncols)?))
}

/// Whether so many rows or columns in use have places.
pub(crate) fn check_places(operation: &'static str, value: u128) -> Result<()> {
    counted(operation, "number of rows or columns in use", value).map(drop)
}

impl Debug for Axis {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Axis::Full(n) => f.debug_tuple("Full").field(n).finish(),
            Axis::Listed { n, ids } => f.debug_struct("Listed").field("n", n).field("ids", &Few(ids)).finish(),
        }
    }
}

impl Axis {
    /// The form for a dimension of `n`: full wherever u32 counts it.
    pub(crate) fn new(n: u64) -> Self {
        match u32::try_from(n) {
            Ok(n) => Axis::Full(n),
            Err(_) => Axis::listed(n),
        }
    }
    /// The form that lists indices, of which none is in use yet.
    pub(crate) fn listed(n: u64) -> Self {
        Axis::Listed { n, ids: Arc::new(Vec::new()) }
    }
    /// The form of a dimension of `n` that lists these indices, ascending and each once.
    pub(crate) fn of_ids(operation: &'static str, n: u64, ids: Vec<u64>) -> Result<Self> {
        check_places(operation, ids.len() as u128)?;
        Ok(Axis::Listed { n, ids: Arc::new(ids) })
    }
    /// The length of the dimension.
    pub(crate) fn n(&self) -> u64 {
        match self {
            Axis::Full(n) => *n as u64,
            Axis::Listed { n, .. } => *n,
        }
    }
    /// How many places are stored.
    pub(crate) fn places(&self) -> usize {
        match self {
            Axis::Full(n) => *n as usize,
            Axis::Listed { ids, .. } => ids.len(),
        }
    }
    /// The index of a place.
    pub(crate) fn id(&self, place: usize) -> u64 {
        match self {
            Axis::Full(_) => place as u64,
            Axis::Listed { ids, .. } => ids.get(place).copied().unwrap_or(u64::MAX),
        }
    }
    /// The place of an index, where it has one.
    pub(crate) fn place(&self, index: u64) -> Option<usize> {
        match self {
            Axis::Full(n) => (index < *n as u64).then_some(index as usize),
            Axis::Listed { ids, .. } => ids.binary_search(&index).ok(),
        }
    }
    pub(crate) fn ids(&self) -> Ids {
        match self {
            Axis::Full(_) => None,
            Axis::Listed { ids, .. } => Some(ids.clone()),
        }
    }
    pub(crate) fn same(&self, other: &Axis) -> bool {
        match (self, other) {
            (Axis::Full(n), Axis::Full(m)) => n == m,
            (Axis::Listed { n, ids }, Axis::Listed { n: m, ids: jds }) => {
                n == m && (Arc::ptr_eq(ids, jds) || ids == jds)
            }
            _ => false,
        }
    }
    /// Whether all indices that `other` has places for, of the same dimension, have one here.
    pub(crate) fn has_all(&self, other: &Axis) -> bool {
        match (self, other) {
            (Axis::Full(_), _) => true,
            (Axis::Listed { n, ids }, Axis::Full(_)) => ids.len() as u64 == *n,
            (Axis::Listed { .. }, Axis::Listed { ids, .. }) => {
                self.same(other) || ids.iter().all(|id| self.place(*id).is_some())
            }
        }
    }
    /// An axis with a place for every place of both; the dimensions are equal.
    pub(crate) fn union(&self, other: &Axis, operation: &'static str) -> Result<Axis> {
        let (ids, jds) = match (self, other) {
            (Axis::Full(n), _) | (_, Axis::Full(n)) => return Ok(Axis::Full(*n)),
            _ if self.same(other) => return Ok(self.clone()),
            (Axis::Listed { ids, .. }, Axis::Listed { ids: jds, .. }) => (ids, jds),
        };
        let (few, many, axis) = if ids.len() <= jds.len() { (ids, jds, other) } else { (jds, ids, self) };
        if all_among(few, many) {
            return Ok(axis.clone());
        }
        let mut merged: Vec<u64> = memory::with_capacity(operation, ids.len() + jds.len())?;
        let (mut p, mut q) = (0, 0);
        while p < ids.len() && q < jds.len() {
            let (x, y) = (ids[p], jds[q]);
            merged.push(x.min(y));
            // Which of the two is less nobody guesses.
            (p, q) = (p + (x <= y) as usize, q + (y <= x) as usize);
        }
        merged.extend_from_slice(&ids[p..]);
        merged.extend_from_slice(&jds[q..]);
        // What has all places already is not moved to a copy of itself.
        match merged.len() {
            n if n == ids.len() => Ok(self.clone()),
            n if n == jds.len() => Ok(other.clone()),
            _ => Axis::of_ids(operation, self.n(), merged),
        }
    }
    /// Where each of this axis's places stands on `target`, or [`NONE`] where it has none for that.
    pub(crate) fn found_on(&self, target: &Axis, operation: &'static str) -> Result<Vec<u32>> {
        match target {
            Axis::Listed { ids, .. } => among(operation, self.places(), |place| Some(self.id(place)), ids),
            Axis::Full(_) => self.map_to(target, operation),
        }
    }
    /// Where each of this axis's places stands on `target`, which has them all.
    pub(crate) fn map_to(&self, target: &Axis, operation: &'static str) -> Result<Vec<u32>> {
        match (self, target) {
            (Axis::Listed { ids, .. }, Axis::Listed { ids: all, .. }) => listed_among(operation, ids, all),
            // All indices have places there.
            _ => in_pieces(operation, self.places(), |place| self.id(place) as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;
    use std::collections::BTreeSet;

    #[test]
    fn places_are_counted_in_32_bits() {
        assert_eq!(check_places("test", u32::MAX.into()), Ok(()));
        let (what, limit) = ("number of rows or columns in use", u128::from(u32::MAX));
        for value in [1 << 32, (1 << 33) + 7, u128::from(u64::MAX)] {
            let expected = Error::IndexOverflow { operation: "test", what, value, limit };
            assert_eq!(check_places("test", value), Err(expected));
        }
    }

    #[test]
    fn all_places_of_both_are_in_the_union() {
        let mut random = Random::new(9, 0);
        for (m, n, bound) in [(0, 0, 9), (0, 5, 9), (4, 40, 50), (300, 300, 400), (500, 3, 1 << 50)] {
            let mut some = |n: u64| (0..n).map(|_| random.below(bound)).collect::<BTreeSet<u64>>();
            let (x, y) = (some(m), some(n));
            let axis = |ids: &BTreeSet<u64>| Axis::Listed { n: bound, ids: Arc::new(ids.iter().copied().collect()) };
            let union = axis(&x).union(&axis(&y), "test").unwrap();
            assert!(union.same(&axis(&(&x | &y))));
            for ids in [&x, &y] {
                let map = axis(ids).map_to(&union, "test").unwrap();
                let found: Vec<u64> = map.iter().map(|place| union.id(*place as usize)).collect();
                assert_eq!(found, ids.iter().copied().collect::<Vec<_>>());
            }
        }
    }
}
