// C = A ⊕.⊗ B of matrices on few diagonals: how many columns each row of C has. Any semiring.
#include "part/spgemm_band.cuh"

namespace oplus {

// Launch: 1-D blocks of tuning::band_block threads, any grid, a thread a row.
extern "C" __global__ void __launch_bounds__(tuning::band_block)
spgemm_band_count(u64 rows, u64 inner, const u32* a_present, const u32* a_full, const u32* b_present, const u32* b_full,
                  u32 a_diagonals, const i32* a_shifts, u32 diagonals, const u32* starts, const void* pairs, u64* row_counts) {
  const BandOperands x = {{rows, a_present, a_full}, {inner, b_present, b_full}, a_diagonals, a_shifts, starts,
                          static_cast<const BandPair*>(pairs)};
  for (u64 first = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32 * 32; first < rows; first += u64(gridDim.x) * blockDim.x) {
    const u64 i = first + lane_id();
    const bool full = x.is_full(first);
    if (i >= rows) continue;
    u32 n = full ? diagonals : 0;
    for (u32 o = 0; !full && o < diagonals; o++) {
      for (u32 p = starts[o]; p < starts[o + 1]; p++) {
        if (x.has(x.pairs[p], i)) {
          n++;
          break;
        }
      }
    }
    row_counts[i] = n;
  }
}

}  // namespace oplus
