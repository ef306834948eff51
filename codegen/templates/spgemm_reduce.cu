// s = ⊞ over all entries of C⟨M⟩ = A ⊕.⊗ B; C is never stored. ⊞ is function::reduce, a monoid on C.
//
// Deterministic but for floating ⊕ in block rows: ⊞ is a fixed tree over the rows in order. With flag::same (⊞ is ⊕,
// commutative) products are added up without being brought together by column. Launches and sizes: README.md.
#include "part/partial.cuh"
#include "part/spgemm.cuh"

namespace oplus {

struct Reduce : function::reduce {
  static __device__ C add(C x, C y) { return function::reduce::apply(x, y); }
};
typedef Partial<C> Part;

// Writes a unit's part.
__device__ inline void store_part(u64 unit, Part part, u32* unit_has, C* unit_values) {
  unit_has[unit] = part.has;
  if (part.has) unit_values[unit] = part.value;
}

template <u32 T>
__device__ inline void table_reduce(const Operands& x, const Factors& factors, u64* control, const u64* units,
                                    const u32* row_first, const u32* row_last, u32* unit_has, C* unit_values) {
  typedef TeamMemory<T, true> Memory;
  typedef TableSize<T> Size;
  DYN_SHARED(unsigned char, shared);
  const Memory memory(shared);
  auto table = memory.table();
  auto sums = memory.sums();
  static_assert(sizeof(Part) * (Size::threads / 32) <= sizeof(ProductScratch<Size::threads>), "partials fit");
  for_units<T, true>(memory, control, units, [&](u64 number, Unit unit) {
    Part part = no_term<C>();
    for_ranges(unit_range(unit, x.columns, row_first, row_last), [&](Range range) {
      if constexpr (flag::same) {
        if constexpr (flag::masked) {
          if (!list_mask(table, x, unit.row, range)) return false;
        }
        for_products<Size::threads>(table.team, x.a.indices, x.a.offsets[unit.row], x.a.offsets[unit.row + 1], x.b,
                                    range.low, range.high, range.partial, memory.products(),
                                    [&](bool active, u32, u64 a, u64 b) {
                                      if (!active) return;
                                      const u32 column = x.b.indices[b];
                                      if constexpr (flag::masked) {
                                        if (table.is_listed(column) == flag::complement) return;
                                      }
                                      Join<Reduce>::append(part, product(factors, x, a, b, unit.row, column), 0);
                                    });
      } else {
        u32 marked = 0;
        if (!sum_products<T>(memory, table, sums, x, factors, unit.row, range, marked)) return false;
        for (u32 i = table.team.rank(); i < marked; i += Size::threads) {
          if constexpr (Semiring::constant) Join<Reduce>::append(part, Semiring::multiply(A(), B(), At{0, 0, 0}), 0);
          else Join<Reduce>::append(part, sums.values[i], 0);
        }
        table.team.sync();
      }
      return true;
    });
    part = team_reduce<Reduce>(table.team, part, reinterpret_cast<Part*>(memory.products()));
    if (table.team.rank() == 0) store_part(number, part, unit_has, unit_values);
    table.team.sync();
  });
}

#define OPLUS_TABLE(T)                                                                                                 \
  extern "C" __global__ void __launch_bounds__(TableSize<T>::block) spgemm_reduce_table##T(                            \
      const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,       \
      const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids, const u64* k_ids,  \
      const u64* j_ids, u64* control, const u64* units, const u32* row_first, const u32* row_last, u32* unit_has,      \
      C* unit_values) {                                                                                                \
    static_assert(TeamMemory<T, true>::bytes* TeamMemory<T, true>::teams == shared_bytes::numeric_table##T, "");       \
    const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};              \
    const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};                                                 \
    table_reduce<T>(x, factors, control, units, row_first, row_last, unit_has, unit_values);                           \
  }
OPLUS_TABLE(0)
OPLUS_TABLE(1)
OPLUS_TABLE(2)
OPLUS_TABLE(3)
OPLUS_TABLE(4)

// block_parts[b] = ⊞ over the rows of block b. Launch: ceil(rows / tuning::reduce_block) blocks of that many threads.
extern "C" __global__ void __launch_bounds__(tuning::reduce_block)
spgemm_reduce_rows(u64 rows, const u32* row_units, const u64* units, const u32* unit_has, const C* unit_values,
                   u32* block_has, C* block_values) {
  __shared__ u64 space[tuning::reduce_block / 32 * ((sizeof(Part) + 7) / 8)];
  const Team<tuning::reduce_block> team = {nullptr};
  const u64 row = u64(blockIdx.x) * tuning::reduce_block + threadIdx.x;
  Part part = no_term<C>();
  const u32 first = row < rows ? row_units[row] : 0xffffffffu;
  if (first != 0xffffffffu) {
    const u32 slices = Unit(units[first]).slices;
    for (u32 s = 0; s < slices; s++) {
      if (unit_has[first + s]) Join<Reduce>::append(part, unit_values[first + s], 0);
    }
  }
  part = team_reduce<Reduce>(team, part, reinterpret_cast<Part*>(space));
  if (threadIdx.x == 0) store_part(blockIdx.x, part, block_has, block_values);
}

// result_has[0], result[0] = ⊞ over n parts. Launch: one block of tuning::reduce_block threads.
extern "C" __global__ void __launch_bounds__(tuning::reduce_block)
spgemm_reduce_last(u64 n, const u32* has, const C* values, u32* result_has, C* result) {
  __shared__ u64 space[tuning::reduce_block / 32 * ((sizeof(Part) + 7) / 8)];
  const Team<tuning::reduce_block> team = {nullptr};
  const u64 share = (n + tuning::reduce_block - 1) / tuning::reduce_block, begin = share * threadIdx.x;
  Part part = no_term<C>();
  for (u64 i = begin; i < begin + share && i < n; i++) {
    if (has[i]) Join<Reduce>::append(part, values[i], 0);
  }
  part = team_reduce<Reduce>(team, part, reinterpret_cast<Part*>(space));
  if (threadIdx.x == 0) store_part(0, part, result_has, result);
}

}  // namespace oplus
