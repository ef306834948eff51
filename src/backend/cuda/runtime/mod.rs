//! A device made ready: probing, contexts, memory, compiling, caching and launching. It knows no operation.
pub(crate) mod account;
pub(crate) mod ahead;
mod api;
pub mod buffer;
pub mod cache;
pub mod context;
mod keep;
pub(crate) mod lanes;
pub mod launch;
mod log;
pub mod module;
pub mod nvrtc;
mod nvrtc_search;
pub mod probe;
pub(crate) mod program;
pub(crate) mod report;
pub(crate) mod trace;
