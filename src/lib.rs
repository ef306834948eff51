//! Sparse linear algebra over any semiring, on CPUs and NVIDIA GPUs.
#[doc(hidden)]
pub mod backend;
pub mod device;
pub mod error;
#[allow(dead_code)]
mod memory;
pub mod storage;
