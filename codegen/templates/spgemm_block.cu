// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of many products: a block a row, sums in a dense window over its columns.
//
// Determinism: products are added in any order, which shows in floating ⊕ only. See README.md for launches and sizes.
#include "part/accumulate.cuh"
#include "part/spgemm_block.cuh"
#include "part/spgemm_factors.cuh"

namespace oplus {

// Launch: 1-D blocks of number::threads, any grid, block_bytes' shared bytes. `units`, `begin`, `tickets`: places in the
// control block. The row goes to out_offsets[row] on; its length to row_counts unless that is null.
extern "C" __global__ void __launch_bounds__(u32(number::threads))
spgemm_block(const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,
             const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids,
             const u64* k_ids, const u64* j_ids, u64* control, u32 units, u32 begin, u32 tickets, const u32* list,
             const u32* first, const u32* last, const u64* out_offsets, u64* row_counts, u32* out_indices, C* out_values) {
  constexpr u32 batch = tuning::numeric_batch, width = u32(number::width), threads = u32(number::threads);
  typedef BlockWindow<threads> Window;
  typedef Accumulator<Semiring, C, threads, width> Sums;
  constexpr u32 state = Semiring::constant ? 0 : rounded(Sums::state_words * 4);
  constexpr u32 values = Semiring::constant ? 0 : rounded(width * sizeof(C)), fixed = Window::fixed(width);
  static_assert(fixed + threads * 4 + state + values == shared_bytes::block, "");
  DYN_SHARED(unsigned char, shared);
  const Window window = {shared};
  u32* bases = reinterpret_cast<u32*>(shared + fixed);
  Sums sums = {window.team(), reinterpret_cast<C*>(shared + fixed + threads * 4 + state),
               reinterpret_cast<u32*>(shared + fixed + threads * 4)};
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};
  for_rows(window, list + control[begin], control[units], &control[tickets], [&](u32 row) {
    const u64 a_begin = a_offsets[row], a_end = a_offsets[row + 1], out = out_offsets[row];
    u32 count = 0;
    for_windows(row_range(row, columns, first, last), width, [&](Range r) {
      const u32 low = u32(r.low), words = u32((r.high - r.low + 31) / 32);
      window.clear(words);
      if constexpr (!Semiring::constant) sums.clear(words * 32);
      __syncthreads();
      if constexpr (!Semiring::constant && Sums::two_passes) {
        for_products<batch>(window.share(), a_indices, a_begin, a_end, x.b, r.low, r.high, r.partial, window.products(),
                            [&](const Batch<batch>& p) {
#pragma unroll
                              for (u32 t = 0; t < batch; t++) {
                                if (!p.active[t]) continue;
                                const u32 column = b_indices[p.b[t]];
                                if (admitted(x, row, column)) sums.claim(column - low, u32(p.a[t] - a_begin));
                              }
                            });
        __syncthreads();
      }
      for_products<batch>(window.share(), a_indices, a_begin, a_end, x.b, r.low, r.high, r.partial, window.products(),
                          [&](const Batch<batch>& p) {
                            Loaded loaded[batch];
#pragma unroll
                            for (u32 t = 0; t < batch; t++) {
                              if (p.active[t]) loaded[t] = load_factors(factors, x, p.a[t], p.b[t]);
                            }
#pragma unroll
                            for (u32 t = 0; t < batch; t++) {
                              if (!p.active[t] || !admitted(x, row, loaded[t].column)) continue;
                              const u32 at = loaded[t].column - low;
                              window.set(at);
                              if constexpr (!Semiring::constant) {
                                const C term = multiply(factors, x, loaded[t], p.a[t], row);
                                sums.put(true, at, term, u32(p.a[t] - a_begin), p.group[t], p.groups[t]);
                              }
                            }
                          });
      __syncthreads();
      count += window.for_seen(words, bases, [&](u32 at, u32 rank) {
        out_indices[out + count + rank] = low + at;
        if constexpr (Semiring::constant) out_values[out + count + rank] = Semiring::multiply(A(), B(), At{0, 0, 0});
        else out_values[out + count + rank] = sums.values[at];
      });
    });
    if (row_counts && threadIdx.x == 0) row_counts[row] = count;
  });
}

}  // namespace oplus
