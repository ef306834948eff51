// Products of matrices on few diagonals: which products a row of C has.
#include "portable.cuh"
#include "warp/scan.cuh"

namespace oplus {

// A product on a diagonal of C: A's diagonal a, `shift` from the main one, and B's diagonal b; the values of A's row i and of
// B's row i + shift stand at a_place + i and b_place + i.
struct BandPair {
  u16 a, b;
  i32 shift;
  u32 a_place;
  i32 b_place;
};

// One operand: bit d of row i in word d / 32 · rows + i; bits of the rows that have all diagonals.
struct Diagonals {
  u64 rows;
  const u32 *present, *full;
  __device__ bool has(u32 d, u64 i) const { return present[d / 32 * rows + i] >> (d & 31) & 1; }
};

struct BandOperands {
  Diagonals a, b;
  u32 diagonals;         // of C
  const u32* starts;     // pairs of C's diagonal o: starts[o] .. starts[o + 1], in the order of k
  const BandPair* pairs;

  __device__ bool has(const BandPair& pair, u64 i) const {
    return a.has(pair.a, i) && b.has(pair.b, i + pair.shift);  // where A has an entry, its column is a row of B
  }
};

}  // namespace oplus
