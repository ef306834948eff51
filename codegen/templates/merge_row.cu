// Two sparse vectors merged in one launch: union, intersection, accumulation, filled union, and A's entries that B has or has not, as in
// part/merge.cuh. A block has a tile of the merged entries and finds where it begins in both. Deterministic. Launches: README.md.
#include "device/row_writer.cuh"
#include "part/merge_value.cuh"

namespace oplus {

constexpr u32 row_items = tuning::entry_items;

// How many of the first d merged entries are A's, whose come first where both have one. All lanes of a warp call.
__device__ inline u64 warp_split(const u32* a, u64 na, const u32* b, u64 nb, u64 d) {
  u64 low = d > nb ? d - nb : 0, high = min(d, na);
  while (low < high) {
    const u64 step = (high - low + 31) / 32, probe = low + lane_id() * step;
    const u32 taken = u32(__popc(__ballot_sync(full_warp, probe < high && a[probe] <= b[d - 1 - probe])));
    if (taken == 0) break;
    high = min(high, low + taken * step);
    low += (taken - 1) * step + 1;
  }
  return low;
}

// The tile's columns, A's and then B's, and behind them the next of B's.
struct VectorTile {
  u32 columns[entry_tile + 1];
  u64 split[2];  // entries of A before the tile, and before the next
};

// The thread's entries of the merged tile, a bit each: A's, those that meet, those that are entries of the result; and where they begin.
struct RowEntries {
  u32 a, b, sides, pairs, kept;
};

// na and nb: entries of the tile; next: whether there is one of B's behind them; again: whether the tile's first of B's meets one of A's before.
__device__ inline RowEntries row_entries(const VectorTile& tile, u32 na, u32 nb, bool next, bool again) {
  const u32* const a = tile.columns;
  const u32* const b = tile.columns + na;
  const u32 n = na + nb, d = min(threadIdx.x * row_items, n), seen = nb + next;
  u32 low = d > nb ? d - nb : 0, high = min(d, na);
  while (low < high) {
    const u32 middle = (low + high) / 2;
    if (a[middle] <= b[d - 1 - middle]) low = middle + 1;
    else high = middle;
  }
  u32 i = low, j = d - low;
  RowEntries entries = {i, j, 0, 0, 0};
  if (i > 0) again = j < nb && a[i - 1] == b[j];
  else again = again && j == 0;
  for (u32 t = 0; t < row_items && d + t < n; t++) {
    const bool has_a = i < na && (j >= nb || a[i] <= b[j]), meet = has_a && j < seen && a[i] == b[j];
    entries.sides |= u32(has_a) << t;
    entries.pairs |= u32(meet) << t;
    bool keep = has_a || !again;
    if constexpr (number::kind == kind_intersection || number::kind == kind_within) keep = meet;
    if constexpr (number::kind == kind_without) keep = has_a && !meet;
    entries.kept |= u32(keep) << t;
    again = meet;
    i += has_a;
    j += !has_a;
  }
  return entries;
}

// left_one, right_one: the one value of all entries with the flag of that name. out_values may be null: positions alone, and nothing is asked of
// values. a_count + b_count > 0.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_row(u64 a_count, u64 b_count, const u32* a_indices, const Left* a_values, const u32* b_indices, const Right* b_values,
          Given<Left> left_one, Given<Right> right_one, Given<Left> alpha, Given<Right> beta, u32* out_indices, Result* out_values, u64* out_offsets, u64* state, u64* control, u32 said, u64* page, u64 number,
          u64 words) {
  __shared__ VectorTile tile;
  __shared__ RowWriter::Shared shared;
  const RowWriter writer = {out_offsets, state, control, said, page, number, words};
  const u64 nth = writer.tile(shared), begin = nth * entry_tile, end = min(begin + entry_tile, a_count + b_count);
  if (threadIdx.x < 64) {
    const u64 split = warp_split(a_indices, a_count, b_indices, b_count, threadIdx.x < 32 ? begin : end);
    if (lane_id() == 0) tile.split[threadIdx.x / 32] = split;
  }
  __syncthreads();
  const u64 a0 = tile.split[0], a1 = tile.split[1], b0 = begin - a0, b1 = end - a1;
  const u32 na = u32(a1 - a0), nb = u32(b1 - b0);
  const bool next = b1 < b_count;
  for (u32 e = threadIdx.x; e < na + nb + next; e += tuning::primitive_block) {
    tile.columns[e] = e < na ? a_indices[a0 + e] : b_indices[b0 + (e - na)];
  }
  const bool again = a0 > 0 && b0 < b_count && a_indices[a0 - 1] == b_indices[b0];
  __syncthreads();
  const RowEntries entries = row_entries(tile, na, nb, next, again);
  u64 at = writer.before<tuning::primitive_block>(nth, u32(__popc(entries.kept)), shared);
  u32 i = entries.a, j = entries.b;
#pragma unroll 2
  for (u32 t = 0; t < row_items; t++) {
    const bool is_a = entries.sides >> t & 1, has_b = !is_a || (entries.pairs >> t & 1);
    if (entries.kept >> t & 1) {
      out_indices[at] = tile.columns[is_a ? i : na + j];
      if (out_values) {
        Left left = Left();
        Right right = Right();
        if (is_a) left = flag::left_one ? *left_one : a_values[a0 + i];
        if (has_b && number::kind < kind_within) right = flag::right_one ? *right_one : b_values[b0 + j];
        out_values[at] = value_of<number::kind>(left, right, alpha, beta, is_a, has_b);
      }
      at++;
    }
    i += is_a;
    j += !is_a;
  }
  writer.end(shared);
}

}  // namespace oplus
