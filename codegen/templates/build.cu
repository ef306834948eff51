// Triplets of one position folded by function::op in input order. Launches: README.md.
#include "thread/rank.cuh"
#include "warp/shuffle.cuh"

namespace oplus {

typedef function::op::Output T;

// Longer runs are read by a warp, which folds them in the same order.
constexpr u32 build_alone = 16;

// keys sorted, places their positions in `values`; words marks the first of equal keys, starts[w] the marks before word w.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
build_fold(u64 n, const u64* keys, const u32* places, const u32* words, const u64* starts, u32 bits, const T* values,
           u32* out_indices, T* out_values) {
  const u64 e = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool first = e < n && is_marked(words, e);
  u64 next = e + 1;
  T sum = T();
  if (first) {
    sum = values[places[e]];
    for (u32 k = 1; k < build_alone && next < n && !is_marked(words, next); k++, next++) {
      sum = function::op::apply(sum, values[places[next]]);
    }
  }
  u32 unfinished = __ballot_sync(full_warp, first && next < n && !is_marked(words, next));
  while (unfinished) {
    const u32 owner = u32(__ffs(int(unfinished))) - 1;
    unfinished &= unfinished - 1;
    T run = shuffle(sum, owner);
    u64 at = shuffle(next, owner);
    for (u32 count = 32; count == 32; at += 32) {
      const bool inside = at + lane_id() < n && !is_marked(words, at + lane_id());
      const T mine = inside ? values[places[at + lane_id()]] : T();
      const u32 outside = __ballot_sync(full_warp, !inside);
      count = outside ? u32(__ffs(int(outside))) - 1 : 32;
      for (u32 k = 0; k < count; k++) run = function::op::apply(run, shuffle(mine, k));
    }
    if (lane_id() == owner) sum = run;
  }
  if (first) {
    const u64 o = rank(words, starts, e);
    out_indices[o] = u32(keys[e] & ((1ull << bits) - 1));
    out_values[o] = sum;
  }
}

}  // namespace oplus
