//! The writer: coordinate, general, every number so that it reads back the same.
use super::header::Field;
use super::value::ToMatrixMarket;
use crate::container::Matrix;
use crate::error::Result;
use crate::io::file;
use std::path::Path;

/// Writes a matrix as a general coordinate file, compressed where the name ends in `.gz` or `.zst`; atomic: the file is
/// there whole or not at all.
///
/// # Errors
/// `Io`, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::{io::matrix_market, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// # let path = std::env::temp_dir().join(format!("oplus-doc-{}.mtx", std::process::id()));
/// let a: Matrix<f64> = Matrix::build(2, 3, &[(0, 2, 0.1)])?;
/// matrix_market::write(&path, &a)?;
/// assert_eq!(matrix_market::read::<f64>(&path)?.values, [0.1]);
/// # std::fs::remove_file(&path).ok();
/// # Ok(()) }
/// ```
pub fn write<T: ToMatrixMarket, S>(path: impl AsRef<Path>, a: &Matrix<T, S>) -> Result<()> {
    let coo = a.to_coo()?;
    file::write(path.as_ref(), |to| {
        let field = match T::FIELD {
            Field::Real => "real",
            Field::Integer => "integer",
            Field::Complex => "complex",
            Field::Pattern => "pattern",
        };
        writeln!(to, "%%MatrixMarket matrix coordinate {field} general")?;
        writeln!(to, "{} {} {}", coo.nrows, coo.ncols, coo.len())?;
        for ((i, j), v) in coo.rows.iter().zip(&coo.columns).zip(&coo.values) {
            write!(to, "{} {}", i + 1, j + 1)?;
            v.write(to)?;
            writeln!(to)?;
        }
        Ok(())
    })
}
