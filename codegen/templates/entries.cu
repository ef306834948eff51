// Entries moved as they are: `V` has the size of the value type, no operator looks inside. Without values (null) positions
// alone are moved. Launches: README.md.
#include "device/marked.cuh"
#include "device/rows.cuh"
#include "part/entries.cuh"

namespace oplus {

// Entry o of the result is the entry at place places[o], of the column in the low `bits` of its key.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
entries_gather(u64 n, const u64* keys, const u32* places, u32 bits, const V* values, u32* out_indices, V* out_values) {
  const u64 o = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (o >= n) return;
  out_indices[o] = u32(keys[o] & ((1ull << bits) - 1));
  if (values) out_values[o] = values[places[o]];
}

// n copies of a value.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
entries_fill(u64 n, const V* value, V* out) {
  const u64 e = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e < n) out[e] = *value;
}

// The marked entries, in their order.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
entries_compact(u64 n, const u32* words, const u64* starts, const u32* indices, const V* values, u32* out_indices,
                V* out_values) {
  for_marked(n, words, starts, [&](u64 e, u64 o) {
    out_indices[o] = indices[e];
    if (values) out_values[o] = values[e];
  });
}

// The entries first .. first + n - 1, and their columns moved by `shift` (modulo 2^32).
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
entries_window(u64 n, u64 first, u32 shift, const u32* __restrict__ indices, const V* __restrict__ values,
               u32* __restrict__ out_indices, V* __restrict__ out_values) {
  for_marked(n, nullptr, nullptr, [&](u64 e, u64 o) {
    out_indices[o] = indices[first + e] + shift;
    if (values) out_values[o] = values[first + e];
  });
}

// Row r of the result, entries offsets[r] .. offsets[r + 1] of n, is A's entries from starts[r] on, their columns moved by `shift`.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
entries_spans(u64 n, u64 rows, const u64* __restrict__ offsets, const u64* __restrict__ starts, u32 shift,
              const u32* __restrict__ indices, const V* __restrict__ values, u32* __restrict__ out_indices, V* __restrict__ out_values) {
  const Entries<u8> a = {n, rows, offsets, nullptr, nullptr};
  for_entries<false, true, false>(a, [&](u64 o, bool inside, u8, u32 row, u32) {
    if (!inside) return;
    const u64 e = starts[row] + (o - offsets[row]);
    out_indices[o] = indices[e] + shift;
    if (values) out_values[o] = values[e];
  });
}

// Row r of the result, entries offsets[r] .. offsets[r + 1], is row list[r] of A.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
entries_list(u64 n, u64 count, const u32* list, const u64* offsets, const u64* a_offsets, const u32* a_indices,
             const V* a_values, u32* out_indices, V* out_values) {
  const u64 base = u64(blockIdx.x) * entry_tile;
  const RowRange range = rows_of_entries(offsets, count, base, min(base + entry_tile, n));
#pragma unroll
  for (u32 t = 0; t < tuning::entry_items; t++) {
    const u64 o = base + t * tuning::primitive_block + threadIdx.x;
    if (o >= n) continue;
    const u32 r = row_of(offsets, range.first, range.last, o);
    const u64 e = a_offsets[list[r]] + (o - offsets[r]);
    out_indices[o] = a_indices[e];
    if (a_values) out_values[o] = a_values[e];
  }
}

}  // namespace oplus
