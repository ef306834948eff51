//! The writer.
use super::header::{Header, Kind, little_endian};
use super::section::put;
use crate::algebra::{Scalar, scalar};
use crate::container::{Matrix, Vector};
use crate::error::{Error, Result};
use crate::interop::CsrView;
use crate::io::output;
use std::io::Write;
use std::path::Path;

/// Writes a matrix, compressed where the name ends in `.gz` or `.zst`; atomic: the file is there whole or not at all.
/// O(bytes).
///
/// # Errors
/// `Io`; `InvalidValue` where the name of the value type is longer than 60 bytes; `OutOfMemory`; `NotSupported` on
/// big-endian machines; on CUDA `Driver`.
/// ```
/// use oplus::{io::binary, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// # let path = std::env::temp_dir().join(format!("oplus-doc-w-{}.oplus.zst", std::process::id()));
/// let a: Matrix<f32> = Matrix::build(2, 3, &[(0, 2, 0.5)])?;
/// binary::write(&path, &a)?;
/// assert_eq!(binary::read::<f32, PlusTimes>(&path)?.entries()?, [(0, 2, 0.5)]);
/// # std::fs::remove_file(&path).ok();
/// # Ok(()) }
/// ```
pub fn write<T: Scalar, S>(path: impl AsRef<Path>, a: &Matrix<T, S>) -> Result<()> {
    to_file(path.as_ref(), &a.csr_parts()?, Kind::Matrix)
}

/// Writes a vector; as [`write()`]. O(bytes).
///
/// # Errors
/// As [`write()`].
/// ```
/// use oplus::{io::binary, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// # let path = std::env::temp_dir().join(format!("oplus-doc-wv-{}.oplus", std::process::id()));
/// let x: Vector<bool> = Vector::build(5, &[(3, true)])?;
/// binary::write_vector(&path, &x)?;
/// assert!(binary::read::<bool, PlusTimes>(&path).is_err());            // a vector is no matrix
/// # std::fs::remove_file(&path).ok();
/// # Ok(()) }
/// ```
pub fn write_vector<T: Scalar, S>(path: impl AsRef<Path>, x: &Vector<T, S>) -> Result<()> {
    to_file(path.as_ref(), &x.csr_parts()?, Kind::Vector)
}

/// Writes a matrix wherever bytes go. O(bytes).
///
/// # Errors
/// As [`write()`]; `InvalidValue` with the words of the destination.
/// ```
/// use oplus::{io::binary, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let (a, mut bytes): (Matrix<i32>, _) = (Matrix::build(2, 2, &[(0, 1, 7)])?, Vec::new());
/// binary::write_to(&mut bytes, &a)?;
/// binary::write_to(&mut bytes, &transpose(&a).eval()?)?;                   // one after the other
/// let mut source = &bytes[..];
/// let (_, b): (Matrix<i32>, Matrix<i32>) = (binary::read_from(&mut source)?, binary::read_from(&mut source)?);
/// assert_eq!(b.entries()?, [(1, 0, 7)]);
/// # Ok(()) }
/// ```
pub fn write_to<T: Scalar, S>(to: &mut dyn Write, a: &Matrix<T, S>) -> Result<()> {
    put_all(to, &a.csr_parts()?, Kind::Matrix).map_err(|e| refused(&e))
}

/// Writes a vector; as [`write_to`]. O(bytes).
///
/// # Errors
/// As [`write_to`].
/// ```
/// use oplus::{io::binary, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let (x, mut bytes): (Vector<u8>, _) = (Vector::build(5, &[(3, 7)])?, Vec::new());
/// binary::write_vector_to(&mut bytes, &x)?;
/// assert_eq!(binary::read_vector_from::<u8, PlusTimes>(&mut &bytes[..])?.get(3)?, Some(7));
/// # Ok(()) }
/// ```
pub fn write_vector_to<T: Scalar, S>(to: &mut dyn Write, x: &Vector<T, S>) -> Result<()> {
    put_all(to, &x.csr_parts()?, Kind::Vector).map_err(|e| refused(&e))
}

fn to_file<T: Scalar>(path: &Path, a: &CsrView<T>, kind: Kind) -> Result<()> {
    output::write(path, |to| put_all(to, a, kind))
}

fn refused(e: &std::io::Error) -> Error {
    match e.get_ref().and_then(|e| e.downcast_ref::<Error>()) {
        Some(ours) => ours.clone(),
        None => Error::InvalidValue { operation: "binary::write", reason: e.to_string() },
    }
}

fn put_all<T: Scalar>(to: &mut dyn Write, a: &CsrView<T>, kind: Kind) -> std::io::Result<()> {
    little_endian("binary::write").map_err(std::io::Error::other)?;
    let stored = |ids: Option<&[u64]>, n: u64| ids.map_or(n, |ids| ids.len() as u64);
    let value = a.values().first();
    // Bits are compared: zeros differ in their sign, and a NaN is itself.
    let one_value = value.filter(|_| a.values().len() > 1).is_some_and(|value| {
        let value = scalar::as_bytes(std::slice::from_ref(value));
        a.values().iter().all(|v| scalar::as_bytes(std::slice::from_ref(v)) == value)
    });
    let header = Header {
        kind,
        one_value,
        rows_listed: a.row_ids().is_some(),
        columns_listed: a.column_ids().is_some(),
        nrows: a.nrows(),
        ncols: a.ncols(),
        stored_rows: stored(a.row_ids(), a.nrows()),
        stored_columns: stored(a.column_ids(), a.ncols()),
        entries: a.values().len() as u64,
    };
    to.write_all(&header.to_bytes::<T>().map_err(std::io::Error::other)?)?;
    if let Some(ids) = a.row_ids() {
        put(to, ids)?;
    }
    if let Some(ids) = a.column_ids() {
        put(to, ids)?;
    }
    put(to, a.offsets())?;
    put(to, a.indices())?;
    put(to, if one_value { &a.values()[..1] } else { a.values() })
}
