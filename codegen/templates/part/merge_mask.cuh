// Which of a tile's merged entries a mask has. What the mask has between the tile's first and its last becomes keys like theirs, a
// stretch after the other, in the place of theirs; of a mask that has far more, entries look their places up in memory.
#include "block/tile_rows.cuh"
#include "part/merge_find.cuh"

namespace oplus {

// before[t]: entries of the mask before the t-th tile's first.
struct MergeMask {
  const u64* offsets;
  const u32* indices;
  const u64* before;
};

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

// A bit for each of the thread's `count` merged entries. All threads call, who need the keys no more. Has barriers.
template <class Key, u32 ITEMS>
__device__ inline u32 in_mask(const MergeMask& mask, const MergeSource& at, MergeKeys<Key>& keys, Key (&merged)[ITEMS], u32 count) {
  constexpr u32 threads = entry_tile / ITEMS, each = ITEMS / 4;
  // The last one's key may be the next tile's first.
  const u64 last = min(mask.before[blockIdx.x + 1] + 1, mask.offsets[u64(at.first) + at.last + 1]);
  u64 begin = mask.before[blockIdx.x];
  u32 found = 0;
  if (begin < last && (last - begin > 4 * entry_tile || !at.marked())) {
    keys.keep(merged);
    MaskWalk walk = {mask.offsets, mask.indices, 0, 0, 0, false};
#pragma unroll 1
    for (u32 t = 0; t < count; t++) {
      const Key key = keys.template kept<ITEMS>(t);
      found |= u32(walk.has(at.first + keys.row(key), keys.column(key))) << t;
    }
    return found;
  }
  while (begin < last) {
    // The last places stay without, so that there are keys above all.
    const u64 from = begin & ~u64(3), end = min(from + (entry_tile - 4), last);
    const u32 lead = u32(begin - from), n = u32(end - from);
    Quad<u32> column[each];
#pragma unroll
    for (u32 t = 0; t < each; t++) {
      const u32 place = 4 * (t * threads + threadIdx.x);
      column[t] = quad_or<u32>(mask.indices + from, place, n, ~0u);
    }
    __syncthreads();
    keys.template clear<threads>();
    __syncthreads();
    mark_rows<threads, MergeTile::segment>({mask.offsets, begin, end, at.first, at.first + at.last, lead}, keys.numbers,
                                           [&](u32 place, u32 number) { keys.keys[bank_place<Key>(place)] = number; });
    __syncthreads();
#pragma unroll
    for (u32 t = 0; t < each; t++) fill_marked(keys, t * threads + threadIdx.x, column[t]);
    __syncthreads();
    u32 place = lower_bound<Key, u32>(keys, lead, n, merged[0]), here = 0;
    Key next = keys[place];
    // Some are written out at a time; they take turns in the first registers.
#pragma unroll 1
    for (u32 round = 0; round < ITEMS; round += 4) {
      here >>= 4;
#pragma unroll
      for (u32 s = 0; s < 4; s++) {
#pragma unroll 1
        for (u32 step = 0; step < 4 && next < merged[s]; step++) next = keys[++place];
        if (next < merged[s]) {
          place = lower_bound<Key, u32>(keys, place + 1, n, merged[s]);
          next = keys[place];
        }
        here |= u32(next == merged[s]) << (ITEMS - 4 + s);
      }
      Key first[4];
#pragma unroll
      for (u32 s = 0; s < 4; s++) first[s] = merged[s];
#pragma unroll
      for (u32 t = 0; t < ITEMS; t++) merged[t] = t + 4 < ITEMS ? merged[(t + 4) % ITEMS] : first[t % 4];
    }
    found |= here;
    begin = end;
  }
  return found;
}

}  // namespace oplus
