// f(a, i, j, thunk) at every entry: apply, or the marks of the entries that select keeps, or where these begin and end in each row.
// Launches: README.md.
#include "device/row_writer.cuh"
#include "part/entries.cuh"
#include "thread/given.cuh"

namespace oplus {

typedef function::op::Input0 Value;
typedef function::op::Input3 Thunk;
typedef function::op::Output Result;

// store(e, inside, result) for each entry of the block's tile. `grid`: of cells of a.rows columns, row by row.
template <class Store>
__device__ inline void map_entries(const Entries<Value>& a, const Given<Thunk>& thunk, const u64* i_ids, const u64* j_ids,
                                   Store store) {
  constexpr bool looked_up = !flag::grid;
  for_entries<flag::value, flag::row && looked_up, flag::column && looked_up>(a, [&](u64 e, bool inside, const Value& x, u32 row, u32 column) {
    Result result = Result();
    if (inside) {
      u64 i = row, j = column;
      if constexpr (flag::grid) {
        i = e >> 32 || a.rows >> 32 ? e / a.rows : u32(e) / u32(a.rows);
        j = e - i * a.rows;
      }
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

// The entries of a single row that f keeps, in one launch. values and out_values may be null where f looks at none and positions alone are
// asked for.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
map_row(u64 n, const u32* indices, const Value* values, Given<Thunk> thunk, const u64* i_ids, const u64* j_ids, u32* out_indices,
        Value* out_values, u64* out_offsets, u64* state, u64* control, u32 said, u64* page, u64 number, u64 words) {
  constexpr u32 items = tuning::entry_items;
  __shared__ RowWriter::Shared shared;
  const RowWriter writer = {out_offsets, state, control, said, page, number, words};
  const u64 nth = writer.tile(shared), first = nth * entry_tile + threadIdx.x / 32 * (32 * items) + lane_id();
  const i64 row = flag::row && i_ids ? i64(i_ids[0]) : 0;
  u32 kept[items], all = 0;
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    const u64 e = first + t * 32;
    bool keep = false;
    if (e < n) {
      Value x = Value();
      if constexpr (flag::value) x = values[e];
      u64 column = 0;
      if constexpr (flag::column) column = j_ids ? j_ids[indices[e]] : indices[e];
      keep = function::op::apply(x, row, i64(column), flag::thunk ? *thunk : Thunk());
    }
    kept[t] = __ballot_sync(full_warp, keep);
    all += u32(__popc(kept[t]));
  }
  // The warp's are counted once, and stand before those of the next.
  u64 at = shuffle(writer.before<tuning::primitive_block>(nth, lane_id() == 31 ? all : 0, shared), 0);
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    const u64 e = first + t * 32, to = at + u32(__popc(kept[t] & lanes_below()));
    if (kept[t] >> lane_id() & 1) {
      out_indices[to] = indices[e];
      if (out_values) out_values[to] = values[e];
    }
    at += u32(__popc(kept[t]));
  }
  writer.end(shared);
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
