//! sprs: compressed rows and columns, sparse vectors.
//!
//! ```
//! use oplus::prelude::*;
//! # fn main() -> oplus::Result<()> {
//! let eye = sprs::CsMat::<f64>::eye(3);
//! let a: Matrix<f64> = eye.try_into()?;
//! let back: sprs::CsMatI<f64, u32, usize> = a.mxm(&a)?.try_into()?;   // nothing is copied
//! assert_eq!(back.get(1, 1), Some(&1.0));
//! # Ok(()) }
//! ```
use super::{VectorParts, width};
use crate::algebra::Scalar;
use crate::container::{Matrix, Vector};
use crate::error::{Error, Result};
use sprs::{CompressedStorage, CsMatI, CsVecI, SpIndex};

fn refused(operation: &'static str, e: &sprs::errors::StructureError) -> Error {
    Error::InvalidValue { operation, reason: e.to_string() }
}

/// sprs wants types that count a dimension and `more`, entries or not.
fn counts<I: SpIndex>(operation: &'static str, what: &'static str, n: u64, more: u128) -> Result<()> {
    let (value, limit) = (u128::from(n), I::max_value().to_u128().unwrap_or(u128::MAX) - more);
    if value <= limit { Ok(()) } else { Err(Error::IndexOverflow { operation, what, value, limit }) }
}

/// Rows are moved (offsets of u64 and usize, indices of u32, values); columns are transposed, O(e).
impl<T: Scalar, S, I: SpIndex + 'static, P: SpIndex + 'static> TryFrom<CsMatI<T, I, P>> for Matrix<T, S> {
    type Error = Error;
    fn try_from(a: CsMatI<T, I, P>) -> Result<Self> {
        let (shape, columns) = (a.shape(), a.storage() == CompressedStorage::CSC);
        width::matrix("from sprs", shape, columns, a.into_raw_storage())
    }
}

/// Compressed rows; moved where nobody shares them, as the other way. `IndexOverflow` where `I` or `P` is too narrow.
impl<T: Scalar, S, I: SpIndex + 'static, P: SpIndex + 'static> TryFrom<Matrix<T, S>> for CsMatI<T, I, P> {
    type Error = Error;
    fn try_from(a: Matrix<T, S>) -> Result<Self> {
        let operation = "to sprs";
        let (shape, offsets, indices, values) = width::arrays(operation, a)?;
        // There is an offset more than rows.
        counts::<P>(operation, "rows", shape.0 as u64, 1)?;
        counts::<I>(operation, "columns", shape.1 as u64, 0)?;
        CsMatI::try_new(shape, offsets, indices, values).map_err(|(.., e)| refused(operation, &e))
    }
}

/// Moved where indices are u32.
impl<T: Scalar, S, I: SpIndex + 'static> TryFrom<CsVecI<T, I>> for Vector<T, S> {
    type Error = Error;
    fn try_from(x: CsVecI<T, I>) -> Result<Self> {
        let (operation, len) = ("from sprs", x.dim() as u64);
        let (indices, values) = x.into_raw_storage();
        if u32::try_from(len).is_ok() {
            let indices = width::indices(operation, indices)?;
            return super::csr::row(operation, VectorParts { len, ids: None, indices, values }).map(Vector::of);
        }
        let ids: Vec<u64> = width::indices(operation, indices)?;
        let mut places = crate::memory::with_capacity(operation, ids.len())?;
        places.extend((0..ids.len()).map(|place| place as u32));
        super::csr::row(operation, VectorParts { len, ids: Some(ids), indices: places, values }).map(Vector::of)
    }
}

/// Moved where nobody shares it and indices are u32.
impl<T: Scalar, S, I: SpIndex + 'static> TryFrom<Vector<T, S>> for CsVecI<T, I> {
    type Error = Error;
    fn try_from(x: Vector<T, S>) -> Result<Self> {
        let operation = "to sprs";
        counts::<I>(operation, "the vector's length", x.len(), 0)?;
        let parts = x.into_parts().map_err(|e| e.in_operation(operation))?;
        let indices = match &parts.ids {
            None => width::indices(operation, parts.indices)?,
            Some(ids) => {
                let mut used: Vec<u64> = crate::memory::with_capacity(operation, parts.indices.len())?;
                used.extend(parts.indices.iter().map(|place| ids[*place as usize]));
                width::indices(operation, used)?
            }
        };
        // What a type of theirs counts an address does.
        CsVecI::try_new(parts.len as usize, indices, parts.values).map_err(|(.., e)| refused(operation, &e))
    }
}
