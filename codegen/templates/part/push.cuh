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

// y(column) ⊕= term. Null y_present: nobody asks which places have a value. state: see spmspv_clear.
__device__ inline void add_term(C term, u32 column, u32* y_present, C* y_values, u32* state) {
  if constexpr (first) y_values[column] = term;
  else if constexpr (exact) combine<Semiring, C, true>(&y_values[column], term);
  else add_locked<Semiring, C, true>(&y_values[column], &state[column], term);
  if (!y_present) return;
  const u32 bit = 1u << (column & 31);
  if (!(const_cast<volatile u32*>(y_present)[column >> 5] & bit)) atomicOr(&y_present[column >> 5], bit);
}

// Columns whose sums a block has in shared memory: as many as there is room for.
__device__ constexpr u32 sums_of_block(u64 size) {
  u32 n = 512;
  while (n * (8 + size) > 16384) n /= 2;
  return n;
}
constexpr u32 block_sums = exact || first || sizeof(C) > large_value ? 0 : sums_of_block(sizeof(C));

// A block's own sums of the columns that it meets first: a ⊕ without an atomic operation is done under a lock, which all terms of a
// column with many would wait for one after the other. Such a column is met soon, and each block adds to it once.
struct BlockSums {
  static constexpr u32 places = block_sums ? block_sums : 1, nobody = 0xffffffffu, probes = 4;

  struct __align__(16) Shared {
    u64 values[block_sums ? (block_sums * sizeof(C) + 7) / 8 : 1];
    u32 columns[places], state[places];
  };
  Shared& shared;

  __device__ C* values() const { return reinterpret_cast<C*>(shared.values); }
  // All threads call. Has a barrier.
  __device__ void clear() const {
    if constexpr (block_sums > 0) {
      for (u32 i = threadIdx.x; i < block_sums; i += blockDim.x) {
        shared.columns[i] = nobody;
        shared.state[i] = 0;
      }
      __syncthreads();
    }
  }
  // Whether the column has a place here.
  __device__ bool add(C term, u32 column) const {
    if constexpr (block_sums > 0) {
      const u32 place = column * 0x9e3779b1u >> 16;
      for (u32 i = 0; i < probes; i++) {
        const u32 at = (place + i) % block_sums;
        u32 seen = const_cast<volatile u32*>(shared.columns)[at];
        if (seen == nobody) seen = atomicCAS(&shared.columns[at], nobody, column);
        if (seen != nobody && seen != column) continue;
        add_locked<Semiring, C, false>(values() + at, &shared.state[at], term);
        return true;
      }
    }
    return false;
  }
  // f(sum, column) of all. All threads call. Has a barrier.
  template <class F> __device__ void end(F f) const {
    if constexpr (block_sums > 0) {
      __syncthreads();
      for (u32 i = threadIdx.x; i < block_sums; i += blockDim.x) {
        if (shared.columns[i] != nobody) f(values()[i], shared.columns[i]);
      }
    }
  }
};

// The size is part of the name: to the emulator's linker variables of one name are one.
template <u64 BYTES> struct __align__(16) SumsMemory {
  u64 words[BYTES / 8];
};
template <u64 BYTES = sizeof(BlockSums::Shared)> __device__ inline BlockSums::Shared& sums_memory() {
  __shared__ SumsMemory<BYTES> space;
  return *reinterpret_cast<BlockSums::Shared*>(space.words);
}

}  // namespace oplus
