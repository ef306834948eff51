//! Matrix Market: coordinate and array files of every field and symmetry, `.gz` and `.zst` too.
//!
//! Boisvert, Pozo, Remington, *The Matrix Market exchange formats*, NISTIR 5935, 1996.
//! Symmetric storage is expanded; duplicates are kept for `build` to fold or refuse; stored zeros stay.
mod header;
mod reader;
mod value;
mod writer;

pub use header::{Field, Header, Layout, Symmetry};
pub use reader::{read, read_bytes, read_header};
pub use value::{FromMatrixMarket, ToMatrixMarket};
pub use writer::write;
