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
template <class P> struct Ln;
template <> struct Ln<f32> {
  static constexpr f32 two = 0.6931471805599453, rest_of_two = -1.9046543e-9, unit2 = 1.4426950408889634,
                       unit10 = 0.4342944819032518, right_angle = 1.5707963267948966, wide = 2.3e18;
};
template <> struct Ln<f64> {
  static constexpr f64 two = 0.6931471805599453, rest_of_two = 2.3190468138462996e-17, unit2 = 1.4426950408889634,
                       unit10 = 0.4342944819032518, right_angle = 1.5707963267948966, wide = 1.6e153;
};
// log |x| near 1, and what to take the logarithm of elsewhere.
template <class P> __device__ inline bool near_one(P size) { return size > P(0.5) && size < P(2); }
template <class P> __device__ inline P log_near_one(Complex<P> x) {
  const P re = abs(x.re), im = abs(x.im), large = re < im ? im : re, small = re < im ? re : im;
  return log1p((large - P(1)) * (large + P(1)) + small * small) * P(0.5);
}
template <class P> __device__ inline bool overflows(P size, Complex<P> x) { return is_inf(size) && !is_inf(x); }
template <class P> __device__ inline P half_size(Complex<P> x) { return abs(Complex<P>(x.re * P(0.5), x.im * P(0.5))); }
template <class P> __device__ inline P log_of_size(Complex<P> x) {
  const P size = abs(x);
  return near_one(size) ? log_near_one(x) : overflows(size, x) ? log(half_size(x)) + log(P(2)) : log(size);
}
template <class P> __device__ inline Complex<P> log(Complex<P> x) { return {log_of_size(x), arg(x)}; }
template <class P> __device__ inline Complex<P> log2(Complex<P> x) {
  const P size = abs(x), unit = Ln<P>::unit2;
  const P re = near_one(size) ? log_near_one(x) * unit : overflows(size, x) ? log2(half_size(x)) + log2(P(2)) : log2(size);
  return {re, arg(x) * unit};
}
template <class P> __device__ inline Complex<P> log10(Complex<P> x) {
  const P size = abs(x), unit = Ln<P>::unit10;
  const P re = near_one(size) ? log_near_one(x) * unit : overflows(size, x) ? log10(half_size(x)) + log10(P(2)) : log10(size);
  return {re, arg(x) * unit};
}
template <class P> __device__ inline Complex<P> log1p(Complex<P> x) {
  const Complex<P> y(P(1) + x.re, x.im);
  return {near_one(abs(y)) ? log1p(x.re * (P(2) + x.re) + x.im * x.im) * P(0.5) : log_of_size(y), arg(y)};
}
template <class P> __device__ inline Complex<P> expm1(Complex<P> x) {
  const P more = expm1(x.re);
  if (x.im == P(0)) return {more, x.im};
  const P half = sin(x.im * P(0.5));
  return {more * cos(x.im) - P(2) * half * half, exp(x.re) * sin(x.im)};
}
__device__ inline f32 multiply_add(f32 x, f32 y, f32 z) { return ::fmaf(x, y, z); }
__device__ inline f64 multiply_add(f64 x, f64 y, f64 z) { return ::fma(x, y, z); }
template <class P> __device__ inline Complex<P> exp2(Complex<P> x) {
  const P size = exp2(x.re);
  if (x.im == P(0)) return {size, x.im};
  const P angle = x.im * Ln<P>::two;
  const P rest = multiply_add(x.im, Ln<P>::two, -angle) + x.im * Ln<P>::rest_of_two;
  const P s = sin(angle), c = cos(angle), t = sin(rest), d = cos(rest);
  return {size * (c * d - s * t), size * (s * d + c * t)};
}
template <class P> __device__ inline Complex<P> not_a_number() {
  const P nan = infinity<P>() - infinity<P>();
  return {nan, nan};
}
template <class P> __device__ inline bool is_wide(Complex<P> x) { return abs(x.re) > Ln<P>::wide || abs(x.im) > Ln<P>::wide; }
template <class P> __device__ inline P log_of_twice(Complex<P> x) { return log_of_size(x) + Ln<P>::two; }
template <class P> __device__ inline Complex<P> asin(Complex<P> x) {
  if (is_nan(x)) return not_a_number<P>();
  if (is_wide(x)) return {atan2(x.re, abs(x.im)), copysign(log_of_twice(x), x.im)};
  const Complex<P> p = sqrt(Complex<P>(P(1) - x.re, -x.im)), q = sqrt(Complex<P>(P(1) + x.re, x.im));
  return {atan2(x.re, p.re * q.re - p.im * q.im), asinh(p.re * q.im - p.im * q.re)};
}
template <class P> __device__ inline Complex<P> acos(Complex<P> x) {
  if (is_nan(x)) return not_a_number<P>();
  if (is_wide(x)) return {atan2(abs(x.im), x.re), copysign(log_of_twice(x), -x.im)};
  const Complex<P> p = sqrt(Complex<P>(P(1) - x.re, -x.im)), q = sqrt(Complex<P>(P(1) + x.re, x.im));
  return {P(2) * atan2(p.re, q.re), asinh(q.re * p.im - q.im * p.re)};
}
template <class P> __device__ inline Complex<P> acosh(Complex<P> x) {
  if (is_nan(x)) return not_a_number<P>();
  if (is_wide(x)) return {log_of_twice(x), arg(x)};
  const Complex<P> p = sqrt(Complex<P>(x.re - P(1), x.im)), q = sqrt(Complex<P>(x.re + P(1), x.im));
  return {asinh(p.re * q.re + p.im * q.im), P(2) * atan2(p.im, q.re)};
}
template <class P> __device__ inline Complex<P> atanh(Complex<P> x) {
  if (is_nan(x)) return not_a_number<P>();
  const P a = abs(x.re), b = abs(x.im);
  P re, im;
  if (is_wide(x)) {
    const P size = abs(Complex<P>(a * P(0.25), b * P(0.25)));
    re = is_inf(size) ? P(0) : a * P(0.25) / size / size * P(0.25);
    im = Ln<P>::right_angle;
  } else if (a == P(1) && b < P(1)) {
    re = (log(hypot(P(2), b)) - log(b)) * P(0.5);
    im = b == P(0) ? b : atan2(P(2), -b) * P(0.5);
  } else {
    re = log1p(P(4) * a / ((P(1) - a) * (P(1) - a) + b * b)) * P(0.25);
    im = atan2(P(2) * b, (P(1) - a) * (P(1) + a) - b * b) * P(0.5);
  }
  return {copysign(re, x.re), copysign(im, x.im)};
}
template <class P> __device__ inline Complex<P> asinh(Complex<P> x) {
  const Complex<P> y = asin(Complex<P>(-x.im, x.re));
  return {y.im, -y.re};
}
template <class P> __device__ inline Complex<P> atan(Complex<P> x) {
  const Complex<P> y = atanh(Complex<P>(-x.im, x.re));
  return {y.im, -y.re};
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
