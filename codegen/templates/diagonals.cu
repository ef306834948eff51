// Entries between compressed rows and a slot for every row of each diagonal in use. A warp has 32 rows and some diagonals at a time:
// rows are read or written a group of lanes a row, diagonals a lane a row. `V` has the size of the value type. Deterministic. Launches:
// README.md.
#include "part/slots.cuh"
#include "warp/scan.cuh"

namespace oplus {

constexpr u32 diagonal_warps = tuning::primitive_block / 32;
// Larger values would not fit in shared memory.
constexpr bool diagonals_staged = flag::valued && sizeof(V) <= 16;
constexpr u32 diagonals_at_once = sizeof(V) <= 8 || sizeof(V) > 16 ? 16 : 8;
// Diagonals of a warp, where there are many.
constexpr u64 diagonals_part = 512;

typedef V Tile[32][diagonals_staged ? diagonals_at_once + 1 : 1];

// What a warp works on.
struct DiagonalUnit {
  u64 first_row, first, behind;
  bool later;

  // Of `count` diagonals, in parts with `cut`.
  __device__ DiagonalUnit(u64 count, bool cut) {
    const u64 parts = cut && count > 0 ? (count + diagonals_part - 1) / diagonals_part : 1;
    const u64 unit = u64(blockIdx.x) * diagonal_warps + threadIdx.x / 32, part = unit % parts;
    first_row = unit / parts * 32;
    first = part * diagonals_part;
    behind = cut ? min(first + diagonals_part, count) : count;
    later = part > 0;
  }
};

// Lanes of a group, and diagonals that a warp has at once: a power of two.
__device__ inline u32 diagonal_lanes(u64 count) { return count <= 4 ? 4 : count <= 8 || diagonals_at_once == 8 ? 8 : diagonals_at_once; }

// Every slot is written, V() where there is no entry; `words` (0 before, may be null): its bits. Not `valued`: bits alone.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, sizeof(V) <= 8 ? 3 : 2)
diagonals_put(u64 rows, const i64* diagonals, u64 count, const u64* offsets, const u32* __restrict__ indices, const V* __restrict__ values,
              u32* words, V* out) {
  __shared__ Tile tiles[diagonal_warps];
  Tile& tile = tiles[threadIdx.x / 32];
  const DiagonalUnit unit(count, true);
  if (unit.first_row >= rows) return;
  const u64 row = unit.first_row + lane_id();
  const bool live = row < rows;
  u64 next = live ? offsets[row] : 0;
  const u64 end = live ? offsets[row + 1] : 0;
  if (unit.later) {
    const i64 column = i64(row) + diagonals[unit.first];
    if (column > i64(0xffffffffu)) next = end;
    else if (column > 0) next = lower_bound<u32, u64>(indices, next, end, u32(column));
  }
  const u32 lanes = diagonal_lanes(count), rows_at_once = 32 / lanes, nth = lane_id() & (lanes - 1), group = lane_id() / lanes;
  for (u64 d = unit.first; d < unit.behind; d += lanes) {
    const u32 n = u32(min(u64(lanes), unit.behind - d));
    const i64 lowest = diagonals[d], highest = diagonals[d + n - 1];
    const bool dense = highest - lowest == i64(n) - 1;
    // Entries of the row that may be on them.
    const u32 left = u32(min(end - next, u64(lanes)));
    u32 mine = 0;
    // Of many diagonals most groups have no entry of these rows.
    const bool none = count > lanes && !__any_sync(full_warp, left > 0 && i64(indices[next]) - i64(row) <= highest);
    for (u32 i = 0; i < lanes && !none; i += 4) {
      u32 column[4];
      V x[diagonals_staged ? 4 : 1];
      u32 inside = 0;
#pragma unroll
      for (u32 t = 0; t < 4; t++) {
        const u32 r = (i + t) * rows_at_once + group;
        const u64 e = shuffle(next, r) + nth;
        const bool there = nth < shuffle(left, r);
        column[t] = there ? indices[e] : 0;
        if constexpr (diagonals_staged) {
          if (there) x[t] = values[e];
        }
        inside |= u32(there) << t;
      }
#pragma unroll
      for (u32 t = 0; t < 4; t++) {
        const u32 r = (i + t) * rows_at_once + group;
        const i64 shift = i64(column[t]) - i64(unit.first_row + r);
        const bool here = (inside >> t & 1) && shift <= highest;
        u32 bit = 0;
        if (here) bit = dense ? u32(shift - lowest) : u32(lower_bound<i64, u64>(diagonals, d, d + n, shift) - d);
        if constexpr (diagonals_staged) {
          if (here) tile[r][bit] = x[t];
        }
        // Mostly entries are on the first diagonals, one each.
        const u32 found = __ballot_sync(full_warp, here);
        u32 bits = found >> (group * lanes) & ((1u << lanes) - 1);
        if (__any_sync(full_warp, here && bit != nth)) {
          bits = here ? 1u << bit : 0;
          for (u32 step = lanes / 2; step > 0; step /= 2) bits |= shuffle_xor(bits, step);
        }
        const u32 got = shuffle(bits, lane_id() % rows_at_once * lanes);
        if (lane_id() / rows_at_once == i + t) mine = got;
      }
    }
    __syncwarp();
    u32 kept = 0;
#pragma unroll 4
    for (u32 k = 0; k < n; k++) {
      const bool there = mine >> k & 1;
      const u32 word = __ballot_sync(full_warp, there);
      if (lane_id() == k) kept = word;
      if constexpr (flag::valued) {
        V x = V();
        if (there) {
          if constexpr (diagonals_staged) x = tile[lane_id()][k];
          else x = values[next + u32(__popc(mine & ((1u << k) - 1)))];
        }
        if (live) out[(d + k) * rows + row] = x;
      }
    }
    if (words && kept) or_bits(words, (d + lane_id()) * rows + unit.first_row, kept);
    next += u32(__popc(mine));
    __syncwarp();
  }
}

// And back, to the rows that begin at `offsets`. indices may be null: values alone. Not `valued`: positions alone.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
diagonals_list(u64 rows, u64 columns, const i64* diagonals, u64 count, const u32* words, const u64* offsets, const V* __restrict__ from,
               u32* __restrict__ indices, V* __restrict__ values) {
  __shared__ Tile tiles[diagonal_warps];
  Tile& tile = tiles[threadIdx.x / 32];
  // Only where no bit says which have an entry is it known at once how many come before a part.
  const DiagonalUnit unit(count, !words);
  if (unit.first_row >= rows) return;
  const u64 row = unit.first_row + lane_id();
  const bool live = row < rows;
  u64 next = live ? offsets[row] : 0;
  if (unit.later && live) {
    const u64 first = lower_bound<i64, u64>(diagonals, 0, count, -i64(row));
    if (first < unit.first) next += unit.first - first;
  }
  const u32 lanes = diagonal_lanes(count), rows_at_once = 32 / lanes, nth = lane_id() & (lanes - 1), group = lane_id() / lanes;
  // Diagonals before that one begin below these rows.
  u64 d = lower_bound<i64, u64>(diagonals, unit.first, unit.behind, -i64(min(unit.first_row + 31, rows - 1)));
  for (; d < unit.behind && i64(unit.first_row) + diagonals[d] < i64(columns); d += lanes) {
    const u32 n = u32(min(u64(lanes), unit.behind - d));
    const i64 shift = nth < n ? diagonals[d + nth] : 0;
    constexpr u32 batch = diagonals_staged && sizeof(V) > 8 ? 4 : 8;
    u32 mine = 0;
    for (u32 k = 0; k < n; k += batch) {
      V x[diagonals_staged ? batch : 1];
      u32 here = 0;
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        if (k + t >= n) continue;
        const i64 column = i64(row) + diagonals[d + k + t];
        const u64 slot = (d + k + t) * rows + row;
        if (!live || column < 0 || column >= i64(columns) || !has_entry(words, slot)) continue;
        here |= 1u << t;
        if constexpr (diagonals_staged) x[t] = from[slot];
      }
      if constexpr (diagonals_staged) {
#pragma unroll
        for (u32 t = 0; t < batch; t++) {
          if (here >> t & 1) tile[lane_id()][k + t] = x[t];
        }
      }
      mine |= here << k;
    }
    if (!__any_sync(full_warp, mine != 0)) continue;
    __syncwarp();
#pragma unroll 4
    for (u32 i = 0; i < lanes; i++) {
      const u32 r = i * rows_at_once + group, bits = shuffle(mine, r);
      const u64 to = shuffle(next, r) + u32(__popc(bits & ((1u << nth) - 1)));
      if (!(bits >> nth & 1)) continue;
      if (indices) indices[to] = u32(i64(unit.first_row + r) + shift);
      if constexpr (diagonals_staged) values[to] = tile[r][nth];
      else if constexpr (flag::valued) values[to] = from[(d + nth) * rows + unit.first_row + r];
    }
    next += u32(__popc(mine));
    __syncwarp();
  }
}

// The transpose, whose diagonals are these with the other sign, the last one first: slot (d, i) goes to slot (count - 1 - d, i + diagonals[d]).
// Every slot is written, V() where there is no entry; `words` may be null, `bits` is written where it is not. A warp has 128 slots: four words.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
diagonals_turned(u64 rows, u64 columns, const i64* diagonals, u64 count, const u32* words, const V* __restrict__ from, u32* bits, V* out) {
  constexpr u32 batch = diagonals_staged ? 4 : 1;
  const u64 slots = count * columns, first = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32 * 128 + lane_id();
  u64 d = first / columns, row = first % columns;
  for (u32 t = 0; t < 4; t += batch) {
    V x[batch];
    u32 there = 0;
#pragma unroll
    for (u32 k = 0; k < batch; k++) {
      for (; row >= columns; row -= columns) d++;
      const u64 slot = first + (t + k) * 32;
      x[k] = V();
      if (slot < slots) {
        const u64 nth = count - 1 - d;
        const i64 old_row = i64(row) - diagonals[nth];
        if (old_row >= 0 && u64(old_row) < rows && has_entry(words, nth * rows + u64(old_row))) {
          there |= 1u << k;
          if constexpr (flag::valued) x[k] = from[nth * rows + u64(old_row)];
        }
      }
      row += 32;
    }
#pragma unroll
    for (u32 k = 0; k < batch; k++) {
      const u64 slot = first + (t + k) * 32;
      const u32 word = __ballot_sync(full_warp, there >> k & 1);
      if (bits && lane_id() == 0 && slot < slots) bits[slot >> 5] = word;
      if constexpr (flag::valued) {
        if (slot < slots) out[slot] = x[k];
      }
    }
  }
}

}  // namespace oplus
