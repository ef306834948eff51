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
