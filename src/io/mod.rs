//! Files: Matrix Market, edge lists and a binary format, compressed or not; SciPy's `.npz`.
pub mod binary;
mod cells;
pub mod edge_list;
pub(crate) mod file;
mod matrix;
pub mod matrix_market;
#[cfg(feature = "npz")]
pub mod npz;
mod number;
mod output;
pub(crate) mod parts;
mod text;
