//! Raw compressed rows, moved in and out.
use crate::algebra::Scalar;
use crate::backend::host::HostCsr;
use crate::container::{Matrix, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::{axis::Axis, pattern::Pattern, store::Store};
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

/// A matrix as its arrays: the k-th stored row has the entries `offsets[k]..offsets[k + 1]`, their columns ascending.
///
/// Where `row_ids` is `None` every row is stored: k is the row. Dimensions from 2³² on are hypersparse, others may be:
/// `row_ids` lists the stored rows, ascending, or `column_ids` the columns that `indices` count.
#[derive(Clone, Debug, PartialEq)]
pub struct CsrParts<T> {
    /// Number of rows.
    pub nrows: u64,
    /// Number of columns.
    pub ncols: u64,
    /// The rows that are stored; `None` for all.
    pub row_ids: Option<Vec<u64>>,
    /// What `indices` count; `None` for all columns.
    pub column_ids: Option<Vec<u64>>,
    /// Where each stored row begins, and the number of entries: one more than there are stored rows.
    pub offsets: Vec<u64>,
    /// The column of each entry.
    pub indices: Vec<u32>,
    /// The value of each entry.
    pub values: Vec<T>,
}

/// A vector as its arrays, like the only row of [`CsrParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct VectorParts<T> {
    /// Its length.
    pub len: u64,
    /// What `indices` count; `None` for all indices.
    pub ids: Option<Vec<u64>>,
    /// The index of each entry, ascending.
    pub indices: Vec<u32>,
    /// The value of each entry.
    pub values: Vec<T>,
}

/// 0 × 0.
impl<T> Default for CsrParts<T> {
    fn default() -> Self {
        let (row_ids, column_ids, indices, values) = (None, None, Vec::new(), Vec::new());
        Self { nrows: 0, ncols: 0, row_ids, column_ids, offsets: vec![0], indices, values }
    }
}

/// The arrays of a matrix in host memory, looked at where they are, as they were when this was made. See [`CsrParts`].
pub struct CsrView<T> {
    host: HostCsr<T>,
    rows: Axis,
    cols: Axis,
}

/// Shape, number of stored rows and number of entries.
impl<T> Debug for CsrView<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (rows, entries) = (self.host.pattern.nrows, self.host.pattern.nnz());
        write!(f, "CsrView {}×{}, {rows} stored rows, {entries} entries", self.rows.n(), self.cols.n())
    }
}

impl<T: Scalar> CsrView<T> {
    fn of(store: &Store<T>) -> Result<Self> {
        let host = store.to_host().map_err(|e| e.in_operation("csr_parts"))?;
        Ok(Self { host, rows: store.rows.clone(), cols: store.cols.clone() })
    }
}

impl<T> CsrView<T> {
    /// Number of rows.
    pub fn nrows(&self) -> u64 {
        self.rows.n()
    }
    /// Number of columns.
    pub fn ncols(&self) -> u64 {
        self.cols.n()
    }
    /// The rows that are stored, `None` where all are.
    pub fn row_ids(&self) -> Option<&[u64]> {
        listed(&self.rows)
    }
    /// What indices count, `None` where they are the columns.
    pub fn column_ids(&self) -> Option<&[u64]> {
        listed(&self.cols)
    }
    /// Where each stored row begins, and the number of entries.
    pub fn offsets(&self) -> &[u64] {
        &self.host.pattern.offsets
    }
    /// The column of each entry.
    pub fn indices(&self) -> &[u32] {
        &self.host.pattern.indices
    }
    /// The value of each entry.
    pub fn values(&self) -> &[T] {
        &self.host.values
    }
}

fn listed(axis: &Axis) -> Option<&[u64]> {
    match axis {
        Axis::Full(_) => None,
        Axis::Listed { ids, .. } => Some(ids),
    }
}

/// What an axis counts, one and many.
pub(super) type Noun = (&'static str, &'static str);

pub(super) const ROW: Noun = ("row", "rows");
pub(super) const COLUMN: Noun = ("column", "columns");

/// A dimension from what somebody says of it.
fn axis(operation: &'static str, (what, many): Noun, n: u64, ids: Option<Vec<u64>>) -> Result<Axis> {
    let invalid = |reason: String| Err(Error::InvalidValue { operation, reason });
    let ids = match (Axis::new(n), ids) {
        (Axis::Full(_), None) => return Ok(Axis::Full(n as u32)),
        (Axis::Listed { .. }, None) => return invalid(format!("{n} {many} need a list of those that are stored")),
        (_, Some(ids)) => ids,
    };
    if u32::try_from(ids.len()).is_err() {
        let (value, limit) = (ids.len() as u128, u32::MAX as u128);
        return Err(Error::IndexOverflow { operation, what: "stored rows or columns", value, limit });
    }
    if let Some(position) = ids.windows(2).position(|w| w[0] >= w[1]) {
        return invalid(format!("the list of {many} is not ascending at position {}", position + 1));
    }
    match ids.last() {
        Some(&index) if index >= n => {
            let position = Some(ids.len() as u64 - 1);
            Err(Error::IndexOutOfBounds { operation, what, position, index, bound: n })
        }
        _ => Ok(Axis::Listed { n, ids: Arc::new(ids) }),
    }
}

/// What an `Arc` holds: moved where nobody else holds it.
fn owned<X: Copy + Send + Sync>(operation: &'static str, shared: Arc<Vec<X>>) -> Result<Vec<X>> {
    Arc::try_unwrap(shared).or_else(|shared| memory::copied(operation, &shared))
}

fn ids(operation: &'static str, axis: Axis) -> Result<Option<Vec<u64>>> {
    match axis {
        Axis::Full(_) => Ok(None),
        Axis::Listed { ids, .. } => owned(operation, ids).map(Some),
    }
}

/// A store of its arrays, whose errors tell its rows and columns as `lines`.
pub(super) fn store<T: Scalar>(operation: &'static str, lines: [Noun; 2], parts: CsrParts<T>) -> Result<Store<T>> {
    let rows = axis(operation, lines[0], parts.nrows, parts.row_ids)?;
    let cols = axis(operation, lines[1], parts.ncols, parts.column_ids)?;
    let pattern = Pattern::new(rows.places(), cols.places(), parts.offsets, parts.indices);
    pattern.validate_lines(operation, parts.values.len(), lines.map(|(one, _)| one))?;
    Ok(Store::host(rows, cols, pattern, parts.values, Device::Cpu))
}

/// A vector's entries, told as those of one.
pub(super) fn row<T: Scalar>(operation: &'static str, parts: VectorParts<T>) -> Result<Store<T>> {
    let invalid = |reason: String| Err(Error::InvalidValue { operation, reason });
    let VectorParts { len, ids, indices, values } = parts;
    if values.len() != indices.len() {
        return invalid(format!("{} values for {} indices", values.len(), indices.len()));
    }
    if let Some(position) = indices.windows(2).position(|w| w[0] >= w[1]) {
        return invalid(format!("indices are not ascending at position {}", position + 1));
    }
    let (offsets, cols) = (vec![0, indices.len() as u64], axis(operation, ("index", "indices"), len, ids)?);
    let pattern = Pattern::new(1, cols.places(), offsets, indices);
    pattern.validate(operation, values.len()).map_err(Error::of_elements)?;
    Ok(Store::host(Axis::Full(1), cols, pattern, values, Device::Cpu))
}

fn parts<T: Scalar>(operation: &'static str, store: Store<T>) -> Result<CsrParts<T>> {
    let host = store.to_host().map_err(|e| e.in_operation(operation))?;
    let (rows, cols) = (store.rows.clone(), store.cols.clone());
    // Its share: what is left below is the only one, or somebody else's as well.
    drop(store);
    let (nrows, ncols) = (rows.n(), cols.n());
    let (offsets, indices) = match Arc::try_unwrap(host.pattern) {
        Ok(pattern) => (pattern.offsets.into_vec(), pattern.indices.into_vec()),
        Err(shared) => (memory::copied(operation, &shared.offsets)?, memory::copied(operation, &shared.indices)?),
    };
    let (row_ids, column_ids) = (ids(operation, rows)?, ids(operation, cols)?);
    let values = match Arc::try_unwrap(host.values) {
        Ok(values) => values.into_vec(),
        Err(shared) => memory::copied(operation, &shared)?,
    };
    Ok(CsrParts { nrows, ncols, row_ids, column_ids, offsets, indices, values })
}

impl<T: Scalar, S> Matrix<T, S> {
    /// From its arrays, which are moved, not copied; everything is checked, O(m + e).
    ///
    /// # Errors
    /// `InvalidValue` or `IndexOutOfBounds` naming row and position; `IndexOverflow`.
    /// ```
    /// use oplus::{interop::CsrParts, prelude::*};
    /// # fn main() -> oplus::Result<()> {
    /// let (offsets, indices, values) = (vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0]);
    /// let parts = CsrParts { nrows: 2, ncols: 3, offsets, indices, values, ..Default::default() };
    /// let a: Matrix<f64> = Matrix::from_csr_parts(parts)?;
    /// assert_eq!(a.entries()?, [(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0)]);
    /// assert_eq!(a.csr_parts()?.indices(), [0, 2, 1]);
    /// assert_eq!(a.into_csr_parts()?.values, [1.0, 2.0, 3.0]);
    /// # Ok(()) }
    /// ```
    pub fn from_csr_parts(parts: CsrParts<T>) -> Result<Self> {
        store("from_csr_parts", [ROW, COLUMN], parts).map(Self::of)
    }
    /// Its arrays: moved where no clone, mask, view or iterator shares them, else copied; downloaded from a device. O(1) moved,
    /// else O(m + nnz), as where a format other than rows is listed.
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    #[doc(alias("GrB_Matrix_export", "tocsr"))]
    pub fn into_csr_parts(self) -> Result<CsrParts<T>> {
        parts("into_csr_parts", self.store)
    }
    /// Its arrays where they are; downloaded from a device. A change of the matrix while this lives copies what it changes.
    /// O(1) of rows in host memory, else O(m + nnz).
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    pub fn csr_parts(&self) -> Result<CsrView<T>> {
        CsrView::of(&self.store)
    }
}

impl<T: Scalar, S> Vector<T, S> {
    /// From its arrays, which are moved, not copied; everything is checked, O(e).
    ///
    /// # Errors
    /// `InvalidValue` or `IndexOutOfBounds` naming the position; `IndexOverflow`.
    /// ```
    /// use oplus::{interop::VectorParts, prelude::*};
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<i32> =
    ///     Vector::from_parts(VectorParts { len: 5, ids: None, indices: vec![1, 4], values: vec![10, 40] })?;
    /// assert_eq!(x.entries()?, [(1, 10), (4, 40)]);
    /// assert_eq!(x.into_parts()?.indices, [1, 4]);
    /// # Ok(()) }
    /// ```
    pub fn from_parts(parts: VectorParts<T>) -> Result<Self> {
        row("from_parts", parts).map(Self::of)
    }
    /// Its arrays: moved where nobody shares them, else copied; downloaded from a device. O(1) moved, else O(nnz), of a bitmap O(n).
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    pub fn into_parts(self) -> Result<VectorParts<T>> {
        let row = parts("into_parts", self.store)?;
        Ok(VectorParts { len: row.ncols, ids: row.column_ids, indices: row.indices, values: row.values })
    }
    /// Its arrays where they are, as the only row of a matrix; downloaded from a device. O(1) of a list in host memory, else O(nnz), of a
    /// bitmap O(n).
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    pub fn csr_parts(&self) -> Result<CsrView<T>> {
        CsrView::of(&self.store)
    }
}
