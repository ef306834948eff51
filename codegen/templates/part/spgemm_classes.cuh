// The classes of rows, the control block and the units of work of a sparse product.
#include "portable.cuh"

namespace oplus {

// Classes of rows, by size. `class_table + t` is table size t of the tuning numbers.
enum { class_empty, class_copy, class_tiny8, class_tiny16, class_tiny32, class_table, class_count = class_table + 5 };

// The control block: u64[80] in global memory, zeroed before the analysis.
enum {
  control_products = 0,   // products of all rows
  control_largest = 1,    // products of the largest row
  control_entries = 2,    // nnz(C), once the counts are summed
  control_units = 8,      // [class] work units
  control_begin = 24,     // [class] the first one in `units`
  control_cursor = 40,    // [class] units listed so far
  control_symbolic = 64,  // [table] units taken by the symbolic phase: 0 before it
  control_numeric = 72,   // [table] units taken by the numeric phase: 0 before it
};

// A unit of work: row in bits 0..31, slice of its columns in 32..47, number of slices in 48..63.
struct Unit {
  u32 row, slice, slices;
  __device__ Unit(u64 packed) : row(u32(packed)), slice(u32(packed >> 32) & 0xffff), slices(u32(packed >> 48)) {}
};

}  // namespace oplus
