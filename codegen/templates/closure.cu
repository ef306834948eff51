// Floyd–Warshall on an n × n array, `pivots` pivots at a time: d(i, j) = the better of d(i, j) and join(d(i, k), d(k, j)), k ascending.
//
// Venkataraman, Sahni, Mukhopadhyaya, 2003, 10.1145/996546.996553; its three phases as tiles: Katz, Kider, 2008. Other than there
// the rows of other blocks use d(i, k) as they are before the block: the pivots' rows know every way between pivots. Every place is
// compared in one order, which is that of the CPU: deterministic, and bit-equal to it.
// `better` is a strict order; `absent` joined with anything is better than nothing. Launches: README.md.
#include "thread/given.cuh"
#include "warp/shuffle.cuh"

namespace oplus {

typedef function::join::Output Value;
constexpr u32 side = number::pivots;
constexpr u32 closure_block = 1024, closure_groups = closure_block / side, closure_items = side / closure_groups;
constexpr u32 rest_block = 256, rest_lanes = 16, rest_items = side / rest_lanes, rest_step = 16;
static_assert(side % 32 == 0 && rest_lanes * rest_lanes == rest_block, "a warp has columns of one row");

__device__ inline void relax(Value& to, const Value& left, const Value& right) {
  const Value through = function::join::apply(left, right);
  if (function::better::apply(through, to)) to = through;
}

// Pivots of the block that begins with `first`.
__device__ inline u32 pivot_count(u64 n, u64 first) { return u32(min(u64(side), n - first)); }

// No ways but the trivial ones. Any grid.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
closure_begin(u64 n, Given<Value> absent, Given<Value> trivial, Value* d) {
  const u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 e = u64(blockIdx.x) * blockDim.x + threadIdx.x; e < n * n; e += stride) d[e] = e / n == e % n ? *trivial : *absent;
}

// The entries off the diagonal at their places. Any grid: a warp a row.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
closure_scatter(u64 n, const u64* offsets, const u32* indices, const Value* values, Value* d) {
  for (u64 i = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32; i < n; i += u64(gridDim.x) * blockDim.x / 32) {
    const u64 end = offsets[i + 1];
    for (u64 e = offsets[i] + lane_id(); e < end; e += 32) {
      const u32 j = indices[e];
      if (i != j) d[i * n + j] = values[e];
    }
  }
}

// The tile of a block of pivots closed, in registers; to_pivots[k · side + r] = d(r, k) as it was when k's turn came. Launch: one block.
extern "C" __global__ void __launch_bounds__(closure_block, 1)
closure_pivots(u64 n, u64 first, Given<Value> absent, Value* d, Value* to_pivots) {
  // Of two pivots in turn, so that a barrier a pivot is enough.
  __shared__ Value rows[2][side], columns[2][side];
  const u32 c = threadIdx.x % side, group = threadIdx.x / side, count = pivot_count(n, first);
  Value mine[closure_items];
#pragma unroll
  for (u32 q = 0; q < closure_items; q++) {
    const u32 r = group + q * closure_groups;
    mine[q] = r < count && c < count ? d[(first + r) * n + first + c] : *absent;
  }
  for (u32 k = 0; k < count; k++) {
    Value* row = rows[k & 1];
    Value* column = columns[k & 1];
#pragma unroll
    for (u32 q = 0; q < closure_items; q++) {
      const u32 r = group + q * closure_groups;
      if (r == k) row[c] = mine[q];
      if (c == k) column[r] = mine[q];
    }
    __syncthreads();
    if (threadIdx.x < side) to_pivots[k * side + threadIdx.x] = column[threadIdx.x];
#pragma unroll
    for (u32 q = 0; q < closure_items; q++) {
      const u32 r = group + q * closure_groups;
      if (r != k) relax(mine[q], column[r], row[c]);
    }
  }
#pragma unroll
  for (u32 q = 0; q < closure_items; q++) {
    const u32 r = group + q * closure_groups;
    if (r < count && c < count) d[(first + r) * n + first + c] = mine[q];
  }
}

// The pivots' rows closed in the other columns, a tile a block. Launch: ceil(n / side) - 1 blocks.
extern "C" __global__ void __launch_bounds__(closure_block, 1)
closure_strip(u64 n, u64 first, Given<Value> absent, const Value* to_pivots, Value* d) {
  __shared__ Value rows[2][side];
  const u32 c = threadIdx.x % side, group = threadIdx.x / side, count = pivot_count(n, first);
  const u64 tile = blockIdx.x + u64(blockIdx.x >= first / side), j = tile * side + c;
  Value mine[closure_items];
#pragma unroll
  for (u32 q = 0; q < closure_items; q++) {
    const u32 r = group + q * closure_groups;
    mine[q] = r < count && j < n ? d[(first + r) * n + j] : *absent;
  }
  for (u32 k = 0; k < count; k++) {
    Value* row = rows[k & 1];
#pragma unroll
    for (u32 q = 0; q < closure_items; q++) {
      if (group + q * closure_groups == k) row[c] = mine[q];
    }
    __syncthreads();
#pragma unroll
    for (u32 q = 0; q < closure_items; q++) {
      const u32 r = group + q * closure_groups;
      if (r != k) relax(mine[q], to_pivots[k * side + r], row[c]);
    }
  }
#pragma unroll
  for (u32 q = 0; q < closure_items; q++) {
    const u32 r = group + q * closure_groups;
    if (r < count && j < n) d[(first + r) * n + j] = mine[q];
  }
}

// All other rows, a tile a block: with `own` in the pivots' columns, which the others read and which are therefore done after them, else
// in all others. Launch: (tiles - 1) · (own ? 1 : tiles - 1) blocks of ceil(n / side) tiles.
extern "C" __global__ void __launch_bounds__(rest_block, sizeof(Value) > 8 ? 1 : 2)
closure_rest(u64 n, u64 first, Given<Value> absent, u32 own, Value* d) {
  // A place more a row, so that rows lie in different banks.
  __shared__ Value left[side][rest_step + 1], right[rest_step][side];
  const u64 tiles = (n + side - 1) / side, pivot = first / side, across = own ? 1 : tiles - 1;
  u64 row_tile = blockIdx.x / across, column_tile = blockIdx.x % across;
  row_tile += u64(row_tile >= pivot);
  column_tile = own ? pivot : column_tile + u64(column_tile >= pivot);
  const u64 top = row_tile * side, from = column_tile * side;
  const u32 x = threadIdx.x % rest_lanes, y = threadIdx.x / rest_lanes, count = pivot_count(n, first);
  Value mine[rest_items][rest_items];
#pragma unroll
  for (u32 p = 0; p < rest_items; p++) {
#pragma unroll
    for (u32 q = 0; q < rest_items; q++) {
      const u64 i = top + y + p * rest_lanes, j = from + x + q * rest_lanes;
      mine[p][q] = i < n && j < n ? d[i * n + j] : *absent;
    }
  }
  for (u32 begin = 0; begin < count; begin += rest_step) {
    for (u32 t = threadIdx.x; t < side * rest_step; t += rest_block) {
      const u32 r = t / rest_step, k = t % rest_step, above = t / side, c = t % side;
      left[r][k] = top + r < n && begin + k < count ? d[(top + r) * n + first + begin + k] : *absent;
      right[above][c] = begin + above < count && from + c < n ? d[(first + begin + above) * n + from + c] : *absent;
    }
    __syncthreads();
#pragma unroll (sizeof(Value) > 8 ? 1 : 2)
    for (u32 k = 0; k < rest_step; k++) {
      Value across_row[rest_items];
#pragma unroll
      for (u32 q = 0; q < rest_items; q++) across_row[q] = right[k][x + q * rest_lanes];
#pragma unroll
      for (u32 p = 0; p < rest_items; p++) {
        const Value down = left[y + p * rest_lanes][k];
#pragma unroll
        for (u32 q = 0; q < rest_items; q++) relax(mine[p][q], down, across_row[q]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (u32 p = 0; p < rest_items; p++) {
#pragma unroll
    for (u32 q = 0; q < rest_items; q++) {
      const u64 i = top + y + p * rest_lanes, j = from + x + q * rest_lanes;
      if (i < n && j < n) d[i * n + j] = mine[p][q];
    }
  }
}

// *found, ~0 before: the least of first << 32 | v where a way from v to v is better than to stay.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
closure_cycles(u64 n, u64 first, Given<Value> trivial, const Value* d, u64* found) {
  const u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (v < n && function::better::apply(d[v * n + v], *trivial)) atomicMin(found, first << 32 | v);
}

// counts[i] = places of row i that are not absent. Any grid: a warp a row.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
closure_counts(u64 n, Given<Value> absent, const Value* d, u64* counts) {
  for (u64 i = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32; i < n; i += u64(gridDim.x) * blockDim.x / 32) {
    u64 count = 0;
    for (u64 base = 0; base < n; base += 32) {
      const u64 j = base + lane_id();
      count += __popc(__ballot_sync(full_warp, j < n && function::better::apply(d[i * n + j], *absent)));
    }
    if (lane_id() == 0) counts[i] = count;
  }
}

// … and these. Any grid: a warp a row.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
closure_write(u64 n, Given<Value> absent, const Value* d, const u64* offsets, u32* out_indices, Value* out_values) {
  for (u64 i = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32; i < n; i += u64(gridDim.x) * blockDim.x / 32) {
    u64 at = offsets[i];
    for (u64 base = 0; base < n; base += 32) {
      const u64 j = base + lane_id();
      const bool has = j < n && function::better::apply(d[i * n + j], *absent);
      const u32 marks = __ballot_sync(full_warp, has);
      if (has) {
        const u64 to = at + __popc(marks & lanes_below());
        out_indices[to] = u32(j);
        out_values[to] = d[i * n + j];
      }
      at += __popc(marks);
    }
  }
}

}  // namespace oplus
