// What the kernels of one sparse product share: work lists, operands, the table and sums of a team.
#include "block/products.cuh"
#include "block/word_table.cuh"
#include "part/accumulate.cuh"
#include "part/spgemm_classes.cuh"

namespace oplus {

// One operand pattern after another; `m` is the mask's, unused without a mask.
struct Operands {
  Rows a, b, m;
  u32 columns;  // of B and C
};

// The columns [low, high) of a unit; low is a multiple of 32.
struct Range {
  u64 low, high;
  bool partial;
};
__device__ inline Range unit_range(Unit unit, u32 columns, const u32* row_first, const u32* row_last) {
  const u64 low = row_first[unit.row] & ~31u, high = u64(row_last[unit.row]) + 1;
  if (unit.slices == 1) return {low, high < columns ? high : columns, false};
  const u64 words = (high - low + 31) / 32;
  const u64 from = low + words * unit.slice / unit.slices * 32, to = low + words * (unit.slice + 1) / unit.slices * 32;
  return {from, to < high ? to : high, true};
}

template <bool RANKED, u32 THREADS, u32 SLOTS> struct TableOf {
  typedef WordTable<THREADS, SLOTS, RANKED, flag::masked> Type;
};

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
template <class Table, u32 THREADS>
__device__ inline bool mark_products(Table& table, const Operands& x, u32 row, Range range,
                                     ProductScratch<THREADS>* scratch) {
  if constexpr (flag::masked) {
    if (!list_mask(table, x, row, range)) return false;
  } else {
    table.open(range.low, range.high);
  }
  for_products<THREADS>(table.team, x.a.indices, x.a.offsets[row], x.a.offsets[row + 1], x.b, range.low, range.high,
                        range.partial, scratch, [&](bool active, u32, u64, u64 b) {
                          if (!active) return;
                          const u32 column = x.b.indices[b];
                          if constexpr (flag::masked) table.template mark_listed<flag::complement>(column);
                          else table.mark(column);
                        });
  return !table.overflowed();
}

// Walks a unit's columns in ascending ranges, each as wide as `f(range)` accepts by returning true.
// The width stays a multiple of 32 until one word of columns is left, which every table must accept.
template <class F> __device__ inline void for_ranges(Range unit, F f) {
  u64 width = unit.high - unit.low;
  for (u64 low = unit.low; low < unit.high;) {
    const u64 high = unit.high - low <= width ? unit.high : low + width;
    const bool partial = unit.partial || low != unit.low || high != unit.high;
    if (f(Range{low, high, partial})) {
      low = high;
      width = width * 2 < unit.high - unit.low ? width * 2 : unit.high - unit.low;
    } else {
      width = ((high - low) / 2 + 31) / 32 * 32;
    }
  }
}

// ⊗ for A's entry a and B's entry b; what the semiring does not read is not loaded.
struct Factors {
  const A* a;
  const B* b;
  const u64 *i_ids, *k_ids, *j_ids;  // flag::mapped: the names of positions; null: themselves
};
__device__ inline u64 named(const u64* ids, u32 i) {
  if constexpr (flag::mapped) return ids ? ids[i] : u64(i);
  else return i;
}
__device__ inline C product(const Factors& f, const Operands& x, u64 a, u64 b, u32 row, u32 column) {
  A left = A();
  B right = B();
  At at = {0, 0, 0};
  if constexpr (Semiring::reads_a) left = f.a[a];
  if constexpr (Semiring::reads_b) right = f.b[b];
  if constexpr (Semiring::positional) {
    at.i = named(f.i_ids, row);
    at.k = named(f.k_ids, x.a.indices[a]);
    at.j = named(f.j_ids, column);
  }
  return Semiring::multiply(left, right, at);
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

// The sizes of table class T, from the tuning numbers. The largest table has half the slots if it holds mask bits.
template <u32 T, u32 THREADS, u32 SLOTS, u32 BYTES> struct TableSizeOf {
  static constexpr u32 threads = THREADS, block = THREADS == 32 ? tuning::table_warp_block : THREADS;
  static constexpr u32 slots = flag::masked && T == 4 ? SLOTS / 2 : SLOTS;
  static constexpr u32 state = THREADS == 32 || Exact<Semiring, C>::value ? 0 : 4;
  static constexpr u32 values = BYTES / (sizeof(C) + state) / 32 * 32;
};
template <u32 T> struct TableSize;
#define OPLUS_TABLE_SIZE(T) \
  template <> struct TableSize<T> : TableSizeOf<T, tuning::table##T##_threads, tuning::table##T##_slots, tuning::table##T##_bytes> {};
OPLUS_TABLE_SIZE(0)
OPLUS_TABLE_SIZE(1)
OPLUS_TABLE_SIZE(2)
OPLUS_TABLE_SIZE(3)
OPLUS_TABLE_SIZE(4)
#undef OPLUS_TABLE_SIZE

__device__ constexpr u32 rounded(u32 bytes) { return (bytes + 15) / 16 * 16; }

// Dynamic shared memory of one team: products, scan, counters, bits, sums.
template <u32 T, bool RANKED> struct TeamMemory {
  typedef TableSize<T> Size;
  typedef typename TableOf<RANKED, Size::threads, Size::slots>::Type Table;
  typedef Accumulator<Semiring, C, Size::threads, Size::values> Sums;
  static constexpr bool has_sums = RANKED && !Semiring::constant;
  static constexpr u32 scratch = rounded(sizeof(ProductScratch<Size::threads>)), scan = 34 * 8 + 16,
                       bits = rounded(Table::words_needed * 4), state = has_sums ? rounded(Sums::state_words * 4) : 0,
                       values = has_sums ? rounded(Size::values * sizeof(C)) : 0;
  static constexpr u32 bytes = scratch + scan + bits + state + values;
  static constexpr u32 teams = Size::block / Size::threads;

  unsigned char* memory;  // of this team
  __device__ TeamMemory(unsigned char* block) : memory(block + (teams == 1 ? 0 : threadIdx.x / 32 * bytes)) {}
  __device__ ProductScratch<Size::threads>* products() const {
    return reinterpret_cast<ProductScratch<Size::threads>*>(memory);
  }
  __device__ u64* scan_words() const { return reinterpret_cast<u64*>(memory + scratch); }
  __device__ u32* counters() const { return reinterpret_cast<u32*>(memory + scratch + 34 * 8); }
  __device__ Team<Size::threads> team() const { return {scan_words()}; }
  __device__ Table table() const {
    return {team(), reinterpret_cast<u32*>(memory + scratch + scan), counters(), 0, 0, false};
  }
  __device__ Sums sums() const {
    return {team(), reinterpret_cast<C*>(memory + scratch + scan + bits + state),
            reinterpret_cast<u32*>(memory + scratch + scan + bits)};
  }
};

// Calls f(unit number, unit) for this team's share of a class: warps in strides, blocks by ticket.
template <u32 T, bool RANKED, class F>
__device__ inline void for_units(const TeamMemory<T, RANKED>& memory, u64* control, const u64* units, F f) {
  typedef TableSize<T> Size;
  const u64 n = control[control_units + class_table + T], begin = control[control_begin + class_table + T];
  if constexpr (Size::threads == 32) {
    const u64 teams = Size::block / 32, stride = gridDim.x * teams;
    for (u64 u = blockIdx.x * teams + threadIdx.x / 32; u < n; u += stride) f(begin + u, Unit(units[begin + u]));
  } else {
    volatile u32* next = memory.counters() + 2;
    for (;;) {
      if (threadIdx.x == 0) {
        const u64 ticket = n == 0 ? 0 : atomicAdd(&control[(RANKED ? control_numeric : control_symbolic) + T], u64(1));
        *next = ticket < n ? u32(ticket) : 0xffffffffu;
      }
      __syncthreads();
      const u32 u = *next;
      __syncthreads();
      if (u >= n) return;
      f(begin + u, Unit(units[begin + u]));
    }
  }
}

// Sums a unit's products in the table's ranks: the numeric phase up to the values of C. False: too many columns.
// On return, `marked` columns have their sums in `sums.values`.
template <u32 T>
__device__ inline bool sum_products(const TeamMemory<T, true>& memory, typename TeamMemory<T, true>::Table& table,
                                    typename TeamMemory<T, true>::Sums& sums, const Operands& x, const Factors& factors,
                                    u32 row, Range range, u32& marked) {
  typedef TableSize<T> Size;
  if (!mark_products(table, x, row, range, memory.products())) return false;
  marked = table.rank();
  if constexpr (!Semiring::constant) {
    if (marked > Size::values) return false;
    sums.clear(marked);
    table.team.sync();
    if (marked == 0) return true;
    const u64 begin = x.a.offsets[row], end = x.a.offsets[row + 1];
    if constexpr (TeamMemory<T, true>::Sums::two_passes) {
      for_products<Size::threads>(table.team, x.a.indices, begin, end, x.b, range.low, range.high, range.partial,
                                  memory.products(), [&](bool active, u32, u64 a, u64 b) {
                                    const u32 at = active ? table.position(x.b.indices[b]) : table.none;
                                    if (at != table.none) sums.claim(at, u32(a - begin));
                                  });
      table.team.sync();
    }
    for_products<Size::threads>(table.team, x.a.indices, begin, end, x.b, range.low, range.high, range.partial,
                                memory.products(), [&](bool active, u32 e, u64 a, u64 b) {
                                  u32 at = table.none;
                                  C term = C();
                                  if (active) {
                                    const u32 column = x.b.indices[b];
                                    at = table.position(column);
                                    if (at != table.none) term = product(factors, x, a, b, row, column);
                                  }
                                  const bool one_row = shuffle(e, 0) == shuffle(e, 31);
                                  sums.put(at != table.none, at, term, u32(a - begin), one_row);
                                });
    table.team.sync();
  }
  return true;
}

}  // namespace oplus
