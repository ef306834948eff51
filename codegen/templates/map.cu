// f(a, i, j, thunk) at every entry: apply, or the marks of the entries that select keeps. Spread over entries; rows are
// looked for only where f reads them. A thread has entries a block's width apart. Launches: README.md.
#include "device/rows.cuh"

namespace oplus {

typedef function::op::Input0 Value;
typedef function::op::Input3 Thunk;
typedef function::op::Output Result;

struct Operand {
  u64 n, rows;
  const u64* offsets;
  const u32* indices;
  const Value* values;
  const Thunk* thunk;
  const u64* i_ids;  // null: a place is its id
  const u64* j_ids;
};

// store(e, result) for each entry of the block's tile; e >= n: store(e, Result()). `store` may use the whole warp.
template <class Store> __device__ inline void map_tile(const Operand& a, Store store) {
  constexpr u32 batch = sizeof(Value) <= 8 ? tuning::entry_items : sizeof(Value) <= 16 ? 4 : 1;
  const u64 base = u64(blockIdx.x) * entry_tile;
  RowRange range = {0, 0};
  if constexpr (flag::row) range = rows_of_entries(a.offsets, a.rows, base, min(base + entry_tile, a.n));
  Thunk thunk = Thunk();
  if constexpr (flag::thunk) thunk = *a.thunk;
  for (u32 t = 0; t < tuning::entry_items; t += batch) {
    Value values[batch];
    u32 columns[batch];
#pragma unroll
    for (u32 s = 0; s < batch; s++) {
      const u64 e = base + (t + s) * tuning::primitive_block + threadIdx.x;
      if constexpr (flag::value) {
        if (e < a.n) values[s] = a.values[e];
      } else values[s] = Value();
      if constexpr (flag::column) {
        if (e < a.n) columns[s] = a.indices[e];
      }
    }
#pragma unroll
    for (u32 s = 0; s < batch; s++) {
      const u64 e = base + (t + s) * tuning::primitive_block + threadIdx.x;
      Result result = Result();
      if (e < a.n) {
        u64 i = 0, j = 0;
        if constexpr (flag::row) {
          i = row_of(a.offsets, range.first, range.last, e);
          if (a.i_ids) i = a.i_ids[i];
        }
        if constexpr (flag::column) j = a.j_ids ? a.j_ids[columns[s]] : columns[s];
        result = function::op::apply(values[s], i64(i), i64(j), thunk);
      }
      store(e, result);
    }
  }
}

#if OPLUS_NUMBER_select
// A bit an entry that f keeps, and how many a word has.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
map_mark(u64 n, u64 rows, const u64* offsets, const u32* indices, const Value* values, const Thunk* thunk,
         const u64* i_ids, const u64* j_ids, u32* words, u32* counts) {
  map_tile({n, rows, offsets, indices, values, thunk, i_ids, j_ids}, [&](u64 e, bool keep) {
    const u32 word = __ballot_sync(full_warp, keep);
    if (lane_id() == 0 && e < n) {
      words[e >> 5] = word;
      counts[e >> 5] = u32(__popc(word));
    }
  });
}
#else
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
map_apply(u64 n, u64 rows, const u64* offsets, const u32* indices, const Value* __restrict__ values, const Thunk* thunk,
          const u64* i_ids, const u64* j_ids, Result* __restrict__ out) {
  map_tile({n, rows, offsets, indices, values, thunk, i_ids, j_ids}, [&](u64 e, const Result& x) {
    if (e < n) out[e] = x;
  });
}
#endif

}  // namespace oplus
