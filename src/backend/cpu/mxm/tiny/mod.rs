//! Rows of few products, many at a time, from positions alone: all products of some rows are listed in one loop over entries
//! of A, then those of each row are put in order in vector registers, or looked up in the few columns that a mask admits.
//! What costs most in such rows is guessing wrong how long each is; here hardly anything depends on that. Needs AVX-512 or AVX2.
use super::analysis::{OnMask, Soon};
use crate::backend::cpu::simd::Simd;
use crate::error::Result;
use crate::memory;
use crate::storage::pattern::Pattern;
use std::ops::Range;

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod lanes;
mod sums;
#[cfg(test)]
mod tests;

pub(crate) use sums::{Tries, add_listed, tiny_rows};

/// The most products of a row.
pub(crate) const MOST: usize = 64;
/// The most columns that a mask admits in a row.
const ADMITTED: usize = 16;
/// Bits of a key for the product's number in its row.
const NUMBER: u32 = MOST.trailing_zeros();
/// At once at most so many rows, entries of A, products.
const ROWS: usize = if cfg!(test) { 8 } else { 64 };
const ENTRIES: usize = if cfg!(test) { 40 } else { 512 };
const PRODUCTS: usize = if cfg!(test) { 200 } else { 1024 };
/// As many lanes are written at once: behind the last one too.
pub(crate) const SLACK: usize = 16;

/// Products of some rows, and then in each row by column, in the order of k.
#[derive(Debug, Default)]
pub(crate) struct Tiny {
    /// Products as they were found: column, place in B, entry of A counted from `first`.
    columns: Vec<u32>,
    places: Vec<u32>,
    entries: Vec<u32>,
    /// The first product of each entry.
    starts: Vec<u32>,
    first: usize,
    /// Listed rows that are still to be done.
    rows: Range<usize>,
    /// Of the products to be added: place in B, entry of A counted from `first`, which sum of these rows.
    pub(crate) listed: Listed,
}
/// Products to be added.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    places: Vec<u32>,
    entries: Vec<u32>,
    sums: Vec<u32>,
    len: usize,
    first: usize,
}
impl Listed {
    /// Entry of A, place in B and sum of each.
    #[cfg(test)]
    pub(crate) fn products(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let (places, entries) = (&self.places[..self.len], &self.entries[..self.len]);
        let all = places.iter().zip(entries).zip(&self.sums[..self.len]);
        all.map(|((place, entry), sum)| (self.first + *entry as usize, *place as usize, *sum as usize))
    }
}

/// Whether rows of a product can be done this way.
pub(crate) fn possible(b: &Pattern, mask: OnMask) -> bool {
    simd(b).is_some()
        && b.ncols < (1 << (32 - NUMBER)) - 1
        && u32::try_from(b.nnz()).is_ok()
        && mask.is_none_or(|m| !m.complement)
}

/// Whether so many rows are worth the room.
pub(crate) fn pays(rows: usize, b: &Pattern, mask: OnMask) -> bool {
    rows >= if cfg!(test) { 1 } else { 8 } && possible(b, mask)
}

/// By what. In tests by all that there is, and by nothing, as on other processors.
#[inline(always)]
fn simd(b: &Pattern) -> Option<Simd> {
    #[cfg(test)]
    return Simd::all().get(b.nnz() % (Simd::all().len() + 1)).copied();
    #[cfg(not(test))]
    {
        let _ = b;
        Simd::found()
    }
}

/// Where rows go: their columns, and where each ends.
pub(crate) struct To<'a> {
    pub(crate) indices: &'a mut Vec<u32>,
    pub(crate) ends: &'a mut Vec<u64>,
}

impl Tiny {
    fn grow(&mut self, operation: &'static str) -> Result<()> {
        // The last to be made says that all are.
        if self.starts.is_empty() {
            for v in [&mut self.columns, &mut self.places, &mut self.entries] {
                *v = memory::filled(operation, PRODUCTS + MOST + SLACK, 0)?;
            }
            for v in [&mut self.listed.places, &mut self.listed.entries, &mut self.listed.sums] {
                *v = memory::filled(operation, PRODUCTS + MOST + SLACK, 0)?;
            }
            self.starts = memory::filled(operation, ENTRIES + 1, 0)?;
        }
        Ok(())
    }

    /// Whether hardly any of the products that were listed last was admitted, in rows of few entries.
    pub(crate) fn in_vain(&self, a: &Pattern, rows: Range<usize>) -> bool {
        let n = rows.len();
        n >= 8 && self.listed.len * 8 < n && rows.into_iter().all(|r| a.range(r).len() <= 4)
    }

    /// Ends as many rows from the first of `rows` on as have few products and, with a mask, few columns that it admits:
    /// their columns are appended, what is to be added is `listed`; how many rows. `VALUES`: whether anything is added.
    #[cfg_attr(not(all(target_arch = "x86_64", not(miri))), allow(unused_variables))]
    pub(crate) fn rows<const VALUES: bool>(
        &mut self,
        operation: &'static str,
        (a, b, mask): (&Pattern, &Pattern, OnMask),
        soon: Soon,
        rows: Range<usize>,
        to: To,
    ) -> Result<usize> {
        self.grow(operation)?;
        self.listed.len = 0;
        assert!(rows.end <= a.nrows && a.offsets.len() == a.nrows + 1 && a.ncols <= b.nrows);
        assert!(b.offsets.len() == b.nrows + 1 && a.indices.len() <= isize::MAX as usize);
        match simd(b) {
            // SAFETY: the processor has what the functions are compiled for.
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Some(Simd::Avx512(s)) => unsafe { self.rows_512::<VALUES>(s, operation, (a, b, mask), soon, rows, to) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Some(Simd::Avx2(s)) => unsafe { self.rows_256::<VALUES>(s, operation, (a, b, mask), soon, rows, to) },
            _ => Ok(0),
        }
    }
}
