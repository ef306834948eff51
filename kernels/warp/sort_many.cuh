// Bitonic sort of K keys a lane, ascending over the whole warp: key j of lane l is element l·K + j of the result; the
// order in which they come does not matter. K = 2^n. Exchanges of at most K elements apart stay in registers.
// Equal keys are interchangeable. All 32 lanes take part. log2(32·K)·(log2(32·K) + 1)/2 steps.
#include "thread/sort.cuh"
#include "warp/shuffle.cuh"

namespace oplus {

// Each half of `size` elements is ascending: the first step compares element i with size - 1 - i, so that all steps that
// follow put the smaller key first.
template <u32 K, class Key> __device__ inline void warp_sort_many(Key (&key)[K]) {
  const u32 lane = lane_id();
#pragma unroll
  for (u32 size = 2; size <= 32 * K; size *= 2) {
    if (size <= K) {
#pragma unroll
      for (u32 j = 0; j < K; j++) {
        const u32 other = j ^ (size - 1);
        if (j < other) sort_pair(key[j], key[other]);
      }
    } else {
      const u32 mask = size / K - 1;
      const bool keep_small = (lane & (size / K / 2)) == 0;
      Key other[K];
#pragma unroll
      for (u32 j = 0; j < K; j++) other[j] = shuffle_xor(key[K - 1 - j], mask);
#pragma unroll
      for (u32 j = 0; j < K; j++) key[j] = (other[j] < key[j]) == keep_small ? other[j] : key[j];
    }
#pragma unroll
    for (u32 stride = size / 4; stride > 0; stride /= 2) {
      if (stride >= K) {
        const bool keep_small = (lane & (stride / K)) == 0;
#pragma unroll
        for (u32 j = 0; j < K; j++) {
          const Key other = shuffle_xor(key[j], stride / K);
          key[j] = (other < key[j]) == keep_small ? other : key[j];
        }
      } else {
#pragma unroll
        for (u32 j = 0; j < K; j++) {
          if ((j & stride) == 0) sort_pair(key[j], key[j | stride]);
        }
      }
    }
  }
}

}  // namespace oplus
