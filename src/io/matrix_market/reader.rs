//! The reader: chunks of lines in parallel, errors by the first bad line whatever the number of threads.
use super::header::{self, Field, Header, Layout, Symmetry, parse_error, shown};
use super::value::FromMatrixMarket;
use crate::error::{Error, Result};
use crate::io::{file, number};
use crate::memory;
use crate::storage::Coo;
use rayon::prelude::*;
use std::path::Path;

const CHUNK: usize = 1 << 20;
/// The shortest line an entry of a pattern file can have: "1 1\n".
const SHORTEST_LINE: u64 = 4;

/// The entries of a Matrix Market file, symmetric storage expanded.
///
/// O(bytes), parallel. What a file claims is believed only as far as its bytes go.
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
    read_bytes(&file::read(path)?).map_err(|e| at_path(e, path))
}

/// What a file says of itself.
///
/// # Errors
/// `Io`; `Parse` with path and line.
pub fn read_header(path: impl AsRef<Path>) -> Result<Header> {
    let path = path.as_ref();
    header::parse(&file::read(path)?).map(|h| h.0).map_err(|e| at_path(e, path))
}

fn at_path(e: Error, path: &Path) -> Error {
    match e {
        Error::Parse { line, reason, .. } => Error::Parse { path: Some(path.to_path_buf()), line, reason },
        other => other,
    }
}

/// The entries of a Matrix Market text.
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
    let (header, body, first_line) = header::parse(text)?;
    if header.field == Field::Complex {
        return Err(parse_error(1, format!("complex values cannot be read as {}", T::TEXT.name)));
    }
    let text = &text[body..];
    let shortest = if header.layout == Layout::Array { 2 } else { SHORTEST_LINE };
    // Bounded by the bytes that are there: the last line may lack its newline.
    if header.stored > (text.len() as u64 + 1) / shortest {
        let reason = format!("{} entries promised, {} bytes follow: the file is truncated", header.stored, text.len());
        return Err(parse_error(first_line, reason));
    }
    let chunks = chunks(text);
    let counted: Vec<(u64, u64)> = chunks.par_iter().map(|c| count(c)).collect();
    let (mut line, mut entry) = (first_line, 0u64);
    let mut starts = memory::with_capacity("read", chunks.len())?;
    for (lines, entries) in &counted {
        starts.push((line, entry));
        (line, entry) = (line + lines, entry + entries);
    }
    if entry < header.stored {
        return Err(parse_error(
            line,
            format!("{} entries promised, {entry} are there: the file is truncated", header.stored),
        ));
    }
    let parsed: Vec<Result<Part<T>>> =
        chunks.par_iter().zip(&starts).map(|(c, (line, entry))| parse_chunk(c, *line, *entry, &header)).collect();
    let mut coo = Coo::new(header.nrows, header.ncols);
    let mut parts = memory::with_capacity("read", parsed.len())?;
    for part in parsed {
        parts.push(part?);
    }
    let total = parts.iter().map(|p| p.values.len()).sum();
    memory::reserve("read", &mut coo.rows, total)?;
    memory::reserve("read", &mut coo.columns, total)?;
    memory::reserve("read", &mut coo.values, total)?;
    for part in parts {
        coo.rows.extend_from_slice(&part.rows);
        coo.columns.extend_from_slice(&part.columns);
        coo.values.extend_from_slice(&part.values);
    }
    Ok(coo)
}

/// Pieces that end at line ends.
fn chunks(mut text: &[u8]) -> Vec<&[u8]> {
    let mut chunks = Vec::new();
    while !text.is_empty() {
        let from = CHUNK.min(text.len());
        let end = text[from..].iter().position(|b| *b == b'\n').map_or(text.len(), |n| from + n + 1);
        let (chunk, rest) = text.split_at(end);
        chunks.push(chunk);
        text = rest;
    }
    chunks
}

fn is_entry(line: &[u8]) -> bool {
    !line.starts_with(b"%") && line.iter().any(|b| !b.is_ascii_whitespace())
}

/// Lines and entries of a chunk.
fn count(chunk: &[u8]) -> (u64, u64) {
    chunk.split_inclusive(|b| *b == b'\n').fold((0, 0), |(l, e), line| (l + 1, e + is_entry(line) as u64))
}

type Part<T> = Coo<T>;

fn parse_chunk<T: FromMatrixMarket>(chunk: &[u8], first: u64, mut entry: u64, header: &Header) -> Result<Part<T>> {
    let mut part = Coo::new(header.nrows, header.ncols);
    let room = chunk.len() / if header.layout == Layout::Array { 8 } else { 12 };
    memory::reserve("read", &mut part.rows, room)?;
    memory::reserve("read", &mut part.columns, room)?;
    memory::reserve("read", &mut part.values, room)?;
    for (line, content) in (first..).zip(chunk.split_inclusive(|b| *b == b'\n')) {
        if !is_entry(content) {
            continue;
        }
        if entry == header.stored {
            return Err(parse_error(line, format!("{} entries promised, here is one more", header.stored)));
        }
        let mut tokens = number::tokens(content, b"");
        let (i, j) = match header.layout {
            Layout::Coordinate => {
                (index(tokens.next(), "row", header.nrows, line)?, index(tokens.next(), "column", header.ncols, line)?)
            }
            Layout::Array => array_position(entry, header),
        };
        let v: T = value(&mut tokens, header.field, line)?;
        if let Some(extra) = tokens.next() {
            return Err(parse_error(line, format!("{:?} is too much on this line", shown(extra))));
        }
        entry += 1;
        push(&mut part, (i, j, v), header.symmetry, line)?;
    }
    Ok(part)
}

// The format asks for the lower triangle; published files have upper entries too, and mirroring serves both.
fn push<T: FromMatrixMarket>(
    part: &mut Part<T>,
    (i, j, v): (u64, u64, T),
    symmetry: Symmetry,
    line: u64,
) -> Result<()> {
    memory::reserve("read", &mut part.rows, 2)?;
    memory::reserve("read", &mut part.columns, 2)?;
    memory::reserve("read", &mut part.values, 2)?;
    part.push(i, j, v);
    if symmetry == Symmetry::General {
        return Ok(());
    }
    if i == j {
        return match symmetry {
            Symmetry::SkewSymmetric => Err(parse_error(line, "a skew-symmetric file has no entries on the diagonal")),
            _ => Ok(()),
        };
    }
    let mirrored = match symmetry {
        Symmetry::SkewSymmetric => {
            v.negative().ok_or_else(|| parse_error(line, "the value has no negative in this type"))?
        }
        _ => v,
    };
    part.push(j, i, mirrored);
    Ok(())
}

fn index(token: Option<&[u8]>, what: &str, bound: u64, line: u64) -> Result<u64> {
    let token = token.ok_or_else(|| parse_error(line, format!("the {what} is missing")))?;
    match number::unsigned(token) {
        None => Err(parse_error(line, format!("{what}: {:?} is not a number", shown(token)))),
        Some(0) => Err(parse_error(line, format!("{what} 0: Matrix Market counts from 1"))),
        Some(n) if n > bound => Err(parse_error(line, format!("{what} {n} is out of range, there are {bound}"))),
        Some(n) => Ok(n - 1),
    }
}

/// Where the n-th value of an array stands: columns first, symmetric ones from the diagonal (or below it) down.
fn array_position(n: u64, header: &Header) -> (u64, u64) {
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

fn value<'a, T: FromMatrixMarket>(tokens: &mut impl Iterator<Item = &'a [u8]>, field: Field, line: u64) -> Result<T> {
    if field == Field::Pattern {
        return Ok(T::pattern());
    }
    let token = tokens.next().ok_or_else(|| parse_error(line, "the value is missing"))?;
    let value = match field {
        Field::Integer => number::integer(token).map(T::integer),
        _ => number::real(token).map(T::real),
    };
    match value {
        Some(Some(v)) => Ok(v),
        Some(None) => Err(parse_error(line, format!("{} does not fit {}", shown(token), T::TEXT.name))),
        None => Err(parse_error(line, format!("value: {:?} is not a number", shown(token)))),
    }
}
