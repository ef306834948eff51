//! Tuning numbers, one table an architecture, for the kernels (as `tuning::name`) and for the host that launches them.

macro_rules! tuning {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The numbers for one architecture.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct Tuning { $($(#[$doc])* pub $name: u32,)* }
        impl Tuning {
            /// Names and values, in order.
            #[must_use]
            pub fn entries(&self) -> Vec<(&'static str, u32)> { vec![$((stringify!($name), self.$name)),*] }
        }
    };
}

tuning! {
    /// Threads of a block in the device-wide primitives.
    primitive_block,
    /// Items a thread handles in the device-wide scan.
    scan_items,
    /// The same of numbers of 32 bits.
    scan_u32_items,
    /// Items a thread handles in the device-wide radix sort.
    sort_items,
    /// Keys a thread handles where parts are split by digits.
    partition_items,
    /// Most bits of a digit there.
    partition_bits,
    /// Most bits of a digit that leaves parts to be put in order by a block each: more are written too far apart.
    partition_level,
    /// Parts of fewer keys in the mean are split by small blocks.
    partition_small,
    /// Keys in the mean of parts that a block each puts in order.
    partition_part,
    /// … or of somewhat larger ones, where that spares a digit of `partition_level` bits and none of them is more than a block's.
    partition_spared,
    /// Entries a thread handles in the kernels that are spread over entries.
    entry_items,
    /// Entries of two merged matrices that a thread finds: half a word's.
    merge_items,
    /// A single row is written in one launch from no more entries, of one vector or of two.
    one_row_most,
    /// Sums of rows: rows of up to so many entries are added one after the other by a thread.
    reduce_serial,
    /// Sums: entries of a chunk, which a block adds.
    reduce_chunk,
    /// Threads of a block of the row analysis.
    analyze_block,
    /// Lanes that share a row of A there,
    analyze_lanes,
    /// or so many where rows are at least as many as this and have no more entries than these take at once.
    analyze_lanes_few,
    /// As above.
    analyze_many,
    /// Rows of A with more entries are analysed by a whole block.
    analyze_long,
    /// Threads of a block of the binning kernels, one a row.
    bin_block,
    /// Where lists of all rows for each class are no longer than this together, rows are not counted before they are listed.
    list_places,
    /// Rows that have one part in so many of all products are the first that blocks with windows draw.
    heavy_share,
    /// Threads of the block that puts a class's heaviest rows first and its lightest last.
    heaviest_threads,
    /// Lists of more rows stay as they are, which are long enough for blocks to end together.
    heaviest_rows,
    /// So do those of a product whose largest row has no more products than this: as long as the order would take.
    heaviest_products,
    /// … or than so many times the mean of all rows: even rows end together in any order.
    heaviest_uneven,
    /// Threads of a block of the kernel that copies rows.
    copy_block,
    /// Most shared bytes of a block whose threads have a row each.
    thread_bytes,
    /// Threads of a block of the products along diagonals.
    band_block,
    /// Matrices of more diagonals are no band matrices.
    band_diagonals,
    /// Nor are matrices of fewer rows worth finding it out.
    band_rows,
    /// Threads of a block of the products with a hash table a row, which a warp or some of its lanes share.
    hash_block,
    /// Only if no row can have more products than this, or rows are even, many, and those of B short.
    hash_products,
    /// Rows of so many products in the mean are not sorted without analysis; of fewer, a sample says whether to sort them.
    hash_mean,
    /// Only of so many rows a thread each fills the device.
    thread_rows,
    /// Products of at most so many rows and block_columns columns are not analysed: a block a row.
    small_rows,
    /// … unless there are more products than this in all.
    small_work,
    /// Threads of a block whose warps sort a row each.
    esc_block,
    /// Rows of more products are not sorted by a warp; at most 512, which is a warp's last class.
    esc_products,
    /// Nor by a block.
    sort_products,
    /// Where blocks may have bits over the columns, they only sort rows with so many times more columns from first to last than
    /// products, and more than `block_columns`.
    sort_sparsity,
    /// Only so many rows are sorted without analysis: of fewer, each gets more threads.
    esc_rows,
    /// Threads of a block whose warps own a window each, at most.
    window_block,
    /// Rows whose columns lie further apart get no window.
    window_columns,
    /// Nor do rows with more columns from first to last than this many times their products.
    window_sparsity,
    /// Nor rows of at most so many products, where these are sorted, unless …
    window_few,
    /// … they have no more columns than this from first to last.
    window_least,
    /// Rows of more columns from first to last than this, and of more products than …
    window_near,
    /// … this, have so many sums that few warps have room: they get a small block and sums of their columns alone.
    window_products,
    /// Rows of more products whose columns lie near get a block with a sum a column, not a warp; beyond `window_near` columns, rows of
    /// more than half as many.
    dense_products,
    /// Rows within half of `window_near` columns do so only if they have more than one part in so many of all products.
    dense_share,
    /// Rows of columns within this are done by a block with bits over them; others in windows of so many or a multiple.
    block_columns,
    /// But not rows with more columns from first to last than this many times their products.
    block_sparsity,
    /// Rows of more products get a large block …
    block_products,
    /// … or of more than this, where a window would hold their columns.
    block_near_products,
    /// Threads of a small block, and of a large one.
    block_threads_small,
    /// As above.
    block_threads,
    /// Bytes for the sums of a small block in shared memory.
    block_bytes,
    /// Rows of a large block are split among blocks where these are few: at most one for so many products.
    split_products,
    /// Dot products in which more places than this are looked up get a block each, others a lane for each place.
    dot_long,
    /// Products have to be so many at least for a look at whether dot products take less work.
    dot_least,
    /// Which a place looked up is taken for so many halves of products,
    dot_place,
    /// or for so many where lists are even and short:
    dot_near_place,
    /// the longest of no more times the mean,
    dot_even,
    /// and the mean no more than this;
    dot_short,
    /// an entry that is transposed for so many products,
    dot_turn,
    /// and a transpose for so many more.
    dot_turned,
    /// Rows that are looked at for it,
    dot_sample,
    /// and entries of B,
    dot_counted,
    /// of no more columns.
    dot_columns,
    /// No more products are expected than so many times those that rows of mean lengths would have.
    dot_uneven,
    /// Threads of a block of the products that look the mask's columns up.
    masked_block,
    /// Which are taken from so many products on.
    masked_least,
    /// A group of lanes there leaves rows of more products to a block.
    masked_products,
    /// Entries of the mask that a block takes at once there.
    masked_entries,
    /// Threads of a block whose warps are teams of their own.
    table_warp_block,
    /// Threads of a block of the reduction of rows.
    reduce_block,
    /// Places of a thread that adds marked values; they share a word.
    marked_share,
    /// Threads of a block of the matrix-vector products.
    spmv_block,
    /// Rows with more entries get a block of their own there.
    spmv_long,
    /// Rows and entries of a block together, where the vector has no gaps, and for sums of rows.
    spmv_tile,
    /// Rows with more entries are no tile's there: blocks have parts of them.
    spmv_narrow,
    /// The same where rows are long in the mean: a warp has a row.
    spmv_wide,
    /// Which they are from this mean on.
    spmv_wide_mean,
    /// If there are so many rows.
    spmv_wide_rows,
    /// Rows with more entries, at least, are cut in parts where a matrix has no gaps.
    spmm_long,
    /// Rows with more entries are, whatever the mean.
    spmm_whole,
    /// Entries of a part there, at least.
    spmm_chunk,
    /// Entries of a part.
    spmv_chunk,
    /// Blocks of a multiprocessor there.
    spmv_blocks,
    /// How many times more words than a table holds a row may seem to have, before compression.
    table_optimism,
    /// A warp's table takes a row of at most this many products (which it walks a batch at a time, waiting for each) …
    table_products,
    /// A warp's window takes one of at most this many …
    warp_products,
    /// … or of at most this part of all products.
    warp_share,
    /// Batches of 32 products in flight in the symbolic phase.
    symbolic_batch,
    /// Batches of 32 products in flight in the numeric phase.
    numeric_batch,
    /// Of a block's warps that walk 32 entries of A each, one leaves entries of more products than this for all.
    shared_round,
    /// Rows of B of so many entries in the mean are walked one after the other, shorter ones side by side.
    long_rows,
    /// Rows of B among 32 products that a warp adds one after the other; past this it looks for equal columns.
    most_turns,
    /// Slots of the largest table in the symbolic phase.
    symbolic4_slots,
    /// A row is cut into slices of columns so that there are about this many units in all …
    slice_units,
    /// … but none with fewer products than this.
    slice_products,
    /// Table size 0: threads of a team.
    table0_threads,
    /// Table size 0: slots for words of 32 columns.
    table0_slots,
    /// Table size 0: bytes for the sums.
    table0_bytes,
    /// Table size 1: threads of a team.
    table1_threads,
    /// Table size 1: slots for words of 32 columns.
    table1_slots,
    /// Table size 1: bytes for the sums.
    table1_bytes,
    /// Table size 2: threads of a team.
    table2_threads,
    /// Table size 2: slots for words of 32 columns.
    table2_slots,
    /// Table size 2: bytes for the sums.
    table2_bytes,
    /// Table size 2: most products of a row.
    table2_products,
    /// Table size 3: threads of a team.
    table3_threads,
    /// Table size 3: slots for words of 32 columns.
    table3_slots,
    /// Table size 3: bytes for the sums.
    table3_bytes,
    /// Table size 4: threads of a team.
    table4_threads,
    /// Table size 4: slots for words of 32 columns.
    table4_slots,
    /// Table size 4: bytes for the sums.
    table4_bytes,
}

/// Turing: 64 KiB of shared memory.
pub const SM_75: Tuning = Tuning {
    // Static shared memory wants its part of the 64 KiB.
    thread_bytes: 61440,
    partition_items: 8,
    partition_bits: 10,
    table_warp_block: 128,
    warp_products: 2048,
    symbolic4_slots: 2048,
    table0_bytes: 1024,
    table1_bytes: 2048,
    table2_bytes: 4096,
    table3_threads: 128,
    table3_slots: 512,
    table3_bytes: 8192,
    table4_threads: 256,
    table4_slots: 1024,
    table4_bytes: 16384,
    ..SM_90
};
/// Ampere: 163 KiB of shared memory a block.
pub const SM_80: Tuning = Tuning { table4_threads: 512, table4_slots: 4096, table4_bytes: 57344, ..SM_90 };
/// Those with 99 KiB of shared memory a block: Ampere and Ada outside data centres, and what came after them.
pub const SM_86: Tuning =
    Tuning { symbolic4_slots: 4096, table4_threads: 512, table4_slots: 2048, table4_bytes: 32768, ..SM_90 };
/// Hopper.
pub const SM_90: Tuning = Tuning {
    primitive_block: 256,
    scan_items: 8,
    scan_u32_items: 16,
    sort_items: 8,
    partition_items: 16,
    partition_bits: 11,
    partition_level: 10,
    partition_small: 2048,
    partition_part: 2048,
    partition_spared: 5120,
    entry_items: 8,
    merge_items: 16,
    one_row_most: 1 << 20,
    reduce_serial: 64,
    reduce_chunk: 4096,
    analyze_block: 256,
    analyze_lanes: 8,
    analyze_lanes_few: 2,
    analyze_many: 1 << 18,
    analyze_long: 128,
    bin_block: 256,
    list_places: 1 << 21,
    heavy_share: 1056,
    heaviest_threads: 1024,
    heaviest_rows: 32768,
    heaviest_products: 4096,
    heaviest_uneven: 4,
    copy_block: 256,
    thread_bytes: 65536,
    band_block: 128,
    band_diagonals: 256,
    band_rows: 16384,
    hash_block: 128,
    hash_products: 2048,
    hash_mean: 128,
    thread_rows: 65536,
    small_rows: 20480,
    small_work: 6000000,
    esc_block: 128,
    esc_products: 512,
    sort_products: 2048,
    sort_sparsity: 16,
    esc_rows: 8192,
    window_block: 128,
    window_columns: 4096,
    window_sparsity: 16,
    window_few: 64,
    window_least: 256,
    window_near: 1024,
    window_products: 2048,
    dense_products: 1024,
    dense_share: 4096,
    block_columns: 65536,
    block_sparsity: 256,
    block_products: 4096,
    block_near_products: 16384,
    block_threads_small: 128,
    block_threads: 512,
    block_bytes: 8192,
    split_products: 16384,
    dot_long: 4096,
    dot_least: 1 << 20,
    dot_place: 6,
    dot_near_place: 3,
    dot_even: 4,
    dot_short: 16,
    dot_turn: 10,
    dot_turned: 1 << 21,
    dot_sample: 1 << 14,
    dot_counted: 1 << 20,
    dot_columns: 1 << 24,
    dot_uneven: 16,
    masked_block: 256,
    masked_least: 1 << 21,
    masked_products: 1024,
    masked_entries: 1024,
    table_warp_block: 256,
    reduce_block: 256,
    marked_share: 8,
    spmv_block: 256,
    spmv_long: 4096,
    spmv_tile: 1792,
    spmv_narrow: 252,
    spmv_wide: 1024,
    spmv_wide_mean: 64,
    spmv_wide_rows: 4096,
    spmm_long: 32,
    spmm_whole: 256,
    spmm_chunk: 512,
    spmv_chunk: 2048,
    spmv_blocks: 5,
    table_optimism: 2,
    table_products: 1024,
    warp_products: 8192,
    warp_share: 16384,
    symbolic_batch: 4,
    numeric_batch: 2,
    shared_round: 8192,
    long_rows: 20,
    most_turns: 3,
    symbolic4_slots: 8192,
    slice_units: 1024,
    slice_products: 262144,
    table0_threads: 32,
    table0_slots: 128,
    table0_bytes: 2048,
    table1_threads: 32,
    table1_slots: 256,
    table1_bytes: 4096,
    table2_threads: 128,
    table2_slots: 512,
    table2_bytes: 8192,
    table2_products: 16384,
    table3_threads: 256,
    table3_slots: 2048,
    table3_bytes: 16384,
    table4_threads: 512,
    table4_slots: 4096,
    table4_bytes: 40960,
};
/// Blackwell.
pub const SM_100: Tuning = SM_90;

impl Tuning {
    /// Threads of a team, slots and bytes for sums of each table size of the sparse product.
    #[must_use]
    pub const fn tables(&self) -> [(u32, u32, u32); 5] {
        [
            (self.table0_threads, self.table0_slots, self.table0_bytes),
            (self.table1_threads, self.table1_slots, self.table1_bytes),
            (self.table2_threads, self.table2_slots, self.table2_bytes),
            (self.table3_threads, self.table3_slots, self.table3_bytes),
            (self.table4_threads, self.table4_slots, self.table4_bytes),
        ]
    }
    /// The table for `architecture` (75, 80, 86, 90, …): that of 86 where a block has 99 KiB (86, 88, 89, from 120 on), else that of
    /// the newest of the others that is not newer.
    #[must_use]
    pub const fn of(architecture: u32) -> &'static Tuning {
        match architecture {
            0..80 => &SM_75,
            86 | 88..90 | 120.. => &SM_86,
            80..90 => &SM_80,
            90..100 => &SM_90,
            _ => &SM_100,
        }
    }
}
