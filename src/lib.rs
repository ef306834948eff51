//! Sparse linear algebra over any semiring, on CPUs and NVIDIA GPUs.
// Tests that are shared with integration tests name the library.
#[cfg(test)]
extern crate self as oplus;

pub mod algebra;
pub mod algorithm;
#[doc(hidden)]
pub mod backend;
pub mod container;
pub mod device;
pub mod error;
#[cfg(doctest)]
mod forbidden;
mod format;
pub mod generate;
pub mod interop;
pub mod io;
pub mod iterate;
pub mod mask;
mod memory;
pub mod operation;
mod precompiled;
pub mod prelude;
pub mod spgemm;
pub mod storage;

pub use error::{Error, Result};
pub use format::Format;
