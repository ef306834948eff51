// A tile of keys with payloads in ascending order, by a block in shared memory, stable: a radix sort over the bits in which its keys
// differ. Deterministic.
#include "block/digit_ranks.cuh"

namespace oplus {

// Of n elements those of one tile. In place, or to another array. Blocks of tuning::primitive_block threads.
__device__ inline void sort_tile_of(u64 tile, u64 n, const u64* keys, const u32* payloads, u64* keys_out, u32* payloads_out) {
  constexpr u32 items = tuning::sort_items;
  __shared__ DigitCounts counts;
  __shared__ u64 staged[sort_tile];
  __shared__ u32 staged_payloads[sort_tile];
  __shared__ unsigned long long differ;
  const u64 base = tile * sort_tile;
  const u32 size = u32(min(n - base, u64(sort_tile))), first = first_of_thread();
  if (threadIdx.x == 0) differ = 0;
  __syncthreads();
  u64 key[items], mine = 0;
  u32 payload[items], place[items];
  const u64 some = keys[base];
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    const u32 i = first + t * 32;
    key[t] = i < size ? keys[base + i] : 0;
    payload[t] = i < size ? payloads[base + i] : 0;
    if (i < size) mine |= key[t] ^ some;
  }
#pragma unroll
  for (u32 lanes = 16; lanes > 0; lanes /= 2) mine |= shuffle_xor(mine, lanes);
  if (lane_id() == 0 && mine) atomicOr(&differ, (unsigned long long)mine);
  __syncthreads();
  const u64 bits = differ;
  for (u32 shift = 0; shift < 64; shift += 8) {
    if ((bits >> shift & 255) == 0) continue;
    rank_digits(counts, [&](u32 t) { return first + t * 32 < size ? u32(key[t] >> shift & 255) : sort_digits; }, place);
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      if (first + t * 32 >= size) continue;
      staged[place[t]] = key[t];
      staged_payloads[place[t]] = payload[t];
    }
    __syncthreads();
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      const u32 i = first + t * 32;
      if (i >= size) continue;
      key[t] = staged[i];
      payload[t] = staged_payloads[i];
    }
  }
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    const u32 i = first + t * 32;
    if (i >= size) continue;
    keys_out[base + i] = key[t];
    payloads_out[base + i] = payload[t];
  }
}

}  // namespace oplus
