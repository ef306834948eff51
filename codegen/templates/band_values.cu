// A matrix's values along its diagonals: by part/band_place.cuh. `V` has the size of the value type.
#include "part/band_place.cuh"
#include "warp/shuffle.cuh"

namespace oplus {

// Places without an entry are not written. Launch: blocks of tuning::primitive_block threads, any grid; a warp works on 32 rows and 16
// diagonals.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
band_values(u64 rows, u32 diagonals, const u64* offsets, const u32* present, const V* values, V* out) {
  constexpr u32 warps = tuning::primitive_block / 32;
  if constexpr (sizeof(V) > 8) {
    // Of larger ones shared memory would not hold enough.
    const u64 step = u64(gridDim.x) * tuning::primitive_block;
    for (u64 row = u64(blockIdx.x) * tuning::primitive_block + threadIdx.x; row < rows; row += step) {
      u64 next = offsets[row];
      for (u32 d = 0; d < diagonals; d++) {
        if (present[u64(d / 32) * rows + row] >> (d & 31) & 1) out[band_place(row, d, diagonals)] = values[next++];
      }
    }
    return;
  }
  __shared__ V tiles[warps][sizeof(V) > 8 ? 1 : 32][17];
  V(*const tile)[17] = tiles[threadIdx.x / 32];
  const u64 first_warp = u64(blockIdx.x) * warps + threadIdx.x / 32, all_warps = u64(gridDim.x) * warps;
  if (diagonals <= 16) {
    // 32 rows' values lie side by side: read so, and a lane a row hands them out. 17 places for 16, or lanes would meet in a bank.
    V* const flat = tile[0];
    for (u64 unit = first_warp; unit * 32 < rows; unit += all_warps) {
      const u64 row = unit * 32 + lane_id(), stop = unit * 32 + 32 < rows ? unit * 32 + 32 : rows;
      const u64 base = offsets[unit * 32], mine = row < rows ? offsets[row] : 0;
      const u32 word = row < rows ? present[row] : 0, n = u32(offsets[stop] - base);
#pragma unroll 8
      for (u32 e = lane_id(); e < n; e += 32) flat[e + e / 16] = values[base + e];
      __syncwarp();
      u32 e = u32(mine - base);
      for (u32 d = 0; d < diagonals; d++) {
        if (!(word >> d & 1)) continue;
        out[band_place(row, d, diagonals)] = flat[e + e / 16];
        e++;
      }
      __syncwarp();
    }
    return;
  }
  // Of few rows with many diagonals each warp takes some.
  const u64 parts = (diagonals + 15) / 16, units = (rows + 31) / 32 * parts;
  for (u64 unit = first_warp; unit < units; unit += all_warps) {
    const u64 row = unit / parts * 32 + lane_id();
    const u32 d = u32(unit % parts) * 16;
    const bool live = row < rows;
    const u32 word = live ? present[u64(d / 32) * rows + row] : 0, half = word >> (d & 31) & 0xffff;
    u64 next = live ? offsets[row] + __popc(word & ((1u << (d & 31)) - 1)) : 0;
    for (u32 before = 0; before < d / 32; before++) next += live ? __popc(present[u64(before) * rows + row]) : 0;
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
      if (half >> bit & 1) out[band_place(row, d + bit, diagonals)] = tile[lane_id()][bit];
    }
    __syncwarp();
  }
}

}  // namespace oplus
