//! Storage formats: compressed sparse rows over full or listed axes, and triplets.
pub(crate) mod axis;
pub(crate) mod bitmap;
pub mod coo;
pub(crate) mod dense;
mod diagonals;
pub(crate) mod facts;
pub(crate) mod footprint;
pub(crate) mod frame;
pub(crate) mod held;
pub(crate) mod listing;
pub(crate) mod pattern;
mod recounted;
pub(crate) mod store;
pub(crate) mod update;

pub use coo::Coo;
