//! What a product will do and why, as data; knows no device.
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
pub(crate) mod chunks;
mod explain;
mod names;

pub use explain::{Analysis, Bin, Explanation, Extent, KernelTrace, MaskExtent, Sample, Trace};

/// How a product is computed. Every strategy gives the same pattern; `Auto` chooses.
///
/// All but `Auto` and `Dot` say how CUDA works. The host has one way of making rows, an accumulator chosen row by row, and takes
/// them for `Hash`; the reference takes all for one. Products with vectors take no notice, but that `Dot` without a mask is
/// refused there too; fused reductions make dot products by `Dot`, perhaps by `Auto`, and never by another name.
///
/// Sums of integers and booleans, minima and maxima have the same bits by all of them. Other sums the host makes in the order of k,
/// and so does CUDA for [`reproducible`](crate::operation::Operation::reproducible) products: these have the same bits in every run, and
/// on every device [where ⊕ and ⊗ give those](crate::algebra::operator#bits). Without that each strategy below says what CUDA does; [`sums_in_order`](Strategy::sums_in_order) and
/// [`Explanation::in_order`] tell it a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Chosen from the operands, on CUDA row by row: see `codegen/templates/README.md`. Rows of few products and rows with near
    /// columns are summed in the order of k, those of many products that blocks or their tables make in any: not reproducible.
    #[default]
    Auto,
    /// All products expanded, sorted by row and column over the whole device, contracted, a slice of rows at a time (Dalton,
    /// Olson, Bell, 10.1145/2699470, algorithm 1): the figure that others are compared with. The sort is stable, sums are in the
    /// order of k: reproducible.
    EscGlobal,
    /// Products expanded, sorted by column and contracted (Dalton, Olson, Bell, 10.1145/2699470), each row where it has room: in the
    /// registers of a thread or of a warp, in a block's shared memory, or, of more products than that, as tiles sorted by a block each
    /// and merged in device memory. All sorts are stable, sums are in the order of k: reproducible.
    Esc,
    /// Rows of B scattered into an accumulator per row of A (dense, hash or sort by the row's size). Tables of a thread or a warp
    /// are added to in the order of k, those of a block in any: reproducible only without rows of many products. On CUDA columns are
    /// counted first, then summed; many short rows are made in one pass, of which a sample says how many columns they have. There, under a
    /// mask that is not complemented, the table has the mask's columns, and products that are not among them are dropped where
    /// they arise: one pass, its work is that of looking up every product once.
    Hash,
    /// All products expanded; those of a row, runs of ascending columns, merged two by two, all rows at once (Ji, Lu, Liu, Jin,
    /// "Segmented Merge", IJPP 2021), and contracted. Merges are stable, sums are in the order of k: reproducible.
    SegmentedMerge,
    /// Rows of B scattered into a dense vector of sums, a tile of columns at a time (Matam and others), a block a row of A whose
    /// threads fall into virtual warps as long as rows of B are (Kurt and others, 10.1109/HiPC.2017.00040). Virtual warps add when
    /// they come: sums are in any order, not reproducible.
    RowRow,
    /// Outer products: column k of A by row k of B, for one k after the other; the products of a row are then merged as by
    /// `SegmentedMerge`. Sums are in the order of k: reproducible.
    ColumnRow,
    /// Diagonal by diagonal (Matam, Bharadwaj, Kothapalli, 10.1109/HiPC.2012.6507483). On CUDA an error unless both matrices
    /// lie on few diagonals, however sparse those are; a mask is applied to the product. A thread sums an entry in the order of k:
    /// reproducible.
    Band,
    /// Every row's columns as bits, sums at the ranks of their bits: in a dense window where the row's columns lie near each
    /// other, else by a block; by `Hash`'s tables of words of 32 columns where sums cannot be pre-set or columns are very far
    /// apart. Windows sum in the order of k, blocks in any: not reproducible.
    BitmapRank,
    /// Every row whose columns lie within some thousands of each other in a dense window of its own, however few products it
    /// has; the others as by `Hash`. A window is a warp's and sums in the order of k; reproducible where all rows have one.
    Window,
    /// One dot product per entry of the mask: what a row of A and a column of B have in common, the shorter looked up in the longer;
    /// needs a mask that is not complemented. Sums run in the order of k.
    Dot,
}
