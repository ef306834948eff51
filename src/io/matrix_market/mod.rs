//! Matrix Market: coordinate and array files of every field and symmetry, `.gz` and `.zst` too.
//!
//! Boisvert, Pozo, Remington, *The Matrix Market exchange formats*, NISTIR 5935, 1996.
//!
//! - Symmetric storage is expanded, each diagonal entry once. The format wants the lower triangle; entries above the
//!   diagonal, which published files have, are mirrored likewise. A file that gives both (i, j) and (j, i) has
//!   duplicates, and `build` refuses or folds them.
//! - Duplicates are kept for `build`; stored zeros stay, in arrays too.
//! - Fields `double` and `unsigned-integer` are taken as `real` and `integer`.
mod header;
mod reader;
mod shape;
mod value;
mod writer;

pub(super) use reader::line_of;

pub use header::{Field, Header, Layout, Symmetry};
pub use reader::{read, read_bytes, read_header};
pub use value::{FromMatrixMarket, Refused, ToMatrixMarket};
pub use writer::{WriteOptions, write, write_coo, write_with};
