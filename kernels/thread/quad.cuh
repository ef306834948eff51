// Four values side by side, read in one piece where their size allows it.
#include "portable.cuh"

namespace oplus {

template <class X> constexpr u32 quad_bytes = sizeof(X) <= 2 || sizeof(X) == 4 ? 4 * sizeof(X) : sizeof(X) % 8 == 0 ? 16 : alignof(X);
template <class X> struct alignas(quad_bytes<X>) Quad {
  X x[4];
};

// values[e] to values[e + 3], e a multiple of 4, of `count` in all; `values` as memory is allocated.
template <class X> __device__ inline Quad<X> quad_at(const X* values, u64 e, u64 count) {
  if (e + 4 <= count) return *reinterpret_cast<const Quad<X>*>(values + e);
  Quad<X> q;
#pragma unroll
  for (u32 s = 0; s < 4; s++) q.x[s] = e + s < count ? values[e + s] : X();
  return q;
}

}  // namespace oplus
