// Two matrices' entries merged in the order of (row, column), in tiles of equally many entries whatever the rows.
//
// Where both have an entry, A's comes first: the pair is met at A's entry, B's is passed over. A tile sees one entry past
// each of its ends, since a tile may end between the two of a pair.
#include "block/tile_rows.cuh"
#include "device/rows.cuh"

namespace oplus {

constexpr u32 merge_block = tuning::primitive_block, merge_items = tuning::entry_items, merge_words = entry_tile / 32;
static_assert(merge_items == 8, "a thread marks a byte");
constexpr u64 no_key = ~0ull;
enum { kind_union, kind_intersection, kind_overwrite, kind_accumulate, kind_filled };

// Compressed rows of one operand.
struct Sorted {
  const u64* offsets;
  const u32* indices;
  __device__ u64 key(u32 row, u64 e) const { return u64(row) << 32 | indices[e]; }
};

// Where tiles begin: entries of A before, and the row.
struct Splits {
  const u64* a;
  const u32* row;
};

constexpr u32 merge_segments = merge_block / 32;
constexpr u32 merge_keys = entry_tile + 3 + (entry_tile + 2) / 16;

// What a thread's merged entries are, a bit each: A's, such as B has too, and those that are not B's of a pair.
struct Merged {
  u32 sides, pairs, first;
};

struct MergeTile {
  u64* keys;  // shared, merge_keys: A's entry before the tile, A's, none, B's, B's entry behind the tile
  u64 a0, b0;
  u32 na, nb;

  // One place is left out after every row of banks: threads stand eight entries apart.
  __device__ u64& key(u32 i) const { return keys[i + i / 16]; }
  // Of A's and B's entries side by side.
  __device__ u64& entry(u32 i) const { return key(1 + i + (i >= na)); }

  // All threads call. Has barriers. Rows are marked in the upper half of the keys. segments: shared, merge_segments.
  __device__ void load(const Sorted& a, const Sorted& b, const Splits& splits, u64 total, u32* segments) {
    constexpr u32 segment = 32 * merge_items;
    const u64 tile = blockIdx.x, begin = tile * entry_tile, end = min(begin + entry_tile, total);
    const u64 a1 = splits.a[tile + 1], b1 = end - a1;
    const u32 first = splits.row[tile], last = splits.row[tile + 1];
    a0 = splits.a[tile];
    b0 = begin - a0;
    na = u32(a1 - a0);
    nb = u32(b1 - b0);
    const u32 n = na + nb, mine = threadIdx.x / 32 * segment + lane_id();
    // Of so many rows most are empty: they are passed over by searches.
    const bool marked = last - first < 16 * entry_tile;
    u32 column[merge_items];
#pragma unroll
    for (u32 t = 0; t < merge_items; t++) {
      const u32 i = mine + t * 32;
      column[t] = i < na ? a.indices[a0 + i] : i < n ? b.indices[b0 + (i - na)] : 0;
      if (i < n) entry(i) = 0;
    }
    if (threadIdx.x == 0) key(0) = a0 > a.offsets[first] ? a.key(first, a0 - 1) : no_key;
    if (threadIdx.x == 32) key(1 + na) = no_key;
    if (threadIdx.x == 64) key(2 + n) = b1 < b.offsets[u64(last) + 1] ? b.key(last, b1) : no_key;
    __syncthreads();
    if (marked) {
      const auto mark = [&](u32 place, u32 number) { entry(place) = number; };
      mark_rows<merge_block, segment>({a.offsets, a0, a1, first, last, 0}, segments, mark);
      mark_rows<merge_block, segment>({b.offsets, b0, b1, first, last, na}, segments, mark);
    }
    __syncthreads();
    u32 carried = segments[threadIdx.x / 32];
#pragma unroll
    for (u32 t = 0; t < merge_items; t++) {
      const u32 i = mine + t * 32;
      u32 row = 0;
      if (marked) row = first + number_at(i < n ? u32(entry(i)) : 0, carried) - 1;
      else if (i < n) row = i < na ? row_of(a.offsets, first, last, a0 + i) : row_of(b.offsets, first, last, b0 + (i - na));
      if (i < n) entry(i) = u64(row) << 32 | column[t];
    }
    __syncthreads();
  }

  // The thread's merged entries; f(t, key) for each.
  template <class F> __device__ Merged walk(F f) const {
    const u32 n = na + nb, d = min(threadIdx.x * merge_items, n);
    u32 i = d > nb ? d - nb : 0, high = min(d, na);
    while (i < high) {
      const u32 middle = (i + high) / 2;
      if (key(1 + middle) <= key(1 + na + d - middle)) i = middle + 1;
      else high = middle;
    }
    // Behind A's last entry there is none, which comes after all of B's.
    u32 j = 2 + na + d - i;
    u64 before = key(i), x = key(++i), y = key(j);
    u32 sides = 0, again = 0;
#pragma unroll
    for (u32 t = 0; t < merge_items; t++) {
      if (d + t < n) {
        const bool take_a = x <= y;
        const u64 now = take_a ? x : y;
        sides |= u32(take_a) << t;
        again |= u32(now == before) << t;
        f(t, now);
        before = now;
        const u64 next = key(take_a ? ++i : ++j);
        if (take_a) x = next;
        else y = next;
      }
    }
    // What is again is B's, and before it A's. The last one's partner may be the next thread's.
    const u32 count = min(n - d, merge_items), valid = (1u << count) - 1;
    again |= u32(count > 0 && y == before) << count;
    return {sides, sides & again >> 1, valid & ~again};
  }
};

}  // namespace oplus
