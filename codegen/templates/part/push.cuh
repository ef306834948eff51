// The terms of a product that pushes a vector along the rows of a matrix: x(k) ⊗ A(k, j), with flag::matrix_left A(k, j) ⊗ x(k).
#include "part/accumulate.cuh"
#include "part/partial.cuh"
#include "thread/in_order.cuh"

namespace oplus {

template <bool LEFT> struct Types {
  typedef B Matrix;
  typedef A Vector;
};
template <> struct Types<true> {
  typedef A Matrix;
  typedef B Vector;
};
typedef Types<flag::matrix_left>::Matrix Matrix;
typedef Types<flag::matrix_left>::Vector Vector;
constexpr bool reads_matrix = flag::matrix_left ? Semiring::reads_a : Semiring::reads_b;
constexpr bool reads_vector = flag::matrix_left ? Semiring::reads_b : Semiring::reads_a;
constexpr bool exact = Exact<Semiring, C>::value, first = Join<Semiring>::first;

// The term of A's value at e and x's value at `place`, whose row of A is k. Null ids: a place is its id.
__device__ inline C term_of(const Matrix* a_values, u64 e, const Vector* x_values, u64 place, u32 k, u32 column, const u64* k_ids,
                            const u64* out_ids) {
  Matrix a = Matrix();
  Vector v = Vector();
  At at = {0, 0, 0};
  if constexpr (reads_matrix) a = a_values[e];
  if constexpr (reads_vector) v = x_values[place];
  if constexpr (Semiring::positional) {
    at.k = k;
    u64 out = column;
    if constexpr (flag::mapped) {
      if (k_ids) at.k = k_ids[k];
      if (out_ids) out = out_ids[column];
    }
    if constexpr (flag::matrix_left) at.i = out;
    else at.j = out;
  }
  return in_order<flag::matrix_left>([&](const auto& left, const auto& right) { return Semiring::multiply(left, right, at); }, v, a);
}

// y(column) ⊕= that term. Null y_present: nobody asks which places have a value. state: see spmspv_clear.
__device__ inline void push_term(const Matrix* a_values, u64 e, const Vector* x_values, u64 place, u32 k, u32 column,
                                 const u64* k_ids, const u64* out_ids, u32* y_present, C* y_values, u32* state) {
  const C term = term_of(a_values, e, x_values, place, k, column, k_ids, out_ids);
  if constexpr (first) y_values[column] = term;
  else if constexpr (exact) combine<Semiring, C, true>(&y_values[column], term);
  else add_locked<Semiring, C, true>(&y_values[column], &state[column], term);
  if (!y_present) return;
  const u32 bit = 1u << (column & 31);
  if (!(const_cast<volatile u32*>(y_present)[column >> 5] & bit)) atomicOr(&y_present[column >> 5], bit);
}

}  // namespace oplus
