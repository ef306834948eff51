// Products of a slice of rows at a time: which rows, how many products each entry of A has, what is left of sorted products, where
// their factors are.
//
// Any semiring: only patterns are looked at. Blocks of tuning::primitive_block threads but where another size is named.
// Deterministic. Launches: README.md.
#include "device/rows.cuh"
#include "thread/rank.cuh"

namespace oplus {

__device__ inline u64 global_thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// Columns low .. high - 1 of a row of B: its entries there.
struct Stretch {
  u64 begin, length;
};
__device__ inline Stretch stretch(const u64* b_offsets, const u32* b_indices, u32 k, u64 low, u64 high, bool partial) {
  u64 begin = b_offsets[k], end = b_offsets[u64(k) + 1];
  if (partial) {
    begin = lower_bound<u32, u64>(b_indices, begin, end, u32(low));
    if (high <= 0xffffffffull) end = lower_bound<u32, u64>(b_indices, begin, end, u32(high));
  }
  return {begin, end - begin};
}

// lengths[e] = products of A's entry e, of n, with columns low .. high - 1; b_indices null: with all columns.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
slice_lengths(u64 n, const u32* a_indices, const u64* b_offsets, const u32* b_indices, u64 low, u64 high, u64* lengths) {
  const u64 e = global_thread();
  if (e < n) lengths[e] = stretch(b_offsets, b_indices, a_indices[e], low, high, b_indices != nullptr).length;
}

// The rows from `first` on that have at most `bound` products and entries together, or one row. runs: scanned lengths of all
// entries. out: the row behind the last, A's entries before and up to it, products before and up to it. Launch: one warp.
extern "C" __global__ void __launch_bounds__(32)
slice_end(u64 rows, u64 first, u64 bound, const u64* a_offsets, const u64* runs, u64* out) {
  const u64 begin = a_offsets[first], products = runs[begin];
  const auto taken = [&](u64 r) { return max(runs[a_offsets[r]] - products, a_offsets[r] - begin); };
  const u64 last = taken(first + 1) > bound ? first + 1 : warp_last_not_above(first + 1, rows, bound, taken);
  if (lane_id() == 0) {
    out[0] = last;
    out[1] = begin;
    out[2] = a_offsets[last];
    out[3] = products;
    out[4] = runs[a_offsets[last]];
  }
}

// Keys column << bits | row, from the first row of the slice, of its entries, and their places: n entries from `begin` on.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
slice_columns(u64 n, u64 begin, u64 rows, const u64* a_offsets, const u32* a_indices, u32 bits, u64* keys, u32* places) {
  const u64 base = u64(blockIdx.x) * entry_tile, end = min(base + entry_tile, n);
  const RowRange range = rows_of_entries(a_offsets, rows, begin + base, begin + end);
  for (u32 t = 0; t < tuning::entry_items; t++) {
    const u64 e = base + t * tuning::primitive_block + threadIdx.x;
    if (e >= n) break;
    keys[e] = u64(a_indices[begin + e]) << bits | row_of(a_offsets, range.first, range.last, begin + e);
    places[e] = u32(e);
  }
}

// lengths[e] = products of the e-th entry in the order of columns, as slice_lengths has them.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
slice_ordered_lengths(u64 n, const u64* keys, u32 bits, const u64* b_offsets, const u32* b_indices, u64 low, u64 high,
                      u64* lengths) {
  const u64 e = global_thread();
  if (e < n) lengths[e] = stretch(b_offsets, b_indices, u32(keys[e] >> bits), low, high, b_indices != nullptr).length;
}

// Marks the first product of each column of each row, where the mask admits it. Sorted keys row << bits | column, rows from
// first_row on.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
slice_marks(u64 n, const u64* keys, u32 bits, u64 first_row, const u64* m_offsets, const u32* m_indices, u32* words) {
  const u64 p = global_thread();
  bool head = p < n && (p == 0 || keys[p - 1] != keys[p]);
  if constexpr (flag::masked) {
    if (head) {
      const u64 row = first_row + (keys[p] >> bits), end = m_offsets[row + 1];
      const u32 column = u32(keys[p] & ((1ull << bits) - 1));
      const u64 e = lower_bound<u32, u64>(m_indices, m_offsets[row], end, column);
      head = (e < end && m_indices[e] == column) != flag::complement;
    }
  }
  const u32 word = __ballot_sync(full_warp, head);
  if (lane_id() == 0 && p < n) words[p >> 5] = word;
}

// row_counts[r] += marks of row r, r counted from the slice's first row, as are a_offsets; the products of its e-th entry begin
// at runs[e] - origin, of which entry `begin` of A is the first.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
slice_counts(u64 rows, u64 begin, const u64* a_offsets, const u64* runs, u64 origin, const u32* words, const u64* starts,
             u64* row_counts) {
  const u64 r = global_thread();
  if (r >= rows) return;
  const u64 from = runs[a_offsets[r] - begin] - origin, to = runs[a_offsets[r + 1] - begin] - origin;
  row_counts[r] += rank(words, starts, to) - rank(words, starts, from);
}

// Rows of A that were taken out: row k is row list[k] of all. What a positional multiplication calls it: ids may be null.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
slice_row_ids(u64 n, const u32* list, const u64* ids, u64* out) {
  const u64 k = global_thread();
  if (k < n) out[k] = ids ? ids[list[k]] : list[k];
}

// row_counts[list[k]] = entries of row k, k < n; no row is there twice.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
slice_put_counts(u64 n, const u32* list, const u64* offsets, u64* row_counts) {
  const u64 k = global_thread();
  if (k < n) row_counts[list[k]] = offsets[k + 1] - offsets[k];
}

// Sorted products, n of them: where in A and B the factors of each are, in the order of C's entries and of k; of each marked one, which
// begins an entry, its column and its number, from `base` on. terms: what spgemm_expand wrote, with flag::places.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
slice_places(u64 n, const u64* keys, const u32* places, const u64* terms, const u32* words, const u64* starts, u32 bits, u64 base,
             u32* a_places, u32* b_places, u32* c_indices, u64* firsts) {
  const u64 p = global_thread();
  if (p >= n) return;
  const u64 term = terms[places[p]];
  a_places[p] = u32(term >> 32);
  b_places[p] = u32(term);
  if (!is_marked(words, p)) return;
  const u64 o = rank(words, starts, p);
  c_indices[o] = u32(keys[p] & ((1ull << bits) - 1));
  firsts[o] = base + p;
}

}  // namespace oplus
