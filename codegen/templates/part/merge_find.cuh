// Which entries a thread has of those merged: it finds where they begin by one search along a diagonal of the tile's keys, after Green,
// McColl, Bader, "GPU merge path", ICS 2012, doi 10.1145/2304576.2304621, and walks.
#include "part/merge_keys.cuh"

namespace oplus {

// Compressed rows of one operand.
struct Sorted {
  const u64* offsets;
  const u32* indices;
};

// Where tiles begin: entries of A before, and the row.
struct Splits {
  const u64* a;
  const u32* row;
};

// What a thread's merged entries are, a bit each: A's, such as B has too, and those that are not B's of a pair.
struct Merged {
  u32 sides, pairs, first;
};

// The block's tile of two operands' entries, in places of MergeTile; B's with the one behind the tile, if that is in its last row.
struct MergeSource {
  Sorted a, b;
  u64 a0, a1, b0, b1, b2, from_a, from_b;
  u32 first, last;  // rows: `last` counts from `first`
  u32 quads_a, begin_a, end_a, begin_b, end_b;

  __device__ MergeSource(const Sorted& left, const Sorted& right, const Splits& splits, u64 total) : a(left), b(right) {
    const u64 begin = u64(blockIdx.x) * entry_tile, end = min(begin + entry_tile, total);
    a0 = splits.a[blockIdx.x];
    a1 = splits.a[blockIdx.x + 1];
    b0 = begin - a0;
    b1 = end - a1;
    first = splits.row[blockIdx.x];
    last = splits.row[blockIdx.x + 1] - first;
    b2 = b1 + (b1 < b.offsets[u64(first) + last + 1]);
    from_a = a0 & ~u64(3);
    from_b = b0 & ~u64(3);
    quads_a = u32(a1 - from_a) / 4 + 1;
    begin_a = u32(a0 - from_a);
    end_a = u32(a1 - from_a);
    begin_b = 4 * quads_a + u32(b0 - from_b);
    end_b = 4 * quads_a + u32(b2 - from_b);
  }
  // Of more rows most are empty: they are passed over by searches.
  __device__ bool marked() const { return last < 16 * entry_tile; }

  // Columns of a quad of entries; ~0 where there are none.
  __device__ Quad<u32> columns(u32 quad) const {
    const u32 *const in_a = a.indices + from_a, *const in_b = b.indices + from_b - 4 * quads_a;
    return quad_or<u32, u32>(quad < quads_a ? in_a : in_b, 4 * quad, quad < quads_a ? end_a : end_b, ~0u);
  }

  // Marks where rows begin. All of so many THREADS call. Has barriers, one at the end.
  template <u32 THREADS, class Key> __device__ void mark_rows(MergeKeys<Key>& keys) const {
    // A warp's lanes have a row each but for the last, which knows where the one before it ends.
    constexpr u32 early = 512 / THREADS, step = THREADS / 32 * 31;
    const u64 *const a_rows = a.offsets + first, *const b_rows = b.offsets + first;
    const u32 row = threadIdx.x / 32 * 31, mine = row + lane_id();
    // Asked for early, or all would wait again.
    u64 a_begin[early], b_begin[early];
#pragma unroll
    for (u32 t = 0; t < early; t++) {
      if (row + t * step > last) break;
      const u32 r = min(mine + t * step, last + 1);
      a_begin[t] = a_rows[r];
      b_begin[t] = b_rows[r];
    }
    keys.template clear<THREADS>();
    __syncthreads();
    const auto mark = [&](u32 r, u64 in_a, u64 in_b) {
      // The first row may begin before the tile, and the last end behind it.
      const u32 at_a = r == 0 ? begin_a : r > last ? end_a : begin_a + (u32(in_a) - u32(a0));
      const u32 at_b = r == 0 ? begin_b : r > last ? end_b : begin_b + (u32(in_b) - u32(b0));
      const u32 to_a = shuffle_down(at_a, 1), to_b = shuffle_down(at_b, 1);
      if (lane_id() == 31 || r > last) return;
      keys.mark(at_a, to_a, r + 1);
      keys.mark(at_b, to_b, r + 1);
    };
#pragma unroll
    for (u32 t = 0; t < early; t++) {
      if (row + t * step > last) break;
      mark(mine + t * step, a_begin[t], b_begin[t]);
    }
#pragma unroll 1
    for (u32 t = early * step; row + t <= last; t += step) {
      const u32 r = min(mine + t, last + 1);
      mark(mine + t, a_rows[r], b_rows[r]);
    }
    __syncthreads();
  }
};

// The keys of a quad's entries where there are too many rows for marks.
template <class Key> __device__ inline void fill_searched(MergeKeys<Key>& keys, const MergeSource& at, u32 quad) {
  const bool is_a = quad < at.quads_a;
  const u32 end = is_a ? at.end_a : at.end_b;
  const u64* const offsets = is_a ? at.a.offsets : at.b.offsets;
  const u64 from = is_a ? at.from_a : at.from_b - 4 * at.quads_a;
  keys.fill(4 * quad, at.columns(quad), [&](u32 s) {
    return 4 * quad + s < end ? row_of(offsets, at.first, at.first + at.last, from + 4 * quad + s) - at.first + 1 : 1;
  });
}

// The thread's ITEMS merged entries. `column`: of its quads; `split`: the tile's first entry is B's of a pair whose other is in the tile
// before. LOOKS: look(at, keys, merged, count) gets the keys of the entries, of which there are `count`. All threads call. Has barriers.
template <class Key, u32 ITEMS, bool LOOKS, class Look>
__device__ inline Merged merged_by_keys(const MergeSource& at, MergeKeys<Key> keys, const Quad<u32> (&column)[ITEMS / 4], bool split, Look look) {
  constexpr u32 threads = entry_tile / ITEMS, each = ITEMS / 4;
  // Some quads are left where the two operands do not begin and end at multiples of four.
  const u32 left = each * threads + threadIdx.x;
  if (at.marked()) {
    at.template mark_rows<threads>(keys);
#pragma unroll
    for (u32 t = 0; t < each; t++) fill_marked(keys, t * threads + threadIdx.x, column[t]);
    if (threadIdx.x < 32) fill_marked(keys, left, at.columns(left));
  } else {
#pragma unroll 1
    for (u32 t = 0; t < each; t++) fill_searched(keys, at, t * threads + threadIdx.x);
    if (threadIdx.x < 32) fill_searched(keys, at, left);
  }
  __syncthreads();
  const u32 na = u32(at.a1 - at.a0), nb = u32(at.b1 - at.b0), n = na + nb, d = min(threadIdx.x * ITEMS, n);
  u32 low = d > nb ? d - nb : 0, high = min(d, na);
  while (low < high) {
    const u32 middle = (low + high) / 2;
    if (keys[at.begin_a + middle] <= keys[at.begin_b + (d - 1 - middle)]) low = middle + 1;
    else high = middle;
  }
  u32 i = at.begin_a + low, j = at.begin_b + (d - low), sides = 0, pairs = 0;
  Key x = keys[i], y = keys[j];
  // B's of a pair whose other came before.
  const u32 again = low > 0 ? keys[i - 1] == y : split && d == 0;
  // Some are written out at a time; those that are kept move on.
  constexpr u32 unrolled = LOOKS ? 4 : 8;
  Key merged[LOOKS ? ITEMS : unrolled];
#pragma unroll 1
  for (u32 round = 0; round < ITEMS; round += unrolled) {
    u32 from_a = 0, both = 0;
    if constexpr (LOOKS) {
#pragma unroll
      for (u32 t = 0; t + unrolled < ITEMS; t++) merged[t] = merged[t + unrolled];
    }
#pragma unroll
    for (u32 s = 0; s < unrolled; s++) {
      const bool take_a = x <= y;
      merged[(LOOKS ? ITEMS - unrolled : 0) + s] = take_a ? x : y;
      from_a |= u32(take_a) << s;
      both |= u32(x == y) << s;
      i += take_a;
      j += !take_a;
      const Key next = keys[take_a ? i : j];
      x = take_a ? next : x;
      y = take_a ? y : next;
    }
    sides |= from_a << round;
    pairs |= both << round;
  }
  if constexpr (LOOKS) look(at, keys, merged, min(n - d, ITEMS));
  const u32 valid = (1u << min(n - d, ITEMS)) - 1;
  return {sides & valid, pairs & valid, valid & ~(pairs << 1 | again)};
}

// The thread's ITEMS merged entries; LOOKS, look: as above. Columns are below 1 << column_bits. All entry_tile / ITEMS threads call. Has
// barriers.
template <u32 ITEMS, bool LOOKS, class Look>
__device__ inline Merged merged_entries(const Sorted& a, const Sorted& b, const Splits& splits, u64 total, u32 column_bits, MergeTile& tile,
                                        Look look) {
  const MergeSource at(a, b, splits, total);
  // Asked for before all else.
  Quad<u32> column[ITEMS / 4];
#pragma unroll
  for (u32 t = 0; t < ITEMS / 4; t++) column[t] = at.columns(t * (entry_tile / ITEMS) + threadIdx.x);
  bool split = false;
  if (threadIdx.x == 0 && at.a0 > a.offsets[at.first] && at.b0 < min(at.b1, b.offsets[at.first + 1])) {
    split = a.indices[at.a0 - 1] == b.indices[at.b0];
  }
  // Keys are as short as the tile allows.
  const bool narrow = column_bits < 32 && (u64(at.last) + 2) << column_bits >> 32 == 0;
  if (narrow) return merged_by_keys<u32, ITEMS, LOOKS>(at, MergeKeys<u32>(tile, column_bits), column, split, look);
  return merged_by_keys<u64, ITEMS, LOOKS>(at, MergeKeys<u64>(tile, column_bits), column, split, look);
}

}  // namespace oplus
