// Which merged entries of A and B are entries of the result: union, intersection, and C⟨M, replace⟩ ⊙= T (A is C, B is T).
// No scalar type. number::kind as in part/merge.cuh; flags masked, complement, replace, region for the last two: T is written
// in a region alone, and mask and replace reach a part of C. Launches: README.md.
#include "part/merge.cuh"

namespace oplus {

// Where the tiles begin: thread t finds the t-th, of 0 ..= tiles.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_partition(u64 rows, u64 total, u64 tiles, const u64* a_offsets, const u32* a_indices, const u64* b_offsets,
                const u32* b_indices, u64* a_splits, u32* row_splits) {
  const u64 t = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t > tiles) return;
  const u64 d = min(t * entry_tile, total);
  u64 row = 0, behind = rows;
  while (behind - row > 1) {
    const u64 middle = row + (behind - row) / 2;
    if (a_offsets[middle] + b_offsets[middle] <= d) row = middle;
    else behind = middle;
  }
  const u64 a0 = a_offsets[row], b0 = b_offsets[row], na = a_offsets[row + 1] - a0, nb = b_offsets[row + 1] - b0;
  const u64 k = d - a0 - b0;
  u64 i = k > nb ? k - nb : 0, high = min(k, na);
  while (i < high) {
    const u64 middle = i + (high - i) / 2;
    if (a_indices[a0 + middle] <= b_indices[b0 + (k - 1 - middle)]) i = middle + 1;
    else high = middle;
  }
  a_splits[t] = a0 + i;
  row_splits[t] = u32(row);
}

// Looks ascending places up in a mask, going on from where the last was.
struct MaskWalk {
  const u64* offsets;
  const u32* indices;
  u64 at, end;
  u32 row;
  bool started;

  __device__ bool has(u32 r, u32 column) {
    u64 step = 1;
    if (!started || r != row) {
      at = offsets[r];
      end = offsets[u64(r) + 1];
      // The first one may stand anywhere in its row, the first of another row stands near where that begins.
      if (!started) step = end - at;
      row = r;
      started = true;
    }
    at = lower_bound_near<u32, u64>(indices, at, end, column, step);
    return at < end && indices[at] == column;
  }
};

// Some rows or columns: first and one past last, and bits where not all between are meant.
struct Within {
  u32 first, end;
  const u32* bits;
  __device__ bool has(u32 place) const {
    return place >= first && place < end && (!bits || (bits[place >> 5] >> (place & 31) & 1));
  }
};

__device__ inline Within within(const u32* bounds, u32 part) {
  const u32 start = bounds[3 * part + 2];
  return {bounds[3 * part], bounds[3 * part + 1], start ? bounds + start : nullptr};
}

// Where the mask is looked at, threads have fewer entries, since they wait; else they have more, since each has to look for its first.
constexpr bool restricted = flag::masked || flag::region;
constexpr u32 count_items = restricted ? 8 : 16, count_threads = entry_tile / count_items;

// Some threads' bits side by side as a word, in all of them.
__device__ inline u32 word_of_bits(u32 bits) {
  constexpr u32 parts = 32 / count_items;
  u32 word = bits << count_items * (threadIdx.x % parts);
#pragma unroll
  for (u32 d = 1; d < parts; d *= 2) word |= __shfl_xor_sync(full_warp, word, d);
  return word;
}

// A bit a merged entry: words, which are entries of the result, and counts, how many a word has; sides, A's; pairs, A's that B
// has too; admitted (masked or region): where T counts. bounds (region): rows and columns of the region, then of the reach,
// three numbers each, then bits.
extern "C" __global__ void __launch_bounds__(count_threads, 1280 / count_threads)
merge_count(u64 total, u32 column_bits, const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices,
            const u64* a_splits, const u32* row_splits, const u64* m_offsets, const u32* m_indices, const u32* bounds,
            u32* words, u32* counts, u32* sides, u32* pairs, u32* admitted) {
  __shared__ MergeTile tile;
  u32 admits = restricted ? 0 : ~0u, erased = 0;
  MaskWalk mask = {m_offsets, m_indices, 0, 0, 0, false};
  Within parts[4] = {};
  if constexpr (flag::region) {
    for (u32 p = 0; p < 4; p++) parts[p] = within(bounds, p);
  }
  const auto look = [&](u32 t, u32 row, u32 column) {
    if constexpr (!restricted) return;
    bool admit = true;
    if constexpr (flag::masked) admit = mask.has(row, column) != flag::complement;
    bool erase = flag::replace && !admit;
    if constexpr (flag::region) {
      const bool reached = parts[2].has(row) && parts[3].has(column);
      erase = erase && reached;
      admit = admit && reached && parts[0].has(row) && parts[1].has(column);
    }
    admits |= u32(admit) << t;
    erased |= u32(erase) << t;
  };
  const Merged merged = merged_entries<count_items, restricted ? 1 : 8>({a_offsets, a_indices}, {b_offsets, b_indices},
                                                                                  {a_splits, row_splits}, total, column_bits, tile, look);
  const u32 from_b = merged.pairs | ~merged.sides;
  u32 kept = merged.first;
  if constexpr (number::kind == kind_intersection) {
    kept = merged.pairs;
  } else if constexpr (number::kind != kind_union) {
    // Where T does not count C stays, unless it is replaced.
    const u32 written = number::kind == kind_overwrite ? from_b : ~0u;
    kept &= (admits & written) | (merged.sides & ~admits & ~erased);
  }
  constexpr u32 sharing = 32 / count_items, all = (1u << count_items) - 1;
  kept = word_of_bits(kept & all);
  const u32 side = word_of_bits(merged.sides), pair = word_of_bits(merged.pairs);
  admits = word_of_bits(admits & all);
  if (threadIdx.x % sharing == 0) {
    const u64 w = u64(blockIdx.x) * merge_words + threadIdx.x / sharing;
    words[w] = kept;
    counts[w] = u32(__popc(kept));
    sides[w] = side;
    pairs[w] = pair;
    if constexpr (flag::masked || flag::region) admitted[w] = admits;
  }
}

}  // namespace oplus
