// C = A ⊕.⊗ B of matrices on few diagonals: how many columns each row of C has. Any semiring. Launches: README.md.
#include "part/spgemm_band.cuh"

namespace oplus {

// Rows of A that have all diagonals, as have all the rows of B they meet: so has the row of C. Their lengths, and a bit each in
// c_full; the others, of length 0 for now, go to gaps, their number to gap_count[0] (0 before).
// Launch: ceil(rows / tuning::band_block) blocks of as many threads, a thread a row.
extern "C" __global__ void __launch_bounds__(tuning::band_block)
spgemm_band_full(u64 rows, const u32* a_full, const u32* b_full, u32 a_diagonals, const i32* a_shifts, u32 diagonals,
                 u32* c_full, u32* gaps, u32* gap_count, u64* row_counts) {
  const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  bool full = i < rows && a_full[i / 32] >> (i & 31) & 1;
  // Some of the rows at once: what is waited for is memory, as many times as there are turns.
  for (u32 from = 0; from < a_diagonals && full; from += band_group) {
    u32 rows_full = 1;
#pragma unroll
    for (u32 g = 0; g < band_group; g++) {
      const u64 k = i + a_shifts[from + g < a_diagonals ? from + g : from];
      rows_full &= b_full[k / 32] >> (k & 31);
    }
    full = rows_full & 1;
  }
  const u32 all = __ballot_sync(full_warp, full), gappy = __ballot_sync(full_warp, i < rows && !full);
  u32 base = 0;
  if (lane_id() == 0) {
    if (i < rows) c_full[i / 32] = all;
    if (gappy) base = atomicAdd(gap_count, u32(__popc(gappy)));
  }
  base = shuffle(base, 0);
  if (i < rows) row_counts[i] = full ? diagonals : 0;
  if (i < rows && !full) gaps[base + __popc(gappy & lanes_below())] = u32(i);
}

// Lanes that share a row and 8 diagonals: a power of two, so many that the grid is busy where the rows are few.
__device__ inline u32 band_lanes(u64 units) {
  u32 lanes = 1;
  while (lanes < 32 && units * lanes * 2 <= u64(gridDim.x) * tuning::band_block) lanes *= 2;
  return lanes;
}

// The lengths of the rows listed in gaps, and which diagonals of C they have: bit d of row gaps[g] in byte d / 8 · rows + g.
// Launch: any grid, blocks of tuning::band_block threads.
extern "C" __global__ void __launch_bounds__(tuning::band_block)
spgemm_band_gaps(u64 rows, u64 inner, const u32* a_present, const u32* b_present, u32 diagonals, const u32* starts,
                 const void* steps, const u32* gaps, const u32* gap_count, u8* gap_diagonals, u64* row_counts) {
  const BandOperands x = {{rows, a_present}, {inner, b_present}, diagonals, starts, static_cast<const BandStep*>(steps)};
  const u32 groups = x.groups();
  const u64 count = *gap_count;
  const u32 lanes = band_lanes(count * groups), lane = threadIdx.x % lanes, together = tuning::band_block / lanes;
  const u64 units = (count + (together - 1)) / together * groups;
  for (u64 unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const BandUnit of(unit, groups, together);
    const u64 g = of.first + threadIdx.x / lanes;
    const u32 i = g < count ? gaps[g] : 0, end = g < count ? starts[of.group + 1] : 0;
    u32 has = 0;
    for (u32 s = starts[of.group] + lane; s < end; s += lanes) has |= x.terms(x.steps[s], i);
    for (u32 by = lanes / 2; by > 0; by /= 2) has |= __shfl_xor_sync(full_warp, has, by);
    if (g >= count || lane > 0) continue;
    gap_diagonals[of.group * rows + g] = u8(has);
    if (has) atomicAdd(&row_counts[i], u64(__popc(has)));
  }
}

}  // namespace oplus
