// The first step of C = A ⊕.⊗ B: how much work each row is, and lists of rows by class.
//
// Any semiring: only patterns are looked at. CSR with u64 offsets, u32 columns, ascending in each row.
// See README.md for the order of launches and the control block.
#include "block/team.cuh"
#include "device/look_back.cuh"
#include "device/report.cuh"
#include "part/spgemm_classes.cuh"
#include "thread/search.cuh"
#include "warp/scan.cuh"

namespace oplus {

// The greater of both to `place`. Many would meet there, of whom hardly one has more than is there.
__device__ inline void raise(u64* place, u64 x) {
  if (x > *const_cast<volatile u64*>(place)) atomicMax(place, x);
}

// What is known of a row's products.
struct Measured {
  u64 products;
  u32 first, last;  // columns

  __device__ static Measured none() { return {0, 0xffffffffu, 0}; }
  // Of A's entries e, e + stride, … below `end`. Several at once: each waits for the one of A, then for the row of B, then for its ends.
  __device__ void add(const u32* a_indices, const u64* b_offsets, const u32* b_indices, u64 e, u64 end, u32 stride) {
    constexpr u32 batch = 4;
    for (; e < end; e += batch * stride) {
      u64 from[batch], to[batch];
      u32 low[batch], high[batch];
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        const u64 at = e + t * stride;
        const u32 k = at < end ? a_indices[at] : 0;
        from[t] = at < end ? b_offsets[k] : 0;
        to[t] = at < end ? b_offsets[k + 1] : 0;
      }
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        low[t] = from[t] < to[t] ? b_indices[from[t]] : 0xffffffffu;
        high[t] = from[t] < to[t] ? b_indices[to[t] - 1] : 0;
      }
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        products += to[t] - from[t];
        first = min(first, low[t]);
        last = max(last, high[t]);
      }
    }
  }
  // Of all of WIDTH lanes, in each of them.
  template <u32 WIDTH> __device__ Measured together() const {
    return {warp_sum<WIDTH>(products), warp_min<WIDTH>(first), warp_max<WIDTH>(last)};
  }
  __device__ void write(u64 row, u32* products_of, u32* firsts, u32* lasts) const {
    products_of[row] = products > 0xffffffffull ? 0xffffffffu : u32(products);
    firsts[row] = first;
    lasts[row] = last;
  }
};

// products[i] = number of products of row i; first[i], last[i] = their smallest and largest column, ~0 and 0 if there are none.
// control: total and largest row. Launch: 1-D blocks of tuning::analyze_block threads, number::lanes lanes a row, grid
// ceil(rows · number::lanes / analyze_block). Rows of A over analyze_long entries are taken by a warp, over 16 times as many by the
// whole block.
extern "C" __global__ void __launch_bounds__(tuning::analyze_block)
spgemm_analyze(const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices, u64 rows,
               u64* control, u32* products, u32* first, u32* last) {
  constexpr u32 lanes = u32(number::lanes), block = tuning::analyze_block, warps = block / 32;
  constexpr u64 longest = 16 * u64(tuning::analyze_long);
  __shared__ u32 long_rows[block / lanes];
  __shared__ u32 long_count;
  __shared__ Measured parts[warps];
  __shared__ unsigned long long block_total, block_largest;
  const u64 base = u64(blockIdx.x) * (block / lanes), row = base + threadIdx.x / lanes;
  const u32 lane = threadIdx.x % lanes, warp = threadIdx.x / 32;
  u64 begin = 0, end = 0;
  if (row < rows) {
    begin = a_offsets[row];
    end = a_offsets[row + 1];
  }
  if (threadIdx.x == 0) {
    long_count = 0;
    block_total = block_largest = 0;
  }
  // Of many rows whole blocks are often empty.
  if (!__syncthreads_or(begin < end)) {
    if (row < rows && lane == 0) Measured::none().write(row, products, first, last);
    return;
  }
  const bool is_long = end - begin > tuning::analyze_long;
  if (is_long) {
    if (lane == 0) long_rows[atomicAdd(&long_count, 1u)] = threadIdx.x / lanes;
    end = begin;
  }
  Measured mine = Measured::none();
  u64 total = 0, largest = 0;
  // Nor have many warps of others anything to put together.
  if (__any_sync(full_warp, begin < end)) {
    mine.add(a_indices, b_offsets, b_indices, begin + lane, end, lanes);
    mine = mine.together<lanes>();
    total = warp_sum(lane == 0 ? mine.products : u64(0));
    largest = warp_max(mine.products);
  }
  if (row < rows && lane == 0 && !is_long) mine.write(row, products, first, last);
  __syncthreads();
  const u32 count = long_count;
  for (u32 l = warp; l < count; l += warps) {
    const u64 r = base + long_rows[l], from = a_offsets[r], to = a_offsets[r + 1];
    if (to - from > longest) continue;
    mine = Measured::none();
    mine.add(a_indices, b_offsets, b_indices, from + lane_id(), to, 32);
    mine = mine.together<32>();
    if (lane_id() == 0) mine.write(r, products, first, last);
    total += mine.products;
    largest = max(largest, mine.products);
  }
  for (u32 l = 0; l < count; l++) {
    const u64 r = base + long_rows[l], from = a_offsets[r], to = a_offsets[r + 1];
    if (to - from <= longest) continue;
    mine = Measured::none();
    mine.add(a_indices, b_offsets, b_indices, from + threadIdx.x, to, block);
    mine = mine.together<32>();
    if (lane_id() == 0) parts[warp] = mine;
    __syncthreads();
    if (warp == 0) {
      mine = lane_id() < warps ? parts[lane_id()] : Measured::none();
      mine = mine.together<32>();
      if (lane_id() == 0) mine.write(r, products, first, last);
      total += mine.products;
      largest = max(largest, mine.products);
    }
    __syncthreads();
  }
  if (lane_id() == 0 && total) {
    atomicAdd(&block_total, total);
    atomicMax(&block_largest, largest);
  }
  __syncthreads();
  if (threadIdx.x == 0 && block_total) {
    atomicAdd(&control[control_products], u64(block_total));
    raise(&control[control_largest], u64(block_largest));
  }
}

// The class of a row; slices > 1: it is cut into so many slices of columns instead. heavy: blocks draw it before the class's others.
struct Choice {
  u32 kind, slices;
  bool heavy = false;
};

// Which rows are done without a table. See Limits on the host.
struct Limits {
  u32 thread;  // a thread's: at most so many products; 0, 16 or 32
  u32 esc;     // sorted, by a warp up to tuning::esc_products, else by a block: at most so many products; 0, or 64 and more, a power of two
  u32 window;  // a warp's window: at most so many columns; 0, or 256 and more, a power of two
  u32 dense;   // a block's sums, one a column: at most so many columns; 0, or 1024 and more, a power of two
  u32 block;   // bit 0: rows may get a block and bits over their columns; bit 1: windows and blocks take all rows that they can;
               // bit 2: all others are class_sorted; bit 3: products are counted
  u32 far;     // rows of columns further apart than this, and of fewer products than columns between, are class_sorted; 0: none is
};

// Products a warp may take at most, so that none is busy when the others are done.
__device__ inline u32 warp_limit(u64 total, u32 least) {
  const u64 even = total / tuning::warp_share, share = product_share(total), most = even < share ? even : share;
  return most > least ? u32(most) : least;
}

// Rows of few products by their number; of near columns by how near; class_count: others.
__device__ inline u32 small_class(u32 row, u32 work, u32 first, u32 last, const u64* a_offsets, u64 total, Limits limits) {
  if (!flag::masked && !flag::reduce && a_offsets[row + 1] - a_offsets[row] == 1) return class_copy;
  if (flag::reduce) return class_count;
  if (work <= limits.thread) return class_thread + (work > 16);
  const u64 span = u64(last) - first + 1;
  const bool all = limits.block & 2;
  // Counts take half the room of sums, and a warp adds them all at once.
  const u32 near_columns = tuning::window_near << (limits.block >> 3 & 1);
  // Windows of few columns leave room for many warps: those are slower than blocks only where few rows are most of the work.
  const bool narrow = span <= near_columns / 2 && u64(work) * tuning::dense_share <= total;
  const u32 many = span <= near_columns ? tuning::dense_products : tuning::dense_products / 2;
  if (span <= limits.dense && !all && !narrow && work > many && span <= u64(work) * tuning::window_sparsity) {
    const u32 n = span <= 1024 ? 0 : 32 - __clz(u32(span) - 1) - 10;
    if (work <= tuning::block_near_products << n) return class_dense + n;
  }
  // Few products are sorted sooner than a window of many columns is cleared and read.
  const bool sorted = !flag::masked && !all && work <= tuning::window_few && limits.esc >= tuning::window_few && span > tuning::window_least;
  // Many sums in shared memory leave room for few warps: that is for rows of few products, or near columns.
  const bool near = span <= near_columns || work <= tuning::window_products || !(limits.block & 1);
  if (span <= limits.window && !sorted && (all || (near && span <= u64(work) * tuning::window_sparsity && work <= warp_limit(total, tuning::warp_products)))) {
    return span <= 256 ? class_window : class_window + 32 - __clz(u32(span) - 1) - 8;
  }
  // Near columns are better off as bits, and so are those that one window of a block holds.
  const bool far = (span >= u64(work) * tuning::sort_sparsity && span > tuning::block_columns) || !(limits.block & 1);
  if (work <= limits.esc && (work <= tuning::esc_products || far)) {
    const u32 bits = work <= 64 ? 6 : 32 - __clz(work - 1);
    // Column and number of the product make one key.
    if (span << bits >> 32 == 0) return class_esc + bits - 6;
  }
  if (limits.block & 4 || (limits.far && span > limits.far && work < span)) return class_sorted;
  // Rows of hardly more products than are sorted are better off in tables, if there are enough of them to fill the device. Of many
  // products a block may have some more than its share: cutting its row would cost more.
  const bool few = total < (1u << 25);
  const u64 most = product_share(total) * (few ? 1 : 4);
  const bool worthy = (few || work > tuning::esc_products) && work <= most && span / tuning::block_sparsity <= work;
  // Windows without a single product would be most of the work of a row of far columns.
  if (limits.block & 1 && (worthy || (all && span / tuning::block_columns <= work))) {
    const u64 wide = span + 31;  // windows begin at words
    if (wide > tuning::block_columns) return class_block + 2;
    const u32 small_most = span <= tuning::window_columns ? tuning::block_near_products : tuning::block_products;
    return work > small_most ? class_block + 1 : class_block;
  }
  return class_count;
}

// Whether the class's rows are made in one pass where there is room for it.
__device__ inline bool is_staged(u32 kind) { return kind >= class_thread && kind < class_block; }

// Whether table size t is worth a try: a warp's table only for rows that do not hold up the others, and no table for rows
// that would take it several times over.
__device__ inline bool worth(u32 slots, u32 most, u64 work, u64 words, u64 span_words) {
  return work <= most && (span_words <= 2 * slots || words <= slots / 2 * tuning::table_optimism);
}

__device__ inline Choice choose(u32 row, u32 work, u32 first, u32 last, const u64* a_offsets, const u64* m_offsets,
                                u64 total, Limits limits) {
  if (work == 0) return {class_empty, 1};
  const u64 mask = flag::masked ? m_offsets[row + 1] - m_offsets[row] : 0;
  if (flag::masked && !flag::complement && mask == 0) return {class_empty, 1};
  const u32 small = small_class(row, work, first, last, a_offsets, total, limits);
  if (small != class_count) {
    return {small, 1, is_block(small) && u64(work) * tuning::heavy_share >= total};
  }
  const u64 span = u64(last) - first + 1, span_words = (last >> 5) - (first >> 5) + 1;
  u64 bound = work < span ? work : span;
  if (flag::masked && !flag::complement && mask < bound) bound = mask;
  u64 words = bound < span_words ? bound : span_words;
  if (flag::masked && flag::complement) words += mask;
  const u64 share = product_share(total);
  const u32 most = warp_limit(total, tuning::table_products);
  if (bound <= tuning::table3_bytes) {  // 8 times the sums of table 3
    if (worth(tuning::table0_slots, most, work, words, span_words)) return {class_table + 0, 1};
    if (worth(tuning::table1_slots, most, work, words, span_words)) return {class_table + 1, 1};
    if (worth(tuning::table2_slots, tuning::table2_products, work, words, span_words)) return {class_table + 2, 1};
    if (worth(tuning::table3_slots, u32(share), work, words, span_words)) return {class_table + 3, 1};
  }
  u64 slices = (u64(work) + share - 1) / share;
  if (slices > 64) slices = 64;
  if (slices > span_words) slices = span_words;
  return {class_table + 4, slices ? u32(slices) : 1};
}

// The class of a row of C in the numeric phase: where its sums fit. value_bytes: shared memory a sum takes.
__device__ inline Choice choose_sums(u32 row, u32 work, u32 first, u32 last, u32 kind, u64 entries, const u64* a_offsets,
                                     u64 total, u32 value_bytes, Limits limits) {
  if (entries == 0 || kind == kind_parts) return {class_empty, 1};
  const u32 small = small_class(row, work, first, last, a_offsets, total, limits);
  if (small != class_count) return {class_empty, 1};  // no table's: its list stays as it is
  if (kind > 4) return {class_table + 4, 1};
  u32 t = kind;
  if (t == 0 && entries * value_bytes > tuning::table0_bytes) t = 1;
  if (t == 1 && entries * value_bytes > tuning::table1_bytes) t = 2;
  if (t == 2 && entries * value_bytes > tuning::table2_bytes) t = 3;
  if (t == 3 && entries * value_bytes > tuning::table3_bytes) t = 4;
  return {class_table + t, 1};
}

// FILL = false: counts the rows of each class. FILL = true: lists them. Returns the place of the thread's row in its
// class's list, which begins at `begin`: behind those of the classes before, if their rows were counted, else (stride > 0) at a
// multiple of `stride`, and then rows are counted here. Heavy rows stand at the list's end, which is where the next class's begins, the first
// of them last. units, begin, cursor: the counters' places in the control block. `tile`:
// of the rows, of which the first says where lists begin, whichever block makes it; fresh: the block calls for the first time.
template <bool FILL>
__device__ inline u64 bin(bool live, Choice choice, u64* control, u32 units, u32 begin, u32 cursor, u64 stride, u64 tile, bool fresh) {
  // By class, then the heavy rows of each that has some.
  constexpr u32 kinds = class_count + block_classes;
  __shared__ u32 counts[kinds], bases[kinds];
  __shared__ u64 begins[class_count];
  const u32 c = threadIdx.x;
  if (c < kinds) counts[c] = 0;
  if (fresh && c < class_count) {
    u64 at = 0;
    if constexpr (FILL) {
      if (stride) at = stride * c;
      else {
        for (u32 before = 1; before < c; before++) at += control[units + before];
      }
      if (tile == 0) control[begin + c] = at;
    }
    begins[c] = at;
  }
  __syncthreads();
  live = live && choice.kind != class_empty && choice.slices == 1;
  const bool heavy = FILL && live && choice.heavy;
  const u32 mine = heavy ? class_count + choice.kind - class_block : choice.kind;
  // A warp's rows of a class by one addition: most rows are often of one.
  const u32 peers = __match_any_sync(full_warp, live ? mine : kinds), ahead = __popc(peers & lanes_below());
  u32 place = 0;
  if (live && ahead == 0) place = atomicAdd(&counts[mine], u32(__popc(peers)));
  place = shuffle(place, __ffs(peers) - 1) + ahead;
  __syncthreads();
  if (c < kinds && counts[c]) {
    const u64 n = counts[c];
    const u32 kind = c < class_count ? c : c - class_count + class_block;
    const u32 listed = c < class_count ? (FILL && (!stride || is_block(kind)) ? cursor : units) + kind : control_heavy + kind - class_block;
    bases[c] = u32(atomicAdd(&control[listed], n));
    if (FILL && stride && is_block(kind)) atomicAdd(&control[units + kind], n);
  }
  if constexpr (!FILL) return 0;
  __syncthreads();
  if (heavy) return begins[choice.kind + 1] - 1 - bases[mine] - place;
  return live ? begins[choice.kind] + bases[mine] + place : 0;
}

// The work lists. All: 1-D blocks of tuning::bin_block threads, one thread a row. First the counts, unless there is room for a
// list of all rows for each class …
extern "C" __global__ void __launch_bounds__(tuning::bin_block)
spgemm_count_units(const u64* a_offsets, const u64* m_offsets, u64 rows, u64* control, const u32* products,
                   const u32* first, const u32* last, u32 thread, u32 esc, u32 window, u32 dense, u32 block, u32 far) {
  const u64 row = u64(blockIdx.x) * tuning::bin_block + threadIdx.x;
  Choice choice = {class_empty, 1};
  if (row < rows) {
    choice = choose(u32(row), products[row], first[row], last[row], a_offsets, m_offsets, control[control_products], {thread, esc, window, dense, block, far});
  }
  bin<false>(row < rows, choice, control, control_units, control_begin, control_cursor, 0, blockIdx.x, true);
}
// … then the lists. units: u32[rows], or u32[class_count · stride] where nothing was counted (stride: rows, else 0, as for a
// reduction); slices: u64[2·tuning::slice_units + 64]. row_units (a reduction's, else null): each
// row's place in `units`, or rows + its first slice's place, ~0 without work. row_counts (null for a reduction), row_kinds
// (the same): zeroed, but for the counts of rows of the copy class. room_offsets: u64[rows + 1] (the same): where rows that are made in
// one pass have room, min(products, span) places each; their sum and the most of a row to the control block. state (used with
// room_offsets): u64[1 + ceil(rows / bin_block)] zeros; page, number: Report, told all of the control block. Any grid.
extern "C" __global__ void __launch_bounds__(tuning::bin_block)
spgemm_list_units(const u64* a_offsets, const u64* m_offsets, u64 rows, u64* control, const u32* products,
                  const u32* first, const u32* last, u32 thread, u32 esc, u32 window, u32 dense, u32 block, u32 far, u32* units, u64 stride, u64* slices, u32* row_units,
                  u64* row_counts, u32* row_kinds, u64* room_offsets, u64* state, u64* page, u64 number) {
  __shared__ u64 place, scratch[34];
  for (u64 turn = blockIdx.x;; turn += gridDim.x) {
    const u64 tile = room_offsets ? next_tile(state, &place) : turn, row = tile * tuning::bin_block + threadIdx.x;
    if (tile * tuning::bin_block >= rows) break;
    u64 room = 0;
    Choice choice = {class_empty, 1};
    if (row < rows) {
      choice = choose(u32(row), products[row], first[row], last[row], a_offsets, m_offsets, control[control_products], {thread, esc, window, dense, block, far});
      if (row_counts) row_counts[row] = choice.kind == class_copy ? products[row] : 0;
      if (row_kinds) row_kinds[row] = 0;
      if (room_offsets && is_staged(choice.kind)) room = min(u64(products[row]), u64(last[row]) - first[row] + 1);
    }
    // The tiles after this one wait for its room.
    u64 all = 0, below = 0;
    if (room_offsets) {
      const Team<tuning::bin_block> team = {scratch};
      below = team.exclusive_sum(room, all);
      if (threadIdx.x < 32) look_back_post(state + 1, tile, all);
    }
    u64 unit = bin<true>(row < rows, choice, control, control_units, control_begin, control_cursor, stride, tile, turn == blockIdx.x);
    if (row < rows) {
      if (choice.slices > 1) {
        const u64 at = atomicAdd(&control[control_slices], u64(choice.slices));
        for (u32 s = 0; s < choice.slices; s++) slices[at + s] = row | u64(s) << 32 | u64(choice.slices) << 48;
        unit = rows + at;
      } else if (choice.kind != class_empty) {
        units[unit] = u32(row);
      }
      if (row_units) row_units[row] = choice.kind == class_empty ? 0xffffffffu : u32(unit);
    }
    if (room_offsets) {
      if (threadIdx.x < 32) {
        const u64 before = look_back_wait(state + 1, tile, all);
        if (threadIdx.x == 0) place = before;
      }
      __syncthreads();
      if (row < rows) room_offsets[row] = place + below;
      if (row + 1 == rows) room_offsets[rows] = control[control_staged] = place + below + room;
      room = warp_max(room);
      if (lane_id() == 0) raise(&control[control_room], room);
    }
  }
  tell({page, number}, control, control_words, 0, &place);
}
// The same for the numeric phase, from the offsets of C. value_bytes: TableLaunch::value_bytes.
extern "C" __global__ void __launch_bounds__(tuning::bin_block)
spgemm_count_sums(const u64* a_offsets, u64 rows, u64* control, const u32* products, const u32* row_kinds,
                   const u64* c_offsets, const u32* first, const u32* last, u32 value_bytes, u32 thread, u32 esc, u32 window, u32 dense, u32 block, u32 far) {
  const u64 row = u64(blockIdx.x) * tuning::bin_block + threadIdx.x;
  Choice choice = {class_empty, 1};
  if (row < rows) {
    choice = choose_sums(u32(row), products[row], first[row], last[row], row_kinds[row], c_offsets[row + 1] - c_offsets[row],
                         a_offsets, control[control_products], value_bytes, {thread, esc, window, dense, block, far});
  }
  bin<false>(row < rows, choice, control, sums_units, sums_begin, sums_cursor, 0, blockIdx.x, true);
}
extern "C" __global__ void __launch_bounds__(tuning::bin_block)
spgemm_list_sums(const u64* a_offsets, u64 rows, u64* control, const u32* products, const u32* row_kinds,
                 const u64* c_offsets, const u32* first, const u32* last, u32 value_bytes, u32 thread, u32 esc, u32 window, u32 dense, u32 block, u32 far, u32* units) {
  const u64 row = u64(blockIdx.x) * tuning::bin_block + threadIdx.x;
  Choice choice = {class_empty, 1};
  if (row < rows) {
    choice = choose_sums(u32(row), products[row], first[row], last[row], row_kinds[row], c_offsets[row + 1] - c_offsets[row],
                         a_offsets, control[control_products], value_bytes, {thread, esc, window, dense, block, far});
  }
  const u64 place = bin<true>(row < rows, choice, control, sums_units, sums_begin, sums_cursor, 0, blockIdx.x, true);
  if (row < rows && choice.kind != class_empty) units[place] = u32(row);
}

}  // namespace oplus
