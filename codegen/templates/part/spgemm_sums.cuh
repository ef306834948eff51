// The numeric side of a sparse product: sums at the ranks of a table.
#include "part/accumulate.cuh"
#include "part/spgemm.cuh"
#include "part/spgemm_factors.cuh"

namespace oplus {

// The sizes of table class T, from the tuning numbers.
template <u32 THREADS, u32 SLOTS, u32 BYTES> struct TableSizeOf {
  static constexpr u32 threads = THREADS, block = THREADS == 32 ? tuning::table_warp_block : THREADS, slots = SLOTS;
  static constexpr u32 state = THREADS == 32 || Exact<Semiring, C>::value ? 0 : 4;
  // Of one word's columns at least, beyond which no range is narrowed.
  static constexpr u32 fitting = BYTES / (Semiring::constant ? 1 : sizeof(C) + state) / 32 * 32;
  static constexpr u32 values = fitting < 32 ? 32 : fitting;
};
template <u32 T> struct TableSize;
#define OPLUS_TABLE_SIZE(T) \
  template <> struct TableSize<T> : TableSizeOf<tuning::table##T##_threads, tuning::table##T##_slots, tuning::table##T##_bytes> {};
OPLUS_TABLE_SIZE(0)
OPLUS_TABLE_SIZE(1)
OPLUS_TABLE_SIZE(2)
OPLUS_TABLE_SIZE(3)
OPLUS_TABLE_SIZE(4)
#undef OPLUS_TABLE_SIZE

// Dynamic shared memory of one team: table, then state and values of the sums.
template <u32 T> struct SumMemory : TableMemory<TableSize<T>::threads, TableSize<T>::slots, true> {
  typedef TableMemory<TableSize<T>::threads, TableSize<T>::slots, true> Base;
  typedef TableSize<T> Size;
  typedef Accumulator<Semiring, C, Size::threads, Size::values> Sums;
  static constexpr u32 state = Semiring::constant ? 0 : rounded(Sums::state_words * 4),
                       values = Semiring::constant ? 0 : rounded(Size::values * sizeof(C));
  static constexpr u32 bytes = Base::table_bytes + state + values;
  static constexpr u32 teams = Size::block / Size::threads;

  __device__ SumMemory(unsigned char* block) : Base{block + (teams == 1 ? 0 : threadIdx.x / 32 * bytes)} {}
  __device__ Sums sums() const {
    return {this->team(), reinterpret_cast<C*>(this->memory + Base::table_bytes + state),
            reinterpret_cast<u32*>(this->memory + Base::table_bytes)};
  }
};

// Sums a row's products with columns in the range at their ranks. False: the range is too wide for the table.
// On return, `marked` columns have their sums in `sums.values`.
template <u32 T>
__device__ inline bool sum_products(const SumMemory<T>& memory, typename SumMemory<T>::Table& table,
                                    typename SumMemory<T>::Sums& sums, const Operands& x, const Factors& factors, u32 row,
                                    Range range, u32& marked) {
  constexpr u32 batch = tuning::numeric_batch;
  if (!mark_products(table, x, row, range, memory.share(), memory.products())) return false;
  marked = table.rank();
  if constexpr (!Semiring::constant) {
    if (marked > TableSize<T>::values) return false;
    sums.clear(marked);
    table.team.sync();
    if (marked == 0) return true;
    const u64 begin = x.a.offsets[row], end = x.a.offsets[row + 1];
    if constexpr (SumMemory<T>::Sums::two_passes) {
      for_products<batch>(memory.share(), x.a.indices, begin, end, x.b, range.low, range.high, range.partial,
                          memory.products(), [&](const Batch<batch>& p) {
#pragma unroll
                            for (u32 t = 0; t < batch; t++) {
                              const u32 at = p.active[t] ? table.position(x.b.indices[p.b[t]]) : table.none;
                              if (at != table.none) sums.claim(at, u32(p.a[t] - begin));
                            }
                          });
      table.team.sync();
    }
    for_products<batch>(memory.share(), x.a.indices, begin, end, x.b, range.low, range.high, range.partial,
                        memory.products(), [&](const Batch<batch>& p) {
                          Loaded loaded[batch];
                          u32 at[batch];
                          C term[batch];
#pragma unroll
                          for (u32 t = 0; t < batch; t++) {
                            if (p.active[t]) loaded[t] = load_factors(factors, x, p.a[t], p.b[t]);
                          }
#pragma unroll
                          for (u32 t = 0; t < batch; t++) {
                            at[t] = p.active[t] ? table.position(loaded[t].column) : table.none;
                            if (at[t] != table.none) term[t] = multiply(factors, x, loaded[t], p.a[t], row);
                          }
#pragma unroll
                          for (u32 t = 0; t < batch; t++) {
                            sums.put(at[t] != table.none, at[t], term[t], u32(p.a[t] - begin), p.group[t], p.groups[t]);
                          }
                        });
    table.team.sync();
  }
  return true;
}

}  // namespace oplus
