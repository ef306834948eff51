// A walk over marked entries, in tiles: a warp has consecutive ones, its lanes side by side.
#include "device/rows.cuh"
#include "warp/shuffle.cuh"

namespace oplus {

// f(e, o) for the marked entries e of the block's tile, the o-th of all marked; with words null every one of the n is.
// starts[w]: marks before word w. Blocks of tuning::primitive_block threads, ceil(n / entry_tile) of them.
template <class F> __device__ inline void for_marked(u64 n, const u32* words, const u64* starts, F f) {
  constexpr u32 items = tuning::entry_items;
  static_assert(items <= 32, "a lane reads a word");
  const u64 first = u64(blockIdx.x) * entry_tile + threadIdx.x / 32 * (32 * items);
  if (first >= n) return;
  const u64 mine = first / 32 + min(lane_id(), items - 1);
  const bool inside = mine * 32 < n;
  const u32 my_word = words && inside ? words[mine] : 0;
  const u64 my_start = words && inside ? starts[mine] : 0;
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    const u64 e = first + t * 32 + lane_id();
    const u32 word = words ? shuffle(my_word, t) : ~0u;
    const u64 o = words ? shuffle(my_start, t) + __popc(word & lanes_below()) : e;
    if (e < n && (word >> lane_id() & 1)) f(e, o);
  }
}

}  // namespace oplus
