// Complex numbers: num_complex's in memory, and the arithmetic of `oplus::algebra::complex` to the bit. No order.
#include "portable.cuh"

namespace oplus {

template <class P> struct Complex {
  P re, im;
  Complex() = default;
  __device__ Complex(P x, P y) : re(x), im(y) {}
  template <class From> explicit __device__ Complex(From x) : re(cast<P>(x)), im(0) {}
};
typedef Complex<f32> c32;
typedef Complex<f64> c64;
template <class P> struct Number<Complex<P>> {
  static constexpr bool is_float = true, is_signed = true;
};

template <class P> __device__ inline Complex<P> complex(P re, P im) { return {re, im}; }
template <class P> __device__ inline P real(Complex<P> x) { return x.re; }
template <class P> __device__ inline P imag(Complex<P> x) { return x.im; }
template <class P> __device__ inline Complex<P> conj(Complex<P> x) { return {x.re, -x.im}; }

template <class P> __device__ inline bool operator==(Complex<P> x, Complex<P> y) { return x.re == y.re && x.im == y.im; }
template <class P> __device__ inline bool operator!=(Complex<P> x, Complex<P> y) { return !(x == y); }
template <class P> __device__ inline Complex<P> operator-(Complex<P> x) { return {-x.re, -x.im}; }
template <class P> __device__ inline Complex<P> operator+(Complex<P> x, Complex<P> y) { return {x.re + y.re, x.im + y.im}; }
template <class P> __device__ inline Complex<P> operator-(Complex<P> x, Complex<P> y) { return {x.re - y.re, x.im - y.im}; }
template <class P> __device__ inline Complex<P> operator*(Complex<P> x, Complex<P> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
// Smith's method: neither square overflows. A divisor on an axis divides each part.
template <class P> __device__ inline Complex<P> operator/(Complex<P> x, Complex<P> y) {
  if (y.im == P(0)) return {x.re / y.re, x.im / y.re};
  if (y.re == P(0)) return {x.im / y.im, -x.re / y.im};
  if (abs(y.re) < abs(y.im)) {
    const P ratio = y.re / y.im, by = y.re * ratio + y.im;
    return {(x.re * ratio + x.im) / by, (x.im * ratio - x.re) / by};
  }
  const P ratio = y.im / y.re, by = y.im * ratio + y.re;
  return {(x.im * ratio + x.re) / by, (x.im - x.re * ratio) / by};
}

// Each step is one that every device rounds the same; the squares of two f32 are exact in f64.
template <class P> __device__ inline P abs(Complex<P> x) {
  if (abs(x.re) == infinity<P>() || abs(x.im) == infinity<P>()) return infinity<P>();
  if constexpr (sizeof(P) == 4) {
    const f64 re = x.re, im = x.im;
    return P(::sqrt(re * re + im * im));
  } else {
    const P re = abs(x.re), im = abs(x.im);
    const P large = re < im ? im : re, small = re < im ? re : im;
    if (small == P(0)) return large;
    const P ratio = small / large;
    return large * ::sqrt(P(1) + ratio * ratio);
  }
}
template <class P> __device__ inline P arg(Complex<P> x) {
  if constexpr (sizeof(P) == 4) return ::atan2f(x.im, x.re);
  else return ::atan2(x.im, x.re);
}

// A real number has no imaginary part; a complex one becomes its real part, and true unless it is 0.
template <class To> struct FromComplex {
  template <class P> static __device__ To cast_from(Complex<P> x) {
    if constexpr (SameType<To, bool>::value) return x.re != P(0) || x.im != P(0);
    else return cast<To>(x.re);
  }
};
template <class Q> struct FromComplex<Complex<Q>> {
  template <class P> static __device__ Complex<Q> cast_from(Complex<P> x) { return {Q(x.re), Q(x.im)}; }
};
template <class To, class P> __device__ inline To cast(Complex<P> x) { return FromComplex<To>::cast_from(x); }
template <class From> __device__ inline c32 to_c32(From x) { return cast<c32>(x); }
template <class From> __device__ inline c64 to_c64(From x) { return cast<c64>(x); }
#define OPLUS_CAST(T) \
  template <class P> __device__ inline T to_##T(Complex<P> x) { return cast<T>(x); }
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

}  // namespace oplus
