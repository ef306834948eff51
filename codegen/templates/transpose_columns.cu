// The last step of a transposition: parts of A's entries whose columns differ in some last bits only, each of a tile at most, brought into
// the order of columns by a block; and where the columns begin. Stable, deterministic. `V` as in transpose.cu. Launches: README.md.
#include "part/transpose.cuh"

namespace oplus {

// Part p: entries begins[p] .. begins[p + 1] of columns p << bits on, those below `columns`; begins null: one part of `all`. rows null: A's own compressed rows, else a
// row an entry.
extern "C" __global__ void __launch_bounds__(partition_block, sizeof(V) > 8 || partition_block > 1024 ? 1 : 1024 / partition_block)
transpose_columns(const u32* keys, const u32* rows, const V* values, u64 row_count, const u64* offsets, u64 parts, const u64* begins,
                  u64 all, u32 bits, u64 columns, u64* offsets_out, u32* rows_out, V* values_out) {
  DYN_SHARED(unsigned char, bytes);
  const u32 digits = 1u << bits;
  const MoveMemory s = {bytes, digits};
  const u64 part = blockIdx.x, begin = begins ? begins[part] : 0, column = part << bits;
  const u32 n = u32((begins ? begins[part + 1] : all) - begin);
  if (part + 1 == parts && threadIdx.x == 0) offsets_out[columns] = begin + n;
  const auto begins_at = [&](u32 d, u32 at) {
    if (column + d < columns) offsets_out[column + d] = begin + at;
  };
  if (n == 0) {
    for (u32 d = threadIdx.x; d < digits; d += partition_block) begins_at(d, 0);
    return;
  }
  // As much for every warp.
  const u32 segment = rows ? (n + partition_block - 1) / partition_block * 32 : move_segment;
  const u32 mine = threadIdx.x / 32 * segment + lane_id();
  u32 place[move_items];
#pragma unroll
  for (u32 t = 0; t < move_items; t++) {
    place[t] = t * 32 < segment && mine + t * 32 < n ? keys[begin + mine + t * 32] & (digits - 1) : 0;
  }
  order_by_digit<false>(s, n, segment, bits, place, begins_at);
  const auto to = [&](u32 p) { return begin + p; };
  move_entries(s, begin, n, segment, place, rows, values, row_count, offsets, rows_out, values_out, to);
}

}  // namespace oplus
