// Stable least-significant-digit radix sort of (u64 key, u32 payload) over the device, 8 bits a pass.
// A pass: digit counts of tiles, exclusive scan of the counts (device/scan.cuh), scatter. Deterministic.
// Counts are u64, digit-major: counts[digit · tiles + tile]. A tile: tuning::primitive_block · sort_items keys.
#include "block/team.cuh"

namespace oplus {

constexpr u32 sort_digits = 256;
constexpr u32 sort_tile = tuning::primitive_block * tuning::sort_items;

// Launch: ceil(n / tile) blocks of tuning::primitive_block threads.
__device__ inline void sort_count_digits(const u64* keys, u64 n, u32 shift, u64* counts) {
  __shared__ u32 bins[sort_digits];
  for (u32 d = threadIdx.x; d < sort_digits; d += tuning::primitive_block) bins[d] = 0;
  __syncthreads();
  for (u32 t = 0; t < tuning::sort_items; t++) {
    const u64 i = u64(blockIdx.x) * sort_tile + t * tuning::primitive_block + threadIdx.x;
    if (i < n) atomicAdd(&bins[keys[i] >> shift & 255], 1u);
  }
  __syncthreads();
  for (u32 d = threadIdx.x; d < sort_digits; d += tuning::primitive_block) {
    counts[u64(d) * gridDim.x + blockIdx.x] = bins[d];
  }
}

// offsets: the scanned counts. Launch as above. Null payloads: the keys alone.
__device__ inline void sort_scatter(const u64* keys, const u32* payloads, u64 n, u32 shift, const u64* offsets,
                                    u64* keys_out, u32* payloads_out) {
  constexpr u32 warps = tuning::primitive_block / 32, of_warp = 32 * tuning::sort_items;
  __shared__ u64 base[warps][sort_digits];
  const u32 warp = threadIdx.x / 32;
  for (u32 i = threadIdx.x; i < warps * sort_digits; i += tuning::primitive_block) base[i / sort_digits][i % sort_digits] = 0;
  __syncthreads();
  // Each warp owns consecutive keys, so that warps, rounds and lanes are in the order of the input.
  const u64 first = u64(blockIdx.x) * sort_tile + warp * of_warp + lane_id();
  for (u32 t = 0; t < tuning::sort_items; t++) {
    const u64 i = first + t * 32;
    const u32 digit = i < n ? u32(keys[i] >> shift & 255) : sort_digits;
    const u32 peers = __match_any_sync(full_warp, digit);
    if (digit < sort_digits && (peers & lanes_below()) == 0) base[warp][digit] += __popc(peers);
    __syncwarp();
  }
  __syncthreads();
  for (u32 d = threadIdx.x; d < sort_digits; d += tuning::primitive_block) {
    u64 at = offsets[u64(d) * gridDim.x + blockIdx.x];
    for (u32 w = 0; w < warps; w++) {
      const u64 size = base[w][d];
      base[w][d] = at;
      at += size;
    }
  }
  __syncthreads();
  for (u32 t = 0; t < tuning::sort_items; t++) {
    const u64 i = first + t * 32;
    const u64 key = i < n ? keys[i] : 0;
    const u32 digit = i < n ? u32(key >> shift & 255) : sort_digits;
    const u32 peers = __match_any_sync(full_warp, digit);
    u64 at = 0;
    if (digit < sort_digits) at = base[warp][digit] + __popc(peers & lanes_below());
    __syncwarp();
    if (digit < sort_digits) {
      if ((peers & lanes_below()) == 0) base[warp][digit] += __popc(peers);
      keys_out[at] = key;
      if (payloads) payloads_out[at] = payloads[i];
    }
    __syncwarp();
  }
}

}  // namespace oplus
