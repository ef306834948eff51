//! Files: Matrix Market and edge lists, compressed or not.
pub mod edge_list;
pub(crate) mod file;
pub mod matrix_market;
mod number;
pub(crate) mod parts;
mod text;
