//! The writer: every number so that it reads back the same.
use super::header::{Field, Header, Layout, Symmetry};
use super::reader::array_position;
use super::shape;
use super::value::{FromMatrixMarket, ToMatrixMarket};
use crate::container::Matrix;
use crate::error::{Error, Result};
use crate::io::output;
use crate::options::setters;
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
    coordinates(path.as_ref(), coo, Symmetry::General)
}

/// How a file is written; `Default` is how [`write()`] does it. Others are set one by one.
/// ```
/// use oplus::io::matrix_market::{Layout, Symmetry, WriteOptions};
/// let options = WriteOptions::default().with_layout(Layout::Array).with_symmetry(Symmetry::Hermitian);
/// assert_eq!((options.layout, options.symmetry), (Layout::Array, Symmetry::Hermitian));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// One entry a line with its position, or all values column by column.
    pub layout: Layout,
    /// Which entries are written: all, or those of the lower triangle, which say the others.
    pub symmetry: Symmetry,
}

setters! { WriteOptions {
    with_layout(layout: Layout);
    with_symmetry(symmetry: Symmetry);
} }

/// Writes a matrix in a layout and with a symmetry, which it must have: of every symmetry
/// a(j, i) = a(i, j), −a(i, j) without entries on the diagonal, or the conjugate of a(i, j), by `==` or to the bit. An array has
/// an entry everywhere, but for the diagonal of a skew-symmetric one: it cannot tell nothing from 0. Compressed and atomic as
/// [`write()`]. O(nnz(A) log nnz(A)), parallel.
///
/// # Errors
/// `NotSquare`; `InvalidValue` with the path and the first position at which the matrix is not so, or where a Hermitian file is asked for of
/// values that are not complex; `Io`, `OutOfMemory`; on CUDA `Driver`.
/// ```
/// use oplus::io::matrix_market::{self, Layout, Symmetry, WriteOptions};
/// use oplus::prelude::*;
/// # fn main() -> oplus::Result<()> {
/// # let path = std::env::temp_dir().join(format!("oplus-doc-s-{}.mtx", std::process::id()));
/// let a: Matrix<f64> = Matrix::build(2, 2, &[(0, 0, 4.0), (0, 1, 0.5), (1, 0, 0.5)])?;
/// let symmetric = WriteOptions::default().with_symmetry(Symmetry::Symmetric);
/// matrix_market::write_with(&path, &a, &symmetric)?;
/// assert_eq!(matrix_market::read_header(&path)?.stored, 2);
/// assert_eq!(Matrix::<f64>::read(&path)?.entries()?, a.entries()?);
/// let array = symmetric.with_layout(Layout::Array);
/// assert!(matrix_market::write_with(&path, &a, &array).is_err());         // (1, 1) is absent
/// # std::fs::remove_file(&path).ok();
/// # Ok(()) }
/// ```
pub fn write_with<T: FromMatrixMarket + ToMatrixMarket, S>(
    path: impl AsRef<Path>,
    a: &Matrix<T, S>,
    options: &WriteOptions,
) -> Result<()> {
    let (path, array_asked) = (path.as_ref(), options.layout == Layout::Array);
    let refused = |e| match e {
        Error::InvalidValue { operation, reason } => {
            Error::InvalidValue { operation, reason: format!("{}: {reason}", path.display()) }
        }
        other => other,
    };
    let skew = options.symmetry == Symmetry::SkewSymmetric;
    if T::FIELD == Field::Pattern && (skew || array_asked) {
        let reason = format!("a pattern, as {} is written, is neither skew-symmetric nor an array", T::TEXT.name);
        return Err(refused(Error::InvalidValue { operation: "write", reason }));
    }
    let coo = a.to_coo()?;
    shape::has(&coo, options.symmetry).map_err(refused)?;
    if array_asked {
        shape::is_full(&coo, options.symmetry).map_err(refused)?;
        return array(path, &coo, options.symmetry);
    }
    match options.symmetry {
        Symmetry::General => coordinates(path, &coo, options.symmetry),
        symmetry => coordinates(path, &shape::lower(&coo)?, symmetry),
    }
}

fn coordinates<T: ToMatrixMarket>(path: &Path, coo: &Coo<T>, symmetry: Symmetry) -> Result<()> {
    // There is no −true.
    let may = symmetry != Symmetry::SkewSymmetric;
    let pattern = T::FIELD == Field::Pattern || may && coo.values.par_iter().all(|v| v.is_pattern()) && !coo.is_empty();
    let field = if pattern { Field::Pattern } else { T::FIELD };
    let (nrows, ncols, stored) = (coo.nrows, coo.ncols, coo.len() as u64);
    let header = Header { layout: Layout::Coordinate, field, symmetry, nrows, ncols, stored };
    put(path, &header, &|e, text| {
        write!(text, "{} {}", coo.rows[e] + 1, coo.columns[e] + 1)?;
        if pattern { Ok(()) } else { coo.values[e].write(text) }
    })
}

/// Triplets in order that have an entry everywhere.
fn array<T: ToMatrixMarket>(path: &Path, coo: &Coo<T>, symmetry: Symmetry) -> Result<()> {
    let (field, nrows, ncols, n) = (T::FIELD, coo.nrows, coo.ncols, coo.nrows);
    let stored = match symmetry {
        Symmetry::General => coo.len() as u64,
        Symmetry::SkewSymmetric => n * n.saturating_sub(1) / 2,
        _ => n * (n + 1) / 2,
    };
    let header = Header { layout: Layout::Array, field, symmetry, nrows, ncols, stored };
    put(path, &header, &|e, text| {
        let (i, j) = array_position(e as u64, &header);
        let from = text.len();
        coo.values[shape::place(&header, i, j)].write(text)?;
        // The blank is for what stands before it.
        if text.get(from) == Some(&b' ') {
            text.remove(from);
        }
        Ok(())
    })
}

/// The header, and the lines that `line` writes of each entry.
fn put(path: &Path, header: &Header, line: &(dyn Fn(usize, &mut Vec<u8>) -> std::io::Result<()> + Sync)) -> Result<()> {
    let count = header.stored as usize;
    let format = |block: usize| -> std::io::Result<Vec<u8>> {
        let (from, to) = (block * BLOCK, ((block + 1) * BLOCK).min(count));
        let mut text = crate::memory::with_capacity("write", 32 * (to - from)).map_err(std::io::Error::other)?;
        for e in from..to {
            crate::memory::reserve("write", &mut text, LINE).map_err(std::io::Error::other)?;
            line(e, &mut text)?;
            text.push(b'\n');
        }
        Ok(text)
    };
    output::write(path, |to| {
        write!(to, "{header}")?;
        let blocks = count.div_ceil(BLOCK);
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
            let (position, index) = (Some(position as u64), indices[position]);
            return Err(Error::IndexOutOfBounds { operation, what, position, index, bound });
        }
    }
    Ok(())
}
