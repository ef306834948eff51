// Entries moved: transposing, selecting, extracting rows, building from triplets. Values `V` are only moved.
// CSR: u64 offsets, u32 columns ascending in each row. Launch: 1-D blocks of tuning::primitive_block threads, a thread an
// element. Deterministic.
#include "part/entries.cuh"

namespace oplus {

#define OPLUS_KERNEL extern "C" __global__ void __launch_bounds__(tuning::primitive_block)

// keys[e] = column, numbers[e] = e.
OPLUS_KERNEL arrange_columns(u64 n, const u32* indices, u64* keys, u32* numbers) {
  const u64 e = global_thread();
  if (e >= n) return;
  keys[e] = indices[e];
  numbers[e] = u32(e);
}
// keys[e] = row · 2^32 + column, numbers[e] = e.
OPLUS_KERNEL arrange_positions(u64 n, const u32* rows, const u32* columns, u64* keys, u32* numbers) {
  const u64 e = global_thread();
  if (e >= n) return;
  keys[e] = u64(rows[e]) << 32 | columns[e];
  numbers[e] = u32(e);
}
// offsets[r] = keys below r << shift among n sorted ones, or with `before` that element of it; r = 0 ..= rows.
OPLUS_KERNEL arrange_offsets(u64 rows, u64 n, const u64* keys, u32 shift, const u64* before, u64* offsets) {
  const u64 r = global_thread();
  if (r > rows) return;
  const u64 at = r >> (64 - shift) && shift ? n : lower_bound<u64, u64>(keys, 0, n, r << shift);
  offsets[r] = before ? before[at] : at;
}
// The transposed entries: row and value of entry numbers[e].
OPLUS_KERNEL arrange_transposed(u64 n, u64 rows, const u64* offsets, const u32* numbers, const V* values, u32* indices_out,
                                V* values_out) {
  const u64 e = global_thread();
  if (e >= n) return;
  const u32 from = numbers[e];
  indices_out[e] = u32(upper_bound<u64, u64>(offsets, 0, rows, from) - 1);
  values_out[e] = values[from];
}
// heads[e] = 1 where the sorted key is the first of its kind; duplicate: the smallest number of another one, ~0 before.
OPLUS_KERNEL arrange_heads(u64 n, const u64* keys, const u32* numbers, u32* heads, u32* duplicate) {
  const u64 e = global_thread();
  if (e >= n) return;
  const bool head = e == 0 || keys[e - 1] != keys[e];
  heads[e] = head;
  if (!head) atomicMin(duplicate, numbers[e]);
}
// The entries whose count of kept ones before goes up by one, moved together.
OPLUS_KERNEL arrange_kept(u64 n, const u64* before, const u32* indices, const V* values, u32* indices_out, V* values_out) {
  const u64 e = global_thread();
  if (e >= n || before[e + 1] == before[e]) return;
  indices_out[before[e]] = indices[e];
  values_out[before[e]] = values[e];
}
// offsets_out[r] = before[offsets[r]], r = 0 ..= rows.
OPLUS_KERNEL arrange_kept_offsets(u64 rows, const u64* offsets, const u64* before, u64* offsets_out) {
  const u64 r = global_thread();
  if (r <= rows) offsets_out[r] = before[offsets[r]];
}
// lengths[r] = entries of row list[r].
OPLUS_KERNEL arrange_lengths(u64 rows, const u32* list, const u64* offsets, u64* lengths) {
  const u64 r = global_thread();
  if (r < rows) lengths[r] = offsets[list[r] + 1] - offsets[list[r]];
}
// Row r of the result is row list[r].
OPLUS_KERNEL arrange_rows(u64 n, u64 rows, const u32* list, const u64* offsets, const u32* indices, const V* values,
                          const u64* offsets_out, u32* indices_out, V* values_out) {
  const u64 e = global_thread(), row = row_of(offsets_out, rows, e, n);
  if (e >= n) return;
  const u64 from = offsets[list[row]] + (e - offsets_out[row]);
  indices_out[e] = indices[from];
  values_out[e] = values[from];
}

}  // namespace oplus
