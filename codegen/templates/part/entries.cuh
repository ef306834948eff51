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

// f(e, inside, value, row, column) for each entry of the block's tile; not inside: e >= n, and the rest says nothing. f may use
// the whole warp. Blocks of tuning::primitive_block threads, ceil(n / entry_tile) of them.
template <bool VALUE, bool ROW, bool COLUMN, class Value, class F>
__device__ inline void for_entries(const Entries<Value>& a, F f) {
  constexpr u32 items = tuning::entry_items, segment = 32 * items, warps = tuning::primitive_block / 32;
  constexpr u32 batch = sizeof(Value) <= 8 ? items : sizeof(Value) <= 16 ? 4 : 1;
  const u64 base = u64(blockIdx.x) * entry_tile, first = base + threadIdx.x / 32 * segment + lane_id();
  __shared__ u32 marks[ROW ? entry_tile : 1], segments[warps];
  RowRange range = {0, 0};
  u32 carried = 0;
  bool marked = false;
  if constexpr (ROW) {
    for (u32 i = threadIdx.x; i < entry_tile; i += tuning::primitive_block) marks[i] = 0;
    const u64 end = min(base + entry_tile, a.n);
    range = rows_of_entries(a.offsets, a.rows, base, end);
    // Of so many rows most are empty: they are passed over by searches.
    marked = range.last - range.first < 16 * entry_tile;
    if (marked) {
      mark_rows<tuning::primitive_block, segment>({a.offsets, base, end, range.first, range.last, 0}, segments,
                                                  [&](u32 place, u32 number) { marks[place] = number; });
    }
    __syncthreads();
    carried = segments[threadIdx.x / 32];
  }
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
      if constexpr (ROW) {
        if (marked) row = range.first + number_at(marks[e - base], carried) - 1;
        else if (e < a.n) row = row_of(a.offsets, range.first, range.last, e);
      }
      f(e, e < a.n, values[s], row, columns[s]);
    }
  }
}

// Marks of entries, a bit each, and how many a word has. All lanes of a warp call with consecutive entries.
__device__ inline void mark_entry(u64 e, u64 n, bool keep, u32* words, u32* counts) {
  const u32 word = __ballot_sync(full_warp, keep);
  if (lane_id() == 0 && e < n) {
    words[e >> 5] = word;
    counts[e >> 5] = u32(__popc(word));
  }
}

}  // namespace oplus
