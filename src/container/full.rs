//! Matrices and vectors with an entry at every place, made of dense arrays and turned into them: nobody lists the positions of matrices until they
//! are asked for.
use super::{Matrix, Vector};
use crate::algebra::Scalar;
use crate::backend::Body;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::{self, owned};
use crate::storage::axis::{Axis, counted, counted_shape};
use crate::storage::frame::{Cells, Form, Frame, slots};
use crate::storage::held::{Held, Values};
use crate::storage::pattern::Pattern;
use crate::storage::store::Store;
use std::sync::Arc;

/// An entry in each of the cells, of which there are as many as values, or one value for all.
fn everywhere<T: Scalar>((nrows, ncols): (u32, u32), values: Values<T>) -> Store<T> {
    let (m, n) = (nrows as usize, ncols as usize);
    let form = Form::Cells(Cells { nrows: m, ncols: n, words: None });
    let body = Body::Held(Held::new(Arc::new(Frame::new(form, m * n)), values));
    Store { rows: Axis::Full(nrows), cols: Axis::Full(ncols), body, device: Device::Cpu }
}

/// The positions of a vector with an entry at every index.
pub(super) fn full_row(operation: &'static str, n: u32) -> Result<Pattern> {
    let mut indices = memory::with_capacity(operation, n as usize)?;
    indices.extend(0..n);
    Ok(Pattern::new(1, n as usize, vec![0, n.into()], indices))
}

/// A value for every place, row by row: moved where all have one and nobody shares them.
fn values_everywhere<T: Scalar>(operation: &'static str, mut a: Store<T>, absent: T) -> Result<Vec<T>> {
    let (nrows, ncols) = a.shape();
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    // On a device that is not the host's, positions of what is full are nothing to be sent.
    if let Device::Cuda(_) = a.device {
        a = a.to(Device::Cpu)?;
    }
    let counts = matches!((&a.rows, &a.cols), (Axis::Full(_), Axis::Full(_)));
    match a.body {
        Body::Held(held) if counts && held.frame.has_cells() => return held.into_cells(operation, absent),
        Body::Dense(dense) if counts => return dense.into_values(operation, absent),
        body => a.body = body,
    }
    let host = a.to_host().map_err(|e| e.in_operation(operation))?;
    let (rows, cols) = (a.rows.clone(), a.cols.clone());
    // Nobody else but a clone holds the values now.
    drop(a);
    if u128::from(nrows) * u128::from(ncols) == host.values.len() as u128 {
        return owned(operation, host.values);
    }
    let n = slots(operation, Device::Cpu, size(nrows), size(ncols), size_of::<T>())?;
    let mut all = memory::filled(operation, n, absent)?;
    for place in 0..host.pattern.nrows {
        let first = size(rows.id(place)) * size(ncols);
        let (columns, values) = host.row(place);
        columns.iter().zip(values).for_each(|(j, value)| all[first + size(cols.id(*j as usize))] = *value);
    }
    Ok(all)
}

impl<T: Scalar, S> Matrix<T, S> {
    /// C(i, j) = value at every place, stored once. O(1).
    ///
    /// # Errors
    /// `IndexOverflow` for a dimension of 2³² or more; `OutOfMemory` where the places are too many for any memory.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Matrix<f64> = Matrix::full(2, 2, 0.5)?;
    /// assert_eq!((x.format(), x.is_iso(), x.nvals()), (Format::Full, true, 4));
    /// assert_eq!(x.entries()?, [(0, 0, 0.5), (0, 1, 0.5), (1, 0, 0.5), (1, 1, 0.5)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("ones", "fill"))]
    pub fn full(nrows: u64, ncols: u64, value: T) -> Result<Self> {
        let operation = "full";
        let shape = counted_shape(operation, (nrows, ncols))?;
        if shape.0 == 0 || shape.1 == 0 {
            return Self::new(nrows, ncols);
        }
        slots(operation, Device::Cpu, shape.0 as usize, shape.1 as usize, 0)?;
        Ok(Self::of(everywhere(shape, Values::One(value))))
    }
    /// C(i, j) = `values[i · ncols + j]`: an entry at every place, row by row; the values are moved. O(1).
    ///
    /// # Errors
    /// `IndexOverflow` for a dimension of 2³² or more; `InvalidValue` where the values are not `nrows` times `ncols`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Matrix<f64> = Matrix::from_full(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// assert_eq!(x.get(1, 0)?, Some(4.0));
    /// assert_eq!(x.into_full(0.0)?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// # Ok(()) }
    /// ```
    #[doc(alias = "from_dense")]
    pub fn from_full(nrows: u64, ncols: u64, values: Vec<T>) -> Result<Self> {
        let operation = "from_full";
        let shape = counted_shape(operation, (nrows, ncols))?;
        if values.len() as u128 != u128::from(nrows) * u128::from(ncols) {
            let reason =
                format!("a full {nrows}×{ncols} matrix has a value for every place, these are {}", values.len());
            return Err(Error::InvalidValue { operation, reason });
        }
        if values.is_empty() {
            return Self::new(nrows, ncols);
        }
        Ok(Self::of(everywhere(shape, values.into())))
    }
    /// v = the values A(i, j) for every place, at i · ncols + j, `absent` where there is no entry; A stays. O(m n), the values are copied:
    /// [`into_full`](Self::into_full) moves those of a full matrix.
    ///
    /// # Errors
    /// `OutOfMemory` with the bytes needed; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 5)])?;
    /// assert_eq!((a.to_full(-1)?, a.nvals()), (vec![-1, 5, -1, -1], 1));
    /// # Ok(()) }
    /// ```
    #[doc(alias("toarray", "todense", "to_dense"))]
    pub fn to_full(&self, absent: T) -> Result<Vec<T>> {
        values_everywhere("to_full", self.store.clone(), absent)
    }
    /// v = the values A(i, j) for every place, at i · ncols + j, `absent` where there is no entry; a full matrix' values are moved where nobody shares
    /// them. O(m n).
    ///
    /// # Errors
    /// `OutOfMemory` with the bytes needed; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let a: Matrix<i32> = Matrix::build(2, 2, &[(0, 1, 5)])?;
    /// assert_eq!(a.into_full(-1)?, [-1, 5, -1, -1]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("toarray", "todense", "to_dense"))]
    pub fn into_full(self, absent: T) -> Result<Vec<T>> {
        values_everywhere("into_full", self.store, absent)
    }
}

impl<T: Scalar, S> Vector<T, S> {
    /// x(i) = `values[i]`: an entry at every index; the values are moved, the indices made. O(n).
    ///
    /// # Errors
    /// `IndexOverflow` from 2³² on; `OutOfMemory`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<f64> = Vector::from_full(vec![1.0, 2.0])?;
    /// assert_eq!(x.entries()?, [(0, 1.0), (1, 2.0)]);
    /// assert_eq!(x.into_full(0.0)?, [1.0, 2.0]);
    /// # Ok(()) }
    /// ```
    #[doc(alias = "from_dense")]
    pub fn from_full(values: Vec<T>) -> Result<Self> {
        let operation = "from_full";
        let n = counted(operation, "length", values.len() as u64)?;
        let pattern = full_row(operation, n)?;
        Ok(Self::of(Store::host(Axis::Full(1), Axis::Full(n), pattern, values, Device::Cpu)))
    }
    /// v = the values x(i) for every index, `absent` where there is no entry; x stays. O(n), the values are copied:
    /// [`into_full`](Self::into_full) moves those of a full vector.
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<i32> = Vector::build(3, &[(1, 5)])?;
    /// assert_eq!((x.to_full(0)?, x.nvals()), (vec![0, 5, 0], 1));
    /// # Ok(()) }
    /// ```
    #[doc(alias("toarray", "todense", "to_dense"))]
    pub fn to_full(&self, absent: T) -> Result<Vec<T>> {
        values_everywhere("to_full", self.store.clone(), absent)
    }
    /// v = the values x(i) for every index, `absent` where there is no entry; a full vector's values are moved where nobody shares
    /// them. O(n).
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<i32> = Vector::build(3, &[(1, 5)])?;
    /// assert_eq!(x.into_full(0)?, [0, 5, 0]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("toarray", "todense", "to_dense"))]
    pub fn into_full(self, absent: T) -> Result<Vec<T>> {
        values_everywhere("into_full", self.store, absent)
    }
}
