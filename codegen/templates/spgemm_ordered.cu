// The values of C = A ⊕.⊗ B or C⟨M⟩ = A ⊕.⊗ B at known positions, every sum in the order of k: bit-equal to a serial sum.
//
// A team takes the entries of a row of A one after the other and the row of B that each meets all at once; each product's
// place is searched for among the row's columns. What has no place was not admitted by the mask.
// Launch: 1-D blocks of tuning::primitive_block threads, any grid. `seen`: a bit an entry of C, zeroed.
#include "part/spgemm_factors.cuh"

namespace oplus {

#define OPLUS_ORDERED                                                                                                  \
  const u64 *a_offsets, const u32 *a_indices, const A *a_values, const u64 *b_offsets, const u32 *b_indices,           \
      const B *b_values, u32 columns, const u64 *i_ids, const u64 *k_ids, const u64 *j_ids, u64 rows, u32 most,        \
      const u64 *c_offsets, const u32 *c_indices, u32 *seen, C *c_values
#define OPLUS_ORDERED_BODY                                                                                             \
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {nullptr, nullptr}, columns};                    \
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};

// The products of A's entry a that are this thread's.
__device__ inline void add_in_place(const Operands& x, const Factors& factors, u64 row, u64 a, u32 thread, u32 threads,
                                    u64 from, u64 to, const u32* c_indices, u32* seen, C* c_values) {
  const u32 k = x.a.indices[a];
  const u64 end = x.b.offsets[k + 1];
  for (u64 b = x.b.offsets[k] + thread; b < end; b += threads) {
    const Loaded loaded = load_factors(factors, x, a, b);
    const u64 place = lower_bound<u32, u64>(c_indices, from, to, loaded.column);
    if (place == to || c_indices[place] != loaded.column) continue;
    const C term = multiply(factors, x, loaded, a, u32(row));
    const u32 bit = 1u << (place & 31);
    const bool again = atomicOr(&seen[place >> 5], bit) & bit;
    c_values[place] = again ? Semiring::add(c_values[place], term) : term;
  }
}

// Rows of C of at most `most` entries, a warp each.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block) spgemm_ordered_warps(OPLUS_ORDERED) {
  OPLUS_ORDERED_BODY
  const u64 warps = u64(gridDim.x) * (blockDim.x / 32);
  for (u64 row = u64(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32; row < rows; row += warps) {
    const u64 from = c_offsets[row], to = c_offsets[row + 1];
    if (from == to || to - from > most) continue;
    for (u64 a = a_offsets[row]; a < a_offsets[row + 1]; a++) {
      add_in_place(x, factors, row, a, lane_id(), 32, from, to, c_indices, seen, c_values);
      __syncwarp();
    }
  }
}

// The others, a block each.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block) spgemm_ordered_blocks(OPLUS_ORDERED) {
  OPLUS_ORDERED_BODY
  for (u64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const u64 from = c_offsets[row], to = c_offsets[row + 1];
    if (to - from <= most) continue;
    for (u64 a = a_offsets[row]; a < a_offsets[row + 1]; a++) {
      add_in_place(x, factors, row, a, threadIdx.x, blockDim.x, from, to, c_indices, seen, c_values);
      __syncthreads();
    }
  }
}

}  // namespace oplus
