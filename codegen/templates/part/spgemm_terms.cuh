// The sums of sorted products: the terms of equal columns, one after the other.
#include "part/spgemm_esc.cuh"
#include "part/spgemm_factors.cuh"

namespace oplus {

// The sum of the products whose keys have the column of `key`, the first of them at i, of n sorted keys, to its place. ENDS: these are
// all from there on.
template <bool ENDS, u32 WIDTH, class T>
__device__ inline void write_sum(T* values, u64 place, EscKeys<WIDTH> keys, const C* terms, u32 i, u32 key, u32 n) {
  if constexpr (Semiring::constant) {
    write_constant(values, place);
  } else {
    const auto term = [&](u32 key) {
      if constexpr (has_terms) return terms[keys.source(key)];
      else return the_term();
    };
    C sum = term(key);
    if constexpr (Semiring::terminal != terminal_always && Semiring::atomic != atomic_first) {
      for (u32 next = i + 1; next < n; next++) {
        const u32 other = ENDS && !has_terms ? key : keys.at(next);
        if (!ENDS && keys.column(other) != keys.column(key)) break;
        sum = Semiring::add(sum, term(other));
      }
    }
    write_value(values, place, sum);
  }
}

}  // namespace oplus
