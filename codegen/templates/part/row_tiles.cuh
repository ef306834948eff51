// Tiles of rows and entries together, and what their kernels have in common: terms are added in batches.
#include "part/partial.cuh"
#include "thread/quad.cuh"

namespace oplus {

// Where a tile begins: its first row and that row's first entry; and where the last of its rows ends that is not long, `entry` where
// all are.
struct RowTile {
  u64 entry, first, end;
};

// A part of a row that is no tile's: entries begin .. begin + n of row `slot`, the nth of `total` parts. It begins at a multiple of 4
// but for the first, which is the shorter for it. The row is the owner-th of those.
struct RowChunk {
  u64 begin, slot;
  u32 n, nth, total, owner;
};

constexpr u32 tile_threads = tuning::spmv_block, tile_warps = tile_threads / 32, tile_chunk = tuning::spmv_chunk;
// Entries that all threads load at once, four side by side twice.
constexpr u32 tile_round = 8 * tile_threads;
static_assert(tile_chunk == tile_round, "a chunk is read at once");
static_assert(tuning::spmv_tile + tuning::spmv_narrow + 3 <= tile_round, "rows that begin in a tile of short ones are read at once");

// The sum of term(e), term(e + stride), … below end, in order; e < end, else nothing. LOADS at once, the last of them read again
// where there are fewer: a branch would make each wait for the one before it.
template <class Monoid, class T, u32 LOADS = 4, class I, class F> __device__ inline T batched_sum(I e, I end, u32 stride, F term) {
  constexpr u32 BATCH = sizeof(T) <= large_value ? LOADS : 1;
  T sum = T();
  if (e >= end) return sum;
  if constexpr (Join<Monoid>::first) return term(e);
  bool has = false;
  for (; e < end; e += BATCH * stride) {
    T x[BATCH];
#pragma unroll
    for (u32 s = 0; s < BATCH; s++) x[s] = term(min(I(e + s * stride), I(end - 1)));
    sum = has ? Monoid::add(sum, x[0]) : x[0];
    has = true;
#pragma unroll
    for (u32 s = 1; s < BATCH; s++) {
      if (e + s * stride < end) sum = Monoid::add(sum, x[s]);
    }
  }
  return sum;
}

// Lane 0 of each group of so many lanes gets the sum of the first `terms` lanes', in their order. All lanes call.
template <class Monoid, class T> __device__ inline T ordered_join(T x, u32 lanes, u32 terms) {
  if constexpr (!Join<Monoid>::first) {
    for (u32 d = 1; d < lanes; d *= 2) {
      const T y = shuffle_down(x, d);
      const u32 from = (lane_id() & (lanes - 1)) + d;
      if (from < lanes && from < terms) x = Monoid::add(x, y);
    }
  }
  return x;
}

// out = the sum of a row of which this block has a chunk and its first `terms` threads a share each, in order; of several chunks'
// blocks the last to end writes it. ended: 0 a row, again at the end; sums: a place a chunk; scratch: shared, a place a warp. All threads
// call; has a barrier.
template <class Monoid, class T>
__device__ inline void join_chunks(const RowChunk& part, u64 chunk, T mine, u32 terms, T* sums, u32* ended, T* out, T* scratch) {
  const u32 warp = threadIdx.x / 32, lane = lane_id();
  if (warp * 32 < terms) mine = ordered_join<Monoid>(mine, 32, terms - warp * 32);
  if (lane == 0) scratch[warp] = mine;
  __syncthreads();
  if (warp > 0) return;
  T sum = ordered_join<Monoid>(scratch[min(lane, tile_warps - 1)], 32, (terms + 31) / 32);
  if (part.total > 1) {
    u32 before = 0;
    if (lane == 0) {
      sums[chunk] = sum;
      __threadfence();
      before = atomicAdd(&ended[part.owner], 1u);
    }
    if (shuffle(before, 0) + 1 < part.total) return;
    // Now it sees all the others'.
    __threadfence();
    const T* const all = sums + (chunk - part.nth);
    const u32 share = (part.total + 31) / 32, first = lane * share;
    sum = batched_sum<Monoid, T>(first, min(first + share, part.total), 1, [&](u32 c) { return all[c]; });
    sum = ordered_join<Monoid>(sum, 32, (part.total + share - 1) / share);
    if (lane == 0) ended[part.owner] = 0;
  }
  if (lane == 0) out[part.slot] = sum;
}

}  // namespace oplus
