// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of many products: how many columns each has. Any semiring. Deterministic.
// See README.md for launches and sizes.
#include "part/spgemm_block.cuh"

namespace oplus {

// Launch: 1-D blocks of number::threads, any grid, block_bytes' shared bytes. `units`, `begin`, `tickets`: places in the
// control block. row_counts[row] = entries of the row. saved: u32[row_words] a row of the list for its bits, or null.
extern "C" __global__ void __launch_bounds__(u32(number::threads), 1536 / u32(number::threads))
spgemm_block_count(const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices,
                   const u64* m_offsets, const u32* m_indices, u32 columns, u64* control, u32 units, u32 begin, u32 tickets,
                   const u32* list, const u32* first, const u32* last, u64* row_counts, u32* saved, u32 row_words) {
  constexpr u32 width = u32(number::width);
  typedef BlockWindow<u32(number::threads)> Window;
  static_assert(Window::fixed(width) == shared_bytes::block, "");
  DYN_SHARED(unsigned char, shared);
  const Window window = {shared};
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  for_rows(window, list + control[begin], control[units], &control[tickets], [&](u32 row, u32 at) {
    u32 count = 0;
    const Range all = row_range(row, columns, first, last);
    for_windows(all, width, [&](Range r) {
      const u32 words = u32((r.high - r.low + 31) / 32);
      mark_window(window, x, row, r);
      count += window.count(words);
      if (saved) {
        u32* const kept = SavedBits{saved, row_words}.at(at, all, r);
        for (u32 i = threadIdx.x; i < words; i += Window::threads) kept[i] = window.bits()[i];
      }
    });
    if (threadIdx.x == 0) row_counts[row] = count;
  });
}

}  // namespace oplus
