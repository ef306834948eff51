//! Triplets: what files and generators give and `build` takes.
use crate::error::Result;
use crate::memory;
use std::iter::{Copied, Map, Zip};
use std::{slice, vec};

/// Unordered triplets (i, j, value) of an `nrows` × `ncols` matrix, duplicates allowed, indices from 0.
/// ```
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// let mut coo = Coo::new(2, 3);
/// coo.reserve(2)?;
/// coo.push(1, 2, 0.5);
/// coo.push(0, 0, 1.5);
/// let a: Matrix<f64> = Matrix::from_coo(&coo)?;
/// assert_eq!(a.entries()?, [(0, 0, 1.5), (1, 2, 0.5)]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[doc(alias("coo_matrix", "triplets"))]
pub struct Coo<T> {
    /// Number of rows.
    pub nrows: u64,
    /// Number of columns.
    pub ncols: u64,
    /// Row of each entry.
    pub rows: Vec<u64>,
    /// Column of each entry.
    pub columns: Vec<u64>,
    /// Value of each entry.
    pub values: Vec<T>,
}

impl<T> Coo<T> {
    /// No entries. O(1).
    pub fn new(nrows: u64, ncols: u64) -> Self {
        Self { nrows, ncols, rows: Vec::new(), columns: Vec::new(), values: Vec::new() }
    }
    /// The triplets of an iterator, in its order. O(e).
    ///
    /// # Errors
    /// `OutOfMemory`. Indices are checked where a matrix is made of it.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let ring = (0..3).map(|i| (i, (i + 1) % 3, 0.5));
    /// let a: Matrix<f64> = Matrix::build_with(&Coo::from_entries(3, 3, ring.clone().chain(ring))?, Plus)?;
    /// assert_eq!(a.entries()?, [(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias = "from_triplets")]
    pub fn from_entries(nrows: u64, ncols: u64, entries: impl IntoIterator<Item = (u64, u64, T)>) -> Result<Self> {
        let mut coo = Self::new(nrows, ncols);
        let mut entries = entries.into_iter();
        while let Some((row, column, value)) = entries.next() {
            if coo.len() == coo.rows.capacity().min(coo.columns.capacity()).min(coo.values.capacity()) {
                let more = entries.size_hint().0.saturating_add(1);
                coo.reserve(more).map_err(|e| e.in_operation("from_entries"))?;
            }
            coo.push(row, column, value);
        }
        Ok(coo)
    }
    /// Room for `n` more triplets, so that as many [`push`](Self::push)es do not allocate. O(1), O(len) where what is
    /// there has to move.
    ///
    /// # Errors
    /// `OutOfMemory`; nothing is lost.
    pub fn reserve(&mut self, n: usize) -> Result<()> {
        memory::reserve("reserve", &mut self.rows, n)?;
        memory::reserve("reserve", &mut self.columns, n)?;
        memory::reserve("reserve", &mut self.values, n)
    }
    /// Appends one entry. O(1) amortised.
    ///
    /// Without room made by [`reserve`](Self::reserve) it allocates as `Vec::push` does: where memory does not suffice
    /// the process ends.
    pub fn push(&mut self, row: u64, column: u64, value: T) {
        self.rows.push(row);
        self.columns.push(column);
        self.values.push(value);
    }
    /// Number of triplets, duplicates counted.
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// Triplets of these iterators.
type Triplets<I, V, X> = Map<Zip<Zip<I, I>, V>, fn(((u64, u64), X)) -> (u64, u64, X)>;

fn triplet<X>(((row, column), value): ((u64, u64), X)) -> (u64, u64, X) {
    (row, column, value)
}

/// (row, column, value) in the order of the triplets.
impl<T> IntoIterator for Coo<T> {
    type Item = (u64, u64, T);
    type IntoIter = Triplets<vec::IntoIter<u64>, vec::IntoIter<T>, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter().zip(self.columns).zip(self.values).map(triplet)
    }
}
/// (row, column, value) in the order of the triplets.
impl<'a, T> IntoIterator for &'a Coo<T> {
    type Item = (u64, u64, &'a T);
    type IntoIter = Triplets<Copied<slice::Iter<'a, u64>>, slice::Iter<'a, T>, &'a T>;
    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter().copied().zip(self.columns.iter().copied()).zip(&self.values).map(triplet)
    }
}
/// Allocates as [`push`](Coo::push) does.
impl<T> Extend<(u64, u64, T)> for Coo<T> {
    fn extend<I: IntoIterator<Item = (u64, u64, T)>>(&mut self, triplets: I) {
        triplets.into_iter().for_each(|(row, column, value)| self.push(row, column, value));
    }
}
