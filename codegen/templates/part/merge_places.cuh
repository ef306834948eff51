// The same as walking through a tile's merged entries where nothing has to be looked at in their order: A's entries look for their
// places among B's of their row, all at once; the places left are B's.
#include "block/tile_rows.cuh"
#include "part/merge.cuh"
#include "thread/quad.cuh"

namespace oplus {

// Shared memory of a tile.
struct alignas(16) MergePlaces {
  u64 flags[entry_tile / 8];         // a byte a merged entry: placed_a, placed_pair
  unsigned short marks[entry_tile];  // where rows of A begin: their number, and 1 more
  u32 b[entry_tile + 1];             // B's columns, and that of its entry behind the tile
  u32 numbers[entry_tile / 32];
  unsigned short begins[merge_rows + 1];  // B's entries before each row
  u32 split;                              // the first entry is B's of a pair whose other is in the tile before
};
enum { placed_a = 1, placed_pair = 2 };

// The lowest bits of eight bytes.
__device__ inline u32 bits_of_bytes(u64 bytes) { return u32((bytes & 0x0101010101010101ull) * 0x0102040810204080ull >> 56); }

// The thread's merged entries. All threads call. Has barriers.
__device__ inline Merged merged_by_places(const Sorted& a, const Sorted& b, const Splits& splits, u64 total, MergePlaces& tile) {
  const u64 number = blockIdx.x, begin = number * entry_tile, end = min(begin + entry_tile, total);
  const u64 a0 = splits.a[number], a1 = splits.a[number + 1], b0 = begin - a0, b1 = end - a1;
  const u32 first = splits.row[number], last = splits.row[number + 1] - first, na = u32(a1 - a0), nb = u32(b1 - b0);
  u32 column[merge_items], other[merge_items];
#pragma unroll
  for (u32 t = 0; t < merge_items; t++) {
    const u32 i = t * merge_block + threadIdx.x;
    column[t] = i < na ? a.indices[a0 + i] : 0;
    other[t] = i < nb ? b.indices[b0 + i] : 0;
  }
  const bool behind = b1 < b.offsets[u64(first) + last + 1], marked = last < merge_rows;
  tile.flags[threadIdx.x] = 0;
  *reinterpret_cast<Quad<u32>*>(&tile.marks[threadIdx.x * 8]) = {};
  if (threadIdx.x == 0) {
    tile.split = a0 > a.offsets[first] && nb > 0 && b0 < b.offsets[first + 1] && a.indices[a0 - 1] == b.indices[b0];
  }
  __syncthreads();
#pragma unroll
  for (u32 t = 0; t < merge_items; t++) {
    const u32 i = t * merge_block + threadIdx.x;
    if (i < nb) tile.b[i] = other[t];
  }
  if (threadIdx.x == 32 && behind) tile.b[nb] = b.indices[b1];
  // How many of B's are before row r of the tile.
  const auto b_before = [&](u32 r) { return r == 0 ? 0 : u32(min(b.offsets[u64(first) + r], b1) - b0); };
  if (marked) {
    mark_rows<merge_block, 32>({a.offsets, a0, a1, first, first + last, 0}, tile.numbers,
                               [&](u32 place, u32 row) { tile.marks[place] = static_cast<unsigned short>(row); });
    for (u32 r = threadIdx.x; r <= last + 1; r += merge_block) tile.begins[r] = static_cast<unsigned short>(b_before(r));
  }
  __syncthreads();
  unsigned char* const flags = reinterpret_cast<unsigned char*>(tile.flags);
#pragma unroll
  for (u32 t = 0; t < merge_items; t++) {
    const u32 strip = t * merge_block + threadIdx.x / 32 * 32, i = strip + lane_id();
    if (strip >= na) continue;
    u32 row, low, high;
    if (marked) {
      u32 carried = tile.numbers[strip / 32];
      row = number_at(tile.marks[i], carried) - 1;
      low = tile.begins[row];
      high = tile.begins[row + 1];
    } else {
      row = row_of(a.offsets, first, first + last, min(a0 + i, a1 - 1)) - first;
      low = b_before(row);
      high = b_before(row + 1);
    }
    high += row == last && behind;
    const u32 from = high;
    while (low < high) {
      const u32 middle = (low + high) / 2;
      if (tile.b[middle] < column[t]) low = middle + 1;
      else high = middle;
    }
    if (i < na) flags[i + low] = low < from && tile.b[low] == column[t] ? placed_a | placed_pair : placed_a;
  }
  __syncthreads();
  const u32 d = threadIdx.x * merge_items, n = u32(end - begin);
  const u64 mine = tile.flags[threadIdx.x];
  const u32 sides = bits_of_bytes(mine), pairs = bits_of_bytes(mine >> 1);
  // B's of a pair stands behind A's.
  const u32 before = d == 0 ? tile.split : flags[d - 1] >> 1;
  const u32 valid = d < n ? (1u << min(n - d, merge_items)) - 1 : 0;
  return {sides, pairs, valid & ~(pairs << 1 | before)};
}

}  // namespace oplus
