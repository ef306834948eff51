// A walk over the entries of compressed rows, spread over entries: empty and huge rows cost the same. A warp has consecutive
// entries, its lanes side by side; rows are looked for only where they are asked for.
#include "block/tile_rows.cuh"
#include "device/rows.cuh"

namespace oplus {

template <class Value> struct Entries {
  u64 n, rows;
  const u64* offsets;
  const u32* indices;
  const Value* values;
};

// The rows of the block's tile of entries, spread as below.
struct TileRows {
  const u64* offsets;
  const u32* marks;
  u64 base, n;
  RowRange range;
  u32 carried;
  bool marked;

  // All threads call. marks: shared, entry_tile; segments: shared, one a warp. Has barriers.
  __device__ void find(u64 entries, u64 rows, const u64* row_offsets, u32* tile_marks, u32* segments) {
    constexpr u32 segment = 32 * tuning::entry_items;
    offsets = row_offsets;
    marks = tile_marks;
    n = entries;
    base = u64(blockIdx.x) * entry_tile;
    for (u32 i = threadIdx.x; i < entry_tile; i += tuning::primitive_block) tile_marks[i] = 0;
    const u64 end = min(base + entry_tile, n);
    range = rows_of_entries(offsets, rows, base, end);
    // Of so many rows most are empty: they are passed over by searches.
    marked = range.last - range.first < 16 * entry_tile;
    if (marked) {
      mark_rows<tuning::primitive_block, segment>({offsets, base, end, range.first, range.last, 0}, segments,
                                                  [&](u32 place, u32 number) { tile_marks[place] = number; });
    }
    __syncthreads();
    carried = segments[threadIdx.x / 32];
  }
  // Of entry e, the warp's next 32 at once. All lanes call.
  __device__ u32 next(u64 e) {
    if (marked) return range.first + number_at(marks[e - base], carried) - 1;
    return e < n ? row_of(offsets, range.first, range.last, e) : 0;
  }
};

// f(e, inside, value, row, column) for each entry of the block's tile; not inside: e >= n, and the rest says nothing. f may use
// the whole warp. Blocks of tuning::primitive_block threads, ceil(n / entry_tile) of them.
template <bool VALUE, bool ROW, bool COLUMN, class Value, class F>
__device__ inline void for_entries(const Entries<Value>& a, F f) {
  constexpr u32 items = tuning::entry_items, segment = 32 * items, warps = tuning::primitive_block / 32;
  constexpr u32 batch = sizeof(Value) <= 8 ? items : sizeof(Value) <= 16 ? 4 : 1;
  const u64 base = u64(blockIdx.x) * entry_tile, first = base + threadIdx.x / 32 * segment + lane_id();
  __shared__ u32 marks[ROW ? entry_tile : 1], segments[warps];
  TileRows rows = {};
  if constexpr (ROW) rows.find(a.n, a.rows, a.offsets, marks, segments);
  for (u32 t = 0; t < items; t += batch) {
    Value values[batch];
    u32 columns[batch];
#pragma unroll
    for (u32 s = 0; s < batch; s++) {
      const u64 e = first + (t + s) * 32;
      if constexpr (VALUE) {
        if (e < a.n) values[s] = a.values[e];
      } else values[s] = Value();
      columns[s] = 0;
      if constexpr (COLUMN) {
        if (e < a.n) columns[s] = a.indices[e];
      }
    }
#pragma unroll
    for (u32 s = 0; s < batch; s++) {
      const u64 e = first + (t + s) * 32;
      u32 row = 0;
      if constexpr (ROW) row = rows.next(e);
      f(e, e < a.n, values[s], row, columns[s]);
    }
  }
}

// row[t] of the thread's t-th entry of the block's tile, 32 after the one before. All threads call. Has barriers.
__device__ inline void find_tile_rows(u64 n, u64 rows, const u64* offsets, u32 (&row)[tuning::entry_items]) {
  __shared__ u32 marks[entry_tile], segments[tuning::primitive_block / 32];
  TileRows tile = {};
  tile.find(n, rows, offsets, marks, segments);
  const u64 first = u64(blockIdx.x) * entry_tile + threadIdx.x / 32 * (32 * tuning::entry_items) + lane_id();
#pragma unroll
  for (u32 t = 0; t < tuning::entry_items; t++) row[t] = tile.next(first + t * 32);
}

// Marks of entries, a bit each. All lanes of a warp call with consecutive entries.
__device__ inline void mark_entry(u64 e, u64 n, bool keep, u32* words) {
  const u32 word = __ballot_sync(full_warp, keep);
  if (lane_id() == 0 && e < n) words[e >> 5] = word;
}

}  // namespace oplus
