//! Lines of text: fields, comments, and pieces that know their line numbers before they are parsed in parallel.
use crate::error::{Error, Result};
use crate::memory;
use rayon::prelude::*;
use std::path::Path;

/// Bytes of a piece, about.
const PIECE: usize = LINE;

pub(crate) fn parse_error(line: u64, reason: impl Into<String>) -> Error {
    Error::Parse { path: None, line: Some(line), reason: reason.into() }
}

/// No line is longer: of a file that is a single one, packed, no more is unpacked.
pub(crate) const LINE: usize = 1 << 20;

pub(crate) fn long_line(line: u64) -> Error {
    parse_error(line, format!("the line is longer than {LINE} bytes"))
}

/// Refuses a text so far whose last line is too long already.
pub(crate) fn lines_end(text: &[u8]) -> Result<()> {
    if text.len() <= LINE || text.iter().rev().take(LINE + 1).any(|b| *b == b'\n') {
        return Ok(());
    }
    Err(long_line(1 + text.iter().filter(|b| **b == b'\n').count() as u64))
}

/// The same error with the file's name.
pub(crate) fn at_path(e: Error, path: &Path) -> Error {
    match e {
        Error::Parse { line, reason, .. } => Error::Parse { path: Some(path.to_path_buf()), line, reason },
        Error::Io { message, .. } => Error::Io { path: path.to_path_buf(), message },
        other => other,
    }
}

/// A text without the byte order mark that some editors put before it.
pub(crate) fn unmarked(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// A field for a message: what is printable of its first characters, and whether there are more.
pub(crate) fn shown(field: &[u8]) -> String {
    const MOST: usize = 24;
    let printable = |b: &u8| if b.is_ascii_graphic() { *b as char } else { '·' };
    field.iter().take(MOST).map(printable).chain((field.len() > MOST).then_some('…')).collect()
}

/// Reads text forward, field by field, never past the end of the line unless told to.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }
    /// Passes over blanks that are no line end.
    #[inline]
    fn skip_blanks(&mut self) {
        while let [b' ' | b'\t' | b'\r' | b'\x0c', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }
    /// The next field of this line.
    #[inline]
    pub(crate) fn next_field(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let end = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        let (field, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        (!field.is_empty()).then_some(field)
    }
    /// Goes to the next line and returns what was left of this one.
    #[inline]
    pub(crate) fn next_line(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|b| *b == b'\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.get(1..).unwrap_or_default();
        line
    }
    /// Whether this line, from here on, has something other than blanks and comment.
    #[inline]
    pub(crate) fn is_entry(mut self, comments: &[&[u8]]) -> bool {
        self.skip_blanks();
        !matches!(self.rest, [] | [b'\n', ..]) && !comments.iter().any(|c| self.rest.starts_with(c))
    }
    /// What was not read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }
    /// Whether the text is used up.
    #[inline]
    pub(crate) fn at_end(&self) -> bool {
        self.rest.is_empty()
    }
}

/// Whole lines of a text and where they stand in it.
pub(crate) struct Piece<'a> {
    pub(crate) text: &'a [u8],
    /// The number of its first line.
    pub(crate) line: u64,
    /// How many entries stand before it.
    pub(crate) entry: u64,
    /// How many entries it has.
    pub(crate) entries: u64,
}

/// A text in pieces, the number of its entries, and the number of the line after its last.
pub(crate) fn pieces<'a>(text: &'a [u8], first: u64, comments: &[&[u8]]) -> Result<(Vec<Piece<'a>>, u64, u64)> {
    let mut pieces = memory::with_capacity("read", text.len() / PIECE + 1)?;
    let mut rest = text;
    while !rest.is_empty() {
        let from = PIECE.min(rest.len());
        let end = rest[from..].iter().position(|b| *b == b'\n').map_or(rest.len(), |n| from + n + 1);
        let (text, after) = rest.split_at(end);
        pieces.push(Piece { text, line: 0, entry: 0, entries: 0 });
        rest = after;
    }
    // Lines first, then their sums.
    pieces.par_iter_mut().for_each(|p| (p.line, p.entries) = count(p.text, comments));
    let (mut line, mut entry) = (first, 0u64);
    for p in &mut pieces {
        (p.line, p.entry, line, entry) = (line, entry, line + p.line, entry + p.entries);
        // A piece ends with the first line that reaches beyond `PIECE`: no other can be too long.
        let whole = p.text.strip_suffix(b"\n").unwrap_or(p.text);
        let last = whole.iter().rposition(|b| *b == b'\n').map_or(whole, |n| &whole[n + 1..]);
        if last.len() > LINE {
            return Err(long_line(line - 1));
        }
    }
    Ok((pieces, entry, line))
}

/// The line of the first entry for which `found` holds.
pub(crate) fn line_where(
    text: &[u8],
    first: u64,
    comments: &[&[u8]],
    mut found: impl FnMut(&mut Fields<'_>) -> bool,
) -> Option<u64> {
    let (mut fields, mut line) = (Fields::new(text), first);
    while !fields.at_end() {
        if fields.is_entry(comments) && found(&mut fields) {
            return Some(line);
        }
        fields.next_line();
        line += 1;
    }
    None
}

/// Lines and entries of a piece.
fn count(text: &[u8], comments: &[&[u8]]) -> (u64, u64) {
    let unfinished = !text.is_empty() && !text.ends_with(b"\n");
    // Blocks this short are counted in bytes, many at a time.
    let newlines: u64 = text.chunks(255).map(|c| c.iter().map(|b| (*b == b'\n') as u8).sum::<u8>() as u64).sum();
    let lines = newlines + unfinished as u64;
    // Entries begin with a digit, sign or point nearly always; then every line is one.
    let odd = |b: u8| b < b'+' || b == b'/';
    let plain = !text.first().is_some_and(|b| odd(*b))
        && text
            .chunks(255)
            .zip(text.get(1..).unwrap_or_default().chunks(255))
            .all(|(a, b)| a.iter().zip(b).map(|(a, b)| (*a == b'\n' && odd(*b)) as u8).fold(0, |x, y| x | y) == 0);
    if plain {
        return (lines, lines);
    }
    let (mut fields, mut entries) = (Fields::new(text), 0);
    while !fields.at_end() {
        entries += fields.is_entry(comments) as u64;
        fields.next_line();
    }
    (lines, entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMENTS: &[&[u8]] = &[b"%", b"#", b"//"];

    #[test]
    fn counts_agree_with_the_definition() {
        let lines = ["", "1 2", " 3", "% c", "\t# c", "// 7", "/", "-1", ".5", "\r", "  ", "+", "x"];
        let mut random = crate::generate::Random::new(1, 0);
        for round in 0..2000 {
            let few = if round % 2 == 0 { lines.len() } else { 2 };
            let n = random.below(600);
            let picked: Vec<&str> = (0..n).map(|_| lines[1 + random.below(few as u64 - 1) as usize]).collect();
            let mut text = picked.join("\n");
            if round % 3 == 0 {
                text.push('\n');
            }
            let is_entry = |l: &&str| !l.trim().is_empty() && !["%", "#", "//"].iter().any(|c| l.trim().starts_with(c));
            let expected = (text.lines().count() as u64, text.lines().filter(is_entry).count() as u64);
            assert_eq!(count(text.as_bytes(), COMMENTS), expected, "{text:?}");
        }
    }

    #[test]
    fn pieces_are_the_text() {
        let text: String =
            (0..400_000u64).map(|i| format!("{i}\n{}", if i % 1000 == 0 { "% c\n" } else { "" })).collect();
        let (pieces, entries, last) = pieces(text.as_bytes(), 3, COMMENTS).unwrap();
        assert!(pieces.len() > 2);
        assert_eq!((entries, last), (400_000, 3 + 400_400));
        assert_eq!(pieces.iter().flat_map(|p| p.text).copied().collect::<Vec<u8>>(), text.as_bytes());
        for p in &pieces {
            let first = std::str::from_utf8(p.text).unwrap().lines().find(|l| !l.starts_with('%')).unwrap();
            assert_eq!(first, p.entry.to_string());
            let before = text.len() - p.text.as_ptr().addr().abs_diff(text.as_ptr().addr() + text.len());
            assert_eq!(p.line, 3 + text[..before].lines().count() as u64);
        }
    }

    #[test]
    fn fields_stay_on_their_line() {
        let mut f = Fields::new(b" a\tbc \r\n\nd");
        assert_eq!((f.next_field(), f.next_field(), f.next_field()), (Some(&b"a"[..]), Some(&b"bc"[..]), None));
        assert_eq!(f.next_line(), b"");
        assert!(!f.is_entry(COMMENTS));
        f.next_line();
        assert_eq!((f.next_field(), f.next_field(), f.at_end()), (Some(&b"d"[..]), None, true));
    }
}
