//! Files: Matrix Market and edge lists, compressed or not.
pub mod edge_list;
pub(crate) mod file;
mod matrix;
pub mod matrix_market;
mod number;
pub(crate) mod parts;
mod text;
