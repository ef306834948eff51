// Rows that were written with room to spare, moved together: the end of products made in one pass.
#include "warp/scan.cuh"

namespace oplus {

// 32 rows, one a lane, which begin at `from` and at `out` and have n entries to move: those of all rows are written side by
// side, as few sectors as there are, however short rows are. All lanes of `parts` warps call, each for its `part`.
__device__ inline void move_together(u32 part, u32 parts, u64 from, u64 out, u32 n, const u32* from_indices, const V* from_values, u32* out_indices, W* out_values) {
  constexpr u32 batch = 4;
  const u32 stop = warp_inclusive_sum(n), all = shuffle(stop, 31);
  // Where the first entry of all would be, were it the row's.
  from -= stop - n;
  out -= stop - n;
  for (u32 first = part * 32 * batch; first < all; first += parts * 32 * batch) {
    u64 to[batch];
    u32 index[batch];
    V value[batch];
#pragma unroll
    for (u32 t = 0; t < batch; t++) {
      const u32 e = first + t * 32 + lane_id();
      const u32 row = first_above(stop, e);
      const u64 at = shuffle(from, row) + e;
      to[t] = shuffle(out, row) + e;
      if (e >= all) continue;
      index[t] = from_indices[at];
      if (from_values) value[t] = from_values[at];
    }
#pragma unroll
    for (u32 t = 0; t < batch; t++) {
      if (first + t * 32 + lane_id() >= all) continue;
      out_indices[to[t]] = index[t];
      if (from_values) out_values[to[t]] = static_cast<W>(value[t]);
    }
  }
}

// Values V become W: sums what they are written as.
// Row r: out_offsets[r + 1] - out_offsets[r] entries from `from_offsets[r]` to out_offsets[r] on; rows without room in
// `from` (from_offsets equal) are left alone, and so are values where these are null. `lanes`: a power of two to 32, the lanes that share a row; 0: 32 rows
// are those of 2^split warps of a block, of 8 at most: so many that none has far more to move than others.
// Launch: 1-D blocks of tuning::primitive_block threads, grid ceil(rows · max(lanes, 1) · 2^split / block).
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
spgemm_compact(u64 rows, u32 lanes, u32 split, const u64* from_offsets, const u32* from_indices, const V* from_values,
               const u64* out_offsets, u32* out_indices, W* out_values) {
  const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (lanes == 0) {
    const u32 warp = u32(thread / 32), parts = 1u << split, part = warp & (parts - 1);
    const u64 row = u64(warp >> split) * 32 + lane_id();
    const bool in = row < rows && from_offsets[row + 1] != from_offsets[row];
    const u64 from = in ? from_offsets[row] : 0, out = in ? out_offsets[row] : 0;
    move_together(part, parts, from, out, in ? u32(out_offsets[row + 1] - out) : 0, from_indices, from_values, out_indices, out_values);
    return;
  }
  const u64 row = thread / lanes;
  if (row >= rows) return;
  const u64 from = from_offsets[row], out = out_offsets[row];
  if (from_offsets[row + 1] == from) return;
  const u64 n = out_offsets[row + 1] - out;
  // Several on their way at once.
  constexpr u32 batch = 4;
  for (u64 e = thread % lanes; e < n; e += batch * lanes) {
    u32 index[batch];
    V value[batch];
#pragma unroll
    for (u32 t = 0; t < batch; t++) {
      if (e + t * lanes < n) {
        index[t] = from_indices[from + e + t * lanes];
        if (from_values) value[t] = from_values[from + e + t * lanes];
      }
    }
#pragma unroll
    for (u32 t = 0; t < batch; t++) {
      if (e + t * lanes < n) {
        out_indices[out + e + t * lanes] = index[t];
        if (from_values) out_values[out + e + t * lanes] = static_cast<W>(value[t]);
      }
    }
  }
}

}  // namespace oplus
