// Two values as the left and the right one.
#include "portable.cuh"

namespace oplus {

// f(x, y), if SWAPPED f(y, x). f takes any types: the order that is not meant need not compile, as neither value may become the other.
template <bool SWAPPED, class F, class X, class Y> __device__ inline auto in_order(F f, const X& x, const Y& y) {
  if constexpr (SWAPPED) return f(y, x);
  else return f(x, y);
}

}  // namespace oplus
