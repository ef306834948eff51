// Products over positions alone, of few rows: a column of 64 rows of A is a word, pushed along a row of B, so that an entry of B is looked at
// once for all of them. Then et al., The more the merrier, PVLDB 8(4), 2014, 10.14778/2735496.2735507. Blocks of tuning::primitive_block
// threads. Words are of 64 bits: word g * columns + c has the cells of rows 64 g, 64 g + 1 ... and column c. Deterministic. Launches: README.md.
#include "part/entries.cuh"
#include "part/slots.cuh"
#include "warp/turn.cuh"

namespace oplus {

// A warp's 32 x 32 cells of a matrix of so many columns.
struct Tile {
  u64 half, column;
  // Columns inside.
  u32 across;
};
__device__ inline Tile tile_of_warp(u64 columns) {
  const u64 tile = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32, tiles = (columns + 31) / 32, column = tile % tiles * 32;
  return {tile / tiles, column, u32(min(u64(32), columns - column))};
}
// Where a half of the word of a column is.
__device__ inline u64 half_word(u64 half, u64 columns, u64 column) { return (half / 2 * columns + column) * 2 + (half & 1); }

// A bit for each entry of A, in words that are 0 before.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
bits_marked(u64 n, u64 rows, u64 columns, const u64* offsets, const u32* indices, u64* words) {
  for_entries<false, true, true>(Entries<u8>{n, rows, offsets, indices, nullptr}, [&](u64, bool inside, u8, u32 row, u32 column) {
    if (inside) atomicOr(&words[row / 64 * columns + column], u64(1) << (row & 63));
  });
}

// Words of cells, whose bits are row by row; null: all are set. `flip`: of those that have no bit. The same into `copy`.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
bits_of_columns(u64 rows, u64 columns, const u32* words, u32 flip, u32* out, u32* copy) {
  const Tile t = tile_of_warp(columns);
  const u64 row = t.half * 32 + lane_id();
  if (t.half >= (rows + 63) / 64 * 2) return;
  u32 bits = row < rows ? words ? bits_from(words, row * columns + t.column, t.across) : 0xffffffffu : 0;
  if (flip) bits = ~bits;
  const u32 word = warp_turned(bits);
  if (lane_id() >= t.across) return;
  const u64 at = half_word(t.half, columns, t.column + lane_id());
  out[at] = copy[at] = word;
}

// Ors word k of `from` into word j of `to` for each of n entries (k, j) of B; blockIdx.y: of which 64 rows. What is there is not written again.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
bits_pushed(u64 n, u64 rows, u64 columns, const u64* offsets, const u32* indices, const u64* __restrict__ from, u64* to) {
  from += blockIdx.y * rows;
  to += blockIdx.y * columns;
  for_entries<false, true, true>(Entries<u8>{n, rows, offsets, indices, nullptr}, [&](u64, bool inside, u8, u32 row, u32 column) {
    const u64 word = inside ? from[row] : 0;
    if (word == 0) return;
    // Bits are only ever set: what was seen is there.
    const u64 missing = word & ~*(volatile u64*)&to[column];
    if (missing) atomicOr(&to[column], missing);
  });
}

// Bits of the cells row by row, 0 before, that words have and `without` (which may be null) has not.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
bits_of_rows(u64 rows, u64 columns, const u32* words, const u32* without, u32* out) {
  const Tile t = tile_of_warp(columns);
  if (t.half * 32 >= rows) return;
  u32 bits = 0;
  if (lane_id() < t.across) {
    const u64 at = half_word(t.half, columns, t.column + lane_id());
    bits = words[at];
    if (without) bits &= ~without[at];
  }
  const u32 word = warp_turned(bits);
  const u64 row = t.half * 32 + lane_id();
  if (word && row < rows) or_bits(out, row * columns + t.column, word);
}

}  // namespace oplus
