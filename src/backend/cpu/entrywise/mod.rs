//! Operations entry by entry: positions stay, or two sets of them are merged.
pub(crate) mod anew;
pub(crate) mod assign;
pub(crate) mod chain;
pub(super) mod entries;
pub(crate) mod map;
pub(crate) mod merge;
pub(crate) mod order;
pub(crate) mod scale;
