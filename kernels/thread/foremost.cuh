// The least or the greatest of many floats of 8 bytes.
#include "portable.cuh"

namespace oplus {

// One comparison and two selections a term, where Monoid::add, which leaves NaN out and tells -0 from +0, is six to eight instructions.
// NaN is before none, and of equal zeros neither: what is not decided is to be added up again.
template <class Monoid, class T> struct Foremost {
  static constexpr bool least = Monoid::atomic == atomic_min;
  static constexpr bool pays = SameType<T, f64>::value && (least || Monoid::atomic == atomic_max);

  // Before no term.
  static __device__ T last() { return T(f64_bits(least ? 0x7ff0000000000000ull : 0xfff0000000000000ull)); }
  static __device__ bool before(T x, T y) { return least ? x < y : x > y; }
  static __device__ T nearer(T x, T y) { return before(x, y) ? x : y; }
  // Whether x, the nearest of some terms and `last`, is what they add up to.
  static __device__ bool decided(T x) { return x != last() && x != T(0); }
};

}  // namespace oplus
