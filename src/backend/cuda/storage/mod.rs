//! What matrices and vectors are in device memory, and what is found out about their patterns and kept.
pub(crate) mod asked;
pub(crate) mod band;
pub(crate) mod column_sets;
pub(crate) mod dense;
pub(crate) mod device_csr;
pub(crate) mod held;
pub(crate) mod in_use;
mod list;
pub(crate) mod places;
pub(crate) mod row_bits;
pub(crate) mod row_tiles;
pub(crate) mod supernodes;
pub(crate) mod turned;
pub(crate) mod values;
pub(crate) mod vector;
