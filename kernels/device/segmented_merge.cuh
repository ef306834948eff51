// Segmented merge: q sorted runs of p segments, side by side, become p sorted segments. Stable, deterministic.
//
// After Ji, Lu, Liu, Jin, "Segmented Merge: A New Primitive for Parallel Sparse Matrix Computations" (IJPP 2021): a binary tree
// bottom-up. Neighbouring runs of a segment are merged two by two, along merge paths, a fixed number of elements a thread
// whatever the lengths of runs and segments. Segments of one run are passed over. Short segments, some to a block, go through all
// levels of their tree in shared memory; of long ones a launch is a level.
#include "block/team.cuh"
#include "device/rows.cuh"
#include "thread/banks.cuh"

namespace oplus {

constexpr u32 merge_level_items = tuning::sort_items, merge_level_tile = tuning::primitive_block * merge_level_items;
constexpr u32 merge_short = merge_level_tile / 2;  // elements of a short segment at most

// Run r has the elements runs[r] - origin .. runs[r + 1] - origin; segment s the runs segments[s] .. segments[s + 1]. At level
// l, 2^l runs of the beginning make one.
struct SegmentedRuns {
  const u64 *runs, *segments;
  u64 origin;
  u32 level;

  __device__ u64 begin(u64 segment) const { return runs[segments[segment]] - origin; }
  __device__ u64 size(u64 segment) const { return runs[segments[segment + 1]] - runs[segments[segment]]; }
  __device__ u64 count(u64 segment) const { return segments[segment + 1] - segments[segment]; }
};

// Levels of the tree over so many runs.
__device__ inline u32 merge_levels(u64 runs) { return runs < 2 ? 0 : 64 - u32(__clzll(i64(runs - 1))); }

// How many elements a segment has for a level of the long ones to move, of `levels` in all. Elements go to and fro between two
// arrays: with the last level also those segments move that were done an odd number of levels before.
__device__ inline u64 merge_level_work(const SegmentedRuns& x, u32 levels, u64 segment) {
  const u64 size = x.size(segment);
  const u32 mine = merge_levels(x.count(segment));
  const bool moves = mine > x.level || (x.level + 1 == levels && ((mine ^ levels) & 1));
  return size > merge_short && moves ? size : 0;
}
// The same for the short ones; `moves`: they go to another array.
__device__ inline u64 merge_short_work(const SegmentedRuns& x, bool moves, u64 segment) {
  const u64 size = x.size(segment);
  return size <= merge_short && (moves || x.count(segment) > 1) ? size : 0;
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
template <class I, class Run> __device__ inline I merge_path(const Run& a, I a_count, const Run& b, I b_count, I d) {
  I low = d > b_count ? d - b_count : 0, high = d < a_count ? d : a_count;
  while (low < high) {
    const I middle = low + (high - low) / 2;
    if (b[d - 1 - middle] < a[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Elements of a tile from one on.
template <class Keys> struct TileRun {
  Keys& keys;
  u32 begin;
  __device__ auto operator[](u32 i) const { return keys[begin + i]; }
};

// Elements of the tile in shared memory, and where the pairs are: of_pair(i) says begin, middle and end of element i's. Merges
// them, a fixed number of elements a thread. Begins after a barrier and ends with one.
struct TilePair {
  u32 begin, middle, end;
};
template <class Key, class F>
__device__ inline void merge_tile(Banked<Key, merge_level_tile>& key, Banked<u32, merge_level_tile>& payload, u32 n, F of_pair) {
  typedef TileRun<Banked<Key, merge_level_tile>> Run;
  constexpr u32 items = merge_level_items;
  Key mine[items];
  u32 mine_payload[items], a = 0, a_end = 0, b = 0, b_end = 0, left = 0;
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    const u32 i = threadIdx.x * items + t;
    if (i >= n) continue;
    if (left == 0) {
      const TilePair pair = of_pair(i);
      a_end = pair.middle;
      b_end = pair.end;
      a = pair.begin + merge_path<u32>(Run{key, pair.begin}, a_end - pair.begin, Run{key, a_end}, b_end - a_end, i - pair.begin);
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
}

// What a tile of a level begins with: where its first element comes from, the pair that has it, and how many elements of the pair's first run
// come before it.
struct MergeCut {
  u64 position;
  RunPair pair;
  u64 before;
};

// cuts[t]: of tile t, where there is one. A thread a tile: looking for these takes longer than merging a tile, and all look at once.
template <class Key>
__device__ inline void merge_level_cut(u64 t, u64 p, const SegmentedRuns& x, const u64* work, const Key* keys, MergeCut* cuts) {
  const u64 o = t * merge_level_tile;
  if (o >= work[p]) return;
  const u32 s = row_of(work, 0, u32(p - 1), o);
  const u64 position = x.begin(s) + (o - work[s]);
  const RunPair pair = pair_of(x, s, position);
  const u64 before =
      merge_path<u64>(keys + pair.begin, pair.middle - pair.begin, keys + pair.middle, pair.end - pair.middle, position - pair.begin);
  cuts[t] = {position, pair, before};
}

// One level of the long segments. cuts: a tile each. work[s] = elements to move before segment s, work[p] in all. Launch: any grid, blocks of tuning::primitive_block.
template <class Key>
__device__ inline void merge_one_level(u64 p, const SegmentedRuns& x, const u64* work, const MergeCut* cuts, const Key* keys,
                                       const u32* payloads, Key* keys_out, u32* payloads_out) {
  constexpr u32 block = tuning::primitive_block, items = merge_level_items, tile = merge_level_tile;
  __shared__ Banked<Key, tile> key;
  __shared__ Banked<u32, tile> payload;
  __shared__ unsigned short start[tile], middle[tile], stop[tile];  // of the pair that an element belongs to, in the tile
  const u64 total = work[p];
  for (u64 base = u64(blockIdx.x) * tile; base < total; base += u64(gridDim.x) * tile) {
    const u64 end = min(base + tile, total);
    const u32 n = u32(end - base);
    const MergeCut* const cut = cuts + base / tile;
    const u64 position_of_first = cut->position, cut_at_first = cut->before;
    const RunPair first_pair = cut->pair;
    // Of long runs most tiles lie in one pair, and nobody looks for others.
    const bool single = first_pair.end - position_of_first >= n;
    RowRange range = {0, 0};
    if (!single) range = rows_of_entries(work, p, base, end);
    u64 to[items];
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      const u32 i = t * block + threadIdx.x;
      if (i >= n) continue;
      const u64 o = base + i;
      u64 position = position_of_first + i;
      RunPair pair = first_pair;
      if (!single) {
        const u32 s = row_of(work, range.first, range.last, o);
        position = x.begin(s) + (o - work[s]);
        pair = pair_of(x, s, position);
      }
      // Where the pair's elements go, counted as `o`.
      const u64 first = o - (position - pair.begin), behind = first + (pair.end - pair.begin);
      const u64 a = first < base ? cut_at_first : 0, b = first < base ? base - first - a : 0;
      // It goes on in the next tile.
      const u64 a_end = behind > end ? cut[1].before : pair.middle - pair.begin;
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
    merge_tile(key, payload, n, [&](u32 i) { return TilePair{start[i], middle[i], stop[i]}; });
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      const u32 i = t * block + threadIdx.x;
      if (i >= n) continue;
      keys_out[to[t]] = key[i];
      payloads_out[to[t]] = payload[i];
    }
  }
}

// The short segments. work as before. The arrays may be the same. Launch: any grid, blocks of tuning::primitive_block threads.
template <class Key>
__device__ inline void merge_short_segments(u64 p, const SegmentedRuns& x, const u64* work, const Key* keys, const u32* payloads,
                                            Key* keys_out, u32* payloads_out) {
  constexpr u32 block = tuning::primitive_block, items = merge_level_items, tile = merge_level_tile;
  typedef unsigned short Place;
  constexpr Place head = 1;
  __shared__ Banked<Key, tile> key;
  __shared__ Banked<u32, tile> payload;
  // Of each element: the number of its run among the tile's, and where its segment begins and ends. Of each run: its beginning.
  __shared__ Place run[tile], start[tile], stop[tile], begin[tile + 1];
  __shared__ u64 scratch[34], bound[2];
  __shared__ u32 levels;
  const Team<block> team = {scratch};
  const u64 total = work[p];
  // A block takes the segments that begin in its half of a tile.
  for (u64 half = blockIdx.x; half * merge_short < total; half += gridDim.x) {
    __syncthreads();
    if (threadIdx.x < 64) {
      const u64 from = (half + threadIdx.x / 32) * merge_short;
      const u64 s = from == 0 ? 0 : warp_last_not_above(0, p, from - 1, [&](u64 i) { return work[i]; }) + 1;
      if (lane_id() == 0) bound[threadIdx.x / 32] = min(s, p);
    }
    if (threadIdx.x == 0) levels = 0;
    __syncthreads();
    const u64 first = bound[0], last = bound[1], base = work[first];
    const u32 n = u32(work[last] - base);
    if (n == 0) continue;
    u64 to[items];
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      const u32 i = t * block + threadIdx.x;
      if (i >= n) continue;
      const u32 s = row_of(work, u32(first), u32(last - 1), base + i);
      const u64 nth = base + i - work[s], position = x.begin(s) + nth;
      // The last run that begins at the element or before has it.
      const u64 r = upper_bound<u64, u64>(x.runs, x.segments[s], x.segments[s + 1], position + x.origin) - 1;
      key[i] = keys[position];
      payload[i] = payloads[position];
      run[i] = x.runs[r] - x.origin == position ? head : 0;
      start[i] = Place(i - u32(nth));
      stop[i] = Place(i - u32(nth) + u32(x.size(s)));
      to[t] = position;
    }
    __syncthreads();
    u32 heads = 0, runs;
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      const u32 i = threadIdx.x * items + t;
      if (i < n) heads += run[i];
    }
    u32 next = team.exclusive_sum(heads, runs);
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      const u32 i = threadIdx.x * items + t;
      if (i >= n) continue;
      if (run[i] == head) begin[next++] = Place(i);
      run[i] = Place(next - 1);
    }
    if (threadIdx.x == 0) begin[runs] = Place(n);
    __syncthreads();
    u32 most = 0;
#pragma unroll
    for (u32 t = 0; t < items; t++) {
      const u32 i = threadIdx.x * items + t;
      if (i < n && start[i] == i) most = max(most, merge_levels(u64(run[stop[i] - 1]) + 1 - run[i]));
    }
    most = warp_max(most);
    if (lane_id() == 0 && most) atomicMax(&levels, most);
    __syncthreads();
    for (u32 level = 0; level < levels; level++) {
      merge_tile(key, payload, n, [&](u32 i) {
        const u32 from = run[start[i]], end = u32(run[stop[i] - 1]) + 1, one = 1u << level;
        const u32 pair = from + ((run[i] - from) >> (level + 1) << (level + 1));
        return TilePair{begin[pair], begin[min(pair + one, end)], begin[min(pair + 2 * one, end)]};
      });
    }
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
