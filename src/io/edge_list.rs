//! Edge lists: one edge a line, `source target [weight]`, separated by blanks, tabs, commas or semicolons.
use super::matrix_market::FromMatrixMarket;
use super::text::{Fields, Piece, at_path, line_where, lines_end, parse_error, pieces, shown, unmarked};
use super::{file, number, parts};
use crate::backend::cpu::collected;
use crate::error::{Error, Result};
use crate::memory;
use crate::storage::Coo;
use number::Refused;
use std::path::Path;

/// What stands between the fields of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delimiter {
    /// A comma where the line has one, else a semicolon where it has one, else blanks and tabs.
    #[default]
    Auto,
    /// Any number of blanks and tabs.
    Whitespace,
    /// One such character, with blanks around it or not: `b','`, `b'\t'`. Two in a row hold an empty field.
    Byte(u8),
}

/// The shape of the matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Square, one more than the largest index met.
    #[default]
    Square,
    /// As many rows as the sources need and as many columns as the targets need: bipartite graphs.
    Bipartite,
    /// These numbers of rows and columns; an index beyond is an error.
    Given(u64, u64),
}

/// What a line has after source and target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// A weight or nothing, which counts 1.
    #[default]
    Optional,
    /// A weight.
    Required,
    /// Anything: it is not read, every edge weighs 1.
    Ignored,
}

/// How an edge list is read; `Default` takes most files.
#[derive(Clone, Debug, Default)]
pub struct EdgeListOptions {
    /// Vertices are numbered from 1 in the file; from 0 otherwise.
    pub one_based: bool,
    /// The shape of the matrix.
    pub shape: Shape,
    /// What stands between the fields.
    pub delimiter: Delimiter,
    /// What a line has after source and target.
    pub weights: Weights,
    /// The first line that is no comment names columns and is passed over.
    pub header: bool,
}

const COMMENTS: &[&[u8]] = &[b"#", b"%", b"//"];

/// The edges i→j of a file as entries (i, j), in the file's order, duplicates kept; an edge without weight weighs 1.
///
/// Lines that begin with `#`, `%` or `//` are comments; `.gz` and `.zst` files are read too, known by their first bytes.
/// An undirected graph that lists each edge once needs the transpose added. O(bytes), parallel; the same for every
/// number of threads.
///
/// # Errors
/// `Io`; `Parse` with path and line; `InvalidValue` for a delimiter that is part of numbers or ends lines; `OutOfMemory`.
/// ```no_run
/// use oplus::io::edge_list::{self, EdgeListOptions};
/// let roads = edge_list::read::<f32>("roads.csv.gz", &EdgeListOptions { header: true, ..Default::default() })?;
/// # Ok::<(), oplus::Error>(())
/// ```
pub fn read<T: FromMatrixMarket>(path: impl AsRef<Path>, options: &EdgeListOptions) -> Result<Coo<T>> {
    let path = path.as_ref();
    file::read(path, &mut look).and_then(|text| parse(&text, options)).map_err(|e| at_path(e, path))
}

/// The edges of a text, compressed or not. O(bytes), parallel.
///
/// # Errors
/// `Parse` with the line; `InvalidValue` and `OutOfMemory` as [`read`].
/// ```
/// use oplus::io::edge_list;
/// let edges = edge_list::read_bytes::<f64>(b"# from to km\n0,1,2.5\n1\t2\n", &Default::default())?;
/// assert_eq!((edges.nrows, edges.values), (3, vec![2.5, 1.0]));
/// # Ok::<(), oplus::Error>(())
/// ```
pub fn read_bytes<T: FromMatrixMarket>(text: &[u8], options: &EdgeListOptions) -> Result<Coo<T>> {
    parse(&file::decompressed(text.into(), &mut look)?, options)
}

fn look(text: &[u8], _: bool) -> Result<()> {
    lines_end(text)
}

fn parse<T: FromMatrixMarket>(text: &[u8], options: &EdgeListOptions) -> Result<Coo<T>> {
    if let Delimiter::Byte(b @ (b'\n' | b'\r' | b'0'..=b'9' | b'.' | b'+' | b'-')) = options.delimiter {
        let reason = format!("{:?} cannot stand between fields", b as char);
        return Err(Error::InvalidValue { operation: "edge_list::read", reason });
    }
    let (mut fields, mut line) = (Fields::new(unmarked(text)), 1);
    let mut header = options.header;
    while header && !fields.at_end() {
        header = !fields.is_entry(COMMENTS);
        fields.next_line();
        line += 1;
    }
    let (pieces, ..) = pieces(fields.rest(), line, COMMENTS)?;
    let parsed = collected("read", pieces.len(), &|p| parse_piece(&pieces[p], options))?;
    let mut found = memory::with_capacity("read", parsed.len())?;
    for part in parsed {
        found.push(part?);
    }
    // The parts' shapes hold what their indices need.
    let needed = found.iter().fold((0, 0), |n: (u64, u64), p| (n.0.max(p.nrows), n.1.max(p.ncols)));
    let shape = match options.shape {
        Shape::Square => (needed.0.max(needed.1), needed.0.max(needed.1)),
        Shape::Bipartite => needed,
        Shape::Given(nrows, ncols) => (nrows, ncols),
    };
    parts::concatenate("read", shape, &found)
}

/// The line of the edge at `position` of a file without header.
pub(super) fn line_of(path: &Path, position: u64) -> Option<u64> {
    let (text, mut before) = (file::read(path, &mut look).ok()?, 0);
    line_where(unmarked(&text), 1, COMMENTS, |_| {
        before += 1;
        before > position
    })
}

fn parse_piece<T: FromMatrixMarket>(piece: &Piece<'_>, options: &EdgeListOptions) -> Result<Coo<T>> {
    let mut part = Coo::new(0, 0);
    parts::reserve("read", &mut part, piece.entries as usize)?;
    let (rows, columns) = match options.shape {
        Shape::Given(nrows, ncols) => (nrows, ncols),
        // An index of 2⁶⁴ − 1 would need a dimension of 2⁶⁴.
        _ => (u64::MAX, u64::MAX),
    };
    let (mut lines, mut line) = (Fields::new(piece.text), piece.line);
    while !lines.at_end() {
        let is_entry = lines.is_entry(COMMENTS);
        let content = lines.next_line();
        if is_entry {
            let mut cells = Cells::new(content, options.delimiter);
            let i = vertex(cells.next(), "source", rows, options, line)?;
            let j = vertex(cells.next(), "target", columns, options, line)?;
            let weight = weight(&mut cells, options.weights, line)?;
            (part.nrows, part.ncols) = (part.nrows.max(i + 1), part.ncols.max(j + 1));
            part.push(i, j, weight);
        }
        line += 1;
    }
    Ok(part)
}

/// The fields of one line; one that is there but empty is empty.
enum Cells<'a> {
    Blanks(Fields<'a>),
    Byte(u8, Option<&'a [u8]>),
}

impl<'a> Cells<'a> {
    fn new(line: &'a [u8], delimiter: Delimiter) -> Self {
        let between = match delimiter {
            Delimiter::Byte(b' ') | Delimiter::Whitespace => None,
            Delimiter::Byte(b) => Some(b),
            Delimiter::Auto => [b',', b';'].into_iter().find(|b| line.contains(b)),
        };
        between.map_or(Cells::Blanks(Fields::new(line)), |b| Cells::Byte(b, Some(line)))
    }
    fn next(&mut self) -> Option<&'a [u8]> {
        match self {
            Cells::Blanks(fields) => fields.next_field(),
            Cells::Byte(between, rest) => {
                let line = (*rest)?;
                let end = line.iter().position(|b| b == between);
                *rest = end.and_then(|n| line.get(n + 1..));
                Some(line[..end.unwrap_or(line.len())].trim_ascii())
            }
        }
    }
}

fn vertex(cell: Option<&[u8]>, what: &str, bound: u64, options: &EdgeListOptions, line: u64) -> Result<u64> {
    let Some(cell) = cell.filter(|c| !c.is_empty()) else {
        return Err(parse_error(line, format!("the {what} is missing")));
    };
    let base = options.one_based as u64;
    let reason = match number::unsigned(cell).map(|n| n.checked_sub(base)) {
        Ok(Some(index)) if index < bound => return Ok(index),
        Ok(None) => format!("{what} 0 in a list that counts from 1"),
        Err(Refused::NotANumber) => format!("{what}: {:?} is not a vertex number", shown(cell)),
        _ => format!("{what} {} is out of range, there are {bound}", shown(cell)),
    };
    Err(parse_error(line, reason))
}

fn weight<T: FromMatrixMarket>(cells: &mut Cells<'_>, weights: Weights, line: u64) -> Result<T> {
    if weights == Weights::Ignored {
        return Ok(T::pattern());
    }
    let value = match cells.next().filter(|cell| !cell.is_empty()) {
        Some(cell) => T::decimal(cell).map_err(|refused| {
            let why = if refused == Refused::NotANumber { "is no number for" } else { "does not fit" };
            parse_error(line, format!("weight {:?} {why} {}", shown(cell), T::TEXT.name))
        })?,
        None if weights == Weights::Optional => T::pattern(),
        _ => return Err(parse_error(line, "the weight is missing")),
    };
    match cells.next() {
        Some(extra) => Err(parse_error(line, format!("{:?} is too much on this line", shown(extra)))),
        None => Ok(value),
    }
}
