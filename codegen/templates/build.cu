// Duplicates of sorted triplets folded in the order of input: the end of a build.
#include "part/entries.cuh"

namespace oplus {

typedef function::fold F;
typedef F::Input0 V;

// Entry before[e] of the result for each e that is the first of its key: the fold of values[numbers[e ..]] while the key
// lasts. Launch: ceil(n / block) blocks of tuning::primitive_block threads.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
build_fold(u64 n, const u64* keys, const u32* numbers, const u64* before, const V* values, u32* indices_out, V* values_out) {
  const u64 e = global_thread();
  if (e >= n || before[e + 1] == before[e]) return;
  const u64 key = keys[e];
  V sum = values[numbers[e]];
  for (u64 next = e + 1; next < n && keys[next] == key; next++) sum = F::apply(sum, values[numbers[next]]);
  indices_out[before[e]] = u32(key);
  values_out[before[e]] = sum;
}

}  // namespace oplus
