// Entries accumulated into a bitmap where it lies: present[j] ? op(dense[j], t(j)) : t(j), where a mask admits. Deterministic, as no place
// has two entries. Launches: README.md.
#include "device/report.cuh"
#include "thread/given.cuh"

namespace oplus {

typedef function::op::Input0 Old;
typedef function::op::Input1 New;
static_assert(SameType<Old, New>::value && SameType<Old, function::op::Output>::value, "values are kept");

// `one`, the value of all entries with the flag of that name; the mask's bits are others than `present`. Told: how many are new.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
bitmap_update(u64 count, const u32* indices, const New* values, Given<New> one, const u32* mask, u32* present, Old* dense, u64* control,
              u32 said, u64* page, u64 number, u64 words) {
  __shared__ u64 place;
  const u64 e = u64(blockIdx.x) * tuning::primitive_block + threadIdx.x;
  bool added = false;
  if (e < count) {
    const u32 j = indices[e], bit = 1u << (j & 31);
    if (!flag::masked || ((mask[j >> 5] & bit) != 0) != flag::complement) {
      added = !(present[j >> 5] & bit);
      const New x = flag::one ? *one : values[e];
      if (added) atomicOr(&present[j >> 5], bit);
      dense[j] = added ? x : function::op::apply(dense[j], x);
    }
  }
  const u64 sum = u64(__syncthreads_count(added));
  if (threadIdx.x == 0 && sum > 0) atomicAdd(&control[0], sum);
  tell({page, number}, control, said, words, &place);
}

}  // namespace oplus
