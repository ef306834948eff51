// Exclusive prefix sum of n numbers over the device in one launch. Deterministic.
// A tile is tuning::primitive_block · ITEMS numbers: more hide the wait for tiles before, fewer leave more blocks something to do.
#include "block/team.cuh"
#include "device/look_back.cuh"
#include "device/report.cuh"

namespace oplus {

// What is summed: numbers as they are, or how many bits of each are set.
enum { scan_numbers, scan_bit_counts };

// out[i] = sum of values[0 .. i) for i in 0 ..= n, the sum of all to *total and their maximum to *largest (0 before), unless
// these are null. `out` may be `values`. state: u64[tiles + 1], zero before the launch; unused with one tile. report: told `said` words
// of `control` in the end, of which `words` are left zero.
// Launch: tiles = ceil((n + 1) / tile) blocks of tuning::primitive_block threads.
template <u32 ITEMS, u32 OF, class T>
__device__ inline void scan_exclusive(const T* values, u64 n, u64* state, u64* total, u64* largest, u64* out, u64* control, u32 said,
                                      const Report& report, u64 words) {
  constexpr u32 segment = 32 * ITEMS, scan_tile = tuning::primitive_block * ITEMS;
  __shared__ u64 scratch[34], place;
  // A thread has consecutive numbers, but lanes read and write side by side: they change places here, where one is left out
  // after every row of banks.
  __shared__ u64 staged[scan_tile + scan_tile / 16];
  const auto at = [&](u32 i) -> u64& { return staged[i + i / 16]; };
  const Team<tuning::primitive_block> team = {scratch};
  const u64 tile = gridDim.x == 1 ? 0 : next_tile(state, &place);
  const u32 warp = threadIdx.x / 32 * segment, mine = threadIdx.x * ITEMS;
  const u64 base = tile * scan_tile;
  T x[ITEMS];
  u64 sum = 0, most = 0;
#pragma unroll
  for (u32 t = 0; t < ITEMS; t++) {
    const u32 i = warp + t * 32 + lane_id();
    x[t] = base + i < n ? values[base + i] : 0;
    if constexpr (OF == scan_bit_counts) x[t] = T(__popc(x[t]));
    if (x[t] > most) most = x[t];
    at(i) = x[t];
  }
  __syncwarp();
#pragma unroll
  for (u32 t = 0; t < ITEMS; t++) {
    x[t] = T(at(mine + t));
    sum += x[t];
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
  __syncwarp();
#pragma unroll
  for (u32 t = 0; t < ITEMS; t++) {
    at(mine + t) = before;
    before += x[t];
  }
  __syncwarp();
#pragma unroll
  for (u32 t = 0; t < ITEMS; t++) {
    const u64 i = base + warp + t * 32 + lane_id();
    const u64 sum_before = at(warp + t * 32 + lane_id());
    if (i <= n) out[i] = sum_before;
    if (i == n && total) *total = sum_before;
  }
  if (largest) {
    most = warp_max(most);
    if (lane_id() == 0 && most) atomicMax(largest, most);
  }
  tell(report, control, said, words, &place);
}

}  // namespace oplus
