//! A binary format of compressed rows, hypersparse ones included: what is read is what was written, to the bit.
//!
//! All numbers are little-endian. A header of 128 bytes, then the sections, each with its CRC-32 (that of gzip) behind it.
//! Compressed by gzip or Zstandard where the file's name ends in `.gz` or `.zst`.
//!
//! | byte | header |
//! | --- | --- |
//! | 0 | `89 4f 50 4c 55 53 0d 0a`: a byte no text has, "OPLUS", a line end that a transfer as text would change |
//! | 8 | u16: version, 1; a reader refuses other ones |
//! | 10 | u8: 0 a matrix, 1 a vector, which is stored as a matrix of one row |
//! | 11 | u8: bit 0 one value stands for all entries, bit 1 rows are listed, of a vector never, bit 2 columns are listed; other bits 0 |
//! | 12 | u16: bytes of this header, 128 |
//! | 14 | u8: bytes of an offset, 8 |
//! | 15 | u8: bytes of an index, 4 |
//! | 16 | u64: rows |
//! | 24 | u64: columns |
//! | 32 | u64: stored rows; as many as there are, unless they are listed |
//! | 40 | u64: stored columns, likewise |
//! | 48 | u64: entries |
//! | 56 | u32: bytes of a value |
//! | 60 | u8: length of the value type's name; 3 bytes 0 |
//! | 64 | the name of the value type, `f64`, or of a [`scalar!`](crate::scalar) struct; bytes 0 up to byte 124 |
//! | 124 | u32: CRC-32 of the bytes before |
//!
//! | section | there where | bytes |
//! | --- | --- | --- |
//! | the stored rows, ascending, u64 | rows are listed: from 2³² rows on always | 8 · stored rows |
//! | the stored columns, ascending, u64 | columns are listed, likewise | 8 · stored columns |
//! | where each stored row begins, and the entries, u64 | always | 8 · (stored rows + 1) |
//! | the place of each entry's column, ascending in a row, u32 | always | 4 · entries |
//! | values, laid out as `#[repr(C)]` | always | bytes of a value · entries, or one value |
//!
//! A reader checks everything and allocates for what is there, not for what is claimed. Names and sizes tell value types
//! apart: of a struct whose fields changed the name has to change too.
mod header;
mod reader;
mod section;
mod writer;

pub use reader::{read, read_from, read_vector, read_vector_from};
pub use writer::{write, write_to, write_vector, write_vector_to};
