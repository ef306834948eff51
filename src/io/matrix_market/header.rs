//! The banner and the size line.
use crate::error::{Error, Result};
use crate::io::number::{tokens, unsigned};

/// How entries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One entry a line, with its row and column.
    Coordinate,
    /// All values, column by column.
    Array,
}

/// What an entry's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// All.
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

pub(super) fn parse_error(line: u64, reason: impl Into<String>) -> Error {
    Error::Parse { path: None, line: Some(line), reason: reason.into() }
}

/// A token for a message: what is printable of its first characters.
pub(super) fn shown(token: &[u8]) -> String {
    token.iter().take(24).map(|b| if b.is_ascii_graphic() { *b as char } else { '·' }).collect()
}

/// The header, where the entries begin and on which line.
pub(super) fn parse(text: &[u8]) -> Result<(Header, usize, u64)> {
    let end = |from: usize| text[from..].iter().position(|b| *b == b'\n').map_or(text.len(), |n| from + n + 1);
    let banner_end = end(0);
    let banner: Vec<String> =
        tokens(&text[..banner_end.min(256)], b"").map(|t| shown(t).to_ascii_lowercase()).collect();
    let word = |n: usize| banner.get(n).map_or("", |w| w.as_str());
    if word(0) != "%%matrixmarket" {
        return Err(parse_error(1, "not a Matrix Market file: it must begin with %%MatrixMarket"));
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
    let (mut at, mut line) = (banner_end, 2);
    while at < text.len() {
        let next = end(at);
        let content = &text[at..next];
        if !content.starts_with(b"%") && tokens(content, b"").next().is_some() {
            return size_line(content, line, layout, field, symmetry).map(|header| (header, next, line + 1));
        }
        (at, line) = (next, line + 1);
    }
    Err(parse_error(line, "the file ends before the size line"))
}

fn size_line(content: &[u8], line: u64, layout: Layout, field: Field, symmetry: Symmetry) -> Result<Header> {
    let names: &[&str] = match layout {
        Layout::Coordinate => &["rows", "columns", "entries"],
        Layout::Array => &["rows", "columns"],
    };
    let mut sizes = [0u64; 3];
    let mut given = tokens(content, b"");
    for (name, size) in names.iter().zip(&mut sizes) {
        let token =
            given.next().ok_or_else(|| parse_error(line, format!("the size line lacks the number of {name}")))?;
        *size = unsigned(token)
            .ok_or_else(|| parse_error(line, format!("number of {name}: {:?} is not a count", shown(token))))?;
    }
    if let Some(extra) = given.next() {
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
        stored =
            u64::try_from(all).map_err(|_| parse_error(line, format!("{nrows}×{ncols} values are more than 2⁶⁴")))?;
    }
    Ok(Header { layout, field, symmetry, nrows, ncols, stored })
}
