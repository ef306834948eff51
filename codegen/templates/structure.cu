// Offsets, keys and marks of entries: the parts of transpose, build, select, merges and extract that know no scalar type.
// Blocks of tuning::primitive_block threads; a tile is block · entry_items entries. Deterministic, but for the numbers
// of row_slots, which show in no result. Launches: README.md.
#include "device/report.cuh"
#include "device/rows.cuh"
#include "thread/rank.cuh"
#include "warp/scan.cuh"
#include "warp/search.cuh"

namespace oplus {

__device__ inline u64 global_thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// out[r] = marks before row r, whose first place is a_offsets[r] + b_offsets[r] (b_offsets may be null). r = 0 ..= rows.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
rank_offsets(u64 rows, const u64* a_offsets, const u64* b_offsets, const u32* words, const u64* starts, u64* out) {
  const u64 r = global_thread();
  if (r <= rows) out[r] = rank(words, starts, a_offsets[r] + (b_offsets ? b_offsets[r] : 0));
}

// Keys column << bits | row of the entries in their order, and their places.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
transpose_keys(u64 n, u64 rows, const u64* offsets, const u32* indices, u32 bits, u64* keys, u32* places) {
  const u64 base = u64(blockIdx.x) * entry_tile;
  const RowRange range = rows_of_entries(offsets, rows, base, min(base + entry_tile, n));
  for (u32 t = 0; t < tuning::entry_items; t++) {
    const u64 e = base + t * tuning::primitive_block + threadIdx.x;
    if (e >= n) break;
    keys[e] = u64(indices[e]) << bits | row_of(offsets, range.first, range.last, e);
    places[e] = u32(e);
  }
}

// The entries of a matrix of so many columns, row by row, where rows have `width` places: rows, which ascend, and columns.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
reshape_places(u64 n, u64 rows, const u64* offsets, const u32* indices, u64 columns, u64 width, u64* keys, u32* out) {
  const u64 base = u64(blockIdx.x) * entry_tile;
  const RowRange range = rows_of_entries(offsets, rows, base, min(base + entry_tile, n));
  for (u32 t = 0; t < tuning::entry_items; t++) {
    const u64 e = base + t * tuning::primitive_block + threadIdx.x;
    if (e >= n) break;
    const u64 place = row_of(offsets, range.first, range.last, e) * columns + indices[e];
    keys[e] = place / width;
    out[e] = u32(place % width);
  }
}

// Keys row << bits | column of triplets, and their places; *unsorted becomes 1 where the keys do not ascend.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
build_keys(u64 n, const u32* rows, const u32* columns, u32 bits, u64* keys, u32* places, u32* unsorted) {
  const u64 e = global_thread();
  if (e >= n) return;
  const u64 key = u64(rows[e]) << bits | columns[e];
  keys[e] = key;
  places[e] = u32(e);
  if (e > 0 && (u64(rows[e - 1]) << bits | columns[e - 1]) > key) *unsorted = 1;
}

// Marks the first of equal keys. *again, ~0 before, may be null: the least
// place of any other entry.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
build_marks(u64 n, const u64* keys, const u32* places, u32* words, u32* again) {
  const u64 e = global_thread();
  const bool first = e < n && (e == 0 || keys[e - 1] != keys[e]);
  if (again && e < n && !first) atomicMin(again, places[e]);
  const u32 word = __ballot_sync(full_warp, first);
  if (lane_id() == 0 && e < n) words[e >> 5] = word;
}

// out[r] = sorted keys below r << bits, r = 0 ..= rows; with `words` the marks among these.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
key_offsets(u64 n, const u64* keys, u32 bits, u64 rows, const u32* words, const u64* starts, u64* out) {
  const u64 r = global_thread();
  if (r > rows) return;
  const u64 at = r == rows ? n : lower_bound<u64, u64>(keys, 0, n, r << bits);
  out[r] = words ? rank(words, starts, at) : at;
}

// out[r] = entries of row list[r], of row r without a list, none where that is ~0.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
list_counts(u64 count, const u32* list, const u64* offsets, u64* out) {
  const u64 r = global_thread();
  if (r >= count) return;
  const u32 row = list ? list[r] : u32(r);
  out[r] = row == ~0u ? 0 : offsets[u64(row) + 1] - offsets[row];
}

// *found, 0 before, becomes 1 where two arrays of words differ.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
compare_words(u64 n, const u32* x, const u32* y, u32* found) {
  u32 differ = 0;
  for (u64 w = global_thread(); w < n; w += u64(gridDim.x) * blockDim.x) differ |= u32(x[w] != y[w]);
  if (differ) *found = 1;
}

// out[r] = from[r] - first + start, r < n: offsets of some rows as if they were all, or put behind others. May be in place.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
shift_offsets(u64 n, const u64* from, u64 first, u64 start, u64* out) {
  const u64 r = global_thread();
  if (r < n) out[r] = from[r] - first + start;
}

// out[r] = no fewer entries than row r of a product has, r < rows: its products, which lie in columns first[r] to last[r], or those that
// a mask admits (m_offsets may be null).
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
row_bounds(u64 rows, const u32* products, const u32* first, const u32* last, const u64* m_offsets, u64* out) {
  const u64 r = global_thread();
  if (r >= rows) return;
  u64 most = products[r];
  if (most) most = min(most, u64(last[r] - first[r]) + 1);
  out[r] = m_offsets ? min(most, m_offsets[r + 1] - m_offsets[r]) : most;
}

// Rows cut into ranges whose sum is at most `most`, or of one row: found[0] (0 before) = how many, found[1 + c] = the row after range c. `sums`:
// before each row, rows + 1 of them. Launch: one warp.
extern "C" __global__ void __launch_bounds__(32)
cut_rows(u64 rows, const u64* sums, u64 most, u64 room, u64* found) {
  u64 count = 0;
  for (u64 row = 0; row < rows && count < room; count++) {
    const u64 end = warp_last_not_above(row, rows, sums[row] + most, [&](u64 r) { return sums[r]; });
    row = max(end, row + 1);
    if (lane_id() == 0) found[1 + count] = row;
  }
  if (lane_id() == 0) found[0] = count;
}

// *total (0 before) = how many products entries of A in these columns have with rows of B.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
count_products(u64 n, const u32* indices, const u64* offsets, u64* total) {
  u64 sum = 0;
  for (u64 e = global_thread(); e < n; e += u64(gridDim.x) * blockDim.x) {
    const u32 k = indices[e];
    sum += offsets[u64(k) + 1] - offsets[k];
  }
  sum = warp_sum(sum);
  if (lane_id() == 0 && sum) atomicAdd(total, sum);
}

// counts[column] = entries of this column, counts 0 before, of every step-th entry.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
column_counts(u64 n, u64 step, const u32* indices, u32* counts) {
  for (u64 e = global_thread() * step; e < n; e += u64(gridDim.x) * blockDim.x * step) atomicAdd(&counts[indices[e]], 1u);
}

// What dot products under a mask look up, and what rows of B would take, added to control[0] and [1]. `offsets` are those of B as it
// lies, by rows or (turned) by columns; of its other side `counts` has every share-th entry (column_counts), or, if it is null, each
// has `share`. Of every step-th row, a warp each; page, number, words: Report, and what it leaves zero.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
dot_costs(u64 rows, u64 step, const u64* m_offsets, const u32* m_indices, const u64* a_offsets, const u32* a_indices,
          const u64* offsets, u32 turned, const u32* counts, u64 share, u64* control, u64* page, u64 number, u64 words) {
  __shared__ u64 place, sums[2];
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  __syncthreads();
  const auto counted = [&](u32 i, bool lies) {
    return lies ? offsets[u64(i) + 1] - offsets[i] : counts ? counts[i] * share : share;
  };
  u64 dots = 0, products = 0;
  for (u64 row = global_thread() / 32 * step; row < rows; row += u64(gridDim.x) * (blockDim.x / 32) * step) {
    const u64 begin = a_offsets[row], end = a_offsets[row + 1], from = m_offsets[row], to = m_offsets[row + 1];
    if (from == to) continue;
    for (u64 e = from + lane_id(); e < to; e += 32) dots += min(end - begin, counted(m_indices[e], turned));
    for (u64 e = begin + lane_id(); e < end; e += 32) products += counted(a_indices[e], !turned);
  }
  dots = warp_sum(dots);
  products = warp_sum(products);
  if (lane_id() == 0) {
    atomicAdd(&sums[0], dots);
    atomicAdd(&sums[1], products);
  }
  __syncthreads();
  // Of a million rows each for itself these would take longer than all the rest.
  if (threadIdx.x < 2 && sums[threadIdx.x]) atomicAdd(&control[threadIdx.x], sums[threadIdx.x]);
  tell({page, number}, control, report_said, words, &place);
}

// *out = the place of the entry at (row, column), ~0 without one. Launch: one warp.
extern "C" __global__ void __launch_bounds__(32)
find_entry(u64 row, u32 column, const u64* offsets, const u32* indices, u64* out) {
  const u64 begin = offsets[row], end = offsets[row + 1];
  u64 found = ~0ull;
  if (begin < end && indices[begin] <= column) {
    const u64 e = warp_last_not_above(begin, end - 1, column, [&](u64 i) { return indices[i]; });
    if (indices[e] == column) found = e;
  }
  if (lane_id() == 0) *out = found;
}

// out[k] = first + k step modulo 2^32, k < n.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
progression(u64 n, u32 first, u32 step, u32* out) {
  const u64 k = global_thread();
  if (k < n) out[k] = first + u32(k) * step;
}

// out[to[k]] = from[k], k < n; no place is there twice.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
put_places(u64 n, const u32* from, const u32* to, u32* out) {
  const u64 k = global_thread();
  if (k < n) out[to[k]] = from[k];
}

// The bits of these places; words are 0 before.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
set_bits(u64 n, const u32* places, u32* words) {
  const u64 k = global_thread();
  if (k < n) atomicOr(&words[places[k] >> 5], 1u << (places[k] & 31));
}

// Rows put apart: out[r] = entries before row r, r = 0 ..= rows, where row k of n goes to row map[k]; map ascends.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
spread_offsets(u64 rows, u64 n, const u32* map, const u64* offsets, u64* out) {
  const u64 r = global_thread();
  if (r <= rows) out[r] = offsets[r == rows ? n : lower_bound<u32, u64>(map, 0, n, u32(r))];
}

// out[e] = map[indices[e]], e < n.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
map_indices(u64 n, const u32* indices, const u32* map, u32* out) {
  const u64 e = global_thread();
  if (e < n) out[e] = map[indices[e]];
}

// out[e] = the place of indices[e] in the ascending list, which has them all, e < n.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
list_places(u64 n, const u32* indices, u64 count, const u32* list, u32* out) {
  const u64 e = global_thread();
  if (e < n) out[e] = u32(lower_bound<u32, u64>(list, 0, count, indices[e]));
}

// An entry in each of `width` columns, the first ones or those listed, for the `slots` rows, of `rows`, that `map` lists, ascending;
// null: for all.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
full_positions(u64 rows, u64 slots, const u32* map, u32 width, const u32* columns, u64* offsets, u32* indices) {
  const u64 i = global_thread();
  if (i <= rows) offsets[i] = u64(width) * (!map ? i : i == rows ? slots : lower_bound<u32, u64>(map, 0, slots, u32(i)));
  if (i < slots * width) indices[i] = columns ? columns[i % width] : u32(i % width);
}

// A block of entries: rows first .. first + count - 1 of `rows` have `width` each, the others none.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
block_offsets(u64 rows, u64 first, u64 count, u64 width, u64* out) {
  const u64 r = global_thread();
  if (r <= rows) out[r] = r < first ? 0 : min(r - first, count) * width;
}

// Their columns: from .. from + width - 1 again and again, n in all.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
block_indices(u64 n, u32 width, u32 from, u32* out) {
  const u64 e = global_thread();
  if (e < n) out[e] = from + u32(e % width);
}

// A bit a row: whether it has entries.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
rows_present(u64 rows, const u64* offsets, u32* present) {
  const u64 r = global_thread();
  const u32 word = __ballot_sync(full_warp, r < rows && offsets[r] != offsets[r + 1]);
  if (lane_id() == 0 && r < rows) present[r >> 5] = word;
}

// slots[r] = a number from 1 on for each row of `least` entries and more, else 0; list: these rows, by their numbers. *count, 0
// before: how many there are. Any numbers: not deterministic.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
row_slots(u64 rows, const u64* offsets, u64 least, u32* slots, u32* list, u64* count) {
  const u64 r = global_thread();
  if (r >= rows) return;
  const bool has = offsets[r + 1] - offsets[r] >= least;
  const u64 slot = has ? atomicAdd(count, u64(1)) : 0;
  slots[r] = has ? u32(slot) + 1 : 0;
  if (has) list[slot] = u32(r);
}

// A bit a column for each row of the list: `words` words a row, zero before. A block a row.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
row_bits(const u32* list, const u64* offsets, const u32* indices, u64 words, u32* bits) {
  const u32 row = list[blockIdx.x];
  u32* const mine = bits + blockIdx.x * words;
  for (u64 e = offsets[row] + threadIdx.x; e < offsets[row + 1]; e += blockDim.x) {
    const u32 column = indices[e];
    atomicOr(&mine[column / 32], 1u << (column & 31));
  }
}

// A bit a row: it has entries, and the same columns as the row before. *sum += entries of such rows. Any grid: a warp a word.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
joined_rows(u64 rows, const u64* offsets, const u32* indices, u32* joined, u64* sum) {
  u64 mine = 0;
  for (u64 w = global_thread() / 32; w * 32 < rows; w += u64(gridDim.x) * blockDim.x / 32) {
    const u64 r = w * 32 + lane_id();
    const u64 begin = r < rows ? offsets[r] : 0, length = r < rows ? offsets[r + 1] - begin : 0;
    // Rows of equal lengths that begin alike are compared whole, one after the other.
    bool same = r > 0 && length > 0 && begin - offsets[r - 1] == length && indices[begin - length] == indices[begin];
    for (u32 left = __ballot_sync(full_warp, same); left; left &= left - 1) {
      const u32 lane = __ffs(left) - 1;
      const u64 from = shuffle(begin, lane), n = shuffle(length, lane);
      bool differ = false;
      for (u64 e = lane_id(); e < n && !differ; e += 32) differ = indices[from + e] != indices[from + e - n];
      if (__any_sync(full_warp, differ) && lane == lane_id()) same = false;
    }
    const u32 word = __ballot_sync(full_warp, same);
    if (lane_id() == 0) joined[w] = word;
    if (same) mine += length;
  }
  mine = warp_sum(mine);
  if (lane_id() == 0 && mine) atomicAdd(sum, mine);
}

// *sum += columns from the first to the last of each row. Any grid.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
row_spans(u64 rows, const u64* offsets, const u32* indices, u64* sum) {
  u64 mine = 0;
  for (u64 r = global_thread(); r < rows; r += u64(gridDim.x) * blockDim.x) {
    const u64 begin = offsets[r], end = offsets[r + 1];
    if (begin < end) mine += u64(indices[end - 1] - indices[begin]) + 1;
  }
  mine = warp_sum(mine);
  if (lane_id() == 0 && mine) atomicAdd(sum, mine);
}

}  // namespace oplus
