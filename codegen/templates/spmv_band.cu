// y = A ⊕.⊗ x for A on at most 32 diagonals with an entry in each row, and x with a value at every place: a lane a row, diagonal by
// diagonal. Which diagonals a row has is known (band_diagonals.cu): columns are not read, and lanes read x side by side.
//
// With flag::vector_left the product is x(k) ⊗ A(i, k). Deterministic: sums run in the order of k, bit-equal to a serial sum.
#include "part/partial.cuh"
#include "part/spmv.cuh"
#include "thread/banks.cuh"
#include "thread/quad.cuh"
#include "warp/scan.cuh"

namespace oplus {

constexpr u32 band_warps = tuning::spmv_block / 32, band_batch = sizeof(C) <= 8 ? 4 : 2;
// Values of a warp's rows that shared memory has room for are read side by side.
constexpr bool band_staged = reads_matrix && sizeof(Matrix) <= 8;

// present: bit d of row i: it has diagonal d. shifts: j - i, ascending. y: a value a row. shared_bytes: README.md.
extern "C" __global__ void __launch_bounds__(tuning::spmv_block)
spmv_band(u64 rows, u64 count, u32 diagonals, const i32* shifts, const u32* present, const u64* offsets, const Matrix* values,
          const Vector* x, const u64* i_ids, const u64* k_ids, C* y) {
  DYN_SHARED(Matrix, space);
  const u32 lane = lane_id(), warp = threadIdx.x / 32;
  const u64 first = (u64(blockIdx.x) * band_warps + warp) * 32, row = first + lane;
  if (first >= rows) return;
  const u32 mine = row < rows ? present[row] : 0;
  const i32 shift = lane < diagonals ? shifts[lane] : 0;
  // The lane's first value, from `begin` on.
  u64 begin = 0;
  u32 next = 0;
  Matrix* const tile = space + warp * bank_place<Matrix>(32 * diagonals + 4);
  if constexpr (reads_matrix) {
    const u64 start = offsets[first], end = offsets[min(first + 32, rows)];
    begin = band_staged ? start & ~u64(3) : start;
    if constexpr (band_staged) {
      const u32 n = u32(end - begin);
#pragma unroll 2
      for (u32 i = 4 * lane; i < n; i += 128) {
        const Quad<Matrix> quad = quad_at(values, begin + i, count);
#pragma unroll
        for (u32 s = 0; s < 4; s++) tile[bank_place<Matrix>(i + s)] = quad.x[s];
      }
    }
    const u32 terms = __popc(mine);
    next = u32(start - begin) + warp_inclusive_sum(terms) - terms;
    __syncwarp();
  }
  const Ids ids = {i_ids, k_ids};
  C sum = C();
  bool has = false;
  for (u32 d = 0; d < diagonals; d += band_batch) {
    C term[band_batch];
#pragma unroll
    for (u32 s = 0; s < band_batch; s++) {
      const bool there = mine >> (d + s) & 1;
      // Without branches, that many loads are under way: where there is no entry, some other is read.
      const u32 k = u32(row) + u32(shuffle(shift, d + s));
      const u64 column = there ? k : 0;
      Matrix a = Matrix();
      if constexpr (band_staged) a = tile[bank_place<Matrix>(there ? next : 0)];
      else if constexpr (reads_matrix) a = values[there ? begin + next : 0];
      next += there;
      term[s] = product_of(a, reads_vector ? x[column] : Vector(), place_of(ids, there ? row : 0, column));
    }
#pragma unroll
    for (u32 s = 0; s < band_batch; s++) {
      if (!(mine >> (d + s) & 1)) continue;
      sum = !has ? term[s] : Join<Semiring>::first ? sum : Semiring::add(sum, term[s]);
      has = true;
    }
  }
  if (row < rows) y[row] = sum;
}

}  // namespace oplus
