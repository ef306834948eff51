//! The templates and the kernel files, embedded: nothing is looked for on disk at run time.

macro_rules! templates {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,
       semiring $semiring:literal, functions [$($function:literal),*], types [$($alias:literal),*],
       flags [$($flag:literal),*], numbers [$($number:literal = $default:literal),*];)*) => {
        /// A strategy kernel file, `codegen/templates/<name>.cu`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Template { $($(#[$doc])* $variant,)* }

        impl Template {
            /// All templates.
            pub const ALL: &'static [Template] = &[$(Template::$variant),*];
            /// The file's name without its ending.
            #[must_use]
            pub const fn name(self) -> &'static str { match self { $(Template::$variant => $name),* } }
            /// The file's text.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Template::$variant => include_str!(concat!("../templates/", $name, ".cu"))),* }
            }
            /// Whether it is written over a semiring.
            #[must_use]
            pub const fn needs_semiring(self) -> bool { match self { $(Template::$variant => $semiring),* } }
            /// The operators it needs besides.
            #[must_use]
            pub const fn functions(self) -> &'static [&'static str] { match self { $(Template::$variant => &[$($function),*]),* } }
            /// The type names it needs besides.
            #[must_use]
            pub const fn types(self) -> &'static [&'static str] { match self { $(Template::$variant => &[$($alias),*]),* } }
            /// The flags it knows.
            #[must_use]
            pub const fn flags(self) -> &'static [&'static str] { match self { $(Template::$variant => &[$($flag),*]),* } }
            /// The numbers it knows, with their defaults.
            #[must_use]
            pub const fn numbers(self) -> &'static [(&'static str, u64)] {
                match self { $(Template::$variant => &[$(($number, $default)),*]),* }
            }
        }
    };
}

templates! {
    /// Prefix sums, sorting and binning: no semiring.
    Primitives = "primitives", semiring false, functions [], types [], flags [], numbers [];
    /// Sparse product: work a row, lists of rows by class.
    SpgemmAnalyze = "spgemm_analyze", semiring false, functions [], types [], flags ["masked", "complement", "reduce"], numbers ["lanes" = 8];
    /// Sparse product: how many columns each row of C has. `kernels`: bit t table size t.
    SpgemmSymbolic = "spgemm_symbolic", semiring false, functions [], types [], flags ["narrow", "masked", "complement"], numbers ["kernels" = 31];
    /// Sparse product: columns and values. `kernels`: bit 0 short rows, bit 1 + t table size t.
    SpgemmNumeric = "spgemm_numeric", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped"],
        numbers ["kernels" = 63];
    /// Sparse product, rows of at most `width` products: how many columns they have.
    SpgemmEscCount = "spgemm_esc_count", semiring false, functions [], types [], flags ["narrow", "masked", "complement"], numbers ["width" = 64];
    /// Sparse product, rows of at most `width` products: expanded, sorted, contracted.
    SpgemmEsc = "spgemm_esc", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped", "whole", "staged"], numbers ["width" = 64, "rows" = 1];
    /// Sparse product, rows of at most `width` products, a block a row: how many columns they have.
    SpgemmSortCount = "spgemm_sort_count", semiring false, functions [], types [], flags ["narrow", "masked", "complement"], numbers ["width" = 1024];
    /// Sparse product, rows of at most `width` products, a block a row: expanded, sorted, contracted.
    SpgemmSort = "spgemm_sort", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped", "staged"], numbers ["width" = 1024];
    /// Sparse product, rows of at most `width` products, a thread a row: how many columns they have.
    SpgemmThreadCount = "spgemm_thread_count", semiring false, functions [], types [], flags ["narrow", "masked", "complement", "wide"],
        numbers ["width" = 32, "block" = 128];
    /// Sparse product, rows of at most `width` products, a thread a row. `whole`: all rows of A, straight to
    /// their places in C. `wide`: 2^26 columns or more.
    SpgemmThread = "spgemm_thread", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped", "whole", "wide", "staged"],
        numbers ["width" = 32, "block" = 128];
    /// Sparse product, all rows of few columns: how many a sample has.
    SpgemmHashCount = "spgemm_hash_count", semiring false, functions [], types [], flags ["narrow", "masked", "complement"], numbers ["slots" = 256];
    /// Sparse product, all rows of few columns: a hash table of so many slots for each, by so many lanes.
    SpgemmHash = "spgemm_hash", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped", "fitted"], numbers ["slots" = 256, "lanes" = 32, "batch" = 2];
    /// Sparse product, all rows of few columns: a hash table of so many slots for each of the threads, so many `lanes`, that a row has.
    SpgemmHashThread = "spgemm_hash_thread", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped"], numbers ["slots" = 16, "lanes" = 1, "packed" = 0, "block" = 128];
    /// Rows of up to so many entries in one place each. `valued`: with values.
    PackRows = "pack_rows", semiring false, functions [], types ["V"], flags ["valued"], numbers ["packed" = 2];
    /// Sparse product, rows of columns within `width`: how many they have.
    SpgemmWindowCount = "spgemm_window_count", semiring false, functions [], types [], flags ["narrow", "masked", "complement", "supernodes", "column_sets"], numbers ["width" = 256];
    /// Sparse product, rows of columns within `width`: summed in a dense window. `united`: sums are sets, or-ed, none of them empty.
    SpgemmWindow = "spgemm_window", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped", "supernodes", "staged", "column_sets", "united"], numbers ["width" = 256];
    /// Sparse product, rows of many products: how many columns they have.
    SpgemmBlockCount = "spgemm_block_count", semiring false, functions [], types [], flags ["narrow", "masked", "complement", "split", "far", "supernodes", "row_bits", "column_sets"],
        numbers ["width" = 4096, "threads" = 512];
    /// Sparse product, rows of many products: summed by a block in a dense window.
    SpgemmBlock = "spgemm_block", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped", "whole", "split", "far", "at_once", "staged", "supernodes", "column_sets"],
        numbers ["width" = 4096, "threads" = 512, "bytes" = 32768, "copies" = 1];
    /// Diagonals of a matrix.
    BandDiagonals = "band_diagonals", semiring false, functions [], types [], flags [], numbers [];
    /// Values along diagonals.
    BandValues = "band_values", semiring false, functions [], types ["V"], flags [], numbers [];
    /// Product of matrices on few diagonals: how many columns rows have.
    SpgemmBandCount = "spgemm_band_count", semiring false, functions [], types [], flags [], numbers [];
    /// Product of matrices on few diagonals: columns and values.
    SpgemmBand = "spgemm_band", semiring true, functions [], types [], flags ["mapped"], numbers ["chunk" = 16];
    /// Sparse product, values at known positions: every sum in the order of k.
    SpgemmOrdered = "spgemm_ordered", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped"], numbers [];
    /// Sparse product under a mask: a dot product for each of its entries.
    SpgemmDot = "spgemm_dot", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped"], numbers [];
    /// Sparse product under a mask, row by row: up to so many `entries` of the mask, by so many lanes or a block.
    SpgemmMasked = "spgemm_masked", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped"], numbers ["entries" = 64, "lanes" = 16, "batch" = 4];
    /// Sparse product over positions alone, 64 rows at a time: columns as words.
    SpgemmBits = "spgemm_bits", semiring false, functions [], types [], flags [], numbers [];
    /// Sparse product: rows of a class, the heaviest first and the lightest last.
    SpgemmHeaviest = "spgemm_heaviest", semiring false, functions [], types [], flags [], numbers [];
    /// Sparse product: rows made in one pass moved together.
    SpgemmCompact = "spgemm_compact", semiring false, functions [], types ["V", "W"], flags [], numbers [];
    /// Sparse product a slice of rows at a time: which rows, lengths, marks.
    SpgemmSlices = "spgemm_slices", semiring false, functions [], types [], flags ["masked", "complement"], numbers [];
    /// Sparse product, a slice of rows expanded. `by_columns`: as outer products.
    SpgemmExpand = "spgemm_expand", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped", "by_columns", "places"], numbers [];
    /// Sparse product, a slice of rows contracted.
    SpgemmContract = "spgemm_contract", semiring true, functions [], types [], flags [], numbers [];
    /// Sparse product, rows of B scattered: how many columns rows have.
    SpgemmRowsCount = "spgemm_rows_count", semiring false, functions [], types [], flags ["narrow", "masked", "complement"], numbers ["threads" = 128];
    /// Sparse product, rows of B scattered into a dense vector of sums.
    SpgemmRows = "spgemm_rows", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped"], numbers ["threads" = 128];
    /// Sorted runs of many segments merged at once.
    SegmentedMerge = "segmented_merge", semiring false, functions [], types [], flags [], numbers [];
    /// Sparse product, masked, reduced to one scalar without being stored. `kernels`: bit 0 rows and the last, bit 1 + t table size t.
    SpgemmReduce = "spgemm_reduce", semiring true, functions ["reduce"], types [], flags ["narrow", "masked", "complement", "mapped", "same"],
        numbers ["kernels" = 63];
    /// Sparse matrix by dense or bitmap vector, by rows (pull).
    Spmv = "spmv", semiring true, functions [], types [], flags ["masked", "complement", "mapped", "vector_left"], numbers [];
    /// Sparse matrix by a vector without gaps, by tiles of rows.
    SpmvFull = "spmv_full", semiring true, functions [], types [], flags ["mapped", "vector_left", "gathered"], numbers [];
    /// Sparse matrix by a matrix without gaps: `width` columns a lane.
    SpmmFull = "spmm_full", semiring true, functions [], types [], flags ["mapped", "vector_left"], numbers ["width" = 1];
    /// Matrix on few diagonals by a vector without gaps: a lane a row.
    SpmvBand = "spmv_band", semiring true, functions [], types [], flags ["mapped", "vector_left"], numbers [];
    /// Rows with entries, in tiles.
    RowTiles = "row_tiles", semiring false, functions [], types [], flags [], numbers [];
    /// Sparse vector by sparse matrix, by rows of the matrix (push).
    Spmspv = "spmspv", semiring true, functions [], types [], flags ["narrow", "masked", "complement", "mapped", "matrix_left"], numbers [];
    /// Vectors between sparse and bitmap form.
    Vector = "vector", semiring false, functions [], types ["V"], flags [], numbers [];
    /// A bitmap as a sparse vector, in one launch.
    BitsRow = "bits_row", semiring false, functions [], types ["V"], flags [], numbers [];
    /// A sparse vector, or rows, accumulated into a bitmap where it lies. `one`: one value for all.
    BitmapUpdate = "bitmap_update", semiring false, functions ["op"], types [], flags ["masked", "complement", "one", "rows", "cells"], numbers [];
    /// Entries between compressed rows and a slot for every cell. `valued`: with values.
    Cells = "cells", semiring false, functions [], types ["V"], flags ["valued"], numbers [];
    /// Entries between compressed rows and slots along diagonals. `valued`: with values.
    Diagonals = "diagonals", semiring false, functions [], types ["V"], flags ["valued"], numbers [];
    /// Positions of cells and diagonals, and their bits.
    Forms = "forms", semiring false, functions [], types [], flags [], numbers [];
    /// Two matrices with a slot for every cell united. `left_one`, `right_one`: one value for all.
    CellsUnion = "cells_union", semiring false, functions ["op"], types [], flags ["left_one", "right_one", "filled"], numbers [];
    /// What one such matrix becomes where another is written into it, or a `region` of it, under a mask. `left_one`, `right_one`: one value for
    /// all.
    CellsWrite = "cells_write", semiring false, functions ["op"], types [], flags ["left_one", "right_one", "region"], numbers [];
    /// A sparse vector met with a bitmap; `dense_left`: the bitmap's values are the left operands.
    BitmapMeet = "bitmap_meet", semiring false, functions ["op"], types [], flags ["dense_left", "one"], numbers [];
    /// Rows as column sets, and the columns of those.
    ColumnSets = "column_sets", semiring false, functions [], types [], flags [], numbers [];
    /// Offsets, keys and marks of entries.
    Structure = "structure", semiring false, functions [], types [], flags [], numbers [];
    /// Parts of equal higher bits of a key split by the next bits: where everything goes. `threads` a block.
    Partition = "partition", semiring false, functions [], types [], flags [], numbers ["threads" = 512];
    /// Transposition: entries moved by a digit of their columns. `threads` a block.
    Transpose = "transpose", semiring false, functions [], types ["V"], flags [], numbers ["threads" = 512];
    /// Transposition: parts of few columns put in order by a block of `threads` each.
    TransposeColumns = "transpose_columns", semiring false, functions [], types ["V"], flags [], numbers ["threads" = 256];
    /// Entries moved as they are.
    Entries = "entries", semiring false, functions [], types ["V"], flags [], numbers [];
    /// Two matrices' entries merged: which are entries of the result. `kind`: 0 union, 1 intersection, 2 overwrite, 3 accumulate.
    MergeCount = "merge_count", semiring false, functions [], types [], flags ["masked", "complement", "replace", "region"],
        numbers ["kind" = 0];
    /// Two matrices' entries merged: columns and values. `kind` 4: a union with values for what is missing.
    MergeWrite = "merge_write", semiring false, functions ["op"], types [], flags ["masked"], numbers ["kind" = 0];
    /// Two sparse vectors merged in one launch; `kind` as before, but 2; 5 and 6: A's that B has, has not. `left_one`, `right_one`: one value
    /// for all.
    MergeRow = "merge_row", semiring false, functions ["op"], types [], flags ["left_one", "right_one"], numbers ["kind" = 0];
    /// Element-wise operations one after the other. `kind`, `again`: 0 union, 1 intersection, 2 filled union, 3 none.
    Chain = "chain", semiring false, functions ["join", "map", "again", "map_again", "keep"], types [], flags ["keeps"],
        numbers ["kind" = 0, "again" = 3];
    /// Entry by entry: apply (`select` 0), or which entries a predicate keeps (1). Flags: what the operator reads; `grid`: of cells.
    Map = "map", semiring false, functions ["op"], types [], flags ["value", "row", "column", "thunk", "grid"], numbers ["select" = 0];
    /// Two operands with the same entries, place by place. `left_one`, `right_one`: one value for all.
    Pair = "pair", semiring false, functions ["op"], types [], flags ["left_one", "right_one"], numbers [];
    /// Rows (`rows`) or columns combined with a vector's values.
    Scale = "scale", semiring false, functions ["op"], types [], flags ["rows"], numbers [];
    /// Triplets of equal position folded.
    Build = "build", semiring false, functions ["op"], types [], flags [], numbers [];
    /// Kronecker product of two matrices.
    Kronecker = "kronecker", semiring false, functions ["op"], types [], flags [], numbers [];
    /// All ways through all places of a square array, the best of each kept.
    Closure = "closure", semiring false, functions ["join", "better"], types [], flags [], numbers ["pivots" = 64];
    /// Columns moved: where entries go.
    Columns = "columns", semiring false, functions [], types [], flags [], numbers [];
    /// Entries of rows in the order of their values.
    SortRows = "sort_rows", semiring false, functions ["op"], types [], flags [], numbers [];
    /// Sums of rows and of everything.
    Reduce = "reduce", semiring false, functions ["op"], types [], flags [], numbers [];
}

macro_rules! kernels {
    ($($path:literal)*) => {
        /// Every hand-written building block: path under `kernels/`, text.
        pub const KERNELS: &[(&str, &str)] = &[$(($path, include_str!(concat!("../kernels/", $path)))),*];
    };
}

kernels! {
    "portable.cuh"
    "complex.cuh"
    "half.cuh"
    "bits.cuh"
    "math.cuh"
    "thread/banks.cuh"
    "thread/foremost.cuh"
    "thread/given.cuh"
    "thread/search.cuh"
    "thread/in_order.cuh"
    "thread/quad.cuh"
    "thread/shared_word.cuh"
    "thread/rank.cuh"
    "thread/sort.cuh"
    "warp/scan.cuh"
    "warp/shuffle.cuh"
    "warp/sort.cuh"
    "warp/sort_many.cuh"
    "warp/search.cuh"
    "warp/turn.cuh"
    "block/team.cuh"
    "block/sort.cuh"
    "block/digit_ranks.cuh"
    "block/tile_sort.cuh"
    "block/tile_rows.cuh"
    "warp/products.cuh"
    "block/word_table.cuh"
    "device/look_back.cuh"
    "device/report.cuh"
    "device/row_writer.cuh"
    "device/tell_value.cuh"
    "device/scan.cuh"
    "device/radix_sort.cuh"
    "device/rows.cuh"
    "device/partition.cuh"
    "device/segmented_merge.cuh"
}

macro_rules! parts {
    ($($path:literal)*) => {
        /// What templates share and depends on the semiring: path under `codegen/templates/`, text.
        pub const PARTS: &[(&str, &str)] = &[$(($path, include_str!(concat!("../templates/", $path)))),*];
    };
}

parts! {
    "part/accumulate.cuh"
    "part/band_place.cuh"
    "part/band_sums.cuh"
    "part/entries.cuh"
    "part/merge.cuh"
    "part/merge_find.cuh"
    "part/merge_keys.cuh"
    "part/merge_mask.cuh"
    "part/merge_value.cuh"
    "part/packed_rows.cuh"
    "part/partial.cuh"
    "part/spgemm.cuh"
    "part/spmv.cuh"
    "part/push.cuh"
    "part/row_tiles.cuh"
    "part/slots.cuh"
    "part/spgemm_band.cuh"
    "part/spgemm_block.cuh"
    "part/spgemm_classes.cuh"
    "part/spgemm_esc.cuh"
    "part/spgemm_factors.cuh"
    "part/spgemm_values.cuh"
    "part/lane_table.cuh"
    "part/mask_words.cuh"
    "part/spgemm_hash.cuh"
    "part/spgemm_rows.cuh"
    "part/spgemm_sort.cuh"
    "part/spgemm_sums.cuh"
    "part/spgemm_sets.cuh"
    "part/spgemm_supernodes.cuh"
    "part/spgemm_terms.cuh"
    "part/spgemm_thread.cuh"
    "part/spgemm_window.cuh"
    "part/transpose.cuh"
}

/// The text of `kernels/<path>`, or of `codegen/templates/<path>` for parts.
#[must_use]
pub fn kernel(path: &str) -> Option<&'static str> {
    KERNELS.iter().chain(PARTS).find(|k| k.0 == path).map(|k| k.1)
}

/// Where a file is, from the root of the repository.
pub(crate) fn location(path: &str) -> String {
    let folder = if path.starts_with("part/") { "codegen/templates" } else { "kernels" };
    format!("{folder}/{path}")
}

/// The file a line includes, if it is `#include "…"`.
pub(crate) fn include(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("#include \"")?.strip_suffix('"')
}

impl Template {
    /// The kernel files it includes, each once, in the order in which they must stand.
    #[must_use]
    pub fn kernels(self) -> Vec<&'static str> {
        fn visit(text: &'static str, seen: &mut Vec<&'static str>) {
            for path in text.lines().filter_map(include) {
                if let (false, Some(text)) = (seen.contains(&path), kernel(path)) {
                    visit(text, seen);
                    if !seen.contains(&path) {
                        seen.push(path);
                    }
                }
            }
        }
        let mut seen = Vec::new();
        visit(self.text(), &mut seen);
        seen
    }
}
