// Columns and values of the merged entries that merge_count.cu marked; function::op where both have one. A filled union has
// it everywhere, with alpha and beta for what is missing; its entries are marked as a union's.
#include "part/merge.cuh"
#include "thread/rank.cuh"

namespace oplus {

typedef function::op::Input0 Left;
typedef function::op::Input1 Right;
typedef function::op::Output Result;

// The entry's value; an operand that has none is not read.
template <u64 KIND, class A, class B>
__device__ inline Result value_of(const A* a, const B* b, const A* alpha, const B* beta, u32 sources) {
  if constexpr (KIND == kind_filled) {
    return function::op::apply(sources & from_a ? *a : *alpha, sources & from_b ? *b : *beta);
  } else if constexpr (KIND != kind_intersection) {
    static_assert(SameType<A, Result>::value && SameType<B, Result>::value, "values are kept");
    if (sources == from_a) return *a;
    if (sources == from_b) return *b;
  }
  return function::op::apply(*a, *b);
}

// starts[w]: marks before word w.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 5)
merge_write(u64 total, const u64* a_offsets, const u32* a_indices, const Left* a_values, const u64* b_offsets,
            const u32* b_indices, const Right* b_values, const u64* a_splits, const u32* row_splits, const u32* words,
            const u64* starts, const u32* admitted, const Left* alpha, const Right* beta, u32* out_indices,
            Result* out_values) {
  __shared__ u64 keys[merge_keys];
  __shared__ u32 segments[merge_segments];
  __shared__ u64 scratch[34];
  __shared__ u32 found[entry_tile];  // 12 bits of A's entry, 12 of B's, the sources
  MergeTile tile = {keys, 0, 0, 0, 0};
  tile.load({a_offsets, a_indices}, {b_offsets, b_indices}, {a_splits, row_splits}, total, segments);
  const u64 first_word = u64(blockIdx.x) * merge_words, word = first_word + threadIdx.x / 4;
  const u32 shift = 8 * (threadIdx.x & 3), kept = words[word] >> shift & 255;
  u32 admits = 255;
  if constexpr (flag::masked) admits = admitted[word] >> shift;
  const Team<merge_block> team = {scratch};
  u32 n;
  u32 slot = team.exclusive_sum(u32(__popc(kept)), n);
  tile.walk([&](u32 t, u64, u32 i, u32 j, u32 sources) {
    if (!(kept >> t & 1)) return;
    if (!(admits >> t & 1)) sources = from_a;
    else if constexpr (number::kind == kind_overwrite) sources = from_b;
    found[slot++] = i | j << 12 | sources << 24;
  });
  __syncthreads();
  const u64 out = starts[first_word];
  for (u32 s = threadIdx.x; s < n; s += merge_block) {
    const u32 i = found[s] & 4095, j = found[s] >> 12 & 4095, sources = found[s] >> 24;
    out_indices[out + s] = u32(sources & from_a ? tile.a_key(i) : tile.b_key(j));
    out_values[out + s] = 
        value_of<number::kind>(a_values + tile.a0 + i, b_values + tile.b0 + j, alpha, beta, sources);
  }
}

}  // namespace oplus
