// C = A ⊕.⊗ B and C⟨M⟩ = A ⊕.⊗ B, all rows of few columns: a hash table for each, rows straight to their places by look-back.
//
// A row has a warp (number::lanes = 32), whose lanes take products side by side, or a group of lanes, which take a row of B at a
// time, number::batch of them in flight: far fewer instructions a product where rows of B are as long as groups, or much longer. With
// flag::fitted (a warp a row) each row uses as many slots as its products need.
// Determinism: sums run in the order of k, bit-equal to a serial sum. See README.md for launches and sizes.
#include "device/look_back.cuh"
#include "device/report.cuh"
#include "part/accumulate.cuh"
#include "part/spgemm_factors.cuh"
#include "part/spgemm_hash.cuh"

namespace oplus {

// Blocks of a multiprocessor, which bounds registers: of tables of many slots no more have room.
constexpr u32 hash_blocks = 8;

// C's offsets to c_offsets, nothing written past `capacity` entries. state: u64[1 + ceil(rows / rows of a block)] zeros. nnz(C) and the
// longest row's length to control[control_entries] and control[control_longest] (0 before); control[control_failed] = failed_row if a row
// has more columns than fit, and then C is not complete: rows not begun yet are left out. Columns are below 2^32 / number::slots.
// page, number: Report; `words` from `control` on are left zero.
// Launch: 1-D blocks of tuning::hash_block threads, any grid, hash_bytes' shared bytes a warp.
extern "C" __global__ void __launch_bounds__(tuning::hash_block, hash_blocks)
spgemm_hash(const u64* a_offsets, const u32* a_indices, const A* a_values, const u64* b_offsets, const u32* b_indices,
            const B* b_values, const u64* m_offsets, const u32* m_indices, u32 columns, const u64* i_ids, const u64* k_ids,
            const u64* j_ids, u64* control, u64* c_offsets, u32* c_indices, Written* c_values, u64 rows, u64* state, u64 capacity,
            u64* page, u64 number, u64 words) {
  constexpr u32 slots = u32(number::slots), lanes = u32(number::lanes), groups = 32 / lanes;
  constexpr u32 batch = groups == 1 ? tuning::numeric_batch : u32(number::batch), warps = tuning::hash_block / 32;
  typedef HashTable<slots, flag::fitted> Table;
  static_assert(!flag::fitted || groups == 1, "a warp a row");
  typedef Accumulator<Semiring, C, 32, slots * groups> Sums;
  constexpr u32 scratch_bytes = groups == 1 ? sizeof(WarpProducts) : 0;
  constexpr u32 values_bytes = Semiring::constant ? 0 : rounded(slots * groups * sizeof(C));
  constexpr u32 state_bytes = Semiring::constant ? 0 : rounded(Sums::state_words * 4);
  constexpr u32 bytes = scratch_bytes + values_bytes + Table::bytes * groups + state_bytes;
  static_assert(bytes == shared_bytes::hash, "");
  __shared__ u64 place;
  __shared__ u32 counts[warps];
  DYN_SHARED(unsigned char, shared);
  unsigned char* memory = shared + threadIdx.x / 32 * bytes;
  WarpProducts* const scratch = reinterpret_cast<WarpProducts*>(memory);
  C* const values = reinterpret_cast<C*>(memory + scratch_bytes);
  u32* const keys = reinterpret_cast<u32*>(memory + scratch_bytes + values_bytes);
  Sums sums = {{nullptr}, values, keys + slots * groups};
  const u32 group = lane_id() / lanes, lane = lane_id() % lanes, mine = group * slots;
  const Operands x = {{a_offsets, a_indices}, {b_offsets, b_indices}, {m_offsets, m_indices}, columns};
  const Factors factors = {a_values, b_values, i_ids, k_ids, j_ids};
  const u32 warp = threadIdx.x / 32;
  u32 longest = 0;
  for (bool more = true; more; more = u64(gridDim.x) * warps * groups < rows) {
    const u64 tile = next_tile(state, &place), at = (tile * warps + warp) * groups + group;
    if (tile * warps * groups >= rows) break;
    const bool live = at < rows;
    const u32 row = live ? u32(at) : 0;
    u32 used = slots;
    if constexpr (flag::fitted) {
      if (live) used = slots_needed<slots>(x, Position(a_offsets[row]), Position(a_offsets[row + 1]));
    }
    const Table table = {keys + mine, used};
#pragma unroll
    for (u32 g = 0; g < groups; g++) Table{keys + g * slots, used}.clear();
    if constexpr (!Semiring::constant) sums.clear(table.size() * groups);
    __syncwarp();
    A a[batch];
    B b[batch];
    const auto load = [&](const Batch<batch>& p, u32 t) {
      if (Semiring::reads_a && p.active[t]) a[t] = a_values[p.a[t]];
      if (Semiring::reads_b && p.active[t]) b[t] = b_values[p.b[t]];
    };
    const auto use = [&](const Batch<batch>& p, u32 t, bool active, u32 column, u32 slot) {
      if constexpr (!Semiring::constant) {
        C term = C();
        if (active) term = multiply(factors, x, loaded(a[t], b[t], column), p.a[t], row);
        __syncwarp();
        sums.put(active, mine + slot, term, 0, p.group[t], p.groups[t]);
      }
    };
    u32 n;
    if constexpr (groups == 1) n = warp_columns<slots, flag::fitted, batch>(table, x, live, row, scratch, load, use);
    else n = group_columns<lanes, slots, flag::fitted, batch>(table, x, live, row, load, use);
    if (n == 0xffffffffu) {
      if (lane == 0) {
        atomicOr(&control[control_failed], u64(failed_row));
        draw_no_more(state, rows);
      }
      n = 0;
    }
    if (n > longest) longest = n;
    // Of the warp's rows, and of those of the block's.
    u32 ours = 0, above = 0, all = 0, before = 0;
#pragma unroll
    for (u32 g = 0; g < groups; g++) {
      const u32 its = groups == 1 ? n : shuffle(n, g * lanes);
      if (g < group) above += its;
      ours += its;
    }
    if (lane_id() == 0) counts[warp] = ours;
    __syncthreads();
#pragma unroll
    for (u32 w = 0; w < warps; w++) {
      if (w == warp) before = all;
      all += counts[w];
    }
    // The look-back's wait hides behind sorting.
    if (warp == 0) look_back_post(state + 1, tile, all);
    const u32 most = groups == 1 ? n : warp_max(n);
#pragma unroll 1
    for (u32 g = 0; g < groups; g++) {
      const u32 its = groups == 1 ? n : shuffle(n, g * lanes);
      if (its == 0) continue;
      const Table one = {keys + g * slots, used};
      one.collect();
      if (groups == 1 || most > 32) one.sort(its);
    }
    if constexpr (groups > 1) {
      if (most <= 32) table.template sort_each<lanes>(n, most);
    }
    if (warp == 0) {
      const u64 begin = look_back_wait(state + 1, tile, all);
      if (lane_id() == 0) place = begin;
    }
    __syncthreads();
    const u64 out = place + before + above;
    if (live && lane == 0) {
      c_offsets[row] = out;
      if (at + 1 == rows) c_offsets[rows] = control[control_entries] = out + n;
    }
    for (u32 e = lane; e < n; e += lanes) {
      if (out + e >= capacity) break;
      const u32 key = table.keys[e];
      c_indices[out + e] = key >> Table::bits;
      if constexpr (Semiring::constant) write_constant(c_values, out + e);
      else write_value(c_values, out + e, values[mine + (key & (slots - 1))]);
    }
    __syncwarp();
  }
  if (lane == 0 && longest) atomicMax(&control[control_longest], u64(longest));
  tell({page, number}, control, report_said, words, &place);
}

}  // namespace oplus
