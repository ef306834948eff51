// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of many products: how many columns each has. Any semiring. Deterministic.
// See README.md for launches and sizes.
#include "part/spgemm_block.cuh"

namespace oplus {

// Sets the bits of rows of B that have a slot, which these lanes of the warp know: the row of slot s is bits[(s - 1) * stride] on. All
// words of the window's `words` that are the part-th of `parts`.
template <class Window>
__device__ inline void set_rows(const Window& window, u32 words, const u32* bits, u64 stride, u32 lanes, u32 slot, u32 part, u32 parts) {
  constexpr u32 batch = 4;
  for (u32 first = part * 32; first < words; first += parts * 32) {
    const u32 w = first + lane_id();
    u32 all = 0;
    for (u32 left = lanes; left;) {
      u32 word[batch];
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        word[t] = 0;
        if (!left) continue;
        const u64 row = shuffle(slot, __ffs(left) - 1) - 1;
        left &= left - 1;
        if (w < words) word[t] = bits[row * stride + w];
      }
#pragma unroll
      for (u32 t = 0; t < batch; t++) all |= word[t];
    }
    if (all) window.set_word(w, all);
  }
}

// Launch: 1-D blocks of number::threads, any grid, block_bytes' shared bytes. `units`, `begin`, `tickets`: places in the
// control block. row_counts[row] = entries of the row. flag::far: rows may have more than number::width columns. saved:
// u32[row_words] a row of the list for its bits, or null.
// flag::split: there is `saved`, and rows of many products are split among up to `parts` blocks. states: u32 a row of the list, zero
// before and after. joined: with flag::supernodes, else unused. row_slots, row_bits, least: with flag::row_bits the rows of B of
// `least` entries (or sets) and more, as bits. With flag::column_sets b_offsets, b_indices and sets are B's rows as such.
extern "C" __global__ void __launch_bounds__(u32(number::threads), 1536 / u32(number::threads))
spgemm_block_count(const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices,
                   const u64* m_offsets, const u32* m_indices, u32 columns, u64* control, u32 units, u32 begin, u32 tickets,
                   const u32* list, const u32* products, const u32* first, const u32* last, u64* row_counts, u32* saved,
                   u32* states, u32 row_words, u32 parts, const u32* joined, const u32* sets, const u32* row_slots,
                   const u32* row_bits, u32 least) {
  constexpr u32 width = u32(number::width), walk = supernode_walk | (flag::row_bits ? u32(walk_bits) : 0);
  static_assert(!(flag::row_bits && flag::masked), "bits of rows know no mask");
  typedef BlockWindow<u32(number::threads), flag::split> Window;
  static_assert(Window::fixed(width) == shared_bytes::block, "");
  static_assert(width < 1u << 26, "as for_products is told");
  DYN_SHARED(unsigned char, shared);
  const Window window = {shared};
  const SavedBits bits = {saved, states, row_words};
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices, joined, row_slots, least, sets}, {m_offsets, m_indices}, columns};
  for_rows(window, DrawnRows::of(list, control, units, begin), flag::split ? parts : 1, &control[tickets], [&](RowPart part) {
    const Range all = row_range(part.row, columns, first, last);
    const u32 of = flag::split ? parts_of(parts, products[part.row], all, width) : 1;
    if (flag::split && part.number >= of) return;
    u32 count = 0;
    for_windows(all, width, [&](Range r) {
      const u32 words = u32((r.high - r.low + 31) / 32);
      const auto take = [&](u32 lanes, u32 slot, u32 number, u32 numbers) {
        set_rows(window, words, row_bits + r.low / 32, (u64(columns) + 31) / 32, lanes, slot, number, numbers);
      };
      mark_window<walk>(window, x, part.row, part.begin(a_offsets, of), part.end(a_offsets, of), r, take);
      if (of == 1) count += window.count(words);
      if (!saved) return;
      volatile u32* const kept = bits.at(part.place, all, r);
      if (!flag::split || part.number == 0) {
        for (u32 i = threadIdx.x; i < words; i += Window::threads) kept[i] = window.bits()[i];
        if (of > 1) bits.let_others_begin(part.place);
      } else {
        bits.wait_for_first(part.place);
        for (u32 i = threadIdx.x; i < words; i += Window::threads) {
          const u32 word = window.bits()[i];
          if (word & ~kept[i]) atomicOr(const_cast<u32*>(&kept[i]), word);
        }
      }
      if (of > 1 && bits.end_part(part.place, of, window.counters() + 1)) {
        u32 mine = 0;
        for (u32 i = threadIdx.x; i < words; i += Window::threads) mine += __popc(kept[i]);
        count = window.team().sum(mine);
        if (threadIdx.x == 0) row_counts[part.row] = count;
      }
    });
    if (of == 1 && threadIdx.x == 0) row_counts[part.row] = count;
  });
}

}  // namespace oplus
