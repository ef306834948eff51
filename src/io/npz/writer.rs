//! The writer.
use super::array::{header, put, put_as};
use super::dtype::Dtype;
use crate::algebra::Scalar;
use crate::container::Matrix;
use crate::error::{Error, Result};
use crate::io::{file, output};
use std::io::Write;
use std::path::Path;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

/// Writes a matrix so that `scipy.sparse.load_npz` gives it back, compressed; atomic: the file is there whole or not at all.
/// O(nnz(A)).
///
/// # Errors
/// `Io`; `NotSupported` for values that NumPy has not and for names that end in `.gz` and `.zst`; `IndexOverflow` from 2⁶³ rows or
/// columns on; `OutOfMemory`.
/// ```
/// use oplus::{io::npz, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// # let path = std::env::temp_dir().join(format!("oplus-doc-w-{}.npz", std::process::id()));
/// let a: Matrix<f64> = Matrix::build(2, 3, &[(0, 2, 0.5)])?;
/// npz::write(&path, &a)?;
/// assert_eq!(npz::read::<f64, PlusTimes>(&path)?.entries()?, [(0, 2, 0.5)]);
/// # std::fs::remove_file(&path).ok();
/// # Ok(()) }
/// ```
pub fn write<T: Scalar, S>(path: impl AsRef<Path>, a: &Matrix<T, S>) -> Result<()> {
    written(path.as_ref(), a, CompressionMethod::Deflated)
}

/// As [`write()`], not compressed. O(nnz(A)).
///
/// # Errors
/// As [`write()`].
/// ```
/// use oplus::{io::npz, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// # let path = std::env::temp_dir().join(format!("oplus-doc-u-{}.npz", std::process::id()));
/// let a: Matrix<f64> = Matrix::build(2, 3, &[(0, 2, 0.5)])?;
/// npz::write_uncompressed(&path, &a)?;
/// assert_eq!(npz::read::<f64, PlusTimes>(&path)?.entries()?, [(0, 2, 0.5)]);
/// # std::fs::remove_file(&path).ok();
/// # Ok(()) }
/// ```
pub fn write_uncompressed<T: Scalar, S>(path: impl AsRef<Path>, a: &Matrix<T, S>) -> Result<()> {
    written(path.as_ref(), a, CompressionMethod::Stored)
}

type Archive<'a> = ZipWriter<StreamWriter<&'a mut dyn Write>>;

const I32: Dtype = Dtype::new(b'i', 4);
const I64: Dtype = Dtype::new(b'i', 8);

fn written<T: Scalar, S>(path: &Path, a: &Matrix<T, S>, method: CompressionMethod) -> Result<()> {
    let operation = "npz::write";
    if file::packing(path).is_some() {
        let reason = "an archive is packed as it is: nobody reads one that is packed once more, as .npz.gz".into();
        return Err(Error::NotSupported { operation, reason });
    }
    let dtype = Dtype::of::<T>()
        .ok_or_else(|| Error::NotSupported { operation, reason: format!("NumPy has no type for {}", T::TEXT.name) })?;
    for (what, n) in [("rows", a.nrows()), ("columns", a.ncols())] {
        if i64::try_from(n).is_err() {
            return Err(Error::IndexOverflow { operation, what, value: n as u128, limit: i64::MAX as u128 });
        }
    }
    let parts = a.csr_parts()?;
    let listed = parts.row_ids().is_some() || parts.column_ids().is_some();
    let (view, coo) = if listed { (None, Some(a.to_coo()?)) } else { (Some(parts), None) };
    output::write(path, |to| {
        let mut archive = ZipWriter::new_stream(to);
        if let Some(a) = &view {
            let small = a.nrows().max(a.ncols()).max(a.values().len() as u64) <= i32::MAX as u64;
            let dtype = if small { I32 } else { I64 };
            begin(&mut archive, "indices", method, a.values().len())?;
            match small {
                // Below 2³¹ an u32 has the bits of an i32.
                true => put(&mut archive, dtype, a.indices())?,
                false => put_as(&mut archive, dtype, a.indices(), i64::from)?,
            }
            begin(&mut archive, "indptr", method, a.offsets().len())?;
            match small {
                true => put_as(&mut archive, dtype, a.offsets(), |e| e as i32)?,
                false => put(&mut archive, dtype, a.offsets())?,
            }
        }
        if let Some(coo) = &coo {
            begin(&mut archive, "row", method, coo.len())?;
            put(&mut archive, I64, &coo.rows)?;
            begin(&mut archive, "col", method, coo.len())?;
            put(&mut archive, I64, &coo.columns)?;
        }
        begin(&mut archive, "format", method, 0)?;
        let word = Dtype { word: 1, ..Dtype::new(b'S', 3) };
        archive.write_all(&header(word, "()"))?;
        archive.write_all(if listed { b"coo" } else { b"csr" })?;
        begin(&mut archive, "shape", method, 0)?;
        put(&mut archive, I64, &[a.nrows(), a.ncols()])?;
        let values = view.as_ref().map(|a| a.values()).or(coo.as_ref().map(|coo| &coo.values[..])).unwrap_or_default();
        begin(&mut archive, "data", method, values.len())?;
        put(&mut archive, dtype, values)?;
        archive.finish()?;
        Ok(())
    })
}

fn begin(archive: &mut Archive<'_>, name: &str, method: CompressionMethod, n: usize) -> std::io::Result<()> {
    // What deflate does not shorten it lengthens by little.
    let large = n as u64 * 16 >= 3 << 30;
    let options = SimpleFileOptions::default().compression_method(method).large_file(large);
    Ok(archive.start_file(format!("{name}.npy"), options)?)
}
