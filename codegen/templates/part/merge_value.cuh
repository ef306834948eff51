// What an operator makes of two entries that meet, or of one that meets none.
#include "part/merge.cuh"
#include "thread/given.cuh"

namespace oplus {

// A's entries that B has, and those that it has not; B has no values.
constexpr u32 kind_within = 5, kind_without = 6;

typedef function::op::Input0 Left;
typedef function::op::Input1 Right;
typedef function::op::Output Result;

// The entry's value; an operand that has none is not looked at.
template <u64 KIND, class A, class B>
__device__ inline Result value_of(const A& a, const B& b, const Given<A>& alpha, const Given<B>& beta, bool has_a, bool has_b) {
  if constexpr (KIND == kind_within || KIND == kind_without) {
    return a;
  } else if constexpr (KIND == kind_filled) {
    return function::op::apply(has_a ? a : *alpha, has_b ? b : *beta);
  } else {
    if constexpr (KIND != kind_intersection) {
      static_assert(SameType<A, Result>::value && SameType<B, Result>::value, "values are kept");
      if (!has_b) return a;
      if (!has_a) return b;
    }
    return function::op::apply(a, b);
  }
}

}  // namespace oplus
