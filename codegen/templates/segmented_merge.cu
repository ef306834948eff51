// Segmented merge of u64 keys with u32 payloads, and what sorting and transposition by it need. Blocks of
// tuning::primitive_block threads. Launches: README.md.
#include "block/tile_sort.cuh"
#include "device/segmented_merge.cuh"

namespace oplus {

__device__ inline u64 global_thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// counts[s] = runs of segment s, 0 of a short one.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_runs(u64 p, const u64* segments, const u64* runs, u64* counts) {
  const u64 s = global_thread();
  const SegmentedRuns x = {runs, segments, 0, 0};
  if (s < p) counts[s] = x.size(s) > merge_short ? x.count(s) : 0;
}

// work[s] = elements of short segments to merge, or if they `move` to another array.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_short_sizes(u64 p, const u64* segments, const u64* runs, u32 moves, u64* work) {
  const u64 s = global_thread();
  if (s < p) work[s] = merge_short_work({runs, segments, 0, 0}, moves, s);
}

// work: scanned. Any grid. All segments that are short, through all levels; the arrays may be the same.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_shorts(u64 p, const u64* segments, const u64* runs, u64 origin, const u64* work, const u64* keys, const u32* payloads,
             u64* keys_out, u32* payloads_out) {
  merge_short_segments(p, {runs, segments, origin, 0}, work, keys, payloads, keys_out, payloads_out);
}

// work[s] = elements of a long segment that this level of `levels` moves.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_work(u64 p, const u64* segments, const u64* runs, u32 level, u32 levels, u64* work) {
  const u64 s = global_thread();
  if (s < p) work[s] = merge_level_work({runs, segments, 0, level}, levels, s);
}

// work: scanned. A thread a tile of all elements, whether they move or not.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_cuts(u64 p, const u64* segments, const u64* runs, u64 origin, u32 level, const u64* work, const u64* keys, MergeCut* cuts) {
  merge_level_cut(global_thread(), p, {runs, segments, origin, level}, work, keys, cuts);
}

// Any grid.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, 4)
merge_level(u64 p, const u64* segments, const u64* runs, u64 origin, u32 level, const u64* work, const MergeCut* cuts, const u64* keys,
            const u32* payloads, u64* keys_out, u32* payloads_out) {
  merge_one_level(p, {runs, segments, origin, level}, work, cuts, keys, payloads, keys_out, payloads_out);
}

// *found, 0 before, becomes 1 where p + 1 bounds of segments do not ascend from 0 to q, or q + 1 of runs from 0 to n.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_check_bounds(u64 n, u64 q, u64 p, const u64* segments, const u64* runs, u32* found) {
  const auto wrong = [](const u64* bounds, u64 count, u64 i, u64 last) {
    return (i == 0 && bounds[0] != 0) || (i < count && bounds[i] > bounds[i + 1]) || (i == count && bounds[count] != last);
  };
  const u64 i = global_thread();
  if ((i <= p && wrong(segments, p, i, q)) || (i <= q && wrong(runs, q, i, n))) *found = 1;
}

// The same where a key is below the one before it in its run.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_check_keys(u64 n, u64 q, const u64* runs, const u64* keys, u32* found) {
  const u64 e = global_thread();
  if (e == 0 || e >= n || keys[e - 1] <= keys[e]) return;
  if (runs[upper_bound<u64, u64>(runs, 0, q, e) - 1] != e) *found = 1;
}

// Tiles of sort_tile elements, sorted each by a block: whatever the segments, if their keys are above those of the segments before.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_sort_tiles(u64 n, const u64* keys, const u32* payloads, u64* keys_out, u32* payloads_out) {
  sort_tile_of(blockIdx.x, n, keys, payloads, keys_out, payloads_out);
}

// counts[s] = tiles that segment s has elements of: its runs, once tiles are sorted.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_tile_counts(u64 p, const u64* segments, const u64* runs, u64 origin, u64* counts) {
  const u64 s = global_thread();
  if (s >= p) return;
  const SegmentedRuns x = {runs, segments, origin, 0};
  const u64 begin = x.begin(s), end = begin + x.size(s);
  counts[s] = begin < end ? (end - 1) / sort_tile - begin / sort_tile + 1 : 0;
}

// Where segments begin, to be searched.
struct SegmentBegins {
  SegmentedRuns x;
  __device__ u64 operator[](u64 segment) const { return x.begin(segment); }
};

// Where these runs begin, and where the last one ends. starts: scanned counts. A thread a segment and a tile, n > 0.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
merge_tile_runs(u64 n, u64 p, const u64* segments, const u64* runs, u64 origin, const u64* starts, u64* out) {
  const u64 i = global_thread();
  const SegmentBegins begins = {{runs, segments, origin, 0}};
  if (i < p && begins.x.size(i) > 0) out[starts[i]] = begins[i];
  if (i == 0) out[starts[p]] = n;
  const u64 at = i * sort_tile;
  if (at >= n) return;
  // The last segment that begins at the tile's beginning or before: if before, the tile begins another run of it.
  const u64 s = lower_bound<u64, u64>(begins, 0, p, at + 1) - 1, begin = begins[s];
  if (begin < at) out[starts[s] + i - begin / sort_tile] = at;
}

// numbers[i] = i, i < n: runs of one element each.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block) merge_singles(u64 n, u64* numbers) {
  const u64 i = global_thread();
  if (i < n) numbers[i] = i;
}

// counts[j] += entries of column j.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
column_counts(u64 n, const u32* indices, u64* counts) {
  const u64 e = global_thread();
  if (e < n) atomicAdd(&counts[indices[e]], u64(1));
}

// Each entry to some place of its column, keys its row and payload its place. next[j]: the column's first place, moved on.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
column_scatter(u64 n, u64 rows, const u64* offsets, const u32* indices, u64* next, u64* keys, u32* payloads) {
  const u64 base = u64(blockIdx.x) * entry_tile;
  const RowRange range = rows_of_entries(offsets, rows, base, min(base + entry_tile, n));
  for (u32 t = 0; t < tuning::entry_items; t++) {
    const u64 e = base + t * tuning::primitive_block + threadIdx.x;
    if (e >= n) break;
    const u64 to = atomicAdd(&next[indices[e]], u64(1));
    keys[to] = row_of(offsets, range.first, range.last, e);
    payloads[to] = u32(e);
  }
}

}  // namespace oplus
