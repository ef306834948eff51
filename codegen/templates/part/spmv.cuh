// The terms of a product with a dense vector: A(i, k) ⊗ x(k), with flag::vector_left x(k) ⊗ A(i, k).
#include "part/partial.cuh"
#include "thread/in_order.cuh"

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

__device__ inline C product_of(const Matrix& a, const Vector& x, At at) {
  return in_order<flag::vector_left>([&](const auto& left, const auto& right) { return Semiring::multiply(left, right, at); }, a, x);
}

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
