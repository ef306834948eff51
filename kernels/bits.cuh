// Bits of integers, of `oplus::algebra::bits`: positions count from 1, none is out of range.
#include "portable.cuh"

namespace oplus {

template <class T> __device__ inline bool has_bit(T k) { return k >= T(1) && k <= T(8 * sizeof(T)); }
template <class T> __device__ inline T one_bit(T k) {
  return T(typename Number<T>::Wrapping(1) << (k - 1));
}
template <class T> __device__ inline T bit_get(T x, T k) { return has_bit(k) ? T((x >> (k - 1)) & 1) : T(0); }
template <class T> __device__ inline T bit_set(T x, T k) { return has_bit(k) ? T(x | one_bit(k)) : x; }
template <class T> __device__ inline T bit_clear(T x, T k) { return has_bit(k) ? T(x & ~one_bit(k)) : x; }
// To the right it is x / 2^-k rounded down: every compiler that there is shifts copies of the sign in.
template <class T> __device__ inline T bit_shift(T x, i8 k) {
  constexpr int bits = 8 * sizeof(T);
  if (k >= 0) return k < bits ? T(typename Number<T>::Wrapping(x) << k) : T(0);
  const int distance = -k < bits ? -k : bits;
  return T(T(x >> (distance - 1)) >> 1);
}

}  // namespace oplus
