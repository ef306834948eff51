// Rows of at most 32 products: one product a lane, sorted by column in registers.
#include "part/spgemm.cuh"
#include "warp/sort.cuh"

namespace oplus {

// The products of a row of at most WIDTH products, one a lane of a group; `active` is false past the last.
struct Lane {
  bool active;
  u32 column;
  u64 a, b;
};
template <u32 WIDTH> __device__ inline Lane lane_product(const Operands& x, bool live, u32 row) {
  const u32 lane = lane_id() & (WIDTH - 1);
  Lane mine = {false, 0xffffffffu, 0, 0};
  u64 begin = 0, end = 0;
  if (live) {
    begin = x.a.offsets[row];
    end = x.a.offsets[row + 1];
  }
  u32 done = 0;
  while (__any_sync(full_warp, begin < end)) {
    u64 from = 0;
    u32 size = 0;
    if (begin + lane < end) {
      const u32 k = x.a.indices[begin + lane];
      from = x.b.offsets[k];
      size = u32(x.b.offsets[k + 1] - from);
    }
    const u32 last = done + warp_inclusive_sum<WIDTH>(size);
    u32 e = 0;  // entries of this round that end at or before product `lane`
#pragma unroll
    for (u32 step = WIDTH / 2; step > 0; step /= 2) {
      if (shuffle(last, e + step - 1, WIDTH) <= lane) e += step;
    }
    const u32 e_last = shuffle(last, e, WIDTH), e_size = shuffle(size, e, WIDTH);
    const u64 e_from = shuffle(from, e, WIDTH);
    if (lane < e_last && lane >= done && begin < end) {
      mine.active = true;
      mine.a = begin + e;
      mine.b = e_from + (lane - (e_last - e_size));
    }
    done = shuffle(last, WIDTH - 1, WIDTH);
    begin += WIDTH;
  }
  if (mine.active) {
    mine.column = x.b.indices[mine.b];
    if (!admitted(x, row, mine.column)) mine.active = false;
  }
  return mine;
}

// Sorts the group's columns. `source`: the lane a sorted product came from. Inactive ones come last, with `last` = true.
template <u32 WIDTH> __device__ inline void sort_lanes(const Lane& mine, u32 columns, u32& column, u32& source, bool& active) {
  const u32 lane = lane_id() & (WIDTH - 1);
  if (columns < 1u << 27) {  // lane and column fit one key; an inactive key is above all others
    u32 key = mine.column << 5 | lane;
    if (!mine.active) key = 0xffffffe0u | lane;
    const u32 inactive = WIDTH - __popc(__ballot_sync(full_warp, mine.active) >> (lane_id() & ~(WIDTH - 1)) & (0xffffffffu >> (32 - WIDTH)));
    key = warp_sort<WIDTH>(key);
    column = key >> 5;
    source = key & 31;
    active = lane < WIDTH - inactive;
  } else {
    u64 key = u64(mine.active ? mine.column : 0xffffffffu) << 5 | lane | (mine.active ? 0 : u64(1) << 37);
    key = warp_sort<WIDTH>(key);
    column = u32(key >> 5);
    source = u32(key) & 31;
    active = (key >> 37) == 0;
  }
}

}  // namespace oplus
