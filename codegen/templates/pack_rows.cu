// Rows of few entries put in one place each: part/packed_rows.cuh.
#include "part/packed_rows.cuh"

namespace oplus {

// No row has more than number::packed entries. `values`: null without flag::valued; `V` has the size of the value type.
// Launch: 1-D blocks of tuning::primitive_block threads, grid ceil(rows / block).
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
pack_rows(u64 rows, const u64* offsets, const u32* indices, const V* values, PackedRow<V, u32(number::packed), flag::valued>* out) {
  const u64 r = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const u64 begin = offsets[r], length = offsets[r + 1] - begin;
  PackedRow<V, u32(number::packed), flag::valued> row = {};
#pragma unroll
  for (u32 i = 0; i < number::packed; i++) {
    row.column[i] = i < length ? indices[begin + i] : packed_none;
    if (i < length) row.set_value(i, values, begin + i);
  }
  out[r] = row;
}

}  // namespace oplus
