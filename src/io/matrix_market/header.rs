//! The banner and the size line.
use crate::error::Result;
use crate::io::number::{Refused, unsigned};
use crate::io::text::{Fields, LINE, lines_end, long_line, parse_error, shown, unmarked};

/// How entries are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// One entry a line, with its row and column.
    #[default]
    Coordinate,
    /// All values, column by column.
    Array,
}

/// What an entry's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// One floating number.
    Real,
    /// One whole number.
    Integer,
    /// Two floating numbers.
    Complex,
    /// None.
    Pattern,
}

/// Which entries are written and what the others are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Symmetry {
    /// All.
    #[default]
    General,
    /// The lower triangle; a(j, i) = a(i, j).
    Symmetric,
    /// Below the diagonal; a(j, i) = −a(i, j).
    SkewSymmetric,
    /// The lower triangle; a(j, i) is the conjugate of a(i, j).
    Hermitian,
}

/// What a file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// How entries are written.
    pub layout: Layout,
    /// What a value is.
    pub field: Field,
    /// Which entries are written.
    pub symmetry: Symmetry,
    /// Number of rows.
    pub nrows: u64,
    /// Number of columns.
    pub ncols: u64,
    /// Number of entries written.
    pub stored: u64,
}

/// Comments of this format.
pub(super) const COMMENTS: &[&[u8]] = &[b"%"];

/// A header and what follows it.
pub(super) struct Parsed<'a> {
    pub(super) header: Header,
    pub(super) body: &'a [u8],
    /// The line on which the body begins.
    pub(super) line: u64,
}

/// The header of a whole text.
pub(super) fn parse(text: &[u8]) -> Result<Parsed<'_>> {
    let ends =
        || parse_error(text.split_inclusive(|b| *b == b'\n').count() as u64 + 1, "the file ends before the size line");
    begin(text)?.ok_or_else(ends)
}

/// The header of a text that begins so, `None` where more of it is needed.
pub(super) fn beginning(text: &[u8], whole: bool) -> Result<Option<Header>> {
    if whole {
        return parse(text).map(|p| Some(p.header));
    }
    // A line that is cut could read as another number; one without an end is no banner.
    let found = match text.iter().rposition(|b| *b == b'\n') {
        Some(n) => begin(&text[..=n])?,
        None if text.len() > LINE => begin(text)?,
        None => None,
    };
    match found {
        Some(parsed) => Ok(Some(parsed.header)),
        None => lines_end(text).map(|()| None),
    }
}

/// No size line is looked for behind so many bytes of comments.
const LONGEST: usize = 8 << 20;

/// The header, `None` where the text, cut at the end of a line, does not reach the size line.
pub(super) fn begin(text: &[u8]) -> Result<Option<Parsed<'_>>> {
    let mut rest = Fields::new(unmarked(text));
    let first = rest.next_line();
    let mut fields = Fields::new(first);
    let banner: [String; 5] =
        std::array::from_fn(|_| shown(fields.next_field().unwrap_or_default()).to_ascii_lowercase());
    let word = |n: usize| banner[n].as_str();
    if word(0) != "%%matrixmarket" {
        return Err(parse_error(1, "not a Matrix Market file: it must begin with %%MatrixMarket"));
    }
    if first.len() > LINE {
        return Err(long_line(1));
    }
    if word(1) != "matrix" {
        return Err(parse_error(1, format!("object {:?} is not `matrix`", word(1))));
    }
    let layout = match word(2) {
        "coordinate" => Layout::Coordinate,
        "array" => Layout::Array,
        other => return Err(parse_error(1, format!("format {other:?} is neither `coordinate` nor `array`"))),
    };
    let field = match word(3) {
        "real" | "double" => Field::Real,
        "integer" | "unsigned-integer" => Field::Integer,
        "complex" => Field::Complex,
        "pattern" if layout == Layout::Coordinate => Field::Pattern,
        other => return Err(parse_error(1, format!("field {other:?} does not go with this format"))),
    };
    let symmetry = match word(4) {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" if field != Field::Pattern => Symmetry::SkewSymmetric,
        "hermitian" if field == Field::Complex => Symmetry::Hermitian,
        other => return Err(parse_error(1, format!("symmetry {other:?} does not go with field {:?}", word(3)))),
    };
    let mut line = 2;
    while !rest.at_end() {
        let is_size = rest.is_entry(COMMENTS);
        let content = rest.next_line();
        if content.len() > LINE {
            return Err(long_line(line));
        }
        if is_size {
            let header = size_line(content, line, layout, field, symmetry)?;
            return Ok(Some(Parsed { header, body: rest.rest(), line: line + 1 }));
        }
        if text.len() - rest.rest().len() > LONGEST {
            return Err(parse_error(line, format!("no size line in the first {LONGEST} bytes")));
        }
        line += 1;
    }
    Ok(None)
}

fn size_line(content: &[u8], line: u64, layout: Layout, field: Field, symmetry: Symmetry) -> Result<Header> {
    let names: &[&str] = match layout {
        Layout::Coordinate => &["rows", "columns", "entries"],
        Layout::Array => &["rows", "columns"],
    };
    let mut sizes = [0u64; 3];
    let mut given = Fields::new(content);
    for (name, size) in names.iter().zip(&mut sizes) {
        let text =
            given.next_field().ok_or_else(|| parse_error(line, format!("the size line lacks the number of {name}")))?;
        *size = unsigned(text).map_err(|refused| {
            let why = if refused == Refused::NotANumber { "is not a count" } else { "is not below 2⁶⁴" };
            parse_error(line, format!("number of {name}: {:?} {why}", shown(text)))
        })?;
    }
    if let Some(extra) = given.next_field() {
        return Err(parse_error(line, format!("the size line has {:?} too many", shown(extra))));
    }
    let [nrows, ncols, mut stored] = sizes;
    if symmetry != Symmetry::General && nrows != ncols {
        return Err(parse_error(line, format!("a symmetric matrix must be square, this one is {nrows}×{ncols}")));
    }
    if layout == Layout::Array {
        let n = nrows as u128;
        let all = match symmetry {
            Symmetry::General => n * ncols as u128,
            Symmetry::SkewSymmetric => n * n.saturating_sub(1) / 2,
            _ => n.saturating_mul(n + 1) / 2,
        };
        stored = u64::try_from(all).map_err(|_| parse_error(line, format!("{nrows}×{ncols}: 2⁶⁴ values or more")))?;
    }
    Ok(Header { layout, field, symmetry, nrows, ncols, stored })
}
