// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of at most number::width products: expand, sort, contract, a warp a row.
//
// After Dalton, Olson, Bell, "Optimizing sparse matrix-matrix multiplication for the GPU" (10.1145/2699470): products in
// shared memory, sorted in registers on as many bits as the row's span of columns needs, summed run by run.
// Determinism: sums run in the order of k, bit-equal to a serial sum. See README.md for launches and sizes.
#include "part/spgemm_esc.cuh"
#include "part/spgemm_factors.cuh"

namespace oplus {

// Launch: 1-D blocks of tuning::esc_block threads, any grid, esc_launch's shared bytes. `units`, `begin`: the counters'
// places in the control block. The row goes to out_offsets[row] on; its length to row_counts unless that is null.
extern "C" __global__ void __launch_bounds__(tuning::esc_block)
spgemm_esc(const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,
           const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids, const u64* k_ids,
           const u64* j_ids, const u64* control, u32 units, u32 begin, const u32* list, const u32* first,
           const u32* last, const u64* out_offsets, u64* row_counts, u32* out_indices, C* out_values) {
  constexpr u32 width = u32(number::width), batch = tuning::numeric_batch, warps = tuning::esc_block / 32;
  constexpr bool summed = !Semiring::constant && Semiring::terminal != terminal_always && Semiring::atomic != atomic_first;
  constexpr u32 values = Semiring::constant ? 0 : rounded(width * sizeof(C));
  constexpr u32 bytes = EscKeys<width>::bytes + values + sizeof(WarpProducts);
  static_assert(bytes * warps == shared_bytes::esc, "");
  DYN_SHARED(unsigned char, shared);
  unsigned char* mine = shared + threadIdx.x / 32 * bytes;
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};
  WarpProducts* scratch = reinterpret_cast<WarpProducts*>(mine);
  C* terms = reinterpret_cast<C*>(mine + sizeof(WarpProducts));
  const EscKeys<width> keys = {reinterpret_cast<u32*>(mine + sizeof(WarpProducts) + values)};
  const u64 n = control[units], from = control[begin];
  for (u64 u = u64(blockIdx.x) * warps + threadIdx.x / 32; u < n; u += u64(gridDim.x) * warps) {
    const u32 row = list[from + u], base = first[row];
    A a[batch];
    B b[batch];
    const u32 filled = expand<width, batch>(
        x, row, base, keys, scratch,
        [&](const Batch<batch>& p) {
#pragma unroll
          for (u32 t = 0; t < batch; t++) {
            if (Semiring::reads_a && p.active[t]) a[t] = a_values[p.a[t]];
            if (Semiring::reads_b && p.active[t]) b[t] = b_values[p.b[t]];
          }
        },
        [&](const Batch<batch>& p, u32 t, u32 column, u32 i) {
          if constexpr (!Semiring::constant) {
            terms[i] = multiply(factors, x, loaded(a[t], b[t], column), p.a[t], row);
          }
        });
    keys.sort(filled);
    const u64 out = out_offsets[row];
    const u32 count = keys.for_sorted(filled, [&](u32 i, u32 key, bool head, u32 rank) {
      if (!head) return;
      out_indices[out + rank] = base + keys.column(key);
      if constexpr (Semiring::constant) {
        out_values[out + rank] = Semiring::multiply(A(), B(), At{0, 0, 0});
      } else {
        C sum = terms[keys.source(key)];
        if constexpr (summed) {
          for (u32 next = i + 1; next < filled; next++) {
            const u32 other = keys.at(next);
            if (keys.column(other) != keys.column(key)) break;
            sum = Semiring::add(sum, terms[keys.source(other)]);
          }
        }
        out_values[out + rank] = sum;
      }
    });
    if (row_counts && lane_id() == 0) row_counts[row] = count;
    __syncwarp();
  }
}

}  // namespace oplus
