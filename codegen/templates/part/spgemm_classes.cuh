// The classes of rows, the control block and the work lists of a sparse product.
#include "portable.cuh"

namespace oplus {

// Classes of rows: by the products they may have, class_thread + n: 16 << n, class_esc + n: 64 << n; by the columns from first
// to last, class_window + n: 256 << n, class_dense + n, of many products: 1024 << n; class_block: a small block's, class_block + 1:
// a large one's, class_block + 2: a large one's in wide windows; `class_table + t` is table size t of the tuning numbers; class_sorted:
// what is sorted in device memory.
enum {
  class_empty,
  class_copy,
  class_thread,
  class_esc = class_thread + 2,
  class_window = class_esc + 7,
  class_dense = class_window + 5,
  class_block = class_dense + 4,
  class_table = class_block + 3,
  class_sorted = class_table + 5,
  class_count,
  block_classes = class_table - class_block
};

__device__ inline bool is_block(u32 kind) { return kind >= class_block && kind < class_table; }

// The control block: u64[256] in global memory, zeroed before the analysis. Lists of classes have 32 places.
enum {
  control_products = 0,   // products of all rows
  control_largest = 1,    // products of the largest row
  control_entries = 2,    // nnz(C), once the counts are summed
  control_slices = 3,     // slices listed
  control_parts = 4,      // parts asked for
  control_made_rows = 3,  // of a pass over all rows that ended where C had no room: rows that are made, and …
  control_made_entries = 4,  // … their entries
  control_staged = 5,     // room for the rows that are made in one pass
  control_room = 6,       // the most room of a row
  control_longest = 7,    // entries of the longest row of C
  control_spilled = 8,    // [table] rows that did not fit the table before
  control_failed = 13,    // why a pass over all rows ended early: failed_…
  control_done = 14,      // blocks that are done, where the last one tells the host: report_done
  control_symbolic = 16,  // [table] rows taken by the symbolic phase: 0 before it
  control_numeric = 24,   // [table] rows taken by the numeric phase: 0 before it
  control_heavy = 29,     // [size] rows that the blocks with windows take first: 0 before the lists
  control_blocks = 224,   // [size] rows taken by the blocks with windows: 0 before them
  control_dense = 232,    // [class] rows taken by the blocks with a sum a column, and in the next four places by those that count: 0 before
  control_units = 32,     // [class] rows of each class
  control_begin = 64,     // [class] the first of them in `units`
  control_cursor = 96,    // [class] listed so far
  sums_units = 128,       // the same three lists again, for the numeric phase
  sums_begin = 160,
  sums_cursor = 192,
};

// Why a pass that makes all rows ended before it had: a row had no room, or C.
enum { failed_row = 1, failed_room = 2 };

// Words of the control block.
constexpr u32 control_words = 256;

// How a row came out of the symbolic phase: the table it fitted, or …
enum { kind_parts = 6, kind_ranges = 7 };

// A row too long for one team: one of several slices of its columns. Row in bits 0..31, number of the slice in 32..47,
// number of slices in 48..63. The slices of a row stand together.
struct Slice {
  u32 row, number, of;
  __device__ Slice(u64 packed) : row(u32(packed)), number(u32(packed >> 32) & 0xffff), of(u32(packed >> 48)) {}
};

// Columns 32·low to 32·high of a row of C, few enough for the largest table. Its entries begin at
// offset of the row + entries of `slices` slices from `slice` on + before.
struct Part {
  u32 row, low, high, before, slice, slices;
};

// Rows that spilled into table t: one half of the array for odd t, the other for even t, as one is read while the next is
// written and each may hold every row.
__device__ inline u32* spill_place(u32* spill, u64 rows, u32 t, u64 i) { return &spill[t & 1 ? i : rows + i]; }

// A part's share of products: rows with more are cut.
__device__ inline u64 product_share(u64 total) {
  const u64 share = total / tuning::slice_units;
  return share > tuning::slice_products ? share : u64(tuning::slice_products);
}

}  // namespace oplus
