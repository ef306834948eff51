//! One implementation each of the same small set of kernels.
#[cfg(feature = "cuda")]
pub mod cuda;
