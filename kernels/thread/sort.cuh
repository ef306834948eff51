// Batcher's odd-even merge sort of N = 2^n keys in one thread's registers, ascending. 19, 63, 191, 543 exchanges for 8, 16,
// 32, 64 keys, all at places known when compiled. Equal keys are interchangeable.
#include "portable.cuh"

namespace oplus {

template <class Key> __device__ inline void sort_pair(Key& x, Key& y) {
  const Key small = y < x ? y : x, large = y < x ? x : y;
  x = small;
  y = large;
}

// Merges the two sorted halves of each run of 2·P keys; STEP runs from P down to 1.
template <u32 P, u32 STEP, u32 N, class Key> __device__ inline void merge_halves(Key (&key)[N]) {
#pragma unroll
  for (u32 i = 0; i + STEP < N; i++) {
    // Pairs STEP apart, the first of them in an even stretch of STEP counted from STEP mod P, both in one run.
    const u32 from = STEP == P ? 0 : STEP;
    if (i >= from && (i - from) / STEP % 2 == 0 && i / (2 * P) == (i + STEP) / (2 * P)) sort_pair(key[i], key[i + STEP]);
  }
  if constexpr (STEP > 1) merge_halves<P, STEP / 2>(key);
}

template <u32 P, u32 N, class Key> __device__ inline void thread_sort_from(Key (&key)[N]) {
  if constexpr (P < N) {
    merge_halves<P, P>(key);
    thread_sort_from<2 * P>(key);
  }
}

template <u32 N, class Key> __device__ inline void thread_sort(Key (&key)[N]) { thread_sort_from<1>(key); }

}  // namespace oplus
