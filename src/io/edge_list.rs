//! Edge lists: one edge a line, `source target [weight]` or chosen columns, separated by blanks, tabs, commas or semicolons.
use super::cells::{Cells, has};
use super::matrix_market::FromMatrixMarket;
use super::text::{Fields, Piece, at_path, line_where, lines_end, parse_error, pieces, shown, unmarked};
use super::{file, number, parts};
use crate::backend::cpu::collected;
use crate::error::{Error, Result};
use crate::memory;
use crate::options::setters;
use crate::storage::Coo;
use number::Refused;
use std::path::Path;

/// What stands between the fields of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delimiter {
    /// A comma where the line has one outside of double-quoted fields, else a semicolon where it has one, else blanks and tabs.
    /// (Quotes begin a field at the beginning of the line and behind such a comma or semicolon, not behind blanks and tabs alone.)
    #[default]
    Auto,
    /// Any number of blanks and tabs.
    Whitespace,
    /// One such character, no letter and no digit, with blanks around it or not: `b','`, `b'\t'`; a blank is as `Whitespace`.
    /// Two in a row hold an empty field, and a field in
    /// double quotes ends with them: `"12"`, `"Smith, J."`.
    Byte(u8),
}

/// The shape of the matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// Square, one more than the largest index met.
    #[default]
    Square,
    /// As many rows as the sources need and as many columns as the targets need: bipartite graphs.
    Bipartite,
    /// These numbers of rows and columns; an index beyond is an error.
    Given(u64, u64),
}

/// Which fields of a line are the edge's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Columns {
    /// The source, the target, then what [`Weights`] says; a field more is an error.
    #[default]
    InOrder,
    /// These, counted from 0, whatever else a line has: `src,dst,weight,timestamp` is read with columns 0, 1 and 2,
    /// `id,src,dst` with 1 and 2. Each must be there; without a column of weights every edge weighs 1.
    Chosen {
        /// The column of sources.
        source: usize,
        /// The column of targets.
        target: usize,
        /// The column of weights, where there is one.
        weight: Option<usize>,
    },
}

/// What a line says of the edge's weight, after source and target or in the column chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weights {
    /// A weight or nothing, which counts 1; in a chosen column an empty field.
    #[default]
    Optional,
    /// A weight.
    Required,
    /// Anything: it is not read, every edge weighs 1.
    Ignored,
}

/// How an edge list is read; `Default` takes most files, others are read with options set one by one.
/// ```
/// use oplus::io::edge_list::{self, Delimiter, EdgeListOptions, Shape, Weights};
/// let options = EdgeListOptions::default().with_one_based(true).with_weights(Weights::Required);
/// let options = options.with_delimiter(Delimiter::Byte(b'|')).with_shape(Shape::Given(4, 5)).with_header(true);
/// let edges = edge_list::read_bytes::<f64>(b"from|to|km\n1|2|2.5\n", &options)?;
/// assert_eq!((edges.nrows, edges.rows, edges.columns, edges.values), (4, vec![0], vec![1], vec![2.5]));
/// # Ok::<(), oplus::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EdgeListOptions {
    /// Vertices are numbered from 1 in the file; from 0 otherwise.
    pub one_based: bool,
    /// The shape of the matrix.
    pub shape: Shape,
    /// What stands between the fields.
    pub delimiter: Delimiter,
    /// Which fields of a line are the edge's.
    pub columns: Columns,
    /// What a line says of the edge's weight.
    pub weights: Weights,
    /// The first line that is no comment names columns and is passed over.
    pub header: bool,
}

setters! { EdgeListOptions {
    with_one_based(one_based: bool);
    with_shape(shape: Shape);
    with_delimiter(delimiter: Delimiter);
    with_columns(columns: Columns);
    with_weights(weights: Weights);
    with_header(header: bool);
} }

const COMMENTS: &[&[u8]] = &[b"#", b"%", b"//"];

/// The edges i→j of a file as entries (i, j), in the file's order, duplicates kept; an edge without weight weighs 1.
///
/// Lines that begin with `#`, `%` or `//` are comments; `.gz` and `.zst` files are read too, known by their first bytes.
/// An undirected graph that lists each edge once needs the transpose added. O(bytes), parallel; the same for every
/// number of threads.
///
/// # Errors
/// `Io`; `Parse` with path and line; `InvalidValue` for a delimiter that is part of numbers, quotes or ends lines, and for
/// weights that are required of no column; `OutOfMemory`.
/// ```no_run
/// use oplus::io::edge_list::{self, Columns, EdgeListOptions};
/// // id,from,to,opened,km
/// let columns = Columns::Chosen { source: 1, target: 2, weight: Some(4) };
/// let options = EdgeListOptions::default().with_header(true).with_columns(columns);
/// let roads = edge_list::read::<f32>("roads.csv.gz", &options)?;
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

/// What cannot be meant.
fn check(options: &EdgeListOptions) -> Result<()> {
    let invalid = |reason: String| Err(Error::InvalidValue { operation: "edge_list::read", reason });
    // Letters are part of `1e5`, `inf` and `nan`.
    if let Delimiter::Byte(b) = options.delimiter
        && (b.is_ascii_alphanumeric() || b"\n\r\"+-.".contains(&b))
    {
        return invalid(format!("{:?} cannot stand between fields", b as char));
    }
    if matches!((options.columns, options.weights), (Columns::Chosen { weight: None, .. }, Weights::Required)) {
        return invalid("weights are required, and no column of them is chosen".into());
    }
    Ok(())
}

fn parse<T: FromMatrixMarket>(text: &[u8], options: &EdgeListOptions) -> Result<Coo<T>> {
    check(options)?;
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
    // Looked for once, not in every line.
    let (quoted, chosen) = (piece.text.contains(&b'"'), chosen(options));
    let (mut lines, mut line) = (Fields::new(piece.text), piece.line);
    while !lines.at_end() {
        let is_entry = lines.is_entry(COMMENTS);
        let content = lines.next_line();
        if is_entry {
            // The first line of all may have names.
            let first = piece.entry == 0 && part.is_empty() && !options.header;
            let edge = Edge::of(content, quoted, &chosen, options).and_then(|edge| {
                let i = vertex(edge.source, "source", rows, options, first)?;
                let j = vertex(edge.target, "target", columns, options, first)?;
                Ok((i, j, edge.weight(options.weights)?))
            });
            let (i, j, weight) = edge.map_err(|reason| parse_error(line, reason))?;
            (part.nrows, part.ncols) = (part.nrows.max(i + 1), part.ncols.max(j + 1));
            part.push(i, j, weight);
        }
        line += 1;
    }
    Ok(part)
}

/// What chosen columns may be.
const FIELDS: [&str; 3] = ["source", "target", "weight"];

/// The columns that were chosen, ascending, and which field each is.
type Chosen = [(usize, usize); 3];

fn chosen(options: &EdgeListOptions) -> Option<Chosen> {
    let Columns::Chosen { source, target, weight } = options.columns else { return None };
    let weight = weight.filter(|_| options.weights != Weights::Ignored);
    // Without weights the source is read twice.
    let mut columns = [(source, 0), (target, 1), weight.map_or((source, 0), |column| (column, 2))];
    columns.sort_unstable();
    Some(columns)
}

/// The fields of a line that are the edge's, and one that is too much.
struct Edge<'a> {
    source: &'a [u8],
    target: &'a [u8],
    weight: Option<&'a [u8]>,
    extra: Option<&'a [u8]>,
}

impl<'a> Edge<'a> {
    #[inline]
    fn of(line: &'a [u8], quoted: bool, chosen: &Option<Chosen>, options: &EdgeListOptions) -> Result<Self, String> {
        let between = match options.delimiter {
            Delimiter::Byte(b' ') | Delimiter::Whitespace => None,
            Delimiter::Byte(b) => Some(b),
            Delimiter::Auto => [b',', b';'].into_iter().find(|b| has(line, *b, quoted)),
        };
        let mut cells = Cells::new(line, between, quoted);
        if let Some(columns) = chosen {
            return Self::at(cells, columns);
        }
        // What is not there is as missing as what is empty.
        let (source, target) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let read = options.weights != Weights::Ignored;
        let (weight, extra) = if read { (cells.next(), cells.next()) } else { (None, None) };
        Ok(Self { source, target, weight, extra })
    }
    // Apart from the loop that most files take.
    #[inline(never)]
    fn at(mut cells: Cells<'a>, columns: &Chosen) -> Result<Self, String> {
        let (mut found, mut n, mut cell) = ([None; 3], 0, None);
        for &(column, field) in columns {
            while n <= column {
                cell = cells.next();
                if cell.is_none() {
                    let what = FIELDS[field];
                    let reason =
                        format!("the {what} is missing: column {column}, counted from 0, of a line that has {n}");
                    return Err(reason);
                }
                n += 1;
            }
            found[field] = cell;
        }
        let [source, target, weight] = found;
        Ok(Self { source: source.unwrap_or_default(), target: target.unwrap_or_default(), weight, extra: None })
    }
    #[inline]
    fn weight<T: FromMatrixMarket>(&self, weights: Weights) -> Result<T, String> {
        let weight = match self.weight.filter(|cell| !cell.is_empty()) {
            Some(cell) => T::decimal(cell).map_err(|refused| {
                let why = if refused == Refused::NotANumber { "is no number for" } else { "does not fit" };
                format!("weight {:?} {why} {}", shown(cell), T::TEXT.name)
            })?,
            None if weights == Weights::Required => return Err("the weight is missing".into()),
            None => T::pattern(),
        };
        let way = "`edge_list::read` passes over further columns with `EdgeListOptions::default().with_columns(Columns::Chosen { .. })`";
        self.extra.map_or(Ok(weight), |extra| Err(format!("{:?} is too much on this line: {way}", shown(extra))))
    }
}

fn vertex(cell: &[u8], what: &str, bound: u64, options: &EdgeListOptions, first: bool) -> Result<u64, String> {
    let base = options.one_based as u64;
    Err(match number::unsigned(cell).map(|n| n.checked_sub(base)) {
        Ok(Some(index)) if index < bound => return Ok(index),
        _ if cell.is_empty() => format!("the {what} is missing"),
        Ok(None) => format!("{what} 0 in a list that counts from 1"),
        Err(Refused::NotANumber) => {
            let name = first && cell.iter().any(|b| b.is_ascii_alphabetic() || !b.is_ascii());
            let way =
                ": `edge_list::read` passes over a line of names with `EdgeListOptions::default().with_header(true)`";
            format!("{what}: {:?} is not a vertex number{}", shown(cell), if name { way } else { "" })
        }
        _ => format!("{what} {} is out of range, there are {bound}", shown(cell)),
    })
}
