//! Where a row's sums come together, whatever its columns: one slot a column that says where its sum stands.
use super::rows::Made;
use crate::algebra::{BinaryOp, Scalar};
use crate::error::Result;
use crate::memory;
use std::sync::{Mutex, PoisonError};

/// A sparse set over the columns: `slots[j]` is trusted only where the entry it points to is j's, so that nothing is
/// ever cleared between rows. Sums stand next to one another in the order in which their columns were met.
pub(super) struct Accumulator {
    slots: Vec<u32>,
    /// A bit a column; all zero between rows.
    bits: Vec<u64>,
}

impl Accumulator {
    fn new(operation: &'static str, ncols: usize) -> Result<Self> {
        Ok(Self {
            slots: memory::filled(operation, ncols, 0)?,
            bits: memory::filled(operation, ncols.div_ceil(64), 0)?,
        })
    }
    /// Adds `value` at column `j` of the row that begins at entry `start` of `made`.
    #[inline(always)]
    pub(super) fn add<T: Scalar, F: BinaryOp<T, T, Out = T>>(
        &mut self,
        made: &mut Made<T>,
        start: usize,
        j: u32,
        value: T,
    ) {
        debug_assert!((j as usize) < self.slots.len());
        // SAFETY: columns are below ncols, an invariant of every pattern, and there are ncols slots.
        let slot = unsafe { self.slots.get_unchecked_mut(j as usize) };
        let e = *slot as usize + start;
        if made.indices.get(e) == Some(&j) {
            // SAFETY: values are pushed with indices, so there are as many.
            let sum = unsafe { made.values.get_unchecked_mut(e) };
            *sum = F::apply(*sum, value);
        } else {
            // A row has fewer than 2³² columns.
            *slot = (made.indices.len() - start) as u32;
            made.push(j, value);
        }
    }
    /// Where the sum of column `j` stands among the entries from `start` on, if it was marked there.
    #[inline(always)]
    pub(super) fn find(&self, marked: &[u32], j: u32) -> Option<usize> {
        // SAFETY: as in `add`.
        let e = unsafe { *self.slots.get_unchecked(j as usize) } as usize;
        (marked.get(e) == Some(&j)).then_some(e)
    }
    /// Column `marked[e]` is found at e, for all e.
    pub(super) fn mark(&mut self, marked: &[u32]) {
        for (e, j) in marked.iter().enumerate() {
            self.slots[*j as usize] = e as u32;
        }
    }
    /// Sorts the row that begins at entry `start` by column. `scratch` is working space.
    pub(super) fn sort_row<T: Scalar>(&mut self, made: &mut Made<T>, start: usize, scratch: &mut Vec<T>) -> Result<()> {
        let row = &mut made.indices[start..];
        let n = row.len();
        if row.windows(2).all(|w| w[0] < w[1]) {
            return Ok(());
        }
        let values = &mut made.values[start..];
        if n <= 24 {
            for i in 1..n {
                let (mut at, j, v) = (i, row[i], values[i]);
                while at > 0 && row[at - 1] > j {
                    (row[at], values[at]) = (row[at - 1], values[at - 1]);
                    at -= 1;
                }
                (row[at], values[at]) = (j, v);
            }
            return Ok(());
        }
        scratch.clear();
        memory::reserve("mxm", scratch, n)?;
        scratch.extend_from_slice(values);
        let (low, high) = row.iter().fold((u32::MAX, 0), |(l, h), j| (l.min(*j), h.max(*j)));
        let words = (low as usize / 64, high as usize / 64 + 1);
        let slots = &self.slots;
        // Columns in order by a scan of their bits where they lie dense enough, else by sorting.
        if words.1 - words.0 <= n * (usize::BITS - n.leading_zeros()) as usize {
            row.iter().for_each(|j| self.bits[*j as usize / 64] |= 1 << (j % 64));
            let mut e = 0;
            for w in words.0..words.1 {
                let mut word = std::mem::take(&mut self.bits[w]);
                while word != 0 {
                    let j = (w * 64) as u32 + word.trailing_zeros();
                    row[e] = j;
                    values[e] = scratch[slots[j as usize] as usize];
                    e += 1;
                    word &= word - 1;
                }
            }
        } else {
            row.sort_unstable();
            row.iter().zip(values).for_each(|(j, v)| *v = scratch[slots[*j as usize] as usize]);
        }
        Ok(())
    }
    pub(super) fn set_bits(&mut self, columns: &[u32]) {
        columns.iter().for_each(|j| self.bits[*j as usize / 64] |= 1 << (j % 64));
    }
    pub(super) fn clear_bits(&mut self, columns: &[u32]) {
        columns.iter().for_each(|j| self.bits[*j as usize / 64] = 0);
    }
    #[inline(always)]
    pub(super) fn bit(&self, j: u32) -> bool {
        // SAFETY: as in `add`; there is a bit for every column.
        unsafe { self.bits.get_unchecked(j as usize / 64) >> (j % 64) & 1 != 0 }
    }
}

/// Accumulators that tasks lend one another: as many are made as threads work at once.
pub(super) struct Lending {
    operation: &'static str,
    ncols: usize,
    free: Mutex<Vec<Accumulator>>,
}
impl Lending {
    pub(super) fn new(operation: &'static str, ncols: usize) -> Self {
        Self { operation, ncols, free: Mutex::new(Vec::new()) }
    }
    pub(super) fn with<R>(&self, run: impl FnOnce(&mut Accumulator) -> Result<R>) -> Result<R> {
        let lent = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut accumulator = match lent {
            Some(a) => a,
            None => Accumulator::new(self.operation, self.ncols)?,
        };
        let result = run(&mut accumulator)?;
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(accumulator);
        Ok(result)
    }
}
