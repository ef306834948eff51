// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of at most number::width products, a block a row: how many columns each has. Any semiring.
// Deterministic. See README.md for launches and sizes.
#include "part/spgemm_sort.cuh"

namespace oplus {

// Launch: 1-D blocks of number::width / 8 threads, any grid, sort_launch's shared bytes. `units`, `begin`: the counters'
// places in the control block. row_counts[row] = entries of the row.
extern "C" __global__ void __launch_bounds__(u32(number::width) / 8)
spgemm_sort_count(const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices,
                  const u64* m_offsets, const u32* m_indices, u32 columns, const u64* control, u32 units, u32 begin,
                  const u32* list, const u32* first, const u32* last, u64* row_counts) {
  constexpr u32 width = u32(number::width), batch = tuning::symbolic_batch;
  typedef SortMemory<width> Memory;
  static_assert(Memory::fixed == shared_bytes::sort, "");
  DYN_SHARED(unsigned char, shared);
  const Memory memory = {shared};
  const EscKeys<width> keys = memory.keys();
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const u64 n = control[units], from = control[begin];
  for (u64 u = blockIdx.x; u < n; u += gridDim.x) {
    const u32 row = list[from + u], base = first[row];
    const u32 filled = memory.template for_numbered<batch>(x, row, [&](const Batch<batch>& p, const u32 (&number)[batch]) {
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        if (!p.active[t]) continue;
        const u32 column = x.b.indices[p.b[t]];
        keys.at(number[t]) = admitted(x, row, column) ? (column - base) * width + number[t] : keys.none;
      }
    });
    memory.sort(filled);
    const u32 count = memory.find_heads(filled);
    if (threadIdx.x == 0) row_counts[row] = count;
    __syncthreads();
  }
}

}  // namespace oplus
