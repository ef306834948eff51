//! Containers made of others' triplets, of nothing, emptied, and the identity.
use super::{Matrix, Vector, built};
use crate::algebra::{Arithmetic, First, Scalar};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::pattern::Pattern;
use crate::storage::store::{Store, axes_for};
use crate::storage::{
    Coo,
    axis::{Axis, counted},
};

fn cleared<T: Scalar>(a: &Store<T>) -> Result<Store<T>> {
    let like = |axis: &Axis| axis.like(axis.n());
    Store::empty_on("clear", like(&a.rows), like(&a.cols), a.device)
}

/// A vector from the triplets of its only row or column.
fn line<T: Scalar>(operation: &'static str, coo: &Coo<T>) -> Result<Store<T>> {
    let lies = coo.nrows == 1;
    if !lies && coo.ncols != 1 {
        let reason = format!("a vector is one row or one column, this is {}×{}", coo.nrows, coo.ncols);
        return Err(Error::InvalidValue { operation, reason });
    }
    let (what, lines, n, indices) = match lies {
        true => ("row", &coo.rows, coo.ncols, &coo.columns),
        false => ("column", &coo.columns, coo.nrows, &coo.rows),
    };
    if let Some(position) = lines.iter().position(|line| *line > 0) {
        let (index, position) = (lines[position], Some(position as u64));
        return Err(Error::IndexOutOfBounds { operation, what, position, index, bound: 1 });
    }
    let made = built::<T, First>(operation, axes_for((1, n), 0), (lines, indices, &coo.values), true, Device::Cpu);
    made.map_err(|e| match e {
        Error::IndexOutOfBounds { position, index, bound, .. } => {
            Error::IndexOutOfBounds { operation, what: "index", position, index, bound }
        }
        Error::DuplicateEntry { row, column, position, .. } if !lies => {
            Error::DuplicateEntry { operation, row: column, column: row, position }
        }
        e => e,
    })
}

/// 0 × 0, in host memory.
/// ```
/// use oplus::prelude::*;
/// assert_eq!(Matrix::<f64>::default().shape(), (0, 0));
/// ```
impl<T: Scalar, S> Default for Matrix<T, S> {
    fn default() -> Self {
        let nothing = Pattern::new(0, 0, vec![0], Vec::new());
        Self::of(Store::host(Axis::Full(0), Axis::Full(0), nothing, Vec::new(), Device::Cpu))
    }
}
/// Of length 0, in host memory.
/// ```
/// use oplus::prelude::*;
/// assert!(Vector::<f64>::default().is_empty());
/// ```
impl<T: Scalar, S> Default for Vector<T, S> {
    fn default() -> Self {
        let nothing = Pattern::new(1, 0, vec![0, 0], Vec::new());
        Self::of(Store::host(Axis::Full(1), Axis::Full(0), nothing, Vec::new(), Device::Cpu))
    }
}

impl<T: Arithmetic, S> Matrix<T, S> {
    /// I(i, i) = 1 for all i < n, stored once. O(n).
    ///
    /// # Errors
    /// `IndexOverflow` from 2³² on; `OutOfMemory`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let identity: Matrix<f64> = Matrix::identity(2)?;
    /// assert_eq!(identity.entries()?, [(0, 0, 1.0), (1, 1, 1.0)]);
    /// # Ok(()) }
    /// ```
    #[doc(alias("eye", "speye"))]
    pub fn identity(n: u64) -> Result<Self> {
        let operation = "identity";
        let places = counted(operation, "number of rows", n)?;
        let mut offsets = memory::with_capacity(operation, places as usize + 1)?;
        offsets.extend(0..=n);
        let mut indices = memory::with_capacity(operation, places as usize)?;
        indices.extend(0..places);
        let pattern = Pattern::new(places as usize, places as usize, offsets, indices);
        let marks = memory::filled(operation, places as usize, 0u8)?;
        let marks = Store::host(Axis::Full(places), Axis::Full(places), pattern, marks, Device::Cpu);
        crate::format::filled(&marks, T::ONE).map(Self::of)
    }
}

impl<T: Scalar, S> Matrix<T, S> {
    /// A(i, j) = nothing for all i, j: removes all entries; shape and device stay. O(m).
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`. The matrix is as it was.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut a: Matrix<i32> = Matrix::build(2, 3, &[(0, 1, 5)])?;
    /// a.clear()?;
    /// assert_eq!((a.shape(), a.nvals()), ((2, 3), 0));
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_clear", "GrB_Vector_clear"))]
    pub fn clear(&mut self) -> Result<()> {
        self.store = cleared(&self.store)?;
        Ok(())
    }
}

impl<T: Scalar, S> Vector<T, S> {
    /// x(i) = nothing for all i: removes all entries; length and device stay. O(1).
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`. The vector is as it was.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let mut x: Vector<i32> = Vector::build(3, &[(0, 1), (2, 2)])?;
    /// x.clear()?;
    /// assert_eq!((x.len(), x.nvals()), (3, 0));
    /// # Ok(()) }
    /// ```
    #[doc(alias("GrB_Matrix_clear", "GrB_Vector_clear"))]
    pub fn clear(&mut self) -> Result<()> {
        self.store = cleared(&self.store)?;
        Ok(())
    }
    /// x(iₑ) = vₑ for each triplet e of one column, or of one row; the same index twice is an error. O(e log e) in the worst case.
    ///
    /// # Errors
    /// `InvalidValue` where there are more rows and columns; `IndexOutOfBounds`, `DuplicateEntry`, `OutOfMemory`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<f64> = Vector::build(3, &[(0, 1.5), (2, 2.0)])?;
    /// assert_eq!(x.to_coo()?.ncols, 1);
    /// assert_eq!(Vector::<f64>::from_coo(&x.to_coo()?)?, x);
    /// # Ok(()) }
    /// ```
    pub fn from_coo(coo: &Coo<T>) -> Result<Self> {
        Self::triplets("from_coo", coo)
    }
    /// The same for what goes by another name.
    pub(crate) fn triplets(operation: &'static str, coo: &Coo<T>) -> Result<Self> {
        line(operation, coo).map(Self::of)
    }
    /// The triplets (i, 0, v) where x(i) = v, of one column and ascending. O(e).
    ///
    /// # Errors
    /// `OutOfMemory`; on CUDA `Driver`.
    /// ```
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let x: Vector<i32> = Vector::build(3, &[(2, 5), (0, 1)])?;
    /// let coo = x.to_coo()?;
    /// assert_eq!((coo.nrows, coo.rows, coo.values), (3, vec![0, 2], vec![1, 5]));
    /// # Ok(()) }
    /// ```
    pub fn to_coo(&self) -> Result<Coo<T>> {
        let (operation, entries) = ("to_coo", self.iter()?);
        let n = entries.len();
        let mut coo = Coo::new(self.len(), 1);
        (coo.rows, coo.columns) = (memory::with_capacity(operation, n)?, memory::filled(operation, n, 0)?);
        coo.values = memory::with_capacity(operation, n)?;
        entries.for_each(|(index, value)| {
            coo.rows.push(index);
            coo.values.push(value);
        });
        Ok(coo)
    }
}
