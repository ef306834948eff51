//! Products with a vector, pushed and pulled, and with matrices that have an entry at every place.
pub(crate) mod explain;
mod few;
pub(crate) mod full;
pub(crate) mod spmspv;
pub(crate) mod spmv;
