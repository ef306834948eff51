// The terms of a product with a dense vector: A(i, k) ⊗ x(k), with flag::vector_left x(k) ⊗ A(i, k).
#include "part/partial.cuh"

namespace oplus {

// With flag::mapped; null: a place is its id.
struct Ids {
  const u64 *i, *k;
};
template <bool LEFT> struct Types {
  typedef A Matrix;
  typedef B Vector;
};
template <> struct Types<true> {
  typedef B Matrix;
  typedef A Vector;
};
typedef Types<flag::vector_left>::Matrix Matrix;
typedef Types<flag::vector_left>::Vector Vector;
constexpr bool reads_matrix = flag::vector_left ? Semiring::reads_b : Semiring::reads_a;
constexpr bool reads_vector = flag::vector_left ? Semiring::reads_a : Semiring::reads_b;

// A template, as the order that is not meant need not compile: factors may be of two types.
template <bool LEFT, class M, class X> __device__ inline C ordered_product(const M& a, const X& x, At at) {
  if constexpr (LEFT) return Semiring::multiply(x, a, at);
  else return Semiring::multiply(a, x, at);
}
__device__ inline C product_of(const Matrix& a, const Vector& x, At at) { return ordered_product<flag::vector_left>(a, x, at); }

// Where the product of row and column k stands.
__device__ inline At place_of(const Ids& ids, u64 row, u64 k) {
  At at = {0, 0, 0};
  if constexpr (Semiring::positional) {
    u64 out = row;
    at.k = k;
    if constexpr (flag::mapped) {
      if (ids.i) out = ids.i[row];
      if (ids.k) at.k = ids.k[k];
    }
    if constexpr (flag::vector_left) at.j = out;
    else at.i = out;
  }
  return at;
}

__device__ inline C term_of(const Matrix* a_values, const Vector* x_values, const Ids& ids, u64 row, u64 e, u32 k) {
  Matrix a = Matrix();
  Vector x = Vector();
  if constexpr (reads_matrix) a = a_values[e];
  if constexpr (reads_vector) x = x_values[k];
  return product_of(a, x, place_of(ids, row, k));
}

}  // namespace oplus
