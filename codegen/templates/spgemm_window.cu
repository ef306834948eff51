// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of at most number::width columns from first to last: a dense window a warp.
//
// Determinism: sums run in the order of k, bit-equal to a serial sum. See README.md for launches and sizes.
#include "part/spgemm_factors.cuh"
#include "part/spgemm_window.cuh"

namespace oplus {

// Blocks of a multiprocessor, which bounds registers: as many of narrow windows have room. Larger values take more registers.
constexpr u32 window_blocks = sizeof(C) > 8 ? 1 : flag::supernodes ? 8 : 10;

// Launch: 1-D blocks of whole warps, any grid, window_launch's shared bytes. `units`, `begin`: the counters' places in the
// control block. The row goes to out_offsets[row] on; its length to row_counts unless that is null. joined: with
// flag::supernodes, else unused. With flag::united no sum is 0. With flag::column_sets, where sums are constant, b_offsets, b_indices and sets are B's rows as such.
extern "C" __global__ void __launch_bounds__(tuning::window_block, window_blocks)
spgemm_window(const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,
              const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids,
              const u64* k_ids, const u64* j_ids, const u64* control, u32 units, u32 begin, const u32* list,
              const u32* first, const u32* last, const u64* out_offsets, u64* row_counts, u32* out_indices, Listed<flag::staged>::Type* out_values,
              const u32* joined, const u32* sets) {
  constexpr u32 batch = supernode_batch, most = supernode_most;
  constexpr bool summed = !Semiring::constant && needs_all;
  constexpr u32 values = Semiring::constant ? 0 : rounded(u32(number::width) * sizeof(C));
  constexpr u32 bytes = rounded(number::width) + values + sizeof(WarpProducts);
  static_assert(bytes == shared_bytes::window, "");
  static_assert(!flag::column_sets || (Semiring::constant && !flag::masked), "sets have no values, and a mask is looked up column by column");
  DYN_SHARED(unsigned char, shared);
  unsigned char* mine = shared + threadIdx.x / 32 * bytes;
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices, joined, nullptr, 0, sets}, {m_offsets, m_indices}, columns};
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};
  WarpProducts* scratch = reinterpret_cast<WarpProducts*>(mine);
  C* sums = reinterpret_cast<C*>(mine + sizeof(WarpProducts));
  // Numbers of products, which are written as another type, are added in any order, and tell which columns there are: no sum of another
  // constant does, as it may wrap to 0. Sets of columns are united so, none of which is empty.
  constexpr bool counts = SameType<C, u32>::value && !SameType<C, Written>::value && Semiring::value_free && Semiring::atomic == atomic_add;
  constexpr bool in_place = counts || flag::united;
  static_assert(!flag::united || (SameType<C, u32>::value && Semiring::atomic == atomic_or), "bits of sets");
  typedef SeenAs<in_place>::Type Seen;
  const Window<Seen> window = {reinterpret_cast<Seen*>(mine + sizeof(WarpProducts) + (in_place ? 0 : values))};
  const u64 n = control[units], from = control[begin], warps = blockDim.x / 32;
  for (u64 u = blockIdx.x * warps + threadIdx.x / 32; u < n; u += gridDim.x * warps) {
    const u32 row = list[from + u], base = first[row], span = last[row] - base + 1;
    if constexpr (flag::column_sets) {
      const u32 low = base & ~31u;
      const BitWindow marks = {reinterpret_cast<u32*>(window.seen)};
      marks.mark<tuning::symbolic_batch>(x, row, low, last[row], scratch);
      const u64 out = out_offsets[row];
      const u32 count = marks.for_seen(last[row] - low + 1, [&](u32 at, u32 rank) {
        out_indices[out + rank] = low + at;
        write_constant(out_values, out + rank);
      });
      if (row_counts && lane_id() == 0) row_counts[row] = count;
      __syncwarp();
      continue;
    }
    window.clear(span);
    Joined<most> factor[batch];
    window_products<batch, !(in_place || Semiring::constant)>(
        x, row, scratch,
        [&](const Batch<batch>& p) {
#pragma unroll
          for (u32 t = 0; t < batch; t++) {
            if (p.active[t]) load_joined(factor[t], factors, p, t);
          }
        },
        [&](const Batch<batch>& p, u32 t, u32 column) {
          const u32 at = column - base;
          if constexpr (in_place) {
            C term;
            add_joined(&term, true, factors, x, factor[t], p, t, column, row);
            add_in_place<flag::united>(&sums[at], term);
            return;
          }
          if constexpr (!Semiring::constant) {
            const bool seen = window.seen[at];
            if (summed || !seen) add_joined(&sums[at], !seen, factors, x, factor[t], p, t, column, row);
          }
          window.seen[at] = 1;
        });
    const u64 out = out_offsets[row];
    const u32 count = window.for_seen(span, [&](u32 at, u32 rank) {
      out_indices[out + rank] = base + at;
      if constexpr (Semiring::constant) write_constant(out_values, out + rank);
      else write_value(out_values, out + rank, sums[at]);
    });
    if (row_counts && lane_id() == 0) row_counts[row] = count;
    __syncwarp();
  }
}

}  // namespace oplus
