//! In and out of other crates' data structures, each behind the Cargo feature of its name, and of raw compressed rows.
//!
//! Nothing is copied where both sides lay their entries out alike; everything that comes in is checked, and what does not
//! fit the other side is an error that says where.
//!
//! A stored 0 is an entry here and comes out as one. Other libraries take it for the same as none, and their operations may drop it;
//! a dense array has one value that stands for no entry. What has been there and back may have fewer entries.
//!
//! | feature (version of the crate) | types | moved, not copied |
//! | --- | --- | --- |
//! | – | [`CsrParts`], [`CsrView`], [`VectorParts`] | offsets, indices, values |
//! | `sprs` (0.11) | `CsMatI`, `CsVecI`, compressed rows or columns, any index types | values; indices of u32; offsets of u64, usize |
//! | `nalgebra-sparse` (0.12) | `CsrMatrix`, `CscMatrix`, `CooMatrix` | values, offsets |
//! | `petgraph` (0.8) | graphs by their edges, `Graph`, `Csr` | – |
//! | `ndarray` (0.17) | `Array1`, `Array2` | values of full vectors |
//! | `serde` (1) | [`Matrix`], [`Vector`] | – |
//! | `npz` | files of `scipy.sparse.save_npz`: [`io::npz`](crate::io) | – |
mod csr;
#[cfg(feature = "nalgebra-sparse")]
pub mod nalgebra;
#[cfg(feature = "ndarray")]
pub mod ndarray;
#[cfg(feature = "petgraph")]
pub mod petgraph;
#[cfg(feature = "serde")]
pub mod serde;
#[cfg(feature = "sprs")]
pub mod sprs;
#[cfg(any(feature = "sprs", feature = "nalgebra-sparse"))]
mod width;

pub use csr::{CsrParts, CsrView, VectorParts};

#[cfg(doc)]
use crate::container::{Matrix, Vector};
