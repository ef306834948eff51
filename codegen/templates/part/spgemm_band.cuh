// Products of matrices on few diagonals: which products a row of C has.
#include "portable.cuh"
#include "warp/scan.cuh"

namespace oplus {

// C's diagonals by so many.
constexpr u32 band_group = 8;
// The products of A's diagonal a, `shift` from the main one, on the diagonals of a group of C: on diagonal g, where its bit in `terms` is
// set, with B's diagonal b[g]; in `firsts` where it is the first there. Row i of A meets row i + shift of B.
struct alignas(16) BandStep {
  u32 a;
  i32 shift;
  u32 terms, firsts;
  u32 b[band_group];
};

// One operand: bit d of row i in word d / 32 · rows + i.
struct Diagonals {
  u64 rows;
  const u32* present;
  __device__ bool has(u32 d, u64 i) const { return present[d / 32 * rows + i] >> (d & 31) & 1; }
};

// What a block works on: so many rows, from `first` on, and one group, as the middle ones have the most terms, and another the next time.
struct BandUnit {
  u64 first;
  u32 group;
  __device__ BandUnit(u64 unit, u32 groups, u32 rows) : first(unit / groups * rows), group(u32((unit + unit / groups) % groups)) {}
};

struct BandOperands {
  Diagonals a, b;
  u32 diagonals;      // of C
  const u32* starts;  // steps of group o: starts[o] .. starts[o + 1], in the order of k
  const BandStep* steps;

  __device__ u32 groups() const { return (diagonals + band_group - 1) / band_group; }
  // The terms of a step that row i of A has.
  __device__ u32 terms(const BandStep& step, u64 i) const {
    u32 terms = 0;
    if (!a.has(step.a, i)) return terms;
    const u64 k = i + step.shift;  // where A has an entry, its column is a row of B
    u32 at = ~0u, word = 0;
#pragma unroll
    for (u32 g = 0; g < band_group; g++) {
      if (!(step.terms >> g & 1)) continue;
      const u32 d = step.b[g];
      if (d / 32 != at) word = b.present[d / 32 * b.rows + k];
      at = d / 32;
      terms |= (word >> (d & 31) & 1) << g;
    }
    return terms;
  }
};

}  // namespace oplus
