// What a kernel sees when the host's C++ compiler compiles it: CUDA's keywords, built-in variables and intrinsics.
// A CUDA thread is a fiber (fiber.cpp), a block runs under a random seeded schedule (block.cpp).
#pragma once
// Every kernel is compiled with this before it: the C++ library's headers would take longer than most kernels.
#include <stddef.h>
#include <stdint.h>

extern "C" {
#define EMU_UNARY(name)          \
  float name##f(float) noexcept; \
  double name(double) noexcept;
EMU_UNARY(sqrt)
EMU_UNARY(exp)
EMU_UNARY(log)
EMU_UNARY(sin)
EMU_UNARY(cos)
EMU_UNARY(tan)
EMU_UNARY(sinh)
EMU_UNARY(cosh)
EMU_UNARY(tanh)
EMU_UNARY(ceil)
EMU_UNARY(floor)
EMU_UNARY(round)
EMU_UNARY(trunc)
EMU_UNARY(exp2)
EMU_UNARY(expm1)
EMU_UNARY(log2)
EMU_UNARY(log10)
EMU_UNARY(log1p)
EMU_UNARY(asin)
EMU_UNARY(acos)
EMU_UNARY(atan)
EMU_UNARY(asinh)
EMU_UNARY(acosh)
EMU_UNARY(atanh)
EMU_UNARY(cbrt)
EMU_UNARY(erf)
EMU_UNARY(erfc)
EMU_UNARY(lgamma)
EMU_UNARY(tgamma)
#undef EMU_UNARY
#define EMU_BINARY(name)                \
  float name##f(float, float) noexcept; \
  double name(double, double) noexcept;
EMU_BINARY(pow)
EMU_BINARY(atan2)
EMU_BINARY(hypot)
EMU_BINARY(fmod)
EMU_BINARY(remainder)
EMU_BINARY(copysign)
#undef EMU_BINARY
float frexpf(float, int*) noexcept;
double frexp(double, int*) noexcept;
float ldexpf(float, int) noexcept;
double ldexp(double, int) noexcept;
float fmaf(float, float, float) noexcept;
double fma(double, double, double) noexcept;
}
#ifndef EMU_RUNTIME
inline float sqrt(float x) { return sqrtf(x); }
#endif

#define OPLUS_EMULATOR 1
// nvrtc.cpp defines it to find kernels that macros make.
#ifndef EMU_GLOBAL
#define EMU_GLOBAL
#endif
#define __global__ EMU_GLOBAL
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __constant__ static const
// In a section of its own, which is poisoned before each block. GCC's sanitizer puts its red zones there too (nvrtc.cpp
// asks for it); others want arrays where they know them.
#if defined(__SANITIZE_ADDRESS__) && defined(__clang__)
#define __shared__ static
#else
#define __shared__ static __attribute__((section("emu_shared")))
#endif
#define DYN_SHARED(T, name) T* name = static_cast<T*>(emu_dynamic_shared)

struct uint3 { unsigned x = 0, y = 0, z = 0; };
struct dim3 { unsigned x = 1, y = 1, z = 1; };

enum emu_warp_op { emu_shfl, emu_ballot, emu_sync, emu_match, emu_add, emu_min, emu_max, emu_and, emu_or, emu_xor };
extern "C" {
struct emu_thread { uint3 index; unsigned lane, warp, linear; };
extern emu_thread* emu_current;
extern uint3 emu_block;
extern dim3 emu_block_dim, emu_grid_dim;
extern void* emu_dynamic_shared;
// All live threads of the block arrive; returns how many had `predicate`, of `live`.
int emu_barrier(int predicate, int* live, const char* site);
// All live lanes of `mask` arrive with one operation; the result of this lane comes back in place of `value`.
uint64_t emu_warp(unsigned mask, emu_warp_op op, uint64_t value, unsigned source, const char* site);
// A point at which another thread may go on; counts against the step limit.
void emu_step(const char* site);
// Whether p lies in device memory, neither shared nor a thread's own.
bool emu_in_memory(const void* p);
}
#define threadIdx (emu_current->index)
#define blockIdx emu_block
#define blockDim emu_block_dim
#define gridDim emu_grid_dim
static const int warpSize = 32;

#define EMU_TEXT_(x) #x
#define EMU_TEXT(x) EMU_TEXT_(x)
#define EMU_SITE __FILE__ ":" EMU_TEXT(__LINE__)
#define __syncthreads() ((void)emu_barrier(0, nullptr, EMU_SITE))
#define __syncthreads_count(p) emu_barrier((p) != 0, nullptr, EMU_SITE)
#define __syncthreads_or(p) (emu_barrier((p) != 0, nullptr, EMU_SITE) != 0)
#define __syncthreads_and(p) ([&] { int live_, n_ = emu_barrier((p) != 0, &live_, EMU_SITE); return int(n_ == live_); }())

template <class T> inline uint64_t emu_bits(T v) {
  static_assert(sizeof(T) <= 8, "warp operations move up to 8 bytes");
  uint64_t b = 0;
  __builtin_memcpy(&b, &v, sizeof v);
  return b;
}
template <class T> inline T emu_value(uint64_t b) {
  T v;
  __builtin_memcpy(&v, &b, sizeof v);
  return v;
}
template <class T> inline T emu_shuffle(unsigned m, T v, int source, const char* site) {
  return emu_value<T>(emu_warp(m, emu_shfl, emu_bits(v), unsigned(source), site));
}
inline int emu_lane() { return int(emu_current->lane); }
template <class T> inline T emu_shfl_idx(const char* s, unsigned m, T v, int from, int w = 32) {
  return emu_shuffle(m, v, (emu_lane() & ~(w - 1)) + (from & (w - 1)), s);
}
template <class T> inline T emu_shfl_up(const char* s, unsigned m, T v, unsigned d, int w = 32) {
  const int l = emu_lane(), from = l - int(d);
  return emu_shuffle(m, v, from < (l & ~(w - 1)) ? l : from, s);
}
template <class T> inline T emu_shfl_down(const char* s, unsigned m, T v, unsigned d, int w = 32) {
  const int l = emu_lane(), from = l + int(d);
  return emu_shuffle(m, v, from >= (l & ~(w - 1)) + w ? l : from, s);
}
template <class T> inline T emu_shfl_xor(const char* s, unsigned m, T v, int x, int w = 32) {
  const int l = emu_lane(), from = l ^ x;
  return emu_shuffle(m, v, from >= (l & ~(w - 1)) + w ? l : from, s);
}
#define __shfl_sync(...) emu_shfl_idx(EMU_SITE, __VA_ARGS__)
#define __shfl_up_sync(...) emu_shfl_up(EMU_SITE, __VA_ARGS__)
#define __shfl_down_sync(...) emu_shfl_down(EMU_SITE, __VA_ARGS__)
#define __shfl_xor_sync(...) emu_shfl_xor(EMU_SITE, __VA_ARGS__)
#define __ballot_sync(m, p) unsigned(emu_warp((m), emu_ballot, int(p) != 0, 0, EMU_SITE))
#define __any_sync(m, p) int(emu_warp((m), emu_ballot, int(p) != 0, 0, EMU_SITE) != 0)
#define __all_sync(m, p) int(emu_warp((m), emu_ballot, !int(p), 0, EMU_SITE) == 0)
inline void emu_syncwarp(const char* site, unsigned m = 0xffffffffu) { emu_warp(m, emu_sync, 0, 0, site); }
#define EMU_COMMA_SITE(...) EMU_SITE __VA_OPT__(,) __VA_ARGS__
#define __syncwarp(...) emu_syncwarp(EMU_COMMA_SITE(__VA_ARGS__))
#define __match_any_sync(m, v) unsigned(emu_warp((m), emu_match, emu_bits(v), 0, EMU_SITE))
// Sign decides which of the orders min and max take; it travels as the source.
#define __reduce_add_sync(m, v) emu_reduce(EMU_SITE, (m), emu_add, (v))
#define __reduce_min_sync(m, v) emu_reduce(EMU_SITE, (m), emu_min, (v))
#define __reduce_max_sync(m, v) emu_reduce(EMU_SITE, (m), emu_max, (v))
#define __reduce_and_sync(m, v) emu_reduce(EMU_SITE, (m), emu_and, (v))
#define __reduce_or_sync(m, v) emu_reduce(EMU_SITE, (m), emu_or, (v))
#define __reduce_xor_sync(m, v) emu_reduce(EMU_SITE, (m), emu_xor, (v))
template <class T> inline T emu_reduce(const char* site, unsigned m, emu_warp_op op, T v) {
  static_assert(sizeof(T) == 4, "CUDA reduces 32-bit integers");
  constexpr bool is_signed = T(-1) < T(0);
  return T(emu_warp(m, op, is_signed ? uint64_t(int64_t(v)) : uint64_t(v), is_signed, site));
}
inline unsigned __activemask() { return 0xffffffffu; }

// A parameter from which T is not deduced.
template <class T> struct emu_same { typedef T type; };

// Atomics: only one fiber runs at a time; each is a point where another may go on.
#define EMU_ATOMIC(name, new_value)                               \
  template <class T> inline T emu_##name(const char* site, T* p, typename emu_same<T>::type v) { \
    emu_step(site);                                               \
    const T old = *p;                                             \
    *p = new_value;                                               \
    return old;                                                   \
  }
EMU_ATOMIC(atomicAdd, T(old + v))
// In device memory it takes subnormal floats for zeros and leaves zeros in their place (PTX ISA, atom).
inline float emu_flushed(float x) { return __builtin_fabsf(x) < __FLT_MIN__ ? __builtin_copysignf(0.0f, x) : x; }
inline float emu_atomicAdd(const char* site, float* p, float v) {
  emu_step(site);
  const float old = *p;
  *p = emu_in_memory(p) ? emu_flushed(emu_flushed(old) + emu_flushed(v)) : old + v;
  return old;
}
EMU_ATOMIC(atomicSub, T(old - v))
EMU_ATOMIC(atomicMin, (v < old ? v : old))
EMU_ATOMIC(atomicMax, (old < v ? v : old))
EMU_ATOMIC(atomicAnd, T(old & v))
EMU_ATOMIC(atomicOr, T(old | v))
EMU_ATOMIC(atomicXor, T(old ^ v))
EMU_ATOMIC(atomicExch, v)
template <class T>
inline T emu_atomicCAS(const char* site, T* p, typename emu_same<T>::type expected, typename emu_same<T>::type v) {
  emu_step(site);
  const T old = *p;
  if (old == expected) *p = v;
  return old;
}
#define atomicAdd(...) emu_atomicAdd(EMU_SITE, __VA_ARGS__)
#define atomicSub(...) emu_atomicSub(EMU_SITE, __VA_ARGS__)
#define atomicMin(...) emu_atomicMin(EMU_SITE, __VA_ARGS__)
#define atomicMax(...) emu_atomicMax(EMU_SITE, __VA_ARGS__)
#define atomicAnd(...) emu_atomicAnd(EMU_SITE, __VA_ARGS__)
#define atomicOr(...) emu_atomicOr(EMU_SITE, __VA_ARGS__)
#define atomicXor(...) emu_atomicXor(EMU_SITE, __VA_ARGS__)
#define atomicExch(...) emu_atomicExch(EMU_SITE, __VA_ARGS__)
#define atomicCAS(...) emu_atomicCAS(EMU_SITE, __VA_ARGS__)
#define atomicAdd_block atomicAdd
#define atomicMin_block atomicMin
#define atomicMax_block atomicMax
#define atomicOr_block atomicOr
#define atomicAnd_block atomicAnd
#define atomicXor_block atomicXor
#define atomicExch_block atomicExch
#define atomicCAS_block atomicCAS

template <class T> inline T __ldg(const T* p) { return *p; }
template <class T> inline T __ldcg(const T* p) { return *p; }
template <class T> inline T __ldcs(const T* p) { return *p; }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) { emu_step("__nanosleep"); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; i++) r |= (x >> i & 1u) << (31 - i);
  return r;
}
inline unsigned __umulhi(unsigned x, unsigned y) { return unsigned((uint64_t(x) * y) >> 32); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)(((unsigned __int128)x * y) >> 64);
}
inline float __int_as_float(int x) { return emu_value<float>(emu_bits(x)); }
inline int __float_as_int(float x) { return emu_value<int>(emu_bits(x)); }
inline float __uint_as_float(unsigned x) { return emu_value<float>(emu_bits(x)); }
inline unsigned __float_as_uint(float x) { return emu_value<unsigned>(emu_bits(x)); }
inline double __longlong_as_double(long long x) { return emu_value<double>(emu_bits(x)); }
inline long long __double_as_longlong(double x) { return emu_value<long long>(emu_bits(x)); }
inline long long clock64() { return 0; }

// The entry a launch calls: arguments by address, as cuLaunchKernel has them.
template <size_t... I> struct emu_places {};
template <size_t N, size_t... I> struct emu_first : emu_first<N - 1, N - 1, I...> {};
template <size_t... I> struct emu_first<0, I...> { typedef emu_places<I...> type; };
template <class... A, size_t... I> inline void emu_apply(void (*k)(A...), void** a, emu_places<I...>) { k(*static_cast<A*>(a[I])...); }
template <class... A> inline void emu_call(void (*k)(A...), void** a) { emu_apply(k, a, typename emu_first<sizeof...(A)>::type{}); }
