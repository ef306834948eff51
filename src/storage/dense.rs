//! Vectors with a bit and a value for every place: what is there is found and changed without a search.
//!
//! The list of entries is made when an operation asks for it, and kept until the vector changes.
use super::bitmap::fill_unset;
use super::footprint::Footprint;
use super::pattern::Pattern;
use super::recounted::Recounted;
use crate::algebra::Scalar;
use crate::backend::cpu::{self, Placed};
use crate::backend::host::HostCsr;
use crate::error::Result;
use crate::memory::{self, Buffer};
use std::sync::{Arc, OnceLock};

/// Which of n places have an entry.
#[derive(Debug)]
pub(crate) struct Places {
    n: usize,
    words: Vec<u64>,
    count: usize,
    listed: OnceLock<Arc<Pattern>>,
}

impl Places {
    pub(crate) fn len(&self) -> usize {
        self.n
    }
    pub(crate) fn count(&self) -> usize {
        self.count
    }
    /// Whether there is an entry; places from n on have none.
    #[inline(always)]
    pub(crate) fn get(&self, place: u32) -> bool {
        self.words.get(place as usize >> 6).is_some_and(|word| word >> (place & 63) & 1 != 0)
    }
    /// The places as one row.
    pub(crate) fn listed(&self, operation: &'static str) -> Result<&Arc<Pattern>> {
        if let Some(listed) = self.listed.get() {
            return Ok(listed);
        }
        let indices = cpu::unmarked(operation, &self.words)?;
        let pattern = Pattern::new(1, self.n, vec![0, indices.len() as u64], indices);
        Ok(self.listed.get_or_init(|| Arc::new(pattern)))
    }
    fn copied(&self, operation: &'static str) -> Result<Self> {
        let words = memory::copied(operation, &self.words)?;
        Ok(Self { n: self.n, words, count: self.count, listed: OnceLock::new() })
    }
}

/// A vector of n places. Clones share everything; a change copies what is shared.
#[derive(Debug)]
pub(crate) struct Dense<T> {
    places: Arc<Places>,
    /// One for every place: anything where there is no entry.
    values: Arc<Buffer<T>>,
    listed: Arc<OnceLock<HostCsr<T>>>,
}
impl<T> Clone for Dense<T> {
    fn clone(&self) -> Self {
        Self { places: self.places.clone(), values: self.values.clone(), listed: self.listed.clone() }
    }
}

impl<T> Dense<T> {
    pub(crate) fn places(&self) -> &Arc<Places> {
        &self.places
    }
    /// The same places for another scalar, where none has an entry.
    pub(crate) fn without_values<U>(self) -> Dense<U> {
        Dense { places: self.places, values: Arc::default(), listed: Arc::default() }
    }
}

impl<T: Scalar> Dense<T> {
    /// The entries of one row; the list stays known.
    pub(crate) fn of(operation: &'static str, row: &HostCsr<T>) -> Result<Self> {
        let n = row.pattern.ncols;
        let listed = Arc::new(OnceLock::from(row.clone()));
        if row.pattern.is_full_row() {
            // Its values are in their places.
            let last = (n - 1) / 64;
            let word = |w| if w < last { u64::MAX } else { u64::MAX >> (63 - (n - 1) % 64) };
            let words = cpu::in_pieces(operation, last + 1, word)?;
            let places = Places { n, words, count: n, listed: OnceLock::from(row.pattern.clone()) };
            return Ok(Self { places: Arc::new(places), values: row.values.clone(), listed });
        }
        let mut words = cpu::filled(operation, n.div_ceil(64), 0u64)?;
        let mut values = cpu::filled(operation, n, T::zeroed())?;
        cpu::placed(operation, &row.pattern.indices, (&mut words, &mut values), &|part| {
            for e in part.entries {
                let place = row.pattern.indices[e] as usize - part.first;
                part.words[place >> 6] |= 1 << (place & 63);
                part.values[place] = row.values[e];
            }
            0
        })?;
        let places = Places { n, words, count: row.pattern.nnz(), listed: OnceLock::from(row.pattern.clone()) };
        Ok(Self { places: Arc::new(places), values: Arc::new(values.into()), listed })
    }
    /// Those of a value for every place whose bits are set.
    pub(crate) fn of_bits(words: Vec<u64>, values: Arc<Buffer<T>>) -> Self {
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        let places = Places { n: values.len(), words, count, listed: OnceLock::new() };
        Self { places: Arc::new(places), values, listed: Arc::default() }
    }
    pub(crate) fn get(&self, place: u32) -> Option<T> {
        if self.places.get(place) { self.values.get(place as usize).copied() } else { None }
    }
    /// A value for every place, `absent` where there is no entry; the values themselves where nobody else has them.
    pub(crate) fn into_values(self, operation: &'static str, absent: T) -> Result<Vec<T>> {
        let Self { places, values, listed } = self;
        drop(listed);
        let mut all = memory::owned(operation, values)?;
        fill_unset(&places.words, &mut all, absent);
        Ok(all)
    }
    /// Counts all that is kept.
    pub(crate) fn footprint(&self, to: &mut Footprint) {
        to.slice(&self.places.words);
        to.slice(&self.values);
        if let Some(list) = self.places.listed.get() {
            list.footprint(to);
        }
        if let Some(list) = self.listed.get() {
            list.footprint(to);
        }
    }
    /// The entries as one row.
    pub(crate) fn listed(&self, operation: &'static str) -> Result<&HostCsr<T>> {
        if let Some(listed) = self.listed.get() {
            return Ok(listed);
        }
        let pattern = self.places.listed(operation)?.clone();
        let all = &self.values[..];
        let values = cpu::mapped(operation, &pattern.indices, move |j| all[j as usize])?;
        Ok(self.listed.get_or_init(|| HostCsr::at(pattern, values)))
    }
    /// Sets the value of an entry. `false`, and nothing changes, where there is none or somebody else holds this vector.
    pub(crate) fn set(&mut self, place: u32, value: T) -> bool {
        if !self.places.get(place) {
            return false;
        }
        let Some(old) = Arc::get_mut(&mut self.values).and_then(|values| values.get_mut(place as usize)) else {
            return false;
        };
        *old = value;
        self.listed = Arc::default();
        true
    }
    /// Both for changes, copied where somebody else holds them; unchanged on error.
    fn own(&mut self, operation: &'static str) -> Result<Option<(&mut Places, &mut Buffer<T>)>> {
        // The list is of what was; where all had entries it has these values.
        self.listed = Arc::default();
        if Arc::get_mut(&mut self.values).is_none() {
            self.values = Arc::new(memory::copied(operation, &self.values)?.into());
        }
        if Arc::get_mut(&mut self.places).is_none() {
            self.places = Arc::new(self.places.copied(operation)?);
        }
        let (Some(places), Some(values)) = (Arc::get_mut(&mut self.places), Arc::get_mut(&mut self.values)) else {
            return Ok(None);
        };
        places.listed = OnceLock::new();
        Ok(Some((places, values)))
    }
    /// Removes the entries at these places, where there are any. O(places) where nobody else holds this vector; else it is copied first.
    pub(crate) fn remove(&mut self, operation: &'static str, at: &[u32]) -> Result<()> {
        if !at.iter().any(|place| self.places.get(*place)) {
            return Ok(());
        }
        let Some((places, _)) = self.own(operation)? else { return Ok(()) };
        for place in at {
            if places.get(*place) {
                places.words[*place as usize >> 6] &= !(1 << (place & 63));
                places.count -= 1;
            }
        }
        Ok(())
    }
    /// An entry at a place, new or not, as [`remove`](Self::remove). There is such a place.
    pub(crate) fn put(&mut self, operation: &'static str, place: u32, value: T) -> Result<()> {
        if self.set(place, value) {
            return Ok(());
        }
        let Some((places, values)) = self.own(operation)? else { return Ok(()) };
        let (word, bit) = (&mut places.words[place as usize >> 6], 1 << (place & 63));
        places.count += (*word & bit == 0) as usize;
        *word |= bit;
        values[place as usize] = value;
        Ok(())
    }
    /// Puts `f` of what is there and of each entry of a row where `admits` holds. O(entries of the row) where nobody else
    /// holds this vector, its structure as a mask included; else it is copied first. Unchanged on error.
    pub(crate) fn update<U: Scalar>(
        &mut self,
        operation: &'static str,
        row: &HostCsr<U>,
        admits: impl Fn(u32) -> bool + Sync,
        f: impl Fn(Option<T>, U) -> T + Sync,
    ) -> Result<()> {
        self.put_at(operation, (&row.pattern.indices, true), &|part| {
            let mut more = 0;
            for (j, new) in row.pattern.indices[part.entries.clone()].iter().zip(&row.values[part.entries]) {
                if admits(*j) {
                    let place = *j as usize - part.first;
                    let (word, bit) = (&mut part.words[place >> 6], 1 << (place & 63));
                    let value = &mut part.values[place];
                    let old = (*word & bit != 0).then_some(*value);
                    *value = f(old, *new);
                    more += old.is_none() as isize;
                    *word |= bit;
                }
            }
            more
        })
    }
    /// Lets `put` write bits and values at these places, in pieces on several threads where they ascend, each once: how many entries more there
    /// are then. As [`update`](Self::update) otherwise.
    pub(crate) fn put_at(
        &mut self,
        operation: &'static str,
        (at, ascending): (&[u32], bool),
        put: &(dyn Fn(Placed<'_, T>) -> isize + Sync),
    ) -> Result<()> {
        if at.is_empty() {
            return Ok(());
        }
        let Some((places, values)) = self.own(operation)? else { return Ok(()) };
        let counted = Recounted { words: &mut places.words, count: &mut places.count };
        let more = match ascending {
            true => cpu::placed(operation, at, (&mut *counted.words, values), put)?,
            false => put(Placed { entries: 0..at.len(), first: 0, words: &mut *counted.words, values }),
        };
        *counted.count = counted.count.saturating_add_signed(more);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: usize, entries: &[(u32, i64)]) -> HostCsr<i64> {
        let indices: Vec<u32> = entries.iter().map(|e| e.0).collect();
        let pattern = Pattern::new(1, n, vec![0, indices.len() as u64], indices);
        HostCsr::new(pattern, entries.iter().map(|e| e.1).collect())
    }
    fn entries(d: &Dense<i64>) -> Vec<(u32, i64)> {
        let listed = d.listed("test").unwrap();
        assert_eq!(listed.pattern.nnz(), d.places().count());
        listed.pattern.indices.iter().copied().zip(listed.values.iter().copied()).collect()
    }

    #[test]
    fn updates_meet_what_is_there_and_leave_clones_alone() {
        let mut d = Dense::of("test", &row(130, &[(0, 1), (64, 2), (129, 3)])).unwrap();
        let before = d.clone();
        d.update("test", &row(130, &[(1, 10), (64, 20), (128, 30)]), |j| j != 128, |old, new| old.unwrap_or(100) + new)
            .unwrap();
        assert_eq!(entries(&d), [(0, 1), (1, 110), (64, 22), (129, 3)]);
        assert_eq!(entries(&before), [(0, 1), (64, 2), (129, 3)]);
        assert_eq!((d.get(1), d.get(2), d.get(500)), (Some(110), None, None));
        let (places, values) = (Arc::as_ptr(d.places()), d.values.as_ptr());
        d.update("test", &row(130, &[(2, 5)]), |_| true, |_, new| new).unwrap();
        assert_eq!((Arc::as_ptr(d.places()), d.values.as_ptr()), (places, values), "nobody else held it");
        assert_eq!(entries(&d), [(0, 1), (1, 110), (2, 5), (64, 22), (129, 3)]);
        let before = d.clone();
        d.remove("test", &[1, 3, 129, 1]).unwrap();
        d.put("test", 3, 7).unwrap();
        d.put("test", 0, 8).unwrap();
        assert_eq!(entries(&d), [(0, 8), (2, 5), (3, 7), (64, 22)]);
        assert_eq!(entries(&before), [(0, 1), (1, 110), (2, 5), (64, 22), (129, 3)]);
        let values = d.values.as_ptr();
        d.remove("test", &[64]).unwrap();
        d.put("test", 128, 9).unwrap();
        assert_eq!(d.values.as_ptr(), values, "nobody else held it");
        assert_eq!(entries(&d), [(0, 8), (2, 5), (3, 7), (128, 9)]);
    }
}
