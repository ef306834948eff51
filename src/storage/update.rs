//! Entries put into cells where these lie.
use super::frame::{Form, Frame};
use super::held::{Held, Values, filled};
use super::pattern::Pattern;
use super::recounted::Recounted;
use crate::algebra::Scalar;
use crate::algebra::scalar::same;
use crate::backend::cpu::{Shared, each_piece};
use crate::error::Result;
use crate::memory;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// So many entries are put by one thread: each is a visit to its cell.
const MANY: usize = if cfg!(test) { 32 } else { 1 << 13 };

/// Which entries are put, where not all are.
pub(crate) type Admits<'a> = Option<&'a (dyn Fn(usize, u32) -> bool + Sync)>;

impl<T: Scalar> Held<T> {
    /// Puts `f` of what is there and of each entry of some rows where `admits` holds, if there is a cell for everything: whether
    /// it did. O(entries of the rows) where nobody else holds this, else it is copied first; one value for all stays one where no
    /// entry makes another of it. Unchanged on error.
    pub(crate) fn update<U: Scalar>(
        &mut self,
        operation: &'static str,
        (positions, new): (&Pattern, &Values<U>),
        admits: Admits<'_>,
        f: impl Fn(Option<T>, U) -> T + Sync,
    ) -> Result<bool> {
        if !self.frame.has_cells() {
            return Ok(false);
        }
        if positions.nnz() == 0 {
            return Ok(true);
        }
        let stays = matches!(&*self.values, Values::One(one) if stays(*one, new, &f));
        if let Some((frame, values)) = self.own(operation, !stays)? {
            put(frame, values, (positions, new), admits, f);
        }
        Ok(true)
    }
    /// Puts values into cells, given by their slots, or takes them out, if there is a cell for everything: whether it did. O(cells) where
    /// nobody else holds this, else it is copied first; of a value for all, or entries everywhere, what it takes to tell others. Unchanged on
    /// error.
    pub(crate) fn put_cells(&mut self, operation: &'static str, cells: &[(usize, Option<T>)]) -> Result<bool> {
        let Form::Cells(of) = &self.frame.form else { return Ok(false) };
        let changes = |slot: usize, value: Option<T>| of.has(slot) || value.is_some();
        if !cells.iter().any(|(slot, value)| changes(*slot, *value)) {
            return Ok(true);
        }
        let stays = |one: T| cells.iter().all(|(_, value)| value.is_none_or(|value| same(value, one)));
        let stays = match &*self.values {
            Values::One(one) => stays(*one),
            Values::All(_) => cells.iter().all(|(_, value)| value.is_none()),
        };
        let n = of.nrows * of.ncols;
        let words = match of.words.is_none() && cells.iter().any(|(_, value)| value.is_none()) {
            true => Some(all_set(operation, n)?),
            false => None,
        };
        let Some((frame, mut values)) = self.own(operation, !stays)? else { return Ok(true) };
        let Some((of, count)) = frame.changing() else { return Ok(true) };
        if words.is_some() {
            of.words = words;
        }
        for (slot, value) in cells {
            if let Some(words) = &mut of.words {
                let (word, bit) = (&mut words[slot >> 6], 1 << (slot & 63));
                match (*word & bit != 0, value.is_some()) {
                    (false, true) => *count += 1,
                    (true, false) => *count -= 1,
                    _ => {}
                }
                *word = if value.is_some() { *word | bit } else { *word & !bit };
            }
            if let (Some(values), Some(value)) = (&mut values, value) {
                values[*slot] = *value;
            }
        }
        if *count == n {
            of.words = None;
        }
        Ok(true)
    }
    /// Positions and, where they change, values for changes, copied where somebody else holds them; one value for all becomes one for
    /// each. Of cells alone; unchanged on error.
    fn own(&mut self, operation: &'static str, change: bool) -> Result<Option<(&mut Frame, Option<&mut [T]>)>> {
        // The list may share the values, and is of what was.
        self.forget_lists();
        let Form::Cells(cells) = &self.frame.form else { return Ok(None) };
        let values = match &*self.values {
            _ if !change => None,
            Values::One(one) => Some(filled(operation, cells.nrows * cells.ncols, *one)?),
            Values::All(all) if Arc::strong_count(&self.values) > 1 || Arc::strong_count(all) > 1 => {
                Some(memory::copied(operation, all)?)
            }
            Values::All(_) => None,
        };
        let frame = match Arc::strong_count(&self.frame) > 1 {
            true => Some(Frame::new(Form::Cells(cells.copied(operation)?), self.frame.count())),
            false => None,
        };
        // All memory is there: from here on nothing fails.
        if let Some(values) = values {
            self.values = Arc::new(values.into());
        }
        if let Some(frame) = frame {
            self.frame = Arc::new(frame);
        }
        let values = match Arc::get_mut(&mut self.values) {
            Some(Values::All(values)) if change => Arc::get_mut(values).map(|values| &mut values[..]),
            _ => None,
        };
        Ok(Arc::get_mut(&mut self.frame).map(|frame| (frame, values)))
    }
}

/// A bit for each of n cells.
fn all_set(operation: &'static str, n: usize) -> Result<Vec<u64>> {
    let mut words = memory::filled(operation, n.div_ceil(64), u64::MAX)?;
    if let (Some(last), 1..) = (words.last_mut(), n % 64) {
        *last >>= 64 - n % 64;
    }
    Ok(words)
}

/// Whether one value for all cells is still the value of all after these entries.
fn stays<T: Scalar, U: Scalar>(one: T, new: &Values<U>, f: impl Fn(Option<T>, U) -> T) -> bool {
    matches!(new, Values::One(new) if same(f(Some(one), *new), one) && same(f(None, *new), one))
}

/// Puts entries into cells, each row by one thread. Neighbouring rows may have bits in one word.
fn put<T: Scalar, U: Scalar>(
    frame: &mut Frame,
    values: Option<&mut [T]>,
    (positions, new): (&Pattern, &Values<U>),
    admits: Admits<'_>,
    f: impl Fn(Option<T>, U) -> T + Sync,
) {
    let Some((cells, count)) = frame.changing() else { return };
    let ncols = cells.ncols;
    let mut counted = cells.words.as_deref_mut().map(|words| Recounted { words, count: &mut *count });
    // SAFETY: same size and alignment, and nobody else has them meanwhile.
    let words = counted.as_mut().map(|counted| unsafe {
        std::slice::from_raw_parts(counted.words.as_mut_ptr().cast::<AtomicU64>(), counted.words.len())
    });
    let (values, more) = (values.map(Shared::new), AtomicUsize::new(0));
    let row = |i: usize| {
        if positions.range(i).is_empty() {
            return;
        }
        // SAFETY: rows are disjoint.
        let mut values = values.as_ref().map(|values| unsafe { values.part(i * ncols..(i + 1) * ncols) });
        let (mut at, mut word, mut added, mut count) = (0, u64::MAX, 0, 0);
        for e in positions.range(i) {
            let j = positions.indices[e];
            if admits.is_some_and(|admits| !admits(i, j)) {
                continue;
            }
            let slot = i * ncols + j as usize;
            if let Some(words) = words.filter(|_| slot >> 6 != at || word == u64::MAX) {
                if added != 0 {
                    words[at].fetch_or(added, Relaxed);
                }
                (at, added) = (slot >> 6, 0);
                word = words[at].load(Relaxed);
            }
            let bit = 1 << (slot & 63);
            let is_new = word & bit == 0;
            if let Some(value) = values.as_mut().map(|values| &mut values[j as usize]) {
                *value = f((!is_new).then_some(*value), new.at(e));
            }
            if is_new {
                added |= bit;
                count += 1;
            }
        }
        if let Some(words) = words.filter(|_| added != 0) {
            words[at].fetch_or(added, Relaxed);
        }
        if count > 0 {
            more.fetch_add(count, Relaxed);
        }
    };
    // As many rows at a time as have so many entries in the mean.
    let rows = MANY * positions.nrows / positions.nnz().max(1);
    each_piece(positions.nrows, rows.max(1), &|rows| rows.for_each(row));
    if let Some(counted) = &mut counted {
        *counted.count += more.into_inner();
    }
    drop(counted);
    if *count == cells.nrows * ncols {
        cells.words = None;
    }
}
