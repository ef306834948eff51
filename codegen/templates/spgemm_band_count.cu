// C = A ⊕.⊗ B of matrices on few diagonals: how many columns each row of C has. Any semiring. Launches: README.md.
#include "part/spgemm_band.cuh"

namespace oplus {

// Bits `at` .. at + 32 of so many words, no others than theirs set.
__device__ inline u32 bits_at(const u32* bits, i64 words, i64 at) {
  const i64 word = at >> 5;
  const u32 low = word >= 0 && word < words ? bits[word] : 0, high = word >= -1 && word + 1 < words ? bits[word + 1] : 0;
  return u32((u64(high) << 32 | low) >> (at & 31));
}

// Rows of A that have all diagonals, as have all the rows of B they meet: so has the row of C. Their lengths, and a bit each in
// c_full; the others, of length 0 for now, go to gaps, their number to gap_count[0] (0 before).
// Launch: a thread for 32 rows, blocks of tuning::band_block threads.
extern "C" __global__ void __launch_bounds__(tuning::band_block)
spgemm_band_full(u64 rows, u64 inner, const u32* a_full, const u32* b_full, u32 a_diagonals, const i32* a_shifts, u32 diagonals,
                 u32* c_full, u32* gaps, u32* gap_count, u64* row_counts) {
  const u64 word = u64(blockIdx.x) * blockDim.x + threadIdx.x, first = word * 32;
  const u32 all = first >= rows ? 0 : rows - first >= 32 ? ~0u : (1u << (rows - first)) - 1;
  u32 full = all ? all & a_full[word] : 0;
  // Some of the diagonals at once: what is waited for is memory, as many times as there are turns.
  for (u32 from = 0; from < a_diagonals && full; from += band_group) {
    u32 met = ~0u;
#pragma unroll
    for (u32 g = 0; g < band_group; g++) {
      met &= bits_at(b_full, i64((inner + 31) / 32), i64(first) + a_shifts[from + g < a_diagonals ? from + g : from]);
    }
    full &= met;
  }
  const u32 gappy = all & ~full;
  if (all) c_full[word] = full;
  const u32 base = gappy ? atomicAdd(gap_count, u32(__popc(gappy))) : 0;
  // A lane a row.
  for (u32 l = 0; l < 32; l++) {
    const u64 i = (word - lane_id() + l) * 32 + lane_id();
    const u32 its_full = shuffle(full, l), its_gappy = shuffle(gappy, l), to = shuffle(base, l);
    if (i < rows) row_counts[i] = its_full >> lane_id() & 1 ? diagonals : 0;
    if (its_gappy >> lane_id() & 1) gaps[to + __popc(its_gappy & lanes_below())] = u32(i);
  }
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
