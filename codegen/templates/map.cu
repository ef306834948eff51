// f(a, i, j, thunk) at every entry: apply, or the marks of the entries that select keeps, or where these begin and end in each row.
// Launches: README.md.
#include "part/entries.cuh"
#include "thread/given.cuh"

namespace oplus {

typedef function::op::Input0 Value;
typedef function::op::Input3 Thunk;
typedef function::op::Output Result;

// store(e, inside, result) for each entry of the block's tile.
template <class Store>
__device__ inline void map_entries(const Entries<Value>& a, const Given<Thunk>& thunk, const u64* i_ids, const u64* j_ids,
                                   Store store) {
  for_entries<flag::value, flag::row, flag::column>(a, [&](u64 e, bool inside, const Value& x, u32 row, u32 column) {
    Result result = Result();
    if (inside) {
      u64 i = row, j = column;
      if (flag::row && i_ids) i = i_ids[row];
      if (flag::column && j_ids) j = j_ids[column];
      result = function::op::apply(x, i64(i), i64(j), flag::thunk ? *thunk : Thunk());
    }
    store(e, inside, result);
  });
}

#if OPLUS_NUMBER_select
// A bit an entry that f keeps. Null ids: a place is its id.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
map_mark(u64 n, u64 rows, const u64* offsets, const u32* indices, const Value* values, Given<Thunk> thunk,
         const u64* i_ids, const u64* j_ids, u32* words) {
  map_entries({n, rows, offsets, indices, values}, thunk, i_ids, j_ids,
              [&](u64 e, bool, bool keep) { mark_entry(e, n, keep, words); });
}

// For f of positions alone that along a row holds up to some column (`upto`), or from one on: how many entries it holds for, the first
// or the last of row r.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
map_spans(u64 rows, const u64* offsets, const u32* indices, Given<Thunk> thunk, u32 upto, u32* counts) {
  const u64 r = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const u64 begin = offsets[r], end = offsets[r + 1];
  u64 low = begin, high = end;
  while (low < high) {
    const u64 middle = low + (high - low) / 2;
    if (function::op::apply(Value(), i64(r), i64(indices[middle]), flag::thunk ? *thunk : Thunk()) == (upto != 0)) low = middle + 1;
    else high = middle;
  }
  counts[r] = u32(upto ? low - begin : end - low);
}
#else
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
map_apply(u64 n, u64 rows, const u64* offsets, const u32* indices, const Value* __restrict__ values, Given<Thunk> thunk,
          const u64* i_ids, const u64* j_ids, Result* __restrict__ out) {
  map_entries({n, rows, offsets, indices, values}, thunk, i_ids, j_ids, [&](u64 e, bool inside, const Result& x) {
    if (inside) out[e] = x;
  });
}
#endif

}  // namespace oplus
