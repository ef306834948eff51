//! Operations entry by entry: positions stay, or two sets of them are merged.
pub(crate) mod assign;
pub(crate) mod chain;
pub(crate) mod given;
pub(crate) mod map;
pub(crate) mod merge;
pub(crate) mod one_row;
pub(crate) mod order;
pub(crate) mod pair;
pub(crate) mod reduce;
pub(crate) mod scale;
pub(crate) mod write;
