// Segmented merge: q sorted runs of p segments, side by side, become p sorted segments. Stable, deterministic.
//
// After Ji, Lu, Liu, Jin, "Segmented Merge: A New Primitive for Parallel Sparse Matrix Computations" (IJPP 2021): a binary tree
// bottom-up, of which a launch is a level: neighbouring runs of a segment are merged two by two, along merge paths, a fixed
// number of elements a thread whatever the lengths of runs and segments. Segments of one run are passed over.
#include "device/rows.cuh"

namespace oplus {

constexpr u32 merge_level_items = tuning::sort_items, merge_level_tile = tuning::primitive_block * merge_level_items;

// Run r has the elements runs[r] - origin .. runs[r + 1] - origin; segment s the runs segments[s] .. segments[s + 1]. At level
// l, 2^l runs of the beginning make one.
struct SegmentedRuns {
  const u64 *runs, *segments;
  u64 origin;
  u32 level;

  __device__ u64 begin(u64 segment) const { return runs[segments[segment]] - origin; }
};

// Levels of the tree over so many runs.
__device__ inline u32 merge_levels(u64 runs) { return runs < 2 ? 0 : 64 - u32(__clzll(i64(runs - 1))); }

// How many elements a segment has for a level to move, of `levels` in all. Elements go to and fro between two arrays: with the
// last level also those segments move that were done an odd number of levels before.
__device__ inline u64 merge_level_work(const SegmentedRuns& x, u32 levels, u64 segment) {
  const u64 first = x.segments[segment], count = x.segments[segment + 1] - first;
  const u32 mine = merge_levels(count);
  const bool moves = mine > x.level || (x.level + 1 == levels && ((mine ^ levels) & 1));
  return moves ? x.runs[first + count] - x.runs[first] : 0;
}

// Two neighbours: elements begin .. middle and middle .. end.
struct RunPair {
  u64 begin, middle, end;
};
// The pair that has the element at `position`, of a segment that is not empty.
__device__ inline RunPair pair_of(const SegmentedRuns& x, u64 segment, u64 position) {
  const u64 first = x.segments[segment], count = x.segments[segment + 1] - first, step = 2ull << x.level;
  u64 low = 0, high = (count - 1) / step;
  while (low < high) {
    const u64 middle = low + (high - low + 1) / 2;
    if (x.runs[first + middle * step] - x.origin <= position) low = middle;
    else high = middle - 1;
  }
  const u64 at = low * step;
  return {x.runs[first + at] - x.origin, x.runs[first + min(at + step / 2, count)] - x.origin,
          x.runs[first + min(at + step, count)] - x.origin};
}

// How many of the first d elements of the merged a and b are a's; of equal ones a's come first.
template <class I, class Key> __device__ inline I merge_path(const Key* a, I a_count, const Key* b, I b_count, I d) {
  I low = d > b_count ? d - b_count : 0, high = d < a_count ? d : a_count;
  while (low < high) {
    const I middle = low + (high - low) / 2;
    if (b[d - 1 - middle] < a[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}

// One level. work[s] = elements to move before segment s, work[p] in all. Launch: any grid, blocks of tuning::primitive_block.
template <class Key>
__device__ inline void merge_one_level(u64 p, const SegmentedRuns& x, const u64* work, const Key* keys, const u32* payloads,
                                       Key* keys_out, u32* payloads_out) {
  constexpr u32 block = tuning::primitive_block, items = merge_level_items, tile = merge_level_tile;
  __shared__ Key key[tile];
  __shared__ u32 payload[tile];
  __shared__ unsigned short start[tile], middle[tile], stop[tile];  // of the pair that an element belongs to, in the tile
  __shared__ u64 cut[2];
  const u64 total = work[p];
  for (u64 base = u64(blockIdx.x) * tile; base < total; base += u64(gridDim.x) * tile) {
    const u64 end = min(base + tile, total);
    const u32 n = u32(end - base);
    const RowRange range = rows_of_entries(work, p, base, end);
    // The tile's first and last pair may be cut by its ends: how many of their first run's elements come before these.
    if (threadIdx.x < 64 && lane_id() == 0) {
      const bool last = threadIdx.x != 0;
      const u64 o = last ? end - 1 : base, s = last ? range.last : range.first;
      const u64 position = x.begin(s) + (o - work[s]);
      const RunPair pair = pair_of(x, s, position);
      cut[last] = merge_path<u64>(keys + pair.begin, pair.middle - pair.begin, keys + pair.middle, pair.end - pair.middle,
                                  position - pair.begin + last);
    }
    __syncthreads();
    u64 to[items];
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      const u32 i = t * block + threadIdx.x;
      if (i >= n) continue;
      const u64 o = base + i;
      const u32 s = row_of(work, range.first, range.last, o);
      const u64 position = x.begin(s) + (o - work[s]);
      const RunPair pair = pair_of(x, s, position);
      // Where the pair's elements go, counted as `o`.
      const u64 first = o - (position - pair.begin), behind = first + (pair.end - pair.begin);
      const u64 a = first < base ? cut[0] : 0, b = first < base ? base - first - a : 0;
      const u64 a_end = behind > end ? cut[1] : pair.middle - pair.begin;
      const u32 from = first < base ? 0 : u32(first - base), a_count = u32(a_end - a), nth = i - from;
      const u64 source = nth < a_count ? pair.begin + a + nth : pair.middle + b + (nth - a_count);
      key[i] = keys[source];
      payload[i] = payloads[source];
      start[i] = (unsigned short)from;
      middle[i] = (unsigned short)(from + a_count);
      stop[i] = (unsigned short)(behind > end ? n : u32(behind - base));
      to[t] = position;
    }
    __syncthreads();
    Key mine[items];
    u32 mine_payload[items], a = 0, a_end = 0, b = 0, b_end = 0, left = 0;
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      const u32 i = threadIdx.x * items + t;
      if (i >= n) continue;
      if (left == 0) {
        const u32 from = start[i];
        a_end = middle[i];
        b_end = stop[i];
        a = from + merge_path<u32>(key + from, a_end - from, key + a_end, b_end - a_end, i - from);
        b = a_end + (i - a);
        left = b_end - i;
      }
      const bool is_a = b >= b_end || (a < a_end && !(key[b] < key[a]));
      const u32 source = is_a ? a++ : b++;
      mine[t] = key[source];
      mine_payload[t] = payload[source];
      left--;
    }
    __syncthreads();
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      const u32 i = threadIdx.x * items + t;
      if (i >= n) continue;
      key[i] = mine[t];
      payload[i] = mine_payload[t];
    }
    __syncthreads();
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      const u32 i = t * block + threadIdx.x;
      if (i >= n) continue;
      keys_out[to[t]] = key[i];
      payloads_out[to[t]] = payload[i];
    }
  }
}

}  // namespace oplus
