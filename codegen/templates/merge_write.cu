// Columns and values of the merged entries that merge_count.cu marked; function::op where both have one. A filled union has
// it everywhere, with alpha and beta for what is missing; its entries are marked as a union's.
//
// Which side an entry is from says where it stands there: so many of A's come before it, the others are B's. A warp has
// consecutive entries, its lanes side by side.
#include "part/merge_value.cuh"
#include "thread/quad.cuh"
#include "thread/rank.cuh"
#include "warp/scan.cuh"

namespace oplus {

constexpr u32 write_items = tuning::entry_items;

// So many entries a thread are read before one is written: who reads one after the other waits for each.
constexpr u32 write_bytes = sizeof(Left) + sizeof(Right);
constexpr u32 write_batch = write_bytes <= 8 ? write_items : write_bytes <= 16 ? 4 : write_bytes <= 32 ? 2 : 1;

// Where nearly all entries are written, a tile's are read at once, in pieces as large as memory takes.
constexpr bool write_staged = number::kind != kind_intersection && SameType<Left, Right>::value && sizeof(Left) <= 8;

// A tile's columns and values in shared memory: A's, then B's, each from a multiple of four entries on.
struct StagedTile {
  static constexpr u32 room = entry_tile + 16;
  u32* columns;
  Left* values;
  u64 from_a, from_b;
  u32 quads_a;

  __device__ u32 place_of_a(u64 e) const { return u32(e - from_a); }
  __device__ u32 place_of_b(u64 e) const { return 4 * quads_a + u32(e - from_b); }

  // Entries a0 .. a1 and b0 .. b1. All threads call; a barrier has to follow.
  __device__ void load(const u32* a_indices, const Left* a_values, u64 a0, u64 a1, const u32* b_indices, const Left* b_values,
                       u64 b0, u64 b1) {
    from_a = a0 & ~u64(3);
    from_b = b0 & ~u64(3);
    quads_a = u32(a1 - from_a + 3) / 4;
    const u32 quads = quads_a + u32(b1 - from_b + 3) / 4;
    Quad<u32> column[2];
    Quad<Left> value[2];
    const auto read = [&](u32 q, Quad<u32>& c, Quad<Left>& v) {
      if (q >= quads) return;
      const bool is_a = q < quads_a;
      const u64 e = is_a ? from_a + 4 * q : from_b + 4 * (q - quads_a), end = is_a ? a1 : b1;
      c = quad_at(is_a ? a_indices : b_indices, e, end);
      v = quad_at(is_a ? a_values : b_values, e, end);
    };
    const auto write = [&](u32 q, const Quad<u32>& c, const Quad<Left>& v) {
      if (q >= quads) return;
      *reinterpret_cast<Quad<u32>*>(columns + 4 * q) = c;
      *reinterpret_cast<Quad<Left>*>(values + 4 * q) = v;
    };
#pragma unroll
    for (u32 t = 0; t < 2; t++) read(t * merge_block + threadIdx.x, column[t], value[t]);
#pragma unroll
    for (u32 t = 0; t < 2; t++) write(t * merge_block + threadIdx.x, column[t], value[t]);
    // Some are left where the two do not begin and end at multiples of four.
    if (threadIdx.x < 4) {
      read(2 * merge_block + threadIdx.x, column[0], value[0]);
      write(2 * merge_block + threadIdx.x, column[0], value[0]);
    }
  }
};
static_assert(write_items == 8, "two quads a thread");

// starts[w]: marks before word w. total is not 0.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, write_staged || write_bytes <= 16 ? 4 : 1)
merge_write(u64 total, const u32* a_indices, const Left* a_values, const u32* b_indices, const Right* b_values,
            const u64* a_splits, const u32* words, const u64* starts, const u32* sides, const u32* pairs,
            const u32* admitted, Given<Left> alpha, Given<Right> beta, u32* out_indices, Result* out_values) {
  const u32 warp = threadIdx.x / 32, lane = lane_id();
  const u64 begin = u64(blockIdx.x) * entry_tile, first_word = u64(blockIdx.x) * merge_words, mine = begin + warp * 32 * write_items;
  // A's entries of the tile before the warp's.
  u32 before = 0;
  for (u32 w = lane; w < warp * write_items; w += 32) before += u32(__popc(sides[first_word + w]));
  const u64 word = first_word + warp * write_items + min(lane, write_items - 1);
  const u32 my_words = words[word], my_sides = sides[word], my_pairs = pairs[word];
  const u32 my_admitted = flag::masked ? admitted[word] : ~0u;
  const u64 my_starts = starts[word];
  const u64 tile_a = a_splits[blockIdx.x];
  __shared__ Quad<u64> space[write_staged ? StagedTile::room * (sizeof(u32) + sizeof(Left)) / sizeof(Quad<u64>) + 1 : 1];
  u32* const columns = reinterpret_cast<u32*>(space);
  StagedTile tile = {columns, reinterpret_cast<Left*>(columns + StagedTile::room), 0, 0, 0};
  if constexpr (write_staged) {
    const u64 end_a = a_splits[blockIdx.x + 1], end_b = min(begin + entry_tile, total) - end_a, all_b = total - a_splits[gridDim.x];
    // B's of a pair may be the first behind the tile.
    const Left* const right_values = reinterpret_cast<const Left*>(b_values);  // they are of one type
    tile.load(a_indices, a_values, tile_a, end_a, b_indices, right_values, begin - tile_a, min(end_b + 1, all_b));
    __syncthreads();
  }
  if (mine >= total) return;
  const u64 first_a = tile_a + warp_sum(before), first_b = mine - first_a, first_out = shuffle(my_starts, 0);
  const u32 my_place = u32(my_starts - first_out);
  // All of the warp's from here on are counted from its first.
  u32 i = 0;
#pragma unroll
  for (u32 low = 0; low < write_items; low += write_batch) {
    u32 out[write_batch], column[write_batch], keeps = 0, has_a = 0, has_b = 0;
    Left left[write_batch];
    Right right[write_batch];
#pragma unroll
    for (u32 s = 0; s < write_batch; s++) {
      const u32 t = low + s;
      const u32 kept = shuffle(my_words, t), side = shuffle(my_sides, t), pair = shuffle(my_pairs, t);
      const u32 admit = flag::masked ? shuffle(my_admitted, t) : ~0u;
      out[s] = shuffle(my_place, t) + __popc(kept & lanes_below());
      const u32 a = i + __popc(side & lanes_below()), b = t * 32 + lane - a;
      i += __popc(side);
      if (!(kept >> lane & 1)) continue;
      const bool is_a = side >> lane & 1;
      bool of_a = is_a, of_b = !is_a || (pair >> lane & 1);
      if (!(admit >> lane & 1)) of_b = false;
      else if (number::kind == kind_overwrite) of_a = false;
      keeps |= 1u << s;
      has_a |= u32(of_a) << s;
      has_b |= u32(of_b) << s;
      if constexpr (write_staged) {
        const u32 place_a = tile.place_of_a(first_a + a), place_b = tile.place_of_b(first_b + b);
        column[s] = tile.columns[is_a ? place_a : place_b];
        if (of_a) left[s] = tile.values[place_a];
        if (of_b) right[s] = reinterpret_cast<const Right*>(tile.values)[place_b];
      } else {
        column[s] = is_a ? a_indices[first_a + a] : b_indices[first_b + b];
        if (of_a) left[s] = a_values[first_a + a];
        if (of_b) right[s] = b_values[first_b + b];
      }
    }
#pragma unroll
    for (u32 s = 0; s < write_batch; s++) {
      if (!(keeps >> s & 1)) continue;
      out_indices[first_out + out[s]] = column[s];
      out_values[first_out + out[s]] = value_of<number::kind>(left[s], right[s], alpha, beta, has_a >> s & 1, has_b >> s & 1);
    }
  }
}

}  // namespace oplus
