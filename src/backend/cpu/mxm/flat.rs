//! Sums of a row: a flag and a sum a column, written without asking what is there. Where columns lie far apart, 64 flags
//! have one of their own.
use super::flags::{take, take_far};
use super::tiny::SLACK;
use crate::backend::cpu::rows::Rows;
use crate::error::Result;
use crate::memory;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Columns `first..first + len` of one row. All flags are 0 and all sums neutral between rows.
#[derive(Debug)]
pub(crate) struct Flat<T> {
    flags: Vec<u8>,
    /// One for 64 flags, where columns lie far apart.
    chunks: Vec<u8>,
    sums: Vec<T>,
}
impl<T> Default for Flat<T> {
    fn default() -> Self {
        Self { flags: Vec::new(), chunks: Vec::new(), sums: Vec::new() }
    }
}

impl<T: Copy> Flat<T> {
    /// Bytes for `len` columns whose sums have this size.
    pub(crate) fn bytes(len: usize, value: usize) -> usize {
        (len + len / 4).next_multiple_of(64) * (1 + value)
    }
    /// The sums of `listed`, ascending, of which the first is the first column; there are no others. It is empty after it.
    pub(crate) fn take_listed(&mut self, listed: &[u32], neutral: T, to: &mut [MaybeUninit<T>]) {
        let first = listed.first().copied().unwrap_or(0);
        for (z, j) in to.iter_mut().zip(listed) {
            let place = (*j - first) as usize;
            (*z, self.sums[place], self.flags[place]) = (MaybeUninit::new(self.sums[place]), neutral, 0);
        }
    }
    /// Room for `len` columns.
    pub(crate) fn grow(&mut self, operation: &'static str, len: usize, neutral: T) -> Result<()> {
        if self.sums.len() < len {
            let room = (len + len / 4).next_multiple_of(64);
            self.flags = memory::filled(operation, room, 0)?;
            self.sums = memory::filled(operation, room, neutral)?;
        }
        Ok(())
    }
    /// Room for chunks of `len` columns.
    pub(crate) fn grow_far(&mut self, operation: &'static str, len: usize, neutral: T) -> Result<()> {
        self.grow(operation, len, neutral)?;
        let chunks = self.flags.len().div_ceil(64).next_multiple_of(64);
        if self.chunks.len() < chunks {
            self.chunks = memory::filled(operation, chunks, 0)?;
        }
        Ok(())
    }
    /// Ready to be added to.
    #[inline(always)]
    pub(crate) fn open(&mut self) -> Open<'_, T> {
        let (flags, chunks, sums) = (self.flags.as_mut_ptr(), self.chunks.as_mut_ptr(), self.sums.as_mut_ptr());
        Open { flags, chunks, sums, of: PhantomData }
    }
    /// The sums of those of `listed`, ascending, that have one, appended; there are no others.
    pub(crate) fn drain_listed(
        &mut self,
        operation: &'static str,
        listed: &[u32],
        neutral: T,
        rows: &mut Rows<T>,
    ) -> Result<()> {
        rows.reserve(operation, listed.len())?;
        for j in listed {
            let (flag, sum) = (&mut self.flags[*j as usize], &mut self.sums[*j as usize]);
            // SAFETY: room for all that are listed was reserved.
            unsafe { rows.push_if(*flag != 0, *j, *sum) };
            (*flag, *sum) = (0, neutral);
        }
        Ok(())
    }
    /// The sums of those of `listed`, ascending, that have one, appended, of `first..first + len`. It is empty after it.
    pub(crate) fn drain_some(
        &mut self,
        operation: &'static str,
        listed: &[u32],
        (first, len): (u32, usize),
        neutral: T,
        rows: &mut Rows<T>,
    ) -> Result<()> {
        rows.reserve(operation, listed.len())?;
        let (flags, sums) = (&mut self.flags[..len], &mut self.sums[..len]);
        for j in listed {
            let place = j.wrapping_sub(first) as usize;
            if place < len {
                // SAFETY: room for all that are listed was reserved.
                unsafe { rows.push_if(flags[place] != 0, *j, sums[place]) };
            }
        }
        flags.fill(0);
        sums.fill(neutral);
        Ok(())
    }
    /// The row, appended; it is empty after it. At most `most` columns of `first..first + len` were met, `FAR` of them with
    /// their chunks.
    pub(crate) fn drain<const FAR: bool>(
        &mut self,
        operation: &'static str,
        (first, len): (u32, usize),
        most: usize,
        neutral: T,
        rows: &mut Rows<T>,
    ) -> Result<()> {
        memory::reserve(operation, &mut rows.indices, most + SLACK)?;
        memory::reserve(operation, &mut rows.values, most)?;
        let (before, room) = (rows.indices.len(), rows.indices.spare_capacity_mut());
        assert!(self.flags.len() >= len && self.sums.len() == self.flags.len());
        let n = match FAR {
            true => take_far(&mut self.flags, &mut self.chunks, (first, len), room),
            false => take(&mut self.flags, (first, len), room),
        };
        debug_assert!(n <= most);
        // SAFETY: n columns were written, each from `first` on and with a flag, of which there are as many as sums; at most
        // `most` were met, for which room was reserved.
        unsafe {
            rows.indices.set_len(before + n);
            let to = rows.values.as_mut_ptr().add(before);
            for (e, j) in rows.indices[before..].iter().enumerate() {
                let sum = self.sums.get_unchecked_mut((*j - first) as usize);
                to.add(e).write(*sum);
                *sum = neutral;
            }
            rows.values.set_len(before + n);
        }
        Ok(())
    }
}

/// Where flags and sums lie: read once, as bytes that are written could be anything.
#[derive(Debug)]
pub(crate) struct Open<'a, T> {
    flags: *mut u8,
    chunks: *mut u8,
    sums: *mut T,
    of: PhantomData<&'a mut Flat<T>>,
}
impl<T: Copy> Open<'_, T> {
    /// # Safety
    /// `place` is below the `len` of [`Flat::grow`].
    #[inline(always)]
    pub(crate) unsafe fn add(&self, place: usize, product: T, add: impl Fn(T, T) -> T) {
        // SAFETY: the contract.
        unsafe {
            *self.flags.add(place) = 1;
            let sum = self.sums.add(place);
            *sum = add(*sum, product);
        }
    }
    /// As [`add`](Self::add) for columns that lie far apart.
    /// # Safety
    /// `place` is below the `len` of [`Flat::grow_far`].
    #[inline(always)]
    pub(crate) unsafe fn add_far(&self, place: usize, product: T, add: impl Fn(T, T) -> T) {
        // SAFETY: the contract.
        unsafe {
            *self.chunks.add(place >> 6) = 1;
            self.add(place, product, add);
        }
    }
    /// As [`add`](Self::add) where nothing is neutral: the first product of a column is its sum.
    /// # Safety
    /// `place` is below the `len` of [`Flat::grow`].
    #[inline(always)]
    pub(crate) unsafe fn add_or_put(&self, place: usize, product: T, add: impl Fn(T, T) -> T) {
        // SAFETY: the contract.
        unsafe {
            let (flag, sum) = (self.flags.add(place), self.sums.add(place));
            *sum = if *flag != 0 { add(*sum, product) } else { product };
            *flag = 1;
        }
    }
    /// Marks a column without a sum.
    /// # Safety
    /// `place` is below the `len` of [`Flat::grow`].
    #[inline(always)]
    pub(crate) unsafe fn mark(&self, place: usize) {
        // SAFETY: the contract.
        unsafe { *self.flags.add(place) = 1 };
    }
    /// Marks a column without a sum, and its chunk.
    /// # Safety
    /// `place` is below the `len` of [`Flat::grow_far`].
    #[inline(always)]
    pub(crate) unsafe fn mark_far(&self, place: usize) {
        // SAFETY: the contract.
        unsafe {
            *self.chunks.add(place >> 6) = 1;
            self.mark(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    #[test]
    fn columns_are_taken_once_and_in_order() {
        let mut random = Random::new(8, 0);
        let mut flat = Flat::<u64>::default();
        for round in 0..200 {
            let (first, len) = (random.below(1000) as u32, 1 + random.below(20_000) as usize);
            flat.grow_far("test", len, 0).unwrap();
            let mut expected = std::collections::BTreeMap::<u32, u64>::new();
            let far = round % 2 == 0;
            for _ in 0..random.below(500) {
                let (place, x) =
                    (random.below(len as u64).min(random.below(2 * len as u64)) as usize, random.below(100));
                *expected.entry(first + place as u32).or_default() += x;
                // SAFETY: below len.
                unsafe {
                    match far {
                        true => flat.open().add_far(place, x, |x, y| x + y),
                        false => flat.open().add(place, x, |x, y| x + y),
                    }
                }
            }
            let mut rows = Rows::<u64>::default();
            let most = expected.len();
            match far {
                true => flat.drain::<true>("test", (first, len), most, 0, &mut rows).unwrap(),
                false => flat.drain::<false>("test", (first, len), most, 0, &mut rows).unwrap(),
            }
            let made: Vec<(u32, u64)> = rows.indices.iter().copied().zip(rows.values.iter().copied()).collect();
            assert_eq!(made, expected.into_iter().collect::<Vec<_>>());
            assert!(flat.flags.iter().chain(&flat.chunks).all(|f| *f == 0) && flat.sums.iter().all(|s| *s == 0));
        }
    }
}
