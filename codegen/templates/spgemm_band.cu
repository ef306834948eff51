// C = A ⊕.⊗ B of matrices on few diagonals, values along them: some diagonals of C at a time, a lane a row.
//
// A lane reads A's value once for all diagonals of a group, and of B's, which the next diagonal of A meets again a few rows on, but one or
// two are in the first-level cache by then. One diagonal of C after the other, all of both would pass through it for each.
// After Matam, Bharadwaj, Kothapalli, "Sparse matrix-matrix multiplication on modern architectures" (10.1109/HiPC.2012.6507483).
// Determinism: sums run in the order of k, bit-equal to a serial sum. See README.md for launches and sizes.
#include "part/band_sums.cuh"
#include "part/spgemm_values.cuh"

namespace oplus {

#define OPLUS_BAND_OPERANDS                                                                                               \
  u64 rows, u64 inner, const u32 *a_present, const u32 *b_present, u32 diagonals, const u32 *starts, const void *steps,   \
      const i32 *shifts, u32 a_diagonals, const A *a_values, u32 b_diagonals, const B *b_values, const u64 *i_ids,        \
      const u64 *k_ids, const u64 *j_ids, const u64 *c_offsets, u32 *c_indices, Written *c_values
#define OPLUS_BAND_BODY                                                                                                   \
  const BandOperands x = {{rows, a_present}, {inner, b_present}, diagonals, starts, static_cast<const BandStep*>(steps)}; \
  const BandValues values = {a_values, b_values, i_ids, k_ids, j_ids, a_diagonals, b_diagonals};

// The rows whose bits are set in c_full. shifts: j - i of C's diagonals, ascending. All places below 2^31.
// Launch: 1-D blocks of tuning::band_block threads, any grid. A warp works on 32 rows and number::chunk diagonals, 8, 16 or 32; a block
// on the same diagonals everywhere, of which the middle ones have the most terms, and blocks in the order of rows, so that what they read
// is still in the second-level cache. Shared bytes, for values of up to 8 that are not constant: tuning::band_block * sizeof(C) for each
// sum of a row, which are as many as the diagonals, number::chunk at most, one more where that is even.
extern "C" __global__ void __launch_bounds__(tuning::band_block, band_staged ? 7 : 1)
spgemm_band(OPLUS_BAND_OPERANDS, const u32* c_full) {
  static_assert(band_chunk % band_group == 0, "a group is in one chunk");
  constexpr u32 warps = tuning::band_block / 32;
  OPLUS_BAND_BODY
  // Row l's sum c at l * stride + c: no wider than it needs to be, which leaves the first-level cache to what is read; odd, so that the
  // lanes' sums are in different banks.
  DYN_SHARED(C, tiles);
  const u32 stride = (diagonals < band_chunk ? diagonals : band_chunk) | 1;
  C* const tile = tiles + threadIdx.x / 32 * 32 * stride;
  const u64 chunks = (diagonals + band_chunk - 1) / band_chunk, units = (rows + 32 * warps - 1) / (32 * warps) * chunks;
  for (u64 unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const u64 tile_row = (unit / chunks * warps + threadIdx.x / 32) * 32;
    if (tile_row >= rows) continue;
    const u32 first = u32(tile_row), from = u32(unit % chunks) * band_chunk;
    const u32 count = diagonals - from < band_chunk ? diagonals - from : band_chunk;
    const u32 full = c_full[first / 32], i = first + lane_id();
    if (full == 0) continue;
    const bool mine = full >> lane_id() & 1;
    const A* const a_row = values.left(i);
    u32 open = 0;
    for (u32 c = 0; c < count && mine && !band_constant; c += band_group) {
      const u32 group = (from + c) / band_group, end = starts[group + 1];
      constexpr u32 all = (1u << band_group) - 1;
      BandSums sums(shifts + (from + c), count - c);
      u32 seen = 0;
#pragma unroll 1
      for (u32 s = starts[group]; s < end; s++) {
        const BandStep step = x.steps[s];
        if constexpr (!band_summed) {
          // The last first term may come long before the last.
          if (step.firsts) sums.add<false>(values, step, step.firsts, step.firsts, a_row, i);
          seen |= step.firsts;
          if (seen == all >> (count - c < band_group ? band_group - (count - c) : 0)) break;
        } else if (step.terms == all && (band_nearest || band_exact || !step.firsts)) {
          sums.add<true>(values, step, all, 0, a_row, i);
        } else {
          sums.add<false>(values, step, step.terms, step.firsts, a_row, i);
        }
      }
      if constexpr (band_nearest) open |= sums.open(count - c) << c;
#pragma unroll
      for (u32 g = 0; g < band_group; g++) {
        if (c + g >= count) continue;
        if constexpr (band_staged) {
          tile[lane_id() * stride + c + g] = sums.of[g];
        } else {
          const u64 to = c_offsets[i] + (from + c + g);
          c_indices[to] = i + shifts[from + c + g];
          write_value(c_values, to, sums.of[g]);
        }
      }
    }
    if constexpr (band_nearest) {
      for (; open; open &= open - 1) {
        const u32 c = __ffs(int(open)) - 1, o = from + c;
        tile[lane_id() * stride + c] =
            band_sum(values, x, o / band_group, o % band_group, shifts[o], i, [&](const BandStep& step) { return step.terms; });
      }
    }
    if (!band_staged) continue;
    __syncwarp();
    // Some rows at a time, a lane an entry.
    const u32 c = lane_id() % band_chunk;
    const i32 shift = c < count ? shifts[from + c] : 0;
#pragma unroll 4
    for (u32 l = lane_id() / band_chunk; l < 32; l += 32 / band_chunk) {
      if (c < count && full >> l & 1) {
        const u64 to = c_offsets[first + l] + (from + c);
        c_indices[to] = first + l + shift;
        if constexpr (band_constant) write_constant(c_values, to);
        else write_value(c_values, to, tile[l * stride + c]);
      }
    }
    __syncwarp();
  }
}

// The rows listed in gaps, on the diagonals that spgemm_band_gaps found. Launch: any grid, blocks of tuning::band_block threads; a warp
// works on 32 of the rows and 8 diagonals.
extern "C" __global__ void __launch_bounds__(tuning::band_block)
spgemm_band_others(OPLUS_BAND_OPERANDS, const u32* gaps, const u32* gap_count, const u8* gap_diagonals) {
  OPLUS_BAND_BODY
  __shared__ u64 tiles[tuning::band_block / 32][band_staged ? 32 * (band_group + 1) * sizeof(C) / 8 : 1];
  C(*const tile)[band_group + 1] = reinterpret_cast<C(*)[band_group + 1]>(tiles[threadIdx.x / 32]);
  const u32 groups = x.groups();
  const u64 count = *gap_count, units = (count + (tuning::band_block - 1)) / tuning::band_block * groups;
  for (u64 unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const BandUnit of(unit, groups, tuning::band_block);
    const u64 number = of.first + threadIdx.x;
    const u32 group = of.group, o = group * band_group;
    const u32 i = number < count ? gaps[number] : 0, wanted = number < count ? gap_diagonals[group * rows + number] : 0;
    u64 to = wanted ? c_offsets[i] : 0;
    for (u32 before = 0; before < group && wanted; before++) to += __popc(u32(gap_diagonals[before * rows + number]));
    const A* const a_row = values.left(i);
    BandSums sums(shifts + o, diagonals - o);
    u32 has = 0;
#pragma unroll 1
    for (u32 s = starts[group]; s < starts[group + 1] && wanted && (band_summed || has != wanted); s++) {
      const BandStep& step = x.steps[s];
      const u32 terms = x.terms(step, i), firsts = terms & ~has;
      if (terms) sums.add<false>(values, step, band_summed ? terms : firsts, firsts, a_row, i);
      has |= terms;
    }
    if constexpr (band_nearest) {
#pragma unroll
      for (u32 g = 0; g < band_group; g++) {
        if (!(wanted >> g & 1) || Nearest::decided(sums.of[g])) continue;
        sums.of[g] = band_sum(values, x, group, g, shifts[o + g], i, [&](const BandStep& step) { return x.terms(step, i); });
      }
    }
    if constexpr (!band_staged) {
#pragma unroll
      for (u32 g = 0; g < band_group; g++) {
        if (!(wanted >> g & 1)) continue;
        const u64 at = to + __popc(wanted & ((1u << g) - 1));
        c_indices[at] = i + shifts[o + g];
        write_value(c_values, at, sums.of[g]);
      }
      continue;
    }
    // Some rows at a time, a lane an entry: a lane a row would write a sector for each entry.
#pragma unroll
    for (u32 g = 0; g < band_group; g++) tile[lane_id()][g] = sums.of[g];
    __syncwarp();
    const u32 g = lane_id() % band_group;
    const i32 shift = o + g < diagonals ? shifts[o + g] : 0;
#pragma unroll 4
    for (u32 from = 0; from < 32; from += 32 / band_group) {
      const u32 l = from + lane_id() / band_group, its = shuffle(wanted, l), row = shuffle(i, l);
      const u64 at = shuffle(to, l) + __popc(its & ((1u << g) - 1));
      if (its >> g & 1) {
        c_indices[at] = row + shift;
        write_value(c_values, at, tile[l][g]);
      }
    }
    __syncwarp();
  }
}

// The same of few rows, values of up to 8 bytes: a warp works on one row and 8 diagonals, a lane a step, and then a lane a diagonal adds
// up what they found. Step after step would wait for memory each time. Launch: as that.
extern "C" __global__ void __launch_bounds__(tuning::band_block)
spgemm_band_few(OPLUS_BAND_OPERANDS, const u32* gaps, const u32* gap_count, const u8* gap_diagonals) {
  constexpr u32 warps = tuning::band_block / 32, stride = band_group + 1;
  OPLUS_BAND_BODY
  __shared__ u64 products[warps][band_staged ? (32 * stride * sizeof(C) + 7) / 8 : 1];
  __shared__ u32 present[warps][32];
  C* const product = reinterpret_cast<C*>(products[threadIdx.x / 32]);
  u32* const terms_of = present[threadIdx.x / 32];
  const u32 groups = x.groups();
  const u64 units = band_staged ? u64(*gap_count) * groups : 0;
  for (u64 unit = u64(blockIdx.x) * warps + threadIdx.x / 32; unit < units; unit += u64(gridDim.x) * warps) {
    const u64 number = unit / groups;
    const u32 group = u32(unit % groups), o = group * band_group, i = gaps[number], end = starts[group + 1];
    const u32 wanted = gap_diagonals[group * rows + number];
    if (wanted == 0) continue;
    u32 ahead = 0;
    for (u32 before = lane_id(); before < group; before += 32) ahead += __popc(u32(gap_diagonals[before * rows + number]));
    const u64 to = c_offsets[i] + shuffle(warp_inclusive_sum(ahead), 31);
    const A* const a_row = values.left(i);
    const bool mine = lane_id() < band_group && wanted >> lane_id() & 1;
    C sum = C();
    bool any = false;
    for (u32 from = starts[group]; from < end; from += 32) {
      const BandStep* const step = x.steps + (from + lane_id() < end ? from + lane_id() : from);
      const u32 terms = from + lane_id() < end ? x.terms(*step, i) : 0;
      if (terms) {
        const A left = values.left(a_row, step->a);
        const B* const b_row = values.right(i + step->shift);
        B right[band_group];
#pragma unroll
        for (u32 g = 0; g < band_group; g++) {
          if (terms >> g & 1) right[g] = values.right(b_row, step->b[g]);
        }
#pragma unroll
        for (u32 g = 0; g < band_group; g++) {
          if (!(terms >> g & 1)) continue;
          const i32 diagonal = Semiring::positional ? shifts[o + g] : 0;
          product[lane_id() * stride + g] = values.term(left, right[g], step->shift, diagonal, i);
        }
      }
      terms_of[lane_id()] = terms;
      __syncwarp();
      for (u32 l = 0; l < 32 && mine; l++) {
        if (!(terms_of[l] >> lane_id() & 1)) continue;
        const C term = product[l * stride + lane_id()];
        if (!any) sum = term;
        else if constexpr (band_summed) sum = Semiring::add(sum, term);
        any = true;
      }
      __syncwarp();
    }
    if (!mine) continue;
    const u64 at = to + __popc(wanted & lanes_below());
    c_indices[at] = i + shifts[o + lane_id()];
    write_value(c_values, at, sum);
  }
}

}  // namespace oplus
