// op(a, b) of two operands with the same entries, place by place: values alone. One that has a single value for all entries
// (flags left_one, right_one) is given by that. Deterministic. Launches: README.md.
#include "part/entries.cuh"
#include "thread/given.cuh"

namespace oplus {

typedef function::op::Input0 Left;
typedef function::op::Input1 Right;
typedef function::op::Output Result;

extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
pair_apply(u64 n, const Left* __restrict__ left, const Right* __restrict__ right, Given<Left> left_one, Given<Right> right_one,
           Result* __restrict__ out) {
  const Entries<Left> a = {n, 0, nullptr, nullptr, left};
  for_entries<!flag::left_one, false, false>(a, [&](u64 e, bool inside, const Left& x, u32, u32) {
    if (inside) out[e] = function::op::apply(flag::left_one ? *left_one : x, flag::right_one ? *right_one : right[e]);
  });
}

}  // namespace oplus
