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
type Admits<'a> = Option<&'a (dyn Fn(usize, u32) -> bool + Sync)>;

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
        if !matches!(self.frame.form, Form::Cells(_)) {
            return Ok(false);
        }
        // The list may share the values, and is of what was.
        self.forget_lists();
        let Form::Cells(cells) = &self.frame.form else { return Ok(false) };
        let n = cells.nrows * cells.ncols;
        if positions.nnz() == 0 {
            return Ok(true);
        }
        let values = match &*self.values {
            Values::One(one) if stays(*one, new, &f) => None,
            Values::One(one) => Some(filled(operation, n, *one)?),
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
            Some(Values::All(values)) => Arc::get_mut(values).map(|values| &mut values[..]),
            _ => None,
        };
        if let Some(frame) = Arc::get_mut(&mut self.frame) {
            put(frame, values, (positions, new), admits, f);
        }
        Ok(true)
    }
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
        more.fetch_add(count, Relaxed);
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
