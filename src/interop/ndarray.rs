//! ndarray: dense arrays, with a value that counts as no entry.
//!
//! ```
//! use ndarray::array;
//! use oplus::prelude::*;
//! # fn main() -> oplus::Result<()> {
//! let a: Matrix<f64> = Matrix::from_array(&array![[0.0, 2.0], [3.0, 0.0]], 0.0)?;
//! assert_eq!(a.entries()?, [(0, 1, 2.0), (1, 0, 3.0)]);
//! assert_eq!(a.mxm(&a)?.to_array(0.0)?, array![[6.0, 0.0], [0.0, 6.0]]);
//! let x: Vector<f64> = array![1.0, 0.0].try_into()?;   // full: every value is an entry
//! assert_eq!(x.nvals(), 2);
//! # Ok(()) }
//! ```
use super::{CsrParts, VectorParts};
use crate::algebra::Scalar;
use crate::container::{Matrix, Vector};
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::axis::{counted, counted_shape};
use ndarray::{Array1, Array2, ArrayBase, Data, Ix1, Ix2};

impl<T: Scalar, S> Matrix<T, S> {
    /// The values of an array that are not `absent`, as entries; of floats, a NaN `absent` leaves out NaNs. O(m·n).
    ///
    /// # Errors
    /// `IndexOverflow` from 2³² rows or columns on; `OutOfMemory`.
    pub fn from_array<D: Data<Elem = T>>(array: &ArrayBase<D, Ix2>, absent: T) -> Result<Self> {
        let operation = "from_array";
        let (nrows, ncols) = counted_shape(operation, (array.nrows() as u64, array.ncols() as u64))?;
        let mut offsets = memory::with_capacity(operation, nrows as usize + 1)?;
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        offsets.push(0);
        for row in array.rows() {
            let count = row.iter().filter(|v| is_entry(**v, absent)).count();
            memory::reserve(operation, &mut indices, count)?;
            memory::reserve(operation, &mut values, count)?;
            for (j, v) in row.iter().enumerate().filter(|(_, v)| is_entry(**v, absent)) {
                indices.push(j as u32);
                values.push(*v);
            }
            offsets.push(indices.len() as u64);
        }
        let (nrows, ncols) = (nrows as u64, ncols as u64);
        Matrix::from_csr_parts(CsrParts { nrows, ncols, offsets, indices, values, ..Default::default() })
    }
    /// All values, `absent` where there is no entry. O(m·n).
    ///
    /// # Errors
    /// `OutOfMemory`; `IndexOverflow` where there are no values, and more rows or columns than an array can have; on CUDA `Driver`.
    pub fn to_array(&self, absent: T) -> Result<Array2<T>> {
        let operation = "to_array";
        let (m, n) = self.shape();
        let shape = (usize::try_from(m).unwrap_or(usize::MAX), usize::try_from(n).unwrap_or(usize::MAX));
        let size = shape.0.saturating_mul(shape.1);
        let mut all = memory::filled(operation, size, absent)?;
        for (i, j, value) in self.iter()? {
            all[i as usize * shape.1 + j as usize] = value;
        }
        // As many values as places: what ndarray refuses is an axis that it does not count.
        Array2::from_shape_vec(shape, all).map_err(|_| {
            let (what, value) = if m > n { ("number of rows", m) } else { ("number of columns", n) };
            Error::IndexOverflow { operation, what, value: value.into(), limit: isize::MAX as u128 }
        })
    }
}

/// Whether a value is none that counts as absent.
fn is_entry<T: Scalar>(value: T, absent: T) -> bool {
    // What is no number differs from itself.
    #[allow(clippy::eq_op)]
    let (neither, both) = (value == value || absent == absent, value == absent);
    neither && !both
}

impl<T: Scalar, S> Vector<T, S> {
    /// The values of an array that are not `absent`, as entries. O(n).
    ///
    /// # Errors
    /// `IndexOverflow` from length 2³² on; `OutOfMemory`.
    pub fn from_array<D: Data<Elem = T>>(array: &ArrayBase<D, Ix1>, absent: T) -> Result<Self> {
        let operation = "from_array";
        let len = u64::from(counted(operation, "length", array.len() as u64)?);
        let count = array.iter().filter(|v| is_entry(**v, absent)).count();
        let mut indices = memory::with_capacity(operation, count)?;
        let mut values = memory::with_capacity(operation, count)?;
        for (j, v) in array.iter().enumerate().filter(|(_, v)| is_entry(**v, absent)) {
            indices.push(j as u32);
            values.push(*v);
        }
        Vector::from_parts(VectorParts { len, ids: None, indices, values })
    }
    /// All values, `absent` where there is no entry; those of a full vector that nobody shares are moved. O(n).
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<f64> = Vector::from_array(&ndarray::array![0.0, 2.0, 0.0], 0.0)?;
    /// assert_eq!(x.nvals(), 1);
    /// assert_eq!(x.into_array(-1.0)?, ndarray::array![-1.0, 2.0, -1.0]);
    /// # Ok(()) }
    /// ```
    pub fn into_array(self, absent: T) -> Result<Array1<T>> {
        let all = self.into_full(absent).map_err(|e| e.of_parts("into_full", "into_array"))?;
        Ok(Array1::from_vec(all))
    }
}

/// A full vector: every value is an entry. Moved where the array lies in one piece, in order.
impl<T: Scalar, S> TryFrom<Array1<T>> for Vector<T, S> {
    type Error = Error;
    fn try_from(array: Array1<T>) -> Result<Self> {
        if !array.is_standard_layout() {
            let mut values = memory::with_capacity("from_array", array.len())?;
            values.extend(array.iter().copied());
            return Vector::from_full(values);
        }
        let n = array.len();
        let (mut values, first) = array.into_raw_vec_and_offset();
        // A slice that was taken ownership of may be a part of its memory.
        let first = first.unwrap_or(0);
        values.truncate(first + n);
        values.drain(..first);
        Vector::from_full(values)
    }
}

/// The array of a full vector, moved where nobody shares it; `InvalidValue` where an entry is missing.
impl<T: Scalar, S> TryFrom<Vector<T, S>> for Array1<T> {
    type Error = Error;
    fn try_from(x: Vector<T, S>) -> Result<Self> {
        let (len, there) = (x.len(), x.nvals());
        if there != len {
            let reason =
                format!("{there} of {len} indices have an entry: `into_array(absent)` says what the others are");
            return Err(Error::InvalidValue { operation: "to ndarray", reason });
        }
        x.into_array(T::zeroed())
    }
}
