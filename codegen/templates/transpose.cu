// Entries of A moved to the places that partition.cu counted for a digit of their columns. Stable, so that in the end every
// column's entries are in the order of rows. `V` has the size of the value type; without values (null) positions alone are
// moved. Deterministic. Launches: README.md.
//
// A tile is brought into the order of digits in shared memory, so that what goes to one place is written side by side.
#include "part/transpose.cuh"

namespace oplus {

// rows null: A's own compressed rows, else a row an entry. keys_out null: not wanted any more.
// Large blocks: two of a multiprocessor, which the compiler comes to by itself; asked for them it spills a register.
extern "C" __global__ void __launch_bounds__(partition_block, partition_block < 512 ? 5 : 0)
transpose_move(const u32* keys, const u32* rows, const V* values, u64 row_count, const u64* offsets, u64 parts,
               const u64* begins, const u64* tiles, u32 shift, u32 bits, const u64* starts, u32* keys_out, u32* rows_out,
               V* values_out) {
  DYN_SHARED(unsigned char, bytes);
  if (blockIdx.x >= tiles[parts]) return;
  const u32 digits = 1u << bits, mine = threadIdx.x / 32 * move_segment + lane_id();
  const MoveMemory s = {bytes, digits};
  const PartTile tile = part_tile(parts, begins, tiles);
  const u32 n = tile.n;
  u32 place[move_items];
#pragma unroll
  for (u32 t = 0; t < move_items; t++) {
    place[t] = mine + t * 32 < n ? keys[tile.begin + mine + t * 32] >> shift & (digits - 1) : 0;
  }
  order_by_digit<true>(s, n, move_segment, bits, place, [&](u32 d, u32 at) { s.to()[d] = starts[tile.place(digits, d)] - at; });
  const auto to = [&](u32 p) { return s.to()[s.digit()[p]] + p; };
  if (keys_out) move_out(s, n, place, keys_out, [&](u32 t) { return keys[tile.begin + mine + t * 32]; }, to);
  move_entries(s, tile.begin, n, move_segment, place, rows, values, row_count, offsets, rows_out, values_out, to);
}

}  // namespace oplus
