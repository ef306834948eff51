//! The CUDA backend. Semirings and operators come to it as text, so it is compiled once for all of them; only `backend` is generic.
//!
//! `runtime` knows the device and no operation, `storage` what lies in its memory. Operations are in `spgemm` (products), `mxv`
//! (with vectors and full matrices), `entrywise` and `structure`; `multiply` chooses among the first two.
//!
//! The only place that names cudarc (`runtime`), and that only for the driver's types and constants: the calls go through a table of
//! our own (`library!`), because cudarc's loader panics where a library or a symbol is missing.
//! Without CUDA every door here answers with [`Error::Unavailable`](crate::error::Error::Unavailable).
mod backend;
mod closure;
mod composed;
mod entries;
mod entrywise;
mod multiply;
mod mxv;
mod product;
mod runtime;
mod spgemm;
mod stand_in;
mod storage;
mod structure;

pub(crate) use backend::Cuda;
pub(crate) use composed::top_k;
pub(crate) use entrywise::chain::chained;
pub(crate) use entrywise::write::accumulator_text;
pub(crate) use multiply::DevicePlan;
pub use runtime::buffer::{self, Buffer};
pub use runtime::cache;
pub use runtime::context::{self, Context};
pub use runtime::launch::{self, Argument, Launch};
pub use runtime::module::{self, Kernel, Source};
pub use runtime::nvrtc::{self, Compiled, Image, compile_for};
pub use runtime::probe::{self, Unavailable, probe};
pub use runtime::trace::Timed;
pub(crate) use stand_in::{counting, of_positions};
pub(crate) use storage::dense::{DeviceDense, DevicePlaces};
pub(crate) use storage::device_csr::{DeviceCsr, DevicePattern};
pub(crate) use storage::held::{Area, CellMask, DeviceForm, DeviceFrame, DeviceHeld, Transposed};
pub(crate) use structure::segmented_merge;

/// Until this goes, what the thread does is not the operation's that it is in.
pub(crate) fn aside() -> (impl Drop, impl Drop) {
    (runtime::account::aside(), runtime::trace::aside())
}

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock that a panic elsewhere cannot take away: what it guards is valid between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
