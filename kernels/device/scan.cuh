// Exclusive prefix sum of n numbers over the device, in three launches: sums of tiles, scan of these, scan of tiles.
// No block waits for another. Deterministic. A tile is block · items numbers, of tuning::primitive_block and scan_items.
#include "block/team.cuh"

namespace oplus {

constexpr u32 scan_tile = tuning::primitive_block * tuning::scan_items;

// tile_sums[t] = sum of tile t. Launch: ceil(n / tile) blocks of tuning::primitive_block threads.
template <class T> __device__ inline void scan_tile_sums(const T* values, u64 n, u64* tile_sums) {
  __shared__ u64 scratch[34];
  const Team<tuning::primitive_block> team = {scratch};
  u64 sum = 0;
  for (u32 t = 0; t < tuning::scan_items; t++) {
    const u64 i = u64(blockIdx.x) * scan_tile + t * tuning::primitive_block + threadIdx.x;
    if (i < n) sum += values[i];
  }
  sum = team.sum(sum);
  if (threadIdx.x == 0) tile_sums[blockIdx.x] = sum;
}

// In place, exclusive; the sum of all goes to *total unless that is null. Launch: one block.
__device__ inline void scan_spine(u64* tile_sums, u64 tiles, u64* total) {
  __shared__ u64 scratch[34];
  const Team<tuning::primitive_block> team = {scratch};
  u64 before = 0;
  for (u64 tile = 0; tile < tiles; tile += tuning::primitive_block) {
    const u64 i = tile + threadIdx.x, x = i < tiles ? tile_sums[i] : 0;
    u64 sum;
    const u64 below = team.exclusive_sum(x, sum);
    if (i < tiles) tile_sums[i] = before + below;
    before += sum;
  }
  if (threadIdx.x == 0 && total) *total = before;
}

// out[i] = sum of values[0 .. i) for i in 0 ..= n. `out` may be `values`. Launch: ceil((n + 1) / tile) blocks.
template <class T> __device__ inline void scan_tiles(const T* values, u64 n, const u64* tile_sums, u64* out) {
  __shared__ u64 scratch[34];
  const Team<tuning::primitive_block> team = {scratch};
  const u64 base = u64(blockIdx.x) * scan_tile;
  // One past the last tile there is no sum: with n a multiple of the tile the total is the sum of the last tile.
  u64 before = 0;
  if (base < n) before = tile_sums[blockIdx.x];
  else if (blockIdx.x > 0) {
    u64 last = 0;
    for (u64 i = base - scan_tile + threadIdx.x; i < n; i += tuning::primitive_block) last += values[i];
    before = tile_sums[blockIdx.x - 1] + team.sum(last);
  }
  for (u32 t = 0; t < tuning::scan_items; t++) {
    const u64 i = base + t * tuning::primitive_block + threadIdx.x;
    const u64 x = i < n ? u64(values[i]) : 0;
    u64 sum;
    const u64 below = team.exclusive_sum(x, sum);
    if (i <= n) out[i] = before + below;
    before += sum;
  }
}

}  // namespace oplus
