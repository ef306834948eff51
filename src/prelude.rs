//! The names a program uses: `use oplus::prelude::*;`.
pub use crate::algebra::*;
pub use crate::algorithm;
pub use crate::container::{Container, Matrix, Vector};
pub use crate::device::Device;
pub use crate::error::{Error, Result};
pub use crate::format::Format;
pub use crate::mask::{AsMask, Mask};
pub use crate::operation::*;
pub use crate::spgemm::{Explanation, Strategy, Trace};
pub use crate::storage::Coo;
/// Rust's own, which the operator [`algebra::Eq`](crate::algebra::Eq) would hide.
#[doc(no_inline)]
pub use std::cmp::Eq;
