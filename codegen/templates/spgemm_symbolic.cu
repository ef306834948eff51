// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, first phase: how many columns each row of C has.
//
// Any semiring: only patterns are looked at. CSR with u64 offsets, u32 columns ascending in each row. A row that does not
// fit its table goes on to the next larger one, so the table kernels must run one after the other, 0 to 4; the largest
// takes a row in several ranges of columns. Deterministic. See README.md for launches and sizes.
#include "part/spgemm.cuh"

namespace oplus {

// What the symbolic kernels of all table sizes are given besides the operands.
struct Symbolic {
  u64 rows;
  u64* control;
  const u32* units;
  const u64* slices;
  u32* spill;                         // u32[2·rows]
  const u32 *products, *first, *last; // from the analysis
  u64* row_counts;
  u32 *row_kinds, *slice_counts;
  Part* parts;
  u32 parts_room, part_values;        // room for parts; sums the largest table holds
  u32 large;                          // rows of more entries are left to the largest table
};

template <u32 THREADS, u32 SLOTS> struct SymbolicSize {
  typedef TableMemory<THREADS, SLOTS, false> Memory;
  static constexpr u32 threads = THREADS, block = THREADS == 32 ? tuning::table_warp_block : THREADS, teams = block / THREADS;
};

// Tables 0 to 3: a row in one go, or on to the next table.
template <u32 T, class Size> __device__ inline void table_symbolic(const Operands& x, const Symbolic& y) {
  DYN_SHARED(unsigned char, shared);
  const typename Size::Memory memory = {shared + (Size::teams == 1 ? 0 : threadIdx.x / 32 * Size::Memory::table_bytes)};
  auto table = memory.table();
  const u64 units = y.control[control_units + class_table + T], begin = y.control[control_begin + class_table + T];
  const u64 spilled = T == 0 ? 0 : y.control[control_spilled + T];
  for_shares(memory, Size::threads, Size::block, units + spilled, &y.control[control_symbolic + T], [&](u64 i) {
    const u32 row = i < units ? y.units[begin + i] : *spill_place(y.spill, y.rows, T, i - units);
    const bool fits = mark_products(table, x, row, row_range(row, x.columns, y.first, y.last), memory.share(), memory.products());
    const u32 count = fits ? table.count() : 0;
    if (table.team.rank() == 0) {
      if (fits && count <= y.large) {
        y.row_counts[row] = count;
        y.row_kinds[row] = T;
      } else {
        *spill_place(y.spill, y.rows, T + 1, atomicAdd(&y.control[control_spilled + T + 1], u64(1))) = row;
      }
    }
    table.team.sync();
  });
}

// Writes the parts of a range whose columns are marked: one where they are hashed, of which the table of sums holds all. False: no
// room.
template <class Table>
__device__ inline bool write_parts(Table& table, const Symbolic& y, Range range, u32 marked, u64 work, u64 before, Part part) {
  u64 parts = 1;
  if (table.direct) {
    parts = (marked + y.part_values - 33) / (y.part_values - 32);
    u64 even = work / product_share(y.control[control_products]);
    if (even > marked / 256) even = marked / 256;
    if (even > parts) parts = even;
  }
  const u32 size = u32((marked + parts - 1) / parts), n = (marked + size - 1) / size;
  volatile u32* shared = table.counters + 2;
  if (table.team.rank() == 0) *shared = u32(atomicAdd(&y.control[control_parts], u64(n)));
  table.team.sync();
  const u32 at = *shared;
  table.team.sync();
  const bool room = at + u64(n) <= y.parts_room;
  part.low = u32(range.low / 32);
  part.high = u32((range.high + 31) / 32);
  part.before = u32(before);
  for (u32 i = table.team.rank(); i < n && at + i < y.parts_room; i += Table::threads) {
    Part mine = part;
    if (!room) mine.high = mine.low;
    y.parts[at + i] = mine;
  }
  if (!room || n == 1) return room;
  table.team.sync();
  table.cut(size, n, [&](u32 i, u32 word, u32 ahead) {
    y.parts[at + i].low = word;
    y.parts[at + i].before = u32(before) + ahead;
    y.parts[at + i - 1].high = word;
  });
  return true;
}

// The largest table: slices first, then rows listed and spilled, in ranges, leaving parts for the numeric phase.
template <class Size> __device__ inline void last_symbolic(const Operands& x, const Symbolic& y) {
  DYN_SHARED(unsigned char, shared);
  const typename Size::Memory memory = {shared};
  auto table = memory.table();
  const u64 slices = y.control[control_slices], units = y.control[control_units + class_table + 4];
  const u64 begin = y.control[control_begin + class_table + 4], spilled = y.control[control_spilled + 4];
  for_shares(memory, Size::threads, Size::block, slices + units + spilled, &y.control[control_symbolic + 4], [&](u64 i) {
    const bool sliced = i < slices;
    const Slice slice = sliced ? Slice(y.slices[i])
        : i - slices < units ? Slice(y.units[begin + i - slices]) : Slice(*spill_place(y.spill, y.rows, 4, i - slices - units));
    const Range range = sliced ? slice_range(slice, x.columns, y.first, y.last) : row_range(slice.row, x.columns, y.first, y.last);
    const u64 work = y.products[slice.row] / (sliced ? slice.of : 1);
    const Part part = {slice.row, 0, 0, 0, u32(i) - slice.number, slice.number};
    u64 count = 0;
    bool room = true;
    for_ranges(range, [&](Range r) {
      if (!mark_products(table, x, slice.row, r, memory.share(), memory.products())) return false;
      const u32 marked = table.count();
      if (!table.direct && marked > y.part_values) return false;
      if (marked && !write_parts(table, y, r, marked, work, count, part)) room = false;
      count += marked;
      table.team.sync();
      return true;
    });
    if (table.team.rank() == 0) {
      atomicMax(&y.row_kinds[slice.row], u32(room ? kind_parts : kind_ranges));
      if (sliced) {
        y.slice_counts[i] = u32(count);
        atomicAdd(&y.row_counts[slice.row], count);
      } else {
        y.row_counts[slice.row] = count;
      }
    }
  });
}

#define OPLUS_SYMBOLIC_PARAMETERS                                                                                      \
  const u64 *a_offsets, const u32 *a_indices, const u64 *b_offsets, const u32 *b_indices, const u64 *m_offsets,        \
      const u32 *m_indices, u32 columns, u64 rows, u64 *control, const u32 *units, const u64 *slices, u32 *spill,      \
      const u32 *products, const u32 *first, const u32 *last, u64 *row_counts, u32 *row_kinds, u32 *slice_counts,      \
      u32 *parts, u32 parts_room, u32 part_values, u32 large
#define OPLUS_SYMBOLIC_BODY                                                                                            \
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};                \
  const Symbolic y = {rows,       control,   units,        slices,                         spill,      products,       \
                      first,      last,      row_counts,   row_kinds,                      slice_counts, reinterpret_cast<Part*>(parts),                  \
                      parts_room, part_values, large};

// Launch: 1-D blocks of SymbolicSize::block threads, any grid, dynamic shared memory as README.md says; in order, 0 to 4.
#define OPLUS_TABLE(T)                                                                                                 \
  typedef SymbolicSize<tuning::table##T##_threads, tuning::table##T##_slots> Size##T;                                  \
  extern "C" __global__ void __launch_bounds__(Size##T::block) spgemm_symbolic_table##T(OPLUS_SYMBOLIC_PARAMETERS) {   \
    static_assert(Size##T::Memory::table_bytes* Size##T::teams == shared_bytes::symbolic_table##T, "");                \
    OPLUS_SYMBOLIC_BODY                                                                                                \
    table_symbolic<T, Size##T>(x, y);                                                                                  \
  }
#if OPLUS_NUMBER_kernels & 1
OPLUS_TABLE(0)
#endif
#if OPLUS_NUMBER_kernels & 2
OPLUS_TABLE(1)
#endif
#if OPLUS_NUMBER_kernels & 4
OPLUS_TABLE(2)
#endif
#if OPLUS_NUMBER_kernels & 8
OPLUS_TABLE(3)
#endif
#if OPLUS_NUMBER_kernels & 16
typedef SymbolicSize<tuning::table4_threads, tuning::symbolic4_slots> Size4;
extern "C" __global__ void __launch_bounds__(Size4::block) spgemm_symbolic_table4(OPLUS_SYMBOLIC_PARAMETERS) {
  static_assert(Size4::Memory::table_bytes == shared_bytes::symbolic_table4, "");
  OPLUS_SYMBOLIC_BODY
  last_symbolic<Size4>(x, y);
}
#endif

}  // namespace oplus
