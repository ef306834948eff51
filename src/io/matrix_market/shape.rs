//! Whether a matrix is what a file would say of it.
use super::header::{Header, Layout, Symmetry};
use super::value::{FromMatrixMarket, ToMatrixMarket};
use crate::algebra::scalar::as_bytes;
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::Coo;
use rayon::prelude::*;
use std::fmt;

const OPERATION: &str = "write";

fn not<T>(reason: String) -> Result<T> {
    Err(Error::InvalidValue { operation: OPERATION, reason })
}

/// Triplets by rows, each position once: where one is.
fn find<T>(coo: &Coo<T>, at: (u64, u64)) -> Option<usize> {
    let rows = coo.rows.partition_point(|i| *i < at.0)..coo.rows.partition_point(|i| *i <= at.0);
    coo.columns[rows.clone()].binary_search(&at.1).ok().map(|e| rows.start + e)
}

/// What the entry below the diagonal must be, mirrored.
fn mirrored<T: FromMatrixMarket>(v: T, symmetry: Symmetry) -> Option<T> {
    match symmetry {
        Symmetry::SkewSymmetric => v.negative(),
        Symmetry::Hermitian => Some(v.conjugate()),
        _ => Some(v),
    }
}

/// Refuses what has not the symmetry, naming the first entry of which that is so.
pub(super) fn has<T: FromMatrixMarket + ToMatrixMarket>(coo: &Coo<T>, symmetry: Symmetry) -> Result<()> {
    if symmetry == Symmetry::General {
        return Ok(());
    }
    if coo.nrows != coo.ncols {
        return Err(Error::NotSquare { operation: OPERATION, shape: (coo.nrows, coo.ncols) });
    }
    if symmetry == Symmetry::Hermitian && !T::COMPLEX {
        return not(format!("a Hermitian file holds complex values, not {}", T::TEXT.name));
    }
    let same = |x: T, y: T| x == y || as_bytes(&[x]) == as_bytes(&[y]);
    let fits = |e: usize| {
        let (i, j, v) = (coo.rows[e], coo.columns[e], coo.values[e]);
        if i == j {
            return symmetry != Symmetry::SkewSymmetric && (symmetry != Symmetry::Hermitian || v.is_real());
        }
        let Some(other) = find(coo, (j, i)) else { return false };
        let (below, above) = if i > j { (v, coo.values[other]) } else { (coo.values[other], v) };
        mirrored(below, symmetry).is_some_and(|m| same(m, above))
    };
    let Some(e) = (0..coo.len()).into_par_iter().position_first(|e| !fits(e)) else { return Ok(()) };
    let (i, j, v) = (coo.rows[e], coo.columns[e], coo.values[e]);
    let other = match find(coo, (j, i)) {
        _ if i == j && symmetry == Symmetry::SkewSymmetric => "on the diagonal".into(),
        _ if i == j => "on the diagonal, and not real".into(),
        Some(other) => format!("({j}, {i}) is {:?}", coo.values[other]),
        None => format!("({j}, {i}) is absent"),
    };
    not(format!("the matrix is not {symmetry}: ({i}, {j}) is {v:?}, {other}"))
}

/// Refuses what lacks an entry, naming the first that is absent; the diagonal of a skew-symmetric matrix is not asked for.
pub(super) fn is_full<T: Sync>(coo: &Coo<T>, symmetry: Symmetry) -> Result<()> {
    let skew = u64::from(symmetry == Symmetry::SkewSymmetric);
    let row = coo.ncols.saturating_sub(skew);
    if u128::from(coo.nrows) * u128::from(row) == coo.len() as u128 {
        return Ok(());
    }
    let at = |e: usize| {
        let (i, j) = (e as u64 / row, e as u64 % row);
        (i, j + u64::from(skew == 1 && j >= i))
    };
    let met = (0..coo.len()).into_par_iter().position_first(|e| at(e) != (coo.rows[e], coo.columns[e]));
    let (i, j) = at(met.unwrap_or(coo.len()));
    not(format!("({i}, {j}) is absent, an array has an entry everywhere"))
}

/// The entries on the diagonal and below.
pub(super) fn lower<T: Copy>(coo: &Coo<T>) -> Result<Coo<T>> {
    let kept = || (0..coo.len()).filter(|e| coo.rows[*e] >= coo.columns[*e]);
    let count = kept().count();
    let mut part = Coo::new(coo.nrows, coo.ncols);
    part.rows = memory::with_capacity(OPERATION, count)?;
    part.columns = memory::with_capacity(OPERATION, count)?;
    part.values = memory::with_capacity(OPERATION, count)?;
    kept().for_each(|e| part.push(coo.rows[e], coo.columns[e], coo.values[e]));
    Ok(part)
}

/// Where the triplet of (i, j) is among those of a full matrix by rows.
pub(super) fn place(header: &Header, i: u64, j: u64) -> usize {
    match header.symmetry {
        Symmetry::SkewSymmetric => i * (header.ncols - 1) + j - u64::from(j > i),
        _ => i * header.ncols + j,
    }
    .try_into()
    .unwrap_or(usize::MAX)
}

impl fmt::Display for Symmetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::General => "general",
            Self::Symmetric => "symmetric",
            Self::SkewSymmetric => "skew-symmetric",
            Self::Hermitian => "hermitian",
        })
    }
}

/// The banner and the size line.
impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use super::header::Field;
        let field = match self.field {
            Field::Real => "real",
            Field::Integer => "integer",
            Field::Complex => "complex",
            Field::Pattern => "pattern",
        };
        let (nrows, ncols) = (self.nrows, self.ncols);
        match self.layout {
            Layout::Coordinate => {
                writeln!(f, "%%MatrixMarket matrix coordinate {field} {}", self.symmetry)?;
                writeln!(f, "{nrows} {ncols} {}", self.stored)
            }
            Layout::Array => {
                writeln!(f, "%%MatrixMarket matrix array {field} {}", self.symmetry)?;
                writeln!(f, "{nrows} {ncols}")
            }
        }
    }
}
