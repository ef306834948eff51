// What the kernels of one sparse product share and no semiring is needed for: operands, ranges of columns, mask rows.
#include "block/word_table.cuh"
#include "part/spgemm_classes.cuh"
#include "warp/products.cuh"

namespace oplus {

// The patterns; `m` is the mask's, unused without one.
struct Operands {
  Rows a, b, m;
  u32 columns;  // of B and C
};

// Columns [low, high); low is a multiple of 32. `partial`: it may cut rows of B.
struct Range {
  u64 low, high;
  bool partial;
};

__device__ inline Range row_range(u32 row, u32 columns, const u32* first, const u32* last) {
  const u64 high = u64(last[row]) + 1;
  return {first[row] & ~31u, high < columns ? high : columns, false};
}
__device__ inline Range slice_range(Slice slice, u32 columns, const u32* first, const u32* last) {
  const Range row = row_range(slice.row, columns, first, last);
  const u64 words = (row.high - row.low + 31) / 32;
  const u64 from = row.low + words * slice.number / slice.of * 32, to = row.low + words * (slice.number + 1) / slice.of * 32;
  return {from, to < row.high ? to : row.high, true};
}

// Opens the table for a range and lists the mask row's columns in it. False: it overflowed.
template <class Table> __device__ inline bool list_mask(Table& table, const Operands& x, u32 row, Range range) {
  table.open(range.low, range.high);
  u64 begin = x.m.offsets[row], end = x.m.offsets[row + 1];
  begin = lower_bound<u32, u64>(x.m.indices, begin, end, u32(range.low));
  if (range.high <= 0xffffffffull) end = lower_bound<u32, u64>(x.m.indices, begin, end, u32(range.high));
  for (u64 e = begin + table.team.rank(); e < end; e += Table::threads) table.list(x.m.indices[e]);
  return !table.overflowed();
}

// Puts the row's products with columns in the range, masked, into the table. False: it overflowed.
template <class Table>
__device__ inline bool mark_products(Table& table, const Operands& x, u32 row, Range range, Share share,
                                     WarpProducts* scratch) {
  constexpr u32 batch = tuning::symbolic_batch;
  if constexpr (flag::masked) {
    if (!list_mask(table, x, row, range)) return false;
  } else {
    table.open(range.low, range.high);
  }
  for_products<batch>(share, x.a.indices, x.a.offsets[row], x.a.offsets[row + 1], x.b, range.low, range.high,
                      range.partial, scratch, [&](const Batch<batch>& p) {
                        u32 column[batch];
#pragma unroll
                        for (u32 t = 0; t < batch; t++) {
                          if (p.active[t]) column[t] = x.b.indices[p.b[t]];
                        }
#pragma unroll
                        for (u32 t = 0; t < batch; t++) {
                          if (!p.active[t]) continue;
                          if constexpr (flag::masked) table.template mark_listed<flag::complement>(column[t]);
                          else table.mark(column[t]);
                        }
                      });
  return !table.overflowed();
}

// Walks columns in ascending ranges, each as wide as `f(range)` accepts by returning true.
// The width stays a multiple of 32 until one word of columns is left, which every table must accept.
template <class F> __device__ inline void for_ranges(Range all, F f) {
  u64 width = all.high - all.low;
  for (u64 low = all.low; low < all.high;) {
    const u64 high = all.high - low <= width ? all.high : low + width;
    const bool partial = all.partial || low != all.low || high != all.high;
    if (f(Range{low, high, partial})) {
      low = high;
      width = width * 2 < all.high - all.low ? width * 2 : all.high - all.low;
    } else {
      width = ((high - low) / 2 + 31) / 32 * 32;
    }
  }
}

// A mask row admits the column.
__device__ inline bool admitted(const Operands& x, u32 row, u32 column) {
  if constexpr (!flag::masked) return true;
  else {
    const u64 end = x.m.offsets[row + 1];
    const u64 e = lower_bound<u32, u64>(x.m.indices, x.m.offsets[row], end, column);
    return (e < end && x.m.indices[e] == column) != flag::complement;
  }
}

// One of the stretches group · stride + 0 .. stride: always the same one, but not at equal distances, which grids have too.
__device__ inline u64 sampled(u64 group, u64 stride) { return group * stride + u64(u32(group) * 0x9e3779b1u) * stride / 0x100000000ull; }

constexpr u32 log2_of(u32 n) { return n < 2 ? 0 : 1 + log2_of(n / 2); }
__device__ constexpr u32 rounded(u32 bytes) { return (bytes + 15) / 16 * 16; }

// Shared memory of a team but for what follows `bits`: scan words, counters, ticket, rows of B, the table.
template <u32 THREADS, u32 SLOTS, bool RANKED> struct TableMemory {
  typedef WordTable<THREADS, SLOTS, RANKED, flag::masked> Table;
  static constexpr u32 scan = 34 * 8 + 16, scratch = sizeof(WarpProducts) * (THREADS / 32), bits = rounded(Table::words_needed * 4);
  static constexpr u32 table_bytes = scan + scratch + bits;

  unsigned char* memory;  // of this team
  __device__ u64* scan_words() const { return reinterpret_cast<u64*>(memory); }
  __device__ u32* counters() const { return reinterpret_cast<u32*>(memory + 34 * 8); }
  __device__ WarpProducts* products() const {
    return reinterpret_cast<WarpProducts*>(memory + scan) + (THREADS == 32 ? 0 : threadIdx.x / 32);
  }
  __device__ Team<THREADS> team() const { return {scan_words()}; }
  __device__ Share share() const { return {THREADS == 32 ? 0 : threadIdx.x / 32, THREADS / 32}; }
  __device__ Table table() const {
    return {team(), reinterpret_cast<u32*>(memory + scan + scratch), counters(), 0, 0, false};
  }
};

// Calls f(i) for this team's share of 0 .. n: warps in strides, blocks by ticket. `tickets`: 0 before the launch.
template <class Memory, class F>
__device__ inline void for_shares(const Memory& memory, u32 threads, u32 block, u64 n, u64* tickets, F f) {
  if (threads == 32) {
    const u64 teams = block / 32, stride = gridDim.x * teams;
    for (u64 u = blockIdx.x * teams + threadIdx.x / 32; u < n; u += stride) f(u);
  } else {
    volatile u32* next = memory.counters() + 2;
    for (;;) {
      if (threadIdx.x == 0) {
        const u64 ticket = n == 0 ? 0 : atomicAdd(tickets, u64(1));
        *next = ticket < n ? u32(ticket) : 0xffffffffu;
      }
      __syncthreads();
      const u32 u = *next;
      __syncthreads();
      if (u >= n) return;
      f(u64(u));
    }
  }
}

}  // namespace oplus
