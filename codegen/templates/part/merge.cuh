// Two matrices' entries merged in the order of (row, column), in tiles of equally many entries whatever the rows.
//
// Where both have an entry, A's comes first: the pair is met at A's entry, B's is passed over. A tile sees one entry past
// each of its ends, since a tile may end between the two of a pair.
#include "device/rows.cuh"
#include "thread/banks.cuh"

namespace oplus {

constexpr u32 merge_block = tuning::primitive_block, merge_items = tuning::entry_items, merge_words = entry_tile / 32;
static_assert(merge_items == 8, "a thread marks a byte");
static_assert(entry_tile < 1 << 16, "where rows begin in a tile is two halves of a word");
enum { kind_union, kind_intersection, kind_overwrite, kind_accumulate, kind_filled };

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

// Of so many rows a tile knows where they begin; in tiles of more, most of which are empty, that is looked up.
constexpr u32 merge_rows = entry_tile;

// A tile's columns, and where its rows begin: a thread goes from one to the next.
struct MergeTile {
  u32* columns;  // shared, merge_columns: A's entry before the tile, A's, B's, B's entry behind the tile
  u32* begins;   // shared, merge_rows + 1
  Sorted a, b;
  u64 a0, a1, b0, b1;
  u32 na, nb, first, last;  // entries; rows: `last` counts from `first`
  bool before, behind;

  static __device__ constexpr u32 place(u32 i) { return bank_place<u32>(i); }
  __device__ u32 of_a(u32 i) const { return columns[place(1 + i)]; }
  __device__ u32 of_b(u32 j) const { return columns[place(1 + na + j)]; }

  // Entries of A and, in the upper half, of B that come before row r of the tile.
  __device__ u32 counted(u64 r) const {
    if (r == 0) return 0;
    return u32(min(a.offsets[first + r], a1) - a0) | u32(min(b.offsets[first + r], b1) - b0) << 16;
  }
  __device__ u32 begin_of(u64 r) const { return last < merge_rows ? begins[r] : counted(r); }

  // All threads call. Has a barrier.
  __device__ void load(const Splits& splits, u64 total) {
    const u64 tile = blockIdx.x, begin = tile * entry_tile, end = min(begin + entry_tile, total);
    a0 = splits.a[tile];
    a1 = splits.a[tile + 1];
    b0 = begin - a0;
    b1 = end - a1;
    first = splits.row[tile];
    last = splits.row[tile + 1] - first;
    na = u32(a1 - a0);
    nb = u32(b1 - b0);
    const u32 n = na + nb;
    const u32 *const from_a = a.indices + a0, *const from_b = b.indices + b0;
    u32 column[merge_items];
#pragma unroll
    for (u32 t = 0; t < merge_items; t++) {
      const u32 i = t * merge_block + threadIdx.x;
      column[t] = i < na ? from_a[i] : i < n ? from_b[i - na] : 0;
    }
    before = a0 > a.offsets[first];
    behind = b1 < b.offsets[u64(first) + last + 1];
    if (threadIdx.x == 0 && before) columns[0] = a.indices[a0 - 1];
    if (threadIdx.x == 32 && behind) columns[place(1 + n)] = b.indices[b1];
    if (last < merge_rows) {
      for (u32 r = threadIdx.x; r <= last + 1; r += merge_block) begins[r] = counted(r);
    }
#pragma unroll
    for (u32 t = 0; t < merge_items; t++) {
      const u32 i = t * merge_block + threadIdx.x;
      if (i < n) columns[place(1 + i)] = column[t];
    }
    __syncthreads();
  }

  // The last row that begins at the d-th merged entry or before it.
  __device__ u32 row_at(u32 d) const {
    u32 low = 0, high = last;
    while (low < high) {
      const u32 middle = high - (high - low) / 2, begin = begin_of(middle);
      if ((begin & 0xffff) + (begin >> 16) <= d) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // The thread's merged entries; f(t, row, column) for each.
  template <class F> __device__ Merged walk(F f) const {
    const u32 n = na + nb, d = min(threadIdx.x * merge_items, n);
    u32 row = row_at(d), begin = begin_of(row), end = begin_of(u64(row) + 1);
    u32 i = begin & 0xffff, j = begin >> 16, a_end = end & 0xffff, b_end = end >> 16;
    const u32 k = d - i - j, row_b = b_end - j;
    u32 low = k > row_b ? k - row_b : 0, high = min(k, a_end - i);
    while (low < high) {
      const u32 middle = (low + high) / 2;
      if (of_a(i + middle) <= of_b(j + (k - 1 - middle))) low = middle + 1;
      else high = middle;
    }
    // Whether the row has an entry of A before, and which.
    bool taken = low > 0 || (row == 0 && before);
    i += low;
    j += k - low;
    u32 recent = taken ? columns[place(i)] : 0;
    b_end += row == last && behind;
    u32 x = i < a_end ? of_a(i) : 0, y = j < b_end ? of_b(j) : 0, sides = 0, pairs = 0, again = 0;
#pragma unroll
    for (u32 t = 0; t < merge_items; t++) {
      if (d + t >= n) continue;
      if (i == a_end && j == b_end) {
        row++;
        begin = end;
        end = begin_of(u64(row) + 1);
        if (begin == end) {
          row = row_at(i + j);
          end = begin_of(u64(row) + 1);
        }
        a_end = end & 0xffff;
        b_end = (end >> 16) + (row == last && behind);
        taken = false;
        if (i < a_end) x = of_a(i);
        if (j < b_end) y = of_b(j);
      }
      const bool in_a = i < a_end, in_b = j < b_end, take_a = in_a && (!in_b || x <= y);
      f(t, first + row, take_a ? x : y);
      if (take_a) {
        sides |= 1u << t;
        pairs |= u32(in_b && x == y) << t;
        taken = true;
        recent = x;
        if (++i < a_end) x = of_a(i);
      } else {
        // B's of a pair whose other came before.
        again |= u32(taken && recent == y) << t;
        if (++j < b_end) y = of_b(j);
      }
    }
    const u32 valid = (1u << min(n - d, merge_items)) - 1;
    return {sides, pairs, valid & ~again};
  }
};
constexpr u32 merge_columns = MergeTile::place(entry_tile + 1) + 1;

}  // namespace oplus
