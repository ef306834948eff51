// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, rows of at most number::width products: expand, sort, contract, a warp a row.
//
// After Dalton, Olson, Bell, "Optimizing sparse matrix-matrix multiplication for the GPU" (10.1145/2699470): products in
// shared memory, sorted in registers on as many bits as the row's span of columns needs, summed run by run. With flag::whole
// every row of A is one of these, and rows find their places in C by look-back: one pass, no count before it.
// Determinism: sums run in the order of k, bit-equal to a serial sum. See README.md for launches and sizes.
#include "device/look_back.cuh"
#include "device/report.cuh"
#include "part/spgemm_terms.cuh"

namespace oplus {

// Blocks of a multiprocessor, which bounds registers to what keys and values take with few spills or none. Left to itself the
// compiler takes more or less of them from one version of this text to the next.
constexpr u32 esc_blocks = sizeof(C) > 8 ? 1
    : flag::whole ? (number::width <= 256 ? 8 : 7) : number::width <= 128 ? 10 : number::width <= 256 ? 9 : 8;

// Launch: 1-D blocks of tuning::esc_block threads, any grid, esc_launch's shared bytes.
// A list (`units`, `begin`: places in the control block): row r to out_offsets[r] on, its length to row_counts unless that is
// null; all behind out_values unused.
// flag::whole: all rows of A from `begun` on, each of at most number::width products, number::rows next to each other at once: rows ·
// columns rounded up to a power of two is at most 2^32 / number::width. C's offsets to out_offsets, the first of them `entries`, nothing
// written past `capacity` entries; state: u64[1 + ceil(rows to make / (warps · number::rows))] zeros; nnz(C) and the longest row's length to
// control[control_entries] and control[control_longest] (0 before). control[control_failed] (0 before): failed_row if a row has more
// products than that: C is useless. failed_room if C has no room: the rows below control[control_made_rows] are made, and have
// control[control_made_entries] entries. Either way rows not begun yet are left out. page, number: Report; `words` from `control` on are
// left zero. Unused: list, first, last, row_counts.
extern "C" __global__ void __launch_bounds__(tuning::esc_block, esc_blocks)
spgemm_esc(const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,
           const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids, const u64* k_ids,
           const u64* j_ids, u64* control, u32 units, u32 begin, const u32* list, const u32* first, const u32* last,
           u64* out_offsets, u64* row_counts, u32* out_indices, Listed<flag::staged>::Type* out_values, u64 rows, u64* state, u64 capacity,
           u64 begun, u64 entries, u64* page, u64 number, u64 words) {
  constexpr u32 width = u32(number::width), batch = tuning::numeric_batch, warps = tuning::esc_block / 32;
  constexpr u32 values = has_terms ? rounded(width * sizeof(C)) : 0;
  constexpr u32 bytes = EscKeys<width>::bytes + values + sizeof(WarpProducts);
  static_assert(bytes * warps == shared_bytes::esc, "");
  DYN_SHARED(unsigned char, shared);
  unsigned char* mine = shared + threadIdx.x / 32 * bytes;
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};
  WarpProducts* scratch = reinterpret_cast<WarpProducts*>(mine);
  C* terms = reinterpret_cast<C*>(mine + sizeof(WarpProducts));
  const EscKeys<width> keys = {reinterpret_cast<u32*>(mine + sizeof(WarpProducts) + values)};
  A a[batch];
  B b[batch];
  const auto load = [&](const Batch<batch>& p) {
#pragma unroll
    for (u32 t = 0; t < batch; t++) {
      if (Semiring::reads_a && p.active[t]) a[t] = a_values[p.a[t]];
      if (Semiring::reads_b && p.active[t]) b[t] = b_values[p.b[t]];
    }
  };
  const auto put = [&](const Batch<batch>& p, u32 t, u32 column, u32 row, u32 i) {
    if constexpr (has_terms) terms[i] = multiply(factors, x, loaded(a[t], b[t], column), p.a[t], row);
  };
  if constexpr (!flag::whole) {
    const u64 n = control[units], from = control[begin];
    for (u64 u = u64(blockIdx.x) * warps + threadIdx.x / 32; u < n; u += u64(gridDim.x) * warps) {
      const u32 row = list[from + u], base = first[row];
      const u32 filled = expand<width, batch>(
          x, row, base, keys, scratch, load,
          [&](const Batch<batch>& p, u32 t, u32 column, u32 i) { put(p, t, column, row, i); });
      const Heads heads = keys.template sort_and_find<false>(filled);
      const u64 out = out_offsets[row];
      keys.for_sorted(filled, heads, [&](u32 i, u32 key, Heads::Place place) {
        if (!place.head) return;
        out_indices[out + place.rank] = base + keys.column(key);
        write_sum<false>(out_values, out + place.rank, keys, terms, i, key, filled);
      });
      const u32 count = heads.all();
      if (row_counts && lane_id() == 0) row_counts[row] = count;
      __syncwarp();
    }
  } else {
    constexpr u32 held = u32(number::rows);
    static_assert(held <= 32, "a lane a row");
    __shared__ u64 place;
    __shared__ u32 counts[warps];
    const u32 warp = threadIdx.x / 32, bits = columns > 1 ? 32 - __clz(columns - 1) : 0;
    u32 longest = 0;
    for (;;) {
      const u64 tile = next_tile(state, &place), from_row = begun + tile * warps * held, at = from_row + warp * held;
      if (from_row >= rows) break;
      const u64 row = at + lane_id() < rows ? at + lane_id() : rows;
      const Position begins = Position(a_offsets[row]), stop = Position(a_offsets[row < rows ? row + 1 : rows]);
      const RowRun<held> run = {u32(at), lane_id() < held ? stop : Position(~0ull)};
      // Where there is no room for all rows together, they are counted in pieces, and made again once they have a place.
      u32 piece = held, filled = 0, start = 0, count = 0;
      u64 out = 0;
      Heads heads = {0, 0, 5};
      for (u32 phase = 0; phase < 2; phase++) {
        for (u32 r = 0; r < held; r += piece) {
          if (phase == 0 || piece < held) {
            const u64 from = shuffle(begins, r), to = shuffle(run.stop, r + piece - 1);
            filled = expand_rows<width, batch>(x, run, from, to, bits, keys, scratch, load, put);
            if (filled > width && piece == 1) {
              if (lane_id() == 0) {
                atomicOr(&control[control_failed], u64(failed_row));
                draw_no_more(state, rows);
              }
              filled = 0;
            }
            if (filled > width) {
              piece /= 2;
              r = 0u - piece;
              continue;
            }
            heads = keys.template sort_and_find<true>(filled);
          }
          if (phase == 0) {
            // How many heads there are before the lane's row, and in it.
            const u32 total = heads.all(), low = keys.first_not_below(filled, lane_id() << bits);
            const u32 ranked = heads.at(low < filled ? low : 0).rank, before = low < filled ? ranked : total;
            const u32 next = __shfl_down_sync(full_warp, before, 1);
            if (lane_id() >= r && lane_id() < r + piece) count = (lane_id() + 1 < r + piece ? next : total) - before;
          } else {
            const u64 to = out + shuffle(start, r);
            keys.for_sorted(filled, heads, [&](u32 i, u32 key, Heads::Place place) {
              const u64 e = to + place.rank;
              if (!place.head || e >= capacity) return;
              out_indices[e] = keys.column(key) & ((1u << bits) - 1);
              write_sum<false>(out_values, e, keys, terms, i, key, filled);
            });
          }
          __syncwarp();
        }
        if (phase > 0) break;
        const u32 stops = warp_inclusive_sum(count);
        start = stops - count;
        if (count > longest) longest = count;
        if (lane_id() == 31) counts[warp] = stops;
        __syncthreads();
        u32 sum = 0, before = 0;
#pragma unroll
        for (u32 w = 0; w < warps; w++) {
          if (w == warp) before = sum;
          sum += counts[w];
        }
        if (warp == 0) {
          const u64 found = entries + look_back(state + 1, tile, sum);
          if (lane_id() == 0) {
            place = found;
            if (found <= capacity && found + sum > capacity) {
              control[control_made_rows] = from_row;
              control[control_made_entries] = found;
              atomicOr(&control[control_failed], u64(failed_room));
              draw_no_more(state, rows);
            }
          }
        }
        __syncthreads();
        out = place + before;
        if (lane_id() < held && at + lane_id() < rows) {
          out_offsets[row] = out + start;
          if (row + 1 == rows) out_offsets[rows] = control[control_entries] = out + stops;
        }
      }
    }
    longest = warp_max(longest);
    if (lane_id() == 0 && longest) atomicMax(&control[control_longest], u64(longest));
    tell({page, number}, control, report_said, words, &place);
  }
}

}  // namespace oplus
