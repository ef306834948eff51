//! The fields of a line of a table: between blanks, or between single characters where they may stand in quotes.
use super::text::Fields;

/// The fields of one line; one that is there but empty is empty.
pub(super) enum Cells<'a> {
    Blanks(Fields<'a>),
    Between(u8, Option<&'a [u8]>),
    /// The same of a line that may have quotes.
    Quoted(Quoted<'a>),
}

pub(super) struct Quoted<'a> {
    delimiter: u8,
    rest: Option<&'a [u8]>,
}

impl<'a> Cells<'a> {
    /// Those between blanks without a `delimiter`.
    #[inline]
    pub(super) fn new(line: &'a [u8], delimiter: Option<u8>, quoted: bool) -> Self {
        match delimiter {
            None => Cells::Blanks(Fields::new(line)),
            Some(delimiter) if quoted => Cells::Quoted(Quoted { delimiter, rest: Some(line) }),
            Some(delimiter) => Cells::Between(delimiter, Some(line)),
        }
    }
    #[inline]
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        match self {
            Cells::Blanks(fields) => fields.next_field(),
            Cells::Between(between, rest) => {
                let line = (*rest)?;
                let end = line.iter().position(|b| b == between);
                *rest = end.and_then(|n| line.get(n + 1..));
                Some(line[..end.unwrap_or(line.len())].trim_ascii())
            }
            Cells::Quoted(fields) => fields.next(),
        }
    }
}

impl<'a> Quoted<'a> {
    #[cold]
    #[inline(never)]
    fn next(&mut self) -> Option<&'a [u8]> {
        let line = self.rest?;
        let end = position(line, self.delimiter);
        let cell = line[..end].trim_ascii();
        if cell.first() == Some(&b'"') {
            return Some(self.quoted(line));
        }
        self.rest = line.get(end + 1..);
        Some(cell)
    }
    /// What stands between quotes, two of which in a row are one of the text. A field that does not end behind its quotes takes
    /// the rest of the line, quotes and all: that is no number, and what should follow is missing.
    fn quoted(&mut self, line: &'a [u8]) -> &'a [u8] {
        let (from, mut at) = (1 + position(line, b'"'), 1 + position(line, b'"'));
        loop {
            at += position(&line[at..], b'"');
            if line.get(at + 1) != Some(&b'"') {
                break;
            }
            at += 2;
        }
        let after = line.get(at + 1..).unwrap_or_default();
        let end = position(after, self.delimiter);
        self.rest = after.get(end + 1..);
        if at < line.len() && after[..end].trim_ascii().is_empty() {
            return line[from..at].trim_ascii();
        }
        self.rest = None;
        line.trim_ascii()
    }
}

/// Where a byte is, the end where it is not.
fn position(text: &[u8], byte: u8) -> usize {
    text.iter().position(|b| *b == byte).unwrap_or(text.len())
}

/// Whether a line has this comma or semicolon, outside of quotes where it may have those.
#[inline]
pub(super) fn has(line: &[u8], byte: u8, quoted: bool) -> bool {
    if quoted { has_outside(line, byte) } else { line.contains(&byte) }
}

#[cold]
fn has_outside(line: &[u8], byte: u8) -> bool {
    // Quotes begin a field; behind those that end one, others go on with it.
    let (mut inside, mut begins) = (false, true);
    line.iter().any(|b| {
        match b {
            b'"' if inside => (inside, begins) = (false, true),
            b'"' if begins => inside = true,
            b',' | b';' if !inside => {
                begins = true;
                return *b == byte;
            }
            b' ' | b'\t' => (),
            _ => begins = false,
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(line: &str, delimiter: u8) -> Vec<String> {
        let mut cells = Cells::new(line.as_bytes(), Some(delimiter), line.contains('"'));
        std::iter::from_fn(|| cells.next()).map(|cell| String::from_utf8(cell.to_vec()).unwrap()).collect()
    }

    #[test]
    fn fields_in_quotes() {
        for (line, delimiter, expected) in [
            (r#""12","15""#, b',', &["12", "15"][..]),
            (r#" "1" , 2 ,"3 ""#, b',', &["1", "2", "3"]),
            (r#""Smith, J.",1,"""a"",",2"#, b',', &["Smith, J.", "1", r#"""a"","#, "2"]),
            (r#""",",""#, b',', &["", ","]),
            (r#"1,"","#, b',', &["1", "", ""]),
            ("\"1\"\t\t\"2\t\"\t3", b'\t', &["1", "", "2", "3"]),
            ("\t\"1\"\r", b'\t', &["", "1"]),
            // A quote in the middle is a character as any.
            (r#"5" disk,1"#, b',', &[r#"5" disk"#, "1"]),
            // Not closed, or not the whole field: the rest of the line.
            (r#"1,"2,3"#, b',', &["1", r#""2,3"#]),
            (r#"1,"2"3,4"#, b',', &["1", r#""2"3,4"#]),
            (r#"1,""#, b',', &["1", r#"""#]),
            (r#"1,"2"""#, b',', &["1", r#""2"""#]),
        ] {
            assert_eq!(cells(line, delimiter), expected, "{line}");
        }
        for (line, expected) in [
            (r#""a,b";1"#, (false, true)),
            (r#" "a;""b;"";c" , 1"#, (true, false)),
            (r#"5" disk,1"#, (true, false)),
            (r#"1;"a,b"#, (false, true)),
        ] {
            let line = line.as_bytes();
            assert_eq!((has(line, b',', true), has(line, b';', true)), expected);
        }
    }
}
