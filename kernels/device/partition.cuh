// Tiles of parts that are split by a digit of their keys.
#include "warp/search.cuh"

namespace oplus {

constexpr u32 partition_block = u32(number::threads), partition_tile = partition_block * tuning::partition_items;

// A block's tile: keys begin .. begin + n, of a part whose tiles stand at `first` on, `all` of them, this being the nth.
struct PartTile {
  u64 begin, first, all, nth;
  u32 n;
  // Where its count of a digit stands: by part, digit and tile.
  __device__ u64 place(u32 digits, u32 digit) const { return first * digits + digit * all + nth; }
};

// tiles[p]: tiles of the parts before p. All lanes of whole warps call, in blocks below tiles[parts].
__device__ inline PartTile part_tile(u64 parts, const u64* begins, const u64* tiles) {
  const u64 p = warp_last_not_above(0, parts - 1, blockIdx.x, [&](u64 i) { return tiles[i]; });
  const u64 first = tiles[p], nth = blockIdx.x - first, begin = begins[p] + nth * partition_tile;
  return {begin, first, tiles[p + 1] - first, nth, u32(min(begins[p + 1] - begin, u64(partition_tile)))};
}

}  // namespace oplus
