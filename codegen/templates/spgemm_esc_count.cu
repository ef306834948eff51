// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of at most number::width products: how many columns each has. Any semiring.
// Deterministic. See README.md for launches and sizes.
#include "part/spgemm_esc.cuh"

namespace oplus {

// Launch: 1-D blocks of tuning::esc_block threads, any grid, esc_launch's shared bytes. `units`, `begin`: the counters'
// places in the control block. row_counts[row] = entries of the row.
extern "C" __global__ void __launch_bounds__(tuning::esc_block)
spgemm_esc_count(const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices,
                 const u64* m_offsets, const u32* m_indices, u32 columns, const u64* control, u32 units, u32 begin,
                 const u32* list, const u32* first, const u32* last, u64* row_counts) {
  constexpr u32 width = u32(number::width), batch = tuning::symbolic_batch, warps = tuning::esc_block / 32;
  constexpr u32 bytes = EscKeys<width>::bytes + sizeof(WarpProducts);
  static_assert(bytes * warps == shared_bytes::esc, "");
  DYN_SHARED(unsigned char, shared);
  unsigned char* mine = shared + threadIdx.x / 32 * bytes;
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  WarpProducts* scratch = reinterpret_cast<WarpProducts*>(mine);
  const EscKeys<width> keys = {reinterpret_cast<u32*>(mine + sizeof(WarpProducts))};
  const u64 n = control[units], from = control[begin];
  for (u64 u = u64(blockIdx.x) * warps + threadIdx.x / 32; u < n; u += u64(gridDim.x) * warps) {
    const u32 row = list[from + u];
    const u32 filled = expand<width, batch>(x, row, first[row], keys, scratch, [](const Batch<batch>&) {},
                                            [](const Batch<batch>&, u32, u32, u32) {});
    const u32 count = keys.template sort_and_find<false>(filled).all();
    if (lane_id() == 0) row_counts[row] = count;
    __syncwarp();
  }
}

}  // namespace oplus
