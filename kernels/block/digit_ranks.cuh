// Where the keys of a block's tile stand in the order of one digit of 8 bits, equal digits in the order they have: a step of a radix
// sort. Each warp owns consecutive keys, so that warps, rounds and lanes are in the order of the keys. Deterministic.
#include "block/team.cuh"

namespace oplus {

constexpr u32 sort_digits = 256;
constexpr u32 sort_tile = tuning::primitive_block * tuning::sort_items;
static_assert(tuning::primitive_block >= sort_digits, "a thread a digit");

struct DigitCounts {
  u32 bins[tuning::primitive_block / 32][sort_digits];
  u64 scratch[34];
};

// The thread's first key in the tile; the next is 32 further, sort_items in all.
__device__ inline u32 first_of_thread() { return threadIdx.x / 32 * (32 * tuning::sort_items) + lane_id(); }

// place[t]: where key t of the thread goes. digit(t): below sort_digits, or sort_digits where there is none. Returns to thread d < sort_digits
// how many keys have smaller digits than d. Begins and ends with a barrier.
template <class Digit> __device__ inline u32 rank_digits(DigitCounts& counts, Digit digit, u32 (&place)[tuning::sort_items]) {
  constexpr u32 block = tuning::primitive_block, warps = block / 32;
  const u32 warp = threadIdx.x / 32, d = threadIdx.x;
  __syncthreads();
  for (u32 i = threadIdx.x; i < warps * sort_digits; i += block) counts.bins[i / sort_digits][i % sort_digits] = 0;
  __syncthreads();
#pragma unroll
  for (u32 t = 0; t < tuning::sort_items; t++) {
    const u32 mine = digit(t), peers = __match_any_sync(full_warp, mine), seen = mine < sort_digits ? counts.bins[warp][mine] : 0;
    __syncwarp();
    place[t] = seen + __popc(peers & lanes_below());
    if (mine < sort_digits && (peers & lanes_below()) == 0) counts.bins[warp][mine] = seen + __popc(peers);
    __syncwarp();
  }
  __syncthreads();
  u32 size = 0, total;
  if (d < sort_digits) {
    for (u32 w = 0; w < warps; w++) {
      const u32 count = counts.bins[w][d];
      counts.bins[w][d] = size;
      size += count;
    }
  }
  const Team<block> team = {counts.scratch};
  const u32 start = team.exclusive_sum(size, total);
  if (d < sort_digits) {
    for (u32 w = 0; w < warps; w++) counts.bins[w][d] += start;
  }
  __syncthreads();
#pragma unroll
  for (u32 t = 0; t < tuning::sort_items; t++) {
    const u32 mine = digit(t);
    if (mine < sort_digits) place[t] += counts.bins[warp][mine];
  }
  return start;
}

}  // namespace oplus
