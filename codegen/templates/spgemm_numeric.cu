// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, second phase: columns and values, into rows of known length.
//
// A row's columns are bits in shared memory, its sums stand at the ranks of these bits: columns come out ascending without
// a sort of the entries. An entry of C stands where a product does. CSR as in the first phase.
// Determinism: warps' rows (tables 0 and 1) sum in the order of k, bit-equal to a serial sum; block rows
// sum in any order, which shows in floating ⊕ only. See README.md for launches and sizes.
#include "part/spgemm_sums.cuh"

namespace oplus {

#define OPLUS_NUMERIC_OPERANDS                                                                                         \
  const u64 *a_offsets, const u32 *a_indices, const A *a_values, const u64 *b_offsets, const u32 *b_indices,           \
      const B *b_values, const u64 *m_offsets, const u32 *m_indices, u32 columns, const u64 *i_ids, const u64 *k_ids,  \
      const u64 *j_ids
#define OPLUS_NUMERIC_BODY                                                                                             \
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};                \
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};

#if OPLUS_NUMBER_kernels & 1
// Rows of A with one entry: a scaled copy of a row of B. Launch: 1-D blocks of tuning::copy_block, any grid; a warp takes up to 32 rows
// where there are so many more than warps: one after the other, or if they are short their entries side by side.
extern "C" __global__ void __launch_bounds__(tuning::copy_block)
spgemm_numeric_copy(OPLUS_NUMERIC_OPERANDS, const u64* control, u32 units, u32 begin, const u32* list, const u64* c_offsets,
                    u32* c_indices, Written* c_values) {
  OPLUS_NUMERIC_BODY
  constexpr u32 batch = 4;
  const u64 n = control[units], from_list = control[begin];
  const u64 warps = u64(gridDim.x) * (blockDim.x / 32), share = n / warps;
  const u32 held = share > 32 ? 32 : share > 1 ? u32(share) : 1;
  for (u64 at = (u64(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32) * held; at < n; at += warps * held) {
    // A row a lane.
    u32 row = 0;
    u64 a = 0, from = 0, out = 0, length = 0;
    if (lane_id() < held && at + lane_id() < n) {
      row = list[from_list + at + lane_id()];
      a = a_offsets[row];
      out = c_offsets[row];
      const u32 k = a_indices[a];
      from = b_offsets[k];
      length = b_offsets[k + 1] - from;
    }
    const u64 stop = warp_inclusive_sum(length), all = shuffle(stop, 31);
    if (all >= 64 * u64(held)) {
      for (u32 r = 0; r < held; r++) {
        const u32 of = shuffle(row, r);
        const u64 of_a = shuffle(a, r), of_b = shuffle(from, r), to = shuffle(out, r), n_of = shuffle(length, r);
        for (u64 e = lane_id(); e < n_of; e += 32) {
          const Loaded entry = load_factors(factors, x, of_a, of_b + e);
          c_indices[to + e] = entry.column;
          write_value(c_values, to + e, multiply(factors, x, entry, of_a, of));
        }
      }
      continue;
    }
    // Where the first entry of all would be, were it the row's.
    from -= stop - length;
    out -= stop - length;
    for (u64 first = 0; first < all; first += 32 * batch) {
      u64 to[batch], of_a[batch];
      u32 of[batch];
      Loaded entry[batch];
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        const u64 e = first + t * 32 + lane_id();
        const u32 owner = first_above(stop, e);
        of[t] = shuffle(row, owner);
        of_a[t] = shuffle(a, owner);
        to[t] = shuffle(out, owner) + e;
        const u64 of_b = shuffle(from, owner) + e;
        if (e < all) entry[t] = load_factors(factors, x, of_a[t], of_b);
      }
#pragma unroll
      for (u32 t = 0; t < batch; t++) {
        if (first + t * 32 + lane_id() >= all) continue;
        c_indices[to[t]] = entry[t].column;
        write_value(c_values, to[t], multiply(factors, x, entry[t], of_a[t], of[t]));
      }
    }
  }
}

#endif

// Rows of table class T, and the parts of the rows that were left to the largest.
template <u32 T>
__device__ inline void table_numeric(const Operands& x, const Factors& factors, u64* control, const u32* units,
                                     const u32* first, const u32* last, const u32* slice_counts, const Part* parts,
                                     u32 parts_room, const u64* c_offsets, u32* c_indices, Written* c_values) {
  DYN_SHARED(unsigned char, shared);
  const SumMemory<T> memory(shared);
  auto table = memory.table();
  auto sums = memory.sums();
  const u64 rows = control[sums_units + class_table + T], begin = control[sums_begin + class_table + T];
  u64 cut = T == 4 ? control[control_parts] : 0;
  if (cut > parts_room) cut = parts_room;
  for_shares(memory, TableSize<T>::threads, TableSize<T>::block, cut + rows, &control[control_numeric + T], [&](u64 i) {
    u32 row;
    u64 out;
    Range all;
    if (T == 4 && i < cut) {
      const Part part = parts[i];
      if (part.low == part.high) return;
      row = part.row;
      out = c_offsets[row] + part.before;
      for (u32 s = 0; s < part.slices; s++) out += slice_counts[part.slice + s];
      const u64 high = u64(part.high) * 32;
      all = {u64(part.low) * 32, high < x.columns ? high : x.columns, true};
    } else {
      row = units[begin + i - cut];
      out = c_offsets[row];
      all = row_range(row, x.columns, first, last);
    }
    for_ranges(all, [&](Range range) {
      u32 marked = 0;
      if (!sum_products<T>(memory, table, sums, x, factors, row, range, marked)) return false;
      table.for_marked(marked, [&](u32 at, u32 column) { c_indices[out + at] = column; });
      for (u32 e = table.team.rank(); e < marked; e += TableSize<T>::threads) {
        if constexpr (Semiring::constant) write_constant(c_values, out + e);
        else write_value(c_values, out + e, sums.values[e]);
      }
      out += marked;
      table.team.sync();
      return true;
    });
  });
}

// Launch: 1-D blocks of TableSize::block threads, any grid, dynamic shared memory as README.md says.
#define OPLUS_TABLE(T)                                                                                                 \
  extern "C" __global__ void __launch_bounds__(TableSize<T>::block) spgemm_numeric_table##T(                           \
      OPLUS_NUMERIC_OPERANDS, u64* control, const u32* units, const u32* first, const u32* last,                       \
      const u32* slice_counts, const u32* parts, u32 parts_room, const u64* c_offsets, u32* c_indices, Written* c_values) {  \
    static_assert(SumMemory<T>::bytes* SumMemory<T>::teams == shared_bytes::numeric_table##T, "");                     \
    OPLUS_NUMERIC_BODY                                                                                                 \
    table_numeric<T>(x, factors, control, units, first, last, slice_counts, reinterpret_cast<const Part*>(parts),      \
                     parts_room, c_offsets, c_indices, c_values);                                                      \
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

}  // namespace oplus
