//! How matrices are made and looked at.
use super::{Matrix, axes_of, built, element, entries, iso_where_equal};
use crate::algebra::{BinaryOp, First, Scalar};
use crate::backend::cpu::{at_entries, mapped};
use crate::device::Device;
use crate::error::Result;
use crate::format::filled;
use crate::memory;
use crate::storage::{
    Coo,
    axis::{Axis, counted_shape},
    pattern::Pattern,
    store::{Store, axes_for},
};

impl<T: Scalar, S> Matrix<T, S> {
    /// A(i, j) = nothing for all i, j, on the CPU. O(m), O(1) from 2²⁴ rows on.
    ///
    /// # Errors
    /// `OutOfMemory`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::new(1 << 40, 3)?;
    /// assert_eq!((a.shape(), a.nvals()), ((1 << 40, 3), 0));
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_new", "zeros"))]
    pub fn new(nrows: u64, ncols: u64) -> Result<Self> {
        Store::empty("new", nrows, ncols, Device::Cpu).map(Self::of)
    }
    /// A(i, j) = v for each (i, j, v), in any order. O(m + e) where they ascend by row, then column, else O(m + e log e); of m the rows in use
    /// where the matrix is hypersparse.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `DuplicateEntry` (see [`build_with`](Self::build_with), of a [`Coo::from_entries`]), `OutOfMemory`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::build(2, 3, &[(1, 0, 5.0), (0, 2, 7.0)])?;
    /// assert_eq!(a.entries()?, [(0, 2, 7.0), (1, 0, 5.0)]);
    /// let twice = Matrix::<f64>::build(2, 3, &[(1, 0, 5.0), (1, 0, 7.0)]);
    /// assert!(matches!(twice, Err(Error::DuplicateEntry { row: 1, column: 0, position: 1, .. })));
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_build", "from_triplets"))]
    pub fn build(nrows: u64, ncols: u64, entries: &[(u64, u64, T)]) -> Result<Self> {
        let operation = "build";
        Self::triplets(operation, &split(operation, (nrows, ncols), entries)?)
    }
    /// A(iₑ, jₑ) = vₑ for each triplet e; the same position twice is an error. As [`build`](Self::build), O(m + e log e) at most.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `DuplicateEntry`, `OutOfMemory`; `InvalidValue` where the lists differ in length.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let coo = Coo::from_entries(2, 2, [(1, 0, 5), (0, 1, 3)])?;
    /// assert_eq!(Matrix::<i32>::from_coo(&coo)?.entries()?, [(0, 1, 3), (1, 0, 5)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias = "coo_matrix")]
    pub fn from_coo(coo: &Coo<T>) -> Result<Self> {
        Self::triplets("from_coo", coo)
    }
    /// The same for what goes by another name.
    pub(crate) fn triplets(operation: &'static str, coo: &Coo<T>) -> Result<Self> {
        let store = built::<T, First>(operation, axes_of(coo), arrays(coo), true, Device::Cpu)?;
        iso_where_equal(operation, store).map(Self::of)
    }
    /// A(i, j) = v₁ ⊕ v₂ ⊕ …, the values of the triplets of one position folded by `fold` = ⊕ in input order. It need not be commutative:
    /// [`First`], `Second`, `Minus` and floating sums have one result. Triplets of a slice or an iterator are [`Coo::from_entries`].
    /// As [`build`](Self::build), O(m + e log e) at most.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `OutOfMemory`; `InvalidValue` where the lists differ in length.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let coo = Coo::from_entries(2, 2, [(0, 1, 5), (1, 0, 1), (0, 1, 3)])?;
    /// let a: Matrix<i32> = Matrix::build_with(&coo, Minus)?;
    /// assert_eq!(a.entries()?, [(0, 1, 2), (1, 0, 1)]);
    /// assert!(Matrix::<i32>::from_coo(&coo).is_err());
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_build", "from_triplets"))]
    pub fn build_with<F: BinaryOp<T, T, Out = T>>(coo: &Coo<T>, _fold: F) -> Result<Self> {
        let operation = "build_with";
        let store = built::<T, F>(operation, axes_of(coo), arrays(coo), false, Device::Cpu)?;
        iso_where_equal(operation, store).map(Self::of)
    }
    /// A(i, j) = v₁ ⊕ v₂ ⊕ …, as [`build_with`](Self::build_with), in the memory of `device` and by its kernels: a stable sort by the digits of rows and columns
    /// on CUDA. O(m + e log e) at most; the same bits on every device.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `OutOfMemory`, `Unavailable`; `InvalidValue` where the lists differ in length.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let coo = Coo::from_entries(2, 2, (0..3).map(|e| (0, e % 2, 0.5)))?;
    /// let a: Matrix<f64> = Matrix::build_on(&coo, Plus, &Device::best())?;
    /// assert_eq!(a.entries()?, [(0, 0, 1.0), (0, 1, 0.5)]);
    /// # Ok(()) }
    /// ```
    pub fn build_on<F: BinaryOp<T, T, Out = T>>(coo: &Coo<T>, _fold: F, device: &Device) -> Result<Self> {
        built::<T, F>("build_on", axes_of(coo), arrays(coo), false, *device).map(Self::of)
    }
    /// A(i, j) = value at each of these positions, given in any order and counted once: it is stored once. O(e log e) in the worst case.
    ///
    /// # Errors
    /// `IndexOutOfBounds`, `OutOfMemory`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let graph: Matrix<f64> = Matrix::from_pattern(3, 3, &[(0, 1), (2, 0)], 1.0)?;
    /// assert!(graph.is_iso());
    /// assert_eq!(graph.entries()?, [(0, 1, 1.0), (2, 0, 1.0)]);
    /// # Ok(()) }
    /// ```
    pub fn from_pattern(nrows: u64, ncols: u64, positions: &[(u64, u64)], value: T) -> Result<Self> {
        let operation = "from_pattern";
        let mut rows = memory::with_capacity(operation, positions.len())?;
        let mut columns = memory::with_capacity(operation, positions.len())?;
        rows.extend(positions.iter().map(|p| p.0));
        columns.extend(positions.iter().map(|p| p.1));
        let marks = memory::zeroed(operation, positions.len())?;
        let axes = axes_for((nrows, ncols), positions.len() as u64);
        let marks = built::<u8, First>(operation, axes, (&rows, &columns, &marks), false, Device::Cpu)?;
        filled(&marks, value).map(Self::of).map_err(|e| e.in_operation(operation))
    }
    /// A(i, `indices[p]`) = `values[p]` for `offsets[i]` ≤ p < `offsets[i + 1]`: from compressed rows; everything is checked, O(m + e).
    ///
    /// # Errors
    /// `InvalidValue` or `IndexOutOfBounds` naming row and position; `IndexOverflow` for a dimension of 2³² or more, which
    /// [`from_csr_parts`](Self::from_csr_parts) takes with a list of what is stored.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<f64> = Matrix::from_csr(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0])?;
    /// assert_eq!(a.entries()?, [(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("csr_matrix", "GrB_Matrix_import"))]
    pub fn from_csr(nrows: u64, ncols: u64, offsets: Vec<u64>, indices: Vec<u32>, values: Vec<T>) -> Result<Self> {
        let operation = "from_csr";
        let (nrows, ncols) = counted_shape(operation, (nrows, ncols))?;
        let pattern = Pattern::new(nrows as usize, ncols as usize, offsets, indices);
        pattern.validate(operation, values.len())?;
        let store = Store::host(Axis::Full(nrows), Axis::Full(ncols), pattern, values, Device::Cpu);
        iso_where_equal(operation, store).map(Self::of)
    }
    /// Rows and columns.
    pub fn shape(&self) -> (u64, u64) {
        self.store.shape()
    }
    /// Number of rows.
    #[doc(alias = "GrB_Matrix_nrows")]
    pub fn nrows(&self) -> u64 {
        self.store.rows.n()
    }
    /// Number of columns.
    #[doc(alias = "GrB_Matrix_ncols")]
    pub fn ncols(&self) -> u64 {
        self.store.cols.n()
    }
    /// All (i, j, v) where A(i, j) = v, ascending by row, then column. O(m + nnz); downloaded from a device.
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 2, &[(1, 0, 5), (0, 1, 0)])?;
    /// assert_eq!(a.entries()?, [(0, 1, 0), (1, 0, 5)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_extractTuples", "find", "triplets"))]
    pub fn entries(&self) -> Result<Vec<(u64, u64, T)>> {
        entries(&self.store)
    }
    /// The triplets (i, j, v) where A(i, j) = v, ascending by row, then column. O(m + nnz); downloaded from a device.
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 2, &[(1, 0, 5), (0, 1, 3)])?;
    /// let coo = a.to_coo()?;
    /// assert_eq!((coo.rows, coo.columns, coo.values), (vec![0, 1], vec![1, 0], vec![3, 5]));
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_extractTuples", "tocoo"))]
    pub fn to_coo(&self) -> Result<Coo<T>> {
        let mut coo = Coo::new(self.nrows(), self.ncols());
        (coo.rows, coo.columns, coo.values) = triplets("to_coo", &self.store)?;
        Ok(coo)
    }
    /// v = A(row, column), `None` where there is no entry. O(log of the row's length), O(1) of a bitmap or full matrix; on CUDA
    /// the host waits for it.
    ///
    /// # Errors
    /// `IndexOutOfBounds`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 3)])?;
    /// assert_eq!((a.get(0, 1)?, a.get(1, 1)?), (Some(3), None));
    /// assert!(matches!(a.get(2, 0), Err(Error::IndexOutOfBounds { index: 2, bound: 2, .. })));
    /// # Ok(()) }
    /// ```
    #[doc(alias = "GrB_Matrix_extractElement")]
    #[inline]
    pub fn get(&self, row: u64, column: u64) -> Result<Option<T>> {
        element(&self.store, row, column)
    }
}

/// Rows, columns and values of all entries, by all threads.
fn triplets<T: Scalar>(operation: &'static str, store: &Store<T>) -> Result<(Vec<u64>, Vec<u64>, Vec<T>)> {
    let host = store.to_host().map_err(|e| e.in_operation(operation))?;
    let rows = match &store.rows {
        Axis::Full(_) => at_entries(operation, &host, |r, _, _| r as u64)?,
        Axis::Listed { ids, .. } => {
            let ids = &ids[..];
            at_entries(operation, &host, move |r, _, _| ids[r])?
        }
    };
    let columns = match &store.cols {
        Axis::Full(_) => mapped(operation, &host.pattern.indices, u64::from)?,
        Axis::Listed { ids, .. } => {
            let ids = &ids[..];
            mapped(operation, &host.pattern.indices, move |c| ids[c as usize])?
        }
    };
    Ok((memory::owned(operation, rows.values)?, columns, memory::copied(operation, &host.values)?))
}

fn arrays<T>(coo: &Coo<T>) -> (&[u64], &[u64], &[T]) {
    (&coo.rows, &coo.columns, &coo.values)
}

fn split<T: Scalar>(operation: &'static str, (nrows, ncols): (u64, u64), entries: &[(u64, u64, T)]) -> Result<Coo<T>> {
    let n = entries.len();
    let (mut rows, mut columns) = (memory::with_capacity(operation, n)?, memory::with_capacity(operation, n)?);
    let mut values = memory::with_capacity(operation, n)?;
    rows.extend(entries.iter().map(|e| e.0));
    columns.extend(entries.iter().map(|e| e.1));
    values.extend(entries.iter().map(|e| e.2));
    Ok(Coo { nrows, ncols, rows, columns, values })
}
