// Exclusive prefix sum of n numbers over the device in one launch. Deterministic.
// A tile is block · items numbers, of tuning::primitive_block and scan_items.
#include "block/team.cuh"
#include "device/look_back.cuh"

namespace oplus {

constexpr u32 scan_tile = tuning::primitive_block * tuning::scan_items;

// out[i] = sum of values[0 .. i) for i in 0 ..= n, the sum of all to *total and their maximum to *largest (0 before), unless
// these are null. `out` may be `values`. state: u64[tiles + 1], zero before the launch; unused with one tile.
// Launch: tiles = ceil((n + 1) / tile) blocks of tuning::primitive_block threads.
template <class T>
__device__ inline void scan_exclusive(const T* values, u64 n, u64* state, u64* total, u64* largest, u64* out) {
  __shared__ u64 scratch[34], place;
  const Team<tuning::primitive_block> team = {scratch};
  const u64 tile = gridDim.x == 1 ? 0 : next_tile(state, &place);
  const u64 first = tile * scan_tile + threadIdx.x * tuning::scan_items;
  u64 x[tuning::scan_items], sum = 0, most = 0;
#pragma unroll
  for (u32 t = 0; t < tuning::scan_items; t++) {
    x[t] = first + t < n ? u64(values[first + t]) : 0;
    sum += x[t];
    if (x[t] > most) most = x[t];
  }
  u64 all;
  u64 before = team.exclusive_sum(sum, all);
  if (gridDim.x > 1) {
    if (threadIdx.x < 32) {
      const u64 tiles_before = look_back(state + 1, tile, all);
      if (threadIdx.x == 0) place = tiles_before;
    }
    __syncthreads();
    before += place;
  }
#pragma unroll
  for (u32 t = 0; t < tuning::scan_items; t++) {
    if (first + t <= n) out[first + t] = before;
    if (first + t == n && total) *total = before;
    before += x[t];
  }
  if (largest) {
    most = warp_max(most);
    if (lane_id() == 0 && most) atomicMax(largest, most);
  }
}

}  // namespace oplus
