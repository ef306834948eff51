// The products of a sparse product's numeric side.
#include "part/spgemm.cuh"
#include "part/spgemm_values.cuh"

namespace oplus {

// ⊗ for A's entry a and B's entry b; what the semiring does not read is not loaded.
struct Factors {
  const A* a;
  const B* b;
  const u64 *i_ids, *k_ids, *j_ids;  // flag::mapped: the names of positions; null: themselves
};
__device__ inline u64 named(const u64* ids, u32 i) {
  if constexpr (flag::mapped) return ids ? ids[i] : u64(i);
  else return i;
}
struct Loaded {
  A a;
  B b;
  u32 column;
};
// Operands that are not read need no value.
__device__ inline Loaded loaded(const A& a, const B& b, u32 column) {
  Loaded both = {A(), B(), column};
  if constexpr (Semiring::reads_a) both.a = a;
  if constexpr (Semiring::reads_b) both.b = b;
  return both;
}
__device__ inline Loaded load_factors(const Factors& f, const Operands& x, u64 a, u64 b) {
  Loaded loaded = {A(), B(), x.b.indices[b]};
  if constexpr (Semiring::reads_a) loaded.a = f.a[a];
  if constexpr (Semiring::reads_b) loaded.b = f.b[b];
  return loaded;
}
__device__ inline C multiply(const Factors& f, const Operands& x, const Loaded& loaded, u64 a, u32 row) {
  At at = {0, 0, 0};
  if constexpr (Semiring::positional) {
    at.i = named(f.i_ids, row);
    at.k = named(f.k_ids, x.a.indices[a]);
    at.j = named(f.j_ids, loaded.column);
  }
  return Semiring::multiply(loaded.a, loaded.b, at);
}
__device__ inline C product(const Factors& f, const Operands& x, u64 a, u64 b, u32 row) {
  return multiply(f, x, load_factors(f, x, a, b), a, row);
}

// The factors of products of one column that come together: of rows of B that are walked as one.
template <u32 MOST> struct Joined {
  A a[MOST];
  B b[MOST];
};
template <u32 MOST, u32 BATCH>
__device__ inline void load_joined(Joined<MOST>& to, const Factors& f, const Batch<BATCH>& p, u32 t) {
#pragma unroll
  for (u32 i = 0; i < MOST; i++) {
    if (i > 0 && i > p.joined[t]) continue;
    if constexpr (Semiring::reads_a) to.a[i] = f.a[p.a[t] + i];
    if constexpr (Semiring::reads_b) to.b[i] = f.b[p.b[t] + i * p.stride[t]];
  }
}
// Whether sums need more than one of their products.
constexpr bool needs_all = Semiring::terminal != terminal_always && Semiring::atomic != atomic_first;

// *sum ⊕ these products, in the order of k; without *sum where it is `fresh`.
template <u32 MOST, u32 BATCH>
__device__ inline void add_joined(C* sum, bool fresh, const Factors& f, const Operands& x, const Joined<MOST>& factors,
                                  const Batch<BATCH>& p, u32 t, u32 column, u32 row) {
  const auto term = [&](u32 i) { return multiply(f, x, loaded(factors.a[i], factors.b[i], column), p.a[t] + i, row); };
  const C first = term(0);
  C all = fresh ? first : Semiring::add(*sum, first);
  if constexpr (needs_all) {
#pragma unroll
    for (u32 i = 1; i < MOST; i++) {
      if (i <= p.joined[t]) all = Semiring::add(all, term(i));
    }
  }
  *sum = all;
}

}  // namespace oplus
