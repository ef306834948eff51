// Prefix sums, totals and extremes across a warp or groups of 2^n lanes in it. All 32 lanes take part. Deterministic.
#include "warp/shuffle.cuh"

namespace oplus {

// Sum of x over this lane and those below it in its group of WIDTH lanes.
template <u32 WIDTH = 32, class T> __device__ inline T warp_inclusive_sum(T x) {
  const u32 lane = lane_id() & (WIDTH - 1);
#pragma unroll
  for (u32 d = 1; d < WIDTH; d *= 2) {
    const T below = shuffle_up(x, d, WIDTH);
    if (lane >= d) x += below;
  }
  return x;
}

// The first lane whose x is above y, or the last lane; x ascends with the lanes. y may be another in each.
template <class T> __device__ inline u32 first_above(T x, T y) {
  u32 lane = 0;
#pragma unroll
  for (u32 step = 16; step > 0; step /= 2) {
    if (shuffle(x, lane + step - 1) <= y) lane += step;
  }
  return lane;
}

template <u32 WIDTH = 32, class T> __device__ inline T warp_sum(T x) {
#pragma unroll
  for (u32 d = WIDTH / 2; d > 0; d /= 2) x += shuffle_xor(x, d, WIDTH);
  return x;
}

template <u32 WIDTH = 32, class T> __device__ inline T warp_min(T x) {
#pragma unroll
  for (u32 d = WIDTH / 2; d > 0; d /= 2) x = min(x, shuffle_xor(x, d, WIDTH));
  return x;
}

template <u32 WIDTH = 32, class T> __device__ inline T warp_max(T x) {
#pragma unroll
  for (u32 d = WIDTH / 2; d > 0; d /= 2) x = max(x, shuffle_xor(x, d, WIDTH));
  return x;
}

}  // namespace oplus
