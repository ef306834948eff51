// Bitonic sort of keys in shared memory by a team, ascending. In place; n·log2(n)² / 4 exchanges; deterministic.
#include "block/team.cuh"

namespace oplus {

// `keys`: room for the next power of two at or above n, which is filled up with `last`, not below any key.
// Starts and ends with a team barrier.
template <u32 THREADS, class Key> __device__ inline void team_sort(Team<THREADS> team, Key* keys, u32 n, Key last) {
  u32 padded = 1;
  while (padded < n) padded *= 2;
  for (u32 i = n + team.rank(); i < padded; i += THREADS) keys[i] = last;
  team.sync();
  for (u32 size = 2; size <= padded; size *= 2) {
    for (u32 stride = size / 2; stride > 0; stride /= 2) {
      for (u32 t = team.rank(); t < padded / 2; t += THREADS) {
        const u32 i = 2 * t - (t & (stride - 1)), j = i + stride;
        const Key x = keys[i], y = keys[j];
        if ((y < x) == ((i & size) == 0)) {
          keys[i] = y;
          keys[j] = x;
        }
      }
      team.sync();
    }
  }
}

}  // namespace oplus
