// The entries of each row in the order of their values, by stable merges of runs inside rows: op says what comes before
// what; NaN comes last whatever it says. Spread over entries. Deterministic. Launches: README.md.
#include "device/rows.cuh"

namespace oplus {

typedef function::op::Input0 Value;

template <class T> __device__ inline bool comes_last(const T& x) {
  if constexpr (SameType<T, f32>::value || SameType<T, f64>::value || SameType<T, f16>::value || SameType<T, bf16>::value) return x != x;
  else return false;
}
template <class P> __device__ inline bool comes_last(const Complex<P>& x) { return x != x; }

__device__ inline bool before(const Value& x, const Value& y) {
  if (comes_last(x) || comes_last(y)) return !comes_last(x) && comes_last(y);
  return function::op::apply(x, y);
}

// Both orders are the entries' own: what a merge by no order leaves out is then still an entry of its row.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
sort_rows_begin(u64 n, u32* order, u32* other) {
  const u64 e = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e < n) order[e] = other[e] = u32(e);
}

// Pairs of sorted runs of `width` entries become one: an entry goes as far as its run's and the other's entries before it.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
sort_rows_pass(u64 n, u64 rows, const u64* offsets, const Value* values, u64 width, const u32* order, u32* out) {
  const u64 base = u64(blockIdx.x) * entry_tile;
  const RowRange range = rows_of_entries(offsets, rows, base, min(base + entry_tile, n));
  for (u32 t = 0; t < tuning::entry_items; t++) {
    const u64 e = base + t * tuning::primitive_block + threadIdx.x;
    if (e >= n) break;
    const u32 r = row_of(offsets, range.first, range.last, e);
    const u64 begin = offsets[r], length = offsets[u64(r) + 1] - begin, k = e - begin;
    const u64 run = k / width * width, pair = k / (2 * width) * (2 * width);
    const bool first = run == pair;
    const u64 start = first ? min(pair + width, length) : pair;
    u64 low = start, high = first ? min(pair + 2 * width, length) : run;
    const u32 mine = order[e];
    const Value x = values[mine];
    while (low < high) {
      const u64 middle = low + (high - low) / 2;
      const Value y = values[order[begin + middle]];
      if (first ? before(y, x) : !before(x, y)) low = middle + 1;
      else high = middle;
    }
    out[begin + pair + (k - run) + (low - start)] = mine;
  }
}

// Entry k of a row at column k, and the column it had; ids may be null.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
sort_rows_end(u64 n, u64 rows, const u64* offsets, const u32* indices, const Value* values, const u32* order,
              const u64* ids, u32* out_indices, Value* out_values, u64* out_columns) {
  const u64 base = u64(blockIdx.x) * entry_tile;
  const RowRange range = rows_of_entries(offsets, rows, base, min(base + entry_tile, n));
  for (u32 t = 0; t < tuning::entry_items; t++) {
    const u64 e = base + t * tuning::primitive_block + threadIdx.x;
    if (e >= n) break;
    const u32 from = order[e], column = indices[from];
    out_indices[e] = u32(e - offsets[row_of(offsets, range.first, range.last, e)]);
    out_values[e] = values[from];
    out_columns[e] = ids ? ids[column] : column;
  }
}

}  // namespace oplus
