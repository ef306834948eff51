// C = A ⊕.⊗ B of matrices on few diagonals, values along them: diagonal by diagonal of C, a lane a row.
//
// After Matam, Bharadwaj, Kothapalli, "Sparse matrix-matrix multiplication on modern architectures" (10.1109/HiPC.2012.6507483).
// Determinism: sums run in the order of k, bit-equal to a serial sum. See README.md for launches and sizes.
#include "part/spgemm_band.cuh"
#include "part/spgemm_values.cuh"

namespace oplus {

// ⊗ for a pair at row i.
struct BandValues {
  const A* a;
  const B* b;
  const u64 *i_ids, *k_ids, *j_ids;
  __device__ static u64 named(const u64* ids, u64 i) {
    if constexpr (flag::mapped) return ids ? ids[i] : i;
    else return i;
  }
  __device__ C term(const BandPair& pair, i32 diagonal, u32 i) const {
    A x = A();
    B y = B();
    if constexpr (Semiring::reads_a) x = a[pair.a_place + i];
    if constexpr (Semiring::reads_b) y = b[i32(i) + pair.b_place];
    At at = {0, 0, 0};
    if constexpr (Semiring::positional) {
      at = {named(i_ids, i), named(k_ids, u64(i) + pair.shift), named(j_ids, u64(i) + diagonal)};
    }
    return Semiring::multiply(x, y, at);
  }
};

constexpr u32 band_chunk = u32(number::chunk);  // diagonals of C that a warp works on
constexpr bool band_summed = !Semiring::constant && Semiring::terminal != terminal_always && Semiring::atomic != atomic_first;
// Values that shared memory has room for are written row by row.
constexpr bool band_staged = sizeof(C) <= 8;

#define OPLUS_BAND_OPERANDS                                                                                            \
  u64 rows, u64 inner, const u32 *a_present, const u32 *b_present, u32 diagonals, const u32 *starts, const void *pairs, \
      const i32 *shifts, const A *a_values, const B *b_values, const u64 *i_ids, const u64 *k_ids, const u64 *j_ids,    \
      const u64 *c_offsets, u32 *c_indices, C *c_values
#define OPLUS_BAND_BODY                                                                                                \
  const BandOperands x = {{rows, a_present, nullptr}, {inner, b_present, nullptr}, diagonals, starts,                  \
                          static_cast<const BandPair*>(pairs)};                                                        \
  const BandValues values = {a_values, b_values, i_ids, k_ids, j_ids};

// The rows whose bits are set in c_full. shifts: j - i of C's diagonals, ascending. All places below 2^31.
// Launch: 1-D blocks of tuning::band_block threads, any grid; a warp works on 32 rows and number::chunk diagonals, 8, 16 or 32.
extern "C" __global__ void __launch_bounds__(tuning::band_block)
spgemm_band(OPLUS_BAND_OPERANDS, const u32* c_full) {
  constexpr u32 warps = tuning::band_block / 32;
  OPLUS_BAND_BODY
  __shared__ u64 tiles[warps][band_staged ? 32 * (band_chunk + 1) * sizeof(C) / 8 : 1];
  C(*const tile)[band_chunk + 1] = reinterpret_cast<C(*)[band_chunk + 1]>(tiles[threadIdx.x / 32]);
  const u64 chunks = (diagonals + band_chunk - 1) / band_chunk, units = (rows + 31) / 32 * chunks;
  for (u64 unit = u64(blockIdx.x) * warps + threadIdx.x / 32; unit < units; unit += u64(gridDim.x) * warps) {
    const u32 first = u32(unit / chunks) * 32, from = u32(unit % chunks) * band_chunk;
    const u32 count = diagonals - from < band_chunk ? diagonals - from : band_chunk;
    const u32 full = c_full[first / 32], i = first + lane_id();
    if (full == 0) continue;
    for (u32 c = 0; c < count && full >> lane_id() & 1; c++) {
      const i32 diagonal = shifts[from + c];
      const u32 begin = starts[from + c], end = band_summed ? starts[from + c + 1] : begin + 1;
      C sum = values.term(x.pairs[begin], diagonal, i);
#pragma unroll 4
      for (u32 p = begin + 1; p < end; p++) sum = Semiring::add(sum, values.term(x.pairs[p], diagonal, i));
      if constexpr (band_staged) {
        tile[lane_id()][c] = sum;
      } else {
        const u64 to = c_offsets[i] + (from + c);
        c_indices[to] = i + diagonal;
        write_value(c_values, to, sum);
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
        write_value(c_values, to, tile[l][c]);
      }
    }
    __syncwarp();
  }
}

// The rows listed in gaps. Launch: as above; a warp a row, a lane a diagonal.
extern "C" __global__ void __launch_bounds__(tuning::band_block)
spgemm_band_others(OPLUS_BAND_OPERANDS, const u32* gaps, const u32* gap_count) {
  OPLUS_BAND_BODY
  const u64 warps = u64(gridDim.x) * (blockDim.x / 32);
  for (u64 g = u64(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32; g < *gap_count; g += warps) {
    const u32 i = gaps[g];
    u64 out = c_offsets[i];
    for (u32 o = lane_id(); o - lane_id() < diagonals; o += 32) {
      const i32 diagonal = o < diagonals ? shifts[o] : 0;
      bool has = false;
      C sum = C();
      for (u32 p = o < diagonals ? starts[o] : 0, end = o < diagonals ? starts[o + 1] : 0; p < end; p++) {
        const BandPair pair = x.pairs[p];
        if (!x.has(pair, i)) continue;
        const C term = values.term(pair, diagonal, i);
        sum = has ? Semiring::add(sum, term) : term;
        has = true;
        if (!band_summed) break;
      }
      const u32 there = __ballot_sync(full_warp, has);
      if (has) {
        const u64 to = out + __popc(there & lanes_below());
        c_indices[to] = i + diagonal;
        write_value(c_values, to, sum);
      }
      out += __popc(there);
    }
  }
}

}  // namespace oplus
