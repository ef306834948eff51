// The same as walking through a tile's merged entries where nothing has to be looked at in their order: A's entries look for their
// places among B's of their row, all at once; the places left are B's.
#include "block/tile_rows.cuh"
#include "part/merge.cuh"
#include "thread/quad.cuh"

namespace oplus {

// Shared memory of a tile. A's entries and B's each stand from a multiple of four of them on.
struct alignas(16) MergePlaces {
  static constexpr u32 room = entry_tile + 8, segment = 128;  // a warp's entries at a time
  u64 flags[entry_tile / 8];  // a byte a merged entry: placed_a, placed_pair
  unsigned short marks[room];  // where rows of A begin: their number, and 1 more
  u32 b[room];                 // B's columns, and that of its entry behind the tile
  u32 numbers[room / segment + 1];
  unsigned short begins[merge_rows + 1];  // B's entries before each row
  u32 split;                              // the first entry is B's of a pair whose other is in the tile before
};
enum { placed_a = 1, placed_pair = 2 };
static_assert(MergePlaces::room % 8 == 0, "what follows is read in pieces of 16 bytes");

// The lowest bits of eight bytes.
__device__ inline u32 bits_of_bytes(u64 bytes) { return u32((bytes & 0x0101010101010101ull) * 0x0102040810204080ull >> 56); }

// The thread's merged entries. All threads call. Has barriers.
__device__ inline Merged merged_by_places(const Sorted& a, const Sorted& b, const Splits& splits, u64 total, MergePlaces& tile) {
  const u64 number = blockIdx.x, begin = number * entry_tile, end = min(begin + entry_tile, total);
  const u64 a0 = splits.a[number], a1 = splits.a[number + 1], b0 = begin - a0, b1 = end - a1;
  const u32 first = splits.row[number], last = splits.row[number + 1] - first;
  const u64 from_a = a0 & ~u64(3), from_b = b0 & ~u64(3);
  const u32 lead_a = u32(a0 - from_a), end_a = u32(a1 - from_a), lead_b = u32(b0 - from_b), end_b = u32(b1 - from_b), mine = 4 * threadIdx.x;
  Quad<u32> column = {}, other = {};
  if (mine < end_a) column = quad_at(a.indices, from_a + mine, a1);
  if (mine < end_b) other = quad_at(b.indices, from_b + mine, b1);
  const bool behind = b1 < b.offsets[u64(first) + last + 1], marked = last < merge_rows;
  // Where the thread's rows begin and end: asked for early, or all would wait again.
  constexpr u32 early = 2;
  u64 a_begin[early] = {}, a_end[early] = {}, b_begin[early] = {};
#pragma unroll
  for (u32 t = 0; t < early; t++) {
    const u32 r = t * merge_block + threadIdx.x;
    if (!marked || r > last) continue;
    a_begin[t] = a.offsets[u64(first) + r];
    a_end[t] = a.offsets[u64(first) + r + 1];
    b_begin[t] = b.offsets[u64(first) + r];
  }
  tile.flags[threadIdx.x] = 0;
  for (u32 i = threadIdx.x * 8; i < MergePlaces::room; i += merge_block * 8) *reinterpret_cast<Quad<u32>*>(&tile.marks[i]) = {};
  if (threadIdx.x == 0) {
    tile.split = a0 > a.offsets[first] && b1 > b0 && b0 < b.offsets[first + 1] && a.indices[a0 - 1] == b.indices[b0];
  }
  __syncthreads();
  if (mine < end_b) *reinterpret_cast<Quad<u32>*>(&tile.b[mine]) = other;
  for (u32 i = mine + 4 * merge_block; i < end_b; i += 4 * merge_block) {
    *reinterpret_cast<Quad<u32>*>(&tile.b[i]) = quad_at(b.indices, from_b + i, b1);
  }
  // How many of B's, from the multiple of four on, are before row r of the tile, which begins there.
  const auto b_behind = [&](u32 r, u64 at) { return r == 0 ? lead_b : u32(min(at, b1) - from_b); };
  const auto b_before = [&](u32 r) { return b_behind(r, b.offsets[u64(first) + r]); };
  const auto mark = [&](u32 r, u64 row_begin, u64 row_end, u64 b_row) {
    tile.begins[r] = static_cast<unsigned short>(b_behind(r, b_row));
    mark_row<MergePlaces::segment>({a.offsets, a0, a1, first, first + last, lead_a}, row_begin, row_end, r + 1, tile.numbers,
                                   [&](u32 place, u32 row) { tile.marks[place] = static_cast<unsigned short>(row); });
  };
  if (marked) {
#pragma unroll
    for (u32 t = 0; t < early; t++) {
      const u32 r = t * merge_block + threadIdx.x;
      if (r <= last) mark(r, a_begin[t], a_end[t], b_begin[t]);
    }
    for (u32 r = early * merge_block + threadIdx.x; r <= last; r += merge_block) {
      mark(r, a.offsets[u64(first) + r], a.offsets[u64(first) + r + 1], b.offsets[u64(first) + r]);
    }
    if (threadIdx.x == 0) tile.begins[last + 1] = static_cast<unsigned short>(end_b);
  }
  __syncthreads();
  // Behind the quads: they end with zeros.
  if (threadIdx.x == 32 && behind) tile.b[end_b] = b.indices[b1];
  __syncthreads();
  unsigned char* const flags = reinterpret_cast<unsigned char*>(tile.flags);
  for (u32 warp = threadIdx.x / 32 * MergePlaces::segment, at = mine; warp < end_a; warp += 4 * merge_block, at += 4 * merge_block) {
    if (at >= 4 * merge_block && at < end_a) column = quad_at(a.indices, from_a + at, a1);
    // The rows that begin at the thread's entries, and the one before.
    Quad<unsigned short> marks = {};
    u32 row = 0;
    if (marked) {
      if (at < end_a) marks = *reinterpret_cast<const Quad<unsigned short>*>(&tile.marks[at]);
      u32 recent = 0;
#pragma unroll
      for (u32 s = 0; s < 4; s++) recent = marks.x[s] ? marks.x[s] : recent;
      const u32 others = __ballot_sync(full_warp, recent != 0) & lanes_below();
      const u32 found = shuffle(recent, others ? 31 - u32(__clz(i32(others))) : 0);
      row = others ? found : tile.numbers[warp / MergePlaces::segment];
    }
    u32 low = 0, high = 0;
#pragma unroll
    for (u32 s = 0; s < 4; s++) {
      const u32 i = at + s;
      if (i < lead_a || i >= end_a) continue;
      bool near = true;
      if (marked) {
        if (marks.x[s]) row = marks.x[s];
        if (marks.x[s] || high == 0) {
          low = tile.begins[row - 1];
          high = tile.begins[row] + (row - 1 == last && behind);
          near = false;
        }
      } else {
        row = row_of(a.offsets, first, first + last, from_a + i) - first;
        low = b_before(row);
        high = b_before(row + 1) + (row == last && behind);
        near = false;
      }
      low = lower_bound_near<u32, u32>(tile.b, low, high, column.x[s], near ? 1 : max(high - low, 1u));
      const bool pair = low < high && tile.b[low] == column.x[s];
      flags[(i - lead_a) + (low - lead_b)] = pair ? placed_a | placed_pair : placed_a;
    }
  }
  __syncthreads();
  const u32 d = threadIdx.x * merge_items, n = u32(end - begin);
  const u64 all = tile.flags[threadIdx.x];
  const u32 sides = bits_of_bytes(all), pairs = bits_of_bytes(all >> 1);
  // B's of a pair stands behind A's.
  const u32 before = d == 0 ? tile.split : flags[d - 1] >> 1;
  const u32 valid = d < n ? (1u << min(n - d, merge_items)) - 1 : 0;
  return {sides, pairs, valid & ~(pairs << 1 | before)};
}

}  // namespace oplus
