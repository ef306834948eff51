// Which merged entries of A and B are entries of the result: union, intersection, and C⟨M, replace⟩ ⊙= T (A is C, B is T).
// No scalar type. number::kind as in part/merge.cuh; flags masked, complement, replace, region for the last two: T is written
// in a region alone, and mask and replace reach a part of C. Launches: README.md.
#include "part/merge_rule.cuh"

namespace oplus {

// A bit a merged entry: words, which are entries of the result, and counts, how many a word has; sides, A's; pairs, A's that B
// has too; admitted (masked or region): where T counts. bounds (region): rows and columns of the region, then of the reach,
// three numbers each, then bits.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 5)
merge_count(u64 total, const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices,
            const u64* a_splits, const u32* row_splits, const u64* m_offsets, const u32* m_indices, const u32* bounds,
            u32* words, u32* counts, u32* sides, u32* pairs, u32* admitted) {
  __shared__ u32 columns[merge_columns], begins[merge_rows + 1];
  MergeTile tile = {columns, begins, {a_offsets, a_indices}, {b_offsets, b_indices}, 0, 0, 0, 0, 0, 0, 0, 0, false, false};
  tile.load(blockIdx.x, {a_splits, row_splits}, total);
  const MergeWords made = merge_rule(tile, m_offsets, m_indices, bounds);
  if ((threadIdx.x & 3) == 0) {
    const u64 w = u64(blockIdx.x) * merge_words + threadIdx.x / 4;
    words[w] = made.kept;
    counts[w] = u32(__popc(made.kept));
    sides[w] = made.sides;
    pairs[w] = made.pairs;
    if constexpr (flag::masked || flag::region) admitted[w] = made.admitted;
  }
}

}  // namespace oplus
