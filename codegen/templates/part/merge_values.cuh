// The values of merged entries.
#include "part/merge.cuh"

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

}  // namespace oplus
