//! Arrays with their checksums.
use super::header::bad;
use crate::algebra::{Scalar, scalar};
use crate::error::{Error, Result};
use crate::memory;
use std::io::{Read, Write};

/// Bytes read at a time: no more is allocated for claims than has been there.
const PIECE: usize = 1 << 18;

/// A source, and how many bytes it has where that is known.
pub(super) struct Source<'a> {
    pub(super) from: &'a mut dyn Read,
    pub(super) left: Option<u64>,
}

/// What bytes are not is the file's; the rest is the system's, or the source's.
pub(super) fn io_failed(e: &std::io::Error) -> Error {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    if let Some(lacking) = crate::io::file::memory_error("binary::read", e) {
        return lacking;
    }
    let reason = match e.kind() {
        UnexpectedEof => "the file ends too early".to_string(),
        InvalidData | InvalidInput if e.raw_os_error().is_none() => format!("cannot be read: {e}"),
        _ => return Error::Io { path: "input".into(), message: e.to_string() },
    };
    Error::Parse { path: None, line: None, reason }
}

impl Source<'_> {
    pub(super) fn exactly(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.from.read_exact(bytes).map_err(|e| io_failed(&e))
    }

    /// The next section: `n` scalars.
    pub(super) fn section<T: Scalar>(&mut self, what: &str, n: u64) -> Result<Vec<T>> {
        let operation = "binary::read";
        let size = size_of::<T>().max(1);
        let (mut values, mut checksum) = (Vec::new(), crc32fast::Hasher::new());
        let mut left = usize::try_from(n).or_else(|_| bad(format!("{n} {what} are more than an address counts")))?;
        // Where the source is known to have them they are taken at once, else as they come.
        if self.left.is_some_and(|bytes| bytes as u128 >= n as u128 * size as u128) {
            memory::reserve(operation, &mut values, left)?;
        }
        let mut piece = memory::filled(operation, (PIECE / size).max(1).min(left) * size, 0u8)?;
        while left > 0 {
            let count = left.min((PIECE / size).max(1));
            let bytes = &mut piece[..count * size];
            self.exactly(bytes)?;
            checksum.update(bytes);
            memory::reserve(operation, &mut values, count)?;
            if !scalar::append_bytes(&mut values, bytes) {
                return bad(format!("{what}: bytes that are no {}", T::TEXT.name));
            }
            left -= count;
        }
        let mut expected = [0; 4];
        self.exactly(&mut expected)?;
        if checksum.finalize().to_le_bytes() != expected {
            return bad(format!("the checksum of the {what} differs: the file is damaged"));
        }
        Ok(values)
    }
}

/// Writes an array and its checksum.
pub(super) fn put<T: Scalar>(to: &mut dyn Write, values: &[T]) -> std::io::Result<()> {
    let mut checksum = crc32fast::Hasher::new();
    // In pieces, so that the checksum finds them in the cache.
    for piece in scalar::as_bytes(values).chunks(PIECE) {
        checksum.update(piece);
        to.write_all(piece)?;
    }
    to.write_all(&checksum.finalize().to_le_bytes())
}
