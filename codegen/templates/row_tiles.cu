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

// begins[t] = the first row s with s + offsets[s] >= t · tile and its first entry, t = 0 ..= tiles.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
row_tiles(u64 rows, const u64* offsets, u64 tiles, u32 tile, RowTile* begins) {
  const u64 t = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t > tiles) return;
  u64 low = 0, high = rows;
  while (low < high) {
    const u64 middle = (low + high) / 2;
    if (middle + offsets[middle] < t * tile) low = middle + 1;
    else high = middle;
  }
  begins[t] = {offsets[low], low};
}

// Rows of more than `chunk` entries, control[0] of them, and their control[1] chunks, with the row each belongs to; `room` rows
// and 2 · room chunks fit, which is enough with room = entries / chunk. control is zero before.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
row_longs(u64 rows, const u64* offsets, u32 chunk, u64* control, LongRow* longs, u32* owners) {
  const u64 s = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (s >= rows) return;
  const u64 n = offsets[s + 1] - offsets[s];
  if (n <= chunk) return;
  const u64 chunks = (n + chunk - 1) / chunk, at = atomicAdd(&control[0], 1ull), first = atomicAdd(&control[1], chunks);
  longs[at] = {s, first, offsets[s], offsets[s + 1]};
  for (u64 c = 0; c < chunks; c++) owners[first + c] = u32(at);
}

}  // namespace oplus
