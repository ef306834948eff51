// The rows of a class so that blocks that draw them one by one end at about the same time: the heaviest first, the lightest last.
//
// After Graham, "Bounds on multiprocessing timing anomalies" (10.1137/0117039), the longest first, but no more of it than is needed:
// rows between stay where they are, next to those that they lie next to in C. Rows are told apart by half powers of two of their
// products. In one block, as lists are short: a rank among equal ones takes atomics in shared memory alone.
#include "block/team.cuh"

namespace oplus {

// Launch: one block of tuning::heaviest_threads threads and 4 shared bytes for each row of the class. `units`, `begin`: places in the
// control block; `blocks`: so many draw rows at once. First come rows of half of a block's even share and more; last, in turn, the lightest
// that have a quarter of all products together. Where rows stand among others of their kind is nearly as it was, and not determined.
extern "C" __global__ void __launch_bounds__(tuning::heaviest_threads)
spgemm_heaviest(const u64* control, u32 units, u32 begin, u32* list, const u32* products, u32 blocks) {
  constexpr u32 threads = tuning::heaviest_threads, batch = 4, sizes = 64;
  static_assert(threads >= sizes, "a thread a size");
  DYN_SHARED(u32, rows);
  __shared__ u32 places[sizes], kinds[sizes], middle;
  __shared__ u64 scratch[34];
  const u32 n = u32(control[units]);
  u32* const mine = list + control[begin];
  if (threadIdx.x < sizes) {
    places[threadIdx.x] = 0;
    kinds[threadIdx.x] = threadIdx.x;
  }
  if (threadIdx.x == 0) middle = sizes;
  __syncthreads();
  // f(i, row i of the list, its rank among those of its kind as they come), several on their way at once.
  const auto for_ranked = [&](const u32* from, auto f) {
    for (u32 base = 0; base < n; base += batch * threads) {
      u32 row[batch], kind[batch];
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        const u32 i = base + t * threads + threadIdx.x;
        row[t] = i < n ? from[i] : 0;
      }
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        const u32 i = base + t * threads + threadIdx.x, work = max(i < n ? products[row[t]] : 0, 2u), log = 31 - __clz(work);
        kind[t] = i < n ? kinds[sizes - 1 - (2 * log + (work >> (log - 1) & 1))] : sizes;
      }
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        const u32 peers = __match_any_sync(full_warp, kind[t]), before = __popc(peers & lanes_below());
        u32 rank = before == 0 && kind[t] < sizes ? atomicAdd(&places[kind[t]], u32(__popc(peers))) : 0;
        rank = shuffle(rank, __ffs(peers) - 1) + before;
        if (kind[t] < sizes) f(base + t * threads + threadIdx.x, row[t], rank);
      }
    }
  };
  for_ranked(mine, [&](u32 i, u32 row, u32) { rows[i] = row; });
  __syncthreads();
  // By size, the heaviest first: how many rows, and what is the least of each.
  const u32 s = threadIdx.x < sizes ? threadIdx.x : sizes - 1, count = threadIdx.x < sizes ? places[s] : 0;
  const u64 least = u64(2 + ((sizes - 1 - s) & 1)) << (sizes - 1 - s) / 2 >> 1;
  const Team<threads> team = {scratch};
  u32 all;
  u64 total;
  const u32 first = team.exclusive_sum(count, all);
  const u64 before = team.exclusive_sum(least * count, total), after = total - before - least * count;
  const bool light = after * 4 < total, heavy = !light && least * blocks * 2 >= total;
  if (threadIdx.x < sizes && !light && !heavy) atomicMin(&middle, s);
  __syncthreads();
  if (threadIdx.x < sizes) {
    places[s] = first;
    kinds[s] = heavy ? 0 : light ? s : middle;
  }
  __syncthreads();
  for_ranked(rows, [&](u32, u32 row, u32 rank) { mine[rank] = row; });
}

}  // namespace oplus
