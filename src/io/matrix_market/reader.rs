//! The reader: pieces of text in parallel, errors by the first bad line whatever the number of threads.
use super::header::{self, COMMENTS, Field, Header, Layout, Symmetry};
use super::value::{FromMatrixMarket, Refused};
use crate::backend::cpu::collected;
use crate::error::Result;
use crate::io::text::{Fields, Piece, at_path, line_where, lines_end, parse_error, pieces, shown};
use crate::io::{file, number, parts};
use crate::memory;
use crate::storage::Coo;
use std::path::Path;

/// The entries of a Matrix Market file, symmetric storage expanded.
///
/// gzip and Zstandard are known by their first bytes. O(bytes), parallel; the same entries in the same order for every
/// number of threads. What a file claims is believed only as far as its bytes go.
///
/// # Errors
/// `Io`; `Parse` with path and line; `OutOfMemory`.
/// ```no_run
/// use oplus::{io::matrix_market, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let graph: Matrix<bool, LorLand> = Matrix::from_coo(&matrix_market::read("web.mtx.gz")?)?;
/// # Ok(()) }
/// ```
pub fn read<T: FromMatrixMarket>(path: impl AsRef<Path>) -> Result<Coo<T>> {
    let path = path.as_ref();
    file::read(path, &mut look()).and_then(|text| parse(&text)).map_err(|e| at_path(e, path))
}

/// What a file says of itself; only its beginning is read. O(its comments).
///
/// # Errors
/// `Io`; `Parse` with path and line; `OutOfMemory`.
/// ```
/// use oplus::{io::matrix_market, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// # let path = std::env::temp_dir().join(format!("oplus-doc-h-{}.mtx", std::process::id()));
/// matrix_market::write(&path, &Matrix::<f64>::build(2, 3, &[(0, 2, 0.1)])?)?;
/// let header = matrix_market::read_header(&path)?;
/// assert_eq!((header.nrows, header.ncols, header.stored), (2, 3, 1));
/// # std::fs::remove_file(&path).ok();
/// # Ok(()) }
/// ```
pub fn read_header(path: impl AsRef<Path>) -> Result<Header> {
    let path = path.as_ref();
    file::read_until(path, header::beginning).map_err(|e| at_path(e, path))
}

/// The entries of a Matrix Market text, compressed or not. O(bytes), parallel.
///
/// # Errors
/// `Parse` with the line; `OutOfMemory`.
/// ```
/// use oplus::{io::matrix_market, prelude::*};
/// # fn main() -> oplus::Result<()> {
/// let text = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 5\n2 1 0.5\n";
/// let a: Matrix<f64> = Matrix::from_coo(&matrix_market::read_bytes(text)?)?;
/// assert_eq!(a.entries()?, [(0, 0, 5.0), (0, 1, 0.5), (1, 0, 0.5)]);
/// # Ok(()) }
/// ```
pub fn read_bytes<T: FromMatrixMarket>(text: &[u8]) -> Result<Coo<T>> {
    parse(&file::decompressed(text.into(), &mut look())?)
}

/// Looks at the header until it is there, then whether lines end.
fn look() -> impl FnMut(&[u8], bool) -> Result<()> {
    let mut known = false;
    move |text, whole| {
        known = known || header::beginning(text, whole)?.is_some();
        lines_end(text)
    }
}

fn parse<T: FromMatrixMarket>(text: &[u8]) -> Result<Coo<T>> {
    let header::Parsed { header, body, line } = header::parse(text)?;
    if header.field == Field::Complex && !T::COMPLEX {
        return Err(parse_error(1, format!("complex values cannot be read as {}", T::TEXT.name)));
    }
    // "1 1\n" and "1\n" are the shortest lines; the last one may lack its end.
    let shortest = if header.layout == Layout::Array { 2 } else { 4 };
    if header.stored > (body.len() as u64 + 1) / shortest {
        let reason = format!("{} entries promised, {} bytes follow: the file is truncated", header.stored, body.len());
        return Err(parse_error(line, reason));
    }
    let (pieces, entries, end) = pieces(body, line, COMMENTS)?;
    let parsed = collected("read", pieces.len(), &|p| parse_piece(&pieces[p], &header))?;
    let mut found = memory::with_capacity("read", parsed.len())?;
    for part in parsed {
        found.push(part?);
    }
    if entries < header.stored {
        let reason = format!("{} entries promised, {entries} are there: the file is truncated", header.stored);
        return Err(parse_error(end, reason));
    }
    parts::concatenate("read", (header.nrows, header.ncols), &found)
}

/// The line that holds, or implies, an entry of a coordinate file: the one at `position` of what is read.
pub(crate) fn line_of(path: &Path, position: u64) -> Option<u64> {
    let text = file::read(path, &mut look()).ok()?;
    let header::Parsed { header, body, line } = header::parse(&text).ok()?;
    let mut before = 0;
    line_where(body, line, COMMENTS, |fields| {
        let mut index = || fields.next_field().map(number::unsigned);
        let (i, j) = (index(), index());
        before += if header.symmetry == Symmetry::General || i == j { 1 } else { 2 };
        before > position
    })
}

fn parse_piece<T: FromMatrixMarket>(piece: &Piece<'_>, header: &Header) -> Result<Coo<T>> {
    let mut part = Coo::new(header.nrows, header.ncols);
    let each = if header.symmetry == Symmetry::General { 1 } else { 2 };
    // At least one byte of text stands behind each.
    parts::reserve("read", &mut part, piece.entries as usize * each)?;
    let (mut fields, mut line, mut entry) = (Fields::new(piece.text), piece.line, piece.entry);
    while !fields.at_end() {
        if fields.is_entry(COMMENTS) {
            if entry == header.stored {
                return Err(parse_error(line, format!("{} entries promised, here is one more", header.stored)));
            }
            let (i, j) = match header.layout {
                Layout::Coordinate => {
                    let i = index(fields.next_field(), "row", header.nrows, line)?;
                    (i, index(fields.next_field(), "column", header.ncols, line)?)
                }
                Layout::Array => array_position(entry, header),
            };
            let v: T = value(&mut fields, header.field, line)?;
            if let Some(extra) = fields.next_field() {
                return Err(parse_error(line, format!("{:?} is too much on this line", shown(extra))));
            }
            part.push(i, j, v);
            if header.symmetry != Symmetry::General {
                mirror(&mut part, (i, j, v), header.symmetry, line)?;
            }
            entry += 1;
        }
        fields.next_line();
        line += 1;
    }
    Ok(part)
}

/// The entry that a(i, j) = v implies.
fn mirror<T: FromMatrixMarket>(part: &mut Coo<T>, (i, j, v): (u64, u64, T), rule: Symmetry, line: u64) -> Result<()> {
    if i == j {
        return match rule {
            Symmetry::SkewSymmetric => Err(parse_error(line, "a skew-symmetric file has no entries on the diagonal")),
            Symmetry::Hermitian if !v.is_real() => Err(parse_error(line, "the diagonal of a Hermitian matrix is real")),
            _ => Ok(()),
        };
    }
    let mirrored = match rule {
        Symmetry::SkewSymmetric => v.negative().ok_or_else(|| {
            parse_error(line, format!("{v:?} has no negative in {}: skew-symmetry needs it", T::TEXT.name))
        })?,
        Symmetry::Hermitian => v.conjugate(),
        _ => v,
    };
    part.push(j, i, mirrored);
    Ok(())
}

#[inline]
fn index(text: Option<&[u8]>, what: &str, bound: u64, line: u64) -> Result<u64> {
    match text.map(number::unsigned) {
        Some(Ok(n)) if (1..=bound).contains(&n) => Ok(n - 1),
        read => Err(bad_index(text, read, what, bound, line)),
    }
}

#[cold]
fn bad_index(
    text: Option<&[u8]>,
    read: Option<Result<u64, Refused>>,
    what: &str,
    bound: u64,
    line: u64,
) -> crate::error::Error {
    let text = shown(text.unwrap_or_default());
    let reason = match read {
        None => format!("the {what} is missing"),
        Some(Err(Refused::NotANumber)) => format!("{what}: {text:?} is not a number"),
        Some(Ok(0)) => format!("{what} 0: Matrix Market counts from 1"),
        Some(_) => format!("{what} {text} is out of range, there are {bound}"),
    };
    parse_error(line, reason)
}

/// Where the n-th value of an array stands: columns first, symmetric ones from the diagonal (or below it) down.
pub(super) fn array_position(n: u64, header: &Header) -> (u64, u64) {
    let rows = header.nrows.max(1);
    let skip = match header.symmetry {
        Symmetry::General => return (n % rows, n / rows),
        Symmetry::SkewSymmetric => 1,
        _ => 0,
    };
    // The last column j that starts at or before n: starts are j·(rows − skip) − j(j − 1)/2.
    let start = |j: u128| j * (rows - skip) as u128 - j * j.saturating_sub(1) / 2;
    let (mut low, mut high) = (0u128, rows as u128);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if start(middle) <= n as u128 { low = middle } else { high = middle }
    }
    (low as u64 + skip + (n as u128 - start(low)) as u64, low as u64)
}

#[inline]
fn value<T: FromMatrixMarket>(fields: &mut Fields<'_>, field: Field, line: u64) -> Result<T> {
    if field == Field::Pattern {
        return Ok(T::pattern());
    }
    let Some(text) = fields.next_field() else { return Err(parse_error(line, "the value is missing")) };
    let value = match field {
        Field::Integer => match number::integer(text) {
            Ok(x) => T::integer(x).ok_or(Refused::DoesNotFit),
            // More digits than an i128 has are none too many for a float.
            Err(Refused::DoesNotFit) => T::decimal(text),
            Err(refused) => Err(refused),
        },
        Field::Complex => {
            let Some(im) = fields.next_field() else { return Err(parse_error(line, "the imaginary part is missing")) };
            T::parts(text, im)
        }
        _ => T::decimal(text),
    };
    value.map_err(|refused| match refused {
        Refused::DoesNotFit => parse_error(line, format!("{} does not fit {}", shown(text), T::TEXT.name)),
        Refused::NotANumber => parse_error(line, format!("value: {:?} is not a number", shown(text))),
    })
}
