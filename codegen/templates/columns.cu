// Columns moved: an entry goes to all places that a list of pairs (source, target), ascending by source, has for its
// column, or by a shift. No scalar type. Spread over entries, in the end the result's. Deterministic. Launches: README.md.
#include "device/rows.cuh"
#include "thread/search.cuh"

namespace oplus {

// Where a column goes: pairs [first, last), or with sources null the one place column - from + to.
struct Targets {
  u64 first, last;
};

__device__ inline Targets targets_of(u32 column, u64 pairs, const u32* sources, u32 from) {
  if (!sources) return {0, column >= from && column - from < pairs};
  const u64 first = lower_bound<u32, u64>(sources, 0, pairs, column);
  return {first, upper_bound<u32, u64>(sources, first, pairs, column)};
}

// counts[e] = places that entry e goes to. Without sources `pairs` is how many columns are moved, `from` the first.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
columns_counts(u64 n, const u32* indices, u64 pairs, const u32* sources, u32 from, u32* counts) {
  const u64 e = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= n) return;
  const Targets t = targets_of(indices[e], pairs, sources, from);
  counts[e] = u32(t.last - t.first);
}

// out[r] = entries of the result before row r, r = 0 ..= rows; starts: before each entry of A.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
columns_offsets(u64 rows, const u64* offsets, const u64* starts, u64* out) {
  const u64 r = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (r <= rows) out[r] = starts[offsets[r]];
}

// A rectangle of columns `left` .. left + width - 1: row r of the result, `to` .. to + count - 1 of them A's from `from` on, has the
// counts[r] entries of A from starts[r] on (null: nobody asks); the other rows have none.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
window_spans(u64 rows, u64 from, u64 count, u64 to, const u64* offsets, const u32* indices, u32 left, u64 width, u64* starts, u32* counts) {
  const u64 r = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  u64 begin = 0, end = 0;
  if (r >= to && r - to < count) {
    begin = offsets[from + (r - to)];
    end = offsets[from + (r - to) + 1];
    const u64 right = u64(left) + width;
    if (left > 0) begin = lower_bound<u32, u64>(indices, begin, end, left);
    if (right >> 32 == 0) end = lower_bound<u32, u64>(indices, begin, end, u32(right));
  }
  if (starts) starts[r] = begin;
  counts[r] = u32(end - begin);
}

// out[r] = its entries before row r, r = 0 ..= rows, where all columns are taken.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
window_offsets(u64 rows, u64 from, u64 count, u64 to, const u64* offsets, u64* out) {
  const u64 r = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (r <= rows) out[r] = offsets[from + (r < to ? 0 : min(r - to, count))] - offsets[from];
}

// Keys row << bits | target, and the entry of A, of the nnz entries of the result: many may be one entry's. starts: n + 1.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
columns_keys(u64 nnz, u64 n, u64 rows, const u64* offsets, const u32* indices, u64 pairs, const u32* sources,
             const u32* targets, u32 from, u32 to, const u64* starts, u32 bits, u64* keys, u32* places) {
  const u64 base = u64(blockIdx.x) * entry_tile;
  const RowRange entries = rows_of_entries(starts, n, base, min(base + entry_tile, nnz));
  const RowRange range = rows_of_entries(offsets, rows, entries.first, u64(entries.last) + 1);
  for (u32 i = 0; i < tuning::entry_items; i++) {
    const u64 at = base + i * tuning::primitive_block + threadIdx.x;
    if (at >= nnz) break;
    const u32 e = row_of(starts, entries.first, entries.last, at), column = indices[e];
    const u64 row = u64(row_of(offsets, range.first, range.last, e)) << bits;
    u32 target = column - from + to;
    if (sources) target = targets[lower_bound<u32, u64>(sources, 0, pairs, column) + (at - starts[e])];
    keys[at] = row | target;
    places[at] = e;
  }
}

}  // namespace oplus
