// f16 and bf16: what is stored. Every operation is one of f32, rounded to the nearest (even) once; so it is in Rust, in
// `oplus::algebra::half`. Sums are made in f32 (`widen`). No header of CUDA's is needed.
#include "portable.cuh"

namespace oplus {

// An f64 as an f32 that rounds on like the f64 itself: cut, its last bit set where anything was cut off.
__device__ inline f32 round_to_odd(f64 x) {
  const f32 nearest = f32(x);
  if (x != x || f64(nearest) == x) return nearest;
  const u32 bits = bit_cast<u32>(nearest);
  return f32_bits((abs(f64(nearest)) > abs(x) ? bits - 1 : bits) | 1u);
}

// An integer as an f64 that rounds on like the integer itself: of more than 53 bits the lowest ones become one that says
// whether any was set.
__device__ inline f64 cut_to_odd(u64 x) {
  const u64 low = x & 0x7ffu;
  return f64(x >> 53 ? (x - low) | u64(low != 0) << 11 : x);
}

#ifdef OPLUS_EMULATOR
__device__ inline u16 f32_to_f16(f32 x) {
  const u32 bits = bit_cast<u32>(x), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return u16(sign | 0x7fffu);
  if (size >= 0x477ff000u) return u16(sign | 0x7c00u);
  // Below 2^-14 the sum's last bit is that of the result.
  if (size < 0x38800000u) return u16(sign | (bit_cast<u32>(f32_bits(size) + 0.5f) - 0x3f000000u));
  return u16(sign | ((size + 0xfffu + (size >> 13 & 1u) - 0x38000000u) >> 13));
}
__device__ inline f32 f16_to_f32(u16 x) {
  const u32 sign = u32(x & 0x8000u) << 16, size = x & 0x7fffu;
  if (size >= 0x7c00u) return f32_bits(sign | 0x7f800000u | (size & 0x3ffu) << 13);
  if (size < 0x400u) return f32_bits(sign | bit_cast<u32>(f32(size) * f32_bits(0x33800000u)));
  return f32_bits(sign | ((size << 13) + 0x38000000u));
}
#else
__device__ inline u16 f32_to_f16(f32 x) {
  u16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
__device__ inline f32 f16_to_f32(u16 x) {
  f32 y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}
#endif
__device__ inline u16 f32_to_bf16(f32 x) {
  const u32 bits = bit_cast<u32>(x);
  return x != x ? u16(bits >> 16 | 0x40u) : u16((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
__device__ inline f32 bf16_to_f32(u16 x) { return f32_bits(u32(x) << 16); }

#define OPLUS_HALF(T)                                                                                           \
  struct T {                                                                                                    \
    u16 bits;                                                                                                   \
    T() = default;                                                                                              \
    __device__ T(f32 x) : bits(f32_to_##T(x)) {}                                                                \
    explicit __device__ T(f64 x) : bits(f32_to_##T(round_to_odd(x))) {}                                         \
    explicit __device__ T(u64 x) : T(cut_to_odd(x)) {}                                                          \
    explicit __device__ T(i64 x) : T(x < 0 ? -cut_to_odd(0 - u64(x)) : cut_to_odd(u64(x))) {}                   \
    template <class From> explicit __device__ T(From x) : T(f64(x)) {}                                          \
    __device__ operator f32() const { return T##_to_f32(bits); }                                                \
  };                                                                                                            \
  template <> struct Number<T> {                                                                                \
    static constexpr bool is_float = true, is_signed = true;                                                    \
  };                                                                                                            \
  __device__ inline T T##_bits(u16 bits) { return bit_cast<T>(bits); }                                          \
  __device__ inline f32 widen(T x) { return x; }                                                                \
  __device__ inline T abs(T x) { return T##_bits(x.bits & 0x7fffu); }                                           \
  __device__ inline T neg(T x) { return T##_bits(x.bits ^ 0x8000u); }                                           \
  template <class To> __device__ inline To cast(T x) {                                                          \
    if constexpr (SameType<To, T>::value) return x;                                                             \
    else return cast<To>(f32(x));                                                                               \
  }                                                                                                             \
  template <class From> __device__ inline T to_##T(From x) { return cast<T>(x); }
OPLUS_HALF(f16)
OPLUS_HALF(bf16)
#undef OPLUS_HALF

}  // namespace oplus
