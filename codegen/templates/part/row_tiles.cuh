// Tiles of rows and entries together, and what their kernels have in common: terms are added in batches.
#include "part/partial.cuh"
#include "thread/quad.cuh"

namespace oplus {

// Where a tile begins: its first row and that row's first entry.
struct RowTile {
  u64 entry, first;
};

// A row of more than spmv_chunk entries, begin..end; its chunks' sums begin at `chunk`.
struct LongRow {
  u64 slot, chunk, begin, end;
};

constexpr u32 tile_threads = tuning::spmv_block, tile_warps = tile_threads / 32, tile_chunk = tuning::spmv_chunk;
// Entries that all threads load at once, and the most that rows that begin in a tile have.
constexpr u32 tile_round = 8 * tile_threads, tile_room = tuning::spmv_tile + tile_chunk;
static_assert(tile_room + 3 <= tile_round + 4 * tile_threads, "what the first round leaves is four a thread");

// The sum of term(e), term(e + stride), … below end, in order; e < end, else nothing. Four at once, the last of them read again where
// there are fewer: a branch would make each wait for the one before it.
template <class Monoid, class T, class I, class F> __device__ inline T batched_sum(I e, I end, u32 stride, F term) {
  T sum = T();
  if (e >= end) return sum;
  if constexpr (Join<Monoid>::first) return term(e);
  bool has = false;
  for (; e < end; e += 4 * stride) {
    T x[4];
#pragma unroll
    for (u32 s = 0; s < 4; s++) x[s] = term(min(I(e + s * stride), I(end - 1)));
    sum = has ? Monoid::add(sum, x[0]) : x[0];
    has = true;
#pragma unroll
    for (u32 s = 1; s < 4; s++) {
      if (e + s * stride < end) sum = Monoid::add(sum, x[s]);
    }
  }
  return sum;
}

// Says that a chunk's sum is there. True for the row's last: it sees all the others', and the count is as it was found. All threads
// call; thread 0's sum counts. `last`: shared. Has barriers.
template <class T>
__device__ inline bool chunk_ended(T sum, T* sums, u64 chunk, u32 chunks, u32* ended, volatile u32* last) {
  if (threadIdx.x == 0) {
    sums[chunk] = sum;
    __threadfence();
    const bool all = atomicAdd(ended, 1u) == chunks - 1;
    if (all) *ended = 0;
    *last = all;
  }
  __syncthreads();
  if (!*last) return false;
  __threadfence();
  return true;
}

}  // namespace oplus
