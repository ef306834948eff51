//! In and out of raw arrays, files and other crates' types. `--features interop-all` adds those of the other crates.
mod binary;
#[cfg_attr(not(feature = "interop-all"), allow(dead_code))]
mod cases;
mod csr;
mod hostile;
#[cfg(feature = "nalgebra-sparse")]
mod nalgebra;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "npz")]
mod npz;
#[cfg(feature = "petgraph")]
mod petgraph;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "sprs")]
mod sprs;
#[cfg_attr(not(feature = "interop-all"), allow(dead_code))]
#[path = "../common/watched.rs"]
mod watched;
