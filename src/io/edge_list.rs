//! Edge lists: one edge a line, `source target [weight]`, separated by blanks, tabs, commas or semicolons.
use super::matrix_market::FromMatrixMarket;
use super::{file, number};
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::Coo;
use std::path::Path;

/// How an edge list is read.
#[derive(Clone, Debug, Default)]
pub struct EdgeListOptions {
    /// Vertices are numbered from 1 in the file; from 0 otherwise.
    pub one_based: bool,
    /// Number of vertices; by default one more than the largest index met.
    pub vertices: Option<u64>,
    /// The first line that is no comment names columns and is passed over.
    pub header: bool,
}

/// The edges i→j of a file; an edge without weight weighs 1. Lines that begin with `#`, `%` or `//` are comments;
/// `.gz` and `.zst` files are read too. O(bytes).
///
/// # Errors
/// `Io`; `Parse` with path and line; `OutOfMemory`.
pub fn read<T: FromMatrixMarket>(path: impl AsRef<Path>, options: &EdgeListOptions) -> Result<Coo<T>> {
    let path = path.as_ref();
    read_bytes(&file::read(path)?, options).map_err(|e| match e {
        Error::Parse { line, reason, .. } => Error::Parse { path: Some(path.to_path_buf()), line, reason },
        other => other,
    })
}

/// The edges of a text.
/// ```
/// use oplus::io::edge_list;
/// let edges = edge_list::read_bytes::<f64>(b"# from to km\n0,1,2.5\n1\t2\n", &Default::default())?;
/// assert_eq!((edges.nrows, edges.values), (3, vec![2.5, 1.0]));
/// # Ok::<(), oplus::Error>(())
/// ```
///
/// # Errors
/// `Parse` with the line; `OutOfMemory`.
pub fn read_bytes<T: FromMatrixMarket>(text: &[u8], options: &EdgeListOptions) -> Result<Coo<T>> {
    let mut coo = Coo::new(0, 0);
    let (mut largest, mut header) = (None::<u64>, options.header);
    for (line, content) in (1u64..).zip(text.split(|b| *b == b'\n')) {
        let content = content.trim_ascii();
        if content.is_empty() || content.starts_with(b"#") || content.starts_with(b"%") || content.starts_with(b"//") {
            continue;
        }
        if std::mem::take(&mut header) {
            continue;
        }
        let mut tokens = number::tokens(content, b",;");
        let i = vertex(tokens.next(), "source", options, line)?;
        let j = vertex(tokens.next(), "target", options, line)?;
        let weight = match tokens.next() {
            None => T::pattern(),
            Some(t) => match number::integer(t).and_then(T::integer) {
                Some(v) => v,
                None => number::real(t)
                    .and_then(T::real)
                    .ok_or_else(|| bad(line, format!("weight {:?} is not a value of {}", lossy(t), T::TEXT.name)))?,
            },
        };
        if let Some(extra) = tokens.next() {
            return Err(bad(line, format!("{:?} is too much on this line", lossy(extra))));
        }
        largest = largest.max(Some(i.max(j)));
        memory::reserve("read", &mut coo.rows, 1)?;
        memory::reserve("read", &mut coo.columns, 1)?;
        memory::reserve("read", &mut coo.values, 1)?;
        coo.push(i, j, weight);
    }
    // An index is below u64::MAX, see `vertex`.
    coo.nrows = options.vertices.unwrap_or(largest.map_or(0, |n| n + 1));
    coo.ncols = coo.nrows;
    Ok(coo)
}

fn vertex(token: Option<&[u8]>, what: &str, options: &EdgeListOptions, line: u64) -> Result<u64> {
    let token = token.ok_or_else(|| bad(line, format!("the {what} is missing")))?;
    let n = number::unsigned(token).filter(|n| *n < u64::MAX);
    let n = n.ok_or_else(|| bad(line, format!("{what}: {:?} is not a vertex number", lossy(token))))?;
    let base = options.one_based as u64;
    let index = n.checked_sub(base).ok_or_else(|| bad(line, format!("{what} 0 in a list that counts from 1")))?;
    match options.vertices {
        Some(bound) if index >= bound => {
            Err(bad(line, format!("{what} {n} is out of range, there are {bound} vertices")))
        }
        _ => Ok(index),
    }
}

fn bad(line: u64, reason: String) -> Error {
    Error::Parse { path: None, line: Some(line), reason }
}

fn lossy(token: &[u8]) -> String {
    String::from_utf8_lossy(&token[..token.len().min(24)]).into_owned()
}
