//! A slot for every row of every diagonal in use.
use super::frame::{bit, bits, inside, slots};
use super::pattern::Pattern;
use crate::algebra::Scalar;
use crate::backend::cpu::{self, SERIAL, Shared};
use crate::device::Device;
use crate::error::Result;
use crate::memory;
use std::ops::Range;

/// Diagonal d holds the entries (i, i + offsets[d]), each in slot d · nrows + i; bit s of the words says whether slot s has an entry, without
/// words every slot that is inside the matrix has one.
#[derive(Debug)]
pub(crate) struct Diagonals {
    pub(crate) nrows: usize,
    pub(crate) ncols: usize,
    /// Ascending.
    pub(crate) offsets: Vec<i64>,
    pub(crate) words: Option<Vec<u64>>,
}

impl Diagonals {
    /// Those in use of a list, whose slots have values of `size` bytes.
    pub(super) fn of(operation: &'static str, list: &Pattern, size: usize) -> Result<Self> {
        let (nrows, ncols) = (list.nrows, list.ncols);
        let mut used = memory::filled(operation, nrows + ncols, false)?;
        for row in 0..nrows {
            list.row(row).iter().for_each(|column| used[*column as usize + nrows - row] = true);
        }
        let count = used.iter().filter(|used| **used).count();
        let mut offsets = memory::with_capacity(operation, count)?;
        offsets.extend(used.iter().enumerate().filter(|(_, used)| **used).map(|(n, _)| n as i64 - nrows as i64));
        let n = slots(operation, Device::Cpu, count, nrows, size)?;
        let mut made = Self { nrows, ncols, offsets, words: None };
        if made.offsets.iter().map(|offset| inside((nrows, ncols), *offset)).sum::<usize>() != list.nnz() {
            let mut words = memory::zeroed::<u64>(operation, n.div_ceil(64))?;
            for row in 0..nrows {
                for slot in list.row(row).iter().filter_map(|column| made.slot(row, *column)) {
                    words[slot >> 6] |= 1 << (slot & 63);
                }
            }
            made.words = Some(words);
        }
        Ok(made)
    }
    /// The slot of a position, where its diagonal is in use.
    fn slot(&self, row: usize, column: u32) -> Option<usize> {
        let d = self.offsets.binary_search(&(column as i64 - row as i64)).ok()?;
        Some(d * self.nrows + row)
    }
    fn has(&self, slot: usize) -> bool {
        self.words.as_ref().is_none_or(|words| bit(words, slot))
    }
    /// The slot of an entry.
    pub(super) fn slot_of_entry(&self, row: usize, column: u32) -> Option<usize> {
        self.slot(row, column).filter(|slot| self.has(*slot))
    }
    /// The diagonals that have a place in a row.
    fn over(&self, row: usize) -> Range<usize> {
        let before = |column: i64| self.offsets.partition_point(|offset| row as i64 + offset < column);
        before(0)..before(self.ncols as i64)
    }
    /// Each entry of a row with its slot, in the order of the columns.
    #[inline(always)]
    pub(super) fn each(&self, row: usize, mut f: impl FnMut(u32, usize)) {
        for d in self.over(row) {
            let slot = d * self.nrows + row;
            if self.has(slot) {
                f((row as i64 + self.offsets[d]) as u32, slot);
            }
        }
    }
    /// The columns of each row's entries.
    pub(super) fn listed(&self, operation: &'static str) -> Result<Pattern> {
        let offsets = cpu::scan(operation, self.nrows, |row| match self.words {
            None => self.over(row).len() as u64,
            Some(_) => self.over(row).filter(|d| self.has(d * self.nrows + row)).count() as u64,
        })?;
        let n = offsets[self.nrows] as usize;
        let mut indices = cpu::unwritten::<u32>(operation, n)?;
        let to = Shared::new(&mut indices);
        cpu::each_piece(self.nrows, (SERIAL / self.offsets.len().max(1)).max(1), &|rows| {
            for row in rows {
                // SAFETY: rows are disjoint.
                let mut room = unsafe { to.part(offsets[row] as usize..offsets[row + 1] as usize) }.iter_mut();
                self.each(row, |column, _| _ = room.next().map(|to| to.write(column)));
            }
        });
        // SAFETY: every row has written as many as were counted.
        let indices = unsafe { cpu::written(indices, n) };
        Ok(Pattern::new(self.nrows, self.ncols, offsets, indices))
    }

    /// The transpose's, which are these with the other sign, the last one first; `None` where they would be more than twice as long:
    /// in a flat matrix many diagonals are short, whose slots would be very many.
    pub(super) fn turned(&self, operation: &'static str) -> Result<Option<Self>> {
        if self.ncols > self.nrows.saturating_mul(2) {
            return Ok(None);
        }
        let mut offsets = memory::with_capacity(operation, self.offsets.len())?;
        offsets.extend(self.offsets.iter().rev().map(|offset| -offset));
        let words = match &self.words {
            None => None,
            Some(words) => {
                let n = offsets.len() * self.ncols;
                let mut turned = memory::zeroed::<u64>(operation, n.div_ceil(64))?;
                let to = Shared::new(&mut turned);
                cpu::each_piece(n.div_ceil(64), SERIAL / 64, &|all| {
                    for w in all {
                        let mut word = 0;
                        self.each_run(w * 64..n.min(w * 64 + 64), |slot, old, len| {
                            word |= bits(words, old, len) << (slot & 63);
                        });
                        // SAFETY: each word is one piece's.
                        unsafe { to.write(w, word) };
                    }
                });
                Some(turned)
            }
        };
        Ok(Some(Self { nrows: self.ncols, ncols: self.nrows, offsets, words }))
    }
    /// The values of these slots in the slots of the transpose; zero where no place is.
    pub(super) fn values_turned<T: Scalar>(&self, operation: &'static str, values: &[T]) -> Result<Vec<T>> {
        let n = self.offsets.len() * self.ncols;
        let mut turned = memory::zeroed(operation, n)?;
        let to = Shared::new(&mut turned);
        cpu::each_piece(n, SERIAL, &|slots| {
            self.each_run(slots, |slot, old, len| {
                // SAFETY: runs of disjoint slots are disjoint.
                unsafe { to.part(slot..slot + len) }.copy_from_slice(&values[old..old + len]);
            });
        });
        Ok(turned)
    }
    /// The places among some slots of the transpose: where each run of them begins, where it does here, and how many there are.
    fn each_run(&self, slots: Range<usize>, mut f: impl FnMut(usize, usize, usize)) {
        let mut slot = slots.start;
        while slot < slots.end {
            let (d, row) = (slot / self.ncols, slot % self.ncols);
            let (nth, behind) = (self.offsets.len() - 1 - d, self.ncols.min(slots.end - d * self.ncols));
            let offset = self.offsets[nth];
            let (first, last) = ((row as i64).max(offset), (behind as i64).min(self.nrows as i64 + offset));
            if first < last {
                let old = nth * self.nrows + (first - offset) as usize;
                f(d * self.ncols + first as usize, old, (last - first) as usize);
            }
            slot = d * self.ncols + behind;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;
    use quickcheck::quickcheck;
    use std::collections::BTreeMap;

    quickcheck! {
        /// Entries here and there, or all of their diagonals: turned slot by slot unless flat, and back.
        fn diagonals_turn(shape: (u8, u8), places: Vec<(u8, u8, i8)>, filled: bool, one: bool) -> bool {
            let (m, n) = (1 + u64::from(shape.0), 1 + u64::from(shape.1));
            let mut entries = BTreeMap::new();
            for (i, j, x) in places {
                let (i, j) = (u64::from(i) % m, u64::from(j) % n);
                let back = if filled { i.min(j) } else { 0 };
                let (i, j) = (i - back, j - back);
                for k in 0..if filled { (m - i).min(n - j) } else { 1 } {
                    entries.insert((i + k, j + k), if one { 5 } else { x.wrapping_add(k as i8) });
                }
            }
            let entries: Vec<_> = entries.into_iter().map(|((i, j), x)| (i, j, x)).collect();
            let a: Matrix<i8> = Matrix::build(m, n, &entries).unwrap();
            let along = a.to_format(Format::Dia).unwrap();
            let (turned, expected) = (transpose(&along).eval().unwrap(), transpose(&a).eval().unwrap());
            let back = transpose(&turned).eval().unwrap();
            assert!(n > 2 * m || turned.format() == Format::Dia);
            turned.entries().unwrap() == expected.entries().unwrap() && back.entries().unwrap() == entries
                && along.to_format(Format::Csr).unwrap().entries().unwrap() == entries
        }
    }
}
