// ⊕ over rows and over everything; function::op is a monoid, terms stay in the order of entries. Deterministic: the tree
// of a sum depends on where entries are only. Launches and workspaces: README.md.
//
// Rows of up to reduce_serial terms: one after the other. More: in 32 shares, the shares in a tree. Long rows: chunks of spmv_chunk
// places, a share a thread; these in a tree, chunks as well. Everything: trees over 32 consecutive terms, one after the other, in parts
// of chunks of reduce_chunk terms; parts in a tree, chunks in order.
#include "block/team.cuh"
#include "device/tell_value.cuh"
#include "part/row_tiles.cuh"

namespace oplus {

typedef function::op::Output T;
struct Sum : function::op {
  static __device__ T add(T x, T y) { return function::op::apply(x, y); }
};

constexpr u32 reduce_threads = tuning::primitive_block, reduce_warps = reduce_threads / 32;
constexpr u32 reduce_serial = tuning::reduce_serial, reduce_chunk = tuning::reduce_chunk;
static_assert(reduce_threads == tile_threads, "sums of rows are spread over tiles");
// The terms [begin, end) by one warp, in trees over 32 of them. Lane 0 has the sum. begin < end.
template <class Values> __device__ inline T warp_sum_in_order(const Values& values, u64 begin, u64 end) {
  constexpr u32 batch = sizeof(T) <= 8 ? 4 : sizeof(T) <= 16 ? 2 : 1;
  T sum = T();
  bool has = false;
  u64 e = begin + lane_id();
  // Large terms go one by one, as the last ones do.
  for (; batch > 1 && e - lane_id() + 32 * batch <= end; e += 32 * batch) {
    T x[batch];
#pragma unroll
    for (u32 s = 0; s < batch; s++) x[s] = values[e + 32 * s];
#pragma unroll
    for (u32 s = 0; s < batch; s++) {
#pragma unroll
      for (u32 d = 1; d < 32; d *= 2) x[s] = Sum::add(x[s], shuffle_down(x[s], d));
      sum = has ? Sum::add(sum, x[s]) : x[s];
      has = true;
    }
  }
  for (; e - lane_id() < end; e += 32) {
    const u32 terms = u32(min(end - (e - lane_id()), u64(32)));
    T x = e < end ? values[e] : T();
#pragma unroll(sizeof(T) <= 16 ? 5 : 1)
    for (u32 d = 1; d < 32; d *= 2) {
      const T y = shuffle_down(x, d);
      if (lane_id() + d < terms) x = Sum::add(x, y);
    }
    sum = has ? Sum::add(sum, x) : x;
    has = true;
  }
  return sum;
}

// As above by the block, each warp one part of the chunk; thread 0 has the sum. scratch: a partial a warp. Has barriers.
__device__ inline T block_chunk_sum(const T* values, u64 begin, u64 end, Partial<T>* scratch) {
  constexpr u32 part = reduce_chunk / reduce_warps;
  const u64 from = begin + threadIdx.x / 32 * part;
  Partial<T> x = no_term<T>();
  if (from < end) {
    const T sum = warp_sum_in_order(values, from, min(from + part, end));
    if (lane_id() == 0) x = {sum, 0, true};
  }
  return team_reduce<Sum, reduce_threads>(Team<reduce_threads>{nullptr}, x, scratch).value;
}

// Chunk sums in order, a share of them a thread; thread 0 has the sum. Has barriers.
__device__ inline T block_last_sum(const T* sums, u64 n, Partial<T>* scratch) {
  const u64 share = (n + reduce_threads - 1) / reduce_threads, from = threadIdx.x * share;
  Partial<T> x = no_term<T>();
  for (u64 i = from; i < min(from + share, n); i++) Join<Sum>::append(x, sums[i], 0);
  return team_reduce<Sum, reduce_threads>(Team<reduce_threads>{nullptr}, x, scratch).value;
}

// Values of a tile's rows in shared memory, one place left out after some: threads that walk rows of equal length meet in few banks.
constexpr bool reduce_staged = sizeof(T) <= 16;
// The most that rows that begin in a tile have.
constexpr u32 reduce_room = tuning::spmv_tile + tuning::spmv_wide;
static_assert(reduce_room + 3 <= tile_round + 4 * tile_threads, "what the first round leaves is four a thread");
struct Staged {
  T* values;
  static __device__ constexpr u32 skewed(u32 i) { return i + i / (sizeof(T) == 8 ? 16 : 32); }
  __device__ T operator[](u32 i) const { return values[skewed(i)]; }
  // values[from ..] of `count` to the places `from` on below `end`, QUADS · 4 a thread; `from` is a multiple of 4. All threads call.
  template <u32 QUADS> __device__ void load(const T* from_values, u64 count, u32 from, u32 end) const {
    Quad<T> q[QUADS];
#pragma unroll
    for (u32 t = 0; t < QUADS; t++) {
      const u32 i = from + 4 * (t * tile_threads + threadIdx.x);
      q[t] = quad_at(from_values, i, i < end ? count : 0);
    }
#pragma unroll
    for (u32 t = 0; t < QUADS; t++) {
      const u32 i = from + 4 * (t * tile_threads + threadIdx.x);
      if (i >= end) continue;
#pragma unroll
      for (u32 s = 0; s < 4; s++) values[skewed(i) + s] = q[t].x[s];
    }
  }
};

// Of places from .. from + n - 1 in 32 shares, one a lane; lane 0 has the sum. All lanes call.
template <class Values> __device__ inline T warp_sum_of_shares(const Values& values, u32 from, u32 n) {
  const u32 share = (n + 31) / 32, first = min(lane_id() * share, n), last = min(first + share, n);
  const T sum = batched_sum<Sum, T>(first, last, 1, [&](u32 i) { return values[from + i]; });
  return group_reduce<Sum, 32>(Partial<T>{sum, 0, first < last}).value;
}

// A chunk of a long row. space: shared, as for a tile.
__device__ inline void reduce_chunk_of_row(u64 count, const T* values, u64 chunk, const RowChunk* chunks, u32* ended, T* sums, T* out,
                                           T* space) {
  constexpr u32 share = tile_chunk / reduce_threads;
  const RowChunk part = chunks[chunk];
  const u64 begin = part.begin & ~u64(3);
  const u32 lead = u32(part.begin - begin), end = lead + part.n, first = max(threadIdx.x * share, lead), last = min((threadIdx.x + 1) * share, end);
  T mine;
  if constexpr (reduce_staged) {
    const Staged staged = {space};
    staged.template load<2>(values + begin, count - begin, 0, end);
    __syncthreads();
    mine = batched_sum<Sum, T>(first, last, 1, [&](u32 i) { return staged[i]; });
    __syncthreads();
  } else {
    mine = batched_sum<Sum, T>(first, last, 1, [&](u32 i) { return values[begin + i]; });
  }
  join_chunks<Sum>(part, chunk, mine, (end + share - 1) / share, sums, ended, out, space);
}

// out[s] = sum of the s-th row that has entries. Blocks below `chunk_count` have a chunk of a row of more than `most` entries each, those
// from there on a tile. count: entries; begins, offsets and chunks: of row_tiles.cu; ended: a zero a long row, again when the launch ends;
// sums: a place a chunk.
extern "C" __global__ void __launch_bounds__(reduce_threads, sizeof(T) <= 8 ? 6 : 1)
reduce_rows(u64 count, const u64* offsets, const T* values, u32 chunk_count, const RowChunk* chunks, u32* ended, T* sums, T* out,
            const RowTile* begins, u32 most) {
  // Of values, or a sum a warp.
  constexpr u32 places = reduce_staged ? Staged::skewed(reduce_room + 3) + 4 : tile_warps;
  __shared__ u64 space[(places * sizeof(T) + 7) / 8];
  __shared__ u32 medium_count, medium[tuning::spmv_tile / reduce_serial + 2];
  if (blockIdx.x < chunk_count) {
    reduce_chunk_of_row(count, values, blockIdx.x, chunks, ended, sums, out, reinterpret_cast<T*>(space));
    return;
  }
  const RowTile begin = begins[blockIdx.x - chunk_count];
  const u64 first = begin.first, origin = begin.entry & ~u64(3);
  const u32 n = u32(begins[blockIdx.x - chunk_count + 1].first - first);
  if (begin.end == begin.entry) return;
  // A row and its entry are two at least. Asked for here, so that all are there when the values are.
  constexpr u32 rows = (tuning::spmv_tile / 2 + reduce_threads) / reduce_threads;
  u32 from[rows], size[rows];
#pragma unroll
  for (u32 t = 0; t < rows; t++) {
    const u32 r = t * reduce_threads + threadIdx.x;
    const u64 start = r < n ? offsets[first + r] : origin, stop = r < n ? offsets[first + r + 1] : origin;
    from[t] = u32(start - origin);
    size[t] = u32(min(stop - start, u64(most) + 1));
  }
  if (threadIdx.x == 0) medium_count = 0;
  const Staged staged = {reinterpret_cast<T*>(space)};
  const T* const own = values + origin;
  if constexpr (reduce_staged) {
    const u64 left = count - origin;
    const u32 all = u32(begin.end - origin);
    staged.template load<2>(own, left, 0, min(all, tile_round));
    if (all > tile_round) staged.template load<1>(own, left, tile_round, all);
  }
  __syncthreads();
#pragma unroll
  for (u32 t = 0; t < rows; t++) {
    const u32 r = t * reduce_threads + threadIdx.x;
    if (size[t] == 0 || size[t] > most) continue;
    if (size[t] > reduce_serial) {
      medium[atomicAdd(&medium_count, 1u)] = r;
      continue;
    }
    const u32 end = from[t] + size[t];
    if constexpr (reduce_staged) out[first + r] = batched_sum<Sum, T>(from[t], end, 1, [&](u32 i) { return staged[i]; });
    else out[first + r] = batched_sum<Sum, T>(from[t], end, 1, [&](u32 i) { return own[i]; });
  }
  __syncthreads();
  for (u32 m = threadIdx.x / 32; m < medium_count; m += reduce_warps) {
    const u64 slot = first + medium[m];
    const u32 start = u32(offsets[slot] - origin), terms = u32(offsets[slot + 1] - origin) - start;
    T sum;
    if constexpr (reduce_staged) sum = warp_sum_of_shares(staged, start, terms);
    else sum = warp_sum_of_shares(own, start, terms);
    if (lane_id() == 0) out[slot] = sum;
  }
}

// The sum of all n values, by the block that comes last: told, or where it is too large for that in *out. One block a chunk; sums: a place
// a chunk, of one none. control: its count is zero.
extern "C" __global__ void __launch_bounds__(reduce_threads)
reduce_all(u64 n, const T* values, T* sums, T* out, u64* control, u64* page, u64 number) {
  __shared__ Partial<T> scratch[reduce_warps];
  __shared__ bool last;
  const u64 begin = u64(blockIdx.x) * reduce_chunk;
  T sum = block_chunk_sum(values, begin, min(begin + reduce_chunk, n), scratch);
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) {
      sums[blockIdx.x] = sum;
      __threadfence();
      last = atomicAdd(&control[report_done], u64(1)) + 1 == gridDim.x;
    }
    __syncthreads();
    if (!last) return;
    // Now it sees all the others'.
    __threadfence();
    sum = block_last_sum(sums, gridDim.x, scratch);
  }
  if (threadIdx.x == 0) tell_value({page, number}, control, sum, out);
}

}  // namespace oplus
