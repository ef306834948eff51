//! nalgebra-sparse: compressed rows, compressed columns, triplets.
//!
//! ```
//! use nalgebra_sparse::CsrMatrix;
//! use oplus::prelude::*;
//! # fn main() -> oplus::Result<()> {
//! let a: Matrix<f64> = CsrMatrix::identity(3).try_into()?;
//! let back: CsrMatrix<f64> = a.try_into()?;
//! assert_eq!(back.nnz(), 3);
//! # Ok(()) }
//! ```
use super::width;
use crate::algebra::Scalar;
use crate::container::Matrix;
use crate::error::{Error, Result};
use crate::operation::transpose;
use crate::storage::Coo;
use nalgebra_sparse::{CooMatrix, CscMatrix, CsrMatrix, SparseFormatError};

fn refused(operation: &'static str, e: &SparseFormatError) -> Error {
    Error::InvalidValue { operation, reason: e.to_string() }
}

/// Offsets and values are moved, columns become u32.
impl<T: Scalar, S> TryFrom<CsrMatrix<T>> for Matrix<T, S> {
    type Error = Error;
    fn try_from(a: CsrMatrix<T>) -> Result<Self> {
        width::matrix("from nalgebra-sparse", (a.nrows(), a.ncols()), false, a.disassemble())
    }
}

/// Offsets and values are moved where nobody shares them, columns become usize.
impl<T: Scalar, S> TryFrom<Matrix<T, S>> for CsrMatrix<T> {
    type Error = Error;
    fn try_from(a: Matrix<T, S>) -> Result<Self> {
        let operation = "to nalgebra-sparse";
        let ((nrows, ncols), offsets, indices, values) = width::arrays(operation, a)?;
        CsrMatrix::try_from_csr_data(nrows, ncols, offsets, indices, values).map_err(|e| refused(operation, &e))
    }
}

/// Transposed, O(e).
impl<T: Scalar, S> TryFrom<CscMatrix<T>> for Matrix<T, S> {
    type Error = Error;
    fn try_from(a: CscMatrix<T>) -> Result<Self> {
        width::matrix("from nalgebra-sparse", (a.nrows(), a.ncols()), true, a.disassemble())
    }
}

/// Transposed, O(e).
impl<T: Scalar, S> TryFrom<Matrix<T, S>> for CscMatrix<T> {
    type Error = Error;
    fn try_from(a: Matrix<T, S>) -> Result<Self> {
        let operation = "to nalgebra-sparse";
        let turned: Matrix<T, S> = transpose(&a).eval().map_err(|e| e.in_operation(operation))?;
        drop(a);
        let arrays = width::arrays(operation, turned).map_err(Error::transposed)?;
        let ((ncols, nrows), offsets, indices, values) = arrays;
        CscMatrix::try_from_csc_data(nrows, ncols, offsets, indices, values).map_err(|e| refused(operation, &e))
    }
}

/// The triplets; `Matrix::from_coo` refuses duplicates and `build_with` folds them.
impl<T: Scalar> TryFrom<&CooMatrix<T>> for Coo<T> {
    type Error = Error;
    fn try_from(a: &CooMatrix<T>) -> Result<Self> {
        let mut coo = Coo::new(a.nrows() as u64, a.ncols() as u64);
        coo.reserve(a.nnz()).map_err(|e| e.in_operation("from nalgebra-sparse"))?;
        a.triplet_iter().for_each(|(i, j, v)| coo.push(i as u64, j as u64, *v));
        Ok(coo)
    }
}

/// `DuplicateEntry` where a position occurs twice, which nalgebra-sparse adds up: [`Coo`] keeps them for `build_with`.
impl<T: Scalar, S> TryFrom<&CooMatrix<T>> for Matrix<T, S> {
    type Error = Error;
    fn try_from(a: &CooMatrix<T>) -> Result<Self> {
        Matrix::triplets("from nalgebra-sparse", &Coo::try_from(a)?)
    }
}

/// Triplets, ascending.
impl<T: Scalar, S> TryFrom<&Matrix<T, S>> for CooMatrix<T> {
    type Error = Error;
    fn try_from(a: &Matrix<T, S>) -> Result<Self> {
        let operation = "to nalgebra-sparse";
        let coo = a.to_coo().map_err(|e| e.in_operation(operation))?;
        let rows = width::indices(operation, coo.rows)?;
        let columns = width::indices(operation, coo.columns)?;
        let shape = width::indices::<u64, usize>(operation, vec![coo.nrows, coo.ncols])?;
        let [nrows, ncols] = shape[..] else {
            return Err(Error::InvalidValue { operation, reason: "no shape".into() });
        };
        CooMatrix::try_from_triplets(nrows, ncols, rows, columns, coo.values).map_err(|e| refused(operation, &e))
    }
}
