// C = A ⊕.⊗ B of matrices on few diagonals, values along them: diagonal by diagonal of C, a thread a row.
//
// After Matam, Bharadwaj, Kothapalli, "Sparse matrix-matrix multiplication on modern architectures" (10.1109/HiPC.2012.6507483).
// Determinism: sums run in the order of k, bit-equal to a serial sum. See README.md for launches and sizes.
#include "part/spgemm_band.cuh"

namespace oplus {

// ⊗ for a pair at row i. a_at, b_at: where the values stand, taken apart from the pair on the host.
struct BandValues {
  const A* a;
  const B* b;
  const u64 *i_ids, *k_ids, *j_ids;
  __device__ static u64 named(const u64* ids, u64 i) {
    if constexpr (flag::mapped) return ids ? ids[i] : i;
    else return i;
  }
  __device__ C term(u32 a_at, i32 b_at, i32 shift, i32 diagonal, u32 i) const {
    A x = A();
    B y = B();
    if constexpr (Semiring::reads_a) x = a[a_at + i];
    if constexpr (Semiring::reads_b) y = b[i32(i) + b_at];
    At at = {0, 0, 0};
    if constexpr (Semiring::positional) at = {named(i_ids, i), named(k_ids, u64(i) + shift), named(j_ids, u64(i) + diagonal)};
    return Semiring::multiply(x, y, at);
  }
};

// a_places[p], b_places[p]: where pair p's values begin, b's for k = i. diagonal_shifts: j - i of C's diagonals, ascending.
// Launch: 1-D blocks of tuning::band_block threads, any grid, a warp 32 rows. All places below 2^31.
extern "C" __global__ void __launch_bounds__(tuning::band_block)
spgemm_band(u64 rows, u64 inner, const u32* a_present, const u32* a_full, const u32* b_present, const u32* b_full,
            u32 a_diagonals, const i32* a_shifts, u32 diagonals, const u32* starts, const void* pairs, const u32* a_places,
            const i32* b_places, const i32* diagonal_shifts, const A* a_values, const B* b_values, const u64* i_ids,
            const u64* k_ids, const u64* j_ids, const u64* c_offsets, u32* c_indices, C* c_values) {
  constexpr u32 chunk = 16, warps = tuning::band_block / 32;
  constexpr bool summed = !Semiring::constant && Semiring::terminal != terminal_always && Semiring::atomic != atomic_first;
  __shared__ u64 tiles[warps][32 * (chunk + 1) * sizeof(C) / 8];
  C(*const tile)[chunk + 1] = reinterpret_cast<C(*)[chunk + 1]>(tiles[threadIdx.x / 32]);
  const BandOperands x = {{rows, a_present, a_full}, {inner, b_present, b_full}, a_diagonals, a_shifts, starts,
                          static_cast<const BandPair*>(pairs)};
  const BandValues values = {a_values, b_values, i_ids, k_ids, j_ids};
  for (u64 first = (u64(blockIdx.x) * warps + threadIdx.x / 32) * 32; first < rows; first += u64(gridDim.x) * warps * 32) {
    const u32 i = u32(first) + lane_id();
    const bool full = x.is_full(first), live = i < rows;
    u64 out = live ? c_offsets[i] : 0;
    for (u32 o = 0; o < diagonals; o += chunk) {
      u32 there = 0;  // bit c: the row has C's diagonal o + c
      for (u32 c = 0; c < chunk && o + c < diagonals; c++) {
        const i32 diagonal = diagonal_shifts[o + c];
        const u32 begin = starts[o + c], end = summed || !full ? starts[o + c + 1] : begin + 1;
        C sum = C();
        if (full) {
          sum = values.term(a_places[begin], b_places[begin], x.pairs[begin].shift, diagonal, i);
#pragma unroll 4
          for (u32 p = begin + 1; p < end; p++) {
            sum = Semiring::add(sum, values.term(a_places[p], b_places[p], x.pairs[p].shift, diagonal, i));
          }
          there |= 1u << c;
        } else if (live) {
          bool has = false;
          for (u32 p = begin; p < end && (summed || !has); p++) {
            const BandPair pair = x.pairs[p];
            if (!x.has(pair, i)) continue;
            const C term = values.term(a_places[p], b_places[p], pair.shift, diagonal, i);
            sum = has ? Semiring::add(sum, term) : term;
            has = true;
          }
          if (has) there |= 1u << c;
        }
        tile[lane_id()][c] = sum;
      }
      __syncwarp();
      // Two rows at a time, a lane a diagonal.
#pragma unroll 4
      for (u32 r = lane_id() / chunk; r < 32; r += 32 / chunk) {
        const u32 bits = shuffle(there, r), c = lane_id() % chunk;
        const u64 to = shuffle(out, r) + __popc(bits & ((1u << c) - 1));
        if (bits >> c & 1) {
          c_indices[to] = u32(first) + r + diagonal_shifts[o + c];
          c_values[to] = tile[r][c];
        }
      }
      out += __popc(there);
      __syncwarp();
    }
  }
}

}  // namespace oplus
