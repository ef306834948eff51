// A matrix's values along its diagonals: the value of row i on diagonal d at d · rows + i. `V` has the size of the value type.
#include "portable.cuh"
#include "warp/shuffle.cuh"

namespace oplus {

// Places without an entry are not written. Launch: blocks of tuning::primitive_block threads, 32 rows a warp, any grid.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
band_values(u64 rows, u32 diagonals, const u64* offsets, const u32* present, const V* values, V* out) {
  constexpr u32 warps = tuning::primitive_block / 32;
  if constexpr (sizeof(V) > 8) {
    // Of larger ones shared memory would not hold enough.
    const u64 step = u64(gridDim.x) * tuning::primitive_block;
    for (u64 row = u64(blockIdx.x) * tuning::primitive_block + threadIdx.x; row < rows; row += step) {
      u64 next = offsets[row];
      for (u32 d = 0; d < diagonals; d++) {
        if (present[u64(d / 32) * rows + row] >> (d & 31) & 1) out[u64(d) * rows + row] = values[next++];
      }
    }
    return;
  }
  __shared__ V tiles[warps][sizeof(V) > 8 ? 1 : 32][17];
  V(*const tile)[17] = tiles[threadIdx.x / 32];
  for (u64 first = (u64(blockIdx.x) * warps + threadIdx.x / 32) * 32; first < rows; first += u64(gridDim.x) * warps * 32) {
    const u64 row = first + lane_id();
    const bool live = row < rows;
    u64 next = live ? offsets[row] : 0;
    for (u32 d = 0; d < diagonals; d += 16) {
      const u32 half = live ? present[u64(d / 32) * rows + row] >> (d & 31) & 0xffff : 0;
      // Two rows at a time, a lane a diagonal; then a diagonal at a time, a lane a row.
#pragma unroll 4
      for (u32 r = lane_id() / 16; r < 32; r += 2) {
        const u32 bits = shuffle(half, r), bit = lane_id() & 15;
        const u64 from = shuffle(next, r);
        if (bits >> bit & 1) tile[r][bit] = values[from + __popc(bits & ((1u << bit) - 1))];
      }
      __syncwarp();
#pragma unroll 4
      for (u32 bit = 0; bit < 16; bit++) {
        if (half >> bit & 1) out[u64(d + bit) * rows + row] = tile[lane_id()][bit];
      }
      next += __popc(half);
      __syncwarp();
    }
  }
}

}  // namespace oplus
