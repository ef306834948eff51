// Bitonic sort of K keys a lane, ascending over the whole warp: key j of lane l is element l·K + j of the result; the
// order in which they come does not matter. K = 2^n. Exchanges of at most K elements apart stay in registers.
// Equal keys are interchangeable. All 32 lanes take part. log2(32·K)·(log2(32·K) + 1)/2 steps, those across lanes in loops:
// unrolled they would be most of the compiler's time and no faster.
#include "thread/sort.cuh"
#include "warp/shuffle.cuh"

namespace oplus {

// Steps of `STRIDE` elements and fewer, within a lane.
template <u32 STRIDE, u32 K, class Key> __device__ inline void merge_in_lane(Key (&key)[K]) {
  if constexpr (STRIDE > 0) {
#pragma unroll
    for (u32 j = 0; j < K; j++) {
      if ((j & STRIDE) == 0) sort_pair(key[j], key[j | STRIDE]);
    }
    merge_in_lane<STRIDE / 2>(key);
  }
}

// Each half of `size` elements is ascending: the first step compares element i with size - 1 - i, so that all steps that
// follow put the smaller key first.
template <u32 K, class Key> __device__ inline void warp_sort_many(Key (&key)[K]) {
  const u32 lane = lane_id();
#pragma unroll
  for (u32 size = 2; size <= K; size *= 2) {
#pragma unroll
    for (u32 j = 0; j < K; j++) {
      const u32 other = j ^ (size - 1);
      if (j < other) sort_pair(key[j], key[other]);
    }
#pragma unroll
    for (u32 stride = size / 4; stride > 0; stride /= 2) {
#pragma unroll
      for (u32 j = 0; j < K; j++) {
        if ((j & stride) == 0) sort_pair(key[j], key[j | stride]);
      }
    }
  }
#pragma unroll 1
  for (u32 lanes = 2; lanes <= 32; lanes *= 2) {
    const bool keep_small = (lane & (lanes / 2)) == 0;
    Key other[K];
#pragma unroll
    for (u32 j = 0; j < K; j++) other[j] = shuffle_xor(key[K - 1 - j], lanes - 1);
#pragma unroll
    for (u32 j = 0; j < K; j++) key[j] = (other[j] < key[j]) == keep_small ? other[j] : key[j];
#pragma unroll 1
    for (u32 apart = lanes / 4; apart > 0; apart /= 2) {
      const bool low = (lane & apart) == 0;
#pragma unroll
      for (u32 j = 0; j < K; j++) {
        const Key theirs = shuffle_xor(key[j], apart);
        key[j] = (theirs < key[j]) == low ? theirs : key[j];
      }
    }
    merge_in_lane<K / 2>(key);
  }
}

}  // namespace oplus
