// The sums of a product of matrices on few diagonals: those of a row on some diagonals of C, in registers.
#include "part/accumulate.cuh"
#include "part/band_place.cuh"
#include "part/spgemm_band.cuh"
#include "thread/foremost.cuh"

namespace oplus {

// ⊗ for a pair at row i.
struct BandValues {
  const A* a;
  const B* b;
  const u64 *i_ids, *k_ids, *j_ids;
  u32 a_diagonals, b_diagonals;
  __device__ static u64 named(const u64* ids, u64 i) {
    if constexpr (flag::mapped) return ids ? ids[i] : i;
    else return i;
  }
  // Row i of A and row k of B, on each diagonal.
  __device__ const A* left(u32 i) const { return Semiring::reads_a ? a + band_place(i, 0, a_diagonals) : a; }
  __device__ const B* right(u32 k) const { return Semiring::reads_b ? b + band_place(k, 0, b_diagonals) : b; }
  __device__ static A left(const A* row, u32 d) {
    if constexpr (Semiring::reads_a) return row[d * 32];
    else return A();
  }
  __device__ static B right(const B* row, u32 d) {
    if constexpr (Semiring::reads_b) return row[d * 32];
    else return B();
  }
  __device__ C term(A x, B y, i32 shift, i32 diagonal, u32 i) const {
    At at = {0, 0, 0};
    if constexpr (Semiring::positional) {
      at = {named(i_ids, i), named(k_ids, u64(i) + shift), named(j_ids, u64(i) + diagonal)};
    }
    return Semiring::multiply(x, y, at);
  }
};

constexpr u32 band_chunk = u32(number::chunk);  // diagonals of C that a warp works on
constexpr bool band_summed = !Semiring::constant && Semiring::terminal != terminal_always && Semiring::atomic != atomic_first;
// Values that shared memory has room for are written row by row.
constexpr bool band_staged = sizeof(C) <= 8;
// Rows with a product on each diagonal need none of them.
constexpr bool band_constant = band_staged && Semiring::constant;

typedef Foremost<Semiring, C> Nearest;
constexpr bool band_nearest = band_summed && Nearest::pays, band_exact = band_summed && Exact<Semiring, C>::value;

// The sums of row i on the diagonals of a group.
struct BandSums {
  C of[band_group];
  i32 diagonal[band_group];

  // Of shifts[0 .. count).
  __device__ BandSums(const i32* shifts, u32 count) {
#pragma unroll
    for (u32 g = 0; g < band_group; g++) {
      if constexpr (Semiring::positional) diagonal[g] = g < count ? shifts[g] : 0;
      if constexpr (band_nearest) of[g] = Nearest::last();
      else if constexpr (band_exact) of[g] = Exact<Semiring, C>::start();
      else of[g] = C();
    }
  }

  // The first `count` diagonals that nearer terms did not decide, a bit each.
  __device__ u32 open(u32 count) const {
    u32 found = 0;
    if constexpr (band_nearest) {
#pragma unroll
      for (u32 g = 0; g < band_group; g++) {
        if (!Nearest::decided(of[g]) && g < count) found |= 1u << g;
      }
    }
    return found;
  }

  // Some terms of a step, those in `firsts` the first of their diagonals. ALL: on all diagonals, no firsts that must be known. What is
  // not decided of the nearest terms is left for band_sum.
  template <bool ALL>
  __device__ void add(const BandValues& values, const BandStep& step, u32 terms, u32 firsts, const A* a_row, u32 i) {
    const A x = values.left(a_row, step.a);
    const B* const b_row = values.right(i + step.shift);
    B y[band_group];
#pragma unroll
    for (u32 g = 0; g < band_group; g++) {
      if (ALL || terms >> g & 1) y[g] = values.right(b_row, step.b[g]);
    }
#pragma unroll
    for (u32 g = 0; g < band_group; g++) {
      if (!ALL && !(terms >> g & 1)) continue;
      const C term = values.term(x, y[g], step.shift, Semiring::positional ? diagonal[g] : 0, i);
      if constexpr (!band_summed) of[g] = term;
      else if constexpr (band_nearest) of[g] = Nearest::nearer(term, of[g]);
      else if constexpr (band_exact || ALL) of[g] = Semiring::add(of[g], term);
      else of[g] = firsts >> g & 1 ? term : Semiring::add(of[g], term);
    }
  }
};

// The sum of row i on diagonal g of a group, term by term. has(step): which it has.
template <class Has>
__device__ inline C band_sum(const BandValues& values, const BandOperands& x, u32 group, u32 g, i32 diagonal, u32 i, Has has) {
  C sum = C();
  bool any = false;
  for (u32 s = x.starts[group]; s < x.starts[group + 1]; s++) {
    const BandStep& step = x.steps[s];
    if (!(has(step) >> g & 1)) continue;
    const C term = values.term(values.left(values.left(i), step.a), values.right(values.right(i + step.shift), step.b[g]), step.shift,
                               diagonal, i);
    sum = any ? Semiring::add(sum, term) : term;
    any = true;
  }
  return sum;
}

}  // namespace oplus
