// The rows of a matrix that have entries, in tiles of rows and entries together: what spmv_full.cu needs to know of a pattern.
// No scalar type. Deterministic but for the order of the long rows. Launches: README.md.
#include "part/row_tiles.cuh"

namespace oplus {

// out[s] = offsets[rows[s]], s < count; out[count] = offsets[all].
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
row_starts(u64 count, const u32* rows, u64 all, const u64* offsets, u64* out) {
  const u64 s = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (s <= count) out[s] = offsets[s < count ? u64(rows[s]) : all];
}

// The first row s with s + offsets[s] >= d, of `rows`.
__device__ inline u64 row_behind(u64 rows, const u64* offsets, u64 d) {
  u64 low = 0, high = rows;
  while (low < high) {
    const u64 middle = (low + high) / 2;
    if (middle + offsets[middle] < d) low = middle + 1;
    else high = middle;
  }
  return low;
}

// begins[t], t = 0 ..= tiles: the t-th tile's rows begin with the first s with s + offsets[s] >= t · tile. Rows of more than `most`
// entries are long.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
row_tiles(u64 rows, const u64* offsets, u64 tiles, u32 tile, u32 most, RowTile* begins) {
  const u64 t = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t > tiles) return;
  const u64 first = row_behind(rows, offsets, t * tile);
  u64 last = t < tiles ? row_behind(rows, offsets, (t + 1) * tile) : first;
  while (last > first && offsets[last] - offsets[last - 1] > most) last--;
  begins[t] = {offsets[first], first, offsets[last]};
}

// Chunks of the rows of more than `most` entries, of a 64th of a row each, at least `least` and at most tile_chunk entries, multiples of
// 4: control[0] such rows, control[1] chunks, at most 3 · entries / most. control is zero before.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
row_chunks(u64 rows, const u64* offsets, u32 most, u32 least, u64* control, RowChunk* chunks) {
  const u64 s = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (s >= rows) return;
  const u64 begin = offsets[s], end = offsets[s + 1], aligned = begin & ~u64(3);
  if (end - begin <= most) return;
  const u64 chunk = min(max((end - begin) / 256 * 4, u64(least)), u64(tile_chunk));
  const u64 total = (end - aligned + chunk - 1) / chunk, owner = atomicAdd(&control[0], 1ull), first = atomicAdd(&control[1], total);
  for (u64 c = 0; c < total; c++) {
    const u64 from = max(aligned + c * chunk, begin), to = min(aligned + (c + 1) * chunk, end);
    chunks[first + c] = {from, s, u32(to - from), u32(c), u32(total), u32(owner)};
  }
}

}  // namespace oplus
