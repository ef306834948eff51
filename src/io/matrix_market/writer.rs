//! The writer: coordinate, general, every number so that it reads back the same.
use super::header::Field;
use super::value::ToMatrixMarket;
use crate::container::Matrix;
use crate::error::{Error, Result};
use crate::io::file;
use crate::storage::Coo;
use rayon::prelude::*;
use std::io::Write;
use std::path::Path;

/// Entries formatted as one block, and blocks formatted at a time.
const BLOCK: usize = 1 << 14;
const AT_ONCE: usize = 64;
/// No entry is longer: two indices of 20 digits, two numbers of at most 25 characters, blanks.
const LINE: usize = 128;

/// Writes a matrix as a general coordinate file, compressed where the name ends in `.gz` or `.zst`; atomic: the file is
/// there whole or not at all. A `bool` matrix without stored `false` is written as a pattern. O(nnz(A)).
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
    write_coo(path, &a.to_coo()?)
}

/// Writes triplets in their order, as [`write()`] does; duplicates are kept. O(e).
///
/// # Errors
/// `InvalidValue` where the lists differ in length; `IndexOutOfBounds`; `Io`, `OutOfMemory`.
/// ```
/// use oplus::{io::matrix_market, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// # let path = std::env::temp_dir().join(format!("oplus-doc-c-{}.mtx", std::process::id()));
/// let edges = Coo { nrows: 2, ncols: 2, rows: vec![1, 0, 1], columns: vec![0, 1, 0], values: vec![1.0, 2.0, 4.0] };
/// matrix_market::write_coo(&path, &edges)?;
/// assert_eq!(matrix_market::read::<f64>(&path)?.values, [1.0, 2.0, 4.0]);
/// # std::fs::remove_file(&path).ok();
/// # Ok(()) }
/// ```
pub fn write_coo<T: ToMatrixMarket>(path: impl AsRef<Path>, coo: &Coo<T>) -> Result<()> {
    check(coo)?;
    let pattern = T::FIELD == Field::Pattern || coo.values.par_iter().all(|v| v.is_pattern()) && !coo.is_empty();
    let field = match T::FIELD {
        _ if pattern => "pattern",
        Field::Real => "real",
        Field::Integer => "integer",
        Field::Complex => "complex",
        Field::Pattern => "pattern",
    };
    let format = |block: usize| -> std::io::Result<Vec<u8>> {
        let (from, to) = (block * BLOCK, ((block + 1) * BLOCK).min(coo.len()));
        let mut text = crate::memory::with_capacity("write", 32 * (to - from)).map_err(std::io::Error::other)?;
        for ((i, j), v) in coo.rows[from..to].iter().zip(&coo.columns[from..to]).zip(&coo.values[from..to]) {
            crate::memory::reserve("write", &mut text, LINE).map_err(std::io::Error::other)?;
            write!(text, "{} {}", i + 1, j + 1)?;
            if !pattern {
                v.write(&mut text)?;
            }
            text.push(b'\n');
        }
        Ok(text)
    };
    file::write(path.as_ref(), |to| {
        writeln!(to, "%%MatrixMarket matrix coordinate {field} general")?;
        writeln!(to, "{} {} {}", coo.nrows, coo.ncols, coo.len())?;
        let blocks = coo.len().div_ceil(BLOCK);
        for first in (0..blocks).step_by(AT_ONCE) {
            let texts: Vec<_> = (first..blocks.min(first + AT_ONCE)).into_par_iter().map(format).collect();
            for text in texts {
                to.write_all(&text?)?;
            }
        }
        Ok(())
    })
}

fn check<T>(coo: &Coo<T>) -> Result<()> {
    let operation = "write";
    let lengths = [coo.rows.len(), coo.columns.len(), coo.values.len()];
    if lengths != [coo.len(); 3] {
        let reason =
            format!("{} rows, {} columns, {} values: the lists differ in length", lengths[0], lengths[1], lengths[2]);
        return Err(Error::InvalidValue { operation, reason });
    }
    for (what, indices, bound) in [("row", &coo.rows, coo.nrows), ("column", &coo.columns, coo.ncols)] {
        if let Some(position) = indices.par_iter().position_first(|i| *i >= bound) {
            let (position, index) = (position as u64, indices[position]);
            return Err(Error::IndexOutOfBounds { operation, what, position, index, bound });
        }
    }
    Ok(())
}
