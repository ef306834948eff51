//! Building blocks on a CUDA device, for kernels of your own beside those of this library (feature `cuda`).
//!
//! A [`Buffer`] is device memory of a [`Context`], the state of one device; its pointer is what another library's kernels take.
//! ```no_run
//! use oplus::primitive::{Buffer, Context, segmented_merge};
//! # fn main() -> oplus::Result<()> {
//! let context = Context::get(0)?;
//! // Two segments: the first of two runs, the second of one.
//! let keys = Buffer::from_host(&context, &[1u64, 4, 9, 2, 5, 3, 7])?;
//! let payloads = Buffer::from_host(&context, &[0u32, 1, 2, 3, 4, 5, 6])?;
//! let runs = Buffer::from_host(&context, &[0u64, 3, 5, 7])?;
//! let segments = Buffer::from_host(&context, &[0u64, 2, 3])?;
//! let (keys, payloads) = segmented_merge(keys, payloads, &runs, &segments)?;
//! assert_eq!(keys.to_host::<u64>()?, [1, 2, 4, 5, 9, 3, 7]);
//! assert_eq!(payloads.to_host::<u32>()?, [0, 3, 1, 4, 2, 5, 6]);
//! # Ok(())
//! # }
//! ```
pub use crate::backend::cuda::segmented_merge::segmented_merge;
pub use crate::backend::cuda::{Buffer, Context};
