//! One `.npy` in the archive.
use super::dtype::{Dtype, NATIVE_BIG};
use crate::algebra::{Scalar, scalar};
use crate::error::{Error, Result};
use crate::io::file;
use crate::memory;
use std::io::{Read, Write};

/// Bytes unpacked at a time.
const PIECE: usize = 1 << 18;
/// Headers are some 100 bytes.
const LONGEST: usize = 1 << 14;
/// deflate makes no byte from less than a 1032nd of one.
const RATIO: u128 = 1040;

pub(super) fn bad<X>(reason: impl Into<String>) -> Result<X> {
    Err(Error::Parse { path: None, line: None, reason: reason.into() })
}

/// What the system says is the system's; what a decoder says, the file's.
pub(super) fn io_failed(what: &str, e: &std::io::Error) -> Error {
    match e.raw_os_error() {
        Some(_) => Error::Io { path: "input".into(), message: e.to_string() },
        None => Error::Parse { path: None, line: None, reason: format!("{what}: {e}") },
    }
}

/// An array whose values come next.
pub(super) struct Array<R> {
    pub(super) name: &'static str,
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<u64>,
    pub(super) fortran: bool,
    from: R,
}

impl<R: Read> Array<R> {
    /// Reads the header; `packed` are the archive's bytes for all of it.
    pub(super) fn new(name: &'static str, mut from: R, packed: u64) -> Result<Self> {
        let mut start = [0; 10];
        exactly(&mut from, name, &mut start)?;
        if &start[..6] != b"\x93NUMPY" || !(1..=3).contains(&start[6]) {
            return bad(format!("{name}.npy is no array of NumPy of a known version"));
        }
        let mut length = u16::from_le_bytes([start[8], start[9]]) as usize;
        if start[6] > 1 {
            let mut more = [0; 2];
            exactly(&mut from, name, &mut more)?;
            length |= (u16::from_le_bytes(more) as usize) << 16;
        }
        if length > LONGEST {
            return bad(format!("{name}.npy: a header of {length} bytes"));
        }
        let mut header = vec![0; length];
        exactly(&mut from, name, &mut header)?;
        let Some((descr, fortran, shape)) = parse(&header) else {
            let shown = String::from_utf8_lossy(&header);
            return bad(format!("{name}.npy: the header {:?} is not understood", shown.trim()));
        };
        let Some(dtype) = Dtype::parse(descr) else {
            return bad(format!("{name}.npy: values of type {:?} are not read", String::from_utf8_lossy(descr)));
        };
        let array = Self { name, dtype, shape, fortran, from };
        let bytes = array.count() as u128 * dtype.size as u128;
        if bytes > packed as u128 * RATIO {
            return bad(format!("{name}.npy: {bytes} bytes promised, {packed} packed ones are there: it is truncated"));
        }
        Ok(array)
    }
    /// Number of values; too many for u64 are as many as that.
    pub(super) fn count(&self) -> u64 {
        self.shape.iter().fold(1, |n: u64, m| n.saturating_mul(*m))
    }
    /// Number of values of a list.
    pub(super) fn length(&self) -> Result<u64> {
        match self.shape[..] {
            [n] => Ok(n),
            _ => bad(format!("{}.npy has the shape {:?}, not that of a list", self.name, self.shape)),
        }
    }

    /// All bytes in pieces of whole values, the words of which begin with their highest byte (`big`) or with their lowest.
    fn pieces(mut self, big: bool, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let Dtype { size, word, big_endian, .. } = self.dtype;
        let mut left = self.count() as u128 * size as u128;
        let whole = (PIECE / size.max(1)).max(1) * size;
        let mut piece = memory::filled("npz::read", left.min(whole as u128) as usize, 0u8)?;
        while left > 0 {
            let bytes = &mut piece[..left.min(whole as u128) as usize];
            exactly(&mut self.from, self.name, bytes)?;
            if big_endian != big {
                bytes.chunks_exact_mut(word).for_each(<[u8]>::reverse);
            }
            take(bytes)?;
            left -= bytes.len() as u128;
        }
        // The archive's checksum is looked at where the end is met.
        match file::at_end(&mut self.from) {
            Ok(true) => Ok(()),
            Ok(false) => bad(format!("{}.npy: there is something behind the last value", self.name)),
            Err(e) => Err(io_failed(&format!("{}.npy", self.name), &e)),
        }
    }
    /// Values of this very type.
    pub(super) fn values<T: Scalar>(self) -> Result<Vec<T>> {
        match Dtype::of::<T>() {
            Some(dtype) if self.dtype.like(dtype) => {}
            _ => {
                let (theirs, ours) = (self.dtype.scalar(), T::TEXT.name);
                return bad(format!("values are {theirs}, not {ours}: read them as that type and cast"));
            }
        }
        let (mut values, name) = (Vec::new(), self.name);
        self.pieces(NATIVE_BIG, |bytes| {
            memory::reserve("npz::read", &mut values, bytes.len() / size_of::<T>().max(1))?;
            match scalar::append_bytes(&mut values, bytes) {
                true => Ok(()),
                false => bad(format!("{name}.npy: bytes that are no {}", T::TEXT.name)),
            }
        })?;
        Ok(values)
    }
    /// Integers of any type, below 2⁶⁴, as `I`.
    pub(super) fn integers<I: TryFrom<u64>>(self) -> Result<Vec<I>> {
        let Dtype { kind, size, .. } = self.dtype;
        if kind != b'i' && kind != b'u' {
            return bad(format!("{}.npy: indices of type {}", self.name, self.dtype.name()));
        }
        let (mut all, name) = (Vec::new(), self.name);
        self.pieces(false, |bytes| {
            memory::reserve("npz::read", &mut all, bytes.len() / size)?;
            for value in bytes.chunks_exact(size) {
                let mut word = [0; 8];
                word[..size].copy_from_slice(value);
                let value = u64::from_le_bytes(word);
                let negative = kind == b'i' && value >> (8 * size - 1) != 0;
                match I::try_from(value) {
                    Ok(index) if !negative => all.push(index),
                    _ => {
                        return bad(format!(
                            "{name}.npy: index {} at position {}",
                            shown(value, negative, size),
                            all.len()
                        ));
                    }
                }
            }
            Ok(())
        })?;
        Ok(all)
    }
    /// A word of ASCII.
    pub(super) fn word(self) -> Result<String> {
        let (name, dtype) = (self.name, self.dtype);
        if !matches!(dtype.kind, b'S' | b'U') || !self.shape.is_empty() {
            return bad(format!("{name}.npy is no word"));
        }
        let mut word = String::new();
        self.pieces(false, |bytes| {
            word.extend(bytes.chunks_exact(dtype.word).map(|c| c[0] as char).filter(|c| *c != '\0'));
            Ok(())
        })?;
        Ok(word)
    }
}

fn shown(value: u64, negative: bool, size: usize) -> String {
    match negative {
        true => format!("{}", (value << (64 - 8 * size)) as i64 >> (64 - 8 * size)),
        false => format!("{value}, which is too large"),
    }
}

fn exactly(from: &mut impl Read, name: &str, bytes: &mut [u8]) -> Result<()> {
    from.read_exact(bytes).or_else(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => bad(format!("{name}.npy ends too early")),
        _ => Err(io_failed(&format!("{name}.npy"), &e)),
    })
}

/// The header's dictionary: `{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }`.
fn parse(header: &[u8]) -> Option<(&[u8], bool, Vec<u64>)> {
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    let mut rest = header.trim_ascii().strip_prefix(b"{")?.strip_suffix(b"}")?.trim_ascii();
    while !rest.is_empty() {
        let (key, after) = quoted(rest)?;
        let value = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        rest = match key {
            b"descr" => {
                let (text, after) = quoted(value)?;
                descr = Some(text);
                after
            }
            b"fortran_order" => {
                let yes = value.starts_with(b"True");
                fortran = Some(yes);
                value.strip_prefix(if yes { &b"True"[..] } else { b"False" })?
            }
            b"shape" => {
                let end = value.iter().position(|b| *b == b')')?;
                shape = Some(tuple(value.get(..end)?.strip_prefix(b"(")?)?);
                &value[end + 1..]
            }
            _ => return None,
        }
        .trim_ascii_start();
        if !rest.is_empty() {
            rest = rest.strip_prefix(b",")?.trim_ascii_start();
        }
    }
    Some((descr?, fortran?, shape?))
}

fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let quote = *text.first().filter(|b| matches!(b, b'\'' | b'"'))?;
    let end = text[1..].iter().position(|b| *b == quote)?;
    Some((&text[1..1 + end], &text[end + 2..]))
}

fn tuple(text: &[u8]) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    let items: Vec<&[u8]> = text.split(|b| *b == b',').map(<[u8]>::trim_ascii).collect();
    for (n, item) in items.iter().enumerate() {
        // A comma may end it.
        if item.is_empty() && n + 1 == items.len() {
            break;
        }
        // Python 2 wrote 3L.
        let digits = item.strip_suffix(b"L").unwrap_or(item);
        numbers.push(std::str::from_utf8(digits).ok()?.parse().ok()?);
    }
    Some(numbers)
}

/// The header of an array; `shape` as in Python.
pub(super) fn header(dtype: Dtype, shape: &str) -> Vec<u8> {
    let dictionary = format!("{{'descr': '{}', 'fortran_order': False, 'shape': {shape}, }}", dtype.name());
    // The values begin at a multiple of 64 bytes, behind a line end.
    let length = (10 + dictionary.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(dictionary.bytes());
    bytes.resize(10 + length - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// A list as an array, in this machine's order of bytes, which `dtype` says.
pub(super) fn put<T: Scalar>(to: &mut dyn Write, dtype: Dtype, values: &[T]) -> std::io::Result<()> {
    to.write_all(&header(dtype, &format!("({},)", values.len())))?;
    scalar::as_bytes(values).chunks(PIECE).try_for_each(|piece| to.write_all(piece))
}

/// A list as an array of other integers, which hold them, in this machine's order of bytes.
pub(super) fn put_as<I: Copy, J: Scalar>(
    to: &mut dyn Write,
    dtype: Dtype,
    values: &[I],
    f: impl Fn(I) -> J,
) -> std::io::Result<()> {
    to.write_all(&header(dtype, &format!("({},)", values.len())))?;
    let mut some: Vec<J> = Vec::new();
    for piece in values.chunks(PIECE / 8) {
        some.clear();
        memory::reserve("npz::write", &mut some, piece.len()).map_err(std::io::Error::other)?;
        some.extend(piece.iter().map(|i| f(*i)));
        to.write_all(scalar::as_bytes(&some))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives some bytes, interrupted before each, and fails as a disk does.
    struct Disk<'a>(&'a [u8], bool);
    impl Read for Disk<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            match self.1 {
                true => Err(std::io::ErrorKind::Interrupted.into()),
                false if self.0.is_empty() => Err(std::io::Error::from_raw_os_error(5)),
                false => self.0.read(to),
            }
        }
    }

    /// What machines of either order have in memory of a file of either: this one's is one of the two.
    #[test]
    fn orders_of_bytes() {
        let (low, high) = ([1, 0, 0, 0, 2, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 2]);
        for (big_endian, descr, bytes) in [(false, b"'<u4'", low), (true, b"'>u4'", high)] {
            let dtype = Dtype { big_endian, ..Dtype::of::<u32>().unwrap() };
            let mut file = header(dtype, "(2,)");
            assert!(file.windows(5).any(|w| w == descr), "{file:?}");
            file.extend(bytes);
            let array = || Array::new("data", &file[..], 1 << 10).unwrap();
            for (big, expected) in [(false, low), (true, high)] {
                let mut read = Vec::new();
                let take = |bytes: &[u8]| {
                    read.extend_from_slice(bytes);
                    Ok(())
                };
                array().pieces(big, take).unwrap();
                assert_eq!(read, expected, "{big_endian} {big}");
            }
            assert_eq!(array().values::<u32>().unwrap(), [1, 2]);
            assert_eq!(array().integers::<u8>().unwrap(), [1, 2]);
        }
        // What is written says the order that it has.
        let mut file = Vec::new();
        put(&mut file, Dtype::of::<u16>().unwrap(), &[1u16, 258]).unwrap();
        assert_eq!(Array::new("data", &file[..], 1 << 10).unwrap().values::<u16>().unwrap(), [1, 258]);
        assert!(file.ends_with(&[1u16.to_ne_bytes(), 258u16.to_ne_bytes()].concat()));
        let order: &[u8] = if NATIVE_BIG { b"'>u2'" } else { b"'<u2'" };
        assert!(file.windows(5).any(|w| w == order));
    }

    #[test]
    fn a_disk_may_fail() {
        let mut bytes = header(Dtype::of::<u8>().unwrap(), "(3,)");
        bytes.extend([1, 2, 3]);
        for n in [0, 5, 40, bytes.len() - 1, bytes.len()] {
            let read = Array::new("data", Disk(&bytes[..n], false), 1 << 10).and_then(|array| array.values::<u8>());
            assert!(matches!(read, Err(Error::Io { .. })), "{n}: {read:?}");
        }
    }
}
