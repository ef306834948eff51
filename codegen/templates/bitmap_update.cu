// Entries accumulated into a bitmap where it lies: present[p] ? op(dense[p], t) : t for the place p of an entry, where a mask admits.
// Deterministic, as no place has two entries. Launches: README.md.
#include "device/report.cuh"
#include "device/rows.cuh"
#include "thread/given.cuh"

namespace oplus {

typedef function::op::Input0 Old;
typedef function::op::Input1 New;
static_assert(SameType<Old, New>::value && SameType<Old, function::op::Output>::value, "values are kept");

// Of a vector, whose mask's bits are others than `present`; or with flag `rows` of a matrix with a place for every cell, row by row,
// whose mask is compressed rows, or bits of its cells with `cells`. Null `present`: all places have an entry; null `dense`: they have one value, which stays. `one`, the value of all entries with the flag of that name.
// Told: how many are new.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
bitmap_update(u64 count, u64 rows, u64 columns, const u64* offsets, const u32* indices, const New* values, Given<New> one,
              const u64* mask_offsets, const u32* mask, u32* present, Old* dense, u64* control, u32 said, u64* page, u64 number, u64 words) {
  __shared__ u64 place;
  const u64 e = u64(blockIdx.x) * tuning::primitive_block + threadIdx.x;
  bool added = false;
  if (e < count) {
    const u32 j = indices[e], row = flag::rows ? row_of(offsets, 0, u32(rows - 1), e) : 0;
    const u64 p = flag::rows ? row * columns + j : j;
    bool admitted = true;
    if constexpr (flag::masked && flag::rows && !flag::cells) {
      const u64 end = mask_offsets[u64(row) + 1], at = lower_bound<u32, u64>(mask, mask_offsets[row], end, j);
      admitted = (at < end && mask[at] == j) != flag::complement;
    } else if constexpr (flag::masked) {
      admitted = (mask[p >> 5] >> (p & 31) & 1) != flag::complement;
    }
    if (admitted) {
      const u32 bit = 1u << (p & 31);
      added = present && !(present[p >> 5] & bit);
      const New x = flag::one ? *one : values[e];
      if (added) atomicOr(&present[p >> 5], bit);
      if (dense) dense[p] = added ? x : function::op::apply(dense[p], x);
    }
  }
  const u64 sum = u64(__syncthreads_count(added));
  if (threadIdx.x == 0 && sum > 0) atomicAdd(&control[0], sum);
  tell({page, number}, control, said, words, &place);
}

}  // namespace oplus
