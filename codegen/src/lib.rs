//! Generates specialised CUDA kernels: text in, text out; knows no driver and no matrix.
//!
//! A [`Spec`] says what a kernel is for (which template, which semiring, which types and flags). [`Spec::key`] names it,
//! [`Spec::source`] writes it: the generated preamble, the hand-written `kernels/` the template includes, the template.
//! The result is one self-contained, header-free CUDA C++17 text for NVRTC, nvcc or (through the emulator) g++.
#![warn(missing_docs)]
mod alone;
pub mod catalog;
mod error;
pub mod golden;
mod key;
mod launch;
pub mod literal;
pub mod names;
pub mod operations;
mod preamble;
mod shared;
mod source;
mod spec;
pub mod text;
pub mod tuning;

pub use catalog::Template;
pub use error::Error;
pub use launch::{BlockShape, TABLES, TableLaunch};
pub use shared::Shared;
pub use spec::{FunctionText, SemiringText, Spec};
pub use tuning::Tuning;
