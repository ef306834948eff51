//! Iterators over entries and rows.
use crate::algebra::Scalar;
use crate::backend::host::HostCsr;
use crate::container::{Matrix, Vector};
use crate::error::Result;
use crate::shown::first;
use crate::storage::axis::Axis;
use crate::storage::store::Store;
use std::fmt::{Debug, Formatter};
use std::iter::{FusedIterator, Zip};
use std::ops::Range;
use std::slice;

/// The rows of a matrix in host memory, as they were when it was made: later changes of the matrix do not show.
#[derive(Clone)]
pub struct Rows<T> {
    host: HostCsr<T>,
    rows: Axis,
    cols: Axis,
}

/// A row: its index and its entries.
pub struct Row<'a, T> {
    index: u64,
    columns: &'a [u32],
    values: &'a [T],
    cols: &'a Axis,
}
/// Shape and number of entries.
impl<T> Debug for Rows<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rows of {}×{}, {} entries", self.rows.n(), self.cols.n(), self.host.pattern.nnz())
    }
}
/// Its index, how many entries it has and the first of them.
impl<T: Copy + Debug> Debug for Row<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "Row {} of {} entries: ", self.index, self.len())?;
        first(f, self.iter())
    }
}
impl<T> Clone for Row<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Row<'_, T> {}

impl<T: Scalar> Rows<T> {
    pub(crate) fn of(operation: &'static str, store: &Store<T>) -> Result<Self> {
        let host = store.to_host().map_err(|e| e.in_operation(operation))?;
        Ok(Self { host, rows: store.rows.clone(), cols: store.cols.clone() })
    }
    fn at(&self, place: usize) -> Row<'_, T> {
        let (columns, values) = self.host.row(place);
        Row { index: self.rows.id(place), columns, values, cols: &self.cols }
    }
    /// Rows that have entries, ascending; empty ones are passed over. O(m) for all.
    pub fn iter(&self) -> RowsIter<'_, T> {
        RowsIter { rows: self, places: 0..self.host.pattern.nrows }
    }
    /// The row of this index; empty if there is none. O(1), O(log m) where few of many rows are in use.
    pub fn row(&self, index: u64) -> Row<'_, T> {
        match self.rows.place(index) {
            Some(place) => self.at(place),
            None => Row { index, columns: &[], values: &[], cols: &self.cols },
        }
    }
}

impl<'a, T: Copy> Row<'a, T> {
    /// Its index.
    pub fn index(&self) -> u64 {
        self.index
    }
    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.columns.len()
    }
    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }
    /// Its values, in the order of columns.
    pub fn values(&self) -> &'a [T] {
        self.values
    }
    /// (column, value), ascending. O(its length) for all.
    pub fn iter(&self) -> RowIter<'a, T> {
        RowIter { entries: self.columns.iter().zip(self.values), cols: self.cols }
    }
}

/// The rows that have entries, one by one, of [`Rows::iter`].
#[derive(Clone)]
pub struct RowsIter<'a, T> {
    rows: &'a Rows<T>,
    places: Range<usize>,
}
/// What it goes through.
impl<T> Debug for RowsIter<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "RowsIter of {:?}", self.rows)
    }
}
impl<'a, T: Scalar> Iterator for RowsIter<'a, T> {
    type Item = Row<'a, T>;
    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.rows;
        self.places.by_ref().map(|place| rows.at(place)).find(|row| !row.is_empty())
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.places.len()))
    }
}
impl<T: Scalar> FusedIterator for RowsIter<'_, T> {}
impl<'a, T: Scalar> IntoIterator for &'a Rows<T> {
    type Item = Row<'a, T>;
    type IntoIter = RowsIter<'a, T>;
    fn into_iter(self) -> RowsIter<'a, T> {
        self.iter()
    }
}

/// (column, value) of each entry of a row, of [`Row::iter`].
pub struct RowIter<'a, T> {
    entries: Zip<slice::Iter<'a, u32>, slice::Iter<'a, T>>,
    cols: &'a Axis,
}
impl<T> Clone for RowIter<'_, T> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), cols: self.cols }
    }
}
/// How many entries are left.
impl<T> Debug for RowIter<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "RowIter, {} entries left", self.entries.len())
    }
}
impl<T: Copy> Iterator for RowIter<'_, T> {
    type Item = (u64, T);
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.entries.next().map(|(column, value)| (self.cols.id(*column as usize), *value))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}
impl<T: Copy> ExactSizeIterator for RowIter<'_, T> {}
impl<T: Copy> FusedIterator for RowIter<'_, T> {}
impl<'a, T: Copy> IntoIterator for Row<'a, T> {
    type Item = (u64, T);
    type IntoIter = RowIter<'a, T>;
    fn into_iter(self) -> RowIter<'a, T> {
        self.iter()
    }
}
impl<'a, T: Copy> IntoIterator for &Row<'a, T> {
    type Item = (u64, T);
    type IntoIter = RowIter<'a, T>;
    fn into_iter(self) -> RowIter<'a, T> {
        self.iter()
    }
}

/// (row, column, value) of each entry, ascending by row, then column; of a matrix as it was when this was made.
#[derive(Clone)]
pub struct Iter<T> {
    rows: Rows<T>,
    row: usize,
    next: usize,
}

/// Shape, number of entries and how many are left.
impl<T> Debug for Iter<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let all = self.rows.host.pattern.nnz();
        write!(f, "Iter of {}×{}, {} of {all} entries left", self.rows.rows.n(), self.rows.cols.n(), all - self.next)
    }
}
impl<T: Scalar> Iterator for Iter<T> {
    type Item = (u64, u64, T);
    fn next(&mut self) -> Option<Self::Item> {
        let host = &self.rows.host;
        let (column, value) = (*host.pattern.indices.get(self.next)?, *host.values.get(self.next)?);
        while host.pattern.offsets[self.row + 1] as usize <= self.next {
            self.row += 1;
        }
        self.next += 1;
        Some((self.rows.rows.id(self.row), self.rows.cols.id(column as usize), value))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.rows.host.values.len() - self.next;
        (left, Some(left))
    }
}
impl<T: Scalar> ExactSizeIterator for Iter<T> {}
impl<T: Scalar> FusedIterator for Iter<T> {}
impl<T: Scalar> Iter<T> {
    pub(crate) fn of(operation: &'static str, store: &Store<T>) -> Result<Self> {
        Ok(Self { rows: Rows::of(operation, store)?, row: 0, next: 0 })
    }
}

/// (index, value) of each entry of a vector, ascending, of [`Vector::iter`]; of a vector as it was when this was made.
#[derive(Clone)]
pub struct VectorIter<T>(Iter<T>);

/// Length, number of entries and how many are left.
impl<T> Debug for VectorIter<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let all = self.0.rows.host.pattern.nnz();
        write!(f, "VectorIter of length {}, {} of {all} entries left", self.0.rows.cols.n(), all - self.0.next)
    }
}
impl<T: Scalar> Iterator for VectorIter<T> {
    type Item = (u64, T);
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(_, j, value)| (j, value))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}
impl<T: Scalar> ExactSizeIterator for VectorIter<T> {}
impl<T: Scalar> FusedIterator for VectorIter<T> {}

impl<T: Scalar, S> Matrix<T, S> {
    /// All (i, j, v) where A(i, j) = v, one by one. Of a list on the host nothing is copied, O(m + nnz) to go through them; other formats are
    /// listed, from a device all are downloaded first.
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 3, &[(1, 2, 5), (0, 1, 3)])?;
    /// assert_eq!(a.iter()?.map(|(i, j, v)| i as i32 + j as i32 + v).sum::<i32>(), 12);
    /// # Ok(()) }
    /// ```
    pub fn iter(&self) -> Result<Iter<T>> {
        Iter::of("iter", &self.store)
    }
    /// The rows of A: row i has all (j, v) where A(i, j) = v. Of a list on the host nothing is copied, O(m + nnz) to go through them; other formats are
    /// listed, from a device all are downloaded first.
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(3, 3, &[(0, 1, 3), (2, 0, 4), (2, 2, 5)])?;
    /// let rows = a.rows()?;
    /// let degrees: Vec<_> = rows.iter().map(|row| (row.index(), row.len())).collect();
    /// assert_eq!(degrees, [(0, 1), (2, 2)]);
    /// for row in &rows {
    ///     for (j, v) in row {
    ///         println!("({}, {j}): {v}", row.index());
    ///     }
    /// }
    /// assert_eq!(rows.row(2).iter().collect::<Vec<_>>(), [(0, 4), (2, 5)]);
    /// # Ok(()) }
    /// ```
    pub fn rows(&self) -> Result<Rows<T>> {
        Rows::of("rows", &self.store)
    }
}

impl<T: Scalar, S> Vector<T, S> {
    /// All (i, v) where x(i) = v, one by one and ascending. Of a list on the host nothing is copied, O(nnz) to go through them; a
    /// bitmap is listed, O(n), from a device all are downloaded first.
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<i32> = Vector::build(4, &[(3, 5), (1, 2)])?;
    /// assert_eq!(x.iter()?.collect::<Vec<_>>(), [(1, 2), (3, 5)]);
    /// # Ok(()) }
    /// ```
    pub fn iter(&self) -> Result<VectorIter<T>> {
        Ok(VectorIter(Iter::of("iter", &self.store)?))
    }
}
