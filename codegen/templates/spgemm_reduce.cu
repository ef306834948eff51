// s = ⊞ over all entries of C⟨M⟩ = A ⊕.⊗ B; C is never stored. ⊞ is function::reduce, a monoid on C.
//
// Deterministic but for floating ⊕ in block rows: ⊞ is a fixed tree over the rows in order. With flag::same (⊞ is ⊕,
// commutative) products are added up without being brought together by column. Launches and sizes: README.md.
#include "part/partial.cuh"
#include "part/spgemm_sums.cuh"

namespace oplus {

struct Reduce : function::reduce {
  static __device__ C add(C x, C y) { return function::reduce::apply(x, y); }
};

// Writes a unit's part.
__device__ inline void store_part(u64 unit, Partial<C> part, u32* unit_has, C* unit_values) {
  unit_has[unit] = part.has;
  if (part.has) unit_values[unit] = part.value;
}

template <u32 T>
__device__ inline void table_reduce(const Operands& x, const Factors& factors, u64 rows, u64* control, const u32* units,
                                    const u64* slices, const u32* first, const u32* last, u32* unit_has, C* unit_values) {
  typedef SumMemory<T> Memory;
  typedef TableSize<T> Size;
  constexpr u32 batch = tuning::numeric_batch;
  DYN_SHARED(unsigned char, shared);
  const Memory memory(shared);
  auto table = memory.table();
  auto sums = memory.sums();
  // Of a table that there is: sums over dot products are of values of any size.
  static_assert(sizeof(Partial<C>) * (T < 8) <= sizeof(WarpProducts), "a partial a warp fits");
  const u64 cut = T == 4 ? control[control_slices] : 0, begin = control[control_begin + class_table + T];
  const u64 n = cut + control[control_units + class_table + T];
  for_shares(memory, Size::threads, Size::block, n, &control[control_numeric + T], [&](u64 i) {
    const bool sliced = i < cut;
    const u64 number = sliced ? rows + i : begin + i - cut;
    const Slice slice = sliced ? Slice(slices[i]) : Slice(units[number]);
    const u32 row = slice.row;
    Partial<C> part = no_term<C>();
    for_ranges(sliced ? slice_range(slice, x.columns, first, last) : row_range(row, x.columns, first, last), [&](Range range) {
      if constexpr (flag::same) {
        if constexpr (flag::masked) {
          if (!list_mask(table, x, row, range)) return false;
        }
        for_products<batch>(memory.share(), x.a.indices, x.a.offsets[row], x.a.offsets[row + 1], x.b, range.low, range.high,
                            range.partial, memory.products(), [&](const Batch<batch>& p) {
                              Loaded loaded[batch];
#pragma unroll
                              for (u32 t = 0; t < batch; t++) {
                                if (p.active[t]) loaded[t] = load_factors(factors, x, p.a[t], p.b[t]);
                              }
#pragma unroll
                              for (u32 t = 0; t < batch; t++) {
                                if (!p.active[t]) continue;
                                if constexpr (flag::masked) {
                                  if (table.is_listed(loaded[t].column) == flag::complement) continue;
                                }
                                Join<Reduce>::append(part, multiply(factors, x, loaded[t], p.a[t], row), 0);
                              }
                            });
        table.team.sync();
      } else {
        u32 marked = 0;
        if (!sum_products<T>(memory, table, sums, x, factors, row, range, marked)) return false;
        for (u32 e = table.team.rank(); e < marked; e += Size::threads) {
          if constexpr (Semiring::constant) Join<Reduce>::append(part, Semiring::multiply(A(), B(), At{0, 0, 0}), 0);
          else Join<Reduce>::append(part, sums.values[e], 0);
        }
        table.team.sync();
      }
      return true;
    });
    part = team_reduce<Reduce>(table.team, part, reinterpret_cast<Partial<C>*>(memory.memory + Memory::scan));
    if (table.team.rank() == 0) store_part(number, part, unit_has, unit_values);
    table.team.sync();
  });
}

#define OPLUS_TABLE(T)                                                                                                 \
  extern "C" __global__ void __launch_bounds__(TableSize<T>::block) spgemm_reduce_table##T(                            \
      const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,       \
      const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids, const u64* k_ids,  \
      const u64* j_ids, u64 rows, u64* control, const u32* units, const u64* slices, const u32* first, const u32* last,    \
      u32* unit_has, C* unit_values) {                                                                                 \
    static_assert(SumMemory<T>::bytes* SumMemory<T>::teams == shared_bytes::numeric_table##T, "");                     \
    const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};              \
    const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};                                                 \
    table_reduce<T>(x, factors, rows, control, units, slices, first, last, unit_has, unit_values);                     \
  }
#if OPLUS_NUMBER_kernels & 2
OPLUS_TABLE(0)
#endif
#if OPLUS_NUMBER_kernels & 4
OPLUS_TABLE(1)
#endif
#if OPLUS_NUMBER_kernels & 8
OPLUS_TABLE(2)
#endif
#if OPLUS_NUMBER_kernels & 16
OPLUS_TABLE(3)
#endif
#if OPLUS_NUMBER_kernels & 32
OPLUS_TABLE(4)
#endif

#if OPLUS_NUMBER_kernels & 1
// block_parts[b] = ⊞ over the rows of block b. Launch: ceil(rows / tuning::reduce_block) blocks of that many threads.
extern "C" __global__ void __launch_bounds__(tuning::reduce_block)
spgemm_reduce_rows(u64 rows, const u32* row_units, const u64* slices, const u32* unit_has, const C* unit_values,
                   u32* block_has, C* block_values) {
  __shared__ u64 space[tuning::reduce_block / 32 * ((sizeof(Partial<C>) + 7) / 8)];
  const Team<tuning::reduce_block> team = {nullptr};
  const u64 row = u64(blockIdx.x) * tuning::reduce_block + threadIdx.x;
  Partial<C> part = no_term<C>();
  const u32 first = row < rows ? row_units[row] : 0xffffffffu;
  if (first != 0xffffffffu) {
    const u32 n = first < rows ? 1 : Slice(slices[first - rows]).of;
    for (u32 s = 0; s < n; s++) {
      if (unit_has[first + s]) Join<Reduce>::append(part, unit_values[first + s], 0);
    }
  }
  part = team_reduce<Reduce>(team, part, reinterpret_cast<Partial<C>*>(space));
  if (threadIdx.x == 0) store_part(blockIdx.x, part, block_has, block_values);
}

// block_parts[b] = ⊞ over the values that bits of `words` mark, tuning::marked_share places a thread in their order. Launch: blocks of
// tuning::reduce_block threads, one for so many times marked_share of n places.
constexpr u32 marked_share = tuning::marked_share;
static_assert(32 % marked_share == 0 && marked_share < 32, "a thread's bits are of one word");
extern "C" __global__ void __launch_bounds__(tuning::reduce_block)
spgemm_reduce_marked(u64 n, const u32* words, const C* values, u32* block_has, C* block_values) {
  __shared__ u64 space[tuning::reduce_block / 32 * ((sizeof(Partial<C>) + 7) / 8)];
  const Team<tuning::reduce_block> team = {nullptr};
  const u64 begin = (u64(blockIdx.x) * tuning::reduce_block + threadIdx.x) * marked_share;
  Partial<C> part = no_term<C>();
  if (begin < n) {
    // Bits beyond the last place are none.
    u32 bits = words[begin / 32] >> (begin & 31) & ((1u << marked_share) - 1);
    for (; bits; bits &= bits - 1) Join<Reduce>::append(part, values[begin + (__ffs(i32(bits)) - 1)], 0);
  }
  part = team_reduce<Reduce>(team, part, reinterpret_cast<Partial<C>*>(space));
  if (threadIdx.x == 0) store_part(blockIdx.x, part, block_has, block_values);
}

// result_has[0], result[0] = ⊞ over n parts. Launch: one block of tuning::reduce_block threads.
extern "C" __global__ void __launch_bounds__(tuning::reduce_block)
spgemm_reduce_last(u64 n, const u32* has, const C* values, u32* result_has, C* result) {
  __shared__ u64 space[tuning::reduce_block / 32 * ((sizeof(Partial<C>) + 7) / 8)];
  const Team<tuning::reduce_block> team = {nullptr};
  const u64 share = (n + tuning::reduce_block - 1) / tuning::reduce_block, begin = share * threadIdx.x;
  Partial<C> part = no_term<C>();
  for (u64 i = begin; i < begin + share && i < n; i++) {
    if (has[i]) Join<Reduce>::append(part, values[i], 0);
  }
  part = team_reduce<Reduce>(team, part, reinterpret_cast<Partial<C>*>(space));
  if (threadIdx.x == 0) store_part(0, part, result_has, result);
}
#endif

}  // namespace oplus
