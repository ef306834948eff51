// Rows that were written with room to spare, moved together: the end of products made in one pass.
#include "portable.cuh"

namespace oplus {

// Values V become W: sums what they are written as.
// Row r: out_offsets[r + 1] - out_offsets[r] entries from `from_offsets[r]` to out_offsets[r] on; rows without room in
// `from` (from_offsets equal) are left alone, and so are values where these are null. `lanes`: a power of two to 32, the lanes that share a row.
// Launch: 1-D blocks of tuning::primitive_block threads, grid ceil(rows · lanes / block).
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
spgemm_compact(u64 rows, u32 lanes, const u64* from_offsets, const u32* from_indices, const V* from_values,
               const u64* out_offsets, u32* out_indices, W* out_values) {
  const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x, row = thread / lanes;
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
