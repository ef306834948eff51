// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of at most number::width products: expand, sort, contract, a block a row.
//
// As spgemm_esc, for rows that are too long for one warp: its warps sort runs in registers and merge them in shared memory.
// Determinism: sums run in the order of k, bit-equal to a serial sum. See README.md for launches and sizes.
#include "part/spgemm_sort.cuh"
#include "part/spgemm_terms.cuh"

namespace oplus {

// Launch: 1-D blocks of number::width / 8 threads, any grid, sort_launch's shared bytes. `units`, `begin`: places in the control
// block. Row r goes to out_offsets[r] on, its length to row_counts unless that is null.
extern "C" __global__ void __launch_bounds__(u32(number::width) / 8, 10240 / u32(number::width))
spgemm_sort(const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,
            const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids, const u64* k_ids,
            const u64* j_ids, const u64* control, u32 units, u32 begin, const u32* list, const u32* first, const u32* last,
            const u64* out_offsets, u64* row_counts, u32* out_indices, Listed<flag::staged>::Type* out_values) {
  constexpr u32 width = u32(number::width), batch = tuning::numeric_batch;
  typedef SortMemory<width> Memory;
  static_assert(Memory::fixed + (has_terms ? rounded(width * sizeof(C)) : 0) == shared_bytes::sort, "");
  DYN_SHARED(unsigned char, shared);
  const Memory memory = {shared};
  C* terms = reinterpret_cast<C*>(shared + Memory::fixed);
  const EscKeys<width> keys = memory.keys();
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};
  const u64 n = control[units], from = control[begin];
  for (u64 u = blockIdx.x; u < n; u += gridDim.x) {
    const u32 row = list[from + u], base = first[row];
    const u32 filled = memory.template for_numbered<batch>(x, row, [&](const Batch<batch>& p, const u32 (&number)[batch]) {
      Loaded loaded[batch];
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        if (p.active[t]) loaded[t] = load_factors(factors, x, p.a[t], p.b[t]);
      }
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        if (!p.active[t]) continue;
        const bool keep = admitted(x, row, loaded[t].column);
        keys.at(number[t]) = keep ? (loaded[t].column - base) * width + number[t] : keys.none;
        if constexpr (has_terms) {
          if (keep) terms[number[t]] = multiply(factors, x, loaded[t], p.a[t], row);
        }
      }
    });
    memory.sort(filled);
    const u32 count = memory.find_heads(filled);
    const u64 out = out_offsets[row];
    memory.list_begins(filled, count);
    for (u32 e = threadIdx.x; e < count; e += Memory::threads) {
      const u32 begin = memory.begins()[e], key = keys.at(begin);
      out_indices[out + e] = base + keys.column(key);
      write_sum<true>(out_values, out + e, keys, terms, begin, key, memory.begins()[e + 1]);
    }
    if (row_counts && threadIdx.x == 0) row_counts[row] = count;
    __syncthreads();
  }
}

}  // namespace oplus
