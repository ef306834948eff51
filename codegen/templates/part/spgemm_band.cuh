// Products of matrices on few diagonals: which products a row of C has.
#include "portable.cuh"
#include "warp/scan.cuh"

namespace oplus {

// A product on diagonal o of C: A's diagonal a, `shift` from the main one, and B's diagonal b.
struct BandPair {
  u16 a, b;
  i32 shift;
};

// One operand: bit d of row i in word d / 32 · rows + i; bits of the rows that have all diagonals.
struct Diagonals {
  u64 rows;
  const u32 *present, *full;
  __device__ bool has(u32 d, u64 i) const { return present[d / 32 * rows + i] >> (d & 31) & 1; }
};

struct BandOperands {
  Diagonals a, b;
  u32 a_diagonals;
  const i32* a_shifts;   // j - i of A's diagonals
  const u32* starts;     // pairs of C's diagonal o: starts[o] .. starts[o + 1], in the order of k
  const BandPair* pairs;

  // Whether rows first .. first + 32 of A have all diagonals, and so have all the rows of B they meet: then rows of C have all
  // of theirs. A warp calls.
  __device__ bool is_full(u64 first) const {
    if (first + 32 > a.rows || a.full[first / 32] != 0xffffffffu) return false;
    bool all = true;
    for (u32 d = lane_id(); d < a_diagonals; d += 32) {
      const u64 k = first + a_shifts[d];  // in range, as rows are full
      const u32 low = b.full[k / 32], high = k & 31 ? b.full[k / 32 + 1] : 0;
      if (u32((u64(high) << 32 | low) >> (k & 31)) != 0xffffffffu) all = false;
    }
    return __all_sync(full_warp, all);
  }
  __device__ bool has(const BandPair& pair, u64 i) const {
    const u64 k = i + pair.shift;
    return a.has(pair.a, i) && b.has(pair.b, k);  // where A has an entry, k is a row of B
  }
};

}  // namespace oplus
