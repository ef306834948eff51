// ⊕ over rows and over everything; function::op is a monoid, terms stay in the order of entries. Deterministic: the tree
// of a sum depends on the number of its terms only. Launches and workspaces: README.md.
//
// Up to reduce_serial terms: one after the other. Up to reduce_chunk: trees over 32 consecutive terms, one after the other.
// More: chunks of reduce_chunk terms, each cut into one part a warp; parts in a tree, chunks in order.
#include "block/team.cuh"
#include "device/long_row.cuh"
#include "part/partial.cuh"
#include "thread/search.cuh"
#include "warp/search.cuh"

namespace oplus {

typedef function::op::Output T;
struct Sum : function::op {
  static __device__ T add(T x, T y) { return function::op::apply(x, y); }
};

constexpr u32 reduce_threads = tuning::primitive_block, reduce_warps = reduce_threads / 32;
constexpr u32 reduce_serial = tuning::reduce_serial, reduce_chunk = tuning::reduce_chunk;
// A tile: so many rows and entries together, fewer of large types.
constexpr u32 reduce_tile = tuning::reduce_tile * 8 / (sizeof(T) <= 8 ? 8 : sizeof(T) <= 16 ? 16 : sizeof(T) <= 32 ? 32 : 64);
constexpr bool reduce_staged = sizeof(T) <= 64;
static_assert(reduce_chunk >= tuning::reduce_tile, "a tile begins at most one row of several chunks");

// Staged values, one place left out after every row of banks: threads that walk rows of equal length meet in few banks.
__device__ constexpr u32 skewed(u32 i) { return i + i / (sizeof(T) <= 4 ? 32 : sizeof(T) <= 8 ? 16 : 8); }
struct Staged {
  const T* values;
  u64 begin;
  __device__ T operator[](u64 e) const { return values[skewed(u32(e - begin))]; }
};

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

// out[r] = sum of row r, for all rows with entries but those of several chunks: these are listed, control[0] of them,
// with owners[slot] for each of the control[1] chunks. Blocks: ceil((rows + entries) / tile).
extern "C" __global__ void __launch_bounds__(reduce_threads)
reduce_rows(u64 rows, const u64* offsets, const T* values, T* out, u64* control, LongRow* long_rows, u32* owners) {
  __shared__ u64 bounds[2];
  __shared__ u32 medium_count, medium[reduce_tile / reduce_serial + 2];
  __shared__ u64 long_row, long_at, long_slot;
  __shared__ T staged[reduce_staged ? skewed(reduce_tile + reduce_serial) : 1];
  // The rows r with r + offsets[r] in the tile: never many, whether rows are long or empty.
  if (threadIdx.x < 64) {
    const u64 from = (blockIdx.x + u64(threadIdx.x / 32)) * reduce_tile;
    u64 r = 0;
    if (from > 0) r = warp_last_not_above(0, rows, from - 1, [&](u64 i) { return i + offsets[i]; }) + 1;
    if (lane_id() == 0) bounds[threadIdx.x / 32] = min(r, rows);
  }
  if (threadIdx.x == 0) {
    medium_count = 0;
    long_row = rows;
  }
  __syncthreads();
  const u64 first = bounds[0], last = bounds[1], begin = offsets[first];
  u64 stage_end = begin;
  if constexpr (reduce_staged) {
    stage_end = min(offsets[last], begin + reduce_tile + reduce_serial);
#pragma unroll 4
    for (u64 e = begin + threadIdx.x; e < stage_end; e += reduce_threads) staged[skewed(u32(e - begin))] = values[e];
    __syncthreads();
  }
  for (u64 r = first + threadIdx.x; r < last; r += reduce_threads) {
    const u64 from = offsets[r], end = offsets[r + 1];
    if (from == end) continue;
    if (end - from > reduce_chunk) {
      long_row = r;
    } else if (end - from > reduce_serial) {
      medium[atomicAdd(&medium_count, 1u)] = u32(r - first);
    } else {
      const Staged stage = {staged, begin};
      T sum = reduce_staged ? stage[from] : values[from];
      for (u64 e = from + 1; e < end; e++) sum = Sum::add(sum, reduce_staged ? stage[e] : values[e]);
      out[r] = sum;
    }
  }
  __syncthreads();
  for (u32 i = threadIdx.x / 32; i < medium_count; i += reduce_warps) {
    const u64 r = first + medium[i], from = offsets[r], end = offsets[r + 1];
    T sum;
    if (reduce_staged && end <= stage_end) sum = warp_sum_in_order(Staged{staged, begin}, from, end);
    else sum = warp_sum_in_order(values, from, end);
    if (lane_id() == 0) out[r] = sum;
  }
  if (long_row == rows) return;
  const u64 chunks = (offsets[long_row + 1] - offsets[long_row] + reduce_chunk - 1) / reduce_chunk;
  if (threadIdx.x == 0) {
    long_at = atomicAdd(&control[0], 1ull);
    long_slot = atomicAdd(&control[1], chunks);
    long_rows[long_at] = {long_row, long_slot};
  }
  __syncthreads();
  for (u64 c = threadIdx.x; c < chunks; c += reduce_threads) owners[long_slot + c] = u32(long_at);
}

// sums[slot] = sum of a chunk of a long row. Any grid.
extern "C" __global__ void __launch_bounds__(reduce_threads)
reduce_chunks(const u64* offsets, const T* values, const u64* control, const LongRow* long_rows, const u32* owners,
              T* sums) {
  __shared__ Partial<T> scratch[reduce_warps];
  for (u64 slot = blockIdx.x; slot < control[1]; slot += gridDim.x) {
    const LongRow x = long_rows[owners[slot]];
    const u64 begin = offsets[x.row] + (slot - x.chunk) * reduce_chunk;
    const T sum = block_chunk_sum(values, begin, min(begin + reduce_chunk, offsets[x.row + 1]), scratch);
    if (threadIdx.x == 0) sums[slot] = sum;
  }
}

// out[row] of the long rows. Any grid.
extern "C" __global__ void __launch_bounds__(reduce_threads)
reduce_long(const u64* offsets, const u64* control, const LongRow* long_rows, const T* sums, T* out) {
  __shared__ Partial<T> scratch[reduce_warps];
  for (u64 i = blockIdx.x; i < control[0]; i += gridDim.x) {
    const LongRow x = long_rows[i];
    const u64 n = offsets[x.row + 1] - offsets[x.row];
    const T sum = block_last_sum(sums + x.chunk, (n + reduce_chunk - 1) / reduce_chunk, scratch);
    if (threadIdx.x == 0) out[x.row] = sum;
  }
}

// sums[b] = sum of the b-th chunk of all n values. One block a chunk.
extern "C" __global__ void __launch_bounds__(reduce_threads)
reduce_all(u64 n, const T* values, T* sums) {
  __shared__ Partial<T> scratch[reduce_warps];
  const u64 begin = u64(blockIdx.x) * reduce_chunk;
  const T sum = block_chunk_sum(values, begin, min(begin + reduce_chunk, n), scratch);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// *out = sum of n chunks' sums. One block.
extern "C" __global__ void __launch_bounds__(reduce_threads)
reduce_last(u64 n, const T* sums, T* out) {
  __shared__ Partial<T> scratch[reduce_warps];
  const T sum = block_last_sum(sums, n, scratch);
  if (threadIdx.x == 0) *out = sum;
}

}  // namespace oplus
