//! The reader.
use super::array::{Array, bad, io_failed};
use super::end;
use crate::algebra::Scalar;
use crate::container::Matrix;
use crate::error::{Error, Result};
use crate::interop::CsrParts;
use crate::io::{file, matrix, text::at_path};
use crate::memory;
use crate::operation::transpose;
use crate::storage::Coo;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;

type Archive = ZipArchive<BufReader<File>>;

/// A sparse array as its file has it.
enum Stored<T> {
    /// Offsets, indices, values of rows; of columns.
    Rows(Vec<u64>, Vec<u64>, Vec<T>),
    Columns(Vec<u64>, Vec<u64>, Vec<T>),
    Entries(Vec<u64>, Vec<u64>, Vec<T>),
}

/// The matrix in a file. O(e) where rows are sorted, as SciPy's are but for some results of its operations.
///
/// # Errors
/// `Io`; `Parse` with the path, also where values are of another type or a position occurs twice; `OutOfMemory`.
/// ```
/// use oplus::{io::npz, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// # let path = std::env::temp_dir().join(format!("oplus-doc-{}.npz", std::process::id()));
/// let a: Matrix<f64> = Matrix::build(2, 3, &[(0, 2, 0.5)])?;
/// npz::write(&path, &a)?;                                         // scipy.sparse.load_npz(path)
/// let b: Matrix<f64> = npz::read(&path)?;                         // scipy.sparse.save_npz(path, b)
/// assert_eq!(b.entries()?, a.entries()?);
/// # std::fs::remove_file(&path).ok();
/// # Ok(()) }
/// ```
pub fn read<T: Scalar, S>(path: impl AsRef<Path>) -> Result<Matrix<T, S>> {
    let path = path.as_ref();
    let (shape, read) = open::<T>(path)?;
    let made = match read {
        Stored::Rows(offsets, indices, values) => rows(shape, offsets, indices, values),
        Stored::Columns(offsets, indices, values) => {
            let turned: Result<Matrix<T, S>> = rows((shape.1, shape.0), offsets, indices, values);
            // An error is of the file's rows and columns.
            turned.map_err(Error::transposed).and_then(|a| transpose(&a).eval())
        }
        Stored::Entries(rows, columns, values) => {
            Matrix::triplets("npz::read", &Coo { nrows: shape.0, ncols: shape.1, rows, columns, values })
        }
    };
    made.map_err(|e| matrix::in_file(e, path, "npz::read_coo", |_| None))
}

/// The entries of a file in its order, those of one position kept, as SciPy means their sum:
/// `Matrix::build_with(&coo, Plus)`. O(e).
///
/// # Errors
/// As [`read`], duplicates apart.
/// ```
/// use oplus::{io::npz, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// # let path = std::env::temp_dir().join(format!("oplus-doc-c-{}.npz", std::process::id()));
/// let a: Matrix<f64> = Matrix::build(2, 3, &[(0, 2, 0.5)])?;
/// npz::write(&path, &a)?;
/// let a: Matrix<f64> = Matrix::build_with(&npz::read_coo(&path)?, Plus)?;
/// assert_eq!(a.entries()?, [(0, 2, 0.5)]);
/// # std::fs::remove_file(&path).ok();
/// # Ok(()) }
/// ```
pub fn read_coo<T: Scalar>(path: impl AsRef<Path>) -> Result<Coo<T>> {
    let path = path.as_ref();
    let ((nrows, ncols), read) = open::<T>(path)?;
    let coo = match read {
        Stored::Rows(offsets, columns, values) => {
            expanded(&offsets).map(|rows| Coo { nrows, ncols, rows, columns, values })
        }
        Stored::Columns(offsets, rows, values) => {
            expanded(&offsets).map(|columns| Coo { nrows, ncols, rows, columns, values })
        }
        Stored::Entries(rows, columns, values) => Ok(Coo { nrows, ncols, rows, columns, values }),
    };
    coo.map_err(|e| at_path(e, path))
}

/// The row of each entry; offsets were checked.
fn expanded(offsets: &[u64]) -> Result<Vec<u64>> {
    let mut rows = memory::with_capacity("npz::read", offsets.last().copied().unwrap_or(0) as usize)?;
    for (row, w) in offsets.windows(2).enumerate() {
        rows.extend(std::iter::repeat_n(row as u64, (w[1] - w[0]) as usize));
    }
    Ok(rows)
}

fn rows<T: Scalar, S>(
    (nrows, ncols): (u64, u64),
    offsets: Vec<u64>,
    indices: Vec<u64>,
    values: Vec<T>,
) -> Result<Matrix<T, S>> {
    let ascending = |w: &[u64]| {
        let row = &indices[w[0] as usize..w[1] as usize];
        row.windows(2).all(|w| w[0] < w[1])
    };
    if nrows.max(ncols) > u32::MAX as u64 || !offsets.windows(2).all(ascending) {
        let coo = Coo { nrows, ncols, rows: expanded(&offsets)?, columns: indices, values };
        return Matrix::triplets("npz::read", &coo);
    }
    let mut columns = memory::with_capacity("npz::read", indices.len())?;
    columns.extend(indices.iter().map(|j| *j as u32));
    drop(indices);
    Matrix::from_csr_parts(CsrParts { nrows, ncols, offsets, indices: columns, values, ..Default::default() })
}

fn open<T: Scalar>(path: &Path) -> Result<((u64, u64), Stored<T>)> {
    // What cannot be read at all, a folder for one, is the system's error.
    let file = file::readable(path)?;
    let read = |mut file: BufReader<File>| {
        end::check(file.get_mut())?;
        file.rewind().map_err(|e| io_failed("the beginning", &e))?;
        let archive = ZipArchive::new(file).map_err(|e| refused("not an archive of arrays", e));
        arrays(&mut archive?)
    };
    read(file).map_err(|e| at_path(e, path))
}

/// What is wrong with the archive, or with the reading of it.
fn refused(what: &str, e: ZipError) -> Error {
    match e {
        ZipError::Io(e) => io_failed(what, &e),
        e => Error::Parse { path: None, line: None, reason: format!("{what}: {e}") },
    }
}

/// One array of the archive.
fn array<'a>(archive: &'a mut Archive, name: &'static str) -> Result<Array<impl Read + use<'a>>> {
    let file = format!("{name}.npy");
    let entry = archive.by_name(&file).map_err(|e| refused(&file, e))?;
    let packed = entry.compressed_size();
    Array::new(name, entry, packed)
}

fn arrays<T: Scalar>(archive: &mut Archive) -> Result<((u64, u64), Stored<T>)> {
    let format = array(archive, "format")?.word()?;
    let shape = array(archive, "shape")?;
    if shape.count() > 8 {
        return bad(format!("{} dimensions", shape.count()));
    }
    let shape: Vec<u64> = shape.integers()?;
    let [nrows, ncols] = shape[..] else {
        return bad(format!("an array of shape {shape:?}, not a matrix"));
    };
    let read = match &format[..] {
        "csr" => {
            let (offsets, indices, values) = compressed(archive, "row", nrows, ncols)?;
            Stored::Rows(offsets, indices, values)
        }
        "csc" => {
            let (offsets, indices, values) = compressed(archive, "column", ncols, nrows)?;
            Stored::Columns(offsets, indices, values)
        }
        "coo" => {
            let (rows, columns) = triplets(archive)?;
            let values = values(archive, rows.len())?;
            within("row", &rows, nrows)?;
            within("column", &columns, ncols)?;
            Stored::Entries(rows, columns, values)
        }
        other => return bad(format!("format {other:?}: csr, csc and coo are read")),
    };
    Ok(((nrows, ncols), read))
}

/// Two lists of equal length.
fn triplets(archive: &mut Archive) -> Result<(Vec<u64>, Vec<u64>)> {
    if archive.index_for_name("coords.npy").is_some() {
        let both = array(archive, "coords")?;
        let (shape, fortran) = (both.shape.clone(), both.fortran);
        let [2, n] = shape[..] else { return bad(format!("coords.npy has the shape {shape:?}, not (2, entries)")) };
        let mut rows: Vec<u64> = both.integers()?;
        if fortran && n > 1 {
            return bad("coords.npy is in Fortran's order");
        }
        let columns = memory::copied("npz::read", rows.get(n as usize..).unwrap_or_default())?;
        rows.truncate(n as usize);
        return Ok((rows, columns));
    }
    let rows = array(archive, "row")?;
    let n = rows.length()?;
    let rows = rows.integers()?;
    let columns = array(archive, "col")?;
    if columns.length()? != n {
        return bad(format!("{n} rows and {} columns", columns.length()?));
    }
    Ok((rows, columns.integers()?))
}

fn values<T: Scalar>(archive: &mut Archive, n: usize) -> Result<Vec<T>> {
    let data = array(archive, "data")?;
    if data.length()? != n as u64 {
        return bad(format!("{n} indices and {} values", data.length()?));
    }
    data.values()
}

fn within(what: &str, indices: &[u64], bound: u64) -> Result<()> {
    match indices.iter().position(|i| *i >= bound) {
        Some(position) => {
            bad(format!("{what} {} at position {position} is out of range, there are {bound}", indices[position]))
        }
        None => Ok(()),
    }
}

/// Offsets of `outer` lists, indices below `inner`, values.
fn compressed<T: Scalar>(
    archive: &mut Archive,
    what: &str,
    outer: u64,
    inner: u64,
) -> Result<(Vec<u64>, Vec<u64>, Vec<T>)> {
    let offsets = array(archive, "indptr")?;
    if offsets.length()? != outer.saturating_add(1) {
        return bad(format!("{} offsets for {outer} {what}s: one more is needed", offsets.length()?));
    }
    let mut offsets: Vec<u64> = offsets.integers()?;
    if let Some(at) = offsets.windows(2).position(|w| w[0] > w[1]) {
        return bad(format!("offsets decrease at {what} {at}: {} to {}", offsets[at], offsets[at + 1]));
    }
    let last = offsets.last().copied().unwrap_or(0);
    if let Some(first @ 1..) = offsets.first() {
        return bad(format!("offsets begin with {first}, not 0"));
    }
    let indices = array(archive, "indices")?;
    let n = indices.length()?;
    if n < last {
        return bad(format!("offsets run to {last}, there are {n} indices"));
    }
    let mut indices: Vec<u64> = indices.integers()?;
    let mut values = values(archive, indices.len())?;
    // SciPy may keep room behind the last entry.
    indices.truncate(last as usize);
    values.truncate(last as usize);
    offsets.shrink_to_fit();
    within(if what == "row" { "column" } else { "row" }, &indices, inner)?;
    Ok((offsets, indices, values))
}
