// The rows of a class, those of most products first: blocks that draw them one by one then end at about the same time.
//
// After Graham, "Bounds on multiprocessing timing anomalies" (10.1137/0117039): the longest first. Rows are told apart by half powers
// of two of their products. In one block, as lists are short: a rank among equal ones takes atomics in shared memory alone.
#include "block/team.cuh"

namespace oplus {

// Launch: one block of tuning::heaviest_threads threads and 4 shared bytes for each row of the class. `units`, `begin`: places in the
// control block. Where rows of equally many products stand among each other is not determined.
extern "C" __global__ void __launch_bounds__(tuning::heaviest_threads)
spgemm_heaviest(const u64* control, u32 units, u32 begin, u32* list, const u32* products) {
  constexpr u32 threads = tuning::heaviest_threads, batch = 4, sizes = 64;
  static_assert(threads >= sizes, "a thread a size");
  DYN_SHARED(u32, rows);
  __shared__ u32 places[sizes];
  __shared__ u64 scratch[34];
  const u32 n = u32(control[units]);
  u32* const mine = list + control[begin];
  if (threadIdx.x < sizes) places[threadIdx.x] = 0;
  __syncthreads();
  // f(row number i of the list, its rank among those of its size as they come), several on their way at once.
  const auto for_ranked = [&](const u32* from, auto f) {
    for (u32 base = 0; base < n; base += batch * threads) {
      u32 row[batch], size[batch];
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        const u32 i = base + t * threads + threadIdx.x;
        row[t] = i < n ? from[i] : 0;
      }
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        const u32 i = base + t * threads + threadIdx.x, work = max(i < n ? products[row[t]] : 0, 2u), log = 31 - __clz(work);
        // The most first.
        size[t] = i < n ? sizes - 1 - (2 * log + (work >> (log - 1) & 1)) : sizes;
      }
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        const u32 peers = __match_any_sync(full_warp, size[t]), before = __popc(peers & lanes_below());
        u32 rank = before == 0 && size[t] < sizes ? atomicAdd(&places[size[t]], u32(__popc(peers))) : 0;
        rank = shuffle(rank, __ffs(peers) - 1) + before;
        if (size[t] < sizes) f(base + t * threads + threadIdx.x, row[t], rank);
      }
    }
  };
  for_ranked(mine, [&](u32 i, u32 row, u32) { rows[i] = row; });
  __syncthreads();
  const u32 count = threadIdx.x < sizes ? places[threadIdx.x] : 0;
  u32 all;
  const u32 first = Team<threads>{scratch}.exclusive_sum(count, all);
  if (threadIdx.x < sizes) places[threadIdx.x] = first;
  __syncthreads();
  for_ranked(rows, [&](u32, u32 row, u32 rank) { mine[rank] = row; });
}

}  // namespace oplus
