//! Finished rows, one behind the other.
use crate::error::Result;
use crate::memory;

/// Entries of consecutive rows, and where in them each finished row ends.
#[derive(Debug)]
pub(crate) struct Rows<T> {
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Vec<T>,
    pub(crate) ends: Vec<u64>,
}
impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { indices: Vec::new(), values: Vec::new(), ends: Vec::new() }
    }
}
impl<T: Copy> Rows<T> {
    pub(crate) fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
        self.ends.clear();
    }
    /// Room for `n` more entries.
    #[inline(never)]
    pub(crate) fn reserve(&mut self, operation: &'static str, n: usize) -> Result<()> {
        memory::reserve(operation, &mut self.indices, n)?;
        memory::reserve(operation, &mut self.values, n)
    }
    /// Room for the ends of `n` more rows.
    pub(crate) fn reserve_rows(&mut self, operation: &'static str, n: usize) -> Result<()> {
        memory::reserve(operation, &mut self.ends, n)
    }
    /// # Safety
    /// There is room for one more.
    #[inline(always)]
    pub(crate) unsafe fn push_unchecked(&mut self, column: u32, value: T) {
        let n = self.indices.len();
        debug_assert!(n < self.indices.capacity() && self.values.len() == n && n < self.values.capacity());
        // SAFETY: the capacity was reserved by the contract; both vectors have one length.
        unsafe {
            self.indices.as_mut_ptr().add(n).write(column);
            self.values.as_mut_ptr().add(n).write(value);
            self.indices.set_len(n + 1);
            self.values.set_len(n + 1);
        }
    }
    /// Without a branch to guess.
    /// # Safety
    /// There is room for one more, whether it is kept or not.
    #[inline(always)]
    pub(crate) unsafe fn push_if(&mut self, keep: bool, column: u32, value: T) {
        let n = self.indices.len();
        // SAFETY: the contract; a length grows by one only where an entry was written.
        unsafe {
            self.push_unchecked(column, value);
            self.indices.set_len(n + keep as usize);
            self.values.set_len(n + keep as usize);
        }
    }
    /// Appends the entries that `keep` holds for, without a branch to guess. There has to be room for all.
    #[inline(always)]
    pub(super) fn push_kept(&mut self, (columns, values): (&[u32], &[T]), mut keep: impl FnMut(u32, T) -> bool) {
        let (to_columns, to_values) = (self.indices.spare_capacity_mut(), self.values.spare_capacity_mut());
        assert!(to_columns.len() >= columns.len() && to_values.len() >= columns.len());
        let mut kept = 0;
        for (column, value) in columns.iter().zip(values) {
            // SAFETY: no more are kept than were looked at, and for so many there is room, as asserted.
            unsafe {
                to_columns.get_unchecked_mut(kept).write(*column);
                to_values.get_unchecked_mut(kept).write(*value);
            }
            kept += keep(*column, *value) as usize;
        }
        let n = self.indices.len() + kept;
        // SAFETY: those that are kept were written.
        unsafe {
            self.indices.set_len(n);
            self.values.set_len(n);
        }
    }
    #[inline(always)]
    pub(crate) fn end_row(&mut self) {
        self.ends.push(self.indices.len() as u64);
    }
}
