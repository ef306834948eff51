//! The CUDA backend's runtime: probing, contexts, device memory, compiling, caching and launching. It knows no semiring.
//!
//! The only place that names cudarc, and that only for the driver's types and constants: the calls go through a table of
//! our own (`library!`), because cudarc's loader panics where a library or a symbol is missing.
//! Without CUDA every door here answers with [`Error::Unavailable`](crate::error::Error::Unavailable).
mod account;
mod ahead;
mod api;
mod assign;
mod backend;
mod band;
mod band_pairs;
pub mod buffer;
mod build;
#[cfg(all(test, target_os = "linux"))]
mod build_tests;
pub mod cache;
mod chain;
mod chunks;
mod closure;
mod columns;
mod composed;
pub mod context;
mod dense;
mod device_csr;
mod entries;
mod full;
mod fused;
mod given;
mod held;
mod in_use;
mod keep;
mod kronecker;
mod lanes;
pub mod launch;
mod list;
mod log;
mod map;
mod merge;
pub mod module;
mod multiply;
pub mod nvrtc;
mod nvrtc_search;
mod one_row;
mod order;
mod pair;
mod places;
pub mod probe;
mod product;
mod program;
mod reduce;
mod report;
mod reshape;
mod row_tiles;
mod scale;
pub(crate) mod segmented_merge;
mod sort;
mod spgemm;
mod spmspv;
mod spmv;
mod supernodes;
mod trace;
mod transpose;
mod turned;
mod values;
mod vector;
mod write;

pub(crate) use backend::Cuda;
pub use buffer::Buffer;
pub(crate) use chain::chained;
pub(crate) use composed::top_k;
pub use context::Context;
pub(crate) use dense::{DeviceDense, DevicePlaces};
pub(crate) use device_csr::{DeviceCsr, DevicePattern};
pub(crate) use held::{DeviceForm, DeviceHeld, Transposed};
pub use launch::{Argument, Launch};
pub use module::{Kernel, Source};
pub(crate) use multiply::{DevicePlan, of_positions};
pub use nvrtc::{Compiled, Image, compile_for};
pub use probe::{Unavailable, probe};
pub use trace::Timed;
pub(crate) use write::accumulator_text;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock that a panic elsewhere cannot take away: what it guards is valid between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
