// The first step of C = A ⊕.⊗ B: how much work each row is, and lists of rows by class.
//
// Any semiring: only patterns are looked at. CSR with u64 offsets, u32 columns, ascending in each row.
// See README.md for the order of launches and the control block.
#include "part/spgemm_classes.cuh"
#include "thread/search.cuh"
#include "warp/scan.cuh"

namespace oplus {

// products[i] = number of products of row i; first[i], last[i] = its smallest and largest column (first > last: none).
// control: total and largest row. Launch: 1-D blocks of tuning::analyze_block threads, analyze_lanes lanes a row, grid
// ceil(rows · analyze_lanes / analyze_block). Rows of A over analyze_long entries are taken by the whole block.
extern "C" __global__ void __launch_bounds__(tuning::analyze_block)
spgemm_analyze(const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices, u64 rows,
               u64* control, u32* products, u32* first, u32* last) {
  constexpr u32 lanes = tuning::analyze_lanes, block = tuning::analyze_block;
  __shared__ u32 long_rows[block / lanes];
  __shared__ u32 long_count;
  __shared__ u64 sums[block / 32];
  __shared__ u32 lows[block / 32], highs[block / 32];
  __shared__ unsigned long long block_total, block_largest;
  if (threadIdx.x == 0) {
    long_count = 0;
    block_total = block_largest = 0;
  }
  __syncthreads();
  const u64 row = (u64(blockIdx.x) * block + threadIdx.x) / lanes;
  const u32 lane = threadIdx.x % lanes;
  u64 begin = 0, end = 0;
  if (row < rows) {
    begin = a_offsets[row];
    end = a_offsets[row + 1];
  }
  const bool is_long = end - begin > tuning::analyze_long;
  if (is_long) {
    if (lane == 0) long_rows[atomicAdd(&long_count, 1u)] = threadIdx.x / lanes;
    end = begin;
  }
  u64 sum = 0;
  u32 low = 0xffffffffu, high = 0;
  for (u64 e = begin + lane; e < end; e += lanes) {
    const u32 k = a_indices[e];
    const u64 from = b_offsets[k], to = b_offsets[k + 1];
    if (from < to) {
      sum += to - from;
      low = min(low, b_indices[from]);
      high = max(high, b_indices[to - 1]);
    }
  }
  sum = warp_sum<lanes>(sum);
  low = warp_min<lanes>(low);
  high = warp_max<lanes>(high);
  if (row < rows && lane == 0 && !is_long) {
    products[row] = sum > 0xffffffffull ? 0xffffffffu : u32(sum);
    first[row] = low;
    last[row] = high;
  }
  u64 total = warp_sum(lane == 0 ? sum : 0), largest = warp_max(sum);
  if (lane_id() == 0) {
    if (total) atomicAdd(&block_total, total);
    if (largest) atomicMax(&block_largest, largest);
  }
  __syncthreads();
  for (u32 l = 0; l < long_count; l++) {
    const u64 r = u64(blockIdx.x) * (block / lanes) + long_rows[l];
    const u64 stop = a_offsets[r + 1];
    sum = 0;
    low = 0xffffffffu;
    high = 0;
    for (u64 e = a_offsets[r] + threadIdx.x; e < stop; e += block) {
      const u32 k = a_indices[e];
      const u64 from = b_offsets[k], to = b_offsets[k + 1];
      if (from < to) {
        sum += to - from;
        low = min(low, b_indices[from]);
        high = max(high, b_indices[to - 1]);
      }
    }
    sum = warp_sum(sum);
    low = warp_min(low);
    high = warp_max(high);
    if (lane_id() == 0) {
      sums[threadIdx.x / 32] = sum;
      lows[threadIdx.x / 32] = low;
      highs[threadIdx.x / 32] = high;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (u32 w = 1; w < block / 32; w++) {
        sum += sums[w];
        low = min(low, lows[w]);
        high = max(high, highs[w]);
      }
      products[r] = sum > 0xffffffffull ? 0xffffffffu : u32(sum);
      first[r] = low;
      last[r] = high;
      block_total += sum;
      if (sum > block_largest) block_largest = sum;
    }
    __syncthreads();
  }
  __syncthreads();
  if (threadIdx.x == 0 && block_total) {
    atomicAdd(&control[control_products], u64(block_total));
    atomicMax(&control[control_largest], u64(block_largest));
  }
}

// The class of a row and into how many slices of columns it is cut.
struct Choice {
  u32 kind, slices;
};
__device__ inline bool fits(u32 slots, u32 values, u32 most, u64 work, u64 bound, u64 span_words) {
  const u64 words = bound < span_words ? bound : span_words;
  return (most == 0xffffffffu || work <= most) && (span_words <= 2 * slots || words <= u64(slots / 2) * tuning::table_optimism) &&
         bound <= u64(values) * tuning::table_optimism;
}
__device__ inline Choice choose(u32 row, u32 work, u32 first, u32 last, const u64* a_offsets, const u64* m_offsets,
                                u64 total) {
  if (work == 0) return {class_empty, 0};
  const u64 mask = flag::masked ? m_offsets[row + 1] - m_offsets[row] : 0;
  if (flag::masked && !flag::complement && mask == 0) return {class_empty, 0};
  if (!flag::masked && !flag::reduce && a_offsets[row + 1] - a_offsets[row] == 1) return {class_copy, 1};
  if (!flag::reduce && work <= 32) return {u32(work <= 8 ? class_tiny8 : work <= 16 ? class_tiny16 : class_tiny32), 1};
  const u64 span = u64(last) - first + 1, span_words = (last >> 5) - (first >> 5) + 1;
  u64 bound = work < span ? work : span;
  u64 words_bound = bound;
  if (flag::masked && flag::complement) words_bound += mask;
  if (flag::masked && !flag::complement) words_bound = bound = bound < mask ? bound : mask;
  if (fits(tuning::table0_slots, tuning::table0_bytes / 8, tuning::table0_products, work, words_bound, span_words))
    return {class_table + 0, 1};
  if (fits(tuning::table1_slots, tuning::table1_bytes / 8, tuning::table1_products, work, words_bound, span_words))
    return {class_table + 1, 1};
  if (fits(tuning::table2_slots, tuning::table2_bytes / 8, tuning::table2_products, work, words_bound, span_words))
    return {class_table + 2, 1};
  if (fits(tuning::table3_slots, tuning::table3_bytes / 8, tuning::table3_products, work, words_bound, span_words))
    return {class_table + 3, 1};
  const u64 share = total / tuning::slice_units > tuning::slice_products ? total / tuning::slice_units
                                                                         : u64(tuning::slice_products);
  u64 slices = (u64(work) + share - 1) / share;
  if (slices > 64) slices = 64;
  if (slices > span_words) slices = span_words;
  return {class_table + 4, u32(slices)};
}

// FILL = false: control[units + class] = units of each class. FILL = true: lists them.
template <bool FILL>
__device__ inline void bin(const u64* a_offsets, const u64* m_offsets, u64 rows, u64* control, const u32* products,
                           const u32* first, const u32* last, u64* units, u32* row_units, u64* row_counts) {
  __shared__ u32 counts[class_count], bases[class_count];
  __shared__ u64 begins[class_count];
  if (threadIdx.x < class_count) {
    counts[threadIdx.x] = 0;
    u64 begin = 0;
    if (FILL) {
      for (u32 c = 1; c < threadIdx.x; c++) begin += control[control_units + c];
      if (blockIdx.x == 0) control[control_begin + threadIdx.x] = begin;
    }
    begins[threadIdx.x] = begin;
  }
  __syncthreads();
  const u64 row = u64(blockIdx.x) * tuning::bin_block + threadIdx.x;
  Choice choice = {class_empty, 0};
  u32 place = 0;
  if (row < rows) {
    choice = choose(u32(row), products[row], first[row], last[row], a_offsets, m_offsets, control[control_products]);
    if (choice.slices) place = atomicAdd(&counts[choice.kind], choice.slices);
    if (FILL && row_counts) row_counts[row] = choice.kind == class_copy ? products[row] : 0;
  }
  __syncthreads();
  if (threadIdx.x < class_count && counts[threadIdx.x]) {
    u64* counter = &control[(FILL ? control_cursor : control_units) + threadIdx.x];
    bases[threadIdx.x] = u32(atomicAdd(counter, u64(counts[threadIdx.x])));
  }
  if (!FILL) return;
  __syncthreads();
  const u64 unit = begins[choice.kind] + bases[choice.kind] + place;
  if (row < rows && row_units) row_units[row] = choice.slices ? u32(unit) : 0xffffffffu;
  for (u32 s = 0; s < choice.slices; s++) {
    units[unit + s] = row | u64(s) << 32 | u64(choice.slices) << 48;
  }
}

// Both: 1-D blocks of tuning::bin_block threads, one thread a row.
extern "C" __global__ void __launch_bounds__(tuning::bin_block)
spgemm_count_units(const u64* a_offsets, const u64* m_offsets, u64 rows, u64* control, const u32* products,
                   const u32* first, const u32* last) {
  bin<false>(a_offsets, m_offsets, rows, control, products, first, last, nullptr, nullptr, nullptr);
}
// units: room for rows + 2·tuning::slice_units. row_units (may be null): each row's first unit, ~0 without one.
// row_counts (null for a reduction): the counts of rows of the copy class, else 0.
extern "C" __global__ void __launch_bounds__(tuning::bin_block)
spgemm_list_units(const u64* a_offsets, const u64* m_offsets, u64 rows, u64* control, const u32* products,
                  const u32* first, const u32* last, u64* units, u32* row_units, u64* row_counts) {
  bin<true>(a_offsets, m_offsets, rows, control, products, first, last, units, row_units, row_counts);
}

}  // namespace oplus
