// Where the values of a matrix are that is not stored as compressed rows.
#include "thread/search.cuh"

namespace oplus {

// A slot for every cell, row by row; or, with `diagonals`, which has column - row of those in use, ascending, for every row of each.
struct Slots {
  u64 rows, columns;
  const i64* diagonals;
  u64 count;

  // The slot of a position; it is in a cell, or on a diagonal, that there is.
  __device__ u64 of(u32 row, u32 column) const {
    if (!diagonals) return row * columns + column;
    return lower_bound<i64, u64>(diagonals, 0, count, i64(column) - i64(row)) * rows + row;
  }
};

// Whether a slot has an entry; without words each has.
__device__ inline bool has_entry(const u32* words, u64 slot) { return !words || words[slot >> 5] >> (slot & 31) & 1; }

}  // namespace oplus
