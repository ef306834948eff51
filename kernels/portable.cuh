// Types and the portable functions: the same names and the same meaning as in Rust (`oplus::portable`).
//
// Integers wrap unless the name says `_sat`; casts are Rust's `as` (floats saturate, NaN gives 0); `min` and `max` leave
// NaN out and hold -0 < +0. Everything is in a namespace: CUDA has its own global `min`, `max`, `abs`.
#ifndef DYN_SHARED
#define DYN_SHARED(T, name)                                   \
  extern __shared__ __align__(16) unsigned char dyn_shared[]; \
  T* name = reinterpret_cast<T*>(dyn_shared)
#endif

namespace oplus {

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;

// Where a product stands: C(i, j) += A(i, k) * B(k, j).
struct At {
  u64 i, k, j;
};

template <class To, class From> __device__ inline To bit_cast(From x) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast keeps the size");
  union U {
    From from;
    To to;
    __device__ U() {}
  } u;
  u.from = x;
  return u.to;
}
__device__ inline f32 f32_bits(u32 x) { return bit_cast<f32>(x); }
__device__ inline f64 f64_bits(u64 x) { return bit_cast<f64>(x); }

template <class P> struct Complex;  // complex.cuh
struct f16;                         // half.cuh
struct bf16;

template <class T> struct Number;  // no arithmetic on bool or structs
#define OPLUS_INTEGER(T, U, W, SIGNED, MIN, MAX)                             \
  template <> struct Number<T> {                                             \
    typedef U Wrapping; /* unsigned, so that overflow is defined */          \
    typedef W Wide;     /* holds sums and products, for up to 32 bits */     \
    static constexpr bool is_float = false, is_signed = SIGNED;              \
    static constexpr T smallest = MIN, largest = MAX;                        \
  };
OPLUS_INTEGER(u8, u32, i64, false, 0, 0xff)
OPLUS_INTEGER(u16, u32, i64, false, 0, 0xffff)
OPLUS_INTEGER(u32, u32, u64, false, 0, 0xffffffffu)
OPLUS_INTEGER(u64, u64, u64, false, 0, 0xffffffffffffffffull)
OPLUS_INTEGER(i8, u32, i64, true, -0x7f - 1, 0x7f)
OPLUS_INTEGER(i16, u32, i64, true, -0x7fff - 1, 0x7fff)
OPLUS_INTEGER(i32, u32, i64, true, -0x7fffffff - 1, 0x7fffffff)
OPLUS_INTEGER(i64, u64, i64, true, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll)
#undef OPLUS_INTEGER
template <> struct Number<f32> {
  static constexpr bool is_float = true, is_signed = true;
};
template <> struct Number<f64> {
  static constexpr bool is_float = true, is_signed = true;
};

template <class T, class U> struct SameType {
  static constexpr bool value = false;
};
template <class T> struct SameType<T, T> {
  static constexpr bool value = true;
};

// Named constants.
template <class T> __device__ inline T zero() { return T(0); }
template <class T> __device__ inline T one() { return T(1); }
template <class T> __device__ inline T infinity() {
  if constexpr (sizeof(T) <= 4) return f32_bits(0x7f800000u);
  else return f64_bits(0x7ff0000000000000ull);
}
// Largest finite number, as Rust's T::MAX.
template <class T> __device__ inline T max_value() {
  if constexpr (!Number<T>::is_float) return Number<T>::largest;
  else if constexpr (sizeof(T) == 4) return f32_bits(0x7f7fffffu);
  else return f64_bits(0x7fefffffffffffffull);
}
template <class T> __device__ inline T min_value() {
  if constexpr (!Number<T>::is_float) return Number<T>::smallest;
  else if constexpr (sizeof(T) == 4) return f32_bits(0xff7fffffu);
  else return f64_bits(0xffefffffffffffffull);
}

template <class T> __device__ inline T select(bool c, T yes, T no) { return c ? yes : no; }
template <class T> __device__ inline bool eq(T x, T y) { return x == y; }
template <class T> __device__ inline bool ne(T x, T y) { return x != y; }
template <class T> __device__ inline bool lt(T x, T y) { return x < y; }
template <class T> __device__ inline bool le(T x, T y) { return x <= y; }
template <class T> __device__ inline bool gt(T x, T y) { return x > y; }
template <class T> __device__ inline bool ge(T x, T y) { return x >= y; }
template <class T> __device__ inline bool is_nan(T x) { return x != x; }

template <class T> __device__ inline T add(T x, T y) {
  if constexpr (Number<T>::is_float) return x + y;
  else return T(typename Number<T>::Wrapping(x) + typename Number<T>::Wrapping(y));
}
template <class T> __device__ inline T sub(T x, T y) {
  if constexpr (Number<T>::is_float) return x - y;
  else return T(typename Number<T>::Wrapping(x) - typename Number<T>::Wrapping(y));
}
template <class T> __device__ inline T mul(T x, T y) {
  if constexpr (Number<T>::is_float) return x * y;
  else return T(typename Number<T>::Wrapping(x) * typename Number<T>::Wrapping(y));
}
// x / 0 is 0 for x = 0 and the largest or smallest number by the sign of x; smallest / -1 wraps.
template <class T> __device__ inline T div(T x, T y) {
  if constexpr (Number<T>::is_float) return x / y;
  else {
    if (y == 0) return x == 0 ? T(0) : x > 0 ? Number<T>::largest : Number<T>::smallest;
    if constexpr (Number<T>::is_signed) {
      if (y == T(-1)) return sub(T(0), x);
    }
    return T(x / y);
  }
}
template <class T> __device__ inline T neg(T x) {
  if constexpr (Number<T>::is_float) return -x;
  else return sub(T(0), x);
}
template <class T> __device__ inline T abs(T x) {
  if constexpr (SameType<T, f32>::value) return f32_bits(bit_cast<u32>(x) & 0x7fffffffu);
  else if constexpr (SameType<T, f64>::value) return f64_bits(bit_cast<u64>(x) & 0x7fffffffffffffffull);
  else return x < T(0) ? neg(x) : x;
}

template <class T> __device__ inline T clamp_wide(typename Number<T>::Wide x) {
  typedef typename Number<T>::Wide W;
  return x > W(Number<T>::largest) ? Number<T>::largest : x < W(Number<T>::smallest) ? Number<T>::smallest : T(x);
}
template <class T> __device__ inline T add_sat(T x, T y) {
  if constexpr (Number<T>::is_float) return x + y;
  else if constexpr (sizeof(T) < 8) return clamp_wide<T>(typename Number<T>::Wide(x) + typename Number<T>::Wide(y));
  else {
    const T sum = add(x, y);
    if constexpr (!Number<T>::is_signed) return sum < x ? Number<T>::largest : sum;
    else return ((x ^ sum) & (y ^ sum)) < 0 ? (x < 0 ? Number<T>::smallest : Number<T>::largest) : sum;
  }
}
template <class T> __device__ inline T sub_sat(T x, T y) {
  if constexpr (Number<T>::is_float) return x - y;
  else if constexpr (!Number<T>::is_signed) return x < y ? T(0) : T(x - y);
  else if constexpr (sizeof(T) < 8) return clamp_wide<T>(typename Number<T>::Wide(x) - typename Number<T>::Wide(y));
  else {
    const T d = sub(x, y);
    return ((x ^ y) & (x ^ d)) < 0 ? (x < 0 ? Number<T>::smallest : Number<T>::largest) : d;
  }
}
// Saturating sums in which the largest (smallest) integer is infinite and stays so; floats as IEEE has it.
template <class T> __device__ inline T add_top(T x, T y) {
  if constexpr (Number<T>::is_float) return x + y;
  else return x == Number<T>::largest || y == Number<T>::largest ? Number<T>::largest : add_sat(x, y);
}
template <class T> __device__ inline T add_bottom(T x, T y) {
  if constexpr (Number<T>::is_float) return x + y;
  else return x == Number<T>::smallest || y == Number<T>::smallest ? Number<T>::smallest : add_sat(x, y);
}
__device__ inline u64 high_product(u64 x, u64 y) {
#ifdef OPLUS_EMULATOR
  return u64((unsigned __int128)x * y >> 64);
#else
  return __umul64hi(x, y);
#endif
}
template <class T> __device__ inline T mul_sat(T x, T y) {
  if constexpr (Number<T>::is_float) return x * y;
  else if constexpr (sizeof(T) < 8) return clamp_wide<T>(typename Number<T>::Wide(x) * typename Number<T>::Wide(y));
  else if constexpr (!Number<T>::is_signed) return high_product(x, y) ? Number<T>::largest : T(x * y);
  else {
    const bool negative = (x < 0) != (y < 0);
    const u64 p = u64(abs(x)), q = u64(abs(y)), low = p * q;
    const u64 limit = negative ? 0x8000000000000000ull : 0x7fffffffffffffffull;
    if (high_product(p, q) || low > limit) return negative ? Number<T>::smallest : Number<T>::largest;
    return negative ? T(0 - low) : T(low);
  }
}

template <class T> __device__ inline T inv(T x) { return div(T(1), x); }
// x as a term of a sum.
template <class T> __device__ inline T widen(T x) { return x; }
template <class T> __device__ inline bool truth(T x) { return x != T(0); }

template <class T> __device__ inline bool is_negative(T x) {
  if constexpr (sizeof(T) == 2) return bit_cast<u16>(x) >> 15;
  else if constexpr (sizeof(T) == 4) return bit_cast<u32>(x) >> 31;
  else return bit_cast<u64>(x) >> 63;
}
template <class T> __device__ inline T min(T x, T y) {
  if constexpr (Number<T>::is_float) {
#ifdef OPLUS_EMULATOR
    if (x != x) return y;
    return y < x || (y == x && is_negative(y)) ? y : x;
#else
    if constexpr (sizeof(T) <= 4) return ::fminf(x, y);
    else return ::fmin(x, y);
#endif
  } else return y < x ? y : x;
}
template <class T> __device__ inline T max(T x, T y) {
  if constexpr (Number<T>::is_float) {
#ifdef OPLUS_EMULATOR
    if (x != x) return y;
    return x < y || (y == x && is_negative(x)) ? y : x;
#else
    if constexpr (sizeof(T) <= 4) return ::fmaxf(x, y);
    else return ::fmax(x, y);
#endif
  } else return x < y ? y : x;
}

template <class T> __device__ inline T bit_and(T x, T y) { return T(x & y); }
template <class T> __device__ inline T bit_or(T x, T y) { return T(x | y); }
template <class T> __device__ inline T bit_xor(T x, T y) { return T(x ^ y); }
template <class T> __device__ inline T bit_not(T x) {
  if constexpr (SameType<T, bool>::value) return !x;
  else return T(~x);
}

template <class T> __device__ inline T square_root(T x) {
  if constexpr (sizeof(T) <= 4) return ::sqrtf(x);
  else return ::sqrt(x);
}

// Rust's `as`: between integers modulo 2^n, from floats towards zero and saturating, NaN to 0.
template <class To, class From> __device__ inline To cast(From x) {
  if constexpr (SameType<To, From>::value) return x;
  else if constexpr (SameType<To, bool>::value) return x != From(0);
  else if constexpr (SameType<From, bool>::value) return x ? To(1) : To(0);
  else if constexpr (Number<From>::is_float && !Number<To>::is_float) {
    // 2^n is exact in both floats; the largest integer itself may not be.
    constexpr From above = From(u64(1) << (8 * sizeof(To) - 1)) * From(Number<To>::is_signed ? 1 : 2);
    if (x != x) return To(0);
    if (x >= above) return Number<To>::largest;
    if (x <= From(Number<To>::smallest)) return Number<To>::smallest;
    return To(x);
  } else return To(x);
}
#define OPLUS_CAST(T) \
  template <class From> __device__ inline T to_##T(From x) { return cast<T>(x); }
OPLUS_CAST(bool)
OPLUS_CAST(u8)
OPLUS_CAST(u16)
OPLUS_CAST(u32)
OPLUS_CAST(u64)
OPLUS_CAST(i8)
OPLUS_CAST(i16)
OPLUS_CAST(i32)
OPLUS_CAST(i64)
OPLUS_CAST(f32)
OPLUS_CAST(f64)
#undef OPLUS_CAST

// Kinds of `Semiring::atomic` and of `Semiring::terminal`.
enum { atomic_none, atomic_add, atomic_min, atomic_max, atomic_or, atomic_and, atomic_xor, atomic_first };
enum { terminal_never, terminal_value, terminal_always };

template <class T> __device__ inline bool same_bits(T x, T y) {
  if constexpr (sizeof(T) == 1) return bit_cast<u8>(x) == bit_cast<u8>(y);
  else if constexpr (sizeof(T) == 2) return bit_cast<u16>(x) == bit_cast<u16>(y);
  else if constexpr (sizeof(T) == 4) return bit_cast<u32>(x) == bit_cast<u32>(y);
  else if constexpr (sizeof(T) == 8) return bit_cast<u64>(x) == bit_cast<u64>(y);
  else {
    const u8 *p = reinterpret_cast<const u8*>(&x), *q = reinterpret_cast<const u8*>(&y);
    for (u32 i = 0; i < sizeof(T); i++)
      if (p[i] != q[i]) return false;
    return true;
  }
}

}  // namespace oplus
