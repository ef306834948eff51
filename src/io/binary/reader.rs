//! The reader.
use super::header::{BYTES, Header, Kind, bad, little_endian};
use super::section::Source;
use crate::algebra::Scalar;
use crate::container::{Matrix, Vector};
use crate::error::{Error, Result};
use crate::interop::{CsrParts, VectorParts};
use crate::io::{file, text::at_path};
use crate::memory;
use std::io::Read;
use std::path::Path;

/// The matrix in a file, `.gz` and `.zst` too, known by their first bytes. O(bytes).
///
/// # Errors
/// `Io`; `Parse` with the path, also where the file holds a vector or values of another type; `OutOfMemory`; `NotSupported` on
/// big-endian machines.
/// ```
/// use oplus::{io::binary, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// # let path = std::env::temp_dir().join(format!("oplus-doc-{}.oplus", std::process::id()));
/// let a: Matrix<f64> = Matrix::build(1 << 60, 3, &[(1 << 59, 2, 0.1)])?;
/// binary::write(&path, &a)?;
/// assert_eq!(binary::read::<f64, PlusTimes>(&path)?.entries()?, a.entries()?);
/// # std::fs::remove_file(&path).ok();
/// # Ok(()) }
/// ```
pub fn read<T: Scalar, S>(path: impl AsRef<Path>) -> Result<Matrix<T, S>> {
    Matrix::from_csr_parts(parts_of(path.as_ref(), Kind::Matrix)?).map_err(|e| at_path(invalid(e), path.as_ref()))
}

/// The vector in a file; as [`read`]. O(bytes).
///
/// # Errors
/// As [`read`].
/// ```
/// use oplus::{io::binary, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// # let path = std::env::temp_dir().join(format!("oplus-doc-rv-{}.oplus", std::process::id()));
/// let x: Vector<i32> = Vector::build(5, &[(3, 7)])?;
/// binary::write_vector(&path, &x)?;
/// assert_eq!(binary::read_vector::<i32, PlusTimes>(&path)?.entries()?, [(3, 7)]);
/// # std::fs::remove_file(&path).ok();
/// # Ok(()) }
/// ```
pub fn read_vector<T: Scalar, S>(path: impl AsRef<Path>) -> Result<Vector<T, S>> {
    vector(parts_of(path.as_ref(), Kind::Vector)?).map_err(|e| at_path(invalid(e), path.as_ref()))
}

/// The matrix that comes next from a source, not compressed; what follows it is left there. O(bytes).
///
/// # Errors
/// `Io` with the path `input` where the source fails; `Parse`; `OutOfMemory`; `NotSupported` on big-endian machines.
/// ```
/// use oplus::{io::binary, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let (a, mut bytes): (Matrix<i32>, _) = (Matrix::build(2, 2, &[(0, 1, 7)])?, Vec::new());
/// binary::write_to(&mut bytes, &a)?;
/// let back: Matrix<i32> = binary::read_from(&mut &bytes[..])?;
/// assert_eq!(back.entries()?, [(0, 1, 7)]);
/// assert!(binary::read_from::<f32, PlusTimes>(&mut &bytes[..]).is_err());
/// # Ok(()) }
/// ```
pub fn read_from<T: Scalar, S>(from: &mut dyn Read) -> Result<Matrix<T, S>> {
    Matrix::from_csr_parts(parts(&mut Source { from, left: None }, Kind::Matrix)?).map_err(invalid)
}

/// The vector that comes next from a source; as [`read_from`]. O(bytes).
///
/// # Errors
/// As [`read_from`].
/// ```
/// use oplus::{io::binary, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let (x, mut bytes): (Vector<i32>, _) = (Vector::build(5, &[(3, 7)])?, Vec::new());
/// binary::write_vector_to(&mut bytes, &x)?;
/// let back: Vector<i32> = binary::read_vector_from(&mut &bytes[..])?;
/// assert_eq!(back.entries()?, [(3, 7)]);
/// # Ok(()) }
/// ```
pub fn read_vector_from<T: Scalar, S>(from: &mut dyn Read) -> Result<Vector<T, S>> {
    vector(parts(&mut Source { from, left: None }, Kind::Vector)?).map_err(invalid)
}

/// What is wrong with the arrays is wrong with the file.
fn invalid(e: Error) -> Error {
    match e {
        Error::InvalidValue { reason, .. } => Error::Parse { path: None, line: None, reason },
        Error::IndexOutOfBounds { .. } | Error::IndexOverflow { .. } => {
            Error::Parse { path: None, line: None, reason: e.to_string() }
        }
        other => other,
    }
}

fn vector<T: Scalar, S>(row: CsrParts<T>) -> Result<Vector<T, S>> {
    if row.offsets != [0, row.indices.len() as u64] {
        return bad(format!("{} entries, the offsets are {:?}", row.indices.len(), row.offsets));
    }
    Vector::from_parts(VectorParts { len: row.ncols, ids: row.column_ids, indices: row.indices, values: row.values })
}

fn parts_of<T: Scalar>(path: &Path, kind: Kind) -> Result<CsrParts<T>> {
    file::streamed(path, |from, left| {
        let parts = parts(&mut Source { from, left }, kind)?;
        match file::at_end(from) {
            Ok(true) => Ok(parts),
            Ok(false) => bad("there is something behind the last section"),
            Err(e) => Err(super::section::io_failed(&e)),
        }
    })
    .map_err(|e| at_path(e, path))
}

fn parts<T: Scalar>(source: &mut Source<'_>, kind: Kind) -> Result<CsrParts<T>> {
    little_endian("binary::read")?;
    let mut first = [0; BYTES];
    source.exactly(&mut first)?;
    let header = Header::parse::<T>(&first)?;
    if header.kind != kind {
        return bad(match header.kind {
            Kind::Matrix => "a matrix, where a vector is read",
            Kind::Vector => "a vector, where a matrix is read",
        });
    }
    if let Some(left) = source.left
        && header.rest::<T>() > left.saturating_sub(BYTES as u64) as u128
    {
        let (promised, there) = (header.rest::<T>() + BYTES as u128, left);
        return bad(format!("{promised} bytes promised, {there} are there: the file is truncated"));
    }
    let mut ids = |listed: bool, what: &str, n: u64| match listed {
        true => source.section(what, n).map(Some),
        false => Ok(None),
    };
    let row_ids = ids(header.rows_listed, "row list", header.stored_rows)?;
    let column_ids = ids(header.columns_listed, "column list", header.stored_columns)?;
    let offsets = source.section("offsets", header.stored_rows + 1)?;
    let indices: Vec<u32> = source.section("indices", header.entries)?;
    let values = match header.one_value {
        false => source.section("values", header.entries)?,
        true => {
            let one = source.section("values", 1)?;
            memory::filled("binary::read", indices.len(), one.first().copied().unwrap_or_else(T::zeroed))?
        }
    };
    Ok(CsrParts { nrows: header.nrows, ncols: header.ncols, row_ids, column_ids, offsets, indices, values })
}
