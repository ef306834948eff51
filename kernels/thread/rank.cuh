// Marked places: a bit each in `words`; starts[w] = marks before word w, for w up to the number of words.
#include "portable.cuh"

namespace oplus {

// Marks before place p; p may be the place behind the last.
__device__ inline u64 rank(const u32* words, const u64* starts, u64 p) {
  const u32 bit = u32(p & 31);
  return starts[p >> 5] + (bit ? u32(__popc(words[p >> 5] & ((1u << bit) - 1))) : 0);
}

// The place of mark n of a word, from 0; it has more.
__device__ inline u32 nth_mark(u32 word, u32 n) {
  u32 place = 0;
#pragma unroll
  for (u32 step = 16; step > 0; step /= 2) {
    const u32 below = __popc(word >> place & ((1u << step) - 1));
    if (below <= n) {
      n -= below;
      place += step;
    }
  }
  return place;
}

__device__ inline bool is_marked(const u32* words, u64 p) { return words[p >> 5] >> (p & 31) & 1; }

}  // namespace oplus
