// Decoupled look-back: how much the tiles before one hold, while they are still being worked on.
//
// After Merrill, Garland, "Single-pass parallel prefix scan with decoupled look-back", NVIDIA NVR-2016-002. Tiles are drawn by
// ticket, so that all before one have begun: who waits, waits for a block that runs. Sums are below 2^62. Deterministic.
#include "warp/scan.cuh"

namespace oplus {

// One word a tile, zero at first: the two highest bits say what the others hold, so that no fence is needed.
constexpr u64 look_back_sum = 1ull << 62, look_back_total = 1ull << 63, look_back_value = look_back_sum - 1;

// Says what the tile holds. All lanes of one warp call; `state`: u64[tiles].
__device__ inline void look_back_post(u64* state, u64 tile, u64 sum) {
  if (lane_id() == 0) const_cast<volatile u64*>(state)[tile] = (tile == 0 ? look_back_total : look_back_sum) | sum;
}

// The sum of all tiles before `tile`, which holds `sum` and has said so. All lanes of one warp call.
__device__ inline u64 look_back_wait(u64* state, u64 tile, u64 sum) {
  volatile u64* const seen = state;
  u64 before = 0;
  for (u64 end = tile; end > 0; end -= 32) {
    const bool inside = lane_id() < end;
    u64 word = inside ? seen[end - 1 - lane_id()] : look_back_total;
    // Who looks all the time takes other warps' turns.
    while (__any_sync(full_warp, word >> 62 == 0)) {
      __nanosleep(32);
      if (inside) word = seen[end - 1 - lane_id()];
    }
    const u32 totals = __ballot_sync(full_warp, word >> 63 != 0);
    const u32 last = totals ? u32(__ffs(totals)) - 1 : 31;
    before += warp_sum(lane_id() <= last ? word & look_back_value : u64(0));
    if (totals) break;
  }
  if (lane_id() == 0 && tile > 0) seen[tile] = look_back_total | (before + sum);
  return before;
}

// Both at once.
__device__ inline u64 look_back(u64* state, u64 tile, u64 sum) {
  look_back_post(state, tile, sum);
  return look_back_wait(state, tile, sum);
}

// The block's next tile. `tickets`: 0 before the launch. `place`: shared memory. All threads call; has barriers.
__device__ inline u64 next_tile(u64* tickets, volatile u64* place) {
  __syncthreads();
  if (threadIdx.x == 0) *place = atomicAdd(tickets, u64(1));
  __syncthreads();
  return *place;
}

// No further tile below `end` is drawn. Any thread may call, any number of them.
__device__ inline void draw_no_more(u64* tickets, u64 end) { atomicMax(tickets, end); }

}  // namespace oplus
