// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of many products, their number of columns known: a block a row.
//
// The columns are marked as bits; a product is added at the rank of its bit, which is its place in the row: in shared
// memory while the row is short enough, else in C itself. For semirings whose sums may be pre-set (Exact) or are constant.
// Determinism: products are added in any order, which shows in floating ⊕ only. See README.md for launches and sizes.
#include "device/look_back.cuh"
#include "part/accumulate.cuh"
#include "part/spgemm_block.cuh"
#include "part/spgemm_factors.cuh"

namespace oplus {

// Where a row of `count` entries begins in C; told to whom it concerns. One warp calls.
__device__ inline u64 find_place(u32 count, u32 row, u64 rows, u64* state, u64* control, u64* c_offsets) {
  const u64 before = look_back(state, row, count);
  if (lane_id() == 0) {
    c_offsets[row] = before;
    if (u64(row) + 1 == rows) c_offsets[rows] = control[control_entries] = before + count;
  }
  return before;
}

// Launch: 1-D blocks of number::threads, any grid, block_bytes' shared bytes. `units`, `begin`, `tickets`: places in the
// control block. The row goes to c_offsets[row] on.
// flag::whole: all rows of A, of at most number::width columns; their number is not known before, C's offsets are found by
// look-back. Nothing is written past `capacity` entries; state: u64[rows] zeros; nnz(C) and the longest row's length to
// control[control_entries] and control[control_longest] (0 before). list, first, last are null.
extern "C" __global__ void __launch_bounds__(u32(number::threads), 1024 / u32(number::threads))
spgemm_block(const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,
             const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids,
             const u64* k_ids, const u64* j_ids, u64* control, u32 units, u32 begin, u32 tickets, const u32* list,
             const u32* first, const u32* last, u64* c_offsets, u32* c_indices, C* c_values, u64 rows, u64* state, u64 capacity) {
  constexpr u32 batch = tuning::numeric_batch, width = u32(number::width), threads = u32(number::threads);
  typedef BlockWindow<threads> Window;
  typedef Exact<Semiring, C> Sums;
  constexpr u32 room = Semiring::constant ? 0 : u32(number::bytes) / sizeof(C);
  constexpr u32 fixed = Window::fixed(width), bases_bytes = rounded(width / 32 * 4);
  static_assert(Semiring::constant || Sums::value, "sums that may be pre-set");
  static_assert(fixed + bases_bytes + rounded(room * sizeof(C)) == shared_bytes::block, "");
  DYN_SHARED(unsigned char, shared);
  const Window window = {shared};
  u32* bases = reinterpret_cast<u32*>(shared + fixed);
  C* near = reinterpret_cast<C*>(shared + fixed + bases_bytes);
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};
  __shared__ u64 place;
  u32 longest = 0;
  const u32* const mine = flag::whole ? nullptr : list + control[begin];
  for_rows(window, mine, flag::whole ? rows : control[units], &control[tickets], [&](u32 row) {
    const u64 a_begin = a_offsets[row], a_end = a_offsets[row + 1];
    u64 out = flag::whole ? 0 : c_offsets[row];
    const Range all = flag::whole ? Range{0, a_begin < a_end ? columns : 0u, false} : row_range(row, columns, first, last);
    if (flag::whole && all.high == 0 && threadIdx.x < 32) find_place(0, row, rows, state, control, c_offsets);
    for_windows(all, width, [&](Range r) {
      const u32 low = u32(r.low), words = u32((r.high - r.low + 31) / 32);
      mark_window(window, x, row, r);
      const u32 count = window.rank(words, bases);
      if constexpr (flag::whole) {
        if (threadIdx.x < 32) {
          const u64 before = find_place(count, row, rows, state, control, c_offsets);
          if (threadIdx.x == 0) place = before;
        }
        __syncthreads();
        out = place;
        if (count > longest) longest = count;
        if (out + count > capacity) return;
      }
      const bool is_near = count <= room;
      window.for_seen(words, count, bases, [&](u32 at, u32 rank) {
        c_indices[out + rank] = low + at;
        if constexpr (Semiring::constant) c_values[out + rank] = Semiring::multiply(A(), B(), At{0, 0, 0});
        else if (!is_near) c_values[out + rank] = Sums::start();
      });
      if constexpr (!Semiring::constant) {
        if (is_near) {
          for (u32 i = threadIdx.x; i < count; i += threads) near[i] = Sums::start();
        }
        __syncthreads();
        C* sums = is_near ? near : c_values + out;
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
                                const C term = multiply(factors, x, loaded[t], p.a[t], row);
                                combine<Semiring, C>(&sums[window.position(bases, loaded[t].column - low)], term);
                              }
                            });
        __syncthreads();
        if (is_near) {
          for (u32 i = threadIdx.x; i < count; i += threads) c_values[out + i] = near[i];
        }
      }
      __syncthreads();
      out += count;
    });
  });
  if (flag::whole && threadIdx.x == 0 && longest) atomicMax(&control[control_longest], u64(longest));
}

}  // namespace oplus
