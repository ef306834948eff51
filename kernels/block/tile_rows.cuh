// Rows of the entries of a tile: where rows begin is marked in shared memory, and each entry looks at the mark before it. What
// that costs an entry does not depend on how many rows there are, unlike a search.
#include "warp/shuffle.cuh"

namespace oplus {

// Entries [begin, end) of compressed rows stand at the places `at` on of a tile; their rows are among [first, last].
struct TilePart {
  const u64* offsets;
  u64 begin, end;
  u32 first, last, at;
};

// mark(place, number) where a row begins or the part does; a number is the row's, less first, and 1 more. segments[s] = the
// number at place s · SEGMENT. THREADS threads call. What it writes is for all behind a barrier of the caller's.
template <u32 THREADS, u32 SEGMENT, class Mark>
__device__ inline void mark_rows(const TilePart& part, u32* segments, Mark mark) {
  for (u64 r = u64(part.first) + threadIdx.x; r <= part.last; r += THREADS) {
    const u64 from = max(part.offsets[r], part.begin), to = min(part.offsets[r + 1], part.end);
    if (from >= to) continue;
    const u32 number = u32(r - part.first) + 1, place = part.at + u32(from - part.begin), behind = part.at + u32(to - part.begin);
    mark(place, number);
    for (u32 s = (place + SEGMENT - 1) / SEGMENT; s * SEGMENT < behind; s++) segments[s] = number;
  }
}

// The number at the lane's place, with the mark that stands there or 0; `carried`: the number before the warp's 32 places, then
// that at the last of them. All lanes call.
__device__ inline u32 number_at(u32 mark, u32& carried) {
  const u32 marks = __ballot_sync(full_warp, mark != 0) & (lanes_below() << 1 | 1);
  const u32 found = shuffle(mark, marks ? 31 - u32(__clz(i32(marks))) : 0);
  const u32 number = marks ? found : carried;
  carried = shuffle(number, 31);
  return number;
}

}  // namespace oplus
