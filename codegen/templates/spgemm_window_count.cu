// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of at most number::width columns from first to last: how many each has. Any
// semiring. Deterministic. See README.md for launches and sizes.
#include "part/spgemm_window.cuh"

namespace oplus {

// Launch: 1-D blocks of whole warps, any grid, window_launch's shared bytes. `units`, `begin`: the counters' places in the
// control block. row_counts[row] = entries of the row. joined: with flag::supernodes, else unused. With flag::column_sets b_offsets,
// b_indices and sets are B's rows as such.
extern "C" __global__ void __launch_bounds__(tuning::window_block)
spgemm_window_count(const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices,
                    const u64* m_offsets, const u32* m_indices, u32 columns, const u64* control, u32 units, u32 begin,
                    const u32* list, const u32* first, const u32* last, u64* row_counts, const u32* joined, const u32* sets) {
  constexpr u32 batch = tuning::symbolic_batch, bytes = rounded(number::width) + sizeof(WarpProducts);
  static_assert(bytes == shared_bytes::window, "");
  DYN_SHARED(unsigned char, shared);
  unsigned char* mine = shared + threadIdx.x / 32 * bytes;
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices, joined, nullptr, 0, sets}, {m_offsets, m_indices}, columns};
  WarpProducts* scratch = reinterpret_cast<WarpProducts*>(mine);
  const Window<unsigned char> window = {mine + sizeof(WarpProducts)};
  const u64 n = control[units], from = control[begin], warps = blockDim.x / 32;
  for (u64 u = blockIdx.x * warps + threadIdx.x / 32; u < n; u += gridDim.x * warps) {
    const u32 row = list[from + u];
    u32 count;
    if constexpr (flag::column_sets) {
      const u32 low = first[row] & ~31u;
      const BitWindow marks = {reinterpret_cast<u32*>(window.seen)};
      marks.mark<batch>(x, row, low, last[row], scratch);
      count = marks.for_seen(last[row] - low + 1, [](u32, u32) {});
    } else {
      const u32 base = first[row], span = last[row] - base + 1;
      window.clear(span);
      window_products<batch, false>(x, row, scratch, [](const Batch<batch>&) {},
                             [&](const Batch<batch>&, u32, u32 column) { window.seen[column - base] = 1; });
      count = window.for_seen(span, [](u32, u32) {});
    }
    if (lane_id() == 0) row_counts[row] = count;
    __syncwarp();
  }
}

}  // namespace oplus
