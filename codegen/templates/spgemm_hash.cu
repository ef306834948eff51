// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B in two phases: the columns of each row of C as bits in shared memory, then sums at
// the ranks of these bits, so that columns come out ascending without a sort of the entries.
//
// Any semiring. Plain CSR: u64 offsets, u32 columns ascending in each row. An entry of C stands where a product does.
// Determinism: warps' rows (classes tiny, table 0 and 1) sum in the order of k, bit-equal to a serial sum; block rows
// sum in any order, which shows in floating ⊕ only. See README.md for launches and sizes.
#include "part/spgemm.cuh"
#include "warp/sort.cuh"

namespace oplus {

// The products of a row of at most WIDTH products, one a lane of a group; `active` is false past the last.
struct Lane {
  bool active;
  u32 column;
  u64 a, b;
};
template <u32 WIDTH> __device__ inline Lane lane_product(const Operands& x, bool live, u32 row) {
  const u32 lane = lane_id() & (WIDTH - 1);
  Lane mine = {false, 0xffffffffu, 0, 0};
  u64 begin = 0, end = 0;
  if (live) {
    begin = x.a.offsets[row];
    end = x.a.offsets[row + 1];
  }
  u32 done = 0;
  while (__any_sync(full_warp, begin < end)) {
    u64 from = 0;
    u32 size = 0;
    if (begin + lane < end) {
      const u32 k = x.a.indices[begin + lane];
      from = x.b.offsets[k];
      size = u32(x.b.offsets[k + 1] - from);
    }
    const u32 last = done + warp_inclusive_sum<WIDTH>(size);
    u32 e = 0;  // entries of this round that end at or before product `lane`
#pragma unroll
    for (u32 step = WIDTH / 2; step > 0; step /= 2) {
      if (shuffle(last, e + step - 1, WIDTH) <= lane) e += step;
    }
    const u32 e_last = shuffle(last, e, WIDTH), e_size = shuffle(size, e, WIDTH);
    const u64 e_from = shuffle(from, e, WIDTH);
    if (lane < e_last && lane >= done && begin < end) {
      mine.active = true;
      mine.a = begin + e;
      mine.b = e_from + (lane - (e_last - e_size));
    }
    done = shuffle(last, WIDTH - 1, WIDTH);
    begin += WIDTH;
  }
  if (mine.active) {
    mine.column = x.b.indices[mine.b];
    if (!admitted(x, row, mine.column)) mine.active = false;
  }
  return mine;
}

// Sorts the group's columns. `source`: the lane a sorted product came from. Inactive ones come last, with `last` = true.
template <u32 WIDTH> __device__ inline void sort_lanes(const Lane& mine, u32 columns, u32& column, u32& source, bool& active) {
  const u32 lane = lane_id() & (WIDTH - 1);
  if (columns < 1u << 27) {  // lane and column fit one key; an inactive key is above all others
    u32 key = mine.column << 5 | lane;
    if (!mine.active) key = 0xffffffe0u | lane;
    const u32 inactive = WIDTH - __popc(__ballot_sync(full_warp, mine.active) >> (lane_id() & ~(WIDTH - 1)) & (0xffffffffu >> (32 - WIDTH)));
    key = warp_sort<WIDTH>(key);
    column = key >> 5;
    source = key & 31;
    active = lane < WIDTH - inactive;
  } else {
    u64 key = u64(mine.active ? mine.column : 0xffffffffu) << 5 | lane | (mine.active ? 0 : u64(1) << 37);
    key = warp_sort<WIDTH>(key);
    column = u32(key >> 5);
    source = u32(key) & 31;
    active = (key >> 37) == 0;
  }
}

template <u32 WIDTH>
__device__ inline void tiny_symbolic(const Operands& x, u32 kind, const u64* control, const u64* units, u64* row_counts) {
  const u64 n = control[control_units + kind], begin = control[control_begin + kind];
  const u32 lane = lane_id() & (WIDTH - 1), group = lane_id() / WIDTH;
  const u64 groups = u64(blockDim.x) / WIDTH, stride = gridDim.x * groups;
  for (u64 first = blockIdx.x * groups + threadIdx.x / 32 * (32 / WIDTH); first < n; first += stride) {
    const bool live = first + group < n;
    const u32 row = live ? u32(units[begin + first + group]) : 0;
    const Lane mine = lane_product<WIDTH>(x, live, row);
    u32 column, source;
    bool active;
    sort_lanes<WIDTH>(mine, x.columns, column, source, active);
    const u32 below = shuffle_up(column, 1, WIDTH);
    const u32 heads = __ballot_sync(full_warp, active && (lane == 0 || below != column));
    if (live && lane == 0) row_counts[row] = __popc(heads >> (group * WIDTH) & (0xffffffffu >> (32 - WIDTH)));
  }
}

template <u32 WIDTH>
__device__ inline void tiny_numeric(const Operands& x, const Factors& factors, u32 kind, const u64* control,
                                    const u64* units, const u64* c_offsets, u32* c_indices, C* c_values) {
  const u64 n = control[control_units + kind], begin = control[control_begin + kind];
  const u32 lane = lane_id() & (WIDTH - 1), group = lane_id() / WIDTH;
  const u64 groups = u64(blockDim.x) / WIDTH, stride = gridDim.x * groups;
  for (u64 first = blockIdx.x * groups + threadIdx.x / 32 * (32 / WIDTH); first < n; first += stride) {
    const bool live = first + group < n;
    const u32 row = live ? u32(units[begin + first + group]) : 0;
    const Lane mine = lane_product<WIDTH>(x, live, row);
    C term = C();
    if (mine.active) term = product(factors, x, mine.a, mine.b, row, mine.column);
    u32 column, source;
    bool active;
    sort_lanes<WIDTH>(mine, x.columns, column, source, active);
    const u32 below = shuffle_up(column, 1, WIDTH);
    const bool head = active && (lane == 0 || below != column);
    const u32 heads = __ballot_sync(full_warp, head), actives = __ballot_sync(full_warp, active);
    if constexpr (!Semiring::constant) {
      C sum = shuffle(term, source, WIDTH);
      const C sorted = sum;
      if constexpr (Semiring::terminal != terminal_always && Semiring::atomic != atomic_first) {
        // Each head adds the terms behind it in their order, which is that of k.
        const u32 ends = heads | ~actives, above = lane_id() == 31 ? 0 : ends & (0xfffffffeu << lane_id());
        const u32 group_end = (lane_id() | (WIDTH - 1)) + 1;
        u32 stop = above ? u32(__ffs(above)) - 1 : 32;
        if (stop > group_end) stop = group_end;
        const u32 size = head ? stop - lane_id() : 0;
        for (u32 d = 1; __any_sync(full_warp, d < size); d++) {
          const C next = shuffle_down(sorted, d);
          if (d < size) sum = Semiring::add(sum, next);
        }
      }
      term = sum;
    } else {
      term = Semiring::multiply(A(), B(), At{0, 0, 0});
    }
    if (head) {
      const u32 in_group = heads >> (group * WIDTH);
      const u64 at = c_offsets[row] + __popc(in_group & ((1u << lane) - 1));
      c_indices[at] = column;
      c_values[at] = term;
    }
  }
}

// Rows of at most 8, 16 or 32 products, a group of as many lanes each. Launch: 1-D blocks of tuning::tiny_block, any
// grid. row_counts[row] = entries of the row.
#define OPLUS_TINY(WIDTH)                                                                                              \
  extern "C" __global__ void __launch_bounds__(tuning::tiny_block) spgemm_symbolic_tiny##WIDTH(                        \
      const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices, const u64* m_offsets,    \
      const u32* m_indices, u32 columns, const u64* control, const u64* units, u64* row_counts) {                      \
    const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};              \
    tiny_symbolic<WIDTH>(x, class_tiny##WIDTH, control, units, row_counts);                                            \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(tuning::tiny_block) spgemm_numeric_tiny##WIDTH(                         \
      const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,       \
      const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids, const u64* k_ids,  \
      const u64* j_ids, const u64* control, const u64* units, const u64* c_offsets, u32* c_indices, C* c_values) {     \
    const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};              \
    const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};                                                 \
    tiny_numeric<WIDTH>(x, factors, class_tiny##WIDTH, control, units, c_offsets, c_indices, c_values);                \
  }
OPLUS_TINY(8)
OPLUS_TINY(16)
OPLUS_TINY(32)

// Rows of A with one entry: a scaled copy of a row of B. Launch as above; a warp a row.
extern "C" __global__ void __launch_bounds__(tuning::tiny_block)
spgemm_numeric_copy(const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets,
                    const u32* b_indices, const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns,
                    const u64* i_ids, const u64* k_ids, const u64* j_ids, const u64* control, const u64* units,
                    const u64* c_offsets, u32* c_indices, C* c_values) {
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};
  const u64 n = control[control_units + class_copy], begin = control[control_begin + class_copy];
  const u64 warps = blockDim.x / 32;
  for (u64 u = blockIdx.x * warps + threadIdx.x / 32; u < n; u += gridDim.x * warps) {
    const u32 row = u32(units[begin + u]);
    const u64 a = a_offsets[row], out = c_offsets[row];
    const u32 k = a_indices[a];
    const u64 from = b_offsets[k], to = b_offsets[k + 1];
    for (u64 b = from + lane_id(); b < to; b += 32) {
      const u32 column = b_indices[b];
      c_indices[out + (b - from)] = column;
      c_values[out + (b - from)] = product(factors, x, a, b, row, column);
    }
  }
}

template <u32 T>
__device__ inline void table_symbolic(const Operands& x, u64* control, const u64* units,
                                      const u32* row_first, const u32* row_last, u32* unit_counts, u64* row_counts) {
  DYN_SHARED(unsigned char, shared);
  const TeamMemory<T, false> memory(shared);
  auto table = memory.table();
  for_units<T, false>(memory, control, units, [&](u64 number, Unit unit) {
    u64 count = 0;
    for_ranges(unit_range(unit, x.columns, row_first, row_last), [&](Range range) {
      if (!mark_products(table, x, unit.row, range, memory.products())) return false;
      count += table.count();
      table.team.sync();
      return true;
    });
    if (table.team.rank() == 0) {
      if (unit.slices == 1) {
        row_counts[unit.row] = count;
      } else {
        unit_counts[number] = u32(count);
        atomicAdd(&row_counts[unit.row], count);
      }
    }
  });
}

template <u32 T>
__device__ inline void table_numeric(const Operands& x, const Factors& factors, u64* control, const u64* units,
                                     const u32* row_first, const u32* row_last, const u32* unit_counts,
                                     const u64* c_offsets, u32* c_indices, C* c_values) {
  DYN_SHARED(unsigned char, shared);
  const TeamMemory<T, true> memory(shared);
  auto table = memory.table();
  auto sums = memory.sums();
  for_units<T, true>(memory, control, units, [&](u64 number, Unit unit) {
    u64 out = c_offsets[unit.row];
    for (u32 s = 0; s < unit.slice; s++) out += unit_counts[number - unit.slice + s];
    for_ranges(unit_range(unit, x.columns, row_first, row_last), [&](Range range) {
      u32 marked = 0;
      if (!sum_products<T>(memory, table, sums, x, factors, unit.row, range, marked)) return false;
      table.for_marked(marked, [&](u32 at, u32 column) { c_indices[out + at] = column; });
      for (u32 i = table.team.rank(); i < marked; i += TableSize<T>::threads) {
        if constexpr (Semiring::constant) c_values[out + i] = Semiring::multiply(A(), B(), At{0, 0, 0});
        else c_values[out + i] = sums.values[i];
      }
      out += marked;
      table.team.sync();
      return true;
    });
  });
}

// Units of table class T. Launch: 1-D blocks of `block` threads, any grid, dynamic shared memory as README.md says.
#define OPLUS_TABLE(T)                                                                                                 \
  extern "C" __global__ void __launch_bounds__(TableSize<T>::block) spgemm_symbolic_table##T(                          \
      const u64* a_offsets, const u32* a_indices, const u64* b_offsets, const u32* b_indices, const u64* m_offsets,    \
      const u32* m_indices, u32 columns, u64* control, const u64* units, const u32* row_first,     \
      const u32* row_last, u32* unit_counts, u64* row_counts) {                                                        \
    static_assert(TeamMemory<T, false>::bytes* TeamMemory<T, false>::teams == shared_bytes::symbolic_table##T, "");    \
    const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};              \
    table_symbolic<T>(x, control, units, row_first, row_last, unit_counts, row_counts);                       \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(TableSize<T>::block) spgemm_numeric_table##T(                           \
      const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,       \
      const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids, const u64* k_ids,  \
      const u64* j_ids, u64* control, const u64* units, const u32* row_first, const u32* row_last, \
      const u32* unit_counts, const u64* c_offsets, u32* c_indices, C* c_values) {                                     \
    static_assert(TeamMemory<T, true>::bytes* TeamMemory<T, true>::teams == shared_bytes::numeric_table##T, "");       \
    const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};              \
    const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};                                                 \
    table_numeric<T>(x, factors, control, units, row_first, row_last, unit_counts, c_offsets, c_indices,      \
                     c_values);                                                                                        \
  }
OPLUS_TABLE(0)
OPLUS_TABLE(1)
OPLUS_TABLE(2)
OPLUS_TABLE(3)
OPLUS_TABLE(4)

}  // namespace oplus
