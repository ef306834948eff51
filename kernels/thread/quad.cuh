// Four values side by side, read in one piece where their size allows it.
#include "portable.cuh"

namespace oplus {

template <class X> constexpr u32 quad_bytes = sizeof(X) <= 2 || sizeof(X) == 4 ? 4 * sizeof(X) : sizeof(X) % 8 == 0 ? 16 : alignof(X);
template <class X> struct alignas(quad_bytes<X>) Quad {
  X x[4];
};

// values[e] to values[e + 3], e a multiple of 4, of `count` in all, and `none` behind them; `values` as memory is allocated.
template <class X, class I> __device__ inline Quad<X> quad_or(const X* values, I e, I count, X none) {
  if (e + 4 <= count) return *reinterpret_cast<const Quad<X>*>(values + e);
  Quad<X> q;
#pragma unroll
  for (u32 s = 0; s < 4; s++) q.x[s] = e + s < count ? values[e + s] : none;
  return q;
}
template <class X> __device__ inline Quad<X> quad_at(const X* values, u64 e, u64 count) { return quad_or<X, u64>(values, e, count, X()); }

// Four words of shared memory, from a multiple of four on, while other threads may write them: each is as it was before or after. Not a
// race, as a read of 16 bytes in the language would be.
__device__ inline Quad<u32> quad_of_shared(const u32* words) {
#ifdef OPLUS_EMULATOR
  return *reinterpret_cast<const Quad<u32>*>(words);
#else
  Quad<u32> q;
  const u32 place = u32(__cvta_generic_to_shared(words));
  asm volatile("ld.relaxed.cta.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(q.x[0]), "=r"(q.x[1]), "=r"(q.x[2]), "=r"(q.x[3])
               : "r"(place)
               : "memory");
  return q;
#endif
}

}  // namespace oplus
