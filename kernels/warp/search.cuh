// Binary searches by a warp, 32 places at a time: few steps where every step waits for memory.
#include "warp/shuffle.cuh"

namespace oplus {

// Largest i in [low, high] with f(i) <= x; f ascends and f(low) <= x. All 32 lanes call with the same arguments.
template <class F> __device__ inline u64 warp_last_not_above(u64 low, u64 high, u64 x, F f) {
  while (low < high) {
    const u64 step = (high - low + 31) / 32, probe = low + (lane_id() + 1) * step;
    const u32 below = __ballot_sync(full_warp, probe <= high && f(probe) <= x);
    low += __popc(below) * step;
    high = min(high, low + step - 1);
  }
  return low;
}

}  // namespace oplus
