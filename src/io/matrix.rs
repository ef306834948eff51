//! A matrix or a vector straight from a file, and into one.
use super::{binary, edge_list, matrix_market};
use crate::container::{Matrix, Vector};
use crate::error::{Error, Result};
use crate::io::matrix_market::{FromMatrixMarket, ToMatrixMarket};
use std::path::Path;

/// What a file's name says of it.
enum Kind {
    MatrixMarket,
    EdgeList,
    Binary,
    Npz,
}

fn kind(path: &Path) -> Kind {
    // Not as text: names need not be UTF-8.
    let name = path.file_name().unwrap_or_default().as_encoded_bytes().to_ascii_lowercase();
    let name = name.strip_suffix(b".gz").or_else(|| name.strip_suffix(b".zst")).unwrap_or(&name);
    let ending = name.iter().rposition(|b| *b == b'.').map_or(&b""[..], |point| &name[point + 1..]);
    match ending {
        b"tsv" | b"csv" | b"txt" | b"el" | b"edges" => Kind::EdgeList,
        b"oplus" => Kind::Binary,
        b"npz" => Kind::Npz,
        _ => Kind::MatrixMarket,
    }
}

/// What is wrong with a file's entries is wrong with the file: `line` finds the one of an entry, where there are lines. `all` reads
/// those that are there twice.
pub(super) fn in_file(e: Error, path: &Path, all: &str, line: impl FnOnce(u64) -> Option<u64>) -> Error {
    let Error::DuplicateEntry { row, column, position, .. } = e else { return e };
    // What comes through a pipe comes once: nobody writes it again.
    let again = std::fs::metadata(path).is_ok_and(|about| about.is_file());
    let line = if again { line(position) } else { None };
    let again = if line.is_some() { "here again".into() } else { format!("again at entry {position}") };
    let reason = format!(
        "entry ({row}, {column}), counted from 0, is there twice: {again}; `build_with` folds what `{all}` reads"
    );
    Error::Parse { path: Some(path.to_path_buf()), line, reason }
}

impl<T: FromMatrixMarket, S> Matrix<T, S> {
    /// The matrix in a file, by the ending of its name: an edge list in `.tsv`, `.csv`, `.txt`, `.el` and `.edges`, the
    /// [binary format](crate::io::binary) in `.oplus`, SciPy's in `.npz` (with the feature `npz`), else Matrix Market;
    /// `.gz` and `.zst` behind that are read too, but for `.npz`; capitals are no others. The same position twice is an error: read the triplets
    /// and [`build_with`](Self::build_with) a fold for files that repeat themselves. Edge lists with a line of names, or with other columns than
    /// source, target and weight, are read by [`edge_list::read`], which has options, and made by [`from_coo`](Self::from_coo).
    /// O(bytes + e log e), parallel.
    ///
    /// # Errors
    /// `Io`; `Parse` with the path, and the line where there is one; `OutOfMemory`; `NotSupported` for `.npz` without the feature and for
    /// `.oplus` on big-endian machines.
    /// ```no_run
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let roads: Matrix<f32, MinPlus> = Matrix::read("roads.mtx.gz")?;
    /// roads.write("roads.oplus")?;
    /// # Ok(()) }
    /// ```
    #[doc(alias("mmread", "load"))]
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let kind = kind(path);
        let coo = match kind {
            Kind::Binary => return binary::read(path),
            #[cfg(feature = "npz")]
            Kind::Npz => return super::npz::read(path),
            #[cfg(not(feature = "npz"))]
            Kind::Npz => return Err(without_npz("read")),
            Kind::EdgeList => edge_list::read(path, &Default::default())?,
            Kind::MatrixMarket => matrix_market::read(path)?,
        };
        let made = Self::triplets("read", &coo);
        made.map_err(|e| match kind {
            Kind::EdgeList => in_file(e, path, "edge_list::read", |position| edge_list::line_of(path, position)),
            _ => in_file(e, path, "matrix_market::read", |position| matrix_market::line_of(path, position)),
        })
    }
}

impl<T: ToMatrixMarket, S> Matrix<T, S> {
    /// Writes a file that [`read`](Self::read) reads, by the ending of its name; edge lists are not written, nor is `.npz` packed once
    /// more. The file is there whole or not at all, and is on the disk before it takes the name; a link is followed, and a pipe or a device
    /// written to. So is what the process has open, `/dev/stdout` or `/dev/fd/3`, a file too: behind what was written to it, of which nothing
    /// is lost. O(bytes).
    ///
    /// # Errors
    /// `Io`, `OutOfMemory`, `NotSupported`; on CUDA `Driver`.
    #[doc(alias("mmwrite", "save"))]
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        match kind(path) {
            Kind::Binary => binary::write(path, self),
            #[cfg(feature = "npz")]
            Kind::Npz => super::npz::write(path, self),
            #[cfg(not(feature = "npz"))]
            Kind::Npz => Err(without_npz("write")),
            Kind::EdgeList => {
                let reason = format!("{}: edge lists are read, not written", path.display());
                Err(Error::NotSupported { operation: "write", reason })
            }
            Kind::MatrixMarket => matrix_market::write(path, self),
        }
    }
}

impl<T: FromMatrixMarket, S> Vector<T, S> {
    /// The vector in a file, a matrix of one column or one row, by the ending of its name as [`Matrix::read`]: a
    /// right-hand side in Matrix Market's array or coordinate format, a vector in `.oplus`. O(bytes + e log e), parallel.
    ///
    /// # Errors
    /// `Io`; `Parse` with the path, where it holds a wider matrix too; `OutOfMemory`; `NotSupported` for edge lists, and as [`Matrix::read`].
    /// ```no_run
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let b: Vector<f64> = Vector::read("poisson_b.mtx")?;
    /// b.write("b.oplus")?;
    /// # Ok(()) }
    /// ```
    #[doc(alias("mmread", "load"))]
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let coo = match kind(path) {
            Kind::Binary => return binary::read_vector(path),
            Kind::EdgeList => {
                let reason = format!("{}: an edge list is no vector", path.display());
                return Err(Error::NotSupported { operation: "read", reason });
            }
            Kind::Npz => Matrix::<T, S>::read(path)?.to_coo()?,
            Kind::MatrixMarket => matrix_market::read(path)?,
        };
        Self::triplets("read", &coo).map_err(|e| match e {
            Error::InvalidValue { reason, .. } => Error::Parse { path: Some(path.to_path_buf()), line: None, reason },
            e => in_file(e, path, "matrix_market::read", |position| matrix_market::line_of(path, position)),
        })
    }
}

impl<T: ToMatrixMarket, S> Vector<T, S> {
    /// Writes a file that [`read`](Self::read) reads, by the ending of its name: but for `.oplus` a matrix of one column. O(bytes).
    ///
    /// # Errors
    /// `Io`, `OutOfMemory`, `NotSupported`; on CUDA `Driver`.
    #[doc(alias("mmwrite", "save"))]
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        match kind(path) {
            Kind::Binary => binary::write_vector(path, self),
            _ => Matrix::<T, S>::triplets("write", &self.to_coo()?)?.write(path),
        }
    }
}

#[cfg(not(feature = "npz"))]
fn without_npz(operation: &'static str) -> Error {
    Error::NotSupported { operation, reason: "oplus was built without the feature `npz`".into() }
}
