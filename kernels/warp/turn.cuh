// 32 x 32 bits in a warp.
#include "warp/shuffle.cuh"

namespace oplus {

// Bit l of lane k's word is bit k of lane l's. All lanes call.
__device__ inline u32 warp_turned(u32 bits) {
  u32 kept = 0;
#pragma unroll
  for (u32 k = 0; k < 32; k++) {
    const u32 word = __ballot_sync(full_warp, bits >> k & 1);
    if (lane_id() == k) kept = word;
  }
  return kept;
}

}  // namespace oplus
