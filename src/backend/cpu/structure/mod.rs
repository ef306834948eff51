//! Entries that go elsewhere with the values they have: transposes, rectangles, tiles, lists.
pub(crate) mod among;
pub(crate) mod ascending;
mod between;
mod counting;
pub(crate) mod gather;
pub(crate) mod kronecker;
pub(crate) mod layout;
pub(crate) mod one_a_row;
pub(crate) mod rank;
pub(crate) mod spans;
pub(crate) mod tiles;
mod triplets;
pub(crate) mod turned_bits;
pub(crate) mod turned_cells;
pub(crate) mod window;
