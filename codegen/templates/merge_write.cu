// Columns and values of the merged entries that merge_count.cu marked; function::op where both have one. A filled union has
// it everywhere, with alpha and beta for what is missing; its entries are marked as a union's.
//
// Which side an entry is from says where it stands there: so many of A's come before it, the others are B's. A warp has
// consecutive entries, its lanes side by side.
#include "part/merge.cuh"
#include "thread/rank.cuh"
#include "warp/scan.cuh"

namespace oplus {

typedef function::op::Input0 Left;
typedef function::op::Input1 Right;
typedef function::op::Output Result;

// The entry's value; an operand that has none is not looked at.
template <u64 KIND, class A, class B>
__device__ inline Result value_of(const A& a, const B& b, const A* alpha, const B* beta, bool has_a, bool has_b) {
  if constexpr (KIND == kind_filled) {
    return function::op::apply(has_a ? a : *alpha, has_b ? b : *beta);
  } else if constexpr (KIND != kind_intersection) {
    static_assert(SameType<A, Result>::value && SameType<B, Result>::value, "values are kept");
    if (!has_b) return a;
    if (!has_a) return b;
  }
  return function::op::apply(a, b);
}

// So many entries a thread are read before one is written: who reads one after the other waits for each.
constexpr u32 write_bytes = sizeof(Left) + sizeof(Right);
constexpr u32 write_batch = write_bytes <= 8 ? merge_items : write_bytes <= 16 ? 4 : write_bytes <= 32 ? 2 : 1;

// starts[w]: marks before word w. total is not 0.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, write_bytes <= 16 ? 4 : 1)
merge_write(u64 total, const u32* a_indices, const Left* a_values, const u32* b_indices, const Right* b_values,
            const u64* a_splits, const u32* words, const u64* starts, const u32* sides, const u32* pairs,
            const u32* admitted, const Left* alpha, const Right* beta, u32* out_indices, Result* out_values) {
  const u32 warp = threadIdx.x / 32, lane = lane_id();
  const u64 begin = u64(blockIdx.x) * entry_tile, first_word = u64(blockIdx.x) * merge_words, mine = begin + warp * 32 * merge_items;
  if (mine >= total) return;
  // A's entries of the tile before the warp's.
  u32 before = 0;
  for (u32 w = lane; w < warp * merge_items; w += 32) before += u32(__popc(sides[first_word + w]));
  const u64 first_a = a_splits[blockIdx.x] + warp_sum(before), first_b = mine - first_a;
  const u64 word = first_word + warp * merge_items + min(lane, merge_items - 1);
  const u32 my_words = words[word], my_sides = sides[word], my_pairs = pairs[word];
  const u32 my_admitted = flag::masked ? admitted[word] : ~0u;
  const u64 my_starts = starts[word], first_out = shuffle(my_starts, 0);
  const u32 my_place = u32(my_starts - first_out);
  // All of the warp's from here on are counted from its first.
  u32 i = 0;
#pragma unroll
  for (u32 low = 0; low < merge_items; low += write_batch) {
    u32 out[write_batch], column[write_batch], keeps = 0, has_a = 0, has_b = 0;
    Left left[write_batch];
    Right right[write_batch];
#pragma unroll
    for (u32 s = 0; s < write_batch; s++) {
      const u32 t = low + s;
      const u32 kept = shuffle(my_words, t), side = shuffle(my_sides, t), pair = shuffle(my_pairs, t);
      const u32 admit = flag::masked ? shuffle(my_admitted, t) : ~0u;
      out[s] = shuffle(my_place, t) + __popc(kept & lanes_below());
      const u32 a = i + __popc(side & lanes_below()), b = t * 32 + lane - a;
      i += __popc(side);
      if (!(kept >> lane & 1)) continue;
      const bool is_a = side >> lane & 1;
      bool of_a = is_a, of_b = !is_a || (pair >> lane & 1);
      if (!(admit >> lane & 1)) of_b = false;
      else if (number::kind == kind_overwrite) of_a = false;
      keeps |= 1u << s;
      has_a |= u32(of_a) << s;
      has_b |= u32(of_b) << s;
      column[s] = is_a ? a_indices[first_a + a] : b_indices[first_b + b];
      if (of_a) left[s] = a_values[first_a + a];
      if (of_b) right[s] = b_values[first_b + b];
    }
#pragma unroll
    for (u32 s = 0; s < write_batch; s++) {
      if (!(keeps >> s & 1)) continue;
      out_indices[first_out + out[s]] = column[s];
      out_values[first_out + out[s]] = value_of<number::kind>(left[s], right[s], alpha, beta, has_a >> s & 1, has_b >> s & 1);
    }
  }
}

}  // namespace oplus
