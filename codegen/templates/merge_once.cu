// Union, intersection, and C⟨M, replace⟩ ⊙= T (A is C, B is T) in one pass: a tile counts its entries of the result, looks back for how
// many the tiles before it have, and writes them. Flags and kinds as for merge_count.cu and merge_write.cu. Launch: README.md.
#include "device/look_back.cuh"
#include "part/merge_rule.cuh"
#include "part/merge_values.cuh"

namespace oplus {

// What a tile's words say, and what comes before each in the tile.
struct OnceWords {
  u32 kept[merge_words + 1], sides[merge_words], pairs[merge_words], admitted[merge_words];
  u32 starts[merge_words + 1], a_starts[merge_words];
};
static_assert(merge_words == 64, "two words a lane");

// state: u64[tiles + 1], zero before. out_offsets[r], r = 0 ..= rows: entries of the result before row r. total is not 0.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, write_bytes <= 16 ? 4 : 1)
merge_once(u64 rows, u64 total, u64 tiles, const u64* a_offsets, const u32* a_indices, const Left* a_values, const u64* b_offsets,
           const u32* b_indices, const Right* b_values, const u64* a_splits, const u32* row_splits, const u64* m_offsets,
           const u32* m_indices, const u32* bounds, const Left* alpha, const Right* beta, u64* state, u64* out_offsets, u32* out_indices,
           Result* out_values) {
  __shared__ u32 columns[merge_columns], begins[merge_rows + 1];
  __shared__ OnceWords s;
  __shared__ u64 place;
  const u64 number_of_tile = next_tile(state, &place);
  MergeTile tile = {columns, begins, {a_offsets, a_indices}, {b_offsets, b_indices}, 0, 0, 0, 0, 0, 0, 0, 0, false, false};
  tile.load(number_of_tile, {a_splits, row_splits}, total);
  const MergeWords made = merge_rule(tile, m_offsets, m_indices, bounds);
  if ((threadIdx.x & 3) == 0) {
    const u32 w = threadIdx.x / 4;
    s.kept[w] = made.kept;
    s.sides[w] = made.sides;
    s.pairs[w] = made.pairs;
    s.admitted[w] = made.admitted;
  }
  __syncthreads();
  const u32 warp = threadIdx.x / 32, lane = lane_id();
  if (warp == 0) {
    const u32 first = u32(__popc(s.kept[2 * lane])), both = first + u32(__popc(s.kept[2 * lane + 1])), inclusive = warp_inclusive_sum(both);
    const u32 sum = shuffle(inclusive, 31);
    s.starts[2 * lane] = inclusive - both;
    s.starts[2 * lane + 1] = inclusive - both + first;
    // A row may begin where the tile ends.
    if (lane == 31) {
      s.starts[merge_words] = sum;
      s.kept[merge_words] = 0;
    }
    const u64 before = look_back(state + 1, number_of_tile, sum);
    if (lane == 0) {
      place = before;
      if (number_of_tile == tiles - 1) out_offsets[rows] = before + sum;
    }
  } else if (warp == 1) {
    const u32 first = u32(__popc(s.sides[2 * lane])), both = first + u32(__popc(s.sides[2 * lane + 1])), inclusive = warp_inclusive_sum(both);
    s.a_starts[2 * lane] = inclusive - both;
    s.a_starts[2 * lane + 1] = inclusive - both + first;
  }
  __syncthreads();
  const u64 out_first = place;
  // The rows that begin in the tile, or behind its last entry; of those that begin before the first tile's there is nothing.
  for (u64 r = u64(threadIdx.x) + 1; r <= tile.last; r += merge_block) {
    const u32 begin = tile.begin_of(r), at = (begin & 0xffff) + (begin >> 16);
    out_offsets[tile.first + r] = out_first + s.starts[at / 32] + u32(__popc(s.kept[at / 32] & ((1u << (at & 31)) - 1)));
  }
  if (number_of_tile == 0) {
    for (u64 r = threadIdx.x; r <= tile.first; r += merge_block) out_offsets[r] = 0;
  }
  const Left* const left_values = a_values + tile.a0;
  const Right* const right_values = b_values + tile.b0;
#pragma unroll
  for (u32 low = 0; low < merge_items; low += write_batch) {
    u32 out[write_batch], column[write_batch], keeps = 0, has_a = 0, has_b = 0;
    Left left[write_batch];
    Right right[write_batch];
#pragma unroll
    for (u32 t = 0; t < write_batch; t++) {
      const u32 w = warp * merge_items + low + t, kept = s.kept[w], side = s.sides[w];
      if (!(kept >> lane & 1)) continue;
      const bool is_a = side >> lane & 1;
      bool of_a = is_a, of_b = !is_a || (s.pairs[w] >> lane & 1);
      if ((flag::masked || flag::region) && !(s.admitted[w] >> lane & 1)) of_b = false;
      else if (number::kind == kind_overwrite) of_a = false;
      const u32 i = s.a_starts[w] + u32(__popc(side & lanes_below())), j = w * 32 + lane - i;
      out[t] = s.starts[w] + u32(__popc(kept & lanes_below()));
      keeps |= 1u << t;
      has_a |= u32(of_a) << t;
      has_b |= u32(of_b) << t;
      column[t] = is_a ? tile.of_a(i) : tile.of_b(j);
      if (of_a) left[t] = left_values[i];
      if (of_b) right[t] = right_values[j];
    }
#pragma unroll
    for (u32 t = 0; t < write_batch; t++) {
      if (!(keeps >> t & 1)) continue;
      out_indices[out_first + out[t]] = column[t];
      out_values[out_first + out[t]] = value_of<number::kind>(left[t], right[t], alpha, beta, has_a >> t & 1, has_b >> t & 1);
    }
  }
}

}  // namespace oplus
