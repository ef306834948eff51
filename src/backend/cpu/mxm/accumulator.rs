//! The running sums of one row of a product: scattered over all columns, or hashed. Both give columns ascending.
use super::few::Few;
use super::flat::Flat;
use super::pick::Picked;
use super::tiny::Tiny;
use crate::backend::cpu::parallel::unwritten;
use crate::backend::cpu::rows::Rows;
use crate::error::Result;
use crate::memory;
use crate::storage::bitmap::Bitmap;
use std::mem::MaybeUninit;

/// A set of columns with a summary bit for every word, so that reading it in order skips what is empty.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    words: Vec<u64>,
    summary: Vec<u64>,
}

impl Columns {
    /// Bytes of a set of `n` columns.
    pub(crate) fn bytes(n: usize) -> u64 {
        n.div_ceil(4096) as u64 * (64 * 8 + 8)
    }
    pub(crate) fn grow(&mut self, operation: &'static str, n: usize) -> Result<()> {
        let words = n.div_ceil(4096) * 64;
        if self.words.len() < words {
            self.words = memory::filled(operation, words, 0)?;
            self.summary = memory::filled(operation, words / 64, 0)?;
        }
        Ok(())
    }
    /// Whether the column was there already; it is now.
    /// # Safety
    /// The column is below n of [`grow`](Self::grow).
    #[inline(always)]
    pub(crate) unsafe fn insert(&mut self, column: u32) -> bool {
        // SAFETY: the contract: there is a word for every column and a summary bit for every word.
        unsafe {
            let word = self.words.get_unchecked_mut(column as usize >> 6);
            let bit = 1 << (column & 63);
            if *word & bit != 0 {
                return true;
            }
            *word |= bit;
            *self.summary.get_unchecked_mut(column as usize >> 12) |= 1 << (column >> 6 & 63);
            false
        }
    }
    /// # Safety
    /// The column is below n of [`grow`](Self::grow).
    #[inline(always)]
    pub(crate) unsafe fn contains(&self, column: u32) -> bool {
        // SAFETY: the contract.
        unsafe { self.words.get_unchecked(column as usize >> 6) >> (column & 63) & 1 != 0 }
    }
    /// Forgets all columns near this one: for sets of which every column is given back.
    #[inline(always)]
    pub(crate) fn clear_around(&mut self, column: u32) {
        self.words[column as usize >> 6] = 0;
        self.summary[column as usize >> 12] = 0;
    }
    /// All columns in order, taken out; they lie in `span`.
    #[inline(always)]
    pub(crate) fn drain(&mut self, span: (u32, u32), mut each: impl FnMut(u32, u64)) {
        if span.0 > span.1 {
            return;
        }
        for s in span.0 as usize >> 12..=span.1 as usize >> 12 {
            let mut summary = std::mem::take(&mut self.summary[s]);
            while summary != 0 {
                let w = s << 6 | summary.trailing_zeros() as usize;
                each((w << 6) as u32, std::mem::take(&mut self.words[w]));
                summary &= summary - 1;
            }
        }
    }
}

/// Sums scattered over an array as long as the row.
#[derive(Debug)]
pub(crate) struct Dense<T> {
    pub(crate) columns: Columns,
    values: Vec<MaybeUninit<T>>,
    /// The smallest and the largest column there can be.
    pub(crate) span: (u32, u32),
}
impl<T> Default for Dense<T> {
    fn default() -> Self {
        Self { columns: Columns::default(), values: Vec::new(), span: (u32::MAX, 0) }
    }
}
impl<T: Copy> Dense<T> {
    /// Bytes for `n` columns whose sums have this size.
    pub(crate) fn bytes(n: usize, value: usize) -> u64 {
        Columns::bytes(n) + (n * value) as u64
    }
    /// The sums of `listed`, ascending, which are all there are; whether each has one. It is empty after it.
    pub(crate) fn take_listed(&mut self, listed: &[u32], to: &mut [MaybeUninit<T>]) -> bool {
        let mut all = listed.len() == to.len();
        for (z, j) in to.iter_mut().zip(listed) {
            // SAFETY: listed columns are below n of `grow`.
            all &= unsafe { self.columns.contains(*j) };
            *z = self.values[*j as usize];
        }
        listed.iter().for_each(|j| self.columns.clear_around(*j));
        self.span = (u32::MAX, 0);
        all
    }
    pub(crate) fn grow(&mut self, operation: &'static str, n: usize) -> Result<()> {
        self.columns.grow(operation, n)?;
        self.grow_window(operation, n)
    }
    /// As [`grow`](Self::grow), for [`window`](Self::window) alone: nothing is cleared.
    pub(crate) fn grow_window(&mut self, operation: &'static str, n: usize) -> Result<()> {
        if self.values.len() < n {
            self.values = unwritten(operation, n)?;
        }
        Ok(())
    }
    /// # Safety
    /// The column is below n of [`grow`](Self::grow).
    #[inline(always)]
    pub(crate) unsafe fn add(&mut self, column: u32, product: T, add: impl Fn(T, T) -> T) {
        // SAFETY: the column is in range by the contract; a column that is in the set has a value.
        unsafe {
            let seen = self.columns.insert(column);
            let value = self.values.get_unchecked_mut(column as usize);
            *value = MaybeUninit::new(if seen { add(value.assume_init(), product) } else { product });
        }
    }
    /// The sums of columns from `first` on.
    #[inline(always)]
    pub(crate) fn window(&mut self, first: u32, len: usize) -> &mut [MaybeUninit<T>] {
        &mut self.values[first as usize..first as usize + len]
    }
    /// The columns of `span`, all of which have a sum that was written through [`window`](Self::window), appended.
    /// # Safety
    /// They have.
    pub(crate) unsafe fn drain_window(&mut self, operation: &'static str, rows: &mut Rows<T>) -> Result<()> {
        let (first, last) = std::mem::replace(&mut self.span, (u32::MAX, 0));
        let sums = &self.values[first as usize..=last as usize];
        rows.reserve(operation, sums.len())?;
        rows.indices.extend(first..=last);
        // SAFETY: written by the contract; MaybeUninit<T> has the layout of T.
        rows.values.extend_from_slice(unsafe { std::slice::from_raw_parts(sums.as_ptr().cast::<T>(), sums.len()) });
        Ok(())
    }
    /// # Safety
    /// The column is in the set.
    #[inline(always)]
    pub(crate) unsafe fn value(&self, column: u32) -> T {
        // SAFETY: the contract.
        unsafe { self.values.get_unchecked(column as usize).assume_init() }
    }
    /// The row, appended; the accumulator is empty after it.
    pub(crate) fn drain(&mut self, operation: &'static str, most: usize, rows: &mut Rows<T>) -> Result<()> {
        rows.reserve(operation, most)?;
        let values = &self.values;
        self.columns.drain(self.span, |first, mut word| {
            while word != 0 {
                let column = first + word.trailing_zeros();
                // SAFETY: at most `most` columns were added; each has a value.
                unsafe { rows.push_unchecked(column, values.get_unchecked(column as usize).assume_init()) };
                word &= word - 1;
            }
        });
        self.span = (u32::MAX, 0);
        Ok(())
    }
    /// The sums of those of `listed`, ascending, that have one, appended; there are no others.
    pub(crate) fn drain_listed(&mut self, operation: &'static str, listed: &[u32], rows: &mut Rows<T>) -> Result<()> {
        rows.reserve(operation, listed.len())?;
        for j in listed {
            // SAFETY: listed columns are below n of `grow`, one in the set has a value, and room was reserved.
            unsafe {
                if self.columns.contains(*j) {
                    rows.push_unchecked(*j, self.value(*j));
                }
            }
        }
        listed.iter().for_each(|j| self.columns.clear_around(*j));
        self.span = (u32::MAX, 0);
        Ok(())
    }
    /// Empties it without reading.
    pub(crate) fn forget(&mut self) {
        self.columns.drain(self.span, |_, _| ());
        self.span = (u32::MAX, 0);
    }
}

/// Sums in an open-addressing table: for few products in wide rows.
#[derive(Debug)]
pub(crate) struct Table<T> {
    keys: Vec<u32>,
    values: Vec<MaybeUninit<T>>,
    /// Column and slot of each key, in one number that sorts by column.
    used: Vec<u64>,
    shift: u32,
}
impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { keys: Vec::new(), values: Vec::new(), used: Vec::new(), shift: 0 }
    }
}
/// No column: dimensions end below 2³² − 1.
const EMPTY: u32 = u32::MAX;

impl<T: Copy> Table<T> {
    /// Bytes for `n` columns whose sums have this size.
    pub(crate) fn bytes(n: usize, value: usize) -> usize {
        (n.max(8) * 2).next_power_of_two() * (4 + value) + n * 8
    }
    /// Room for `n` columns at half load; the table is empty.
    pub(crate) fn grow(&mut self, operation: &'static str, n: usize) -> Result<()> {
        let slots = (n.max(8) * 2).next_power_of_two();
        if self.keys.len() < slots {
            self.keys = memory::filled(operation, slots, EMPTY)?;
            self.values = unwritten(operation, slots)?;
        }
        // A smaller row uses the front of a larger table, to stay in cache.
        self.shift = 32 - slots.trailing_zeros().min(31);
        memory::reserve(operation, &mut self.used, n)
    }
    /// # Safety
    /// Since [`grow`](Self::grow) no more columns than it was told were added.
    #[inline(always)]
    pub(crate) unsafe fn add(&mut self, column: u32, product: T, add: impl Fn(T, T) -> T) {
        let mask = (1usize << (32 - self.shift)) - 1;
        let mut slot = (column.wrapping_mul(0x9E37_79B1) >> self.shift) as usize;
        debug_assert!(mask < self.keys.len() && self.used.len() < self.used.capacity());
        loop {
            // SAFETY: slots are at most `mask`, for which `grow` made room; a slot with a key has a value; no more columns
            // than `grow` was told take a slot, for which it reserved.
            unsafe {
                let (key, value) = (self.keys.get_unchecked_mut(slot), self.values.get_unchecked_mut(slot));
                if *key == column {
                    *value = MaybeUninit::new(add(value.assume_init(), product));
                    return;
                }
                if *key == EMPTY {
                    (*key, *value) = (column, MaybeUninit::new(product));
                    let n = self.used.len();
                    self.used.as_mut_ptr().add(n).write((column as u64) << 32 | slot as u64);
                    self.used.set_len(n + 1);
                    return;
                }
            }
            slot = (slot + 1) & mask;
        }
    }
    /// The row, appended; the table is empty after it.
    pub(crate) fn drain(&mut self, operation: &'static str, rows: &mut Rows<T>) -> Result<()> {
        rows.reserve(operation, self.used.len())?;
        self.used.sort_unstable();
        for entry in self.used.drain(..) {
            let slot = entry as u32 as usize;
            self.keys[slot] = EMPTY;
            // SAFETY: room was reserved; a used slot has a value.
            unsafe { rows.push_unchecked((entry >> 32) as u32, self.values[slot].assume_init()) };
        }
        Ok(())
    }
}

/// What one thread needs for rows of a product.
#[derive(Debug)]
pub(crate) struct Scratch<T> {
    pub(crate) dense: Dense<T>,
    pub(crate) flat: Flat<T>,
    pub(crate) table: Table<T>,
    /// The mask of the row.
    pub(crate) gate: Bitmap,
    pub(crate) picked: Picked,
    pub(crate) tiny: Tiny,
    pub(crate) few: Few<T>,
    /// Where in its row of A each inner index stands.
    pub(crate) places: Dense<u32>,
    /// Products of rows that [`pays`](Self::pays) was asked for.
    products: usize,
}
impl<T> Scratch<T> {
    /// Whether these products, with those that came before, are worth clearing arrays of so many bytes: else they are
    /// hashed, which takes about as long as clearing some bytes for each.
    pub(crate) fn pays(&mut self, bytes: usize, products: usize) -> bool {
        const CLEARED: usize = 128;
        self.products = self.products.saturating_add(products);
        bytes / CLEARED <= self.products
    }
}
impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Self {
            dense: Dense::default(),
            flat: Flat::default(),
            table: Table::default(),
            gate: Bitmap::default(),
            picked: Picked::default(),
            tiny: Tiny::default(),
            few: Default::default(),
            places: Dense::default(),
            products: 0,
        }
    }
}
