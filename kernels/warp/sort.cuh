// Bitonic sort of one key a lane, ascending, in groups of WIDTH = 2^n lanes. All 32 lanes take part.
// log2(WIDTH)·(log2(WIDTH)+1)/2 exchanges. Equal keys are interchangeable: put the lane into the key for stability.
#include "warp/shuffle.cuh"

namespace oplus {

template <u32 WIDTH = 32, class Key> __device__ inline Key warp_sort(Key key) {
  const u32 lane = lane_id() & (WIDTH - 1);
#pragma unroll
  for (u32 size = 2; size <= WIDTH; size *= 2) {
#pragma unroll
    for (u32 stride = size / 2; stride > 0; stride /= 2) {
      const Key other = shuffle_xor(key, stride);
      const bool keep_small = ((lane & stride) == 0) == ((lane & size) == 0);
      key = (other < key) == keep_small ? other : key;
    }
  }
  return key;
}

}  // namespace oplus
