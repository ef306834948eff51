// Prefix sums across a warp. All 32 lanes take part. Deterministic.
#include "portable.cuh"

namespace oplus {

// Sum of x over this lane and those below it.
template <class T> __device__ inline T warp_inclusive_sum(T x) {
  const u32 lane = threadIdx.x & 31;
  for (u32 d = 1; d < 32; d *= 2) {
    const T below = __shfl_up_sync(0xffffffffu, x, d);
    if (lane >= d) x += below;
  }
  return x;
}

}  // namespace oplus
