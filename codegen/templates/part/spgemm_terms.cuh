// The sums of sorted products: the terms of equal columns, one after the other.
#include "part/spgemm_esc.cuh"
#include "part/spgemm_factors.cuh"

namespace oplus {

// The sum of the products whose keys have the column of `key`, the first of them at i, of n sorted keys.
template <u32 WIDTH> __device__ inline C sum_equal(EscKeys<WIDTH> keys, const C* terms, u32 i, u32 key, u32 n) {
  if constexpr (Semiring::constant) {
    return Semiring::multiply(A(), B(), At{0, 0, 0});
  } else {
    C sum = terms[keys.source(key)];
    if constexpr (Semiring::terminal != terminal_always && Semiring::atomic != atomic_first) {
      for (u32 next = i + 1; next < n; next++) {
        const u32 other = keys.at(next);
        if (keys.column(other) != keys.column(key)) break;
        sum = Semiring::add(sum, terms[keys.source(other)]);
      }
    }
    return sum;
  }
}

}  // namespace oplus
