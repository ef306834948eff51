// Elementary functions, powers and comparisons that give numbers: those of `oplus::algebra::elementary` by CUDA's own library.
// Halves go through f32.
#include "portable.cuh"

namespace oplus {

#define OPLUS_UNARY(name)                                \
  template <class T> __device__ inline T name(T x) {     \
    if constexpr (sizeof(T) == 8) return ::name(x);      \
    else return T(::name##f(f32(x)));                    \
  }
#define OPLUS_BINARY(name)                               \
  template <class T> __device__ inline T name(T x, T y) { \
    if constexpr (sizeof(T) == 8) return ::name(x, y);   \
    else return T(::name##f(f32(x), f32(y)));            \
  }
OPLUS_UNARY(sqrt)
OPLUS_UNARY(exp)
OPLUS_UNARY(log)
OPLUS_UNARY(sin)
OPLUS_UNARY(cos)
OPLUS_UNARY(tan)
OPLUS_UNARY(sinh)
OPLUS_UNARY(cosh)
OPLUS_UNARY(tanh)
OPLUS_UNARY(ceil)
OPLUS_UNARY(floor)
OPLUS_UNARY(round)
OPLUS_UNARY(trunc)
OPLUS_UNARY(exp2)
OPLUS_UNARY(expm1)
OPLUS_UNARY(log2)
OPLUS_UNARY(log10)
OPLUS_UNARY(log1p)
OPLUS_UNARY(asin)
OPLUS_UNARY(acos)
OPLUS_UNARY(atan)
OPLUS_UNARY(asinh)
OPLUS_UNARY(acosh)
OPLUS_UNARY(atanh)
OPLUS_UNARY(cbrt)
OPLUS_UNARY(erf)
OPLUS_UNARY(erfc)
OPLUS_UNARY(lgamma)
OPLUS_UNARY(tgamma)
OPLUS_BINARY(atan2)
OPLUS_BINARY(hypot)
OPLUS_BINARY(fmod)
OPLUS_BINARY(remainder)
OPLUS_BINARY(copysign)
#undef OPLUS_UNARY
#undef OPLUS_BINARY

template <class T> __device__ inline bool is_finite(T x) {
  if constexpr (sizeof(T) == 8) return x - x == T(0);
  else return f32(x) - f32(x) == 0.0f;
}
template <class T> __device__ inline bool is_inf(T x) { return x == x && !is_finite(x); }
template <class T> __device__ inline T signum(T x) {
  return x < T(0) ? T(-1) : x > T(0) ? T(1) : x == T(0) ? T(0) : x;
}
template <class T> __device__ inline T frexpx(T x) {
  int e;
  if (!is_finite(x)) return x;
  if constexpr (sizeof(T) == 8) return ::frexp(x, &e);
  else return T(::frexpf(f32(x), &e));
}
template <class T> __device__ inline T frexpe(T x) {
  int e = 0;
  if (!is_finite(x)) return T(0);
  if constexpr (sizeof(T) == 8) (void)::frexp(x, &e);
  else (void)::frexpf(f32(x), &e);
  return T(f32(e));
}
template <class T> __device__ inline T ldexp(T x, T y) {
  if constexpr (sizeof(T) == 8) return ::ldexp(x, cast<i32>(y));
  else return T(::ldexpf(f32(x), cast<i32>(f32(y))));
}

template <class T> __device__ inline T pow(T x, T y) {
  if constexpr (SameType<T, bool>::value) return x || !y;
  else if constexpr (!Number<T>::is_float) {
    if constexpr (Number<T>::is_signed) {
      if (y < 0) return x == 0 ? Number<T>::largest : x == 1 || (x == -1 && !(y & 1)) ? T(1) : x == -1 ? x : T(0);
    }
    T power = 1, square = x;
    for (; y != 0; y = T(y >> 1)) {
      if (y & 1) power = mul_sat(power, square);
      square = mul_sat(square, square);
    }
    return power;
  } else if constexpr (sizeof(T) == 8) {
    return x != x || y != y ? f64_bits(0x7ff8000000000000ull) : y == 0 ? T(1) : ::pow(x, y);
  } else {
    const f32 p = x, q = y;
    return T(p != p || q != q ? f32_bits(0x7fc00000u) : q == 0 ? 1.0f : ::powf(p, q));
  }
}

template <class T> __device__ inline T is_eq(T x, T y) { return T(x == y); }
template <class T> __device__ inline T is_ne(T x, T y) { return T(x != y); }
template <class T> __device__ inline T is_lt(T x, T y) { return T(x < y); }
template <class T> __device__ inline T is_le(T x, T y) { return T(x <= y); }
template <class T> __device__ inline T is_gt(T x, T y) { return T(x > y); }
template <class T> __device__ inline T is_ge(T x, T y) { return T(x >= y); }
template <class T> __device__ inline T is_lor(T x, T y) { return T(truth(x) || truth(y)); }
template <class T> __device__ inline T is_land(T x, T y) { return T(truth(x) && truth(y)); }
template <class T> __device__ inline T is_lxor(T x, T y) { return T(truth(x) != truth(y)); }
template <class T> __device__ inline T is_zero(T x) { return T(!truth(x)); }

// Complex numbers by parts, step by step as in Rust.
template <class P> __device__ inline bool is_finite(Complex<P> x) { return is_finite(x.re) && is_finite(x.im); }
template <class P> __device__ inline bool is_inf(Complex<P> x) { return is_inf(x.re) || is_inf(x.im); }
template <class P> __device__ inline Complex<P> sqrt(Complex<P> x) {
  P size = abs(x);
  if (size == P(0) || is_inf(x.im)) return {size, x.im};
  const bool large = size > max_value<P>() / P(8);
  if (large) {
    x = {x.re / P(4), x.im / P(4)};
    size = abs(x);
  }
  const P root = sqrt((abs(x.re) + size) * P(2)) / P(2), scale = large ? P(2) : P(1);
  if (x.re < P(0)) return {abs(x.im) / (root * P(2)) * scale, copysign(root, x.im) * scale};
  return {root * scale, x.im / (root * P(2)) * scale};
}
template <class P> __device__ inline Complex<P> exp(Complex<P> x) {
  const P size = exp(x.re);
  if (x.im == P(0)) return {size, x.im};
  return {size * cos(x.im), size * sin(x.im)};
}
template <class P> __device__ inline Complex<P> log(Complex<P> x) {
  const P size = abs(x), re = abs(x.re), im = abs(x.im);
  const P large = re < im ? im : re, small = re < im ? re : im;
  const bool near = size > P(0.5) && size < P(2);
  return {near ? log1p((large - P(1)) * (large + P(1)) + small * small) / P(2) : log(size), arg(x)};
}
template <class P> __device__ inline Complex<P> sin(Complex<P> x) {
  return {sin(x.re) * cosh(x.im), cos(x.re) * sinh(x.im)};
}
template <class P> __device__ inline Complex<P> cos(Complex<P> x) {
  return {cos(x.re) * cosh(x.im), -(sin(x.re) * sinh(x.im))};
}
template <class P> __device__ inline Complex<P> sinh(Complex<P> x) {
  return {sinh(x.re) * cos(x.im), cosh(x.re) * sin(x.im)};
}
template <class P> __device__ inline Complex<P> cosh(Complex<P> x) {
  return {cosh(x.re) * cos(x.im), sinh(x.re) * sin(x.im)};
}
template <class P> __device__ inline Complex<P> tanh(Complex<P> x) {
  if (abs(x.re) > P(20)) return {copysign(P(1), x.re), P(4) * sin(x.im) * cos(x.im) * exp(P(-2) * abs(x.re))};
  const P t = tan(x.im), s = sinh(x.re), beta = P(1) + t * t, rho = sqrt(P(1) + s * s), by = P(1) + beta * s * s;
  return {beta * rho * s / by, t / by};
}
template <class P> __device__ inline Complex<P> tan(Complex<P> x) {
  const Complex<P> y = tanh(Complex<P>(-x.im, x.re));
  return {y.im, -y.re};
}
template <class P> __device__ inline Complex<P> ceil(Complex<P> x) { return {ceil(x.re), ceil(x.im)}; }
template <class P> __device__ inline Complex<P> floor(Complex<P> x) { return {floor(x.re), floor(x.im)}; }
template <class P> __device__ inline Complex<P> round(Complex<P> x) { return {round(x.re), round(x.im)}; }
template <class P> __device__ inline Complex<P> trunc(Complex<P> x) { return {trunc(x.re), trunc(x.im)}; }
template <class P> __device__ inline Complex<P> signum(Complex<P> x) {
  const P size = abs(x);
  if (size == P(0)) return {P(0), P(0)};
  return {x.re / size, x.im / size};
}
template <class P> __device__ inline Complex<P> pow(Complex<P> x, Complex<P> y) {
  const P nan = infinity<P>() - infinity<P>();
  if (x != x || y != y) return {nan, nan};
  if (y.re == P(0) && y.im == P(0)) return {P(1), P(0)};
  if (x.re == P(0) && x.im == P(0) && y.re > P(0)) return {P(0), P(0)};
  return exp(y * log(x));
}

}  // namespace oplus
