// Entries between compressed rows and a slot for every cell, row by row: they come in the same order here and there, so that an
// entry's place is told by the bits before its own. `V` has the size of the value type. Deterministic. Launches: README.md.
#include "block/tile_rows.cuh"
#include "warp/scan.cuh"
#include "warp/search.cuh"

namespace oplus {

constexpr u32 cell_warps = tuning::primitive_block / 32;
// Words of a warp's cells, and cells of a block.
constexpr u32 cell_words = 16, cell_tile = tuning::primitive_block * cell_words;
// Entries whose rows are found one after the other.
constexpr u32 cell_segment = 128;
static_assert(cell_tile < 1u << 16, "rows of a tile are counted in 16 bits");

// The first entry in this cell or behind it. All lanes of a warp call.
__device__ inline u64 entry_from(u64 rows, u64 columns, const u64* offsets, const u32* indices, u64 cell) {
  const u64 row = cell / columns;
  if (row >= rows) return offsets[rows];
  const u64 column = cell - row * columns, begin = offsets[row];
  if (column == 0) return begin;
  return warp_last_not_above(begin, offsets[row + 1], column, [&](u64 e) { return e == begin ? 0 : u64(indices[e - 1]) + 1; });
}

// Bits and values of all cells, with those that have no entry; not `valued`: bits alone. A block marks its cells that have one in shared
// memory, a byte each; of these bytes words are made, and cells count the bits before theirs.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
cells_put(u64 rows, u64 columns, const u64* offsets, const u32* indices, const V* __restrict__ values, u32* words, V* __restrict__ out) {
  __shared__ u32 marks[cell_tile / 2], flags[cell_tile / 4], segments[cell_tile / cell_segment], sums[cell_warps];
  __shared__ u64 bounds[2];
  const u32 warp = threadIdx.x / 32;
  const u64 cells = rows * columns, base = u64(blockIdx.x) * cell_tile, behind = min(base + cell_tile, cells);
  for (u32 i = threadIdx.x; i < cell_tile / 2; i += tuning::primitive_block) marks[i] = 0;
  for (u32 i = threadIdx.x; i < cell_tile / 4; i += tuning::primitive_block) flags[i] = 0;
  if (warp < 2) {
    const u64 e = entry_from(rows, columns, offsets, indices, warp == 0 ? base : behind);
    if (lane_id() == 0) bounds[warp] = e;
  }
  __syncthreads();
  const u64 begin = bounds[0], first = base / columns, last = (behind - 1) / columns;
  const u32 count = u32(bounds[1] - begin);
  u16* const mark = reinterpret_cast<u16*>(marks);
  u8* const there = reinterpret_cast<u8*>(flags);
  if (count > 0) {
    const TilePart part = {offsets, begin, begin + count, u32(first), u32(last), 0};
    mark_rows<tuning::primitive_block, cell_segment>(part, segments, [&](u32 place, u32 number) { mark[place] = u16(number); });
  }
  __syncthreads();
  for (u32 s = warp; s * cell_segment < count; s += cell_warps) {
    u32 carried = segments[s], column[cell_segment / 32];
#pragma unroll
    for (u32 t = 0; t < cell_segment / 32; t++) {
      const u32 place = s * cell_segment + t * 32 + lane_id();
      column[t] = place < count ? indices[begin + place] : 0;
    }
#pragma unroll
    for (u32 t = 0; t < cell_segment / 32; t++) {
      const u32 place = s * cell_segment + t * 32 + lane_id();
      const u32 row = u32(first) + number_at(place < count ? mark[place] : 0, carried) - 1;
      // A tile has fewer cells than 2^32.
      if (place < count) there[row * u32(columns) + column[t] - u32(base)] = 1;
    }
  }
  __syncthreads();
  // Lane t keeps word t.
  const u32 mine = warp * (32 * cell_words);
  u32 kept = 0;
#pragma unroll
  for (u32 t = 0; t < cell_words; t++) {
    const u32 word = __ballot_sync(full_warp, there[mine + t * 32 + lane_id()] != 0);
    if (lane_id() == t) kept = word;
  }
  const u64 w = base / 32 + warp * cell_words + lane_id();
  if (lane_id() < cell_words && w * 32 < cells) words[w] = kept;
  if constexpr (flag::valued) {
    const u32 upto = warp_inclusive_sum(u32(__popc(kept)));
    if (lane_id() == 31) sums[warp] = upto;
    __syncthreads();
    u64 at = begin;
    for (u32 before = 0; before < warp; before++) at += sums[before];
    constexpr u32 batch = sizeof(V) <= 8 ? 8 : sizeof(V) <= 16 ? 4 : 1;
    for (u32 t = 0; t < cell_words; t += batch) {
      V x[batch];
#pragma unroll
      for (u32 k = 0; k < batch; k++) {
        const u32 word = shuffle(kept, t + k), here = shuffle(upto, t + k) - u32(__popc(word)) + u32(__popc(word & lanes_below()));
        x[k] = word >> lane_id() & 1 ? values[at + here] : V();
      }
#pragma unroll
      for (u32 k = 0; k < batch; k++) {
        const u64 cell = base + mine + (t + k) * 32 + lane_id();
        if (cell < cells) out[cell] = x[k];
      }
    }
  }
}

// The cells of a window: slot `first` of those of `columns` columns is its first; it has `cells`, so many `across`. Bits may be null, those
// of both. Not `valued`: bits alone.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
cells_window(u64 cells, u64 across, u64 first, u64 columns, const u32* words, const V* __restrict__ from, u32* out_words, V* __restrict__ out) {
  const u64 cell = u64(blockIdx.x) * tuning::primitive_block + threadIdx.x;
  const u64 row = cell >> 32 || across >> 32 ? cell / across : u32(cell) / u32(across);
  const u64 slot = first + row * columns + (cell - row * across);
  const bool there = cell < cells && (!words || words[slot >> 5] >> (slot & 31) & 1);
  const u32 word = __ballot_sync(full_warp, there);
  if (cell >= cells) return;
  if (words && lane_id() == 0) out_words[cell >> 5] = word;
  if constexpr (flag::valued) out[cell] = there ? from[slot] : V();
}

// The entries in the order of rows; starts[w]: bits before word w. indices may be null: values alone. Not `valued`: positions alone.
// A warp has some words at once.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
cells_list(u64 word_count, u64 columns, const u32* words, const u64* starts, const V* __restrict__ from, u32* __restrict__ indices,
           V* __restrict__ values) {
  constexpr u32 at_once = 8, batch = sizeof(V) <= 8 ? at_once : sizeof(V) <= 16 ? 4 : 1;
  const u64 first = (u64(blockIdx.x) * cell_warps + threadIdx.x / 32) * at_once;
  if (first >= word_count) return;
  const bool mine = lane_id() < at_once && first + lane_id() < word_count;
  const u32 word = mine ? words[first + lane_id()] : 0;
  if (!__any_sync(full_warp, word != 0)) return;
  const u64 start = mine ? starts[first + lane_id()] : 0, cell = first * 32 + lane_id();
  const u32 step = u32(32 % columns);
  u32 column = cell >> 32 || columns >> 32 ? u32(cell % columns) : u32(cell) % u32(columns);
  for (u32 t = 0; t < at_once; t += batch) {
    V x[batch];
    u32 bits[batch];
#pragma unroll
    for (u32 k = 0; k < batch; k++) {
      bits[k] = shuffle(word, t + k);
      if constexpr (flag::valued) {
        if (bits[k] >> lane_id() & 1) x[k] = from[cell + (t + k) * 32];
      }
    }
#pragma unroll
    for (u32 k = 0; k < batch; k++) {
      const u64 e = shuffle(start, t + k) + u32(__popc(bits[k] & lanes_below()));
      if (bits[k] >> lane_id() & 1) {
        if (indices) indices[e] = column;
        if constexpr (flag::valued) values[e] = x[k];
      }
      const u64 left = columns - step;
      column = column >= left ? u32(column - left) : column + step;
    }
  }
}

}  // namespace oplus
