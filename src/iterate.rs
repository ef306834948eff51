//! Iterators over entries and rows.
use crate::algebra::Scalar;
use crate::backend::host::HostCsr;
use crate::container::{Matrix, Vector};
use crate::error::Result;
use crate::shown::first;
use crate::storage::axis::Axis;
use crate::storage::store::Store;
use std::fmt::{Debug, Formatter};
use std::iter::FusedIterator;

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
    pub fn iter(&self) -> impl Iterator<Item = Row<'_, T>> {
        (0..self.host.pattern.nrows).map(|place| self.at(place)).filter(|row| !row.is_empty())
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
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u64, T)> + use<'a, T> {
        let cols = self.cols;
        self.columns.iter().zip(self.values).map(|(c, v)| (cols.id(*c as usize), *v))
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
    pub fn iter(&self) -> Result<impl ExactSizeIterator<Item = (u64, T)> + use<T, S>> {
        Ok(Iter::of("iter", &self.store)?.map(|(_, j, v)| (j, v)))
    }
}
