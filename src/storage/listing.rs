//! Long dimensions of which few indices are in use: listed, before a place for each would take most of the memory.
use super::axis::Axis;
use super::pattern::Pattern;
use super::store::{PatternStore, Store};
use crate::algebra::Scalar;
use crate::backend::cpu::{self, mapped};
use crate::backend::untyped::UntypedStore;
use crate::backend::{PatternBody, on_backend};
use crate::error::{Error, Result};
use crate::memory;
use std::sync::Arc;

/// Shorter ones have a place for every index.
const LONG: u64 = 1 << 24;

/// Whether so few of n indices are in use that a place for each would take most of the memory.
pub(crate) fn is_hypersparse(n: u64, entries: u64) -> bool {
    const FEW: u64 = 64;
    n >= LONG && entries < n / FEW
}

impl Axis {
    /// The form for a dimension of `n` with so many entries, none of which has a place yet.
    pub(crate) fn with_entries(n: u64, entries: u64) -> Self {
        if is_hypersparse(n, entries) { Axis::listed(n) } else { Axis::new(n) }
    }
    /// The form that this one has, for a dimension of `n`.
    pub(crate) fn like(&self, n: u64) -> Self {
        if self.is_listed() { Axis::listed(n) } else { Axis::new(n) }
    }
    /// Whether a list has many more places than so many entries can use.
    pub(crate) fn is_loose(&self, entries: u64) -> bool {
        const EACH: u64 = 4;
        const LITTLE: u64 = 1 << 12;
        self.is_listed() && self.places() as u64 > EACH.saturating_mul(entries).saturating_add(LITTLE)
    }
    /// Whether another store's list is this one.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Axis::Listed { ids, .. } if Arc::strong_count(ids) > 1)
    }
    pub(crate) fn is_listed(&self) -> bool {
        matches!(self, Axis::Listed { .. })
    }
}

/// Which of a store's axes are to be listed, where others list theirs: of `rows` and `cols` those that have a place for
/// every index and few entries.
fn few(
    (rows, cols): (&Axis, &Axis),
    entries: impl Fn() -> u64,
    (list_rows, list_cols): (bool, bool),
) -> Option<(bool, bool)> {
    // Of short ones nobody counts the entries.
    let few = |axis: &Axis, list| list && !axis.is_listed() && axis.n() >= LONG && is_hypersparse(axis.n(), entries());
    let which = (few(rows, list_rows), few(cols, list_cols));
    (which != (false, false)).then_some(which)
}

/// Which axes some of these list. A vector has a place for every index: that costs nothing in the only row there is.
pub(crate) fn lists(axes: &[(&Axis, &Axis)]) -> (bool, bool) {
    let matrix = axes.iter().all(|a| a.0.n() > 1);
    (axes.iter().any(|a| a.0.is_listed()), matrix && axes.iter().any(|a| a.1.is_listed()))
}

impl PatternStore {
    /// The same positions on axes that list the rows, and the columns, in use.
    pub(crate) fn in_use(&self, which: (bool, bool), operation: &'static str) -> Result<Self> {
        let there = on_backend!(self.device, |backend| {
            let used = backend.used(backend.pattern(&self.body)?, which);
            used.and_then(|used| used.map(|used| self.gathered(used, which, operation)).transpose())
        });
        match there {
            Ok(Some(on)) => return Ok(on),
            // The host may have room.
            Ok(None) | Err(Error::OutOfMemory { .. }) => {}
            Err(e) => return Err(e),
        }
        let host = on_backend!(self.device, |backend| { backend.download_pattern(backend.pattern(&self.body)?)? });
        let (rows_met, columns_met) = cpu::met_rows_and_columns(operation, &host)?;
        let (down, across) = (&rows_met.indices, &columns_met.indices);
        let (rows, cols) = self.axes_of((down, across), which, operation)?;
        if rows.same(&self.rows) && cols.same(&self.cols) {
            return Ok(self.clone());
        }
        let offsets = if which.0 {
            let mut offsets = memory::with_capacity(operation, down.len() + 1)?;
            offsets.push(0);
            offsets.extend(down.iter().map(|r| host.offsets[*r as usize + 1]));
            offsets
        } else {
            memory::copied(operation, &host.offsets)?
        };
        let indices = match !which.1 || across.len() == host.ncols {
            true => memory::copied(operation, &host.indices)?,
            false => mapped(operation, &host.indices, |c| across.partition_point(|d| *d < c) as u32)?,
        };
        let pattern = Arc::new(Pattern::new(rows.places(), cols.places(), offsets, indices));
        let body = on_backend!(self.device, |backend| { PatternBody::from(backend.upload_pattern(&pattern)?) });
        Ok(Self { rows, cols, body, device: self.device })
    }
    /// The axes that list these rows and columns, all that have entries, where they are to be listed.
    fn axes_of(
        &self,
        (down, across): (&[u32], &[u32]),
        which: (bool, bool),
        operation: &'static str,
    ) -> Result<(Axis, Axis)> {
        let listed = |axis: &Axis, used: &[u32], wanted: bool| match axis {
            axis if !wanted => Ok(axis.clone()),
            Axis::Listed { ids, .. } if ids.len() == used.len() => Ok(axis.clone()),
            _ => mapped(operation, used, |place| axis.id(place as usize))
                .and_then(|ids| Axis::of_ids(operation, axis.n(), ids)),
        };
        Ok((listed(&self.rows, down, which.0)?, listed(&self.cols, across, which.1)?))
    }
    /// On the axes that list these, where the entries lie: their names alone are the host's.
    fn gathered(
        &self,
        (down, across): (Vec<u32>, Vec<u32>),
        which: (bool, bool),
        operation: &'static str,
    ) -> Result<Self> {
        let (rows, cols) = self.axes_of((&down, &across), which, operation)?;
        if rows.same(&self.rows) && cols.same(&self.cols) {
            return Ok(self.clone());
        }
        let (down, across) = (which.0.then_some(&down[..]), which.1.then_some(&across[..]));
        let body = on_backend!(self.device, |backend| {
            backend.gathered(backend.pattern(&self.body)?, down, across)?.map(PatternBody::from)
        });
        let body = body.ok_or_else(|| crate::backend::misplaced(self.device))?;
        Ok(Self { rows, cols, body, device: self.device })
    }
    /// With those axes listed on which others are and this has few entries.
    pub(crate) fn listed(self, lists: (bool, bool), operation: &'static str) -> Result<Self> {
        match few((&self.rows, &self.cols), || self.body.nnz(), lists) {
            Some(which) => self.in_use(which, operation),
            None => Ok(self),
        }
    }
}

impl<T: Scalar> Store<T> {
    /// The same entries on axes that list the rows, and the columns, in use.
    pub(crate) fn in_use(&self, which: (bool, bool), operation: &'static str) -> Result<Self> {
        let on = self.pattern()?.in_use(which, operation)?;
        if on.rows.same(&self.rows) && on.cols.same(&self.cols) {
            return Ok(self.clone());
        }
        Ok(Self { rows: on.rows, cols: on.cols, body: self.body.at(on.body)?, device: self.device })
    }
    /// With those axes listed on which others are and this has few entries; `None`: as it is.
    pub(crate) fn listed(&self, lists: (bool, bool), operation: &'static str) -> Result<Option<Self>> {
        few((&self.rows, &self.cols), || self.nvals(), lists).map(|which| self.in_use(which, operation)).transpose()
    }
}

impl UntypedStore {
    /// As [`Store::listed`].
    pub(crate) fn listed(&self, lists: (bool, bool), operation: &'static str) -> Result<Option<Self>> {
        let Some(which) = few((&self.rows, &self.cols), || self.body.nnz(), lists) else { return Ok(None) };
        let (device, body) = (self.device, self.body.pattern()?);
        let (rows, cols) = (self.rows.clone(), self.cols.clone());
        let on = PatternStore { rows, cols, body, device }.in_use(which, operation)?;
        self.clone().at(on).map(Some)
    }
}
