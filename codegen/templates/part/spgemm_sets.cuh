// Rows of B as column sets: the words of 32 columns that a row has entries in, and which of them.
//
// Several neighbouring columns are one atomic OR in place of one each. For kernels that only tell which columns a row has, with
// flag::column_sets, where B is given so: `indices` number words, `sets` has their columns.
// Deveci, Trott and Rajamanickam, Parallel Computing 78, 2018, doi:10.1016/j.parco.2018.06.009, call them compressed columns.
#include "warp/products.cuh"

namespace oplus {

// Sets bits of a word in shared memory that others set too: mostly they are set already.
__device__ inline void set_bits(u32* word, u32 bits) {
  if (bits & ~*const_cast<volatile u32*>(word)) atomicOr(word, bits);
}

// `put(word, columns)` for each set of A's entries [first, last) within the columns [low, high), low a multiple of 32.
template <u32 BATCH, u32 WALK, class F, class T = NoSlots>
__device__ inline void for_sets(Share share, const u32* a_indices, u64 first, u64 last, Rows b, u64 low, u64 high, bool partial,
                                WarpProducts* scratch, F put, T take = {}) {
  for_products<BATCH, WALK & ~u32(walk_huge)>(share, a_indices, first, last, b, low / 32, (high + 31) / 32, partial, scratch,
                      [&](const Batch<BATCH>& p) {
                        u32 word[BATCH], columns[BATCH];
#pragma unroll
                        for (u32 t = 0; t < BATCH; t++) {
                          if (!p.active[t]) continue;
                          word[t] = b.indices[p.b[t]];
                          columns[t] = b.sets[p.b[t]];
                        }
#pragma unroll
                        for (u32 t = 0; t < BATCH; t++) {
                          if (p.active[t]) put(word[t], columns[t]);
                        }
                      }, take);
}

}  // namespace oplus
