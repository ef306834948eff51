//! What a matrix or vector takes of memory, with all that is kept for operations that come later: each piece once, whoever shares it.
use std::collections::BTreeSet;

/// Pieces met so far.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    /// Host addresses, or numbers of device buffers: a matrix is in one memory.
    pieces: BTreeSet<u64>,
    pub(crate) bytes: u64,
}

impl Footprint {
    /// Counts a piece; whether it was not met before.
    pub(crate) fn piece(&mut self, name: u64, bytes: u64) -> bool {
        let first = self.pieces.insert(name);
        self.bytes += if first { bytes } else { 0 };
        first
    }
    /// The same in host memory.
    pub(crate) fn slice<T>(&mut self, slice: &[T]) -> bool {
        // Where there is nothing an address says nothing.
        slice.is_empty() || self.piece(slice.as_ptr() as u64, size_of_val(slice) as u64)
    }
}
