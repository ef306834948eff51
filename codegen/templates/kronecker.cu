// The Kronecker product: entry (i, j) of A times entry (k, l) of B stands at (i · b_rows + k, j · b_cols + l), and op says
// what it is. Spread over the entries of the result. Deterministic. Launches: README.md.
#include "device/rows.cuh"

namespace oplus {

typedef function::op::Input0 Left;
typedef function::op::Input1 Right;
typedef function::op::Output Result;

// out[r] = entries of row r.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
kronecker_counts(u64 rows, u64 b_rows, const u64* a_offsets, const u64* b_offsets, u64* out) {
  const u64 r = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const u64 i = r / b_rows, k = r % b_rows;
  out[r] = (a_offsets[i + 1] - a_offsets[i]) * (b_offsets[k + 1] - b_offsets[k]);
}

extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
kronecker_entries(u64 n, u64 rows, u64 b_rows, u32 b_cols, const u64* offsets, const u64* a_offsets,
                  const u32* a_indices, const Left* a_values, const u64* b_offsets, const u32* b_indices,
                  const Right* b_values, u32* out_indices, Result* out_values) {
  const u64 base = u64(blockIdx.x) * entry_tile;
  const RowRange range = rows_of_entries(offsets, rows, base, min(base + entry_tile, n));
  for (u32 t = 0; t < tuning::entry_items; t++) {
    const u64 o = base + t * tuning::primitive_block + threadIdx.x;
    if (o >= n) break;
    const u64 r = row_of(offsets, range.first, range.last, o);
    const u64 i = r / b_rows, k = r % b_rows, at = o - offsets[r];
    const u64 width = b_offsets[k + 1] - b_offsets[k];
    const u64 e = a_offsets[i] + at / width, f = b_offsets[k] + at % width;
    out_indices[o] = a_indices[e] * b_cols + b_indices[f];
    out_values[o] = function::op::apply(a_values[e], b_values[f]);
  }
}

}  // namespace oplus
