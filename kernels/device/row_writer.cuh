// A row's entries written by all blocks in one launch: each looks back for how many come before its own.
#include "block/team.cuh"
#include "device/look_back.cuh"
#include "device/report.cuh"

namespace oplus {

// What a launch is given for it. offsets[2]: of the row; room for all entries there can be; state: zeros, one more than blocks; control: zeros,
// told `said` words, the first of which is how many entries there are, and `words` of it left zero.
struct RowWriter {
  u64* offsets;
  u64* state;
  u64* control;
  u32 said;
  u64 *page, number, words;

  struct Shared {
    u64 scratch[34], place;
  };

  // The block's tile. All threads call; has barriers.
  __device__ u64 tile(Shared& shared) const { return gridDim.x == 1 ? 0 : next_tile(state, &shared.place); }
  // How many entries come before the thread's `mine`, by tiles and in each by threads. All threads of the block call; has barriers.
  template <u32 THREADS> __device__ u64 before(u64 nth, u32 mine, Shared& shared) const {
    const Team<THREADS> team = {shared.scratch};
    u64 all;
    u64 at = team.exclusive_sum(u64(mine), all);
    if (gridDim.x > 1) {
      if (threadIdx.x < 32) {
        const u64 tiles_before = look_back(state + 1, nth, all);
        if (threadIdx.x == 0) shared.place = tiles_before;
      }
      __syncthreads();
      at += shared.place;
      __syncthreads();
    }
    if (nth + 1 == gridDim.x && threadIdx.x == THREADS - 1) {
      offsets[0] = 0;
      offsets[1] = control[0] = at + mine;
    }
    return at;
  }
  // All threads of all blocks call, once, at the end.
  __device__ void end(Shared& shared) const { tell({page, number}, control, said, words, &shared.place); }
};

}  // namespace oplus
