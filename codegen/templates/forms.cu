// The positions of matrices that are no compressed rows, and their bits. Blocks of tuning::primitive_block threads. Deterministic.
// Launches: README.md.
#include "part/entries.cuh"
#include "part/slots.cuh"
#include "thread/rank.cuh"
#include "thread/shared_word.cuh"
#include "warp/turn.cuh"

namespace oplus {

__device__ inline u64 global_thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// Diagonals that the block has seen, one for each place.
__device__ inline u32* seen_diagonals() {
  __shared__ u32 seen[tuning::primitive_block];
  return seen;
}

// Bit column - row + rows of words (0 before) where an entry is on that diagonal. What a block has seen it does not ask for again: all
// would ask for a few words. Threads look and note beside each other, atomically: whoever notes a diagonal marks it.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
diagonal_marks(u64 n, u64 rows, const u64* offsets, const u32* indices, u32* words) {
  constexpr u32 none = 0xffffffffu;
  u32* const seen = seen_diagonals();
  seen[threadIdx.x] = none;
  // The walk has a barrier before the first entry.
  for_entries<false, true, true>(Entries<u8>{n, rows, offsets, indices, nullptr}, [&](u64, bool inside, u8, u32 row, u32 column) {
    if (!inside) return;
    const u64 d = column + rows - row;
    const u32 place = u32(d % tuning::primitive_block);
    if (d < none) {
      if (shared_word(&seen[place]) == u32(d)) return;
      atomicExch(&seen[place], u32(d));
    }
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

// out[r] = entries of row r, r < rows.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
diagonal_counts(u64 rows, u64 columns, const i64* diagonals, u64 count, const u32* words, u64* out) {
  const u64 r = global_thread();
  if (r >= rows) return;
  const u64 first = lower_bound<i64, u64>(diagonals, 0, count, -i64(r));
  const u64 behind = lower_bound<i64, u64>(diagonals, first, count, i64(columns) - i64(r));
  u64 entries = words ? 0 : behind - first;
  if (words) {
#pragma unroll 8
    for (u64 d = first; d < behind; d++) entries += has_entry(words, d * rows + r);
  }
  out[r] = entries;
}

// Rows of the cells that have a bit; r = 0 ..= rows. starts[w]: bits before word w.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
cell_offsets(u64 rows, u64 columns, const u32* words, const u64* starts, u64* offsets) {
  const u64 r = global_thread();
  if (r <= rows) offsets[r] = rank(words, starts, r * columns);
}

// Bits of the transpose's cells; out: 0 before. A warp turns 32 x 32.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
cells_turned(u64 rows, u64 columns, const u32* words, u32* out) {
  const u64 tile = global_thread() / 32, across = (columns + 31) / 32, row = tile / across * 32 + lane_id(), column = tile % across * 32;
  if (tile / across * 32 >= rows) return;
  const u32 n = u32(min(u64(32), columns - column));
  const u32 kept = warp_turned(row < rows ? bits_from(words, row * columns + column, n) : 0);
  if (kept) or_bits(out, (column + lane_id()) * rows + tile / across * 32, kept);
}

// out[w] = x[w] | y[w] with `either`, x[w] & y[w] without.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
words_met(u64 n, const u32* x, const u32* y, u32 either, u32* out) {
  const u64 w = global_thread();
  if (w < n) out[w] = either ? x[w] | y[w] : x[w] & y[w];
}

}  // namespace oplus
