// Entries moved as they are: `V` has the size of the value type, no operator looks inside. Without values (null) positions
// alone are moved. Launches: README.md.
#include "part/entries.cuh"
#include "thread/given.cuh"

namespace oplus {

// Entry o of the result is the entry at place places[o], of the column in the low `bits` of its key.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
entries_gather(u64 n, const u64* keys, const u32* places, u32 bits, const V* values, u32* out_indices, V* out_values) {
  const u64 o = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (o >= n) return;
  out_indices[o] = u32(keys[o] & ((1ull << bits) - 1));
  if (values) out_values[o] = values[places[o]];
}

// n copies of a value.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
entries_fill(u64 n, Given<V> value, V* out) {
  const u64 e = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e < n) out[e] = *value;
}

// The transpose of a dense array, row by row, by tiles of 32 x 32, a block each; values of more than 16 bytes go one by one.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block)
entries_turned(u64 rows, u64 columns, const V* values, V* out) {
  constexpr bool staged = sizeof(V) <= 16;
  __shared__ V tile[staged ? 32 : 1][33];
  const u64 across = (columns + 31) / 32, first_row = blockIdx.x / across * 32, first_column = blockIdx.x % across * 32;
  const u32 lane = lane_id();
  for (u32 s = threadIdx.x / 32; s < 32; s += tuning::primitive_block / 32) {
    const u64 r = first_row + s, c = first_column + lane;
    if (r >= rows || c >= columns) continue;
    if constexpr (staged) tile[s][lane] = values[r * columns + c];
    else out[c * rows + r] = values[r * columns + c];
  }
  if constexpr (!staged) return;
  __syncthreads();
  for (u32 s = threadIdx.x / 32; s < 32; s += tuning::primitive_block / 32) {
    const u64 r = first_row + lane, c = first_column + s;
    if (r < rows && c < columns) out[c * rows + r] = tile[lane][s];
  }
}

// Column and value from(t) go to to(t) for the bits t of `taken`; the columns are moved by `shift` (modulo 2^32). All are read before
// one is written: who reads one after the other waits for each.
template <class From, class To>
__device__ inline void move_entries(u32 taken, From from, To to, u32 shift, const u32* indices, const V* values, u32* out_indices,
                                    V* out_values) {
  constexpr u32 batch = sizeof(V) <= 8 ? tuning::entry_items : sizeof(V) <= 16 ? 4 : 1;
#pragma unroll
  for (u32 low = 0; low < tuning::entry_items; low += batch) {
    u32 column[batch];
    V value[batch];
#pragma unroll
    for (u32 s = 0; s < batch; s++) {
      if (taken >> (low + s) & 1) column[s] = indices[from(low + s)] + shift;
    }
    if (values) {
#pragma unroll
      for (u32 s = 0; s < batch; s++) {
        if (taken >> (low + s) & 1) value[s] = values[from(low + s)];
      }
    }
#pragma unroll
    for (u32 s = 0; s < batch; s++) {
      if (taken >> (low + s) & 1) out_indices[to(low + s)] = column[s];
    }
    if (values) {
#pragma unroll
      for (u32 s = 0; s < batch; s++) {
        if (taken >> (low + s) & 1) out_values[to(low + s)] = value[s];
      }
    }
  }
}

// The thread's first entry of the block's tile; the next is 32 further.
__device__ inline u64 first_entry() {
  return u64(blockIdx.x) * entry_tile + threadIdx.x / 32 * (32 * tuning::entry_items) + lane_id();
}

// The marked entries, in their order. starts[w]: marks before word w.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, sizeof(V) <= 8 ? 4 : 1)
entries_compact(u64 n, const u32* words, const u64* starts, const u32* indices, const V* values, u32* out_indices,
                V* out_values) {
  constexpr u32 items = tuning::entry_items;
  static_assert(items <= 32, "a lane reads a word");
  const u64 first = first_entry();
  if (first - lane_id() >= n) return;
  const u64 mine = first / 32 + min(lane_id(), items - 1);
  const bool inside = mine * 32 < n;
  const u32 my_word = inside ? words[mine] : 0;
  const u64 my_start = inside ? starts[mine] : 0, origin = shuffle(my_start, 0);
  u32 taken = 0, place[items];
#pragma unroll
  for (u32 t = 0; t < items; t++) {
    const u32 word = shuffle(my_word, t);
    place[t] = shuffle(u32(my_start - origin), t) + __popc(word & lanes_below());
    taken |= (word >> lane_id() & 1) << t;
  }
  move_entries(taken, [&](u32 t) { return first + t * 32; }, [&](u32 t) { return origin + place[t]; }, 0, indices, values, out_indices,
               out_values);
}

// Which of the thread's entries are among n.
__device__ inline u32 entries_below(u64 first, u64 n) {
  u32 taken = 0;
#pragma unroll
  for (u32 t = 0; t < tuning::entry_items; t++) taken |= u32(first + t * 32 < n) << t;
  return taken;
}

// The entries first .. first + n - 1, and their columns moved by `shift` (modulo 2^32).
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, sizeof(V) <= 8 ? 4 : 1)
entries_window(u64 n, u64 first, u32 shift, const u32* indices, const V* values, u32* out_indices, V* out_values) {
  const u64 mine = first_entry();
  move_entries(entries_below(mine, n), [&](u32 t) { return first + mine + t * 32; }, [&](u32 t) { return mine + t * 32; }, shift, indices,
               values, out_indices, out_values);
}

// Entry o of n, which is of row r by `offsets`, is A's at shift(r) + o (modulo 2^64), its column moved by `columns`. PUT: it is
// A's entry o, and goes to shift(r) + o.
template <bool PUT = false, class Shift>
__device__ inline void move_rows(u64 n, u64 rows, const u64* offsets, Shift shift, u32 columns, const u32* indices, const V* values,
                                 u32* out_indices, V* out_values) {
  constexpr u32 items = tuning::entry_items;
  const u64 first = first_entry();
  const u32 taken = entries_below(first, n);
  u32 row[items];
  find_tile_rows(n, rows, offsets, row);
  u64 other[items];
#pragma unroll
  for (u32 t = 0; t < items; t++) other[t] = taken >> t & 1 ? shift(row[t]) + first + t * 32 : 0;
  const auto here = [&](u32 t) { return first + t * 32; };
  const auto there = [&](u32 t) { return other[t]; };
  if constexpr (PUT) move_entries(taken, here, there, columns, indices, values, out_indices, out_values);
  else move_entries(taken, there, here, columns, indices, values, out_indices, out_values);
}

// Row r of the result is A's entries from starts[r] on, or with ends = 1 those before starts[r].
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, sizeof(V) <= 8 ? 4 : 1)
entries_spans(u64 n, u64 rows, const u64* offsets, const u64* starts, u32 ends, u32 columns, const u32* indices, const V* values,
              u32* out_indices, V* out_values) {
  move_rows(n, rows, offsets, [&](u32 r) { return starts[r] - offsets[u64(r) + ends]; }, columns, indices, values, out_indices, out_values);
}

// Row r of the result is row list[r] of A.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, sizeof(V) <= 8 ? 4 : 1)
entries_list(u64 n, u64 count, const u32* list, const u64* offsets, const u64* a_offsets, const u32* a_indices,
             const V* a_values, u32* out_indices, V* out_values) {
  move_rows(n, count, offsets, [&](u32 r) { return a_offsets[list[r]] - offsets[r]; }, 0, a_indices, a_values, out_indices, out_values);
}

// Row r of A, of `count`, becomes row list[r] of a result that has room for it there.
extern "C" __global__ void __launch_bounds__(tuning::primitive_block, sizeof(V) <= 8 ? 4 : 1)
entries_put(u64 n, u64 count, const u32* list, const u64* offsets, const u32* indices, const V* values, const u64* out_offsets,
            u32* out_indices, V* out_values) {
  move_rows<true>(n, count, offsets, [&](u32 r) { return out_offsets[list[r]] - offsets[r]; }, 0, indices, values, out_indices, out_values);
}

}  // namespace oplus
