// Stable least-significant-digit radix sort of (u64 key, u32 payload) over the device, 8 bits a pass.
// A pass: digit counts of tiles, exclusive scan of the counts (device/scan.cuh), scatter. Deterministic.
// Counts are u64, digit-major: counts[digit · tiles + tile]. A tile: tuning::primitive_block · sort_items keys.
#include "block/digit_ranks.cuh"

namespace oplus {

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

// offsets: the scanned counts. Launch as above. Null payloads: the keys alone. A tile is sorted in shared memory first, so
// that a digit's keys are written side by side.
__device__ inline void sort_scatter(const u64* keys, const u32* payloads, u64 n, u32 shift, const u64* offsets,
                                    u64* keys_out, u32* payloads_out) {
  constexpr u32 block = tuning::primitive_block, items = tuning::sort_items;
  __shared__ DigitCounts counts;
  __shared__ u64 begin[sort_digits];  // where the digit's keys go, less their first place in the tile
  __shared__ u64 staged[sort_tile];
  const u64 first = u64(blockIdx.x) * sort_tile + first_of_thread();
  u64 key[items];
  u32 payload[items], place[items];
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    const u64 i = first + t * 32;
    key[t] = i < n ? keys[i] : 0;
    payload[t] = payloads && i < n ? payloads[i] : 0;
  }
  const auto digit = [&](u32 t) { return first + t * 32 < n ? u32(key[t] >> shift & 255) : sort_digits; };
  const u32 start = rank_digits(counts, digit, place), total = u32(min(n - u64(blockIdx.x) * sort_tile, u64(sort_tile)));
  if (threadIdx.x < sort_digits) begin[threadIdx.x] = offsets[u64(threadIdx.x) * gridDim.x + blockIdx.x] - start;
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    if (first + t * 32 < n) staged[place[t]] = key[t];
  }
  __syncthreads();
  u64 to[items];
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    const u32 p = t * block + threadIdx.x;
    if (p >= total) continue;
    const u64 x = staged[p];
    to[t] = begin[x >> shift & 255] + p;
    keys_out[to[t]] = x;
  }
  if (!payloads) return;
  __syncthreads();
  u32* const staged_payloads = reinterpret_cast<u32*>(staged);
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    if (first + t * 32 < n) staged_payloads[place[t]] = payload[t];
  }
  __syncthreads();
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    const u32 p = t * block + threadIdx.x;
    if (p < total) payloads_out[to[t]] = staged_payloads[p];
  }
}

}  // namespace oplus
