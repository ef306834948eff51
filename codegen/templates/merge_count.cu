// Which merged entries of A and B are entries of the result: union, intersection, and C⟨M, replace⟩ ⊙= T (A is C, B is T).
// No scalar type. number::kind as in part/merge.cuh; flags masked, complement, replace, region for the last two: T is written
// in a region alone, and mask and replace reach a part of C. Launches: README.md.
#include "part/merge_find.cuh"
#include "part/merge_mask.cuh"

namespace oplus {

// Where the tiles begin: thread t finds the t-th, of 0 ..= tiles; where it does in the mask, to m_before, if masked.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_partition(u64 rows, u64 total, u64 tiles, const u64* a_offsets, const u32* a_indices, const u64* b_offsets,
                const u32* b_indices, const u64* m_offsets, const u32* m_indices, u64* a_splits, u32* row_splits, u64* m_before) {
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
  if constexpr (flag::masked) {
    const u64 j = k - i, end = m_offsets[row + 1];
    u64 before = end;
    if (i < na || j < nb) {
      const u32 in_a = i < na ? a_indices[a0 + i] : ~0u, in_b = j < nb ? b_indices[b0 + j] : ~0u;
      before = lower_bound<u32, u64>(m_indices, m_offsets[row], end, min(in_a, in_b));
    }
    m_before[t] = before;
  }
}

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

constexpr bool restricted = flag::masked || flag::region;
constexpr u32 count_items = tuning::merge_items, count_threads = entry_tile / count_items;
// As many blocks as registers allow: those of a restricted thread hold its entries, too.
constexpr u32 count_blocks = flag::region ? 6 : flag::masked ? 7 : 10;

// Two threads' halves as a word, in both of them.
__device__ inline u32 word_of_halves(u32 half) {
  static_assert(count_items == 16, "half a word");
  const u32 word = half << 16 * (threadIdx.x & 1);
  return word | __shfl_xor_sync(full_warp, word, 1);
}

// A bit a merged entry: words, which are entries of the result; sides, A's; pairs, A's that B
// has too; admitted (masked or region): where T counts. bounds (region): rows and columns of the region, then of the reach,
// three numbers each, then bits.
extern "C" __global__ void __launch_bounds__(count_threads, count_blocks)
merge_count(u64 total, u32 column_bits, const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices,
            const u64* a_splits, const u32* row_splits, const u64* m_offsets, const u32* m_indices, const u64* m_before, const u32* bounds,
            u32* words, u32* sides, u32* pairs, u32* admitted) {
  __shared__ MergeTile tile;
  u32 admits = ~0u, erased = 0;
  const auto look = [&](const MergeSource& at, auto& keys, auto& entries, u32 count) {
    if constexpr (flag::masked) {
      const u32 has = in_mask({m_offsets, m_indices, m_before}, at, keys, entries, count);
      admits = flag::complement ? ~has : has;
    }
    if constexpr (flag::replace) erased = ~admits;
    if constexpr (flag::region) {
      Within parts[4];
      for (u32 p = 0; p < 4; p++) parts[p] = within(bounds, p);
      keys.keep(entries);
#pragma unroll 1
      for (u32 t = 0; t < count; t++) {
        const auto key = keys.template kept<count_items>(t);
        const u32 row = at.first + keys.row(key), column = keys.column(key);
        const bool reached = parts[2].has(row) && parts[3].has(column);
        if (!reached) erased &= ~(1u << t);
        if (!(reached && parts[0].has(row) && parts[1].has(column))) admits &= ~(1u << t);
      }
    }
  };
  const Merged merged = merged_entries<count_items, restricted>({a_offsets, a_indices}, {b_offsets, b_indices}, {a_splits, row_splits}, total,
                                                                column_bits, tile, look);
  const u32 from_b = merged.pairs | ~merged.sides;
  u32 kept = merged.first;
  if constexpr (number::kind == kind_intersection) {
    kept = merged.pairs;
  } else if constexpr (number::kind != kind_union) {
    // Where T does not count C stays, unless it is replaced.
    const u32 written = number::kind == kind_overwrite ? from_b : ~0u;
    kept &= (admits & written) | (merged.sides & ~admits & ~erased);
  }
  kept = word_of_halves(kept & 0xffff);
  const u32 side = word_of_halves(merged.sides), pair = word_of_halves(merged.pairs);
  admits = word_of_halves(admits & 0xffff);
  if ((threadIdx.x & 1) == 0) {
    const u64 w = u64(blockIdx.x) * merge_words + threadIdx.x / 2;
    words[w] = kept;
    sides[w] = side;
    pairs[w] = pair;
    if constexpr (restricted) admitted[w] = admits;
  }
}

}  // namespace oplus
