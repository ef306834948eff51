// The positions of matrices that are no compressed rows, and their bits. Blocks of tuning::primitive_block threads. Deterministic.
// Launches: README.md.
#include "part/entries.cuh"
#include "part/slots.cuh"
#include "thread/rank.cuh"

namespace oplus {

__device__ inline u64 global_thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// Bit column - row + rows of words (0 before) where an entry is on that diagonal.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
diagonal_marks(u64 n, u64 rows, const u64* offsets, const u32* indices, u32* words) {
  for_entries<false, true, true>(Entries<u8>{n, rows, offsets, indices, nullptr}, [&](u64, bool inside, u8, u32 row, u32 column) {
    if (!inside) return;
    const u64 d = column + rows - row;
    const u32 bit = 1u << (d & 31);
    // Nearly always somebody was here before.
    if (!(*(volatile u32*)&words[d >> 5] & bit)) atomicOr(&words[d >> 5], bit);
  });
}

// The marked diagonals, column - row, ascending. starts[w]: marks before word w.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
diagonal_list(u64 words_count, const u32* words, const u64* starts, u64 rows, i64* out) {
  const u64 w = global_thread();
  if (w >= words_count) return;
  u64 at = starts[w];
  for (u32 left = words[w]; left; left &= left - 1) out[at++] = i64(w * 32 + u32(__ffs(left)) - 1) - i64(rows);
}

// f(column) of a row's entries on diagonals.
template <class F> __device__ inline void for_diagonals(const Slots& slots, const u32* words, u64 row, F f) {
  for (u64 d = lower_bound<i64, u64>(slots.diagonals, 0, slots.count, -i64(row)); d < slots.count; d++) {
    const i64 column = i64(row) + slots.diagonals[d];
    if (column >= i64(slots.columns)) return;
    if (has_entry(words, d * slots.rows + row)) f(u32(column));
  }
}

// out[r] = entries of row r, r < rows.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
diagonal_counts(u64 rows, u64 columns, const i64* diagonals, u64 count, const u32* words, u64* out) {
  const u64 r = global_thread();
  if (r >= rows) return;
  u64 entries = 0;
  for_diagonals({rows, columns, diagonals, count}, words, r, [&](u32) { entries++; });
  out[r] = entries;
}

extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
diagonal_indices(u64 rows, u64 columns, const i64* diagonals, u64 count, const u32* words, const u64* offsets, u32* indices) {
  const u64 r = global_thread();
  if (r >= rows) return;
  u64 at = offsets[r];
  for_diagonals({rows, columns, diagonals, count}, words, r, [&](u32 column) { indices[at++] = column; });
}

// Rows of the cells that have a bit; r = 0 ..= rows. starts[w]: bits before word w.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
cell_offsets(u64 rows, u64 columns, const u32* words, const u64* starts, u64* offsets) {
  const u64 r = global_thread();
  if (r <= rows) offsets[r] = rank(words, starts, r * columns);
}

// A warp a word.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
cell_indices(u64 words_count, u64 columns, const u32* words, const u64* starts, u32* indices) {
  const u64 slot = global_thread(), w = slot >> 5;
  if (w >= words_count) return;
  const u32 word = words[w];
  if (!(word >> lane_id() & 1)) return;
  const u32 column = slot >> 32 ? u32(slot % columns) : u32(slot) % u32(columns);
  indices[starts[w] + u32(__popc(word & lanes_below()))] = column;
}

// out[w] = x[w] | y[w] with `either`, x[w] & y[w] without.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
words_met(u64 n, const u32* x, const u32* y, u32 either, u32* out) {
  const u64 w = global_thread();
  if (w < n) out[w] = either ? x[w] | y[w] : x[w] & y[w];
}

}  // namespace oplus
