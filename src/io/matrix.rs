//! A matrix straight from a file.
use super::{edge_list, matrix_market};
use crate::container::Matrix;
use crate::error::{Error, Result};
use crate::io::matrix_market::FromMatrixMarket;
use std::path::Path;

impl<T: FromMatrixMarket, S> Matrix<T, S> {
    /// The matrix in a file: an edge list where the name ends in `.tsv`, `.csv`, `.txt`, `.el` or `.edges`, else Matrix
    /// Market; `.gz` and `.zst` behind that are read too. The same position twice is an error: read the triplets and
    /// [`build_with`](Self::build_with) a fold for files that repeat themselves. O(bytes + e log e), parallel.
    ///
    /// # Errors
    /// `Io`; `Parse` with the path, and the line where there is one; `OutOfMemory`.
    /// ```no_run
    /// use oplus::prelude::*;
    /// # fn main() -> oplus::Result<()> {
    /// let roads: Matrix<f32, MinPlus> = Matrix::read("roads.mtx.gz")?;
    /// # Ok(()) }
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let coo = match is_edge_list(path) {
            true => edge_list::read(path, &Default::default())?,
            false => matrix_market::read(path)?,
        };
        Self::from_coo(&coo).map_err(|e| match e {
            Error::DuplicateEntry { row, column, position, .. } => {
                let reason =
                    format!("entry ({row}, {column}), counted from 0, is there twice: again at entry {position}");
                Error::Parse { path: Some(path.to_path_buf()), line: None, reason }
            }
            other => other,
        })
    }
}

fn is_edge_list(path: &Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    [".tsv", ".csv", ".txt", ".el", ".edges"].iter().any(|ending| name.ends_with(ending))
}
