// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of many products, their number of columns known: a block a row.
//
// Products are added at their columns while shared memory has a sum for each; else the columns are marked as bits first, and
// a product is added at the rank of its bit, which is its place in the row: in shared memory while the row is short enough,
// else in C itself. For semirings whose sums may be pre-set (Exact) or are constant.
// Where rows meet in few columns, number::copies of the sums, one for each warp, spare the wait for others that add there.
// Determinism: products are added in any order, which shows in floating ⊕ only; with copies the order is always the same. See README.md
// for launches and sizes.
#include "device/look_back.cuh"
#include "device/report.cuh"
#include "part/accumulate.cuh"
#include "part/spgemm_block.cuh"
#include "part/spgemm_factors.cuh"

namespace oplus {

typedef Listed<flag::staged>::Type BlockValue;
// Whether sums are written as another type, and where they stand until they are: in the first bytes of their entry's place.
constexpr bool counted = !SameType<BlockValue, C>::value;
__device__ inline C* sum_in(BlockValue* values, u64 place) {
  static_assert(sizeof(BlockValue) >= sizeof(C) && (!counted || sizeof(C) == 4), "a sum fits into its entry's place");
  return reinterpret_cast<C*>(&values[place]);
}

// Launch: 1-D blocks of number::threads, any grid, block_bytes' shared bytes. `units`, `begin`, `tickets`: places in the
// control block. The row goes to c_offsets[row] on.
// flag::far: rows may have more than number::width columns.
// flag::whole: all rows of A; their number is not known before, C's offsets are found by
// look-back. Nothing is written past `capacity` entries; state: u64[rows] zeros; nnz(C) and the longest row's length to
// control[control_entries] and control[control_longest] (0 before). flag::at_once: there is a block for every row. page, number: Report; `words` from `control` on are left
// zero. list, first, last are null.
// saved: the bits that spgemm_block_count kept of the same list, or null; states, row_words, parts and flag::split as there, not
// with flag::whole. flag::staged: rows that were not counted; how many entries each has goes to row_counts. joined: with
// flag::supernodes, else unused. With flag::column_sets, where sums are constant, b_offsets, b_indices and sets are B's rows as such.
extern "C" __global__ void __launch_bounds__(u32(number::threads), 1024 / u32(number::threads))
spgemm_block(const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,
             const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids,
             const u64* k_ids, const u64* j_ids, u64* control, u32 units, u32 begin, u32 tickets, const u32* list,
             const u32* first, const u32* last, u64* c_offsets, u32* c_indices, BlockValue* c_values, u64 rows, u64* state, u64 capacity, const u32* products,
             u32* saved, u32* states, u32 row_words, u32 parts, const u32* joined, const u32* sets, u64* row_counts, u64* page, u64 number, u64 words) {
  constexpr u32 batch = supernode_batch, most = supernode_most, width = u32(number::width), threads = u32(number::threads);
  typedef BlockWindow<threads, flag::split> Window;
  typedef Exact<Semiring, C> Sums;
  constexpr u32 room = Semiring::constant ? 0 : u32(number::bytes) / sizeof(C), copies = u32(number::copies);
  // Whether any window has room for a sum a column. Such sums need not know their columns before they add, unless blocks that
  // have other rows to do wait to hear how many they are.
  constexpr bool all_dense = !Semiring::constant && width <= room, marked = !(all_dense && (flag::staged || (flag::whole && flag::at_once)));
  constexpr u32 fixed = Window::fixed(width), bases_bytes = rounded(width / 32 * 4);
  static_assert(Semiring::constant || Sums::value, "sums that may be pre-set");
  static_assert(copies == 1 || (copies == threads / 32 && copies * width <= room && !flag::split), "a copy a warp");
  static_assert(width < 1u << 26, "as for_products is told");
  static_assert(Semiring::constant || !flag::column_sets, "sets have no values");
  static_assert(fixed + bases_bytes + rounded(room * sizeof(C)) == shared_bytes::block, "");
  DYN_SHARED(unsigned char, shared);
  const Window window = {shared};
  u32* bases = reinterpret_cast<u32*>(shared + fixed);
  C* near = reinterpret_cast<C*>(shared + fixed + bases_bytes);
  // The warp's own copy.
  Accumulator<Semiring, C, 32, 32> own = {{nullptr}, near + threadIdx.x / 32 * width, nullptr};
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices, joined, nullptr, 0, sets}, {m_offsets, m_indices}, columns};
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};
  __shared__ u64 place;
  u32 longest = 0;
  // Between rows all sums are as they start.
  if constexpr (!Semiring::constant) {
    for (u32 i = threadIdx.x; i < room; i += threads) near[i] = Sums::start();
  }
  const SavedBits bits = {saved, states, row_words};
  const auto drawn = [&] {
    if constexpr (flag::whole) return AllRows{rows};
    else return DrawnRows::of(list, control, units, begin);
  }();
  for_rows(window, drawn, flag::split ? parts : 1, &control[tickets], [&](RowPart part) {
    const u32 row = part.row;
    const u64 a_begin = a_offsets[row], a_end = a_offsets[row + 1];
    u64 out = flag::whole ? 0 : c_offsets[row];
    const Range all = flag::whole ? Range{0, a_begin < a_end ? columns : 0u, false} : row_range(row, columns, first, last);
    const auto find_place = [&](u32 count) {
      const u64 before = look_back_wait(state, row, count);
      if (lane_id() == 0) {
        c_offsets[row] = place = before;
        if (u64(row) + 1 == rows) c_offsets[rows] = control[control_entries] = before + count;
      }
    };
    if (flag::whole && all.high == 0 && threadIdx.x < 32) {
      look_back_post(state, row, 0);
      find_place(0);
    }
    // Where there is room for the row's sums one block makes it alone.
    u32 of = 1;
    if constexpr (flag::split && !Semiring::constant) {
      if (all.high - all.low > room) of = parts_of(parts, products[row], all, width);
    }
    if (flag::split && part.number >= of) return;
    for_windows(all, width, [&](Range r) {
      const u32 low = u32(r.low), words = u32((r.high - r.low + 31) / 32);
      const bool dense = all_dense || (!Semiring::constant && r.high - r.low <= room);
      if (!flag::whole && saved) {
        const u32* const kept = bits.at(part.place, all, r);
        for (u32 i = threadIdx.x; i < words; i += threads) window.bits()[i] = kept[i];
        __syncthreads();
      } else if (marked) {
        // Not a_begin and a_end: kept for what follows, they would cost registers here.
        mark_window(window, x, row, x.a.offsets[row], x.a.offsets[row + 1], r);
      } else {
        window.clear(words);
        __syncthreads();
      }
      u32 count = 0;
      bool near_row = dense, fits = true;
#pragma unroll 1
      for (u32 step = 0; step < (all_dense ? 2 : 3); step++) {
        // Once: before the columns are known, before the place is, or to the place.
        if (!Semiring::constant && fits && step == (!marked ? 0u : near_row || step == 0 ? 1u : 2u)) {
          const bool part_only = flag::split && of > 1;
          const u64 from = part_only ? part.begin(a_offsets, of) : a_begin, to = part_only ? part.end(a_offsets, of) : a_end;
          for_products<batch, supernode_walk>(window.share(), a_indices, from, to, x.b, r.low, r.high, r.partial, window.products(),
                              [&](const Batch<batch>& p) {
                                u32 column[batch];
                                Joined<most> factor[batch];
#pragma unroll
                                for (u32 t = 0; t < batch; t++) {
                                  if (!p.active[t]) continue;
                                  column[t] = b_indices[p.b[t]];
                                  load_joined(factor[t], factors, p, t);
                                }
                                bool put[batch];
                                u32 at[batch];
                                C term[batch];
#pragma unroll
                                for (u32 t = 0; t < batch; t++) {
                                  put[t] = p.active[t] && admitted(x, row, column[t]);
                                  if (!put[t]) continue;
                                  add_joined(&term[t], true, factors, x, factor[t], p, t, column[t], row);
                                  at[t] = column[t] - low;
                                }
                                if (!marked) window.set_all(put, at);
#pragma unroll
                                for (u32 t = 0; t < batch; t++) {
                                  if (put[t] && !dense) at[t] = window.position(bases, at[t]);
                                }
                                if constexpr (copies > 1) {
#pragma unroll
                                  for (u32 t = 0; t < batch; t++) own.put(put[t], at[t], term[t], 0, p.group[t], p.groups[t]);
                                  return;
                                }
                                // Rows of small matrices meet in few columns, where who looks first has often looked in vain.
                                if (!flag::whole && near_row) {
                                  combine_all<Semiring>(near, at, put, term);
                                  return;
                                }
#pragma unroll
                                for (u32 t = 0; t < batch; t++) {
                                  if (!put[t]) continue;
                                  if (near_row) combine<Semiring, C>(&near[at[t]], term[t]);
                                  else combine_in_memory<Semiring, C>(sum_in(c_values, out + at[t]), term[t]);
                                }
                              });
          __syncthreads();
        }
        if (step == 0) {
          count = window.rank(words, bases);
          near_row = dense || count <= room;
          if (flag::split && of > 1 && near_row) {
            if (part.number > 0) return;
            of = 1;
          }
          if (flag::whole && threadIdx.x < 32) look_back_post(state, row, count);
          if (flag::staged && threadIdx.x == 0) row_counts[row] = count;
        } else if (flag::split && step == 1 && part.number > 0) {
          bits.wait_for_first(part.place);
        } else if (step == 1) {
          if constexpr (flag::whole) {
            if (threadIdx.x < 32) find_place(count);
            __syncthreads();
            out = place;
            if (count > longest) longest = count;
            fits = out + count <= capacity;
          }
          window.for_seen(words, count, bases, [&](u32 at, u32 rank) {
            if (fits) c_indices[out + rank] = low + at;
            if constexpr (Semiring::constant) {
              if (fits) write_constant(c_values, out + rank);
            } else if (near_row) {
              C* const sum = &near[dense ? at : rank];
              C all = *sum;
              *sum = Sums::start();
#pragma unroll 4
              for (u32 i = 1; i < copies; i++) {
                all = Semiring::add(all, sum[i * width]);
                sum[i * width] = Sums::start();
              }
              if (fits) write_value(c_values, out + rank, all);
            } else if (fits) {
              *sum_in(c_values, out + rank) = Sums::start();
            }
          });
          if (flag::split && of > 1) bits.let_others_begin(part.place);
          __syncthreads();
        }
      }
      bool last_part = true;
      if (flag::split && of > 1) last_part = bits.end_part(part.place, of, window.counters() + 1);
      if constexpr (counted) {
        if (!near_row && fits) {
          if (!flag::split || of == 1) {
            __threadfence();
            __syncthreads();
          }
          for (u32 i = threadIdx.x; last_part && i < count; i += threads) write_value(c_values, out + i, read_whole(sum_in(c_values, out + i)));
        }
      }
      out += count;
    });
  });
  if constexpr (flag::whole) {
    if (threadIdx.x == 0 && longest) atomicMax(&control[control_longest], u64(longest));
    tell({page, number}, control, report_said, words, &place);
  }
}

}  // namespace oplus
