// Two matrices' entries merged in the order of (row, column), in tiles of equally many entries whatever the rows.
//
// Where both have an entry, A's comes first: the pair is met at A's entry, B's is passed over. A tile sees one entry past
// each of its ends, since a tile may end between the two of a pair.
#include "block/team.cuh"
#include "block/tile_rows.cuh"
#include "device/rows.cuh"

namespace oplus {

constexpr u32 merge_block = tuning::primitive_block, merge_items = tuning::entry_items, merge_words = entry_tile / 32;
static_assert(merge_items == 8, "a thread marks a byte");
constexpr u64 no_key = ~0ull;
enum { from_a = 1, from_b = 2 };
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
constexpr u32 merge_keys = entry_tile + 2 + (entry_tile + 1) / 16;

struct MergeTile {
  u64* keys;  // shared, merge_keys: A's entry before the tile, A's, B's, B's entry behind the tile
  u64 a0, b0;
  u32 na, nb;

  // One place is left out after every row of banks: threads stand eight entries apart.
  static __device__ constexpr u32 skewed(u32 i) { return i + i / 16; }
  __device__ u64& key(u32 i) const { return keys[skewed(i)]; }
  __device__ u64 a_key(u32 i) const { return key(1 + i); }
  __device__ u64 b_key(u32 i) const { return key(1 + na + i); }

  // All threads call. Has barriers. A's entries and B's stand side by side; rows are marked in the upper half of their keys.
  // segments: shared, merge_segments.
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
#pragma unroll
    for (u32 t = 0; t < merge_items; t++) {
      const u32 i = mine + t * 32;
      if (i < n) key(1 + i) = i < na ? a.indices[a0 + i] : b.indices[b0 + (i - na)];
    }
    // Of so many rows most are empty: they are passed over by searches.
    const bool marked = last - first < 16 * entry_tile;
    __syncthreads();
    if (marked) {
      const auto mark = [&](u32 place, u32 number) { key(1 + place) |= u64(number) << 32; };
      mark_rows<merge_block, segment>({a.offsets, a0, a1, first, last, 0}, segments, mark);
      mark_rows<merge_block, segment>({b.offsets, b0, b1, first, last, na}, segments, mark);
    }
    __syncthreads();
    u32 carried = segments[threadIdx.x / 32];
#pragma unroll
    for (u32 t = 0; t < merge_items; t++) {
      const u32 i = mine + t * 32;
      const u64 x = i < n ? key(1 + i) : 0;
      u32 row;
      if (marked) row = first + number_at(u32(x >> 32), carried) - 1;
      else if (i < n) row = i < na ? row_of(a.offsets, first, last, a0 + i) : row_of(b.offsets, first, last, b0 + (i - na));
      if (i < n) key(1 + i) = u64(row) << 32 | u32(x);
    }
    if (threadIdx.x == 0) key(0) = a0 > a.offsets[first] ? a.key(first, a0 - 1) : no_key;
    if (threadIdx.x == 32) key(1 + n) = b1 < b.offsets[u64(last) + 1] ? b.key(last, b1) : no_key;
    __syncthreads();
  }

  // f(t, key, i, j, sources) for the thread's t-th merged entry: the i-th of A's, the j-th of B's, or both; for the second
  // of a pair sources is 0.
  template <class F> __device__ void walk(F f) const {
    const u32 n = na + nb, d = min(threadIdx.x * merge_items, n);
    u32 i = d > nb ? d - nb : 0, high = min(d, na);
    while (i < high) {
      const u32 middle = (i + high) / 2;
      if (a_key(middle) <= b_key(d - 1 - middle)) i = middle + 1;
      else high = middle;
    }
    u32 j = d - i;
    // A's entry before the i-th, the i-th, B's j-th; one past the last of A's there is some key, never looked at.
    u64 before = key(i), x = a_key(i), y = b_key(j);
#pragma unroll
    for (u32 t = 0; t < merge_items; t++) {
      if (d + t >= n) break;
      const bool take_a = j >= nb || (i < na && x <= y);
      const u32 pair = take_a ? from_a | from_b : 0, alone = take_a ? from_a : from_b;
      f(t, take_a ? x : y, i, j, (take_a ? x == y : before == y) ? pair : alone);
      if (take_a) {
        before = x;
        x = a_key(++i);
      } else {
        y = b_key(++j);
      }
    }
  }
};

}  // namespace oplus
