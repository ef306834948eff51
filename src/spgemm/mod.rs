//! What a product will do and why, as data; knows no device.
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
pub(crate) mod chunks;
mod explain;

pub use explain::{Analysis, Bin, Explanation, Extent, KernelTrace, MaskExtent, Sample, Trace};

/// How a product is computed. Every strategy gives the same pattern; `Auto` chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Chosen from the operands, on CUDA row by row: see `codegen/templates/README.md`.
    #[default]
    Auto,
    /// Rows of B scattered into an accumulator per row of A (dense, hash or sort by the row's size).
    Hash,
    /// Rows of few products expanded, sorted by column and contracted (Dalton, Olson, Bell, 10.1145/2699470); the others as by
    /// `Hash`. The CPU takes it for `Hash`.
    Esc,
    /// One dot product per entry of the mask; needs a mask that is not complemented.
    Dot,
}
